"""Findings on limitations of the samples: small size, unequal clusters, undetectable rare events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from riskrank.engine.sampling.design import FEW_SAMPLES, ClusteredScores, size_warnings
from riskrank.errors import listing
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.findings import Finding, Remark
from riskrank.studies.wording import detection_limit_sentence, rarest_detectable, undetected_share

SIZE_KINDS = ("few", "unequal-clusters", "detection-limit")
"""Kinds of findings that depend only on the numbers of samples."""


def limit_warnings(limits: Sequence[Remark]) -> list[str]:
    """Return the limitations as warnings, except for the detection limit, which captions state."""
    return [f"{text[0].lower()}{text[1:-1]}" for finding, text in limits if finding.kind != "detection-limit"]


def size_findings(scores: ClusteredScores, size: int, *, tested: bool = True) -> list[Remark]:
    """Return findings on few samples, and on an effective size below the number of samples (method §4).

    Parameters
    ----------
    scores : ClusteredScores
    size : int
        Effective sample size.
    tested : bool
        If False, the result is empty.
    """
    figures = {"units": min(scores.cluster_counts), "effective_size": size}
    fewest = {"few": {"fewest": FEW_SAMPLES}}
    return [
        (Finding(kind, figures=figures | fewest.get(kind, {})), f"{text[0].upper()}{text[1:]}.")
        for kind, text in (size_warnings(scores, size) if tested else {}).items()
    ]


def detection_limit(size: int, unit: str = "samples") -> Finding:
    """Return the finding on the rarest event that independent samples or tasks can detect.

    By the rule of three, n samples detect events that occur at least once in n/3 cases.
    """
    share = undetected_share(size) if unit == "tasks" else None
    figures = {"effective_size": size, "once_in": rarest_detectable(size) if share is None else 1 / share}
    return Finding("detection-limit", figures=figures if share is None else figures | {"share": share})


def detection_limit_remark(size: int, unit: str = "samples") -> Remark:
    """Return the remark (finding and sentence) on the rarest event that `size` samples can detect."""
    return detection_limit(size, unit), detection_limit_sentence(size, unit)


def sample_findings(
    columns: Sequence[ClusteredScores], *, tested: bool = True, per: str = ""
) -> list[Remark]:
    """Return all limitations of the score column with the smallest effective size.

    The result is empty without columns.

    Parameters
    ----------
    columns : sequence of ClusteredScores
    tested : bool
        True to include the limitations of significance tests.
    per : str
        Phrase to append to the unit, such as " per group".
    """
    if not columns:
        return []
    least = min(columns, key=lambda scores: scores.min_effective_size)
    size = least.min_effective_size
    return [*size_findings(least, size, tested=tested), detection_limit_remark(size, least.unit_name + per)]


def table_limits(table: ScoreTable, *, tested: bool) -> list[Remark]:
    """Return the limitations of a table's samples that do not depend on the scores."""
    samples = table.row_samples
    sizes = ClusteredScores.build(table.clusters, table.clusters, samples=samples, paired=False)
    return sample_findings([sizes], tested=tested)


def group_sentence(group: str | None, sentence: str) -> str:
    """Add the name of a group to a sentence, or return it unchanged if the group is None (all samples)."""
    return sentence if group is None else f"Group {group}: {sentence[0].lower()}{sentence[1:]}"


def group_warnings(warnings: Mapping[str | None, Iterable[str]]) -> list[str]:
    """Return the warnings on all samples, followed by those on each group with its name.

    Parameters
    ----------
    warnings : mapping of (str or None) to iterable of str
        Warnings by group; None stands for all samples.
    """
    everywhere = dict.fromkeys(warnings.get(None, ()))
    groups: dict[str, list[str]] = {}
    for group, lines in warnings.items():
        for line in dict.fromkeys(lines):
            if group is not None and line not in everywhere:
                groups.setdefault(line, []).append(group)
    return [*everywhere, *(f"group {listing(names, 5)}: {text}" for text, names in groups.items())]
