"""Scores as read: one typed data frame with one score per row, metadata, and counts of missing scores."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Integers
from riskrank.errors import InputError, UsageError, listing, option, unknown_name
from riskrank.options.baseline import GateReading
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import parsing
from riskrank.scores.files.parsing import ABSENT, UNSCORED
from riskrank.scores.files.query import quote_column, quote_text
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.names.vocabulary import has_word
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.metric_specs import requested_metrics
from riskrank.scores.table.typed_rows import categories

if TYPE_CHECKING:
    from riskrank.scores.table.baseline import Baseline, Overlap, UnmatchedSamples


# Commands that resolve an error, as text and as changes of the options.
Fixes = list[tuple[str, object]]
# Prefix of warnings about dropped samples.
DROPPED = "dropped "
# All warnings about exclusions, including notes on exports.
_EXCLUSION = re.compile(
    rf"^{DROPPED}|left out|ignored|excluded|without (a )?scores?\b|no score|not scored"
    r"|(could not|cannot) be read|that failed|failed in|an error|fewer samples|new scores lack"
    r"|the run ended|not finished"
)


def reports_exclusion(warning: str) -> bool:
    """Return True if a warning says that rows, samples, models or metrics were excluded."""
    return _EXCLUSION.search(warning) is not None


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
        """Return the names in the column of a role, in the order of their codes."""
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
        """Return True if some column has the given role, such as task or cluster."""
        return self.frame.get_column(role).dtype != pl.Null

    def with_options(self, **changes: object) -> Scores:
        """Return the same scores with changed options."""
        return replace(self, options=replace(self.options, **changes))  # type: ignore[arg-type]

    def with_warnings(self, *warnings: str) -> Scores:
        """Return the same scores with additional warnings."""
        return replace(self, notes=replace(self.notes, warnings=(*self.notes.warnings, *warnings)))

    @property
    def noise_averaged(self) -> Scores:
        """The same scores, with options that average over all noise sources (method §15)."""
        return self.with_options(repeats="mean") if self.has_role("noise") else self

    @property
    def uses_tasks(self) -> bool:
        """True if there is a task column and metrics are not treated as separate objectives."""
        return self.has_role("task") and self.options.missing != "keep"

    @cached_property
    def _codes(self) -> pl.DataFrame:
        """Data frame in which the names of models, samples and metrics are integer codes."""
        return self.frame.select(pl.all().to_physical())  # one query, because each query has a fixed cost

    def codes(self, role: str) -> Integers:
        """Return each row's name in the column of a role as an index into `names`, shape (rows,).

        Callers may modify the array.
        """
        return self._codes[role].to_numpy().astype(np.int64)

    @property
    def values(self) -> np.ndarray:
        """Scores as stored in the files, with NaN for missing scores."""
        return self.frame["score"].to_numpy()

    @property
    def states(self) -> np.ndarray:
        """State of each score, such as missing or infinite; see `riskrank.scores.files.parsing`."""
        if self.has_role("state"):
            return self.frame["state"].to_numpy()
        return np.full(self.frame.height, parsing.VALID, dtype=np.int8)

    def invalid_mask(self) -> np.ndarray:
        """Return a mask of the rows without a usable score, with shape (rows,)."""
        return self.states != parsing.VALID

    def imputed_mask(self) -> np.ndarray:
        """Return a mask of the rows with an imputed score, with shape (rows,)."""
        if IMPUTED in self.frame.columns:
            return self.frame[IMPUTED].to_numpy()
        return np.zeros(self.frame.height, dtype=bool)

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
        """Describe where a score is stored: file, row and column; `index` is its row in the frame."""
        file, row, column = self.file_row_column(index)
        return f"{file}: row {row}, column {column}"

    def relative_location(self, index: int, reference: int) -> str:
        """Describe where the score at an index is stored, relative to another score.

        The file is omitted if it is also that of the score at the index `reference`.
        """
        file, row, _ = self.file_row_column(index)
        return f"in row {row}" if file == self.file_row_column(reference)[0] else f"in {file}, row {row}"

    def cell_name(self, index: int) -> str:
        """Describe a score by its model, sample and metric; `index` is its row in the frame."""
        has_sample = self.notes.has_samples and self._file(index).roles.sample is not None
        of_sample = f", sample '{self.frame['sample'][index]}'" if has_sample else ""
        return f"model '{self.frame['model'][index]}'{of_sample}, metric '{self._metric(index)}'"

    def cell_text(self, index: int) -> str:
        """Return a score as written in its file; `index` is its row in the frame."""
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
        """Return the source of the score at an index, its row position there, and its column."""
        file, row = self._file(index), int(self.frame["row"][index])
        return file.source, row - file.start, file.roles.score or self._metric(index)

    def _metric(self, index: int) -> str:
        """Return the name that the metric of the score at an index has in the file."""
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
    plain, by_task = requested_metrics(options.metric, scores.notes.all_metrics, scores.names("task"))
    if by_task:
        # Metrics requested for all tasks apply only to tasks without a metric of their own.
        tasks = scores.names("task")
        chosen = [(by_task[task],) if task in by_task else plain or scores.metrics for task in tasks]
        mask = np.array([[metric in names for metric in scores.metrics] for names in chosen])
        scores = scores.filter(mask[scores.codes("task"), scores.codes("metric")])
        left = sorted(set(scores.frame["metric"].unique().cast(pl.String)))
        scores = replace(scores, frame=scores.frame.with_columns(recode(scores.frame["metric"], left)))
    models = tuple(name for name in scores.models if not options.models or name in options.models)
    metrics = tuple(dict.fromkeys((*plain, *by_task.values()))) if plain else scores.metrics
    if models == scores.models and metrics == scores.metrics:
        return scores
    requested = {"model": models, "metric": metrics}
    frame = scores.frame.with_columns(recode(scores.frame[role], names) for role, names in requested.items())
    part = replace(scores, frame=frame).filter(pl.col("model").is_not_null() & pl.col("metric").is_not_null())
    if not part.frame.height:
        detail = f"models {listing(models)}; metrics {listing(metrics)}"
        lacking = "the selected models have no scores for these metrics"
        hint = f"check {option('models')} and {option('metric')}: {lacking}"
        problem = f"{scores.file_names()}: no rows are left after the selection"
        raise InputError(problem, found=detail, hint=hint)
    return part


def recode(series: pl.Series, names: Sequence[str] | pl.Series) -> pl.Series:
    """Return a categorical column with its names encoded by another list of categories.

    Names that are not in the list become null.
    """
    codes = categories(series).cast(pl.Enum(names), strict=False)
    return codes[series.to_physical()].alias(series.name)


# Dense tables are used if they have at most this many times the cells that occur.
MAX_SPARSITY = 4
# Proportion of missing scores up to which samples are excluded if the metric has no bounds.
NEGLIGIBLE = 0.01
# Column of the frame that marks imputed scores.
IMPUTED = "imputed"


@dataclass(frozen=True, kw_only=True)
class ScoreCount:
    """Number of scores of one model on one metric; repeats of a sample count separately.

    Attributes
    ----------
    model, metric : str
    scored, total : int
        Number of scores, and number of rows with or without a score.
    why : mapping of str to int
        Number of missing scores by reason; the counts may not add up if some reasons are unknown.
    """

    model: str
    metric: str
    scored: int
    total: int
    why: Mapping[str, int]

    @property
    def missing(self) -> int:
        """Number of missing scores."""
        return self.total - self.scored

    @property
    def is_absent(self) -> bool:
        """True if there are neither scores nor rows that state a reason for missing ones."""
        return not self.scored and self.why.get(ABSENT) == self.total

    @property
    def summary(self) -> str:
        """Scored and total numbers with reasons, such as "108 of 120 (9 errors, 3 refusals)"."""
        reasons = f" ({_format_reasons(self.why)})" if self.why else ""
        return f"{self.scored:,} of {self.total:,}{reasons}"


def score_counts(scores: Scores) -> tuple[ScoreCount, ...]:
    """Return the number of scores, and the reasons for missing ones, by model and metric.

    Return an empty tuple if no scores are missing and no sample is repeated.
    """
    cells = len(scores.models) * len(scores.samples) * len(scores.metrics)
    blank = scores.invalid_mask()
    plain = scores.frame.height == cells and scores.options.repeats == "error"
    if not scores.notes.has_samples or (plain and not blank.any()):
        return ()
    absent = np.zeros((len(scores.models), len(scores.metrics)), dtype=np.int64)
    if not scores.options.unpaired:
        lacking_cells = absent_cells(scores)
        absent = crosstab(lacking_cells[:, 0], lacking_cells[:, 2], absent.shape)
    if scores.options.repeats == "error" and not blank.any() and not absent.any():
        return ()
    model, metric = scores.codes("model"), scores.codes("metric")
    rows = crosstab(model, metric, absent.shape)
    lacking = crosstab(model[blank], metric[blank], absent.shape)
    reasons: dict[tuple[int, int], Counter[str]] = {}
    for row, reason in _row_reasons(scores, blank):
        reasons.setdefault((int(model[row]), int(metric[row])), Counter())[reason] += 1
    return tuple(
        ScoreCount(
            model=scores.models[i],
            metric=scores.metrics[j],
            scored=int(rows[i, j] - lacking[i, j]),
            total=int(rows[i, j] + absent[i, j]),
            why=dict(sorted(reasons.get((i, j), {}).items()))
            | ({ABSENT: int(absent[i, j])} if absent[i, j] else {}),
        )
        for i, j in np.argwhere(rows + absent).tolist()
    )


def unique_inverse(keys: Integers, possible: int) -> tuple[Integers, Integers]:
    """Return the distinct keys in sorted order, and the index of each key among them.

    Parameters
    ----------
    keys : ndarray of int
        Non-negative numbers less than `possible`. If they are dense, they are counted instead of sorted.
    possible : int
        Number of possible keys.
    """
    if possible > MAX_SPARSITY * keys.size:
        return np.unique(keys, return_inverse=True)
    used = np.zeros(possible, dtype=bool)
    used[keys] = True
    distinct = np.flatnonzero(used)
    return distinct, keys if distinct.size == possible else (np.cumsum(used) - 1)[keys]


def absent_cells(scores: Scores) -> Integers:
    """Return the combinations of model, sample and metric that lack a row, once for each row that they lack.

    As many rows are expected as another model has for the same sample and metric. In a gate, this also holds
    for repeats, unless about as many of them are absent for every model. Repeats without numbers may be
    copies, so only as many are expected as a quarter of the samples of every model have.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        Model, sample and metric of each absent row; sorted.
    """
    metrics, options = len(scores.metrics), scores.options
    # If each metric has few samples, most combinations of sample and metric do not occur.
    keys = scores.codes("sample") * metrics + scores.codes("metric")
    distinct, keys = unique_inverse(keys, len(scores.samples) * metrics)
    counts = crosstab(scores.codes("model"), keys, (len(scores.models), distinct.size))
    expected = counts.max(axis=0)
    if options.repeats != "draws" and not any(file.roles.draw for file in scores.notes.files):
        usual = [np.quantile(row[row > 0], 0.75) if row.any() else 1 for row in counts]
        expected = np.minimum(expected, max(int(min(usual)), 1))
    lacking = np.maximum(expected - counts, 0)
    repeats = lacking * (counts > 0)
    by_model = repeats.sum(axis=1)
    is_fixed = isinstance(options, GateReading) and not options.grows and not scores.has_role("noise")
    if not is_fixed or (by_model.min() > 0 and np.ptp(by_model) <= NEGLIGIBLE * expected.sum()):
        lacking -= repeats
    models, at = np.nonzero(lacking)
    cells = np.stack([models, distinct[at] // metrics, distinct[at] % metrics], axis=1)
    return np.repeat(cells, lacking[models, at], axis=0)


def edit_query(scores: Scores, mask: Booleans, change: str) -> str:
    """Return an SQL query that changes the scores in some rows, and keeps all other columns.

    Parameters
    ----------
    scores : Scores
    mask : ndarray of bool
        Rows to change. Other scores on the same metrics may change as well.
    change : str
        SQL expression with the placeholder ``{0}`` for the column.
    """
    codes = scores.codes("metric")[mask]
    _, first = np.unique(scores.codes("model")[mask] * len(scores.metrics) + codes, return_index=True)
    columns = dict.fromkeys(scores.file_row_column(row)[2] for row in np.flatnonzero(mask)[first].tolist())
    roles, names = scores.notes.files[0].roles, [scores.metrics[code] for code in np.unique(codes)]
    long = roles.score is not None and scores.options.matrix is None and len(scores.metrics) > len(names)
    condition = " OR ".join(f"{quote_column(str(roles.metric))} = {quote_text(name)}" for name in names)
    changed = ((name, change.format(name)) for name in map(quote_column, columns))
    parts = (
        f"CASE WHEN {condition} THEN {new} ELSE {name} END AS {name}" if long else f"{new} AS {name}"
        for name, new in changed
    )
    return f"SELECT * REPLACE ({', '.join(parts)}) FROM scores"


def status_columns(scores: Scores, missing: Booleans | None = None) -> Iterator[tuple[str, pl.Series]]:
    """Yield the name and the values of each column that states how runs ended.

    Only columns that all files have are included. Their names contain a word for a status, or they contain
    text in all rows of `missing`, and only there.
    """
    files = scores.notes.files
    shared = set.intersection(*(set(file.source.columns) for file in files))
    for name in (col for col in files[0].source.columns if col in shared):
        if not (named := has_word(name, "status")) and missing is None:
            continue
        if name in files[0].roles.values and name in scores.metrics:
            continue
        texts = pl.concat([file.source.load([name])[name].cast(pl.String, strict=False) for file in files])
        texts = texts.fill_null("")
        filled = texts.str.strip_chars().str.len_chars().to_numpy() > 0
        if texts.len() == scores.notes.rows and (named or (filled == missing).all()):
            yield name, texts


def describe_missing(scores: Scores, count: int) -> str:
    """Describe why scores are missing, with the number of scores for each reason.

    Parameters
    ----------
    scores : Scores
    count : int
        Number of missing scores; if more reasons are known, they are counted by run.
    """
    reasons: Counter[str] = Counter()
    for entry in score_counts(scores):
        reasons.update(entry.why)
    del reasons[ABSENT]
    text = _format_reasons(reasons)
    return f"by run {text}" if reasons.total() > count else text


def _format_reasons(reasons: Mapping[str, int]) -> str:
    """Format reasons with their counts: 9 errors, 3 refusals."""
    return ", ".join(
        f"{count:,} {reason}{'s' * (count != 1 and reason != ABSENT)}"
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    )


def crosstab(rows: Integers, columns: Integers, shape: tuple[int, ...]) -> Integers:
    """Return the contingency table of two variables that are given as codes.

    Parameters
    ----------
    rows, columns : ndarray of int64, shape (n,)
        Codes of both variables.
    shape : (int, int)
        Shape of the result.
    """
    table: Integers = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)
    return table


def _row_reasons(scores: Scores, blank: Booleans) -> Iterator[tuple[int, str]]:
    """Yield the index of each row whose file states a reason for its missing score, and the reason.

    `blank` is a mask of the rows without a score.
    """
    files, starts = scores.notes.files, np.array([file.start for file in scores.notes.files])
    rows = scores.frame["row"].to_numpy().astype(np.int64)
    inside = np.searchsorted(starts, rows, side="right") - 1
    sources = [file.source for file in files]
    columns = [s.load([UNSCORED])[UNSCORED] if UNSCORED in s.columns else None for s in sources]
    # Numbers are another column of the same name.
    columns = [column if column is not None and column.dtype == pl.String else None for column in columns]
    has_reasons = np.array([column is not None for column in columns])
    for position in np.flatnonzero(blank & has_reasons[inside]).tolist():
        at = inside[position]
        reason = (columns[at][int(rows[position] - starts[at])] or "").strip()
        if any(map(str.isalpha, reason)):
            yield position, reason


def required_samples(scores: Scores, text: str) -> frozenset[str]:
    """Return the samples that a model must pass, as the option `must_pass` selects them.

    Parameters
    ----------
    scores : Scores
    text : str
        ``COLUMN=VALUE`` for the rows with a value, or the path of a file with one sample per line.

    Raises
    ------
    UsageError
        If there is no such column or file, or no sample of the table is selected.
    """
    column, equals, value = text.partition("=")
    if equals:
        files = scores.notes.files
        if not all(column in file.source.columns for file in files):
            columns, write = files[0].source.columns, f"{{}}={value}".format
            raise unknown_name(column, columns, kind="column", parameter="must_pass", write=write)
        parts = [file.source.load([column])[column].cast(pl.String, strict=False) for file in files]
        selected = scores.frame["sample"].filter(pl.concat(parts).gather(scores.frame["row"]) == value)
        names = {*selected.cast(pl.String).unique()}
    else:
        try:
            names = {*map(str.strip, Path(text).read_text(encoding="utf-8").splitlines())} - {""}
        except (OSError, UnicodeError) as error:
            problem = f"{option('must_pass', text)} is neither COLUMN=VALUE nor a readable file"
            detail = str(getattr(error, "strerror", None) or error)
            hint = f"write {option('must_pass', 'severity=critical')} with a column of the table"
            raise UsageError(problem, found=detail, hint=hint) from None
        if unknown := sorted(names - {*scores.samples}):
            problem = f"{option('must_pass', text)} lists samples that no model has"
            hint = "correct these names, or delete them from the file"
            raise UsageError(problem, found=listing(unknown), hint=hint)
    if not names:
        problem = f"{option('must_pass', text)} selects no sample of the table"
        hint = "check the value, or the names in the file"
        raise UsageError(problem, found=f"{len(scores.samples):,} samples, none of them selected", hint=hint)
    return frozenset(names)
