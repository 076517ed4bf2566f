"""What samples leave open whoever is ahead: they are few, of unequal sizes, or blind to what is rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from riskrank.engine.sampling.design import FEW_SAMPLES, ClusteredScores, weak_sizes
from riskrank.studies.document import FindingEntry
from riskrank.studies.wording import blind_to, rarest_seen


def _entry(kind: str, figures: Mapping[str, float], sentence: str) -> FindingEntry:
    return FindingEntry(kind, [], None, figures, None, f"{sentence[0].upper()}{sentence[1:]}.")


def size_findings(scores: ClusteredScores, *, tested: bool = True) -> list[FindingEntry]:
    """That samples are few, or worth fewer equal ones (method §4): what warnings say of a test."""
    figures = {"units": min(scores.cluster_counts), "worth": scores.effective_size}
    told = weak_sizes(scores) if tested else {}
    return [
        _entry(kind, {**figures, "fewest": FEW_SAMPLES} if kind == "few" else figures, text)
        for kind, text in told.items()
    ]


def blind_finding(worth: int, unit: str = "samples") -> FindingEntry:
    """What so many independent samples cannot see: what happens less than once in n/3."""
    figures = {"worth": worth, "once_in": rarest_seen(worth)}
    return _entry("blind-to", figures, f"{worth:,} independent {unit} are {blind_to(worth)}")


def sample_findings(columns: Sequence[ClusteredScores], *, tested: bool = True) -> list[FindingEntry]:
    """All of it, of the column of scores that has least; nothing of no column."""
    if not columns:
        return []
    least = min(columns, key=lambda scores: scores.effective_size)
    return [*size_findings(least, tested=tested), blind_finding(least.effective_size, least.unit)]
