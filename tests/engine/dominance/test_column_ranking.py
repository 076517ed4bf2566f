"""Rank sets of a complete study, compared with every truth that agrees with its tests, for each method."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from riskrank.engine.dominance.column_ranking import is_best_on_sample, model_win_rate, per_sample_win_rate
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.dominance.helpers import study_ranking

ABSOLUTE = {
    "FSD(0.25)": Claim(1, "absolute", 0.25),
    "SSD(0.25)": Claim(2, "absolute", 0.25),
    "SSD(0.5)": Claim(2, "absolute", 0.5),
    "FSD(0.6)": Claim(1, "absolute", 0.6),
    "SSD(0.9)": Claim(2, "absolute", 0.9),
}
CLAIMS = [*ABSOLUTE.values(), Claim(1), Claim(2)]
TESTS = [Inference(variance="clt"), Inference(resamples=1000)]


def scores(n=150):
    """Return one model that clearly leads, one that is clearly last, and two that hardly differ."""
    rng = np.random.default_rng(3)
    means = np.array([0.25, 1.2, 0.3, -0.8])[:, None]
    return ClusteredScores.build(list(rng.normal(size=(4, n)) + means))


def consistent_truths(beats, exclusive):
    """Return the wins of every truth that agrees with the verdicts, shape (truths, k)."""
    k = len(beats)
    open_pairs = [(i, j) for i in range(k) for j in range(k) if i != j and not beats[i, j]]
    for outcome in product([False, True], repeat=len(open_pairs)):
        truth = beats.copy()
        for pair, true in zip(open_pairs, outcome, strict=True):
            truth[pair] = true
        if not (exclusive and (truth & truth.T).any()):
            yield truth.sum(axis=1)


@pytest.mark.parametrize("inference", TESTS, ids=["clt", "bootstrap"])
@pytest.mark.parametrize("name", ABSOLUTE)
def test_rank_sets_of_absolute_methods_against_every_truth(name, inference):
    study = study_ranking(scores(), CLAIMS, inference)
    ranking = study.rankings[name]
    tests = study.tests_for(name)
    assert tests.claim == ABSOLUTE[name]
    assert tests.dominates.any()
    wins = np.array([*consistent_truths(tests.dominates, exclusive=ABSOLUTE[name].threshold <= 0.5)])
    # Relations that hold in every truth; [i, j] is "i wins more often than j".
    certain = (wins[:, :, None] > wins[:, None, :]).all(axis=0)
    assert ranking.rank_low.tolist() == (1 + certain.sum(axis=0)).tolist()
    assert ranking.rank_high.tolist() == (4 - certain.sum(axis=1)).tolist()
    assert ranking.wins.tolist() == tests.dominates.sum(axis=1).tolist()
    assert (ranking.rank_low <= ranking.rank).all()
    assert (ranking.rank <= ranking.rank_high).all()


@pytest.mark.parametrize("inference", TESTS, ids=["clt", "bootstrap"])
@pytest.mark.parametrize("by_wins", [False, True])
def test_rank_sets_of_relative_methods_count_wins_and_losses(inference, by_wins):
    study = study_ranking(scores(), CLAIMS, inference, by_wins=by_wins)
    for name in ("R-FSD", "R-SSD"):
        beats, ranking = study.tests_for(name).dominates, study.rankings[name]
        assert beats.any()
        assert ranking.rank_low.tolist() == (1 + beats.sum(axis=0)).tolist()
        assert ranking.rank_high.tolist() == (4 - beats.sum(axis=1)).tolist()
        wins = beats.sum(axis=1)
        key = -wins if by_wins else ranking.score
        assert ranking.rank.tolist() == [1 + sum(key < score) for score in key]
        # Two models are tied by wins, none by violation ratios.
        assert len(set(ranking.rank.tolist())) == (3 if by_wins else 4)


def test_possible_mutual_wins_widen_rank_sets():
    """With thresholds above ½ two models may beat each other, so three wins do not bound the rank."""
    clear = ClusteredScores.build([np.arange(40.0) + 100 * model for model in range(4)])
    claims = [Claim(2, "absolute", tau) for tau in (0.5, 0.51)]
    study = study_ranking(clear, claims, Inference(variance="clt"))
    strict, lax = study.rankings["SSD(0.5)"], study.rankings["SSD(0.51)"]
    for ranking in (strict, lax):
        assert ranking.wins.tolist() == [0, 1, 2, 3]
        assert ranking.rank.tolist() == [4, 3, 2, 1]
    assert strict.rank_low.tolist() == strict.rank_high.tolist() == [4, 3, 2, 1]
    assert lax.rank_low.tolist() == [1, 1, 1, 1]
    assert lax.rank_high.tolist() == [4, 4, 4, 4]


def test_without_a_test_there_are_no_rank_sets():
    study = study_ranking(scores(), CLAIMS, Inference(test=False))
    for ranking in study.rankings.values():
        assert ranking.rank_low is ranking.rank_high is ranking.tier is None
    tested = study_ranking(scores(), CLAIMS, TESTS[0])
    for name in ("MWR", "MWR(sample)", "MWR(pairwise)"):
        assert tested.rankings[name].rank_low is None


tables = st.tuples(st.integers(2, 5), st.integers(1, 8)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 3).map(float))
)


@given(tables)
def test_win_rates_against_loops(table):
    k, n = table.shape
    means = table.mean(axis=1)
    model = [sum(means[j] <= means[i] for j in range(k) if j != i) / (k - 1) for i in range(k)]
    np.testing.assert_allclose(model_win_rate(means), model)
    best = [[max(table[j, t] for j in range(k) if j != i) <= table[i, t] for t in range(n)] for i in range(k)]
    np.testing.assert_array_equal(is_best_on_sample(table), best)
    for i in range(k):
        for t in range(n):
            rival_scores = [table[j, t] for j in range(k) if j != i]
            share = sum(1.0 if x < table[i, t] else 0.5 if x == table[i, t] else 0.0 for x in rival_scores)
            assert abs(per_sample_win_rate(table)[i, t] - share / (k - 1)) < 1e-12


def test_share_of_samples_with_a_better_score():
    from riskrank.engine.dominance.column_ranking import proportion_better

    pair = [np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 4.0, 0.0])]
    assert proportion_better(ClusteredScores.build(pair), 1, 0) == pytest.approx((2 + 0.5) / 4)
    assert proportion_better(ClusteredScores.build(pair), 0, 1) == pytest.approx(1 - (2 + 0.5) / 4)
    assert proportion_better(ClusteredScores.build(pair, paired=False), 0, 1) is None
