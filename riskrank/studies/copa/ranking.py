"""COPA's ranking: who is chosen, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.engine.copa.choice import CopaRanking, listed, rank_models
from riskrank.engine.copa.ranks import ccdf_quantiles
from riskrank.engine.copa.stability import ChoiceBootstrap, ModelInfluence, bootstrap_choice, leave_one_out
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.copa.weight_ranges import WeightRange, sweep_each_weight, weight_ranges
from riskrank.engine.types import Floats
from riskrank.studies.copa.base import (
    Asked,
    CopaBase,
    described_orders,
    described_weights,
    provenance,
    weights_of,
)
from riskrank.studies.copa.settings import USUAL_ORDERS, order_key
from riskrank.studies.copa.verdict import copa_verdict
from riskrank.studies.objectives import ObjectiveTable

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


@dataclass(frozen=True, kw_only=True)
class CopaDocument(CopaBase[CopaRow]):
    """Models by the norm of their ranks.

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
    ccdf_quantiles, ccdf_mean : ndarray
        Shares of models that do not do better, over the objectives: quantiles at ``CCDF_PROBABILITIES``,
        shape (N, 5), and means, shape (N,).
    top : int or None
        Number of models shown; None for as many as one reads at a glance.
    ccdf : bool
        Whether the quantiles are shown.
    """

    schema: ClassVar[str] = "copa"
    row_type: ClassVar[type] = CopaRow

    rankings: tuple[CopaRanking, ...]
    others: tuple[CopaRanking, ...]
    sweeps: tuple[Sweep, ...]
    influence: ModelInfluence | None
    bootstrap: ChoiceBootstrap | None
    ccdf_quantiles: Floats
    ccdf_mean: Floats
    top: int | None
    ccdf: bool

    @property
    def leading(self) -> CopaRanking:
        """The ranking that decides."""
        return self.rankings[0]

    @property
    def listed(self) -> list[int]:
        """All models by rank, those that may not be chosen last."""
        return listed(self.objectives.population, self.leading)

    @property
    def weight_ranges(self) -> tuple[WeightRange, ...]:
        """What each weight does, the others in proportion; empty for a single objective."""
        return weight_ranges(self.sweeps, self.leading.chosen, self.objectives.weights)

    def found(self) -> dict[str, Any]:
        """The choice and how firm it is."""
        table, leading, name = self.objectives, self.leading, self.objectives.name
        population = table.population
        return {
            "chosen": name(leading.chosen),
            "front_size": int(population.front.sum()),
            "feasible_models": int(population.feasible.sum()),
            "chosen_by_p": {order_key(other.p): name(other.chosen) for other in self.others},
            "weight_ranges": [
                {
                    "metric": population.metrics[k],
                    "weight": table.weights[k].item(),
                    "low": found.low,
                    "high": found.high,
                    "models_chosen": found.models_chosen,
                }
                for k, found in enumerate(self.weight_ranges)
            ],
            "influence": None if self.influence is None else _influence(table, self.influence),
            "bootstrap": None if self.bootstrap is None else _bootstrap(table, self.bootstrap),
        }


def rank(asked: Asked) -> CopaDocument:
    """Rank the models by every p, and try what would change the choice."""
    settings, population = asked.settings, asked.objectives.population
    weights, notes = weights_of(asked.objectives)
    table = asked.objectives.weighted(weights)
    p = settings.orders[0]
    bootstrap = None
    if settings.bootstrap is not None:
        bootstrap = bootstrap_choice(
            population, weights, p=p, resamples=settings.bootstrap, seed=settings.seed or 0
        )
    rankings = tuple(rank_models(population, weights, p=order) for order in settings.orders)
    influence = leave_one_out(population, weights, p=p) if len(population.names) > 2 else None
    quantiles, mean = ccdf_quantiles(population.u, CCDF_PROBABILITIES)
    return CopaDocument(
        provenance=provenance(
            asked,
            described_weights(table) | described_orders(settings.orders),
            notes,
            seed=None if bootstrap is None else settings.seed or 0,
            resamples=settings.bootstrap,
        ),
        rows=_rows(table, rankings, influence, bootstrap, quantiles, mean)[: settings.top],
        verdict=copa_verdict(table, rankings[0]),
        objectives=table,
        dropped=asked.objectives.dropped,
        rankings=rankings,
        others=tuple(rank_models(population, weights, p=order) for order in reversed(USUAL_ORDERS)),
        sweeps=sweep_each_weight(population, weights, p=p) if len(weights) > 1 else (),
        influence=influence,
        bootstrap=bootstrap,
        ccdf_quantiles=quantiles,
        ccdf_mean=mean,
        top=settings.top,
        ccdf=settings.ccdf,
    )


def _rows(
    table: ObjectiveTable,
    rankings: tuple[CopaRanking, ...],
    influence: ModelInfluence | None,
    bootstrap: ChoiceBootstrap | None,
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
                chosen_share=None if bootstrap is None else bootstrap.share(i),
            )
        )
    return rows


def _influence(table: ObjectiveTable, influence: ModelInfluence) -> dict[str, Any]:
    return {
        "successor": table.name(influence.successor) if influence.successor >= 0 else None,
        "influential": [
            {"model": table.name(i), "choice": table.name(influence.choice[i])} for i in influence.influential
        ],
    }


def _bootstrap(table: ObjectiveTable, bootstrap: ChoiceBootstrap) -> dict[str, Any]:
    return {
        "survival": bootstrap.survival,
        "runners_up": [
            {"model": table.name(i), "chosen_share": bootstrap.share(i)} for i in bootstrap.runners_up
        ],
    }
