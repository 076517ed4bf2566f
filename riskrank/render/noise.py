"""Table of variance components: the proportion of variance due to each source of noise."""

from collections.abc import Mapping

from riskrank.engine.evidence.crossed import Components
from riskrank.render.view import Column, RowColumn, Table, build_table
from riskrank.studies.wording import format_percent

_WIDE = 20


def variance_proportions(components: Components) -> list[tuple[str, int | None, float]]:
    """Return (source, number of levels, proportion of variance) per source of noise, largest first.

    Interactions with less than 1 % of the variance are omitted.
    """
    size = dict(zip(components.names, components.levels, strict=True))
    rows = []
    for sources, share in sorted(components.shares.items(), key=lambda item: -item[1]):
        name = " × ".join(item for item in components.names if item in sources) or "rest"
        if share >= 0.01 or name in size:
            rows.append((name, size.get(name), share))
    return rows


def variance_table(components: Components, planned: Mapping[str, int | None] | None = None) -> Table:
    """Return a table of the sources of noise, with their levels and proportions of variance.

    Parameters
    ----------
    components : Components
    planned : mapping of str to int or None, optional
        Number of levels required by a plan, by source.
    """
    columns: list[RowColumn | None] = [
        (Column("source", "left"), lambda row: row[0]),
        (Column("levels"), lambda row: f"{row[1]:,}" if row[1] else ""),
        (Column("share of\nvariance"), lambda row: format_percent(row[2]) if row[2] else "0 %"),
        (Column("", "left", medium="terminal"), lambda row: "█" * round(_WIDE * row[2])),
        (Column("to buy"), lambda row: f"{planned[row[0]]:,}" if planned.get(row[0]) else "")
        if planned
        else None,
    ]
    return build_table("Sources of noise", columns, variance_proportions(components))
