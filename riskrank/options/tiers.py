"""Tiers of claims: critical, supporting (tested only if the critical claims pass), advisory (cannot fail)."""

from collections.abc import Sequence

from riskrank.errors import UsageError, did_you_mean, listing, option

CRITICAL, SUPPORTING, ADVISORY = "critical", "supporting", "advisory"
TIERS = (CRITICAL, SUPPORTING, ADVISORY)


def tiers_by_name(texts: Sequence[str]) -> dict[str, str]:
    """Parse texts such as ``critical=accuracy,supporting=cost,latency`` into tiers by claim name.

    Raises
    ------
    UsageError
        If a tier is unknown, or a claim is in two tiers.
    """
    tiers: dict[str, str] = {}
    tier = ""
    for part in (part.strip() for text in texts for part in text.split(",")):
        head, equals, name = part.partition("=")
        if equals and head in TIERS:
            tier = head
        elif equals or not tier:
            near = did_you_mean(head, TIERS, fallback=f"the tiers are {listing(TIERS)}")
            raise UsageError(
                f"{option('tier', part)} needs a valid tier",
                found=head or "nothing",
                hint=f"{near}; write {option('tier', f'critical={name or part}')}",
            )
        else:
            name = part
        if not name or tiers.get(name, tier) != tier:
            raise UsageError(
                f"{option('tier')} assigns {f'two tiers to {name!r}' if name else f'{tier} to no claim'}",
                found=f"{tiers[name]} and {tier}" if name else part,
                hint=f"name each claim once: {option('tier', f'{tier}=METRIC')}",
            )
        tiers[name] = tier
    return tiers
