"""Pictures of power ([RAB] Fig. 6 and 7)."""

from collections.abc import Sequence
from functools import partial

from riskrank.engine.power.study import PowerStudy
from riskrank.shown.figures.error_bars import ErrorBars, TargetLine, draw_error_bars
from riskrank.shown.figures.picture import Picture
from riskrank.shown.figures.style import Plot
from riskrank.studies.power.study import PowerDocument


def pictures(document: PowerDocument) -> list[Picture]:
    """Power over sizes."""
    models = document.provenance.models
    caption = "Share of drawn tables in which each claim is significant, by the number of samples."
    return [Picture("curves", caption, partial(_draw, document.study, models))]


def power_curves(study: PowerStudy) -> ErrorBars:
    """Power of every claim, and of all of them together where there are several; the most powerful first."""
    curve, order = study.curve, study.curve.easiest_first.tolist()
    order = [len(order), *order] if len(order) > 1 else order
    values, errors = curve.power.T[: len(order)], curve.standard_error.T[: len(order)]
    return ErrorBars(curve.sizes, values, errors, tuple(order))


def _draw(study: PowerStudy, models: Sequence[str]) -> Plot:
    found = power_curves(study)
    names = [f"{models[i]} over {models[j]}" for i, j in study.plan.pairs]
    names += ["all together"] if len(found.values) > len(names) else []
    need = "no size tried reaches it" if study.size is None else f"{study.size:,} samples reach it"
    return draw_error_bars(
        found,
        names,
        "Power by the number of samples",
        f"Bars: error of the shares of {study.curve.repeats:,} drawn tables a size. Dashed: power "
        f"{study.target:g}; {need}.",
        ylabel="power",
        target=TargetLine(study.target, study.size),
    )
