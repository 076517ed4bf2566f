"""Pictures of pages: paths told shorter are the same lines."""

import re

import numpy as np
import pytest

from riskrank.shown.page.svg import _in_steps


def corners(path):
    """Where a path goes, without what lies amid a straight line."""
    found, at = [], np.zeros(2)
    for letter, numbers in re.findall("([A-Za-z])([^A-Za-z]*)", path):
        given = [float(number) for number in numbers.split()]
        step = {"h": [1, 0], "v": [0, 1]}.get(letter)
        at = at + np.multiply(step, given[0]) if step else np.array(given or found[0])
        if len(found) > 1 and letter not in "Mz":
            one, other = found[-1] - found[-2], at - found[-1]
            if 0 in np.abs(one).round(6) and np.array_equal(np.sign(one.round(6)), np.sign(other.round(6))):
                found.pop()
        found.append(at)
    return np.round(found, 6)


@pytest.mark.parametrize("seed", range(20))
def test_steps_go_where_lines_went(seed):
    own = np.random.default_rng(seed)
    points = np.cumsum(own.integers(-1, 2, (40, 2)) * own.choice([0, 0.01, 10.5], (40, 2)), axis=0).round(2)
    points = points[np.any(np.diff(points, axis=0, prepend=np.nan) != 0, axis=1)]
    path = "L".join(f"{x:g} {y:g}" for x, y in points)
    shorter = _in_steps(f"M{path}z")
    assert np.array_equal(corners(shorter), corners(f"M{path}z"))
    assert len(shorter) < len(path) + 2


def test_numbers_with_exponents_stay():
    assert _in_steps("M0 1e-05L1 1e-05") == "M0 1e-05L1 1e-05"
