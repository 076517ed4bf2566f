"""Tails of unpaired models: all relabellings, equivalent layouts of the same scores, and simulations."""

from itertools import combinations, product

import numpy as np
import pytest

from riskrank.engine.dominance.hidden_risk import (
    NONE,
    NOT_DECIDED,
    NOT_SIGNIFICANT,
    RISK,
    find_hidden_risks,
    find_worse_tails,
)
from riskrank.engine.dominance.inference import MAX_RESAMPLES
from riskrank.engine.dominance.sign_flips import correct_bias, flipped_tail_p_values, permutation_test
from riskrank.engine.family import Family
from riskrank.engine.numeric import competition_ranks
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign


def tail(values, level):
    """Return the mean of the worst share of scores and its squared standard error."""
    ordered, n = np.sort(values), len(values)
    part = np.clip(level * n - np.arange(n), 0, 1)
    quantile = ordered[min(int(np.ceil(level * n - 1e-9)) - 1, n - 1)]
    below = np.minimum(values - quantile, 0)
    return float(ordered @ part) / (level * n), below.var() / (level**2 * n)


def exact(worse, better, level):
    """Return the share of all relabellings with at least as large a difference of mean shortfalls."""
    pooled = np.concatenate([worse, better])
    quantile = np.sort(pooled)[int(np.ceil(level * pooled.size - 1e-9)) - 1]
    shortfall = np.minimum(pooled - quantile, 0)
    gaps = []
    for members in combinations(range(pooled.size), len(worse)):
        chosen = np.isin(np.arange(pooled.size), members)
        gaps.append(shortfall[~chosen].mean() - shortfall[chosen].mean())
    # The first labelling is the observed one.
    return np.mean(np.array(gaps) >= gaps[0] - 1e-9)


def flipped(scores, worse, better, level, seed=1):
    p_values = flipped_tail_p_values(scores, [(worse, better)], level, level=0.0005, seed=seed)
    return p_values[worse, better]


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_sampled_permutations_approximate_all_labellings(seed):
    rng = np.random.default_rng(seed)
    worse, better = rng.normal(-1, 1, 6), rng.normal(size=9)
    scores = ClusteredScores.build([worse, better], paired=False)
    for pair, expected in (((0, 1), exact(worse, better, 0.4)), ((1, 0), exact(better, worse, 0.4))):
        # A pair with 100 labellings as extreme is decided before all 20,000 are drawn.
        assert flipped(scores, *pair, 0.4, seed) == pytest.approx(expected, rel=0.35)


def test_only_the_worst_scores_matter():
    """Scores outside the pooled tail do not affect the result, however large."""
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=200), rng.normal(size=3000)
    plain = ClusteredScores.build([few, many], paired=False)
    high = ClusteredScores.build([np.where(x > 1.5, 99.0, x) for x in (few, many)], paired=False)
    assert flipped(plain, 0, 1, 0.05) == flipped(high, 0, 1, 0.05)


@pytest.mark.parametrize("layout", ["tasks", "clusters"])
def test_other_layouts_of_the_same_scores(layout):
    """Two identical halves as tasks, or clusters of one duplicated score, are equivalent to plain samples."""
    rng = np.random.default_rng(4)
    values = [rng.normal(-0.8, 1, 40), rng.normal(size=100)]
    expected = flipped(ClusteredScores.build(values, paired=False), 0, 1, 0.2)
    if layout == "tasks":
        halves = [np.arange(len(x)) % 2 for x in values]
        design = TaskDesign.build(["s", "t"], halves)
        scores = ClusteredScores.build(values, paired=False, tasks=design)
        near = 0.02
    else:
        twice = [np.repeat(x, 2) for x in values]
        scores = ClusteredScores.build(twice, [np.arange(len(x)) // 2 for x in twice], paired=False)
        near = 0.01
    result = flipped(scores, 0, 1, 0.2, seed=2)
    assert expected < 0.2
    assert result == pytest.approx(expected, abs=near)


def test_shift_equals_moving_the_scores():
    rng = np.random.default_rng(2)
    values = [rng.normal(size=50), rng.normal(0.3, 1, 80)]
    moved = [values[0], values[1] - 0.7]
    plain, shifted = (ClusteredScores.build(x, paired=False) for x in (values, moved))
    opinion = permutation_test(plain, (1, 0), 0.1, 0.7, draws=20_000, seed=1)
    assert opinion(1) == pytest.approx(flipped(shifted, 0, 1, 0.1), rel=1e-9)
    assert opinion(1) + opinion(-1) == pytest.approx(1, abs=0.05)


def test_paired_models_swap_whole_samples():
    scores = ClusteredScores.build([np.arange(20.0), np.arange(20.0) - 9])
    assert permutation_test(scores, (0, 1), 0.25, 0.0, draws=9, seed=0) is None
    pooled = np.sort(np.concatenate(scores.values))
    shortfall = [np.minimum(x - pooled[9], 0) for x in scores.values]
    signs = np.array([*product((-1, 1), repeat=10)])
    sums = signs @ (shortfall[0] - shortfall[1])[:10]
    expected = np.mean(sums >= sums[-1] - 1e-9)
    assert flipped(scores, 1, 0, 0.25) == pytest.approx(expected, rel=0.6)
    resampled = np.zeros((3, 2))
    assert correct_bias(scores, np.ones(2), resampled) is resampled


def claims(draw, sizes, tables, seed, worse=None):
    """Return the shares of tables with a significantly worse tail of either model, and of the first."""
    rng, decisions = np.random.default_rng(seed), []
    for at in range(tables):
        values = [draw(rng, n) if worse is None or i else worse(rng, n) for i, n in enumerate(sizes)]
        scores = ClusteredScores.build(values, paired=False)
        level = max(0.05, 5 / min(sizes))
        means = np.array([tail(x, level)[0] for x in values])
        resampled = np.stack(
            [_tails(x[rng.integers(0, n, (1000, n))], level) for x, n in zip(values, sizes, strict=True)],
            axis=1,
        )
        flips = flipped_tail_p_values(scores, [(0, 1)], level, level=0.025, seed=at)
        risks = find_worse_tails(
            means,
            correct_bias(scores, means, resampled),
            0,
            [1],
            samples=np.full((2, 2), float(min(sizes))),
            flipped=flips,
        )
        decisions.append([bool(risks), any(risk.worse == 0 for risk in risks)])
    return np.mean(decisions, axis=0)


def _tails(resampled, level):
    n = resampled.shape[1]
    part = np.clip(level * n - np.arange(n), 0, 1)
    return np.sort(resampled, axis=1) @ part / (level * n)


KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t": lambda rng, n: rng.standard_t(2.5, n),
    "losses": lambda rng, n: -rng.lognormal(0, 1, n),
    "disasters": lambda rng, n: np.where(rng.random(n) < 0.03, -6.0, 0.0) + rng.normal(size=n),
}


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(30, 300), (12, 60), (60, 60)])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_distributions_of_unequal_size(kind, sizes):
    """The rate is at most .07 plus two errors (.015, 300 tables); resampling alone has .08 to .38."""
    assert claims(KINDS[kind], sizes, 300, seed=1)[0] <= 0.10


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "least"), [((30, 300), 0.45), ((60, 60), 0.68), ((100, 1000), 0.95)])
def test_worse_tail_is_detected(sizes, least):
    """A tenth of the first model's scores is −6."""
    disasters = lambda rng, n: np.where(rng.random(n) < 0.1, -6.0, 0.0) + rng.normal(size=n)  # noqa: E731
    detected = claims(KINDS["normal"], sizes, 200, seed=2, worse=disasters)[1]
    assert detected >= least - 2 * np.sqrt(least * (1 - least) / 200)


def test_bias_is_subtracted_twice():
    scores = ClusteredScores.build([np.arange(12.0), np.arange(13.0)], paired=False)
    assert correct_bias(scores, np.array([1.0]), np.array([[1.5], [2.5]])).tolist() == [[-0.5], [0.5]]


def replicates(tails, error=0.1, resamples=1000, seed=0):
    return np.asarray(tails) + error * np.random.default_rng(seed).normal(size=(resamples, len(tails)))


def behind(samples, k):
    """Return a matrix with the same number of independent samples for all pairs of k models."""
    sizes = np.broadcast_to(np.asarray(samples, dtype=float), (k,))
    return np.minimum(sizes[:, None], sizes)


def by_tail(mean, tails, resampled, *, samples, **other):
    """Return the hidden risks of a ranking by tail means."""
    size = 1 / np.abs(tails).max()
    means, tails = np.asarray(mean, dtype=float), np.asarray(tails, dtype=float)
    ranks, pair_sizes = competition_ranks(-size * tails), behind(samples, len(means))
    return find_hidden_risks(means, tails, resampled, rank=ranks, samples=pair_sizes, **other)


def test_larger_mean_with_a_significantly_worse_tail_is_a_risk():
    tails = [-3.0, 0.0, -0.5]
    risks = by_tail([1.0, 0.9, 0.8], tails, replicates(tails), samples=100)
    assert risks.status.tolist() == [RISK, NONE, NONE]
    assert risks.against.tolist() == [1, -1, -1]  # both others show it; the better tail shows it most
    assert risks.tail_mean[0] == -3
    assert risks.tail_mean[risks.against[0]] == 0
    assert risks.p_adjusted[0] <= 0.05
    assert risks.decided.all()


def test_worse_tail_of_a_worse_mean_is_not_hidden():
    risks = by_tail([0.0, 1.0], [-9.0, 0.0], replicates([-9.0, 0.0]), samples=100)
    assert risks.status.tolist() == [NONE, NONE]
    assert risks.p_adjusted.tolist() == [1, 1]


def test_equal_means_are_tested_in_both_directions():
    risks = by_tail([1.0, 1.0], [0.0, -9.0], replicates([0.0, -9.0]), samples=100)
    assert risks.status.tolist() == [NONE, RISK]
    # Two claims in the family: at one claim fewer resamples would do.
    alone = by_tail([1.0, 2.0], [0.0, -9.0], replicates([0.0, -9.0]), samples=100)
    assert alone.resamples_needed < risks.resamples_needed


def test_insignificant_gap_is_not_a_risk():
    tails = [-0.1, 0.0]
    risks = by_tail([1.0, 0.9], tails, replicates(tails), samples=100)
    assert risks.status.tolist() == [NOT_SIGNIFICANT, NONE]
    assert risks.against[0] == 1
    assert risks.p_adjusted[0] > 0.05
    assert risks.decided.all()  # more resamples would not help
    # The result does not depend on the order of the models.
    turned = by_tail([0.9, 1.0], tails[::-1], replicates(tails)[:, ::-1], samples=100)
    assert turned.status.tolist() == [NONE, NOT_SIGNIFICANT]
    assert turned.against.tolist() == [-1, 0]
    assert turned.p_adjusted[1] == risks.p_adjusted[0]


def test_too_few_resamples_for_the_family_decide_nothing():
    k = 12
    mean = np.linspace(1, 0, k)
    tails = np.concatenate([[-9.0], np.zeros(k - 1)])
    few = by_tail(mean, tails, replicates(tails, resamples=99), samples=200)
    assert few.status[0] == NOT_DECIDED
    assert not few.decided[0]
    enough = by_tail(mean, tails, replicates(tails, resamples=few.resamples_needed), samples=200)
    assert enough.status[0] == RISK
    assert enough.decided[0]
    almost = by_tail(
        mean[:2], tails[:2], replicates(tails[:2], resamples=enough.resamples_needed), samples=200
    )
    assert almost.status[0] == RISK


def test_resamples_needed_is_the_smallest_sufficient_number():
    risks = by_tail([2.0, 1.0, 0.0], [-1.0, 0, 0], replicates([-1.0, 0, 0]), samples=25)
    level = 0.05 / 3
    assert expanded_p_value(1 / (risks.resamples_needed + 1), 25) <= level
    assert expanded_p_value(1 / risks.resamples_needed, 25) > level


def test_p_values_by_hand():
    rng = np.random.default_rng(5)
    tails = np.array([-0.2, 0.0, 0.05])
    resampled = replicates(tails, resamples=400)
    risks = by_tail([3.0, 2.0, 1.0], tails, resampled, samples=60)
    raw = {
        (i, j): float(expanded_p_value((1 + np.sum(resampled[:, i] >= resampled[:, j])) / 401, 60))
        for i, j in [(0, 1), (0, 2), (1, 2)]
    }
    stepped, running = {}, 0.0
    for left, pair in zip((3, 2, 1), sorted(raw, key=raw.get), strict=True):
        running = max(running, left * raw[pair])
        stepped[pair] = min(running, 1.0)
    assert risks.p_adjusted[0] == pytest.approx(min(stepped[0, 1], stepped[0, 2]))
    assert risks.p_adjusted[1] == pytest.approx(stepped[1, 2])
    order = rng.permutation(3)
    shuffled = by_tail(np.array([3.0, 2.0, 1.0])[order], tails[order], resampled[:, order], samples=60)
    assert shuffled.p_adjusted == pytest.approx(risks.p_adjusted[order])
    assert shuffled.status.tolist() == risks.status[order].tolist()


@pytest.mark.parametrize(("factor", "shift"), [(1e154, 0), (1e300, 0), (1e-300, 0), (1.0, 1e9)])
def test_units_do_not_matter(factor, shift):
    tails = np.array([-0.3, 0.0, 0.05, -4.0])
    mean = np.array([3.0, 2.0, 1.0, 2.0])
    resampled = replicates(tails)
    plain = by_tail(mean, tails, resampled, samples=60)
    scaled = by_tail(mean * factor + shift, tails * factor + shift, resampled * factor + shift, samples=60)
    assert scaled.status.tolist() == plain.status.tolist()
    assert scaled.against.tolist() == plain.against.tolist()
    assert scaled.p_adjusted == pytest.approx(plain.p_adjusted)


def test_sums_that_differ_by_rounding_are_no_gap():
    tails = np.array([0.3, 0.1 + 0.2])
    risks = by_tail([1.0, 0.9], tails, np.tile(tails, (1000, 1)), samples=50)
    assert tails[1] > tails[0]
    assert risks.status.tolist() == [NONE, NONE]


def test_tails_of_opposite_extremes_compare_without_a_warning():
    tails = np.array([-1.5e308, 1.5e308])
    risks = by_tail([1.0, 0.9], tails, np.tile(tails, (1000, 1)), samples=50)
    assert risks.status[0] == RISK


def test_top_ranked_model_is_no_hidden_risk():
    """A first model with mean .75 is no hidden risk because a model with mean .42 has a better tail."""
    mean, tails = np.array([0.75, 0.42]), np.array([-3.0, 0.0])
    resampled = replicates(tails)
    for rank, expected in (([1, 2], NONE), ([1, 1], NONE), ([2, 1], RISK)):
        risks = find_hidden_risks(mean, tails, resampled, rank=np.array(rank), samples=behind(100, 2))
        assert risks.status.tolist() == [expected, NONE]


def test_worse_tails_are_reported_for_any_means():
    tails = np.array([-1.0, -4.7, -1.05, -9.0])
    resampled = replicates(tails)
    (risk,) = find_worse_tails(tails, resampled, 0, [0, 1, 2], samples=behind(100, 4))
    assert (risk.worse, risk.better) == (1, 0)
    turned = find_worse_tails(tails, resampled, 1, [0, 2], samples=behind(100, 4))
    assert [(pair.worse, pair.better) for pair in turned] == [(1, 0), (1, 2)]
    assert find_worse_tails(tails, resampled, 0, [2], samples=behind(100, 4)) == []
    assert find_worse_tails(tails, resampled, 0, [], samples=behind(100, 4)) == []


def test_worse_tails_by_hand():
    tails = np.array([0.0, -0.4])
    resampled = replicates(tails, resamples=400)
    (risk,) = find_worse_tails(tails, resampled, 0, [1], samples=behind([60, 25], 2))
    crossing = np.sum(resampled[:, 1] >= resampled[:, 0])
    raw = float(expanded_p_value((1 + crossing) / 401, 25))
    assert risk.p_adjusted == pytest.approx(2 * raw)


def test_worse_tails_of_equal_models_are_rarely_reported():
    """The leader is selected by its tail on the same samples."""
    rng = np.random.default_rng(3)
    reported = 0
    for _ in range(200):
        tails = rng.normal(size=8)
        resampled = tails + rng.normal(size=(1000, 8))
        leader = int(np.argmax(tails))
        reported += bool(find_worse_tails(tails, resampled, leader, range(8), samples=behind(200, 8)))
    assert reported <= 0.05 * 200 + 3 * np.sqrt(0.05 * 0.95 * 200)


def test_tiny_level_needs_the_maximum_of_resamples():
    tails, samples = np.array([0.0, 1.0]), np.full((2, 2), 1.5)
    resampled, rank = np.tile(tails, (10, 1)), np.array([2, 1])
    risks = find_hidden_risks(np.zeros(2), tails, resampled, rank=rank, samples=samples, family=Family(1e-12))
    assert risks.resamples_needed == MAX_RESAMPLES - 1
