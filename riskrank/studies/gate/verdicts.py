"""Verdicts of gates: their summary over claims, and the corresponding errors."""

import math
from collections.abc import Sequence
from typing import Any

from riskrank.engine.family import Answer
from riskrank.errors import GateFailed, GateInconclusive
from riskrank.options.inference import ADVISORY

PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
# Verdict for each side of a test.
VERDICTS = {Answer.SIGNIFICANT: PASS, Answer.CONTRADICTED: FAIL, Answer.UNDECIDED: INCONCLUSIVE}


def error_type(outcome: str, inconclusive: str | None) -> type[GateFailed] | type[GateInconclusive] | None:
    """Return the error class for an outcome, or None for a pass.

    Parameters
    ----------
    outcome : {"pass", "fail", "inconclusive"}
    inconclusive : {"pass", "fail"} or None
        Outcome that replaces "inconclusive", if any.
    """
    verdict = inconclusive if outcome == INCONCLUSIVE and inconclusive else outcome
    return GateFailed if verdict == FAIL else GateInconclusive if verdict == INCONCLUSIVE else None


def finite_or_none(bound: float) -> float | None:
    """Return a limit of an interval, or None if it is infinite."""
    return float(bound) if math.isfinite(bound) else None


def count_verdicts(rows: Sequence[Any]) -> dict[str, int]:
    """Count the claims by verdict, excluding advisory claims."""
    rows = [row for row in rows if getattr(row, "tier", None) != ADVISORY]
    return {kind: sum(row.verdict == kind for row in rows) for kind in (PASS, FAIL, INCONCLUSIVE)}


def joint_verdict(rows: Sequence[Any]) -> str:
    """Return "fail" if any claim fails, or else "inconclusive" if any is inconclusive, or else "pass"."""
    verdicts = count_verdicts(rows)
    return FAIL if verdicts[FAIL] else INCONCLUSIVE if verdicts[INCONCLUSIVE] else PASS


def result_kind(verdict: str, inconclusive: str | None) -> str:
    """Return the JUnit result for a verdict: "failure", "error" or "skipped", or an empty string for a pass.

    Parameters
    ----------
    verdict : str
    inconclusive : {"pass", "fail"} or None
        Treatment of an inconclusive verdict; None makes it an error.
    """
    if verdict == FAIL:
        return "failure"
    if verdict == INCONCLUSIVE:
        return {"pass": "skipped", "fail": "failure"}.get(inconclusive or "", "error")
    return ""
