"""Rows of COPA's ranking: what is said of each model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.copa.choice import CopaRanking, listed
from riskrank.engine.copa.stability import ChoiceBootstrap, ModelInfluence
from riskrank.engine.types import Floats
from riskrank.studies.copa.base import order_key
from riskrank.studies.copa.doubt import FrontDoubt
from riskrank.studies.copa.objectives import ObjectiveTable

CCDF_PROBABILITIES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class CopaRow:
    """One model; the dictionaries hold an entry an objective, or one a p."""

    model: str
    rank: int | None
    norm: float
    pareto: bool
    feasible: bool
    u: dict[str, float]
    tied_with: list[str]
    values: dict[str, float]
    ranks: dict[str, int | None]
    norms: dict[str, float]
    ccdf_mean: float
    ccdf_quantiles: dict[str, float]
    choice_without: str | None
    chosen_share: float | None
    population_share: float | None = None
    front: str | None = None
    front_share: float | None = None
    low: dict[str, float | None] | None = None
    high: dict[str, float | None] | None = None
    meets: dict[str, str] | None = None
    dominated_by: str | None = None
    off_p_adjusted: float | None = None
    on_p_adjusted: float | None = None
    rival: str | None = None
    better_on: str | None = None


# Fields of rows that only samples give rise to.
ONLY_OF_SAMPLES = (
    "front",
    "front_share",
    "low",
    "high",
    "meets",
    "dominated_by",
    "off_p_adjusted",
    "on_p_adjusted",
    "rival",
    "better_on",
)


def copa_rows(
    table: ObjectiveTable,
    rankings: tuple[CopaRanking, ...],
    influence: ModelInfluence | None,
    populations: ChoiceBootstrap | None,
    doubt: FrontDoubt | None,
    quantiles: Floats,
    mean: Floats,
) -> list[CopaRow]:
    """One row a model, best first."""
    population, leading, name = table.population, rankings[0], table.name
    levels = [f"{probability:g}" for probability in CCDF_PROBABILITIES]
    tied = leading.ties()
    rows = []
    for i in listed(population, leading):
        without = -1 if influence is None else int(influence.choice[i])
        rows.append(
            CopaRow(
                model=name(i),
                rank=leading.place(i),
                norm=leading.norm[i].item(),
                pareto=bool(population.front[i]),
                feasible=bool(population.feasible[i]),
                u=table.by_metric(population.u[i]),
                tied_with=[name(j) for j in tied.get(int(leading.tie[i]), ()) if j != i],
                values=table.by_metric(table.values[i]),
                ranks={order_key(ranking.p): ranking.place(i) for ranking in rankings},
                norms={order_key(ranking.p): ranking.norm[i].item() for ranking in rankings},
                ccdf_mean=mean[i].item(),
                ccdf_quantiles=dict(zip(levels, quantiles[i].tolist(), strict=True)),
                choice_without=name(without) if without >= 0 else None,
                chosen_share=None if doubt is None else float(doubt.shares.chosen[i]),
                population_share=None if populations is None else populations.share(i),
                **({} if doubt is None else _of_samples(table, doubt, i)),
            )
        )
    return rows


def _of_samples(table: ObjectiveTable, doubt: FrontDoubt, i: int) -> dict[str, Any]:
    """What samples say of a model, and on what evidence."""
    states, able = doubt.states, table.population.feasible
    rival = int(states.rival[i])
    off = np.where(able, states.dominates[:, i], 1.0)
    objective = -1 if rival < 0 else int(states.best_on[i, rival])

    def named(model: int) -> str | None:
        return table.name(model) if model >= 0 else None

    return {
        "front": states.words[i],
        "front_share": float(doubt.shares.front[i]),
        "low": table.by_metric(doubt.low[i]),
        "high": table.by_metric(doubt.high[i]),
        "meets": {text: one.word for text, one in zip(table.constraints, doubt.answers[i], strict=True)},
        "dominated_by": named(int(states.dominator[i])),
        "off_p_adjusted": float(off.min()),
        "on_p_adjusted": float(states.stands[i]),
        "rival": named(rival),
        "better_on": None if objective < 0 else table.population.metrics[objective],
    }
