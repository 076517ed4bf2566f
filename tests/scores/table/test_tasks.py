"""Tasks with metrics of their own: which one counts, its direction, and what check says of a suite."""

import numpy as np
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, spell
from riskrank.scores.table.apart import metrics_apart, read_selected
from riskrank.scores.table.inspection import inspect_scores
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


def test_tasks_with_metrics_of_their_own_are_one_column(read):
    table = read(lines(OWN), lower="error", higher="*")
    assert [metric.name for metric in table.metrics] == ["score"]
    assert table.metrics[0].declared
    assert table.suite.metrics == ("acc", "match", "error")
    assert [spec.direction for spec in table.suite.specs] == ["higher", "higher", "lower"]
    found = table.values[0].ravel()
    wanted = [sign * (at + 0.01 * s + 0.065) for at, sign in enumerate((1, 1, -1)) for s in range(3)]
    assert found == pytest.approx(wanted)
    assert np.array_equal(table.suite.of_sample, np.repeat(np.arange(3), 3))


def test_a_direction_nobody_declared_is_told(read):
    table = read(lines(OWN), higher=("acc", "match"))
    assert not table.metrics[0].declared
    assert "less error is better, by its name" in table.warnings[-1]


def test_metrics_all_tasks_share_stay_columns(read):
    table = read(lines({"arc": ("acc", "f1"), "mmlu": ("acc", "f1")}))
    assert [metric.name for metric in table.metrics] == ["acc", "f1"]
    assert not table.suite.metrics


@pytest.mark.parametrize(
    ("asked", "metrics"),
    [
        (("acc_norm", "match"), ("acc_norm", "match", "acc_norm")),
        (("arc=acc", "acc_norm", "match"), ("acc", "match", "acc_norm")),
        (("arc=acc", "mmlu=acc_norm"), ("acc", "match", "acc_norm")),
        (("mmlu=acc", "gsm=match", "arc=acc"), ("acc", "match", "acc")),
    ],
)
def test_metrics_are_named_for_all_tasks_or_for_one(read, asked, metrics):
    table = read(lines(TWO), metric=asked)
    assert table.suite.metrics == metrics
    number = {"acc": 0, "acc_norm": 1, "match": 0}
    wanted = [at + 0.1 * number[name] + 0.01 * s + 0.066 for at, name in enumerate(metrics) for s in range(3)]
    assert table.values[1].ravel() == pytest.approx(wanted)


def test_a_task_without_the_metric_asked_for_is_dropped_aloud(read):
    table = read(lines(TWO), metric="acc")
    assert table.suite.names == ("arc", "mmlu")
    note = spell(table.warnings[-1], flags=True)
    assert note == (
        "dropped 1 of 3 tasks, with no score of acc: gsm; --metric gsm=NAME adds one by a metric of its own"
    )
    assert not read(lines(TWO), metric="match").suite


def test_names_may_hold_the_sign_between_them(read):
    own = {"n=1": ("p=0.1",), "n=2": ("acc", "p=0.1")}
    assert read(lines(own), metric="n=2=p=0.1").suite
    assert read(lines(own), metric="n=2=acc").suite.metrics == ("p=0.1", "acc")
    assert len(read(lines(own), metric="p=0.1").metrics) == 1


def test_who_pools_refuses_metrics_that_differ(write):
    with pytest.raises(InputError, match="no score for model 'A'"):
        read_scores([write("t.csv", HEAD + "".join(lines(OWN)))], ReadOptions())


def test_a_wide_table_has_blanks_where_a_metric_is_of_another_task(read):
    rows = [f"{m},arc,{s},{s},\n{m},gsm,{s},,{s + (m == 'B')}\n" for m in "AB" for s in range(3)]
    head = "model,task,sample,acc,match\n"
    table = read(rows, head=head, wide=True)
    assert table.suite.metrics == ("acc", "match")
    assert table.values[1].ravel().tolist() == [0, 1, 2, 1, 2, 3]
    assert read(rows, head=head, wide=True, metric="gsm=match").suite.metrics == ("acc", "match")
    rows[0] = rows[0].replace("0,\n", "much,\n", 1)
    with pytest.raises(InputError, match="row 2, column acc: the score is not a number"):
        read(rows, head=head, wide=True, metric=("acc", "match"))


def test_a_missing_score_is_named_by_its_own_metric(read):
    rows = lines(OWN)
    rows[4] = rows[4].rpartition(",")[0] + ",\n"
    with pytest.raises(InputError, match=r"row 6, column score: no score for model 'A', sample 'gsm\+1'"):
        read(rows)
    assert len(read(rows, missing="drop").samples) == 8


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
