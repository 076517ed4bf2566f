"""Parsing of objectives, such as ``latency:tvar@0.05``, and of constraints, such as ``co2 <= 0.5``."""

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
    """A parsed objective: a metric and a statistic.

    Attributes
    ----------
    metric : int
        Index of the metric.
    statistic : {"mean", "total", "tvar", "cost-per-success"}
    level : float or None
        Proportion of worst scores that ``tvar`` averages, or None for other statistics.
    name : str
        Name of the metric for a mean; otherwise metric and statistic, such as ``latency:tvar@0.05``.
    success : int or None
        Index of the metric that counts successes, for a cost per success.
    """

    metric: int
    statistic: str
    level: float | None
    name: str
    success: int | None = None

    @property
    def required_metrics(self) -> list[int]:
        """Metrics that are needed to compute the objective."""
        return [self.metric] if self.success is None else [self.metric, self.success]


def parse_objectives(texts: Sequence[str], metrics: Sequence[str]) -> list[ObjectiveName]:
    """Parse the requested objectives.

    Every other metric is represented by its mean.

    Parameters
    ----------
    texts : sequence of str
        Requested objectives, such as ``latency:tvar@0.05``.
    metrics : sequence of str
        Names of the metrics.

    Raises
    ------
    UsageError
        If a text names an unknown metric or an unknown statistic.
    """
    requested = list(dict.fromkeys(_parse_objective(text, metrics) for text in texts))
    return [
        objective
        for index, metric in enumerate(metrics)
        for objective in [candidate for candidate in requested if candidate.metric == index]
        or [ObjectiveName(index, MEAN, None, metric)]
    ]


def _parse_objective(text: str, metrics: Sequence[str]) -> ObjectiveName:
    """Parse one objective, such as ``latency:tvar@0.05``."""
    if text not in metrics and (cost_pair := cost_and_success("objective", text, metrics)):
        cost, success = map(list(metrics).index, cost_pair)
        return ObjectiveName(cost, PER_SUCCESS, None, text, success)
    name, separator, statistic = text.rpartition(":")
    if text in metrics or not separator:
        name, statistic = text, MEAN
    if name not in metrics:
        # The parts of ``total:cost`` are in the wrong order; the message swaps them.
        name, statistic = (statistic, name) if statistic in metrics else (name, statistic)
        raise UsageError(
            f"{option('objective', text)} does not name a metric",
            found=f"the metrics are {listing(metrics)}",
            hint=did_you_mean(
                name,
                metrics,
                write=lambda match: option("objective", f"{match}:{statistic}"),
                fallback=f"write {option('objective', f'{metrics[0]}:tvar@0.05')}, one option per objective",
            ),
        )
    index = list(metrics).index(name)
    kind, _, level = statistic.partition("@")
    if statistic == MEAN:
        return ObjectiveName(index, MEAN, None, name)
    if statistic == TOTAL:
        return ObjectiveName(index, TOTAL, None, f"{name}:{TOTAL}")
    if kind in _TAILS:
        share = number_or_nan(level)
        if 0 < share < 1:
            return ObjectiveName(index, TAIL, share, f"{name}:{TAIL}@{share:g}")
    raise UsageError(
        f"{option('objective', text)} is not a statistic of {name}",
        found=f"{statistic or 'nothing'}; the statistics are {', '.join(_EXAMPLES)}"
        + (", with a share between 0 and 1" if kind in _TAILS else ""),
        hint=f"write {option('objective', f'{name}:tvar@0.05')} for the mean of the worst 5 %, or leave it "
        "out for the mean of all samples",
    )


_RELATION = "<=|>=|==|<|>|="
_BOUND = re.compile(rf"\s*(?P<name>.*?\S)\s*(?P<relation>{_RELATION})\s*(?P<bound>[^<>=]+?)\s*")
# Signs that the text is not a single bound, as in ``cost != 3`` or ``a < 1 and b < 2``.
_MALFORMED_NAME = re.compile(rf"{_RELATION}|!$")
# Typographic relations and their ASCII form.
_ASCII_RELATIONS = str.maketrans({"≤": "<=", "≥": ">="})


def parse_constraint(
    text: str,
    names: Sequence[str],
    *,
    values: Floats,
    larger_is_better: Booleans,
    shares: Sequence[bool] = (),
) -> Constraint:
    """Parse a constraint such as ``co2 <= 0.5`` on one of K objectives of N models.

    Parameters
    ----------
    text : str
    names : sequence of K str
        The objectives.
    values : ndarray, shape (N, K)
        In the units of the file, or NaN where missing.
    larger_is_better : ndarray of bool, shape (K,)
        Directions in the units of the file.
    shares : sequence of bool
        True for objectives that are proportions, or empty if unknown.

    Raises
    ------
    UsageError
        If the text has another form, names an unknown objective, or bounds a proportion outside 0 to 1.
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
                fallback=f"add {option('objective', name)}, or select its metric with {option('metric')}",
            ),
        )
    relation = "==" if match["relation"] == "=" else match["relation"]
    index = list(names).index(name)
    if any(shares) and shares[index] and not 0 <= bound <= 1:
        example = bound / 100 if 1 < bound <= 100 else 0.5
        raise UsageError(
            f"{option('require', text)} sets a bound of a share outside 0 to 1",
            found=f"every score of {name} is 0 or 1, so their mean is not in percent",
            hint=f"write {option('require', f'{name} {relation} {example:g}')}",
        )
    return Constraint(objective=index, relation=relation, bound=bound)


def _example_constraint(text: str, names: Sequence[str], values: Floats, larger_is_better: Booleans) -> str:
    """Return an example constraint on the objective probably meant, which half of the models meet."""
    index = max(range(len(names)), key=lambda k: len(names[k]) if names[k] in text else 0)
    relation, median = ">=" if larger_is_better[index] else "<=", float(np.nanmedian(values[:, index]))
    bound = f"{names[index]} {relation} {median:.2g}"
    return f"write {option('require', bound)}, in quotes, one option per bound"
