import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from riskrank.engine.copa import population
from riskrank.engine.copa.population import dominators, pareto_front

SMALL_TABLES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 25), st.integers(1, 4)),
    elements=st.sampled_from([-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf]),
)


def front_by_loops(objectives):
    front = []
    for row in objectives:
        dominated = False
        for other in objectives:
            if all(o >= x for o, x in zip(other, row, strict=True)) and any(
                o > x for o, x in zip(other, row, strict=True)
            ):
                dominated = True
        front.append(not dominated)
    return np.array(front)


@given(SMALL_TABLES)
def test_front_matches_double_loops(objectives):
    assert pareto_front(objectives).tolist() == front_by_loops(objectives).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_front_in_small_blocks_matches_double_loops(monkeypatch, seed):
    monkeypatch.setattr(population, "_PAIRS", 300)
    rng = np.random.default_rng(seed)
    objectives = rng.integers(0, 2 + seed, (120, 1 + seed % 5)).astype(float)
    assert pareto_front(objectives).tolist() == front_by_loops(objectives).tolist()


def test_front_of_a_large_table_matches_a_staircase():
    rng = np.random.default_rng(1)
    objectives = rng.integers(0, 20_000, (50_000, 2)).astype(float)
    order = np.lexsort((-objectives[:, 1], -objectives[:, 0]))
    expected = np.zeros(len(objectives), dtype=bool)
    highest, last = -1.0, None
    for i in order:
        row = tuple(objectives[i])
        if objectives[i, 1] > highest or row == last:
            expected[i], highest, last = True, objectives[i, 1], row
    assert (pareto_front(objectives) == expected).all()


def test_large_front_without_dominated_models():
    first = np.random.default_rng(2).random(6_000)
    assert pareto_front(np.column_stack([first, -first, np.zeros_like(first)])).all()


def test_front_keeps_duplicates():
    objectives = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    assert pareto_front(objectives).tolist() == [True, True, True, False]
    assert pareto_front(np.repeat(objectives, 1000, axis=0)).sum() == 3_000


def test_dominators_match_loops():
    objectives = np.random.default_rng(4).integers(0, 4, (60, 3)).astype(float)
    for i, row in enumerate(objectives):
        expected = [j for j, x in enumerate(objectives) if (x >= row).all() and (x > row).any()]
        assert dominators(objectives, i).tolist() == expected
    assert pareto_front(objectives).tolist() == [not dominators(objectives, i).size for i in range(60)]


def test_empty_table_has_an_empty_front():
    assert pareto_front(np.empty((0, 3))).shape == (0,)
