"""Table of variance components: the share of the variance that each source of noise has."""

from collections.abc import Mapping

from riskrank.engine.evidence.crossed import Components
from riskrank.render.view import Column, RowColumn, Table, build_table
from riskrank.studies.wording import percent

_WIDE = 20


def variance_shares(components: Components) -> list[tuple[str, int | None, float]]:
    """Return (source, number of levels, share) of all sources of noise, the largest share first.

    Interactions with a share below 1 % are omitted.
    """
    size = dict(zip(components.names, components.levels, strict=True))
    rows = []
    for sources, share in sorted(components.shares.items(), key=lambda item: -item[1]):
        name = " × ".join(item for item in components.names if item in sources) or "rest"
        if share >= 0.01 or name in size:
            rows.append((name, size.get(name), share))
    return rows


def variance_table(components: Components, planned: Mapping[str, int | None] | None = None) -> Table:
    """Return a table of sources of noise with their levels and shares of the variance.

    Parameters
    ----------
    components : Components
    planned : mapping of str to int or None, optional
        Number of levels that a plan needs, by source.
    """
    columns: list[RowColumn | None] = [
        (Column("source", "left"), lambda row: row[0]),
        (Column("levels"), lambda row: f"{row[1]:,}" if row[1] else ""),
        (Column("of the variance"), lambda row: percent(row[2]) if row[2] else "0 %"),
        (Column("", "left", medium="terminal"), lambda row: "█" * round(_WIDE * row[2])),
        (Column("to buy"), lambda row: f"{planned[row[0]]:,}" if planned.get(row[0]) else "")
        if planned
        else None,
    ]
    return build_table("Where the noise comes from", columns, variance_shares(components))
