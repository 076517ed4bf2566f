"""Screens for the comparison with classical scalarizations, and for sweeps of a weight or of p."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from riskrank.engine.copa.comparison import ScalarizationComparison
from riskrank.engine.copa.sweep import Sweep
from riskrank.errors import listing, option
from riskrank.render import numbers
from riskrank.render.screens import hidden_count_lines
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.copa.comparison import ComparisonDocument, exclusion_messages, scalarization_label
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.screen.objectives import objective_cells
from riskrank.studies.copa.sweep import SweepDocument
from riskrank.studies.wording import typeset

_MOST_ROWS = 20


def build_sections(document: ComparisonDocument) -> Iterator[Section]:
    """Yield the ranks under every scalarization, their agreement, and the models whose rank changes most."""
    table, comparison, top = document.objectives, document.comparison, document.settings.top
    places = range(min(len(comparison.models), top or _MOST_ROWS))
    yield _rank_table("Ranks by every criterion", table, comparison, places)
    yield from hidden_count_lines(len(comparison.models) - len(places), "model", option("top", "N"))
    yield _tau_table(comparison)
    yield from _summary_lines(document)


def _rank_table(
    title: str, table: Objectives, comparison: ScalarizationComparison, positions: Iterable[int]
) -> Table:
    """Return a table of the ranks under every scalarization."""
    rank, movement = comparison.comparison.rank, comparison.comparison.movement
    columns: list[ModelColumn] = [(Column("model", "left"), lambda j: table.name(comparison.models[j]))]
    for m, head in enumerate(_scalarization_headings(comparison)):
        columns.append((head, lambda j, m=m: Cell(str(rank[m, j]), "green" if rank[m, j] == 1 else "")))  # type: ignore[misc]
    columns.append((Column("moves\nby"), lambda j: str(movement[j])))
    return build_table(title, columns, positions)


def _scalarization_headings(comparison: ScalarizationComparison) -> list[Column]:
    """Return column headings for the scalarizations."""
    return [Column(scalarization_label(name).replace(" ", "\n", 1)) for name in comparison.names]


def _tau_table(comparison: ScalarizationComparison) -> Table:
    """Return a table of Kendall's tau between all pairs of scalarizations."""
    rows = tuple(
        (scalarization_label(name), *("–" if np.isnan(tau) else typeset(f"{tau:.2f}") for tau in row))
        for name, row in zip(comparison.names, comparison.comparison.tau, strict=True)
    )
    return Table(
        "Kendall's tau-b between the criteria",
        (Column("", "left"), *_scalarization_headings(comparison)),
        rows,
    )


def _summary_lines(document: ComparisonDocument) -> Iterator[Line]:
    """Yield lines about the top model of each scalarization, the largest rank change and the exclusions."""
    table, comparison = document.objectives, document.comparison
    rank = comparison.comparison.rank
    winners: dict[str, list[str]] = {}
    for m, name in enumerate(comparison.names):
        for j in np.flatnonzero(rank[m] == 1)[:1]:
            winners.setdefault(table.name(comparison.models[j]), []).append(scalarization_label(name))
    if len(winners) == 1:
        text = f"every criterion puts {next(iter(winners))} first."
    else:
        text = "; ".join(f"{model} by {listing(names, 12)}" for model, names in winners.items()) + "."
    yield Line(text, "First:")
    for j in document.movers[:1]:
        best, worst = int(np.argmin(rank[:, j])), int(np.argmax(rank[:, j]))
        text = (
            f"{table.name(comparison.models[j])} has rank {rank[best, j]:,} by "
            f"{scalarization_label(comparison.names[best])} and "
            f"{rank[worst, j]:,} by {scalarization_label(comparison.names[worst])}."
        )
        yield Line(text, "Moves most:", "yellow")
    if comparison.excluded:
        reasons = (text.removeprefix("excluded ") for text in exclusion_messages(comparison))
        yield Line("; ".join(reasons) + ".", "Excluded:", "yellow")
    text = (
        "average: weighted sum of the raw values; Δ: relative distance to the best value; min–max: distance "
        "divided by the range of the column; usual p: norm with the weights outside the power; SAW, AHP and "
        "MEW: as in the paper, for minimisation. All use the same weights. tau = 1: the same order."
    )
    yield Line(text, "Reading:")


# Sweeps over thousands of models have hundreds of intervals; only the widest are shown.
_MOST_INTERVALS = 20


def sweep_sections(document: SweepDocument) -> Iterator[Section]:
    """Yield a table of intervals for each sweep, and how evenly the chosen models cover the front."""
    table, sweeps = document.objectives, document.sweeps
    for p, sweep in sweeps:
        yield _sweep_table(table, p, sweep)
        yield from hidden_count_lines(sweep.model.size - _MOST_INTERVALS, "interval", option("format", "csv"))
        yield _coverage_line(p, sweep)
    yield _reading_of_sweep(table, sweeps[0][1])


def _sweep_table(table: Objectives, p: float | None, sweep: Sweep) -> Table:
    """Return a table of the widest intervals in a sweep."""
    widths = sweep.widths
    widest = np.sort(np.argsort(-widths, kind="stable")[:_MOST_INTERVALS])
    format_value: Callable[[float], str]
    if p is None or sweep.objective is None:
        title, parameter, format_value = "COPA's choice as p goes from 1 to ∞", "p", "{:.4g}".format
    else:
        name = table.population.metrics[sweep.objective]
        title = f"COPA's choice as the weight α of {name} goes from 0 to 1, p = {numbers.format_order(p)}"
        parameter, format_value = "α", "{:.4f}".format
    value_columns = objective_cells(table, sweep.model[widest].tolist())
    if sweep.objective is not None:  # the swept objective comes first
        value_columns.insert(0, value_columns.pop(sweep.objective))
    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: table.name(sweep.model[i])),
        (Column(f"{parameter} from"), lambda i: format_value(sweep.low[i]).replace("inf", "∞")),
        (Column("to"), lambda i: format_value(sweep.high[i]).replace("inf", "∞")),
        (Column("share"), lambda i: f"{100 * widths[i]:.1f} %"),
    ]
    for head, cell in value_columns:
        columns.append((head, lambda i, cell=cell: cell(sweep.model[i])))  # type: ignore[misc]
    return build_table(title, columns, widest)


def _coverage_line(p: float | None, sweep: Sweep) -> Line:
    """Return a line about how many models on the front are chosen, and how evenly."""
    effective = sweep.evenness * sweep.front_size
    label = "Front:" if p is None else f"Front at p = {numbers.format_order(p)}:"
    text = (
        f"{sweep.models_chosen:,} of the {sweep.front_size:,} Pareto-optimal models are chosen at some point "
        f"({numbers.format_top_share(sweep.coverage)}); their intervals are as even as "
        f"{effective:.1f} equal intervals "
        f"(evenness {numbers.format_ratio(sweep.evenness)}; 1 means equal intervals for the whole front)."
    )
    return Line(text, label)


def _reading_of_sweep(table: Objectives, sweep: Sweep) -> Line:
    """Return a line that explains how to read the tables of a sweep."""
    if sweep.objective is None:
        text = "shares refer to 1/p, which has equal steps. "
    else:
        other_weights = np.delete(table.weights, sweep.objective)
        how = "equally" if np.ptp(other_weights) < 1e-12 else "in proportion to their weights"
        text = f"the other objectives share 1 − α {how}. "
    text += "The top-% next to each value is the share of other models with a better value."
    return Line(text, "Reading:")
