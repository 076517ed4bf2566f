"""COPA's ranking: who is chosen, and what would change it."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from riskrank.engine.copa.population import ccdf_quantiles
from riskrank.engine.copa.ranking import CopaRanking, models_by_rank, rank_models
from riskrank.engine.copa.stability import ChoiceBootstrap, ModelInfluence, bootstrap_choice, leave_one_out
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.copa.weight_ranges import WeightRange, sweep_all_weights, weight_ranges
from riskrank.engine.types import Floats
from riskrank.studies.copa.document_base import USUAL_ORDERS, CopaBase, CopaRequest, document_fields
from riskrank.studies.copa.findings import SENTENCES, CopaCase, copa_findings
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.copa.uncertainty import FrontUncertainty, assess_front
from riskrank.studies.document import of, rows_from
from riskrank.studies.findings import same_scores
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.sample_findings import sample_findings
from riskrank.studies.settings import family_of
from riskrank.studies.wording import counted

CCDF_PROBABILITIES = (0.0, 0.25, 0.5, 0.75, 1.0)
_PROBABILITY_LABELS = [f"{probability:g}" for probability in CCDF_PROBABILITIES]


def _uncertainty_field(source: Callable[..., Any]) -> Any:
    """A field that only samples give rise to: of the objectives, what is known of the front, and a model."""
    return of(lambda found, table, i: found.uncertainty and source(table, found.uncertainty, i), default=None)


def _objective_better_on(table: Objectives, doubt: FrontUncertainty, i: int) -> str | None:
    """The objective on which a model is best shown to be better than its rival."""
    rival = int(doubt.membership.rival[i])
    objective = -1 if rival < 0 else int(doubt.membership.best_on[i, rival])
    return None if objective < 0 else table.population.metrics[objective]


@dataclass(frozen=True, slots=True)
class CopaRow:
    """One model; the dictionaries hold an entry an objective, or one a p."""

    model: str = of(lambda table, i: table.name(i))
    rank: int | None = of(lambda found, i: found.leading.rank_of(i))
    norm: float = of(lambda found, i: found.leading.norm[i].item())
    pareto: bool = of(lambda table, i: bool(table.population.front[i]))
    feasible: bool = of(lambda table, i: bool(table.population.feasible[i]))
    u: dict[str, float] = of(lambda table, i: table.by_metric(table.population.u[i]))
    tied_with: list[str] = of(lambda found, table, i: [table.name(j) for j in found.leading.tied_with(i)])
    values: dict[str, float] = of(lambda table, i: table.by_metric(table.values[i]))
    ranks: dict[str, int | None] = of(
        lambda found, i: {f"{one.p:g}": one.rank_of(i) for one in found.rankings}
    )
    norms: dict[str, float] = of(
        lambda found, i: {f"{one.p:g}": one.norm[i].item() for one in found.rankings}
    )
    ccdf_mean: float = of(lambda found, i: found.ccdf_mean[i].item())
    ccdf_quantiles: dict[str, float] = of(
        lambda found, i: dict(zip(_PROBABILITY_LABELS, found.ccdf_quantiles[i].tolist(), strict=True))
    )
    choice_without: str | None = of(
        lambda found, table, i: found.influence and table.name_or_none(found.influence.choice[i])
    )
    chosen_share: float | None = of(lambda found, i: found.uncertainty and float(found.uncertainty.shares.chosen[i]))
    population_share: float | None = of(
        lambda found, i: found.population_bootstrap and found.population_bootstrap.share(i), default=None
    )
    front: str | None = _uncertainty_field(lambda table, doubt, i: doubt.membership.state_words[i])
    front_share: float | None = _uncertainty_field(lambda table, doubt, i: float(doubt.shares.front[i]))
    low: dict[str, float | None] | None = _uncertainty_field(
        lambda table, doubt, i: table.by_metric(doubt.low[i])
    )
    high: dict[str, float | None] | None = _uncertainty_field(
        lambda table, doubt, i: table.by_metric(doubt.high[i])
    )
    meets: dict[str, str] | None = _uncertainty_field(
        lambda table, doubt, i: {
            text: one.word for text, one in zip(table.constraints, doubt.constraint_answers[i], strict=True)
        }
    )
    dominated_by: str | None = _uncertainty_field(
        lambda table, doubt, i: table.name_or_none(doubt.membership.dominator[i])
    )
    off_p_adjusted: float | None = _uncertainty_field(
        lambda table, doubt, i: float(
            np.where(table.population.feasible, doubt.membership.p_dominates[:, i], 1.0).min()
        )
    )
    on_p_adjusted: float | None = _uncertainty_field(
        lambda table, doubt, i: float(doubt.membership.p_nondominated[i])
    )
    rival: str | None = _uncertainty_field(lambda table, doubt, i: table.name_or_none(doubt.membership.rival[i]))
    better_on: str | None = _uncertainty_field(_objective_better_on)


# Fields of rows that only samples give rise to.
UNCERTAINTY_FIELDS = tuple(one.name for one in fields(CopaRow) if one.default is None)[1:]


@dataclass(frozen=True, kw_only=True)
class CopaDocument(CopaBase[CopaRow], schema="copa"):
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
    """

    rankings: tuple[CopaRanking, ...]
    usual_rankings: tuple[CopaRanking, ...]
    sweeps: tuple[Sweep, ...]
    influence: ModelInfluence | None
    population_bootstrap: ChoiceBootstrap | None
    uncertainty: FrontUncertainty | None
    ccdf_quantiles: Floats
    ccdf_mean: Floats
    tasks: str

    @property
    def question(self) -> str:
        """Which model."""
        return f"Which of {len(self.about)} models?"

    @property
    def leading(self) -> CopaRanking:
        """The ranking that decides."""
        return self.rankings[0]

    @property
    def models_by_rank(self) -> list[int]:
        """All models by rank, those that may not be chosen last."""
        return models_by_rank(self.objectives.population, self.leading)

    @property
    def weight_ranges(self) -> tuple[WeightRange, ...]:
        """What each weight does, the others in proportion; empty for a single objective."""
        return weight_ranges(self.sweeps, self.leading.chosen, self.objectives.weights)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of a row's fields, in order; what was not looked for has none."""
        left_out: tuple[str, ...] = UNCERTAINTY_FIELDS if self.uncertainty is None else ()
        left_out += () if self.population_bootstrap is not None else ("population_share",)
        return tuple(one.name for one in fields(CopaRow) if one.name not in left_out)

    def result_entries(self) -> dict[str, Any]:
        """The choice and how firm it is."""
        table, name = self.objectives, self.objectives.name
        population, influence, drawn, doubt = table.population, self.influence, self.population_bootstrap, self.uncertainty
        found = {
            "chosen": name(self.leading.chosen),
            "front_size": int(population.front.sum()),
            "feasible_models": int(population.feasible.sum()),
            "chosen_by_p": {f"{other.p:g}": name(other.chosen) for other in self.usual_rankings},
            "weight_ranges": [
                {"metric": metric, "weight": weight, **vars(found)}
                for metric, weight, found in zip(
                    population.metrics, table.weights.tolist(), self.weight_ranges, strict=bool(self.sweeps)
                )
            ],
            "influence": influence
            and {
                "successor": table.name_or_none(influence.successor),
                "influential": [
                    {"model": name(i), "choice": name(influence.choice[i])} for i in influence.influential
                ],
            },
            "populations": drawn
            and {
                "survival": drawn.survival,
                "runners_up": [
                    {"model": name(i), "population_share": drawn.share(i)} for i in drawn.runners_up
                ],
            },
        }
        if doubt is not None:
            shown = np.argwhere(doubt.membership.significantly_dominates).tolist()
            found["dominance"] = [
                {"winner": name(i), "loser": name(j), "p_adjusted": float(doubt.membership.p_dominates[i, j])}
                for i, j in shown
            ]
        return found


def rank_population(asked: CopaRequest, runtime: Runtime = HERE) -> CopaDocument:
    """Rank the models by every p, and try what would change the choice."""
    settings, table = asked.settings, asked.objectives
    population, weights = table.population, table.weights
    rankings = tuple(rank_models(population, weights, p=order) for order in settings.orders)
    leading = rankings[0]
    with runtime.progress("resampling"):
        populations = None
        if settings.resample_models is not None:
            populations = bootstrap_choice(
                population, leading, resamples=settings.resample_models, seed=settings.seed
            )
        found = assess_front(asked, leading)
    doubt = None if isinstance(found, str) else found
    quantiles, mean = ccdf_quantiles(population.u, CCDF_PROBABILITIES)
    case = CopaCase(table, leading, found)
    drawn = settings.resample_models if doubt is None else doubt.resamples
    limits = [] if doubt is None else sample_findings([doubt.smallest_sample])
    twins = [] if doubt is not None and doubt.identical else same_scores(asked.table, population.names)
    document = CopaDocument(
        **document_fields(
            asked,
            settings.orders,
            _test_settings(settings, doubt),
            () if doubt is None else doubt.warnings,
            seed=None if drawn is None else settings.seed,
            resamples=drawn,
        ),
        rows=[],
        **SENTENCES.told([*copa_findings(case), *twins], case, population.names, limits=limits),
        rankings=rankings,
        usual_rankings=tuple(rank_models(population, weights, p=order) for order in reversed(USUAL_ORDERS)),
        sweeps=sweep_all_weights(population, leading),
        influence=leave_one_out(population, leading) if len(population.names) > 2 else None,
        population_bootstrap=populations,
        uncertainty=doubt,
        ccdf_quantiles=quantiles,
        ccdf_mean=mean,
        tasks=_describe_tasks(asked),
    )
    shown = document.models_by_rank[: settings.top]
    return replace(document, rows=rows_from(CopaRow, "found table i", ((document, table, i) for i in shown)))


def _describe_tasks(asked: CopaRequest) -> str:
    suite = asked.table.suite
    if not suite or not asked.table.options.weighs_tasks:
        return ""
    alike = np.ptp(suite.weights) < 1e-12
    return f"{counted(len(suite.names), 'task')}, {'weighed alike' if alike else 'by their weights'}"


def _test_settings(settings: CopaSettings, doubt: FrontUncertainty | None) -> dict[str, Any]:
    """How the front was tested, where it was."""
    if doubt is None:
        return {}
    return {
        **family_of(settings).settings,
        "family": "ordered pairs of models for off the front, models for on it",
        "margin": settings.margin,
        "tasks": settings.tasks,
    }
