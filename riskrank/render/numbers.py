"""Numbers for people; machines get them unrounded."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from riskrank.studies.wording import decimals_of, rounded_beside_zero, typeset


def ratio(value: float) -> str:
    """Violation ratio or rate with three decimals, never rounded onto 0 or 1."""
    if 0 < value < 0.0005:
        return "<0.001"
    return ">0.999" if 0.9995 < value < 1 else f"{value:.3f}"


def p_value(value: float) -> str:
    """P-value with three decimals; how far it lies below a thousandth is in the JSON."""
    return f"{value:.3f}" if value >= 0.001 else "<0.001"


def score(value: float) -> str:
    """Score in its own unit with four significant digits, thousands apart."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e7:
        return typeset(f"{value:,.{_digits(value)}f}")
    return typeset(f"{value:.3e}")


def _digits(value: float) -> int:
    """Decimals that are four significant digits."""
    return max(0, 3 - math.floor(math.log10(abs(value))))


def single_score(value: float) -> str:
    """Score of one case, which nothing was averaged for: without zeros at its end, small ones written out."""
    text = typeset(f"{value:.{_digits(value)}f}") if 1e-6 <= abs(value) < 1e-3 else score(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def decimals_of_ends(low: ArrayLike, high: ArrayLike) -> int:
    """Decimals that intervals support: a quarter of one is about a standard error."""
    return decimals_of((np.abs(np.subtract(high, low)) / 4).ravel().tolist())


def ends(low: float, high: float, decimals: int) -> str:
    """Interval of a difference: on which side of 0 it ends is seen."""
    return f"{rounded_beside_zero(low, decimals)} to {rounded_beside_zero(high, decimals)}"


def interval(low: float, high: float, *, now: float | None = None) -> str:
    """Interval of two ratios in [0, 1], rounded inwards to what lies in it, but for one that surely does."""
    for decimals in (3, 6):
        unit = 10**decimals
        # 0.3 * 1000 is a little above 300 in floating point; more decimals forgive that.
        held = [] if now is None else [round(now * unit)]
        ends = min([math.ceil(round(low * unit, 6)), *held]), max([math.floor(round(high * unit, 6)), *held])
        if ends[0] <= ends[1]:
            return "–".join(dict.fromkeys(f"{end / unit:.{decimals}f}" for end in ends))
    return f"{low:.3f}"


def rank_interval(low: int, high: int) -> str:
    """Interval of two ranks, one number where they agree."""
    return f"{low}" if low == high else f"{low}–{high}"


def runs_of(places: Iterable[int]) -> list[list[int]]:
    """Whole numbers that follow each other, together."""
    whole = np.array(sorted(places), dtype=np.int64)
    parts = np.split(whole, np.flatnonzero(np.diff(whole) > 1) + 1)
    return [part.tolist() for part in parts if part.size]


def ranges(places: Iterable[int]) -> str:
    """Whole numbers in words, runs of them by their ends: ``1, 3–5``."""
    # Of two neighbours both are named, which is as short.
    return ", ".join(
        f"{run[0]}, {run[1]}" if len(run) == 2 else rank_interval(run[0], run[-1]) for run in runs_of(places)
    )


def top_share(u: float) -> str:
    """Relative rank as a percentage of models that do better, never rounded onto 0 or 100; 0 is "best"."""
    if u <= 0:
        return "best"
    percent = 100 * u
    if percent >= 1:
        rounded = f"{percent:.0f}"
        return "99.9 %" if rounded == "100" and u < 1 else f"{rounded} %"
    return f"{percent:.2f} %" if percent >= 0.005 else "<0.01 %"


def count(number: int | None) -> str:
    """How many, thousands apart; a dash of None."""
    return "–" if number is None else f"{number:,}"


def power_share(share: float) -> str:
    """A simulated power in percent: one that is nearly all or nothing is not called so."""
    return f"{100 * share:.0f} %" if share in (0, 1) or 0.005 <= share < 0.995 else f"{100 * share:.1f} %"


def order(p: float) -> str:
    """Order of a norm."""
    return "∞" if math.isinf(p) else f"{p:g}"
