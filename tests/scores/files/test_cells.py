"""Cells of workbooks and databases: numeric columns stay numeric, without a lost digit."""

from decimal import Decimal

import polars as pl
import pytest

from riskrank.scores.files.parsing import build_column, parse_scores


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([True, None], pl.Boolean),
        ([2**63 - 1, 1 - 2**63, None, True], pl.Int64),
        ([2**63, 1], pl.Float64),
        ([1, 0.5, Decimal("0.25")], pl.Float64),
    ],
)
def test_numbers_stay_numbers(cells, kind):
    column = build_column("x", cells)
    assert column.dtype == kind
    assert column.to_list() == cells


def test_mixed_cells_become_text():
    cells = [1.0, 2.5, float("inf"), "a", None, b"\x01\xff", True, 2**70, {"k": [1]}]
    texts = ["1", "2.5", "inf", "a", None, "01ff", "true", str(2**70), '{"k": [1]}']
    assert [text and text.lower() for text in build_column("x", cells).to_list()[:6]] == texts[:6]
    assert build_column("x", cells).dtype == pl.String
    assert str(2**70) in build_column("x", cells).to_list()


def test_a_list_of_one_score_is_a_score():
    values, state = parse_scores(pl.Series(["[0.5]", "[ 1 ]", "[]", "[1, 2]", "2"]))
    assert values.tolist()[:2] == [0.5, 1]
    assert state.tolist() == [0, 0, 1, 4, 0]
