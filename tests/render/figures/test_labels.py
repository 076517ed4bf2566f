import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from riskrank.render.figures.text import spread_labels

places = st.lists(st.floats(-5, 15).map(lambda x: round(x, 2)), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(places, st.sampled_from([0.5, 1.0, 2.0]))
def test_spread_moves_as_little_as_possible(positions, gap):
    spread = spread_labels(positions, gap, 0, 10)
    order = np.argsort(positions, kind="stable")
    gap = min(gap, 10 / max(len(positions) - 1, 1))
    assert np.all(np.diff(spread[order]) >= gap - 1e-9)
    assert spread.min() >= -1e-9
    assert spread.max() <= 10 + 1e-9
    target = np.array(positions)[order]
    steps = [{"type": "ineq", "fun": lambda x, i=i: x[i + 1] - x[i] - gap} for i in range(len(positions) - 1)]
    best = minimize(
        lambda x: np.sum((x - target) ** 2),
        np.linspace(0, 10, len(positions)),
        jac=lambda x: 2 * (x - target),
        bounds=[(0, 10)] * len(positions),
        constraints=steps,
        method="SLSQP",
    )
    assert np.sum((spread[order] - target) ** 2) <= best.fun + 1e-5


def test_spread_keeps_labels_without_overlap():
    assert spread_labels([7, 1, 4], 2, 0, 10).tolist() == [7, 1, 4]
    assert spread_labels([], 2, 0, 10).tolist() == []
    assert spread_labels([3, 3], 2, 0, 10).tolist() == [2, 4]
