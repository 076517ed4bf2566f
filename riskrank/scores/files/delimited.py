"""Delimited text files: CSV, TSV and variants."""

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

import polars as pl

from riskrank.errors import InputError, counted, listing, option
from riskrank.scores.files import guards, parsing
from riskrank.scores.files.query import is_number
from riskrank.scores.files.source import Source, decode, windows_to_utf8
from riskrank.scores.names.directions import is_metric_name
from riskrank.scores.names.vocabulary import are_task_names

# Bytes that contain the first rows.
_HEAD_SIZE = 65_536
# Maximum number of blank lines; files with doubled line ends have one per row.
_MAX_BLANK = 2_000_000
# Lines searched for comments and titles.
_HEAD_LINES = 30
_SEPARATORS = (",", ";", "\t")


class DelimitedSource(Source):
    """A CSV or TSV file.

    If several separators are possible, the one that occurs most often in the header is used.
    """

    def __init__(self, label: str, data: bytes, sha256: str, *, separator: str, skip_rows: int = 0) -> None:
        """Detect the separator and read the header.

        Parameters
        ----------
        label, data, sha256
            See `Source`.
        separator : str
            Default separator.
        skip_rows : int
            Number of rows to skip above the header.
        """
        data = data.removeprefix(b"\xef\xbb\xbf")
        guards.require_text(label, data)
        if b"\n" not in data and b"\r" in data:
            data = data.replace(b"\r", b"\n")
        if count := _ROW_COUNT.search(data, max(len(data) - _MAX_COUNT, 0)):
            data = data[: count.start()]
        self.label = label
        if guards.find_overlong(data) is not None:
            self._require_short(len(data))
        ends = islice(re.finditer(rb"\r\n?|\n", data), skip_rows - 1, None) if skip_rows else iter(())
        body = data[end.end() :] if (end := next(ends, None)) else b"" if skip_rows else data
        body = _unify_separators(_join_header_lines(body))
        body = body if skip_rows else _skip_comments(body.lstrip(b"\r\n"), separator)
        self._skipped_lines = data[: len(data) - len(body)].count(b"\n")
        body, dropped = _drop_survey_headers(body)
        self._skipped_lines += dropped
        if body.endswith((b"\n\n", b"\n\r\n")):
            body = body.rstrip(b"\r\n")
        super().__init__(label, body, sha256)
        if not body or body.isspace():
            raise self._empty_error(f"{len(data)} bytes, no header line")
        by_header = _sniff_separator(self._header_line(), "")
        self._separator = by_header or _sniff_separator(self._first_lines(), separator)
        try:
            with long_fields():
                self._check_header()
                self._name_columns([*map(parsing.unescape_formula, self._read_names())])
                self._thousands = self._detect_thousands()
        except csv.Error as error:
            raise self._csv_error(str(error)) from None
        self._blank: set[int] | None = None
        self._cache: pl.DataFrame | None = None  # last frame read from a small file
        self.decimal_comma = self._separator in (";", "\t")

    def _header_line(self) -> str:
        """Return the header line; Windows-1252 data are converted to UTF-8 first."""
        try:
            return decode(self.label, io.BytesIO(self._data).readline().rstrip(b"\r\n"))
        except InputError:
            if not self._read_as_windows():
                raise
            return self._header_line()

    def _first_lines(self) -> str:
        """Return the first lines of the file, with invalid bytes replaced."""
        return "\n".join(self._data[:_HEAD_SIZE].decode(errors="replace").splitlines()[:_HEAD_LINES])

    def _read_as_windows(self) -> bool:
        """Convert the data from Windows-1252 to UTF-8; return True if this was necessary."""
        text = windows_to_utf8(self._data)
        if text is None or text == self._data:
            return False
        self._data = text
        note = "not UTF-8, so read as Windows-1252, the encoding of many spreadsheets"
        self.notes = (*self.notes, f"{self.label}: {note}")
        return True

    def _split_rows(self, text: str) -> list[list[str]]:
        """Return the lines of a text as lists of fields."""
        return list(csv.reader(text.splitlines(), delimiter=self._separator))

    def _check_header(self) -> None:
        """Raise InputError if there is a title above the header.

        Convert a table with two header rows to long format.
        """
        rows = self._split_rows(self._first_lines())
        if has_two_headers(rows[:4]) and (table := unpivot(self._split_rows(decode(self.label, self._data)))):
            text = io.StringIO(newline="")
            csv.writer(text, delimiter=self._separator).writerows(table)
            self._data = text.getvalue().encode()
            order = f"{table[0][0]}s in the first row, {table[0][1]}s in the second"
            if table[0][1] not in ("model", "metric", "sample"):
                order = f"one row per model, with columns such as {table[0][1]}"
            self.notes = (*self.notes, f"{self.label}: read with two header rows: {order}")
            return
        reject_titles(self.label, rows, self._skipped_lines)
        reject_two_headers(self.label, rows[:4])

    def _read_names(self) -> list[str]:
        """Return the column names in the header.

        If the first row contains data, columns are named by their numbers.
        """
        names, *rows = self._split_rows(self._first_lines())
        columns = zip(*(row for row in rows if len(row) == len(names)), strict=True)
        numbers = [*filter(is_number, names)]
        texts = [name if re.search(r"[^\W\d]", name) else "" for name in names]
        is_data = any(text and text in cells for text, cells in zip(texts, columns, strict=False))
        is_data |= len(numbers) == len(names) and ("." in "".join(names) or len({*names}) < len(names))
        if not (numbers and is_data):
            return next(csv.reader([self._header_line()], delimiter=self._separator))
        numbered = [f"column {position}" for position in range(1, len(names) + 1)]
        self._data = self._separator.join(numbered).encode() + b"\n" + self._data
        self._skipped_lines -= 1
        self.notes = (*self.notes, f"{self.label}: the first row contains data, so the columns are numbered")
        return numbered

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns as text."""
        position_by_name = {name: i for i, name in enumerate(self.columns)}
        positions = [position_by_name[name] for name in names]
        # Nulls in the last column reveal short rows, which Polars fills with nulls.
        last = len(self.columns) - 1
        frame = self._read(sorted({*positions, last}))
        if frame.height == 0 and not self.may_be_empty:
            raise self._empty_error("a header line and no rows")
        if frame[f"c{last}"].null_count():
            frame = self._drop_blank_rows(frame)
        for i, sign in self._thousands.items():
            if i in positions and parsing.has_thousands(cells := frame[f"c{i}"], sign):
                frame = frame.with_columns(cells.str.replace_all(sign, "", literal=True))
        named = pl.DataFrame({self.columns[i]: frame[f"c{i}"] for i in positions})
        return parsing.unescape_frame(named) if b"'" in self._data else named

    def _detect_thousands(self) -> dict[int, str]:
        """Return the thousands separator of each column that has one, by column position.

        Only the first rows of the file are inspected.
        """
        lines = self._data[:_HEAD_SIZE].decode(errors="replace").splitlines()[1:]
        lines = lines[:-1] if len(self._data) > _HEAD_SIZE else lines
        rows = [row for row in csv.reader(lines, delimiter=self._separator) if len(row) == len(self.columns)]
        separators = parsing.thousands_separators(rows)
        for position, separator in separators.items():
            note = f"'{separator}' is read as a thousands separator in column {self.columns[position]}"
            self.notes = (*self.notes, f"{self.label}: {note}")
        return separators

    def row_number(self, position: int) -> int:
        """Return the number, in the file, of the data row at a position; the header counts."""
        number = position + 2 + self._skipped_lines
        for blank in sorted(self._blank or ()):
            number += blank + 2 + self._skipped_lines <= number
        return number

    def _read(self, positions: Sequence[int]) -> pl.DataFrame:
        """Return the columns at the given positions as text, without blank rows."""
        names = [f"c{position}" for position in positions]
        if self._cache is not None and {*names} <= {*self._cache.columns}:
            return self._cache[names]
        lines = self._data.count(b"\n")
        guards.require_plausible_size(self.label, lines, len(positions), len(self._data))
        # With more cells than bytes, short or blank rows would take far more memory.
        if self._blank is None and lines * len(self.columns) > len(self._data):
            self._blank = self._check_lengths(allow_short=False)
        elif len(self._data) > guards.MAX_FIELD:
            self._check_lengths(allow_short=False, rows=_HEAD_LINES)
        try:
            text, all_names = io.BytesIO(self._data), [f"c{i}" for i in range(len(self.columns))]
            rows = pl.scan_csv(text, separator=self._separator, infer_schema=False, new_columns=all_names)
            frame = rows.select(names).collect()
            if len(self._data) > guards.MAX_FIELD:
                self._require_short(*frame.select(pl.all().str.len_bytes().max()).row(0))
            else:
                self._cache = frame
            return frame
        except guards.PARSE_ERRORS as error:
            if self._read_as_windows():
                return self._read(positions)
            decode(self.label, self._data)
            self._check_lengths(allow_short=True)
            raise self._csv_error(guards.error_reason(error)) from None

    def _require_short(self, *lengths: int | None) -> None:
        """Raise InputError if any length exceeds the limit for a line or field."""
        if max(filter(None, lengths), default=0) > guards.MAX_FIELD:
            raise self._csv_error(f"a line or field of more than {guards.MAX_FIELD:,} bytes")

    def _csv_error(self, detail: str) -> InputError:
        """Return the error for a file that is not valid CSV; `detail` is the reason."""
        hint = "look for an unclosed quote; quotes inside fields must be doubled"
        return InputError(f"{self.label}: the file cannot be read as CSV", found=detail, hint=hint)

    def _drop_blank_rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Drop the rows of a frame that are blank lines in the file.

        Raise InputError if other rows are too short.
        """
        expected = (len(self.columns) - 1) * (frame.height + 1)
        if b'"' not in self._data and self._data.count(self._separator.encode()) == expected:
            return frame
        if self._blank is None:
            self._blank = self._check_lengths(allow_short=False)
        if not self._blank:
            return frame
        return frame.with_row_index("#").filter(~pl.col("#").is_in([*self._blank])).drop("#")

    def _check_lengths(self, *, allow_short: bool, rows: int | None = None) -> set[int]:
        """Check the number of fields in each row, or in the first `rows`; return positions of blank lines.

        Raises
        ------
        InputError
            If a row has too many fields or, unless `allow_short` is set, too few.
        """
        blank = set()
        for position, row in enumerate(islice(self._iter_rows(), 1, rows)):
            if not row or (len(row) == 1 < len(self.columns) and not row[0].strip()):
                blank.add(position)
                if len(blank) > _MAX_BLANK:
                    raise self._csv_error(f"more than {_MAX_BLANK:,} blank lines")
            elif len(row) > len(self.columns) or (len(row) < len(self.columns) and not allow_short):
                number, names = position + 2 + self._skipped_lines, len(self.columns)
                size = f"{counted(len(row), 'field')}, but the header has {names}"
                hint = "quote fields that contain the separator, or add the missing fields"
                if len(row) < names and self._data.endswith(self._separator.join(row).encode()):
                    hint = "the file ends in the middle of this line: write or copy it again"
                if position == 0 and len(row) > names:
                    hint += f"; {option('skip_rows', 1)} skips a title above the header"
                problem = f"{self.label}: row {number} has {size}"
                raise InputError(problem, found=self._separator.join(row)[:120], hint=hint)
        return blank

    def _iter_rows(self) -> Iterator[list[str]]:
        """Yield the fields of each row, including the header."""
        text = io.TextIOWrapper(io.BytesIO(self._data), encoding="utf-8", errors="replace", newline="")
        try:
            with long_fields():
                yield from csv.reader(text, delimiter=self._separator)
        except csv.Error as error:
            raise self._csv_error(str(error)) from None


def _join_header_lines(body: bytes) -> bytes:
    """Return the contents of a file with line breaks within header cells removed.

    Spreadsheets write such line breaks for wrapped text.
    """
    head, in_quotes = body[:_HEAD_SIZE], False
    for mark in () if head.startswith(b"#") else re.finditer(rb'["\n]', head):
        in_quotes ^= mark[0] == b'"'
        if mark[0] == b"\n" and not in_quotes:
            names = head[: mark.start()]
            return re.sub(rb"\r?\n", b" ", names) + body[mark.start() :] if b"\n" in names else body
    # The reader reports the unclosed quote.
    return body


def _unify_separators(body: bytes) -> bytes:
    """Replace unusual separators in the contents of a file by common ones; return other contents unchanged.

    Bars, colons or runs of spaces become tabs. If the separator of the header differs from that of the rows,
    that of the header is converted.
    """
    lines = body[:_HEAD_SIZE].decode(errors="replace").splitlines()[:_HEAD_LINES]
    lines = [line for line in lines if line.strip()]
    if len(lines) < 2 or '"' in "".join(lines) or lines[0].startswith("#"):
        return body
    header, *rest = lines
    for sign in _SEPARATORS:
        counts = {line.count(sign) for line in rest}
        is_mixed = sign == "\t" and all(re.search(" \t|\t ", line) for line in lines)
        if counts == {header.count(sign)} != {0} and not is_mixed:
            return body
        others = [other for other in (*_SEPARATORS, "|") if {header.count(other)} == counts != {0}]
        if others and not any(line.count(others[0]) for line in rest):
            names, end, data = body.partition(b"\n")
            return names.replace(others[0].encode(), sign.encode()) + end + data
    for split in (r"\s*\|\s*", r"\s*:\s*", r"\s+"):
        counts = {len(re.split(split, line.strip("| \t\r"))) for line in lines}
        if len(counts) == 1 and counts != {1}:
            text = body.decode(errors="surrogateescape")
            rows = (line.strip("| \t\r") for line in text.split("\n") if not re.fullmatch(r"[\s|:+-]+", line))
            return "\n".join(re.sub(split, "\t", line) for line in rows).encode(errors="surrogateescape")
    return body


def _skip_comments(body: bytes, separator: str) -> bytes:
    """Return the contents of a file without the comment lines above the header.

    `separator` is the default.
    """
    lines = body[:_HEAD_SIZE].decode(errors="replace").splitlines(keepends=True)[:_HEAD_LINES]
    skipped = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    if not skipped and body.startswith(b"#") and _sniff_separator(lines[0], separator) not in lines[0]:
        names = re.search(rb"\n[^#]", body)
        return _skip_comments(body[names.end() - 1 :], separator) if names else b""
    if skipped:
        delimiter = _sniff_separator(lines[skipped], separator)
        counts = [len(_fields(line, delimiter)) for line in lines]
        # A header may begin with # if it has as many fields as the rows below.
        skipped = 0 if counts[skipped - 1] == counts[skipped] > 1 else skipped
    return body[sum(len(line.encode()) for line in lines[:skipped]) :]


def _fields(line: str, separator: str) -> list[str]:
    """Split a line of CSV into fields at a separator; return an empty list if a quote is not closed."""
    try:
        with long_fields():
            return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


@contextmanager
def long_fields() -> Iterator[None]:
    """Raise the field size limit of the csv module within a ``with`` block."""
    before = csv.field_size_limit(guards.MAX_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _sniff_separator(text: str, default: str) -> str:
    """Return the most frequent separator outside quotes in a text; without one, a bar or `default`."""
    unquoted = "".join(text.split('"')[::2])
    counts = {separator: unquoted.count(separator) for separator in filter(None, (default, *_SEPARATORS))}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else "|" if "|" in unquoted else default


# Line with the number of rows that database clients append to a table, and its maximum length in bytes.
_ROW_COUNT, _MAX_COUNT = re.compile(rb"(?<=\n)\(\d+ rows?\)\s*\Z"), 64


def _drop_survey_headers(body: bytes) -> tuple[bytes, int]:
    """Remove the texts of questions and the identifiers of columns below the header of a Qualtrics export.

    Also return the number of lines removed.
    """
    start = body.find(b"\n") + 1
    last = body.rfind(b'""ImportId"":', start, start + _HEAD_SIZE)
    if last < 0:
        return body, 0
    end = body.find(b"\n", last) + 1 or len(body)
    return body[:start] + body[end:], body.count(b"\n", start, end)


# Labels of a header row, in the cell before its names.
_ROLE_NAMES = {
    "model": {"model", "models", "system", "systems", "method", "methods", "algorithm", "llm", "agent"},
    "metric": {"metric", "metrics", "measure", "measures", "measurement", "criterion", "criteria", "scorer"},
}
_MODEL_FIRST, _METRIC_FIRST = ("model", "metric"), ("metric", "model")


def reject_titles(label: str, rows: Sequence[Sequence[object]], above: int) -> None:
    """Raise InputError if there is a title above the header of a table.

    Parameters
    ----------
    label : str
    rows : sequence of sequences
        First rows of the table.
    above : int
        Number of rows in the file above them.
    """
    texts = [[*filter(None, map(_cell_text, row))] for row in rows]
    widest = max(map(len, texts))
    header = next((i for i, row in enumerate(texts) if 2 * len(row) > widest), 0)
    # An unnamed index, as in ",score", leaves only the last name; that is not a title.
    is_last = len(rows[0]) == widest > 1 and texts[0] == [_cell_text(rows[0][-1])]
    if header and len(texts[0]) < 2 and not is_last:
        title, row = f"'{''.join(texts[0])}' in row {above + 1}", above + header + 1
        detail = f"{title}, and {listing(texts[header])} in row {row}"
        hint = f"{option('skip_rows', row - 1)} skips the rows above the header"
        problem, fix = f"{label}: the column names are below a title", {"skip_rows": row - 1}
        raise InputError(problem, found=detail, hint=hint, suggestions=[("", fix)])


def reject_two_headers(label: str, rows: Sequence[Sequence[object]]) -> None:
    """Raise InputError if a table has two header rows.

    Parameters
    ----------
    label : str
    rows : sequence of sequences
        First four rows.
    """
    first, second = ([*filter(None, map(_cell_text, row))] for row in (*rows, (), ())[:2])
    if has_two_headers(rows) and min(len(first), len(second)) > 1:
        problem = f"{label}: the table has two header rows instead of one"
        detail = f"{listing(first)} in the first row, and {listing(second)} in the second"
        advice = "write model and metric for the two header rows, and the sample names below"
        raise InputError(problem, found=detail, hint=f"in the first column, {advice}")


def has_two_headers(rows: Sequence[Sequence[object]]) -> bool:
    """Return True if a table has two header rows, given its first rows.

    The first row then has missing or repeated names, and the second row also contains names.
    """
    first = [_cell_text(cell) for cell in rows[0]]
    named = [name for name in first if name]
    if len(rows) < 3 or ("" not in first[1:] and len(set(named)) == len(named)):
        return False
    data = [cell for row in rows[2:] for cell in row]
    return not any(map(_is_number, rows[1])) and any(map(_is_number, data))


def unpivot(rows: Sequence[Sequence[object]]) -> list[list[object]] | None:
    """Convert a table with two header rows to one with a single header.

    The result is in long format, with one row per score. If the rows are models, such as those of a
    leaderboard, the names of the two headers are joined instead. Return None if it is unclear which header
    row names the models and which the metrics.

    Parameters
    ----------
    rows : sequence of sequences
        All rows.
    """
    upper, lower, third = ([_cell_text(cell) for cell in row] for row in rows[:3])
    first = next((i for i, cell in enumerate(upper) if i and cell), 0)
    upper_names: list[str] = []
    for cell in upper[first:]:  # a merged cell applies to the empty cells that follow it
        upper_names.append(cell or (upper_names or [""])[-1])
    by_names = _metric_order({*upper_names}, {*lower[first:]})
    order = _role_order(upper[0], lower[0]) or by_names
    # Pandas writes the index name into a separate row below the column names.
    index_row = not any(third[first:])
    labels = (third if index_row else lower)[:first]
    tasks_above = by_names == _MODEL_FIRST and are_task_names(upper_names)
    # Above names of metrics, a word for a model cannot be the label of the header row.
    certain = len({*upper_names}) > 1 and (index_row or by_names == _MODEL_FIRST)
    if first == 1 and (tasks_above or (certain and labels[0].casefold() in _ROLE_NAMES["model"])):
        names = [f"{top} {sub}" for top, sub in zip(upper_names, lower[1:], strict=False)]
        return [["model", *names], *map(list, rows[3 if index_row else 2 :])]
    keys = ["sample"] if first == 1 else labels
    if order == _MODEL_FIRST and any(map(is_metric_name, upper_names)) and by_names != _MODEL_FIRST:
        # Above metrics, the word for a model belongs to the names of the rows.
        order, keys = (("metric", "sample"), ["model"]) if by_names and first == 1 else (None, keys)
    ambiguous = len({*upper_names}) < 2 or len({*keys}) < first
    if ambiguous or order is None or not first or len(lower) < len(upper) or not all(keys):
        return None
    table: list[list[object]] = [[*order, *keys, "score"]]
    for row in rows[2:]:
        if any(map(_cell_text, row[first:])):
            cells = zip(upper_names, lower[first:], row[first:], strict=False)
            table += [[top, sub, *row[:first], cell] for top, sub, cell in cells]
    return table


def _cell_text(cell: object) -> str:
    """Return a cell as text without surrounding whitespace, empty for None."""
    return "" if cell is None else str(cell).strip()


def _metric_order(upper: Collection[str], lower: Collection[str]) -> tuple[str, str] | None:
    """Decide by names which of two header rows holds metrics; return the roles of both rows.

    Exactly one row must contain metric names, otherwise the result is None. `upper` and `lower` are the
    names in the rows.
    """
    first, second = (any(map(is_metric_name, names)) for names in (upper, lower))
    if first == second:
        return None
    return _METRIC_FIRST if first else _MODEL_FIRST


def _role_order(upper: str, lower: str) -> tuple[str, str] | None:
    """Decide which of two header rows holds metrics by their first cells, such as "model" and "metric".

    Return the roles of the upper and the lower row, or None if the cells do not decide it.
    """
    roles = {label: role for role, labels in _ROLE_NAMES.items() for label in labels}
    first, second = (roles.get(cell.casefold()) for cell in (upper, lower))
    if first == second:
        return None
    return _MODEL_FIRST if first == "model" or second == "metric" else _METRIC_FIRST


def _is_number(cell: object) -> bool:
    """Return True if a cell is a number, possibly as text with a decimal comma."""
    return is_number(cell.replace(",", ".")) if isinstance(cell, str) else isinstance(cell, int | float)


def csv_columns(
    label: str, data: bytes, numeric: Callable[[str], object] = lambda name: True
) -> dict[str, list[object]]:
    """Return the columns of a CSV file as lists of numbers or texts, with None for empty cells.

    A column whose name `numeric` rejects remains text, because sample names may look like numbers.
    """
    source = DelimitedSource(label, data, "", separator=",")
    names = [name for name in source.columns if name]
    frame = source.load(names)
    columns: dict[str, list[object]] = {}
    for name in names:
        if not numeric(name):
            columns[name] = frame[name].to_list()
            continue
        values, state = parsing.parse_scores(frame[name], source.decimal_comma)
        kinds = [parsing.VALID] * len(values) if state is None else state.tolist()
        columns[name] = [
            None if kind == parsing.MISSING else text if kind == parsing.TEXT else value
            for value, kind, text in zip(values.tolist(), kinds, frame[name], strict=True)
        ]
    return columns
