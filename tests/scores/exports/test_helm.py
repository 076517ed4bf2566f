"""Runs of HELM: trials are draws, splits and perturbations are asked for, bookkeeping stays out."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError
from riskrank.scores.exports.interface import ExportRules
from riskrank.scores.exports.registry import read_export
from riskrank.scores.table.score_table import read_scores

TYPOS = {
    "name": "misspellings",
    "robustness": True,
    "fairness": False,
    "computed_on": "perturbed",
    "prob": 0.5,
}


def entry(instance, trial=0, split="test", perturbation=None, **stats):
    extra = {} if perturbation is None else {"perturbation": perturbation}
    found = [
        {"name": {"name": name, "split": split, **extra}, "count": 1, "sum": value, "mean": value}
        for name, value in stats.items()
        if value is not None
    ]
    found += [
        {"name": {"name": n, "split": split}, "count": 0, "sum": 0} for n, v in stats.items() if v is None
    ]
    return {"instance_id": instance, "train_trial_index": trial, "stats": found, **extra}


@pytest.fixture
def run(tmp_path):
    def write(
        entries, model="org/a", name="mmlu:subject=law,model=org_a,method=joint", folder="run", spec=True
    ):
        place = tmp_path / "suite" / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / "per_instance_stats.json").write_text(json.dumps(entries, indent=1))
        (place / "stats.json").write_text("[]")
        if spec:
            document = {"name": name, "adapter_spec": {"model": model}}
            (place / "run_spec.json").write_text(json.dumps(document))
        return tmp_path / "suite"

    return write


def read(*paths, name="helm", **rules):
    return read_export(name, [str(path) for path in paths], ExportRules(**rules))


def test_the_schema_tells_by_which_metric_a_scenario_is_judged(run):
    stats = {"law": {"exact_match": 1.0, "f1": 0.5}, "qa": {"f1": 0.25, "rouge": 0.75}}
    for model, gain in (("org/a", 0), ("org/b", 0.125)):
        for task, own in stats.items():
            entries = [
                entry(f"id{at}", **{name: value + gain + at for name, value in own.items()}) for at in (1, 2)
            ]
            name = f"{task}:model={model.replace('/', '_')}"
            root = run(entries, model=model, name=name, folder=name.replace(":", "-"))
            spec = {"name": name, "adapter_spec": {"model": model}, "groups": ["core", task]}
            (root / name.replace(":", "-") / "run_spec.json").write_text(json.dumps(spec))
    groups = [
        {"name": "law", "environment": {"main_name": "exact_match", "main_split": "test"}},
        {"name": "qa", "environment": {"main_name": "rouge"}},
        {"name": "core"},
    ]
    (root / "schema.json").write_text(json.dumps({"run_groups": groups}))
    assert read(root).primary == {"law": "exact_match", "qa": "rouge"}
    options = ReadOptions(from_="helm", weighs_tasks=True, higher="*")
    table = read_scores([str(root)], options)
    assert table.suite.metrics == ("exact_match", "rouge")
    assert table.values[0].ravel().tolist() == [2.0, 3.0, 1.75, 2.75]
    assert "its harness judges it: exact_match (1 task), rouge (1 task)" in table.warnings[-1]
    asked = read_scores([str(root)], replace(options, metric=("f1",)))  # a person knows better
    assert (asked.metrics[0].name, asked.suite.metrics) == ("f1", ())
    (root / "schema.json").write_text(json.dumps({"run_groups": groups[:1]}))
    with pytest.raises(InputError, match="qa has several"):
        read_scores([str(root)], options)


def test_the_schema_beside_the_runs_tells_directions(run):
    root = run([entry("id1", exact_match=1.0, toxic_frac=0.2, rank=3.0)])
    assert read(root).directions == {}
    metrics = [
        {"name": "exact_match", "lower_is_better": False},
        {"name": "toxic_frac", "lower_is_better": True},
        {"name": "rank"},
        {"name": "of_another_run", "lower_is_better": True},
    ]
    (root / "schema.json").write_text(json.dumps({"adapter": [], "metrics": metrics}))
    found = read(root, name="auto")
    assert found.directions == {"exact_match": "higher", "toxic_frac": "lower"}
    assert [Path(entry.path).name for entry in found.inputs].count("schema.json") == 1
    (root / "schema.json").write_text(json.dumps({"metrics": "none"}))
    with pytest.raises(InputError, match=r"schema\.json: metrics"):
        read(root)


def test_a_run_with_trials(run):
    root = run([entry(f"id{i}", t, exact_match=float(i == t)) for t in range(2) for i in range(3)])
    rows = read(root, name="auto").rows
    assert rows.columns == ["model", "sample", "metric", "score", "draw", "task", "split"]
    assert set(rows["model"]) == {"org/a"}
    assert set(rows["sample"]) == {f"mmlu:subject=law,method=joint/id{i}" for i in range(3)}
    assert rows.filter(rows["draw"] == "1")["score"].to_list() == [0.0, 1.0, 0.0]


def test_splits_and_perturbations_are_asked_for(run):
    root = run(
        [
            entry("id1", exact_match=1.0),
            entry("id1", exact_match=0.0, perturbation=TYPOS),
            entry("id2", split="valid", exact_match=0.5),
        ]
    )
    with pytest.raises(UsageError, match="several splits or perturbations") as error:
        read(root)
    assert "test, test:misspellings, valid" in error.value.found
    assert read(root, splits=("test",)).rows["score"].to_list() == [1.0]
    perturbed = read(root, splits=("test:misspellings",)).rows
    assert perturbed["score"].to_list() == [0.0]
    assert perturbed["perturbation"].to_list() == ["misspellings"]
    assert perturbed["sample"].str.ends_with("/id1").all()  # pairs with other models' perturbed instances
    everything = read(root, splits=("*",)).rows
    assert everything["sample"].n_unique() == 3
    with pytest.raises(UsageError, match="none of that name"):
        read(root, splits=("dev",))


STRONG = TYPOS | {"prob": 0.9}


def test_perturbations_of_one_name_differ_by_their_arguments(run):
    root = run([entry("id1", m=1.0, perturbation=TYPOS), entry("id1", m=0.0, perturbation=STRONG)])
    assert read(root, splits=("test:misspellings(prob=0.9)",)).rows["score"].to_list() == [0.0]
    assert read(root, splits=("test:misspellings(prob=0.5)",)).rows["score"].to_list() == [1.0]
    with pytest.raises(UsageError, match="2 perturbations of that name") as error:
        read(root, splits=("test:misspellings",))
    assert "test:misspellings(prob=0.5), test:misspellings(prob=0.9)" in error.value.found


@pytest.mark.parametrize("labelled", [False, True])
def test_a_perturbation_is_called_alike_in_all_runs_whatever_came_first(run, labelled):
    both = [entry("id1", m=1.0, perturbation=TYPOS), entry("id1", m=0.0, perturbation=STRONG)]
    run(both, folder="a")
    root = run(both[::-1], model="org/b", folder="b")
    paths = [f"{name}={root / name}" for name in "ab"] if labelled else [root]
    found = read(*paths, splits=("test:misspellings(prob=0.9)",)).rows
    assert found["model"].n_unique() == 2
    assert found["score"].to_list() == [0.0, 0.0]


@pytest.mark.parametrize("labelled", [False, True])
def test_runs_of_one_strength_each_are_not_compared_under_one_name(run, labelled):
    run([entry("id1", m=1.0, perturbation=TYPOS)], folder="a")
    root = run([entry("id1", m=0.0, perturbation=STRONG)], model="org/b", folder="b")
    paths = [f"{name}={root / name}" for name in "ab"] if labelled else [root]
    with pytest.raises(UsageError, match="2 perturbations of that name"):
        read(*paths, splits=("test:misspellings",))
    names = read(*paths, splits=("*",)).rows["perturbation"].to_list()
    assert names == ["misspellings(prob=0.5)", "misspellings(prob=0.9)"]


def test_bookkeeping_is_left_out_unless_it_is_named(run):
    root = run([entry("id1", exact_match=1.0, num_bytes=3.0, inference_runtime=0.1, finish_reason_stop=1.0)])
    export = read(root)
    assert set(export.rows["metric"]) == {"exact_match"}
    assert "finish_reason_stop, inference_runtime, num_bytes" in export.notes[0]
    assert set(read(root, metrics=("num_bytes",)).rows["metric"]) == {"exact_match", "num_bytes"}


def test_a_statistic_of_nothing_is_no_score(run):
    export = read(run([entry("id1", exact_match=None, f1=1.0)]))
    assert dict(zip(export.rows["metric"], export.rows["score"], strict=True)) == {
        "exact_match": None,
        "f1": 1.0,
    }
    assert "exact_match: rows without a score: 1" in export.notes


def test_models_meet_on_the_scenario_whatever_the_folder_is_called(run):
    run([entry("id1", m=1.0)], folder="a")
    root = run(
        [entry("id1", m=0.0)], model="org/b", name="mmlu:subject=law,model=org_b,method=joint", folder="b"
    )
    rows = read(root).rows
    assert rows["sample"].n_unique() == 1
    assert set(rows["model"]) == {"org/a", "org/b"}


def test_a_run_without_its_specification(run):
    root = run([entry("id1", m=1.0)], folder="mmlu-subject=law,model=org_a", spec=False)
    with pytest.raises(InputError, match="which model"):
        read(root)
    rows = read(root, model_from_path="model=([^,/]+)").rows
    assert rows.row(0)[:2] == ("org_a", "mmlu:subject=law/id1")


def test_the_same_run_twice_is_repeats(run):
    run([entry("id1", m=1.0)], folder="one")
    export = read(run([entry("id1", m=0.0)], folder="two"))
    assert export.rows["draw"].n_unique() == 2
    assert "2 runs of model 'org/a'" in export.notes[0]


@pytest.mark.parametrize(
    "text", ["[", "{}", "[]", "[1]", '[{"instance_id": "a"}]', '[{"instance_id": 1, "stats": [1]}]']
)
def test_statistics_that_are_none_are_named_or_left_out(run, text):
    root = run([entry("id1", m=1.0)], folder="good")
    bad = run([], folder="bad") / "bad" / "per_instance_stats.json"
    bad.write_text(text)
    with pytest.raises(InputError) as error:
        read(bad, root)
    assert str(bad) in error.value.what
    assert read(bad, root, skip_bad=True).rows.height == 1
