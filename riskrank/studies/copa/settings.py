"""How ``copa`` writes the orders of its norm, and what it sets beside them."""

from __future__ import annotations

from math import inf, isinf

# The p's every ranking is set beside, from the one that forgives nothing to the mean rank.
USUAL_ORDERS = (inf, 8.0, 2.0, 1.0)

DEFAULT_STEPS = 10_000


def order_key(p: float) -> str:
    """Write p as a key or value that every language reads back."""
    return f"{p:g}"


def order_value(p: float) -> float | str:
    """Write p as a number, or as text where JSON has none."""
    return "inf" if isinf(p) else float(p)
