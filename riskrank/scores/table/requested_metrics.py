"""What options and a long table tell of metrics: which are asked for, and which way is better.

A table tells directions in a column beside its scores, as ``convert`` writes them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import partial

import polars as pl

from riskrank.errors import InputError, UsageError, no_such, option
from riskrank.options.reading import ReadOptions
from riskrank.options.values import ALL_OTHERS
from riskrank.scores.files.source import Source
from riskrank.scores.table.columns import Roles


def metrics_asked(
    asked: Sequence[str], known: Sequence[str], tasks: Sequence[str], *, parameter: str = "metric"
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Metrics that were asked for of all tasks, and by ``TASK=NAME`` of one, by an option of that name.

    Raises
    ------
    UsageError
        If one is not there.
    """
    plain: list[str] = []
    of_task: dict[str, str] = {}
    for text in asked:
        if text in known:
            plain.append(text)
            continue
        parts = text.split("=")
        pairs = [("=".join(parts[:at]), "=".join(parts[at:])) for at in range(1, len(parts))]
        task, name = next((pair for pair in pairs if pair[0] in tasks), ("", text))
        if not task and tasks and (misspelt := [pair for pair in pairs if pair[1] in known]):
            wrong, of = misspelt[0]
            write = partial("{1}={0}".format, of)
            raise no_such(wrong, tasks, kind="task", parameter=parameter, write=write)
        if name not in known:
            before = f"{task}=" if task else ""
            raise no_such(name, known, kind="metric", parameter=parameter, write=before.__add__)
        if of_task.setdefault(task, name) != name:
            raise UsageError(
                f"{option('metric', text)}: task '{task}' has a metric already",
                found=f"{option('metric', f'{task}={of_task[task]}')} and {option('metric', text)}",
                hint="name one metric of a task",
            )
    return tuple(plain), of_task


DIRECTION = "direction"
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
                    f"{source.label}: metric '{metric}' has two directions in the column {DIRECTION}",
                    found=f"{way} here, and {other} in {where}",
                    hint=f"say which is right: {option('lower', metric)} or {option('higher', metric)}",
                )
    return {metric: way for metric, (way, _) in found.items()}


def _told(source: Source, roles: Roles) -> list[tuple[str, str]]:
    taken = {getattr(roles, field.name) for field in fields(roles) if field.name != "values"}
    if roles.metric is None or DIRECTION not in source.columns or DIRECTION in taken:
        return []
    frame = source.load([roles.metric, DIRECTION])
    if frame[DIRECTION].dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return []
    pairs = frame.select(pl.col(roles.metric).cast(pl.String), pl.col(DIRECTION).cast(pl.String)).unique()
    told = [(metric, way) for metric, way in pairs.sort(pl.all()).rows() if metric is not None and way]
    return told if {way for _, way in told} <= _WAYS else []


def _declared(metric: str, options: ReadOptions) -> bool:
    named = {*options.lower, *options.higher}
    return metric in named or ALL_OTHERS in named or options.metrics_file is not None
