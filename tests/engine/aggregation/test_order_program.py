"""The program over many entangled items: which rows it finds, and what it needs."""

import tracemalloc
from itertools import combinations

import numpy as np

from riskrank.engine.aggregation.order_program import CUT_TOLERANCE, OrderProgram
from riskrank.engine.aggregation.rank_aggregation import aggregate_rankings


def disagreements(rankings):
    """Twice how many rankings contradict "u before v", a tie by half."""
    return sum(1 + np.sign(row[:, None] - row[None, :]).astype(int) for row in rankings) - len(
        rankings
    ) * np.eye(rankings.shape[1], dtype=int)


def similar_rankings(k, lists, noise, seed):
    rng = np.random.default_rng(seed)
    return np.argsort(np.argsort(np.arange(k) + noise * rng.standard_normal((lists, k)))) + 1


def test_rows_found_are_the_violated_triangles():
    rng = np.random.default_rng(0)
    for rankings in (similar_rankings(12, 5, 3, 1), similar_rankings(12, 4, 30, 2)):
        program = OrderProgram(disagreements(rankings))
        x = rng.choice([0, 0.3, 0.5, 1], size=len(program.pairs[0]))
        before = np.full((12, 12), np.nan)
        for u, v in combinations(range(12), 2):
            agreed = np.unique(np.sign(rankings[:, v] - rankings[:, u]))
            before[u, v] = x[program.index[u, v]] if len(agreed) > 1 else agreed[0] == 1
        plain = [
            (u, v, w)
            for u, v, w in combinations(range(12), 3)
            if not -CUT_TOLERANCE <= before[u, v] + before[v, w] - before[u, w] <= 1 + CUT_TOLERANCE
        ]
        found = program._violated(program._before(x))
        assert [*zip(*map(np.ndarray.tolist, program._corners(found)), strict=True)] == plain
        assert len(plain) > 10


def test_pairs_that_all_rankings_order_alike_are_no_variables():
    rankings = similar_rankings(40, 5, 3, 3)
    program = OrderProgram(disagreements(rankings))
    plain = [
        (u, v)
        for u, v in combinations(range(40), 2)
        if len(np.unique(np.sign(rankings[:, v] - rankings[:, u]))) > 1
    ]
    assert [*zip(*map(np.ndarray.tolist, program.pairs), strict=True)] == plain
    assert len(plain) < 40 * 39 / 4


def test_entangled_items_are_solved_within_the_memory_of_their_pairs():
    rankings = similar_rankings(100, 8, 6, 4)
    aggregate_rankings(rankings)  # so that no module's own code is counted
    tracemalloc.start()
    found = aggregate_rankings(rankings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.gap == 0
    # The pairs of 100 items are 0.08 MB of numbers; the corners of all triples 24 MB.
    assert peak < 15e6
