"""Formatting of numbers in human-readable output; data formats contain unrounded numbers."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.monte_carlo import UpperBound
from riskrank.studies.wording import decimals_from_errors, format_limit, typeset


def format_ratio(value: float) -> str:
    """Format a violation ratio or rate with three decimals, never rounded to 0 or 1."""
    if 0 < value < 0.0005:
        return "<0.001"
    return ">0.999" if 0.9995 <= value < 1 else f"{value:.3f}"


def format_p_value(value: float) -> str:
    """Format a p-value with three decimals, as "<0.001", or as an upper bound, such as "≤0.004"."""
    if isinstance(value, UpperBound) and value >= 0.001:
        return f"≤{math.ceil(1000 * value - 1e-9) / 1000:.3f}"
    return f"{value:.3f}" if value >= 0.001 else "<0.001"


def format_score(value: float) -> str:
    """Format a score with four significant digits and thousands separators."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e7:
        return typeset(f"{value:,.{_four_digit_decimals(value)}f}")
    return typeset(f"{value:.3e}")


def _four_digit_decimals(value: float) -> int:
    """Return the number of decimals for four significant digits."""
    return max(0, 3 - math.floor(math.log10(abs(value))))


def format_single_score(value: float) -> str:
    """Format a single raw score without trailing zeros, and without an exponent down to 1e-6."""
    text = (
        typeset(f"{value:.{_four_digit_decimals(value)}f}")
        if 1e-6 <= abs(value) < 1e-3
        else format_score(value)
    )
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def interval_decimals(low: ArrayLike, high: ArrayLike) -> int:
    """Return the number of decimals justified by interval widths, which are about four standard errors."""
    return decimals_from_errors((np.abs(np.subtract(high, low)) / 4).ravel().tolist())


def format_difference_interval(low: float, high: float, decimals: int) -> str:
    """Format an interval for a difference.

    Rounding never moves a limit across 0.
    """
    return f"{format_limit(low, decimals)} to {format_limit(high, decimals)}"


def format_ratio_interval(low: float, high: float, *, certain: float | None = None) -> str:
    """Format an interval for a ratio in [0, 1], rounded inwards.

    Parameters
    ----------
    low, high : float
        Limits of the interval.
    certain : float, optional
        A value, such as the estimate, that the rounded interval must contain.
    """
    for decimals in (3, 6):
        unit = 10**decimals
        # Round first: 0.3 * 1000 is above 300 in floating point, and a solver is exact to about 1e-10.
        included = [] if certain is None else [round(certain * unit)]
        bounds = (
            min([math.ceil(round(low * unit, 6)), *included]),
            max([math.floor(round(high * unit, 6)), *included]),
        )
        if bounds[0] <= bounds[1]:
            return "–".join(dict.fromkeys(f"{bound / unit:.{decimals}f}" for bound in bounds))
    return f"{low:.3f}"


def format_rank_interval(low: int, high: int) -> str:
    """Format an interval of ranks, as one number if both limits are equal."""
    return f"{low}" if low == high else f"{low}–{high}"


def consecutive_runs(numbers: Iterable[int]) -> list[list[int]]:
    """Group integers into sorted runs of consecutive numbers."""
    ordered = np.array(sorted(numbers), dtype=np.int64)
    parts = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1)
    return [part.tolist() for part in parts if part.size]


def format_ranges(numbers: Iterable[int]) -> str:
    """Format integers with runs as ranges, such as ``1, 3–5``."""
    # Two neighbors are written as a list, which is as short as a range.
    return ", ".join(
        f"{run[0]}, {run[1]}" if len(run) == 2 else format_rank_interval(run[0], run[-1])
        for run in consecutive_runs(numbers)
    )


def format_top_share(u: float) -> str:
    """Format a relative rank as the percentage of models that are better, or as "best" for 0.

    The percentage is never rounded to 0 or 100.

    Parameters
    ----------
    u : float
        Relative rank in [0, 1].
    """
    if u <= 0:
        return "best"
    percent = 100 * u
    if percent >= 1:
        rounded = f"{percent:.0f}"
        return "99.9 %" if rounded == "100" and u < 1 else f"{rounded} %"
    return f"{percent:.2f} %" if percent >= 0.005 else "<0.01 %"


def format_count(number: int | None) -> str:
    """Format a count with thousands separators, or None as a dash."""
    return "–" if number is None else f"{number:,}"


def format_power(power: float) -> str:
    """Format a simulated power in percent.

    Only exact values are written as 0 % or 100 %.
    """
    return f"{100 * power:.0f} %" if power in (0, 1) or 0.005 <= power < 0.995 else f"{100 * power:.1f} %"


def format_order(p: float) -> str:
    """Format the order p of a norm, which may be infinite."""
    return "∞" if math.isinf(p) else f"{p:g}"
