"""Scores as they were read: one typed frame, a row a score, and the notes that go with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Integers
from riskrank.errors import InputError, listing, no_such, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import parsing
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.requested_metrics import metrics_asked
from riskrank.scores.table.typed_rows import list_of

if TYPE_CHECKING:
    from riskrank.scores.table.baseline import Baseline, Overlap, Unshared


@dataclass(frozen=True)
class FileRead:
    """One file: what its columns are, and the rows of all files before it."""

    source: Source
    roles: Roles
    start: int


@dataclass(frozen=True, kw_only=True)
class Notes:
    """What is known about scores beside the scores.

    Attributes
    ----------
    files : tuple of FileRead
    inputs : tuple of InputFile
    sources : tuple of Source
        As they were opened; none of what a harness wrote.
    rows : int
        Input rows read.
    has_samples : bool
        Whether there is a column of samples.
    tasks_named : bool
        Whether somebody named the column of the tasks, so that it is one of tasks whatever it holds.
    draw_column : bool
        Whether there is a column of draws; a row of a wide table is a draw without one.
    known_metrics : tuple of str
        Every metric of the files, selected or not.
    directions : mapping of str to {"higher", "lower"}
        Of the metrics of which the files tell it.
    bounds : mapping of str to (float, float)
        Smallest and largest score there can be, of the metrics of which the files tell it: true or false.
    primary : mapping of str to str
        By task, the metric by which a harness judges it.
    warnings : tuple of str
        What was left out, and what looks strange.
    origin : str
        What messages call the inputs, where the files themselves are too many.
    told_apart : bool
        Whether samples are named by task and sample, as tasks gave the same names to theirs.
    baseline : Baseline or None
        Whose rows stand below those of the files.
    overlap : Overlap or None
        What both have in common, once that is known.
    unshared : tuple of Unshared
        Samples that were left out, as not all models have them.
    asked : ReadOptions
        What was asked for, with what the files told; `Scores.options` says how they are read for that.
    given : ReadOptions
        What was asked for, and no more.
    """

    files: tuple[FileRead, ...]
    inputs: tuple[InputFile, ...]
    sources: tuple[Source, ...]
    rows: int
    has_samples: bool
    tasks_named: bool
    draw_column: bool
    known_metrics: tuple[str, ...]
    directions: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    primary: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    origin: str = ""
    told_apart: bool = False
    baseline: Baseline | None = None
    overlap: Overlap | None = None
    unshared: tuple[Unshared, ...] = ()
    asked: ReadOptions = field(default_factory=ReadOptions)
    given: ReadOptions = field(default_factory=ReadOptions)


@dataclass(frozen=True)
class Scores:
    """A typed frame with its notes: what the steps between reading and the table take and give.

    Attributes
    ----------
    frame : DataFrame
        ``model``, ``sample``, ``metric``, ``task``, ``cluster``, ``group``, ``time``, ``noise`` are names, as
        numbers into the list of those there are; a sample lies in one task; ``score`` is a float, NaN where
        ``state`` says why there is none; ``draw`` links the metrics of one draw; ``row`` counts the rows of
        all files. A column nobody named is of type Null, and so is ``state`` where every score is one.
    notes : Notes
    options : ReadOptions
        What was asked for.
    metric_read : Series or None
        The column ``metric`` as it was read, where tasks with metrics of their own have become one column.
    """

    frame: pl.DataFrame
    notes: Notes
    options: ReadOptions
    metric_read: pl.Series | None = None

    def names(self, role: str) -> tuple[str, ...]:
        """Names of a role in the order of their codes; none where nobody named its column."""
        return tuple(list_of(self.frame[role])) if self.has(role) else ()

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Sorted."""
        return self.names("model")

    @cached_property
    def samples(self) -> tuple[str, ...]:
        """Sorted."""
        return self.names("sample")

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """In the order asked for, else sorted."""
        return self.names("metric")

    def has(self, role: str) -> bool:
        """Whether a column says anything."""
        return self.frame.get_column(role).dtype != pl.Null

    def asking(self, **other: object) -> Scores:
        """The same scores, of which something else is asked."""
        return replace(self, options=replace(self.options, **other))  # type: ignore[arg-type]

    def noting(self, *told: str) -> Scores:
        """The same with more to be said of what was left out, and what looks strange."""
        return replace(self, notes=replace(self.notes, warnings=(*self.notes.warnings, *told)))

    @property
    def over_noise(self) -> Scores:
        """The same with what varies by sources of noise averaged, where there are any (method §15)."""
        return self.asking(repeats="mean") if self.has("noise") else self

    @property
    def in_tasks(self) -> bool:
        """Whether there are tasks that count: where metrics are objectives, each of these keeps its name."""
        return self.has("task") and self.options.missing != "keep"

    @cached_property
    def _codes(self) -> pl.DataFrame:
        return self.frame.select(pl.all().to_physical())  # one query: each takes its time

    def codes(self, role: str) -> Integers:
        """Names of a role as indices into `names`, a new array."""
        return self._codes[role].to_numpy().astype(np.int64)

    @property
    def values(self) -> np.ndarray:
        """Scores as they stand in the files; NaN where there is none."""
        return self.frame["score"].to_numpy()

    @property
    def states(self) -> np.ndarray:
        """See `riskrank.scores.files.parsing`."""
        if self.has("state"):
            return self.frame["state"].to_numpy()
        return np.full(self.frame.height, parsing.VALID, dtype=np.int8)

    def invalid(self) -> np.ndarray:
        """A mask of the rows that hold no usable score."""
        return self.states != parsing.VALID

    def task_of_samples(self) -> Integers:
        """The task of each sample, as an index into the names of the tasks; 0 for samples without a row."""
        found = np.zeros(len(self.samples), dtype=np.int64)
        found[self.codes("sample")] = self.codes("task")
        return found

    def only(self, kept: pl.Expr | Booleans) -> Scores:
        """The rows of a mask, and the samples that are left."""
        frame = self.frame.filter(kept)
        used = frame["sample"].unique().sort().cast(pl.String)
        frame = frame.with_columns(renamed(frame["sample"], used))
        if self.has("state") and not (frame["state"] != parsing.VALID).any():
            frame = frame.with_columns(state=pl.lit(None, dtype=pl.Null))
        return replace(self, frame=frame)

    def place(self, at: int) -> str:
        """Describe where a score stands: file, row and column."""
        file, row, column = self.where(at)
        return f"{file}: row {row}, column {column}"

    def near(self, at: int, other: int) -> str:
        """Describe where a score stands to somebody who knows where the other one does."""
        file, row, _ = self.where(at)
        return f"in row {row}" if file == self.where(other)[0] else f"in {file}, row {row}"

    def cell(self, at: int) -> str:
        """Describe what a score is of."""
        known = self.notes.has_samples and self._file(at).roles.sample is not None
        of_sample = f", sample '{self.frame['sample'][at]}'" if known else ""
        return f"model '{self.frame['model'][at]}'{of_sample}, metric '{self._metric(at)}'"

    def count(self, wrong: np.ndarray) -> int:
        """How many of some rows there are in the files: a price stands beside each sample of its model."""
        return self.frame.select("row", "metric").filter(wrong).n_unique()

    def text(self, at: int) -> str:
        """The text of a score as it stands in the file."""
        source, position, column = self._origin(at)
        return str(source.load([column])[column][position])

    def files(self) -> str:
        """The names of the input files."""
        return self.notes.origin or listing((file.path for file in self.notes.inputs), 3)

    def _file(self, at: int) -> FileRead:
        row = int(self.frame["row"][at])
        return self.notes.files[bisect_right([file.start for file in self.notes.files], row) - 1]

    def _origin(self, at: int) -> tuple[Source, int, str]:
        file = self._file(at)
        return file.source, int(self.frame["row"][at]) - file.start, file.roles.score or self._metric(at)

    def _metric(self, at: int) -> str:
        return str((self.frame["metric"] if self.metric_read is None else self.metric_read)[at])

    def where(self, at: int) -> tuple[str, int, str]:
        """File, row and column a score stands in."""
        source, position, column = self._origin(at)
        return source.file_of(position), source.row_number(position), source.column_of(column, position)


def select(scores: Scores) -> Scores:
    """Keep the models and metrics that were asked for, the metrics in the order asked for.

    Raises
    ------
    UsageError
        If a model or metric that was asked for is not there.
    InputError
        If nothing is left.
    """
    options = scores.options
    for name in options.models:
        if name not in scores.models:
            raise no_such(name, scores.models, kind="model", parameter="models")
    plain, of_task = metrics_asked(options.metric, scores.notes.known_metrics, scores.names("task"))
    scores = _with_metrics_of_tasks(scores, plain, of_task)
    models = tuple(name for name in scores.models if not options.models or name in options.models)
    metrics = tuple(dict.fromkeys((*plain, *of_task.values()))) if plain else scores.metrics
    if models == scores.models and metrics == scores.metrics:
        return scores
    chosen = {"model": models, "metric": metrics}
    frame = scores.frame.with_columns(renamed(scores.frame[role], names) for role, names in chosen.items())
    kept = replace(scores, frame=frame).only(pl.col("model").is_not_null() & pl.col("metric").is_not_null())
    if not kept.frame.height:
        found = f"models {listing(models)}; metrics {listing(metrics)}"
        lacking = "the models selected have no scores for these metrics"
        hint = f"check {option('models')} and {option('metric')}: {lacking}"
        raise InputError(f"{scores.files()}: no rows are left after the selection", found=found, hint=hint)
    return kept


def _with_metrics_of_tasks(scores: Scores, plain: Sequence[str], of_task: Mapping[str, str]) -> Scores:
    """Of tasks whose metric was named that metric; of the others what was asked for of all."""
    if not of_task:
        return scores
    tasks = scores.names("task")
    kept = np.zeros((len(tasks), len(scores.metrics)), dtype=bool)
    for row, task in zip(kept, tasks, strict=True):
        wanted = (of_task[task],) if task in of_task else plain or scores.metrics
        row[[scores.metrics.index(name) for name in wanted]] = True
    found = scores.only(kept[scores.codes("task"), scores.codes("metric")])
    left = sorted(set(found.frame["metric"].unique().cast(pl.String)))
    return replace(found, frame=found.frame.with_columns(renamed(found.frame["metric"], left)))


def renamed(series: pl.Series, names: Sequence[str] | pl.Series) -> pl.Series:
    """The same names as numbers into another list; null for those not in it."""
    codes = list_of(series).cast(pl.Enum(names), strict=False)
    return codes[series.to_physical()].alias(series.name)
