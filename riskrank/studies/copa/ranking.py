"""COPA's ranking: who is chosen, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from riskrank.engine.copa.choice import CopaRanking, listed, rank_models
from riskrank.engine.copa.ranks import ccdf_quantiles
from riskrank.engine.copa.stability import ChoiceBootstrap, ModelInfluence, bootstrap_choice, leave_one_out
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.copa.weight_ranges import WeightRange, sweep_each_weight, weight_ranges
from riskrank.engine.types import Floats
from riskrank.studies.copa.base import (
    USUAL_ORDERS,
    Asked,
    CopaBase,
    described_orders,
    described_weights,
    order_key,
    provenance,
    weights_of,
)
from riskrank.studies.copa.doubt import FrontDoubt, front_doubt
from riskrank.studies.copa.findings import SENTENCES, CopaCase, copa_findings
from riskrank.studies.copa.objectives import ObjectiveTable
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.copa.rows import CCDF_PROBABILITIES, ONLY_OF_SAMPLES, CopaRow, copa_rows
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import family_of
from riskrank.studies.wording import counted


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
    populations : ChoiceBootstrap or None
        Choices in resampled populations of models; None if nobody asked.
    doubt : FrontDoubt or None
        What samples say of the front; None where nothing is known.
    ccdf_quantiles, ccdf_mean : ndarray
        Shares of models that do not do better, over the objectives: quantiles at ``CCDF_PROBABILITIES``,
        shape (N, 5), and means, shape (N,).
    tasks : str
        Of a suite its tasks, and how they weigh, in words; else empty.
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
    populations: ChoiceBootstrap | None
    doubt: FrontDoubt | None
    ccdf_quantiles: Floats
    ccdf_mean: Floats
    tasks: str
    top: int | None
    ccdf: bool

    @property
    def question(self) -> str:
        """Which model."""
        return f"Which of {len(self.about)} models?"

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

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of a row's fields, in order; what was not looked for has none."""
        left_out: tuple[str, ...] = ONLY_OF_SAMPLES if self.doubt is None else ()
        left_out += () if self.populations is not None else ("population_share",)
        return tuple(name for name in super().fields if name not in left_out)

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
            "populations": None if self.populations is None else _populations(table, self.populations),
            **({} if self.doubt is None else {"dominance": _dominance(table, self.doubt)}),
        }


def rank(asked: Asked, runtime: Runtime | None = None) -> CopaDocument:
    """Rank the models by every p, and try what would change the choice."""
    settings, population = asked.settings, asked.objectives.population
    weights, notes = weights_of(asked.objectives)
    table = asked.objectives.weighted(weights)
    p = settings.orders[0]
    with (runtime or Runtime()).progress("resampling"):
        populations = None
        if settings.resample_models is not None:
            populations = bootstrap_choice(
                population, weights, p=p, resamples=settings.resample_models, seed=settings.seed
            )
        found = front_doubt(asked, weights)
    doubt = None if isinstance(found, str) else found
    rankings = tuple(rank_models(population, weights, p=order) for order in settings.orders)
    influence = leave_one_out(population, weights, p=p) if len(population.names) > 2 else None
    quantiles, mean = ccdf_quantiles(population.u, CCDF_PROBABILITIES)
    if doubt is not None:
        notes = [*notes, *doubt.notes]
    case = CopaCase(table, rankings[0], found)
    drawn = settings.resample_models if doubt is None else doubt.resamples
    return CopaDocument(
        provenance=provenance(
            asked,
            described_weights(table) | described_orders(settings.orders) | _described_tests(settings, doubt),
            notes,
            seed=None if drawn is None else settings.seed,
            resamples=drawn,
        ),
        rows=copa_rows(table, rankings, influence, populations, doubt, quantiles, mean)[: settings.top],
        **SENTENCES.told(copa_findings(case), case, population.names),
        objectives=table,
        dropped=asked.objectives.dropped,
        rankings=rankings,
        others=tuple(rank_models(population, weights, p=order) for order in reversed(USUAL_ORDERS)),
        sweeps=sweep_each_weight(population, weights, p=p) if len(weights) > 1 else (),
        influence=influence,
        populations=populations,
        doubt=doubt,
        ccdf_quantiles=quantiles,
        ccdf_mean=mean,
        tasks=_tasks(asked),
        top=settings.top,
        ccdf=settings.ccdf,
    )


def _tasks(asked: Asked) -> str:
    suite = asked.table.suite
    if suite is None or not asked.table.options.weighs_tasks:
        return ""
    alike = np.ptp(suite.weights) < 1e-12
    return f"{counted(len(suite.names), 'task')}, {'weighed alike' if alike else 'by their weights'}"


def _described_tests(settings: CopaSettings, doubt: FrontDoubt | None) -> dict[str, Any]:
    """How the front was tested, where it was."""
    if doubt is None:
        return {}
    return {
        **family_of(settings).settings,
        "family": "ordered pairs of models for off the front, models for on it",
        "margin": dict(settings.margin),
        "tasks": settings.tasks,
    }


def _dominance(table: ObjectiveTable, doubt: FrontDoubt) -> list[dict[str, Any]]:
    """The dominations that are shown."""
    return [
        {
            "winner": table.name(i),
            "loser": table.name(j),
            "p_adjusted": float(doubt.states.dominates[i, j]),
        }
        for i, j in np.argwhere(doubt.states.dominating).tolist()
    ]


def _influence(table: ObjectiveTable, influence: ModelInfluence) -> dict[str, Any]:
    return {
        "successor": table.name(influence.successor) if influence.successor >= 0 else None,
        "influential": [
            {"model": table.name(i), "choice": table.name(influence.choice[i])} for i in influence.influential
        ],
    }


def _populations(table: ObjectiveTable, bootstrap: ChoiceBootstrap) -> dict[str, Any]:
    return {
        "survival": bootstrap.survival,
        "runners_up": [
            {"model": table.name(i), "population_share": bootstrap.share(i)} for i in bootstrap.runners_up
        ],
    }
