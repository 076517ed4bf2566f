"""Figures of ``rank``: forest plots, trade-offs, comparison of methods, and stability under subsampling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from riskrank.engine.dominance.method_rankings import MethodStudy, Stability
from riskrank.engine.dominance.ranking import Ranking
from riskrank.render.figures import rows, style
from riskrank.render.figures.bump import Bump, arrange_bump, draw_bump
from riskrank.render.figures.curves import CAPTIONS, ErrorBars, draw_curves, draw_error_bars
from riskrank.render.figures.legend import by_importance, choose_styles
from riskrank.render.figures.text import fit_names, model_mark, text_width, write_text
from riskrank.render.mean_tables import score_title
from riskrank.render.view import Picture
from riskrank.studies.rank.document import RankDocument, trade_off
from riskrank.studies.targets import Units
from riskrank.studies.wording import format_percent

if TYPE_CHECKING:
    from riskrank.studies.rank.means import MeanRankDocument, MeanRanking

# Width of the trade-off figure, which fits a phone screen, and height of a row: text above, interval below.
_WIDTH, _HIGH = 234.0, 32.0
# Half-length of a bar in standard errors.
_REACH = 2.0


@style.common_style()
def draw_trade_off(document: RankDocument) -> style.Plot:
    """Draw the differences between two models on every metric, each on its own scale."""
    comparison, models, means = trade_off(document), document.provenance.models, document.means
    assert comparison is not None
    both = model_mark(*comparison.pair)
    first, other = (models[model] for model in comparison.pair)
    page = style.start_sheet(
        f"{first} or {other}, by metric",
        f"Right: {first} is better; left: {other} is better. Bar: difference of the means ± two standard "
        "errors, scaled by row. Filled: significant, corrected for all models and metrics; hollow: not "
        f"significant. Numbers: mean of {first} against mean of {other}.",
        width=_WIDTH + 2 * style.MARGIN,
        height=_HIGH * len(means) + rows.BELOW / 2,
    )
    axes = page.axes(style.MARGIN, rows.BELOW / 2, _WIDTH, _HIGH * len(means))
    styles, canvas = choose_styles(len(models), comparison.pair), page.canvas()
    scale = np.maximum(np.abs(comparison.difference) + _REACH * comparison.error, np.finfo(float).tiny)
    lead, reach = comparison.difference / scale, _REACH * comparison.error / scale
    axes.axvline(0, color=style.QUIET, linewidth=0.8, zorder=1)
    for at, mean in enumerate(means):
        side, y = int(comparison.side[at]), (len(means) - at - 0.75) * _HIGH
        color = style.QUIET if side == 0 else styles[comparison.pair[0 if side > 0 else 1]].color
        rows.draw_bar(axes, [lead[at] - reach[at], lead[at] + reach[at]], y, both, color)
        rows.draw_dot(axes, lead[at], y, both, color, size=6.0, filled=side != 0)
        above, figures = rows.BELOW / 2 + y + _HIGH / 2, mean.format_comparison(*comparison.pair)
        name = fit_names([mean.name], _WIDTH - text_width(figures) - 10)[0]
        write_text(canvas, style.MARGIN, above, name, both)
        write_text(canvas, style.MARGIN + _WIDTH, above, figures, both, "right")
    names = fit_names([first, other], _WIDTH / 2 - 25, style.SMALL)
    axes.set(xlim=(-1.06, 1.06), ylim=(0, _HIGH * len(means)), xticks=[], yticks=[])
    axes.set_xlabel(f"{names[1]} ← better → {names[0]}", size=style.SMALL)
    axes.spines["left"].set_visible(False)
    return page.figure


_FIRST_METHODS = ("R-SSD", "R-FSD")


def pictures(document: RankDocument) -> Iterator[Picture]:
    """Yield the pictures: forest plots, trade-offs, bump chart, curves and stability.

    Relative dominance methods come first.
    """
    methods = list(document.study.rankings)
    leading = sorted(
        methods, key=lambda name: (*(name.partition("@")[0] != first for first in _FIRST_METHODS),)
    )
    for method in leading:
        caption = f"Rank, rank set and score of every model by {method}, with the difference to the leader."
        yield Picture(f"forest@{method}", caption, partial(_draw_forest, document, method))
    if trade_off(document) is not None:
        caption = "Differences of the two models in the verdict by metric, with their uncertainty."
        yield Picture("trade", caption, partial(draw_trade_off, document))
    if len(methods) > 1:
        caption = f"Ranks of every model by every {_ranking_unit(document)}, joined by lines."
        yield Picture("bump", caption, partial(_draw_bump, document))
    for column in document.study.columns:
        suffix = f"@{column}" if len(document.study.columns) > 1 else ""
        for kind, caption in CAPTIONS.items():
            drawing = partial(_draw_curves, document, column, kind)
            yield Picture(f"{kind}{suffix}", caption.format(column), drawing)
    if document.stability is not None:
        caption = "Agreement of rankings on subsamples with the full ranking, by subsample size."
        yield Picture("stability", caption, partial(_draw_stability, document.stability))


def _place_column(ranking: Ranking) -> rows.Interval:
    """Return the ranks and rank sets of a ranking as a column of a forest plot."""
    places = ranking.rank, ranking.rank_low, ranking.rank_high
    return rows.Interval.from_arrays(ranking.order, "place", rows.PLACES, *places)


def arrange_forest(study: MethodStudy, method: str, units: Mapping[str, Units]) -> rows.Forest:
    """Return the data of one method's forest plot: ranks, scores and mean differences in rank order.

    `units` maps the name of each ranked score to its units of measurement.
    """
    ranking = study.rankings[method]
    order = ranking.order
    score = rows.Interval.from_arrays(order, _describe_score(method)[0], "", ranking.score)
    columns = [_place_column(ranking), score]
    statistic, _, name = method.partition("@")
    if method not in study.aggregations:
        effects, unit = study.studies[name].effects[statistic].mean_difference, units[name]
        label = f"{fit_names([unit.label], 80.0, style.SMALL)[0]}, to the first"
        label = style.direction_label(label, lower=unit.sign < 0)
        columns.append(rows.Interval.from_arrays(order, label, rows.DIFFERENCES, *unit.estimates(effects)))
    return rows.Forest(order, tuple(columns))


def _draw_forest(document: RankDocument, method: str) -> style.Plot:
    """Draw the forest plot of one method."""
    arranged, models = arrange_forest(document.study, method, document.units), document.provenance.models
    confidence = format_percent(document.inference.family.confidence)
    places, *_, last = arranged.columns
    parts = ["Dot: place; tied models share the smallest place."]
    if places.low is not None:
        parts.append(f"Bar: rank set, with simultaneous {confidence} confidence.")
    parts.append(_describe_score(method)[1])
    column = method.partition("@")[2]
    if last.kind == rows.DIFFERENCES:
        intervals = "" if last.low is None else f", with simultaneous {confidence} intervals"
        label = document.units[column].label
        parts.append(f"Right: difference in mean {label} from the first model{intervals}.")
    title = "Places with their uncertainty" + (f", {score_title(column)}" if column in document.units else "")
    return rows.draw_forest(arranged, models, title, " ".join(parts), method)


def _describe_score(method: str) -> tuple[str, str]:
    """Return the short name of a method's score, and a sentence that explains it."""
    if method.startswith("RA("):
        return "mean rank", "Mean rank in the aggregated rankings: lower is better."
    if method.startswith("MWR"):
        return "win rate", "Win rate: higher is better."
    explanation = "ε: mean violation ratio against the other models, 0 if a model dominates all of them"
    return "ε", f"{explanation}, 1 if all of them dominate it."


def _draw_curves(document: RankDocument, column: str, kind: str) -> style.Plot:
    """Draw the curves of all models on one ranked score.

    `column` is the name of the score, and `kind` the kind of curve, a key of ``CAPTIONS``.
    """
    summary, leader = document.curves(column), document.leaders.get(column)
    focus = document.named or (() if leader is None else leader.pair)
    order = by_importance(focus, summary.best_mean_first.tolist())
    return draw_curves(kind, summary, document.provenance.models, column, order)


def method_ranks(study: MethodStudy, focus: Sequence[int] = ()) -> Bump:
    """Return the ranks under all methods as data of a bump chart, with the models in `focus` highlighted."""
    return arrange_bump(np.array([ranking.rank for ranking in study.rankings.values()]), focus)


def _draw_bump(document: RankDocument) -> style.Plot:
    """Draw a bump chart: each model's ranks under all methods, joined by lines."""
    unit, names = _ranking_unit(document), list(document.study.rankings)
    heads = [name.partition("@")[2] for name in names] if unit == "metric" else names
    bump, models = method_ranks(document.study, document.named), document.provenance.models
    explanation = " by second-order dominance (risk-averse): another model may have the best mean"
    explanation = explanation if all(name.startswith("R-SSD@") for name in names) else ""
    return draw_bump(bump, models, heads, f"Ranks by every {unit}", column_kind=unit, ranked_by=explanation)


def _ranking_unit(document: RankDocument) -> str:
    """Return "metric" if all rankings use the same method on different metrics, or else "method"."""
    parts = [name.partition("@") for name in document.study.rankings]
    metrics = {mean.name for mean in document.means}
    one_method = len({method for method, _, _ in parts}) == 1
    return "metric" if one_method and all(column in metrics for _, _, column in parts) else "method"


def stability_curves(stability: Stability) -> ErrorBars:
    """Return the mean and SD of Kendall's tau for each subsample size, the most stable method first."""
    first = tuple(stability.by_stability.tolist())
    return ErrorBars(np.array(stability.sizes), stability.mean, stability.sd, first)


def _draw_stability(stability: Stability) -> style.Plot:
    """Draw the agreement of subsample rankings with the full ranking."""
    bars = stability_curves(stability)
    return draw_error_bars(
        bars,
        stability.methods,
        "Stability of the ranking with fewer samples",
        f"Kendall's tau with the full ranking, 1 for the same order: mean of {stability.repeats} random "
        "subsamples per size. Bars: standard deviation.",
        ylabel="Kendall's tau",
        lower=max(min(0.0, float((bars.values - bars.errors).min()) - 0.05), -1.02),
        smallest=-1.0,
    )


def mean_pictures(document: MeanRankDocument) -> list[Picture]:
    """Return one forest plot per metric of a ranking by means."""
    return [
        Picture(
            f"forest@{result.column.name}",
            f"Rank set and {result.label} of each model, and its difference from the first model.",
            partial(_draw_mean_forest, document, result),
        )
        for result in document.rankings
    ]


def arrange_mean_forest(result: MeanRanking) -> rows.Forest:
    """Return the data of a forest plot: ranks, means and differences in rank order.

    Differences from models that were not compared are NaN.
    """
    order, ranking, means = result.ranking.order, result.ranking, result.means
    label = style.direction_label(means.name, lower=means.lower_is_better)
    score = rows.Interval.from_arrays(order, label, "", means.mean, *means.intervals)
    columns, gaps = [_place_column(ranking), score], result.file_differences
    if gaps.low is not None and gaps.high is not None:
        parts = np.array([gaps.estimate, gaps.low, gaps.high])
        parts[:, result.not_compared_with_first] = np.nan
        label = style.direction_label("to the first", lower=means.lower_is_better)
        columns.append(rows.Interval.from_arrays(order, label, rows.DIFFERENCES, *parts))
    return rows.Forest(order, tuple(columns))


def _draw_mean_forest(document: MeanRankDocument, result: MeanRanking) -> style.Plot:
    """Draw the forest plot of one metric of a ranking by means."""
    confidence = format_percent(document.family.confidence)
    explanation = (
        "Places: simultaneous rank sets. Middle: means with pointwise 95 % intervals. Right: difference from "
        f"the first model, with simultaneous {confidence} intervals."
    )
    title, models = f"Places by {result.label}", document.provenance.models
    return rows.draw_forest(arrange_mean_forest(result), models, title, explanation, "Student's t")
