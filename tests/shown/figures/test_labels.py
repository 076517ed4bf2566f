import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from riskrank.shown.figures.labels import around, nearest, overlap, spread

places = st.lists(st.floats(-5, 15).map(lambda x: round(x, 2)), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(places, st.sampled_from([0.5, 1.0, 2.0]))
def test_spread_moves_as_little_as_possible(wanted, gap):
    found = spread(wanted, gap, 0, 10)
    order = np.argsort(wanted, kind="stable")
    gap = min(gap, 10 / max(len(wanted) - 1, 1))
    assert np.all(np.diff(found[order]) >= gap - 1e-9)
    assert found.min() >= -1e-9
    assert found.max() <= 10 + 1e-9
    target = np.array(wanted)[order]
    steps = [{"type": "ineq", "fun": lambda x, i=i: x[i + 1] - x[i] - gap} for i in range(len(wanted) - 1)]
    best = minimize(
        lambda x: np.sum((x - target) ** 2),
        np.linspace(0, 10, len(wanted)),
        jac=lambda x: 2 * (x - target),
        bounds=[(0, 10)] * len(wanted),
        constraints=steps,
        method="SLSQP",
    )
    assert np.sum((found[order] - target) ** 2) <= best.fun + 1e-5


def test_spread_leaves_alone_what_has_room():
    assert spread([7, 1, 4], 2, 0, 10).tolist() == [7, 1, 4]
    assert spread([], 2, 0, 10).tolist() == []
    assert spread([3, 3], 2, 0, 10).tolist() == [2, 4]


def test_overlap_is_about_area():
    assert not overlap([0, 0, 1, 1], [1, 0, 2, 1])
    assert overlap([0, 0, 1, 1], [[0.9, 0.9, 2, 2], [-1, -1, 3, 3]]).tolist() == [True, True]


@pytest.mark.parametrize("seed", range(3))
def test_labels_around_points_cover_nothing(seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 200, (40, 2))
    sizes = [(float(width), 11.0) for width in rng.uniform(20, 60, 40)]
    obstacles = np.hstack([points - 3, points + 3])
    corners = around(points, sizes, obstacles, [0, 0, 200, 200])
    boxes = [
        (*corner, corner[0] + width, corner[1] + height)
        for corner, (width, height) in zip(corners, sizes, strict=True)
        if corner is not None
    ]
    assert len(boxes) >= 10
    for number, box in enumerate(boxes):
        assert min(box) >= 0
        assert max(box) <= 200
        assert not overlap(box, obstacles).any()
        assert not any(overlap(box, other) for other in boxes[:number])


@pytest.mark.parametrize("seed", range(3))
def test_lines_to_labels_cross_no_other_point_label_or_line(seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 200, (60, 2))
    sizes = [(float(width), 11.0) for width in rng.uniform(30, 60, 25)]
    obstacles = np.hstack([points - 3, points + 3])
    corners = around(points[:25], sizes, obstacles, [0, 0, 200, 200], column=216)
    boxes = {
        at: (*corner, corner[0] + sizes[at][0], corner[1] + sizes[at][1])
        for at, corner in enumerate(corners)
        if corner is not None
    }
    assert len(boxes) >= 8
    lines = {at: (points[at], np.array(nearest(tuple(points[at]), box))) for at, box in boxes.items()}
    for at, (start, end) in lines.items():
        length = np.hypot(*(end - start))
        way = (
            [start + (end - start) * far / length for far in np.arange(8, length, 0.5)] if length > 8 else []
        )
        for x, y in way:
            within = (obstacles[:, :2] < (x, y)).all(axis=1) & (obstacles[:, 2:] > (x, y)).all(axis=1)
            assert not within.any()
            for other, (left, bottom, right, top) in boxes.items():
                assert other == at or not (left < x < right and bottom < y < top)


def test_a_label_without_room_has_no_place():
    assert around([[5, 5]], [(50, 11)], [[2, 2, 8, 8]], [0, 0, 10, 10]) == [None]
    assert around([[50, 50]], [(20, 10)], [[47, 47, 53, 53]], [0, 0, 100, 100]) == [(56, 45)]
