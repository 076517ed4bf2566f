"""Pictures of dominance: ratios of all pairs, and the curves of one."""

from functools import partial

from riskrank.engine.dominance.inference import Claim
from riskrank.render.figures.heat_map import draw_heat_map, arrange_heat_map
from riskrank.render.figures.legend import by_importance, choose_looks
from riskrank.render.figures.marks import renumber_marks
from riskrank.render.figures.pair import draw_pair
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import Plot
from riskrank.render.mean_tables import score_title
from riskrank.studies.dominance.study import DominanceColumn, DominanceDocument
from riskrank.studies.wording import claim_words


def pictures(document: DominanceDocument) -> list[Picture]:
    """Heat maps, a column and claim each, and the pair of the first two; of two models the pair first."""
    models, tested = document.provenance.models, document.inference.test
    maps, pairs = [], []
    for found in document.by_column:
        column, study = found.name, found.study
        of = f"@{column}" if len(document.by_column) > 1 else ""
        title = f"Who is ahead of whom, {score_title(column)}"
        for tests in sorted(study.tests, key=lambda tests: -tests.claim.order):
            method = claim_name(tests.claim)
            caption = f"Violation ratios of all ordered pairs of models, {method} on {column}."
            how = f"violation ratios, {method} of {column}"
            drawing = partial(draw_heat_map, arrange_heat_map(tests), models, title, how, tested=tested)
            maps.append(Picture(f"heatmap@{method}{of}", caption, drawing))
        i, j = document.pair or study.leading_pair  # a report speaks of two of its own
        caption = f"By how much {models[i]} is ahead of {models[j]} at every share, and where it is behind."
        pairs.append(Picture(f"pair{of}", caption, partial(_pair, document, found)))
    return [*pairs, *maps] if len(models) == 2 else [*maps, *pairs]


def claim_name(claim: Claim) -> str:
    """``SSD`` for the direct claim, ``SSD(0.25)`` for an absolute one, ``R-SSD`` for the relative one."""
    return claim_words(claim).removeprefix("direct ")


def _pair(document: DominanceDocument, found: DominanceColumn) -> Plot:
    i, j = document.pair or found.study.leading_pair
    models, inference = document.provenance.models, document.inference
    curves = found.pair_curves(i, j, inference)
    given = choose_looks(len(models), by_importance((i, j), range(len(models))))
    pair, level = (models[i], models[j]), inference.family.confidence
    drawn = draw_pair(curves, pair, found.name, level=level, looks=(given[i], given[j]))
    return renumber_marks(drawn, (i, j))
