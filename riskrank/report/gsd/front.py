"""The test that a model is in the front, as an entry of ``meta`` and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from riskrank.engine.gsd.front import FrontTest
from riskrank.engine.gsd.relation import Threshold
from riskrank.report import numbers
from riskrank.report.view import Cell, Column, Line, Section, Table


@dataclass(frozen=True)
class FrontStudy:
    """A front test with the threshold and the level it was done at."""

    threshold: Threshold
    test: FrontTest
    alpha: float


def front_entry(front: FrontStudy, models: Sequence[str]) -> dict[str, Any]:
    """The static test, and the dynamic one competitor by competitor."""
    test, rejected = front.test, front.test.rejected(front.alpha)
    contaminated = any(one.contamination for one in test.tests)
    return {
        "delta": front.threshold.delta if front.threshold.share is None else None,
        "regularization": front.threshold.share,
        "model": models[test.model],
        "in_front": test.in_front(front.alpha),
        "p_value": test.p_value,
        "survives": test.survives(front.alpha) if contaminated else None,
        "competitors": [
            {
                "model": models[one.winner],
                "optimum": one.optimum,
                "p_value": one.p_value,
                "rejected": one.winner in rejected,
                "share_smaller": one.share_smaller,
                "contamination": one.contamination,
                "lps_solved": one.lps_solved,
            }
            for one in test.tests
        ],
    }


def front_view(front: FrontStudy, models: Sequence[str]) -> list[Section]:
    """A row a competitor, the one hardest to reject first."""
    test, rejected = front.test, front.test.rejected(front.alpha)
    name = models[test.model]
    rows = tuple(
        (
            models[one.winner],
            numbers.score(one.optimum),
            numbers.p_value(one.p_value),
            Cell("does not dominate", "green") if one.winner in rejected else Cell("may dominate", "dim"),
        )
        for one in sorted(test.tests, key=lambda one: (-one.p_value, one.winner))
    )
    columns = (
        Column("competitor", "left"),
        Column("optimum"),
        Column("p"),
        Column(f"at {front.alpha:g}/{len(test.tests)} each", "left"),
    )
    verdict = "is" if test.in_front(front.alpha) else "is not shown to be"
    text = (
        f"{name} {verdict} in the front, p = {numbers.p_value(test.p_value)}, the largest of all competitors"
    )
    held = test.survives(front.alpha) if any(one.contamination for one in test.tests) else None
    text += f"; holds with {held} arbitrary samples." if held is not None else "."
    title = f"Front test: does a competitor dominate {name}?"
    return [Table(title, columns, rows), Line(text, "Static test:")]
