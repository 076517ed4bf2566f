"""Suggested commands: they fit the table, read it with the same options, and run as printed."""

import shlex

import numpy as np
import pytest

from riskrank.options.interfaces import flag_arguments
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.inspection import inspect_scores
from riskrank.studies.check.study import check, suggest_commands


def suggested_commands(columns, **options):
    report = inspect_scores([FrameSource(columns)], ReadOptions(**options))
    return [shlex.split(suggestion.command)[1:] for suggestion in suggest_commands(report)]


def command_names(lines):
    return [line[0] for line in lines]


def test_a_table_of_several_models_samples_and_metrics(scores):
    lines = suggested_commands(scores(), higher=("*",))
    assert command_names(lines) == ["rank", "rank", "power", "portfolio", "copa"]
    assert all(line[1:4] == ["SCORES", "--higher", "*"] for line in lines)
    assert "--per-metric" in lines[1]


def test_missing_directions_come_first(scores):
    lines = suggested_commands(scores(metrics=("acc", "latency")))
    assert lines[0] == ["check", "SCORES", "--lower", "latency", "--higher", "acc"]
    assert all(line[2:6] == lines[0][2:] for line in lines)
    half = suggested_commands(scores(metrics=("acc", "latency", "f1")), lower=("latency",))
    assert half[0] == ["check", "SCORES", "--lower", "latency", "--higher", "acc,f1"]
    both = suggested_commands(scores(metrics=("acc", "latency", "f1")), higher=("acc",))
    assert both[0] == ["check", "SCORES", "--lower", "latency", "--higher", "acc,f1"]
    commands = suggested_commands(scores(metrics=tuple(f"m{at}" for at in range(9))))
    assert commands[0][2:] == ["--higher", "*"]


def test_two_models_suggest_dominance(scores):
    assert "dominance" in command_names(suggested_commands(scores(models="AB")))
    assert "dominance" not in command_names(suggested_commands(scores(models="ABC")))


def test_single_metric_suggests_no_portfolio(scores):
    assert command_names(suggested_commands(scores(metrics=("acc",)), higher=("acc",))) == ["rank", "power"]


def test_few_samples_get_no_tests(scores):
    lines = suggested_commands(scores(n=9), higher=("*",))
    assert lines[0][0] == "rank"
    assert "--no-test" in lines[0]
    assert "power" not in command_names(lines)
    assert "--no-test" not in suggested_commands(scores(n=10), higher=("*",))[0]


def test_aggregate_rows_suggest_copa():
    table = {"model": ["A", "B", "C"], "acc": [1.0, 2, 3.5], "cost": [3.0, 2, 1.5]}
    lines = suggested_commands(table, wide=True)
    assert lines[0] == ["check", "SCORES", "--wide", "--lower", "cost", "--higher", "acc"]
    assert command_names(lines) == ["check", "copa"]
    assert (
        suggested_commands({name: table[name] for name in ("model", "acc")}, wide=True, higher=("acc",)) == []
    )


def test_repeated_models_need_a_sample_column():
    with pytest.raises(Exception, match="missing column 'sample'"):
        suggested_commands({"model": ["A", "A", "B"], "acc": [1.0, 2, 3]}, wide=True)


@pytest.mark.parametrize(
    ("values", "ordinal"),
    [((1, 2, 3, 4, 5), True), ((0, 1), False), ((1, 2, 3.5), False), (range(40), False), ((1, 5, 90), True)],
)
def test_ratings_suggest_gsd(scores, values, ordinal):
    columns = scores(models="AB", metrics=("acc", "stars"))
    values = np.resize(list(values), 80).tolist()
    ratings = iter(values)
    columns["score"] = [
        float(next(ratings)) if metric == "stars" else score
        for metric, score in zip(columns["metric"], columns["score"], strict=True)
    ]
    lines = suggested_commands(columns, higher=("*",))
    assert ("gsd" in command_names(lines)) == ordinal
    if ordinal:
        assert next(line for line in lines if line[0] == "gsd")[-2:] == ["--ordinal", "stars"]


def test_repeats_are_averaged_for_copa_only(scores):
    lines = suggested_commands(scores(draws=3), repeats="draws", higher=("*",))
    for line in lines:
        assert line[line.index("--repeats") + 1] == ("mean" if line[0] == "copa" else "draws")


def test_refused_table_gets_no_suggestions(scores):
    assert suggested_commands(scores(draws=3)) == []
    assert suggested_commands(scores(models="A")) == []


def test_flags_repeat_the_options():
    options = ReadOptions(
        columns="model=a b",
        wide=True,
        where="x > 1",
        missing="drop",
        repeats="min",
        metric=("m", "n"),
        models=("A", 'B, "2"'),
        lower=("m",),
        metrics_file="m.toml",
        max_bytes=5_000_000_000,
        weight={"m": 2.0},
    )
    arguments = flag_arguments(options)
    assert " ".join(arguments[:5]) == "--columns model=a b --wide --where x > 1"
    assert arguments[5:11] == ["--models", 'A,"B, ""2"""', "--metric", "m", "--metric", "n"]
    assert arguments[-8:] == [
        *("--weight", "m=2", "--missing", "drop", "--repeats", "min", "--set", "max-bytes=5000000000")
    ]
    assert flag_arguments(ReadOptions()) == []
    assert "--weight" not in flag_arguments(options, ("weight",))


def test_suggestions_and_variance_are_in_meta(scores):
    document = check(inspect_scores([FrameSource(scores(draws=3))], ReadOptions(repeats="draws")))
    meta = document.meta()
    assert meta["suggestions"][0]["command"].endswith(" --repeats draws")
    assert len(meta["variance"]) == 3 * 2
    assert {entry["runs"] for entry in meta["variance"]} == {3.0}
    assert check(inspect_scores([FrameSource(scores())], ReadOptions())).meta()["variance"] == []
