"""The polytope of utilities: only valid solutions of a linear program are accepted."""

import highspy
import numpy as np
import pytest

from riskrank.engine.gsd.preference_system import preference_system, quality_table
from riskrank.engine.gsd.relation import UtilityPolytope
from riskrank.errors import NumericalError


def test_invalid_solution_is_an_error(monkeypatch):
    scores = np.random.default_rng(5).normal(size=(2, 10, 2)).round(3)
    polytope = UtilityPolytope(preference_system(quality_table(scores, ordinal=[False, False])))
    objective = np.zeros(polytope.system.size)
    objective[[3, 7]] = 1.0, -1.0

    good = polytope.minimise(objective).utility
    monkeypatch.setattr(
        UtilityPolytope, "_run", lambda self, strategy: np.append(np.full_like(good, 0.5), 0.0)
    )
    with pytest.raises(NumericalError, match="violates a row"):
        polytope.minimise(objective)
    # A feasible point that is optimal for another objective.
    monkeypatch.setattr(UtilityPolytope, "_run", lambda self, strategy: np.append(good, 0.0))
    with pytest.raises(NumericalError, match="above its lower bound"):
        polytope.minimise(-objective)


def test_solver_failure_is_an_error(monkeypatch):
    scores = np.random.default_rng(5).normal(size=(2, 10, 2)).round(3)
    polytope = UtilityPolytope(preference_system(quality_table(scores, ordinal=[False, False])))
    monkeypatch.setattr(
        highspy.Highs, "getModelStatus", lambda self: highspy.HighsModelStatus.kIterationLimit
    )
    with pytest.raises(NumericalError, match="solver status"):
        polytope.minimise(np.zeros(polytope.system.size))


def test_cache_is_cleared_for_another_slack():
    # They would bound the optima of relabelled data from the wrong side.
    scores = np.random.default_rng(5).normal(size=(2, 10, 2)).round(3)
    polytope = UtilityPolytope(preference_system(quality_table(scores, ordinal=[False, False])))
    objective = np.zeros(polytope.system.size)
    objective[[7, 3]] = 1.0, -1.0
    free = polytope.minimise(objective)
    assert len(polytope.utilities) == 1
    polytope.fix_slack(0.5 * polytope.largest_slack())
    assert len(polytope.utilities) == 0
    assert polytope.minimise(objective).value > free.value
