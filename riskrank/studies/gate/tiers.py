"""Which tier each claim is in, by what was asked and what the metrics file says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from riskrank.asked.tiers import ADVISORY, CRITICAL, tiers_by_name
from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.studies.gate.claim import GateClaim
from riskrank.studies.gate.options import ClaimSettings


def in_tiers(
    claims: Sequence[GateClaim], metrics: Sequence[MetricSpec], settings: ClaimSettings
) -> list[GateClaim]:
    """Claims with their tiers; as they are where nobody speaks of tiers.

    Raises
    ------
    UsageError
        If a tier names no claim, or nothing is left that could fail.
    """
    asked = tiers_by_name(settings.tier)
    told = {metric.name: metric.tier for metric in metrics if metric.tier is not None}
    names = [_names(claim) for claim in claims]
    if not asked and not any(told.get(claim.column.name) for claim in claims):
        return [*claims]
    known = list(dict.fromkeys(name for of_claim in names for name in of_claim))
    for name, tier in asked.items():
        if name not in known:
            raise UsageError(
                f"{option('tier', f'{tier}={name}')} names no claim",
                found=f"claims are on {listing(dict.fromkeys(of_claim[-1] for of_claim in names))}",
                hint=did_you_mean(name, known, otherwise="leave it out, or claim it"),
            )
    found = []
    for claim, of_claim in zip(claims, names, strict=True):
        closest = next((asked[name] for name in of_claim if name in asked), told.get(claim.column.name))
        found.append(replace(claim, tier=closest or CRITICAL))
    if all(claim.tier == ADVISORY for claim in found):
        raise UsageError(
            "a gate of advisory claims alone passes whatever is found",
            found=f"{len(found)} claims, all advisory",
            hint=f"let one be critical: {option('tier', f'critical={names[0][-1]}')}",
        )
    return found


def _names(claim: GateClaim) -> tuple[str, str, str]:
    """What a tier may call a claim, the closest first."""
    return f"{claim.statistic}:{claim.column.name}", claim.statistic, claim.column.name
