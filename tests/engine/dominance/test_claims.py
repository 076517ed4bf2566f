import numpy as np
import pytest

from riskrank.engine.dominance.claims import Claim, claims
from riskrank.errors import UsageError


@pytest.mark.parametrize("tau", [0, 1, -0.1, 2, float("nan")])
def test_thresholds_outside_the_unit_interval_are_refused(tau):
    with pytest.raises(UsageError, match="threshold"):
        Claim(1, "absolute", tau)


def test_boundaries_and_statistics():
    ratios = np.array([[0.5, 0.1, 0.3], [0.9, 0.5, 0.6], [0.7, 0.4, 0.5]])
    assert Claim(1).boundary == 0
    assert Claim(1, "direct").boundary == 0.5
    assert Claim(1, "absolute", 0.25).boundary == 0.25
    assert Claim(1, "direct").statistic(ratios) is ratios
    assert Claim(1).statistic(ratios)[0, 1] == pytest.approx((0.1 + 0.3) / 2 - (0.9 + 0.6) / 2)


def test_claims_of_a_run():
    assert claims([1, 2], relative=True, thresholds=[0.25], direct=True) == (
        Claim(1),
        Claim(2),
        Claim(1, "direct"),
        Claim(2, "direct"),
        Claim(1, "absolute", 0.25),
        Claim(2, "absolute", 0.25),
    )
    assert claims([2], relative=False, thresholds=[]) == ()
