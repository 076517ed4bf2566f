"""Judge scores in model comparisons, against brute force and simulated variances."""

import itertools

import numpy as np
import pytest

from riskrank.engine.judges import Correction, labels_for_differences, tune_for_differences


def tables(rng, *, k=2, n=100, total=1000, shared=0.6, noise=0.9):
    """Draw human labels of k models with a common difficulty, and judge scores with independent errors."""
    latent = np.sqrt(shared) * rng.normal(size=total) + np.sqrt(1 - shared) * rng.normal(size=(k, total))
    people = np.clip(np.rint(3.3 + latent), 1, 5)
    judge = np.clip(np.rint(people + rng.normal(0, noise, people.shape)), 1, 5)
    return [Correction.fit(human[:n], scores) for human, scores in zip(people, judge, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "k"), [(0, 2), (3, 5)])
def test_tuned_power_matches_a_grid_search(seed, k):
    """The tuned factor minimises the sum of the variances of differences, relative to labels alone."""
    both = tables(np.random.default_rng(seed), k=k)
    n, total = 100, 1000

    def variances(factor):
        for first, second in itertools.combinations(both, 2):
            people = first.human - second.human
            control = factor * (first.judge_weight * first.judge - second.judge_weight * second.judge)
            shared = np.mean((people - people.mean()) * (control[:n] - control[:n].mean()))
            change = (control.var(ddof=1) - 2 * shared) * (total - n) / (n * total)
            yield change / people.var()

    grid = np.linspace(0, 1, 2001)
    expected = grid[np.argmin([sum(variances(factor)) for factor in grid])]
    result = tune_for_differences(both)
    for correction, factor_of_model in zip(both, result, strict=True):
        assert factor_of_model.judge_weight / correction.judge_weight == pytest.approx(expected, abs=5e-4)
        assert factor_of_model.unclipped_weight == correction.unclipped_weight
    assert 0 < expected < 1


def test_unrelated_models_keep_their_slope():
    corrections = tune_for_differences(tables(np.random.default_rng(4), n=20_000, total=40_000, shared=0.0))
    for correction in corrections:
        assert correction.judge_weight == pytest.approx(correction.unclipped_weight, rel=0.03)


def test_tuning_is_invariant_to_scale():
    both = tables(np.random.default_rng(5))
    larger = [Correction.fit(1e100 * correction.human, 1e-100 * correction.judge) for correction in both]
    for correction, other in zip(tune_for_differences(both), tune_for_differences(larger), strict=True):
        # Its own λ is far above 1, so it is clipped before.
        assert 0 < correction.judge_weight < correction.unclipped_weight
        assert other.judge_weight == 1


def test_tuning_of_degenerate_judges():
    rng = np.random.default_rng(6)
    first, second = tables(rng)
    constant = Correction.fit(first.human, np.full(1000, 3.0))
    assert tune_for_differences([constant, constant])[0].judge_weight == 0
    assert tune_for_differences([first, first])[0].judge_weight == first.judge_weight
    equal = [first, Correction.fit(first.human, second.judge)]
    assert tune_for_differences(equal)[0].judge_weight == first.judge_weight
    assert labels_for_differences([first, first]).tolist() == [100]
    exact = [Correction.fit(correction.human, correction.human.repeat(10)) for correction in (first, second)]
    assert labels_for_differences(exact)[0] <= 1000


@pytest.mark.slow
@pytest.mark.parametrize(("shared", "noise"), [(0.6, 0.9), (0.9, 0.9), (0.9, 30.0)])
def test_effective_labels_match_simulated_variances(shared, noise):
    """Effective labels match the variance ratio of differences; the judge never increases the error much."""
    rng = np.random.default_rng([7, int(10 * shared), int(10 * noise)])
    differences, alone, effective_labels = [], [], []
    for _ in range(1500):
        both = tune_for_differences(tables(rng, shared=shared, noise=noise))
        differences.append(both[0].mean - both[1].mean)
        alone.append(both[0].human.mean() - both[1].human.mean())
        effective_labels.append(labels_for_differences(both)[0])
    assert np.median(effective_labels) == pytest.approx(100 * np.var(alone) / np.var(differences), rel=0.1)
    assert np.std(differences) < 1.05 * np.std(alone)


def test_effective_labels_of_all_pairs_in_order():
    three = tables(np.random.default_rng(8), k=3)
    result = labels_for_differences(three)
    expected = [labels_for_differences(pair)[0] for pair in itertools.combinations(three, 2)]
    assert result == pytest.approx(expected)
    for pair, labels in zip(itertools.combinations(three, 2), expected, strict=True):
        errors, judge_parts = (a - b for a, b in zip(pair[0].parts, pair[1].parts, strict=True))
        variance = errors.var() / 98 + judge_parts.var(ddof=1) / 900
        assert labels == pytest.approx((pair[0].human - pair[1].human).var(ddof=1) / variance)
