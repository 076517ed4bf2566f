import numpy as np
import pytest

from riskrank.render.figures.bump import arrange_bump, draw_bump


def rankings(methods, count, seed=0):
    scores = np.random.default_rng(seed).normal(np.arange(count) * 0.2, 1, (methods, count)).round(1)
    return 1 + (scores[:, None, :] < scores[:, :, None]).sum(axis=2)


def test_ties_stand_at_the_same_height():
    bump = arrange_bump(np.array([[1, 1, 3], [2, 1, 2], [1, 1, 1]]))
    assert bump.positions.tolist() == [[0.5, 0.5, 2], [1.5, 0, 1.5], [1, 1, 1]]
    assert bump.ranks.tolist() == [[1, 1, 3], [2, 1, 2], [1, 1, 1]]


def test_a_tie_is_no_movement():
    ranks = np.tile(np.arange(1, 21), (2, 1))
    ranks[1, 7:] = 8  # the last thirteen share rank 8
    assert arrange_bump(ranks).focus == tuple(range(7))
    ranks[1, [5, 6]] = ranks[1, [6, 5]]
    ranks[1, [18, 1]] = [2, 8]  # one of them is really second there, and the second is among them
    assert {1, 5, 6, 18} < set(arrange_bump(ranks).focus)
    assert not {7, 12, 19} & set(arrange_bump(ranks).focus)


def test_leaders_and_movers_are_in_focus():
    ranks = np.tile(np.arange(1, 21), (2, 1))
    ranks[1, [17, 3]] = ranks[1, [3, 17]]
    focus = arrange_bump(ranks).focus
    assert {3, 17} <= set(focus)
    assert set(range(5)) <= set(focus)
    assert len(focus) == 7
    assert list(focus) == sorted(focus)  # by the first method's places, which are the numbers here


@pytest.mark.slow
@pytest.mark.parametrize(("methods", "count"), [(2, 2), (5, 12), (20, 12), (3, 60), (3, 90)])
def test_legible(legible, names, methods, count):
    bump = arrange_bump(rankings(methods, count))
    labels = [f"RA(R-SSD@metric number {number})" for number in range(methods)]
    words = legible(lambda: draw_bump(bump, names(count), labels, "Ranks by every method"))
    assert words.count("gpt") == (2 if count <= 80 or 0 in bump.focus else 0)
