"""Figures of ``dominance``: violation ratios of all pairs, and the quantile functions of one pair."""

from functools import partial

from riskrank.render.figures.curves import draw_pair
from riskrank.render.figures.heat_map import arrange_heat_map, draw_heat_map
from riskrank.render.figures.legend import by_importance, choose_styles
from riskrank.render.figures.style import Plot
from riskrank.render.figures.text import renumber_marks
from riskrank.render.mean_tables import score_title
from riskrank.render.view import Picture
from riskrank.studies.dominance.study import DominanceColumn, DominanceDocument
from riskrank.studies.wording import claim_words


def pictures(document: DominanceDocument) -> list[Picture]:
    """Return the pictures: for each score, one heat map per test and one plot of a pair of models."""
    models, tested = document.provenance.models, document.inference.test
    maps, pairs = [], []
    for result in document.by_column:
        column, study = result.name, result.study
        suffix = f"@{column}" if len(document.by_column) > 1 else ""
        title = f"Dominance between models, {score_title(column)}"
        for tests in sorted(study.tests, key=lambda tests: -tests.claim.order):
            method = claim_words(tests.claim).removeprefix("direct ")
            caption = f"Violation ratios of all ordered pairs of models, {method} on {column}."
            subtitle = f"violation ratios, {method} of {column}"
            drawing = partial(draw_heat_map, arrange_heat_map(tests), models, title, subtitle, tested=tested)
            maps.append(Picture(f"heatmap@{method}{suffix}", caption, drawing))
        i, j = document.pair or study.leading_pair  # a report sets its own pair
        caption = f"Difference between {models[i]} and {models[j]} at every quantile level."
        pairs.append(Picture(f"pair{suffix}", caption, partial(_draw_pair, document, result)))
    return [*pairs, *maps] if len(models) == 2 else [*maps, *pairs]


def _draw_pair(document: DominanceDocument, result: DominanceColumn) -> Plot:
    """Draw the quantile functions of two models: the pair set in the document, or the two leading models."""
    i, j = document.pair or result.study.leading_pair
    models, inference = document.provenance.models, document.inference
    curves = result.pair_curves(i, j, inference)
    styles = choose_styles(len(models), by_importance((i, j), range(len(models))))
    pair, level = (models[i], models[j]), inference.family.confidence
    plot = draw_pair(curves, pair, result.name, level=level, styles=(styles[i], styles[j]))
    return renumber_marks(plot, (i, j))
