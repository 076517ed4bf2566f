"""Whether models are shown to meet constraints, or to violate them, where their values have doubt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.copa.constraints import Constraint
from riskrank.engine.copa.replicates import ObjectiveReplicates, ObjectiveScores
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.family import Family, Side
from riskrank.engine.sampling.freedom import expanded_p_value
from riskrank.engine.types import Floats
from riskrank.studies.copa.objective_columns import ObjectiveColumn


def meeting(
    constraints: Sequence[Constraint],
    columns: Sequence[ObjectiveColumn],
    objectives: Sequence[ObjectiveScores],
    drawn: ObjectiveReplicates,
    family: Family,
) -> tuple[tuple[Side, ...], ...]:
    """Decide which constraints every model meets: a family of all models and constraints.

    Returns
    -------
    tuple of N tuples of Side
        By model and constraint.
    """
    p_values = [
        _p_values(one, columns[k], objectives[k], drawn.low[..., k], drawn.high[..., k])
        for one in constraints
        for k in (one.objective,)
    ]
    shown, violated = (np.stack(side, axis=1) for side in zip(*p_values, strict=True))
    answers = family.answer(Evidence.of(np.zeros(shown.shape), shown, violated))
    return tuple(tuple(map(Side, own)) for own in answers.side.tolist())


def together(answers: Sequence[Side]) -> Side:
    """The answer to all constraints on one model."""
    return min(answers, default=Side.SHOWN)


def _p_values(
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
