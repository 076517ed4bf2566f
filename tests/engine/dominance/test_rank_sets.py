import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.dominance.rank_sets import rank_sets, rank_sets_of_wins, separation, tiers


@st.composite
def truths_and_verdicts(draw):
    """True values with ties, and verdicts of which none is false."""
    truth = draw(st.lists(st.integers(0, 4), min_size=2, max_size=6))
    k = len(truth)
    found = draw(st.lists(st.booleans(), min_size=k * k, max_size=k * k))
    beats = np.array(found).reshape(k, k) & np.greater.outer(truth, truth)
    return truth, beats


@given(truths_and_verdicts())
def test_true_wins_leave_every_true_place_also_those_within_ties(case):
    truth, beats = case
    sets = rank_sets(beats)
    for i, value in enumerate(truth):
        assert sets.low[i] <= 1 + sum(other > value for other in truth)
        assert sum(other >= value for other in truth) <= sets.high[i]


@given(truths_and_verdicts())
def test_a_rank_set_is_what_the_orders_agreeing_with_the_verdicts_leave_where_these_are_transitive(case):
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
def test_places_by_wins_against_every_truth_that_agrees(k, random, exclusive):
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    truth = np.zeros((k, k), dtype=bool)
    for i, j in pairs:
        truth[i, j] = random.random() < 0.5 and not (exclusive and truth[j, i])
    beats = truth & np.array([[random.random() < 0.5 for _ in range(k)] for _ in range(k)])
    sets = rank_sets_of_wins(beats, exclusive=exclusive)
    wins = truth.sum(axis=1)
    for i in range(k):
        assert sets.low[i] <= 1 + (wins > wins[i]).sum()
        assert (wins >= wins[i]).sum() <= sets.high[i]
        assert sets.low[i] <= 1 + (sets.wins > sets.wins[i]).sum() <= sets.high[i]


def test_wins_that_may_be_mutual_leave_more_places():
    beats = np.zeros((3, 3), dtype=bool)
    beats[0, 1] = beats[0, 2] = beats[1, 2] = True
    assert rank_sets_of_wins(beats).low.tolist() == [1, 2, 3]
    assert rank_sets_of_wins(beats).high.tolist() == [1, 2, 3]
    assert rank_sets_of_wins(beats, exclusive=False).low.tolist() == [1, 1, 1]
    assert rank_sets_of_wins(beats, exclusive=False).high.tolist() == [3, 3, 3]


def test_a_rank_set_by_hand():
    beats = np.zeros((4, 4), dtype=bool)
    beats[0, 3] = beats[1, 3] = beats[0, 2] = True
    sets = rank_sets(beats)
    assert sets.wins.tolist() == [2, 1, 0, 0]
    assert sets.losses.tolist() == [0, 0, 1, 2]
    assert list(zip(sets.low.tolist(), sets.high.tolist(), strict=True)) == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_the_diagonal_means_nothing():
    assert rank_sets(np.eye(3, dtype=bool)).high.tolist() == [3, 3, 3]
    assert tiers(np.eye(3, dtype=bool), [0, 1, 2]).tolist() == [1, 1, 1]
    assert separation(np.eye(3, dtype=bool), [0, 1, 2]).separated == 0


@given(st.integers(2, 7), st.randoms(use_true_random=False))
def test_a_tier_ends_only_where_a_member_is_separated_from_the_next(k, random):
    beats = np.array([[random.random() < 0.25 for _ in range(k)] for _ in range(k)])
    order = random.sample(range(k), k)
    tier = tiers(beats, order)
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
    found = separation(beats, [1, 0, 2, 3])
    assert (found.pairs, found.separated, found.share) == (6, 3, 0.5)
    assert (found.neighbours, found.separated_neighbours) == (3, 1)
    beats[3, 0] = True  # both at once is still one pair
    assert separation(beats, [1, 0, 2, 3]).separated == 3
