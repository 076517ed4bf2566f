"""Vote scores compared with the paper's matrices, manual results, and invalid votes of judges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.portfolio.judge_votes import SPELLINGS, VOTES, normalise_vote, score_votes


@st.composite
def judgements(draw):
    """Draw judgements of each pair at most once per sample, in either order."""
    k, n = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rows = []
    for sample in range(n):
        for i in range(k):
            for j in range(i):
                vote = draw(st.sampled_from([*VOTES, None]))
                if vote is not None:
                    rows.append((sample, *draw(st.permutations([i, j])), vote))
    return k, n, rows


@given(judgements())
def test_scores_match_the_published_matrices(case):
    k, n, rows = case
    if not rows:
        return
    X = np.zeros((n, k, k))
    for sample, i, j, vote in rows:
        if vote == "a":
            X[sample, i, j], X[sample, j, i] = 1, -1
        elif vote == "b":
            X[sample, i, j], X[sample, j, i] = -1, 1
        elif vote != "tie":
            X[sample, i, j] = X[sample, j, i] = 0.5 if vote == "both-good" else -0.5
    expected = (X - X.swapaxes(1, 2)).sum(axis=2)
    result = score_votes(*zip(*rows, strict=True), models=[str(i) for i in range(k)])
    for at, sample in enumerate(result.samples):
        seen = {str(i) for s, i, j, _ in rows for i in (i, j) if str(s) == sample}
        for model in range(k):
            if str(model) in seen:
                assert result.scores[at, model] == expected[int(sample), model]
            else:
                assert np.isnan(result.scores[at, model])
    assert result.judged_pairs == len(rows) == sum(result.vote_counts.values())
    assert result.expected_pairs == len(result.samples) * k * (k - 1) // 2
    assert result.missing_pairs == result.expected_pairs - len(rows)
    assert result.missing_scores == np.isnan(result.scores).sum()
    assert result.opponents.sum() == 2 * len(rows)


def test_hand_computed_votes():
    result = score_votes(
        ["p", "p", "p", "q"], ["x", "x", "y", "x"], ["y", "z", "z", "y"], ["A", "Same good", "[[B]]", "tie"]
    )
    assert result.models == ("x", "y", "z")
    assert result.samples == ("p", "q")
    assert result.scores[0].tolist() == [2, -4, 2]
    assert result.scores[1, :2].tolist() == [0, 0]
    assert np.isnan(result.scores[1, 2])
    assert (result.missing_pairs, result.missing_scores) == (2, 1)
    assert result.vote_counts == {"a": 1, "b": 1, "both-good": 1, "both-bad": 0, "tie": 1}


def test_means_use_the_judged_samples_of_a_model():
    rows = [("1", "A", "B", "a"), ("1", "A", "C", "a"), ("2", "B", "A", "a"), ("3", "C", "B", "tie")]
    result = score_votes(*zip(*rows, strict=True), models=["A", "B", "C", "D"])
    assert result.samples_per_model.tolist() == [2, 3, 2, 0]
    assert result.votes_per_model.tolist() == [3, 3, 2, 0]
    assert result.mean[:3].tolist() == [(4 - 2) / 2, (-2 + 2 + 0) / 3, (-2 + 0) / 2]
    assert np.isnan(result.mean[3])


def test_pair_judged_in_both_orders_counts_once():
    agreed = score_votes([1, 1], ["x", "y"], ["y", "x"], ["a", "b"])
    assert agreed.scores.tolist() == [[2, -2]]
    assert (agreed.judged_pairs, agreed.swapped_pairs, agreed.contradictory_pairs) == (1, 1, 0)
    inconsistent = score_votes([1, 1], ["x", "y"], ["y", "x"], ["a", "a"])
    assert inconsistent.scores.tolist() == [[0, 0]]
    assert (inconsistent.swapped_pairs, inconsistent.contradictory_pairs) == (1, 1)
    half = score_votes([1, 1], ["x", "y"], ["y", "x"], ["a", "tie"])
    assert half.scores.tolist() == [[1, -1]]


@pytest.mark.parametrize("kind", VOTES)
def test_spellings(kind):
    for spelling in SPELLINGS[kind]:
        for text in (spelling, spelling.upper(), f"  {spelling} ", spelling.replace(" ", "_")):
            assert normalise_vote(text) == kind


def test_spellings_of_votes_are_unique():
    spellings = [spelling for kind in VOTES for spelling in SPELLINGS[kind]]
    assert len(set(spellings)) == len(spellings)
