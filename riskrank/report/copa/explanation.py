"""Why COPA ranks a model where it does, as rows and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.copa.explanation import CopaExplanation
from riskrank.engine.copa.sweep import Sweep
from riskrank.errors import listing
from riskrank.report import numbers
from riskrank.report.copa.objectives import RankedTable
from riskrank.report.copa.ranking import order_value
from riskrank.report.view import Cell, Column, Line, Section, Table

SCHEMA = "copa-explain"
FIELDS = (
    "model",
    "metric",
    "value",
    "u",
    "weight",
    "weighted_u",
    "contribution",
    "binding",
    "choosing_weight",
    "chosen_between",
)

_MOST_NAMES = 5


@dataclass(frozen=True)
class ModelStudy:
    """What ``copa --explain`` finds out about one model.

    Attributes
    ----------
    explanation : CopaExplanation
    worst_case_weights : array of shape (K,) or None
        Weights that choose the model at p = ∞.
    sweeps : tuple of Sweep
        Of each weight, the others in proportion; empty for a single objective.
    broken : tuple of str
        Constraints the model does not meet.
    """

    explanation: CopaExplanation
    worst_case_weights: np.ndarray | None
    sweeps: tuple[Sweep, ...]
    broken: tuple[str, ...]

    def intervals(self, objective: int) -> list[tuple[float, float]]:
        """Intervals of one weight on which the model is chosen."""
        if not self.sweeps:
            return []
        sweep = self.sweeps[objective]
        own = sweep.model == self.explanation.model
        return list(zip(sweep.low[own].tolist(), sweep.high[own].tolist(), strict=True))


def explain_rows(table: RankedTable, study: ModelStudy) -> list[dict[str, Any]]:
    """One row an objective."""
    found, i = study.explanation, study.explanation.model
    return [
        {
            "model": table.name(i),
            "metric": metric,
            "value": table.values[i, k].item(),
            "u": table.population.u[i, k].item(),
            "weight": table.weights[k].item(),
            "weighted_u": found.weighted[k].item(),
            "contribution": found.contribution[k].item(),
            "binding": k in found.binding and found.weighted[k] > 0,
            "choosing_weight": None if found.weights is None else found.weights[k].item(),
            "chosen_between": [list(ends) for ends in study.intervals(k)],
        }
        for k, metric in enumerate(table.population.metrics)
    ]


def explain_meta(table: RankedTable, study: ModelStudy) -> dict[str, Any]:
    """Place of the model, what dominates it and what would choose it, for ``meta``."""
    found = study.explanation
    i, ranking = found.model, found.ranking

    def named(weights: np.ndarray | None) -> dict[str, float] | None:
        return None if weights is None else table.by_metric(weights)

    return {
        "explanation": {
            "model": table.name(i),
            "p": order_value(ranking.p),
            "rank": ranking.rank[i].item() or None,
            "norm": ranking.norm[i].item(),
            "chosen": table.name(ranking.chosen),
            "chosen_norm": ranking.norm[ranking.chosen].item(),
            "pareto": bool(table.population.front[i]),
            "feasible": bool(table.population.feasible[i]),
            "broken_constraints": list(study.broken),
            "dominated_by": [table.name(j) for j in found.dominators],
            "choosing_weights": named(found.weights),
            "choosing_weights_at_p_inf": named(study.worst_case_weights),
        }
    }


def explain_view(table: RankedTable, study: ModelStudy) -> list[Section]:
    """The objectives of a model, what holds it back, and what would choose it."""
    found = study.explanation
    view: list[Section] = [_objective_table(table, study), Line(_place(table, study), "Place:")]
    view.append(Line(_binding(table, found), "Binding:"))
    if study.broken:
        text = f"it does not meet {' and '.join(study.broken)}, so that no weights choose it."
        view.append(Line(text, "Barred:", "yellow"))
    view.append(_dominance_line(table, study))
    if found.model != found.ranking.chosen and table.population.front[found.model]:
        view += _remedies(table, study)
    view.append(_reading(found))
    return view


def _objective_table(table: RankedTable, study: ModelStudy) -> Table:
    found, i = study.explanation, study.explanation.model
    share = "of the\nlargest" if np.isinf(found.ranking.p) else "of the\nnorm^p"
    columns = (
        Column("objective", "left"),
        Column("value"),
        Column("top-%"),
        Column("weight"),
        Column("weighted\nrank"),
        Column(share),
        Column("chosen for\nweights", "left"),
    )
    rows = []
    for k, metric in enumerate(table.population.metrics):
        value, u = table.values[i, k], table.population.u[i, k]
        binds = k in found.binding and found.weighted[k] > 0
        style = "yellow" if binds else "green" if u == 0 else ""
        ranges = [numbers.interval(low, high) for low, high in study.intervals(k)]
        rows.append(
            (
                f"{metric} {'↑' if table.larger_is_better[k] else '↓'}",
                "missing" if np.isnan(value) else numbers.score(value),
                Cell(numbers.top_share(u), style),
                numbers.ratio(table.weights[k]),
                numbers.score(found.weighted[k]),
                Cell(f"{100 * found.contribution[k]:.0f} %", style),
                listing(ranges, 2) if ranges else "–",
            )
        )
    title = f"{table.name(i)}, p = {numbers.order(found.ranking.p)}"
    return Table(title, columns, tuple(rows))


def _place(table: RankedTable, study: ModelStudy) -> str:
    found = study.explanation
    i, ranking = found.model, found.ranking
    norm = numbers.score(ranking.norm[i])
    if i == ranking.chosen:
        return f"it is the choice among {len(ranking.order):,} models, norm {norm}."
    chosen = f"{table.name(ranking.chosen)} is chosen with {numbers.score(ranking.norm[ranking.chosen])}"
    if not ranking.rank[i]:
        return f"no rank, for it does not meet the constraints; norm {norm}, {chosen}."
    tied = ranking.tied_with(i)
    text = f"rank {ranking.rank[i]:,} of {len(ranking.order):,}, norm {norm}; {chosen}."
    if len(tied):
        text += f" The same norm: {listing((table.name(j) for j in tied), _MOST_NAMES)}."
    return text


def _binding(table: RankedTable, found: CopaExplanation) -> str:
    if not (found.weighted > 0).any():
        return "nothing: no model is better on any objective that has a weight."
    names = listing(table.population.metrics[k] for k in found.binding)
    if np.isinf(found.ranking.p):
        return f"{names}. At p = ∞ only the worst weighted rank counts; nothing else would help."
    share = 100 * found.contribution[found.binding].sum()
    return f"{names}, {share:.0f} % of what makes up the norm; improving there helps most."


def _dominance_line(table: RankedTable, study: ModelStudy) -> Line:
    found = study.explanation
    if table.population.front[found.model]:
        return Line(
            "no model is at least as good everywhere and better somewhere: it is on the front.", "Front:"
        )
    if not len(found.dominators):
        return Line("no model that meets the constraints dominates it.", "Front:")
    verb = "is" if len(found.dominators) == 1 else "are"
    names = listing((table.name(j) for j in found.dominators), _MOST_NAMES)
    text = (
        f"{names} {verb} at least as good everywhere and better somewhere. While there "
        f"{verb}, no positive weights choose it, at any p."
    )
    return Line(text, "Dominated:", "yellow")


def _remedies(table: RankedTable, study: ModelStudy) -> list[Line]:
    """Say which weights would choose a model of the front."""
    found, p = study.explanation, study.explanation.ranking.p
    lines = []
    if found.weights is not None:
        lines.append(Line(_weights_text(table, found.weights, p), "To be chosen:", "green"))
    elif study.worst_case_weights is not None:
        text = (
            f"no weights choose it at p = {p:g}, but {_weights_text(table, study.worst_case_weights, np.inf)}"
        )
        lines.append(Line(text, "To be chosen:", "yellow"))
    else:
        text = "no weights choose it: another model of the same values comes first by its name."
        lines.append(Line(text, "To be chosen:", "yellow"))
    alone = [
        f"{metric} {listing((numbers.interval(*ends) for ends in study.intervals(k)), 3)}"
        for k, metric in enumerate(table.population.metrics)
        if study.intervals(k)
    ]
    text = "moving one weight and leaving the others in proportion does it for " + listing(alone, 4) + "."
    if not alone:
        text = "moving one weight and leaving the others in proportion never chooses it."
    return [*lines, Line(text, "One weight:")]


def _weights_text(table: RankedTable, weights: np.ndarray, p: float) -> str:
    return f"for example --p {p:g} {' '.join(_weight_options(table.population.metrics, weights))}"


def _weight_options(metrics: Sequence[str], weights: np.ndarray) -> list[str]:
    """Weights as one would type them: those that are equal need not be named."""
    rounded = [f"{weight:.6g}" for weight in weights]
    usual = max(rounded, key=rounded.count)
    left_out = usual if rounded.count(usual) > 1 else None
    named = zip(metrics, rounded, strict=True)
    options = [f"{metric}={weight}" for metric, weight in named if weight != left_out]
    return [f'--weight "{option}"' if " " in option else f"--weight {option}" for option in options]


def _reading(found: CopaExplanation) -> Line:
    share = (
        "compared with the largest of them"
        if np.isinf(found.ranking.p)
        else "as a share of the norm's p-th power"
    )
    text = (
        "top-% is the share of the other models that do better (best: none); times its weight it is the "
        f"weighted rank, then {share}. The last column: for which weights of that objective, the others in "
        "proportion, the model would be chosen."
    )
    return Line(text, "Reading:")
