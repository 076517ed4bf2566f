"""Pictures of a ranking: how sure it is, how methods differ, how much fewer samples would do."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from riskrank.engine.dominance.method_rankings import MethodStudy, Stability
from riskrank.render.figures.bump import Bump, arrange_bump, draw_bump
from riskrank.render.figures.curves import CAPTIONS, draw_curves
from riskrank.render.figures.error_bars import ErrorBars, draw_error_bars
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.forest import DIFFERENCES, PLACES, Forest, Interval, draw_forest
from riskrank.render.figures.legend import by_importance, choose_looks
from riskrank.render.figures.marks import model_mark, write_text
from riskrank.render.figures.names import fit_names
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.rows import BELOW, draw_bar, draw_dot
from riskrank.render.figures.style import MARGIN, QUIET, SMALL, Plot, in_common_style, start_sheet
from riskrank.render.figures.units import direction_label
from riskrank.render.mean_tables import score_title
from riskrank.studies.rank.document import RankDocument, trade
from riskrank.studies.targets import Units
from riskrank.studies.wording import percent

# Of the picture of a trade, which a phone shows whole, and of its rows: words above, an interval below.
_WIDTH, _HIGH = 234.0, 32.0
# Standard errors that a bar reaches to either side.
_REACH = 2.0


@in_common_style
def draw_trade(document: RankDocument) -> Plot:
    """Draw the difference of two models on every metric, each to a scale of its own."""
    found, models, means = trade(document), document.provenance.models, document.means
    assert found is not None
    both = model_mark(*found.pair)
    first, other = (models[model] for model in found.pair)
    page = start_sheet(
        f"{first} or {other}, metric by metric",
        f"Right: {first} is better; left: {other}. Bar: the difference of the means and two standard errors "
        "to either side, each row to its own scale. Filled: shown, after all models and metrics are allowed "
        f"for; hollow: open. Figures: mean of {first} against that of {other}.",
        width=_WIDTH + 2 * MARGIN,
        height=_HIGH * len(means) + BELOW / 2,
    )
    axes = page.axes(MARGIN, BELOW / 2, _WIDTH, _HIGH * len(means))
    given, canvas = choose_looks(len(models), found.pair), page.canvas()
    scale = np.maximum(np.abs(found.lead) + _REACH * found.error, np.finfo(float).tiny)
    lead, reach = found.lead / scale, _REACH * found.error / scale
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    for at, mean in enumerate(means):
        side, y = int(found.side[at]), (len(means) - at - 0.75) * _HIGH
        color = QUIET if side == 0 else given[found.pair[0 if side > 0 else 1]].color
        draw_bar(axes, [lead[at] - reach[at], lead[at] + reach[at]], y, both, color)
        draw_dot(axes, lead[at], y, both, color, size=6.0, filled=side != 0)
        above, figures = BELOW / 2 + y + _HIGH / 2, mean.against(*found.pair)
        name = fit_names([mean.name], _WIDTH - text_width(figures) - 10)[0]
        write_text(canvas, MARGIN, above, name, both)
        write_text(canvas, MARGIN + _WIDTH, above, figures, both, "right")
    names = fit_names([first, other], _WIDTH / 2 - 25, SMALL)
    axes.set(xlim=(-1.06, 1.06), ylim=(0, _HIGH * len(means)), xticks=[], yticks=[])
    axes.set_xlabel(f"{names[1]} ← better → {names[0]}", size=SMALL)
    axes.spines["left"].set_visible(False)
    return page.figure


_FIRST = ("R-SSD", "R-FSD")


def pictures(document: RankDocument) -> Iterator[Picture]:
    """A forest plot a method, relative dominance first; a bump chart of them all; stability if asked for."""
    methods = list(document.study.rankings)
    leading = sorted(methods, key=lambda name: (*(name.partition("@")[0] != first for first in _FIRST),))
    for method in leading:
        caption = f"Rank, rank set and score of every model by {method}, with the difference to the leader."
        yield Picture(f"forest@{method}", caption, partial(_forest, document, method))
    if trade(document) is not None:
        caption = "On which metrics each of the two models of the verdict is better, and how sure that is."
        yield Picture("trade", caption, partial(draw_trade, document))
    if len(methods) > 1:
        caption = f"Ranks of every model by every {_ranked_by(document)}, joined by lines."
        yield Picture("bump", caption, partial(_bump, document))
    for column in document.study.columns:
        of = f"@{column}" if len(document.study.columns) > 1 else ""
        for kind, caption in CAPTIONS.items():
            drawing = partial(_curves, document, column, kind)
            yield Picture(f"{kind}{of}", caption.format(column), drawing)
    if document.steady is not None:
        caption = "Agreement with the ranking of all samples, by the number of samples."
        yield Picture("stability", caption, partial(_stability, document.steady))


def forest(study: MethodStudy, method: str, units: Mapping[str, Units]) -> Forest:
    """Arrange one method's ranking by its order, differences of means in the units of the file."""
    ranking = study.rankings[method]
    order = ranking.order

    found = [
        Interval.build(order, "place", PLACES, ranking.rank, ranking.rank_low, ranking.rank_high),
        Interval.build(order, _score(method)[0], "", ranking.score),
    ]
    statistic, _, name = method.partition("@")
    if method not in study.aggregations:
        effects, unit = study.studies[name].effects[statistic].mean_difference, units[name]
        label = f"{fit_names([unit.label], 80.0, SMALL)[0]}, to the first"
        label = direction_label(label, lower=unit.sign < 0)
        found.append(Interval.build(order, label, DIFFERENCES, *unit.told(effects)))
    return Forest(order, tuple(found))


def _forest(document: RankDocument, method: str) -> Plot:
    found, models = forest(document.study, method, document.units), document.provenance.models
    sure = percent(document.inference.family.confidence)
    places, *_, last = found.columns
    parts = ["Dot: place, ties share the smallest."]
    if places.low is not None:
        parts.append(f"Bar: the rank set, all of which hold together with {sure}.")
    parts.append(_score(method)[1])
    column = method.partition("@")[2]
    if last.kind == DIFFERENCES:
        held = "" if last.low is None else f", with intervals that hold together with {sure}"
        parts.append(
            f"Right: difference of the mean {document.units[column].label} to the first model{held}."
        )
    title = "Places and how sure they are" + (f", {score_title(column)}" if column in document.units else "")
    return draw_forest(found, models, title, " ".join(parts), method)


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
    order = by_importance(spoken_of, found.best_mean_first.tolist())
    return draw_curves(kind, found, document.provenance.models, column, order)


def method_ranks(study: MethodStudy, named: Sequence[int] = ()) -> Bump:
    """Arrange the rankings of all methods, with the models of the verdict in focus."""
    return arrange_bump(np.array([ranking.rank for ranking in study.rankings.values()]), named)


def _bump(document: RankDocument) -> Plot:
    what, names = _ranked_by(document), list(document.study.rankings)
    heads = [name.partition("@")[2] for name in names] if what == "metric" else names
    found, models = method_ranks(document.study, document.named), document.provenance.models
    by = " by second-order dominance, which minds bad cases: the best mean may be another's"
    by = by if all(name.startswith("R-SSD@") for name in names) else ""
    return draw_bump(found, models, heads, f"Ranks by every {what}", column_kind=what, ranked_by=by)


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
        lower=max(min(0.0, float((found.values - found.errors).min()) - 0.05), -1.02),
        smallest=-1.0,
    )
