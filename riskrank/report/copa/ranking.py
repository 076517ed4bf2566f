"""COPA's ranking as rows, and in words: who is chosen, why, and what would change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.copa.population import TIE_BREAKING_P, CopaRanking, ccdf_quantiles
from riskrank.engine.copa.stability import ChoiceBootstrap, ModelInfluence
from riskrank.engine.copa.sweep import Sweep, range_of_choice
from riskrank.errors import listing
from riskrank.report import numbers
from riskrank.report.copa.objectives import (
    RankedTable,
    objective_cells,
    objective_columns,
    weakest_objective,
    weakest_objectives,
)
from riskrank.report.view import Cell, Column, Line, Section, Table

FIELDS = (
    "model",
    "rank",
    "norm",
    "pareto",
    "feasible",
    "u",
    "tied_with",
    "values",
    "ranks",
    "norms",
    "ccdf_mean",
    "ccdf_quantiles",
    "choice_without",
    "chosen_share",
)

CCDF_PROBABILITIES = (0.0, 0.25, 0.5, 0.75, 1.0)

_MOST_NAMES = 4


@dataclass(frozen=True)
class CopaStudy:
    """Everything ``copa`` finds out about one choice.

    Attributes
    ----------
    rankings : tuple of CopaRanking
        By the p's asked for; the first one decides.
    others : tuple of CopaRanking
        By a few usual p's, to show what this knob does.
    sweeps : tuple of Sweep
        Of each weight, to show what that knob does; empty for a single objective.
    influence : ModelInfluence or None
        None for fewer than three models.
    bootstrap : ChoiceBootstrap or None
        None if nobody asked.
    """

    rankings: tuple[CopaRanking, ...]
    others: tuple[CopaRanking, ...]
    sweeps: tuple[Sweep, ...]
    influence: ModelInfluence | None
    bootstrap: ChoiceBootstrap | None

    @property
    def leading(self) -> CopaRanking:
        """The ranking that decides."""
        return self.rankings[0]


def order_key(p: float) -> str:
    """Write p as a key or value that every language reads back."""
    return f"{p:g}"


def order_value(p: float) -> float | str:
    """Write p as a number, or as text where JSON has none."""
    return "inf" if np.isinf(p) else float(p)


def shown_models(table: RankedTable, ranking: CopaRanking, top: int | None) -> list[int]:
    """List the models by rank, those that may not be chosen last and by their norm."""
    barred = np.flatnonzero(~table.population.feasible)
    by_norm = barred[np.lexsort((table.population.name_order[barred], ranking.norm[barred]))]
    return [*ranking.order.tolist(), *by_norm.tolist()][:top]


def copa_rows(table: RankedTable, study: CopaStudy, top: int | None) -> list[dict[str, Any]]:
    """One row a model, best first."""
    population, leading = table.population, study.leading
    quantiles, mean = ccdf_quantiles(population.u, CCDF_PROBABILITIES)
    levels = [f"{probability:g}" for probability in CCDF_PROBABILITIES]
    tied = _tied_models(leading)
    rows = []
    for i in shown_models(table, leading, top):
        without = -1 if study.influence is None else int(study.influence.choice[i])
        rows.append(
            {
                "model": table.name(i),
                "rank": _rank(leading, i),
                "norm": leading.norm[i].item(),
                "pareto": bool(population.front[i]),
                "feasible": bool(population.feasible[i]),
                "u": table.by_metric(population.u[i]),
                "tied_with": [table.name(j) for j in tied.get(int(leading.tie[i]), ()) if j != i],
                "values": table.by_metric(table.values[i]),
                "ranks": {order_key(ranking.p): _rank(ranking, i) for ranking in study.rankings},
                "norms": {order_key(ranking.p): ranking.norm[i].item() for ranking in study.rankings},
                "ccdf_mean": mean[i].item(),
                "ccdf_quantiles": dict(zip(levels, quantiles[i].tolist(), strict=True)),
                "choice_without": table.name(without) if without >= 0 else None,
                "chosen_share": _chosen_share(study.bootstrap, i),
            }
        )
    return rows


def copa_meta(table: RankedTable, study: CopaStudy) -> dict[str, Any]:
    """The choice and how firm it is, for ``meta``."""
    leading, bootstrap, influence = study.leading, study.bootstrap, study.influence
    metrics = table.population.metrics
    meta: dict[str, Any] = {
        "chosen": table.name(leading.chosen),
        "front_size": int(table.population.front.sum()),
        "feasible_models": int(table.population.feasible.sum()),
        "chosen_by_p": {order_key(other.p): table.name(other.chosen) for other in study.others},
        "weight_ranges": [
            {
                "metric": metrics[k],
                "weight": table.weights[k].item(),
                "low": low,
                "high": high,
                "models_chosen": models_chosen,
            }
            for k, (low, high, models_chosen) in enumerate(_weight_ranges(table, study))
        ],
        "influence": None,
        "bootstrap": None,
    }
    if influence is not None:
        meta["influence"] = {
            "successor": table.name(influence.successor) if influence.successor >= 0 else None,
            "influential": [
                {"model": table.name(i), "choice": table.name(influence.choice[i])}
                for i in influence.influential
            ],
        }
    if bootstrap is not None:
        meta["bootstrap"] = {
            "survival": bootstrap.survival,
            "runners_up": [
                {"model": table.name(i), "chosen_share": _chosen_share(bootstrap, i)}
                for i in bootstrap.runners_up
            ],
        }
    return meta


def copa_view(table: RankedTable, study: CopaStudy, *, top: int | None, ccdf: bool) -> list[Section]:
    """The ranking, the choice in words, and what would change it."""
    leading = study.leading
    models = shown_models(table, leading, top or table.usual_rows())
    view: list[Section] = [_ranking_table(table, study, models)]
    rest = len(table.population.names) - len(models)
    if rest and top is None:
        text = f"the best {len(models)} of {len(table.population.names):,}; --top N shows more or fewer, "
        view.append(Line(text + "--format csv or json gives all.", "Shown:"))
    if ccdf:
        view.append(_ccdf_table(table, models))
    view += [Line(_choice(table, leading), "Chosen:", "bold"), *_tie_lines(table, leading)]
    view.append(_front_line(table))
    if len(study.sweeps) > 1:
        view.append(_knob_table(table, study))
    view.append(Line(_other_orders(table, study), "Other p:"))
    if study.influence is not None:
        view.append(Line(_influence(table, study.influence), "Influence:"))
    if study.bootstrap is not None:
        view.append(Line(_stability(table, study.bootstrap), "Stability:"))
    view.append(_reading(table, leading))
    return view


def _tied_models(ranking: CopaRanking) -> dict[int, list[int]]:
    """Models of the same norm, best first, by the number of their tie."""
    tied: dict[int, list[int]] = {}
    for i in ranking.order.tolist():
        tied.setdefault(int(ranking.tie[i]), []).append(i)
    return tied


def _rank(ranking: CopaRanking, i: int) -> int | None:
    return ranking.rank[i].item() or None


def _chosen_share(bootstrap: ChoiceBootstrap | None, i: int) -> float | None:
    return None if bootstrap is None else bootstrap.count[i].item() / bootstrap.resamples


def _weight_ranges(table: RankedTable, study: CopaStudy) -> list[tuple[float, float, int]]:
    chosen = study.leading.chosen
    return [
        (*range_of_choice(sweep, chosen, float(weight)), int(np.unique(sweep.model).size))
        for sweep, weight in zip(study.sweeps, table.weights, strict=bool(study.sweeps))
    ]


def _ranking_table(table: RankedTable, study: CopaStudy, models: Sequence[int]) -> Table:
    leading = study.leading
    several = len(study.rankings) > 1
    head = [Column("model", "left")]
    for ranking in study.rankings:
        label = f"p = {numbers.order(ranking.p)}\n" if several else ""
        head += [Column(f"{label}rank"), Column(f"{label}norm")]
    head.append(Column("front", "center"))
    if table.constraints:
        head.append(Column("meets", "center"))
    if study.bootstrap is not None:
        head.append(Column("chosen\nin"))
    head.append(Column("weakest", "left"))
    rows = []
    for i in models:
        cells: list[Cell | str] = [Cell(table.name(i), "bold" if i == leading.chosen else "")]
        for ranking in study.rankings:
            cells += [str(_rank(ranking, i) or "–"), numbers.score(ranking.norm[i])]
        cells.append("yes" if table.population.front[i] else "–")
        if table.constraints:
            cells.append("yes" if table.population.feasible[i] else Cell("no", "yellow"))
        if study.bootstrap is not None:
            cells.append(_percent(_chosen_share(study.bootstrap, i)))
        cells.append(weakest_objective(table, i))
        rows.append(cells)
    by = f"p = {numbers.order(leading.p)}"
    objectives = f"{len(table.weights)} objective{'s' if len(table.weights) > 1 else ''}"
    title = f"COPA, {by}: {len(table.population.names):,} models, {objectives}"
    cells = objective_cells(table, models)
    return Table(
        title,
        (*head, *objective_columns(table)),
        tuple((*own, *more) for own, more in zip(rows, cells, strict=True)),
    )


def _ccdf_table(table: RankedTable, models: Sequence[int]) -> Table:
    quantiles, mean = ccdf_quantiles(table.population.u[list(models)], CCDF_PROBABILITIES)
    heads = [f"Q {probability:g}" for probability in CCDF_PROBABILITIES]
    columns = (Column("model", "left"), Column("mean"), *(Column(head) for head in heads))
    rows = tuple(
        (table.name(i), numbers.ratio(mean[row]), *(numbers.ratio(value) for value in quantiles[row]))
        for row, i in enumerate(models)
    )
    return Table("Share of models that do not do better (1 − u), over the objectives", columns, rows)


def _choice(table: RankedTable, ranking: CopaRanking) -> str:
    i, population = ranking.chosen, table.population
    name = table.name(i)
    if ranking.norm[i] == 0:
        reason = "no model is better on any objective that has a weight"
    else:
        k = weakest_objectives(table, i)[0]
        weakest = f"{population.metrics[k]}, where {_better(population.u[i, k])}"
        if np.isinf(ranking.p):
            reason = f"its worst weighted rank is the least bad of all: {weakest}"
        elif ranking.p == 1:
            reason = (
                f"on the weighted average of the objectives {_better(ranking.norm[i])}; weakest on {weakest}"
            )
        else:
            reason = f"the smallest p = {ranking.p:g} norm of weighted ranks; weakest on {weakest}"
    if len(ranking.order) == 1:
        return f"{name}, the only model that meets the constraints."
    text = f"{name}: {reason}."
    second = ranking.order[1]
    if ranking.tie[second] != ranking.tie[i]:
        norms = f"{numbers.score(ranking.norm[second])} against {numbers.score(ranking.norm[i])}"
        text += f" Next comes {table.name(second)} (norm {norms})."
    return text


def _better(u: float) -> str:
    return f"{numbers.top_share(u)} of the other models do better" if u > 0 else "no other model does better"


def _tie_lines(table: RankedTable, ranking: CopaRanking) -> list[Line]:
    tied = ranking.tied_with(ranking.chosen)
    if not len(tied):
        return []
    names = listing((table.name(i) for i in tied), _MOST_NAMES)
    have = "has" if len(tied) == 1 else "have"
    first, second = (f"p = {q:g}" for q in TIE_BREAKING_P)
    text = (
        f"{names} {have} the same norm. Ties go to models on the front, then by the norm of {first}, "
        f"then of {second}, then by name."
    )
    return [Line(text, "Tied:", "yellow")]


def _front_line(table: RankedTable) -> Line:
    population = table.population
    front, able, all_ = int(population.front.sum()), int(population.feasible.sum()), len(population.names)
    text = f"{front:,} of {able:,} models are Pareto-optimal: "
    if table.constraints:
        text = (
            f"{able:,} of {all_:,} models meet {' and '.join(table.constraints)} (ranks are among all). "
            + (f"{front:,} of them {'is' if front == 1 else 'are'} Pareto-optimal: ")
        )
    text += "no other is at least as good everywhere and better somewhere."
    if front == able > 1:
        text += " Objectives alone rule nobody out, the weights and p decide."
    return Line(text, "Front:")


def _knob_table(table: RankedTable, study: CopaStudy) -> Table:
    columns = (
        Column("weight of", "left"),
        Column("now"),
        Column("choice stays\nbetween"),
        Column("models chosen\nfrom 0 to 1"),
    )
    rows = []
    for k, (low, high, models_chosen) in enumerate(_weight_ranges(table, study)):
        firm = low == 0 and high == 1
        rows.append(
            (
                table.population.metrics[k],
                numbers.ratio(table.weights[k]),
                Cell("any weight" if firm else numbers.interval(low, high), "" if firm else "yellow"),
                str(models_chosen),
            )
        )
    return Table("What each weight does, the others in proportion", columns, tuple(rows))


def _other_orders(table: RankedTable, study: CopaStudy) -> str:
    orders: dict[int, list[str]] = {}
    for other in study.others:
        orders.setdefault(other.chosen, []).append(numbers.order(other.p))
    if len(orders) == 1:
        return f"p = {', '.join(next(iter(orders.values())))} choose the same model."
    texts = [
        f"p = {', '.join(ps)} choose{'' if len(ps) > 1 else 's'} {table.name(i)}" for i, ps in orders.items()
    ]
    return "; ".join(texts) + ". Small p forgives a bad objective, large p does not."


def _influence(table: RankedTable, influence: ModelInfluence) -> str:
    parts = []
    if influence.successor >= 0:
        parts.append(f"without the chosen model, {table.name(influence.successor)} is chosen.")
    others = influence.influential
    if not len(others):
        parts.append("No other model's absence changes the choice.")
        return " ".join(parts)
    together: dict[int, list[str]] = {}
    for i in others:
        together.setdefault(int(influence.choice[i]), []).append(table.name(i))
    named = (
        f"without {listing(names, 3).replace(', ', ' or ')} it is {table.name(choice)}"
        for choice, names in together.items()
    )
    models = "model" if len(others) == 1 else "models"
    parts.append(
        f"The choice also hangs on the presence of {len(others):,} other {models}, for ranks are relative: "
        + "; ".join(list(named)[:_MOST_NAMES])
        + "."
    )
    return " ".join(parts)


def _stability(table: RankedTable, bootstrap: ChoiceBootstrap) -> str:
    text = (
        f"{table.name(bootstrap.chosen)} stays the choice in {_percent(bootstrap.survival)} of "
        f"{bootstrap.resamples:,} resampled populations"
    )
    others = bootstrap.runners_up
    if not len(others):
        return text + "."
    named = (f"{table.name(i)} ({_percent(_chosen_share(bootstrap, i))})" for i in others)
    return f"{text}; otherwise {listing(named, _MOST_NAMES)}."


def _percent(share: float) -> str:
    percent = 100 * share
    if 0 < percent < 0.1:
        return "<0.1 %"
    return f"{percent:.1f} %" if 0 < percent < 1 or 99 < percent < 100 else f"{percent:.0f} %"


def _reading(table: RankedTable, ranking: CopaRanking) -> Line:
    weighted = "equal weights" if np.ptp(table.weights) < 1e-12 else "the weights above"
    norm = {1.0: "the mean", np.inf: "the largest"}.get(ranking.p, f"the p = {ranking.p:g} norm")
    text = (
        "beside each value stands its top-%: how many of the other models do better there (best: none). "
        f"The norm is {norm} of these ranks times {weighted}, small is better; weakest is the objective with "
        "the largest of them. ↑ more is better, ↓ less is better. --sweep NAME and --sweep-p turn the knobs, "
        "--explain MODEL asks about one model."
    )
    return Line(text, "Reading:")
