"""Bounds on objectives in their original units, which filter the models that may be chosen."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, listing

_HOLDS = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Constraint:
    """A bound such as ``co2 <= 0.5``.

    Attributes
    ----------
    objective : int
        Column that is bounded.
    relation : {"<=", "<", ">=", ">", "==", "!="}
    bound : float
        In the original units of the column.
    """

    objective: int
    relation: str
    bound: float

    def holds(self, values: Floats) -> Booleans:
        """Tell for which models it holds, values of shape (..., K); never for a missing value."""
        column = values[..., self.objective]
        return _HOLDS[self.relation](column, self.bound) & ~np.isnan(column)

    def text(self, metrics: Sequence[str]) -> str:
        """Write the constraint as a user would."""
        return f"{metrics[self.objective]} {self.relation} {self.bound:g}"


def feasible_models(
    values: Floats,
    constraints: Sequence[Constraint],
    *,
    names: Sequence[str],
    metrics: Sequence[str],
) -> Booleans:
    """Find the models that meet every constraint.

    Parameters
    ----------
    values : array of shape (N, K)
        In original units and orientation; NaN where missing.
    constraints : sequence of Constraint
    names, metrics : sequences of str
        Names of the N models and K objectives, for the message.

    Returns
    -------
    array of bool, shape (N,)

    Raises
    ------
    InputError
        If no model meets all of them; it names the nearest, whose total excess over the bounds is least
        when each is measured in ranges of its column, and how far it is.
    """
    values = np.asarray(values, dtype=np.float64)
    feasible = np.ones(len(values), dtype=bool)
    for constraint in constraints:
        feasible &= constraint.holds(values)
    if feasible.any():
        return feasible
    nearest = int(np.argmin(sum(_relative_excess(values, constraint) for constraint in constraints)))
    violated = [c for c in constraints if not c.holds(values)[nearest]]
    raise InputError(
        f"no model meets {' and '.join(c.text(metrics) for c in constraints)}",
        found=f"the nearest, {names[nearest]}, has "
        + listing(
            f"{metrics[c.objective]} = {values[nearest, c.objective]:g}, "
            f"off by {abs(values[nearest, c.objective] - c.bound):g}"
            for c in violated
        ),
        hint=f"loosen {' or '.join(c.text(metrics) for c in violated)}",
    )


def _relative_excess(values: Floats, constraint: Constraint) -> Floats:
    """Distance to the bound in ranges of the column, 0 where it holds; infinite for missing values."""
    column = values[:, constraint.objective]
    known = column[~np.isnan(column)]
    span = np.ptp(known) if known.size else 0.0
    distance = np.abs(column - constraint.bound) / (span if span > 0 else 1.0)
    return np.where(constraint.holds(values), 0.0, np.where(np.isnan(column), np.inf, distance))
