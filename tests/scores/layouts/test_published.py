"""Leaderboards that publish scores with standard errors, intervals or limits (method §21)."""

import math
from itertools import combinations

import polars as pl
import pytest
from scipy.stats import norm

import riskrank as rr
from riskrank.errors import InputError, UsageError, spell
from riskrank.options.reading import RankReading
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.inspection import inspect_scores
from riskrank.studies.check.study import check

MODELS = ["ant", "bee", "cat", "dog"]
SCORES, ERRORS = [0.82, 0.79, 0.77, 0.6], [0.011, 0.013, 0.012, 0.03]
LIMITS = [
    (x - norm.isf(0.025) * error, x + norm.isf(0.025) * error)
    for x, error in zip(SCORES, ERRORS, strict=True)
]


def board(**columns):
    return pl.DataFrame({"model": MODELS, **columns})


def in_columns(low, high):
    return dict(zip((low, high), zip(*LIMITS, strict=True), strict=True))


def in_texts(template):
    return [
        template.format(low, high, x - low, high - x) for x, (low, high) in zip(SCORES, LIMITS, strict=True)
    ]


# The columns that are read, and those of the table.
WRITTEN = {
    "acc_stderr": {"acc_stderr": ERRORS},
    "standard_error": {"standard_error": ERRORS, "n_total": [805] * 4},
    "ci_lower,ci_upper": in_columns("ci_lower", "ci_upper"),
    "acc_q025,acc_q975": in_columns("acc_q025", "acc_q975"),
    "95% CI": {"95% CI": in_texts("+{2}/-{2}"), "votes": [900, 800, 700, 650]},
    "CI": {"CI": in_texts("[{0}, {1}]")},
    "interval CI": {"interval CI": in_texts("{0}–{1}"), "size_b": [7, 7, 70, 7]},
}


def holm(p_values, level=0.05):
    """Return the keys whose hypotheses Holm's method rejects."""
    rejected = set()
    for at, key in enumerate(sorted(p_values, key=p_values.get)):
        if p_values[key] * (len(p_values) - at) > level:
            break
        rejected.add(key)
    return rejected


@pytest.mark.parametrize("names", WRITTEN)
def test_published_errors_are_independent_and_normal(names):
    result = rr.rank(board(acc=SCORES, **WRITTEN[names]))
    assert result.to_dict()["meta"]["settings"]["uncertainty"] == names.split(",")
    gaps = {(i, j): SCORES[i] - SCORES[j] for i, j in combinations(range(4), 2)}
    error = {(i, j): math.hypot(ERRORS[i], ERRORS[j]) for i, j in gaps}
    rejected = holm({pair: 2 * norm.sf(gap / error[pair]) for pair, gap in gaps.items()})
    assert rejected == {*gaps} - {(0, 1), (1, 2)}
    for i, row in enumerate(sorted(result.rows, key=lambda row: row.model)):
        losses, wins = (sum(pair[side] == i for pair in rejected) for side in (1, 0))
        assert (row.mean, row.rank_low, row.rank_high) == (pytest.approx(SCORES[i]), 1 + losses, 4 - wins)
        half = norm.isf(0.05 / 6 / 2) * error[0, i] if i else 0.0
        limits = row.difference_low, row.difference_high
        assert limits == pytest.approx((-gaps.get((0, i), 0) - half, -gaps.get((0, i), 0) + half), abs=1e-9)
    assert "taken as independent normal errors" in result.verdict


def test_errors_of_costs_keep_their_models():
    frame = board(wer=SCORES, wer_se=ERRORS).reverse()
    result = rr.rank(frame, models=["cat", "dog"])
    half = norm.isf(0.025) * math.hypot(*ERRORS[2:])
    assert [row.model for row in result.rows] == ["dog", "cat"]
    assert (result.rows[1].difference_low, result.rows[1].difference_high) == pytest.approx(
        (0.17 - half, 0.17 + half)
    )


@pytest.mark.parametrize(
    "columns",
    [
        {"acc_std": ERRORS},
        {"acc_min": [0.5] * 4, "acc_max": [0.9] * 4},
        {"ci_lower": [0.7] * 4, "ci_upper": [0.8] * 4},
        {"ci": ["none"] * 4},
    ],
)
def test_spreads_and_limits_without_the_score_are_no_uncertainty(columns):
    with pytest.raises(InputError, match="has no samples, so nothing can be tested"):
        rr.rank(board(acc=SCORES, **columns))


def test_a_choice_of_scores_is_offered_with_their_errors():
    frame = board(acc=SCORES, acc_stderr=ERRORS, f1=SCORES[::-1], f1_stderr=ERRORS[::-1])
    with pytest.raises(InputError, match="several possible readings") as caught:
        rr.rank(frame)
    assert [spell(text, flags=True) for text, _ in caught.value.suggestions] == [
        "--wide --metric acc --uncertainty acc_stderr",
        "--wide --metric f1 --uncertainty f1_stderr",
    ]
    assert rr.rank(frame, metric="f1").rows[0].model == "dog"


def test_models_without_uncertainty_are_named():
    with pytest.raises(InputError, match="no published uncertainty of model 'bee'") as caught:
        rr.rank(board(acc=SCORES, acc_stderr=[0.01, None, 0.0, 0.02]))
    assert (
        spell(caught.value.suggestions[0][0], flags=True)
        == "--wide --models ant,dog --metric acc --uncertainty acc_stderr"
    )
    doubled = pl.concat([board(acc=SCORES, acc_stderr=ERRORS)] * 2)
    with pytest.raises(UsageError, match="acc_stderr needs one plain score per model"):
        rr.rank(doubled, wide=True, metric="acc", uncertainty="acc_stderr", repeats="mean")


def test_check_proposes_the_ranking_that_it_tried():
    frame = board(acc=SCORES, acc_stderr=ERRORS)
    document = check(inspect_scores([FrameSource(frame)], RankReading(min_models=1)))
    assert document.verdict == "The table can be used, with 1 warning: 4 models, 1 sample and 1 metric."
    assert document.suggestions[-1].command.endswith("--metric acc --uncertainty acc_stderr --higher acc")
    untested = check(inspect_scores([FrameSource(board(acc=SCORES))], RankReading(min_models=1)))
    assert untested.verdict.startswith("The table can be used for descriptions only")
