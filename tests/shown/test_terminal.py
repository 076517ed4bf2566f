"""Rows written beside Rich are those Rich would have written, byte for byte."""

import io

import pytest

from riskrank.shown.formats import terminal
from riskrank.shown.formats.terminal import to_terminal
from riskrank.shown.view import Cell, Column, Line, Table

COLUMNS = (
    Column("better", "left"),
    Column("a\nhead"),
    Column("verdict", "left"),
    Column("middle", "center"),
)


def table(rows=12):
    names = ["m", "模型", "نموذج", "e\u0301", "[bold]x[/]", "a\x1b[31m", "", "long name " * 3]
    cells = tuple(
        (
            names[at % len(names)],
            Cell(f"{at}.5", ("dim", "bold", "")[at % 3]),
            Cell("dominates" if at % 2 else "–", "green"),
            "=" * (at % 4),
        )
        for at in range(rows)
    )
    return Table("A title", COLUMNS, cells, 1)


def printed(view, **options):
    stream = io.StringIO()
    to_terminal(view, stream, **options)
    return stream.getvalue()


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("width", [None, 120, 60, 24])
@pytest.mark.parametrize("laid_out", [1, 5, 11])
def test_as_rich_would(monkeypatch, color, width, laid_out):
    view = [table(), Line("after it", "Reading:")]
    whole = printed(view, width=width, color=color)
    monkeypatch.setattr(terminal, "LAID_OUT", laid_out)
    assert printed(view, width=width, color=color) == whole


@pytest.mark.skipif(not terminal.known_layout(), reason="an earlier Rich lays out every row")
def test_rows_that_fold_are_left_to_rich(monkeypatch):
    called = []
    monkeypatch.setattr(terminal, "LAID_OUT", 2)
    monkeypatch.setattr(terminal, "written_rows", lambda *_: called.append(1) or "")
    printed([table()], width=20, color=False)
    assert called == []
    printed([table()], width=None, color=False)
    assert called == [1]
