"""Workbooks are read by their cells; malformed sheets are refused quickly."""

import re
import zipfile

import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.excel import ExcelSource
from riskrank.scores.files.source import OpenOptions
from riskrank.scores.table.score_table import read_scores
from tests.pace import at_most
from tests.scores.comparison import assert_equal_tables

openpyxl = pytest.importorskip("openpyxl")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
SHARED = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{KIND}"/>'
SHEET = "xl/worksheets/sheet1.xml"
TEXT = '<row r="26"><c r="B26" t="inlineStr"><is>{}</is></c></row>'
ROWS = "".join(f'<row r="{at}"><c r="A{at}"><v>1</v></c></row>' for at in range(100, 9_000))
SHARED_BY = "".join(
    f'<row r="{at}"><c r="A{at}"><v>1</v></c><c r="D{at}"><f t="shared" si="0"/></c></row>'
    for at in range(27, 67)
)
FORMULA = f'<f t="shared" ref="D26:D66" si="0">{"A1+" * 66_000}A1</f>'
FORMULAS = f'<row r="26"><c r="D26">{FORMULA}</c></row>{SHARED_BY}'


@pytest.fixture
def edited(tmp_path, long_frame):
    """Write a workbook, change the text of its sheet, and return the path."""

    def to_file(edit, dimension="", shared=""):
        book = openpyxl.Workbook()
        for row in (long_frame.columns, *long_frame.rows()):
            book.active.append(row)
        book.save(tmp_path / "whole.xlsx")
        with (
            zipfile.ZipFile(tmp_path / "whole.xlsx") as source,
            zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as changed,
        ):
            for name in source.namelist():
                text = source.read(name).decode()
                text = edit(re.sub("<dimension[^>]*/>", dimension, text)) if name == SHEET else text
                changed.writestr(name, text.replace("</Types>", f"{SHARED}</Types>"))
            changed.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}"><si><t>{shared}</t></si></sst>')
        return str(tmp_path / "t.xlsx")

    return to_file


def _below(rows):
    return lambda text: text.replace("</sheetData>", f"{rows}</sheetData>")


@pytest.mark.parametrize(
    ("edit", "dimension"),
    [
        (lambda text: text, '<dimension ref="A1"/>'),
        (lambda text: text, '<dimension ref="A1:XFD1048576"/>'),
        (_below('<row r="1048576"><c r="XFD1048576"/></row>'), ""),
        (_below('<row r="1048576"><c r="B1048576" s="0"/></row>'), '<dimension ref="A1:D25"/>'),
        (lambda text: text.replace("</row>", '<c r="XFD1"/></row>', 1), ""),
        (lambda text: text.replace(' r="2"', "", 1), ""),
    ],
)
def test_blank_cells_and_wrong_dimensions_are_ignored(write, long_frame, edited, edit, dimension):
    with at_most(200):
        assert_equal_tables(read_scores([edited(edit, dimension)]), read_scores([write("t.csv", long_frame)]))


def test_rows_beyond_the_sheet_dimension_are_read(edited):
    row = '<row r="26"><c r="A26"><v>1</v></c></row>'
    with pytest.raises(InputError, match="row 26, column"):
        read_scores([edited(_below(row), '<dimension ref="A1:D25"/>')])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            _below('<row r="1048577"><c r="A1048577"><v>1</v></c></row>'),
            "column 1 of row 1,048,577 after row 25",
        ),
        (_below('<row r="99999999999"><c><v>1</v></c></row>'), "column 1 of row 99,999,999,999 after row 25"),
        (_below(f'<row r="{"9" * 400}"/>'), "cannot convert float infinity"),
        (_below('<row r="3"><c r="A3"><v>1</v></c></row>'), "column 1 of row 3 after row 25"),
        (_below('<row r="26"><c r="ZZZ26"><v>1</v></c></row>'), "column 18,278 of row 26 after row 25"),
        (_below(f'<numFmt formatCode="{"[" * 256}"/>'), "a number format of more than 255 characters"),
        (
            lambda text: text.replace("<sheetData>", f'<sheetData x="{"x" * 2_000_000}">'),
            "a tag of more than",
        ),
        (_below(FORMULAS), "formulas in sheet Sheet have no computed value"),
        (_below("<a>" * 300 + "</a>" * 300), "nested more than 256 deep"),
        (_below("<sheet/>" * 4_000), "the compression ratio is too high for a table of results"),
        (
            _below('<row r="26">' + "<c/>" * 600_000 + "</row>"),
            "the compression ratio is too high for a table of results",
        ),
        (
            lambda text: f"{text}{' ' * 150_000_000}",
            "the compression ratio is too high for a table of results",
        ),
        (
            lambda text: _below(ROWS)(text.replace("</row>", '<c r="XFD1"><v>1</v></c></row>', 1)),
            "8,999 rows and 16,384 columns, almost all empty",
        ),
    ],
)
def test_malformed_sheets_are_refused(edited, edit, message):
    with at_most(200), pytest.raises(InputError, match=message):
        read_scores([edited(edit)])


def test_long_attributes_are_refused_in_linear_time(edited):
    path = edited(lambda text: text.replace("<sheetData>", f'<sheetData x="{"x" * 32_000_000}">'))
    with open(path, "rb") as file:  # noqa: PTH123
        data = file.read()
    with at_most(100), pytest.raises(InputError, match="a tag of more than 1,048,576 bytes"):
        ExcelSource("t.xlsx", data, "", OpenOptions())


def test_longest_cell_of_excel_is_read(edited):
    with pytest.raises(InputError, match="row 26, column"):
        read_scores([edited(_below(TEXT.format(f"<t>{'&amp;' * 32_767}</t>")))])


@pytest.mark.parametrize(
    ("rows", "most", "message"),
    [(0, 100_000, "more than 100,000 bytes when read"), (7_000, None, "compression ratio is too high")],
)
def test_shared_text_is_counted_per_cell(edited, rows, most, message):
    cells = re.compile(r'<c r="(B\d+)".*?</c>')
    more = "".join(f'<row r="{at + 26}"><c r="B{at + 26}"></c></row>' for at in range(rows))

    def shared(text):
        return cells.sub(r'<c r="\1" t="s"><v>0</v></c>', _below(more)(text))

    with pytest.raises(InputError, match=message):
        read_scores([edited(shared, shared="x" * 30_000)], ReadOptions(max_bytes=most))
