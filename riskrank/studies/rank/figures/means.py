"""Pictures of a ranking by means: places, means and differences to the first, a picture a metric."""

from functools import partial

import numpy as np

from riskrank.render.figures.forest import DIFFERENCES, PLACES, Forest, Interval, draw_forest
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import Plot
from riskrank.render.figures.units import direction_label
from riskrank.studies.rank.by_means import MeanRankDocument
from riskrank.studies.rank.mean_ranking import MeanRanking
from riskrank.studies.wording import percent


def pictures(document: MeanRankDocument) -> list[Picture]:
    """A forest a metric."""
    return [
        Picture(
            f"forest@{one.column.name}",
            f"Rank set and {one.what} of every model, with the difference to the first.",
            partial(_forest, document, one),
        )
        for one in document.rankings
    ]


def forest(one: MeanRanking) -> Forest:
    """Arrange a ranking by its order, without differences that nothing tells."""
    order, ranking, means = one.ranking.order, one.ranking, one.means
    sign = -1.0 if means.lower else 1.0
    found = [
        Interval.build(order, "place", PLACES, ranking.rank, ranking.rank_low, ranking.rank_high),
        Interval.build(order, direction_label(means.name, lower=means.lower), "", means.mean, *means.ends),
    ]
    if one.low is not None and one.high is not None:
        parts = np.array([one.gaps, *((one.low, one.high) if sign > 0 else (one.high, one.low))])
        parts[:, one.not_compared] = np.nan
        label = direction_label("to the first", lower=means.lower)
        found.append(Interval.build(order, label, DIFFERENCES, *(sign * parts)))
    return Forest(order, tuple(found))


def _forest(document: MeanRankDocument, one: MeanRanking) -> Plot:
    sure = percent(document.family.confidence)
    reading = (
        "Places: the rank sets, which hold together. Middle: each mean with its 95 % interval, alone. Right: "
        f"difference to the first, with intervals that hold together with {sure}."
    )
    return draw_forest(
        forest(one), document.provenance.models, f"Places by {one.what}", reading, "Student's t"
    )
