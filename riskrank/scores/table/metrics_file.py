"""The TOML file that describes metrics: direction, bounds, weight, scale."""

import errno
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from riskrank.engine.types import Floats
from riskrank.errors import InputError, by_door, did_you_mean, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.options.tiers import TIERS
from riskrank.scores.files.limits import unreadable
from riskrank.scores.names.directions import looks_like_an_amount

_CHOICES = {
    "direction": ("higher", "lower"),
    "scale": ("cardinal", "ordinal"),
    "transform": ("none", "neg_log"),
    "tier": TIERS,
}
# A table a metric is some hundred bytes; a device would never end.
_MOST_BYTES = 1 << 19
_KEYS = (*_CHOICES, "weight", "bounds")
# What is no name of a file but lines of TOML.
_TOML = re.compile(rf"\s=\s|(?:^|[.\s{{])(?:{'|'.join(_KEYS)})\s*=")
# Scores that reach so far are probably of percent, if none is beyond 100.
_SURELY_PERCENT = 50
# Names that need no quotes as a key.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
class MetricSpec:
    """One metric and how its scores are to be read.

    Parameters
    ----------
    name : str
        Name of the metric in the table.
    direction : {"higher", "lower"}
        Which values are better, after the transform.
    declared : bool
        Whether anybody said so; otherwise "higher" is an assumption.
    weight : float, optional
        Weight in a portfolio or norm; None if not given.
    scale : {"cardinal", "ordinal"}
        Whether differences of the scores mean something.
    transform : {"none", "neg_log"}
        Applied to the raw scores first; ``neg_log`` is −log x.
    bounds : tuple of float, optional
        Smallest and largest possible raw score.
    tier : {"critical", "supporting", "advisory"}, optional
        Of the claims a gate makes on it.
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
        """Factor that makes larger better, applied after the transform."""
        return -1.0 if self.direction == "lower" else 1.0


# Metrics in their order; and the metric of each task, where tasks have metrics of their own.
Specs = tuple[MetricSpec, ...]
OfTask = Mapping[str, MetricSpec] | None


def described_metrics(options: ReadOptions) -> tuple[str, dict[str, MetricSpec]]:
    """What the metrics file says of metrics, or a caller of Python in its place, and how to call that place.

    Raises
    ------
    InputError
        As of :func:`read_metrics_file`.
    """
    if options.metrics:
        where = option("metrics")
        return where, {name: spec_of(where, name, table) for name, table in options.metrics.items()}
    if options.metrics_file:
        return options.metrics_file, read_metrics_file(options.metrics_file)
    return "", {}


def read_metrics_file(path: str | Path) -> dict[str, MetricSpec]:
    """Read a TOML file that holds a table per metric.

    Parameters
    ----------
    path : str or Path
        The file, or its lines. Keys of a table, all optional: ``direction``, ``weight``, ``scale``,
        ``transform``, ``bounds``, ``tier``.

    Returns
    -------
    dict of str to MetricSpec

    Raises
    ------
    InputError
        If the file cannot be read or holds an unknown key, a wrong type or an impossible value.
    """
    from riskrank.scores.files.bounded import parsed_toml

    try:
        inline = _TOML.search(str(path))
        document = parsed_toml(str(path).encode() if inline else _content(path))
    except FileNotFoundError:
        hint = f"check the path given to {option('metrics_file')}"
        raise InputError(f"{path}: no such metrics file", found="nothing at that path", hint=hint) from None
    except OSError as error:
        hint = f"{option('metrics_file')} wants a readable TOML file"
        raise unreadable(f"{path}: the metrics file", error, hint) from None
    except ValueError as error:
        write = 'write a table per metric: [latency], then direction = "lower"'
        hint = f'{write}; quote a name that has dots or spaces: ["top 1"]'
        raise InputError(f"{path}: the metrics file is not valid TOML", found=str(error), hint=hint) from None
    return {name: spec_of(str(path), name, table) for name, table in document.items()}


def _content(path: str | Path) -> bytes:
    with Path(path).open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OSError(errno.EFBIG, f"more than {_MOST_BYTES:,} bytes")
    return content


def _unknown_key(name: str, key: str, value: object) -> str:
    """What to do about a key that there is not; TOML takes the dot of an unquoted name for a step down."""
    if isinstance(value, dict):
        return f'write [{key}], or ["{name}.{key}"] if the metric is called so'
    return did_you_mean(key, _KEYS, otherwise="remove it")


def spec_of(path: str, name: str, table: object) -> MetricSpec:
    """A metric as a table of keys describes it; messages call the place `path`."""
    if not isinstance(table, dict):
        hint = f'write [{name}] on a line of its own and its keys below it: direction = "lower"'
        raise InputError(f"{path}: '{name}' is not a table", found=f"{name} = {table!r}", hint=hint)
    for key, value in table.items():
        if key not in _KEYS:
            raise InputError(
                f"{path}: unknown key '{key}' for metric '{name}'",
                found=f"{key} = {value!r}; the keys are {listing(_KEYS)}",
                hint=_unknown_key(name, key, value),
            )
        if key in _CHOICES and value not in _CHOICES[key]:
            write = f'{key} = "{{}}"'.format
            otherwise = f"write {' or '.join(map(write, _CHOICES[key]))}"
            known = f"; the choices are {listing(_CHOICES[key])}"
            hint = did_you_mean(str(value), _CHOICES[key], otherwise=otherwise, write=write)
        elif key in _NUMBERS and not _NUMBERS[key][0](value):
            known, hint = "", _NUMBERS[key][1]
        else:
            continue
        raise InputError(
            f"{path}: bad {key} for metric '{name}'", found=f"{key} = {value!r}{known}", hint=hint
        )
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


def _is_weight(value: object) -> bool:
    return _is_number(value) and value >= 0  # type: ignore[operator]


def _is_bounds(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)) and value[0] < value[1]


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floating-point ones
        return False


# Keys whose values are numbers: which there can be, and what to write.
_NUMBERS = {
    "weight": (_is_weight, "a weight is a finite number that is zero or positive"),
    "bounds": (_is_bounds, "bounds are two finite numbers, the smaller first: bounds = [0, 1]"),
}


def toml_key(name: str) -> str:
    """Write any name as a quoted TOML key: JSON's escapes, and DEL, which JSON leaves as it is."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def how_to_bound(name: str, ends: str = "[LOWEST, HIGHEST]") -> str:
    """What declares the bounds of a metric."""
    return by_door(
        f"{option('metrics_file', bounded_by(name, ends))} declares what there can be",
        f'metrics={{{json.dumps(name, ensure_ascii=False)}: {{"bounds": {ends}}}}} declares them',
    )


def bounded_by(name: str, ends: str) -> str:
    """The line of TOML that declares the bounds of a metric."""
    return f"{name if _BARE_KEY.fullmatch(name) else toml_key(name)}.bounds = {ends}"


def likely_bounds(name: str, seen: Floats) -> str:
    """The line that declares shares or percent, where scores look like them; empty where they do not."""
    if not seen.size or seen.min() < 0 or looks_like_an_amount(name):
        return ""
    top = 1 if seen.max() <= 1 else 100 if _SURELY_PERCENT < seen.max() <= 100 else 0
    return bounded_by(name, f"[0, {top}]") if top else ""
