"""Tables on pages of any width: no truncation, no omission, no interpretation of markup."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from riskrank.render.escapes import escape_for_terminal
from riskrank.render.formats.markdown import to_comment, to_markdown
from riskrank.render.formats.terminal import column_widths, split_columns, to_terminal, with_charts
from riskrank.render.view import Cell, Column, Line, Table

WORDS = st.text("abcxyz-./ 模é", min_size=1, max_size=40)
NUMBERS = st.integers(0, 99_999).map(lambda number: f"{number / 10_000:.4f}".removesuffix("0"))


@st.composite
def tables(draw):
    stub = draw(st.integers(1, 2))
    figures = draw(st.integers(0, 12))
    names = draw(st.lists(WORDS, min_size=1, max_size=4))
    columns = [Column("name", "left")] * stub + [Column("FSD\n0.25")] * figures + [Column("verdict", "left")]
    rows = [
        (*[name] * stub, *(draw(NUMBERS) for _ in range(figures)), "dominates (FSD, SSD)") for name in names
    ]
    return Table("Title", tuple(columns), tuple(rows), stub)


def render(view, width) -> str:
    return to_terminal(view, width=width, color=False)


@settings(max_examples=25)
@given(tables(), st.integers(44, 200))
def test_no_block_is_wider_than_the_page(table, width):
    widths = column_widths(table, width)
    for block in split_columns(widths, table.stub, width):
        assert 2 + sum(widths[column] for column in block) + 2 * (len(block) - 1) <= width


@settings(max_examples=25)
@given(tables(), st.integers(20, 200))
def test_every_column_appears_once_with_complete_numbers(table, width):
    widths = column_widths(table, width)
    blocks = split_columns(widths, table.stub, width)
    assert all(block[: table.stub] == list(range(table.stub)) for block in blocks)
    columns = [column for block in blocks for column in block[table.stub :]]
    assert columns == list(range(table.stub, len(table.columns)))
    for number, column in enumerate(table.columns):
        if column.justify == "right":
            assert widths[number] == max(4, *(cell_len(row[number]) for row in table.rows))


@settings(max_examples=25)
@given(tables())
def test_a_page_without_width_needs_a_single_table(table):
    widths = column_widths(table, None)
    assert len(split_columns(widths, table.stub, None)) == 1
    text = render([table], None)
    for row in table.rows:
        assert all(cell.rstrip() in text for cell in row)


@settings(max_examples=25)
@given(tables(), st.integers(44, 120))
def test_output_fits_and_has_every_number(table, width):
    text = render([table], width)
    assert all(cell_len(line.rstrip()) <= width for line in text.splitlines())
    words = text.split()
    for row in table.rows:
        assert all(cell in words for cell in row[table.stub : -1])


def test_a_verdict_wraps_before_names():
    table = Table(
        "T",
        (Column("better", "left"), Column("worse", "left"), Column("p"), Column("verdict", "left")),
        (("a" * 12, "b" * 12, "0.1234", "dominates (FSD, SSD)"),),
        stub=2,
    )
    assert column_widths(table, 100) == [12, 12, 6, 20]
    assert column_widths(table, 50) == [12, 12, 6, 12]
    assert column_widths(table, 48) == [12, 12, 6, 10]


def test_names_are_folded_before_a_second_table_is_begun():
    table = Table("T", (Column("model", "left"), Column("a"), Column("b")), (("m" * 30, "1" * 10, "2" * 10),))
    assert column_widths(table, 44) == [18, 10, 10]
    assert len(split_columns(column_widths(table, 44), 1, 44)) == 1
    assert column_widths(table, 40) == [20, 10, 10]  # half of the page, in two tables
    assert len(split_columns(column_widths(table, 40), 1, 40)) == 2


def test_heads_stand_on_the_rule():
    table = Table("T", (Column("model", "left"), Column("FSD\n0.25")), (("a", "1"),))
    lines = [line.rstrip() for line in render([table], 80).splitlines()]
    above, head, rule = lines[2:5]
    assert (above.split(), head.split(), set(rule)) == (["FSD"], ["model", "0.25"], {" ", "─"})
    assert len(above) == len(head) == len(rule)  # Rich 13 leaves one more blank between the columns


def test_line_breaks_are_preserved():
    lines = [line.rstrip() for line in render([Line("what\nfound: x", "Error:")], 80).splitlines()]
    assert lines == [" Error: what", " found: x"]


def test_for_terminal():
    assert escape_for_terminal("ε – “x”…", "ascii") == 'eps - "x"...'
    assert escape_for_terminal("ε", "utf-8") == "ε"
    assert escape_for_terminal("é", "latin-1") == "é"
    assert escape_for_terminal("ж", "latin-1") == "\\u0436"
    assert escape_for_terminal("a\x1b[1m\x07", "utf-8") == "a\\x1b[1m\\x07"
    assert escape_for_terminal("a\nb", "utf-8") == "a\nb"


@given(st.text(max_size=20), st.sampled_from(["ascii", "latin-1", "utf-8", "cp1252"]))
def test_printable_text_can_be_encoded(text, encoding):
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert escape_for_terminal(text, encoding).encode(encoding) or not text


def test_markdown():
    columns = (Column("model", "left"), Column("FSD\n0.25", name="FSD(0.25)"), Column("a\nb"))
    table = Table("A_b", columns, ((Cell("x|y", "bold"), "1", "<2"), ("- x", "-0.25", "0.5")))
    assert to_markdown([table, Line("said *so*", "Note:")]).splitlines() == [
        "### A\\_b",
        "",
        "| model | FSD(0.25) | a b |",
        "| :--- | ---: | ---: |",
        "| x\\|y | 1 | \\<2 |",
        "| - x | -0.25 | 0.5 |",
        "",
        "**Note:** said \\*so\\*",
    ]


def chart_table(rows=3, name="model"):
    columns = (
        *(Column("rank"), Column("model", "left"), Column("mean")),
        *(
            Column("places", "left", medium="terminal"),
            Column("letters", "left", medium="terminal", min_width=160),
        ),
    )
    cells = tuple((f"{row}", f"{name}{row}", "0.123456789", "──●──", "a > b") for row in range(rows))
    return Table("T", columns, cells, stub=2)


def test_long_names_go_on_below_before_a_picture_goes():
    long_table = chart_table(name="a very long name " * 4)
    assert [column.head for column in with_charts(long_table, 60).columns] == [
        "rank",
        "model",
        "mean",
        "places",
    ]


@pytest.mark.parametrize(("names", "rows"), [(10_000, 3), (12, 400), (70, 100)])
def test_a_comment_is_bounded(names, rows):
    """The verdict comes first in a pull request comment, for any names and number of rows."""
    name = "|*<" * (names // 3)
    table = Table(name, (Column("sample", "left"), Column(name)), ((name, "1"),) * rows)
    view = [Line(f"FAIL: {name} is worse.", "Verdict:"), *[table] * 5, Line("the end", name)]
    comment = to_comment(view, "<!-- riskrank gate -->")
    assert len(comment) <= 30_000
    assert comment.startswith("<!-- riskrank gate -->\n\n**Verdict:** FAIL: ")
    assert comment.count("\n| ") >= 3
    assert "this comment is shortened" in comment


def test_a_short_comment_is_complete():
    table = Table("t", (Column("sample", "left"), Column("score")), (("a" * 90, "1"),))
    assert to_comment([table], "<!-- m -->") == f"<!-- m -->\n\n{to_markdown([table])}"
