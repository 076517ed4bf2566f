"""Numbers as precise as they are sure: their digits follow a standard error, once for all places."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from itertools import pairwise

# Decimals of numbers whose error nobody knows, and the most a reader can use.
_PLAIN, _MOST = 3, 6
# Decimals that two numbers beside each other may have more, if these tell them apart.
_MORE = 4
_SIGN = re.compile("(?<!e)-")


def decimals_of(errors: Iterable[float]) -> int:
    """Decimals at which the usual of some standard errors shows its first digit; a leading 1 the next too.

    Parameters
    ----------
    errors : iterable of float
        Standard errors; zeros and what is no number are passed over.

    Returns
    -------
    int
        0 where the error is above 2; at most 6.
    """
    known = sorted(error for error in errors if math.isfinite(error) and error > 0)
    if not known:
        return _PLAIN
    usual = known[len(known) // 2]
    return min(max(0, -math.floor(math.log10(usual) - math.log10(2))), _MOST)


def decimals_apart(values: Iterable[float]) -> int:
    """Decimals that tell neighbouring values apart, where nothing is known of how sure they are.

    Parameters
    ----------
    values : iterable of float
        What is no number is passed over.

    Returns
    -------
    int
        For a quarter of the usual gap between two of them, or a thousandth of their range.
    """
    known = sorted({value for value in values if math.isfinite(value)})
    gaps = sorted(high - low for low, high in pairwise(known))
    if not gaps:
        return _PLAIN
    return decimals_of([max(gaps[len(gaps) // 2] / 4, (known[-1] - known[0]) / 1000)])


def decimals_of_exact(values: Iterable[float]) -> int:
    """Decimals that show values that do not vary, such as prices, to a thousandth of each; at most 6."""
    known = [value for value in values if math.isfinite(value)]
    for decimals in range(_MOST):
        if all(abs(round(value, decimals) - value) <= abs(value) / 1000 for value in known):
            return decimals
    return _MOST


def decimals_of_range(low: float, high: float, count: int) -> int:
    """Decimals of a mean of so many scores between two ends: their range over √n bounds its error."""
    return decimals_of([(high - low) / math.sqrt(max(count, 1))])


def typeset(number: str) -> str:
    """A formatted number as print has it: its minus is no hyphen, its percent sign stands apart.

    Powers of ten stay as programs write them: 1e-6.
    """
    return _SIGN.sub("−", number).replace("%", " %")


def rounded(value: float, decimals: int) -> str:
    """A number with so many decimals, thousands apart; very large and very small ones as powers of ten."""
    if not math.isfinite(value):
        return typeset(f"{value:g}")
    if value != 0 and (abs(value) >= 1e7 or (abs(value) < 10.0**-_MOST and decimals == _MOST)):
        return typeset(f"{value:.2e}")
    text = f"{value:,.{decimals}f}"
    # −0.00 says a sign that the digits do not show.
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else typeset(text)


def rounded_beside_zero(value: float, decimals: int) -> str:
    """The same of an end of an interval: which side of zero it is on has to be seen."""
    while value != 0 and decimals < _MOST and abs(value) < 0.5 * 10.0**-decimals:
        decimals += 1
    return rounded(value, decimals)


def told_apart(one: float, other: float, say: Callable[[float, int], str], decimals: int) -> tuple[str, str]:
    """Two numbers beside each other: what differs is not shown alike, where a few digits more can tell.

    Parameters
    ----------
    one, other : float
    say : callable
        Of a number and its decimals.
    decimals : int
        What both are shown with where that tells them apart, or nothing does.
    """
    for more in range(_MORE + 1) if one != other else ():
        first, second = say(one, decimals + more), say(other, decimals + more)
        if first != second:
            return first, second
    return say(one, decimals), say(other, decimals)


def rounded_up(count: int) -> int:
    """A count with one significant digit, and no fewer."""
    unit: int = 10 ** (len(str(count)) - 1)
    return -(-count // unit) * unit


def two_digits(count: float) -> int:
    """A large count with two significant digits, where more are not known."""
    unit = 10 ** max(len(str(int(count))) - 2, 0)
    return round(count / unit) * unit
