"""Performance profiles of several models with their bands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.suites.profile import Profile
from riskrank.shown.figures.key import OTHERS, Key, beside_key, looks
from riskrank.shown.figures.marks import curve_mark, model_mark
from riskrank.shown.figures.style import Plot, drawn
from riskrank.shown.figures.units import Unit
from riskrank.shown.means import score_of
from riskrank.studies.units import Units
from riskrank.studies.wording import percent


@drawn
def draw_profiles(
    found: Profile,
    units: Units,
    names: Sequence[str],
    order: Sequence[int],
    metric: str,
    *,
    confidence: float,
) -> Plot:
    """Draw one curve a model over τ, in the units of the file.

    Parameters
    ----------
    found : Profile
    units : Units
    names : sequence of k str
    order : sequence of int
        Models, the first in colour.
    metric : str
    confidence : float
        Coverage of the bands.
    """
    given = looks(len(names), order)
    key = Key.of(names, order, given)
    better = "above" if units.sign > 0 else "below"
    page, axes, legend = beside_key(
        key,
        f"Share of the scores {better} each level, {score_of(metric)}",
        f"Height over τ: share of scores {better} τ, each task with its weight. A curve above another "
        f"everywhere dominates it in the first order. Band: {percent(confidence)}, at one τ at a time, on "
        "these tasks.",
        method=f"performance profiles of {metric}",
    )
    tau = units.of(found.tau)
    unit = Unit.of(tau)
    x = unit.apply(tau)
    # Before the first value every score is better.
    x = np.concatenate([x[:1], x])
    step = "steps-post" if units.sign > 0 else "steps-pre"
    for model, look in enumerate(given):
        share, low, high = (
            np.concatenate([[1.0], part[model]]) for part in (found.share, found.low, found.high)
        )
        if look is not OTHERS:
            axes.fill_between(
                x, low, high, step="post", color=look.color, alpha=0.14, linewidth=0, gid=model_mark(model)
            )
        axes.plot(x, share, drawstyle=step, **look.line, gid=curve_mark(model))
    axes.set_xlabel(unit.label(f"τ, {metric}"))
    axes.set_ylabel(f"share of scores {better} τ")
    axes.set_ylim(0, 1)
    if units.sign < 0:
        axes.invert_xaxis()
    legend()
    return page.figure
