"""Uncertainty of the Pareto front and of the choice, for objectives estimated from samples (method §7)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.copa import front
from riskrank.engine.copa.population import Constraint
from riskrank.engine.copa.ranking import CopaRanking
from riskrank.engine.dominance.ranking import identically_distributed
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.family import Answer, Family
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value, unexpanded_p_value
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores, describe_sample_size, size_warnings
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, UsageError, option
from riskrank.options.option import non_defaults
from riskrank.options.values import check_names
from riskrank.studies.copa.objective_columns import ObjectiveColumn
from riskrank.studies.copa.objectives import CopaRequest, Objectives
from riskrank.studies.copa.options import TEST_SETTINGS, CopaSettings
from riskrank.studies.gate.columns import score_limits
from riskrank.studies.settings import family_from_settings
from riskrank.studies.targets import check_range
from riskrank.studies.wording import count_range, counted


def _resamples_tasks(columns: Sequence[ObjectiveColumn]) -> bool:
    """Return True if the tasks of a suite are resampled as clusters."""
    return any(column.tasks is not None and column.tasks.random for column in columns)


def build_objective_scores(
    table: Objectives, margins: dict[str, float]
) -> tuple[list[front.ObjectiveScores], list[int]]:
    """Return the scores of each objective for resampling, and each model's number of resampling units.

    Parameters
    ----------
    table : Objectives
        Objectives of a table with samples.
    margins : dict of str to float
        Margins by objective name; 0 by default.

    Returns
    -------
    objectives : list of K ObjectiveScores
    units : list of N int
        Number of resampling units of each model.
    """
    columns, population = table.columns, table.population
    rows_of_models = zip(*(column.keys for column in columns), strict=True)
    keys: list[Integers] = [np.unique(np.concatenate(rows)) for rows in rows_of_models]
    if columns[0].paired or _resamples_tasks(columns):
        keys = [np.unique(np.concatenate(keys))] * len(keys)
    objectives = []
    for k, column in enumerate(columns):
        values = population.objectives[:, k]
        margin = margins.get(column.name.name, 0.0)
        models = table.resampled_models(k)
        if not models.size:
            objectives.append(front.ObjectiveScores(values=values, margin=margin))
            continue
        selected = column.select_models(models.tolist())
        scores, limits, factor = selected.clustered_scores(), None, selected.scale_factor
        if selected.successes is None:
            file_scores = [values / factor for values in selected.values]
            worst, best = score_limits(selected.spec, file_scores, margin / factor)
            limits = worst * factor, best * factor
        check_range(column.name.name, scores, [population.names[model] for model in models])
        units = [np.searchsorted(keys[model], np.unique(column.keys[model])) for model in models.tolist()]
        objectives.append(
            front.ObjectiveScores(
                values=values,
                scores=scores,
                models=models,
                units=tuple(units),
                level=column.name.level,
                limits=limits,
                margin=margin,
                successes=selected.clustered_successes(),
            )
        )
    return objectives, [selected.size for selected in keys]


# Largest number of models to test; the number of pairs grows with its square.
_MOST_MODELS = 200
_TOO_MANY_MODELS = f"pairs of more than {_MOST_MODELS} models are not tested"


def reason_not_testable(request: CopaRequest) -> str:
    """Return the reason why the Pareto front cannot be tested, or an empty string if it can be tested."""
    objectives, columns = request.objectives, request.objectives.columns
    if request.settings.no_test:
        return f"with {option('no_test', True)} nothing is tested"
    if request.table.noise is not None:
        return "sources of noise are not resampled"
    if request.table.folds is not None:
        return "folds of cross-validation share their training rows"
    resampled = [objectives.resampled_models(k) for k in range(len(columns))]
    if not any(models.size for models in resampled):
        return "the values have no samples to resample"
    if len(objectives.population.names) > _MOST_MODELS:
        return _TOO_MANY_MODELS
    for column, models in zip(columns, resampled, strict=True):
        if not models.size:
            continue
        scores = column.select_models(models.tolist()).clustered_scores()
        name = column.name.name
        if scores.strata.has_several_tasks:
            if scores.strata.random:
                scores.strata.require_testable()
                continue
            fewest = min(int(scores.strata.counts(model).min()) for model in range(scores.models))
            if fewest < 2:
                return f"tests need 2 samples per task, but {name} has 1"
        if scores.min_effective_size < MIN_SAMPLES:
            count = describe_sample_size(scores)
            return f"tests need {MIN_SAMPLES} {scores.unit_name} per model, but {name} has {count}"
    return ""


def reject_unused_test_settings(settings: CopaSettings, reason: str) -> None:
    """Raise an error if options for tests of the Pareto front are set, but it cannot be tested.

    Parameters
    ----------
    settings : CopaSettings
        Options of ``copa``.
    reason : str
        Reason why the front cannot be tested.

    Raises
    ------
    InputError
        If the reason is that there are too few samples.
    UsageError
        If there is any other reason.
    """
    used = {"no_test"} if settings.resample_models is None else {"no_test", "seed"}
    unused = [name for name in TEST_SETTINGS if name in non_defaults(settings) and name not in used]
    # Too many models are no mistake of the user, so only the document reports them.
    if not unused or reason == _TOO_MANY_MODELS:
        return
    name, too_few = unused[0], reason.startswith("tests need")
    hint = f"leave out {option(name)}"
    raise (InputError if too_few else UsageError)(
        f"{option(name)} concerns the uncertainty of the front, which is unknown", found=reason, hint=hint
    )


def decide_constraints(
    table: Objectives,
    objectives: Sequence[front.ObjectiveScores],
    replicates: front.ObjectiveReplicates,
    family: Family,
) -> tuple[tuple[Answer, ...], ...]:
    """Test which constraints each of N models meets, as one family of tests.

    Returns
    -------
    tuple of N tuples of Answer
        Answers by model and constraint.
    """
    p_values = [
        _constraint_p_values(bound, table.columns[bound.objective], objectives[bound.objective], replicates)
        for bound in table.bounds
    ]
    p_satisfied, p_violated = (np.stack(side, axis=1) for side in zip(*p_values, strict=True))
    answers = family.answer(Evidence.build(np.zeros(p_satisfied.shape), p_satisfied, p_violated))
    return tuple(tuple(map(Answer, sides)) for sides in answers.side.tolist())


def joint_answer(answers: Sequence[Answer]) -> Answer:
    """Return the least favourable of a model's test results, as the result for all constraints together.

    Without constraints, the result is "significant".
    """
    return min(answers, default=Answer.SIGNIFICANT)


def _constraint_p_values(
    constraint: Constraint,
    column: ObjectiveColumn,
    objective: front.ObjectiveScores,
    replicates: front.ObjectiveReplicates,
) -> tuple[Floats, Floats]:
    """Return one-sided p-values for "the constraint is met" and "the constraint is violated".

    Both arrays have one p-value per model.

    Parameters
    ----------
    constraint : Constraint
        The constraint to test.
    column : ObjectiveColumn
        Sample-level scores of the constrained objective.
    objective : ObjectiveScores
        The same objective in the form used for resampling.
    replicates : ObjectiveReplicates
        Values of all models in resamples.
    """
    k, scalar_constraint = constraint.objective, replace(constraint, objective=0)
    # A model without a value meets no constraint.
    values = column.to_file_units(np.where(np.isinf(objective.values), np.nan, objective.values))
    holds = scalar_constraint.holds(values[:, None])
    p_satisfied, p_violated = np.where(holds, 0.0, 1.0), np.where(holds, 1.0, 0.0)
    if objective.scores is None:
        return p_satisfied, p_violated
    models = objective.models
    p_satisfied[models] = p_violated[models] = 1.0
    if constraint.relation == "==":
        return p_satisfied, p_violated  # no sample can show that a mean equals a number
    for model, costs in zip(models.tolist(), objective.costs, strict=bool(objective.costs)):
        sides = costs.p_below(constraint.bound), costs.p_above(constraint.bound)
        p_satisfied[model], p_violated[model] = sides if constraint.relation in ("<", "<=") else sides[::-1]
    if objective.costs:
        return p_satisfied, p_violated
    # If better values meet the constraint, the bad unit is the unfavourable one.
    better_values_meet = (constraint.relation in ("<", "<=")) == column.lower_is_better
    if objective.is_mean:
        bound = constraint.bound
        if column.spec.transform == "neg_log":
            bound = -np.log(bound) if bound > 0 else np.inf
        evidence = objective.mean_evidence(column.spec.sign * bound, replicates.of_means, replicates.seed)
        p_better, p_worse = evidence.p_above, evidence.p_below
        p_satisfied[models] = p_better if better_values_meet else p_worse
        p_violated[models] = p_worse if better_values_meet else p_better
        return p_satisfied, p_violated
    low, high = replicates.low[..., k], replicates.high[..., k]
    extremes = (low, high) if better_values_meet else (high, low)  # the unfavourable side first
    sample_sizes = objective.effective_sizes()
    for i, model in enumerate(models.tolist()):
        replicated = [column.to_file_units(values[:, model])[:, None] for values in extremes]
        satisfied = [scalar_constraint.holds(values) for values in replicated]
        shares = [1 + np.count_nonzero(~satisfied[0]), 1 + np.count_nonzero(satisfied[1])]
        p_values = expanded_p_value(np.array(shares) / (len(low) + 1), sample_sizes[i])
        p_satisfied[model], p_violated[model] = p_values
    return p_satisfied, p_violated


# Limits of the automatic number of resamples. The fewest give shares to a percentage point; the family of a
# tail mean may need more, up to the limits of memory and time.
_FEWEST, _MOST, _WORK = 2000, 40_000, 1e9


@dataclass(frozen=True, eq=False)
class FrontUncertainty:
    """Uncertainty of the Pareto front and of the choice, for N models and K objectives.

    Attributes
    ----------
    membership : FrontMembership
        Test results on membership of the Pareto front.
    evidence : tuple of K ObjectiveEvidence
        P-values of all pairs of models, by objective.
    shares : FrontShares
        Proportions of resamples in which models are on the front, or chosen.
    low, high : ndarray, shape (N, K)
        Pointwise interval limits of each value, in the units of the file, or NaN where unknown.
    constraint_answers : tuple of N tuples of Answer
        Answers to "the constraint is met", by model and constraint.
    resamples : int
        Number of resamples.
    family : Family
        Level and correction for multiple tests.
    sample_text : str
        Description of the resampled units.
    smallest_sample : ClusteredScores
        Scores of the objective with the fewest independent samples.
    identical : bool
        True if all models have the same value and score distribution on every objective.
    random_tasks : bool
        True if tasks were resampled as clusters, to generalise to other tasks.
    warnings : tuple of str
        Warnings about small samples.
    """

    membership: front.FrontMembership
    evidence: tuple[front.ObjectiveEvidence, ...]
    shares: front.FrontShares
    low: Floats
    high: Floats
    constraint_answers: tuple[tuple[Answer, ...], ...]
    resamples: int
    family: Family
    sample_text: str
    smallest_sample: ClusteredScores
    identical: bool
    random_tasks: bool
    warnings: tuple[str, ...]


def assess_front(request: CopaRequest, ranking: CopaRanking, jobs: Jobs = 1) -> FrontUncertainty | str:
    """Test which models are on the Pareto front, and count how often each model is chosen in resamples.

    Returns
    -------
    FrontUncertainty or str
        A string with the reason if the front cannot be tested.

    Raises
    ------
    UsageError
        If an option needs samples that the table lacks, or a margin does not name an objective.
    InputError
        If tests were requested and there are too few samples.
    """
    settings, table = request.settings, request.objectives
    check_names(settings.margin, table.population.metrics, kind="objective", parameter="margin")
    if reason := reason_not_testable(request):
        reject_unused_test_settings(settings, reason)
        return reason
    objectives, units = build_objective_scores(table, settings.margin)
    count, seed = _resample_count(settings, objectives, units, len(table.bounds)), settings.seed
    columns, family = table.columns, family_from_settings(settings)
    shared_units = columns[0].paired or _resamples_tasks(columns)
    replicates = front.resample_objectives(
        objectives, units, shared_units=shared_units, resamples=count, seed=seed, jobs=jobs
    )
    replicates = replace(replicates, of_means=settings.resamples)
    options: dict[str, Any] = {"resamples": settings.resamples, "seed": seed}
    evidence = tuple(
        front.objective_evidence(objective, replicates.low[..., k], replicates.high[..., k], **options)
        for k, objective in enumerate(objectives)
    )
    constraint_answers: tuple[tuple[Answer, ...], ...] = tuple(() for _ in units)
    if table.bounds:
        constraint_answers = decide_constraints(table, objectives, replicates, family)
    feasible, answers = table.population.feasible, [*map(joint_answer, constraint_answers)]
    membership = front.front_membership(evidence, family, feasible=feasible, constraint_answers=answers)
    values = _to_file_units(columns, replicates.plain)
    allowed = np.ones(values.shape[:2], dtype=bool)
    for constraint in table.bounds:
        allowed &= constraint.holds(values)
    intervals = [replicates.interval(scores, k, family.confidence) for k, scores in enumerate(objectives)]
    limits = [_to_file_units(columns, np.stack(side, axis=-1)) for side in zip(*intervals, strict=True)]
    sampled_scores = [objective.scores for objective in objectives if objective.scores is not None]
    unit_names, tasks = {scores.unit_name for scores in sampled_scores}, columns[0].tasks
    sizes = count_range(size for scores in sampled_scores for size in scores.cluster_counts)
    sample_text = f"{sizes} {unit_names.pop() if len(unit_names) == 1 else 'samples'}"
    if tasks is not None and not tasks.random:
        sample_text += f" of {counted(len(tasks.names), 'task')}"
    return FrontUncertainty(
        membership=membership,
        evidence=evidence,
        shares=front.front_shares(table.population, ranking, replicates.plain, allowed),
        low=np.minimum(*limits),
        high=np.maximum(*limits),
        constraint_answers=constraint_answers,
        resamples=count,
        family=family,
        sample_text=sample_text,
        smallest_sample=min(sampled_scores, key=lambda scores: scores.min_effective_size),
        identical=all(
            len({*objective.values.tolist()}) == 1
            and (objective.scores is None or identically_distributed(objective.scores))
            for objective in objectives
        ),
        random_tasks=_resamples_tasks(columns),
        warnings=_small_sample_warnings(request, objectives, count),
    )


def _resample_count(
    settings: CopaSettings,
    objectives: Sequence[front.ObjectiveScores],
    units: Sequence[int],
    constraints: int,
) -> int:
    """Return the number of resamples: the requested one, or as many as the tests need.

    The automatic number is limited by memory and time.

    Parameters
    ----------
    settings : CopaSettings
        Options of ``copa``.
    objectives : sequence of ObjectiveScores
        Scores of each objective, for resampling.
    units : sequence of int
        Number of resampling units of each model.
    constraints : int
        Number of constraints.
    """
    if settings.resamples != "auto":
        return int(settings.resamples)
    N, needed = len(units), [float(_FEWEST)]
    for objective in objectives:
        if objective.scores is not None:
            families = [N * (N - 1)] if objective.level is not None else []
            families += [2 * N * constraints] if constraints else []
            needed += [5 / max(_critical_p_value(settings, family, objective), 1e-12) for family in families]
    affordable = _WORK / (max(units) * N * len(objectives))
    return int(max(_FEWEST / 2, min(max(needed), _MOST, max(affordable, _FEWEST))))


def _critical_p_value(settings: CopaSettings, family: int, objective: front.ObjectiveScores) -> float:
    """Return the largest p-value, before small-sample adjustment, that is significant.

    `family` is the number of simultaneous tests.
    """
    level = family_from_settings(settings).interval_level(family)
    return float(unexpanded_p_value(level, float(objective.effective_sizes().min())))


def _to_file_units(columns: Sequence[ObjectiveColumn], oriented: Floats) -> Floats:
    """Convert values that are oriented so that larger is better to the units of the input file.

    `oriented` has one column per objective. Missing values become NaN.
    """
    finite = np.where(np.isinf(oriented), np.nan, oriented)
    return np.stack([column.to_file_units(finite[..., k]) for k, column in enumerate(columns)], axis=-1)


def _small_sample_warnings(
    request: CopaRequest, objectives: Sequence[front.ObjectiveScores], resamples: int
) -> tuple[str, ...]:
    """Return warnings about small samples and about tail means that need more resamples."""
    warnings = list[str]()
    for objective, name in zip(objectives, request.objectives.population.metrics, strict=True):
        if objective.scores is None:
            continue
        warnings += size_warnings(objective.scores).values()
        if objective.level is None:
            continue
        count, N = min(objective.scores.cluster_counts), len(objective.values)
        if count * objective.level < 5:
            text = f"{name} uses only {count * objective.level:.2g} of {count} {objective.scores.unit_name}"
            warnings.append(f"{text}: fewer than 5 are too few to estimate a tail")
        if _critical_p_value(request.settings, N * (N - 1), objective) < 1 / (resamples + 1):
            text = f"{resamples:,} resamples are too few to test dominance on {name}"
            warnings.append(f"{text}: affected models stay undecided")
    return tuple(dict.fromkeys(warnings))
