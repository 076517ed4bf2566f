"""COPA's sweeps as rows and in words: which model on which interval of a weight, or of p."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from riskrank.engine.copa.sweep import Sweep
from riskrank.report import numbers
from riskrank.report.copa.objectives import RankedTable, objective_cells, objective_columns
from riskrank.report.copa.ranking import order_value
from riskrank.report.view import Cell, Column, Line, Section, Table

SCHEMA = "copa-sweep"
WEIGHT_FIELDS = ("alpha_low", "alpha_high", "model", "p", "u", "values")
ORDER_FIELDS = ("p_low", "p_high", "model", "u", "values")

# Sweeps over thousands of models have hundreds of intervals; a person reads the widest.
_MOST_INTERVALS = 20

# The p of a sweep and the sweep; None for a sweep over p.
Sweeps = Sequence[tuple[float | None, Sweep]]


def sweep_rows(table: RankedTable, sweeps: Sweeps) -> list[dict[str, Any]]:
    """One row an interval, by p and then from low to high."""
    rows = []
    for p, sweep in sweeps:
        for low, high, i in zip(sweep.low.tolist(), sweep.high.tolist(), sweep.model, strict=True):
            if p is None:
                ends = {"p_low": order_value(low), "p_high": order_value(high)}
            else:
                ends = {"alpha_low": low, "alpha_high": high}
            row = ends | {"model": table.name(i)}
            if p is not None:
                row["p"] = order_value(p)
            row["u"] = table.by_metric(table.population.u[i])
            row["values"] = table.by_metric(table.values[i])
            rows.append(row)
    return rows


def sweep_meta(sweeps: Sweeps) -> dict[str, Any]:
    """How well each sweep covers the front, for ``meta``."""
    return {
        "sweeps": [
            {
                "p": None if p is None else order_value(p),
                "intervals": int(sweep.model.size),
                "models_chosen": int(np.unique(sweep.model).size),
                "front_size": sweep.front_size,
                "coverage": sweep.coverage,
                "evenness": sweep.evenness,
            }
            for p, sweep in sweeps
        ]
    }


def sweep_view(table: RankedTable, sweeps: Sweeps) -> list[Section]:
    """The intervals, and how evenly they cover the front."""
    view: list[Section] = []
    for p, sweep in sweeps:
        view.append(_sweep_table(table, p, sweep))
        if sweep.model.size > _MOST_INTERVALS:
            text = f"the {_MOST_INTERVALS} widest of {sweep.model.size:,} intervals; --format csv gives all."
            view.append(Line(text, "Shown:"))
        view.append(_coverage_line(p, sweep))
    view.append(_reading(table, sweeps[0][1]))
    return view


def _sweep_table(table: RankedTable, p: float | None, sweep: Sweep) -> Table:
    widths = np.diff(_positions(sweep))
    kept = np.sort(np.argsort(-widths, kind="stable")[:_MOST_INTERVALS])
    if p is None:
        title, label, show = "COPA's choice as p goes from 1 to ∞", "p", _order_end
    else:
        name = table.population.metrics[sweep.objective]
        title = f"COPA's choice as the weight α of {name} goes from 0 to 1, p = {numbers.order(p)}"
        label, show = "α", lambda end: f"{end:.4f}"
    head = [Column("model", "left"), Column(f"{label} from"), Column("to"), Column("share")]
    models = sweep.model[kept]
    rows: list[list[Cell | str]] = [
        [table.name(i), show(sweep.low[j]), show(sweep.high[j]), f"{100 * widths[j]:.1f} %"]
        for j, i in zip(kept, models, strict=True)
    ]
    columns, cells = objective_columns(table), objective_cells(table, models)
    if sweep.objective is not None:  # what is swept comes first
        first = [sweep.objective, *(k for k in range(len(columns)) if k != sweep.objective)]
        columns, cells = [columns[k] for k in first], [[row[k] for k in first] for row in cells]
    return Table(
        title, (*head, *columns), tuple((*own, *more) for own, more in zip(rows, cells, strict=True))
    )


def _positions(sweep: Sweep) -> np.ndarray:
    """Edges of the intervals on the scale the sweep is even in: α, or 1 − 1/p."""
    edges = np.append(sweep.low, sweep.high[-1])
    return edges if sweep.parameter == "alpha" else 1 - 1 / edges


def _order_end(p: float) -> str:
    return "∞" if np.isinf(p) else f"{p:.4g}"


def _coverage_line(p: float | None, sweep: Sweep) -> Line:
    chosen = int(np.unique(sweep.model).size)
    effective = sweep.evenness * sweep.front_size
    label = "Front:" if p is None else f"Front at p = {numbers.order(p)}:"
    text = (
        f"{chosen:,} of the {sweep.front_size:,} Pareto-optimal models are chosen somewhere "
        f"({numbers.top_share(sweep.coverage)}); their intervals are as even as {effective:.1f} equal ones "
        f"(evenness {numbers.ratio(sweep.evenness)}, 1 if every model of the front had the same)."
    )
    return Line(text, label)


def _reading(table: RankedTable, sweep: Sweep) -> Line:
    if sweep.parameter == "p":
        text = "shares are those of 1/p, of which the steps are equal. "
    else:
        others = np.delete(table.weights, sweep.objective)
        how = "equally" if np.ptp(others) < 1e-12 else "in the proportions of their weights"
        text = f"the other objectives share 1 − α {how}. "
    text += "Beside each value stands its top-%: how many of the other models do better there."
    return Line(text, "Reading:")
