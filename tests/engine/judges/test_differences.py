"""What a judge is worth between models, against brute force and against the variances of many tables."""

import itertools

import numpy as np
import pytest

from riskrank.engine.judges.correction import Correction, for_differences, worth_of_differences


def tables(rng, *, k=2, n=100, total=1000, shared=0.6, noise=0.9):
    """People's scores of k models that share what is hard, and a judge whose errors they do not share."""
    latent = np.sqrt(shared) * rng.normal(size=total) + np.sqrt(1 - shared) * rng.normal(size=(k, total))
    people = np.clip(np.rint(3.3 + latent), 1, 5)
    judge = np.clip(np.rint(people + rng.normal(0, noise, people.shape)), 1, 5)
    return [Correction.of(own[:n], said) for own, said in zip(people, judge, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "k"), [(0, 2), (3, 5)])
def test_cut_against_the_best_of_many(seed, k):
    """The factor with the smallest sum of variances of differences, in shares of the labels' own."""
    both = tables(np.random.default_rng(seed), k=k)
    n, total = 100, 1000

    def variances(factor):
        for one, other in itertools.combinations(both, 2):
            people = one.human - other.human
            taken = factor * (one.power * one.judge - other.power * other.judge)
            shared = np.mean((people - people.mean()) * (taken[:n] - taken[:n].mean()))
            change = (taken.var(ddof=1) - 2 * shared) * (total - n) / (n * total)
            yield change / people.var()

    grid = np.linspace(0, 1, 2001)
    wanted = grid[np.argmin([sum(variances(factor)) for factor in grid])]
    found = for_differences(both)
    for one, cut in zip(both, found, strict=True):
        assert cut.power / one.power == pytest.approx(wanted, abs=5e-4)
        assert cut.slope == one.slope
    assert 0 < wanted < 1


def test_models_that_share_nothing_keep_their_own():
    found = for_differences(tables(np.random.default_rng(4), n=20_000, total=40_000, shared=0.0))
    for one in found:
        assert one.power == pytest.approx(one.slope, rel=0.03)


def test_units_do_not_matter():
    both = tables(np.random.default_rng(5))
    larger = [Correction.of(1e100 * one.human, 1e-100 * one.judge) for one in both]
    for one, other in zip(for_differences(both), for_differences(larger), strict=True):
        # Its own λ is then far beyond 1, where it is cut before; what is left to cut is as small.
        assert 0 < one.power < one.slope
        assert other.power == 1


def test_nothing_to_cut_by():
    rng = np.random.default_rng(6)
    one, other = tables(rng)
    silent = Correction.of(one.human, np.full(1000, 3.0))
    assert for_differences([silent, silent])[0].power == 0
    assert for_differences([one, one])[0].power == one.power
    alike = [one, Correction.of(one.human, other.judge)]
    assert for_differences(alike)[0].power == one.power
    assert worth_of_differences([one, one]).tolist() == [100]
    exact = [Correction.of(own.human, own.human.repeat(10)) for own in (one, other)]
    assert worth_of_differences(exact)[0] <= 1000


@pytest.mark.slow
@pytest.mark.parametrize(("shared", "noise"), [(0.6, 0.9), (0.9, 0.9), (0.9, 30.0)])
def test_worth_against_the_variances_of_many_tables(shared, noise):
    """Labels that would tell two models apart as surely; a judge never tells much less than they do."""
    rng = np.random.default_rng([7, int(10 * shared), int(10 * noise)])
    found, alone, worth = [], [], []
    for _ in range(1500):
        both = for_differences(tables(rng, shared=shared, noise=noise))
        found.append(both[0].mean - both[1].mean)
        alone.append(both[0].human.mean() - both[1].human.mean())
        worth.append(worth_of_differences(both)[0])
    assert np.median(worth) == pytest.approx(100 * np.var(alone) / np.var(found), rel=0.1)
    assert np.std(found) < 1.05 * np.std(alone)


def test_worth_of_every_pair_in_order():
    three = tables(np.random.default_rng(8), k=3)
    found = worth_of_differences(three)
    wanted = [worth_of_differences(pair)[0] for pair in itertools.combinations(three, 2)]
    assert found == pytest.approx(wanted)
    for pair, worth in zip(itertools.combinations(three, 2), wanted, strict=True):
        errors, others = (a - b for a, b in zip(pair[0].parts, pair[1].parts, strict=True))
        variance = errors.var() / 98 + others.var(ddof=1) / 900
        assert worth == pytest.approx((pair[0].human - pair[1].human).var(ddof=1) / variance)
