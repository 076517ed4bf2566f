"""Suites: the task column, the names of samples, and task weights."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.errors import spell
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.oriented_scores import group_tables
from riskrank.scores.table.score_table import read_scores

SIZES = {"arc": 5, "big": 20, "gsm": 3}
HEAD = "model,task,sample,metric,score\n"


def rows(sizes=SIZES, models="AB", name="{sample}", metric=None):
    """Return lines whose scores encode task, model and sample."""
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
    """Map each sample to its task."""
    return {
        name: table.suite.names[at] for name, at in zip(table.samples, table.suite.task_codes, strict=True)
    }


def test_identical_samples_in_every_task_are_reported(read):
    table = read(rows({"kind": 4, "terse": 4}))
    assert len(table.samples) == 8
    assert "metric=task" in spell(table.warnings[0], flags=True)
    merged = read(
        rows({"kind": 4, "terse": 4}),
        columns="metric=task",
        sql="SELECT model, sample, task, score FROM scores",
    )
    assert (len(merged.samples), len(merged.metrics)) == (4, 2)


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
def test_row_order_does_not_matter(lines, unpaired):
    cells = [line.rstrip().split(",") for line in lines]
    columns = dict(zip(HEAD.rstrip().split(","), zip(*cells, strict=True), strict=True))
    table = read_scores([FrameSource(columns)], ReadOptions(unpaired=unpaired, task_weight="samples"))
    assert (table.suite.names, table.suite.weighted) == (("a", "b", "c"), True)
    assert table.suite.task_codes.tolist() == [0] * 2 + [1] * 3 + [2] * 4
    assert table.suite.weights.tolist() == pytest.approx([2 / 9, 3 / 9, 4 / 9])
    assert table.samples == ("a+0", "a+1", "b+0", "b+1", "b+2", "c+0", "c+1", "c+2", "c+3")
    position = {name: row for row, name in enumerate("bac")}
    for model, values in enumerate(table.values):
        expected = [position[name[0]] + int(name[2]) / 100 + model / 1000 for name in table.samples]
        assert values.ravel().tolist() == pytest.approx(expected)
