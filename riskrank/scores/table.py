"""The validated score table: what every command computes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from riskrank.errors import InputError, UsageError, listing, nearest
from riskrank.scores import parsing
from riskrank.scores.assemble import Rows, assemble
from riskrank.scores.entries import Entries, read_entries, select
from riskrank.scores.metrics import MetricSpec, resolve_metrics
from riskrank.scores.options import ReadOptions
from riskrank.scores.readers import InputFile

__all__ = ["InputFile", "ReadOptions", "ScoreTable", "portfolio_weights", "read_scores"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreTable:
    """Scores of several models, oriented so that larger is better.

    Attributes
    ----------
    models : tuple of str
        Sorted by name.
    metrics : tuple of MetricSpec
        In the order asked for, else sorted by name.
    samples : tuple of str
        Sorted; those of all models together.
    paired : bool
        Whether every model has every sample.
    values : tuple of ndarray of float64, each of shape (rows_i, m)
        Per model, transformed and oriented; sorted by sample, the draws of a sample by their values.
        Read-only.
    clusters : tuple of ndarray of int64, each of shape (rows_i,)
        Per model, the sample of each row as an index into `samples`; non-decreasing. Read-only.
    has_draws : bool
        Whether some model has more than one row for a sample.
    inputs : tuple of InputFile
    warnings : tuple of str
    rows : int
        Input rows read.
    """

    models: tuple[str, ...]
    metrics: tuple[MetricSpec, ...]
    samples: tuple[str, ...]
    paired: bool
    values: tuple[np.ndarray, ...]
    clusters: tuple[np.ndarray, ...]
    has_draws: bool
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]
    rows: int

    def index(self, model: str) -> int:
        """Return the index of a model by its name, or raise UsageError with the nearest name."""
        if model not in self.models:
            close = nearest(model, self.models)
            raise UsageError(
                f"there is no model '{model}'",
                found=f"the scores hold {listing(self.models)}",
                hint=f"did you mean {close}?" if close else "name one of these models",
            )
        return self.models.index(model)

    def column(self, metric: int) -> tuple[np.ndarray, ...]:
        """Return one metric, by its index: per model an array of shape (rows_i,)."""
        return tuple(values[:, metric] for values in self.values)

    def as_matrix(self) -> np.ndarray:
        """Return all scores of a paired table without draws, shape (models, samples, metrics).

        Raises
        ------
        ValueError
            If the table is unpaired or has draws: the caller chose the wrong form.
        """
        if not self.paired or self.has_draws:
            raise ValueError("only a paired table without draws is a matrix")
        return np.stack(self.values)

    def raw(self, model: int) -> np.ndarray:
        """Return a model's scores in their original units, shape (rows_i, m).

        Exact but for ``neg_log``, which is undone by exp(−x).
        """
        values = self.values[model] * np.array([spec.sign for spec in self.metrics]) + 0.0
        for place, spec in enumerate(self.metrics):
            if spec.transform == "neg_log":
                values[:, place] = np.exp(-values[:, place])
        return values


def read_scores(
    paths: Sequence[str], options: ReadOptions | None = None, stdin: BinaryIO | None = None
) -> ScoreTable:
    """Read, check and orient the scores of one or more files.

    Parameters
    ----------
    paths : sequence of str
        Files, glob patterns, or ``-`` for `stdin`.
    options : ReadOptions, optional
    stdin : BinaryIO, optional

    Returns
    -------
    ScoreTable
        The same arrays, bit for bit, whatever the order of the rows and the format of the files.

    Raises
    ------
    InputError
        If a file, its columns or its values cannot be used.
    UsageError
        If the options contradict each other or name something unknown.
    """
    options = options or ReadOptions()
    entries = select(read_entries(paths, options, stdin), options)
    specs, warnings = resolve_metrics(entries.metrics, known=entries.known_metrics, options=options)
    _check_values(entries, options)
    rows, dropped = assemble(entries, _orient(entries, specs), options)
    if not options.allow_constant:
        _check_constant(entries, rows, specs)
    return _table(entries, rows, specs, (*warnings, *dropped), options)


def portfolio_weights(table: ScoreTable) -> np.ndarray:
    """Return the weights of the metrics in a portfolio, shape (m,), summing to 1; uniform if none were given.

    Raises
    ------
    UsageError
        If some metrics have a weight and others none.
    """
    given = [spec.weight for spec in table.metrics]
    lacking = [spec.name for spec in table.metrics if spec.weight is None]
    if len(lacking) == len(given):
        return np.full(len(given), 1.0 / len(given))
    if lacking:
        raise UsageError(
            "some metrics have a weight and others have none",
            found=f"no weight for {listing(lacking)}",
            hint=f"give each metric a weight: --weight {lacking[0]}=1 (0 leaves it out of the portfolio)",
        )
    weights = np.array(given, dtype=np.float64)
    return weights / weights.sum()


def _check_values(entries: Entries, options: ReadOptions) -> None:
    """Refuse the first score that is no finite number, in the order of the rows."""
    if entries.state is None:
        return
    refused = (entries.state == parsing.TEXT) | (entries.state == parsing.INFINITE)
    if options.missing == "error":
        refused |= entries.state == parsing.NOT_A_NUMBER
    if not refused.any():
        return
    entry = int(np.flatnonzero(refused)[0])
    kind = int(entries.state[entry])
    count = int(np.count_nonzero(entries.state[refused] == kind))
    more = f"; {count:,} such values in all" if count > 1 else ""
    what = {parsing.TEXT: "is not a number", parsing.INFINITE: "is infinite", parsing.NOT_A_NUMBER: "is NaN"}
    hint = {
        parsing.TEXT: "correct it, leave it empty if it is missing, or pick other metrics with --metric",
        parsing.INFINITE: "give it a finite value, or leave it empty and use --missing drop",
        parsing.NOT_A_NUMBER: "--missing drop leaves out the samples that have a NaN or a gap",
    }
    raise InputError(
        f"{entries.place(entry)}: the score {what[kind]}",
        found=f"{entries.score_text(entry)!r} for {entries.cell(entry)}{more}",
        hint=hint[kind],
    )


def _orient(entries: Entries, specs: Sequence[MetricSpec]) -> np.ndarray:
    """Check bounds, apply transforms and make larger better; NaN stays NaN."""
    scores = entries.value
    for code, spec in enumerate(specs):
        if spec.bounds is not None:
            low, high = spec.bounds
            _refuse(
                entries,
                (entries.metric == code) & ((scores < low) | (scores > high)),
                f"outside the bounds of metric '{spec.name}'",
                f"bounds = [{low:g}, {high:g}]",
                "correct the score, or the bounds in the metrics file",
            )
        if spec.transform == "neg_log":
            of_metric = entries.metric == code
            _refuse(
                entries,
                of_metric & (scores <= 0),
                f"has no logarithm, which transform neg_log of metric '{spec.name}' needs",
                "a score that is zero or negative",
                "add a small constant to these scores beforehand, or remove the transform",
            )
            scores = scores.copy() if scores is entries.value else scores
            scores[of_metric] = -np.log(scores[of_metric])
    if any(spec.sign < 0 for spec in specs):
        scores = scores * np.array([spec.sign for spec in specs])[entries.metric]
    # Adding zero turns −0 into 0, which would compare equal but not be the same bytes.
    return scores + 0.0


def _refuse(entries: Entries, bad: np.ndarray, what: str, found: str, hint: str) -> None:
    if not bad.any():
        return
    entry, count = int(np.flatnonzero(bad)[0]), int(np.count_nonzero(bad))
    raise InputError(
        f"{entries.place(entry)}: the score {entries.value[entry]:g} is {what}"
        if what.startswith("outside")
        else f"{entries.place(entry)}: the score {entries.value[entry]:g} {what}",
        found=f"{found}; {count:,} such score{'s' if count > 1 else ''} in all, "
        f"the first for {entries.cell(entry)}",
        hint=hint,
    )


def _check_constant(entries: Entries, rows: Rows, specs: Sequence[MetricSpec]) -> None:
    constant = [
        code
        for code in range(len(specs))
        if rows.values.shape[0] > 1 and np.nanmin(rows.values[:, code]) == np.nanmax(rows.values[:, code])
    ]
    if not constant:
        return
    names = [specs[code].name for code in constant]
    others = [spec.name for spec in specs if spec.name not in names]
    first = int(np.flatnonzero((entries.metric == constant[0]) & ~entries.invalid())[0])
    raise InputError(
        f"{listing((file.path for file in entries.inputs), 3)}: metric '{names[0]}' is constant: "
        "it cannot tell the models apart",
        found=f"{entries.value[first]:g} for every model and sample"
        + (f"; also constant: {listing(names[1:])}" if names[1:] else ""),
        hint=f"leave it out: {' '.join(f'--metric {name}' for name in others[:8])}"
        if others
        else "score the models with another metric",
    )


def _table(
    entries: Entries,
    rows: Rows,
    specs: tuple[MetricSpec, ...],
    warnings: tuple[str, ...],
    options: ReadOptions,
) -> ScoreTable:
    used = np.zeros(len(entries.samples), dtype=bool)
    used[rows.sample] = True
    sample = rows.sample if used.all() else (np.cumsum(used) - 1)[rows.sample]
    samples = tuple(name for name, keep in zip(entries.samples, used, strict=True) if keep)
    pair = rows.model * len(samples) + sample
    rows.values.flags.writeable = False
    sample = np.ascontiguousarray(sample, dtype=np.int64)
    sample.flags.writeable = False
    cuts = np.searchsorted(rows.model, np.arange(1, len(entries.models)))
    return ScoreTable(
        models=entries.models,
        metrics=specs,
        samples=samples,
        paired=not options.unpaired,
        values=tuple(np.split(rows.values, cuts)),
        clusters=tuple(np.split(sample, cuts)),
        has_draws=bool(np.any(pair[1:] == pair[:-1])),
        inputs=entries.inputs,
        warnings=warnings,
        rows=entries.rows,
    )
