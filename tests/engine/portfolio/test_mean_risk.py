"""Mean–risk models compared with integrals, closed forms, exact dominance and Proposition 1."""

from dataclasses import replace
from itertools import combinations_with_replacement, pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.portfolio import mean_risk as module
from riskrank.engine.portfolio.mean_risk import (
    MeanRisk,
    aggregate_over_metrics,
    contradicted_pairs,
    mean_risk,
    means_and_risks,
    study_mean_risk,
)
from riskrank.engine.portfolio.risks import RISKS, Risk, RiskColumn, risk_columns
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import batches, make_blocks
from riskrank.errors import UsageError

LEVELS = (0.01, 0.05, 0.25, 0.3, 0.9, 1.0)


def by_label(samples, levels=LEVELS, risks=None):
    result = mean_risk(samples, risk_columns(risks, levels=levels))
    return result, {column.label: result.risk[:, at] for at, column in enumerate(result.columns)}


def quantile(sorted_sample, p):
    """Return the smallest x with a proportion of at least p at or below it, by counting scores."""
    n = len(sorted_sample)
    for rank in range(1, n + 1):
        if rank / n >= p - 1e-14:
            return sorted_sample[rank - 1]
    raise AssertionError(p)


def integrated(sorted_sample, p):
    """Return ∫_0^p Q, computed step by step."""
    n, total = len(sorted_sample), 0.0
    for at, x in enumerate(sorted_sample):
        total += x * max(0.0, min(p, (at + 1) / n) - at / n)
    return total


# Risks with a formula in these tests; an additional risk has its own test.
PUBLISHED_RISKS = (
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
    vertices = [mean * at / n - integrated(x, at / n) for at in range(n + 1)]
    return 2 * sum((a + b) / (2 * n) for a, b in pairwise(vertices))


scores = st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=1, max_size=30)


@given(first=scores, second=scores)
def test_risks_match_brute_force_integrals(first, second):
    result, risks = by_label([np.array(first), np.array(second)], risks=PUBLISHED_RISKS)
    for at, column in enumerate(result.columns):
        for row, sample in enumerate((first, second)):
            expected = plain_risk(column.risk.name, sample, column.level)
            assert risks[column.label][row] == pytest.approx(expected, abs=1e-10)
            assert result.value[row, at] == pytest.approx(sum(sample) / len(sample) - expected, abs=1e-10)


@pytest.mark.parametrize(
    ("level", "n", "rank"), [(0.07, 100, 7), (0.3, 10, 3), (0.29, 100, 29), (0.071, 100, 8)]
)
def test_quantiles_are_robust_to_rounding_of_levels(level, n, rank):
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
def test_risks_match_closed_forms(level):
    # Samples at the mid-points of the quantile function: no sampling error, only that of the spacing.
    n = 200_000
    t = (np.arange(n) + 0.5) / n
    z = np.array([NormalDist().inv_cdf(x) for x in t])
    samples = {"normal": 1 + 2 * z, "exponential": -np.log1p(-t), "uniform": t}
    result = mean_risk(list(samples.values()), risk_columns(PUBLISHED_RISKS, levels=[level]))
    for row, name in enumerate(samples):
        for at, column in enumerate(result.columns):
            expected = closed_forms(level)[name][column.risk.name]
            assert result.risk[row, at] == pytest.approx(expected, abs=3e-4), (name, column.label)


def test_consistency_on_all_pairs_of_small_samples():
    """A consistent risk follows dominance on all pairs; random pairs seldom contradict a claim."""
    every = np.array(list(combinations_with_replacement(range(4), 4)), dtype=float)
    columns = risk_columns(levels=(0.1, 0.25, 0.6))
    mean, risk = means_and_risks(every, columns)
    value = mean[:, None] - risk
    worse = value[:, None] < value[None] - 1e-12
    summed = every.cumsum(axis=1)
    for order, holds in ((1, every), (2, summed)):
        dominates = (holds[:, None] >= holds[None]).all(axis=2)
        broken = [columns[at].risk for at in np.flatnonzero(worse[dominates].any(axis=0))]
        assert "standard-deviation" in [risk.name for risk in broken]
        claimed = [
            risk.name for risk in broken if (risk.ssd_consistent if order == 2 else risk.fsd_consistent)
        ]
        assert claimed == [], f"order {order}"


def test_batch_matches_single_samples():
    rng = np.random.default_rng(3)
    batch = np.sort(rng.normal(size=(4, 3, 57)), axis=-1)
    columns = risk_columns()
    mean, risk = means_and_risks(batch, columns)
    assert mean.shape == (4, 3)
    assert risk.shape == (4, 3, len(columns))
    for b in range(4):
        single = mean_risk(list(batch[b]), columns)
        assert mean[b] == pytest.approx(single.mean, abs=1e-13)
        assert risk[b] == pytest.approx(single.risk, abs=1e-13)


def test_identical_models_share_ranks_in_any_row_order():
    x = np.random.default_rng(6).normal(size=300)
    result = mean_risk([x, x[::-1], x - 1, np.repeat(x, 3)])
    assert (result.rank[[0, 1, 3]] == 1).all()
    assert (result.rank[2] == 4).all()


def test_risks_and_labels():
    columns = risk_columns(["negative-tvar", "gini-tail"], levels=[0.1, 0.05])
    assert [column.label for column in columns] == ["-TVaR(0.05)", "-TVaR(0.1)", "Γ"]
    assert [column.risk for column in risk_columns(levels=[0.1])] == list(RISKS.values())
    assert tuple(name for name in RISKS if name in PUBLISHED_RISKS) == PUBLISHED_RISKS


def test_pairs_reversed_by_sigma():
    # A long right tail: never worse, but punished by σ.
    good, plain, bad = np.r_[np.zeros(9), 5.0], np.zeros(10), np.full(10, -9.0)
    result = mean_risk([good, plain, bad], risk_columns(["standard-deviation", "gini-tail"]))
    assert contradicted_pairs(result) == ((1, 0),)
    without = mean_risk([good, plain], risk_columns(["gini-tail"]))
    assert contradicted_pairs(without) == ()


@pytest.mark.parametrize("level", [0.0, -0.1, 1.01, float("nan")])
def test_levels_out_of_range_are_refused(level):
    with pytest.raises(UsageError, match="outside"):
        risk_columns(levels=[level])


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 1000.0, 2.0**60])
@pytest.mark.parametrize(
    ("gap", "ranks"), [(0.0, [1, 1]), (4e-13, [1, 1]), (1.5e-12, [2, 1]), (1e-7, [2, 1]), (-1.5e-12, [1, 2])]
)
def test_values_that_differ_by_rounding_share_a_rank_in_any_unit(unit, gap, ranks):
    result = mean_risk([np.array([unit]), np.array([unit * (1 + gap)])])
    assert result.rank.T.tolist() == [ranks] * len(result.columns)


def ranked(columns, rank):
    """Return mean–risk models with the given ranks."""
    rank = np.array(rank)
    return MeanRisk(columns, np.zeros(len(rank)), np.zeros(rank.shape), np.zeros(rank.shape), rank)


@given(st.integers(2, 5), st.randoms(use_true_random=False))
def test_pairs_reversed_by_sigma_match_enumeration(k, random):
    columns = risk_columns(levels=(0.05,))
    result = ranked(columns, [[random.randint(1, 3) for _ in columns] for _ in range(k)])
    consistent = [at for at, column in enumerate(columns) if column.risk.ssd_consistent]
    (sigma,) = [at for at, column in enumerate(columns) if column.risk.name == "standard-deviation"]
    assert len(consistent) > 1
    expected = tuple(
        (i, j)
        for i in range(k)
        for j in range(k)
        if result.rank[i, sigma] < result.rank[j, sigma]
        and all(result.rank[i, at] > result.rank[j, at] for at in consistent)
    )
    assert contradicted_pairs(result) == expected


def test_a_tie_is_no_contradiction():
    """Model 0 ranks before 1 by σ; a contradiction needs all consistent risks to reverse the pair."""
    columns = risk_columns(levels=(0.05,))
    sigma = np.array([column.risk.name == "standard-deviation" for column in columns])
    consistent = np.array([column.risk.ssd_consistent for column in columns])
    first, second = np.where(sigma, 1, 2), np.where(sigma, 2, 1)
    assert contradicted_pairs(ranked(columns, [first, second])) == ((0, 1),)
    tied = second.copy()
    tied[np.flatnonzero(consistent)[0]] = 2
    assert contradicted_pairs(ranked(columns, [first, tied])) == ()
    by_sigma = np.where(sigma, 1, second)
    assert contradicted_pairs(ranked(columns, [first, by_sigma])) == ()


def test_orders_of_models_by_hand():
    columns = risk_columns(["gini-tail", "semideviation", "standard-deviation"])
    result = ranked(columns, [[2, 2, 2], [1, 1, 3], [3, 3, 1], [2, 2, 1]])
    assert result.order(0).tolist() == [1, 0, 3, 2]
    assert result.order(2).tolist() == [2, 3, 0, 1]


def test_consistency_of_published_risks():
    """[RAB] Table 1: mean minus these risks is consistent with first- or second-order dominance."""
    result = mean_risk([np.arange(5.0), np.arange(5.0) + 1], risk_columns(levels=(0.25,)))
    names = [column.risk.name for column in result.columns]
    first = {column.risk.name for column in result.columns if column.risk.fsd_consistent}
    second = {name for name, consistent in zip(names, result.ssd_consistent, strict=True) if consistent}
    assert second & set(PUBLISHED_RISKS) == {
        "semideviation",
        "gini-tail",
        "negative-tvar",
        "quantile-deviation",
    }
    assert first & set(PUBLISHED_RISKS) == second & set(PUBLISHED_RISKS) | {"negative-var"}


def _variance(scores, _level):
    return (scores.deviations**2).mean(axis=-1)


VARIANCE = RiskColumn(Risk("variance", "σ²", "σ² variance", _variance, False, False, False), None)


def test_variance_is_not_scale_equivariant():
    """Doubling the scores quadruples the variance."""
    for samples in ([[1.0, 2.0, 3.0], [0.0, 9.0]], [[1000.0, 2000.0, 3000.0], [0.001, 0.003]]):
        result = mean_risk([np.array(sample) for sample in samples], [VARIANCE])
        assert result.risk[:, 0] == pytest.approx([np.var(sample) for sample in samples], rel=1e-12)
        assert result.value[:, 0] == pytest.approx(
            [np.mean(values) - np.var(values) for values in samples], rel=1e-9
        )


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-300, 2.0**300, 2.0**1000])
def test_scores_with_overflowing_squares(unit):
    samples = [np.array([1.0, 2.0, 4.0]), np.array([0.0, 9.0, 1.5])]
    plain, rescaled = (mean_risk([sample * by for sample in samples]) for by in (1.0, unit))
    assert np.array_equal(rescaled.risk, plain.risk * unit)
    assert np.array_equal(rescaled.rank, plain.rank)


def test_frontier_holds_the_undominated_models():
    rng = np.random.default_rng(0)
    risks = mean_risk([rng.normal(rng.normal(), 1 + rng.random(), 40) for _ in range(9)])
    for column, risk in enumerate(risks.risk.T):
        for i, surpassed in enumerate(~risks.frontier(column)):
            dominators = (risks.mean >= risks.mean[i]) & (risk <= risk[i])
            assert surpassed == (dominators & ((risks.mean > risks.mean[i]) | (risk < risk[i]))).any()


NAMES = ("a", "b", "c")


def random_scores(seed=0, n=40, k=3, paired=True, offset=0.0):
    rng = np.random.default_rng(seed)
    values = offset + rng.normal(size=(k, n)) - 0.3 * np.arange(k)[:, None]
    return ClusteredScores.build(list(values), paired=paired)


@pytest.mark.parametrize("offset", [0.0, 1000.0, -1000.0])
@pytest.mark.parametrize("paired", [True, False])
def test_intervals_match_a_plain_bootstrap(paired, offset):
    """The intervals are correct for large offsets, too; mean plus tail mean moves by twice the offset."""
    scores, columns = random_scores(paired=paired, offset=offset), risk_columns()
    result = study_mean_risk(scores, columns, names=NAMES, resamples=60, level=0.2, seed=4)
    values = [
        mean_risk([rows[b] for rows in ordered], columns).value
        for ordered in batches(scores, make_blocks(60, 4), size=1)
        for b in range(len(ordered[0]))
    ]
    assert len(values) == 60
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    assert result.value_low == pytest.approx(low, rel=1e-12)
    assert result.value_high == pytest.approx(high, rel=1e-12)


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**600])
def test_intervals_scale_with_overflowing_squares(unit):
    scores = random_scores()
    rescaled_scores = replace(scores, values=tuple(value * unit for value in scores.values))
    plain, rescaled = (
        study_mean_risk(table, risk_columns(), names=NAMES, resamples=20, seed=4)
        for table in (scores, rescaled_scores)
    )
    assert rescaled.value_low == pytest.approx(plain.value_low * unit, rel=1e-9)
    assert rescaled.value_high == pytest.approx(plain.value_high * unit, rel=1e-9)


def test_intervals_of_means_match_theory():
    """Mean minus h at level 1 is the mean, so its interval is that of a normal mean."""
    scores = random_scores(seed=1, n=400)
    result = study_mean_risk(scores, risk_columns(["quantile-deviation"], [1.0]), names=NAMES, resamples=2000)
    width = result.value_high[:, 0] - result.value_low[:, 0]
    expected = [2 * NormalDist().inv_cdf(0.975) * value.std() / 20 for value in scores.values]
    # A bootstrap quantile at 2.5 % from 2000 resamples has a relative error of about 4 %.
    assert width == pytest.approx(expected, rel=0.15)


def test_results_are_invariant_to_batch_size(monkeypatch):
    scores = random_scores()
    full = study_mean_risk(scores, risk_columns(), names=NAMES, resamples=60)
    monkeypatch.setattr(module, "_BATCH", 1)
    alone = study_mean_risk(scores, risk_columns(), names=NAMES, resamples=60)
    assert full.value_low.tolist() == alone.value_low.tolist()
    assert full.value_high.tolist() == alone.value_high.tolist()


def test_intervals_need_resamples():
    result = study_mean_risk(random_scores(), risk_columns(), names=NAMES, resamples=0)
    assert result.value_low is None
    assert result.value_high is None
    assert result.aggregation is not None


def test_aggregation_needs_a_consistent_risk():
    columns = risk_columns(["standard-deviation", "negative-var"])
    result = study_mean_risk(random_scores(), columns, names=NAMES, resamples=0)
    assert result.aggregation is None
    assert result.contradicted == ()
    assert aggregate_over_metrics([result, result], np.array([0.5, 0.5]), names=NAMES) is None


def test_progress_counts_every_resample():
    calls = []
    study_mean_risk(
        random_scores(),
        risk_columns(),
        names=NAMES,
        resamples=53,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls == [(25, 53), (50, 53), (53, 53)]


def test_risks_share_the_weight_of_their_metric():
    """Metrics with five risks and with one risk have the weights that the user set."""
    many = study_mean_risk(
        ClusteredScores.build([np.arange(10.0), np.arange(10.0) - 1]),
        risk_columns(["semideviation", "gini-tail", "negative-tvar"]),
        names=("a", "b"),
        resamples=0,
    )
    single = study_mean_risk(
        ClusteredScores.build([np.arange(10.0) - 1, np.arange(10.0)]),
        risk_columns(["gini-tail"]),
        names=("a", "b"),
        resamples=0,
    )
    for weights, first in (((0.49, 0.51), 1), ((0.51, 0.49), 0)):
        result = aggregate_over_metrics([many, single], np.array(weights), names=("a", "b"))
        assert result.order[0] == first


def test_single_resample_gives_degenerate_intervals():
    result = study_mean_risk(random_scores(), risk_columns(), names=NAMES, resamples=1)
    assert result.value_low.shape == result.models.value.shape
    np.testing.assert_array_equal(result.value_low, result.value_high)
    calls = []
    study_mean_risk(
        random_scores(), risk_columns(), names=NAMES, progress=lambda done, total: calls.append((done, total))
    )
    assert calls[-1] == (1000, 1000)


def test_single_consistent_risk_is_the_aggregation():
    result = study_mean_risk(random_scores(), risk_columns(["gini-tail"]), names=NAMES, resamples=0)
    assert result.aggregation.ranks.tolist() == result.models.rank[:, 0].tolist()
