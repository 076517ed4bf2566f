"""SWE-bench and Terminal-Bench: what was resolved, and what has no score for a reason."""

import pytest

from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores, write_json

REPORT = {
    "total_instances": 6,
    "completed_ids": ["i1", "i2", "i9"],
    "submitted_ids": ["i1", "i2", "i3", "i4", "i9"],
    "resolved_ids": ["i9", "i1"],
    "unresolved_ids": ["i2"],
    "empty_patch_ids": ["i3"],
    "error_ids": ["i4"],
    "incomplete_ids": ["i5"],
    "infra_failure_ids": ["i2"],
    "schema_version": 2,
}


def instance_report(folder, model, instance, *, resolved):
    report = {"patch_is_None": False, "patch_successfully_applied": True, "resolved": resolved}
    return write_json(folder / "logs" / "run" / model / instance / "report.json", {instance: report})


def test_instances_of_every_outcome(tmp_path):
    path = write_json(tmp_path / "org__m-4.1.run.json", REPORT)
    instance_report(tmp_path, "org__m", "i1", resolved=True)
    assert only_reader_of(path) == "swe-bench"
    export = read("swe-bench", tmp_path)
    assert_long(export)
    assert scores(export, "unscored") == {
        ("org__m-4.1.run", "i1", "resolved", None): 1.0,
        ("org__m-4.1.run", "i2", "resolved", None): 0.0,
        ("org__m-4.1.run", "i3", "resolved", None): 0.0,
        ("org__m-4.1.run", "i4", "resolved", "error"): None,
        ("org__m-4.1.run", "i5", "resolved", "missing prediction"): None,
        ("org__m-4.1.run", "i9", "resolved", None): 1.0,
    }
    assert export.rows["sample"].is_sorted(), "outcomes are no order of the instances"
    for told in ("empty patches", "ended in an error", "without a prediction", "probably the machine's"):
        assert any(told in note and note.endswith(": 1") for note in export.notes)
    assert (export.directions, export.bounds) == ({"resolved": "higher"}, {"resolved": (0.0, 1.0)})


def test_reports_of_instances(tmp_path):
    path = instance_report(tmp_path, "org__m", "i1", resolved=True)
    instance_report(tmp_path, "other", "i1", resolved=False)
    assert only_reader_of(path) == "swe-bench"
    export = read("swe-bench", tmp_path)
    assert scores(export) == {("org/m", "i1", "resolved"): 1.0, ("other", "i1", "resolved"): 0.0}


def trial(folder, task, reward=1.0, *, failed=None, model="m", name="1"):
    agent = {"name": "terminus-2", "version": "2", "model_info": model and {"name": model, "provider": "org"}}
    result = {
        "task_name": task,
        "trial_name": f"{task}__{name}",
        "source": "terminal-bench",
        "agent_info": agent,
        "agent_result": {"n_input_tokens": 10, "n_cache_tokens": None, "cost_usd": 0.5},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": failed and {"exception_type": failed},
    }
    return write_json(folder / f"{task}__{name}" / "result.json", result)


def test_trials_of_harbor(tmp_path):
    path = trial(tmp_path, "chess")
    trial(tmp_path, "chess", 0.0, failed="AgentTimeoutError", name="2")
    trial(tmp_path, "git", None, failed="EnvironmentStartTimeoutError")
    trial(tmp_path, "git", model=None)
    trial(tmp_path, "git", None, name="2", failed="RuntimeError")
    write_json(tmp_path / "result.json", {"id": "job", "n_total_trials": 5, "stats": {"n_trials": 5}})
    assert only_reader_of(path) == "terminal-bench"
    export = read("terminal-bench", tmp_path)
    assert_long(export)
    assert scores(export, "unscored", "draw") == {
        ("terminus-2/m", "chess", "reward", None, "1"): 1.0,
        ("terminus-2/m", "chess", "reward", None, "2"): 0.0,
        ("terminus-2", "git", "reward", None, "1"): 1.0,
        ("terminus-2/m", "git", "reward", "error", "1"): None,
    }
    assert "trials that ended in an error, with a reward: 1" in export.notes
    assert "trials that ended in an error, without a reward: 1" in export.notes
    assert any("left out: n_input_tokens, cost_usd;" in note for note in export.notes)
    asked = read("terminal-bench", tmp_path, metrics=("reward", "cost_usd"))
    assert asked.directions == {"reward": "higher", "cost_usd": "lower"}


@pytest.mark.parametrize("whole", [True, False])
def test_results_of_its_own_harness(tmp_path, whole):
    for model, right in (("a", True), ("b", False)):
        trials = [
            {"trial_name": f"t{place}", "task_id": f"t{place}", "is_resolved": found, "failure_mode": "unset"}
            for place, found in enumerate((right, None))
        ]
        for one in trials:
            write_json(tmp_path / model / one["task_id"] / "results.json", one)
        if whole:
            path = write_json(tmp_path / model / "results.json", {"results": trials, "n_resolved": 1})
            assert only_reader_of(path) == "terminal-bench"
    given = [tmp_path] if whole else [f"{model}={tmp_path / model}" for model in "ab"]
    export = read("terminal-bench", *given)
    assert scores(export, "unscored") == {
        ("a", "t0", "is_resolved", None): 1.0,
        ("a", "t1", "is_resolved", "error"): None,
        ("b", "t0", "is_resolved", None): 0.0,
        ("b", "t1", "is_resolved", "error"): None,
    }
