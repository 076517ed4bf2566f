"""Tasks with metrics of their own: which one counts, its direction, and what check says of a suite."""

import pytest

from riskrank.options.reading import ReadOptions
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.metric_tables import metrics_apart, read_selected
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.check.study import check

HEAD = "model,task,sample,metric,score\n"
# What each task is scored by; of a larger error less is better.
OWN = {"arc": ("acc",), "gsm": ("match",), "wmt": ("error",)}
TWO = {"arc": ("acc", "acc_norm"), "gsm": ("match",), "mmlu": ("acc", "acc_norm")}


def lines(metrics, models="AB", samples=3):
    """A table in which a score is told by task, metric, sample and model."""
    return [
        f"{model},{task},{sample},{metric},{at + 0.1 * number + 0.01 * sample + 0.001 * ord(model)}\n"
        for model in models
        for at, (task, own) in enumerate(metrics.items())
        for number, metric in enumerate(own)
        for sample in range(samples)
    ]


@pytest.fixture
def read(write):
    """Read lines as a command that weighs tasks."""

    def reading(rows, head=HEAD, **options):
        return read_scores([write("t.csv", head + "".join(rows))], ReadOptions(weighs_tasks=True, **options))

    return reading


def test_a_gate_reads_metrics_of_tasks(write):
    path = write("t.csv", HEAD + "".join(lines(TWO)))
    options = ReadOptions(weighs_tasks=True, metric=("arc=acc", "mmlu=acc_norm"))
    (table,) = metrics_apart(read_selected([path], options), wanted=lambda names: names)
    assert table.suite.metrics == ("acc", "match", "acc_norm")
    assert table.options == options


def test_check_shows_the_suite(write):
    path = write("t.csv", HEAD + "".join(lines(OWN | {"arc": ("acc",)}, samples=4)[:-1]))
    found = inspect_scores([path], ReadOptions(task_weight="wmt=2", higher="*"))
    assert [(task.name, task.samples, task.weight, task.metrics) for task in found.tasks] == [
        ("arc", 4, 0.25, ("acc",)),
        ("gsm", 4, 0.25, ("match",)),
        ("wmt", 4, 0.5, ("error",)),
    ]
    assert [(task.fewest_scores, task.most_scores) for task in found.tasks] == [(4, 4), (4, 4), (3, 4)]
    assert [(metric.metric, metric.n, metric.missing) for metric in found.metrics] == [
        ("acc", 8, 0),
        ("error", 7, 1),
        ("match", 8, 0),
    ]
    assert [problem.severity for problem in found.problems].count("error") == 1
    assert check(found).meta()["table"]["tasks"][2]["weight"] == 0.5


def test_check_says_what_a_suite_lacks(write):
    def problems(rows, **options):
        found = inspect_scores([write("t.csv", HEAD + "".join(rows))], ReadOptions(higher="*", **options))
        return [problem.what.partition(": ")[2] for problem in found.problems if problem.severity == "error"]

    assert problems(lines(OWN)) == []
    assert problems(lines(TWO)) == ["the tasks have different metrics, and arc, mmlu have several"]
    assert problems(lines(OWN, samples=1) + lines({"more": ("acc",)})) == ["tasks have one sample: no spread"]
    assert problems([row for row in lines(OWN) if not row.startswith("B,gsm")]) == [
        "model 'B' has no score of task 'gsm'"
    ]
    assert problems(lines(TWO), task="none") != []


def test_check_reads_runs_of_tasks_and_tasks_that_are_pooled(write):
    twice = [row.replace("\n", f",{run}\n") for row in lines(OWN) for run in (1, 2)]
    path = write("t.csv", HEAD.replace("score", "score,draw") + "".join(twice))
    found = inspect_scores([path], ReadOptions(higher="*", repeats="draws"))
    assert [problem.what for problem in found.problems if problem.severity == "error"] == []
    assert check(found).splits == ()
    rows = [
        row.replace("\n", f",{int(row.split(',')[2]) % 2}\n") for row in lines({"a": ("acc",)}, samples=40)
    ]
    path = write("u.csv", HEAD.replace("score", "score,half") + "".join(rows))
    assert inspect_scores([path], ReadOptions(task="none")).divisions == ("half",)


def test_check_of_a_table_without_tasks_knows_of_none(write):
    path = write("t.csv", HEAD + "".join(lines({"arc": ("acc",)})))
    assert inspect_scores([path], ReadOptions()).tasks == ()
