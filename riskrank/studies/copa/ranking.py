"""The document of ``copa``: the ranking, and the choice's sensitivity to weights, p, models and samples.

Its findings and their sentences are the choice, its justification and its uncertainty.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from riskrank.engine.copa.population import ccdf_quantiles
from riskrank.engine.copa.ranking import TIE_BREAKING_P, CopaRanking, models_by_rank, rank_models, rank_norm
from riskrank.engine.copa.stability import ChoiceBootstrap, ModelInfluence, bootstrap_choice, leave_one_out
from riskrank.engine.copa.sweep import Sweep, WeightRange, sweep_all_weights, weight_ranges
from riskrank.engine.evidence.unit_means import MOST_RESAMPLES
from riskrank.engine.family import Answer
from riskrank.engine.numeric import tie_codes
from riskrank.engine.types import Floats
from riskrank.errors import option
from riskrank.studies.copa.objectives import USUAL_ORDERS, CopaBase, CopaRequest, Objectives, document_fields
from riskrank.studies.copa.uncertainty import FrontUncertainty, assess_front, joint_answer
from riskrank.studies.document import computed
from riskrank.studies.findings import (
    Finding,
    Sentences,
    same_distribution_sentence,
    same_score_findings,
    same_scores_sentence,
    sample_limits,
    untested_findings,
)
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import family_from_settings
from riskrank.studies.wording import counted, format_percent, join_names


@dataclass(frozen=True, eq=False)
class CopaCase:
    """Results from which the findings and their sentences are derived.

    Attributes
    ----------
    table : Objectives
        Values, ranks, constraints and weights of all models.
    ranking : CopaRanking
        Ranking by the first requested p, which determines the choice.
    uncertainty : FrontUncertainty or str
        Uncertainty of the Pareto front, or the reason why it could not be tested.
    """

    table: Objectives
    ranking: CopaRanking
    uncertainty: FrontUncertainty | str

    @property
    def front_uncertainty(self) -> FrontUncertainty:
        """Uncertainty of the Pareto front. It must have been tested."""
        assert not isinstance(self.uncertainty, str)
        return self.uncertainty


def copa_findings(case: CopaCase) -> list[Finding]:
    """Return the findings: the chosen model, the other models on the Pareto front, and the reason."""
    chosen, uncertainty = case.ranking.chosen, case.uncertainty
    figures = {"norm": float(case.ranking.norm[chosen])}
    figures |= {} if np.isinf(case.ranking.p) else {"p": case.ranking.p}
    if (worst := _weakest_objective(case.table, case.ranking)) is not None:
        figures["better_share"] = float(case.table.population.u[chosen, worst])
    if isinstance(uncertainty, str):
        return [Finding(kind="choice", models=(chosen,), figures=figures), *untested_findings(tested=False)]
    other_models = tuple(i for i in case.ranking.order.tolist() if i != chosen)
    share = {"chosen_share": float(uncertainty.shares.chosen[chosen]), "tied_share": uncertainty.shares.tied}
    state = uncertainty.membership.state
    front = {side.word: sum(state[i] == side for i in other_models) for side in Answer}
    choice = Finding(kind="choice", models=(chosen,), figures=share, answer=state[chosen])
    if uncertainty.identical:
        return [choice, Finding(kind="same-distribution", models=(chosen, *other_models))]
    close = {"resamples_needed": 10 * max(uncertainty.resamples, MOST_RESAMPLES)}
    return [
        choice,
        *([Finding(kind="by-seed", figures=close)] if uncertainty.membership.seed_dependent else ()),
        Finding(kind="front", models=other_models, figures=front),
        Finding(kind="choice-reason", models=(chosen,), figures=figures),
    ]


def _tested_choice(case: CopaCase) -> str:
    """Return the sentence about the chosen model after tests of the Pareto front."""
    table, ranking, uncertainty = case.table, case.ranking, case.front_uncertainty
    chosen, shares = ranking.chosen, uncertainty.shares.chosen
    state = uncertainty.membership.state[chosen]
    equal_models = [chosen, *_models_equal_to_chosen(table, ranking)]
    reason = f" ({explain_undecided_state(table, uncertainty, chosen)})" if len(equal_models) == 1 else ""
    status = {
        Answer.SIGNIFICANT: "significantly on the front",
        Answer.UNDECIDED: f"possibly not on the front{reason}",
        Answer.CONTRADICTED: f"although {describe_dominator(table, uncertainty, chosen)}",
    }[state]
    if joint_answer(uncertainty.constraint_answers[chosen]) != Answer.SIGNIFICANT:
        status = _describe_unmet_constraints(table, uncertainty, chosen)
    resamples_text = "resampled tasks" if uncertainty.random_tasks else "resamples"
    if uncertainty.identical:
        model_names = join_names([table.name(i) for i in case.ranking.order.tolist()])
        return f"{model_names} tie on every objective, so their names decide the choice."
    text = f"Choose {' or '.join(map(table.name, equal_models))}: {status}; "
    if equal_models[1:] and shares[chosen] < 0.01:
        return f"{text}tied in {_format_share(uncertainty.shares.tied)} of {resamples_text}."
    text += f"chosen in {_format_share(shares[chosen])} of {resamples_text}"
    if uncertainty.shares.tied >= 0.01:
        return f"{text}, tied in {_format_share(uncertainty.shares.tied)}."
    other = int(np.argsort(-shares, kind="stable")[0])
    if other == chosen and shares[chosen] < 0.5 and len(shares) > 1:
        other = int(np.argsort(-shares, kind="stable")[1])
    return text + (f", {table.name(other)} in {_format_share(shares[other])}." if other != chosen else ".")


def _models_equal_to_chosen(table: Objectives, ranking: CopaRanking) -> list[int]:
    """Return the indices of other models whose values equal the chosen model's on every objective."""
    values = table.population.objectives
    equal = (values == values[ranking.chosen]).all(axis=1)
    return [i for i in ranking.tied_with(ranking.chosen).tolist() if equal[i]]


def _format_share(share: float) -> str:
    """Format a proportion of resamples in percent, but never as 0 % or 100 %."""
    return "over 99 %" if share > 0.99 else "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _describe_front(finding: Finding, case: CopaCase) -> str:
    """Return the sentence that names the other models on the front, off it, and undecided."""
    table, uncertainty = case.table, case.front_uncertainty
    equal_models, parts = _models_equal_to_chosen(table, case.ranking), []
    other_models = [i for i in finding.models if i not in equal_models]
    for state, state_text, explanation in (
        (Answer.SIGNIFICANT, "on the front", None),
        (Answer.UNDECIDED, "undecided", explain_undecided_state),
        (Answer.CONTRADICTED, "off the front", describe_dominator),
    ):
        models = [i for i in other_models if uncertainty.membership.state[i] == state]
        if state == Answer.CONTRADICTED:
            models = [i for i in models if uncertainty.membership.dominator[i] >= 0]
        if models:
            verb = "is" if len(models) == 1 else "are"
            reason = ""
            if explanation is not None and len(models) == 1:
                reason = f" ({explanation(table, uncertainty, models[0])})"
            parts.append(f"{join_names([table.name(i) for i in models])} {verb} {state_text}{reason}")
    return f"{'; '.join(parts)}." if parts else ""


def describe_dominator(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Describe the model that significantly dominates model `i`.

    Returns
    -------
    str
        Such as ``mid is as good on every objective``.
    """
    dominator = int(uncertainty.membership.dominator[i])
    return f"{table.name(dominator)} is as good on every objective{_margin_note(table, dominator, i)}"


def _margin_note(table: Objectives, first: int, second: int) -> str:
    """Return " within the margins" if the first model is worse than the second on some objective, else ""."""
    values = table.population.objectives
    return "" if np.all(values[first] >= values[second]) else " within the margins"


def _describe_unmet_constraints(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Return a phrase that names the constraints that model `i` does not significantly meet."""
    pairs = zip(table.constraints, uncertainty.constraint_answers[i], strict=True)
    return f"may violate {join_names([text for text, answer in pairs if answer != Answer.SIGNIFICANT], 3)}"


def explain_undecided_state(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Explain why the tests cannot decide whether model `i` is on the front.

    Returns
    -------
    str
        Such as ``mid is as good on all 3, but not significantly on cost``.
    """
    rival = int(uncertainty.membership.rival[i])
    meets_constraints = joint_answer(uncertainty.constraint_answers[i]) == Answer.SIGNIFICANT
    if uncertainty.membership.nondominated[i] and not meets_constraints:
        return _describe_unmet_constraints(table, uncertainty, i)
    metrics, name = table.population.metrics, table.name(rival)
    values = table.population.objectives
    margins = np.array([evidence.margin for evidence in uncertainty.evidence])
    if np.all(values[rival] >= values[i] - margins):
        p_values = [evidence.noninferior[rival, i] for evidence in uncertainty.evidence]
        pairs = zip(metrics, p_values, strict=True)
        undecided = [metric for metric, p in pairs if not uncertainty.family.significant(p)]
        if len(metrics) == 1 and undecided:
            return f"{name} is as good on {metrics[0]}{_margin_note(table, rival, i)}, but not significantly"
        all_metrics = {1: metrics[0], 2: "both"}.get(len(metrics), f"all {len(metrics)}")
        undecided_text = "any" if len(undecided) == len(metrics) > 1 else join_names(undecided, 3)
        gap = f"but not significantly on {undecided_text}" if undecided else "but not after correction"
        return f"{name} is as good on {all_metrics}{_margin_note(table, rival, i)}, {gap}"
    best = int(uncertainty.membership.best_on[i, rival])
    if best >= 0 and uncertainty.family.significant(uncertainty.evidence[best].better[i, rival]):
        return f"better than {name} on {metrics[best]}, but not significantly after correction"
    return f"not significantly better than {name} on any objective"


def _untested_choice(case: CopaCase) -> str:
    """Return the sentence about the chosen model without tests of the Pareto front."""
    table, ranking = case.table, case.ranking
    n_feasible, name = int(table.population.feasible.sum()), table.name(ranking.chosen)
    if n_feasible == 1:
        return f"Choose {name}: it is the only model whose values meet the constraints."
    tied = ranking.tied_with(ranking.chosen).tolist()
    text = f"Choose {name}: {_describe_optimality(table, ranking, n_feasible, tied=bool(tied))}"
    if not tied:
        return f"{text}."
    verb = "ties" if len(tied) == 1 else "tie"
    # Models that are equal on every tie-breaker of `rank_models` are ordered by name.
    u, on_front = table.population.u[[ranking.chosen, *tied]], table.population.front[tied].all()
    ranks = [tie_codes(rank_norm(u, ranking.weights, p)) for p in TIE_BREAKING_P]
    by_name = " (ordered by name)" if on_front and not np.ptp(ranks, axis=1).any() else ""
    return f"{text}; {join_names([table.name(i) for i in tied])} {verb}{by_name}."


def _weakest_objective(table: Objectives, ranking: CopaRanking) -> int | None:
    """Return the objective on which most models beat the chosen one, or None if no model beats it on any."""
    ranks = np.where(np.asarray(table.weights) > 0, table.population.u[ranking.chosen], -1.0)
    worst = int(np.argmax(ranks))
    return worst if ranks[worst] > 0 else None


def _describe_optimality(table: Objectives, ranking: CopaRanking, n_feasible: int, *, tied: bool) -> str:
    """Return a clause with the criterion by which the chosen model is the best.

    If `tied` is True, it is as good as others. `n_feasible` is the number of models that meet the
    constraints.
    """
    population, chosen, worst = table.population, ranking.chosen, _weakest_objective(table, ranking)
    if worst is None:
        return "no model is better on any objective with a positive weight"
    share = format_percent(float(population.u[chosen, worst]))
    weak = f"on {population.metrics[worst]}, where {share} of the others are better"
    equal = "" if np.ptp(np.asarray(table.weights)) < 1e-12 else " with these weights"
    if np.isinf(ranking.p):
        best = "as strong as any" if tied else "stronger than that of any other model"
        return f"its weakest objective is {best}{equal} ({weak})"
    places = "its mean rank" if ranking.p == 1 else f"its combined rank (p = {ranking.p:g})"
    best = "as good as any" if tied else "the best"
    return f"of {n_feasible:,} models, {places} is {best}{equal}; it is weakest {weak}"


# Sentence of each kind of finding.
SENTENCES: Sentences[CopaCase] = Sentences(
    {
        "choice": lambda _, case: (
            _untested_choice(case) if isinstance(case.uncertainty, str) else _tested_choice(case)
        ),
        "nothing-tested": lambda _, case: f"The uncertainty of the choice is unknown: {case.uncertainty}.",
        "same-distribution": lambda _, case: same_distribution_sentence(
            case.table.population.names, join_names(case.table.population.metrics)
        ),
        "same-scores": lambda finding, case: same_scores_sentence([*map(case.table.name, finding.models)]),
        "front": _describe_front,
        "by-seed": lambda finding, _: (
            "Close: with another seed, the tests of the front may end differently; "
            f"{option('resamples', int(finding.figures['resamples_needed']))} should settle them."
        ),
        "choice-reason": lambda _, case: f"Why: {_untested_choice(case).partition(': ')[2]}",
    }
)


CCDF_PROBABILITIES = (0.0, 0.25, 0.5, 0.75, 1.0)
_PROBABILITY_LABELS = [f"{probability:g}" for probability in CCDF_PROBABILITIES]
_Limits = dict[str, float | None]


def _if_tested(source: Callable[..., Any]) -> Any:
    """Define a row field that is None unless the Pareto front was tested.

    Parameters
    ----------
    source : callable
        Function of the objectives, the uncertainty of the front and the index of the model.
    """
    return computed(lambda table, front, i: front and source(table, front, i), default=None)


@dataclass(frozen=True, slots=True)
class CopaRow:
    """Rank and evidence of one model. Dictionaries are keyed by objective, constraint or order p."""

    model: str = computed(lambda table, i: table.name(i))
    rank: int | None = computed(lambda ranking, i: ranking.rank_of(i))
    norm: float = computed(lambda ranking, i: ranking.norm[i].item())
    pareto: bool = computed(lambda table, i: bool(table.population.front[i]))
    feasible: bool = computed(lambda table, i: bool(table.population.feasible[i]))
    u: dict[str, float] = computed(lambda table, i: table.by_objective(table.population.u[i]))
    tied_with: list[str] = computed(lambda table, ranking, i: [*map(table.name, ranking.tied_with(i))])
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
        lambda table, influence, i: influence and table.name_or_none(influence.choice[i])
    )
    chosen_share: float | None = computed(lambda front, i: front and float(front.shares.chosen[i]))
    population_share: float | None = computed(
        lambda bootstrap, i: bootstrap and bootstrap.share(i), default=None
    )
    front: str | None = _if_tested(lambda _, front, i: front.membership.state_words[i])
    front_share: float | None = _if_tested(lambda _, front, i: float(front.shares.front[i]))
    low: _Limits | None = _if_tested(lambda table, front, i: table.by_objective(front.low[i]))
    high: _Limits | None = _if_tested(lambda table, front, i: table.by_objective(front.high[i]))
    meets: dict[str, str] | None = _if_tested(
        lambda table, front, i: {
            text: answer.word
            for text, answer in zip(table.constraints, front.constraint_answers[i], strict=True)
        }
    )
    dominated_by: str | None = _if_tested(
        lambda table, front, i: table.name_or_none(front.membership.dominator[i])
    )
    off_p_adjusted: float | None = _if_tested(
        lambda table, front, i: (
            front.membership.p_dominates[table.population.feasible, i].min(initial=1.0).item()
        )
    )
    on_p_adjusted: float | None = _if_tested(lambda _, front, i: float(front.membership.p_nondominated[i]))
    rival: str | None = _if_tested(lambda table, front, i: table.name_or_none(front.membership.rival[i]))
    better_on: str | None = _if_tested(
        lambda table, front, i: (
            None
            if (rival := front.membership.rival[i]) < 0 or (k := front.membership.best_on[i, rival]) < 0
            else table.population.metrics[k]
        )
    )


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
        return f"Which of {len(self.model_names)} models is the best choice?"

    @property
    def leading_ranking(self) -> CopaRanking:
        """Ranking by the first requested p, which determines the choice."""
        return self.rankings[0]

    @property
    def models_by_rank(self) -> list[int]:
        """Indices of the models in rank order, infeasible ones last."""
        return models_by_rank(self.objectives.population, self.leading_ranking)

    @property
    def weight_ranges(self) -> tuple[WeightRange, ...]:
        """Range of each weight within which the choice stays the same.

        The other weights keep their proportions.
        """
        return weight_ranges(self.sweeps, self.leading_ranking.chosen, self.objectives.weights)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the row fields that were computed, in order."""
        excluded: tuple[str, ...] = UNCERTAINTY_FIELDS if self.uncertainty is None else ()
        excluded += () if self.population_bootstrap is not None else ("population_share",)
        return tuple(field.name for field in fields(CopaRow) if field.name not in excluded)

    def result_entries(self) -> dict[str, Any]:
        """Return the results for the JSON object ``meta``: the choice and its sensitivity."""
        table, name, population = self.objectives, self.objectives.name, self.objectives.population
        influence, bootstrap, uncertainty = self.influence, self.population_bootstrap, self.uncertainty
        entries: dict[str, Any] = {
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
            "influence": None,
            "populations": None,
        }
        if influence is not None:
            changes = [{"model": name(i), "choice": name(influence.choice[i])} for i in influence.influential]
            successor = table.name_or_none(influence.successor)
            entries["influence"] = {"successor": successor, "influential": changes}
        if bootstrap is not None:
            shares = [
                {"model": name(i), "population_share": bootstrap.share(i)} for i in bootstrap.runners_up
            ]
            entries["populations"] = {"survival": bootstrap.survival, "runners_up": shares}
        if uncertainty is not None:
            p_values, membership = uncertainty.membership.p_dominates, uncertainty.membership
            entries["dominance"] = [
                {"winner": name(i), "loser": name(j), "p_adjusted": float(p_values[i, j])}
                for i, j in np.argwhere(membership.significantly_dominates).tolist()
            ]
        return entries


def rank_population(request: CopaRequest, runtime: Runtime = SERIAL) -> CopaDocument:
    """Rank the models by every requested order p, and assess how certain and how sensitive the choice is."""
    settings, table = request.settings, request.objectives
    population, weights = table.population, table.weights
    rankings = tuple(rank_models(population, weights, p=order) for order in settings.orders)
    leading = rankings[0]
    with runtime.progress("resampling"):
        population_bootstrap = None
        if (count := settings.resample_models) is not None:
            population_bootstrap = bootstrap_choice(population, leading, resamples=count, seed=settings.seed)
        assessment = assess_front(request, leading, runtime.jobs)
    uncertainty = None if isinstance(assessment, str) else assessment
    quantiles, mean = ccdf_quantiles(population.u, CCDF_PROBABILITIES)
    case = CopaCase(table, leading, assessment)
    resamples = settings.resample_models if uncertainty is None else uncertainty.resamples
    limits = [] if uncertainty is None else sample_limits([uncertainty.smallest_sample])
    suite, tasks = request.table.suite, ""
    if suite and request.table.options.weighs_tasks:
        weighting = "weighted equally" if np.ptp(suite.weights) < 1e-12 else "weighted"
        tasks = f"{counted(len(suite.names), 'task')}, {weighting}"
    findings = copa_findings(case)
    if uncertainty is None or not uncertainty.identical:
        findings += same_score_findings(request.table, population.names)
    test_settings: dict[str, Any] = {}
    if uncertainty is not None:
        test_settings = {
            **family_from_settings(settings).settings,
            "family": "pairs of models (off the front), models (on the front)",
            "margin": settings.margin,
            "tasks": settings.tasks,
        }
    document = CopaDocument(
        **document_fields(
            request,
            settings.orders,
            test_settings,
            () if uncertainty is None else uncertainty.warnings,
            seed=None if resamples is None else settings.seed,
            resamples=resamples,
        ),
        **SENTENCES.fields(findings, case, population.names, limits=limits),
        rankings=rankings,
        usual_rankings=tuple(rank_models(population, weights, p=order) for order in reversed(USUAL_ORDERS)),
        sweeps=sweep_all_weights(population, leading),
        influence=leave_one_out(population, leading) if len(population.names) > 2 else None,
        population_bootstrap=population_bootstrap,
        uncertainty=uncertainty,
        ccdf_quantiles=quantiles,
        ccdf_mean=mean,
        tasks=tasks,
    )
    parts = leading, uncertainty, population_bootstrap, document.influence
    records = ((*parts, i) for i in document.models_by_rank[: settings.top])
    return document.with_rows("ranking front bootstrap influence i", records)
