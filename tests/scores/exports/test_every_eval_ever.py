"""Every Eval Ever: rows of instances, filters behind a slash, directions of the aggregate beside them."""

import json

import pytest

from riskrank.errors import InputError, UsageError
from riskrank.scores.exports.interface import ExportRules
from riskrank.scores.exports.registry import read_export


def row(sample, score, name="parity", model="org/a", result=None, **metadata):
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "model_id": model,
        "evaluation_name": name,
        "evaluation_result_id": result,
        "sample_id": sample,
        "evaluation": {"score": score, "is_correct": None},
        "metadata": metadata,
    }


def result(name, score, lower=False, id=None, count=None):
    details = {"score": score} | ({} if count is None else {"uncertainty": {"num_samples": count}})
    return {
        "evaluation_name": name,
        "evaluation_result_id": id,
        "metric_config": {"lower_is_better": lower},
        "score_details": details,
    }


@pytest.fixture
def write(tmp_path):
    def to_file(rows, results=None, name="u"):
        path = tmp_path / f"{name}_samples.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in rows))
        if results is not None:
            (tmp_path / f"{name}.json").write_text(json.dumps({"evaluation_results": results}))
        return path

    return to_file


def read(*paths, name="every-eval-ever", **rules):
    return read_export(name, [str(path) for path in paths], ExportRules(**rules))


def test_rows_and_their_direction(write):
    path = write([row("0", 1.0), row("1", 0)], [result("parity", 0.5, lower=True)])
    export = read(path.parent, name="auto")
    assert export.rows.select("model", "sample", "metric", "score").rows() == [
        ("org/a", "parity/0", "parity", 1.0),
        ("org/a", "parity/1", "parity", 0.0),
    ]
    assert export.directions == {"parity": "lower"}
    assert export.notes == ()


@pytest.mark.parametrize("version", ["0.2.1", "instance_level_eval_0.2.2", "0.3.0"])
def test_every_version_and_no_aggregate(write, version):
    export = read(write([row("0", 0.75) | {"schema_version": version}]))
    assert export.rows["score"].to_list() == [0.75]
    assert export.directions == {}


def test_of_several_metrics_under_one_name_the_mean_tells_which(write):
    rows = [row("0", 1.0), row("1", 0.0), row("2", 0.0)]
    several = [result("parity", 1 / 3), result("parity", 0.7), result("parity", 0.2, lower=True)]
    assert read(write(rows, several)).directions == {"parity": "higher"}
    doubtful = [result("parity", 1 / 3), result("parity", 1 / 3, lower=True)]
    assert read(write(rows, doubtful)).directions == {}


def test_filters_behind_a_slash_are_asked_for(write):
    rows = [row("0", value, f"sums/{name}", filter=name) for name, value in (("strict", 0.0), ("loose", 1.0))]
    path = write([*rows, row("0", 0.5, "a/b")])
    with pytest.raises(UsageError, match="evaluation sums: several filters"):
        read(path)
    export = read(path, filters=("loose",))
    assert dict(zip(export.rows["metric"], export.rows["score"], strict=True)) == {
        "sums/loose": 1.0,
        "a/b": 0.5,
    }
    assert set(read(path, filters=("*",)).rows["sample"]) == {"sums/0", "a/b/0"}
    assert read(path, metrics=("a/b",)).rows["metric"].to_list() == ["a/b"]


def test_several_results_of_one_evaluation_are_several_metrics(write):
    rows = [row("0", 1.0, result="acc"), row("0", 0.25, result="f1")]
    assert set(read(write(rows)).rows["metric"]) == {"parity acc", "parity f1"}


def test_a_sample_that_comes_again_is_a_draw(write):
    assert read(write([row("0", 1.0), row("0", 0.0)])).rows["draw"].to_list() == ["1", "2"]


def test_metrics_that_were_no_scalars_do_not_count_as_0(write):
    pair = json.dumps({"word_perplexity": [-48.8, 8]})
    export = read(write([row("0", 0.0, "texts", lm_eval_metrics=pair), row("0", 1.0)]))
    assert export.rows["metric"].to_list() == ["parity"]
    assert "texts: values left out that are lists" in export.notes[0]


def test_what_is_missing_is_counted(write):
    rows = [row("0", None), row("1", 1.0), row("2", "high"), row("3", 1.0) | {"error": "timeout"}]
    export = read(write(rows, [result("parity", 0.5, count=100)]))
    assert export.rows["score"].to_list() == [None, 1.0, 1.0]
    text = "\n".join(export.notes)
    for expected in (
        "rows with an error: 1",
        "rows without a score: 1",
        "are text, not scores: 1",
        "has 2 of 100",
    ):
        assert expected in text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": "0.3.0"}'])
def test_rows_that_are_none_are_named_or_left_out(write, tmp_path, text):
    good = write([row("0", 1.0)], name="good")
    bad = tmp_path / "bad_samples.jsonl"
    bad.write_text(text)
    with pytest.raises(InputError) as error:
        read(bad, good)
    assert "bad_samples.jsonl" in error.value.what
    export = read(bad, good, skip_bad=True)
    assert export.rows.height == 1
    assert "bad_samples.jsonl" in "\n".join(export.notes)


def test_results_of_one_evaluation_are_metrics_of_their_own(write):
    rows = [row("0", 0.5, result="f1"), row("0", 1.0, result="em"), row("0", 0.25, name="b", result="only")]
    found = read(write([*rows, row("1", 0.0)]))
    assert set(found.rows.select("sample", "metric", "score").rows()) == {
        ("parity/0", "parity f1", 0.5),
        ("parity/0", "parity em", 1.0),
        ("parity/1", "parity", 0.0),
        ("b/0", "b", 0.25),
    }
