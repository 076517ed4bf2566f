"""The test that a model is in the front, in words."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.engine.gsd.front import FrontTest
from riskrank.shown import numbers
from riskrank.shown.view import Cell, Column, Line, Section, Table, headed


def front_view(test: FrontTest, models: Sequence[str], level: float) -> list[Section]:
    """A row a competitor, the one hardest to reject first."""
    rejected = test.rejected(level)
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
        *headed("competitor", right=("optimum", "p")),
        Column(f"at {level:g}/{len(test.tests)} each", "left"),
    )
    verb = "is" if test.in_front(level) else "is not shown to be"
    text = f"{name} {verb} in the front, p = {numbers.p_value(test.p_value)}, the largest of all competitors"
    held = test.survives(level) if any(one.contamination for one in test.tests) else None
    text += f"; holds with {held} arbitrary samples." if held is not None else "."
    title = f"Front test: does a competitor dominate {name}?"
    return [Table(title, columns, rows), Line(text, "Static test:")]
