"""JSON tables in three layouts: one object per line, an array of rows, or separate columns and data."""

import io
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, listing
from riskrank.scores.files.data_frames import JsonPairs, json_columns, repeated_name_error
from riskrank.scores.files.guards import (
    MAX_COLUMNS,
    MAX_FIELD,
    PARSE_ERRORS,
    error_reason,
    find_overlong,
    require_columns,
    require_plausible_size,
)
from riskrank.scores.files.json_objects import has_surrogate, json_text, json_texts, unicode_error
from riskrank.scores.files.source import FrameInMemory, decode, excerpt

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
        super().__init__(label, data.removeprefix(b"\xef\xbb\xbf"), sha256)
        if not self._data.strip():
            raise self._empty(f"{len(data)} bytes")
        if (start := find_overlong(self._data, b"\n")) is not None:
            beginning = excerpt(self._data[start : start + MAX_FIELD])
            number = self._data.count(b"\n", 0, start) + 1
            raise self._json_error(number, beginning, f"a line of more than {MAX_FIELD:,} bytes")
        self._lazy = True
        self._lines = self._data.count(b"\n") + 1
        escaped = b"\\u" in self._data
        if escaped and (_LONE_SURROGATE.search(self._data) or _ESCAPED_NAME.search(self._data)):
            self._read_line_by_line()
        try:
            self._raw = self._names() if self._lazy else self._frame.columns
        except PARSE_ERRORS:
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
            except PARSE_ERRORS:
                self._read_line_by_line()
        return super().load(names)

    def _names(self) -> list[str]:
        """Return the names in all lines, in order of first occurrence.

        All lines are read, because a metric may first occur far down. They are processed in chunks, because
        Polars compares all names of its input with those of each line.
        """
        names: dict[str, None] = {}
        start = 0
        while start < len(self._data):
            end = self._data.find(b"\n", start + _CHUNK) + 1 or len(self._data)
            chunk, start = self._data[start:end], end
            if chunk.count(b":") > MAX_COLUMNS and chunk.lstrip()[:1] == b"{":  # one long line
                names.update(dict.fromkeys(json.loads(chunk)))
                require_columns(self.label, [*names])
            elif chunk.strip():
                schema = pl.scan_ndjson(io.BytesIO(chunk), infer_schema_length=None).collect_schema()
                self._add_names(names, schema.keys() - names, chunk)
        return list(names)

    def _add_names(self, names: dict[str, None], new: set[str], chunk: bytes) -> None:
        """Add new names in the order in which they occur in a chunk of lines.

        Polars returns new names, but does not preserve their order.
        """
        if not new:
            return
        require_plausible_size(self.label, self._lines, len(names) + len(new), len(self._data))
        for line in filter(bytes.strip, chunk.split(b"\n")):
            added = [name for name in json.loads(line) if name in new]
            names.update(dict.fromkeys(added))
            new.difference_update(added)
            if not new:
                return

    def row_number(self, position: int) -> int:
        """Return the line number of a data row."""
        numbers = (number for number, _ in self._nonblank_lines())
        return next(itertools.islice(numbers, position, None), position + 1)

    def _nonblank_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the line number and content of each non-blank line."""
        lines = enumerate(io.BytesIO(self._data), start=1)
        return ((number, line) for number, line in lines if not line.isspace())

    def _read_line_by_line(self) -> None:
        """Read with Python's parser, which locates errors and accepts NaN and Infinity."""
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
            require_plausible_size(self.label, self._lines, len(columns), len(self._data))
            for name in names:
                columns[name] += [None] * (height - len(columns[name]))
                columns[name] += json_texts([row.get(name) for row in rows])
            height, read = height + len(rows), read + len(block)
        for values in columns.values():
            values += [None] * (height - len(values))
        self._frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        self._surrogates, self._lazy = surrogates, False

    def _drop_surrogates(self, number: int, row: dict, surrogates: dict[str, int]) -> None:
        """Replace texts that contain a lone surrogate by None, and record the column and the row."""
        for name, value in row.items():
            if has_surrogate(name):
                raise unicode_error(f"{self.label}: row {number}", name)
            if has_surrogate(json_text(value) or ""):
                surrogates.setdefault(name, number)
                row[name] = None

    def _reject_repeated(self, frame: pl.DataFrame) -> None:
        """Raise InputError if a line repeats a name, because Polars would silently keep only one value.

        Occurrences are counted first as a quick check. If a name occurs as often as it has values, no line
        repeats it.
        """
        # Counting many names is slower than parsing all lines.
        if frame.width > _MAX_COUNTED or any(map(self._may_be_repeated, frame)):
            for number, line in self._nonblank_lines():
                self._parse_row(number, line)

    def _may_be_repeated(self, column: pl.Series) -> bool:
        """Return True if a name occurs more often in the file than its column has values."""
        key = json.dumps(column.name, ensure_ascii=False).encode()
        filled = column.len() - column.null_count()
        # Search for the colon only if the name occurs more often than it has values.
        if self._data.count(key) <= filled:
            return False
        return len(re.findall(re.escape(key) + rb"\s*:", self._data)) > filled

    def _parse_row(self, number: int, line: bytes) -> dict:
        """Parse one line as a JSON object, or raise InputError if it is not an object."""
        try:
            value = _DECODER.decode(line.decode().removesuffix("\n"))
        except UnicodeDecodeError:
            decode(self.label, self._data)
            raise
        except (ValueError, RecursionError) as error:
            raise self._json_error(number, excerpt(line), error_reason(error)) from None
        if isinstance(value, JsonPairs) and value.repeated is not None:
            raise repeated_name_error(f"{self.label}: row {number}", value.repeated)
        if not isinstance(value, dict):
            raise InputError(
                f"{self.label}: row {number} is not a JSON object",
                found=excerpt(line),
                hint='write one object per line, not an array: {"model": "A", "sample": "1", …}',
            )
        return value

    def _json_error(self, number: int, beginning: str, reason: str) -> InputError:
        """Return the error for a line that is not valid JSON."""
        return InputError(
            f"{self.label}: row {number} is not valid JSON",
            found=f"{beginning} ({reason})",
            hint="write one JSON object per line; an incomplete file ends in the middle of a line",
        )


class JsonArraySource(FrameInMemory):
    """A JSON document that contains a table in one of the layouts that pandas writes."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        data = data.removeprefix(b"\xef\xbb\xbf")
        super().__init__(label, data, sha256)
        if not data.strip():
            raise self._empty(f"{len(data)} bytes")
        decode(label, data)
        ignored: list[str] = []
        columns = json_columns(Path(label), data, ignored)
        if ignored:
            self.notes = (f"{label}: ignored keys around the rows: {listing(ignored)}",)
        texts = {name: json_texts(cells) for name, cells in columns.items()}
        surrogates = self._surrogates = dict[str, int]()
        for name, cells in texts.items():
            i = next((i for i, cell in enumerate(cells) if cell is not None and has_surrogate(cell)), None)
            if has_surrogate(name):
                raise unicode_error(label, name)
            if i is not None:
                surrogates[name], texts[name] = i + 1, [None] * len(cells)
        self._frame = pl.DataFrame([pl.Series(name, cells, pl.String) for name, cells in texts.items()])
        self._data = b""
        self._name_columns(self._frame.columns)
