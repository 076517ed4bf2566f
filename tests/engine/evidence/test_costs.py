"""Cost per success compared with Fieller's quadratic, a manual delta method, and invariances."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.evidence.cost_per_success import Costs, p_value_cheaper
from riskrank.engine.evidence.student import johnson_t, mean_difference

RNG = np.random.default_rng(4)
N = 200
SUCCESSES = (RNG.random(N) < 0.6).astype(float)
COSTS = RNG.lognormal(0, 0.7, N)
UNITS = np.arange(N)


FEW = np.isin(UNITS, UNITS[::25]).astype(float)


@pytest.mark.parametrize(("successes", "max_ratio"), [(SUCCESSES, 2), (FEW, 5)])
def test_interval_holds_the_undecided_values(successes, max_ratio):
    costs = Costs(COSTS, successes, UNITS)
    low, high = costs.interval(0.05)
    assert low < costs.per_success < high
    assert max_ratio / 2.5 < high / costs.per_success < max_ratio
    assert costs.per_success == pytest.approx(COSTS.sum() / successes.sum())
    for end, sign in ((high, 1), (low, -1)):
        differences = sign * (end * successes - COSTS)
        comparison = mean_difference((differences, UNITS), (np.zeros(N), UNITS), paired=True)
        p = float(comparison.p_above())
        assert p == pytest.approx(0.025, rel=1e-6)
    expected = fieller_interval(COSTS, successes)
    assert (low, high) == pytest.approx(expected, rel=0.05 if max_ratio == 2 else 0.5)
    assert low <= expected[0] + 1e-9
    assert high >= expected[1] - 1e-9


def fieller_interval(costs, successes):
    """Fieller's interval of a ratio of means, from its quadratic."""
    n = len(costs)
    t2 = stats.t.ppf(0.975, n - 1) ** 2 / n
    (vc, cov), (_, vs) = np.cov(costs, successes)
    c, s = costs.mean(), successes.mean()
    return np.sort(np.roots([s * s - t2 * vs, -2 * (c * s - t2 * cov), c * c - t2 * vc]))


def test_few_successes_have_no_upper_limit():
    few = np.zeros(N)
    few[:3] = 1
    costs = Costs(COSTS, few, UNITS)
    assert not costs.has_enough_successes
    assert costs.interval(0.05)[1] == np.inf


def shared_theta_p_value(new, old, times=1.0, more=0.0, side=1):
    """Return the p-value from residuals about the common θ at the boundary, θ_new = times · θ_old + more."""
    theta = (old.costs.sum() + new.costs.sum() - more * new.successes.sum()) / (
        old.successes.sum() + times * new.successes.sum()
    )
    residuals = times * (old.costs - theta * old.successes) / old.successes.mean()
    residuals = side * (
        residuals - (new.costs - (times * theta + more) * new.successes) / new.successes.mean()
    )
    assert residuals.mean() == pytest.approx(side * (times * old.per_success + more - new.per_success))
    t, skewness = (
        stats.ttest_1samp(residuals, 0).statistic,
        stats.skew(residuals) * (1 - 1 / N) ** 1.5 / np.sqrt(N),
    )
    return max(stats.t.sf(t, N - 1), stats.t.sf(johnson_t(t, skewness), N - 1))


@pytest.mark.slow
def test_huge_costs_make_no_rival_cheap():
    """Equal models with lognormal costs, σ = 1.5, 100 samples; the t test of ψ alone has .004 at .001."""
    rng, level, tables = np.random.default_rng(0), 0.01, 2000
    units = np.arange(100)
    rejections = []
    for _ in range(tables):
        new, old = (Costs(rng.lognormal(0, 1.5, 100), (rng.random(100) < 0.7) * 1.0, units) for _ in "ab")
        rejections.append(p_value_cheaper(new, old) <= level)
    assert np.mean(rejections) <= level + 3 * np.sqrt(level / tables)


def test_results_are_invariant_to_currency():
    dollars, cents = (Costs(COSTS * unit, SUCCESSES, UNITS) for unit in (1, 100))
    assert np.array(cents.interval(0.05)) == pytest.approx(100 * np.array(dollars.interval(0.05)))
    other = Costs(COSTS[::-1].copy(), SUCCESSES, UNITS)
    expensive = Costs(100 * other.costs, SUCCESSES, UNITS)
    assert p_value_cheaper(cents, expensive) == pytest.approx(p_value_cheaper(dollars, other))


@pytest.mark.parametrize("more", [0.0, 0.3, -0.2])
def test_cheaper_by_the_delta_method(more):
    rng = np.random.default_rng(6)
    old = Costs(rng.lognormal(0.3, 0.7, N), (rng.random(N) < 0.5).astype(float), UNITS)
    new = Costs(COSTS, SUCCESSES, UNITS)

    def log_difference(weights):
        thetas = [weights @ costs.costs / (weights @ costs.successes) for costs in (old, new)]
        return np.log(thetas[0] + max(more, 0)) - np.log(thetas[1] + max(-more, 0))

    jackknife = np.array([log_difference(1.0 - (at == UNITS)) for at in UNITS])
    error = np.sqrt((N - 1) / N * ((jackknife - jackknife.mean()) ** 2).sum())
    statistic, skewness = log_difference(np.ones(N)) / error, -stats.skew(jackknife) / np.sqrt(N)
    by_logs = max(stats.t.sf(statistic, N - 1), stats.t.sf(johnson_t(statistic, skewness), N - 1))
    expected = max(by_logs, shared_theta_p_value(new, old, more=more))
    assert p_value_cheaper(new, old, more) == pytest.approx(expected, rel=0.1, abs=1e-6)
