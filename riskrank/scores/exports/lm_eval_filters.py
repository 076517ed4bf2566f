"""Filters of lm-evaluation-harness that count: those asked for, by themselves or in the name of a metric."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from riskrank.scores.exports.gathering import choose, wanted_metrics
from riskrank.scores.exports.interface import ExportRules


@dataclass(frozen=True)
class ChosenFilters:
    """Filters of one task that are kept.

    Attributes
    ----------
    names : tuple of str
    spelled : bool
        Whether metrics are called ``metric,filter`` then, as the harness prints them.
    """

    names: tuple[str, ...]
    spelled: bool


def chosen_filters(parts: Iterable[tuple[str, pl.DataFrame]], rules: ExportRules) -> dict[str, ChosenFilters]:
    """Filters to keep, a task at a time: the same ones for every model.

    Parameters
    ----------
    parts : iterable of (str, DataFrame)
        Task and rows of every file, with a column ``filter``.
    rules : ExportRules
        A metric that is wanted may be called ``metric,filter``, which says as much as the rule does.

    Raises
    ------
    UsageError
        If a task has several, and nothing picks among them.
    """
    there: dict[str, dict[str, None]] = defaultdict(dict)
    for task, rows in parts:
        there[task].update(dict.fromkeys(rows["filter"].unique(maintain_order=True)))
    wanted = wanted_metrics(rules.metrics, there)
    found = {}
    for task, names in there.items():
        named = () if rules.filters else tuple(name for name in names if name in _named_by(wanted[task]))
        kept = choose("filter", rules.filters or named, names, what="filters", where=f"task {task}")
        found[task] = ChosenFilters(kept, spelled=len(kept) > 1 or bool(named))
    return found


def _named_by(metrics: Iterable[str]) -> set[str]:
    return {name.rpartition(",")[2] for name in metrics if "," in name}
