"""How sure the front and the choice are, where objectives are measured on samples (method §7)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.front_membership import (
    FrontMembership,
    ObjectiveEvidence,
    front_membership,
    objective_evidence,
)
from riskrank.engine.copa.front_shares import FrontShares, front_shares
from riskrank.engine.copa.population import Constraint
from riskrank.engine.copa.ranking import CopaRanking
from riskrank.engine.copa.replicates import ObjectiveReplicates, ObjectiveScores, resample_objectives
from riskrank.engine.dominance.ranking import alike
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.family import Family, Side
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value, expanded_share
from riskrank.engine.sampling.design import ClusteredScores, weak_sizes
from riskrank.engine.types import Floats
from riskrank.options.values import require_known
from riskrank.studies.copa.document_base import CopaRequest
from riskrank.studies.copa.objective_columns import ObjectiveColumn
from riskrank.studies.copa.objective_scores import (
    build_objective_scores,
    has_shared_units,
    reason_not_testable,
    reject_unused_test_settings,
)
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.settings import family_of
from riskrank.studies.wording import counted, span


def decide_constraints(
    found: Objectives, objectives: Sequence[ObjectiveScores], drawn: ObjectiveReplicates, family: Family
) -> tuple[tuple[Side, ...], ...]:
    """Decide which constraints every model meets: a family of all models and constraints.

    Returns
    -------
    tuple of N tuples of Side
        By model and constraint.
    """
    p_values = [
        _constraint_p_values(one, found.columns[k], objectives[k], drawn.low[..., k], drawn.high[..., k])
        for one in found.bounds
        for k in (one.objective,)
    ]
    shown, violated = (np.stack(side, axis=1) for side in zip(*p_values, strict=True))
    answers = family.answer(Evidence.of(np.zeros(shown.shape), shown, violated))
    return tuple(tuple(map(Side, own)) for own in answers.side.tolist())


def joint_answer(answers: Sequence[Side]) -> Side:
    """The answer to all constraints on one model."""
    return min(answers, default=Side.SHOWN)


def _constraint_p_values(
    constraint: Constraint, column: ObjectiveColumn, objective: ObjectiveScores, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """One-sided p-values of a constraint being met, and of its being violated, by model."""
    k = Constraint(0, constraint.relation, constraint.bound)
    # Whoever has no value meets nothing.
    holds = k.holds(column.raw(np.where(np.isinf(objective.values), np.nan, objective.values))[:, None])
    shown, violated = np.where(holds, 0.0, 1.0), np.where(holds, 1.0, 0.0)
    if objective.scores is None:
        return shown, violated
    models = objective.models
    shown[models] = violated[models] = 1.0
    if constraint.relation in ("==", "!="):
        return shown, violated  # that a mean is a number can be shown of no samples
    for model, costs in zip(models.tolist(), objective.costs, strict=bool(objective.costs)):
        sides = costs.p_below(constraint.bound), costs.p_above(constraint.bound)
        shown[model], violated[model] = sides if constraint.relation in ("<", "<=") else sides[::-1]
    if objective.costs:
        return shown, violated
    # Where better values meet it, the unit that speaks against it is the bad one.
    good = (constraint.relation in ("<", "<=")) == column.lower
    against, in_favour = (low, high) if good else (high, low)
    behind = objective.independent()
    for at, model in enumerate(models.tolist()):
        met = [k.holds(column.raw(drawn[:, model])[:, None]) for drawn in (against, in_favour)]
        shares = [1 + np.count_nonzero(~met[0]), 1 + np.count_nonzero(met[1])]
        found = expanded_p_value(np.array(shares) / (len(low) + 1), behind[at])
        shown[model], violated[model] = found
    return shown, violated


# Resamples of an automatic number: shares to a point, and what the family of a tail mean asks for, up to
# what may be kept and what it may cost.
_FEWEST, _MOST, _WORK = 2000, 40_000, 1e9


@dataclass(frozen=True, eq=False)
class FrontUncertainty:
    """What samples say of the front.

    Attributes
    ----------
    states : FrontStates
    evidence : tuple of K ObjectiveEvidence
    shares : FrontShares
    low, high : ndarray, shape (N, K)
        Intervals of the values, each by itself, in the units of the file; NaN where nothing can be said.
    answers : tuple of N tuples of Side
        By model and constraint whether it is shown to be met.
    resamples : int
    family : Family
    samples : str
        What was drawn again, in words.
    least : ClusteredScores
        Scores of the objective that has fewest independent samples.
    alike : bool
        Whether all models have one value and one distribution of scores on every objective.
    of_tasks : bool
        Whether whole tasks were: it speaks of tasks like these.
    notes : tuple of str
        What a reader must know before believing it.
    """

    membership: FrontMembership
    evidence: tuple[ObjectiveEvidence, ...]
    shares: FrontShares
    low: Floats
    high: Floats
    constraint_answers: tuple[tuple[Side, ...], ...]
    resamples: int
    family: Family
    samples: str
    smallest_sample: ClusteredScores
    identical: bool
    random_tasks: bool
    warnings: tuple[str, ...]


def assess_front(asked: CopaRequest, ranking: CopaRanking) -> FrontUncertainty | str:
    """Test who is on the front and how often a choice is made again, or say why nothing is known of it.

    Raises
    ------
    UsageError
        If something is asked of samples that the table has not, or a margin names no objective.
    InputError
        If tests were asked for and there are too few samples.
    """
    settings, found = asked.settings, asked.objectives
    require_known(settings.margin, found.population.metrics, kind="objective", parameter="margin")
    reason = reason_not_testable(asked)
    if reason:
        reject_unused_test_settings(settings, reason)
        return reason
    objectives, units = build_objective_scores(found, settings.margin)
    resamples = _resample_count(settings, objectives, units, len(found.bounds))
    drawn = resample_objectives(
        objectives,
        units,
        shared_units=has_shared_units(found.columns),
        resamples=resamples,
        seed=settings.seed,
    )
    evidence = tuple(
        objective_evidence(one, drawn.low[..., k], drawn.high[..., k]) for k, one in enumerate(objectives)
    )
    answers: tuple[tuple[Side, ...], ...] = tuple(() for _ in units)
    if found.bounds:
        answers = decide_constraints(found, objectives, drawn, family_of(settings))
    population = found.population
    states = front_membership(
        evidence,
        family_of(settings),
        feasible=population.feasible,
        constraint_answers=[joint_answer(one) for one in answers],
    )
    raw = _to_file_units(found.columns, drawn.plain)
    allowed = np.ones(raw.shape[:2], dtype=bool)
    for constraint in found.bounds:
        allowed &= constraint.holds(raw)
    each = [drawn.interval(one, k, family_of(settings).confidence) for k, one in enumerate(objectives)]
    ends = [_to_file_units(found.columns, np.stack(side, axis=-1)) for side in zip(*each, strict=True)]
    scored = [one.scores for one in objectives if one.scores is not None]
    return FrontUncertainty(
        membership=states,
        evidence=evidence,
        shares=front_shares(population, ranking, drawn.plain, allowed),
        low=np.minimum(*ends),
        high=np.maximum(*ends),
        constraint_answers=answers,
        resamples=resamples,
        family=family_of(settings),
        samples=_describe_samples(scored, found.columns),
        smallest_sample=min(scored, key=lambda scores: scores.effective_size),
        identical=all(
            len({*one.values.tolist()}) == 1 and (one.scores is None or alike(one.scores))
            for one in objectives
        ),
        random_tasks=any(one.tasks is not None and one.tasks.random for one in found.columns),
        warnings=_small_sample_warnings(asked, objectives, resamples),
    )


def _resample_count(
    settings: CopaSettings, objectives: Sequence[ObjectiveScores], units: Sequence[int], constraints: int
) -> int:
    """Resamples: those asked for, or as many as what is counted in them can need."""
    if settings.resamples != "auto":
        return int(settings.resamples)
    N = len(units)
    wanted = [float(_FEWEST)]
    for one in objectives:
        if one.scores is None:
            continue
        families = [N * (N - 1)] if one.level is not None else []
        families += [2 * N * constraints] if constraints else []
        wanted += [5 / max(_smallest_share(settings, family, one), 1e-12) for family in families]
    most = _WORK / (max(units) * N * len(objectives))
    return int(max(_FEWEST / 2, min(max(wanted), _MOST, max(most, _FEWEST))))


def _smallest_share(settings: CopaSettings, family: int, objective: ObjectiveScores) -> float:
    """Share of resamples that has to be seen to show a claim of a family."""
    level = family_of(settings).level(family)
    return float(expanded_share(level, float(objective.independent().min())))


def _to_file_units(columns: Sequence[ObjectiveColumn], oriented: Floats) -> Floats:
    """Values in the units of the file; NaN where they are missing."""
    known = np.where(np.isinf(oriented), np.nan, oriented)
    return np.stack([column.raw(known[..., k]) for k, column in enumerate(columns)], axis=-1)


def _describe_samples(scored: Sequence[ClusteredScores], columns: Sequence[ObjectiveColumn]) -> str:
    """How much was drawn again."""
    counts = [count for one in scored for count in one.cluster_counts]
    units = {one.unit for one in scored}
    unit = units.pop() if len(units) == 1 else "samples"
    tasks = columns[0].tasks
    of = f" of {counted(len(tasks.names), 'task')}" if tasks is not None and not tasks.random else ""
    return f"{span(counts)} {unit}{of}"


def _small_sample_warnings(
    asked: CopaRequest, objectives: Sequence[ObjectiveScores], resamples: int
) -> tuple[str, ...]:
    """Objectives of which little can be known, and tail means that these resamples can show nothing of."""
    notes = list[str]()
    for one, name in zip(objectives, asked.objectives.population.metrics, strict=True):
        if one.scores is None:
            continue
        notes += weak_sizes(one.scores).values()
        if one.level is None:
            continue
        count, N = min(one.scores.cluster_counts), len(one.values)
        if count * one.level < 5:
            text = f"{name} looks at {count * one.level:.2g} of {count} {one.scores.unit}"
            notes.append(f"{text}: fewer than 5 tell little of a tail")
        if _smallest_share(asked.settings, N * (N - 1), one) < 1 / (resamples + 1):
            text = f"{resamples:,} resamples are too few to show who is dominated on {name}"
            notes.append(f"{text}: what that decides stays open")
    return tuple(dict.fromkeys(notes))
