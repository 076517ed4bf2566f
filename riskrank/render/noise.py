"""Shares of the variance that sources of noise have, drawn as bars of text."""

from collections.abc import Mapping

from riskrank.engine.evidence.crossed import Components
from riskrank.render.view import Column, OfRow, Table, by_row
from riskrank.studies.wording import percent

_WIDE = 20


def shares(components: Components) -> list[tuple[str, int | None, float]]:
    """Sources with their levels and shares, the largest first; what is less than a hundredth is left out."""
    size = dict(zip(components.names, components.levels, strict=True))
    found = []
    for some, share in sorted(components.shares.items(), key=lambda one: -one[1]):
        name = " × ".join(one for one in components.names if one in some) or "rest"
        if share >= 0.01 or name in size:
            found.append((name, size.get(name), share))
    return found


def shares_table(components: Components, needed: Mapping[str, int | None] | None = None) -> Table:
    """A row a source.

    Parameters
    ----------
    components : Components
    needed : mapping of str to int or None, optional
        Levels that a plan would buy, by source.
    """
    columns: list[OfRow | None] = [
        (Column("source", "left"), lambda row: row[0]),
        (Column("levels"), lambda row: f"{row[1]:,}" if row[1] else ""),
        (Column("of the variance"), lambda row: percent(row[2]) if row[2] else "0 %"),
        (Column("", "left", only="terminal"), lambda row: "█" * round(_WIDE * row[2])),
        (Column("to buy"), lambda row: f"{needed[row[0]]:,}" if needed.get(row[0]) else "")
        if needed
        else None,
    ]
    return by_row("Where the noise comes from", columns, shares(components))
