"""Numbers as precise as they are sure: their digits follow a standard error, once for all places."""

from __future__ import annotations

import math
from collections.abc import Iterable

# Decimals of numbers whose error nobody knows, and the most a reader can use.
_PLAIN, _MOST = 3, 6


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
    return min(max(0, -math.floor(math.log10(usual / 2))), _MOST)


def rounded(value: float, decimals: int) -> str:
    """A number with so many decimals, thousands apart; very large and very small ones as powers of ten."""
    if not math.isfinite(value):
        return f"{value:g}".replace("-", "−")
    if value != 0 and (abs(value) >= 1e7 or (abs(value) < 10.0**-_MOST and decimals == _MOST)):
        return f"{value:.2e}".replace("-", "−")
    text = f"{value:,.{decimals}f}"
    # −0.00 says a sign that the digits do not show.
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def rounded_interval(low: float, high: float, decimals: int) -> str:
    """Two ends of an interval in words."""
    return f"{rounded(low, decimals)} to {rounded(high, decimals)}"
