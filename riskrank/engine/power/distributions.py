"""Named distributions to plan with: "normal:0.5,2", "beta:2,5"."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np
from scipy.special import betaincinv, ndtri

from riskrank.errors import UsageError, did_you_mean, listing


@dataclass(frozen=True)
class DistributionKind:
    """A family of distributions: its parameters, their defaults and its quantiles.

    Attributes
    ----------
    parameters : tuple of str
        Names of the parameters.
    defaults : tuple of float
        Defaults of the last parameters; the others must be given.
    most : mapping of str to float
        Parameters that must be above 0, and the most each may be.
    quantile : callable
        ``quantile(u, *parameters)`` of probabilities u.
    """

    parameters: tuple[str, ...]
    defaults: tuple[float, ...]
    most: Mapping[str, float]
    quantile: Callable[..., np.ndarray]


FAMILIES = {
    "normal": DistributionKind(
        ("mean", "sd"),
        (0.0, 1.0),
        {"sd": inf},
        lambda u, mean, sd: mean + sd * ndtri(u),
    ),
    # [RAB] Fig. 7: X = exp(mu + sigma Z).
    "lognormal": DistributionKind(
        ("mu", "sigma"),
        (0.0, 1.0),
        {"sigma": inf},
        lambda u, mu, sigma: np.exp(mu + sigma * ndtri(u)),
    ),
    "beta": DistributionKind(
        ("a", "b"),
        (),
        {"a": inf, "b": inf},
        lambda u, a, b: betaincinv(a, b, u),
    ),
    # Passed or not.
    "bernoulli": DistributionKind(
        ("p",),
        (),
        {"p": 1.0},
        lambda u, p: (np.asarray(u) > 1 - p).astype(float),
    ),
}


@dataclass(frozen=True)
class Distribution:
    """A distribution scores can be drawn from.

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

    def quantile(self, probability: np.ndarray) -> np.ndarray:
        """The quantiles of probabilities inside (0, 1), of the same shape."""
        return FAMILIES[self.name].quantile(probability, *self.parameters)


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
        raise UsageError(
            f"unknown distribution {text!r}",
            found=repr(name),
            hint=did_you_mean(name, FAMILIES, otherwise=f"choose among {listing(FAMILIES)}"),
        )
    family = FAMILIES[name]
    values = _numbers(text, given)
    missing = len(family.parameters) - len(values)
    if missing < 0 or missing > len(family.defaults):
        raise UsageError(
            f"wrong number of parameters in {text!r}",
            found=f"{len(values)}",
            hint=f"write {name}:{','.join(family.parameters)}",
        )
    values += family.defaults[len(family.defaults) - missing :]
    for label, value in zip(family.parameters, values, strict=True):
        most = family.most.get(label)
        if most is not None and not 0 < value <= most:
            above = "" if most == inf else f" and at most {most:g}"
            raise UsageError(
                f"{label} of {text!r} must be above 0{above}",
                found=f"{value:g}",
                hint=f"write {name}:{','.join(family.parameters)}",
            )
    return Distribution(name, values)


def _numbers(text: str, given: str) -> tuple[float, ...]:
    if not given.strip():
        return ()
    values = []
    for part in given.split(","):
        try:
            value = float(part)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise UsageError(
                f"a parameter of {text!r} is not a number",
                found=repr(part.strip()),
                hint="write numbers with a point, separated by commas: normal:0.5,2",
            )
        values.append(value)
    return tuple(values)
