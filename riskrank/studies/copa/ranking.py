"""The document of ``copa``: the ranking, and the choice's sensitivity to weights, p, models and samples."""

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
from riskrank.studies.document import computed, rows_from_records
from riskrank.studies.findings import same_score_findings
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.sample_findings import sample_findings
from riskrank.studies.settings import family_from_settings
from riskrank.studies.wording import counted

CCDF_PROBABILITIES = (0.0, 0.25, 0.5, 0.75, 1.0)
_PROBABILITY_LABELS = [f"{probability:g}" for probability in CCDF_PROBABILITIES]


def _uncertainty_field(source: Callable[..., Any]) -> Any:
    """Declare a row field that stays None unless the front was tested.

    Parameters
    ----------
    source : callable
        Function of the objectives, the uncertainty of the front and the index of the model.
    """
    return computed(
        lambda document, table, i: document.uncertainty and source(table, document.uncertainty, i),
        default=None,
    )


def _objective_better_on(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str | None:
    """Return the objective with the strongest evidence that model `i` is better than its rival."""
    rival = int(uncertainty.membership.rival[i])
    objective = -1 if rival < 0 else int(uncertainty.membership.best_on[i, rival])
    return None if objective < 0 else table.population.metrics[objective]


@dataclass(frozen=True, slots=True)
class CopaRow:
    """Rank and evidence of one model. Dictionaries are keyed by objective, constraint or order p."""

    model: str = computed(lambda table, i: table.name(i))
    rank: int | None = computed(lambda document, i: document.leading_ranking.rank_of(i))
    norm: float = computed(lambda document, i: document.leading_ranking.norm[i].item())
    pareto: bool = computed(lambda table, i: bool(table.population.front[i]))
    feasible: bool = computed(lambda table, i: bool(table.population.feasible[i]))
    u: dict[str, float] = computed(lambda table, i: table.by_objective(table.population.u[i]))
    tied_with: list[str] = computed(
        lambda document, table, i: [table.name(j) for j in document.leading_ranking.tied_with(i)]
    )
    values: dict[str, float] = computed(lambda table, i: table.by_objective(table.values[i]))
    ranks: dict[str, int | None] = computed(
        lambda document, i: {f"{ranking.p:g}": ranking.rank_of(i) for ranking in document.rankings}
    )
    norms: dict[str, float] = computed(
        lambda document, i: {f"{ranking.p:g}": ranking.norm[i].item() for ranking in document.rankings}
    )
    ccdf_mean: float = computed(lambda document, i: document.ccdf_mean[i].item())
    ccdf_quantiles: dict[str, float] = computed(
        lambda document, i: dict(zip(_PROBABILITY_LABELS, document.ccdf_quantiles[i].tolist(), strict=True))
    )
    choice_without: str | None = computed(
        lambda document, table, i: document.influence and table.name_or_none(document.influence.choice[i])
    )
    chosen_share: float | None = computed(
        lambda document, i: document.uncertainty and float(document.uncertainty.shares.chosen[i])
    )
    population_share: float | None = computed(
        lambda document, i: document.population_bootstrap and document.population_bootstrap.share(i),
        default=None,
    )
    front: str | None = _uncertainty_field(
        lambda table, uncertainty, i: uncertainty.membership.state_words[i]
    )
    front_share: float | None = _uncertainty_field(
        lambda table, uncertainty, i: float(uncertainty.shares.front[i])
    )
    low: dict[str, float | None] | None = _uncertainty_field(
        lambda table, uncertainty, i: table.by_objective(uncertainty.low[i])
    )
    high: dict[str, float | None] | None = _uncertainty_field(
        lambda table, uncertainty, i: table.by_objective(uncertainty.high[i])
    )
    meets: dict[str, str] | None = _uncertainty_field(
        lambda table, uncertainty, i: {
            text: answer.word
            for text, answer in zip(table.constraints, uncertainty.constraint_answers[i], strict=True)
        }
    )
    dominated_by: str | None = _uncertainty_field(
        lambda table, uncertainty, i: table.name_or_none(uncertainty.membership.dominator[i])
    )
    off_p_adjusted: float | None = _uncertainty_field(
        lambda table, uncertainty, i: float(
            np.where(table.population.feasible, uncertainty.membership.p_dominates[:, i], 1.0).min()
        )
    )
    on_p_adjusted: float | None = _uncertainty_field(
        lambda table, uncertainty, i: float(uncertainty.membership.p_nondominated[i])
    )
    rival: str | None = _uncertainty_field(
        lambda table, uncertainty, i: table.name_or_none(uncertainty.membership.rival[i])
    )
    better_on: str | None = _uncertainty_field(_objective_better_on)


# Fields that are None unless the scores of samples were resampled.
UNCERTAINTY_FIELDS = tuple(field.name for field in fields(CopaRow) if field.default is None)[1:]


@dataclass(frozen=True, kw_only=True)
class CopaDocument(CopaBase[CopaRow], schema="copa"):
    """Models ranked by the norm of their ranks on the objectives.

    Attributes
    ----------
    rankings : tuple of CopaRanking
        Rankings by the requested values of p; the first one determines the choice.
    usual_rankings : tuple of CopaRanking
        Rankings by a few common values of p, to show the effect of p.
    sweeps : tuple of Sweep
        One sweep per weight, to show the effect of the weights, or empty for a single objective.
    influence : ModelInfluence or None
        None for fewer than three models.
    population_bootstrap : ChoiceBootstrap or None
        Choices in bootstrapped populations of models, or None unless requested.
    uncertainty : FrontUncertainty or None
        Uncertainty of the front, or None if the front was not tested.
    ccdf_quantiles, ccdf_mean : ndarray
        Proportion of models that are not better: quantiles over the objectives at ``CCDF_PROBABILITIES``,
        shape (N, 5), and means, shape (N,).
    tasks : str
        Description of the tasks of a suite and their weights, or empty without a suite.
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
        """Question that the document answers, used as a heading in reports."""
        return f"Which of {len(self.about)} models is the best choice?"

    @property
    def leading_ranking(self) -> CopaRanking:
        """Ranking by the first requested p, which determines the choice."""
        return self.rankings[0]

    @property
    def models_by_rank(self) -> list[int]:
        """Models in rank order, infeasible ones last."""
        return models_by_rank(self.objectives.population, self.leading_ranking)

    @property
    def weight_ranges(self) -> tuple[WeightRange, ...]:
        """Range of each weight that keeps the choice.

        The other weights keep their proportions.
        """
        return weight_ranges(self.sweeps, self.leading_ranking.chosen, self.objectives.weights)

    @property
    def fields(self) -> tuple[str, ...]:
        """Row fields in order, without those that were not computed."""
        excluded: tuple[str, ...] = UNCERTAINTY_FIELDS if self.uncertainty is None else ()
        excluded += () if self.population_bootstrap is not None else ("population_share",)
        return tuple(field.name for field in fields(CopaRow) if field.name not in excluded)

    def result_entries(self) -> dict[str, Any]:
        """Return the ``meta`` entries: the choice and its sensitivity."""
        table, name = self.objectives, self.objectives.name
        population, influence, bootstrap, uncertainty = (
            table.population,
            self.influence,
            self.population_bootstrap,
            self.uncertainty,
        )
        entries = {
            "chosen": name(self.leading_ranking.chosen),
            "front_size": int(population.front.sum()),
            "feasible_models": int(population.feasible.sum()),
            "chosen_by_p": {f"{ranking.p:g}": name(ranking.chosen) for ranking in self.usual_rankings},
            "weight_ranges": [
                {"metric": metric, "weight": weight, **vars(weight_range)}
                for metric, weight, weight_range in zip(
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
            "populations": bootstrap
            and {
                "survival": bootstrap.survival,
                "runners_up": [
                    {"model": name(i), "population_share": bootstrap.share(i)} for i in bootstrap.runners_up
                ],
            },
        }
        if uncertainty is not None:
            significant_pairs = np.argwhere(uncertainty.membership.significantly_dominates).tolist()
            entries["dominance"] = [
                {
                    "winner": name(i),
                    "loser": name(j),
                    "p_adjusted": float(uncertainty.membership.p_dominates[i, j]),
                }
                for i, j in significant_pairs
            ]
        return entries


def rank_population(request: CopaRequest, runtime: Runtime = SERIAL) -> CopaDocument:
    """Rank the models by every requested p, and assess how certain and how sensitive the choice is."""
    settings, table = request.settings, request.objectives
    population, weights = table.population, table.weights
    rankings = tuple(rank_models(population, weights, p=order) for order in settings.orders)
    leading = rankings[0]
    with runtime.progress("resampling"):
        population_bootstrap = None
        if settings.resample_models is not None:
            population_bootstrap = bootstrap_choice(
                population, leading, resamples=settings.resample_models, seed=settings.seed
            )
        assessment = assess_front(request, leading)
    uncertainty = None if isinstance(assessment, str) else assessment
    quantiles, mean = ccdf_quantiles(population.u, CCDF_PROBABILITIES)
    case = CopaCase(table, leading, assessment)
    resamples = settings.resample_models if uncertainty is None else uncertainty.resamples
    limit_findings = [] if uncertainty is None else sample_findings([uncertainty.smallest_sample])
    duplicate_findings = (
        []
        if uncertainty is not None and uncertainty.identical
        else same_score_findings(request.table, population.names)
    )
    document = CopaDocument(
        **document_fields(
            request,
            settings.orders,
            _test_settings(settings, uncertainty),
            () if uncertainty is None else uncertainty.warnings,
            seed=None if resamples is None else settings.seed,
            resamples=resamples,
        ),
        rows=[],
        **SENTENCES.fields(
            [*copa_findings(case), *duplicate_findings], case, population.names, limits=limit_findings
        ),
        rankings=rankings,
        usual_rankings=tuple(rank_models(population, weights, p=order) for order in reversed(USUAL_ORDERS)),
        sweeps=sweep_all_weights(population, leading),
        influence=leave_one_out(population, leading) if len(population.names) > 2 else None,
        population_bootstrap=population_bootstrap,
        uncertainty=uncertainty,
        ccdf_quantiles=quantiles,
        ccdf_mean=mean,
        tasks=_describe_tasks(request),
    )
    listed_models = document.models_by_rank[: settings.top]
    return replace(
        document,
        rows=rows_from_records(CopaRow, "document table i", ((document, table, i) for i in listed_models)),
    )


def _describe_tasks(request: CopaRequest) -> str:
    """Describe the tasks of a suite and their weights, or return an empty string without a suite."""
    suite = request.table.suite
    if not suite or not request.table.options.weighs_tasks:
        return ""
    equal_weights = np.ptp(suite.weights) < 1e-12
    return f"{counted(len(suite.names), 'task')}, {'weighted equally' if equal_weights else 'weighted'}"


def _test_settings(settings: CopaSettings, uncertainty: FrontUncertainty | None) -> dict[str, Any]:
    """Return the provenance entries of the front tests, or an empty dict if the front was not tested."""
    if uncertainty is None:
        return {}
    return {
        **family_from_settings(settings).settings,
        "family": "pairs of models (off the front), models (on the front)",
        "margin": settings.margin,
        "tasks": settings.tasks,
    }
