"""A judge corrected by a few labels, against the plain formulas of PPI++ and against exact fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from riskrank.engine.dominance.rank_guard import behind_pairs, relative_guard
from riskrank.engine.dominance.ranking import estimate, tail_level
from riskrank.engine.judges.correction import Correction, on_human_scale
from riskrank.engine.portfolio.quantiles import quantile
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import blocks, chosen_many, counts_of
from riskrank.engine.sampling.steps import TOTAL, Steps, proper, proper_weights
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.weighted_resamples import WeightedDesign


def scored(rng, n, total, noise=0.5, whole=True):
    """People's scores of n samples, a judge's of all."""
    human = rng.normal(3, 1, total)
    judge = human + rng.normal(0.2, noise, total)
    if whole:
        human, judge = np.clip(np.rint(human), 1, 5), np.clip(np.rint(judge), 1, 5)
    return human[:n], judge


def column(corrections):
    """The column of scores that several models' corrections make."""
    rows = [one.rows() for one in corrections]
    n, total = corrections[0].labelled, len(corrections[0].judge)
    units = np.concatenate((np.arange(n), np.arange(total)))
    of_row = [(units >= n).astype(np.int64)] * len(corrections)
    design = TaskDesign.build(("labelled", "others"), of_row, weights=[n, total - n])
    design = TaskDesign(design.names, design.weights, design.of_row, False, tuple(row[1] for row in rows))
    return ClusteredScores.build([row[0] for row in rows], [units] * len(rows), tasks=design)


@pytest.mark.parametrize("seed", range(20))
def test_mean_against_prediction_powered_inference(seed):
    """ppi_mean_pointestimate(Y, Ŷ, Ŷ of the others) of ppi-python 0.2.3 is this formula, with this λ."""
    rng = np.random.default_rng(seed)
    n, total = int(rng.integers(20, 200)), 600
    human, judge = scored(rng, n, total, whole=bool(seed % 2))
    others = judge[n:]
    covariance = np.mean((human - human.mean()) * (judge[:n] - judge[:n].mean()))
    power = covariance / ((1 + n / len(others)) * judge.var(ddof=1))
    wanted = power * others.mean() + (human - power * judge[:n]).mean()
    found = Correction.of(human, judge)
    assert found.slope == pytest.approx(power * total / (total - n), rel=1e-12)
    if found.slope <= 1:
        assert found.mean == pytest.approx(wanted, rel=1e-12)
    own = column([found, found])
    assert estimate(own).means == pytest.approx([found.mean] * 2, rel=1e-12)


def as_fractions(values, cumulated):
    """The nearest distribution by pooling adjacent violators, what is cut off made up for, in fractions."""
    shares = [Fraction(int(one), TOTAL) for one in cumulated[:-1]]
    gaps = [Fraction(float(b)) - Fraction(float(a)) for a, b in itertools.pairwise(values)]
    blocks_ = []
    for share, gap in zip(shares, gaps, strict=True):
        blocks_.append([share, gap, 1])
        while len(blocks_) > 1 and blocks_[-2][0] > blocks_[-1][0]:
            (a, v, m), (b, w, k) = blocks_[-2], blocks_[-1]
            blocks_[-2:] = [[(a * v + b * w) / (v + w), v + w, m + k]]
    rising = [share for share, _, count in blocks_ for _ in range(count)]

    def from_zero(rising, gaps):
        owed, found = Fraction(0), []
        for share, gap in zip(rising, gaps, strict=True):
            owed += share * gap
            kept = share if owed - share * gap >= 0 else max(owed / gap, Fraction(0))
            owed = min(owed, Fraction(0))
            found.append(min(kept, share) if share > 0 else Fraction(0))
        return found

    above = from_zero(rising, gaps)
    below = from_zero([1 - one for one in reversed(above)], gaps[::-1])
    return [*(1 - one for one in reversed(below)), Fraction(1)]


@pytest.mark.parametrize("seed", range(40))
def test_distribution_against_fractions(seed):
    rng = np.random.default_rng(seed)
    values = np.unique(rng.integers(0, 20, 7).astype(float) / 4)
    cumulated = np.cumsum(rng.integers(-3, 6, values.size)) * (TOTAL // 16)
    found = proper(values, cumulated[None].copy())[0]
    wanted = as_fractions(values, cumulated)
    np.testing.assert_allclose(found / TOTAL, [float(one) for one in wanted], atol=1e-12)
    assert (np.diff(found) >= 0).all()
    assert found.min() >= 0
    assert found[-1] == TOTAL


def test_distribution_keeps_the_mean_and_stays_as_it_is_where_it_is_one():
    values, ends = np.array([0.0, 1.0, 3.0, 7.0]), np.array([[-2, 6, 3, 8]]) * (TOTAL // 8)
    mean = values[-1] - np.ldexp(ends[0, :-1].astype(float), -61) @ np.diff(values)
    assert Steps(values, proper(values, ends.copy())).means[0] == pytest.approx(mean, rel=1e-12)
    whole = np.array([[1, 2, 5, 8]]) * (TOTAL // 8)
    assert np.array_equal(proper(values, whole.copy()), whole)


def test_a_mean_beyond_the_scores_is_cut_to_them():
    values = np.array([0.0, 1.0])
    assert proper(values, np.array([[-TOTAL, TOTAL]]))[0].tolist() == [0, TOTAL]
    assert proper(values, np.array([[2 * TOTAL, TOTAL]]))[0].tolist() == [TOTAL, TOTAL]


@pytest.mark.parametrize("seed", range(5))
def test_resamples_weigh_as_if_the_correction_were_made_of_the_resample(seed):
    """Weights of drawn rows are those of the same formula on the drawn samples, the λ being kept."""
    rng = np.random.default_rng(seed)
    corrections = [Correction.of(*scored(rng, 25, 80)) for _ in range(2)]
    own = column(corrections)
    design, (block,) = WeightedDesign(own), blocks(25, seed)
    drawn = next(design.batches([block], size=25))[0]
    picks = chosen_many(own, block.generator(), 25)[0]
    one = corrections[0]
    for row, pick in enumerate(picks):
        judge = one.judge[pick]
        again = Correction(one.human[pick[:25]], judge, one.power, one.slope)
        steps = Steps(design.values[0], drawn[row])
        assert steps.means == pytest.approx(again.mean, rel=1e-12)
        assert (np.sort(pick[:25]) < 25).all()
        wanted = proper_weights(*again.rows())
        scores = again.rows()[0]
        for level in (0.1, 0.5, 0.9):
            assert steps.values[steps.at(np.array([level]))][0] == quantile(scores, level, wanted)
    assert counts_of(picks)[:, :25].sum(axis=1).tolist() == [25] * 25


def test_without_the_judge_it_is_the_labels_alone():
    rng = np.random.default_rng(3)
    human, judge = scored(rng, 40, 200)
    alone = Correction(human, judge, 0.0, 0.0)
    own, plain = column([alone, alone]), ClusteredScores.build([human, human])
    assert estimate(own).means == pytest.approx(estimate(plain).means)
    for level in (0.2, 0.5, 0.8):
        found = quantile(own.values[0], level, own.weights[0])
        assert found == quantile(human, level)
    other = column([alone, Correction(human[::-1] + 1, judge, 0.0, 0.0)])
    plainly = ClusteredScores.build([human, human[::-1] + 1])
    np.testing.assert_allclose(relative_guard(other), relative_guard(plainly), rtol=1e-9)


def test_degrees_of_freedom_are_those_of_the_labels_less_one():
    rng = np.random.default_rng(5)
    pairs = [scored(rng, 50, 2000, noise=3.0) for _ in range(2)]
    found = behind_pairs(column([Correction(h, j, 0.0, 0.0) for h, j in pairs]))
    assert found.df[0, 1] == pytest.approx(48)
    assert found.seen[0, 1] == pytest.approx(48 / 50)
    close = behind_pairs(column([Correction.of(h, h.repeat(40)) for h, _ in pairs]))
    assert close.df[0, 1] > 48


def test_tails_hold_twenty_labels():
    rng = np.random.default_rng(6)
    assert tail_level(column([Correction.of(*scored(rng, 50, 300))] * 2)) == 0.4
    assert tail_level(column([Correction.of(*scored(rng, 1000, 3000))] * 2)) == 0.05


def test_a_judge_that_knows_nothing_or_goes_the_wrong_way_is_left_out():
    rng = np.random.default_rng(7)
    human, judge = scored(rng, 100, 1000)
    against = Correction.of(human, -judge)
    assert against.power == 0
    assert against.slope < 0
    assert against.worth == 100
    assert Correction.of(human, np.full(1000, 2.0)).power == 0


def test_worth_against_the_variances_of_many_tables():
    """Labels that would tell as much: what the variance of the mean says over many tables."""
    rng = np.random.default_rng(8)
    found, alone, worth = [], [], []
    for _ in range(400):
        human, judge = scored(rng, 100, 1000)
        one = Correction.of(human, judge)
        found.append(one.mean)
        alone.append(human.mean())
        worth.append(one.worth)
    assert np.mean(worth) == pytest.approx(100 * np.var(alone) / np.var(found), rel=0.25)


def test_cross_fitted_scale_against_fits_by_hand():
    """Each labelled sample is mapped by the other folds: its own score moves the others, not itself."""
    rng = np.random.default_rng(9)
    human = rng.normal(0, 1, 60)
    judge = np.exp(human[rng.permutation(60).argsort()].repeat(5)[:300] + rng.normal(0, 0.1, 300))
    mapped = on_human_scale(human, judge)
    moved = human.copy()
    moved[7] += 100
    again = on_human_scale(moved, judge)
    number = np.random.default_rng(60).permutation(60) % 5
    fold = number == number[7]
    assert again[:60][fold].tolist() == mapped[:60][fold].tolist()
    assert (again[:60][~fold] != mapped[:60][~fold]).any()
    order = np.argsort(judge[60:])
    assert (np.diff(mapped[60:][order]) >= -1e-12).all()


def test_a_monotone_judge_is_mapped_onto_the_scale():
    human = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 20)
    judge = np.concatenate((human**2 * 10, np.tile([10.0, 40.0, 90.0, 160.0, 250.0], 10)))
    assert on_human_scale(human, judge) == pytest.approx(np.sqrt(judge / 10))


@pytest.mark.parametrize("seed", range(20))
def test_quantiles_against_prediction_powered_inference(seed):
    """ppi_quantile_pointestimate of ppi-python 0.2.3: the score at which the corrected share is nearest to q.

    At levels that the corrected distribution function meets once, where nobody has to choose, and away from
    its ends, where what lies beyond 0 and 1 is made up for.
    """
    rng = np.random.default_rng(seed)
    human, judge = scored(rng, int(rng.integers(20, 200)), 600, whole=bool(seed % 2))
    n = len(human)
    scores, weights = Correction(human, judge, 1.0, 1.0).rows()
    grid = np.unique(scores)

    def below(values):
        return np.searchsorted(np.sort(values), grid, side="right") / values.size

    share = below(judge) + below(human) - below(judge[:n])
    before = np.maximum.accumulate(np.append(0.0, share[:-1]))
    after = np.append(np.minimum.accumulate(share[::-1])[::-1][1:], np.inf)
    once = np.flatnonzero((share > before + 1e-9) & (share < after - 1e-9) & (np.abs(share - 0.5) < 0.35))
    assert once.size
    proper = proper_weights(scores, weights)
    for at in once[:: max(once.size // 5, 1)]:
        wanted = grid[np.argmin(np.abs(share - share[at]))]
        assert quantile(scores, float(share[at]), proper) == wanted == grid[at]
