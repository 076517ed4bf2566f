"""Gates over a suite: the macro mean and the tasks form one family of claims."""

import json
from xml.etree import ElementTree

import jsonschema
import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.render.junit import write_junit
from riskrank.render.schema import json_schema
from riskrank.studies.gate.screen import suite

SIZES = {"arc": 60, "boolq": 80, "gsm8k": 120, "mmlu": 400}


def table(loss=0.0, size=None, seed=0):
    """Models old and new are equal, except for a loss of the new model on gsm8k."""
    rng = np.random.default_rng(seed)
    sizes = size or SIZES
    task = np.repeat(list(sizes), list(sizes.values()))
    base = rng.normal(size=task.size)
    frames = []
    for model in ("old", "new"):
        score = base + 0.2 * rng.normal(size=task.size)
        score = score - np.where((task == "gsm8k") & (model == "new"), loss, 0.0)
        frames.append(
            pl.DataFrame(
                {"model": model, "task": task, "sample": range(task.size), "metric": "x", "score": score}
            )
        )
    return pl.concat(frames)


def gate(frame, **options):
    settings = {"not_worse": "new:old", "margin": 0.2, "higher": ["x"], "resamples": 400} | options
    return rr.gate(frame, **settings)


def test_estimates_are_macro_means_and_means_of_tasks():
    frame = table(0.5)
    result = gate(frame, on=["macro", "task"])
    means = frame.group_by("model", "task").agg(pl.col("score").mean())
    model_means = {(model, task): mean for model, task, mean in means.iter_rows()}
    gap = {task: model_means["new", task] - model_means["old", task] for task in SIZES}
    for row in result.rows:
        expected = np.mean(list(gap.values())) if row.task is None else gap[row.task]
        assert row.estimate == pytest.approx(expected, abs=1e-12)
        assert row.samples == (sum(SIZES.values()) if row.task is None else SIZES[row.task])


def test_all_failing_tasks_are_named():
    result = gate(table(0.5), on="task", margin=0.0, not_worse=(), better="new:old")
    assert {row.verdict for row in result.rows} <= {"fail", "inconclusive"}
    names = [row.task for row in result.rows if row.verdict == "fail"]
    assert "gsm8k" in names
    assert all(name in result.verdict for name in names)


def test_junit_has_a_case_per_task():
    document = gate(table(0.5), on=["macro", "task"]).document
    cases = ElementTree.fromstring(write_junit(suite(document))).findall(".//testcase")
    assert [case.get("name") for case in cases][1:] == [
        f"new not worse than old by 0.2: mean of x on {task}" for task in SIZES
    ]
    assert [case.find("failure") is not None for case in cases] == [False, False, False, True, False]


def test_document_has_task_field_for_task_claims():
    schema = json_schema("gate")
    assert schema["properties"]["results"]["items"]["properties"]["task"]
    with_tasks, without = gate(table(), on="task"), gate(table(), on="macro")
    assert with_tasks.frame["task"].to_list() == list(SIZES)
    assert "task" not in without.frame.columns
    for result in (with_tasks, without):
        jsonschema.Draft202012Validator(schema).validate(json.loads(result.to_json()))


def decided_by(row):
    """Format the size that would decide a claim, in tasks or samples."""
    unit = "tasks" if row.task is None else "samples"
    beyond = row.samples_needed > 100 * row.samples
    digits = 10 ** (len(str(row.samples_needed)) - 1)
    return (
        f"no feasible number of {unit}"
        if beyond
        else f"about {-(-row.samples_needed // digits) * digits:,} {unit}"
    )


@pytest.mark.parametrize("on", [["macro"], ["macro", "task"], ["task", "macro"]])
def test_required_size_names_claim_and_unit(on):
    """The macro mean over random tasks needs more tasks; a task needs more samples."""
    frame = table(size={f"t{number}": 30 for number in range(8)})
    result = gate(frame, on=on, tasks="random", margin=0.01)
    text = " ".join(result.to_text().split())
    deciding = next(row for row in result.rows if row.verdict == "inconclusive")
    assert f"{decided_by(deciding)[1:]} would decide this claim" in result.verdict
    assert result.document.failed is not None
    reached = [row for row in result.rows if row.samples_needed and "feasible" not in decided_by(row)]
    largest = max(reached or result.rows, key=lambda row: row.samples_needed or 0)
    assert f"{decided_by(largest)} (" in result.document.failed.hint
    assert f"use {decided_by(largest)} (" in text
    if len(on) > 1:
        assert f"({largest.name};" in text
