"""Named distributions to plan with: "normal:0.5,2", "beta:2,5"."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from math import inf, isfinite

import numpy as np
from scipy.special import betaincinv, ndtri

from riskrank.engine.types import Floats
from riskrank.errors import UsageError, did_you_mean, listing


def _normal(probability: Floats, mean: float = 0.0, sd: float = 1.0) -> Floats:
    return np.asarray(mean + sd * ndtri(probability))


def _lognormal(probability: Floats, mu: float = 0.0, sigma: float = 1.0) -> Floats:
    """X = exp(mu + sigma Z), as in [RAB] Fig. 7."""
    return np.exp(_normal(probability, mu, sigma))


def _beta(probability: Floats, a: float, b: float) -> Floats:
    return np.asarray(betaincinv(a, b, probability))


def _bernoulli(probability: Floats, p: float) -> Floats:
    """Passed or not."""
    return (np.asarray(probability) > 1 - p).astype(np.float64)


FAMILIES: dict[str, Callable[..., Floats]] = {
    "normal": _normal,
    "lognormal": _lognormal,
    "beta": _beta,
    "bernoulli": _bernoulli,
}
"""Quantile functions by name: of probabilities inside (0, 1), and of the parameters."""

# Parameters that may be any number, and those that have a largest value; all others lie above 0.
_ANY, _MOST = ("mean", "mu"), {"p": 1.0}


@dataclass(frozen=True)
class Distribution:
    """A distribution of scores.

    Attributes
    ----------
    name : str
        Key of `FAMILIES`.
    parameters : tuple of float
        All its parameters, defaults filled in.
    """

    name: str
    parameters: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.name}:{','.join(f'{value:g}' for value in self.parameters)}"

    def quantile(self, probability: Floats) -> Floats:
        """The quantiles of probabilities inside (0, 1), of the same shape."""
        return FAMILIES[self.name](probability, *self.parameters)


def parse_distribution(text: str) -> Distribution:
    """Read a distribution such as "normal:0.5,2".

    Parameters
    ----------
    text : str
        Name of a family, a colon, and its parameters with commas between; the last ones may be left out
        where they have defaults ("normal" is "normal:0,1").

    Returns
    -------
    Distribution

    Raises
    ------
    UsageError
        If the family is unknown or the parameters are too few, too many, no numbers or out of range.
    """
    name, _, given = text.strip().partition(":")
    name = name.strip().casefold()
    if name not in FAMILIES:
        hint = did_you_mean(name, FAMILIES, otherwise=f"choose among {listing(FAMILIES)}")
        raise UsageError(f"unknown distribution {text!r}", found=repr(name), hint=hint)
    _, *allowed = signature(FAMILIES[name]).parameters.values()
    form = f"write {name}:{','.join(one.name for one in allowed)}"
    try:
        values = [float(part) for part in given.split(",")] if given.strip() else []
    except ValueError:
        values = [inf]
    if not all(map(isfinite, values)):
        hint = "write numbers with a point, separated by commas: normal:0.5,2"
        raise UsageError(f"a parameter of {text!r} is not a number", found=repr(given.strip()), hint=hint)
    values += [one.default for one in allowed[len(values) :] if one.default is not one.empty]
    if len(values) != len(allowed):
        raise UsageError(f"wrong number of parameters in {text!r}", found=str(len(values)), hint=form)
    for one, value in zip(allowed, values, strict=True):
        most = _MOST.get(one.name, inf)
        if one.name not in _ANY and not 0 < value <= most:
            above = "" if most == inf else f" and at most {most:g}"
            raise UsageError(f"{one.name} of {text!r} must be above 0{above}", found=f"{value:g}", hint=form)
    return Distribution(name, tuple(values))
