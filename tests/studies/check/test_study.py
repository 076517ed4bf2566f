"""The study of tables: one row per metric, and the errors that other commands would raise."""

import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.results import Result
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.check.study import check


def checked(columns, **options):
    return check(inspect_scores([FrameSource(columns)], ReadOptions(**options)))


def scored(columns):
    return zip(columns["metric"], columns["score"], strict=True)


def test_valid_table_has_no_problems(scores):
    columns = scores()
    document = checked(columns, lower=("f1",))
    assert document.refusal is None
    acc, f1 = document.rows
    values = [score for name, score in scored(columns) if name == "acc"]
    assert (acc.metric, acc.n, acc.minimum, acc.maximum) == ("acc", 120, min(values), max(values))
    assert acc.mean == pytest.approx(sum(values) / 120)
    assert acc.distinct == len(set(values))
    assert acc.tied_share == pytest.approx(sum(values.count(score) > 1 for score in values) / 120)
    assert (f1.direction, f1.declared, acc.declared) == ("lower", True, False)
    assert document.meta()["table"]["paired"] is True
    assert document.meta()["problems"] == []


def test_refusal_repeats_the_reader_and_counts_problems(scores):
    columns = scores()
    columns["score"] = [1.0 if name == "f1" else score for name, score in scored(columns)]
    columns["score"][2] = float("nan")
    document = checked(columns)
    problems = document.meta()["problems"]
    with pytest.raises(InputError) as refused:
        read_scores([FrameSource(columns)], ReadOptions())
    remaining = sum(problem["severity"] == "error" for problem in problems) - 1
    assert remaining > 0
    assert (
        document.refusal.problem
        == f"{refused.value.problem} (and {remaining} more problem{'s' * (remaining > 1)})"
    )
    assert (document.refusal.found, document.refusal.hint) == (refused.value.found, refused.value.hint)


def test_warnings_are_on_the_page_and_in_the_provenance(scores):
    document = checked(scores(metrics=("acc", "loss")))
    assert document.refusal is None
    (warning,) = document.provenance.warnings
    assert "loss" in warning
    assert document.includes_warnings
    assert "Warning:" in Result(document).to_text()


def test_counts_are_written_with_their_noun():
    from riskrank.studies.wording import counted

    assert [counted(n, "metric") for n in (0, 1, 2, 2000)] == [
        "0 metrics",
        "1 metric",
        "2 metrics",
        "2,000 metrics",
    ]
