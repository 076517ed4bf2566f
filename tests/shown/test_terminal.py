"""Tables of many rows on a screen."""

from riskrank.shown.formats import terminal
from riskrank.shown.formats.terminal import to_terminal
from riskrank.shown.view import Column, Table


def test_rows_that_nobody_reads_on_a_screen_are_counted(monkeypatch):
    monkeypatch.setattr(terminal, "MOST_ROWS", 2)
    rows = tuple((name, "1") for name in "abcde")
    table = Table("A title", (Column("model", "left"), Column("n")), rows)
    lines = [line.split() for line in to_terminal([table], width=60, color=False).splitlines() if line]
    assert lines[-3:-1] == [["a", "1"], ["b", "1"]]
    assert "3 more rows" in " ".join(lines[-1])
