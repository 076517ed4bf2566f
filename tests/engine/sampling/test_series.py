"""Means of ordered samples compared with plain cosine sums, and with series of known autocorrelation."""

import math

import numpy as np
import pytest
from scipy.stats import t

from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.evidence.student import Folds, fold_differences
from riskrank.engine.sampling.dependence import MIN_BLOCKS, cosine_count, series_blocks, series_sample_size
from riskrank.engine.sampling.design import ClusteredScores


def series(rng, n, correlation, tables=1):
    noise = rng.normal(size=(tables, n + 100))
    values = np.zeros_like(noise)
    for at in range(1, n + 100):
        values[:, at] = correlation * values[:, at - 1] + noise[:, at]
    return values[:, 100:]


def test_effective_size_matches_plain_sums():
    d = np.random.default_rng(0).normal(size=200)
    centred = d - d.mean()
    r = sum(centred[1:] * centred[:-1]) / sum(centred**2)
    rho = min(max(r + (1 + 3 * r) / 200, 0.001), 0.99)
    nu = min(math.floor(0.4 * 200 ** (2 / 3)), math.floor(200 * (1 - rho) / math.pi * math.sqrt(0.3 / rho)))
    parts = [
        math.sqrt(2 / 200) * sum(d[s] * math.cos(math.pi * j * (s + 0.5) / 200) for s in range(200))
        for j in range(1, nu + 1)
    ]
    assert nu == cosine_count(d)
    expected = min(200, 200 * d.var(ddof=1) / np.mean(np.square(parts)))
    assert series_sample_size(d) == pytest.approx(expected, rel=1e-10)


def decided(d, boundary=0.0):
    """Return whether the block mean of a series is above or below a boundary; None for too few blocks."""
    block = series_blocks(d.size, max(int(cosine_count(d)), 1))
    if block[-1] + 1 < MIN_BLOCKS:
        return None
    scores = ClusteredScores.build([d], [block])
    evidence = mean_evidence([MeanContrast.from_mean(scores, 0)], boundary)
    return bool(evidence.p_value[0] <= 0.05)


@pytest.mark.parametrize(
    ("n", "correlation", "most"), [(150, 0.0, 0.075), (250, 0.6, 0.075), (250, 0.9, 0.085)]
)
@pytest.mark.slow
def test_equal_series_are_rarely_separated(n, correlation, most):
    """Error rate of 1,000 tables, ± 0.007, with refusals counted; independent tests have .33 at AR(.6)."""
    answers = [decided(d) for d in series(np.random.default_rng(1), n, correlation, 1000)]
    assert answers.count(True) / 1000 <= most
    assert (answers.count(None) > 100) == (correlation == 0.9)


@pytest.mark.slow
def test_power_is_close_to_the_oracle():
    """At AR(.6) and n = 250 the power is at least .72 in 1,000 tables, ± 0.014."""
    n, correlation = 250, 0.6
    sd = 1 / (1 - correlation) / math.sqrt(n)
    tables = series(np.random.default_rng(2), n, correlation, 1000)
    assert np.mean([decided(d, -2.8 * sd) is True for d in tables]) >= 0.72


def test_effective_size_of_autocorrelated_rows():
    """The effective size is a quarter of the rows at AR(.6), and nearly all independent rows."""
    rng = np.random.default_rng(3)
    correlated = np.median([series_sample_size(d) for d in series(rng, 1000, 0.6, 60)])
    assert 180 < correlated < 330
    assert np.median([series_sample_size(d) for d in series(rng, 1000, 0.0, 60)]) > 900


def test_blocks_are_consecutive():
    blocks = series_blocks(23, 4)
    assert blocks.tolist() == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5 + [4] * 3


ALONE = np.ones(1)


def p_values(values, folds, task_of_fold=None, weights=ALONE):
    at = np.zeros(values.shape[1], dtype=int) if task_of_fold is None else task_of_fold
    result = fold_differences(values, at, folds, weights)
    return np.minimum(1, 2 * np.minimum(result.p_above(), result.mirrored.p_above()))


def test_single_repeat_matches_nadeau_bengio():
    values = np.random.default_rng(0).normal(size=(2, 10))
    d = values[0] - values[1]
    statistic = d.mean() / np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))
    assert p_values(values, (Folds(10, 10),))[0, 1] == pytest.approx(2 * t.sf(abs(statistic), 9), rel=1e-10)


@pytest.mark.parametrize(
    ("folds", "effective_size", "freedom"),
    [
        (Folds(100, 10), 1 / (0.01 + 1.5 / 9), 20),
        (Folds(50, 5), 1 / (0.02 + 1.5 / 4), 10),
        (Folds(4, None), 1 / (1 / 4 + 1 / 3), 3),
        (Folds(50, None), 1 / 0.395, 20),
    ],
)
def test_effective_size_of_folds(folds, effective_size, freedom):
    assert (folds.effective_size, folds.df) == pytest.approx((effective_size, freedom))


def test_data_sets_are_pooled_by_satterthwaite():
    rng = np.random.default_rng(1)
    parts = [rng.normal(0, spread, size=(2, 5)) for spread in (1, 4)]
    differences = [part[0] - part[1] for part in parts]
    variances = [0.25 * (1 / 5 + 1 / 4) * d.var(ddof=1) for d in differences]
    df = sum(variances) ** 2 / sum(v**2 / 4 for v in variances)
    statistic = np.mean([d.mean() for d in differences]) / np.sqrt(sum(variances))
    result = p_values(np.hstack(parts), (Folds(5, 5),) * 2, np.repeat([0, 1], 5), np.full(2, 0.5))
    assert result[0, 1] == pytest.approx(2 * t.sf(abs(statistic), df), rel=1e-10)


def equal_learners(rng, k, rows=100, repeats=10, folds=10):
    """Return least-squares learners on k equally informative sets of features."""
    features = rng.normal(size=(k, rows, 3))
    target = features.sum(axis=(0, 2)) / np.sqrt(3 * k) + rng.normal(size=rows)
    result = []
    for _ in range(repeats):
        order = rng.permutation(rows)
        for start in range(folds):
            tested = np.zeros(rows, dtype=bool)
            tested[order[start::folds]] = True
            inputs = [np.column_stack([np.ones(rows), feature]) for feature in features]
            fits = [np.linalg.lstsq(x[~tested], target[~tested], rcond=None)[0] for x in inputs]
            result.append(
                [
                    -np.mean((target[tested] - x[tested] @ fit) ** 2)
                    for x, fit in zip(inputs, fits, strict=True)
                ]
            )
    return np.array(result).T


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 8])
def test_equal_learners_are_rarely_separated(k):
    """Treating folds as samples would separate them in more than .4 of 60 tables at k = 2."""
    rng, false, naive = np.random.default_rng(2), 0, 0
    for _ in range(60):
        values = equal_learners(rng, k)
        pairs = k * (k - 1) / 2
        false += bool((p_values(values, (Folds(100, 10),))[np.triu_indices(k, 1)] <= 0.05 / pairs).any())
        d = values[0] - values[1]
        naive += 2 * t.sf(abs(d.mean()) / (d.std(ddof=1) / 10), 99) <= 0.05
    assert false <= 7  # .05 of 60 tables and 2.4 standard errors
    assert naive >= 20


def test_better_learner_is_detected():
    """The shift is one standard deviation of the folds; with c twice as large it would not be detected."""
    rng = np.random.default_rng(4)
    significant = [
        p_values(rng.normal(size=(2, 100)) + np.array([[1.3], [0]]), (Folds(100, 10),))[0, 1] <= 0.05
        for _ in range(200)
    ]
    assert np.mean(significant) > 0.5
