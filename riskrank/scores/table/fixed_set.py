"""A fixed set in a table of scores alone: of one metric, whose name stands elsewhere."""

from dataclasses import replace

import polars as pl

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.opening import open_sources
from riskrank.scores.table.reading import how_to_open
from riskrank.scores.table.scores import Scores


def only_scores(path: str, metric: str, options: ReadOptions) -> str | None:
    """The column of scores in a table without one of metrics: called as the metric, or a score."""
    said = {part.partition("=")[0].strip() for part in (options.columns or "").split(",")}
    if options.from_ is not None or options.matrix is not None or said & {"metric", "score"}:
        return None
    try:
        (source,) = open_sources([path], how_to_open(options))
    except (InputError, ValueError):
        return None  # a harness wrote it, or reading says what is wrong
    names = () if "metric" in source.columns else (metric, "score")
    return next((name for name in names if name in source.columns), None)


def all_of(scores: Scores, metric: str) -> Scores:
    """The same scores, all of a metric."""
    frame = scores.frame.with_columns(metric=pl.lit(metric, dtype=pl.Enum([metric])))
    notes, options = replace(scores.notes, known_metrics=(metric,)), replace(scores.options, metric=(metric,))
    return replace(scores, frame=frame, notes=notes, options=options)
