"""How far the cells of a workbook reach that hold something, told before anything makes room for them."""

import io
import re
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from typing import IO
from xml.parsers import expat

from riskrank.errors import InputError
from riskrank.scores.files.limits import Room, require_filled, too_dense

_PIECE = 1 << 18
# Bytes of a tag with its attributes, and levels of elements, that programs stay far below.
_LONGEST_TAG, _DEEPEST = 1 << 20, 256
# Names of columns stand in one of the first rows: titles may stand above them.
_FIRST = 30
# What a sheet of Excel holds.
_ROWS, _COLUMNS = 1_048_576, 16_384
# Bytes of the text of a cell, of which Excel takes 32,767 characters, however they are written.
_LONGEST_TEXT = 1 << 20
_TEXTS = ("v", "f", "t")
# Letters of a format of numbers that Excel takes: who looks for dates in it takes their square.
_LONGEST_FORMAT = 255
# Elements there may be any number of, with what is in them: rows, texts, pieces of texts, points of charts.
_MANY = ("row", "si", "r", "pt")
# Sheets, and other elements of all parts, that workbooks stay far below.
_SHEETS, _ELEMENTS = 1_000, 100_000
# Elements of any kind in a small workbook, and in a packed byte of others: people write one in each.
_LEAST, _A_BYTE = 250_000, 1.5
_PLACE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d+)")


@dataclass(slots=True)
class Extent:
    """The last row with anything, the last column of the first such rows, formulas without a value."""

    rows: int = 0
    columns: int = 0
    uncomputed: list[tuple[int, int]] = field(default_factory=list)


def extents(label: str, data: bytes, room: Room) -> dict[str, Extent]:
    """Look through all parts of a workbook once, in time of their bytes.

    Returns
    -------
    dict of str to Extent
        By the names of the parts.

    Raises
    ------
    InputError
        If the parts are larger than there is room for, a sheet is nearly empty, or a part is none that any
        program writes: tags without end, elements without ground, cells no sheet has.
    BadZipFile
    """
    found: dict[str, Extent] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        room.take(label, len(data), sum(member.file_size for member in members))
        seen, most = Counter[str](), _LEAST + int(_A_BYTE * len(data))
        for member in members:
            with archive.open(member) as part:
                one = found[member.filename] = _Part(label, member.filename, seen, most).read(part)
            require_filled(label, one.rows, one.columns, member.file_size)
    return found


class _Part:
    """One part as it is read: where the parser is, and what it saw, and all parts before it."""

    def __init__(self, label: str, name: str, seen: Counter[str], most: int) -> None:
        self._label, self._name, self._seen, self._most = label, name, seen, most
        self._many = 0  # how deep the row or text is that the parser is in
        self._found = Extent()
        self._kind, self._formula = "", False  # of the cell the parser is in; a formula has no value so far
        self._depth = self._row = self._column = self._width = self._filled = self._text = self._at = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def read(self, part: IO[bytes]) -> Extent:
        """Read to its end, or to where it is no XML: pictures are none, and who reads a sheet will say it."""
        given = 0
        while piece := part.read(_PIECE):
            try:
                self._parser.Parse(piece)
            except expat.ExpatError:
                break
            given += len(piece)
            if given - max(self._parser.CurrentByteIndex, 0) > _LONGEST_TAG:
                raise self._refused(f"a tag of more than {_LONGEST_TAG:,} bytes")
        return self._found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._refused(f"elements nested more than {_DEEPEST} deep")
        self._seen["any"] += 1
        if self._seen["any"] > self._most:
            raise too_dense(self._label, f"more than {self._most:,} cells, rows and values in {self._name}")
        kind = name.rpartition(" ")[2]
        if not self._many:
            self._count(kind)
        if len(attributes.get("formatCode", "")) > _LONGEST_FORMAT:
            raise self._refused(f"a format of numbers of more than {_LONGEST_FORMAT} letters")
        if kind in ("c", "si"):
            self._text = 0
        if kind in _TEXTS:
            self._at = self._parser.CurrentByteIndex
        if kind == "v":
            self._parser.CharacterDataHandler = self._value
        if kind == "c":
            self._kind = attributes.get("t", "")
            place = _PLACE.fullmatch(attributes.get("r", ""))
            self._column = _number_of(place[1]) if place else self._column + 1
        elif kind in ("v", "f", "is"):
            self._width = max(self._width, self._column)
            self._formula |= kind == "f" and self._kind != "str"  # an empty text may be what it gave
        elif kind == "row":
            self._new_row(attributes.get("r"))

    def _value(self, _: str) -> None:
        self._formula, self._parser.CharacterDataHandler = False, None

    def _count(self, kind: str) -> None:
        """Count what is neither a row nor a text: who reads sheets takes long for it, whatever the part."""
        if kind in _MANY:
            self._many = self._depth
            return
        self._seen["all"] += 1
        self._seen["sheet"] += kind == "sheet"
        if self._seen["sheet"] > _SHEETS or self._seen["all"] > _ELEMENTS:
            raise self._refused(f"sheet {_SHEETS + 1:,} or element {_ELEMENTS + 1:,} that is no row or text")

    def _new_row(self, said: str | None) -> None:
        row = self._row + 1 if said is None else float(said)
        if not self._row < row <= _ROWS:
            raise self._refused(f"row {said} after row {self._row:,}")
        self._row, self._column, self._width = int(row), 0, 0

    def _end(self, name: str) -> None:
        if self._many == self._depth:
            self._many = 0
        self._depth -= 1
        kind = name.rpartition(" ")[2]
        if kind in _TEXTS:
            self._text += self._parser.CurrentByteIndex - self._at
            if self._text > _LONGEST_TEXT:
                raise self._refused(f"a cell of more than {_LONGEST_TEXT:,} bytes")
            self._parser.CharacterDataHandler = None
        elif kind == "c" and self._formula:
            self._found.uncomputed.append((self._row, self._column))
            self._formula = False
        if self._width and kind == "row":
            if self._width > _COLUMNS:
                raise self._refused(f"{self._width:,} columns in row {self._row:,}")
            self._found.rows = self._row
            self._filled += 1
            if self._filled <= _FIRST:
                self._found.columns = max(self._found.columns, self._width)

    def _refused(self, found: str) -> InputError:
        return no_workbook(self._label, f"{found} in {self._name}")


def no_workbook(label: str, found: str) -> InputError:
    """Tell that a file is no workbook that can be read."""
    hint = "save it again as .xlsx; older .xls files and encrypted ones cannot be read"
    return InputError(f"{label}: the file cannot be read as an Excel workbook", found=found, hint=hint)


def _number_of(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
