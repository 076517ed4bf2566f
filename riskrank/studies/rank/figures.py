"""Pictures of a ranking: how sure it is, how methods differ, how much fewer samples would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.stability import Stability
from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.bump import Bump, bump, draw_bump
from riskrank.shown.figures.curves import CAPTIONS, draw_curves
from riskrank.shown.figures.error_bars import ErrorBars, draw_error_bars
from riskrank.shown.figures.forest import Forest, Interval, draw_forest
from riskrank.shown.figures.key import in_focus
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.picture import Picture
from riskrank.shown.figures.style import SMALL, Plot
from riskrank.shown.means import in_words
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.units import Units
from riskrank.studies.wording import percent

_FIRST = ("R-SSD", "R-FSD")


def pictures(document: RankDocument) -> list[Picture]:
    """A forest plot a method, relative dominance first; a bump chart of them all; stability if asked for."""
    methods = list(document.study.rankings)
    leading = sorted(methods, key=lambda name: (*(name.partition("@")[0] != first for first in _FIRST),))
    found = [
        Picture(
            f"forest@{method}",
            f"Rank, rank set and score of every model by {method}, with the difference to the leader.",
            partial(_forest, document, method),
        )
        for method in leading
    ]
    if len(methods) > 1:
        caption = f"Ranks of every model by every {_ranked_by(document)}, joined by lines."
        found.append(Picture("bump", caption, partial(_bump, document)))
    for column in document.scores:
        of = f"@{column}" if len(document.scores) > 1 else ""
        for kind, caption in CAPTIONS.items():
            drawing = partial(_curves, document, column, kind)
            found.append(Picture(f"{kind}{of}", caption.format(column), drawing))
    if document.steady is not None:
        caption = "Agreement with the ranking of all samples, by the number of samples."
        found.append(Picture("stability", caption, partial(_stability, document.steady)))
    return found


def forest(study: MethodStudy, method: str, units: Mapping[str, Units], named: Sequence[int] = ()) -> Forest:
    """Arrange one method's ranking by its order, differences of means in the units of the file."""
    ranking = study.rankings[method]
    order = ranking.order
    statistic, _, column = method.partition("@")
    difference = None
    if method not in study.aggregations:
        effects, unit = study.studies[column].effects[statistic].mean_difference, units[column]
        low, high = unit.interval(effects.low, effects.high)
        difference = _of(order, unit.of(effects.estimate), low, high)
    return Forest(
        order=order,
        rank=_of(order, ranking.rank, ranking.rank_low, ranking.rank_high),
        score=_of(order, ranking.score),
        difference=difference,
        named=tuple(named),
    )


def _of(
    order: Integers, estimate: ArrayLike, low: ArrayLike | None = None, high: ArrayLike | None = None
) -> Interval:
    """Numbers of models, with their interval, in an order."""

    def taken(values: ArrayLike) -> Floats:
        return np.asarray(values, dtype=np.float64)[order]

    return Interval(
        taken(estimate), None if low is None else taken(low), None if high is None else taken(high)
    )


def _forest(document: RankDocument, method: str) -> Plot:
    found, inference = forest(document.study, method, document.units, document.named), document.inference
    parts = ["Dot: place, ties share the smallest."]
    if found.rank.low is not None:
        sure = percent(inference.family.confidence)
        parts.append(f"Bar: the rank set, all of which hold together with {sure}.")
    score, said = _score(method)
    parts.append(said)
    unit = "mean"
    if found.difference is not None:
        label = document.units[method.partition("@")[2]].label
        unit = fitted([label], 90.0, SMALL)[0]
        parts.append(f"Right: difference of the mean {label} to the first model")
        if found.difference.low is not None:
            parts[-1] += f", with intervals that hold together with {percent(inference.family.confidence)}"
        parts[-1] += "."
    return draw_forest(found, document.provenance.models, method, " ".join(parts), score=score, unit=unit)


def _score(method: str) -> tuple[str, str]:
    """What a method's score is called, and how to read it."""
    if method.startswith("RA("):
        return "mean rank", "Mean rank: over the rankings that were aggregated."
    if method.startswith("MWR"):
        return "win rate", "Win rate: more is better."
    said = "ε: mean violation ratio against the others, 0 if a model dominates all of them"
    return "ε", f"{said}, 1 if all of them dominate it."


def _curves(document: RankDocument, column: str, kind: str) -> Plot:
    found, one = document.curves(column), document.leading.get(column)
    spoken_of = document.named or (() if one is None else one.pair)
    found = replace(found, order=np.array(in_focus(spoken_of, found.order.tolist())))
    models = document.provenance.models
    return draw_curves(kind, found, models, in_words(column), accent=bool(document.named))


def method_ranks(study: MethodStudy, named: Sequence[int] = ()) -> Bump:
    """Arrange the rankings of all methods, with the models of the verdict in focus."""
    return bump(np.array([ranking.rank for ranking in study.rankings.values()]), named)


def _bump(document: RankDocument) -> Plot:
    what = _ranked_by(document)
    return draw_bump(
        method_ranks(document.study, document.named),
        document.provenance.models,
        list(document.study.rankings),
        f"Ranks by every {what}",
        what=what,
    )


def _ranked_by(document: RankDocument) -> str:
    """What tells the rankings apart: metrics where one method ranks on several, else methods."""
    parts = [name.partition("@") for name in document.study.rankings]
    metrics = {mean.name for mean in document.means}
    one_method = len({method for method, _, _ in parts}) == 1
    return "metric" if one_method and all(column in metrics for _, _, column in parts) else "method"


def stability_curves(steady: Stability) -> ErrorBars:
    """Mean agreement of subsamples and its spread, the steadiest method first."""
    mean = steady.mean
    spread = np.zeros_like(mean) if steady.sd is None else steady.sd
    return ErrorBars(np.array(steady.sizes), mean, spread, tuple(steady.steadiest_first.tolist()))


def _stability(steady: Stability) -> Plot:
    found = stability_curves(steady)
    return draw_error_bars(
        found,
        steady.methods,
        "How much of the ranking remains with fewer samples",
        f"Kendall's tau to the ranking of all samples, 1 for the same order: mean of {steady.repeats} "
        "random subsamples a size; bars: their standard deviation.",
        ylabel="Kendall's tau",
        low=max(min(0.0, float((found.values - found.errors).min()) - 0.05), -1.02),
        least=-1.0,
    )
