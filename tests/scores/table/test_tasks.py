"""Tasks with different metrics: the metric in use, its direction, and the report of check."""

import pytest

from riskrank.options.reading import ReadOptions
from riskrank.scores.table.gate_inputs import read_selected, tables_by_metric
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.check.study import check

HEAD = "model,task,sample,metric,score\n"
# The metric of each task; lower is better for errors.
SINGLE_METRICS = {"arc": ("acc",), "gsm": ("match",), "wmt": ("error",)}
SEVERAL_METRICS = {"arc": ("acc", "acc_norm"), "gsm": ("match",), "mmlu": ("acc", "acc_norm")}


def lines(metrics, models="AB", samples=3):
    """Return rows whose scores encode task, metric, sample and model."""
    return [
        f"{model},{task},{sample},{metric},{at + 0.1 * number + 0.01 * sample + 0.001 * ord(model)}\n"
        for model in models
        for at, (task, names) in enumerate(metrics.items())
        for number, metric in enumerate(names)
        for sample in range(samples)
    ]


@pytest.fixture
def read(write):
    """Read lines as a command that weighs tasks."""

    def reading(rows, head=HEAD, **options):
        return read_scores([write("t.csv", head + "".join(rows))], ReadOptions(weighs_tasks=True, **options))

    return reading


def test_a_gate_reads_metrics_of_tasks(write):
    path = write("t.csv", HEAD + "".join(lines(SEVERAL_METRICS)))
    options = ReadOptions(weighs_tasks=True, metric=("arc=acc", "mmlu=acc_norm"))
    (table,) = tables_by_metric(read_selected([path], options, None, None), choose=lambda names: names)
    assert table.suite.metrics == ("acc", "match", "acc_norm")
    assert table.options == options


def test_check_reports_the_tasks(write):
    path = write("t.csv", HEAD + "".join(lines(SINGLE_METRICS | {"arc": ("acc",)}, samples=4)[:-1]))
    report = inspect_scores([path], ReadOptions(task_weight="wmt=2", higher="*"))
    assert [(task.task, task.samples, task.weight, task.metrics) for task in report.tasks] == [
        ("arc", 4, 0.25, ("acc",)),
        ("gsm", 4, 0.25, ("match",)),
        ("wmt", 4, 0.5, ("error",)),
    ]
    assert [(task.fewest_scores, task.most_scores) for task in report.tasks] == [(4, 4), (4, 4), (3, 4)]
    assert [(metric.metric, metric.n, metric.missing) for metric in report.metrics] == [
        ("acc", 8, 0),
        ("error", 7, 1),
        ("match", 8, 0),
    ]
    assert [problem.severity for problem in report.problems].count("error") == 1
    assert check(report).meta()["table"]["tasks"][2]["weight"] == 0.5


def test_check_reports_problems_of_tasks(write):
    def problems(rows, **options):
        report = inspect_scores([write("t.csv", HEAD + "".join(rows))], ReadOptions(higher="*", **options))
        return [problem.what.partition(": ")[2] for problem in report.problems if problem.severity == "error"]

    assert problems(lines(SINGLE_METRICS)) == []
    assert problems(lines(SEVERAL_METRICS)) == [
        "the tasks have different metrics, and arc, mmlu have more than one"
    ]
    assert problems(lines(SINGLE_METRICS, samples=1) + lines({"more": ("acc",)})) == [
        "tasks have only one sample, so the spread is unknown"
    ]
    assert problems([row for row in lines(SINGLE_METRICS) if not row.startswith("B,gsm")]) == [
        "model 'B' has no scores on task 'gsm'"
    ]
    assert problems(lines(SEVERAL_METRICS), task="none") != []


def test_check_reads_repeated_and_pooled_tasks(write):
    repeated = [row.replace("\n", f",{run}\n") for row in lines(SINGLE_METRICS) for run in (1, 2)]
    path = write("t.csv", HEAD.replace("score", "score,draw") + "".join(repeated))
    report = inspect_scores([path], ReadOptions(higher="*", repeats="draws"))
    assert [problem.what for problem in report.problems if problem.severity == "error"] == []
    assert check(report).splits == ()
    rows = [
        row.replace("\n", f",{int(row.split(',')[2]) % 2}\n") for row in lines({"a": ("acc",)}, samples=40)
    ]
    path = write("u.csv", HEAD.replace("score", "score,half") + "".join(rows))
    assert inspect_scores([path], ReadOptions(task="none")).divisions == ("half",)


def test_check_without_tasks_reports_none(write):
    path = write("t.csv", HEAD + "".join(lines({"arc": ("acc",)})))
    assert inspect_scores([path], ReadOptions()).tasks == ()
