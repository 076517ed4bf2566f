"""Requested metrics, and directions stated in a long table.

A table states directions in a column alongside its scores, as ``convert`` writes it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import partial

import polars as pl

from riskrank.errors import InputError, UsageError, option, unknown_name
from riskrank.options.reading import ReadOptions
from riskrank.options.values import WILDCARD
from riskrank.scores.files.source import Source
from riskrank.scores.table.columns import Roles


def requested_metrics(
    requested: Sequence[str], available: Sequence[str], tasks: Sequence[str], *, parameter: str = "metric"
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Split requested metrics into those for all tasks and those for single tasks (``TASK=NAME``).

    Parameters
    ----------
    requested : sequence of str
    available : sequence of str
        Metrics of the table.
    tasks : sequence of str
        Tasks of the table.
    parameter : str
        Name of the option in messages.

    Returns
    -------
    metrics : tuple of str
        Metrics for all tasks.
    of_task : dict of str to str
        Metrics for single tasks, by task.

    Raises
    ------
    UsageError
        If a metric or task does not exist, or a task is given two metrics.
    """
    plain: list[str] = []
    of_task: dict[str, str] = {}
    for text in requested:
        if text in available:
            plain.append(text)
            continue
        parts = text.split("=")
        pairs = [("=".join(parts[:at]), "=".join(parts[at:])) for at in range(1, len(parts))]
        task, name = next((pair for pair in pairs if pair[0] in tasks), ("", text))
        if not task and tasks and (misspelt := [pair for pair in pairs if pair[1] in available]):
            unknown, metric = misspelt[0]
            write = partial("{1}={0}".format, metric)
            raise unknown_name(unknown, tasks, kind="task", parameter=parameter, write=write)
        if name not in available:
            prefix = f"{task}=" if task else ""
            raise unknown_name(name, available, kind="metric", parameter=parameter, write=prefix.__add__)
        if of_task.setdefault(task, name) != name:
            raise UsageError(
                f"{option('metric', text)}: task '{task}' has a metric already",
                found=f"{option('metric', f'{task}={of_task[task]}')} and {option('metric', text)}",
                hint="name one metric per task",
            )
    return tuple(plain), of_task


DIRECTION = "direction"
"""Column of directions; all rows of a metric agree or are empty."""

_DIRECTIONS = {"higher", "lower"}


def read_directions(read: Iterable[tuple[Source, Roles]], options: ReadOptions) -> dict[str, str]:
    """Read the direction of every metric for which the rows state one.

    A column named ``direction`` is ignored if it contains any other values.

    Parameters
    ----------
    read : iterable of (Source, Roles)
        All files of the table.
    options : ReadOptions
        Contradictions between files are accepted for metrics whose direction is declared here.

    Returns
    -------
    dict of str to {"higher", "lower"}

    Raises
    ------
    InputError
        If a metric has both directions and the options declare neither.
    """
    directions: dict[str, tuple[str, str]] = {}
    for source, roles in read:
        for metric, direction in _file_directions(source, roles):
            earlier, label = directions.setdefault(metric, (direction, source.label))
            if earlier != direction and not _is_declared(metric, options):
                raise InputError(
                    f"{source.label}: metric '{metric}' has two directions in the column {DIRECTION}",
                    found=f"{direction} here, and {earlier} in {label}",
                    hint=f"set the direction: {option('lower', metric)} or {option('higher', metric)}",
                )
    return {metric: direction for metric, (direction, _) in directions.items()}


def _file_directions(source: Source, roles: Roles) -> list[tuple[str, str]]:
    """Return the metrics and directions stated in a file.

    The list is empty if the column contains anything other than directions.
    """
    assigned = {getattr(roles, field.name) for field in fields(roles) if field.name != "values"}
    if roles.metric is None or DIRECTION not in source.columns or DIRECTION in assigned:
        return []
    frame = source.load([roles.metric, DIRECTION])
    if frame[DIRECTION].dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return []
    pairs = frame.select(pl.col(roles.metric).cast(pl.String), pl.col(DIRECTION).cast(pl.String)).unique()
    stated = [row for row in pairs.sort(pl.all()).rows() if row[0] is not None and row[1]]
    return stated if {direction for _, direction in stated} <= _DIRECTIONS else []


def _is_declared(metric: str, options: ReadOptions) -> bool:
    """Return True if the options declare the direction of a metric."""
    declared = {*options.lower, *options.higher}
    return metric in declared or WILDCARD in declared or options.metrics_file is not None
