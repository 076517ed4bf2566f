"""Logs of Inspect that hold the same evaluation, as converting ``.eval`` to ``.json`` leaves them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One log: the evaluation it says it is of, with model and task, and the scores of its samples."""

    path: Path
    identifier: tuple[str, ...]
    scores: Mapping[tuple[str, str], Any]


def copies(logs: Sequence[Evaluation]) -> dict[Path, Path]:
    """Logs that hold nothing another log of the same evaluation does not hold.

    Parameters
    ----------
    logs : sequence of Evaluation

    Returns
    -------
    dict
        Log to leave out → log that is read, which has the most samples.
    """
    same: dict[tuple[str, ...], list[Evaluation]] = defaultdict(list)
    for log in sorted(logs, key=lambda log: -len(log.scores)):
        if log.identifier and log.identifier[0]:
            same[log.identifier].append(log)
    left: dict[Path, Path] = {}
    for group in same.values():
        for at, log in enumerate(group):
            kept = next(
                (other for other in group[:at] if other.path not in left and _holds(other, log)), None
            )
            if kept is not None:
                left[log.path] = kept.path
    return left


def _holds(one: Evaluation, other: Evaluation) -> bool:
    """Whether a log has every sample of another one, with the same scores; NaN is the same as NaN."""
    return all(
        key in one.scores
        and json.dumps(one.scores[key], sort_keys=True) == json.dumps(scores, sort_keys=True)
        for key, scores in other.scores.items()
    )
