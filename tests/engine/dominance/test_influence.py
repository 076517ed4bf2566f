"""Asymptotic errors compared with numerical derivatives, Monte Carlo, a bootstrap, theory and invariances."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.dominance import influence as influences
from riskrank.engine.dominance.bootstrap import Bootstrap, BootstrapColumn
from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, RELATIVE, Claim, Inference
from riskrank.engine.dominance.influence import (
    LEVELS,
    MAX_CLUSTERS,
    MergedGrid,
    cluster_sums,
    equal_p_values,
    violation_influence,
)
from riskrank.engine.dominance.ranking import weighted_violation_ratios
from riskrank.engine.dominance.resampled_tests import claim_p_values
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.errors import UsageError
from tests.engine.dominance.helpers import influence_of

N = 5000


def weighted_ratio(x, p, y, q, order):
    """Return ε of x over y with weights, integrated over the merged breakpoints."""
    x, p = np.array(x)[np.argsort(x)], np.array(p)[np.argsort(x)]
    y, q = np.array(y)[np.argsort(y)], np.array(q)[np.argsort(y)]
    levels_x, levels_y = np.cumsum(p), np.cumsum(q)
    levels_x[-1] = levels_y[-1] = 1.0
    squares = violation = start = area = 0.0
    for end in sorted({*levels_x, *levels_y}):
        middle = (start + end) / 2
        d = x[np.searchsorted(levels_x, middle)] - y[np.searchsorted(levels_y, middle)]
        width = end - start
        if order == 1:
            squares += width * d * d
            violation += width * min(d, 0) ** 2
        else:
            a, b = area, area + width * d
            squares += width * (a * a + a * b + b * b) / 3
            if a * b < 0:
                share = min(a, b) / (min(a, b) - max(a, b))
                violation += share * width * min(a, b) ** 2 / 3
            elif min(a, b) < 0:
                violation += width * (a * a + a * b + b * b) / 3
            area = b
        start = end
    return violation / squares


def ratios_of_sorted(rows, order):
    """Return ε for all pairs of sorted samples of equal size, shape (k, k, ...) for rows (k, ..., n)."""
    n = rows.shape[-1]
    k = len(rows)
    ratio = np.full((k, k, *rows.shape[1:-1]), 0.5)
    for i in range(k):
        for j in range(i):
            d = rows[i] - rows[j]
            if order == 1:
                ratio[i, j] = (np.minimum(d, 0) ** 2).sum(-1) / (d**2).sum(-1)
            else:
                b = np.cumsum(d, axis=-1) / n
                a = b - d / n
                squares = a * a + a * b + b * b
                low, high = np.minimum(a, b), np.maximum(a, b)
                with np.errstate(divide="ignore", invalid="ignore"):
                    cut = np.where((low < 0) & (high > 0), low**3 / (low - high), 0.0)
                ratio[i, j] = (np.where(high <= 0, squares, cut)).sum(-1) / squares.sum(-1)
            ratio[j, i] = 1 - ratio[i, j]
    return ratio


def relative_of(ratio):
    k = len(ratio)
    mean = (ratio.sum(axis=1) - 0.5) / (k - 1)
    return mean[:, None] - mean[None, :]


def normals(rng, n):
    return np.stack([rng.normal(0.5, 2, n), rng.normal(0, 1, n)])


def betas(rng, n):
    return np.stack([rng.beta(2, 2.2, n), rng.beta(4, 5, n)])


def correlated(rng, n):
    both = sqrt(0.8) * rng.normal(size=n) + sqrt(0.2) * rng.normal(size=(2, n))
    return np.stack([0.5 + 2 * both[0], both[1]])


def five(rng, n):
    both = sqrt(0.5) * rng.normal(size=n) + sqrt(0.5) * rng.normal(size=(5, n))
    return np.array([0, 0.5, 0.9, 1.5, 1.9])[:, None] + np.array([1, 2, 3, 4, 5])[:, None] * both


DESIGNS = {
    "normal": (normals, False),
    "beta": (betas, False),
    "correlated": (correlated, True),
    "five": (five, True),
}


@pytest.mark.parametrize("order", [1, 2])
@given(data=st.data())
def test_ratio_against_brute_force(order, data):
    values = st.lists(st.integers(-9, 9), min_size=2, max_size=12)
    x, y = data.draw(values), data.draw(values)
    result = influence_of([np.array(x), np.array(y)], order=order, paired=False)
    if np.array_equal(np.sort(np.repeat(x, len(y))), np.sort(np.repeat(y, len(x)))):
        assert result.ratio[0, 1] == 0.5
        assert result.ratio_error[0, 1] == 0
        return
    expected = weighted_ratio(x, np.full(len(x), 1 / len(x)), y, np.full(len(y), 1 / len(y)), order)
    assert result.ratio[0, 1] == pytest.approx(expected, abs=1e-12)
    assert result.ratio[1, 0] == pytest.approx(1 - expected, abs=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("sizes", [(7, 11), (13, 9), (24, 25), (40, 31)])
def test_error_against_numerical_derivatives_of_the_weights(order, sizes):
    # The influence of a score is the rate at which the ratio changes as its weight grows. Coprime sizes:
    # where both samples step at once the first-order ratio has two one-sided rates.
    rng = np.random.default_rng(sum(sizes))
    x, y = rng.normal(0.2, 1.4, sizes[0]), rng.normal(0, 1, sizes[1])
    p, q = np.full(sizes[0], 1 / sizes[0]), np.full(sizes[1], 1 / sizes[1])

    def rate(weights, at, ratio_of):
        step = 1e-6
        up = (1 - step) * weights
        up[at] += step
        down = (1 + step) * weights
        down[at] -= step
        return (ratio_of(up) - ratio_of(down)) / (2 * step)

    first = [rate(p, at, lambda w: weighted_ratio(x, w, y, q, order)) for at in range(sizes[0])]
    second = [rate(q, at, lambda w: weighted_ratio(x, p, y, w, order)) for at in range(sizes[1])]
    variance = sum(np.var(v, ddof=1) / len(v) for v in (first, second))
    result = influence_of([x, y], order=order, paired=False)
    error = min(sqrt(variance), 0.5)
    assert result.ratio_error[0, 1] == pytest.approx(error, rel=1e-4)
    assert result.relative_error[0, 1] == pytest.approx(2 * error, rel=1e-4)


def away_from_0_and_1(ratio):
    """Return a mask of ratios that are not close to 0 or 1, where the normal approximation fails."""
    return ~np.eye(len(ratio), dtype=bool) & (np.abs(ratio - 0.5) < 0.45)


def monte_carlo(draw, order, repeats, seed):
    rng = np.random.default_rng(seed)
    ratios = np.stack(
        [ratios_of_sorted(np.sort(draw(rng, N), axis=-1), order) for _ in range(repeats)], axis=-1
    )
    relative = np.stack([relative_of(ratios[..., r]) for r in range(repeats)], axis=-1)
    return ratios.std(axis=-1, ddof=1), relative.std(axis=-1, ddof=1)


def mean_errors(draw, order, paired, seed, repeats=30):
    rng = np.random.default_rng(seed)
    results = [influence_of(list(draw(rng, N)), order=order, paired=paired) for _ in range(repeats)]
    return (
        np.mean([result.ratio_error for result in results], axis=0),
        np.mean([result.relative_error for result in results], axis=0),
    )


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("design", DESIGNS)
def test_against_monte_carlo(design, order):
    draw, paired = DESIGNS[design]
    simulated = monte_carlo(draw, order, 3000, seed=7)
    asymptotic = mean_errors(draw, order, paired, seed=8)
    ratio = influence_of(list(draw(np.random.default_rng(9), 200_000)), order=order).ratio
    pairs = away_from_0_and_1(ratio)
    # Among ten pairs a single one, further from its limit, may differ more; what ranks models may not.
    limits = (0.05 if len(ratio) == 2 else 0.08, 0.05)
    for expected, errors, within in zip(simulated, asymptotic, limits, strict=True):
        assert errors[pairs] == pytest.approx(expected[pairs], rel=within)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "design",
    ["normal", "correlated", *(pytest.param(name, marks=pytest.mark.slow) for name in ("beta", "five"))],
)
def test_against_a_plain_bootstrap(design, order):
    draw, paired = DESIGNS[design]
    rng = np.random.default_rng(11)
    sample = draw(rng, N)
    k, resamples = len(sample), 200
    ratios = []
    for _ in range(resamples):
        picks = rng.integers(0, N, N) if paired else rng.integers(0, N, (k, N))
        rows = sample[:, picks] if paired else np.take_along_axis(sample, picks, axis=1)
        ratios.append(ratios_of_sorted(np.sort(rows, axis=-1), order))
    ratios = np.stack(ratios, axis=-1)
    relative = np.stack([relative_of(ratios[..., r]) for r in range(resamples)], axis=-1)
    result = influence_of(list(sample), order=order, paired=paired)
    # 200 resamples know a standard deviation to 5 %; the slow Monte Carlo test is the sharper one.
    pairs = away_from_0_and_1(result.ratio)
    assert result.ratio_error[pairs] == pytest.approx(ratios.std(axis=-1, ddof=1)[pairs], rel=0.15)
    pairs = ~np.eye(k, dtype=bool)
    assert result.relative_error[pairs] == pytest.approx(relative.std(axis=-1, ddof=1)[pairs], rel=0.15)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("paired", [True, False])
def test_repeating_every_row_within_its_cluster_changes_nothing(order, paired):
    rng = np.random.default_rng(2)
    samples = [rng.normal(i / 4, 1 + i / 3, 60) for i in range(3)]
    plain = influence_of(samples, order=order, paired=paired)
    tripled = influence_of(
        [np.repeat(sample, 3) for sample in samples],
        order=order,
        clusters=[np.repeat(np.arange(60), 3)] * 3,
        paired=paired,
    )
    for name in ("ratio", "ratio_error", "relative", "relative_error", "equal_p_value", "clusters"):
        assert getattr(tripled, name) == pytest.approx(getattr(plain, name), rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(("order", "paired"), [(1, True), pytest.param(2, False, marks=pytest.mark.slow)])
def test_clustered_errors_against_monte_carlo(order, paired):
    rng = np.random.default_rng(5)
    groups, draws, repeats = 600, 3, 100

    def draw():
        base = rng.normal(size=groups) if paired else None
        samples = []
        for mean, sd in ((0.4, 1.6), (0.0, 1.0)):
            effect = rng.normal(size=groups)
            common = 0.6 * base + 0.4 * effect if paired else effect
            samples.append(mean + sd * (np.repeat(common, draws) + 0.5 * rng.normal(size=groups * draws)))
        return samples

    clusters = [np.repeat(np.arange(groups), draws)] * 2
    results = [influence_of(draw(), order=order, clusters=clusters, paired=paired) for _ in range(repeats)]
    simulated = np.std([result.ratio[0, 1] for result in results], ddof=1)
    estimated = np.mean([result.ratio_error[0, 1] for result in results])
    assert estimated == pytest.approx(simulated, rel=0.15)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("order", [1, 2])
def test_invariance_to_rows_models_location_and_unit(order, paired):
    rng = np.random.default_rng(6)
    samples = five(rng, 80)
    clusters = rng.integers(0, 30, 80)
    plain = influence_of(list(samples), order=order, clusters=[clusters] * 5, paired=paired)
    rows, models = rng.permutation(80), rng.permutation(5)
    moved = influence_of(
        [1e6 * samples[m][rows] - 3e6 for m in models],
        order=order,
        clusters=[100 - clusters[rows]] * 5,
        paired=paired,
    )
    for name in ("ratio", "ratio_error", "relative", "relative_error", "equal_p_value"):
        table = getattr(plain, name)[np.ix_(models, models)]
        assert getattr(moved, name) == pytest.approx(table, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("order", [1, 2])
def test_relative_errors_of_two_models_double_the_absolute(order):
    samples = list(correlated(np.random.default_rng(1), 200))
    for paired in (True, False):
        result = influence_of(samples, order=order, paired=paired)
        assert result.relative[0, 1] == pytest.approx(2 * result.ratio[0, 1] - 1)
        assert result.relative_error[0, 1] == pytest.approx(2 * result.ratio_error[0, 1])
        relative, direct = (claim_p_values(result, Claim(order, kind))[0, 1] for kind in (RELATIVE, DIRECT))
        assert relative == pytest.approx(direct)


@pytest.mark.parametrize("order", [1, 2])
def test_identical_models_in_a_larger_table(order):
    x = np.random.default_rng(9).normal(size=50)
    result = influence_of([x, np.repeat(x[::-1], 2), x + 5], order=order, paired=False)
    assert result.ratio[0, 1] == result.ratio[1, 0] == 0.5
    assert result.ratio[2, 0] == 0
    p = claim_p_values(result, Claim(order))
    assert p[2, 0] < 1e-6
    assert p[0, 1] == p[1, 0] == 1
    assert np.isnan(np.diag(p)).all()
    assert claim_p_values(result, Claim(order, ABSOLUTE, 0.25))[0, 1] > 0.99


def test_errors_stay_within_the_range_of_a_ratio():
    rng = np.random.default_rng(14)
    for _ in range(30):
        for paired in (True, False):
            result = influence_of(list(rng.normal(size=(3, 100))), order=2, paired=paired)
            assert np.nanmax(result.ratio_error) <= 0.5 + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2])
def test_size_for_two_models_of_the_same_distribution(order):
    # The limit theorem alone would reject about 30 % of the time in order 2.
    rng = np.random.default_rng(13)
    p = [
        claim_p_values(influence_of(list(rng.normal(size=(2, 200))), order=order, paired=False), Claim(order))
        for _ in range(150)
    ]
    assert np.mean([table[0, 1] <= 0.05 for table in p]) < 0.05 + 3 * sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize(
    ("paired", "clustered"), [(True, True), pytest.param(False, False, marks=pytest.mark.slow)]
)
def test_equal_distributions_against_monte_carlo(paired, clustered):
    rng = np.random.default_rng(12)
    units, draws = 150, 3 if clustered else 1
    clusters = [np.repeat(np.arange(units), draws)] * 2
    p = []
    for _ in range(150):
        shared = rng.normal(size=units) if paired else 0
        samples = [np.repeat(shared + rng.normal(size=units), draws) for _ in range(2)]
        samples = [sample + 0.3 * rng.normal(size=sample.size) for sample in samples]
        result = influence_of(samples, order=1, clusters=clusters, paired=paired)
        p.append(result.equal_p_value[0, 1])
    # P-values are uniform at usual levels, within four binomial standard errors.
    for level in (0.02, 0.05, 0.1):
        assert np.mean(np.array(p) <= level) == pytest.approx(level, abs=4 * sqrt(level * (1 - level) / 150))


def covariance(scores, clusters):
    """Return the covariance of a model's integrated quantiles, as computed by the package."""
    noise = influences._cluster_curves(ClusteredScores.build([scores] * 2, [clusters] * 2), 0)
    return influences._sum_of_products(noise, noise)


def plain_covariance(scores, clusters):
    """Compute the covariance by definition, per cluster: the influence of x at level t is min(x, Q(t))."""
    n, count = len(scores), int(clusters.max()) + 1
    ordered = np.sort(scores)
    levels = [ordered[int((level + 0.5) / LEVELS * n)] for level in range(LEVELS)]
    effect = np.array([np.minimum(scores, q) - np.minimum(scores, q).mean() for q in levels])
    by_cluster = np.array([np.bincount(clusters, row, minlength=count) for row in effect]) / n
    return by_cluster @ by_cluster.T * count / (count - 1)


@pytest.mark.parametrize("clusters", [MAX_CLUSTERS - 1, MAX_CLUSTERS])
@pytest.mark.parametrize("draws", [1, 2])
def test_noise_of_all_clusters_matches_the_definition(clusters, draws):
    scores = np.random.default_rng(1).normal(size=clusters * draws)
    unit = np.repeat(np.arange(clusters), draws)
    assert covariance(scores, unit) == pytest.approx(plain_covariance(scores, unit), rel=1e-9)


@pytest.mark.parametrize("clusters", [MAX_CLUSTERS + 1, 3 * MAX_CLUSTERS])
@pytest.mark.parametrize("draws", [1, 2])
def test_noise_of_sampled_clusters_estimates_the_total(clusters, draws):
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(clusters), draws)
    scores = rng.normal(size=clusters)[unit] + 0.3 * rng.normal(size=clusters * draws)
    estimated, expected = covariance(scores, unit), plain_covariance(scores, unit)
    assert not np.array_equal(estimated, expected)
    # A variance estimated on m normal values is off by a share of √(2/m); the influence on a low level is
    # zero but for a few scores, so those are left out.
    middle = slice(LEVELS // 4, None)
    tolerance = 5 * sqrt(2 / MAX_CLUSTERS)
    assert np.diag(estimated)[middle] == pytest.approx(np.diag(expected)[middle], rel=tolerance)


def test_paired_models_sample_the_same_clusters():
    """The difference between a model and its shifted copy is constant, so any distance is significant."""
    clusters = np.arange(2 * MAX_CLUSTERS + 7)
    scores = np.random.default_rng(3).normal(size=len(clusters))
    both = ClusteredScores.build([scores, scores + 1e-4], [clusters] * 2)
    paired, unpaired = (
        equal_p_values(scores_of_pair, np.full((2, 2), 1e-8 / 3))
        for scores_of_pair in (both, replace(both, paired=False))
    )
    assert paired[0, 1] == paired[1, 0] < 1e-6
    assert unpaired[0, 1] > 0.5
    assert np.isnan(np.diag(paired)).all()


def test_p_values_with_sampled_clusters_match_the_total(monkeypatch):
    rng = np.random.default_rng(4)
    samples = list(rng.normal(size=(2, 4000)) + np.array([[0.0], [0.03]]))
    every = influence_of(samples, order=2, paired=False).equal_p_value[0, 1]
    monkeypatch.setattr(influences, "MAX_CLUSTERS", 1000)
    some = influence_of(samples, order=2, paired=False).equal_p_value[0, 1]
    assert some != every
    assert some == pytest.approx(every, rel=0.3)
    assert 0.001 < every < 0.9


@pytest.mark.parametrize("paired", [True, False])
def test_without_noise_p_values_are_0_or_1(paired):
    scores = ClusteredScores.build([np.zeros(6), np.zeros(6), np.ones(6)], paired=paired)
    distance = np.array([[0.0, 0.0, 1 / 3], [0.0, 0.0, 1 / 3], [1 / 3, 1 / 3, 0.0]])
    p_values = equal_p_values(scores, distance)
    assert (p_values[0, 1], p_values[1, 0]) == (1, 1)
    assert p_values[2, :2].tolist() == p_values[:2, 2].tolist() == [0, 0]


def suite(sizes, weights, *, paired=True, seed=0, random=False):
    of = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(seed)
    base = rng.normal(size=of.size)
    values = [0.7 * base + 0.7 * rng.normal(size=of.size) * (1 + i) + 0.4 * i + of for i in range(3)]
    names = [str(task) for task in range(len(sizes))]
    tasks = TaskDesign.build(names, [of] * 3, weights=weights, random=random)
    return ClusteredScores.build(values, tasks=tasks, paired=paired)


@pytest.fixture(scope="module", params=[True, False])
def resampled(request):
    """Return a suite and its resamples for both orders."""
    scores = suite([400, 1000, 2000], [0.5, 0.3, 0.2], paired=request.param)
    bootstrap = Bootstrap([BootstrapColumn(scores)], seed=1)
    return scores, bootstrap.extend({0: 400})[0]


@pytest.mark.parametrize("order", [1, 2])
def test_errors_against_resampling_within_tasks(order, resampled):
    scores, replicates = resampled
    result = violation_influence(scores, order=order)
    off = ~np.eye(3, dtype=bool)
    assert result.ratio[off] == pytest.approx(weighted_violation_ratios(scores)[order - 1][off], abs=1e-9)
    # Near 0 and 1 the ratio is not asymptotically linear in the scores.
    inside = off & (np.abs(result.ratio - 0.5) < 0.45) & (result.ratio_error < 0.15)
    assert inside.any()
    assert result.ratio_error[inside] == pytest.approx(replicates.ratio_error[order - 1][inside], rel=0.15)


@pytest.mark.parametrize("order", [1, 2])
def test_strata_with_equal_means_match_the_unstratified_result(order):
    """If all strata have equal means, stratification changes only one degree of freedom."""
    values = np.random.default_rng(0).normal(size=(3, 600))
    values -= values.reshape(3, 2, 300).mean(axis=2).repeat(300, axis=1)
    tasks = TaskDesign.build(["0", "1"], [np.repeat([0, 1], 300)] * 3)
    stratified, expected = (
        violation_influence(ClusteredScores.build(list(values), tasks=design), order=order)
        for design in (tasks, None)
    )
    np.testing.assert_array_equal(stratified.ratio, expected.ratio)
    assert stratified.relative_error == pytest.approx(expected.relative_error, nan_ok=True, rel=0.03)


@pytest.mark.parametrize(("n", "m"), [(6, 6), (4, 6), (7, 3)])
def test_grids_merge_the_breakpoints_of_both(n, m):
    grid = MergedGrid(np.full(n, 1 / n), np.full(m, 1 / m))
    sides = [[Fraction(at, of) for at in range(1, of + 1)] for of in (n, m)]
    breakpoints = sorted({*sides[0], *sides[1]})
    assert grid.width == pytest.approx([float(end - start) for start, end in pairwise([0, *breakpoints])])
    for side, at, step in zip(
        sides, (grid.at_first, grid.at_second), (grid.step_first, grid.step_second), strict=True
    ):
        assert at.tolist() == [breakpoints.index(end) for end in side]
        assert step.tolist() == [sum(point < end for point in side) for end in breakpoints]


def test_a_study_of_a_suite_without_resampling():
    scores = suite([80, 200, 700], [0.5, 0.3, 0.2])
    study = study_dominance(scores, [Claim(1), Claim(2)], Inference(variance="clt"))
    assert study.tests[1].p_value is not None
    with pytest.raises(UsageError, match="generalise to other tasks"):
        study_dominance(suite([9] * 8, None, random=True), [Claim(2)], Inference(variance="clt"))


def test_clusters_add_up_to_the_variance_of_a_weighted_mean():
    scores = suite([6, 10, 40], [0.5, 0.3, 0.2])
    value, of = scores.values[0], scores.strata.cluster_tasks[0]
    parts = cluster_sums(scores, 0, value)
    by_task = [value[of == task] for task in range(3)]
    expected = sum(
        w**2 * scores_of_task.var(ddof=1) / scores_of_task.size
        for w, scores_of_task in zip((0.5, 0.3, 0.2), by_task, strict=True)
    )
    assert (parts**2).sum() == pytest.approx(expected)
