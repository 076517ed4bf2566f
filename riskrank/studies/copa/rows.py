"""Rows of COPA's ranking: what is said of each model, from its document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from riskrank.studies.copa.doubt import FrontDoubt
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.document import of

CCDF_PROBABILITIES = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEVELS = [f"{probability:g}" for probability in CCDF_PROBABILITIES]


def _of_samples(source: Callable[..., Any]) -> Any:
    """A field that only samples give rise to: of the objectives, what is known of the front, and a model."""
    return of(lambda found, table, i: found.doubt and source(table, found.doubt, i), default=None)


def _better_on(table: Objectives, doubt: FrontDoubt, i: int) -> str | None:
    """The objective on which a model is best shown to be better than its rival."""
    rival = int(doubt.states.rival[i])
    objective = -1 if rival < 0 else int(doubt.states.best_on[i, rival])
    return None if objective < 0 else table.population.metrics[objective]


@dataclass(frozen=True, slots=True)
class CopaRow:
    """One model; the dictionaries hold an entry an objective, or one a p."""

    model: str = of(lambda table, i: table.name(i))
    rank: int | None = of(lambda found, i: found.leading.place(i))
    norm: float = of(lambda found, i: found.leading.norm[i].item())
    pareto: bool = of(lambda table, i: bool(table.population.front[i]))
    feasible: bool = of(lambda table, i: bool(table.population.feasible[i]))
    u: dict[str, float] = of(lambda table, i: table.by_metric(table.population.u[i]))
    tied_with: list[str] = of(lambda found, table, i: [table.name(j) for j in found.leading.tied_with(i)])
    values: dict[str, float] = of(lambda table, i: table.by_metric(table.values[i]))
    ranks: dict[str, int | None] = of(lambda found, i: {f"{one.p:g}": one.place(i) for one in found.rankings})
    norms: dict[str, float] = of(
        lambda found, i: {f"{one.p:g}": one.norm[i].item() for one in found.rankings}
    )
    ccdf_mean: float = of(lambda found, i: found.ccdf_mean[i].item())
    ccdf_quantiles: dict[str, float] = of(
        lambda found, i: dict(zip(_LEVELS, found.ccdf_quantiles[i].tolist(), strict=True))
    )
    choice_without: str | None = of(
        lambda found, table, i: found.influence and table.named(found.influence.choice[i])
    )
    chosen_share: float | None = of(lambda found, i: found.doubt and float(found.doubt.shares.chosen[i]))
    population_share: float | None = of(
        lambda found, i: found.populations and found.populations.share(i), default=None
    )
    front: str | None = _of_samples(lambda table, doubt, i: doubt.states.words[i])
    front_share: float | None = _of_samples(lambda table, doubt, i: float(doubt.shares.front[i]))
    low: dict[str, float | None] | None = _of_samples(lambda table, doubt, i: table.by_metric(doubt.low[i]))
    high: dict[str, float | None] | None = _of_samples(lambda table, doubt, i: table.by_metric(doubt.high[i]))
    meets: dict[str, str] | None = _of_samples(
        lambda table, doubt, i: {
            text: one.word for text, one in zip(table.constraints, doubt.answers[i], strict=True)
        }
    )
    dominated_by: str | None = _of_samples(lambda table, doubt, i: table.named(doubt.states.dominator[i]))
    off_p_adjusted: float | None = _of_samples(
        lambda table, doubt, i: float(
            np.where(table.population.feasible, doubt.states.dominates[:, i], 1.0).min()
        )
    )
    on_p_adjusted: float | None = _of_samples(lambda table, doubt, i: float(doubt.states.stands[i]))
    rival: str | None = _of_samples(lambda table, doubt, i: table.named(doubt.states.rival[i]))
    better_on: str | None = _of_samples(_better_on)


# Fields of rows that only samples give rise to.
ONLY_OF_SAMPLES = tuple(one.name for one in fields(CopaRow) if one.default is None)[1:]
