"""Where noise comes from and what to buy, as a table."""

from __future__ import annotations

from riskrank.errors import option
from riskrank.shown.noise import shares_table
from riskrank.shown.view import Line, Section
from riskrank.studies.power.noise import NoisePlanDocument


def view(document: NoisePlanDocument) -> list[Section]:
    """Sources with their shares, the levels there are, and those that would do."""
    return [
        shares_table(document.components, {row.source: row.needed for row in document.rows}),
        Line(document.why),
        Line(f"{option('cost', 'item=1,judge=20')} says what a level of each costs; 1 by default."),
    ]
