"""Pictures of power ([RAB] Fig. 6 and 7)."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskrank.engine.power.study import PowerStudy
from riskrank.render.figures.error_bars import ErrorBars, TargetLine, draw_error_bars
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import Plot
from riskrank.studies.power.study import PowerDocument


def pictures(document: PowerDocument) -> list[Picture]:
    """Power over sizes."""
    models = document.provenance.models
    caption = "Share of drawn tables in which each claim is significant, by the number of samples."
    return [Picture("curves", caption, partial(_draw, document.study, models))]


def power_curves(study: PowerStudy) -> ErrorBars:
    """Power of every claim, and of all of them together where there are several; the most powerful first."""
    curve = study.curve
    values, errors = curve.power.T, curve.standard_error.T
    order = curve.easiest_first.tolist()
    if len(values) > 1:
        values, errors = np.vstack([values, curve.together]), np.vstack([errors, curve.together_error])
        order = [len(values) - 1, *order]
    return ErrorBars(curve.sizes, values, errors, tuple(order))


def _draw(study: PowerStudy, models: Sequence[str]) -> Plot:
    found, required = power_curves(study), study.required
    names = [f"{models[i]} over {models[j]}" for i, j in study.plan.pairs]
    names += ["all together"] if len(found.values) > len(names) else []
    need = "no size tried reaches it" if required.size is None else f"{required.size:,} samples reach it"
    return draw_error_bars(
        found,
        names,
        "Power by the number of samples",
        f"Bars: error of the shares of {study.curve.repeats:,} drawn tables a size. Dashed: power "
        f"{required.target:g}; {need}.",
        ylabel="power",
        target=TargetLine(required.target, required.size),
    )
