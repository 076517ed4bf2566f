"""Averages of tasks: MTEB's folders, results of lm-eval and lighteval alone; tasks are the samples."""

import pytest

from riskrank.errors import UsageError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores, write_json

DATE = "2026-01-02T03-04-05.678901"


def of_mteb(folder, model, task, named=True, **splits):
    """Results of a task: split → subset → main score."""
    found = {
        split: [
            {"hf_subset": subset, "main_score": score, "accuracy": score / 2, "languages": ["eng-Latn"]}
            for subset, score in subsets.items()
        ]
        for split, subsets in splits.items()
    }
    place = folder / model.replace("/", "__") / "rev"
    if named:
        write_json(place / "model_meta.json", {"name": model, "revision": "rev"})
    whole = {"task_name": task, "mteb_version": "2", "evaluation_time": 33.0, "scores": found}
    return write_json(place / f"{task}.json", whole)


def test_main_scores_of_tasks(tmp_path):
    path = of_mteb(tmp_path, "org/a", "STS", test={"default": 0.75})
    of_mteb(tmp_path, "org/a", "Massive", test={"de": 0.5, "fr": 0.25, "sw": 0.75})
    of_mteb(tmp_path, "org/b", "Massive", named=False, test={"fr": 0.75, "de": 0.25})
    assert only_reader_of(path) == "mteb"
    export = read("mteb", tmp_path)
    assert_long(export)
    assert export.board
    assert scores(export, "revision") == {
        ("org/a", "STS", "main_score", "rev"): 0.75,
        ("org/a", "Massive", "main_score", "rev"): 0.375,
        ("org/b", "Massive", "main_score", "rev"): 0.5,
    }
    assert export.directions == {"main_score": "higher"}
    assert "Massive: subsets that not all models have, left out: sw" in export.notes
    found = read("mteb", tmp_path, metrics=("accuracy",))
    assert set(found.rows["metric"]) == {"accuracy"}
    assert not found.directions


def test_the_split_of_a_task_has_to_be_said(tmp_path):
    of_mteb(tmp_path, "org/a", "One", train={"default": 0.5})
    of_mteb(tmp_path, "org/a", "Two", dev={"default": 0.5}, test={"default": 1.0})
    with pytest.raises(UsageError, match="task Two: several splits"):
        read("mteb", tmp_path)
    found = scores(read("mteb", tmp_path, splits=("test",)))
    assert found == {("org/a", "One", "main_score"): 0.5, ("org/a", "Two", "main_score"): 1.0}


def of_lm_eval(folder, model, **tasks):
    """Results without samples: task → metrics; `whole` is a group of the others."""
    results = {
        name: {"alias": name} | {f"{one},none": score for one, score in found.items()}
        for name, found in tasks.items()
    }
    results = {name: found | {"acc_stderr,none": 0.1} for name, found in results.items()}
    value = {
        "results": results | {"whole": {"acc,none": 0.5}},
        "groups": {"whole": {"acc,none": 0.5}},
        "group_subtasks": {"whole": [*tasks], "arc": []},
        "higher_is_better": {name: dict.fromkeys(found, True) for name, found in tasks.items()},
        "model_name": model,
    }
    return write_json(folder / model / f"results_{DATE}.json", value)


def test_averages_of_lm_eval(tmp_path):
    path = of_lm_eval(tmp_path, "a", arc={"acc": 0.5, "acc_norm": 0.25}, boolq={"acc": 0.75})
    of_lm_eval(tmp_path, "b", arc={"acc": 0.25, "acc_norm": 0.5}, boolq={"acc": 0.5})
    assert only_reader_of(path) == "lm-eval"
    export = read("lm-eval", tmp_path)
    assert_long(export)
    assert export.board
    assert scores(export) == {
        ("a", "arc", "acc"): 0.5,
        ("a", "boolq", "acc"): 0.75,
        ("b", "arc", "acc"): 0.25,
        ("b", "boolq", "acc"): 0.5,
    }
    assert "left out: acc_norm" in export.notes
    assert export.directions == {"acc": "higher"}
    one_a_task = read("lm-eval", tmp_path, metrics=("acc", "arc=acc_norm"))
    assert scores(one_a_task)["a", "arc", "score"] == 0.25
    assert scores(one_a_task)["a", "boolq", "score"] == 0.75
    assert one_a_task.directions == {"score": "higher"}


def test_tasks_without_a_metric_in_common_ask_which_counts(tmp_path):
    of_lm_eval(tmp_path, "a", arc={"acc": 0.5}, gsm8k={"exact_match": 0.25}, boolq={"acc": 0.75})
    with pytest.raises(UsageError, match='metric="acc" metric="gsm8k=exact_match"'):
        read("lm-eval", tmp_path)
    found = read("lm-eval", tmp_path, metrics=("acc", "gsm8k=exact_match"))
    assert set(scores(found)) == {("a", task, "score") for task in ("arc", "gsm8k", "boolq")}


def test_filters_are_chosen_as_of_samples(tmp_path):
    folder = tmp_path / "m"
    results = {"sums": {"exact_match,strict": 0.5, "exact_match,loose": 0.75}}
    write_json(folder / f"results_{DATE}.json", {"results": results, "model_name": "m"})
    with pytest.raises(UsageError, match="task sums: several filters"):
        read("lm-eval", folder)
    assert list(scores(read("lm-eval", folder, filters=("loose",))).values()) == [0.75]


def test_averages_of_lighteval(tmp_path):
    value = {
        "config_general": {"model_name": "org/m"},
        "results": {
            "arc|25": {"acc": 0.5, "acc_stderr": 0.1},
            "mmlu:law|5": {"acc": 0.25},
            "mmlu:_average|5": {"acc": 0.9},
            "all": {"acc": 0.9},
        },
        "config_tasks": {"arc|25": {"metrics": [{"metric_name": "acc", "higher_is_better": True}]}},
    }
    path = write_json(tmp_path / "results" / "org" / "m" / f"results_{DATE}.json", value)
    assert only_reader_of(path) == "lighteval"
    export = read("lighteval", tmp_path)
    assert export.board
    assert scores(export) == {("org/m", "arc|25", "acc"): 0.5, ("org/m", "mmlu:law|5", "acc"): 0.25}
    assert export.directions == {"acc": "higher"}
