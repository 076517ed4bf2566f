"""Whether models are shown to meet constraints, or to violate them, where their values have doubt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.copa.constraints import Constraint
from riskrank.engine.copa.front_states import OPEN, SHOWN, VIOLATED
from riskrank.engine.copa.objective_scores import ObjectiveScores
from riskrank.engine.copa.replicates import ObjectiveReplicates
from riskrank.engine.sampling.expanded_percentile import expanded_p_value
from riskrank.engine.sampling.multiplicity import adjust
from riskrank.engine.types import Floats
from riskrank.studies.copa.objective_columns import ObjectiveColumn
from riskrank.studies.copa.options import CopaSettings


def meeting(
    constraints: Sequence[Constraint],
    columns: Sequence[ObjectiveColumn],
    objectives: Sequence[ObjectiveScores],
    drawn: ObjectiveReplicates,
    settings: CopaSettings,
) -> tuple[tuple[str, ...], ...]:
    """Decide which constraints every model meets; Holm over models and constraints.

    Returns
    -------
    tuple of N tuples of str
        By model and constraint ``shown``, ``violated`` or ``open``.
    """
    sides, p_values = [], []
    for constraint in constraints:
        k = constraint.objective
        shown, violated = _p_values(
            constraint, columns[k], objectives[k], drawn.low[..., k], drawn.high[..., k]
        )
        sides.append(shown < violated)
        p_values.append(np.minimum(2 * np.minimum(shown, violated), 1.0))
    p = np.stack(p_values)
    decided = adjust(p.ravel(), settings.correction).reshape(p.shape) <= settings.alpha
    answers = np.where(decided, np.where(np.stack(sides), SHOWN, VIOLATED), OPEN)
    return tuple(tuple(own) for own in answers.T.tolist())


def together(answers: Sequence[str]) -> str:
    """The answer to all constraints on one model."""
    if VIOLATED in answers:
        return VIOLATED
    return OPEN if OPEN in answers else SHOWN


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
