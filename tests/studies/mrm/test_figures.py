import numpy as np
import pytest

from riskrank.engine.portfolio.mean_risk import mean_risk
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.studies.mrm.figures import draw_risks, draw_scatter


def test_every_panel_spans_worst_to_best(samples):
    risks = mean_risk(samples(5), risk_columns(None))
    assert risks.rescaled.min(axis=0) == pytest.approx(0)
    assert risks.rescaled.max(axis=0) == pytest.approx(1)
    for column, values in zip(risks.rescaled.T, risks.value.T, strict=True):
        assert np.array_equal(np.argsort(column, kind="stable"), np.argsort(values, kind="stable"))
    identical = mean_risk([np.arange(10.0)] * 2, risk_columns(None))
    assert np.all(identical.rescaled == 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12, 60])
def test_legible(legible, names, samples, count):
    risks = mean_risk(samples(count), risk_columns(None))
    legible(lambda: draw_scatter(risks, 1, names(count), "P(IC)"))
    legible(lambda: draw_risks(risks, names(count), "P(IC)"))
