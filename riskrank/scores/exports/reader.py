"""Readers of harness exports: find the files, check the types of fields, and collect rows.

A module reads a format by a generator of the rows of one file; `RowReader` reads many files with it. A reader
never guesses which filter, epoch, split or repeat to use: it raises an error that names the option to set.
"""

import hashlib
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.catalogue import Format
from riskrank.scores.exports.selection import reject_unsupported_options, resolve_model_name, select_variants
from riskrank.scores.files import parsing
from riskrank.scores.files.contents import decompress, digest_file, read_bytes
from riskrank.scores.files.delimited import csv_columns
from riskrank.scores.files.guards import BrokenFileError, Budget, empty_error
from riskrank.scores.files.json_tables import Columns, json_columns
from riskrank.scores.files.paths import differing_parts
from riskrank.scores.files.source import InputFile

# Size limit of a file or archive member; exports of real evaluations are smaller.
MAX_BYTES = 2 * 1024**3


@dataclass(frozen=True, kw_only=True)
class LabelledPath:
    """A path from the command line: a file, or the output folder of a harness.

    Attributes
    ----------
    path : Path
    label : str or None
        Model name from ``LABEL=PATH``. `read_export` substitutes it for the model name after reading; readers
        need it only if the files do not name a model.
    """

    path: Path
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class Export:
    """Scores of an export in long format, one row per score.

    Attributes
    ----------
    rows : DataFrame
        Columns ``model``, ``sample``, ``metric`` (strings), ``score`` (float, null if missing), ``draw``
        (string, only if samples have repeats), and further string columns that identify or group rows
        (``task``, ``split``, ``subject``, ...). Sample names include the task, because two tasks may use
        the same sample numbers.
    directions : mapping of str to {"higher", "lower"}
        Directions that the export declares, by metric.
    primary : mapping of str to str
        Primary metric of each task, if the harness declares one.
    bounds : mapping of str to (float, float)
        Smallest and largest possible score, for metrics with boolean values or grades.
    has_task_averages : bool
        Whether scores are task averages, so that each task is a sample.
    notes : tuple of str
        Reasons for excluding items, with counts: unscored, failed, cancelled, truncated, not a scalar.
    inputs : tuple of InputFile
    """

    rows: pl.DataFrame
    directions: Mapping[str, str] = field(default_factory=dict)
    primary: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    has_task_averages: bool = False
    notes: tuple[str, ...] = ()
    inputs: tuple[InputFile, ...] = ()


# Columns with the model's input and output; the parentheses avoid clashes with columns of a file.
INPUT_TEXT, OUTPUT_TEXT = "(input)", "(output)"
# Temporary columns: the number of a row's file, and a text that may be a grade.
FILE, GRADE = "(file)", "(grade)"


def get_nested(value: object, *keys: str) -> Any:
    """Return the value at a path of keys in nested dictionaries, or None if a key is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def likeliest_choice(likelihoods: Sequence[object], choices: object) -> str | None:
    """Return the choice with the highest log-likelihood, or None if the values are not numbers."""
    try:
        values = [float(likelihood) for likelihood in likelihoods]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not values:
        return None
    best = max(range(len(values)), key=values.__getitem__)
    texts = get_nested(choices, "text") or choices
    if isinstance(texts, list) and len(texts) == len(values):
        return parsing.message_text(texts[best])
    return f"choice {best + 1} of {len(values)}"


def parse_name(location: str, value: object, *, default: str | None = None) -> str:
    """Convert a text or number to a name.

    Parameters
    ----------
    location : str
        Location for the error message.
    value : object
    default : str, optional
        Name to return for None or an empty text.

    Raises
    ------
    InputError
        If the value has another type, or is empty and there is no default.
    """
    if default is not None and value in (None, ""):
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas writes integers as floats if some are missing
    number = isinstance(value, float) and math.isfinite(value)
    if number or (isinstance(value, str | int) and not isinstance(value, bool)):
        return str(value)
    raise type_error(location, "a text or a number", value)


def number_duplicates(names: Iterable[str]) -> list[str]:
    """Number repeated names: the second ``name`` becomes ``name #2``."""
    counts, unique_names = Counter[str](), []
    for name in names:
        counts[name] += 1
        unique_names.append(name if counts[name] == 1 else f"{name} #{counts[name]}")
    return unique_names


class Record(dict[str, Any]):
    """A JSON object that knows its location and checks the types of its fields.

    Missing fields are read as an empty object, list or text.

    Parameters
    ----------
    location : str
        Location of the object for error messages.
    value : object
    separator : str
        Text between the location and a field name.

    Raises
    ------
    InputError
        If the value is not an object.
    """

    def __init__(self, location: str, value: object, *, separator: str = ", ") -> None:
        """Check that the value is an object or None."""
        if value is not None and not isinstance(value, dict):
            raise type_error(location, "an object", value)
        super().__init__(value or {})
        self.location = location
        self._separator = separator

    def location_of(self, field: str) -> str:
        """Return the location of a field, such as file and line, for error messages."""
        return f"{self.location}{self._separator}{field}"

    def get_name(self, *fields: str) -> str:
        """Return the value of the first of several fields that is present, as a name.

        Raise InputError if all are missing.
        """
        value = next((self[name] for name in fields if self.get(name) is not None), None)
        if value is None:
            raise export_error(f"{self.location} has no '{fields[0]}'", f"fields: {listing(self, 12)}")
        return parse_name(self.location_of(fields[0]), value)

    def get_text(self, field: str, default: str = "") -> str:
        """Return a text or number field as text, or the default if the field is missing."""
        return parse_name(self.location_of(field), self.get(field), default=default)

    def get_record(self, field: str) -> "Record":
        """Return the nested object in a field, or an empty record if the field is missing.

        Raise InputError for any other type.
        """
        return Record(self.location_of(field), self.get(field))

    def get_list(self, field: str) -> list[Any]:
        """Return the list in a field, with items of any type, or an empty list if the field is missing.

        Raise InputError for any other type.
        """
        value = self.get(field)
        if value is not None and not isinstance(value, list):
            raise type_error(self.location_of(field), "a list", value)
        return value or []

    def get_records(self, field: str) -> list["Record"]:
        """Return the list of objects in a field as records; empty if the field is missing.

        Raise InputError for any other type.
        """
        value, location = self.get(field), self.location_of(field)
        if not (value is None or (isinstance(value, list) and all(isinstance(item, dict) for item in value))):
            raise type_error(location, "a list of objects", value)
        return [Record(f"{location} {number}", item) for number, item in enumerate(value or (), start=1)]


def export_error(message: str, detail: str) -> InputError:
    """Return the error for a file that is not the output of a complete, scored run of its tool.

    `message` is the problem, and `detail` what was found.
    """
    hint = "check that the run was finished and scored, and that the file is complete and unchanged"
    return InputError(message, found=detail, hint=f"{hint}; {option('skip_bad', True)} ignores invalid files")


def type_error(location: str, expected: str, value: object) -> InputError:
    """Return the error for a field of the wrong type.

    `location` is that of the field, and `expected` describes the right type, as in "a list".
    """
    return export_error(f"{location} is not {expected}", parsing.preview(value))


def parse_document(path: Path, data: bytes) -> Record:
    """Return the single object in a JSON file.

    Raises
    ------
    InputError
        If the file contains anything else.
    """
    value = parsing.parse_json(str(path), data)
    if not isinstance(value, dict):
        raise export_error(f"{path}: the file is not a JSON object", parsing.preview(value))
    return Record(str(path), value, separator=": ")


def as_score(value: object) -> float | str | None:
    """Convert a logged value to a score.

    Return a float for a number or boolean, None for a missing value, and the name of the type for anything
    else.
    """
    if value is None:
        return None
    if isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            return "numbers outside the range of floats"
        return None if math.isnan(number) else number
    kinds: dict[type, str] = {str: "text", list: "lists", tuple: "lists", dict: "objects"}
    return kinds.get(type(value), f"of type {type(value).__name__}")


_ROW = ("model", "sample", "metric", "draw", "score", GRADE)


def find_copies(rows: pl.DataFrame, runs: Mapping[int, object]) -> dict[int, int]:
    """Find files that only repeat rows of another file of the same run.

    Return a mapping from the number of each such file to the number of the file that contains its rows.

    Parameters
    ----------
    rows : DataFrame
        Rows of all files.
    runs : mapping of int to object
        Identifier of each file's run, by file number; a false value if the file does not name its run. If
        only one of two files names its run, the decision is based on the rows alone.
    """
    if len(runs) < 2:
        return {}
    rows = rows.select(FILE, *(name for name in _ROW if name in rows.columns))
    parts = rows.partition_by(FILE, as_dict=True, include_key=False)
    row_counts = {number: Counter(part.rows()) for (number,), part in parts.items()}
    copies_of: dict[int, int] = {}
    originals: list[int] = []
    for number in sorted(runs.keys() & row_counts, key=lambda number: (-row_counts[number].total(), number)):
        run = runs[number]  # equal identifiers, or only one of them is known
        same_run = (at for at in originals if bool(runs[at]) != bool(run) or (run and runs[at] == run))
        original = next((at for at in same_run if row_counts[number] <= row_counts[at]), None)
        if original is None:
            originals.append(number)
        else:
            copies_of[number] = original
    return copies_of


_LEFT_OUT = "ignored values that are"
_LISTS = f"{_LEFT_OUT} lists"
_CELL = ("model", "sample", "metric")
REQUIRED_COLUMNS = (*_CELL, "score")


class RowCollector:
    """Rows and notes of an export, collected while its files are read.

    Parameters
    ----------
    options : ReadOptions
    samples_with_texts : frozenset of str
        Samples, as named by readers, whose input and output are kept. Keep this set small to save memory.

    Attributes
    ----------
    files : list of LabelledPath
        Files from which the rows come, indexed by the column `FILE`.
    bounds : dict of str to (float, float)
        Known bounds of metrics that are not boolean.
    has_task_averages : bool
        Whether scores are task averages.
    """

    def __init__(self, options: ReadOptions, samples_with_texts: frozenset[str] = frozenset()) -> None:
        """Create a collector without rows."""
        self.options, self.samples_with_texts = options, samples_with_texts
        self.budget = Budget(options.max_bytes, maximum=MAX_BYTES)
        self.files: list[LabelledPath] = []
        self.bounds: dict[str, tuple[float, float]] = {}
        self.has_task_averages = False
        self._runs: dict[int, object] = {}
        self._directions, self._primary_metrics = dict[str, tuple[str, str]](), dict[str, str]()
        self._boolean_metrics, self._numeric_metrics = set[str](), set[str]()
        self._rows = list[dict[str, Any]]()
        self._counts: Counter[str] = Counter()
        self._notes, self._inputs = dict[str, None](), dict[str, InputFile]()
        self._optional_documents, self._models = dict[Path, Record](), dict[str, None]()
        # A file may contain only the last part of a sample's name.
        ends = ((text, at) for text in samples_with_texts for at in range(len(text)))
        self._names_with_texts = {text[at:] for text, at in ends if not at or text[at - 1] == "/"}

    def collect_file(self, file: LabelledPath, add_rows: Callable[[], None]) -> None:
        """Read a file by calling `add_rows`, which adds its rows to the collector.

        With the option `skip_bad`, a file that raises InputError adds a note and no rows.
        """
        self.files.append(file)
        rows, counts = len(self._rows), self._counts.copy()
        notes, inputs = len(self._notes), len(self._inputs)
        try:
            add_rows()
        except InputError as error:
            if not self.options.skip_bad:
                if isinstance(error, BrokenFileError):
                    error.hint += f"; {option('skip_bad', True)} ignores broken files"
                raise
            del self._rows[rows:]
            self._counts = counts
            while len(self._notes) > notes:
                self._notes.popitem()
            while len(self._inputs) > inputs:
                self._optional_documents.pop(Path(self._inputs.popitem()[0]), None)
            prefix = "" if str(file.path) in error.problem else f"{file.path}, as "
            self.note(f"ignored: {prefix}{error.problem} ({error.found})")

    def read(self, path: Path) -> bytes:
        """Return the decompressed content of a file without byte order mark.

        The file is recorded as an input.
        """
        raw = read_bytes(str(path), self.budget)
        if not raw.strip():
            raise empty_error(str(path), f"{len(raw)} bytes")
        self._inputs[str(path)] = InputFile(path=str(path), sha256=hashlib.sha256(raw).hexdigest(), rows=0)
        return decompress(str(path), raw, self.budget).removeprefix(b"\xef\xbb\xbf")

    def read_optional(self, path: Path) -> Record:
        """Return the object in a JSON file, or an empty record if the file does not exist.

        The file is read only once.
        """
        if path not in self._optional_documents:
            document = parse_document(path, self.read(path)) if path.is_file() else Record(str(path), None)
            self._optional_documents[path] = document
        return self._optional_documents[path]

    def record_input(self, path: Path) -> None:
        """Record the name and SHA-256 digest of a file that is only read in part."""
        self._inputs[str(path)] = InputFile(path=str(path), sha256=digest_file(str(path)), rows=0)

    def set_run(self, run: object) -> None:
        """Record the identifier of the run, of any type, to which the current file belongs.

        Another file of the same run with the same rows is a copy.
        """
        self._runs[len(self.files) - 1] = run

    def add(
        self,
        *,
        model: str,
        sample: str,
        metric: str,
        score: object = None,
        input_text: object = None,
        output_text: object = None,
        already_counted: object = False,
        **columns: str,
    ) -> None:
        """Add a row for each score in a value that a harness logged.

        Parameters
        ----------
        model, sample, metric : str
        score : object
            Numbers and booleans are scores; None and NaN give a row with a missing score. Text, lists and
            objects are counted and excluded. With the option `parts`, each item of a list becomes a separate
            metric.
        input_text, output_text : object
            Logged input and output of the model; kept for samples whose texts are requested.
        already_counted : bool
            Whether the reader has counted why the score is missing; the row is added with a missing score.
        **columns : str
            Further columns: ``task``, ``split``, and ``draw`` (epoch, trial or other repeat).
        """
        self._models[model] = None
        row: dict[str, Any] = {"model": model, "sample": sample, FILE: len(self.files) - 1, **columns}
        if (input_text is not None or output_text is not None) and self.needs_texts(sample):
            row[INPUT_TEXT] = parsing.message_text(input_text)
            row[OUTPUT_TEXT] = parsing.message_text(output_text)
        for name, number in [(metric, None)] if already_counted else self.parse_scores(metric, score):
            self._rows.append(row | {"metric": name, "score": number})

    def parse_scores(self, metric: str, value: object) -> list[tuple[str, float | None]]:
        """Return pairs of metric and score for a logged value: one, or several if a list is split into parts.

        Values that are not scores are counted and excluded.
        """
        if self.options.parts and isinstance(value, list | tuple):
            parts = (self.parse_scores(f"{metric}.{index}", part) for index, part in enumerate(value))
            return [*chain.from_iterable(parts)]
        number = as_score(value)
        if isinstance(number, str):
            advice = f" ({option('parts', True)} makes each part a metric)" if number == "lists" else ""
            self.count(f"{metric}: {_LEFT_OUT} {number}, not scores{advice}")
            return []
        if number is None:
            self.count(f"{metric}: rows without a score")
        elif isinstance(value, bool):
            self._boolean_metrics.add(metric)
        else:
            self._numeric_metrics.add(metric)
        return [(metric, number)]

    def needs_texts(self, sample: str) -> bool:
        """Return whether the input and output of a sample are requested."""
        return sample in self._names_with_texts

    def count(self, description: str, times: int = 1) -> None:
        """Add `times` to the number of items with a description, such as failed samples.

        The notes state the total, as in ``failed samples: 2``.
        """
        if times:
            self._counts[description] += times

    def note(self, text: str) -> None:
        """Add a note unless it was added before."""
        self._notes[text] = None

    def set_direction(self, metric: str, direction: str, *, source: str = "") -> None:
        """Record that ``higher`` or ``lower`` is better for a metric in the run named by `source`.

        If runs disagree, the direction is treated as undeclared and a note says so.
        """
        earlier, first_source = self._directions.setdefault(metric, (direction, source))
        if earlier and earlier != direction:
            self._directions[metric] = ("", "")
            first = first_source or "another run"
            runs = f"{earlier} is better in {first}, {direction} is better in {source}"
            remedy = f"set it: {option('higher', metric)} or {option('lower', metric)}"
            self.note(f"'{metric}': the runs disagree on the direction ({runs}); {remedy}")

    def set_primary_metric(self, task: str, metric: str) -> None:
        """Record the primary metric of a task.

        If runs disagree, the task has no primary metric.
        """
        if self._primary_metrics.setdefault(task, metric) != metric:
            self._primary_metrics[task] = ""

    def rows(self) -> pl.DataFrame:
        """Return all collected rows, one per score.

        Where a file has a label, it replaces the name of the model. Duplicate runs are removed.

        Raises
        ------
        InputError
            If there are no rows.
        """
        rows = self._concatenate()
        self._rows = []  # free the memory before copies are made
        models = {*rows["model"]} if rows.height else set()
        for model in (name for name in self._models if name not in models):
            self.note(f"model '{model}': no scores left")
        if not models:
            hint = "check that the run was finished and scored, or name other files"
            if any(_LISTS in description for description in self._counts) and not self.options.parts:
                hint = f"{option('parts', True)} makes each part of a list a metric"
            found = listing(self.all_notes() or ["no scored samples"], 4)
            location = listing(self._inputs or ["the export"], 3)
            raise InputError(f"{location}: no scores", found=found, hint=hint)
        rows = _apply_labels(rows, [file.label for file in self.files])
        for copy, original in find_copies(rows, self._runs).items():
            path = self.path_of(copy)
            self.note(f"{path}: ignored, as it repeats the run of {self.path_of(original)}")
            rows = rows.filter(pl.col(FILE) != copy)
            self._inputs.pop(path, None)
        for number, count in rows.group_by(FILE).len().iter_rows():
            path = self.path_of(number)
            if entry := self._inputs.get(path):
                self._inputs[path] = replace(entry, rows=entry.rows + count)
        return rows

    def path_of(self, number: int) -> str:
        """Return the path of the file with a given number, counted from 0 in order of reading."""
        return str(self.files[number].path) if self.files else "the export"

    def all_notes(self) -> tuple[str, ...]:
        """Return all notes, followed by the counts as texts such as "failed samples: 2"."""
        return (*self._notes, *(f"{description}: {times:,}" for description, times in self._counts.items()))

    def to_export(self, rows: pl.DataFrame) -> Export:
        """Return the selected rows as an `Export` with the recorded directions, bounds and notes."""
        metrics = {*rows["metric"]}
        # A metric's name may include its filter or judge: ``acc,strict``.
        declared = self._directions
        directions = {name: declared.get(name) or declared.get(name.rpartition(",")[0]) for name in metrics}
        # A metric with both booleans and numbers has no known bounds.
        boolean_bounds = dict.fromkeys(self._boolean_metrics - self._numeric_metrics, (0.0, 1.0))
        bounds = (boolean_bounds | self.bounds).items()
        return Export(
            rows=order_columns(rows.drop(FILE, strict=False)),
            directions={name: entry[0] for name, entry in directions.items() if entry and entry[0]},
            primary={task: name for task, name in self._primary_metrics.items() if name in metrics},
            bounds={name: limits for name, limits in bounds if name in metrics},
            has_task_averages=self.has_task_averages,
            notes=self.all_notes(),
            inputs=tuple(self._inputs.values()),
        )

    def _concatenate(self) -> pl.DataFrame:
        """Return all rows as one data frame.

        Names that are not valid Unicode raise InputError; with the option `skip_bad`, their rows are
        excluded.
        """
        types = {"score": pl.Float64, FILE: pl.Int64}
        schema = {name: types.get(name, pl.String) for name in dict.fromkeys(chain.from_iterable(self._rows))}
        try:
            return pl.DataFrame(self._rows, schema=schema)
        except UnicodeEncodeError:
            invalid = parsing.rows_with_surrogates(self._rows)
            if not self.options.skip_bad:
                index, name = next(iter(invalid.items()))
                raise parsing.unicode_error(self.path_of(self._rows[index][FILE]), name) from None
            self.count("ignored rows with names that are not valid Unicode", len(invalid))
            self._rows = [row for index, row in enumerate(self._rows) if index not in invalid]
            return self._concatenate()


def _apply_labels(rows: pl.DataFrame, labels: Sequence[str | None]) -> pl.DataFrame:
    """Return rows with model names replaced by the labels of their files.

    `labels` holds the label of each file, or None. If a label covers several models, it becomes a prefix of
    their names.
    """
    if not any(labels):
        return rows
    names = pl.Series("label", [*labels, None], dtype=pl.String)  # last entry: rows without a file
    rows = rows.with_columns(names.gather(rows[FILE] % len(names)))
    alone = pl.col("model").n_unique().over("label") == 1
    before = pl.when(alone).then("label").otherwise(pl.concat_str("label", "model", separator="/"))
    model = pl.when(pl.col("label").is_null()).then("model").otherwise(before)
    return rows.with_columns(model=model).drop("label")


def order_columns(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the required columns first. Drop the column ``draw`` if no sample has repeats."""
    has_repeats = "draw" in rows.columns and rows.select(_CELL).n_unique() < rows.height
    numbered = pl.col("draw").fill_null("1")
    rows = rows.with_columns(numbered) if has_repeats else rows.drop("draw", strict=False)
    order = [*REQUIRED_COLUMNS, *(["draw"] if has_repeats else [])]
    return rows.select(*order, *(name for name in rows.columns if name not in order))


@dataclass(frozen=True, kw_only=True)
class ExportFile(LabelledPath):
    """One file of an export, read as type-checked records."""

    collector: RowCollector

    @cached_property
    def data(self) -> bytes:
        """Decompressed content of the file."""
        return self.collector.read(self.path)

    def lines(self, entry_name: str = "line") -> Iterator[Record]:
        """Yield the JSON objects in a JSON Lines file as records.

        Parameters
        ----------
        entry_name : str
            Word for a line in messages.

        Raises
        ------
        InputError
            At the first line that is not a JSON object; with `skip_bad`, such lines are counted instead.
        """
        return self._objects(parsing.parse_lines(str(self.path), self.data), "line", entry_name)

    def records(self, entry_name: str = "entry") -> Iterator[Record]:
        """Yield the objects in a JSON array or JSON Lines file as records, whatever the file name.

        Raises
        ------
        InputError
            If the file is neither, or an entry is not an object; with `skip_bad`, such entries are counted.
        """
        if not self.data.lstrip().startswith(b"["):
            return self.lines(entry_name)
        entries = parsing.parse_json(str(self.path), self.data)
        if not entries:
            raise empty_error(str(self.path), "an empty array")
        return self._objects(enumerate(entries, start=1), "entry", entry_name)

    def _objects(self, values: Iterable[tuple[int, Any]], kind: str, entry_name: str) -> Iterator[Record]:
        """Yield values as records; count or reject values that are not objects.

        Each value comes with its number. `kind` and `entry_name` are words for a value in messages.
        """
        for number, value in values:
            if isinstance(value, dict):
                yield Record(f"{self.path}: {entry_name} {number}", value)
            elif self.collector.options.skip_bad:
                self.count(f"{self.path}: ignored {kind}s that are not JSON objects")
            elif isinstance(value, InputError):
                raise value
            else:
                problem = f"{self.path}: {kind} {number} is not a JSON object"
                raise export_error(problem, parsing.preview(value))

    def document(self) -> Record:
        """Return the single object in a JSON file; see `parse_document`."""
        return parse_document(self.path, self.data)

    def read_optional(self, path: Path) -> Record:
        """Return the object in another JSON file, or an empty record if the file does not exist."""
        return self.collector.read_optional(path)

    @property
    def is_json(self) -> bool:
        """True if the table is stored as JSON, False if it is stored as CSV."""
        return self.data.lstrip()[:1] in (b"{", b"[")

    def columns(self) -> Columns:
        """Return the columns of a table in CSV or in any JSON layout that pandas writes."""
        return (json_columns if self.is_json else csv_columns)(str(self.path), self.data)

    def rows(self, is_score: Callable[[str], object], *, is_table: bool = True) -> Iterator[Record]:
        """Yield the rows of a CSV table, or the records of a JSON file in any layout.

        CSV columns are read as text if `is_score` returns a false value for their name. If `is_table`, a JSON
        object whose values are all lists or objects is read as a table with one column per key.
        """
        document = parsing.json_object(self.data) if self.data.lstrip()[:1] == b"{" else None
        cells = [*document.values()] if document and is_table else [None]
        is_split = document is not None and {"columns", "data"} <= document.keys()
        if self.is_json and not is_split and not all(isinstance(cell, list | dict) for cell in cells):
            yield from self.records() if document is None else [self.document()]
            return
        read = json_columns if self.is_json else partial(csv_columns, numeric=is_score)
        columns = read(str(self.path), self.data)
        for number, row in enumerate(zip(*columns.values(), strict=True), start=2):
            yield Record(f"{self.path}: row {number}", dict(zip(columns, row, strict=True)))

    def model_name(self, logged_name: str | None = None) -> str:
        """Return the name of the model that produced the scores.

        It comes from the option for model names in paths, otherwise from the log, otherwise from the file's
        label.
        """
        return resolve_model_name(self.path, logged_name, self.collector.options, label=self.label)

    def set_direction(self, metric: str, direction: str) -> None:
        """Record the direction that this file declares for a metric."""
        self.collector.set_direction(metric, direction, source=str(self.path))

    def note(self, text: str) -> None:
        """Add a note about this file."""
        self.collector.note(f"{self.path}: {text}")

    def count(self, description: str, times: int = 1) -> None:
        """Add `times` to the number of items with a description; see `RowCollector.count`."""
        self.collector.count(description, times)


def find_files(paths: Iterable[LabelledPath], accepts: Callable[[Path], bool]) -> list[LabelledPath]:
    """Return the files to read: named files, and in sorted order all accepted files below folders.

    Each file occurs once. A file named by the user is read even if its name is unusual; its reader then
    reports any problem.

    Raises
    ------
    InputError
        If a folder contains no accepted file.
    """
    found: dict[LabelledPath, None] = {}
    for entry in paths:
        files = sorted(walk_files(entry.path, accepts)) if entry.path.is_dir() else [entry.path]
        if not files:
            problem = f"{entry.path}: the folder has no file of this format"
            hint = "name the output folder of the harness, or the files"
            raise InputError(problem, found="no such file", hint=hint)
        found |= dict.fromkeys(replace(entry, path=path) for path in files)
    return [*found]


def walk_files(folder: Path, accepts: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield the accepted files below a folder.

    Links to folders are not followed, because they may form cycles.
    """
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            if path.is_file() and accepts(path):  # opening a named pipe would block
                yield path


# One dictionary per score.
Rows = Iterator[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RowReader:
    """Reader of an export format.

    The functions are those of the format's module; all but `rows`, called ``read`` there, are optional.

    Attributes
    ----------
    name : str
        Name of the format in the catalogue.
    form : Format
    rows : callable
        Yields the rows of one file: ``model``, ``sample``, ``metric``, ``score`` and further columns.
    recognises : callable
        Returns whether a file has the format; by default, the marks of the format decide.
    is_preferred : callable
        Returns whether a file is read instead of others in the same folder, because it repeats their content.
    finish : callable
        Transforms the rows of all files: selects variants, and chooses names that depend on several files.
    """

    name: str
    form: Format
    rows: Callable[[ExportFile], Rows]
    recognises: Callable[[Path], bool]
    is_preferred: Callable[[Path], bool]
    finish: Callable[[pl.DataFrame, RowCollector], pl.DataFrame]

    def read(
        self,
        files: Sequence[LabelledPath],
        options: ReadOptions,
        samples_with_texts: frozenset[str] = frozenset(),
    ) -> Export:
        """Read files and folders in the format, and return their scores.

        Parameters
        ----------
        files : sequence of LabelledPath
        options : ReadOptions
        samples_with_texts : frozenset of str
            Samples whose rows include the model's input and output.
        """
        supported = [*self.form.options.split(), *(["filter"] if self.form.choices else [])]
        reject_unsupported_options(options, self.name, supported=supported)
        collector = RowCollector(options, samples_with_texts)
        found = find_files(files, self.recognises)
        replaced = {file.label for file in found if self.is_preferred(file.path)}
        found = [file for file in found if file.label not in replaced or self.is_preferred(file.path)]
        unlabelled = [file.path for file in found if file.label is None]
        is_named_by_file = self.form.model_per_file or not self.form.module
        model_names = distinguishing_names(unlabelled) if is_named_by_file else {}
        for file in found:
            label = file.label or model_names.get(file.path)
            export_file = ExportFile(path=file.path, label=label, collector=collector)
            collector.collect_file(file, partial(self._collect_rows, export_file))
        rows = select_variants(collector.rows(), options, self.form.choices, context=self.name)
        return finish_export(self.finish(rows, collector), collector)

    def _collect_rows(self, file: ExportFile) -> None:
        """Collect the rows of a file without auxiliary metrics that the user did not request."""
        auxiliary = {*self.form.auxiliary.split()} - {*file.collector.options.metric}
        metrics: dict[str, None] = {}
        for row in self.rows(file):
            metrics[row["metric"]] = None
            if row["metric"] not in auxiliary:
                file.collector.add(**row)
        for metric in metrics:
            if direction := self.form.direction(metric):
                file.collector.set_direction(metric, direction)
            if self.form.bounds:
                file.collector.bounds[metric] = (self.form.bounds[0], self.form.bounds[1])
        if excluded := [metric for metric in metrics if metric in auxiliary]:
            remedy = f"{option('metric', 'NAME')} includes one"
            file.collector.note(f"ignored auxiliary metrics: {listing(excluded)}; {remedy}")


def distinguishing_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Return a short distinct name for each of several files.

    If the paths differ in only one component, it becomes the name; otherwise the file name does. Suffixes
    that all names share are removed. The result is empty for a single file, or if names would not be
    distinct.
    """
    path_parts = differing_parts([str(path) for path in paths])
    labels = path_parts[0] if len(path_parts) == 1 else [path.name for path in paths]
    names = {path: name.removesuffix(path.suffix) for path, name in zip(paths, labels, strict=True)}
    while len(split_names := {name.rpartition(".")[::2] for name in names.values()}) > 1:
        if len({suffix for _, suffix in split_names}) > 1 or not all(stem for stem, _ in split_names):
            break
        names = {path: name.rpartition(".")[0] for path, name in names.items()}
    return names if 1 < len(paths) == len(set(names.values())) else {}


def finish_export(rows: pl.DataFrame, collector: RowCollector) -> Export:
    """Build the export from its rows: number the repeats, and drop metrics without scores.

    `collector` holds the directions, bounds and notes of the files.

    Returns
    -------
    Export
        ``draw`` is the repeat that a row names. Otherwise it numbers the scores of the same model, sample and
        metric in file order.

    Raises
    ------
    InputError
        If no metric has a score.
    """
    scored = rows.filter(pl.col("score").is_not_null())["metric"].unique()
    for metric in rows["metric"].unique(maintain_order=True):
        if metric not in scored:
            collector.note(f"{metric}: ignored, as no sample has a score")
    if scored.is_empty():
        location = listing((file.path for file in collector.files), 3)
        raise export_error(f"{location}: no sample has a score", listing(collector.all_notes(), 3))
    rows = rows.filter(pl.col("metric").is_in(scored.implode()))
    by = [name for name in ("model", "task") if name in rows.columns]
    repeated = rows.filter(pl.col(FILE).n_unique().over(*_CELL) > 1) if FILE in rows.columns else rows[:0]
    if repeated.height:
        runs = repeated.group_by(by, maintain_order=True).agg(pl.col(FILE).unique(maintain_order=True))
        for model, *task, numbers in runs.iter_rows():
            task_text = f" on task '{task[0]}'" if task else ""
            files = listing(map(collector.path_of, numbers), 3)
            message = f"{len(numbers)} runs of model '{model}'{task_text}, from {files}"
            collector.note(f"{message}: they are repeats of the same samples")
    if "draw" not in rows.columns or rows.select(*_CELL, "draw").is_duplicated().any():
        rows = rows.with_columns(draw=pl.int_range(1, pl.len() + 1).over(*_CELL).cast(pl.String))
    return collector.to_export(rows)
