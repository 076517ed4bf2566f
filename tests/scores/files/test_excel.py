"""Workbooks: cell values, and the selection of a sheet."""

import re
import zipfile
from pathlib import Path

import pytest

from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture
def workbook(tmp_path):
    """Write sheets, each a list of rows, and return the path."""

    def to_file(name="t.xlsx", **sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / name)
        return str(tmp_path / name)

    return to_file


def rows_of(frame):
    return [frame.columns, *map(list, frame.rows())]


def test_workbook_equals_csv(write, long_frame, workbook):
    expected = read_scores([write("t.csv", long_frame)])
    assert_equal_tables(read_scores([workbook(scores=rows_of(long_frame))]), expected)
    with_gaps = [[], *rows_of(long_frame)[:5], [], *rows_of(long_frame)[5:]]
    assert_equal_tables(
        read_scores([workbook(scores=with_gaps, empty=[], notes=[["made by hand"]])]), expected
    )


def test_rows_above_the_header_are_skipped(write, long_frame, workbook):
    """Titles of several cells look like a header; row numbers are those that the spreadsheet shows."""
    expected = read_scores([write("t.csv", long_frame)])
    above = [["Run of", "14 May", "by", "hand"], [], ["model A", "model B", "and", "others"]]
    path = workbook(scores=[*above, *rows_of(long_frame)])
    assert_equal_tables(read_scores([path], ReadOptions(skip_rows=3)), expected)
    text = "\n".join([",".join(row) for row in above] + [long_frame.write_csv()])
    csv = Path(path).with_name("above.csv")
    csv.write_text(text)
    assert_equal_tables(read_scores([str(csv)], ReadOptions(skip_rows=3)), expected)
    bad = rows_of(long_frame)
    bad[4][3] = "failed"
    csv.write_text("\n".join(",".join(map(str, row)) for row in [*above, *bad]))
    for file in (workbook(scores=[*above, *bad]), str(csv)):
        with pytest.raises(InputError, match="row 8, column score"):
            read_scores([file], ReadOptions(skip_rows=3))


@pytest.mark.parametrize("options", [{"sheet": "a"}, {"skip_rows": 2}])
def test_sheet_options_need_a_workbook(long_frame, tmp_path, options):
    long_frame.write_parquet(tmp_path / "t.parquet")
    for source in (str(tmp_path / "t.parquet"), FrameSource(long_frame)):
        with pytest.raises(UsageError, match=f"{next(iter(options))}="):
            read_scores([source], ReadOptions(**options))


def test_numbers_keep_all_their_digits(long_frame, workbook):
    # The writer keeps 16 digits; readers that go through a display format keep nine.
    precise = [(*row[:3], float(f"{0.1 + place / 7:.16g}")) for place, row in enumerate(long_frame.rows())]
    table = read_scores([workbook(t=[long_frame.columns, *precise])])
    loss = [metric.sign for metric in table.metrics]
    result = sorted(abs(float(x)) for v in table.values for x in (v * loss).ravel())
    assert result == sorted(abs(row[3]) for row in precise)


def test_text_in_a_numeric_column_is_refused(long_frame, workbook):
    rows = rows_of(long_frame)
    rows[4][3] = "failed"
    with pytest.raises(InputError, match="row 5, column score: the score is not a number") as caught:
        read_scores([workbook(t=rows)])
    assert "failed" in str(caught.value)


def test_several_sheets_need_a_selection(write, long_frame, workbook):
    path = workbook(**{"run 1": rows_of(long_frame), "run 2": [["model"], [3]]})
    with pytest.raises(InputError, match="the workbook has 2 tables; select one") as caught:
        read_scores([path])
    assert 'sheet="run 1"' in str(caught.value)
    assert_equal_tables(
        read_scores([path], ReadOptions(sheet="run 1")), read_scores([path], ReadOptions(sheet="1"))
    )
    assert_equal_tables(
        read_scores([path], ReadOptions(sheet="run 1")),
        read_scores([path], ReadOptions(sql='SELECT * FROM "run 1"')),
    )
    with pytest.raises(UsageError, match="there is no sheet 'run1'") as caught:
        read_scores([path], ReadOptions(sheet="run1"))
    assert 'did you mean sheet="run 1"' in str(caught.value)
    table = read_scores([path], ReadOptions(sql='SELECT * FROM "run 1"'))
    assert_equal_tables(table, read_scores([write("t.csv", long_frame)]))
    assert table.inputs[0].path == path
    single = workbook("one.xlsx", only=rows_of(long_frame))
    assert_equal_tables(read_scores([single], ReadOptions(sql="SELECT * FROM scores")), table)


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ({"t": []}, "the file is empty"),
        ({"t": [["model", "score"]]}, "the file is empty"),
        ({"t": [["model", "model"], ["a", "b"]]}, "two columns of sheet t are named 'model'"),
    ],
)
def test_invalid_sheets_are_refused(workbook, sheets, message):
    with pytest.raises(InputError, match=message):
        read_scores([workbook(**sheets)])


def test_invalid_workbooks_are_refused(write, workbook, long_frame):
    path = workbook(t=rows_of(long_frame))
    with open(path, "rb") as file:  # noqa: PTH123
        data = file.read()
    for content in (b"PK\x03\x04 and no more", data[: len(data) // 2], b"model,score\n"):
        with pytest.raises(RiskrankError, match="cannot be read as an Excel workbook"):
            read_scores([write("bad.xlsx", content)])


def test_formulas_without_values_are_refused(long_frame, workbook):
    rows = rows_of(long_frame)
    rows[4][3] = "=1/2"
    rows[6][3] = "=D5+0.25"
    with pytest.raises(InputError, match="formulas in sheet t have no computed value") as error:
        read_scores([workbook(t=rows)])
    assert error.value.found == "2 such cells: D5, D7"
    assert "save the workbook" in error.value.hint


def test_computed_formulas_and_gaps_are_read(tmp_path, long_frame, workbook):
    rows = rows_of(long_frame)
    rows[4][3] = "=1/2"
    rows[5].append('=IF(1,"",2)')
    rows[0].append("note")
    path = Path(workbook(t=rows))
    # Spreadsheet programs add the value next to the formula, even an empty text.
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert members[sheet].count("<v></v>") + members[sheet].count("<v />") + members[sheet].count("<v/>") == 2
    computed = re.sub(r"(<f>1/2</f>)<v ?/>|(<f>1/2</f>)<v></v>", "<f>1/2</f><v>0.5</v>", members[sheet])
    computed = re.sub(r'<c r="E6"', '<c t="str" r="E6"', computed)
    members[sheet] = computed
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    table = read_scores([str(path)])
    expected = long_frame.rows()[3]
    values = {float(value) for array in table.values for value in array.ravel()}
    assert values & {0.5, -0.5}
    assert expected[:3] == tuple(rows[4][:3])
