"""CSV and JSON tables as dictionaries of columns, for readers of evaluation exports."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from riskrank.errors import InputError, listing
from riskrank.scores.files.delimited import DelimitedSource
from riskrank.scores.files.guards import empty_error, require_columns, require_plausible_size
from riskrank.scores.files.json_objects import parse_json, preview
from riskrank.scores.files.parsing import MISSING, TEXT, VALID, parse_scores
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.vocabulary import column_for_role

Columns = dict[str, list[object]]


class JsonPairs(dict[str, object]):
    """A JSON object that records whether a name occurs more than once."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated: str | None = None
        if len(self) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.repeated = next(name for name, count in counts.items() if count > 1)


def unique_object(label: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object from (name, value) pairs; for use as ``object_pairs_hook``.

    Raises
    ------
    InputError
        If a name occurs twice.
    """
    result = dict(pairs)
    if len(result) < len(pairs):
        raise repeated_name_error(f"{label}: an object", str(JsonPairs(pairs).repeated))
    return result


def repeated_name_error(location: str, name: str) -> InputError:
    """Return the error for a JSON object in which a name occurs twice."""
    return InputError(
        f"{location} has two values named '{name}'",
        found="a repeated name in a JSON object",
        hint="check the program that wrote it, and keep one of them",
    )


def csv_columns(path: Path, data: bytes, numeric: Callable[[str], object] = lambda name: True) -> Columns:
    """Return the columns of a CSV file as numbers or text, with None for empty cells.

    Columns whose names `numeric` rejects remain text, because sample names may look like numbers.
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


def json_columns(path: Path, data: bytes, ignored: list[str] | None = None) -> Columns:
    """Return the columns of a JSON table in one of the layouts that pandas writes.

    Supported layouts are ``{"columns", "data"}``, one list or mapping per column, and a list of rows.

    Parameters
    ----------
    path : Path
        Name of the file in messages.
    data : bytes
        Contents of the file.
    ignored : list of str, optional
        List to which the names of ignored keys are appended.

    Raises
    ------
    InputError
        If the document has another structure, or its columns differ in length.
    """
    value = parse_json(str(path), data.removeprefix(b"\xef\xbb\xbf"), hook=partial(unique_object, str(path)))
    value = _find_rows(value, [] if ignored is None else ignored)
    columns: Columns = {}
    if isinstance(value, dict) and {"columns", "data"} <= value.keys():
        names, rows = value["columns"], value["data"]
        if not isinstance(names, list) or not all(isinstance(name, str | int) for name in names):
            raise _not_a_table(path, f"columns that are not a list of names: {preview(names)}")
        if not isinstance(rows, list) or not all(isinstance(r, list) and len(r) == len(names) for r in rows):
            raise _not_a_table(path, "rows without exactly one value per column")
        columns = {str(name): [row[i] for row in rows] for i, name in enumerate(names)}
    elif isinstance(value, dict) and value and all(isinstance(cells, list) for cells in value.values()):
        columns = {str(name): list(cells) for name, cells in value.items()}
    elif isinstance(value, dict) and value and all(isinstance(cells, dict) for cells in value.values()):
        require_columns(str(path), [*value])
        index = list(dict.fromkeys(i for cells in value.values() for i in cells))
        require_plausible_size(str(path), len(index), len(value), len(data))
        columns = {str(name): [cells.get(i) for i in index] for name, cells in value.items()}
    elif isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        names = dict.fromkeys(name for row in value for name in row)
        require_columns(str(path), [*names])
        require_plausible_size(str(path), len(value), len(names), len(data))
        columns = {str(name): [row.get(name) for row in value] for name in names}
    else:
        raise _not_a_table(path, preview(value))
    require_columns(str(path), [*columns])
    lengths = sorted({len(cells) for cells in columns.values()})
    if len(lengths) != 1:
        raise _not_a_table(path, f"columns of different lengths: {listing(lengths)} values")
    if lengths == [0]:
        raise empty_error(str(path), f"{len(columns)} columns and no rows")
    return columns


def _find_rows(document: object, ignored: list[str]) -> object:
    """Return the list of rows in a document, or the numbers below its keys as a long table.

    If there is one list of rows, a key next to it is a column if it names the model, and is otherwise
    ignored. If there are several lists of rows, each key names the model of its list. Other documents are
    returned unchanged.
    """
    pairs = document if isinstance(document, dict) else {}
    tables = {key: value for key, value in pairs.items() if isinstance(value, list)}
    rows = {key: value for key, value in tables.items() if _are_plain_rows(value)}
    if len(tables) == len(rows) == 1:
        (name,) = rows
        model = {key: pairs[key] for key in pairs if key == column_for_role("model", [key]) and key != name}
        ignored += [key for key in pairs if key not in {name, *model}]
        return [{**model, **row} for row in rows[name]]
    if (
        rows
        and len(rows) == len(pairs)
        and not any(column_for_role("model", part[0]) for part in rows.values())
    ):
        return [{"model": key, **row} for key, part in rows.items() for row in part]
    return _keyed_columns(document) or document


def _are_plain_rows(value: object) -> bool:
    """Return True for a list of objects without nested values."""
    rows = value if isinstance(value, list) else []
    return bool(rows) and all(
        isinstance(row, dict) and not any(isinstance(x, dict | list) for x in row.values()) for row in rows
    )


def _keyed_columns(document: object) -> Columns | None:
    """Return the numbers below nested keys as a long table, or None if nesting is not uniform.

    Keys that are all names of metrics form the column ``metric``. Positions in a list form the column
    ``sample``; with two nested lists, the outer positions form the column ``draw``. Other levels of keys are
    named ``model``, ``level_1``, ``level_2`` and so on.
    """
    leaves = [*_leaves(document)]
    paths = [path for path, _ in leaves]
    kinds = {tuple(map(type, path)) for path in paths}
    if len(kinds) != 1 or () in kinds or not all(value is None or is_number(value) for _, value in leaves):
        return None
    kind, levels = kinds.pop(), [dict.fromkeys(level) for level in zip(*paths, strict=True)]
    keys, lists = kind.count(str), kind.count(int)
    is_index = lists == 0 and all(str(name).isdigit() for name in levels[-1])
    if keys + lists < 2 or (keys, lists) == (1, 1) or lists > 2 or is_index or kind[:keys] != (str,) * keys:
        return None
    if {str(name).casefold() for name in levels[0]} & {"model", "sample", "metric", "score"}:
        return None
    named = {at: "metric" for at in range(keys) if all(names_a_metric(str(name)) for name in levels[at])}
    named = dict([*named.items()][-1:])
    named |= dict(zip(range(keys, keys + lists), ("draw", "sample")[-lists:] if lists else (), strict=True))
    others = [at for at in range(keys) if at not in named and len(levels[at]) > 1]
    if lists and len(others) == 1:
        named[others[0]] = "model"
    names = {at: named.get(at) or f"level_{at + 1}" for at in sorted({*named, *others})}
    columns: Columns = {"score": [value for _, value in leaves]}
    for at, name in names.items():
        columns[name] = [path[at] for path in paths]
    return columns


def _leaves(node: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Yield each value in nested objects and lists with its path, up to a depth of six."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    if isinstance(node, dict | list) and len(path) < 6:
        for key, part in pairs:
            yield from _leaves(part, (*path, key))
    else:
        yield path, node


def is_number(value: object) -> bool:
    """Return True if a value is a number or boolean, and can therefore be a score."""
    return isinstance(value, bool | int | float)


def _not_a_table(path: Path, detail: str) -> InputError:
    """Return the error for a JSON document that is not a table."""
    hint = 'write {"columns": […], "data": [[…], …]}, one list of values per column, or a list of rows'
    return InputError(f"{path}: the file is not a table", found=detail, hint=hint)
