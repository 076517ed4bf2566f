"""Figures of a ranking by means: one forest plot per metric."""

from functools import partial

import numpy as np

from riskrank.render.figures.picture import Picture
from riskrank.render.figures.rows import DIFFERENCES, PLACES, Forest, Interval, draw_forest
from riskrank.render.figures.style import Plot, direction_label
from riskrank.studies.rank.by_means import MeanRankDocument
from riskrank.studies.rank.mean_ranking import MeanRanking
from riskrank.studies.wording import format_percent


def pictures(document: MeanRankDocument) -> list[Picture]:
    """Return one forest plot per metric."""
    return [
        Picture(
            f"forest@{result.column.name}",
            f"Rank set and {result.label} of every model, with the difference to the first model.",
            partial(_draw_forest, document, result),
        )
        for result in document.rankings
    ]


def arrange_forest(result: MeanRanking) -> Forest:
    """Return the data of a forest plot: ranks, means and differences in rank order.

    Differences from models that were not compared are NaN.
    """
    order, ranking, means = result.ranking.order, result.ranking, result.means
    sign = -1.0 if means.lower_is_better else 1.0
    columns = [
        Interval.from_arrays(order, "place", PLACES, ranking.rank, ranking.rank_low, ranking.rank_high),
        Interval.from_arrays(
            order, direction_label(means.name, lower=means.lower_is_better), "", means.mean, *means.intervals
        ),
    ]
    if result.low is not None and result.high is not None:
        parts = np.array(
            [
                result.differences_from_first,
                *((result.low, result.high) if sign > 0 else (result.high, result.low)),
            ]
        )
        parts[:, result.not_compared_with_first] = np.nan
        label = direction_label("to the first", lower=means.lower_is_better)
        columns.append(Interval.from_arrays(order, label, DIFFERENCES, *(sign * parts)))
    return Forest(order, tuple(columns))


def _draw_forest(document: MeanRankDocument, result: MeanRanking) -> Plot:
    """Draw the forest plot of one metric."""
    confidence = format_percent(document.family.confidence)
    reading = (
        "Places: simultaneous rank sets. Middle: means with pointwise 95 % intervals. Right: difference to "
        f"the first model, with simultaneous {confidence} intervals."
    )
    return draw_forest(
        arrange_forest(result),
        document.provenance.models,
        f"Places by {result.label}",
        reading,
        "Student's t",
    )
