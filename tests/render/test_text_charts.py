"""Text charts: positions of marks, no truncation, terminals only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.gsd.relation import hasse_diagram
from riskrank.render.formats.markdown import to_markdown
from riskrank.render.text_charts import hasse_rows, interval_bars, significance_letters, sparklines, to_ascii
from riskrank.render.view import Column, Table

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def test_bars_share_a_scale():
    assert interval_bars([1, 3, 5], [1, 2, 5], [2, 4, 5], cells=5) == ["●─   ", " ─●─ ", "    ●"]
    assert interval_bars([-2, 2], [-2, -1], [0, 2], mark=0.0, cells=5) == ["●──  ", " ─┼─●"]
    assert interval_bars([2.0, -1], [2, -1], [2, -1], mark=0.0, cells=4) == [" ┊ ●", "●┊  "]
    assert interval_bars([1], [1], [1], cells=3) == [" ● "]


def test_open_and_missing_limits():
    assert interval_bars([1, 0], [-np.inf, 0], [2, np.inf], cells=5) == ["──●──", "●────"]
    assert interval_bars([1, 0], [np.nan, 0], [2, 0], cells=5) == ["──●──", "●    "]
    assert interval_bars([np.nan], [np.nan], [np.nan], cells=3) == ["   "]


@given(st.lists(st.tuples(FINITE, FINITE, FINITE).map(sorted), min_size=1, max_size=5), FINITE)
def test_every_bar_holds_its_estimate_in_order(rows, mark):
    low, middle, high = np.array(rows).T
    bars = interval_bars(middle, low, high, mark=mark)
    assert {len(row) for row in bars} == {17}
    dots = [row.index("●") for row in bars]
    assert [dots[i] for i in np.argsort(middle, kind="stable")] == sorted(dots)
    for row in bars:
        assert row.count("●") == 1
        assert "─ " not in row.partition("●")[0]


def test_sparklines():
    assert sparklines([[0, 1, 2, 3], [3, 3, 3, 3]]) == ["▁▃▆█", "████"]
    assert sparklines([[1, 1]]) == ["▅▅"]


def test_letters():
    dominates = np.zeros((5, 5), dtype=bool)
    dominates[3, [0, 1, 2, 4]] = True
    dominates[1, 4] = True
    assert significance_letters(dominates, np.array([3, 1, 0, 2, 4])) == ["a > b–e", "b > e", "c", "d", "e"]
    assert significance_letters(np.zeros((27, 27), dtype=bool), np.arange(27)) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_diagram_can_be_read_back(seed):
    """Branches in the text are the edges, and unbroken lanes connect them to their nodes."""
    rng = np.random.default_rng(seed)
    relation = np.triu(rng.random((7, 7)) < 0.4, 1)
    for middle in range(7):
        relation |= np.outer(relation[:, middle], relation[middle])
    diagram = hasse_diagram(relation | np.eye(7, dtype=bool))
    order = sorted(range(len(diagram.nodes)), key=lambda node: (diagram.levels[node], node))
    rows = hasse_rows(diagram.edges, order)
    assert [row.index("●") for row in rows] == [2 * row for row in range(len(rows))]
    edges = {
        (order[lane], order[row])
        for row, line in enumerate(rows)
        for lane in range(row)
        if line[2 * lane] in "├└"
    }
    assert edges == set(diagram.edges)
    for upper, lower in edges:
        lane = 2 * order.index(upper)
        between = [rows[row][lane] for row in range(order.index(upper) + 1, order.index(lower))]
        assert set(between) <= {"├", "│"}


@given(st.text("─●┊┼├└│–▁▂▃▄▅▆▇█ abc"))
def test_ascii_keeps_the_width(text):
    assert to_ascii(text).isascii()
    assert len(to_ascii(text)) == len(text)


def test_pictures_stay_on_terminals():
    columns = (Column("model", "left"), Column("bar", "left", medium="terminal"), Column("n"))
    table = Table("T", columns, (("a", "─●─", "1"),))
    assert to_markdown([table]) == to_markdown([table.plain])
    assert "●" not in to_markdown([table])
    assert [column.head for column in table.plain.columns] == ["model", "n"]


@pytest.mark.parametrize("width", [60, 100, 130, 150, 170, 250])
def test_tables_of_any_width(width):
    from rich.cells import cell_len

    from riskrank.render.formats.terminal import to_terminal

    bar = Column("bar", "left", medium="terminal")
    letters = Column("letters", "left", medium="terminal", min_width=160)
    columns = (Column("model", "left"), *(Column("a" * 8) for _ in range(8)), bar, letters)
    table = Table("T", columns, (("m" * 20, *("1" * 8,) * 8, "─●" * 8, "a > b"),))
    text = to_terminal([table], width=width, color=False)
    assert ("●" in text) == ("bar" in text) == (width >= 130)
    assert ("letters" in text) == (width >= 160)
    assert all(cell_len(line.rstrip()) <= width for line in text.splitlines())
