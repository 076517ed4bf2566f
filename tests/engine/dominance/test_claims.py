import numpy as np
import pytest

from riskrank.engine.dominance.claims import Claim, claims
from riskrank.engine.dominance.methods import methods_on, parse_method
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


@pytest.mark.parametrize(
    "name",
    [
        "R-FSD@P(IC)",
        "R-SSD@P(EC)",
        "FSD(0.08)@P(IC)",
        "SSD(0.25)@P(EC)",
        "MWR@P(IC)",
        "MWR(sample)@P(IC)",
        "RA(R-SSD@M)",
        "RA(SSD(0.25)@M)",
        "RA(MWR@M)",
        "RA(MRM@P(IC))",
        "RA(MRM@M)",
    ],
)
def test_names_of_the_paper_read_back_as_themselves(name):
    assert parse_method(name, default_scope="P(IC)").name == name


def test_a_statistic_alone_is_taken_on_the_default_scope():
    assert parse_method("R-SSD", default_scope="P(EC)").name == "R-SSD@P(EC)"
    assert parse_method("R-SSD", default_scope="M").name == "RA(R-SSD@M)"
    assert parse_method("MRM", default_scope="P(IC)").name == "RA(MRM@P(IC))"


def test_the_claim_comes_with_the_name():
    assert parse_method("SSD(0.4)", default_scope="P(IC)").claim == Claim(2, "absolute", 0.4)
    assert parse_method("R-FSD", default_scope="P(IC)").claim == Claim(1)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "SSD",
        "R-SSD(0.2)",
        "R-TSD",
        "R-SSD@P",
        "RA(R-SSD@P(IC))",
        "R-SSD@M",
        "MRM@P(IC)",
        "SSD(x)",
        "SSD(1.2.3)",
    ],
)
def test_other_names_are_refused_with_a_near_miss(name):
    with pytest.raises(UsageError) as caught:
        parse_method(name, default_scope="P(IC)")
    assert caught.value.hint


def test_methods_on_a_scope():
    found = [method.name for method in methods_on("M", [Claim(2)], paired=True, mean_risk=True)]
    assert found == ["RA(R-SSD@M)", "RA(MWR@M)", "RA(MWR(sample)@M)", "RA(MWR(pairwise)@M)", "RA(MRM@M)"]
    assert [m.name for m in methods_on("P(IC)", [], paired=False)] == ["MWR@P(IC)"]
