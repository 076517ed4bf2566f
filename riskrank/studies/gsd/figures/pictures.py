"""What can be drawn of generalized stochastic dominance."""

from functools import partial
from typing import Any

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.render.figures.marks import renumbered
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import Plot
from riskrank.studies.gsd.document import GsdDocument
from riskrank.studies.gsd.figures.critical_difference import draw_critical_difference
from riskrank.studies.gsd.figures.hasse import draw_hasse
from riskrank.studies.gsd.figures.null_distribution import draw_contamination, draw_null_distribution


def pictures(document: GsdDocument) -> list[Picture]:
    """Diagrams of all thresholds; null distributions, contamination, baselines where asked for."""
    models = document.provenance.models
    caption = "Hasse diagram: a line from each model down to those it dominates, a diagram a threshold."
    found = [Picture("hasse", caption, partial(draw_hasse, document.analyses, models))]
    for analysis in document.analyses:
        at = f"@{analysis.threshold}" if len(document.analyses) > 1 else ""
        level = analysis.family.level(1)
        arbitrary = [one for one in analysis.tests.values() if min(one.contamination, default=1) <= level]
        if arbitrary:
            caption = "p-value of every significant pair, by the number of samples that may be arbitrary."
            how: dict[str, Any] = {"samples": document.quality.samples, "label": str(analysis.threshold)}
            drawing = partial(draw_contamination, arbitrary, models, level=level, **how)
            found.append(Picture(f"contamination{at}", caption, drawing))
        for i, j in _closest_calls(analysis):
            caption = f"Optima of {models[i]} over {models[j]} on relabelled samples, with the observed one."
            name = f"null@{models[i]}@{models[j]}{at}"
            found.append(Picture(name, caption, partial(_null, document, analysis, i, j)))
    if document.baselines is not None:
        caption = "Mean ranks of the models on every criterion, joined where Nemenyi's test separates nobody."
        drawing = partial(draw_critical_difference, document.baselines, document.criteria, models)
        how = {"level": document.relabelling.family.level(1), "samples": document.quality.samples}
        found.append(Picture("ranks", caption, partial(drawing, **how)))
    return found


def _closest_calls(analysis: GsdAnalysis) -> list[tuple[int, int]]:
    """Tested pairs, those with dominance in the sample and the largest p-values first."""
    dominates, tests = analysis.relation.dominates, analysis.tests
    return sorted(tests, key=lambda pair: (not dominates[pair], -tests[pair].p_value, pair))


def _null(document: GsdDocument, analysis: GsdAnalysis, i: int, j: int) -> Plot:
    models, test = document.provenance.models, analysis.tests[i, j]
    optima = document.null_optima(analysis, i, j)
    drawn = draw_null_distribution(
        optima, test.optimum, test.p_value, models[i], models[j], str(analysis.threshold)
    )
    return renumbered(drawn, (i, j))
