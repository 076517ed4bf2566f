"""Required sizes: limits of the search, confidence intervals, and human labels."""

from dataclasses import replace
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import ndtr, ndtri, stdtr

from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.family import Family
from riskrank.engine.judges import Correction, tune_for_differences
from riskrank.engine.numeric import smallest_size
from riskrank.engine.power.closed_form import ClosedForm
from riskrank.engine.power.planning import parse_distribution, plan_from_distributions, plan_from_pilot
from riskrank.engine.power.study import (
    Agreement,
    LabelNeed,
    PowerCurve,
    PowerStudy,
    _required_size_interval,
    _required_sizes,
    check_search,
    corrected_quantiles,
    critical_value,
    size_interval,
    study_power,
)
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import UsageError
from riskrank.studies.gate.claim import BETTER, GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.decisions import decide
from riskrank.studies.gate.verdicts import PASS
from riskrank.studies.targets import Units
from tests.engine.judges.test_correction import column


@pytest.mark.parametrize("least", [1, 2, 7, 64, 99, 100])
def test_smallest_sufficient_size_is_reached_in_few_steps(least):
    tried = []

    def enough(size):
        tried.append(size)
        return size >= least

    assert smallest_size(enough, 1, 100) == least
    assert len(tried) <= 8
    assert all(1 <= size <= 100 for size in tried)


def test_size_beyond_the_limit_is_none():
    assert smallest_size(lambda size: size > 100, 1, 100) is None
    assert smallest_size(lambda size: True, 10, 10) == 10


def test_search_limit_defaults_to_five_times_the_largest_size():
    assert check_search([10, 40], limit=None, smallest=10) == 200
    assert check_search([10, 40], limit=40, smallest=10) == 40
    with pytest.raises(UsageError, match="below the largest of"):
        check_search([10, 40], limit=30, smallest=10)
    with pytest.raises(UsageError, match="at least 10"):
        check_search([5], limit=None, smallest=10)


Z = NormalDist()
CLT = Inference(variance="clt", family=Family(correction="none", sides=1))
DIRECT = Claim(2, "direct")


def normal_pilot(effect, n, seed=4):
    """Return two paired models with equal variances and an exact standardised mean difference."""
    rng = np.random.default_rng(seed)
    middles = ndtri((np.arange(n) + 0.5) / n)
    shared, gap = rng.permutation(middles), rng.permutation(middles / middles.std())
    shared -= shared @ gap / n * gap
    return [shared + (gap + effect) / 2, shared - (gap + effect) / 2]


class Needed:
    """Search result: a size, or None if it exceeds 5,000, and its power."""

    def __init__(self, size, power=0.8):
        self.size, self.power = size, power


def interval(values, result, claim=DIRECT, pairs=((0, 1),), *, limit=5000, seed=0, **design):
    """Return the interval of the required size for these pairs, one-sided at .05 with Bonferroni."""
    inference = replace(CLT, seed=seed)
    plan = plan_from_pilot(ClusteredScores.build(values, **design), claim, inference, pair=pairs[0])
    plan = replace(plan, pairs=pairs)
    curve = PowerCurve(np.array([result.size or limit]), *np.full((2, 1, 2), result.power), 1000)
    agreement = Agreement(10, 2, 2, 2, 0, 0.2)
    study = PowerStudy(plan, curve, curve, result.size, result.power, 0.01, 0.8, agreement)
    return _required_size_interval(study, ClosedForm(plan, 1), limit)


@pytest.mark.slow
@pytest.mark.parametrize(("effect", "n"), [(0.4, 150), (0.25, 400), (0.4, 1500)])
def test_interval_of_normal_scores_matches_the_closed_form(effect, n):
    """The variance of δ̂ is (1 + δ²/2)/n, and a z-test needs (c + z)²/δ² samples."""
    quantile_sum = Z.inv_cdf(0.95) + Z.inv_cdf(0.8)
    size = round((quantile_sum / effect) ** 2)
    intervals = [interval(normal_pilot(effect, n, seed), Needed(size)) for seed in range(6)]
    error = Z.inv_cdf(0.975) * sqrt((1 + effect**2 / 2) / n)
    # Curves have more to cross with than their means, which makes the effect counted a little smaller.
    assert np.mean([1 - sqrt(size / estimate.high) for estimate in intervals]) == pytest.approx(
        error / effect, rel=0.25
    )
    assert np.mean([sqrt(size / estimate.low) - 1 for estimate in intervals]) == pytest.approx(
        error / effect, rel=0.25
    )
    assert intervals[0].level == 0.95


@pytest.mark.slow
def test_interval_is_unbounded_without_an_effect():
    assert interval(normal_pilot(0.2, 40), Needed(155)).high is None
    nothing = interval(normal_pilot(-0.05, 40), Needed(None, power=0.05))
    assert 100 < nothing.low < 1000
    assert nothing.high is None
    reversed_effect = interval(normal_pilot(-1.0, 40), Needed(None, power=0.0))
    assert (reversed_effect.low, reversed_effect.high, reversed_effect.limit) == (None, None, 5000)


@pytest.mark.slow
def test_interval_is_bounded_by_the_limit_and_the_smallest_size():
    values = normal_pilot(0.3, 200)
    high = interval(values, Needed(70)).high
    assert interval(values, Needed(70), limit=high).high == high
    assert interval(values, Needed(70), limit=high - 1).high is None
    large_effect = interval(normal_pilot(3.0, 40), Needed(10, power=1.0))
    assert (large_effect.low, large_effect.high) == (10, 10)


@pytest.mark.slow
def test_interval_is_invariant_to_scale_and_model_order():
    values = normal_pilot(0.6, 60)
    plain = interval(values, Needed(20))
    for unit in (1e-3, 7.0, 1e200):
        assert interval([unit * value for value in values], Needed(20)) == plain
    swapped = interval(values[::-1], Needed(20), pairs=((1, 0),))
    # The noise of resamples is drawn for all pairs, in their order.
    assert (swapped.low, swapped.high) == pytest.approx((plain.low, plain.high), rel=0.1)
    assert plain.high is not None
    assert interval(values, Needed(20), seed=1) != plain


def test_repeats_of_a_sample_are_resampled_together():
    values = normal_pilot(0.6, 60)
    plain = interval(values, Needed(20))
    many = [np.repeat(value, 5) for value in values]
    assert interval(many, Needed(20), clusters=[np.repeat(np.arange(60), 5)] * 2) == plain
    # Treating repeats as samples would make the interval too narrow.
    alone = interval(many, Needed(20))
    assert alone.high < plain.high


def test_power_of_several_pairs_is_multiplied():
    single = _required_sizes(np.array([[0.3]]), 1.7, 0.8)
    assert single == pytest.approx([((1.7 + Z.inv_cdf(0.8)) / 0.3) ** 2])
    both = _required_sizes(np.array([[0.3, 0.3], [0.3, 9.0], [0.3, 0.0], [0.3, -1.0]]), 1.7, 0.8)
    assert both[0] == pytest.approx(((1.7 + Z.inv_cdf(sqrt(0.8))) / 0.3) ** 2)
    assert both[1] == pytest.approx(single[0])
    assert np.isinf(both[2:]).all()
    assert critical_value(np.array([0.3, 0.3]), round(both[0]), 0.8) == pytest.approx(1.7, abs=0.01)


def test_quantiles_are_bias_corrected():
    suggested = np.exp(np.random.default_rng(0).normal(size=4001))
    plain = np.quantile(suggested, [0.025, 0.975])
    assert corrected_quantiles(suggested, float(np.median(suggested)), 10_000) == pytest.approx(
        plain, rel=0.02
    )
    # Four fifths of the resamples suggest more than the pilot: the interval moves down by as much.
    fifth = float(np.quantile(suggested, 0.2))
    expected = [Z.cdf(2 * Z.inv_cdf(0.2) + z) for z in (-1.96, 1.96)]
    assert corrected_quantiles(suggested, fifth, 10_000) == pytest.approx(
        np.quantile(suggested, expected), rel=0.1
    )
    few = corrected_quantiles(suggested, float(np.median(suggested)), 10)
    assert few[0] < plain[0] < plain[1] < few[1]
    # Of resamples that suggest what the pilot does, half count as fewer.
    equal = np.sort(suggested)
    equal[1000:3001] = equal[2000]
    assert corrected_quantiles(equal, float(equal[2000]), 10_000) == pytest.approx(plain, rel=0.02)
    assert corrected_quantiles(np.full(20, np.inf), 5.0, 40) == (np.inf, np.inf)


@pytest.mark.slow
def test_interval_requires_a_pilot():
    scores = ClusteredScores.build(normal_pilot(0.4, 40))
    plan = plan_from_pilot(scores, DIRECT, CLT, pair=(0, 1))
    study = study_power(plan, [40], limit=2000, repeats=60)
    assert study.interval.limit == 2000
    assert study.interval.low <= study.size
    assert study.interval.high is None or study.interval.high > 2 * study.size
    named = [parse_distribution(text) for text in ("normal:0.5", "normal")]
    assert study_power(plan_from_distributions(named, DIRECT, CLT), [50], repeats=20).interval is None


def test_hardest_pair_determines_the_interval():
    rng = np.random.default_rng(3)
    shared = rng.normal(size=60)
    values = [shared + gap + 0.7 * rng.normal(size=60) for gap in (2.0, 0.3, 0.0)]
    every = interval(values, Needed(60), pairs=((0, 1), (0, 2), (1, 2)))
    hardest = interval(values, Needed(60), pairs=((1, 2),))
    assert every.low == pytest.approx(hardest.low, rel=0.3)
    assert interval(values, Needed(10, power=1.0), pairs=((0, 1),)).high < hardest.low


@pytest.mark.slow
def test_interval_is_invariant_to_the_number_of_jobs():
    scores = ClusteredScores.build(normal_pilot(0.4, 40))
    plans = [plan_from_pilot(scores, DIRECT, replace(CLT, jobs=jobs), pair=(0, 1)) for jobs in (1, 2)]
    alone, together = (study_power(plan, [40], limit=2000, repeats=60).interval for plan in plans)
    assert alone == together


@pytest.mark.slow
def test_interval_covers_the_required_size():
    """For pilots with 40 samples of two normals, 0.3 apart, ρ = 0.7, coverage in 200 pilots is .93 ± .02.

    The nominal coverage is 95 %. With 400 resamples instead of the asymptotic test it is .93 ± .03 in 100
    pilots (required size: 52).
    """

    def pilot(rng, n):
        shared, noise = rng.normal(size=n), rng.normal(size=(2, n))
        return [
            gap + sqrt(0.7) * shared + sqrt(0.3) * error for gap, error in zip((0.3, 0.0), noise, strict=True)
        ]

    def study(values, size, repeats):
        plan = plan_from_pilot(ClusteredScores.build(values), DIRECT, CLT, pair=(0, 1))
        return study_power(plan, [size], limit=5000, repeats=repeats)

    rng = np.random.default_rng(7)
    population = study(pilot(rng, 20_000), 60, 1000)
    true_size = population.size
    assert population.interval.high < 1.2 * true_size < 1.5 * population.interval.low
    covered = []
    for _ in range(60):
        result = study(pilot(rng, 40), 60, 60).interval
        below = result.low is not None and result.low <= true_size
        covered.append(below and (result.high is None or true_size <= result.high))
    # Two errors of 60 below .93.
    assert np.mean(covered) >= 0.86


@pytest.mark.parametrize("pairs", [1, 15, 60])
@pytest.mark.slow
def test_interval_of_many_pairs_covers_the_size(pairs):
    """The hardest of many pairs is so partly by chance; a naive lower limit never covers its size."""
    rng, samples, height = np.random.default_rng(18), 400, 2.5
    true = np.full(pairs, 0.25)
    needed = float(_required_sizes(true[None], height, 0.8)[0])
    covered, pilots = 0, 60
    for _ in range(pilots):
        estimates = true + rng.normal(size=pairs) / np.sqrt(samples)
        resampled = np.vstack([estimates, estimates + rng.normal(size=(400, pairs)) / np.sqrt(samples)])
        low, high = size_interval(resampled, height, 0.8, samples)
        covered += low <= needed <= max(high, float(_required_sizes(estimates[None], height, 0.8)[0]))
    # With 95 % coverage, fewer than 52 of 60 have probability 1/200.
    assert covered >= 52


REACH = 4.0


def pilot(seed=0, n=100, total=400, ahead=0.25, noise=0.7):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=total)
    human = 3 + 0.7 * shared + 0.7 * rng.normal(size=(2, total)) + [[ahead], [0.0]]
    human = np.clip(np.rint(human), 1, 5)
    judge = np.clip(np.rint(human + rng.normal(0, noise, human.shape)), 1, 5)
    both = zip(human[:, :n], judge, strict=True)
    return tune_for_differences([Correction.fit(*scores) for scores in both])


def label_need(corrections, **changes):
    return replace(LabelNeed.from_pilot(*corrections, boundary=0.0, level=0.05), **changes)


def population(corrections):
    """Return human and judge scores with the corrected means and unbiased variances."""
    n = corrections[0].n_labelled
    human = np.array([correction.human - correction.human.mean() for correction in corrections])
    judge = np.array([correction.judge[:n] - correction.judge[:n].mean() for correction in corrections])
    wider, means = np.sqrt(n / (n - 2)), np.array([[correction.mean] for correction in corrections])
    return means + wider * human, wider * judge


def draw_table(scores, rng, labels, samples=400):
    """Draw a table with the given number of labels."""
    human, judge = scores
    chosen = rng.integers(0, human.shape[1], samples)
    both = zip(human[:, chosen[:labels]], judge[:, chosen], strict=True)
    return tune_for_differences([Correction.fit(*scores) for scores in both])


def passes(corrections, seed):
    """Return the gate's decision from 2,000 resamples."""
    scores = ScoreColumn("people", column(corrections), Units(1.0, ""), (1.0, 1.0 + REACH))
    rows, _ = decide([GateClaim(BETTER, 0, 1, scores, "mean")], Inference(seed=seed), ["new", "old"])
    return rows[0].verdict == PASS


def passes_by_t(corrections, level=0.05):
    """Return the gate's decision from Student's t instead of resamples."""
    errors, judge_parts = (
        new - old for new, old in zip(*(correction.parts for correction in corrections), strict=True)
    )
    parts = [part.var(ddof=1) / part.size for part in (errors, judge_parts)]
    df = sum(parts) ** 2 / (parts[0] ** 2 / (errors.size - 1) + parts[1] ** 2 / (judge_parts.size - 1)) - 1
    error = np.sqrt(sum(parts))
    return 2 * stdtr(df, -(errors.mean() + judge_parts.mean()) / error) <= level


@pytest.mark.slow
@pytest.mark.parametrize("labels", [20, 80])
def test_decisions_match_the_gate(labels):
    """Decisions by t and by 2,000 resamples agree, except for p-values close to the level."""
    scores, rng = population(pilot(ahead=0.3)), np.random.default_rng(labels)
    tables = [draw_table(scores, rng, labels) for _ in range(20)]
    plain = [passes_by_t(table) for table in tables]
    gates = [passes(table, seed) for seed, table in enumerate(tables)]
    assert 0 < np.mean(gates) < 1
    assert np.mean(np.array(plain) != gates) <= 0.05


@pytest.mark.slow
def test_required_labels_reach_the_requested_power():
    """Run complete gates at the reported number of labels."""
    corrections = pilot()
    size = label_need(corrections).required_labels(0.8, 398)
    scores, rng = population(corrections), np.random.default_rng(11)
    gates = [passes(draw_table(scores, rng, size), seed) for seed in range(40)]
    assert np.mean(gates) == pytest.approx(0.8, abs=2.5 * np.sqrt(0.16 / 40))


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (60, {}),
        *(
            pytest.param(labels, options, marks=pytest.mark.slow)
            for labels, options in (
                (35, {}),
                (105, {}),
                (20, {"ahead": 0.5}),
                (90, {"noise": 3.0}),
                (100, {"ahead": 0.15, "n": 300}),
                (200, {"ahead": 0.15, "n": 300}),
            )
        ),
    ],
)
def test_power_matches_simulated_tables(labels, options):
    corrections, tables = pilot(**options), 600
    scores, rng = population(corrections), np.random.default_rng(labels)
    share = np.mean([passes_by_t(draw_table(scores, rng, labels)) for _ in range(tables)])
    assert 0.3 < share < 0.98
    assert label_need(corrections).power(labels) == pytest.approx(
        share, abs=0.03 + 3 * np.sqrt(0.16 / tables)
    )


def test_power_without_a_judge_matches_simulated_tables():
    """Without a judge, the share of passing tables equals the power of the closed form."""
    corrections = pilot()
    alone = LabelNeed.from_pilot(
        *(replace(correction, judge_weight=0.0) for correction in corrections), boundary=0.0, level=0.05
    )
    size = replace(alone, effect=label_need(corrections).effect).required_labels(0.8)
    human, judge = population(corrections)
    rng, tables = np.random.default_rng(3), 400
    share = np.mean([passes_by_t(draw_table((human, 0 * judge), rng, size)) for _ in range(tables)])
    assert share == pytest.approx(0.8, abs=0.02 + 3 * np.sqrt(0.16 / tables))


@pytest.mark.parametrize("labels", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (40, 300))])
def test_variance_of_the_difference_matches_simulation(labels):
    corrections = pilot()
    need, scores, rng = label_need(corrections), population(corrections), np.random.default_rng(labels)
    means = [[correction.mean for correction in draw_table(scores, rng, labels)] for _ in range(800)]
    differences = np.subtract(*np.transpose(means))
    variance = (need.variance - need.gain) / labels + need.gain / need.samples
    assert np.var(differences) == pytest.approx(variance, rel=0.15)
    assert need.effect == pytest.approx(corrections[0].mean - corrections[1].mean)
    assert differences.mean() == pytest.approx(need.effect, abs=4 * np.std(differences) / np.sqrt(800))


def test_labels_of_the_normal_approximation():
    """For many labels the number is (c + z)² times the variance over the squared effect."""
    need = LabelNeed(effect=0.02, variance=1.0, gain=0.6, judge_variance=0.6, samples=1e9, level=0.05)
    both = ndtri(0.975) + ndtri(0.8)
    assert need.required_labels(0.8) == pytest.approx(0.4 * (both / 0.02) ** 2, rel=1e-3)
    assert replace(need, gain=0.0, judge_variance=0.0).required_labels(0.8) == pytest.approx(
        (both / 0.02) ** 2, rel=1e-3
    )
    few = replace(need, samples=50_000.0)
    assert few.power(10_000) == pytest.approx(
        ndtr(0.02 / np.sqrt(0.4 / 10_000 + 0.6 / 50_000) - ndtri(0.975)), abs=1e-3
    )
    assert replace(need, samples=20_000.0).required_labels(0.99, 19_998) is None


def test_labels_of_all_samples_are_as_good_as_labels_alone():
    """If all samples have labels, the judge has no effect on the variance or the degrees of freedom."""
    need = LabelNeed(effect=0.1, variance=1.0, gain=0.6, judge_variance=0.5, samples=300.0, level=0.05)
    alone = replace(need, gain=0.0, judge_variance=0.0)
    assert need.power(299) == pytest.approx(alone.power(299), abs=0.003)
    assert need.power(400) == alone.power(400)


def test_zero_effect_has_no_required_size():
    assert label_need(pilot(), effect=-0.1).required_labels(0.8) is None
    same = Correction.fit(np.tile([1.0, 2.0], 20), np.tile([1.0, 2.0], 100))
    need = label_need([same, same])
    assert (need.effect, need.variance, need.power(20)) == (0.0, 0.0, 0.0)
    assert need.required_labels(0.8) is None


def test_constant_scores():
    need = LabelNeed(effect=0.5, variance=0.0, gain=0.0, judge_variance=0.0, samples=100.0, level=0.05)
    assert need.required_labels(0.8) == 20
