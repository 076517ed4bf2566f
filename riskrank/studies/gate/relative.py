"""Margins that are a share of the old mean: a claim on new − times · old, sample by sample (method §17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.asked.baseline import Margin, Percent
from riskrank.engine.evidence.series import mean_in_order
from riskrank.errors import UsageError, option
from riskrank.studies.gate.claim import BETTER, GateClaim
from riskrank.studies.gate.evidence import comparison_of
from riskrank.studies.gate.margins import refuse_wide
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.settings import family_of


def with_margin(
    claim: GateClaim, margin: Margin, settings: ClaimSettings, models: Sequence[str]
) -> GateClaim:
    """A claim with its margin, of which a share becomes one of the old mean.

    Raises
    ------
    UsageError
        If a share of the old mean says nothing there, or that mean is not shown to be positive.
    """
    if claim.dominance is not None:
        return claim
    if not isinstance(margin, Percent):
        return replace(claim, margin=margin)
    if claim.column.costs is not None:  # its margins are shares already
        return replace(claim, margin=margin.share)
    _refuse(claim, margin, settings)
    mean, p = _old_mean(claim)
    level = family_of(settings).level(1) / 2
    if p > level:
        raise UsageError(
            f"{_given(claim, margin)} is a share of the mean of {models[claim.old]}, which is not shown to "
            "be above 0",
            found=f"a mean of {mean:.3g}{claim.where}, p = {p:.2g} where {level:.2g} is asked",
            hint=f"give the margin in the units of the metric, {option('margin', f'{claim.column.name}=…')}",
        )
    refuse_wide(claim.column.name, margin.share * mean, claim.column.limits)
    return replace(claim, margin=margin.share * mean, share=margin.share)


def _given(claim: GateClaim, margin: Percent) -> str:
    return option("margin", f"{claim.column.name}={margin}")


def _refuse(claim: GateClaim, margin: Percent, settings: ClaimSettings) -> None:
    """Refuse what is no mean of scores in their own units, and a claim that nothing could refute or show."""
    column, lower = claim.column, claim.column.units.sign < 0
    for stands, found in (
        (claim.level is not None, option("on", claim.statistic)),
        (settings.anytime, option("anytime", True)),
        (column.scores.judged, option("judge")),
        (settings.task_scale is not None, option("task_scale")),
        (column.means is not None, "means of folds"),
        (column.units.label != column.name, f"logarithms of {column.name}"),
        (margin.share >= 1 and lower == (claim.kind == BETTER), "all of the old mean, or more"),
    ):
        if not stands:
            continue
        raise UsageError(
            f"{_given(claim, margin)} is a share of the old mean, of scores in their own units",
            found=found,
            hint=f"give the margin in the units of what is compared, {option('margin', f'{column.name}=…')}",
        )


def _old_mean(claim: GateClaim) -> tuple[float, float]:
    """Mean of the old model in the units of the file, and the one-sided p-value of "it is not above 0"."""
    sign, both = claim.column.units.sign, comparison_of(claim)
    old = replace(both.old, values=sign * both.old.values)
    found = replace(
        both, new=old, old=replace(old, values=np.zeros_like(old.values)), paired=True
    ).mean_difference
    p = max(found.johnson_p_value(), found.student_p_value())
    if claim.column.in_order is not None:
        p = max(p, float(mean_in_order(sign * claim.column.in_order[claim.old]).p_above()))
    return found.estimate, p
