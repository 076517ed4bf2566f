"""Tails that hold enough of people's scores to correct a judge there (method §12)."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.engine.portfolio.risks import RiskColumn
from riskrank.engine.sampling.design import FEWEST_LABELS, ClusteredScores
from riskrank.errors import InputError, listing, option


def with_labels(columns: Sequence[RiskColumn], scores: ClusteredScores) -> tuple[RiskColumn, ...]:
    """Risks without those of tails that hold too few of people's scores.

    Raises
    ------
    InputError
        If nothing is left.
    """
    kept = tuple(one for one in columns if not _narrow(one, scores))
    if kept or not scores.judged:
        return kept
    raise InputError(
        f"tails of {scores.labelled:,} human scores hold too few of them",
        found=f"fewer than {FEWEST_LABELS} at levels {_levels(columns, scores)}",
        hint=f"give {option('level', f'{FEWEST_LABELS / scores.labelled:.2g}')} or more, or have people "
        "score more samples",
    )


def tails_left_out(columns: Sequence[RiskColumn], scores: ClusteredScores) -> list[str]:
    """Say which tails that were."""
    if not any(_narrow(one, scores) for one in columns):
        return []
    few = f"fewer than {FEWEST_LABELS} of {scores.labelled:,} human scores lie in such a tail"
    return [f"left out level {_levels(columns, scores)}: {few}"]


def _levels(columns: Sequence[RiskColumn], scores: ClusteredScores) -> str:
    gone = sorted({one.level or 0.0 for one in columns if _narrow(one, scores)})
    return listing(f"{level:g}" for level in gone)


def _narrow(column: RiskColumn, scores: ClusteredScores) -> bool:
    labelled = scores.labelled
    return bool(labelled and column.level and column.level * labelled < FEWEST_LABELS - 1e-9)
