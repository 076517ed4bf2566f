"""When a gate that may be looked at again stops, in words."""

from __future__ import annotations

from riskrank.errors import option
from riskrank.shown.numbers import power_share
from riskrank.shown.view import Column, Line, Section, Table
from riskrank.studies.power.anytime import AnytimePowerDocument


def view(document: AnytimePowerDocument) -> list[Section]:
    """Shares of runs with an answer by size, and what was simulated."""
    rows = document.rows
    fails = any(row.failed for row in rows)
    columns = [Column("samples"), Column("passed"), *([Column("failed")] if fails else [])]
    cells = tuple(
        (f"{row.size:,}", power_share(row.passed), *([power_share(row.failed)] if fails else []))
        for row in rows
    )
    stops, first = document.stops, rows[0]
    claim = f"not worse than {first.old} by {first.margin:,g}" if first.margin else f"better than {first.old}"
    found = stops.by_share(document.target)
    share = f"{100 * document.target:g} %"
    by = f"{share} of runs have an answer by {found or 0:,} samples."
    if found is None:
        by = f"Fewer than {share} of runs have an answer by {stops.limit:,} samples."
    truth = "the distributions are taken as given and independent"
    if document.metric is not None:
        truth = "the pilot is taken as the truth: what it overstates looks easier to find than it is"
    return [
        Table(f"{first.new} {claim}: runs with an answer", tuple(columns), cells),
        Line(by),
        Line(
            f"{stops.passed.size:,} runs, looked at every {document.every:,} samples up to {stops.limit:,} "
            f"({option('every')}, {option('limit')}); {truth}."
        ),
    ]
