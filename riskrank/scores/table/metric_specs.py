"""Specifications of metrics: the TOML file, requested metrics, and directions stated in a table."""

from __future__ import annotations

import errno
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.engine.types import Floats
from riskrank.errors import (
    InputError,
    UsageError,
    did_you_mean,
    interface_text,
    listing,
    option,
    unknown_name,
)
from riskrank.options.inference import TIERS
from riskrank.options.reading import ReadOptions
from riskrank.options.values import WILDCARD
from riskrank.scores.files.guards import parse_toml, unreadable_error
from riskrank.scores.files.source import Source
from riskrank.scores.names.directions import looks_like_an_amount
from riskrank.scores.table.columns import Roles

_CHOICES = {
    "direction": ("higher", "lower"),
    "scale": ("cardinal", "ordinal"),
    "transform": ("none", "neg_log"),
    "tier": TIERS,
}
# Maximum size in bytes. A metric needs a few hundred bytes, and a device file would never end.
_MAX_BYTES = 1 << 19
_KEYS = (*_CHOICES, "weight", "bounds")
# Pattern of a text that is TOML rather than a path.
_TOML = re.compile(rf"\s=\s|(?:^|[.\s{{])(?:{'|'.join(_KEYS)})\s*=")
# Scores above this are probably percentages, if none exceeds 100.
_SURELY_PERCENT = 50
# Names that are valid TOML keys without quotes.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
class MetricSpec:
    """Specification of a metric: how to interpret its scores.

    Parameters
    ----------
    name : str
        Name of the metric in the table.
    direction : {"higher", "lower"}
        Which values are better, after the transform.
    declared : bool
        True if the direction was declared; otherwise "higher" is assumed.
    weight : float, optional
        Weight in a portfolio or norm; None if not given.
    scale : {"cardinal", "ordinal"}
        Whether differences between scores are meaningful.
    transform : {"none", "neg_log"}
        Transform of the raw scores, applied first; ``neg_log`` is −log x.
    bounds : tuple of float, optional
        Smallest and largest possible raw score.
    tier : {"critical", "supporting", "advisory"}, optional
        Tier of a gate's claims about the metric.
    """

    name: str
    direction: str = "higher"
    declared: bool = False
    weight: float | None = None
    scale: str = "cardinal"
    transform: str = "none"
    bounds: tuple[float, float] | None = None
    tier: str | None = None

    @property
    def sign(self) -> float:
        """Factor, 1 or −1, that makes larger values better after the transform."""
        return -1.0 if self.direction == "lower" else 1.0


# Metrics in order; and the metric of each task, if the metrics differ between tasks.
Specs = tuple[MetricSpec, ...]
TaskMetrics = Mapping[str, MetricSpec] | None


def declared_metrics(options: ReadOptions) -> tuple[str, dict[str, MetricSpec]]:
    """Return the metrics that the user declared, by name, and where they were declared.

    The origin is a text for messages: the metrics file or, in the Python API, the argument `metrics`.

    Raises
    ------
    InputError
        See :func:`read_metrics_file`.
    """
    if options.metrics:
        origin = option("metrics")
        return origin, {name: parse_spec(origin, name, table) for name, table in options.metrics.items()}
    if options.metrics_file:
        return options.metrics_file, read_metrics_file(options.metrics_file)
    return "", {}


def is_inline_toml(text: str | Path) -> bool:
    """Return True if a metrics file is given as TOML text instead of a path."""
    return _TOML.search(str(text)) is not None


def read_metrics_file(path: str | Path) -> dict[str, MetricSpec]:
    """Read a TOML file with one table per metric.

    Parameters
    ----------
    path : str or Path
        The file, or its lines. The keys of a table, all optional, are ``direction``, ``weight``, ``scale``,
        ``transform``, ``bounds`` and ``tier``.

    Returns
    -------
    dict of str to MetricSpec

    Raises
    ------
    InputError
        If the file cannot be read, or contains an unknown key, a wrong type or an invalid value.
    """
    try:
        document = parse_toml(str(path).encode() if is_inline_toml(path) else _read_content(path))
    except FileNotFoundError:
        hint = f"check the path given to {option('metrics_file')}"
        raise InputError(f"{path}: no such metrics file", found="nothing at this path", hint=hint) from None
    except OSError as error:
        hint = f"{option('metrics_file')} needs a readable TOML file"
        raise unreadable_error(f"{path}: the metrics file", error, hint) from None
    except ValueError as error:
        write = 'write one table per metric: [latency], then direction = "lower"'
        hint = f'{write}; quote names with dots or spaces: ["top 1"]'
        raise InputError(f"{path}: the metrics file is not valid TOML", found=str(error), hint=hint) from None
    return {name: parse_spec(str(path), name, table) for name, table in document.items()}


def _read_content(path: str | Path) -> bytes:
    """Read a metrics file, or raise OSError if it is too large."""
    with Path(path).open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise OSError(errno.EFBIG, f"more than {_MAX_BYTES:,} bytes")
    return content


def parse_spec(path: str, name: str, table: object) -> MetricSpec:
    """Return the specification of a metric that a TOML table describes.

    Parameters
    ----------
    path : str
        Name of the file in messages.
    name : str
        Name of the metric.
    table : object
        Parsed TOML value.

    Raises
    ------
    InputError
        If the value is not a table, or a key or its value is invalid.
    """
    if not isinstance(table, dict):
        hint = f'write [{name}] on its own line and the keys below: direction = "lower"'
        raise InputError(f"{path}: '{name}' is not a table", found=f"{name} = {table!r}", hint=hint)
    for key, value in table.items():
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS, fallback="remove it")
            if isinstance(value, dict):  # TOML interprets a dot in an unquoted name as a nested table
                hint = f'write [{key}], or ["{name}.{key}"] if that is the name of a metric'
            detail = f"{key} = {value!r}; the keys are {listing(_KEYS)}"
            raise InputError(f"{path}: unknown key '{key}' for metric '{name}'", found=detail, hint=hint)
        if key in _CHOICES and value not in _CHOICES[key]:
            write = f'{key} = "{{}}"'.format
            otherwise = f"write {' or '.join(map(write, _CHOICES[key]))}"
            choices = f"; the choices are {listing(_CHOICES[key])}"
            hint = did_you_mean(str(value), _CHOICES[key], fallback=otherwise, write=write)
        elif key in _NUMBERS and not _NUMBERS[key][0](value):
            choices, hint = "", _NUMBERS[key][1]
        else:
            continue
        problem = f"{path}: invalid {key} for metric '{name}'"
        raise InputError(problem, found=f"{key} = {value!r}{choices}", hint=hint)
    weight, bounds = table.get("weight"), table.get("bounds")
    return MetricSpec(
        name=name,
        direction=table.get("direction", "higher"),
        declared="direction" in table,
        weight=None if weight is None else float(weight),
        scale=table.get("scale", "cardinal"),
        transform=table.get("transform", "none"),
        bounds=None if bounds is None else (float(bounds[0]), float(bounds[1])),
        tier=table.get("tier"),
    )


def _are_numbers(values: object, count: int) -> bool:
    """Return True if a value is a list of `count` finite numbers in strictly ascending order."""
    if not isinstance(values, list) or len(values) != count:
        return False
    if any(isinstance(value, bool) or not isinstance(value, Real) for value in values):
        return False
    try:
        return all(map(math.isfinite, values)) and values == sorted({*values})
    except OverflowError:  # an integer too large for a float
        return False


# Keys with numeric values: check and hint.
_NUMBERS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "weight": (
        lambda value: _are_numbers([value], 1) and value >= 0,
        "a weight must be a finite number of at least 0",
    ),
    "bounds": (
        lambda value: _are_numbers(value, 2),
        "bounds must be two finite numbers, the smaller one first: bounds = [0, 1]",
    ),
}


def toml_key(name: str) -> str:
    """Quote a name as a TOML key, with the escapes of JSON and an escape for DEL."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def bounds_hint(name: str, bounds: str = "[LOWEST, HIGHEST]", file: str | None = None) -> str:
    """Return a hint on how to declare the bounds of a metric, given as TOML text such as "[0, 1]".

    If there is a metrics file, `file` is its path or its text, and the hint is to add a line to it.
    """
    if file is not None:
        place = "in the given lines" if is_inline_toml(file) else f"in {file}"
        return f"the line {bounds_line(name, bounds)} {place} declares the range"
    return interface_text(
        f"{option('metrics_file', bounds_line(name, bounds))} declares the range",
        f'metrics={{{json.dumps(name, ensure_ascii=False)}: {{"bounds": {bounds}}}}} declares the range',
    )


def bounds_line(name: str, bounds: str) -> str:
    """Return the TOML line that declares the bounds of a metric, given as TOML text such as "[0, 1]"."""
    return f"{name if _BARE_KEY.fullmatch(name) else toml_key(name)}.bounds = {bounds}"


def likely_bounds_line(name: str, scores: Floats) -> str:
    """Return the TOML line that declares the likely bounds of a metric.

    Return an empty string unless the scores appear to be fractions or percentages.
    """
    if not scores.size or scores.min() < 0 or looks_like_an_amount(name):
        return ""
    top = 1 if scores.max() <= 1 else 100 if _SURELY_PERCENT < scores.max() <= 100 else 0
    return bounds_line(name, f"[0, {top}]") if top else ""


def requested_metrics(
    requested: Sequence[str], available: Sequence[str], tasks: Sequence[str], *, parameter: str = "metric"
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Split requested metrics into those for all tasks and those for one task (``TASK=NAME``).

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
    task_metrics : dict of str to str
        Metrics for single tasks, by task.

    Raises
    ------
    UsageError
        If a metric or task does not exist, or a task is given two metrics.
    """
    plain: list[str] = []
    task_metrics: dict[str, str] = {}
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
        if task_metrics.setdefault(task, name) != name:
            problem = f"{option('metric', text)}: task '{task}' has a metric already"
            detail = f"{option('metric', f'{task}={task_metrics[task]}')} and {option('metric', text)}"
            raise UsageError(problem, found=detail, hint="name one metric per task")
    return tuple(plain), task_metrics


# Column of directions; all rows of a metric agree or are empty.
DIRECTION = "direction"

_DIRECTIONS = {"higher", "lower"}


def read_directions(read: Iterable[tuple[Source, Roles]], options: ReadOptions) -> dict[str, str]:
    """Return the direction of every metric for which some rows declare one.

    A column named ``direction`` is ignored if a cell is neither empty nor "higher" nor "lower".

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
    declared = {*options.lower, *options.higher}
    all_declared = WILDCARD in declared or options.metrics_file is not None
    for source, roles in read:
        for metric, direction in _file_directions(source, roles):
            earlier, label = directions.setdefault(metric, (direction, source.label))
            if earlier != direction and not (all_declared or metric in declared):
                problem = f"{source.label}: metric '{metric}' has two directions in the column {DIRECTION}"
                hint = f"set the direction: {option('lower', metric)} or {option('higher', metric)}"
                raise InputError(problem, found=f"{direction} here, and {earlier} in {label}", hint=hint)
    return {metric: direction for metric, (direction, _) in directions.items()}


def _file_directions(source: Source, roles: Roles) -> list[tuple[str, str]]:
    """Return each metric with the direction that rows of a file declare.

    `roles` holds the columns of the file. The list is empty if the column of directions contains anything
    else.
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
