"""What ``copa`` compares models by: means, totals, means of the worst scores, costs per success."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riskrank.asked.values import number_or_nan
from riskrank.errors import UsageError, did_you_mean, listing, option
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
    def needs(self) -> list[int]:
        """Metrics without which a model has no value."""
        return [self.metric] if self.success is None else [self.metric, self.success]


def objective_names(asked: Sequence[str], metrics: Sequence[str]) -> list[ObjectiveName]:
    """Objectives by metric: those asked for, else the mean.

    Raises
    ------
    UsageError
        If one names no metric, or no statistic.
    """
    found = list(dict.fromkeys(_objective(text, metrics) for text in asked))
    return [
        one
        for at, metric in enumerate(metrics)
        for one in [given for given in found if given.metric == at] or [ObjectiveName(at, MEAN, None, metric)]
    ]


def _objective(text: str, metrics: Sequence[str]) -> ObjectiveName:
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
