"""Columns that divide the samples of a table into groups large enough to be ranked on their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import polars as pl

from riskrank.scores.files.source import Source
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.guesses import typed

# Files with the roles of their columns, as reading found them.
Read = Sequence[tuple[Source, Roles]]

# More groups are no overview any more, and smaller ones are ranked without tests.
_MOST_GROUPS = 20
_FEWEST_SAMPLES = 10
# A look at further columns of larger tables would take as long as reading them.
_MOST_ROWS = 5_000_000
_MOST_COLUMNS = 20
# Rows that settle of most columns that they are none, so that a column of responses is not read for this.
_LOOK = 1000


def dividing_columns(read: Read, rows: int) -> tuple[str, ...]:
    """Columns without a role whose values belong to samples, each to enough of them, in the file's order.

    Parameters
    ----------
    read : sequence of (Source, Roles)
        All files of the table.
    rows : int
        Their rows together; large tables are not looked at.
    """
    if not read or rows > _MOST_ROWS or any(roles.sample is None for _, roles in read):
        return ()
    spare = set[str].intersection(*(_spare(*one) for one in read))
    named = [name for name in read[0][0].columns if name in spare]
    return tuple(name for name in named[:_MOST_COLUMNS] if _divides(read, name))


def _spare(source: Source, roles: Roles) -> set[str]:
    """Columns that have a name and no role."""
    taken = {getattr(roles, field.name) for field in fields(roles) if field.name != "values"}
    return {name for name in source.columns if name} - taken - set(roles.values)


def _divides(read: Read, name: str) -> bool:
    parts = []
    for source, roles in read:
        assert roles.sample is not None
        scan = source.scan([name])
        if scan is not None and _is_no_division(scan.head(_LOOK).collect()[name]):
            return False
        frame = source.load([roles.sample, name])
        if _is_no_division(frame[name]):
            return False
        parts.append(frame.select(sample=pl.col(roles.sample).cast(pl.String), group=name).unique())
    pairs = pl.concat(parts, how="vertical_relaxed").unique()
    if pairs["group"].null_count() or typed(pairs["group"]).dtype.is_float():
        return False
    sizes = pairs["group"].value_counts()["count"]
    one_each = pairs["sample"].n_unique() == pairs.height
    return one_each and 2 <= sizes.len() <= _MOST_GROUPS and int(sizes.min()) >= _FEWEST_SAMPLES  # type: ignore[arg-type]


def _is_no_division(column: pl.Series) -> bool:
    return column.dtype.is_nested() or column.n_unique() > _MOST_GROUPS
