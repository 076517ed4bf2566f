"""JSON files that hold a table: an object a line, an array of rows, or columns beside data."""

import io
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from riskrank.errors import InputError
from riskrank.scores.files.bounded import LONGEST_FIELD, endless
from riskrank.scores.files.data_frames import Columns, Pairs, json_columns, repeated_name
from riskrank.scores.files.json_objects import is_half, json_text, json_texts, no_unicode, reason_of
from riskrank.scores.files.limits import MOST_COLUMNS, require_columns, require_filled
from riskrank.scores.files.source import FrameInMemory, decode, excerpt
from riskrank.scores.names.vocabulary import column_for_role

# An escape for half of a surrogate pair, without the other half beside it.
_HALF = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|"
    rb"(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
# Names of columns beside their rows, as pandas splits a table.
_SPLIT = re.compile(rb'\s*\{\s*"(columns|index|data)"\s*:\s*\[')
# A name written with an escape: Polars takes the first of two such columns where others take the last.
_ESCAPED_NAME = re.compile(rb'"(?:[^"\\]++|\\[^u])*+\\u(?:[^"\\]++|\\.)*+"\s*+:')


def _object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Pairs(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of)

# Bytes of lines whose names are looked at together, and whose values; and names that are counted one by one.
_PIECE, _BLOCK, _MOST_COUNTED = 1 << 14, 1 << 20, 100


class JsonLinesSource(FrameInMemory):
    """A file with one JSON object a line."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        super().__init__(label, data.removeprefix(b"\xef\xbb\xbf"), sha256)
        if not self._data.strip():
            raise self._empty(f"{len(data)} bytes")
        if (start := endless(self._data, b"\n")) is not None:
            said = excerpt(self._data[start : start + LONGEST_FIELD])
            number = self._data.count(b"\n", 0, start) + 1
            raise self._no_json(number, said, f"a line of more than {LONGEST_FIELD:,} bytes")
        self._lazy = True
        self._lines = self._data.count(b"\n") + 1
        escaped = b"\\u" in self._data
        if escaped and (_HALF.search(self._data) or _ESCAPED_NAME.search(self._data)):
            self._read_line_by_line()
        try:
            self._raw = self._names() if self._lazy else self._frame.columns
        except (pl.exceptions.PolarsError, OSError, ValueError, RecursionError):
            self._read_line_by_line()
            self._raw = self._frame.columns
        self._name_columns(self._raw)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        if self._lazy:
            raw = dict(zip(self.columns, self._raw, strict=True))
            try:
                frame = pl.read_ndjson(io.BytesIO(self._data), schema={raw[one]: pl.String for one in names})
                self._refuse_repeated(frame)
                return frame.select(pl.col(raw[name]).alias(name) for name in names)
            except (pl.exceptions.PolarsError, OSError):
                self._read_line_by_line()
        return super().load(names)

    def _names(self) -> list[str]:
        """The names in all lines, as they come: a metric that first occurs far down must not be lost.

        A piece at a time: Polars compares all names of what it is given with those of each line.
        """
        names: dict[str, None] = {}
        start = 0
        while start < len(self._data):
            end = self._data.find(b"\n", start + _PIECE) + 1 or len(self._data)
            piece, start = self._data[start:end], end
            if piece.count(b":") > MOST_COLUMNS and piece.lstrip()[:1] == b"{":  # one long line
                names.update(dict.fromkeys(json.loads(piece)))
                require_columns(self.label, [*names])
            elif piece.strip():
                found = pl.scan_ndjson(io.BytesIO(piece), infer_schema_length=None).collect_schema()
                self._add_names(names, found.keys() - names, piece)
        return list(names)

    def _add_names(self, names: dict[str, None], new: set[str], piece: bytes) -> None:
        """Add new names of some lines in the order there, which Polars does not tell."""
        if not new:
            return
        require_filled(self.label, self._lines, len(names) + len(new), len(self._data))
        for line in filter(bytes.strip, piece.split(b"\n")):
            here = [name for name in json.loads(line) if name in new]
            names.update(dict.fromkeys(here))
            new.difference_update(here)
            if not new:
                return

    def row_number(self, position: int) -> int:
        """The number of a data row as a reader of the file would count it."""
        numbers = (number for number, _ in self._filled())
        return next(itertools.islice(numbers, position, None), position + 1)

    def _filled(self) -> Iterator[tuple[int, bytes]]:
        """Lines that are not blank, with their numbers."""
        lines = enumerate(io.BytesIO(self._data), start=1)
        return ((at, line) for at, line in lines if not line.isspace())

    def _read_line_by_line(self) -> None:
        """Read as Python does, which names the line that is wrong and accepts its own NaN and Infinity."""
        columns: dict[str, list[str | None]] = {}
        height = read = 0
        halves, lines = dict[str, int](), io.BytesIO(self._data)
        while some := lines.readlines(_BLOCK):
            filled = [(at, line) for at, line in enumerate(some, start=read + 1) if not line.isspace()]
            rows = [self._object(at, line) for at, line in filled]
            for (at, line), row in zip(filled, rows, strict=True):
                if b"\\u" in line:
                    self._leave_out_halves(at, row, halves)
            names = dict.fromkeys(itertools.chain.from_iterable(rows))
            columns |= {name: [] for name in names if name not in columns}
            require_filled(self.label, self._lines, len(columns), len(self._data))
            for name in names:
                columns[name] += [None] * (height - len(columns[name]))
                columns[name] += json_texts([row.get(name) for row in rows])
            height, read = height + len(rows), read + len(some)
        for values in columns.values():
            values += [None] * (height - len(values))
        self._frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        self._halves, self._lazy = halves, False

    def _leave_out_halves(self, number: int, row: dict, halves: dict[str, int]) -> None:
        for name, value in row.items():
            if is_half(name):
                raise no_unicode(f"{self.label}: row {number}", name)
            if is_half(json_text(value) or ""):
                halves.setdefault(name, number)
                row[name] = None

    def _refuse_repeated(self, frame: pl.DataFrame) -> None:
        """Refuse a line that names a column twice, of which Polars would take one without a word.

        Names are counted first: where there are as many as rows, and no row lacks one, none has two.
        """
        # To look for many names takes longer than to read all lines.
        if frame.width > _MOST_COUNTED or any(map(self._may_be_repeated, frame)):
            for number, line in self._filled():
                self._object(number, line)

    def _may_be_repeated(self, column: pl.Series) -> bool:
        key = json.dumps(column.name, ensure_ascii=False).encode()
        filled = column.len() - column.null_count()
        # The name may also be a value somewhere; only then is it worth looking for the colon.
        if self._data.count(key) <= filled:
            return False
        return len(re.findall(re.escape(key) + rb"\s*:", self._data)) > filled

    def _object(self, number: int, line: bytes) -> dict:
        try:
            value = _DECODER.decode(line.decode().removesuffix("\n"))
        except UnicodeDecodeError:
            decode(self.label, self._data)
            raise
        except (ValueError, RecursionError) as error:
            raise self._no_json(number, excerpt(line), reason_of(error)) from None
        if isinstance(value, Pairs) and value.repeated is not None:
            raise repeated_name(f"{self.label}: row {number}", value.repeated)
        if not isinstance(value, dict):
            raise InputError(
                f"{self.label}: row {number} is not a JSON object",
                found=excerpt(line),
                hint='write one object a line, not an array: {"model": "A", "sample": "1", …}',
            )
        return value

    def _no_json(self, number: int, beginning: str, reason: str) -> InputError:
        return InputError(
            f"{self.label}: row {number} is not valid JSON",
            found=f"{beginning} ({reason})",
            hint="write one JSON object a line; a file cut short ends in the middle of a line",
        )


class JsonArraySource(FrameInMemory):
    """A JSON document that is a table, in any of the ways pandas writes one."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        data = data.removeprefix(b"\xef\xbb\xbf")
        super().__init__(label, data, sha256)
        if not data.strip():
            raise self._empty(f"{len(data)} bytes")
        decode(label, data)
        columns = json_columns(Path(label), data)
        self._nested = data.lstrip()[:1] == b"{" and not _SPLIT.match(data) and _are_nested_scores(columns)
        texts = {name: json_texts(cells) for name, cells in columns.items()}
        halves = self._halves = dict[str, int]()
        for name, cells in texts.items():
            at = next((at for at, cell in enumerate(cells) if cell is not None and is_half(cell)), None)
            if is_half(name):
                raise no_unicode(label, name)
            if at is not None:
                halves[name], texts[name] = at + 1, [None] * len(cells)
        self._frame = pl.DataFrame([pl.Series(name, cells, pl.String) for name, cells in texts.items()])
        self._data = b""
        self._name_columns(self._frame.columns)

    def rewritten(self) -> str | None:
        """How to write the file, where names alone lead to its scores, and nobody says what they name."""
        if not self._nested:
            return None
        return 'write a row a score: [{"model": …, "sample": …, "metric": …, "score": …}, …]'


def _are_nested_scores(columns: Columns) -> bool:
    """Whether columns without a known name hold numbers and what lies around them alone."""
    known = any(column_for_role(role, columns) for role in ("model", "sample", "metric", "score"))
    return not known and all(map(_is_of_numbers, columns.values()))


def _is_of_numbers(value: object) -> bool:
    if isinstance(value, list | dict):
        return all(map(_is_of_numbers, value.values() if isinstance(value, dict) else value))
    return value is None or isinstance(value, int | float)
