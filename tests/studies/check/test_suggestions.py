"""The commands a table is told: they fit it, read it as it was read, and run as they stand."""

import shlex

import numpy as np
import pytest

from riskrank.options.flags import flags
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.inspection import inspect_scores
from riskrank.studies.check.study import check
from riskrank.studies.check.suggestions import suggestions


def told(columns, **options):
    report = inspect_scores([FrameSource(columns)], ReadOptions(**options))
    return [shlex.split(one.command)[1:] for one in suggestions(report)]


def named(lines):
    return [line[0] for line in lines]


def test_a_table_of_several_models_samples_and_metrics(scores):
    lines = told(scores(), higher=("*",))
    assert named(lines) == ["rank", "rank", "power", "portfolio", "copa"]
    assert all(line[1:4] == ["SCORES", "--higher", "*"] for line in lines)
    assert "--per-metric" in lines[1]


def test_directions_nobody_gave_come_first(scores):
    lines = told(scores(metrics=("acc", "latency")))
    assert lines[0] == ["check", "SCORES", "--lower", "latency", "--higher", "acc"]
    assert all(line[2:6] == lines[0][2:] for line in lines)
    half = told(scores(metrics=("acc", "latency", "f1")), lower=("latency",))
    assert half[0] == ["check", "SCORES", "--lower", "latency", "--higher", "acc,f1"]
    both = told(scores(metrics=("acc", "latency", "f1")), higher=("acc",))
    assert both[0] == ["check", "SCORES", "--lower", "latency", "--higher", "acc,f1"]
    many = told(scores(metrics=tuple(f"m{at}" for at in range(9))))
    assert many[0][2:] == ["--higher", "*"]


def test_two_models_are_tested_against_each_other(scores):
    assert "dominance" in named(told(scores(models="AB")))
    assert "dominance" not in named(told(scores(models="ABC")))


def test_one_metric_is_not_folded(scores):
    assert named(told(scores(metrics=("acc",)), higher=("acc",))) == ["rank", "power"]


def test_few_samples_get_no_tests(scores):
    lines = told(scores(n=9), higher=("*",))
    assert lines[0][0] == "rank"
    assert "--no-test" in lines[0]
    assert "power" not in named(lines)
    assert "--no-test" not in told(scores(n=10), higher=("*",))[0]


def test_one_row_a_model_is_for_copa():
    table = {"model": ["A", "B", "C"], "acc": [1.0, 2, 3.5], "cost": [3.0, 2, 1.5]}
    lines = told(table, wide=True)
    assert lines[0] == ["check", "SCORES", "--wide", "--lower", "cost", "--higher", "acc"]
    assert named(lines) == ["check", "copa"]
    assert told({name: table[name] for name in ("model", "acc")}, wide=True, higher=("acc",)) == []


def test_several_rows_a_model_need_a_sample():
    with pytest.raises(Exception, match="missing column 'sample'"):
        told({"model": ["A", "A", "B"], "acc": [1.0, 2, 3]}, wide=True)


@pytest.mark.parametrize(
    ("values", "ordinal"),
    [((1, 2, 3, 4, 5), True), ((0, 1), False), ((1, 2, 3.5), False), (range(40), False), ((1, 5, 90), True)],
)
def test_ratings_go_to_gsd(scores, values, ordinal):
    columns = scores(models="AB", metrics=("acc", "stars"))
    values = np.resize(list(values), 80).tolist()
    given = iter(values)
    columns["score"] = [
        float(next(given)) if metric == "stars" else score
        for metric, score in zip(columns["metric"], columns["score"], strict=True)
    ]
    lines = told(columns, higher=("*",))
    assert ("gsd" in named(lines)) == ordinal
    if ordinal:
        assert next(line for line in lines if line[0] == "gsd")[-2:] == ["--ordinal", "stars"]


def test_runs_are_kept_and_averaged_for_copa_only(scores):
    lines = told(scores(draws=3), repeats="draws", higher=("*",))
    for line in lines:
        assert line[line.index("--repeats") + 1] == ("mean" if line[0] == "copa" else "draws")


def test_a_refused_table_is_told_nothing(scores):
    assert told(scores(draws=3)) == []
    assert told(scores(models="A")) == []


def test_flags_are_those_that_were_given():
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
    found = flags(options)
    assert " ".join(found[:5]) == "--columns model=a b --wide --where x > 1"
    assert found[5:11] == ["--models", 'A,"B, ""2"""', "--metric", "m", "--metric", "n"]
    assert found[-8:] == [
        *("--weight", "m=2", "--missing", "drop", "--repeats", "min", "--max-bytes", "5000000000")
    ]
    assert flags(ReadOptions()) == []
    assert "--weight" not in flags(options, ("weight",))


def test_they_are_in_meta_and_the_variance_beside_them(scores):
    document = check(inspect_scores([FrameSource(scores(draws=3))], ReadOptions(repeats="draws")))
    meta = document.meta()
    assert meta["suggestions"][0]["command"].endswith(" --repeats draws")
    assert len(meta["variance"]) == 3 * 2
    assert {entry["runs"] for entry in meta["variance"]} == {3.0}
    assert check(inspect_scores([FrameSource(scores())], ReadOptions())).meta()["variance"] == []
