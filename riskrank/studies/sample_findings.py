"""What samples leave open whoever is ahead: they are few, of unequal sizes, or blind to what is rare."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.engine.sampling.design import FEW_SAMPLES, ClusteredScores, weak_sizes
from riskrank.studies.findings import Finding, Said
from riskrank.studies.wording import rarest_seen, unseen

LIMITS = ("few", "worth", "blind-to")
"""What hangs on the sizes of samples alone."""


def warned(limits: Sequence[Said]) -> list[str]:
    """What to warn of: what captions do not say."""
    return [f"{text[0].lower()}{text[1:-1]}" for one, text in limits if one.kind != "blind-to"]


def size_findings(scores: ClusteredScores, *, tested: bool = True) -> list[Said]:
    """That samples are few, or worth fewer equal ones (method §4): what warnings say of a test."""
    figures = {"units": min(scores.cluster_counts), "worth": scores.effective_size}
    fewest = {"few": {"fewest": FEW_SAMPLES}}
    return [
        (Finding(kind=kind, figures=figures | fewest.get(kind, {})), f"{text[0].upper()}{text[1:]}.")
        for kind, text in (weak_sizes(scores) if tested else {}).items()
    ]


def blind(worth: int) -> Finding:
    """That so many independent samples cannot see what happens less than once in n/3."""
    return Finding(kind="blind-to", figures={"worth": worth, "once_in": rarest_seen(worth)})


def blind_limit(worth: int, unit: str = "samples") -> Said:
    """The same with its sentence."""
    return blind(worth), unseen(worth, unit)


def sample_findings(columns: Sequence[ClusteredScores], *, tested: bool = True, each: str = "") -> list[Said]:
    """All of it, of the column of scores that has least; nothing of no column. `each` says how they count."""
    if not columns:
        return []
    least = min(columns, key=lambda scores: scores.effective_size)
    return [*size_findings(least, tested=tested), blind_limit(least.effective_size, least.unit + each)]
