"""Missing scores counted as the worst, or the best, there can be: of declared bounds only (method §11)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, counted, listing, option
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.scores.files import parsing
from riskrank.scores.names.directions import looks_like_an_amount
from riskrank.scores.table.metrics_file import MetricSpec, how_to_bound, likely_bounds
from riskrank.scores.table.missing_scores import require_comparable
from riskrank.scores.table.score_counts import absent_cells, scored
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.typed_rows import list_of

# What `missing` says where gaps are filled.
FILLING = ("auto", "worst", "bounds")


def filled(scores: Scores, specs: Sequence[MetricSpec], *, best: bool = False) -> Scores:
    """Scores without gaps: what a model lacks is at the worst, or the best, end of its metric.

    A model lacks the rows that have no score and, where models share their samples, the metrics of a sample
    that another model was asked for.

    Parameters
    ----------
    scores : Scores
        As they stand in the files.
    specs : sequence of MetricSpec
        One a metric.
    best : bool
        Whether what is missing is to be at the best end.

    Returns
    -------
    Scores
        With the same rows whichever the end.

    Raises
    ------
    InputError
        If a model has no score at all of a metric, models share less than half of their samples, or nobody
        declared the bounds of a metric that lacks scores.
    """
    blank = np.isin(scores.states, (parsing.MISSING, parsing.NOT_A_NUMBER))
    absent = np.empty((0, 3), dtype=np.int64) if scores.options.unpaired else absent_cells(scores)
    if not blank.any() and not len(absent):
        return scores
    require_comparable(scores)
    lacking = np.bincount(scores.codes("metric")[blank], minlength=len(specs))
    lacking += np.bincount(absent[:, 2], minlength=len(specs))
    ends = np.full(len(specs), np.nan)
    for code in np.flatnonzero(lacking).tolist():
        ends[code] = _end(scores, specs[code], int(lacking[code]), best=best)
    whole = _with_values(scores, blank, ends[scores.codes("metric")])
    return _with_rows(whole, absent, ends[absent[:, 2]]) if len(absent) else whole


def _end(scores: Scores, spec: MetricSpec, lacking: int, *, best: bool) -> float:
    """The worst or the best score there can be of a metric, as a file has it."""
    bounds = spec.bounds or scores.notes.bounds.get(spec.name)
    seen = scores.values[(scores.codes("metric") == scores.metrics.index(spec.name)) & ~scores.invalid()]
    if bounds is None and isinstance(scores.options, GateReading) and _passes(spec, seen):
        bounds = (0.0, 1.0)
    # What a file tells itself counts only while its scores keep to it.
    if bounds is None or seen.min() < bounds[0] or seen.max() > bounds[1]:
        raise _undeclared(scores, spec, lacking, seen)
    # −log turns the ends around before the direction is looked at.
    upper = (spec.sign > 0) == best
    if spec.transform == "neg_log":
        upper = not upper
        if bounds[upper] <= 0:
            raise _undeclared(scores, spec, lacking, seen)
    return bounds[upper]


def _passes(spec: MetricSpec, seen: Floats) -> bool:
    """Whether scores are those of what passes or fails, and no count or cost of few."""
    return not looks_like_an_amount(spec.name) and bool(np.isin(seen, (0.0, 1.0)).all())


def _undeclared(scores: Scores, spec: MetricSpec, lacking: int, seen: Floats) -> InputError:
    rule = scores.options.missing
    lacks = f"{counted(lacking, 'score')} of {spec.name} missing"
    if rule == "auto":
        return _unbounded(scores, spec, lacks)
    needs = "the worst score" if rule == "worst" else "the worst and the best score"
    why = f"nobody declared those of {spec.name}"
    if spec.transform == "neg_log" and spec.bounds is not None:
        why = f"−log of those of {spec.name} is infinite"
    # Counts may be 0 and 1 so far, too: that nothing else can be is for people to say (method §11).
    truths = bool(np.isin(seen, (0.0, 1.0)).all())
    bounds = "" if scores.options.metrics_file else likely_bounds(spec.name, seen)
    return InputError(
        f"{option('missing', rule)} needs {needs} there can be, and {why}",
        found=f"{lacks}; those there are, "
        f"{'all 0 or 1' if truths else f'{seen.min():g} to {seen.max():g}'}, do not say what there can be",
        hint="if nothing else can be, copy the line" if bounds else how_to_bound(spec.name),
        ways=[("", {"metrics_file": bounds})] if bounds else [],
    )


def _unbounded(scores: Scores, spec: MetricSpec, lacks: str) -> InputError:
    """Failures of a metric without bounds, of which nobody can say how bad they are."""
    lacking = {one.model: one.said for one in scored(scores) if one.metric == spec.name and one.lacks}
    worst = ""
    # Of an old model that failed the worst would speak for the new one.
    if scores.notes.baseline is not None and BASELINE not in lacking:
        worst = f"; {option('missing', 'worst')} counts a failure as the worst there can be"
    return InputError(
        f"{scores.files()}: scores of {spec.name} are missing on samples that were run, and nothing says how "
        "bad one can be",
        found=f"{lacks}: {listing(map(' '.join, lacking.items()), 3)}",
        hint=f"{how_to_bound(spec.name)}: then claims are decided that hold whatever is missing, as by "
        f"{option('missing', 'bounds')}{worst}",
    )


def _with_values(scores: Scores, blank: Booleans, ends: Floats) -> Scores:
    """Ends of their metrics in the place of blanks."""
    states = scores.states.copy()
    states[blank] = parsing.VALID
    state = pl.Series(states) if states.any() else pl.repeat(None, len(states), dtype=pl.Null, eager=True)
    values = pl.Series(np.where(blank, ends, scores.values))
    return replace(scores, frame=scores.frame.with_columns(score=values, state=state))


def _with_rows(scores: Scores, absent: Integers, ends: Floats) -> Scores:
    """A row more for each score that has none; where the model has runs of the sample, one a run."""
    frame = scores.frame
    _, first = np.unique(scores.codes("sample"), return_index=True)
    # Task, cluster and group are those of the sample, and so is the place in the file.
    rows = frame.select(pl.all().gather(first[absent[:, 1]])).with_columns(
        _named(frame["model"], absent[:, 0]), _named(frame["metric"], absent[:, 2]), score=pl.Series(ends)
    )
    if scores.has("state"):
        rows = rows.with_columns(state=pl.lit(parsing.VALID, dtype=frame.schema["state"]))
    if scores.has("draw"):
        runs = frame.select("model", "sample", "draw").unique(maintain_order=True)
        rows = rows.rename({"draw": "first"}).join(
            runs, on=["model", "sample"], how="left", maintain_order="left"
        )
        rows = rows.with_columns(draw=pl.coalesce("draw", "first"))
    return replace(scores, frame=pl.concat([frame, rows.select(frame.columns)]))


def _named(names: pl.Series, codes: Integers) -> pl.Series:
    return list_of(names).cast(names.dtype).gather(codes).alias(names.name)
