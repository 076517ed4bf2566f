"""Figures of ``power`` ([RAB] Fig. 6 and 7)."""

from collections.abc import Sequence
from functools import partial

from riskrank.engine.power.study import PowerStudy
from riskrank.render.figures.curves import ErrorBars, draw_error_bars
from riskrank.render.figures.style import Plot
from riskrank.render.view import Picture
from riskrank.studies.power.study import PowerDocument


def pictures(document: PowerDocument) -> list[Picture]:
    """Return a list with a single picture: power by sample size."""
    models = document.provenance.models
    caption = "Share of simulated tables in which each claim is significant, by number of samples."
    return [Picture("curves", caption, partial(_draw, document.study, models))]


def power_curves(study: PowerStudy) -> ErrorBars:
    """Return the power by sample size, with standard errors, for each pair of models, the easiest first.

    For several pairs, the power to show all of them comes first.
    """
    curve, order = study.curve, study.curve.easiest_first.tolist()
    order = [len(order), *order] if len(order) > 1 else order
    values, errors = curve.power.T[: len(order)], curve.standard_error.T[: len(order)]
    return ErrorBars(curve.sizes, values, errors, tuple(order))


def _draw(study: PowerStudy, models: Sequence[str]) -> Plot:
    """Draw the power curves and the target power."""
    curves = power_curves(study)
    names = [f"{models[i]} over {models[j]}" for i, j in study.plan.pairs]
    names += ["all together"] if len(curves.values) > len(names) else []
    need = "no tested size reaches it" if study.size is None else f"{study.size:,} samples reach it"
    title = "Power by number of samples"
    reading = (
        f"Bars: standard error from {study.curve.repeats:,} simulated tables per size. Dashed: power "
        f"{study.target:g}; {need}."
    )
    return draw_error_bars(curves, names, title, reading, ylabel="power", target=(study.target, study.size))
