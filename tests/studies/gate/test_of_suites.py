"""Gates over a suite: its macro mean, and every task as a claim of one family."""

import json
from xml.etree import ElementTree

import jsonschema
import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import UsageError, spell
from riskrank.shown.junit import junit
from riskrank.shown.schema import json_schema
from riskrank.studies.gate.screen.junit import suite

SIZES = {"arc": 60, "boolq": 80, "gsm8k": 120, "mmlu": 400}


def table(loss=0.0, size=None, seed=0):
    """Models old and new, equal but for a loss of the new one on gsm8k."""
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


def gate(frame, **how):
    asked = {"not_worse": "new:old", "margin": 0.2, "higher": ["x"], "resamples": 400} | how
    return rr.gate(frame, **asked)


def test_the_macro_mean_passes_and_the_task_that_lost_fails():
    result = gate(table(0.5), on=["macro", "task"])
    by_task = {row.task: row for row in result.rows}
    assert by_task[None].statistic == "macro"
    assert by_task[None].verdict == "pass"
    assert {task: row.verdict for task, row in by_task.items() if task} == {
        "arc": "pass",
        "boolq": "pass",
        "gsm8k": "fail",
        "mmlu": "pass",
    }
    assert result.document.outcome == "fail"
    assert "new is worse than old by more than 0.2 in x on gsm8k" in result.verdict
    assert {row.p_adjusted >= row.p_value for row in result.rows} == {True}
    # One family: Holm over five claims.
    least = min(result.rows, key=lambda row: row.p_value)
    assert least.p_adjusted == pytest.approx(5 * least.p_value)


def test_estimates_are_macro_means_and_means_of_tasks():
    frame = table(0.5)
    result = gate(frame, on=["macro", "task"])
    means = frame.group_by("model", "task").agg(pl.col("score").mean())
    of = {(model, task): mean for model, task, mean in means.iter_rows()}
    gap = {task: of["new", task] - of["old", task] for task in SIZES}
    for row in result.rows:
        expected = np.mean(list(gap.values())) if row.task is None else gap[row.task]
        assert row.estimate == pytest.approx(expected, abs=1e-12)
        assert row.samples == (sum(SIZES.values()) if row.task is None else SIZES[row.task])


def test_a_mean_of_a_suite_is_its_macro_mean():
    frame = table(0.5)
    mean, macro = (gate(frame, on=[on]).rows for on in ("mean", "macro"))
    assert mean == macro
    assert gate(frame, on=["mean", "macro"]).rows == macro


def test_nothing_is_claimed_of_a_task_that_does_not_count():
    result = gate(table(0.5), on=["macro", "task"], task_weight=["gsm8k=0"])
    assert [row.task for row in result.rows] == [None, "arc", "boolq", "mmlu"]
    assert result.document.outcome == "pass"
    notes = [text for text in result.document.provenance.warnings if "no claim" in text]
    assert [spell(note, flags=True) for note in notes] == [
        "no claim on gsm8k: --task-weight gives weight 0 there"
    ]
    assert not any("no claim" in text for text in gate(table(0.5), on=["task"]).document.provenance.warnings)


def test_several_tasks_that_fail_are_all_named():
    result = gate(table(0.5), on="task", margin=0.0, not_worse=(), better="new:old")
    assert {row.verdict for row in result.rows} <= {"fail", "inconclusive"}
    names = [row.task for row in result.rows if row.verdict == "fail"]
    assert "gsm8k" in names
    assert all(name in result.verdict for name in names)


def test_one_metric_of_several():
    both = pl.concat([table(0.5), table(0.0, seed=1).with_columns(metric=pl.lit("y"))])
    rows = gate(both, higher=["x", "y"], on=["task:y", "macro:x"]).rows
    assert {(row.metric, row.task) for row in rows} == {("x", None), *(("y", task) for task in SIZES)}


def test_less_is_better():
    frame = table(0.5).with_columns(-pl.col("score"))
    rows = gate(frame, higher=[], lower=["x"], on="task").rows
    assert {row.task: row.verdict for row in rows}["gsm8k"] == "fail"
    assert next(row for row in rows if row.task == "gsm8k").estimate > 0


def test_junit_has_a_case_a_task():
    document = gate(table(0.5), on=["macro", "task"]).document
    cases = ElementTree.fromstring(junit(suite(document))).findall(".//testcase")
    assert [case.get("name") for case in cases][1:] == [
        f"new not worse than old by 0.2: mean of x on {task}" for task in SIZES
    ]
    assert [case.find("failure") is not None for case in cases] == [False, False, False, True, False]


def test_the_document_has_a_field_for_tasks_where_there_are_some():
    schema = json_schema("gate")
    assert schema["properties"]["results"]["items"]["properties"]["task"]
    with_tasks, without = gate(table(), on="task"), gate(table(), on="macro")
    assert with_tasks.frame["task"].to_list() == list(SIZES)
    assert "task" not in without.frame.columns
    for result in (with_tasks, without):
        jsonschema.Draft202012Validator(schema).validate(json.loads(result.to_json()))


def test_the_screen_has_a_column_of_tasks():
    text = gate(table(0.5), on=["macro", "task"]).to_text()
    assert "macro mean of x" in text
    assert [line.split()[:5] for line in text.splitlines() if line.startswith(" FAIL")] == [
        ["FAIL", "mean", "of", "x", "gsm8k"]
    ]


def test_drawn_tasks_are_counted_as_tasks():
    frame = table(size={f"t{number}": 30 for number in range(8)})
    assert " 8 tasks (too few to see" in gate(frame, on="macro", tasks="random").to_text()
    assert " 240 samples (too few to see" in gate(frame, on="macro").to_text()
    # The verdict says which of the two questions it answers.
    assert ". On tasks like these " in gate(frame, on="macro", tasks="random").verdict
    assert "tasks like these" not in gate(frame, on="macro").verdict
    # Claims on single tasks are about their samples.
    assert " 8 to 30 samples (too few to see" in gate(frame, on=["macro", "task"], tasks="random").to_text()


def decided_by(row):
    """What is said of the samples that would decide a claim, in its own unit."""
    unit = "tasks" if row.task is None else "samples"
    beyond = row.samples_needed > 100 * row.samples
    digits = 10 ** (len(str(row.samples_needed)) - 1)
    return (
        f"no number of {unit} in reach"
        if beyond
        else f"about {-(-row.samples_needed // digits) * digits:,} {unit}"
    )


@pytest.mark.parametrize("on", [["macro"], ["macro", "task"], ["task", "macro"]])
def test_what_would_decide_a_gate_is_named_and_counted_in_its_own_unit(on):
    """More tasks for the macro mean of drawn ones, more samples for a task, and of which."""
    frame = table(size={f"t{number}": 30 for number in range(8)})
    result = gate(frame, on=on, tasks="random", margin=0.01)
    text = " ".join(result.to_text().split())
    deciding = next(row for row in result.rows if row.verdict == "inconclusive")
    assert f"{decided_by(deciding)[1:]} would decide that" in result.verdict
    assert result.document.failed is not None
    assert f"{decided_by(deciding)} would decide it" in result.document.failed.hint
    reached = [row for row in result.rows if row.samples_needed and "reach" not in decided_by(row)]
    open_ = reached or [row for row in result.rows if row.samples_needed]
    most = max(open_, key=lambda row: row.samples_needed)
    assert f"{decided_by(most)}, were the difference" in text
    if len(on) > 1:
        assert f"(mean of x on {most.task})" in text


@pytest.mark.parametrize("on", ["macro", "task", "task:x"])
def test_without_tasks_there_is_none_to_claim(on):
    with pytest.raises(UsageError, match="about the tasks of a suite") as caught:
        gate(table(), on=on, task="none")
    assert "name the column of tasks" in caught.value.hint


def test_a_claim_on_single_tasks_alone_says_nothing_of_tasks_like_them():
    frame = table(size={f"t{number}": 30 for number in range(8)})
    with pytest.raises(UsageError, match="is about means over tasks"):
        gate(frame, on="task", tasks="random")


def test_a_task_of_few_samples_is_named():
    with pytest.raises(rr.errors.InputError, match="on the task arc"):
        gate(table(size=SIZES | {"arc": 7}), on="task")


def test_tasks_with_metrics_of_their_own_take_margins_of_their_own():
    frame = table(0.5).with_columns(metric=pl.lit("of ") + pl.col("task"))
    metrics = [f"of {task}" for task in SIZES]
    rows = gate(frame, higher=metrics, on=["macro", "task"], margin={"": 0.2, "of gsm8k": 2.0}).rows
    assert {row.task: row.margin for row in rows if row.task} == {
        "arc": 0.2,
        "boolq": 0.2,
        "gsm8k": 2.0,
        "mmlu": 0.2,
    }
    assert {row.metric for row in rows} == {"score", *metrics}
    assert {row.task: row.verdict for row in rows}["gsm8k"] == "pass"
    gap = next(row.estimate for row in rows if row.task == "gsm8k")
    assert gap == pytest.approx(-0.5, abs=0.1)
