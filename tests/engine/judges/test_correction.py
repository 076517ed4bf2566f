"""Judge scores calibrated on a few labels, compared with the formulas of PPI++ and exact fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from riskrank.engine.dominance.pair_samples import pair_samples
from riskrank.engine.dominance.ranking import estimate_violation, tail_level
from riskrank.engine.dominance.sign_flips import mean_utility, standardised_differences
from riskrank.engine.judges import Correction, map_to_human_scale
from riskrank.engine.portfolio.quantiles import quantile
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import draw_resamples, make_blocks, unit_counts
from riskrank.engine.sampling.steps import TOTAL, Steps, make_monotone, nonnegative_weights
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.weighted_resamples import WeightedDesign


def scored(rng, n, total, noise=0.5, rounded=True):
    """Draw human labels of n samples, and judge scores of all samples."""
    human = rng.normal(3, 1, total)
    judge = human + rng.normal(0.2, noise, total)
    if rounded:
        human, judge = np.clip(np.rint(human), 1, 5), np.clip(np.rint(judge), 1, 5)
    return human[:n], judge


def column(corrections):
    """Return the column of scores that combines the corrections of several models."""
    rows = [correction.weighted_rows() for correction in corrections]
    n, total = corrections[0].n_labelled, len(corrections[0].judge)
    units = np.concatenate((np.arange(n), np.arange(total)))
    row_tasks = [(units >= n).astype(np.int64)] * len(corrections)
    design = TaskDesign.build(("labelled", "others"), row_tasks, weights=[n, total - n])
    design = TaskDesign(design.names, design.weights, design.row_tasks, False, tuple(row[1] for row in rows))
    return ClusteredScores.build([row[0] for row in rows], [units] * len(rows), tasks=design)


@pytest.mark.parametrize("seed", range(20))
def test_mean_matches_prediction_powered_inference(seed):
    """The formula and λ are those of ppi_mean_pointestimate in ppi-python 0.2.3."""
    rng = np.random.default_rng(seed)
    n, total = int(rng.integers(20, 200)), 600
    human, judge = scored(rng, n, total, rounded=bool(seed % 2))
    unlabelled = judge[n:]
    covariance = np.mean((human - human.mean()) * (judge[:n] - judge[:n].mean()))
    power = covariance / ((1 + n / len(unlabelled)) * judge.var(ddof=1))
    expected = power * unlabelled.mean() + (human - power * judge[:n]).mean()
    result = Correction.fit(human, judge)
    assert result.unclipped_weight == pytest.approx(power * total / (total - n), rel=1e-12)
    if result.unclipped_weight <= 1:
        assert result.mean == pytest.approx(expected, rel=1e-12)
    scores = column([result, result])
    assert estimate_violation(scores).means == pytest.approx([result.mean] * 2, rel=1e-12)


def as_fractions(values, cumulated):
    """Return the nearest distribution by pooling adjacent violators, clipped and rescaled, as fractions."""
    shares = [Fraction(int(cumulative), TOTAL) for cumulative in cumulated[:-1]]
    gaps = [Fraction(float(b)) - Fraction(float(a)) for a, b in itertools.pairwise(values)]
    blocks_ = []
    for share, gap in zip(shares, gaps, strict=True):
        blocks_.append([share, gap, 1])
        while len(blocks_) > 1 and blocks_[-2][0] > blocks_[-1][0]:
            (a, v, m), (b, w, k) = blocks_[-2], blocks_[-1]
            blocks_[-2:] = [[(a * v + b * w) / (v + w), v + w, m + k]]
    rising = [share for share, _, count in blocks_ for _ in range(count)]

    def from_zero(rising, gaps):
        deficit, monotone = Fraction(0), []
        for share, gap in zip(rising, gaps, strict=True):
            deficit += share * gap
            clipped = share if deficit - share * gap >= 0 else max(deficit / gap, Fraction(0))
            deficit = min(deficit, Fraction(0))
            monotone.append(min(clipped, share) if share > 0 else Fraction(0))
        return monotone

    above = from_zero(rising, gaps)
    below = from_zero([1 - cumulative for cumulative in reversed(above)], gaps[::-1])
    return [*(1 - cumulative for cumulative in reversed(below)), Fraction(1)]


@pytest.mark.parametrize("seed", range(40))
def test_distribution_matches_fractions(seed):
    rng = np.random.default_rng(seed)
    values = np.unique(rng.integers(0, 20, 7).astype(float) / 4)
    cumulated = np.cumsum(rng.integers(-3, 6, values.size)) * (TOTAL // 16)
    result = make_monotone(values, cumulated[None].copy())[0]
    expected = as_fractions(values, cumulated)
    np.testing.assert_allclose(result / TOTAL, [float(share) for share in expected], atol=1e-12)
    assert (np.diff(result) >= 0).all()
    assert result.min() >= 0
    assert result[-1] == TOTAL


def test_monotone_distribution_keeps_the_mean():
    values, cumulated = np.array([0.0, 1.0, 3.0, 7.0]), np.array([[-2, 6, 3, 8]]) * (TOTAL // 8)
    mean = values[-1] - np.ldexp(cumulated[0, :-1].astype(float), -61) @ np.diff(values)
    assert Steps(values, make_monotone(values, cumulated.copy())).means[0] == pytest.approx(mean, rel=1e-12)
    monotone = np.array([[1, 2, 5, 8]]) * (TOTAL // 8)
    assert np.array_equal(make_monotone(values, monotone.copy()), monotone)


def test_mean_is_clipped_to_the_range_of_scores():
    values = np.array([0.0, 1.0])
    assert make_monotone(values, np.array([[-TOTAL, TOTAL]]))[0].tolist() == [0, TOTAL]
    assert make_monotone(values, np.array([[2 * TOTAL, TOTAL]]))[0].tolist() == [TOTAL, TOTAL]


@pytest.mark.parametrize("seed", range(5))
def test_resample_weights_match_a_refitted_correction(seed):
    """Replicate weights equal the formula on the drawn samples, with λ fixed."""
    rng = np.random.default_rng(seed)
    corrections = [Correction.fit(*scored(rng, 25, 80)) for _ in range(2)]
    corrected = column(corrections)
    design, (block,) = WeightedDesign(corrected), make_blocks(25, seed)
    resample = next(design.batches([block], size=25))[0]
    picks = draw_resamples(corrected, block.generator(), 25)[0]
    correction = corrections[0]
    for row, pick in enumerate(picks):
        judge = correction.judge[pick]
        refitted = Correction(
            correction.human[pick[:25]], judge, correction.judge_weight, correction.unclipped_weight
        )
        steps = Steps(design.values[0], resample[row])
        assert steps.means == pytest.approx(refitted.mean, rel=1e-12)
        assert (np.sort(pick[:25]) < 25).all()
        expected = nonnegative_weights(*refitted.weighted_rows())
        scores = refitted.weighted_rows()[0]
        for level in (0.1, 0.5, 0.9):
            assert steps.values[steps.quantile_index(np.array([level]))][0] == quantile(
                scores, level, expected
            )
    assert unit_counts(picks)[:, :25].sum(axis=1).tolist() == [25] * 25


def test_zero_power_uses_labels_only():
    rng = np.random.default_rng(3)
    human, judge = scored(rng, 40, 200)
    alone = Correction(human, judge, 0.0, 0.0)
    scores, plain = column([alone, alone]), ClusteredScores.build([human, human])
    assert estimate_violation(scores).means == pytest.approx(estimate_violation(plain).means)
    for level in (0.2, 0.5, 0.8):
        result = quantile(scores.values[0], level, scores.weights[0])
        assert result == quantile(human, level)
    other = column([alone, Correction(human[::-1] + 1, judge, 0.0, 0.0)])
    without_judge = ClusteredScores.build([human, human[::-1] + 1])
    z = [standardised_differences(x, [(0, 1)], mean_utility(1)) for x in (other, without_judge)]
    # The centred spread of the labels, and the squared effect divided by their number.
    labels = human - human[::-1] - 1
    expected = labels.sum() / np.sqrt(labels.var() * 40 + labels.sum() ** 2 / 40)
    assert z[0][0, 1] == pytest.approx(expected)
    assert z[1][0, 1] == pytest.approx(expected)


def test_degrees_of_freedom_follow_the_number_of_labels():
    rng = np.random.default_rng(5)
    pairs = [scored(rng, 50, 2000, noise=3.0) for _ in range(2)]
    result = pair_samples(column([Correction(h, j, 0.0, 0.0) for h, j in pairs]))
    assert result.df[0, 1] == pytest.approx(48)
    assert result.variance_ratio[0, 1] == pytest.approx(48 / 50)
    close = pair_samples(column([Correction.fit(h, h.repeat(40)) for h, _ in pairs]))
    assert close.df[0, 1] > 48


def test_tail_level_covers_twenty_labels():
    rng = np.random.default_rng(6)
    assert tail_level(column([Correction.fit(*scored(rng, 50, 300))] * 2)) == 0.4
    assert tail_level(column([Correction.fit(*scored(rng, 1000, 3000))] * 2)) == 0.05


def test_uninformative_or_reversed_judge_is_excluded():
    rng = np.random.default_rng(7)
    human, judge = scored(rng, 100, 1000)
    against = Correction.fit(human, -judge)
    assert against.judge_weight == 0
    assert against.unclipped_weight < 0
    assert against.effective_labels == 100
    assert Correction.fit(human, np.full(1000, 2.0)).judge_weight == 0


def test_effective_labels_match_simulated_variances():
    """The effective number of labels matches the variance ratio of the means over many tables."""
    rng = np.random.default_rng(8)
    means, alone, effective_sizes = [], [], []
    for _ in range(400):
        human, judge = scored(rng, 100, 1000)
        correction = Correction.fit(human, judge)
        means.append(correction.mean)
        alone.append(human.mean())
        effective_sizes.append(correction.effective_labels)
    assert np.mean(effective_sizes) == pytest.approx(100 * np.var(alone) / np.var(means), rel=0.25)


def test_cross_fitted_scale_matches_manual_fits():
    """Each labelled sample is rescaled by a fit without its own fold."""
    rng = np.random.default_rng(9)
    human = rng.normal(0, 1, 60)
    judge = np.exp(human[rng.permutation(60).argsort()].repeat(5)[:300] + rng.normal(0, 0.1, 300))
    mapped = map_to_human_scale(human, judge)
    moved = human.copy()
    moved[7] += 100
    remapped = map_to_human_scale(moved, judge)
    number = np.random.default_rng(60).permutation(60) % 5
    fold = number == number[7]
    assert remapped[:60][fold].tolist() == mapped[:60][fold].tolist()
    assert (remapped[:60][~fold] != mapped[:60][~fold]).any()
    order = np.argsort(judge[60:])
    assert (np.diff(mapped[60:][order]) >= -1e-12).all()


def test_a_monotone_judge_is_mapped_onto_the_scale():
    human = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 20)
    judge = np.concatenate((human**2 * 10, np.tile([10.0, 40.0, 90.0, 160.0, 250.0], 10)))
    assert map_to_human_scale(human, judge) == pytest.approx(np.sqrt(judge / 10))


@pytest.mark.parametrize("seed", range(20))
def test_quantiles_match_prediction_powered_inference(seed):
    """Compare the quantile with ppi_quantile_pointestimate of ppi-python 0.2.3.

    That is the score whose corrected share is nearest to q. The corrected distribution function crosses the
    tested levels once. The ends are excluded, because values outside 0 and 1 are clipped there.
    """
    rng = np.random.default_rng(seed)
    human, judge = scored(rng, int(rng.integers(20, 200)), 600, rounded=bool(seed % 2))
    n = len(human)
    scores, weights = Correction(human, judge, 1.0, 1.0).weighted_rows()
    grid = np.unique(scores)

    def below(values):
        return np.searchsorted(np.sort(values), grid, side="right") / values.size

    share = below(judge) + below(human) - below(judge[:n])
    before = np.maximum.accumulate(np.append(0.0, share[:-1]))
    after = np.append(np.minimum.accumulate(share[::-1])[::-1][1:], np.inf)
    once = np.flatnonzero((share > before + 1e-9) & (share < after - 1e-9) & (np.abs(share - 0.5) < 0.35))
    assert once.size
    proper = nonnegative_weights(scores, weights)
    for at in once[:: max(once.size // 5, 1)]:
        expected = grid[np.argmin(np.abs(share - share[at]))]
        assert quantile(scores, float(share[at]), proper) == expected == grid[at]
