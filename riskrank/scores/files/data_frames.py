"""Tables inside exports, as columns of Python values: CSV, and the ways pandas writes JSON, no name twice."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from riskrank.errors import InputError, listing
from riskrank.scores.files.bounded import parse_json
from riskrank.scores.files.delimited import DelimitedSource
from riskrank.scores.files.json_objects import shown
from riskrank.scores.files.limits import empty, require_columns, require_filled
from riskrank.scores.files.parsing import MISSING, TEXT, VALID, parse_scores
from riskrank.scores.names.vocabulary import column_for_role

Columns = dict[str, list[object]]


class Pairs(dict[str, object]):
    """A JSON object that remembers a name it holds twice."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated: str | None = None
        if len(self) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.repeated = next(name for name, count in counts.items() if count > 1)


def unique_names(label: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its names and values, for ``object_pairs_hook``.

    Raises
    ------
    InputError
        If a name occurs twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise repeated_name(f"{label}: an object", str(Pairs(pairs).repeated))
    return found


def repeated_name(place: str, name: str) -> InputError:
    """Tell that an object holds a name twice: either value could be meant."""
    return InputError(
        f"{place} has two values called '{name}'",
        found="one name twice in a JSON object",
        hint="check the program that wrote it, and keep one of them",
    )


def csv_columns(path: Path, data: bytes, numeric: Callable[[str], object] = lambda name: True) -> Columns:
    """Columns of a CSV file: numbers where a cell is one, None where it is empty, else its text.

    Columns that are not `numeric` by their names stay text: what names a sample may look like a number.
    """
    source = DelimitedSource(str(path), data, "", separator=",")
    names = [name for name in source.columns if name]
    frame = source.load(names)
    columns: Columns = {}
    for name in names:
        if not numeric(name):
            columns[name] = frame[name].to_list()
            continue
        values, state = parse_scores(frame[name], source.decimal_comma)
        kinds = [VALID] * len(values) if state is None else state.tolist()
        columns[name] = [
            None if kind == MISSING else text if kind == TEXT else value
            for value, kind, text in zip(values.tolist(), kinds, frame[name], strict=True)
        ]
    return columns


def json_columns(path: Path, data: bytes) -> Columns:
    """Columns of a JSON table: ``{"columns", "data"}``, a list a column, a mapping a column, or rows.

    Parameters
    ----------
    path : Path
    data : bytes

    Raises
    ------
    InputError
        If it is none of these, or its columns differ in length.
    """
    value = parse_json(str(path), data.removeprefix(b"\xef\xbb\xbf"), hook=partial(unique_names, str(path)))
    value = rows_within(value)
    columns: Columns = {}
    if isinstance(value, dict) and {"columns", "data"} <= value.keys():
        names, rows = value["columns"], value["data"]
        if not isinstance(names, list) or not all(isinstance(name, str | int) for name in names):
            raise _no_table(path, f"columns that are no list of names: {shown(names)}")
        if not isinstance(rows, list) or not all(isinstance(r, list) and len(r) == len(names) for r in rows):
            raise _no_table(path, "rows that have not one value a column")
        columns = {str(name): [row[at] for row in rows] for at, name in enumerate(names)}
    elif isinstance(value, dict) and value and all(isinstance(cells, list) for cells in value.values()):
        columns = {str(name): list(cells) for name, cells in value.items()}
    elif isinstance(value, dict) and value and all(isinstance(cells, dict) for cells in value.values()):
        require_columns(str(path), [*value])
        index = list(dict.fromkeys(at for cells in value.values() for at in cells))
        require_filled(str(path), len(index), len(value), len(data))
        columns = {str(name): [cells.get(at) for at in index] for name, cells in value.items()}
    elif isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        names = dict.fromkeys(name for row in value for name in row)
        require_columns(str(path), [*names])
        require_filled(str(path), len(value), len(names), len(data))
        columns = {str(name): [row.get(name) for row in value] for name in names}
    else:
        raise _no_table(path, shown(value))
    require_columns(str(path), [*columns])
    lengths = sorted({len(cells) for cells in columns.values()})
    if len(lengths) != 1:
        raise _no_table(path, f"columns of {listing(lengths)} values")
    if lengths == [0]:
        raise empty(str(path), f"{len(columns)} columns and no rows")
    return columns


def rows_within(document: object) -> object:
    """The only table in a document, a list of rows of plain values that name models; else the document."""
    values = document.values() if isinstance(document, dict) else []
    tables = [value for value in values if isinstance(value, list)]
    rows = tables[0] if len(tables) == 1 else []
    plain = all(
        isinstance(row, dict) and not any(isinstance(of, dict | list) for of in row.values()) for row in rows
    )
    return rows if rows and plain and column_for_role("model", rows[0]) else document


def is_number(value: object) -> bool:
    """Whether a cell can be a score: a number or a boolean."""
    return isinstance(value, bool | int | float)


def _no_table(path: Path, found: str) -> InputError:
    hint = 'write {"columns": […], "data": [[…], …]}, a list of values a column, or a list of rows'
    return InputError(f"{path}: the file is not a table", found=found, hint=hint)
