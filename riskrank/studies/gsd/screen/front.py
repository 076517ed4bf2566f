"""The test that a model is in the front, in words."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.engine.gsd.front import FrontTest
from riskrank.shown import numbers
from riskrank.shown.view import Cell, Column, Line, OfRow, Section, by_row

_ANSWERS = {True: ("does not dominate", "green"), False: ("may dominate", "dim")}


def front_view(test: FrontTest, models: Sequence[str], level: float) -> list[Section]:
    """A row a competitor, the one hardest to reject first."""
    rejected = test.rejected(level)
    name = models[test.model]
    tests = sorted(test.tests, key=lambda one: (-one.p_value, one.winner))
    columns: list[OfRow] = [
        (Column("competitor", "left"), lambda one: models[one.winner]),
        (Column("optimum"), lambda one: numbers.score(one.optimum)),
        (Column("p"), lambda one: numbers.p_value(one.p_value)),
        (
            Column(f"at {level:g}/{len(tests)} each", "left"),
            lambda one: Cell(*_ANSWERS[one.winner in rejected]),
        ),
    ]
    verb = "is" if test.in_front(level) else "is not shown to be"
    text = f"{name} {verb} in the front, p = {numbers.p_value(test.p_value)}, the largest of all competitors"
    held = test.survives(level) if any(one.contamination for one in test.tests) else None
    text += f"; holds with {held} arbitrary samples." if held is not None else "."
    title = f"Front test: does a competitor dominate {name}?"
    return [by_row(title, columns, tests, stub=1), Line(text, "Static test:")]
