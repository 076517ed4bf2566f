"""How the columns of a Parquet file nest, read off its end: Polars follows them until its stack is full."""

import re
from collections.abc import Callable

from riskrank.errors import InputError
from riskrank.scores.files.limits import MOST_COLUMNS, too_wide

# Levels of a column, of which a list takes two; and columns with all types within them.
_DEEPEST, _MOST_ELEMENTS = 64, 2 * MOST_COLUMNS
_MARK = b"PAR1"
# Bytes of the end, which tells of each column of each row group, and is read whole each time.
_LONGEST = 1 << 24
# Types of Thrift's compact protocol, and the fields that count: the schema, and how many elements lie in one.
_STOP, _NUMBER, _LIST, _STRUCT = 0, 5, 9, 12
_SCHEMA, _CHILDREN, _LAST_FIELD = 2, 5, 1_000
# A schema of Arrow, which says once more what columns hold, and the beginning of its length: from 16 KB on,
# two bytes go on.
_ARROW = re.compile(rb"ARROW:schema\x18([\x80-\xff]*)")


def require_flat(label: str, data: bytes) -> bytes:
    """The file, without a long schema of Arrow; refuse columns that nest deeper, or are more, than any has.

    Raises
    ------
    InputError
    """
    length = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - length
    if data[-4:] != _MARK or start < 0:
        return data  # no end to read, which Polars says of every format
    if length > _LONGEST:
        raise InputError(
            f"{label}: what the end of the file tells of its parts is longer than any table needs",
            found=f"{length:,} bytes; {_LONGEST:,} are allowed",
            hint="write it anew, with more rows to a row group",
        )
    try:
        children = _Compact(data, start).children()
    except (IndexError, ValueError) as error:
        raise InputError(
            f"{label}: the file cannot be read as Parquet",
            found=f"an end that tells no columns: {error}",
            hint="copy the file again (it may be cut short)",
        ) from None
    if len(children) > _MOST_ELEMENTS or children[0] > MOST_COLUMNS:
        raise too_wide(label, "more in the schema at its end")
    deepest = _depth(children)
    if deepest > _DEEPEST:
        raise InputError(
            f"{label}: a column is nested too deep",
            found=f"{deepest:,} levels; {_DEEPEST} are allowed, and a list takes two",
            hint="leave the column out, or write it flat",
        )
    found = _ARROW.sub(lambda one: one[0] if len(one[1]) < 2 else one[0].swapcase(), data[start:])
    return data if found == data[start:] else data[:start] + found


def _depth(children: list[int]) -> int:
    """Levels below the first element of a list in which those within an element follow it."""
    deepest, left = 0, list[int]()
    for count in children:
        while left and not left[-1]:
            left.pop()
        deepest = max(deepest, len(left))
        if left:
            left[-1] -= 1
        if count:
            left.append(count)
    return deepest


class _Compact:
    """Thrift's compact protocol, from some byte on."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data, self._at = data, start
        self._skips: dict[int, Callable[[int], object]] = {
            **dict.fromkeys((1, 2), lambda _: None),
            3: lambda _: self._byte(),
            **dict.fromkeys((4, _NUMBER, 6), lambda _: self._varint()),
            7: lambda _: self._pass(8),
            8: lambda _: self._pass(self._varint()),
            **dict.fromkeys((_LIST, 10), self._skip_list),
            11: self._skip_map,
            _STRUCT: self._skip_struct,
        }

    def children(self) -> list[int]:
        """How many elements lie in each element of the schema, of the first ones where there are too many."""
        kind, field = 1, 0
        while field != _SCHEMA:
            if field:
                self._skip(kind, 0)
            kind, field = self._field(field)
            if kind == _STOP or field > _SCHEMA:
                raise ValueError("no schema")
        kind, size = self._list()
        if kind != _STRUCT or not size:
            raise ValueError("a schema of no elements")
        found = [self._element() for _ in range(min(size, _MOST_ELEMENTS + 1))]
        if size <= _MOST_ELEMENTS:
            self._skip_struct(0, field)  # another schema, of which Polars takes the last, is none of the rest
        return found

    def _element(self) -> int:
        """How many elements lie in the one that begins here."""
        found = field = 0
        while (header := self._field(field))[0] != _STOP:
            kind, field = header
            if field != _CHILDREN:
                self._skip(kind, 0)
            elif kind == _NUMBER:
                found = self._zigzag()
            else:
                raise ValueError(f"a number of type {kind}")
        return max(found, 0)

    def _field(self, before: int) -> tuple[int, int]:
        """Type and number of the field that begins here."""
        header = self._byte()
        further, kind = header >> 4, header & 15
        if kind and (not further or before > _LAST_FIELD):
            raise ValueError("fields out of order")
        return kind, before + further

    def _list(self) -> tuple[int, int]:
        """Type of what is in a list, and how many there are."""
        header = self._byte()
        size = header >> 4
        return header & 15, self._varint() if size == 15 else size

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _DEEPEST or kind not in self._skips:
            raise ValueError(f"a value of type {kind} in {depth} others")
        self._skips[kind](depth + 1)

    def _skip_list(self, depth: int) -> None:
        kind, size = self._list()
        self._skip_values([kind], size, depth)

    def _skip_map(self, depth: int) -> None:
        size = self._varint()
        kinds = self._byte() if size else 0
        self._skip_values([kinds >> 4, kinds & 15], size, depth)

    def _skip_values(self, kinds: list[int], size: int, depth: int) -> None:
        for _ in range(size):
            for kind in kinds:
                self._skip(3 if kind in (1, 2) else kind, depth)  # a truth is a byte here

    def _skip_struct(self, depth: int, field: int = 0) -> None:
        while (header := self._field(field))[0] != _STOP:
            self._skip(header[0], depth)
            field = header[1]

    def _pass(self, size: int) -> None:
        self._at += size
        if self._at > len(self._data):
            raise IndexError("cut short")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
            if shift > 63:
                raise ValueError("a number without end")

    def _zigzag(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
