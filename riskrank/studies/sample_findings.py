"""What samples leave open whoever is ahead: they are few, of unequal sizes, or blind to what is rare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from riskrank.engine.sampling.design import FEW_SAMPLES, ClusteredScores, weak_sizes
from riskrank.errors import listing
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.findings import Finding, Said
from riskrank.studies.wording import rarest_seen, unseen, unseen_share

LIMITS = ("few", "worth", "blind-to")
"""What hangs on the sizes of samples alone."""


def warned(limits: Sequence[Said]) -> list[str]:
    """What to warn of: what captions do not say."""
    return [f"{text[0].lower()}{text[1:-1]}" for one, text in limits if one.kind != "blind-to"]


def size_findings(scores: ClusteredScores, worth: int, *, tested: bool = True) -> list[Said]:
    """That samples are few, or worth fewer equal ones (method §4): what warnings say of a test."""
    figures = {"units": min(scores.cluster_counts), "worth": worth}
    fewest = {"few": {"fewest": FEW_SAMPLES}}
    return [
        (Finding(kind, figures=figures | fewest.get(kind, {})), f"{text[0].upper()}{text[1:]}.")
        for kind, text in (weak_sizes(scores, worth) if tested else {}).items()
    ]


def blind(worth: int, unit: str = "samples") -> Finding:
    """What so many independent samples, or tasks of a kind, cannot see: less than once in n/3 cases."""
    share = unseen_share(worth) if unit == "tasks" else None
    figures = {"worth": worth, "once_in": rarest_seen(worth) if share is None else 1 / share}
    return Finding("blind-to", figures=figures if share is None else figures | {"share": share})


def blind_limit(worth: int, unit: str = "samples") -> Said:
    """The same with its sentence."""
    return blind(worth, unit), unseen(worth, unit)


def sample_findings(columns: Sequence[ClusteredScores], *, tested: bool = True, each: str = "") -> list[Said]:
    """All of it, of the column of scores that has least; nothing of no column. `each` says how they count."""
    if not columns:
        return []
    least = min(columns, key=lambda scores: scores.effective_size)
    worth = least.effective_size
    return [*size_findings(least, worth, tested=tested), blind_limit(worth, least.unit + each)]


def limits_of_rows(table: ScoreTable, *, tested: bool) -> list[Said]:
    """The same of the samples of a table, whatever their scores are."""
    samples = table.row_samples
    sizes = ClusteredScores.build(table.clusters, table.clusters, samples=samples, paired=False)
    return sample_findings([sizes], tested=tested)


def of_group(group: str | None, sentence: str) -> str:
    """A sentence on one group of samples; as it is of all together."""
    return sentence if group is None else f"Group {group}: {sentence[0].lower()}{sentence[1:]}"


def warnings_of_groups(warnings: Mapping[str | None, Iterable[str]]) -> list[str]:
    """Warnings of all samples, which have no name, then those that only some groups give rise to."""
    everywhere = dict.fromkeys(warnings.get(None, ()))
    told: dict[str, list[str]] = {}
    for group, lines in warnings.items():
        for line in dict.fromkeys(lines):
            if group is not None and line not in everywhere:
                told.setdefault(line, []).append(group)
    return [*everywhere, *(f"group {listing(where, 5)}: {text}" for text, where in told.items())]
