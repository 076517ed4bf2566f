"""Columns that divide the samples: each sample in one group, large groups, no other role."""

import polars as pl
import pytest

from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.inspection import inspect_scores
from riskrank.studies.check.study import suggest_commands


def table(n=40, **columns):
    """Return two models on n samples; a column is a function of model and sample."""
    rows = [(model, number) for model in "AB" for number in range(n)]
    frame = {
        "model": [model for model, _ in rows],
        "sample": [f"q{number}" for _, number in rows],
        "metric": ["acc"] * len(rows),
        "score": [(7 * number % 11) / 10 + (model == "B") for model, number in rows],
    }
    return frame | {name: [function(*row) for row in rows] for name, function in columns.items()}


def divisions(frame, **options):
    return inspect_scores([FrameSource(frame)], ReadOptions(**options)).divisions


@pytest.mark.parametrize(
    ("function", "divides"),
    [
        (lambda model, n: "even" if n % 2 else "odd", True),
        (lambda model, n: n % 4, True),
        (lambda model, n: n % 5, False),  # eight samples a group
        (lambda model, n: "one", False),
        (lambda model, n: f"{model}{n % 2}", False),  # a sample would lie in two groups
        (lambda model, n: 0.5 if n % 2 else 0.25, False),
        (lambda model, n: None if n == 3 else n % 2, False),
        (lambda model, n: [n % 2], False),
    ],
)
def test_columns_that_divide_samples_are_recognised(function, divides):
    frame = table(topic=function)
    assert divisions(frame) == (("topic",) if divides else ())
    assert divisions(frame, unpaired=True) == (("topic",) if divides else ())


def test_at_most_twenty_groups():
    assert divisions(table(n=200, topic=lambda model, n: n % 20)) == ("topic",)
    assert divisions(table(n=210, topic=lambda model, n: n % 21)) == ()


def test_role_columns_and_uneven_tables_do_not_divide():
    frame = table(topic=lambda model, n: n % 2, level=lambda model, n: n % 4)
    assert divisions(frame) == ("topic", "level")
    assert divisions(frame, group_by="level") == ()
    assert divisions(frame, where="level < 2") == ("topic", "level")
    assert divisions({name: values[:-1] for name, values in frame.items()}, missing="drop") == ()


def test_direction_columns_do_not_divide():
    """In a suite of tasks with different metrics, every sample has the direction of its task."""
    columns = table(direction=lambda model, n: "higher" if n % 2 else "lower")
    columns["metric"] = ["acc" if direction == "higher" else "loss" for direction in columns["direction"]]
    columns["task"] = columns["metric"]
    assert divisions(columns) == ()


def test_divisions_must_hold_in_all_files(tmp_path):
    frame = pl.DataFrame(table(topic=lambda model, n: "ab"[n % 2]))
    first, second = str(tmp_path / "a.csv"), str(tmp_path / "b.csv")
    frame.filter(pl.col("model") == "A").write_csv(first)
    frame.filter(pl.col("model") == "B").write_csv(second)
    report = inspect_scores([first, second], ReadOptions(higher=("*",)))
    assert report.divisions == ("topic",)
    (suggestion,) = (entry for entry in suggest_commands(report) if "--group-by" in entry.command)
    assert suggestion.command == f"riskrank rank {first} {second} --higher '*' --group-by topic"
    frame.filter(pl.col("model") == "B").drop("topic").write_csv(second)
    assert inspect_scores([first, second], ReadOptions()).divisions == ()
    # Samples with the same name in different groups would be in two groups.
    moved = frame.filter(pl.col("model") == "B").with_columns(topic=pl.lit("a"))
    moved.write_csv(second)
    assert inspect_scores([first, second], ReadOptions()).divisions == ()
