"""Files of promptfoo that hold the same run, as ``--output`` of several formats leaves them side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# From the format that holds most to the one that holds least: a table has scores of two decimals.
_PREFERRED = (".json", ".jsonl", ".csv")
# Two decimals of a score, and of what JavaScript and Python round differently.
_ROUNDED = 0.0051


@dataclass(frozen=True, kw_only=True)
class RunFile:
    """One file: its format by its ending, the evaluation it says it is of, and its rows with their models."""

    path: Path
    ending: str
    evaluation: str
    rows: Sequence[tuple[str, Mapping[str, Any]]]


def copies(files: Sequence[RunFile]) -> dict[Path, Path]:
    """Files that hold what another one holds better, with that other one.

    Parameters
    ----------
    files : sequence of RunFile

    Returns
    -------
    dict
        File to leave out → file that is read.
    """
    order = sorted(range(len(files)), key=lambda at: (_PREFERRED.index(files[at].ending), at))
    kept: list[RunFile] = []
    left: dict[Path, Path] = {}
    for file in (files[at] for at in order):
        same = next((other for other in kept if _is_same_run(other, file)), None)
        if same is None:
            kept.append(file)
        else:
            left[file.path] = same.path
    return left


def _is_same_run(one: RunFile, other: RunFile) -> bool:
    """Whether rows have the same identifiers, or the same results where nothing says they are others."""
    first, second = _identifiers(one), _identifiers(other)
    if first and second:
        return not first.isdisjoint(second)
    if one.ending == other.ending and (not one.evaluation or one.evaluation != other.evaluation):
        return False
    return _have_same_results(one, other)


def _identifiers(file: RunFile) -> set[str]:
    """Identifiers of the rows, where each has one of its own."""
    found = {row["id"] for _, row in file.rows if isinstance(row.get("id"), str)}
    return found if len(found) == len(file.rows) else set()


def _have_same_results(one: RunFile, other: RunFile) -> bool:
    first, second = _results(one), _results(other)
    if first.keys() != second.keys():
        return False
    for provider, (passed, scores) in first.items():
        also_passed, also_scores = second[provider]
        if passed != also_passed:
            return False
        # Older tables have no scores. Rounding keeps the order.
        if scores and also_scores:
            if len(scores) != len(also_scores):
                return False
            pairs = zip(sorted(scores), sorted(also_scores), strict=True)
            if any(abs(score - also) > _ROUNDED for score, also in pairs):
                return False
    return True


def _results(file: RunFile) -> dict[str, tuple[list[int], list[float]]]:
    """How many rows of a provider passed and failed, and their scores."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    scores: dict[str, list[float]] = defaultdict(list)
    for provider, row in file.rows:
        success, score = row.get("success"), row.get("score")
        if isinstance(success, bool):
            counts[provider][success] += 1
        if isinstance(score, int | float):
            scores[provider].append(float(score))
    return {provider: (counts[provider], scores[provider]) for provider in {**counts, **scores}}
