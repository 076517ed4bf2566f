"""A baseline: blessed scores that a gate compares with, how they are read, and margins by metric."""

import math
from dataclasses import dataclass, replace
from typing import Any

from riskrank.errors import UsageError, option
from riskrank.options.option import ask
from riskrank.options.reading import ReadOptions
from riskrank.options.values import number_or_nan, numbers_by_name

BASELINE = "baseline"
"""What the model of a baseline is called, whatever its own name is."""


@dataclass(frozen=True, kw_only=True)
class GateReading(ReadOptions):
    """How score files are read where claims are decided: what failed is no sample that was taken out.

    Attributes
    ----------
    grows : bool
        Samples still come in: those that are not there yet are no gap.
    compared : tuple of str
        Pairs of models that claims are about, which tell the column that names them: ``new:old``.
    """

    missing: str = ask(
        "What to do about missing scores: refuse, leave out their samples, count each as the worst there can "
        "be, or decide only what holds whatever they are, within bounds. auto: the last, of samples that all "
        "models have.",
        "auto",
        choices=("auto", "error", "drop", "worst", "bounds"),
        inner=("keep",),
    )
    grows: bool = False
    compared: tuple[str, ...] = ()


def for_blessing(reading: GateReading) -> GateReading:
    """The reading of scores of one model that are blessed as they are: what failed is not blessed unasked."""
    missing = "error" if reading.missing == "auto" else reading.missing
    return replace(reading, min_models=1, missing=missing)


class Percent(str):
    """A margin as a share of the old mean, ``2%``; no number, which could be one in a metric's units."""

    __slots__ = ()

    @property
    def share(self) -> float:
        """As a number: 0.02."""
        return float(self[:-1]) / 100


Margin = float | Percent


def margins(given: Any) -> tuple[tuple[str, Margin], ...]:
    """Margins by metric; "" stands for all that have none of their own; 2% is a share of the old mean.

    Raises
    ------
    UsageError
        If one is no number, is negative, or is given twice.
    """
    found: dict[str, Margin] = {}
    for metric, value in numbers_by_name(given):
        margin, number = _margin(value)
        if not (math.isfinite(number) and number >= 0):
            raise UsageError(
                f"{option('margin')} is a difference that matters, a number not below 0",
                found=str(value),
                hint="write it in the units of the metric, as in "
                + option("margin", f"{metric or 'METRIC'}=0.02")
                + ("" if metric else f", or {option('margin', '0.02')} for one metric")
                + f"; {option('margin', '2%')} is a share of the old mean",
            )
        if metric in found:
            raise UsageError(
                f"{option('margin')} is given twice" + (f" for {metric}" if metric else ""),
                found=f"{found[metric]} and {margin}",
                hint=f"give it once, or a metric each: {option('margin', 'METRIC=0.02')}",
            )
        found[metric] = margin
    return tuple(found.items())


def _margin(value: Any) -> tuple[Margin, float]:
    """A margin, and the number in it: not a number where there is none."""
    if isinstance(value, str) and value.endswith("%"):
        number = number_or_nan(value[:-1])
        return (Percent(f"{number:.12g}%") if number else 0.0), number
    return number_or_nan(value), number_or_nan(value)
