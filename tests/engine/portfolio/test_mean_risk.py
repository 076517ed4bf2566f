"""Mean–risk models against plain integrals, closed forms, exact dominance and Proposition 1."""

from dataclasses import replace
from itertools import combinations_with_replacement, pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.portfolio import mean_risk_intervals
from riskrank.engine.portfolio.mean_risk import (
    MeanRisk,
    contradicted_by_consistent,
    mean_risk,
    mean_risk_of,
)
from riskrank.engine.portfolio.mean_risk_intervals import aggregate_over_metrics, study_mean_risk
from riskrank.engine.portfolio.risks import RISKS, Risk, RiskColumn, risk_columns
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import batches, blocks
from riskrank.errors import UsageError

LEVELS = (0.01, 0.05, 0.25, 0.3, 0.9, 1.0)


def by_label(samples, levels=LEVELS, risks=None):
    result = mean_risk(samples, risk_columns(risks, levels=levels))
    return result, {column.label: result.risk[:, at] for at, column in enumerate(result.columns)}


def quantile(sorted_sample, p):
    """Smallest x with a share of at least p at or below, counting in whole scores."""
    n = len(sorted_sample)
    for rank in range(1, n + 1):
        if rank / n >= p - 1e-14:
            return sorted_sample[rank - 1]
    raise AssertionError(p)


def integrated(sorted_sample, p):
    """∫_0^p Q, step by step."""
    n, total = len(sorted_sample), 0.0
    for at, x in enumerate(sorted_sample):
        total += x * max(0.0, min(p, (at + 1) / n) - at / n)
    return total


# Risks these tests know a plain formula for; one that is added has a test of its own.
KNOWN = (
    "standard-deviation",
    "semideviation",
    "negative-tvar",
    "quantile-deviation",
    "gini-tail",
    "negative-var",
)


def plain_risk(name, sample, level):
    x = sorted(sample)
    n, mean = len(x), sum(x) / len(x)
    if name == "standard-deviation":
        return (sum((value - mean) ** 2 for value in x) / n) ** 0.5
    if name == "semideviation":
        return sum(max(mean - value, 0) for value in x) / n
    if name == "negative-tvar":
        return -integrated(x, level) / level
    if name == "quantile-deviation":
        return mean - integrated(x, level) / level
    if name == "negative-var":
        return -quantile(x, level)
    assert name == "gini-tail"
    # F is linear between multiples of 1/n, so the trapezoids are exact.
    ends = [mean * at / n - integrated(x, at / n) for at in range(n + 1)]
    return 2 * sum((a + b) / (2 * n) for a, b in pairwise(ends))


scores = st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=1, max_size=30)


@given(first=scores, second=scores)
def test_against_brute_force_integrals(first, second):
    result, risks = by_label([np.array(first), np.array(second)], risks=KNOWN)
    for at, column in enumerate(result.columns):
        for row, sample in enumerate((first, second)):
            expected = plain_risk(column.risk.name, sample, column.level)
            assert risks[column.label][row] == pytest.approx(expected, abs=1e-10)
            assert result.value[row, at] == pytest.approx(sum(sample) / len(sample) - expected, abs=1e-10)


@pytest.mark.parametrize(
    ("level", "n", "rank"), [(0.07, 100, 7), (0.3, 10, 3), (0.29, 100, 29), (0.071, 100, 8)]
)
def test_quantiles_at_levels_that_rounding_moves(level, n, rank):
    # 0.07 · 100 is 7.000000000000001 in floating point, and 0.29 · 100 is 28.999999999999996.
    sample = np.arange(1.0, n + 1)
    _, risks = by_label([sample, sample], levels=[level])
    assert risks[f"-VaR({level:g})"][0] == -rank


def closed_forms(p):
    z = NormalDist()
    tail = -z.pdf(z.inv_cdf(p)) / p if p < 1 else 0.0
    normal = {
        "standard-deviation": 2.0,
        "semideviation": 2 / np.sqrt(2 * np.pi),
        "negative-tvar": -(1 + 2 * tail),
        "quantile-deviation": -2 * tail,
        "gini-tail": 2 / np.sqrt(np.pi),
        "negative-var": -(1 + 2 * z.inv_cdf(p)) if p < 1 else None,
    }
    # Q(p) = −log(1−p), F(p) = p + (1−p) log(1−p).
    tail = 1 + (1 - p) * np.log1p(-p) / p
    exponential = {
        "standard-deviation": 1.0,
        "semideviation": np.exp(-1),
        "negative-tvar": -tail,
        "quantile-deviation": 1 - tail,
        "gini-tail": 0.5,
        "negative-var": np.log1p(-p),
    }
    uniform = {
        "standard-deviation": 1 / np.sqrt(12),
        "semideviation": 1 / 8,
        "negative-tvar": -p / 2,
        "quantile-deviation": (1 - p) / 2,
        "gini-tail": 1 / 6,
        "negative-var": -p,
    }
    return {"normal": normal, "exponential": exponential, "uniform": uniform}


@pytest.mark.parametrize("level", [0.05, 0.4])
def test_against_closed_form_of_evenly_spread_quantiles(level):
    # Samples at the mid-points of the quantile function: no sampling error, only that of the spacing.
    n = 200_000
    t = (np.arange(n) + 0.5) / n
    z = np.array([NormalDist().inv_cdf(x) for x in t])
    samples = {"normal": 1 + 2 * z, "exponential": -np.log1p(-t), "uniform": t}
    result = mean_risk(list(samples.values()), risk_columns(KNOWN, levels=[level]))
    for row, name in enumerate(samples):
        for at, column in enumerate(result.columns):
            expected = closed_forms(level)[name][column.risk.name]
            assert result.risk[row, at] == pytest.approx(expected, abs=3e-4), (name, column.label)


def test_consistency_on_all_pairs_of_small_samples():
    """What a risk claims, it holds to: random pairs seldom are the few that speak against it."""
    every = np.array(list(combinations_with_replacement(range(4), 4)), dtype=float)
    columns = risk_columns(levels=(0.1, 0.25, 0.6))
    mean, risk = mean_risk_of(every, columns)
    value = mean[:, None] - risk
    worse = value[:, None] < value[None] - 1e-12
    summed = every.cumsum(axis=1)
    for order, held in ((1, every), (2, summed)):
        dominates = (held[:, None] >= held[None]).all(axis=2)
        broken = [columns[at].risk for at in np.flatnonzero(worse[dominates].any(axis=0))]
        assert "standard-deviation" in [risk.name for risk in broken]
        claimed = [
            risk.name for risk in broken if (risk.ssd_consistent if order == 2 else risk.fsd_consistent)
        ]
        assert claimed == [], f"order {order}"


def test_batch_against_single_samples():
    rng = np.random.default_rng(3)
    batch = np.sort(rng.normal(size=(4, 3, 57)), axis=-1)
    columns = risk_columns()
    mean, risk = mean_risk_of(batch, columns)
    assert mean.shape == (4, 3)
    assert risk.shape == (4, 3, len(columns))
    for b in range(4):
        single = mean_risk(list(batch[b]), columns)
        assert mean[b] == pytest.approx(single.mean, abs=1e-13)
        assert risk[b] == pytest.approx(single.risk, abs=1e-13)


def test_identical_models_share_ranks_whatever_the_order_of_rows():
    x = np.random.default_rng(6).normal(size=300)
    result = mean_risk([x, x[::-1], x - 1, np.repeat(x, 3)])
    assert (result.rank[[0, 1, 3]] == 1).all()
    assert (result.rank[2] == 4).all()


def test_risks_and_labels():
    columns = risk_columns(["negative-tvar", "gini-tail"], levels=[0.1, 0.05])
    assert [column.label for column in columns] == ["-TVaR(0.05)", "-TVaR(0.1)", "Γ"]
    assert [column.risk for column in risk_columns(levels=[0.1])] == list(RISKS.values())
    assert tuple(name for name in RISKS if name in KNOWN) == KNOWN


def test_pairs_that_sigma_turns_around():
    # A long right tail: never worse, but punished by σ.
    good, plain, bad = np.r_[np.zeros(9), 5.0], np.zeros(10), np.full(10, -9.0)
    result = mean_risk([good, plain, bad], risk_columns(["standard-deviation", "gini-tail"]))
    assert contradicted_by_consistent(result) == ((1, 0),)
    without = mean_risk([good, plain], risk_columns(["gini-tail"]))
    assert contradicted_by_consistent(without) == ()


@pytest.mark.parametrize("level", [0.0, -0.1, 1.01, float("nan")])
def test_levels_outside(level):
    with pytest.raises(UsageError, match="outside"):
        risk_columns(levels=[level])


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 1000.0, 2.0**60])
@pytest.mark.parametrize(
    ("apart", "ranks"),
    [(0.0, [1, 1]), (4e-13, [1, 1]), (1.5e-12, [2, 1]), (1e-7, [2, 1]), (-1.5e-12, [1, 2])],
)
def test_values_that_differ_by_rounding_share_a_rank_in_any_unit(unit, apart, ranks):
    found = mean_risk([np.array([unit]), np.array([unit * (1 + apart)])])
    assert found.rank.T.tolist() == [ranks] * len(found.columns)


def ranked(columns, rank):
    """Mean-risk models of which only the ranks matter."""
    rank = np.array(rank)
    return MeanRisk(columns, np.zeros(len(rank)), np.zeros(rank.shape), np.zeros(rank.shape), rank)


@given(st.integers(2, 5), st.randoms(use_true_random=False))
def test_pairs_that_sigma_turns_around_against_all_pairs_of_any_ranks(k, random):
    columns = risk_columns(levels=(0.05,))
    found = ranked(columns, [[random.randint(1, 3) for _ in columns] for _ in range(k)])
    consistent = [at for at, column in enumerate(columns) if column.risk.ssd_consistent]
    (sigma,) = [at for at, column in enumerate(columns) if column.risk.name == "standard-deviation"]
    assert len(consistent) > 1
    expected = tuple(
        (i, j)
        for i in range(k)
        for j in range(k)
        if found.rank[i, sigma] < found.rank[j, sigma]
        and all(found.rank[i, at] > found.rank[j, at] for at in consistent)
    )
    assert contradicted_by_consistent(found) == expected


def test_a_tie_is_no_contradiction():
    """Model 0 is before 1 by σ; only where every consistent risk turns the pair round is it reported."""
    columns = risk_columns(levels=(0.05,))
    sigma = np.array([column.risk.name == "standard-deviation" for column in columns])
    consistent = np.array([column.risk.ssd_consistent for column in columns])
    first, second = np.where(sigma, 1, 2), np.where(sigma, 2, 1)
    assert contradicted_by_consistent(ranked(columns, [first, second])) == ((0, 1),)
    tied = second.copy()
    tied[np.flatnonzero(consistent)[0]] = 2
    assert contradicted_by_consistent(ranked(columns, [first, tied])) == ()
    by_sigma = np.where(sigma, 1, second)
    assert contradicted_by_consistent(ranked(columns, [first, by_sigma])) == ()


def test_orders_of_models_by_hand():
    columns = risk_columns(["gini-tail", "semideviation", "standard-deviation"])
    found = ranked(columns, [[2, 2, 2], [1, 1, 3], [3, 3, 1], [2, 2, 1]])
    assert found.order(0).tolist() == [1, 0, 3, 2]
    assert found.order(2).tolist() == [2, 3, 0, 1]


def test_which_risks_are_consistent_with_which_order():
    """[RAB] Table 1: mean minus these risks follows second-order, or first-order, dominance."""
    found = mean_risk([np.arange(5.0), np.arange(5.0) + 1], risk_columns(levels=(0.25,)))
    names = [column.risk.name for column in found.columns]
    first = {column.risk.name for column in found.columns if column.risk.fsd_consistent}
    second = {name for name, yes in zip(names, found.ssd_consistent, strict=True) if yes}
    assert second & set(KNOWN) == {"semideviation", "gini-tail", "negative-tvar", "quantile-deviation"}
    assert first & set(KNOWN) == second & set(KNOWN) | {"negative-var"}


def _variance(scores, _level):
    return (scores.away**2).mean(axis=-1)


VARIANCE = RiskColumn(Risk("variance", "σ²", "σ² variance", _variance, False, False, False), None)


def test_a_risk_need_not_follow_the_unit_of_the_scores():
    """Variance is four times as large where scores are twice as large."""
    for samples in ([[1.0, 2.0, 3.0], [0.0, 9.0]], [[1000.0, 2000.0, 3000.0], [0.001, 0.003]]):
        found = mean_risk([np.array(sample) for sample in samples], [VARIANCE])
        assert found.risk[:, 0] == pytest.approx([np.var(sample) for sample in samples], rel=1e-12)
        assert found.value[:, 0] == pytest.approx([np.mean(one) - np.var(one) for one in samples], rel=1e-9)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-300, 2.0**300, 2.0**1000])
def test_scores_whose_squares_are_no_numbers(unit):
    samples = [np.array([1.0, 2.0, 4.0]), np.array([0.0, 9.0, 1.5])]
    plain, far = (mean_risk([sample * by for sample in samples]) for by in (1.0, unit))
    assert np.array_equal(far.risk, plain.risk * unit)
    assert np.array_equal(far.rank, plain.rank)


def test_the_frontier_is_whom_no_other_surpasses():
    rng = np.random.default_rng(0)
    risks = mean_risk([rng.normal(rng.normal(), 1 + rng.random(), 40) for _ in range(9)])
    for column, risk in enumerate(risks.risk.T):
        for i, surpassed in enumerate(~risks.frontier(column)):
            others = (risks.mean >= risks.mean[i]) & (risk <= risk[i])
            assert surpassed == (others & ((risks.mean > risks.mean[i]) | (risk < risk[i]))).any()


NAMES = ("a", "b", "c")


def made(seed=0, n=40, k=3, paired=True, offset=0.0):
    rng = np.random.default_rng(seed)
    values = offset + rng.normal(size=(k, n)) - 0.3 * np.arange(k)[:, None]
    return ClusteredScores.build(list(values), paired=paired)


@pytest.mark.parametrize("offset", [0.0, 1000.0, -1000.0])
@pytest.mark.parametrize("paired", [True, False])
def test_intervals_against_a_plain_bootstrap(paired, offset):
    """Far from zero too: mean plus a tail mean moves twice as far as the scores do."""
    scores, columns = made(paired=paired, offset=offset), risk_columns()
    found = study_mean_risk(scores, columns, names=NAMES, resamples=60, level=0.2, seed=4)
    values = [
        mean_risk([rows[b] for rows in ordered], columns).value
        for ordered in batches(scores, blocks(60, 4), size=1)
        for b in range(len(ordered[0]))
    ]
    assert len(values) == 60
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    assert found.value_low == pytest.approx(low, rel=1e-12)
    assert found.value_high == pytest.approx(high, rel=1e-12)


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**600])
def test_intervals_follow_the_unit_of_scores_whose_squares_are_no_numbers(unit):
    scores = made()
    far = replace(scores, values=tuple(own * unit for own in scores.values))
    plain, found = (
        study_mean_risk(one, risk_columns(), names=NAMES, resamples=20, seed=4) for one in (scores, far)
    )
    assert found.value_low == pytest.approx(plain.value_low * unit, rel=1e-9)
    assert found.value_high == pytest.approx(plain.value_high * unit, rel=1e-9)


def test_intervals_of_means_against_theory():
    """Mean minus h at level 1 is the mean itself: its interval is that of a normal mean."""
    scores = made(seed=1, n=400)
    found = study_mean_risk(scores, risk_columns(["quantile-deviation"], [1.0]), names=NAMES, resamples=2000)
    width = found.value_high[:, 0] - found.value_low[:, 0]
    expected = [2 * NormalDist().inv_cdf(0.975) * value.std() / 20 for value in scores.values]
    # A bootstrap quantile at 2.5 % from 2000 resamples has a relative error of about 4 %.
    assert width == pytest.approx(expected, rel=0.15)


def test_the_batch_changes_no_number(monkeypatch):
    scores = made()
    whole = study_mean_risk(scores, risk_columns(), names=NAMES, resamples=60)
    monkeypatch.setattr(mean_risk_intervals, "_BATCH", 1)
    alone = study_mean_risk(scores, risk_columns(), names=NAMES, resamples=60)
    assert whole.value_low.tolist() == alone.value_low.tolist()
    assert whole.value_high.tolist() == alone.value_high.tolist()


def test_no_resamples_no_intervals():
    found = study_mean_risk(made(), risk_columns(), names=NAMES, resamples=0)
    assert found.value_low is None
    assert found.value_high is None
    assert found.aggregation is not None


def test_without_consistent_risks_there_is_nothing_to_aggregate():
    columns = risk_columns(["standard-deviation", "negative-var"])
    found = study_mean_risk(made(), columns, names=NAMES, resamples=0)
    assert found.aggregation is None
    assert found.contradicted == ()
    assert aggregate_over_metrics([found, found], np.array([0.5, 0.5]), names=NAMES) is None


def test_progress_counts_every_resample():
    told = []
    study_mean_risk(
        made(), risk_columns(), names=NAMES, resamples=53, progress=lambda done, of: told.append((done, of))
    )
    assert told == [(25, 53), (50, 53), (53, 53)]


def test_a_metrics_weight_is_shared_by_its_risks():
    """One metric with five risks and one with a single risk count as their weights say."""
    many = study_mean_risk(
        ClusteredScores.build([np.arange(10.0), np.arange(10.0) - 1]),
        risk_columns(["semideviation", "gini-tail", "negative-tvar"]),
        names=("a", "b"),
        resamples=0,
    )
    one = study_mean_risk(
        ClusteredScores.build([np.arange(10.0) - 1, np.arange(10.0)]),
        risk_columns(["gini-tail"]),
        names=("a", "b"),
        resamples=0,
    )
    for weights, first in (((0.49, 0.51), 1), ((0.51, 0.49), 0)):
        found = aggregate_over_metrics([many, one], np.array(weights), names=("a", "b"))
        assert found.order[0] == first


def test_one_resample_is_an_interval_of_one_value():
    found = study_mean_risk(made(), risk_columns(), names=NAMES, resamples=1)
    assert found.value_low.shape == found.models.value.shape
    np.testing.assert_array_equal(found.value_low, found.value_high)
    told = []
    study_mean_risk(made(), risk_columns(), names=NAMES, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (1000, 1000)


def test_one_consistent_risk_is_its_own_aggregation():
    found = study_mean_risk(made(), risk_columns(["gini-tail"]), names=NAMES, resamples=0)
    assert found.aggregation.ranks.tolist() == found.models.rank[:, 0].tolist()
