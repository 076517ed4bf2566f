"""Shares of the variance that sources of noise have, drawn as bars of text."""

from collections.abc import Mapping

from riskrank.engine.evidence.crossed import Components
from riskrank.shown.view import Column, Table
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
    rows = []
    for name, size, share in shares(components):
        bought = needed.get(name) if needed else None
        row = [
            name,
            f"{size:,}" if size else "",
            percent(share) if share else "0 %",
            "█" * round(_WIDE * share),
        ]
        rows.append((*row, "" if bought is None else f"{bought:,}") if needed else tuple(row))
    drawn = Column("", "left", only="terminal")
    columns = (Column("source", "left"), Column("levels"), Column("of the variance"), drawn)
    return Table(
        "Where the noise comes from", (*columns, *([Column("to buy")] if needed else [])), tuple(rows)
    )
