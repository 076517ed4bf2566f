"""Tables of many rows on a screen."""

import io

from riskrank.render.formats import terminal
from riskrank.render.formats.terminal import to_terminal
from riskrank.render.view import Column, Table


def test_rows_that_nobody_reads_on_a_screen_are_counted(monkeypatch):
    monkeypatch.setattr(terminal, "MOST_ROWS", 2)
    stream = io.StringIO()
    rows = tuple((name, "1") for name in "abcde")
    to_terminal(
        [Table("A title", (Column("model", "left"), Column("n")), rows)], stream, width=60, color=False
    )
    lines = [line.split() for line in stream.getvalue().splitlines() if line.strip()]
    assert lines[-3:-1] == [["a", "1"], ["b", "1"]]
    assert "3 more rows" in " ".join(lines[-1])
