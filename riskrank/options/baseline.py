"""Reading options for gates, and margins by metric."""

import math
import re
from dataclasses import dataclass
from typing import Any

from riskrank.errors import UsageError, option
from riskrank.options.option import param
from riskrank.options.reading import ReadOptions
from riskrank.options.values import name_value_pairs, number_or_nan

# Name of the baseline's model in a gate, independent of its original name.
BASELINE = "baseline"


@dataclass(frozen=True, kw_only=True)
class GateReading(ReadOptions):
    """Reading options for commands that decide claims; failed samples count as missing scores.

    Attributes
    ----------
    grows : bool
        True if samples are still being added, so that missing scores are not an error.
    compared : tuple of str
        Model pairs in the claims, as ``new:old``. They help to identify the column of model names.
    must_pass : str or None
        Samples that a new model must not lose: ``COLUMN=VALUE``, or a file with one sample per line.
    """

    missing: str = param(
        "What to do about missing scores: stop with an error, drop the sample, use the worst possible score, "
        "use the score of MODEL, or decide only claims that hold whatever the missing scores are (bounds). "
        "auto: bounds, but samples that were added or replaced are excluded.",
        "auto",
        choices=("auto", "error", "drop", "worst", "bounds"),
        internal_choices=("keep",),
        accepts_model=True,
    )
    grows: bool = False
    compared: tuple[str, ...] = ()
    must_pass: str | None = None


class Percent(str):
    """Margin relative to the old mean, such as ``2%``.

    It is not a number, because a number is a margin in the units of the metric.
    """

    __slots__ = ()

    @property
    def share(self) -> float:
        """Margin as a fraction: 0.02 for ``2%``."""
        return float(self[:-1]) / 100


Margin = float | Percent


def parse_margins(values: Any) -> tuple[tuple[str, Margin], ...]:
    """Return parsed margins as pairs of metric and margin.

    The name "" stands for all other metrics. A margin such as ``2%`` is relative to the old mean.

    Raises
    ------
    UsageError
        If a margin is not a number, is negative, or is given twice.
    """
    result: dict[str, Margin] = {}
    for metric, value in name_value_pairs(values):
        number = number_or_nan(value)
        margin: Margin = number
        if isinstance(value, str) and value.endswith("%"):
            number = number_or_nan(value[:-1])
            margin = Percent(f"{number:.12g}%")
        if not (math.isfinite(number) and number >= 0):
            example = option("margin", f"{metric or 'METRIC'}=0.02")
            single = "" if metric else f", or {option('margin', '0.02')} for one metric"
            hint = f"write it in the units of the metric, as in {example}{single}"
            hint += f"; {option('margin', '2%')} is relative to the old mean"
            raise UsageError(f"{option('margin')} must be a finite number ≥ 0", found=str(value), hint=hint)
        _set_once(result, metric, margin, parameter="margin")
    return tuple(result.items())


def parse_thresholds(parameter: str, values: Any) -> tuple[tuple[str, float], ...]:
    """Return pairs of a metric and the threshold for its statistic; "" stands for all other metrics.

    Raises
    ------
    UsageError
        If a value is not a finite number.
    """
    result: dict[str, float] = {}
    for metric, value in name_value_pairs(values):
        number = number_or_nan(value)
        if not math.isfinite(number):
            # Keep the number before a unit; percentages become shares.
            match = re.match(r"[-+]?[0-9]+(?:\.[0-9]+)?", str(value))
            example = float(match[0]) / (100 if str(value).endswith("%") else 1) if match else 0.8
            problem = f"{option(parameter)} needs a number in the units of the metric"
            hint = f"write {option(parameter, f'{metric}={example:g}' if metric else f'{example:g}')}"
            raise UsageError(problem, found=str(value), hint=hint)
        _set_once(result, metric, number, parameter=parameter)
    return tuple(result.items())


def _set_once(result: dict[str, Any], metric: str, value: object, *, parameter: str) -> None:
    """Set the value of a metric, or raise a UsageError if it is set already."""
    if metric in result:
        problem = f"{option(parameter)} is given twice" + (f" for {metric}" if metric else "")
        hint = f"give one value per metric: {option(parameter, 'METRIC=VALUE')}"
        raise UsageError(problem, found=f"{result[metric]} and {value}", hint=hint)
    result[metric] = value
