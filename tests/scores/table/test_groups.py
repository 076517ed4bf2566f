"""Groups of samples: numbers sort before names, and every model is in each group."""

import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.oriented_scores import group_tables
from riskrank.scores.table.score_table import read_scores


def table(write, groups, **options):
    rows = [
        (model, f"{group}-{n}", group, 0.1 * n + 0.01 * len(model))
        for model in ("m", "mm")
        for group in groups
        for n in range(3)
        if (model, group) not in options.get("absent", ())
    ]
    frame = pl.DataFrame(rows, schema=["model", "sample", "level", "acc"], orient="row")
    return read_scores(
        [write("t.csv", frame)],
        ReadOptions(wide=True, group_by="level", higher=("acc",), unpaired=bool(options)),
    )


def test_groups_are_sorted_numbers_first(write):
    result = group_tables(table(write, ["inf", "b", "10", "2", "a"]))
    assert list(result) == ["2", "10", "a", "b", "inf"]
    for name, part in result.items():
        assert part.samples == tuple(f"{name}-{n}" for n in range(3))
        assert part.groups is None


def test_a_model_without_a_group_is_named(write):
    with pytest.raises(InputError, match="model 'mm' has no samples in the group 'b'") as caught:
        group_tables(table(write, ["a", "b"], absent=[("mm", "b")]))
    assert "NOT IN ('b')" in caught.value.hint


@pytest.mark.parametrize(("column", "written"), [("level", "level"), ('my "level"', '"my ""level"""')])
def test_column_names_are_quoted_for_sql(write, column, written):
    rows = [("m", "1", "a", 0.1), ("m", "2", "b", 0.2), ("mm", "1", "a", 0.3), ("mm", "3", "a", 0.4)]
    path = write("t.csv", pl.DataFrame(rows, schema=["model", "sample", column, "acc"], orient="row"))
    options = ReadOptions(wide=True, group_by=column, metric=("acc",), unpaired=True)
    with pytest.raises(InputError) as caught:
        group_tables(read_scores([path], options))
    assert f"{written} NOT IN ('b')" in caught.value.hint
    left = read_scores([path], ReadOptions(**(vars(options) | {"where": f"{written} NOT IN ('b')"})))
    assert list(group_tables(left)) == ["a"]
