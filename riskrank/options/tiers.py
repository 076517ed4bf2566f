"""Tiers of claims: what must hold, what is asked only then, and what is told and fails nothing."""

from collections.abc import Sequence

from riskrank.errors import UsageError, did_you_mean, listing, option

CRITICAL, SUPPORTING, ADVISORY = "critical", "supporting", "advisory"
TIERS = (CRITICAL, SUPPORTING, ADVISORY)


def tiers_by_name(given: Sequence[str]) -> dict[str, str]:
    """The tier of each claim that is named, of texts such as ``critical=accuracy,supporting=cost,latency``.

    Raises
    ------
    UsageError
        If a tier is unknown, or a claim stands in two.
    """
    found: dict[str, str] = {}
    tier = ""
    for part in (part.strip() for text in given for part in text.split(",")):
        head, equals, name = part.partition("=")
        if equals and head in TIERS:
            tier = head
        elif equals or not tier:
            near = did_you_mean(head, TIERS, otherwise=f"the tiers are {listing(TIERS)}")
            raise UsageError(
                f"{option('tier', part)} names no tier",
                found=head or "nothing",
                hint=f"{near}; write {option('tier', f'critical={name or part}')}",
            )
        else:
            name = part
        if not name or found.get(name, tier) != tier:
            raise UsageError(
                f"{option('tier')} puts {f'{name!r} into two tiers' if name else f'nothing into {tier}'}",
                found=f"{found[name]} and {tier}" if name else part,
                hint=f"name each claim once: {option('tier', f'{tier}=METRIC')}",
            )
        found[name] = tier
    return found
