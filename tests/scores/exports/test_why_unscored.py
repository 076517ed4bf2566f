"""Why a row has no score, and between which scores a metric lies: what exports tell themselves."""

import json

import polars as pl
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.scores.table.score_table import read_scores
from tests.scores.exports.helpers import assert_long, read, write_json, write_lines


def reasons(export, metric):
    """The reason by sample, of rows of a metric without a score."""
    rows = export.rows.filter(pl.col("metric") == metric, pl.col("score").is_null())
    return dict(rows.select("sample", "unscored").rows())


def sample(place, *, value=None, **more):
    scores = {} if value is None else {"match": {"value": value}}
    return {"id": place, "epoch": 1, "scores": scores, "metadata": {"unscored": "mine"}} | more


def log(path, model, *samples):
    about = {"task": "t", "model": model, "created": "2026", "eval_id": model}
    return write_json(path, {"version": 2, "status": "success", "eval": about, "samples": list(samples)})


FILTERED = {"choices": [{"stop_reason": "content_filter"}]}


@pytest.fixture
def logs(tmp_path):
    log(
        tmp_path / "a.json",
        "a",
        sample(1, value="C"),
        sample(2, error={"message": "late"}),
        sample(3, limit={"type": "token", "limit": 10}),
        sample(4, output=FILTERED),
        sample(5),
    )
    log(tmp_path / "b.json", "b", *(sample(at, value="I") for at in range(1, 6)))
    return tmp_path


def test_inspect(logs):
    export = read("inspect", logs)
    assert_long(export)
    assert reasons(export, "match") == {"t/2": "error", "t/3": "limit", "t/4": "refusal", "t/5": None}
    assert export.bounds == {"match": (0.0, 1.0)}
    # Metadata of that name stay apart.
    assert set(export.rows["metadata_unscored"]) == {"mine"}


def test_a_run_with_errors_is_gated_on_all_its_samples(logs):
    table = read_scores([str(logs)], ReadOptions(from_="inspect", missing="worst", allow_constant=True))
    (told,) = (one for one in table.scored if one.lacks)
    assert (told.said, len(table.samples)) == ("1 of 5 (1 error, 1 limit, 1 refusal)", 5)
    assert table.values[0][:, 0].tolist() == [1, 0, 0, 0, 0]


def test_numbers_that_are_no_grades_have_no_bounds(tmp_path):
    log(tmp_path / "a.json", "a", sample(1, value=0.5), sample(2, value=1))
    log(tmp_path / "b.json", "b", sample(1, value=True), sample(2, value=False))
    assert read("inspect", tmp_path).bounds == {}
    (tmp_path / "a.json").unlink()
    assert read("inspect", tmp_path).bounds == {"match": (0.0, 1.0)}


def test_promptfoo(tmp_path):
    def row(test, provider, **more):
        about = {"promptIdx": 0, "provider": {"id": provider}, "vars": {"q": test}, "prompt": {"label": "p"}}
        scored = {"score": 1, "success": True, "namedScores": {"exact": 1}, "failureReason": 0}
        return about | scored | more

    none = {"namedScores": {}, "score": 0, "success": False}
    rows = [
        row(1, "a"),
        row(2, "a", **none, failureReason=2),
        row(3, "a", **none, response={"isRefusal": True}),
        *(row(at, "b") for at in (1, 2, 3)),
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": rows}}))
    export = read("promptfoo", path)
    assert reasons(export, "exact") == {"q=2": "error", "q=3": "refusal"}
    # An error counts 0 in the score, as in promptfoo.
    assert export.rows.filter(metric="score")["score"].null_count() == 0
    assert export.bounds == {"success": (0.0, 1.0)}


def test_deepeval(tmp_path):
    cases = [
        {"name": "x", "success": True, "metricsData": [{"name": "Exact", "score": 1.0}]},
        {"name": "y", "success": False, "metricsData": [{"name": "Exact", "error": "timed out"}]},
    ]
    path = tmp_path / ".latest_test_run.json"
    write_json(path, {"testRunData": {"testCases": cases, "hyperparameters": {"model": "m"}}})
    export = read("deepeval", path)
    assert reasons(export, "Exact") == {"y": "error"}
    assert export.bounds == {"success": (0.0, 1.0)}


def answer(doc, score, response="r", **more):
    return {
        "doc_id": doc,
        "doc": {},
        "resps": [[response]],
        "filter": "none",
        "metrics": ["exact_match", "f1"],
        "exact_match": score,
        "f1": 0.5,
    } | more


def test_lm_eval(tmp_path):
    path = tmp_path / "samples_t_2026-01-02T03-04-05.678901.jsonl"
    write_lines(path, [answer(0, 1), answer(1, None, ""), answer(2, None), answer(3, 0, "")])
    export = read("lm-eval", path, model_from_path="(samples)")
    assert_long(export)
    assert reasons(export, "exact_match") == {"t/1": "empty response", "t/2": None}
    assert export.bounds == {"exact_match": (0.0, 1.0)}
    told = "empty responses, whose score counts as in lm-eval: 2"
    assert told in export.notes
    # Rows that are read at once tell the same.
    write_lines(path, [answer(0, 1), answer(1, 0, ""), answer(2, 1), answer(3, 0, "")])
    again = read("lm-eval", path, model_from_path="(samples)")
    assert told in again.notes
    assert "unscored" not in again.rows.columns


def test_labels_agree_on_bounds_or_have_none(tmp_path):
    for name, values in (("a", ("C", "I")), ("b", (0.5, 2.0))):
        log(tmp_path / f"{name}.json", name, *(sample(at, value=value) for at, value in enumerate(values)))
    paths = [f"{name}={tmp_path / name}.json" for name in "ab"]
    assert read("inspect", *paths).bounds == {}
    assert read("inspect", paths[0]).bounds == {"match": (0.0, 1.0)}
