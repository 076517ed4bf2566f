"""Flat coded entries: one entry is one score of one model on one sample under one metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError, by_door, did_you_mean, listing, option
from riskrank.scores.files.opening import InputFile
from riskrank.scores.table import parsing
from riskrank.scores.table.coding import unknown_metric


@dataclass(frozen=True, kw_only=True)
class Entries:
    """Scores as they were read, coded.

    Attributes
    ----------
    models, samples, metrics : tuple of str
        Names; models and samples sorted, metrics in the order of the result.
    model, sample, metric : ndarray of int, shape (n,)
        Index of each entry into the names.
    value : ndarray of float64, shape (n,)
        Raw scores; NaN where the state is not valid.
    state : ndarray of int8, shape (n,), or None
        See `riskrank.scores.table.parsing`; None if every score is valid.
    draw : ndarray of int64, shape (n,), or None
        Label that links the metrics of one draw: of the draw column, or the row of a wide table.
    draw_column : bool
        Whether `draw` comes from a column.
    cluster : ndarray of int64, shape (n,), or None
        Index into `clusters` of what the sample of each entry belongs to; None where nobody named a column.
    clusters : tuple of str
        Names of the clusters, sorted.
    group : ndarray of int64, shape (n,), or None
        Index into `groups` of the group of the sample of each entry; None where nobody grouped them.
    groups : tuple of str
        Names of the groups, sorted.
    has_samples : bool
        Whether the table has a sample column.
    known_metrics : tuple of str
        Every metric of the files, selected or not.
    inputs : tuple of InputFile
    rows : int
        Input rows read.
    where : callable
        Maps an entry to (file, row number, column); slow, for messages.
    text : callable
        Maps an entry to the text of its score; slow, for messages.
    directions : mapping of str to str
        Which way is better, of the metrics an export tells it of.
    notes : tuple of str
        What the reader of an export left out.
    repeats_hint : callable
        How to read repeated rows that a column tells apart, or an empty text; slow, for messages.
    parts_hint : callable
        How to read a part of the table whose models share their samples, or an empty text; slow as well.
    origin : str
        What messages call the inputs, where the files themselves are too many.
    position : ndarray of int64, shape (n,), or None
        Entry number before a selection, what `where` and `text` want; None for no selection.
    """

    models: tuple[str, ...]
    samples: tuple[str, ...]
    metrics: tuple[str, ...]
    model: np.ndarray
    sample: np.ndarray
    metric: np.ndarray
    value: np.ndarray
    state: np.ndarray | None
    draw: np.ndarray | None
    draw_column: bool
    has_samples: bool
    known_metrics: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    rows: int
    where: Callable[[int], tuple[str, int, str]]
    text: Callable[[int], str]
    directions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    origin: str = ""
    cluster: np.ndarray | None = None
    clusters: tuple[str, ...] = ()
    group: np.ndarray | None = None
    groups: tuple[str, ...] = ()
    repeats_hint: Callable[[], str] = str
    parts_hint: Callable[[], str] = str
    position: np.ndarray | None = None

    def place(self, entry: int) -> str:
        """Describe where an entry stands: file, row and column."""
        label, row, column = self.where(self._original(entry))
        return f"{label}: row {row}, column {column}"

    def near(self, entry: int, other: int) -> str:
        """Describe where an entry stands to somebody who knows where the other one does."""
        label, row, _ = self.where(self._original(entry))
        return f"in row {row}" if label == self.where(self._original(other))[0] else f"in {label}, row {row}"

    def cell(self, entry: int) -> str:
        """Describe what an entry is the score of."""
        parts = [f"model '{self.models[self.model[entry]]}'"]
        if self.has_samples:
            parts.append(f"sample '{self.samples[self.sample[entry]]}'")
        return ", ".join([*parts, f"metric '{self.metrics[self.metric[entry]]}'"])

    def score_text(self, entry: int) -> str:
        """The text of a score as it stands in the file."""
        return self.text(self._original(entry))

    def files(self) -> str:
        """The names of the input files."""
        return self.origin or listing((file.path for file in self.inputs), 3)

    def invalid(self) -> np.ndarray:
        """A mask of the entries that hold no usable score, shape (n,)."""
        return np.zeros(self.value.size, dtype=bool) if self.state is None else self.state != parsing.VALID

    def _original(self, entry: int) -> int:
        return int(entry if self.position is None else self.position[entry])


def select(entries: Entries, options: ReadOptions) -> Entries:
    """Keep the models and metrics that were asked for, the metrics in the order asked for.

    Raises
    ------
    UsageError
        If a model or metric that was asked for is not in the table.
    InputError
        If nothing is left.
    """
    for name in options.models:
        if name not in entries.models:
            several = [part.strip() for part in name.split(",")]
            if len(several) > 1 and set(several) <= set(entries.models):
                raise UsageError(
                    f"{option('models', name)}: there is no such model",
                    found="the names of several models in one text",
                    hint=by_door(
                        "leave out the quotes around them", f"give a list of names: models={several!r}"
                    ),
                )
            raise UsageError(
                f"{option('models', name)}: there is no such model",
                found=f"the scores hold {listing(entries.models)}",
                hint=did_you_mean(
                    name, entries.models, parameter="models", otherwise="name one of these models"
                ),
            )
    for name in options.metric:
        if name not in entries.known_metrics:
            raise unknown_metric(name, entries.known_metrics)
    models = tuple(name for name in entries.models if not options.models or name in options.models)
    metrics = tuple(dict.fromkeys(options.metric)) or entries.metrics
    if models == entries.models and metrics == entries.metrics:
        return entries
    model_map = _renumbering(entries.models, models)
    metric_map = _renumbering(entries.metrics, metrics)
    model, metric = model_map[entries.model], metric_map[entries.metric]
    kept = np.flatnonzero((model >= 0) & (metric >= 0))
    if kept.size == 0:
        raise InputError(
            f"{entries.files()}: no rows are left after the selection",
            found=f"models {listing(models)}; metrics {listing(metrics)}",
            hint=f"check {option('models')} and {option('metric')}: "
            "the models selected have no scores for these metrics",
        )
    used = np.zeros(len(entries.samples), dtype=bool)
    used[entries.sample[kept]] = True
    samples = tuple(name for name, keep in zip(entries.samples, used, strict=True) if keep)
    state = None if entries.state is None else entries.state[kept]
    return replace(
        entries,
        models=models,
        metrics=metrics,
        samples=samples,
        model=model[kept],
        metric=metric[kept],
        sample=(np.cumsum(used) - 1)[entries.sample[kept]],
        value=entries.value[kept],
        state=state if state is not None and state.any() else None,
        draw=None if entries.draw is None else entries.draw[kept],
        cluster=None if entries.cluster is None else entries.cluster[kept],
        group=None if entries.group is None else entries.group[kept],
        position=kept,
    )


def _renumbering(old: Sequence[str], new: Sequence[str]) -> np.ndarray:
    index = {name: code for code, name in enumerate(new)}
    return np.array([index.get(name, -1) for name in old], dtype=np.int64)
