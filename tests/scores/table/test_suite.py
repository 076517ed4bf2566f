"""Suites: the column of tasks, what it makes of the names of samples, and the weights of tasks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError, spell
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.groups import group_tables
from riskrank.scores.table.score_table import read_scores

SIZES = {"arc": 5, "big": 20, "gsm": 3}
HEAD = "model,task,sample,metric,score\n"


def rows(sizes=SIZES, models="AB", name="{sample}", metric=None):
    """Lines of a table whose score says task, model and sample."""
    return [
        f"{model},{task},{name.format(task=task, sample=sample)},{(metric or {}).get(task, 'acc')},"
        f"{at + sample / 100 + (model == 'B') / 1000:g}\n"
        for model in models
        for at, (task, size) in enumerate(sizes.items())
        for sample in range(size)
    ]


@pytest.fixture
def read(write):
    """Read lines as a table."""

    def reading(lines=None, head=HEAD, **options):
        return read_scores(
            [write("t.csv", head + "".join(rows() if lines is None else lines))], ReadOptions(**options)
        )

    return reading


def tasks_by_name(table):
    """The task of each sample, by name."""
    return {
        name: table.suite.names[at] for name, at in zip(table.samples, table.suite.of_sample, strict=True)
    }


def test_the_same_sample_in_two_tasks_is_two_samples(read):
    table = read()
    assert table.suite.names == ("arc", "big", "gsm")
    assert tasks_by_name(table) == {
        f"{task}+{at}": task for task, size in SIZES.items() for at in range(size)
    }
    assert table.suite.sizes.tolist() == [5, 20, 3]
    assert table.suite.weights.tolist() == pytest.approx([1 / 3] * 3)
    assert not table.suite.metrics
    by_hand = read(columns="sample=task+sample")
    assert by_hand.samples == table.samples
    assert all(map(np.array_equal, by_hand.values, table.values))


def test_names_that_differ_by_task_stay_as_they_are(read):
    table = read(rows(name="{task}/{sample}"))
    assert tasks_by_name(table) == {
        f"{task}/{at}": task for task, size in SIZES.items() for at in range(size)
    }


def test_signs_in_names_cannot_make_two_samples_one(read):
    table = read(rows({"a": 2, "a+1": 2}) + [f"{m},a,1+{at},acc,0.{at}\n" for m in "AB" for at in range(2)])
    assert len(table.samples) == 6


@pytest.mark.parametrize("how", [{"task": "topic"}, {"columns": "task=topic"}])
def test_a_column_of_another_name_is_named(read, how):
    head = HEAD.replace("task", "topic")
    assert read(head=head, **how).suite.names == ("arc", "big", "gsm")
    with pytest.raises(InputError, match="there is no column 'topic'"):
        read(**how)


def test_none_pools_and_says_so(read):
    table = read(task="none")
    assert not table.suite
    assert table.samples == read().samples
    assert "all samples are pooled" in table.warnings[0]
    assert not read(rows({"arc": 5}), task="none").suite


def test_who_pools_says_which_task_decides(read):
    assert read().warnings == (
        "3 tasks are pooled, and every sample counts the same: the largest, big, has 71 % of the samples",
    )
    assert read(weighs_tasks=True).warnings == ()


def test_what_is_no_suite(read):
    assert not read(rows({"arc": 5})).suite
    each_its_own = [line.replace(",arc,", f",t{at % 5},") for at, line in enumerate(rows({"arc": 5}))]
    assert not read(each_its_own, weighs_tasks=True).suite
    blank = [line.replace(",arc,", ",,") for line in rows({"arc": 5})]
    assert not read(blank).suite
    assert not read(rows(name="{task}{sample}"), cluster="task").suite


def test_every_sample_in_every_task_is_told(read):
    table = read(rows({"kind": 4, "terse": 4}))
    assert len(table.samples) == 8
    assert "metric=task" in spell(table.warnings[0], flags=True)
    merged = read(
        rows({"kind": 4, "terse": 4}),
        columns="metric=task",
        sql="SELECT model, sample, task, score FROM scores",
    )
    assert (len(merged.samples), len(merged.metrics)) == (4, 2)


def test_weights_of_tasks(read):
    assert read(task_weight="equal").suite.weights.tolist() == pytest.approx([1 / 3] * 3)
    assert read(task_weight="samples").suite.weights.tolist() == pytest.approx([5 / 28, 20 / 28, 3 / 28])
    assert read(task_weight=("big=2", "gsm=0")).suite.weights.tolist() == pytest.approx([1 / 3, 2 / 3, 0])


def test_sizes_of_unpaired_models_are_those_of_all_together(read):
    lines = [line for line in rows() if not (line.startswith("B,big") and int(line.split(",")[2]) >= 4)]
    suite = read(lines, unpaired=True, task_weight="samples").suite
    assert suite.weights.tolist() == pytest.approx([10 / 40, 24 / 40, 6 / 40])


def test_where_nothing_names_samples_tasks_may_be_their_names(read):
    means = [f"{model},{task},acc,0.{at}\n" for at, model in enumerate("AB") for task in ("arc", "gsm")]
    table = read(means, head="model,task,metric,score\n")
    assert not table.suite
    assert table.warnings[0] == "Read as a long table: a row a model (model) and sample (task); a row a score"


def test_weights_without_tasks(read):
    with pytest.raises(UsageError, match="weighs tasks, and there are none"):
        read(rows({"arc": 5}), task_weight="samples")
    with pytest.raises(UsageError, match="contradict"):
        read(task="none", task_weight="samples")


def test_dropping_never_drops_a_whole_task(read):
    lines = [line for line in rows() if not line.startswith(("A,gsm,0", "B,gsm,1", "B,gsm,2"))]
    assert read(lines, missing="drop", where="task <> 'gsm'").suite.names == ("arc", "big")
    with pytest.raises(InputError, match="nothing is left of task 'gsm' that all models have"):
        read(lines, missing="drop")


def test_a_task_of_one_sample(read):
    lines = [*rows(), *(f"{model},tiny,0,acc,{score}\n" for model, score in (("A", 1), ("B", 2)))]
    assert read(lines).suite.names[-1] == "tiny"  # whoever pools needs no spread of each task
    with pytest.raises(InputError, match="a task has one sample") as caught:
        read(lines, weighs_tasks=True)
    assert "found: tiny, of 4 tasks" in str(caught.value)
    assert "--task none" in caught.value.lines(flags=True)[2]


def test_a_wide_table_and_a_matrix_have_tasks(read):
    wide = [f"{m},{t},{s},{s + at}\n" for m in "AB" for at, t in enumerate("xy") for s in range(3)]
    table = read(wide, head="model,task,sample,acc\n", wide=True)
    assert (table.suite.names, len(table.samples)) == (("x", "y"), 6)
    matrix = [f"{t},{s},{s},{s + 1}\n" for t in "xy" for s in range(3)]
    found = read(matrix, head="task,sample,A,B\n", matrix="acc")
    assert (found.suite.names, found.samples) == (("x", "y"), table.samples)
    named = read(matrix, head="topic,sample,A,B\n", matrix="acc", task="topic")
    assert (named.suite.names, named.samples) == (("x", "y"), table.samples)


def test_a_group_is_a_part_of_the_suite(read):
    lines = [line.rstrip() + (",x\n" if ",big," in line else ",y\n") for line in rows()]
    parts = group_tables(
        read(lines, head=HEAD.replace("score", "score,kind"), group_by="kind", task_weight="gsm=3")
    )
    assert not parts["x"].suite
    assert parts["y"].suite.names == ("arc", "gsm")
    assert parts["y"].suite.weights.tolist() == pytest.approx([0.25, 0.75])
    assert tasks_by_name(parts["y"]) == {f"{t}+{at}": t for t in ("arc", "gsm") for at in range(SIZES[t])}
    alone = group_tables(read(group_by="task"))
    assert list(alone) == ["arc", "big", "gsm"]
    assert not any(part.suite for part in alone.values())


@settings(max_examples=30, deadline=None)
@given(st.permutations(rows({"b": 3, "a": 2, "c": 4})), st.booleans())
def test_the_order_of_the_rows_says_nothing(lines, unpaired):
    cells = [line.rstrip().split(",") for line in lines]
    columns = dict(zip(HEAD.rstrip().split(","), zip(*cells, strict=True), strict=True))
    table = read_scores([FrameSource(columns)], ReadOptions(unpaired=unpaired, task_weight="samples"))
    assert table.suite.names == ("a", "b", "c")
    assert table.suite.of_sample.tolist() == [0] * 2 + [1] * 3 + [2] * 4
    assert table.suite.weights.tolist() == pytest.approx([2 / 9, 3 / 9, 4 / 9])
    assert table.samples == ("a+0", "a+1", "b+0", "b+1", "b+2", "c+0", "c+1", "c+2", "c+3")
    at = {name: row for row, name in enumerate("bac")}
    for model, values in enumerate(table.values):
        wanted = [at[name[0]] + int(name[2]) / 100 + model / 1000 for name in table.samples]
        assert values.ravel().tolist() == pytest.approx(wanted)
