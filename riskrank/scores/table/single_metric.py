"""Tables with a score column but no metric column: all scores belong to one metric."""

from dataclasses import replace

import polars as pl

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.opening import open_sources
from riskrank.scores.table.reading import opening_settings
from riskrank.scores.table.scores import Scores


def score_column(path: str, metric: str, options: ReadOptions) -> str | None:
    """Return the score column of a table without a metric column, named after the metric or ``score``.

    Return None if the table has a metric column, or the options or another reader determine its layout.
    """
    roles = {part.partition("=")[0].strip() for part in (options.columns or "").split(",")}
    if options.from_ is not None or options.matrix is not None or roles & {"metric", "score"}:
        return None
    try:
        (source,) = open_sources([path], opening_settings(options))
    except (InputError, ValueError):
        return None  # an export, or a later reader reports the error
    names = () if "metric" in source.columns else (metric, "score")
    return next((name for name in names if name in source.columns), None)


def with_metric(scores: Scores, metric: str) -> Scores:
    """Return the scores with `metric` as their only metric."""
    frame = scores.frame.with_columns(metric=pl.lit(metric, dtype=pl.Enum([metric])))
    notes, options = replace(scores.notes, all_metrics=(metric,)), replace(scores.options, metric=(metric,))
    return replace(scores, frame=frame, notes=notes, options=options)
