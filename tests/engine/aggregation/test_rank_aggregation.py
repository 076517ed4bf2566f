"""Rank aggregation compared with all permutations, published optima and invariances."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.aggregation import kemeny
from riskrank.engine.aggregation.rank_aggregation import _integer_weights, aggregate_rankings

METHODS = ("kemeny", "footrule", "pearson", "borda")


def ranks_from_words(*words):
    items = sorted(words[0])
    return np.array([[word.index(item) + 1 for item in items] for word in words])


def midrank(row):
    return np.array([np.sum(row < x) + (np.sum(row == x) + 1) / 2 for x in row])


def plain_distance(method, places, row):
    """Compute a distance by its definition, pair by pair and item by item."""
    k, mid = len(row), midrank(row)
    if method == "kemeny":
        total = 0.0
        for u in range(k):
            for v in range(u):
                if row[u] == row[v]:
                    total += 0.5
                elif (row[u] < row[v]) != (places[u] < places[v]):
                    total += 1
        return total
    if method == "footrule":
        return sum(abs(places[x] - mid[x]) for x in range(k))
    if method == "borda":
        return sum((places[x] - mid[x]) ** 2 for x in range(k))
    return 1 - sum((places[x] - (k + 1) / 2) * (mid[x] - (k + 1) / 2) for x in range(k)) * 12 / (k**3 - k)


def brute_force(method, rankings, weights):
    """Return the minimum distance and all orders that attain it."""
    k = rankings.shape[1]
    value = {}
    for order in permutations(range(k)):
        places = np.empty(k, dtype=int)
        places[list(order)] = np.arange(1, k + 1)
        value[order] = sum(
            w * plain_distance(method, places, row) for w, row in zip(weights, rankings, strict=True)
        )
    least = min(value.values())
    return least, {order for order, total in value.items() if total < least + 1e-9}


def expected_choice(optima, rankings, weights, names):
    def borda(order):
        places = np.empty(len(order), dtype=int)
        places[list(order)] = np.arange(1, len(order) + 1)
        total = sum(
            w * plain_distance("borda", places, row) for w, row in zip(weights, rankings, strict=True)
        )
        return round(total, 7), [names[item] for item in order]

    return min(optima, key=borda)


@st.composite
def problems(draw):
    k, m = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    ranks = draw(st.lists(st.lists(st.integers(1, k), min_size=k, max_size=k), min_size=m, max_size=m))
    weights = draw(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 2.5]), min_size=m, max_size=m))
    if sum(weights) == 0:
        weights[0] = 1.0
    names = draw(st.permutations([f"m{i}" for i in range(k)]))
    return np.array(ranks), weights, names


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=20)
@given(problem=problems())
def test_ties_and_weights_match_brute_force(method, problem):
    rankings, weights, names = problem
    result = aggregate_rankings(rankings, method=method, weights=weights, names=names)
    least, optima = brute_force(method, rankings, weights)
    assert result.distance == pytest.approx(least, abs=1e-9)
    assert result.optima_count == len(optima)
    assert result.unique == (len(optima) == 1)
    assert tuple(result.order.tolist()) == expected_choice(optima, rankings, weights, names)
    assert (result.optima is None) == (len(optima) > 24)
    if result.optima is not None:
        assert len(result.optima) == len(optima)
        assert set(result.optima) == optima
        assert result.optima[0] == tuple(result.order.tolist())


def test_published_rankings_are_reproduced():
    lists = ranks_from_words("ABCDE", "BDAEC", "BAECD", "ADBCE")
    footrule = aggregate_rankings(lists, method="footrule")
    assert footrule.mean_distance == 4.0
    assert footrule.distance == 16.0
    assert footrule.optima_count == 2
    assert footrule.choice.startswith("2 optima")
    kendall = aggregate_rankings(lists, method="kemeny")
    assert kendall.mean_distance == 2.25
    assert kendall.optima_count == 6
    assert len(kendall.optima) == 6
    assert kendall.unique is False
    assert kendall.gap == 0


@pytest.mark.parametrize("method", METHODS)
def test_single_ranking_is_unchanged(method):
    result = aggregate_rankings(np.array([[3, 1, 2, 5, 4]]), method=method)
    assert result.ranks.tolist() == [3, 1, 2, 5, 4]
    assert result.distance == pytest.approx(0)
    assert result.unique is True
    assert result.choice == "the only optimum"


def test_equal_weights_tie_despite_rounding():
    lists = ranks_from_words("AB", "BA", "BA")
    result = aggregate_rankings(lists, weights=[0.3, 0.1, 0.2])
    assert result.optima_count == 2


def noisy_copies(k, lists, noise, seed):
    rng = np.random.default_rng(seed)
    return np.array(
        [np.argsort(np.argsort(np.arange(k) + noise * rng.standard_normal(k))) for _ in range(lists)]
    )


def test_stopped_solver_reports_its_gap(monkeypatch):
    monkeypatch.setattr(kemeny, "MAX_ITEMS", 1)
    rankings = noisy_copies(12, 5, 100.0, seed=2)
    monkeypatch.setattr(kemeny, "MAX_WORK", 0)
    result = aggregate_rankings(rankings)
    assert sorted(result.order.tolist()) == list(range(12))
    assert 0 < result.gap <= 1
    assert result.unique is not True
    assert "above the optimum" in result.choice


def test_many_disputed_pairs_use_local_search(monkeypatch):
    rankings = noisy_copies(25, 5, 20.0, seed=2)
    exact = aggregate_rankings(rankings)
    monkeypatch.setattr(kemeny, "MAX_DISPUTED", 100)
    moved = aggregate_rankings(rankings)
    assert exact.gap == 0
    assert 0 < moved.gap < 0.1
    assert (1 - moved.gap) * moved.distance <= exact.distance <= moved.distance
    assert moved.unique is not True
    assert "above the optimum" in moved.choice


def test_kemeny_order_of_twenty_five_noisy_copies():
    rankings = noisy_copies(25, 8, 6.0, seed=1)
    result = aggregate_rankings(rankings)
    assert result.gap == 0
    places = result.ranks
    # No single move improves an optimum.
    for item in range(25):
        remaining = [x for x in result.order.tolist() if x != item]
        for at in range(25):
            moved = np.argsort([*remaining[:at], item, *remaining[at:]]) + 1
            total = sum(np.sum((r[:, None] < r) & (moved[:, None] > moved)) for r in rankings)
            assert total >= result.distance
    assert sorted(places.tolist()) == list(range(1, 26))


def test_complete_tie_is_broken_by_name():
    for method in METHODS:
        result = aggregate_rankings(np.ones((2, 4)), method=method, names=list("dbca"))
        assert [list("dbca")[i] for i in result.order] == list("abcd") or method == "footrule"
        assert result.unique is False


@pytest.mark.parametrize("work", [1, 100_000])
def test_work_limit_is_deterministic(monkeypatch, work):
    """A time limit would depend on the load of the machine, so the test makes every solve take hours."""
    monkeypatch.setattr(kemeny, "MAX_ITEMS", 1)
    rankings = noisy_copies(30, 5, 100.0, seed=4)
    exact = aggregate_rankings(rankings)
    assert exact.gap == 0
    monkeypatch.setattr(kemeny, "MAX_WORK", work)
    first = aggregate_rankings(rankings)
    clock = iter(range(0, 10**9, 10**4))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    repeated = aggregate_rankings(rankings)
    assert first.order.tolist() == repeated.order.tolist()
    assert first.gap == repeated.gap
    assert (1 - first.gap) * first.distance <= exact.distance + 1e-9
    assert exact.distance <= first.distance


@pytest.mark.parametrize(
    "weights", [[1, 2, 4], [1.5, 0.5, 0.375], [np.pi, np.e, 1], [1, 9972 / 9973, *[9966 / 9967] * 58]]
)
def test_integer_weights_have_exact_sums(weights):
    """Whole-number ratios stay exact; other weights, or large denominators, are rounded to a fine grid."""
    result = _integer_weights(np.array(weights, dtype=float))
    assert result.sum() <= 2**32 + len(weights)
    assert result / result.sum() == pytest.approx(np.array(weights) / np.sum(weights), rel=1e-8)
