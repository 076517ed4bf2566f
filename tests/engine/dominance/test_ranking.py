import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from riskrank.engine.dominance.ranking import (
    count_separated_pairs,
    rank_by_ratio,
    rank_by_score,
    rank_by_wins,
    rank_sets,
    rank_sets_by_wins,
    split_into_tiers,
)
from riskrank.engine.numeric import competition_ranks

keys = arrays(np.float64, st.integers(2, 8), elements=st.integers(0, 4).map(float))


@given(keys)
def test_competition_ranks_against_counting(values):
    assert competition_ranks(values).tolist() == [
        1 + sum(other < value for other in values) for value in values
    ]


def test_ties_share_a_rank_and_the_next_is_skipped():
    assert competition_ranks(np.array([3, 1, 1, 2])).tolist() == [4, 1, 1, 3]


def test_borda_ranks_by_wins_and_orders_ties_by_ratio():
    dominates = np.zeros((4, 4), dtype=bool)
    dominates[0, 3] = dominates[1, 3] = dominates[2, 3] = True
    ranking = rank_by_wins(dominates, np.array([0.4, 0.2, 0.3, 0.9]), tested=True)
    assert ranking.wins.tolist() == [1, 1, 1, 0]
    assert ranking.rank.tolist() == [1, 1, 1, 4]
    assert ranking.order.tolist() == [1, 2, 0, 3]
    assert ranking.tier.tolist() == [1, 1, 1, 2]


@given(st.integers(2, 7), st.randoms(use_true_random=False))
def test_no_test_separates_two_models_of_a_tier(k, random):
    dominates = np.array([[random.random() < 0.3 and i < j for j in range(k)] for i in range(k)])
    score = np.array([random.random() for _ in range(k)])
    ranking = rank_by_wins(dominates, score, tested=True)
    for i in range(k):
        for j in range(k):
            if ranking.tier[i] == ranking.tier[j]:
                assert not dominates[i, j]
    assert ranking.tier[ranking.order].tolist() == sorted(ranking.tier)
    assert set(ranking.tier) == set(range(1, ranking.tier.max() + 1))


def test_no_tiers_or_intervals_without_a_test():
    ranking = rank_by_wins(np.array([[False, True], [False, False]]), np.array([0.1, 0.9]), tested=False)
    assert ranking.tier is None
    assert ranking.rank_low is None


def test_ranking_by_a_rate_puts_the_largest_first():
    ranking = rank_by_score(np.array([0.2, 0.9, 0.9]))
    assert ranking.rank.tolist() == [3, 1, 1]
    assert ranking.order.tolist() == [1, 2, 0]
    assert ranking.wins is None


def test_default_order_follows_the_ratios_not_the_wins():
    """A chance win over the weakest model must not promote the model with the worst ratio."""
    dominates = np.zeros((3, 3), dtype=bool)
    dominates[2, 1] = True
    ranking = rank_by_ratio(dominates, np.array([0.1, 0.5, 0.83]), tested=True)
    assert ranking.rank.tolist() == [1, 2, 3]
    assert ranking.order.tolist() == [0, 1, 2]
    assert ranking.wins.tolist() == [0, 0, 1]
    assert ranking.losses.tolist() == [0, 1, 0]
    assert ranking.rank_low.tolist() == [1, 2, 1]
    assert ranking.rank_high.tolist() == [3, 3, 2]
    assert ranking.tier.tolist() == [1, 1, 2]
    untested = rank_by_ratio(dominates, np.array([0.1, 0.5, 0.83]), tested=False)
    assert untested.rank_low is None
    assert untested.rank_high is None
    assert untested.tier is None
    assert untested.wins.tolist() == [0, 0, 1]


def test_ratios_that_differ_by_rounding_share_a_rank():
    none = np.zeros((4, 4), dtype=bool)
    ratio = np.array([0.5, 0.1 + 0.2, 0.3, 0.3 + 1e-9])
    assert ratio[1] > ratio[2]
    ranking = rank_by_ratio(none, ratio, tested=True)
    assert ranking.rank.tolist() == [4, 1, 1, 3]
    assert ranking.order.tolist() == [1, 2, 3, 0]
    assert rank_by_wins(none, ratio, tested=True).order.tolist() == [1, 2, 3, 0]


@given(keys)
def test_ranks_by_ratio_are_competition_ranks(values):
    ranking = rank_by_ratio(np.zeros((values.size, values.size), dtype=bool), values, tested=False)
    assert ranking.rank.tolist() == competition_ranks(values).tolist()


def test_ranks_by_wins_have_rank_sets():
    dominates = np.zeros((3, 3), dtype=bool)
    dominates[0, 1] = True
    score = np.array([0.2, 0.6, 0.7])
    relative = rank_by_wins(dominates, score, tested=True, relative=True)
    assert (relative.rank_low.tolist(), relative.rank_high.tolist()) == ([1, 2, 1], [2, 3, 3])
    absolute = rank_by_wins(dominates, score, tested=True)
    assert (absolute.rank_low.tolist(), absolute.rank_high.tolist()) == ([1, 1, 1], [3, 3, 3])
    assert absolute.losses.tolist() == [0, 1, 0]


@st.composite
def truths_and_verdicts(draw):
    """Draw true values with ties, and verdicts without any false claim."""
    truth = draw(st.lists(st.integers(0, 4), min_size=2, max_size=6))
    k = len(truth)
    flags = draw(st.lists(st.booleans(), min_size=k * k, max_size=k * k))
    beats = np.array(flags).reshape(k, k) & np.greater.outer(truth, truth)
    return truth, beats


@given(truths_and_verdicts())
def test_rank_sets_contain_all_true_ranks_with_ties(case):
    truth, beats = case
    sets = rank_sets(beats)
    for i, value in enumerate(truth):
        assert sets.low[i] <= 1 + sum(other > value for other in truth)
        assert sum(other >= value for other in truth) <= sets.high[i]


@given(truths_and_verdicts())
def test_rank_sets_of_transitive_verdicts_match_all_orders(case):
    truth, beats = case
    for _ in truth:  # wins of wins are wins: the true ones are transitive
        beats = beats | ((beats.astype(int) @ beats.astype(int)) > 0)
    orders = [
        order
        for order in itertools.permutations(range(len(truth)))
        if not any(beats[order[b], order[a]] for a in range(len(order)) for b in range(a + 1, len(order)))
    ]
    sets = rank_sets(beats)
    for i in range(len(truth)):
        places = [order.index(i) + 1 for order in orders]
        assert (sets.low[i], sets.high[i]) == (min(places), max(places))


@given(st.integers(2, 5), st.randoms(use_true_random=False), st.booleans())
def test_rank_sets_of_wins_contain_every_consistent_truth(k, random, exclusive):
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    truth = np.zeros((k, k), dtype=bool)
    for i, j in pairs:
        truth[i, j] = random.random() < 0.5 and not (exclusive and truth[j, i])
    beats = truth & np.array([[random.random() < 0.5 for _ in range(k)] for _ in range(k)])
    sets = rank_sets_by_wins(beats, exclusive=exclusive)
    wins = truth.sum(axis=1)
    for i in range(k):
        assert sets.low[i] <= 1 + (wins > wins[i]).sum()
        assert (wins >= wins[i]).sum() <= sets.high[i]
        assert sets.low[i] <= 1 + (sets.wins > sets.wins[i]).sum() <= sets.high[i]


def test_possible_mutual_wins_widen_rank_sets():
    beats = np.zeros((3, 3), dtype=bool)
    beats[0, 1] = beats[0, 2] = beats[1, 2] = True
    assert rank_sets_by_wins(beats).low.tolist() == [1, 2, 3]
    assert rank_sets_by_wins(beats).high.tolist() == [1, 2, 3]
    assert rank_sets_by_wins(beats, exclusive=False).low.tolist() == [1, 1, 1]
    assert rank_sets_by_wins(beats, exclusive=False).high.tolist() == [3, 3, 3]


def test_a_rank_set_by_hand():
    beats = np.zeros((4, 4), dtype=bool)
    beats[0, 3] = beats[1, 3] = beats[0, 2] = True
    sets = rank_sets(beats)
    assert sets.wins.tolist() == [2, 1, 0, 0]
    assert sets.losses.tolist() == [0, 0, 1, 2]
    assert list(zip(sets.low.tolist(), sets.high.tolist(), strict=True)) == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_diagonal_is_ignored():
    assert rank_sets(np.eye(3, dtype=bool)).high.tolist() == [3, 3, 3]
    assert split_into_tiers(np.eye(3, dtype=bool), [0, 1, 2]).tolist() == [1, 1, 1]
    assert count_separated_pairs(np.eye(3, dtype=bool), [0, 1, 2]).separated == 0


@given(st.integers(2, 7), st.randoms(use_true_random=False))
def test_tier_stops_at_a_model_separated_from_a_member(k, random):
    beats = np.array([[random.random() < 0.25 for _ in range(k)] for _ in range(k)])
    order = random.sample(range(k), k)
    tier = split_into_tiers(beats, order)
    along = tier[order]
    assert along[0] == 1
    assert set(np.diff(along)) <= {0, 1}
    for place, model in enumerate(order):
        for other in order[:place]:
            if tier[other] == tier[model]:
                assert not beats[other, model]
                assert not beats[model, other]
        if place and along[place] > along[place - 1]:
            before = [other for other in order[:place] if tier[other] == along[place - 1]]
            assert any(beats[other, model] or beats[model, other] for other in before)


def test_separated_pairs_and_neighbours():
    beats = np.zeros((4, 4), dtype=bool)
    beats[0, 3] = beats[1, 3] = beats[2, 3] = True
    result = count_separated_pairs(beats, [1, 0, 2, 3])
    assert (result.pairs, result.separated, result.proportion) == (6, 3, 0.5)
    assert (result.neighbours, result.separated_neighbours) == (3, 1)
    beats[3, 0] = True  # both at once is still one pair
    assert count_separated_pairs(beats, [1, 0, 2, 3]).separated == 3
