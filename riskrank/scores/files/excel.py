"""Excel workbooks, read by the cells that hold something, and without those that ask for far more."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any
from xml.parsers import expat

import polars as pl

from riskrank.errors import InputError, UsageError, counted, did_you_mean, listing, option
from riskrank.scores.files.guards import Budget, decoding, require_distinct, require_filled
from riskrank.scores.files.json_objects import column
from riskrank.scores.files.query import TABLE, run_sql
from riskrank.scores.files.source import FrameInMemory, How, lacks_package
from riskrank.scores.files.sql_names import likeliest, with_columns
from riskrank.scores.files.two_headers import refuse_titles, refuse_two_headers, two_headers, unpivoted

Rows = Sequence[Sequence[object]]
# The table of a sheet, the first rows that may be its names, and how many rows stand above them.
Sheet = tuple[pl.DataFrame, Rows, int]
# Rows among which the names are looked for.
_LOOK = 30


class ExcelSource(FrameInMemory):
    """A sheet of a workbook, or what a query makes of its sheets.

    Parameters
    ----------
    label, data, sha256
        As for any source.
    how : How
        Its query is over the sheets by their names; the only sheet is also called ``scores``.
    """

    def __init__(self, label: str, data: bytes, sha256: str, how: How) -> None:
        super().__init__(label, b"", sha256)
        sql = how.sql
        if not data:
            raise self._empty("0 bytes")
        with warnings.catch_warnings(action="ignore"):  # openpyxl tells of styles and lists it leaves out
            sheets = _sheets(label, data, how)
        if sql is None:
            sheets = {title: one for title, one in sheets.items() if _has_numbers(one[0])} or sheets
        if not sheets:
            raise self._empty("no sheet with a header and rows")
        if sql is None and len(sheets) > 1:
            columns = {title: frame.columns for title, (frame, _, _) in sheets.items()}
            raise UsageError(
                f"{label}: the workbook holds {len(sheets)} tables, and which one counts has to be said",
                found=f"sheets: {listing(with_columns(columns))}",
                hint=f"choose: {option('sheet', likeliest(columns))}",
            )
        self._frame, first, above = next(iter(sheets.values()))
        self._first_row = above + 2
        if sql is None:
            refuse_titles(label, first, above)
        else:
            tables = {title: frame for title, (frame, _, _) in sheets.items()}
            tables |= {} if len(sheets) > 1 else {TABLE: self._frame}
            self._frame = run_sql(tables, sql, label=label)
            self.queried = True
            self._first_row = 1
        self._name_columns(self._frame.columns)

    def row_number(self, position: int) -> int:
        """The number of a row of its sheet, as the program shows it."""
        return position + self._first_row


def _has_numbers(frame: pl.DataFrame) -> bool:
    """Whether a sheet holds a number: one of notes does not."""
    return any(dtype.is_numeric() or dtype == pl.Boolean for dtype in frame.dtypes)


def _sheets(label: str, data: bytes, how: How) -> dict[str, Sheet]:
    """The sheets that hold a table, a header and rows below it, or the one asked for."""
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError:
        hint = "pip install 'riskrank[excel]', or save the sheet as CSV"
        raise lacks_package(f"{label}: reading Excel", "openpyxl", hint) from None
    hint = "save it again as .xlsx; older .xls files and encrypted ones cannot be read"
    with decoding(f"{label}: the file", "an Excel workbook", hint):
        parts = _parts(label, data, how.budget)
        # Formulas have the values Excel last computed for them.
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        chosen = book.worksheets if how.sheet is None else [_named(label, book.worksheets, how.sheet)]
        cells = {sheet.title: [*_rows(sheet, parts)] for sheet in chosen}
    # A text that many cells share stands in the file once.
    texts = (cell for rows in cells.values() for row in rows for cell in row if isinstance(cell, str))
    how.budget.take(label, len(data), sum(map(len, texts)))
    found = {title: _frame(label, title, rows, how.skip_rows) for title, rows in cells.items()}
    frames = {title: frame for title, frame in found.items() if frame is not None}
    for sheet in chosen:
        waiting = parts[sheet._worksheet_path].uncomputed
        frame = frames.get(sheet.title)
        if waiting and frame and frame[0].null_count().sum_horizontal()[0]:
            raise _uncomputed(label, sheet.title, waiting)
    return frames


def _named(label: str, sheets: Sequence[Any], asked: str) -> Any:
    """The sheet of a name, or of a number where none is called so.

    Raises
    ------
    UsageError
    """
    titles = [sheet.title for sheet in sheets]
    if asked not in titles and asked.isdecimal() and len(asked) < 9 and 0 < int(asked) <= len(titles):
        return sheets[int(asked) - 1]
    if asked not in titles:
        otherwise = f"choose: {option('sheet', titles[0])}"
        hint = did_you_mean(asked, titles, write=partial(option, "sheet"), otherwise=otherwise)
        what = f"{label}: there is no sheet '{asked}'"
        raise UsageError(what, found=f"sheets: {listing(titles)}", hint=hint)
    return sheets[titles.index(asked)]


def _rows(sheet: Any, parts: Mapping[str, _Part]) -> Iterator[Sequence[Any]]:
    """Yield the rows as far as there is anything, whatever size the sheet gives itself."""
    part = parts[sheet._worksheet_path]
    if part.rows:
        yield from sheet.iter_rows(1, part.rows, 1, part.columns, values_only=True)


def _frame(label: str, title: str, rows: Rows, skipped: int) -> Sheet | None:
    filled = [at for at, row in enumerate(rows) if at >= skipped and any(cell is not None for cell in row)]
    if len(filled) < 2:
        return None
    above = skipped or filled[0]
    first, rows = rows[above : above + _LOOK], [rows[at] for at in filled]
    if two_headers(rows[:4]) and (table := unpivoted(rows)):
        first = rows = table
    refuse_two_headers(label, rows[:4])
    header = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    width = len(header)
    require_distinct(label, [name for name in header if name], f" of sheet {title}")
    cells = [(*row, *[None] * width)[:width] for row in rows[1:]]
    frame = [column(name, [row[at] for row in cells]) for at, name in enumerate(header) if name]
    return pl.DataFrame(frame), first, above


def _uncomputed(label: str, title: str, places: Sequence[tuple[int, int]]) -> InputError:
    """Tell of formulas that nothing has computed: programs that write workbooks leave that to Excel."""
    from openpyxl.utils import get_column_letter  # type: ignore[import-untyped]

    cells = [f"{get_column_letter(column)}{row}" for row, column in places]
    found = f"{counted(len(cells), 'such cell')}: {listing(cells)}"
    save = "open the workbook in a spreadsheet program and save it, which computes them"
    hint = f"{save}; or save the sheet as CSV"
    return InputError(f"{label}: formulas in sheet {title} that have no value yet", found=found, hint=hint)


# Bytes of a tag with its attributes, and levels of elements, that programs stay far below.
_LONGEST_TAG, _DEEPEST = 1 << 20, 256
# Letters of a number format that Excel takes: openpyxl takes their square to look for dates in it.
_LONGEST_FORMAT = 255
# The names of columns stand in one of the first rows: titles may stand above them.
_FIRST = 30
# Rows and columns of a sheet of Excel.
_ROWS, _COLUMNS = 1_048_576, 16_384
# Cells of the budget for each element, of which a cell has two; and elements that a sheet takes the time of.
_OF_AN_ELEMENT, _OF_A_SHEET = 12, 200
_PIECE = 1 << 18
_PLACE = re.compile(r"\$?([A-Za-z]{1,3})\$?\d+")


def _parts(label: str, data: bytes, budget: Budget) -> dict[str, _Part]:
    """Look through all parts of a workbook once, by their names, before anything makes room for their cells.

    Raises
    ------
    InputError
        If the parts exceed the budget, or a sheet is nearly empty.
    """
    parts: dict[str, _Part] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        budget.take(label, len(data), sum(member.file_size for member in members))
        elements = 0
        for member in members:
            part = parts[member.filename] = _Part()
            with archive.open(member) as file:
                for _ in part.read(file):
                    budget.take(label, len(data), 0, _OF_AN_ELEMENT * (elements + part.elements))
            elements += part.elements
            require_filled(label, part.rows, part.columns, member.file_size)
    return parts


class _Part:
    """A part of a workbook as it is read.

    Attributes
    ----------
    rows : int
        The last row with anything.
    columns : int
        The last column of the first such rows.
    uncomputed : list of (int, int)
        Rows and columns of formulas without a value.
    elements : int
    """

    def __init__(self) -> None:
        self.rows = self.columns = self.elements = 0
        self.uncomputed: list[tuple[int, int]] = []
        self._kind, self._formula = "", False  # of the cell the parser is in; a formula has no value so far
        self._depth = self._row = self._column = self._width = self._filled = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def read(self, file: IO[bytes]) -> Iterator[None]:
        """Read piece by piece to the end, or to where it is no XML: pictures are none."""
        given = 0
        while piece := file.read(_PIECE):
            try:
                self._parser.Parse(piece)
            except expat.ExpatError:
                break
            given += len(piece)
            if given - max(self._parser.CurrentByteIndex, 0) > _LONGEST_TAG:
                raise ValueError(f"a tag of more than {_LONGEST_TAG:,} bytes")
            yield

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(" ")[2]
        self.elements += _OF_A_SHEET if kind == "sheet" else 1
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError(f"elements nested more than {_DEEPEST} deep")
        if len(attributes.get("formatCode", "")) > _LONGEST_FORMAT:
            raise ValueError(f"a format of numbers of more than {_LONGEST_FORMAT} letters")
        if kind == "row":
            self._row = int(float(attributes.get("r", self._row + 1)))
            self._column = self._width = 0
        elif kind == "c":
            self._kind = attributes.get("t", "")
            place = _PLACE.fullmatch(attributes.get("r", ""))
            self._column = _number_of(place[1]) if place else self._column + 1
        elif kind in ("v", "f", "is"):
            self._width = max(self._width, self._column)
            self._formula |= kind == "f" and self._kind != "str"  # an empty text may be what it gave
            if kind == "v":
                self._parser.CharacterDataHandler = self._value

    def _value(self, _: str) -> None:
        self._formula, self._parser.CharacterDataHandler = False, None

    def _end(self, name: str) -> None:
        self._depth -= 1
        kind = name.rpartition(" ")[2]
        if kind == "v":
            self._parser.CharacterDataHandler = None
        elif kind == "c" and self._formula:
            self.uncomputed.append((self._row, self._column))
            self._formula = False
        elif kind == "row" and self._width:
            if not self.rows < self._row <= _ROWS or self._width > _COLUMNS:
                raise ValueError(f"column {self._width:,} of row {self._row:,} after row {self.rows:,}")
            self.rows = self._row
            self._filled += 1
            if self._filled <= _FIRST:
                self.columns = max(self.columns, self._width)


def _number_of(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
