"""Tables and text on terminals of any width and encoding."""

from riskrank.render.escapes import protect_spaces
from riskrank.render.formats import terminal
from riskrank.render.formats.terminal import narrow_table, to_terminal
from riskrank.render.view import Column, Table


def test_rows_that_nobody_reads_on_a_screen_are_counted(monkeypatch):
    monkeypatch.setattr(terminal, "MOST_ROWS", 2)
    rows = tuple((name, "1") for name in "abcde")
    table = Table("A title", (Column("model", "left"), Column("n")), rows)
    page = to_terminal([table], width=60, color=False)
    lines = [line.split() for line in page.splitlines() if line.strip()]
    assert lines[-3:-1] == [["a", "1"], ["b", "1"]]
    assert "3 more rows" in " ".join(lines[-1])


TABLE = Table(
    "",
    (
        Column("place"),
        Column("", "left"),
        Column("model", "left"),
        Column("latency_ms ↓"),
        Column("share of all"),
        Column(protect_spaces("worst 5 %\ncombined"), optional=True),
        Column("by one", optional=True),
    ),
    (("1", "", "a-model", "12", "0.5", "0.125", "1–2"), ("2", "", "b-model", "345.25", "0.25", "0.5", "1")),
    stub=3,
)


def width(table):
    cells = [
        [*column.head.split("\n"), *(row[at] for row in table.rows)]
        for at, column in enumerate(table.columns)
    ]
    return sum(max(map(len, texts)) for texts in cells) + 2 * (len(cells) - 1)


def at_most(limit):
    return narrow_table(TABLE, lambda table: width(table) <= limit)


def heads(table):
    return [column.head for column in table.columns]


def test_a_table_that_fits_is_unchanged():
    assert at_most(width(TABLE)) == (TABLE, [])


def test_an_empty_column_goes_first():
    table, left_out = at_most(width(TABLE) - 1)
    assert heads(table) == [column.head for column in TABLE.columns if column.head]
    assert (table.stub, left_out) == (2, [])
    assert table.rows[1] == ("2", "b-model", "345.25", "0.25", "0.5", "1")


def test_heads_go_on_below_between_words_then_in_names():
    table, left_out = at_most(width(TABLE) - 4)
    assert heads(table)[2:] == [
        "latency_ms\n↓",
        "share\nof\nall",
        protect_spaces("worst\n5 %\ncombined"),
        "by\none",
    ]
    table, left_out = at_most(width(table) - 1)
    assert heads(table)[2] == "latency_\nms ↓"
    assert left_out == []


def test_optional_columns_are_dropped_last_first():
    everything = at_most(width(TABLE) - 4)[0]
    table, left_out = at_most(width(everything) - 5)
    assert left_out == ["by one"]
    assert heads(table)[-1] == protect_spaces("worst\n5 %\ncombined")
    table, left_out = at_most(width(table) - 1)
    assert left_out == [protect_spaces("worst 5 % combined"), "by one"]
    assert [row[1] for row in table.rows] == ["a-model", "b-model"]


def test_no_column_is_dropped_in_vain():
    assert at_most(20) == (TABLE, [])
