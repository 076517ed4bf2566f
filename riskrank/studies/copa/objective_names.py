"""What ``copa`` compares models by, ``latency:tvar@0.05``, and bounds, ``co2 <= 0.5``, as one has them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from riskrank.engine.copa.population import Constraint
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.options.values import number_or_nan
from riskrank.studies.costs import PER_SUCCESS, cost_and_success

MEAN, TOTAL, TAIL = "mean", "total", "tvar"
_TAILS = (TAIL, "cvar")
_EXAMPLES = (MEAN, TOTAL, "tvar@0.05")


@dataclass(frozen=True)
class ObjectiveName:
    """An objective: a metric and the statistic of its scores.

    Attributes
    ----------
    metric : int
    statistic : {"mean", "total", "tvar", "cost-per-success"}
    level : float or None
        Share of the worst scores, of ``tvar``.
    name : str
        The metric's where the objective is its mean, else ``latency:tvar@0.05``.
    success : int or None
        The metric that counts successes, of a cost per success.
    """

    metric: int
    statistic: str
    level: float | None
    name: str
    success: int | None = None

    @property
    def required_metrics(self) -> list[int]:
        """Metrics without which a model has no value."""
        return [self.metric] if self.success is None else [self.metric, self.success]


def parse_objectives(asked: Sequence[str], metrics: Sequence[str]) -> list[ObjectiveName]:
    """Objectives by metric: those asked for, else the mean.

    Raises
    ------
    UsageError
        If one names no metric, or no statistic.
    """
    found = list(dict.fromkeys(_parse_objective(text, metrics) for text in asked))
    return [
        one
        for at, metric in enumerate(metrics)
        for one in [given for given in found if given.metric == at] or [ObjectiveName(at, MEAN, None, metric)]
    ]


def _parse_objective(text: str, metrics: Sequence[str]) -> ObjectiveName:
    if text not in metrics and (both := cost_and_success("objective", text, metrics)):
        cost, success = map(list(metrics).index, both)
        return ObjectiveName(cost, PER_SUCCESS, None, text, success)
    name, separator, statistic = text.rpartition(":")
    if text in metrics or not separator:
        name, statistic = text, MEAN
    if name not in metrics:
        # ``total:cost`` is told the other way round.
        name, statistic = (statistic, name) if statistic in metrics else (name, statistic)
        raise UsageError(
            f"{option('objective', text)} is about no metric",
            found=f"the metrics are {listing(metrics)}",
            hint=did_you_mean(
                name,
                metrics,
                write=lambda near: option("objective", f"{near}:{statistic}"),
                otherwise=f"write {option('objective', f'{metrics[0]}:tvar@0.05')}, an option an objective",
            ),
        )
    at = list(metrics).index(name)
    kind, _, level = statistic.partition("@")
    if statistic == MEAN:
        return ObjectiveName(at, MEAN, None, name)
    if statistic == TOTAL:
        return ObjectiveName(at, TOTAL, None, f"{name}:{TOTAL}")
    if kind in _TAILS:
        share = number_or_nan(level)
        if 0 < share < 1:
            return ObjectiveName(at, TAIL, share, f"{name}:{TAIL}@{share:g}")
    raise UsageError(
        f"{option('objective', text)} is no statistic of {name}",
        found=f"{statistic or 'nothing'}; there are {', '.join(_EXAMPLES)}"
        + (", with a share between 0 and 1" if kind in _TAILS else ""),
        hint=f"write {option('objective', f'{name}:tvar@0.05')} for the mean of the worst 5 %, or leave it "
        "out for the mean of all",
    )


_RELATION = "<=|>=|==|<|>|="
_BOUND = re.compile(rf"\s*(?P<name>.*?\S)\s*(?P<relation>{_RELATION})\s*(?P<bound>[^<>=]+?)\s*")
# What no objective's name has that is meant as one, as in ``cost != 3`` or ``a < 1 and b < 2``.
_ODD = re.compile(rf"{_RELATION}|!$")
# As they are printed, and as they are typed.
_ASCII_RELATIONS = str.maketrans({"≤": "<=", "≥": ">="})


def parse_constraint(
    text: str,
    names: Sequence[str],
    *,
    values: Floats,
    larger_is_better: Booleans,
    shares: Sequence[bool] = (),
) -> Constraint:
    """Read a constraint such as ``co2 <= 0.5``.

    Parameters
    ----------
    text : str
    names : sequence of K str
        The objectives.
    values : ndarray, shape (N, K)
        In original units; NaN where missing.
    larger_is_better : ndarray of bool, shape (K,)
        In original units.
    shares : sequence of bool
        Which objectives are shares; empty where nobody knows.

    Raises
    ------
    UsageError
        If it has another form, bounds something that is not an objective, or a share beyond 0 and 1.
    """
    match = _BOUND.fullmatch(text.translate(_ASCII_RELATIONS))
    bound = number_or_nan(match and match["bound"])
    name = "" if match is None else match["name"]
    if match is None or not isfinite(bound) or (name not in names and _MALFORMED_NAME.search(name)):
        raise UsageError(
            f"{option('require')} needs an objective, one of <= < >= > =, and a number",
            found=repr(text),
            hint=_example_constraint(text, names, values, larger_is_better),
        )
    if name not in names:
        raise UsageError(
            f"{option('require')} bounds {name!r}, which is not an objective",
            found=f"the objectives are {listing(names)}",
            hint=did_you_mean(
                name,
                names,
                write=repr,
                otherwise=f"add {option('objective', name)}, or select its metric with {option('metric')}",
            ),
        )
    relation = "==" if match["relation"] == "=" else match["relation"]
    at = list(names).index(name)
    if any(shares) and shares[at] and not 0 <= bound <= 1:
        inside = bound / 100 if 1 < bound <= 100 else 0.5
        raise UsageError(
            f"{option('require', text)} bounds a share beyond 0 and 1",
            found=f"every score of {name} is 0 or 1, and their mean is not in percent",
            hint=f"write {option('require', f'{name} {relation} {inside:g}')}",
        )
    return Constraint(objective=at, relation=relation, bound=bound)


def _example_constraint(text: str, names: Sequence[str], values: Floats, larger_is_better: Booleans) -> str:
    """A bound that half of the models meet, on the objective that was meant."""
    at = max(range(len(names)), key=lambda k: len(names[k]) if names[k] in text else 0)
    bound = f"{names[at]} {'>=' if larger_is_better[at] else '<='} {float(np.nanmedian(values[:, at])):.2g}"
    return f"write {option('require', bound)}, in quotes, an option a bound"
