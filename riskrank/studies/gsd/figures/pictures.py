"""Selection of figures for a ``gsd`` document."""

from functools import partial
from typing import Any

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import Plot
from riskrank.render.figures.text import renumber_marks
from riskrank.studies.gsd.document import GsdDocument
from riskrank.studies.gsd.figures.critical_difference import draw_critical_difference
from riskrank.studies.gsd.figures.hasse import draw_hasse
from riskrank.studies.gsd.figures.null_distribution import draw_contamination, draw_null_distribution


def pictures(document: GsdDocument) -> list[Picture]:
    """Return the pictures: Hasse diagram, null distributions, and requested contamination and rank tests."""
    models = document.provenance.models
    caption = "Hasse diagram: a line from each model down to those it dominates, one diagram per threshold."
    result = [Picture("hasse", caption, partial(draw_hasse, document.analyses, models))]
    for analysis in document.analyses:
        suffix = f"@{analysis.threshold}" if len(document.analyses) > 1 else ""
        level = analysis.family.interval_level(1)
        tolerant = [test for test in analysis.tests.values() if min(test.contamination, default=1) <= level]
        if tolerant:
            caption = "p-value of every significant pair, by the number of arbitrary samples."
            arguments: dict[str, Any] = {
                "samples": document.quality.samples,
                "label": str(analysis.threshold),
            }
            drawing = partial(draw_contamination, tolerant, models, level=level, **arguments)
            result.append(Picture(f"contamination{suffix}", caption, drawing))
        for i, j in _closest_calls(analysis):
            caption = f"Optima of {models[i]} over {models[j]} on relabelled samples, with the observed one."
            name = f"null@{models[i]}@{models[j]}{suffix}"
            result.append(Picture(name, caption, partial(_draw_null_distribution, document, analysis, i, j)))
    if document.baselines is not None:
        caption = "Mean ranks on every criterion; bars join models that Nemenyi's test does not separate."
        drawing = partial(draw_critical_difference, document.baselines, document.criteria, models)
        arguments = {
            "level": document.relabelling.family.interval_level(1),
            "samples": document.quality.samples,
        }
        result.append(Picture("ranks", caption, partial(drawing, **arguments)))
    return result


def _closest_calls(analysis: GsdAnalysis) -> list[tuple[int, int]]:
    """Return the tested pairs: those with dominance in the sample first, by decreasing p-value."""
    dominates, tests = analysis.relation.dominates, analysis.tests
    return sorted(tests, key=lambda pair: (not dominates[pair], -tests[pair].p_value, pair))


def _draw_null_distribution(document: GsdDocument, analysis: GsdAnalysis, i: int, j: int) -> Plot:
    """Draw the null distribution of the test of models i and j."""
    models, test = document.provenance.models, analysis.tests[i, j]
    optima = document.null_optima(analysis, i, j)
    plot = draw_null_distribution(
        optima, test.optimum, test.p_value, models[i], models[j], str(analysis.threshold)
    )
    return renumber_marks(plot, (i, j))
