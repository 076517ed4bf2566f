"""Collect the rows of an export file by file, and count everything that is excluded."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.duplicate_files import find_copies
from riskrank.scores.exports.fields import Record, as_score, parse_document
from riskrank.scores.exports.interface import FILE, INPUT_TEXT, MAX_BYTES, OUTPUT_TEXT, Export, LabelledPath
from riskrank.scores.files.compression import decompress
from riskrank.scores.files.contents import read_bytes, require_file
from riskrank.scores.files.guards import BrokenFileError, Budget, empty_error
from riskrank.scores.files.json_objects import message_text, rows_with_surrogates, unicode_error
from riskrank.scores.files.source import InputFile

_LEFT_OUT = "ignored values that are"
_LISTS = f"{_LEFT_OUT} lists"
REQUIRED_COLUMNS = ("model", "sample", "metric", "score")


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
        self.options, self.samples_with_texts = options, samples_with_texts
        self.budget = Budget(options.max_bytes, maximum=MAX_BYTES)
        self.files: list[LabelledPath] = []
        self.bounds: dict[str, tuple[float, float]] = {}
        self.has_task_averages = False
        self._runs: dict[int, object] = {}
        self._directions, self._primary_metrics = dict[str, tuple[str, str]](), dict[str, str]()
        self._boolean_metrics, self._numeric_metrics = set[str](), set[str]()
        self._rows, self._frames = list[dict[str, Any]](), list[pl.DataFrame]()
        self._counts: Counter[str] = Counter()
        self._notes, self._inputs = dict[str, None](), dict[str, InputFile]()
        self._optional_documents, self._models = dict[Path, Record](), dict[str, None]()
        # A file may contain only the last part of a sample's name.
        self._names_with_texts = {
            text[at:]
            for text in samples_with_texts
            for at in range(len(text))
            if not at or text[at - 1] == "/"
        }

    def collect_file(self, file: LabelledPath, add_rows: Callable[[], None]) -> None:
        """Collect the rows of a file by calling `add_rows`.

        With `skip_bad`, a file that raises InputError adds a note and no rows.
        """
        self.files.append(file)
        rows, frames, counts = len(self._rows), len(self._frames), self._counts.copy()
        notes, inputs = len(self._notes), len(self._inputs)
        try:
            add_rows()
        except InputError as error:
            if not self.options.skip_bad:
                if isinstance(error, BrokenFileError):
                    error.hint += f"; {option('skip_bad', True)} ignores broken files"
                raise
            del self._rows[rows:], self._frames[frames:]
            self._counts = counts
            while len(self._notes) > notes:
                self._notes.popitem()
            while len(self._inputs) > inputs:
                self._optional_documents.pop(Path(self._inputs.popitem()[0]), None)
            prefix = "" if str(file.path) in error.problem else f"{file.path}, as "
            self.note(f"ignored: {prefix}{error.problem} ({error.found})")

    def read(self, path: Path) -> bytes:
        """Return the decompressed content of a file without byte order mark; record the file as an input."""
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
            exists = path.is_file()
            self._optional_documents[path] = (
                parse_document(path, self.read(path)) if exists else Record(str(path), None)
            )
        return self._optional_documents[path]

    def record_input(self, path: Path) -> None:
        """Record the name and SHA-256 digest of a file that is only read in part."""
        require_file(str(path))
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._inputs[str(path)] = InputFile(path=str(path), sha256=digest, rows=0)

    def set_run(self, run: object) -> None:
        """Record the run to which the current file belongs.

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
        """Add the score or scores in one logged value.

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
            row |= {INPUT_TEXT: message_text(input_text), OUTPUT_TEXT: message_text(output_text)}
        for name, number in [(metric, None)] if already_counted else self.parse_scores(metric, score):
            self._rows.append(row | {"metric": name, "score": number})

    def parse_scores(self, metric: str, value: object) -> list[tuple[str, float | None]]:
        """Return the metric names and scores in a logged value; count values that are not scores."""
        if self.options.parts and isinstance(value, list | tuple):
            return [
                pair
                for index, part in enumerate(value)
                for pair in self.parse_scores(f"{metric}.{index}", part)
            ]
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

    def add_frame(self, frame: pl.DataFrame) -> None:
        """Add many validated rows of the current file at once, with the columns of `Export.rows`."""
        self._models |= dict.fromkeys(frame["model"].unique(maintain_order=True))
        self._frames.append(frame.with_columns(pl.lit(len(self.files) - 1, pl.Int64).alias(FILE)))

    def count(self, description: str, times: int = 1) -> None:
        """Count items under a description; the notes state the total, as in ``failed samples: 2``."""
        if times:
            self._counts[description] += times

    def note(self, text: str) -> None:
        """Add a note unless it was added before."""
        self._notes[text] = None

    def set_direction(self, metric: str, direction: str, *, source: str = "") -> None:
        """Record the direction of a metric as declared by a run, `source`.

        If runs disagree, the direction is treated as undeclared and a note says so.
        """
        earlier, first_source = self._directions.setdefault(metric, (direction, source))
        if earlier and earlier != direction:
            self._directions[metric] = ("", "")
            runs = [
                f"{earlier} is better in {first_source or 'another run'}",
                f"{direction} is better in {source}",
            ]
            remedy = f"set it: {option('higher', metric)} or {option('lower', metric)}"
            self.note(f"'{metric}': the runs disagree on the direction ({', '.join(runs)}); {remedy}")

    def set_primary_metric(self, task: str, metric: str) -> None:
        """Record the primary metric of a task; if runs disagree, the task has none."""
        if self._primary_metrics.setdefault(task, metric) != metric:
            self._primary_metrics[task] = ""

    def rows(self) -> pl.DataFrame:
        """Return all collected rows, with labels substituted for model names.

        Copies of a run are removed.

        Raises
        ------
        InputError
            If there are no rows.
        """
        rows = self._concatenate()
        self._rows, self._frames = [], []  # free the memory before copies are made
        models = {*rows["model"]} if rows.height else set()
        for model in (name for name in self._models if name not in models):
            self.note(f"model '{model}': no scores left")
        if not models:
            raise InputError(
                f"{listing(self._inputs or ['the export'], 3)}: no scores",
                found=listing(self.all_notes(), 4) if self.all_notes() else "no scored samples",
                hint=f"{option('parts', True)} makes each part of a list a metric"
                if any(_LISTS in description for description in self._counts) and not self.options.parts
                else "check that the run was finished and scored, or name other files",
            )
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
        """Return the path of a file by its number."""
        return str(self.files[number].path) if self.files else "the export"

    def all_notes(self) -> tuple[str, ...]:
        """Return all notes, followed by the counts."""
        return (*self._notes, *(f"{description}: {times:,}" for description, times in self._counts.items()))

    def to_export(self, rows: pl.DataFrame) -> Export:
        """Return the selected rows as an `Export` with the recorded directions, bounds and notes."""
        metrics = {*rows["metric"]}
        # A metric's name may include its filter or judge: ``acc,strict``.
        declared = self._directions
        directions = {name: declared.get(name) or declared.get(name.rpartition(",")[0]) for name in metrics}
        # A metric with both booleans and numbers has no known bounds.
        boolean_bounds = dict.fromkeys(self._boolean_metrics - self._numeric_metrics, (0.0, 1.0))
        return Export(
            rows=order_columns(rows.drop(FILE, strict=False)),
            directions={name: entry[0] for name, entry in directions.items() if entry and entry[0]},
            primary={task: name for task, name in self._primary_metrics.items() if name in metrics},
            bounds={
                name: limits for name, limits in (boolean_bounds | self.bounds).items() if name in metrics
            },
            has_task_averages=self.has_task_averages,
            notes=self.all_notes(),
            inputs=tuple(self._inputs.values()),
        )

    def _concatenate(self) -> pl.DataFrame:
        """Return all rows as one data frame.

        Names that are not valid Unicode raise an error; with `skip_bad`, their rows are excluded.
        """
        types = {"score": pl.Float64, FILE: pl.Int64}
        schema = {name: types.get(name, pl.String) for name in dict.fromkeys(chain.from_iterable(self._rows))}
        try:
            row_frames = [pl.DataFrame(self._rows, schema=schema)] if self._rows else []
        except UnicodeEncodeError:
            invalid = rows_with_surrogates(self._rows)
            if not self.options.skip_bad:
                index, name = next(iter(invalid.items()))
                raise unicode_error(self.path_of(self._rows[index][FILE]), name) from None
            self.count("ignored rows with names that are not valid Unicode", len(invalid))
            self._rows = [row for index, row in enumerate(self._rows) if index not in invalid]
            return self._concatenate()
        frames = [*self._frames, *row_frames]
        return pl.concat(frames, how="diagonal") if frames else pl.DataFrame()


def _apply_labels(rows: pl.DataFrame, labels: Sequence[str | None]) -> pl.DataFrame:
    """Replace model names with the labels of their files.

    If a label covers several models, it becomes a prefix of their names.
    """
    if not any(labels):
        return rows
    names = pl.Series("label", [*labels, None], dtype=pl.String)  # the last entry is for rows without a file
    rows = rows.with_columns(names.gather(rows[FILE] % len(names)))
    alone = pl.col("model").n_unique().over("label") == 1
    before = pl.when(alone).then("label").otherwise(pl.concat_str("label", "model", separator="/"))
    model = pl.when(pl.col("label").is_null()).then("model").otherwise(before)
    return rows.with_columns(model=model).drop("label")


def order_columns(rows: pl.DataFrame) -> pl.DataFrame:
    """Put the required columns first, and drop ``draw`` if there are no repeats."""
    if "draw" in rows.columns:
        if rows.select("model", "sample", "metric").n_unique() == rows.height:
            rows = rows.drop("draw")
        else:
            rows = rows.with_columns(pl.col("draw").fill_null("1"))
    order = [*REQUIRED_COLUMNS, *(["draw"] if "draw" in rows.columns else [])]
    return rows.select(*order, *(name for name in rows.columns if name not in order))
