"""Guessed roles of columns: identifiers, and columns that explain repeated rows."""

import itertools

import numpy as np
import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.names.vocabulary import looks_like_an_identifier
from riskrank.scores.table.score_table import read_scores

RNG = np.random.default_rng(0)


def table(**columns):
    """Return two models on five questions with two rows each; other columns vary within a question."""
    rows = [(m, q, r) for m in "AB" for q in range(5) for r in range(2)]
    frame = {"model": [r[0] for r in rows], "sample": [f"q{r[1]}" for r in rows], "metric": ["acc"] * 20}
    frame["score"] = RNG.normal(size=20).tolist()
    return frame | {name: [values[r[2]] for r in rows] for name, values in columns.items()}


def hint(frame, /, **options):
    with pytest.raises(InputError) as caught:
        read_scores([FrameSource(frame)], ReadOptions(**options))
    return caught.value.lines(flags=True)[2]


@pytest.mark.parametrize("name", ["seed", "run", "runId", "trial_no", "epoch", "fold"])
def test_runs_are_suggested_as_draws(name):
    text = hint(table(**{name: [1, 2]}))
    assert f"--columns draw={name} --repeats draws" in text
    assert "mean" not in text
    read = read_scores(
        [FrameSource(table(**{name: [1, 2]}))], ReadOptions(columns=f"draw={name}", repeats="draws")
    )
    assert read.has_repeats


def test_hint_includes_the_set_roles():
    columns = table(seed=[1, 2])
    columns["system"] = columns.pop("model")
    assert "--columns model=system,draw=seed" in hint(columns, columns="model=system")


def test_hint_names_all_explaining_columns_runs_first():
    text = hint(table(turn=[1, 2], judge=["x", "y"], seed=[1, 2]))
    assert "column 'seed' distinguishes the duplicates (also 'judge', 'turn')" in text
    assert "draw=seed" in text


@pytest.mark.parametrize("extra", [{}, {"note": ["same", "same"]}])
def test_unexplained_repeats_may_be_averaged(extra):
    assert "--repeats mean" in hint(table(**extra))


def test_unique_columns_do_not_explain_repeats():
    columns = table()
    columns["uuid"] = [f"row{at}" for at in range(20)]
    columns["seconds"] = [0.1 * at for at in range(20)]
    assert "--repeats mean" in hint(columns)


def test_repeats_in_wide_tables_and_files_are_explained():
    columns = table(seed=[1, 2])
    del columns["metric"]
    assert "draw=seed" in hint(columns, wide=True)
    frame = pl.DataFrame(table(seed=[1, 2]))
    halves = [frame.filter(pl.col("seed") == seed) for seed in (1, 2)]
    with pytest.raises(InputError) as caught:
        read_scores([FrameSource(half) for half in halves], ReadOptions())
    assert "draw=seed" in caught.value.lines(flags=True)[2]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("seed", [1, 2, 1], True),
        ("sampleId", ["7", "9", "7"], True),
        ("n_count", [3, 3, 4], True),
        ("x", [*range(4, 16)], True),
        ("x", [4, 5, 6, 7], False),
        ("x", [1_700_000_000 + 7 * at * at for at in range(12)], True),
        ("x", [5, 1, 9], False),
        ("x", [0, 1, 0, 1], False),
        ("seed", [0.5, 0.25], False),
        ("accuracy", [0.5, 0.25], False),
        ("seed", ["a", "b"], False),
        ("width", [3, 3, 4], False),
        ("x", [float(at) for at in range(12)], True),
    ],
)
def test_identifiers(name, values, expected):
    assert looks_like_an_identifier(name, pl.Series(name, values)) == expected


def several(**columns):
    """Return two models on five questions, scored once for every combination of values."""
    rows = [
        (m, q, *values) for m in "AB" for q in range(5) for values in itertools.product(*columns.values())
    ]
    frame = {"model": [r[0] for r in rows], "sample": [f"q{r[1]}" for r in rows]}
    frame |= {"metric": ["acc"] * len(rows), "score": RNG.normal(size=len(rows)).tolist()}
    return frame | {name: [r[2 + at] for r in rows] for at, name in enumerate(columns)}


def test_fractional_settings_explain_repeats():
    text = hint(several(temperature=[0.0, 0.7]))
    assert "--where 'temperature = 0.0'" in text
    assert "mean" not in text


def test_timestamps_are_runs_without_a_filter():
    columns = table()
    columns["timestamp"] = [f"2024-01-{1 + at % 2:02d}T10:{at // 2 % 5:02d}" for at in range(20)]
    text = hint(columns)
    assert "--columns draw=timestamp --repeats draws" in text
    assert "--where" not in text
    assert "mean" not in text


@pytest.mark.parametrize(("words", "refused"), [(6, True), (8, True), (9, False), (10, False)])
def test_mixed_columns_are_refused_as_metrics(words, refused):
    """A column with at least 20 % numbers may be a metric with failures."""
    cells = ["failed"] * words + ["0.5"] * (10 - words)
    frame = {"model": ["A"] * 5 + ["B"] * 5, "sample": [*range(5), *range(5)], "f1": cells}
    frame["acc"] = [0.1 * at for at in range(10)]
    if refused:
        with pytest.raises(InputError, match="column 'f1' contains numbers and text"):
            read_scores([FrameSource(frame)], ReadOptions(wide=True))
    else:
        metrics = read_scores([FrameSource(frame)], ReadOptions(wide=True)).metrics
        assert [spec.name for spec in metrics] == ["acc"]


def test_error_lists_example_values():
    frame = {"model": list("AABB"), "sample": [1, 2, 1, 2], "acc": [0.1] * 4, "note": ["x", "y", "z", "x"]}
    with pytest.raises(InputError) as caught:
        read_scores([FrameSource(frame)], ReadOptions(wide=True, metric=("note",)))
    assert caught.value.found == "values such as 'x', 'y'"
