"""Mean–risk models against plain integrals, closed forms, exact dominance and Proposition 1."""

from itertools import combinations_with_replacement, pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.portfolio.mean_risk import (
    MeanRisk,
    contradicted_by_consistent,
    mean_risk,
    mean_risk_of,
)
from riskrank.engine.portfolio.risks import RISKS, Risk, RiskColumn, risk_columns
from riskrank.errors import NumericalError, UsageError

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
    # Mean ranks 2, 5/3, 7/3, 5/3.
    assert found.mean_rank_order.tolist() == [1, 3, 0, 2]


def test_which_risks_are_consistent_with_which_order():
    """[RAB] Table 1: mean minus these risks follows second-order, or first-order, dominance."""
    found = mean_risk([np.arange(5.0), np.arange(5.0) + 1], risk_columns(levels=(0.25,)))
    names = [column.risk.name for column in found.columns]
    first = {name for name, yes in zip(names, found.fsd_consistent, strict=True) if yes}
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


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_a_risk_that_does_not_follow_the_unit_is_refused_where_the_unit_must_change(unit):
    with pytest.raises(NumericalError, match="too far from the size"):
        mean_risk([np.array([1.0, 2.0]) * unit, np.array([0.0, 9.0]) * unit], [VARIANCE])


def test_the_frontier_is_whom_no_other_surpasses():
    rng = np.random.default_rng(0)
    risks = mean_risk([rng.normal(rng.normal(), 1 + rng.random(), 40) for _ in range(9)])
    for column, risk in enumerate(risks.risk.T):
        for i, surpassed in enumerate(~risks.frontier(column)):
            others = (risks.mean >= risks.mean[i]) & (risk <= risk[i])
            assert surpassed == (others & ((risks.mean > risks.mean[i]) | (risk < risk[i]))).any()
