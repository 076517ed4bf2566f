"""Named distributions for power planning, such as "normal:0.5,2" and "beta:2,5"."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from math import inf, isfinite

import numpy as np
from scipy.special import betaincinv, ndtri

from riskrank.engine.types import Floats
from riskrank.errors import UsageError, did_you_mean, listing


def _normal(probability: Floats, mean: float = 0.0, sd: float = 1.0) -> Floats:
    """Return quantiles of a normal distribution."""
    return np.asarray(mean + sd * ndtri(probability))


def _lognormal(probability: Floats, mu: float = 0.0, sigma: float = 1.0) -> Floats:
    """Return quantiles of exp(mu + sigma Z) with Z standard normal, as in [RAB] Fig. 7."""
    return np.exp(_normal(probability, mu, sigma))


def _beta(probability: Floats, a: float, b: float) -> Floats:
    """Return quantiles of a beta distribution."""
    return np.asarray(betaincinv(a, b, probability))


def _bernoulli(probability: Floats, p: float) -> Floats:
    """Return quantiles of a Bernoulli distribution."""
    return (np.asarray(probability) > 1 - p).astype(np.float64)


FAMILIES: dict[str, Callable[..., Floats]] = {
    "normal": _normal,
    "lognormal": _lognormal,
    "beta": _beta,
    "bernoulli": _bernoulli,
}
"""Quantile functions by name; arguments are probabilities in (0, 1) and the parameters."""

# Parameters without limits, and parameters with a largest value; all others must be above 0.
_UNBOUNDED, _MAXIMA = ("mean", "mu"), {"p": 1.0}


@dataclass(frozen=True)
class Distribution:
    """A named distribution of scores.

    Attributes
    ----------
    name : str
        Key of `FAMILIES`.
    parameters : tuple of float
        All parameters, including those left at their defaults.
    """

    name: str
    parameters: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.name}:{','.join(f'{value:g}' for value in self.parameters)}"

    def quantile(self, probability: Floats) -> Floats:
        """Return the quantiles at probabilities in (0, 1), in the same shape."""
        return FAMILIES[self.name](probability, *self.parameters)


def parse_distribution(text: str) -> Distribution:
    """Parse the description of a distribution, such as "normal:0.5,2".

    Parameters
    ----------
    text : str
        Name of a family, a colon, and its parameters separated by commas. Trailing parameters with defaults
        may be omitted ("normal" is "normal:0,1").

    Returns
    -------
    Distribution

    Raises
    ------
    UsageError
        If the family is unknown, or parameters are too few, too many, not numeric or out of range.
    """
    name, _, arguments = text.strip().partition(":")
    name = name.strip().casefold()
    if name not in FAMILIES:
        hint = did_you_mean(name, FAMILIES, fallback=f"choose among {listing(FAMILIES)}")
        raise UsageError(f"unknown distribution {text!r}", found=repr(name), hint=hint)
    _, *allowed = signature(FAMILIES[name]).parameters.values()
    form = f"write {name}:{','.join(item.name for item in allowed)}"
    try:
        values = [float(part) for part in arguments.split(",")] if arguments.strip() else []
    except ValueError:
        values = [inf]
    if not all(map(isfinite, values)):
        hint = "write numbers with a point, separated by commas: normal:0.5,2"
        raise UsageError(f"a parameter of {text!r} is not a number", found=repr(arguments.strip()), hint=hint)
    values += [item.default for item in allowed[len(values) :] if item.default is not item.empty]
    if len(values) != len(allowed):
        raise UsageError(f"wrong number of parameters in {text!r}", found=str(len(values)), hint=form)
    for item, value in zip(allowed, values, strict=True):
        maximum = _MAXIMA.get(item.name, inf)
        if item.name not in _UNBOUNDED and not 0 < value <= maximum:
            above = "" if maximum == inf else f" and at most {maximum:g}"
            raise UsageError(f"{item.name} of {text!r} must be above 0{above}", found=f"{value:g}", hint=form)
    return Distribution(name, tuple(values))
