"""Pictures of dominance: ratios of all pairs, and the curves of one."""

from __future__ import annotations

import numpy as np

from riskrank.engine.dominance.column import DominanceStudy, method_name
from riskrank.report.figures.catalogue import Picture
from riskrank.report.figures.heat_map import draw_heat_map, heat_map
from riskrank.report.figures.pair import draw_pair, pair_curves
from riskrank.report.figures.style import Plot
from riskrank.studies.dominance import DominanceDocument


def pictures(document: DominanceDocument) -> list[Picture]:
    """Heat maps, a column and claim each, and the pair of the first two; of two models the pair first."""
    models, found, pairs = document.provenance.models, [], []
    tested, several = document.inference.test, len(document.by_column) > 1
    for (column, study), target in zip(document.by_column, document.targets, strict=True):
        of = f"@{column}" if several else ""
        for tests in sorted(study.tests, key=lambda tests: -tests.claim.order):
            method = f"{method_name(tests.claim)}@{column}"
            found.append(
                Picture(
                    f"heatmap@{method_name(tests.claim)}{of}",
                    f"Violation ratios of all ordered pairs of models, {method}.",
                    lambda tests=tests, method=method: draw_heat_map(
                        heat_map(tests), models, f"Violation ratios, {method}", tested=tested
                    ),
                )
            )
        i, j = leading_pair(study)
        pairs.append(
            Picture(
                f"pair{of}",
                f"Quantile functions of {models[i]} and {models[j]}, with the area that violates dominance.",
                lambda study=study, target=target, column=column: _pair(study, target, models, column),
            )
        )
    return [*pairs, *found] if len(models) == 2 else [*found, *pairs]


def leading_pair(study: DominanceStudy) -> tuple[int, int]:
    """The first two models by their mean ratio of the second order, the better of the pair first."""
    ratios = study.estimates.ratios[1]
    i, j = np.argsort(ratios.sum(axis=1), kind="stable")[:2].tolist()
    return (i, j) if ratios[i, j] <= ratios[j, i] else (j, i)


def _pair(study: DominanceStudy, target, models, column: str) -> Plot:
    i, j = leading_pair(study)
    values = target.scores.values
    curves = pair_curves(values[i], values[j], study.estimates.ratios[:, i, j].tolist())
    return draw_pair(curves, (models[i], models[j]), column)
