"""COPA beside the classical criteria, as rows and in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from riskrank.engine.copa.comparison import CriteriaComparison
from riskrank.errors import listing
from riskrank.report.copa.objectives import RankedTable
from riskrank.report.view import Cell, Column, Line, Section, Table

SCHEMA = "copa-comparison"
FIELDS = ("criterion", "model", "rank", "score")

_MOST_ROWS = 20
_MOST_MOVERS = 5


def comparison_rows(table: RankedTable, found: CriteriaComparison, top: int | None) -> list[dict[str, Any]]:
    """One row a criterion and model, criteria in the order of the table, models by their rank."""
    rows = []
    for m, criterion in enumerate(found.names):
        rank = found.comparison.rank[m]
        for j in np.argsort(rank, kind="stable"):
            if top is None or j < top:
                rows.append(
                    {
                        "criterion": criterion,
                        "model": table.name(found.models[j]),
                        "rank": rank[j].item(),
                        "score": found.scores[m, j].item(),
                    }
                )
    return rows


def comparison_meta(table: RankedTable, found: CriteriaComparison) -> dict[str, Any]:
    """Kendall's tau, the models that move most and what was left out, for ``meta``."""
    tau = found.comparison.tau.tolist()
    return {
        "kendall_tau": {
            name: dict(zip(found.names, row, strict=True)) for name, row in zip(found.names, tau, strict=True)
        },
        "movers": [
            {
                "model": table.name(found.models[j]),
                "movement": found.comparison.movement[j].item(),
                "ranks": dict(zip(found.names, found.comparison.rank[:, j].tolist(), strict=True)),
            }
            for j in _movers(found)
        ],
        "left_out": {name: error.what for name, error in found.left_out.items()},
    }


def left_out_warnings(found: CriteriaComparison) -> list[str]:
    """Say which criteria could not be computed, and which column is to blame."""
    reasons: dict[str, list[str]] = {}
    for name, error in found.left_out.items():
        reason = f"{error.what.removeprefix(_label(name)).strip()} ({error.found})"
        reasons.setdefault(reason, []).append(_label(name))
    return [f"left out {', '.join(names)}: {reason}" for reason, names in reasons.items()]


def comparison_view(table: RankedTable, found: CriteriaComparison, top: int | None) -> list[Section]:
    """Ranks by every criterion, the models that move most, and how far the criteria agree."""
    shown = range(min(len(found.models), top or _MOST_ROWS))
    view: list[Section] = [_rank_table("Ranks by every criterion", table, found, shown)]
    if len(shown) < len(found.models) and top is None:
        text = (
            f"the best {len(shown)} of {len(found.models):,} by {_label(found.names[0])}; --top N shows more."
        )
        view.append(Line(text, "Shown:"))
    movers = _movers(found)
    if movers and len(found.models) > len(shown):
        view.append(_rank_table("Models that move most", table, found, movers))
    view += [_tau_table(found), *_words(table, found)]
    return view


def _movers(found: CriteriaComparison) -> list[int]:
    movement = found.comparison.movement
    return [int(j) for j in found.comparison.movers[:_MOST_MOVERS] if movement[j] > 0]


def _label(name: str) -> str:
    if name in ("saw", "ahp", "mew"):
        return name.upper()
    text = {"min-max": "min–max", "delta": "Δ"}.get(name, name)
    for criterion, label in (("copa", "COPA"), ("p-norm", "usual")):
        text = text.replace(f"{criterion}(p=", f"{label} p = ")
    return text.removesuffix(")").replace("p = inf", "p = ∞")


def _heads(found: CriteriaComparison) -> list[Column]:
    return [Column(_label(name).replace(" ", "\n", 1)) for name in found.names]


def _rank_table(title: str, table: RankedTable, found: CriteriaComparison, shown) -> Table:
    rank, movement = found.comparison.rank, found.comparison.movement
    rows = []
    for j in shown:
        cells = [Cell(str(r), "green" if r == 1 else "") for r in rank[:, j]]
        rows.append((table.name(found.models[j]), *cells, str(movement[j])))
    return Table(title, (Column("model", "left"), *_heads(found), Column("moves\nby")), tuple(rows))


def _tau_table(found: CriteriaComparison) -> Table:
    rows = tuple(
        (_label(name), *("–" if np.isnan(tau) else f"{tau:.2f}" for tau in row))
        for name, row in zip(found.names, found.comparison.tau, strict=True)
    )
    return Table("Kendall's tau-b between the criteria", (Column("", "left"), *_heads(found)), rows)


def _words(table: RankedTable, found: CriteriaComparison) -> list[Line]:
    rank = found.comparison.rank
    winners: dict[str, list[str]] = {}
    for m, name in enumerate(found.names):
        for j in np.flatnonzero(rank[m] == 1)[:1]:
            winners.setdefault(table.name(found.models[j]), []).append(_label(name))
    if len(winners) == 1:
        text = f"every criterion puts {next(iter(winners))} first."
    else:
        text = "; ".join(f"{model} by {listing(names, 12)}" for model, names in winners.items()) + "."
    lines = [Line(text, "First:")]
    movers = _movers(found)
    if movers:
        j = movers[0]
        best, worst = int(np.argmin(rank[:, j])), int(np.argmax(rank[:, j]))
        text = (
            f"{table.name(found.models[j])} is rank {rank[best, j]:,} by {_label(found.names[best])} and "
            f"{rank[worst, j]:,} by {_label(found.names[worst])}."
        )
        lines.append(Line(text, "Moves most:", "yellow"))
    if found.left_out:
        reasons = (text.removeprefix("left out ") for text in left_out_warnings(found))
        lines.append(Line("; ".join(reasons) + ".", "Left out:", "yellow"))
    text = (
        "average is the weighted sum of the raw values, Δ the relative distance to the best value, min–max "
        "the distance in ranges of the column, usual p the norm with its weights outside the power; SAW, AHP "
        "and MEW as in the paper's minimisation form. All use the same weights. tau 1: the same order."
    )
    return [*lines, Line(text, "Reading:")]
