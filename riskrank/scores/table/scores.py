"""Scores as read: one typed data frame with one score per row, and metadata."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Integers
from riskrank.errors import InputError, listing, option, unknown_name
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import parsing
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.requested_metrics import requested_metrics
from riskrank.scores.table.typed_rows import categories

if TYPE_CHECKING:
    from riskrank.scores.table.baseline import Baseline, Overlap, UnmatchedSamples


@dataclass(frozen=True)
class FileRead:
    """An input file, its columns by role, and the number of rows in the files that precede it."""

    source: Source
    roles: Roles
    start: int


@dataclass(frozen=True, kw_only=True)
class Notes:
    """Metadata of scores.

    Attributes
    ----------
    files : tuple of FileRead
    inputs : tuple of InputFile
    sources : tuple of Source
        The opened sources; empty for files written by a harness.
    rows : int
        Number of input rows read.
    has_samples : bool
        True if there is a sample column.
    tasks_named : bool
        True if the user named the task column, so that its values always count as tasks.
    draw_column : bool
        True if a column numbers repeats; without one, each row of a wide table is a repeat.
    all_metrics : tuple of str
        All metrics in the files, whether selected or not.
    directions : mapping of str to {"higher", "lower"}
        Directions stated in the files, by metric.
    bounds : mapping of str to (float, float)
        Smallest and largest possible score, for boolean metrics and metrics whose bounds the files state.
    primary : mapping of str to str
        Primary metric of each task, as stated by a harness.
    warnings : tuple of str
        Notes about excluded data and suspicious values.
    origin : str
        Name of the inputs in messages, if there are too many files to list.
    samples_renamed : bool
        True if samples are named by task and sample, because tasks reuse sample names.
    baseline : Baseline or None
        Its rows follow those of the files.
    overlap : Overlap or None
        Samples and metrics that new scores share with the baseline; None until they are compared.
    unmatched : tuple of UnmatchedSamples
        Samples excluded because not all models have them.
    resolved : ReadOptions
        The requested options, completed by inference from the files; `Scores.options` is derived from them.
    requested : ReadOptions
        The options as given by the user.
    """

    files: tuple[FileRead, ...]
    inputs: tuple[InputFile, ...]
    sources: tuple[Source, ...]
    rows: int
    has_samples: bool
    tasks_named: bool
    draw_column: bool
    all_metrics: tuple[str, ...]
    directions: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    primary: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    origin: str = ""
    samples_renamed: bool = False
    baseline: Baseline | None = None
    overlap: Overlap | None = None
    unmatched: tuple[UnmatchedSamples, ...] = ()
    resolved: ReadOptions = field(default_factory=ReadOptions)
    requested: ReadOptions = field(default_factory=ReadOptions)


@dataclass(frozen=True)
class Scores:
    """A typed data frame with metadata, passed between the steps from reading to the score table.

    Attributes
    ----------
    frame : DataFrame
        ``model``, ``sample``, ``metric``, ``task``, ``cluster``, ``group``, ``time`` and ``noise`` are
        categorical names; a sample belongs to one task. ``score`` is a float, or NaN if ``state`` says why it
        is missing. ``draw`` links the metrics of a repeat. ``row`` numbers the rows of all files. A column
        has type Null if no file has its role, as has ``state`` if all scores are valid.
    notes : Notes
    options : ReadOptions
        Options for the steps that follow reading.
    original_metric : Series or None
        The column ``metric`` as read, if the metrics of several tasks have been merged into one column.
    """

    frame: pl.DataFrame
    notes: Notes
    options: ReadOptions
    original_metric: pl.Series | None = None

    def names(self, role: str) -> tuple[str, ...]:
        """Return the names in a role's column in order of their codes, or none if there is no column."""
        return tuple(categories(self.frame[role])) if self.has_role(role) else ()

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Model names, sorted."""
        return self.names("model")

    @cached_property
    def samples(self) -> tuple[str, ...]:
        """Sample names, sorted."""
        return self.names("sample")

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metric names, in the requested order or otherwise sorted."""
        return self.names("metric")

    def has_role(self, role: str) -> bool:
        """Return True if there is a column for a role."""
        return self.frame.get_column(role).dtype != pl.Null

    def with_options(self, **changes: object) -> Scores:
        """Return the same scores with changed options."""
        return replace(self, options=replace(self.options, **changes))  # type: ignore[arg-type]

    def with_warnings(self, *warnings: str) -> Scores:
        """Return the same scores with additional warnings."""
        return replace(self, notes=replace(self.notes, warnings=(*self.notes.warnings, *warnings)))

    @property
    def noise_averaged(self) -> Scores:
        """The same scores, with options that average over the levels of any noise sources (method §15)."""
        return self.with_options(repeats="mean") if self.has_role("noise") else self

    @property
    def uses_tasks(self) -> bool:
        """True if there is a task column and metrics are not treated as separate objectives."""
        return self.has_role("task") and self.options.missing != "keep"

    @cached_property
    def _codes(self) -> pl.DataFrame:
        """The data frame with names replaced by integer codes."""
        return self.frame.select(pl.all().to_physical())  # one query, because each query has a fixed cost

    def codes(self, role: str) -> Integers:
        """Return the names in a role's column as indices into `names`, as a new array of shape (rows,)."""
        return self._codes[role].to_numpy().astype(np.int64)

    @property
    def values(self) -> np.ndarray:
        """Scores as stored in the files, with NaN for missing scores."""
        return self.frame["score"].to_numpy()

    @property
    def states(self) -> np.ndarray:
        """State of each score, as defined in `riskrank.scores.files.parsing`."""
        if self.has_role("state"):
            return self.frame["state"].to_numpy()
        return np.full(self.frame.height, parsing.VALID, dtype=np.int8)

    def invalid_mask(self) -> np.ndarray:
        """Return a mask of the rows without a usable score, with shape (rows,)."""
        return self.states != parsing.VALID

    def task_of_samples(self) -> Integers:
        """Return the task of each sample as an index into the task names, with shape (samples,).

        Samples without rows have index 0.
        """
        tasks = np.zeros(len(self.samples), dtype=np.int64)
        tasks[self.codes("sample")] = self.codes("task")
        return tasks

    def filter(self, mask: pl.Expr | Booleans) -> Scores:
        """Keep the rows selected by a mask, and the samples that occur in them."""
        frame = self.frame.filter(mask)
        used = frame["sample"].unique().sort().cast(pl.String)
        frame = frame.with_columns(recode(frame["sample"], used))
        if self.has_role("state") and not (frame["state"] != parsing.VALID).any():
            frame = frame.with_columns(state=pl.lit(None, dtype=pl.Null))
        return replace(self, frame=frame)

    def location(self, index: int) -> str:
        """Describe the location of the score at an index: file, row and column."""
        file, row, column = self.file_row_column(index)
        return f"{file}: row {row}, column {column}"

    def relative_location(self, index: int, reference: int) -> str:
        """Describe the location of a score relative to another, omitting the file if it is the same."""
        file, row, _ = self.file_row_column(index)
        return f"in row {row}" if file == self.file_row_column(reference)[0] else f"in {file}, row {row}"

    def cell_name(self, index: int) -> str:
        """Describe the score at an index by its model, sample and metric."""
        has_sample = self.notes.has_samples and self._file(index).roles.sample is not None
        of_sample = f", sample '{self.frame['sample'][index]}'" if has_sample else ""
        return f"model '{self.frame['model'][index]}'{of_sample}, metric '{self._metric(index)}'"

    def count_rows(self, mask: np.ndarray) -> int:
        """Count the selected scores as stored in the files.

        The files state a model property once, whereas it is repeated here for each sample.
        """
        return self.frame.select("row", "metric").filter(mask).n_unique()

    def cell_text(self, index: int) -> str:
        """Return the text of the score at an index, as written in its file."""
        source, position, column = self._origin(index)
        return str(source.load([column])[column][position])

    def file_names(self) -> str:
        """Return the names of the input files, for use in messages."""
        return self.notes.origin or listing((file.path for file in self.notes.inputs), 3)

    def _file(self, index: int) -> FileRead:
        """Return the input file that contains the score at an index."""
        row = int(self.frame["row"][index])
        return self.notes.files[bisect_right([file.start for file in self.notes.files], row) - 1]

    def _origin(self, index: int) -> tuple[Source, int, str]:
        """Return the source, position and column of the score at an index."""
        file, row = self._file(index), int(self.frame["row"][index])
        return file.source, row - file.start, file.roles.score or self._metric(index)

    def _metric(self, index: int) -> str:
        """Return the original metric of the score at an index."""
        return str((self.frame["metric"] if self.original_metric is None else self.original_metric)[index])

    def file_row_column(self, index: int) -> tuple[str, int, str]:
        """Return the file, row and column of the score at an index."""
        source, position, column = self._origin(index)
        return source.file_of(position), source.row_number(position), source.column_of(column, position)


def select(scores: Scores) -> Scores:
    """Keep the requested models and metrics, with metrics in the requested order.

    Raises
    ------
    UsageError
        If a requested model or metric does not exist.
    InputError
        If no rows are left.
    """
    options = scores.options
    for name in options.models:
        if name not in scores.models:
            raise unknown_name(name, scores.models, kind="model", parameter="models")
    plain, of_task = requested_metrics(options.metric, scores.notes.all_metrics, scores.names("task"))
    scores = _select_task_metrics(scores, plain, of_task)
    models = tuple(name for name in scores.models if not options.models or name in options.models)
    metrics = tuple(dict.fromkeys((*plain, *of_task.values()))) if plain else scores.metrics
    if models == scores.models and metrics == scores.metrics:
        return scores
    chosen = {"model": models, "metric": metrics}
    frame = scores.frame.with_columns(recode(scores.frame[role], names) for role, names in chosen.items())
    part = replace(scores, frame=frame).filter(pl.col("model").is_not_null() & pl.col("metric").is_not_null())
    if not part.frame.height:
        detail = f"models {listing(models)}; metrics {listing(metrics)}"
        lacking = "the selected models have no scores for these metrics"
        hint = f"check {option('models')} and {option('metric')}: {lacking}"
        raise InputError(
            f"{scores.file_names()}: no rows are left after the selection", found=detail, hint=hint
        )
    return part


def _select_task_metrics(scores: Scores, plain: Sequence[str], of_task: Mapping[str, str]) -> Scores:
    """Keep the metrics that are requested for each task.

    Metrics requested for all tasks apply only to tasks without a metric of their own.
    """
    if not of_task:
        return scores
    tasks = scores.names("task")
    mask = np.zeros((len(tasks), len(scores.metrics)), dtype=bool)
    for row, task in zip(mask, tasks, strict=True):
        names = (of_task[task],) if task in of_task else plain or scores.metrics
        row[[scores.metrics.index(name) for name in names]] = True
    filtered = scores.filter(mask[scores.codes("task"), scores.codes("metric")])
    left = sorted(set(filtered.frame["metric"].unique().cast(pl.String)))
    return replace(filtered, frame=filtered.frame.with_columns(recode(filtered.frame["metric"], left)))


def recode(series: pl.Series, names: Sequence[str] | pl.Series) -> pl.Series:
    """Re-encode a categorical column with another list of names.

    Names that are not in the list become null.
    """
    codes = categories(series).cast(pl.Enum(names), strict=False)
    return codes[series.to_physical()].alias(series.name)
