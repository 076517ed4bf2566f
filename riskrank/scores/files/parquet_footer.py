"""How the columns of a Parquet file nest, read off its end: Polars follows them until its stack is full."""

import re
from collections.abc import Iterator

from riskrank.errors import InputError
from riskrank.scores.files.limits import COPY_AGAIN, MOST_COLUMNS, too_wide, unreadable

# Levels of a column, of which a list takes two; and columns with all types within them.
_DEEPEST, _MOST_ELEMENTS = 64, 2 * MOST_COLUMNS
_MARK = b"PAR1"
# Bytes of the end, which tells of each column of each row group, and is read whole each time.
_LONGEST = 1 << 24
# Types of Thrift's compact protocol, and the fields that count: the schema, and how many elements lie in one.
_TRUTHS, _BYTE, _NUMBERS, _DOUBLE, _BYTES = (1, 2), 3, (4, 5, 6), 7, 8
_NUMBER, _MAP, _STRUCT = 5, 11, 12
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
        why = f"an end that tells no columns: {error}"
        raise unreadable(f"{label}: the file", why, COPY_AGAIN, " as Parquet") from None
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

    def children(self) -> list[int]:
        """How many elements lie in each element of the schema, of the first ones where there are too many."""
        found: list[int] = []
        for field, kind in self._fields():
            if field != _SCHEMA:
                self._skip(kind, 0)
                continue
            kind, size = self._list()
            if kind != _STRUCT:
                raise ValueError("a schema of no elements")
            found = [self._element() for _ in range(min(size, _MOST_ELEMENTS + 1))]
            if size > _MOST_ELEMENTS:
                break
        if not found:
            raise ValueError("no schema")
        return found

    def _element(self) -> int:
        """How many elements lie in the one that begins here."""
        found = 0
        for field, kind in self._fields():
            if field != _CHILDREN:
                self._skip(kind, 0)
            elif kind == _NUMBER:
                number = self._varint()
                found = (number >> 1) ^ -(number & 1)
            else:
                raise ValueError(f"a number of type {kind}")
        return max(found, 0)

    def _fields(self) -> Iterator[tuple[int, int]]:
        """Numbers, which ascend, and types of the fields of a struct: each is read before the next one."""
        field = 0
        while (header := self._byte()) & 15:
            if header < 16 or field > _LAST_FIELD:
                raise ValueError("fields out of order")
            field += header >> 4
            yield field, header & 15

    def _list(self) -> tuple[int, int]:
        """Type of what is in a list, and how many there are."""
        header = self._byte()
        size = header >> 4
        return header & 15, self._varint() if size == 15 else size

    def _skip(self, kind: int, depth: int) -> None:
        """Pass a value, and all within it."""
        if depth > _DEEPEST or not 0 < kind <= _STRUCT:
            raise ValueError(f"a value of type {kind} in {depth} others")
        if kind == _BYTE:
            self._byte()
        elif kind in _NUMBERS:
            self._varint()
        elif kind in (_DOUBLE, _BYTES):
            self._pass(8 if kind == _DOUBLE else self._varint())
        elif kind == _STRUCT:
            for _, one in self._fields():
                self._skip(one, depth + 1)
        elif kind not in _TRUTHS:
            self._skip_values(kind, depth)

    def _skip_values(self, kind: int, depth: int) -> None:
        """Pass the values of a list, a set or a map."""
        if kind == _MAP:
            size = self._varint()
            both = self._byte() if size else 0
            kinds = [both >> 4, both & 15]
        else:
            one, size = self._list()
            kinds = [one]
        for _ in range(size):
            for one in kinds:
                self._skip(_BYTE if one in _TRUTHS else one, depth + 1)  # a truth is a byte here

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
