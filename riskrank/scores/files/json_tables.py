"""JSON tables in three layouts: one object per line, an array of rows, or separate columns and data."""

import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from riskrank.errors import InputError, listing
from riskrank.scores.files import guards, parsing
from riskrank.scores.files.source import FrameInMemory, decode, excerpt
from riskrank.scores.names.directions import is_metric_name
from riskrank.scores.names.vocabulary import INDEX, column_for_role, is_task_name

# An escape of a lone surrogate.
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|"
    rb"(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
# A name with an escape; of two equal names Polars would keep the first instead of the last.
_ESCAPED_NAME = re.compile(rb'"(?:[^"\\]++|\\[^u])*+\\u(?:[^"\\]++|\\.)*+"\s*+:')


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object as a dictionary, or as JsonPairs if a name is repeated."""
    result = dict(pairs)
    return result if len(result) == len(pairs) else JsonPairs(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_build_object)

# Bytes per chunk for names and for values, and maximum number of names that are counted.
_CHUNK, _BLOCK, _MAX_COUNTED = 1 << 14, 1 << 20, 100


class JsonLinesSource(FrameInMemory):
    """A file with one JSON object per line."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        """Read the names in the file; see `Source` for the parameters."""
        super().__init__(label, data.removeprefix(b"\xef\xbb\xbf"), sha256)
        if not self._data.strip():
            raise self._empty_error(f"{len(data)} bytes")
        if (start := guards.find_overlong(self._data)) is not None:
            beginning = excerpt(self._data[start : start + guards.MAX_FIELD])
            number = self._data.count(b"\n", 0, start) + 1
            raise self._json_error(number, beginning, f"a line of more than {guards.MAX_FIELD:,} bytes")
        guards.require_text(label, self._data)
        self._lazy = True
        self._lines = self._data.count(b"\n") + 1
        escaped = b"\\u" in self._data
        if escaped and (_LONE_SURROGATE.search(self._data) or _ESCAPED_NAME.search(self._data)):
            self._read_line_by_line()
        try:
            self._raw = self._read_names() if self._lazy else self._frame.columns
        except guards.PARSE_ERRORS:
            self._read_line_by_line()
            self._raw = self._frame.columns
        self._name_columns(self._raw)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns as text."""
        if self._lazy:
            raw = dict(zip(self.columns, self._raw, strict=True))
            try:
                schema = {raw[name]: pl.String for name in names}
                frame = pl.read_ndjson(io.BytesIO(self._data), schema=schema)
                self._reject_repeated(frame)
                return frame.select(pl.col(raw[name]).alias(name) for name in names)
            except guards.PARSE_ERRORS:
                self._read_line_by_line()
        return super().load(names)

    def _read_names(self) -> list[str]:
        """Return all names in the file, in order of first occurrence.

        All lines are read, because a metric may first occur far down. They are processed in chunks, because
        Polars compares all names of its input with those of each line.
        """
        names: dict[str, None] = {}
        start = 0
        while start < len(self._data):
            end = self._data.find(b"\n", start + _CHUNK) + 1 or len(self._data)
            chunk, start = self._data[start:end], end
            if chunk.count(b":") > guards.MAX_COLUMNS and chunk.lstrip()[:1] == b"{":  # one long line
                names.update(dict.fromkeys(json.loads(chunk)))
                guards.require_columns(self.label, [*names])
            elif chunk.strip():
                schema = pl.scan_ndjson(io.BytesIO(chunk), infer_schema_length=None).collect_schema()
                self._add_names(names, schema.keys() - names, chunk)
        return list(names)

    def _add_names(self, names: dict[str, None], new: set[str], chunk: bytes) -> None:
        """Add the names in `new` to `names`, in the order in which they occur in a chunk of lines.

        Polars returns new names, but does not preserve their order.
        """
        if not new:
            return
        guards.require_plausible_size(self.label, self._lines, len(names) + len(new), len(self._data))
        for line in filter(bytes.strip, chunk.split(b"\n")):
            added = [name for name in json.loads(line) if name in new]
            names.update(dict.fromkeys(added))
            new.difference_update(added)
            if not new:
                return

    def row_number(self, position: int) -> int:
        """Return the line number of the data row at a position."""
        numbers = (number for number, _ in self._nonblank_lines())
        return next(itertools.islice(numbers, position, None), position + 1)

    def _nonblank_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the line number and content of each non-blank line."""
        return ((n, line) for n, line in enumerate(io.BytesIO(self._data), start=1) if not line.isspace())

    def _read_line_by_line(self) -> None:
        """Read the file with Python's parser, which locates errors and accepts NaN and Infinity."""
        columns: dict[str, list[str | None]] = {}
        height = read = 0
        surrogates, lines = dict[str, int](), io.BytesIO(self._data)
        while block := lines.readlines(_BLOCK):
            filled = [(n, line) for n, line in enumerate(block, start=read + 1) if not line.isspace()]
            rows = [self._parse_row(n, line) for n, line in filled]
            for (n, line), row in zip(filled, rows, strict=True):
                if b"\\u" in line:
                    self._drop_surrogates(n, row, surrogates)
            names = dict.fromkeys(itertools.chain.from_iterable(rows))
            columns |= {name: [] for name in names if name not in columns}
            guards.require_plausible_size(self.label, self._lines, len(columns), len(self._data))
            for name in names:
                columns[name] += [None] * (height - len(columns[name]))
                columns[name] += parsing.json_texts([row.get(name) for row in rows])
            height, read = height + len(rows), read + len(block)
        for values in columns.values():
            values += [None] * (height - len(values))
        self._frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        self._surrogates, self._lazy = surrogates, False

    def _drop_surrogates(self, number: int, row: dict, surrogates: dict[str, int]) -> None:
        """Replace texts in a row that contain a lone surrogate by None.

        The first row number with such a text is recorded in `surrogates`, by column.
        """
        for name, value in row.items():
            if parsing.has_surrogate(name):
                raise parsing.unicode_error(f"{self.label}: row {number}", name)
            if parsing.has_surrogate(parsing.json_text(value) or ""):
                surrogates.setdefault(name, number)
                row[name] = None

    def _reject_repeated(self, frame: pl.DataFrame) -> None:
        """Raise InputError if a line repeats a name, because Polars would silently keep only one value.

        Occurrences are counted first as a quick check. If a name occurs as often as it has values, no line
        repeats it.
        """
        keys = {json.dumps(column.name, ensure_ascii=False).encode(): column.count() for column in frame}
        # Counting many names is slower than parsing all lines, and searching for the colon is slow.
        if frame.width <= _MAX_COUNTED and not any(
            self._data.count(key) > filled and len(re.findall(re.escape(key) + rb"\s*:", self._data)) > filled
            for key, filled in keys.items()
        ):
            return
        for number, line in self._nonblank_lines():
            self._parse_row(number, line)

    def _parse_row(self, number: int, line: bytes) -> dict:
        """Parse one line as a JSON object. Raise InputError, with its number, if it is anything else."""
        try:
            value = _DECODER.decode(line.decode().removesuffix("\n"))
        except UnicodeDecodeError:
            decode(self.label, self._data)
            raise
        except (ValueError, RecursionError) as error:
            raise self._json_error(number, excerpt(line), guards.error_reason(error)) from None
        if isinstance(value, JsonPairs):
            raise repeated_name_error(f"{self.label}: row {number}", value.repeated)
        if not isinstance(value, dict):
            problem = f"{self.label}: row {number} is not a JSON object"
            hint = 'write one object per line, not an array: {"model": "A", "sample": "1", …}'
            raise guards.BrokenFileError(problem, found=excerpt(line), hint=hint)
        return value

    def _json_error(self, number: int, beginning: str, reason: str) -> InputError:
        """Return the error for a row that is not valid JSON.

        `number` is its number, and `beginning` its first characters.
        """
        problem = f"{self.label}: row {number} is not valid JSON"
        hint = "write one JSON object per line; an incomplete file ends in the middle of a line"
        return guards.BrokenFileError(problem, found=f"{beginning} ({reason})", hint=hint)


class JsonArraySource(FrameInMemory):
    """A JSON document that contains a table in one of the layouts that pandas writes."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        """Read the table in the document; see `Source` for the parameters."""
        data = data.removeprefix(b"\xef\xbb\xbf")
        super().__init__(label, b"", sha256)
        if not data.strip():
            raise self._empty_error(f"{len(data)} bytes")
        decode(label, data)
        ignored: list[str] = []
        columns = json_columns(label, data, ignored)
        if ignored:
            self.notes = (f"{label}: ignored keys around the rows: {listing(ignored)}",)
        texts = {name: parsing.json_texts(cells) for name, cells in columns.items()}
        surrogates = self._surrogates = dict[str, int]()
        for name, cells in texts.items():
            lost = (i for i, cell in enumerate(cells) if cell is not None and parsing.has_surrogate(cell))
            i = next(lost, None)
            if parsing.has_surrogate(name):
                raise parsing.unicode_error(label, name)
            if i is not None:
                surrogates[name], texts[name] = i + 1, [None] * len(cells)
        self._set_frame(pl.DataFrame([pl.Series(name, cells, pl.String) for name, cells in texts.items()]))


Columns = dict[str, list[object]]
KeyPath = tuple[str | int, ...]


class JsonPairs(dict[str, object]):
    """A JSON object in which a name occurs more than once."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        """Build the object from (name, value) pairs; the last value of a name counts."""
        super().__init__(pairs)
        counts = Counter(name for name, _ in pairs)
        self.repeated = next(name for name, count in counts.items() if count > 1)


def unique_object(label: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object from (name, value) pairs; for use as ``object_pairs_hook``.

    Parameters
    ----------
    label : str
        Name of the file in messages.
    pairs : list of (str, object)

    Raises
    ------
    InputError
        If a name occurs twice.
    """
    result = _build_object(pairs)
    if isinstance(result, JsonPairs):
        raise repeated_name_error(f"{label}: an object", result.repeated)
    return result


def repeated_name_error(location: str, name: str) -> InputError:
    """Return the error for a JSON object in which a name occurs twice. `location` names the object."""
    problem = f"{location} has two values named '{name}'"
    hint = "check the program that wrote it, and keep one of them"
    return InputError(problem, found="a repeated name in a JSON object", hint=hint)


def json_columns(label: str, data: bytes, ignored: list[str] | None = None) -> Columns:
    """Return the columns of a JSON table in one of the layouts that pandas writes.

    Supported layouts are ``{"columns", "data"}``, one list or mapping per column, and a list of rows.

    Parameters
    ----------
    label : str
        Name of the file in messages.
    data : bytes
        Contents of the file without byte order mark.
    ignored : list of str, optional
        List to which the names of ignored keys are appended.

    Raises
    ------
    InputError
        If the document has another structure, or its columns differ in length.
    """
    # Parsing a large document of another shape would need far more memory.
    large = data if len(data) > guards.MAX_FIELD else b""
    if _NOT_ROWS.match(large):
        raise _not_a_table(label, excerpt(data[:400]))
    if match := _MANY_NAMES.match(large):
        guards.require_columns(label, [*(parsing.json_object(match[0][:-1] + b"}") or {})])
    if large.count(b"{") > _MAX_KEYED and _MANY_OBJECTS.match(large):
        raise _not_a_table(label, f"an object with more than {_MAX_KEYED:,} objects")
    document = parsing.parse_json(label, data, hook=partial(unique_object, label))
    value = _find_rows(document, [] if ignored is None else ignored)
    columns: Columns = {}
    if isinstance(value, dict) and {"columns", "data"} <= value.keys():
        names, rows = value["columns"], value["data"]
        if not isinstance(names, list) or not all(isinstance(name, str | int) for name in names):
            raise _not_a_table(label, f"columns that are not a list of names: {parsing.preview(names)}")
        if not isinstance(rows, list) or not all(isinstance(r, list) and len(r) == len(names) for r in rows):
            raise _not_a_table(label, "rows without exactly one value per column")
        columns = {str(name): [row[i] for row in rows] for i, name in enumerate(names)}
    elif isinstance(value, dict) and value and all(isinstance(cells, list) for cells in value.values()):
        columns = {str(name): list(cells) for name, cells in value.items()}
    elif isinstance(value, dict) and value and all(isinstance(cells, dict) for cells in value.values()):
        guards.require_columns(label, [*value])
        index = list(dict.fromkeys(i for cells in value.values() for i in cells))
        guards.require_plausible_size(label, len(index), len(value), len(data))
        columns = {str(name): [cells.get(i) for i in index] for name, cells in value.items()}
        named = not all(map(str.isdecimal, index))
        if named and any(
            isinstance(cell, dict) or _is_word(cell) for cells in columns.values() for cell in cells
        ):
            columns = {"name": [*value]} | {i: [cells.get(i) for cells in value.values()] for i in index}
        elif named and INDEX not in columns:
            columns = {INDEX: [*index], **columns}
    elif isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        names = dict.fromkeys(name for row in value for name in row)
        guards.require_plausible_size(label, len(value), len(names), len(data))
        columns = {str(name): [row.get(name) for row in value] for name in names}
    else:
        raise _not_a_table(label, parsing.preview(value))
    guards.require_columns(label, [*columns])
    lengths = sorted({len(cells) for cells in columns.values()})
    if len(lengths) != 1:
        raise _not_a_table(label, f"columns of different lengths: {listing(lengths)} values")
    if lengths == [0]:
        raise guards.empty_error(label, f"{len(columns)} columns and no rows")
    return columns


_TEXT = rb'"(?:[^"\\]++|\\.)*+"'
# An array that contains neither objects nor lists of numbers.
_NOT_ROWS = re.compile(rb"\s*+\[\s*+(?![{\]]|\[\s*+[^\s\[{])")
# The beginning of an object with too many numbers, texts or simple lists.
_PAIR = rb'\s*+%s\s*+:\s*+(?:%s|[^\s"{}\[\],]++|\[[^{}\[\]]*+\])\s*+,' % (_TEXT, _TEXT)
_MANY_NAMES = re.compile(rb"\s*+\{(?:%s){%d}" % (_PAIR, guards.MAX_COLUMNS + 1))
# Largest number of keys, such as samples, with an object each; parsing three million takes 1.7 GB.
_MAX_KEYED = 1_000_000
# The beginning of an object with too many objects, each with at most one more level.
_FLAT = rb'(?:%s|[^"{}])*+' % _TEXT
_OBJECT = rb'\{(?:%s|[^"{}]|\{%s\})*+\}' % (_TEXT, _FLAT)
_MANY_OBJECTS = re.compile(rb"\s*+\{(?:\s*+%s\s*+:\s*+%s\s*+,){%d}+" % (_TEXT, _OBJECT, _MAX_KEYED))


# Levels of keys above the scores in a key for results: model, task and metric.
_RESULT_LEVELS = 3


def _find_rows(document: object, ignored: list[str]) -> object:
    """Return the list of rows in a JSON document, or the numbers below its keys as a long table.

    If there is one list of rows, a key next to it is a column if it names the model. Other keys are appended
    to `ignored`. If there are several lists of rows, each key names the model of its list. Other documents
    are returned unchanged.
    """
    pairs = document if isinstance(document, dict) else {}
    tables = {key: value for key, value in pairs.items() if isinstance(value, list)}
    rows = {key: value for key, value in tables.items() if _are_plain_rows(value)}
    if len(tables) == len(rows) == 1:
        (name,) = rows
        model = {key: pairs[key] for key in pairs if key == column_for_role("model", [key]) and key != name}
        metric = [key for key in pairs if key == column_for_role("metric", [key]) and key != name]
        nested = {key for row in rows[name] for key, value in row.items() if isinstance(value, dict)}
        # One metric next to the rows names the scores in their only nested object.
        renamed = (
            dict(zip(nested, (str(pairs[key]) for key in metric), strict=False)) if len(nested) == 1 else {}
        )
        renamed = {key: value for key, value in renamed.items() if is_metric_name(value)}
        ignored += [key for key in pairs if key not in {name, *model, *(metric if renamed else ())}]
        return [
            {**model, **{renamed.get(key, key): value for key, value in row.items()}} for row in rows[name]
        ]
    if len(tables) == 1 and (timed := _measurements(*tables.values())):
        return timed
    name_models = any(column_for_role("model", part[0]) for part in rows.values())
    if rows and len(rows) == len(pairs) and not name_models:
        return [{"model": key, **row} for key, part in rows.items() for row in part]
    return _keyed_columns(document) or _keyed_results(pairs, ignored) or document


def _measurements(rows: Sequence[object]) -> list[dict[str, object]] | None:
    """Return one row per measurement of runs that hold a list of times each, as hyperfine writes them.

    The first text of each run names its model. Return None for other rows.
    """
    runs = [row for row in rows if isinstance(row, dict) and isinstance(row.get("times"), list)]
    names = [next((text for text in row.values() if isinstance(text, str)), "") for row in runs]
    if len(runs) < max(len(rows), 2) or len({*names} - {""}) < len(runs):
        return None
    cells = zip(names, runs, strict=True)
    times = [(name, time) for name, run in cells for time in run["times"]]
    return [{"model": name, "sample": n, "time": time} for n, (name, time) in enumerate(times, 1)]


def _are_plain_rows(value: object) -> bool:
    """Return True for a list of objects without nested values other than objects of numbers."""
    rows = value if isinstance(value, list) else []
    return bool(rows) and all(
        isinstance(row, dict) and all(map(_is_plain_cell, row.values())) for row in rows
    )


def _is_plain_cell(value: object) -> bool:
    """Return True for a value that is not nested, and for an object of numbers."""
    if isinstance(value, dict):
        return bool(value) and all(map(is_number, value.values()))
    return not isinstance(value, list)


def _keyed_results(pairs: dict[str, object], ignored: list[str]) -> Columns | None:
    """Return the columns of the only key whose value has three levels of keys with numbers, or None.

    Texts among the numbers are skipped. The other keys are appended to `ignored`.
    """
    tables = {key: _skip_texts(value) for key, value in pairs.items() if isinstance(value, dict)}
    found = {
        key: columns
        for key, table in tables.items()
        if all(len(path) == _RESULT_LEVELS for path, _ in _iter_leaves(table))
        and (columns := _keyed_columns(table)) is not None
    }
    if len(found) != 1 or "metric" not in next(iter(found.values())):
        return None
    ignored += [key for key in pairs if key not in found]
    return next(iter(found.values()))


def _skip_texts(node: object) -> object:
    """Return nested objects without the texts in objects that also contain numbers."""
    if not isinstance(node, dict):
        return node
    scored = any(map(is_number, node.values()))
    return {key: _skip_texts(part) for key, part in node.items() if not (scored and isinstance(part, str))}


def _keyed_columns(document: object) -> Columns | None:
    """Convert a document of nested keys with numbers to a long table; return None if its nesting varies.

    Keys that are all names of metrics form the column ``metric``. Positions in a list form the column
    ``sample``; with two nested lists, the outer positions form the column ``draw``. Other levels of keys are
    named ``model``, ``level_1``, ``level_2`` and so on.
    """
    kind = tuple(map(type, next(_iter_leaves(document), ((), None))[0]))
    keys, lists = kind.count(str), kind.count(int)
    if keys + lists < 2 or (keys, lists) == (1, 1) or lists > 2 or kind[:keys] != (str,) * keys:
        return None
    paths: tuple[list[str | int], ...] = tuple([] for _ in kind)
    scores: list[object] = []
    for path, value in _iter_leaves(document):
        if tuple(map(type, path)) != kind or not (value is None or is_number(value)):
            return None
        scores.append(value)
        for parts, part in zip(paths, path, strict=True):
            parts.append(part)
    levels = [*map(dict.fromkeys, paths)]
    if lists == 0 and all(str(name).isdigit() for name in levels[-1]):
        return None
    if {str(name).casefold() for name in levels[0]} & {"model", "sample", "metric", "score"}:
        return None
    named = {at: "metric" for at in range(keys) if all(is_metric_name(str(name)) for name in levels[at])}
    named = dict([*named.items()][-1:])
    named |= dict(zip(range(keys, keys + lists), ("draw", "sample")[-lists:] if lists else (), strict=True))
    others = [at for at in range(keys) if at not in named and len(levels[at]) > 1]
    if lists and len(others) == 1:
        named[others[0]] = "model"
    tasks = [at for at in others if all(is_task_name(str(name)) for name in levels[at])]
    if not lists and len(others) == 2 and len(tasks) == 1:
        named |= {at: "task" if at in tasks else "model" for at in others}
    names = {at: named.get(at) or f"level_{at + 1}" for at in sorted({*named, *others})}
    return {"score": scores, **{name: [*paths[at]] for at, name in names.items()}}


def _iter_leaves(node: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Yield the path and value of each number, text or other leaf in nested objects and lists.

    Values more than six levels deep are yielded as they are. `path` is that of `node`.
    """
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    if isinstance(node, dict | list) and len(path) < 6:
        for key, part in pairs:
            yield from _iter_leaves(part, (*path, key))
    else:
        yield path, node


def is_number(value: object) -> bool:
    """Return True if a value is a number or boolean, so that it can be a score."""
    return isinstance(value, bool | int | float)


def _is_word(value: object) -> bool:
    """Return True if a value is a text without digits that does not mark a missing score."""
    text = value.strip().casefold() if isinstance(value, str) else ""
    return text not in parsing.MISSING_TEXT and not re.search(r"\d", text)


def _not_a_table(label: str, detail: str) -> InputError:
    """Return the error for a JSON document that is not a table. `detail` says what was found."""
    hint = 'write {"columns": […], "data": [[…], …]}, one list of values per column, or a list of rows'
    return InputError(f"{label}: the file is not a table", found=detail, hint=hint)
