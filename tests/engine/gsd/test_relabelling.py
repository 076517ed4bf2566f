import itertools
from math import comb

import numpy as np
import pytest

from riskrank.engine.family import Family
from riskrank.engine.gsd import relabelling
from riskrank.engine.gsd.preference_system import RESOLUTION, Threshold, preference_system, quality_table
from riskrank.engine.gsd.relabelling import (
    Relabelling,
    contamination_shift,
    dominance_relation,
    draw_relabellings,
    run_relabelling_tests,
)
from riskrank.engine.gsd.relation import Utilities, UtilityPolytope, sample_distributions

ORDINAL = [False, True]


def correlated_scores(seed, samples, gap=0.5):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(samples, 2))
    scores = np.stack([base + gap, base]) + 0.5 * rng.normal(size=(2, samples, 2))
    scores[..., 1] = np.round(scores[..., 1])
    return scores.round(3)


def every_optimum(table, pair, threshold, signs, pooled=False):
    """Solve a separate linear program for every relabelling."""
    system = preference_system(table, sorted(pair))
    first, second = (sample_distributions(table, system, model) for model in pair)
    units = np.vstack([first, second]) if pooled else first - second
    optima = []
    for row in signs:
        polytope = UtilityPolytope(system)
        polytope.fix_slack(threshold)
        optima.append(polytope.minimise(row @ units / table.samples).value)
    return np.array(optima)


@pytest.mark.parametrize(
    ("resampling", "pair", "delta"),
    [("swap", (0, 1), 0.0), ("swap", (1, 0), 1e-3), ("pooled", (0, 1), 1e-3), ("pooled", (1, 0), 0.0)],
)
def test_shortcut_matches_solving_all_programs(resampling, pair, delta):
    table = quality_table(correlated_scores(0, 12, gap=0.2), ordinal=ORDINAL)
    options = Relabelling(resampling=resampling, resamples=30, seed=3)
    (result,) = run_relabelling_tests(Utilities(table, Threshold(delta)), [pair], options)
    (less,) = run_relabelling_tests(Utilities(table, Threshold(delta)), [pair], options, side="less")
    signs, _ = draw_relabellings(12, options)
    null = every_optimum(table, pair, delta, signs, pooled=resampling == "pooled")
    assert result.p_value == (1 + np.sum(null >= result.optimum - RESOLUTION)) / 31
    assert less.p_value == (1 + np.sum(null <= result.optimum + RESOLUTION)) / 31
    assert result.share_smaller == np.mean(null < result.optimum - RESOLUTION)


def test_shortcut_covers_both_outcomes():
    # What the test above rests on: resamples on either side, and fewer programs than resamples.
    table = quality_table(correlated_scores(0, 12, gap=0.2), ordinal=ORDINAL)
    (result,) = run_relabelling_tests(Utilities(table, Threshold(1e-3)), [(0, 1)], Relabelling(resamples=200))
    assert 0 < result.share_smaller < 1
    assert 1 / 201 < result.p_value < 1
    assert result.lps_solved < 100
    calls = []
    options = Relabelling(resamples=50, pairs="all")
    relation, tests = dominance_relation(
        Utilities(table), options, progress=lambda *counts: calls.append(counts)
    )
    assert calls[-1] == (1, 1, f"{relation.lps_solved + sum(test.lps_solved for test in tests.values())} LPs")


@pytest.mark.parametrize(("resampling", "samples", "total"), [("swap", 5, 2**5), ("pooled", 4, comb(8, 4))])
def test_exact_p_value_matches_all_labellings(resampling, samples, total):
    table = quality_table(correlated_scores(1, samples, gap=1.0), ordinal=ORDINAL)
    options = Relabelling(resampling=resampling, resamples=total)
    (result,) = run_relabelling_tests(Utilities(table, Threshold(1e-3)), [(0, 1)], options)
    if resampling == "swap":
        signs = np.array(list(itertools.product((1, -1), repeat=samples)))
    else:
        signs = np.array(
            [row for row in itertools.product((1, -1), repeat=2 * samples) if sum(row) == 0], dtype=float
        )
    null = every_optimum(table, (0, 1), 1e-3, signs, pooled=resampling == "pooled")
    assert result.exact
    assert result.resamples == total - 1
    assert result.p_value == np.mean(null >= result.optimum - RESOLUTION)
    assert result.share_smaller == np.mean(null < result.optimum - RESOLUTION)
    options = Relabelling(resampling=resampling, resamples=total - 1)
    (sampled,) = run_relabelling_tests(Utilities(table), [(0, 1)], options)
    assert not sampled.exact


def test_relabellings_keep_group_sizes_and_repeat():
    pooled, _ = draw_relabellings(9, Relabelling(resampling="pooled", resamples=50, seed=1))
    np.testing.assert_array_equal(pooled.sum(axis=1), 0)
    repeated, _ = draw_relabellings(9, Relabelling(resampling="pooled", resamples=50, seed=1))
    np.testing.assert_array_equal(pooled, repeated)
    # More resamples begin with the same full blocks.
    many, _ = draw_relabellings(40, Relabelling(resampling="swap", resamples=2500, seed=1))
    fewer, _ = draw_relabellings(40, Relabelling(resampling="swap", resamples=1000, seed=1))
    np.testing.assert_array_equal(many[:1000], fewer)


def test_exact_relabellings_exclude_the_observed_labels():
    swaps, _ = draw_relabellings(3, Relabelling(resampling="swap", resamples=8, seed=0))
    assert len(np.unique(swaps, axis=0)) == 7
    assert not (swaps == 1).all(axis=1).any()
    deals, _ = draw_relabellings(2, Relabelling(resampling="pooled", resamples=6, seed=0))
    assert len(np.unique(deals, axis=0)) == 5
    assert not (deals == [1, 1, -1, -1]).all(axis=1).any()


@pytest.mark.parametrize(("pair", "side"), [((0, 1), "greater"), ((1, 0), "less")])
def test_p_value_grows_with_contamination(pair, side):
    table = quality_table(correlated_scores(2, 14, gap=3.0), ordinal=ORDINAL)
    options = Relabelling(resamples=40, seed=5, contamination=True, family=Family(alpha=0.3))
    (result,) = run_relabelling_tests(Utilities(table), [pair], options, side=side)
    assert result.contamination[0] == result.p_value
    assert list(result.contamination) == sorted(result.contamination)
    assert result.contamination[-1] > 0.3


@pytest.mark.slow
def test_contaminated_p_values_match_solving_all_programs():
    table = quality_table(correlated_scores(2, 14, gap=3.0), ordinal=ORDINAL)
    options = Relabelling(resamples=80, seed=5, contamination=True, family=Family(alpha=0.3))
    signs, _ = draw_relabellings(14, options)
    for pair, side, sign in (((0, 1), "greater", 1), ((1, 0), "less", -1)):
        (result,) = run_relabelling_tests(Utilities(table), [pair], options, side=side)
        null = every_optimum(table, pair, 0.0, signs)
        expected = []
        for m in range(14):
            margin = 2 * m / (14 - m) + RESOLUTION
            expected.append((1 + np.sum(sign * (result.optimum - null) <= margin)) / 81)
            if expected[-1] > 0.3:
                break
        assert result.contamination == tuple(expected)
        assert result.contamination[0] == result.p_value
        significant = [m for m, p in enumerate(expected) if p <= 0.1]
        assert result.tolerated_samples(0.1) == (significant[-1] if significant else None)
        if side == "less":
            assert len(significant) > 1


def test_contamination_shift_matches_its_formula():
    assert contamination_shift(0, 20) == 0
    assert contamination_shift(4, 20) == pytest.approx(0.5)


@pytest.mark.slow
def test_jobs_do_not_change_the_tests():
    rng = np.random.default_rng(6)
    scores = (rng.normal(size=(3, 12, 2)) + np.arange(3)[:, None, None]).round(2)
    table = quality_table(scores, ordinal=ORDINAL)
    pairs = [(2, 0), (0, 1), (2, 1), (1, 0)]
    utilities, options = Utilities(table, Threshold(1e-4)), Relabelling(resamples=50, contamination=True)
    calls = []
    serial = run_relabelling_tests(utilities, pairs, options, progress=lambda *counts: calls.append(counts))
    assert serial == run_relabelling_tests(utilities, pairs, options, jobs=2)
    assert [(test.winner, test.loser) for test in serial] == pairs
    assert calls[-1] == (3, 3, f"{sum(test.lps_solved for test in serial)} LPs")


def test_other_models_do_not_change_a_test():
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(3, 15, 2)).round(2)
    both = (Utilities(quality_table(part, ordinal=ORDINAL)) for part in (scores, scores[:2]))
    three, two = (run_relabelling_tests(utilities, [(0, 1)], Relabelling(resamples=50)) for utilities in both)
    assert three == two


def test_repeats_of_a_sample_are_swapped_together():
    # Two equal draws are one draw, and absent draws are none.
    scores = correlated_scores(8, 9)
    doubled = np.repeat(scores[:, :, None, :], 3, axis=2)
    doubled[:, :, 2] = np.nan
    both = (Utilities(quality_table(draws, ordinal=ORDINAL)) for draws in (scores, doubled))
    once, twice = (
        run_relabelling_tests(utilities, [(0, 1)], Relabelling(resamples=40)) for utilities in both
    )
    assert once == twice


def test_two_rounds_match_a_single_round(monkeypatch):
    """Undecided pairs get further relabellings in a second round, and results keep their order."""
    monkeypatch.setattr(relabelling, "FIRST", 20)
    monkeypatch.setattr(relabelling, "_LOOKS", (10, 20))
    scores = np.append(correlated_scores(2, 9, gap=1.5), correlated_scores(5, 9, gap=0.0), axis=0)[:3]
    table = quality_table(scores, ordinal=ORDINAL)
    options = Relabelling(pairs="all", resamples=60, stops_early=True)
    seen = []
    _, result = dominance_relation(Utilities(table), options, progress=lambda *counts: seen.append(counts))
    pairs = list(itertools.permutations(range(3), 2))
    assert list(result) == pairs
    alone = run_relabelling_tests(Utilities(table), pairs, options)
    assert [(test.p_value, test.resamples) for test in result.values()] == [
        (test.p_value, test.resamples) for test in alone
    ]
    assert {test.resamples for test in alone} == {10, 60}
    assert seen[-1][0] <= seen[-1][1]


@pytest.mark.slow
def test_system_of_all_models_tests_too():
    rng = np.random.default_rng(9)
    scores = (rng.normal(size=(3, 8, 2)) + np.arange(3)[:, None, None]).round(2)
    table = quality_table(scores, ordinal=ORDINAL)
    utilities, options = Utilities(table, Threshold(1e-4), "all"), Relabelling(resamples=256)
    (result,) = run_relabelling_tests(utilities, [(2, 0)], options)
    system = preference_system(table)
    first, second = (sample_distributions(table, system, model) for model in (2, 0))
    null = []
    for row in itertools.product((1, -1), repeat=8):
        polytope = UtilityPolytope(system)
        polytope.fix_slack(1e-4)
        null.append(polytope.minimise(np.array(row) @ (first - second) / 8).value)
    assert result.p_value == np.mean(np.array(null) >= null[0] - RESOLUTION)


@pytest.mark.slow
def test_clearly_insignificant_pair_stops_early():
    """Pairs of equal models are closed after 200 relabellings; significant pairs get all of them."""
    table = quality_table(correlated_scores(0, 40, gap=0.0), ordinal=ORDINAL)
    plain, closing = Relabelling(resamples=600), Relabelling(resamples=600, stops_early=True)
    (early,) = run_relabelling_tests(Utilities(table), [(0, 1)], closing)
    (full,) = run_relabelling_tests(Utilities(table), [(0, 1)], plain)
    assert early.resamples == 200
    assert full.resamples == 600
    assert early.p_value == pytest.approx(full.p_value, abs=0.12)
    separated = quality_table(correlated_scores(0, 40, gap=1.5), ordinal=ORDINAL)
    tests = [
        run_relabelling_tests(Utilities(separated), [(0, 1)], options)[0] for options in (closing, plain)
    ]
    assert tests[0].p_value == tests[1].p_value < 0.05
    assert tests[0].resamples == 600


@pytest.mark.slow
def test_exact_tests_never_stop_early():
    table = quality_table(correlated_scores(0, 10, gap=0.0), ordinal=ORDINAL)
    (result,) = run_relabelling_tests(
        Utilities(table), [(0, 1)], Relabelling(resamples=3000, stops_early=True)
    )
    assert result.exact
    assert result.resamples == 2**10 - 1
