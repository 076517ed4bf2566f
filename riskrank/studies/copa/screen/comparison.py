"""COPA beside the classical scalarizations, and as a weight or p goes from end to end, in words."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from riskrank.engine.copa.comparison import ScalarizationComparison
from riskrank.engine.copa.sweep import Sweep
from riskrank.errors import listing, option
from riskrank.render import numbers
from riskrank.render.screens import unshown
from riskrank.render.view import Cell, Column, Line, OfModel, Section, Table, by_row
from riskrank.studies.copa.comparison import ComparisonDocument, exclusion_messages, scalarization_label
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.screen.objectives import objective_cells
from riskrank.studies.copa.sweep import SweepDocument
from riskrank.studies.wording import typeset

_MOST_ROWS = 20


def view(document: ComparisonDocument) -> Iterator[Section]:
    """Ranks by every scalarization, the models that move most, and how far they agree."""
    table, found, top = document.objectives, document.comparison, document.settings.top
    shown = range(min(len(found.models), top or _MOST_ROWS))
    yield _rank_table("Ranks by every criterion", table, found, shown)
    yield from unshown(len(found.models) - len(shown), "model", option("top", "N"))
    yield _tau_table(found)
    yield from _summary_lines(document)


def _rank_table(title: str, table: Objectives, found: ScalarizationComparison, shown: Iterable[int]) -> Table:
    rank, movement = found.comparison.rank, found.comparison.movement
    columns: list[OfModel] = [(Column("model", "left"), lambda j: table.name(found.models[j]))]
    for m, head in enumerate(_heads(found)):
        columns.append((head, lambda j, m=m: Cell(str(rank[m, j]), "green" if rank[m, j] == 1 else "")))  # type: ignore[misc]
    columns.append((Column("moves\nby"), lambda j: str(movement[j])))
    return by_row(title, columns, shown)


def _heads(found: ScalarizationComparison) -> list[Column]:
    return [Column(scalarization_label(name).replace(" ", "\n", 1)) for name in found.names]


def _tau_table(found: ScalarizationComparison) -> Table:
    rows = tuple(
        (scalarization_label(name), *("–" if np.isnan(tau) else typeset(f"{tau:.2f}") for tau in row))
        for name, row in zip(found.names, found.comparison.tau, strict=True)
    )
    return Table("Kendall's tau-b between the criteria", (Column("", "left"), *_heads(found)), rows)


def _summary_lines(document: ComparisonDocument) -> Iterator[Line]:
    table, found = document.objectives, document.comparison
    rank = found.comparison.rank
    winners: dict[str, list[str]] = {}
    for m, name in enumerate(found.names):
        for j in np.flatnonzero(rank[m] == 1)[:1]:
            winners.setdefault(table.name(found.models[j]), []).append(scalarization_label(name))
    if len(winners) == 1:
        text = f"every criterion puts {next(iter(winners))} first."
    else:
        text = "; ".join(f"{model} by {listing(names, 12)}" for model, names in winners.items()) + "."
    yield Line(text, "First:")
    for j in document.movers[:1]:
        best, worst = int(np.argmin(rank[:, j])), int(np.argmax(rank[:, j]))
        text = (
            f"{table.name(found.models[j])} is rank {rank[best, j]:,} by {scalarization_label(found.names[best])} and "
            f"{rank[worst, j]:,} by {scalarization_label(found.names[worst])}."
        )
        yield Line(text, "Moves most:", "yellow")
    if found.excluded:
        reasons = (text.removeprefix("left out ") for text in exclusion_messages(found))
        yield Line("; ".join(reasons) + ".", "Left out:", "yellow")
    text = (
        "average is the weighted sum of the raw values, Δ the relative distance to the best value, min–max "
        "the distance in ranges of the column, usual p the norm with its weights outside the power; SAW, AHP "
        "and MEW as in the paper's minimisation form. All use the same weights. tau 1: the same order."
    )
    yield Line(text, "Reading:")


# Sweeps over thousands of models have hundreds of intervals; a person reads the widest.
_MOST_INTERVALS = 20


def sweep_view(document: SweepDocument) -> Iterator[Section]:
    """The intervals, and how evenly they cover the front."""
    table, sweeps = document.objectives, document.sweeps
    for p, sweep in sweeps:
        yield _sweep_table(table, p, sweep)
        yield from unshown(sweep.model.size - _MOST_INTERVALS, "interval", option("format", "csv"))
        yield _coverage_line(p, sweep)
    yield _reading_of_sweep(table, sweeps[0][1])


def _sweep_table(table: Objectives, p: float | None, sweep: Sweep) -> Table:
    widths = sweep.widths
    kept = np.sort(np.argsort(-widths, kind="stable")[:_MOST_INTERVALS])
    show: Callable[[float], str]
    if p is None or sweep.objective is None:
        title, label, show = "COPA's choice as p goes from 1 to ∞", "p", "{:.4g}".format
    else:
        name = table.population.metrics[sweep.objective]
        title = f"COPA's choice as the weight α of {name} goes from 0 to 1, p = {numbers.order(p)}"
        label, show = "α", "{:.4f}".format
    shown = objective_cells(table, sweep.model[kept].tolist())
    if sweep.objective is not None:  # what is swept comes first
        shown.insert(0, shown.pop(sweep.objective))
    columns: list[OfModel] = [
        (Column("model", "left"), lambda at: table.name(sweep.model[at])),
        (Column(f"{label} from"), lambda at: show(sweep.low[at]).replace("inf", "∞")),
        (Column("to"), lambda at: show(sweep.high[at]).replace("inf", "∞")),
        (Column("share"), lambda at: f"{100 * widths[at]:.1f} %"),
    ]
    for head, cell in shown:
        columns.append((head, lambda at, cell=cell: cell(sweep.model[at])))  # type: ignore[misc]
    return by_row(title, columns, kept)


def _coverage_line(p: float | None, sweep: Sweep) -> Line:
    effective = sweep.evenness * sweep.front_size
    label = "Front:" if p is None else f"Front at p = {numbers.order(p)}:"
    text = (
        f"{sweep.models_chosen:,} of the {sweep.front_size:,} Pareto-optimal models are chosen somewhere "
        f"({numbers.top_share(sweep.coverage)}); their intervals are as even as {effective:.1f} equal ones "
        f"(evenness {numbers.ratio(sweep.evenness)}, 1 if every model of the front had the same)."
    )
    return Line(text, label)


def _reading_of_sweep(table: Objectives, sweep: Sweep) -> Line:
    if sweep.objective is None:
        text = "shares are those of 1/p, of which the steps are equal. "
    else:
        others = np.delete(table.weights, sweep.objective)
        how = "equally" if np.ptp(others) < 1e-12 else "in the proportions of their weights"
        text = f"the other objectives share 1 − α {how}. "
    text += "Beside each value stands its top-%: how many of the other models do better there."
    return Line(text, "Reading:")
