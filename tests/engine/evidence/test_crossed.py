"""Crossed noise compared with Henderson's sums of squares, t tests, and simulations."""

import itertools

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.evidence.crossed import Components, crossed_difference


def table(rng, items=100, wordings=4, judges=3, missing=0.0, spread=(1, 0.5, 0.3, 0.5, 1)):
    grids = np.meshgrid(np.arange(items), np.arange(wordings), np.arange(judges), indexing="ij")
    i, w, j = (grid.ravel() for grid in grids)
    item, wording, judged, both, residual = spread
    d = (
        item * rng.normal(size=items)[i]
        + wording * rng.normal(size=wordings)[w]
        + judged * rng.normal(size=judges)[j]
    )
    d += both * rng.normal(size=(items, wordings))[i, w] + residual * rng.normal(size=i.size)
    observed = rng.random(i.size) >= missing
    return d[observed], {"item": i[observed], "wording": w[observed], "judge": j[observed]}


@pytest.mark.parametrize("within", [False, True])
def test_single_factor_is_a_t_test_of_means(within):
    d, factors = table(np.random.default_rng(0))
    means = d.reshape(100, -1).mean(axis=1)
    result = crossed_difference(d, [np.arange(d.size), factors["item"]] if within else [factors["item"]])
    assert result.error == pytest.approx(stats.sem(means), rel=1e-10)
    assert 2 * min(result.p_above(), result.mirrored.p_above()) == pytest.approx(
        stats.ttest_1samp(means, 0).pvalue
    )


def test_variance_components_are_additive():
    d, factors = table(np.random.default_rng(1), items=10, missing=0.2)
    parts = []
    for codes in factors.values():
        count = len(set(codes))
        sums = [sum(d[codes == level] - d.mean()) for level in set(codes)]
        parts.append((count / (count - 1) * sum(np.square(sums)) / d.size**2, count - 1))
    total = sum(part for part, _ in parts)
    result = crossed_difference(d, list(factors.values()))
    assert result.error == pytest.approx(np.sqrt(total))
    assert result.df == pytest.approx(total / sum(part / df for part, df in parts))


@pytest.mark.parametrize("own", [pytest.param(0.0, marks=pytest.mark.slow), 1.0])
def test_few_levels_keep_their_error_rate(own):
    """With squared shares (Satterthwaite), three judges would differ significantly in 7 % of tables."""
    wrong, rng = 0, np.random.default_rng(5)
    for _ in range(1000):
        d, factors = table(rng, 40, 1, 3, spread=(own, 0, 0.5, 0, 1))
        result = crossed_difference(d, [factors["item"], factors["judge"]])
        wrong += min(result.p_above(), result.mirrored.p_above()) <= 0.025
    assert wrong <= 67


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [{"missing": 0.3}, {}, {"wordings": 3, "judges": 5}, {"wordings": 10, "spread": (1, 0, 0, 0, 1)}]
)
def test_intervals_have_nominal_coverage(case):
    """Coverage is .93 to .97 (.98 if only items vary), ± .009; with items as the only factor at most .7."""
    rng, covered, alone = np.random.default_rng(2), 0, 0
    for _ in range(600):
        d, factors = table(rng, **case)
        low, high = crossed_difference(d, list(factors.values())).interval()
        covered += bool(low <= 0 <= high)
        low, high = crossed_difference(d, [factors["item"]]).interval()
        alone += bool(low <= 0 <= high)
    assert 0.92 <= covered / 600 <= 0.98
    assert alone / 600 < 0.7 or "spread" in case


@pytest.mark.slow
def test_components_are_recovered_from_a_large_table():
    d, factors = table(np.random.default_rng(3), items=400, wordings=40, judges=20)
    result = {
        "+".join(sorted(source)): value for source, value in Components.estimate(d, factors).variances.items()
    }
    assert result["item"] == pytest.approx(1, rel=0.2)
    assert result["wording"] == pytest.approx(0.25, rel=0.5)
    assert result["item+wording"] == pytest.approx(0.25, rel=0.1)
    assert result[""] == pytest.approx(1, rel=0.05)
    assert result["item+judge"] < 0.02


def test_components_of_balanced_tables_match_anova():
    d, factors = table(np.random.default_rng(4), items=12, wordings=4, judges=1)
    x = d.reshape(12, 4)
    residual = ((x - x.mean(0) - x.mean(1)[:, None] + x.mean()) ** 2).sum() / 33
    item, wording = 4 * x.mean(1).var(ddof=1), 12 * x.mean(0).var(ddof=1)
    result = Components.estimate(d, {name: factors[name] for name in ("item", "wording")}).variances
    assert result[frozenset({"item"})] == pytest.approx(max((item - residual) / 4, 0), rel=1e-8)
    assert result[frozenset({"wording"})] == pytest.approx(max((wording - residual) / 12, 0), rel=1e-8)
    assert result[frozenset()] == pytest.approx(residual, rel=1e-8)


def test_cheapest_plan_matches_enumeration():
    result = Components(
        ("item", "wording"),
        (50, 4),
        {frozenset({"item"}): 1.0, frozenset({"wording"}): 0.2, frozenset(): 1.0},
    )
    costs = {"item": 1.0, "wording": 12.0}
    target = result.variance((50, 4)) / 4
    plans = itertools.product(range(1, 900), range(3, 41))
    best = min(plan[0] + 12 * plan[1] for plan in plans if result.variance(plan) <= target + 1e-12)
    plan = result.cheapest_plan(costs)
    assert plan is not None
    assert plan[0] + 12 * plan[1] == best
    assert result.minimum_error == pytest.approx(np.sqrt(0.2 / 4))


@pytest.mark.slow
def test_cheapest_plan_halves_the_error():
    """The median over 60 pilots is .45 to .6 of the original error."""
    rng, ratios = np.random.default_rng(5), []
    for _ in range(60):
        result = Components.estimate(*table(rng, wordings=4, judges=4))
        plan = result.cheapest_plan({"item": 1.0, "wording": 10.0, "judge": 10.0})
        if plan is not None:
            ratios.append(np.sqrt(true_variance(*plan) / true_variance(100, 4, 4)))
    assert len(ratios) > 50
    assert 0.45 <= np.median(ratios) <= 0.6


def true_variance(items, wordings, judges):
    return (
        1 / items
        + 0.25 / wordings
        + 0.09 / judges
        + 0.25 / (items * wordings)
        + 1 / (items * wordings * judges)
    )
