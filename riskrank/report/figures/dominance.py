"""Pictures of dominance: ratios of all pairs, and the curves of one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from riskrank.engine.dominance.claims import DIRECT, Claim
from riskrank.engine.dominance.column import DominanceStudy, method_name
from riskrank.engine.dominance.quantile_difference import quantile_difference
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.report.figures.catalogue import Picture
from riskrank.report.figures.heat_map import draw_heat_map, heat_map
from riskrank.report.figures.pair import draw_pair, pair_curves
from riskrank.report.figures.style import Plot
from riskrank.studies.dominance import DominanceDocument
from riskrank.studies.targets import Target


def pictures(document: DominanceDocument) -> list[Picture]:
    """Heat maps, a column and claim each, and the pair of the first two; of two models the pair first."""
    models = document.provenance.models
    maps, pairs = [], []
    for found in document.by_column:
        column, study, target = found.name, found.study, found.target
        of = f"@{column}" if len(document.by_column) > 1 else ""
        for tests in sorted(study.tests, key=lambda tests: -tests.claim.order):
            method = claim_name(tests.claim)
            caption = f"Violation ratios of all ordered pairs of models, {method} on {column}."
            drawing = partial(_map, document, tests, f"Violation ratios, {method}@{column}")
            maps.append(Picture(f"heatmap@{method}{of}", caption, drawing))
        i, j = leading_pair(study)
        caption = f"Quantile functions of {models[i]} and {models[j]}, with the area that violates dominance."
        pairs.append(Picture(f"pair{of}", caption, partial(_pair, document, study, target)))
    return [*pairs, *maps] if len(models) == 2 else [*maps, *pairs]


def claim_name(claim: Claim) -> str:
    """``SSD`` for the direct claim, ``SSD(0.25)`` for an absolute one, ``R-SSD`` for the relative one."""
    if claim.kind == DIRECT:
        return "FSD" if claim.order == 1 else "SSD"
    return method_name(claim)


def leading_pair(study: DominanceStudy) -> tuple[int, int]:
    """The first two models by their mean ratio of the second order, the better of the pair first."""
    ratios = study.estimates.ratios[1]
    i, j = np.argsort(ratios.sum(axis=1), kind="stable")[:2].tolist()
    return (i, j) if ratios[i, j] <= ratios[j, i] else (j, i)


def _map(document: DominanceDocument, tests: DominanceTests, title: str) -> Plot:
    return draw_heat_map(heat_map(tests), document.provenance.models, title, tested=document.inference.test)


def _pair(document: DominanceDocument, study: DominanceStudy, target: Target) -> Plot:
    i, j = leading_pair(study)
    models, values = document.provenance.models, target.scores.values
    curves = pair_curves(values[i], values[j], study.estimates.ratios[:, i, j].tolist())
    inference = document.inference
    if inference.resampled:
        band = quantile_difference(
            target.scores, i, j, curves.levels, alpha=inference.alpha, seed=inference.seed
        )
        assert band.low is not None
        assert band.high is not None
        curves = replace(curves, band=(band.low, band.high))
    return draw_pair(curves, (models[i], models[j]), target.name)
