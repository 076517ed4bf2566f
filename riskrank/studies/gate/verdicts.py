"""What gates answer: words of verdicts, which of them is that of all claims, and what a run ends with."""

import math
from collections.abc import Sequence
from typing import Any

from riskrank.engine.family import Side
from riskrank.errors import GateFailed, GateInconclusive
from riskrank.options.tiers import ADVISORY

PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
VERDICTS = {Side.SHOWN: PASS, Side.REFUTED: FAIL, Side.OPEN: INCONCLUSIVE}
"""What a gate says of the answer to a claim."""


def ends_with(outcome: str, inconclusive: str | None) -> type[GateFailed] | type[GateInconclusive] | None:
    """What a run of this outcome ends with, by what an open one counts as; None where it passes."""
    counted = inconclusive if outcome == INCONCLUSIVE and inconclusive else outcome
    return GateFailed if counted == FAIL else GateInconclusive if counted == INCONCLUSIVE else None


def known(end: float) -> float | None:
    """The end of an interval; None where it is open."""
    return float(end) if math.isfinite(end) else None


def counts(rows: Sequence[Any]) -> dict[str, int]:
    """Claims by answer; advisory ones fail nothing."""
    rows = [row for row in rows if getattr(row, "tier", None) != ADVISORY]
    return {kind: sum(row.verdict == kind for row in rows) for kind in (PASS, FAIL, INCONCLUSIVE)}


def overall(rows: Sequence[Any]) -> str:
    """The answer to all claims together."""
    found = counts(rows)
    return FAIL if found[FAIL] else INCONCLUSIVE if found[INCONCLUSIVE] else PASS
