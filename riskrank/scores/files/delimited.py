"""Files of separated values: CSV, TSV and their relatives."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

import polars as pl

from riskrank.errors import InputError, option
from riskrank.scores.files.formulas import unmark, unmarked
from riskrank.scores.files.guards import LONGEST_FIELD, PARSE_ERRORS, endless, reason_of, require_filled
from riskrank.scores.files.parsing import is_grouped, signs_of_thousands
from riskrank.scores.files.source import Source, decode, from_windows
from riskrank.scores.files.two_headers import refuse_titles, refuse_two_headers, two_headers, unpivoted

# Bytes in which the first rows stand.
_BEGINNING = 65_536
# Blank lines, of which files that double their line ends have one a row.
_MOST_BLANK = 2_000_000
# Lines among which comments and titles are looked for.
_LINES = 30
_SEPARATORS = (",", ";", "\t")


class DelimitedSource(Source):
    """A CSV or TSV file: its separator is the one its header uses most."""

    def __init__(self, label: str, data: bytes, sha256: str, *, separator: str, skip_rows: int = 0) -> None:
        data = data.removeprefix(b"\xef\xbb\xbf")
        if b"\n" not in data and b"\r" in data:
            data = data.replace(b"\r", b"\n")
        self.label = label
        if endless(data, b"\n", b'"') is not None:
            self._require_short(len(data))
        ends = islice(re.finditer(rb"\r\n?|\n", data), skip_rows - 1, None) if skip_rows else iter(())
        body = data[end.end() :] if (end := next(ends, None)) else b"" if skip_rows else data
        body = _names_on_one_line(body)
        body = body if skip_rows else _without_comments(body.lstrip(b"\r\n"), separator)
        self._skipped_lines = data[: len(data) - len(body)].count(b"\n")
        if body.endswith((b"\n\n", b"\n\r\n")):
            body = body.rstrip(b"\r\n")
        super().__init__(label, body, sha256)
        if not body or body.isspace():
            raise self._empty(f"{len(data)} bytes, no header line")
        self._separator = _sniff_separator(self._header(), "") or _sniff_separator(
            self._beginning(), separator
        )
        try:
            with long_fields():
                self._require_one_header()
                names = next(csv.reader([self._header()], delimiter=self._separator))
                self._name_columns([*map(unmarked, names)])
                self._thousands = self._signs_of_thousands()
        except csv.Error as error:
            raise self._no_csv(str(error)) from None
        self._blank: set[int] | None = None
        self._kept: pl.DataFrame | None = None  # what was read last of a small file
        self.decimal_comma = self._separator in (";", "\t")

    def _header(self) -> str:
        """The line of names."""
        try:
            return decode(self.label, io.BytesIO(self._data).readline().rstrip(b"\r\n"))
        except InputError:
            if not self._read_as_windows():
                raise
            return self._header()

    def _beginning(self) -> str:
        """The first lines."""
        return "\n".join(self._data[:_BEGINNING].decode(errors="replace").splitlines()[:_LINES])

    def _read_as_windows(self) -> bool:
        """Whether the text is one that Windows wrote, which is read as such from now on."""
        text = from_windows(self._data)
        if text is None or text == self._data:
            return False
        self._data = text
        told = "not UTF-8, so read as Windows-1252, as spreadsheets save it"
        self.notes = (*self.notes, f"{self.label}: {told}")
        return True

    def _require_one_header(self) -> None:
        """Look at the first rows, of which only the one of names is read otherwise."""
        rows = list(csv.reader(self._beginning().splitlines(), delimiter=self._separator))
        if two_headers(rows[:4]) and (table := unpivoted(self._all_rows())):
            text = io.StringIO(newline="")
            csv.writer(text, delimiter=self._separator).writerows(table)
            self._data = text.getvalue().encode()
            told = f"{table[0][0]}s stand in the first row, {table[0][1]}s in the second"
            self.notes = (*self.notes, f"{self.label}: a row a sample below two rows of names: {told}")
            return
        refuse_titles(self.label, rows, self._skipped_lines)
        refuse_two_headers(self.label, rows[:4])

    def _all_rows(self) -> list[list[str]]:
        return list(csv.reader(decode(self.label, self._data).splitlines(), delimiter=self._separator))

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """The named columns."""
        known = {name: place for place, name in enumerate(self.columns)}
        places = [known[name] for name in names]
        # The last column tells whether a row was cut short: Polars fills the rest of such a row with nulls.
        last = len(self.columns) - 1
        frame = self._read(sorted({*places, last}))
        if frame.height == 0 and not self.may_be_empty:
            raise self._empty("a header line and no rows")
        if frame[f"c{last}"].null_count():
            frame = self._without_blank_rows(frame)
        for place, sign in self._thousands.items():
            cells = frame[f"c{place}"] if place in places else None
            if cells is not None and is_grouped(cells, sign):
                frame = frame.with_columns(cells.str.replace_all(sign, "", literal=True))
        return unmark(pl.DataFrame({self.columns[place]: frame[f"c{place}"] for place in places}))

    def _signs_of_thousands(self) -> dict[int, str]:
        """Columns whose numbers have signs between thousands by the first rows, and those signs."""
        lines = self._data[:_BEGINNING].decode(errors="replace").splitlines()[1:]
        lines = lines[:-1] if len(self._data) > _BEGINNING else lines
        rows = [row for row in csv.reader(lines, delimiter=self._separator) if len(row) == len(self.columns)]
        found = signs_of_thousands(rows)
        for place, sign in found.items():
            told = f"in column {self.columns[place]} '{sign}' stands between thousands"
            self.notes = (*self.notes, f"{self.label}: {told}")
        return found

    def row_number(self, position: int) -> int:
        """The number of a data row as a reader of the file would count it."""
        number = position + 2 + self._skipped_lines
        for blank in sorted(self._blank or ()):
            number += blank + 2 + self._skipped_lines <= number
        return number

    def _read(self, places: Sequence[int]) -> pl.DataFrame:
        names = [f"c{place}" for place in places]
        if self._kept is not None and {*names} <= {*self._kept.columns}:
            return self._kept[names]
        lines = self._data.count(b"\n")
        require_filled(self.label, lines, len(places), len(self._data))
        # More cells than bytes: some rows are short or blank, whose cells would take far more memory.
        if self._blank is None and lines * len(self.columns) > len(self._data):
            self._blank = self._check_lengths(allow_short=False)
        try:
            text, between = io.BytesIO(self._data), self._separator
            rows = pl.scan_csv(text, separator=between, infer_schema=False, with_column_names=_as_places)
            frame = rows.select(names).collect()
            if len(self._data) > LONGEST_FIELD:
                self._require_short(*frame.select(pl.all().str.len_bytes().max()).row(0))
            else:
                self._kept = frame
            return frame
        except PARSE_ERRORS as error:
            if self._read_as_windows():
                return self._read(places)
            decode(self.label, self._data)
            self._check_lengths(allow_short=True)
            raise self._no_csv(reason_of(error)) from None

    def _require_short(self, *lengths: int | None) -> None:
        if max(filter(None, lengths), default=0) > LONGEST_FIELD:
            raise self._no_csv(f"a line or field of more than {LONGEST_FIELD:,} bytes")

    def _no_csv(self, found: str) -> InputError:
        hint = "look for a quote that is never closed; fields that hold quotes double them"
        return InputError(f"{self.label}: the file cannot be read as CSV", found=found, hint=hint)

    def _without_blank_rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        expected = (len(self.columns) - 1) * (frame.height + 1)
        if b'"' not in self._data and self._data.count(self._separator.encode()) == expected:
            return frame
        if self._blank is None:
            self._blank = self._check_lengths(allow_short=False)
        if not self._blank:
            return frame
        return frame.with_row_index("#").filter(~pl.col("#").is_in([*self._blank])).drop("#")

    def _check_lengths(self, *, allow_short: bool) -> set[int]:
        """The positions of blank lines; raise at the first row with too many or too few fields."""
        try:
            with long_fields():
                return self._checked_lengths(allow_short)
        except csv.Error as error:
            raise self._no_csv(str(error)) from None

    def _checked_lengths(self, allow_short: bool) -> set[int]:
        blank = set()
        text = io.TextIOWrapper(io.BytesIO(self._data), encoding="utf-8", newline="")
        rows = csv.reader(text, delimiter=self._separator)
        for position, row in enumerate(islice(rows, 1, None)):
            if not row or (len(row) == 1 < len(self.columns) and not row[0].strip()):
                blank.add(position)
                if len(blank) > _MOST_BLANK:
                    raise self._no_csv(f"more than {_MOST_BLANK:,} blank lines")
            elif len(row) > len(self.columns) or (len(row) < len(self.columns) and not allow_short):
                number, names = position + 2 + self._skipped_lines, len(self.columns)
                what = f"{self.label}: row {number} has {len(row)} fields, the header has {names}"
                hint = "quote fields that hold the separator, or fill the row up"
                if position == 0 and len(row) > names:
                    hint += f"; {option('skip_rows', 1)} leaves out a title above the names"
                raise InputError(what, found=self._separator.join(row)[:120], hint=hint)
        return blank


def _as_places(names: Sequence[str]) -> list[str]:
    return [f"c{place}" for place in range(len(names))]


def _names_on_one_line(body: bytes) -> bytes:
    """A file whose names of columns hold no line ends, as spreadsheets write those of wrapped cells."""
    start, quoted = body[:_BEGINNING], False
    for mark in () if start.startswith(b"#") else re.finditer(rb'["\n]', start):
        quoted ^= mark[0] == b'"'
        if mark[0] == b"\n" and not quoted:
            names = start[: mark.start()]
            return re.sub(rb"\r?\n", b" ", names) + body[mark.start() :] if b"\n" in names else body
    # A quote that is never closed is refused as such.
    return body


def _without_comments(body: bytes, separator: str) -> bytes:
    """A file from its names on: without the lines of comments above them."""
    lines = body[:_BEGINNING].decode(errors="replace").splitlines(keepends=True)[:_LINES]
    skipped = next((at for at, line in enumerate(lines) if not line.startswith("#")), 0)
    if not skipped and body.startswith(b"#") and _sniff_separator(lines[0], separator) not in lines[0]:
        names = re.search(rb"\n[^#]", body)
        return _without_comments(body[names.end() - 1 :], separator) if names else b""
    if skipped:
        between = _sniff_separator(lines[skipped], separator)
        counts = [len(_fields(line, between)) for line in lines]
        # A header may begin with the sign: it has as many fields as the rows below.
        skipped = 0 if counts[skipped - 1] == counts[skipped] > 1 else skipped
    return body[sum(len(line.encode()) for line in lines[:skipped]) :]


def _fields(line: str, separator: str) -> list[str]:
    """The fields of a line; of one that ends within a quote nothing is told."""
    try:
        with long_fields():
            return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


@contextmanager
def long_fields() -> Iterator[None]:
    """Let Python read long fields, as a column of responses has them; its limit is for everyone."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _sniff_separator(text: str, default: str) -> str:
    outside = "".join(text.split('"')[::2])
    counts = {separator: outside.count(separator) for separator in filter(None, (default, *_SEPARATORS))}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else default
