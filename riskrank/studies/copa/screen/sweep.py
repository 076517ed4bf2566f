"""COPA's sweeps in words: which model on which interval of a weight, or of p."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riskrank.engine.copa.sweep import Sweep
from riskrank.errors import by_door, option
from riskrank.shown import numbers
from riskrank.shown.view import Column, Line, OfModel, Section, Table, by_row
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.screen.objectives import objective_cells
from riskrank.studies.copa.sweep import SweepDocument

# Sweeps over thousands of models have hundreds of intervals; a person reads the widest.
_MOST_INTERVALS = 20


def view(document: SweepDocument) -> list[Section]:
    """The intervals, and how evenly they cover the front."""
    table, sweeps = document.objectives, document.sweeps
    sections: list[Section] = []
    for p, sweep in sweeps:
        sections.append(_sweep_table(table, p, sweep))
        if sweep.model.size > _MOST_INTERVALS:
            text = f"the {_MOST_INTERVALS} widest of {sweep.model.size:,} intervals; "
            text += f"{by_door(option('format', 'csv'), 'to_csv()')} gives all."
            sections.append(Line(text, "Shown:"))
        sections.append(_coverage_line(p, sweep))
    sections.append(_reading(table, sweeps[0][1]))
    return sections


def _sweep_table(table: Objectives, p: float | None, sweep: Sweep) -> Table:
    widths = sweep.widths
    kept = np.sort(np.argsort(-widths, kind="stable")[:_MOST_INTERVALS])
    show: Callable[[float], str]
    if p is None or sweep.objective is None:
        title, label, show = "COPA's choice as p goes from 1 to ∞", "p", _order_end
    else:
        name = table.population.metrics[sweep.objective]
        title = f"COPA's choice as the weight α of {name} goes from 0 to 1, p = {numbers.order(p)}"
        label, show = "α", _weight_end
    shown = objective_cells(table, sweep.model[kept].tolist())
    if sweep.objective is not None:  # what is swept comes first
        shown.insert(0, shown.pop(sweep.objective))
    columns: list[OfModel] = [
        (Column("model", "left"), lambda at: table.name(sweep.model[at])),
        (Column(f"{label} from"), lambda at: show(sweep.low[at])),
        (Column("to"), lambda at: show(sweep.high[at])),
        (Column("share"), lambda at: f"{100 * widths[at]:.1f} %"),
    ]
    for head, cell in shown:
        columns.append((head, lambda at, cell=cell: cell(sweep.model[at])))  # type: ignore[misc]
    return by_row(title, columns, kept, stub=1)


def _weight_end(weight: float) -> str:
    return f"{weight:.4f}"


def _order_end(p: float) -> str:
    return "∞" if np.isinf(p) else f"{p:.4g}"


def _coverage_line(p: float | None, sweep: Sweep) -> Line:
    effective = sweep.evenness * sweep.front_size
    label = "Front:" if p is None else f"Front at p = {numbers.order(p)}:"
    text = (
        f"{sweep.models_chosen:,} of the {sweep.front_size:,} Pareto-optimal models are chosen somewhere "
        f"({numbers.top_share(sweep.coverage)}); their intervals are as even as {effective:.1f} equal ones "
        f"(evenness {numbers.ratio(sweep.evenness)}, 1 if every model of the front had the same)."
    )
    return Line(text, label)


def _reading(table: Objectives, sweep: Sweep) -> Line:
    if sweep.objective is None:
        text = "shares are those of 1/p, of which the steps are equal. "
    else:
        others = np.delete(table.weights, sweep.objective)
        how = "equally" if np.ptp(others) < 1e-12 else "in the proportions of their weights"
        text = f"the other objectives share 1 − α {how}. "
    text += "Beside each value stands its top-%: how many of the other models do better there."
    return Line(text, "Reading:")
