"""Excel workbooks, read within a budget and without empty ranges of cells."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import IO, Any
from xml.parsers import expat

import polars as pl

from riskrank.errors import InputError, UsageError, counted, did_you_mean, listing, option
from riskrank.scores.files.delimited import has_two_headers, reject_titles, reject_two_headers, unpivot
from riskrank.scores.files.guards import Budget, require_distinct, require_plausible_size, translate_errors
from riskrank.scores.files.parsing import build_column
from riskrank.scores.files.query import TABLE, quote_column, run_sql, several_tables_error
from riskrank.scores.files.source import FrameInMemory, OpenOptions, missing_package_error

Rows = Sequence[Sequence[object]]
# Table of a sheet, its possible header rows, and the number of rows above them.
Sheet = tuple[pl.DataFrame, Rows, int]
# Rows searched for the header.
_HEADER_ROWS = 30


class ExcelSource(FrameInMemory):
    """A sheet of a workbook, or the result of a query on its sheets.

    Parameters
    ----------
    label, data, sha256
        See :class:`~riskrank.scores.files.source.Source`.
    options : OpenOptions
        A query in the options refers to sheets by name; a single sheet is also called ``scores``.
    """

    def __init__(self, label: str, data: bytes, sha256: str, options: OpenOptions) -> None:
        """Read the requested sheet, or run the query on all sheets."""
        super().__init__(label, b"", sha256)
        sql = options.sql
        if not data:
            raise self._empty_error("0 bytes")
        with warnings.catch_warnings(action="ignore"):  # openpyxl warns about unsupported styles
            sheets = _read_sheets(label, data, options)
        if sql is None:
            numeric = pl.selectors.numeric() | pl.selectors.boolean()
            tables = {title: sheet for title, sheet in sheets.items() if sheet[0].select(numeric).width}
            sheets = tables or sheets  # a sheet of notes has no numbers
        if not sheets:
            raise self._empty_error("no sheet with a header and rows")
        if sql is None and len(sheets) > 1:
            columns = {title: frame.columns for title, (frame, _, _) in sheets.items()}
            problem = f"{label}: the workbook has {len(sheets)} tables; select one"
            raise several_tables_error(
                problem, columns, "sheet", lambda name: f"SELECT * FROM {quote_column(name)}"
            )
        self._frame, first, above = next(iter(sheets.values()))
        self._first_row = above + 2
        if sql is None:
            reject_titles(label, first, above)
        else:
            frames = {title: frame for title, (frame, _, _) in sheets.items()}
            frames |= {} if len(sheets) > 1 else {TABLE: self._frame}
            self._frame = run_sql(frames, sql, label=label)
            self.queried = True
            self._first_row = 1
        self._name_columns(self._frame.columns)

    def row_number(self, position: int) -> int:
        """Return the row number, as spreadsheet programs display it, of the data row at a position."""
        return position + self._first_row


def _read_sheets(label: str, data: bytes, options: OpenOptions) -> dict[str, Sheet]:
    """Return the sheets with a header and rows, by name; or only the sheet that an option requests."""
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError:
        hint = "pip install 'riskrank[excel]', or save the sheet as CSV"
        raise missing_package_error(f"{label}: reading Excel", "openpyxl", hint) from None
    hint = "save the file as .xlsx; encrypted files and old .xls files cannot be read"
    with translate_errors(f"{label}: the file", "an Excel workbook", hint):
        parts = _scan_parts(label, data, options.budget)
        # data_only: formulas have the values that Excel computed last.
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        name, chosen = options.sheet, book.worksheets
        chosen = chosen if name is None else [_select_sheet(label, chosen, name)]
        cells = {}
        for sheet in chosen:  # up to the last filled cell, whatever size the sheet declares
            part = parts[sheet._worksheet_path]
            rows = sheet.iter_rows(1, part.rows, 1, part.columns, values_only=True) if part.rows else ()
            cells[sheet.title] = [*rows]
    # The file stores a text only once, even if many cells share it.
    texts = (cell for rows in cells.values() for row in rows for cell in row if isinstance(cell, str))
    options.budget.charge(label, len(data), sum(map(len, texts)))
    parsed = {title: _build_sheet(label, title, rows, options.skip_rows) for title, rows in cells.items()}
    frames = {title: frame for title, frame in parsed.items() if frame is not None}
    for sheet in chosen:
        formulas = parts[sheet._worksheet_path].uncomputed
        frame = frames.get(sheet.title)
        if formulas and frame and frame[0].null_count().sum_horizontal()[0]:
            raise _uncomputed_error(label, sheet.title, formulas)
    return frames


def _select_sheet(label: str, sheets: Sequence[Any], name: str) -> Any:
    """Return the sheet with a given name, or with a given number if no sheet has that name.

    Raises
    ------
    UsageError
        If there is no such sheet.
    """
    titles = [sheet.title for sheet in sheets]
    if name not in titles and name.isdecimal() and len(name) < 9 and 0 < int(name) <= len(titles):
        return sheets[int(name) - 1]
    if name not in titles:
        otherwise = f"choose: {option('sheet', titles[0])}"
        hint = did_you_mean(name, titles, write=partial(option, "sheet"), fallback=otherwise)
        problem = f"{label}: there is no sheet '{name}'"
        raise UsageError(problem, found=f"sheets: {listing(titles)}", hint=hint)
    return sheets[titles.index(name)]


def _build_sheet(label: str, title: str, rows: Rows, skipped: int) -> Sheet | None:
    """Return a sheet as a data frame, with its first rows and the number of rows above the header.

    Return None if fewer than two rows are filled.

    Parameters
    ----------
    label, title : str
        Names of the file and of the sheet, for messages.
    rows : sequence of sequences
        All rows of the sheet.
    skipped : int
        Number of rows to skip above the header; 0 to search for the first filled row.
    """
    filled = [i for i, row in enumerate(rows) if i >= skipped and any(cell is not None for cell in row)]
    if len(filled) < 2:
        return None
    above = skipped or filled[0]
    first, rows = rows[above : above + _HEADER_ROWS], [rows[i] for i in filled]
    if has_two_headers(rows[:4]) and (table := unpivot(rows)):
        first = rows = table
    reject_two_headers(label, rows[:4])
    header = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    width = len(header)
    require_distinct(label, [name for name in header if name], f" of sheet {title}")
    cells = [(*row, *[None] * width)[:width] for row in rows[1:]]
    frame = [build_column(name, [row[i] for row in cells]) for i, name in enumerate(header) if name]
    return pl.DataFrame(frame), first, above


def _uncomputed_error(label: str, title: str, positions: Sequence[tuple[int, int]]) -> InputError:
    """Return the error for formulas without a stored value, which some programs leave to Excel.

    `title` is the sheet, and `positions` are the row and column of each formula.
    """
    from openpyxl.utils import get_column_letter  # type: ignore[import-untyped]

    cells = [f"{get_column_letter(column)}{row}" for row, column in positions]
    detail = f"{counted(len(cells), 'such cell')}: {listing(cells)}"
    save = "open and save the workbook in a spreadsheet program to compute them"
    hint = f"{save}; or save the sheet as CSV"
    return InputError(f"{label}: formulas in sheet {title} have no computed value", found=detail, hint=hint)


# Maximum bytes of a tag with attributes, and maximum nesting depth; real files stay far below.
_MAX_TAG, _MAX_DEPTH = 1 << 20, 256
# Maximum length of a number format in Excel; openpyxl needs quadratic time to look for dates in it.
_MAX_FORMAT = 255
# Rows that determine the table width; titles may stand above the header.
_WIDTH_ROWS = 30
# Maximum rows and columns of an Excel sheet.
_MAX_ROWS, _MAX_COLUMNS = 1_048_576, 16_384
# Cells charged to the budget per XML element (a cell has two), and cost of a sheet in elements.
_CELLS_PER_ELEMENT, _ELEMENTS_PER_SHEET = 12, 200
_CHUNK = 1 << 18
_CELL_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?\d+")


def _scan_parts(label: str, data: bytes, budget: Budget) -> dict[str, _Part]:
    """Measure all parts of a workbook before memory is allocated for cells; return them by name.

    Raises
    ------
    InputError
        If the parts exceed the budget, or a sheet is nearly empty.
    """
    parts: dict[str, _Part] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        budget.charge(label, len(data), sum(member.file_size for member in members))
        elements = 0
        for member in members:
            part = parts[member.filename] = _Part()
            with archive.open(member) as file:
                for _ in part.read(file):
                    budget.charge(label, len(data), 0, _CELLS_PER_ELEMENT * (elements + part.elements))
            elements += part.elements
            require_plausible_size(label, part.rows, part.columns, member.file_size)
    return parts


class _Part:
    """Size and formulas of a workbook part, updated as the part is parsed.

    Attributes
    ----------
    rows : int
        Last row with content.
    columns : int
        Last filled column among the first rows.
    uncomputed : list of (int, int)
        Row and column of each formula without a value.
    elements : int
        Number of XML elements.
    """

    def __init__(self) -> None:
        """Create a parser for a part without content."""
        from openpyxl.utils import column_index_from_string

        self.rows = self.columns = self.elements = 0
        self.uncomputed: list[tuple[int, int]] = []
        # Type of the current cell, and whether its formula lacks a value.
        self._kind, self._formula = "", False
        self._depth = self._row = self._column = self._width = self._filled = 0
        self._column_number: Callable[[str], int] = column_index_from_string
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element

    def read(self, file: IO[bytes]) -> Iterator[None]:
        """Parse a file in chunks, yielding after each, up to its end or the first invalid XML.

        Parts that are not XML, such as images, end the parsing without an error.

        Raises
        ------
        ValueError
            If a tag is too long.
        """
        n_read = 0
        while chunk := file.read(_CHUNK):
            try:
                self._parser.Parse(chunk)
            except expat.ExpatError:
                break
            n_read += len(chunk)
            if n_read - max(self._parser.CurrentByteIndex, 0) > _MAX_TAG:
                raise ValueError(f"a tag of more than {_MAX_TAG:,} bytes")
            yield

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        """Update the size and formulas of the part at the start tag of an XML element.

        Raise ValueError if it is nested too deeply.
        """
        kind = name.rpartition(" ")[2]
        self.elements += _ELEMENTS_PER_SHEET if kind == "sheet" else 1
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"elements nested more than {_MAX_DEPTH} deep")
        if len(attributes.get("formatCode", "")) > _MAX_FORMAT:
            raise ValueError(f"a number format of more than {_MAX_FORMAT} characters")
        if kind == "row":
            self._row = int(float(attributes.get("r", self._row + 1)))
            self._column = self._width = 0
        elif kind == "c":
            self._kind = attributes.get("t", "")
            reference = _CELL_REFERENCE.fullmatch(attributes.get("r", ""))
            self._column = self._column_number(reference[1]) if reference else self._column + 1
        elif kind in ("v", "f", "is"):
            self._width = max(self._width, self._column)
            self._formula |= kind == "f" and self._kind != "str"  # its value may be an empty text
            if kind == "v":
                self._parser.CharacterDataHandler = self._record_value

    def _record_value(self, _: str) -> None:
        """Record that a formula has a stored value."""
        self._formula, self._parser.CharacterDataHandler = False, None

    def _end_element(self, name: str) -> None:
        """Update the size and formulas of the part at the end tag of an XML element."""
        self._depth -= 1
        kind = name.rpartition(" ")[2]
        if kind == "v":
            self._parser.CharacterDataHandler = None
        elif kind == "c" and self._formula:
            self.uncomputed.append((self._row, self._column))
            self._formula = False
        elif kind == "row" and self._width:
            if not self.rows < self._row <= _MAX_ROWS or self._width > _MAX_COLUMNS:
                raise ValueError(f"column {self._width:,} of row {self._row:,} after row {self.rows:,}")
            self.rows = self._row
            self._filled += 1
            if self._filled <= _WIDTH_ROWS:
                self.columns = max(self.columns, self._width)
