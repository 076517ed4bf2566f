"""Excel workbooks."""

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from riskrank.errors import InputError, UsageError, counted, did_you_mean, listing, option
from riskrank.scores.files.json_objects import column
from riskrank.scores.files.limits import lacks_package, require_distinct
from riskrank.scores.files.query import TABLE, run_sql
from riskrank.scores.files.source import FrameInMemory, How
from riskrank.scores.files.sql_names import likeliest, with_columns
from riskrank.scores.files.two_headers import refuse_titles, refuse_two_headers, two_headers, unpivoted
from riskrank.scores.files.workbook_extents import Extent, extents, no_workbook

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
    try:
        reach = extents(label, data, how.room)
        # Formulas have the values Excel last computed for them.
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        chosen = book.worksheets if how.sheet is None else [_named(label, book.worksheets, how.sheet)]
        cells = {sheet.title: [*_rows(sheet, reach)] for sheet in chosen}
        # A text that many cells share stands in the file once.
        texts = (cell for rows in cells.values() for row in rows for cell in row if isinstance(cell, str))
        how.room.take(label, len(data), sum(map(len, texts)))
        found = {title: _frame(label, title, rows, how.skip_rows) for title, rows in cells.items()}
        frames = {title: frame for title, frame in found.items() if frame is not None}
        for sheet in chosen:
            waiting = reach[sheet._worksheet_path].uncomputed
            frame = frames.get(sheet.title)
            if waiting and frame and frame[0].null_count().sum_horizontal()[0]:
                raise _uncomputed(label, sheet.title, waiting)
        return frames
    except (InputError, UsageError):
        raise
    except IndexError:
        raise no_workbook(label, "a cell that points to a text or style which is not there") from None
    except Exception as error:  # openpyxl lets through whatever zipfile, XML and its own parts raise
        raise no_workbook(label, f"{type(error).__name__}: {error}".splitlines()[0]) from None


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


def _rows(sheet: Any, reach: Mapping[str, Extent]) -> Iterator[Sequence[Any]]:
    """The rows as far as there is anything, whatever size the sheet gives itself."""
    extent = reach[sheet._worksheet_path]
    if extent.rows:
        yield from sheet.iter_rows(1, extent.rows, 1, extent.columns, values_only=True)


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
