"""Directions a long table tells itself, in a column beside its scores, as ``convert`` writes them."""

from collections.abc import Iterable
from dataclasses import fields

import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.asked.values import ALL_OTHERS
from riskrank.errors import InputError, option
from riskrank.scores.files.source import Source
from riskrank.scores.table.columns import Roles

COLUMN = "direction"
"""Name of the column; every row of a metric says the same, or nothing."""

_WAYS = {"higher", "lower"}


def told_directions(read: Iterable[tuple[Source, Roles]], options: ReadOptions) -> dict[str, str]:
    """Which way is better, of the metrics whose rows tell it.

    A column of that name that holds anything else is some other column, and has no say.

    Parameters
    ----------
    read : iterable of (Source, Roles)
        All files of the table.
    options : ReadOptions
        What the caller declares needs no agreement of the files.

    Raises
    ------
    InputError
        If a metric has both directions and the caller declares neither.
    """
    found: dict[str, tuple[str, str]] = {}
    for source, roles in read:
        for metric, way in _told(source, roles):
            other, where = found.setdefault(metric, (way, source.label))
            if other != way and not _declared(metric, options):
                raise InputError(
                    f"{source.label}: metric '{metric}' has two directions in the column {COLUMN}",
                    found=f"{way} here, and {other} in {where}",
                    hint=f"say which is right: {option('lower', metric)} or {option('higher', metric)}",
                )
    return {metric: way for metric, (way, _) in found.items()}


def _told(source: Source, roles: Roles) -> list[tuple[str, str]]:
    taken = {getattr(roles, field.name) for field in fields(roles) if field.name != "values"}
    if roles.metric is None or COLUMN not in source.columns or COLUMN in taken:
        return []
    frame = source.load([roles.metric, COLUMN])
    if frame[COLUMN].dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return []
    pairs = frame.select(pl.col(roles.metric).cast(pl.String), pl.col(COLUMN).cast(pl.String)).unique()
    told = [(metric, way) for metric, way in pairs.sort(pl.all()).rows() if metric is not None and way]
    return told if {way for _, way in told} <= _WAYS else []


def _declared(metric: str, options: ReadOptions) -> bool:
    named = {*options.lower, *options.higher}
    return metric in named or ALL_OTHERS in named or options.metrics_file is not None
