"""The typed frame: the same columns of the same types for any input."""

import polars as pl
import pytest

from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.scores import select
from riskrank.scores.table.typed_rows import COLUMNS

LONG = {
    "model": ["B ", "A", "B", "A"],
    "sample": ["2.0", "10", "10", "2"],
    "metric": ["m", "m", "m", "m"],
    "score": ["0.5", "nan", "", "x"],
}


def frame_of(*tables, **options):
    return read_frame([FrameSource(table) for table in tables], ReadOptions(**options))


def plain(scores, *columns):
    """Return rows of some columns, with names as text."""
    return scores.frame.select(pl.col(columns)).rows()


def test_names_are_cleaned_and_missing_scores_have_a_state():
    scores = frame_of(LONG)
    assert tuple(scores.frame.columns) == COLUMNS
    assert (scores.models, scores.samples, scores.metrics) == (("A", "B"), ("10", "2"), ("m",))
    assert plain(scores, "model", "sample") == [("B", "2"), ("A", "10"), ("B", "10"), ("A", "2")]
    assert scores.frame["state"].to_list() == [0, 2, 1, 4]
    assert scores.frame["row"].to_list() == [0, 1, 2, 3]
    for role in ("draw", "cluster", "group"):
        assert scores.frame.schema[role] == pl.Null
    assert scores.cell_text(3) == "x"


def test_wide_rows_are_split_by_metric():
    table = {"model": ["A", "B"], "sample": [1, 1], "y": [1, 2], "x": [3.0, 4.0], "text": ["a", "b"]}
    scores = frame_of(table, wide=True)
    assert plain(scores, "row", "draw", "model", "metric", "score") == [
        (0, 0, "A", "x", 3.0),
        (0, 0, "A", "y", 1.0),
        (1, 1, "B", "x", 4.0),
        (1, 1, "B", "y", 2.0),
    ]
    assert scores.frame.schema["state"] == pl.Null
    assert not scores.notes.draw_column


@pytest.mark.parametrize("wide", [False, True])
def test_files_are_concatenated_with_shared_names(wide):
    first = {"model": ["C", "A"], "sample": ["s", "t"], "metric": ["p", "p"], "score": [1.0, 2.0]}
    second = {"model": ["B"], "sample": ["t"], "metric": ["a"], "score": [None]}
    if wide:
        first = {"model": ["C", "A"], "sample": ["s", "t"], "p": [1.0, 2.0]}
        second = {"model": ["B"], "sample": ["t"], "a": [0.5], "p": [None]}
    scores = frame_of(first, second, wide=wide, metric=("a", "p") if wide else ())
    assert scores.models == ("A", "B", "C")
    assert scores.metrics == ("a", "p")
    assert scores.frame["row"].unique().to_list() == [0, 1, 2]
    last = scores.frame.row(-1, named=True)
    assert (last["model"], last["sample"], last["state"]) == ("B", "t", 1)
    assert scores.location(scores.frame.height - 1).endswith(f"row 1, column {'p' if wide else 'score'}")


def test_selection_keeps_the_remaining_names():
    selected = select(frame_of(LONG, models=("B",)))
    assert (selected.models, selected.samples) == (("B",), ("10", "2"))
    assert selected.frame["row"].to_list() == [0, 2]
    assert selected.location(1) == "frame: row 3, column score"
    columns = {**LONG, "model": ["A", "B", "B", "B"]}
    narrow = select(frame_of(columns, models=("A",)))
    assert narrow.samples == ("2",)
    assert narrow.frame.schema["state"] == pl.Null
