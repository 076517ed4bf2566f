"""COPA beside the classical scalarizations, in words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from riskrank.engine.copa.comparison import ScalarizationComparison
from riskrank.errors import listing, option
from riskrank.shown.view import Cell, Column, Line, OfModel, Section, Table, by_row
from riskrank.studies.copa.comparison import ComparisonDocument, label, left_out
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.rounding import typeset

_MOST_ROWS = 20


def view(document: ComparisonDocument) -> list[Section]:
    """Ranks by every scalarization, the models that move most, and how far they agree."""
    table, found, top = document.objectives, document.comparison, document.settings.top
    shown = range(min(len(found.models), top or _MOST_ROWS))
    sections: list[Section] = [_rank_table("Ranks by every criterion", table, found, shown)]
    if len(shown) < len(found.models) and top is None:
        text = (
            f"the best {len(shown)} of {len(found.models):,} by {label(found.names[0])}; "
            f"{option('top', 'N')} shows more."
        )
        sections.append(Line(text, "Shown:"))
    movers = document.movers
    if movers and len(found.models) > len(shown):
        sections.append(_rank_table("Models that move most", table, found, movers))
    sections += [_tau_table(found), *_words(document)]
    return sections


def _rank_table(title: str, table: Objectives, found: ScalarizationComparison, shown: Iterable[int]) -> Table:
    rank, movement = found.comparison.rank, found.comparison.movement
    columns: list[OfModel] = [(Column("model", "left"), lambda j: table.name(found.models[j]))]
    for m, head in enumerate(_heads(found)):
        columns.append((head, lambda j, m=m: Cell(str(rank[m, j]), "green" if rank[m, j] == 1 else "")))  # type: ignore[misc]
    columns.append((Column("moves\nby"), lambda j: str(movement[j])))
    return by_row(title, columns, shown, stub=1)


def _heads(found: ScalarizationComparison) -> list[Column]:
    return [Column(label(name).replace(" ", "\n", 1)) for name in found.names]


def _tau_table(found: ScalarizationComparison) -> Table:
    rows = tuple(
        (label(name), *("–" if np.isnan(tau) else typeset(f"{tau:.2f}") for tau in row))
        for name, row in zip(found.names, found.comparison.tau, strict=True)
    )
    return Table("Kendall's tau-b between the criteria", (Column("", "left"), *_heads(found)), rows)


def _words(document: ComparisonDocument) -> list[Line]:
    table, found = document.objectives, document.comparison
    rank = found.comparison.rank
    winners: dict[str, list[str]] = {}
    for m, name in enumerate(found.names):
        for j in np.flatnonzero(rank[m] == 1)[:1]:
            winners.setdefault(table.name(found.models[j]), []).append(label(name))
    if len(winners) == 1:
        text = f"every criterion puts {next(iter(winners))} first."
    else:
        text = "; ".join(f"{model} by {listing(names, 12)}" for model, names in winners.items()) + "."
    lines = [Line(text, "First:")]
    movers = document.movers
    if movers:
        j = movers[0]
        best, worst = int(np.argmin(rank[:, j])), int(np.argmax(rank[:, j]))
        text = (
            f"{table.name(found.models[j])} is rank {rank[best, j]:,} by {label(found.names[best])} and "
            f"{rank[worst, j]:,} by {label(found.names[worst])}."
        )
        lines.append(Line(text, "Moves most:", "yellow"))
    if found.left_out:
        reasons = (text.removeprefix("left out ") for text in left_out(found))
        lines.append(Line("; ".join(reasons) + ".", "Left out:", "yellow"))
    text = (
        "average is the weighted sum of the raw values, Δ the relative distance to the best value, min–max "
        "the distance in ranges of the column, usual p the norm with its weights outside the power; SAW, AHP "
        "and MEW as in the paper's minimisation form. All use the same weights. tau 1: the same order."
    )
    return [*lines, Line(text, "Reading:")]
