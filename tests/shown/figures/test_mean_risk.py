import numpy as np
import pytest

from riskrank.engine.portfolio.mean_risk import mean_risk
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.shown.figures.mean_risk import draw_radar, draw_scatter, radar, scatter


def test_the_scatter_is_the_engine(samples):
    risks = mean_risk(samples(9), risk_columns(None))
    for number, column in enumerate(risks.columns):
        found = scatter(risks, number)
        assert found.label == column.label
        assert np.array_equal(found.mean, risks.mean)
        assert np.array_equal(found.risk, risks.risk[:, number])
        assert np.all(np.diff(risks.value[found.order, number]) <= 0)
        for i in range(9):
            beaten = [
                found.mean[j] >= found.mean[i]
                and found.risk[j] <= found.risk[i]
                and (found.mean[j] > found.mean[i] or found.risk[j] < found.risk[i])
                for j in range(9)
            ]
            assert found.frontier[i] == (not any(beaten))


def test_the_radar_spans_worst_to_best(samples):
    risks = mean_risk(samples(5), risk_columns(None))
    found = radar(risks)
    assert found.share.min(axis=0) == pytest.approx(0)
    assert found.share.max(axis=0) == pytest.approx(1)
    for column, values in zip(found.share.T, risks.value.T, strict=True):
        assert np.array_equal(np.argsort(column, kind="stable"), np.argsort(values, kind="stable"))
    same = mean_risk([np.arange(10.0)] * 2, risk_columns(None))
    assert np.all(radar(same).share == 0.5)


@pytest.mark.parametrize("count", [2, 12, 60])
def test_legible(legible, names, samples, count):
    risks = mean_risk(samples(count), risk_columns(None))
    legible(lambda: draw_scatter(scatter(risks, 1), names(count), "P(IC)"))
    legible(lambda: draw_radar(radar(risks), names(count), "P(IC)"))
