"""DeepEval's test runs: errors have no score, thresholds tell directions."""

import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import assert_long, mean, only_reader_of, read, scores, write_json


def metric(name, score, success, threshold=0.5, **more):
    found = {"name": name, "threshold": threshold, "success": success, "evaluationModel": "the-judge"} | more
    return found if score is None else found | {"score": score}


def run(model, *cases, conversations=()):
    parameters = {"hyperparameters": {"model": model}} if model else {}
    return {"testRunData": {"testCases": list(cases), "conversationalTestCases": conversations, **parameters}}


def case(name, success, *metrics):
    return {"name": name, "input": "?", "success": success, "metricsData": list(metrics)}


def test_scores_of_a_run(tmp_path):
    value = run(
        "careful",
        case("sum-0", True, metric("Exact", 1, True), metric("Toxicity", 0.1, True)),
        case("sum-1", False, metric("Exact", 0.2, False), metric("Toxicity", None, False, error="timed out")),
        conversations=[case("talk", False, metric("Exact", 0.5, True), metric("Toxicity", 0.9, False))],
    )
    path = write_json(tmp_path / ".latest_test_run.json", value)
    assert only_reader_of(path) == "deepeval"
    export = read("deepeval", tmp_path)
    assert_long(export)
    assert scores(export) == {
        ("careful", "sum-0", "Exact"): 1.0,
        ("careful", "sum-0", "Toxicity"): 0.1,
        ("careful", "sum-0", "success"): 1.0,
        ("careful", "sum-1", "Exact"): 0.2,
        ("careful", "sum-1", "Toxicity"): None,
        ("careful", "sum-1", "success"): 0.0,
        ("careful", "talk", "Exact"): 0.5,
        ("careful", "talk", "Toxicity"): 0.9,
        ("careful", "talk", "success"): 0.0,
    }
    assert mean(export, metric="Toxicity") == 0.5
    assert export.directions == {"Exact": "higher", "Toxicity": "lower", "success": "higher"}
    assert any("error: 1" in note for note in export.notes)


def test_at_the_threshold_nothing_tells_the_direction(tmp_path):
    value = run("m", case("a", True, metric("Exact", 0.5, True)), case("b", True, metric("Exact", 0.5, True)))
    export = read("deepeval", write_json(tmp_path / "r.json", value))
    assert export.directions == {"success": "higher"}


def test_the_judge_is_not_the_model(tmp_path):
    path = write_json(tmp_path / "r.json", run(None, case("a", True, metric("Exact", 1, True))))
    with pytest.raises(InputError, match="does not say which model"):
        read("deepeval", path)
    assert read("deepeval", f"mine={path}").rows["model"].unique().to_list() == ["mine"]
    found = read("deepeval", path, model_from_path=r"/([^/]+)\.json$").rows["model"].unique().to_list()
    assert found == ["r"]


def test_runs_without_cases_and_of_another_shape(tmp_path):
    with pytest.raises(InputError, match="no test cases"):
        read("deepeval", write_json(tmp_path / "r.json", run("m")))
    with pytest.raises(InputError, match="testCases is not a list of objects"):
        read("deepeval", write_json(tmp_path / "s.json", {"testRunData": {"testCases": {"a": 1}}}))
    with pytest.raises(InputError, match="is not a JSON object"):
        read("deepeval", write_json(tmp_path / "t.json", [1]))
