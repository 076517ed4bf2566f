"""Better here, worse there: groups as one family."""

import numpy as np

from riskrank.engine.dominance.claims import Claim
from riskrank.engine.dominance.column import study_dominance
from riskrank.engine.dominance.group_evidence import across_groups
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores


def group_tests(tables):
    return [
        study_dominance(ClusteredScores.build(list(table)), [Claim(2)], Inference()).tests[0]
        for table in tables
    ]


def test_better_here_and_worse_there():
    rng = np.random.default_rng(6)
    up, down = (rng.normal(size=(3, 150)) + np.array([[sign], [0], [0]]) for sign in (1.0, -1.0))
    tests = group_tests([up, rng.normal(size=(3, 150)), down])
    ahead = across_groups([one.p_value for one in tests])
    assert [tuple(pair) for pair in np.argwhere(ahead).tolist()] == [
        (0, 0, 1),
        (0, 0, 2),
        (2, 1, 0),
        (2, 2, 0),
    ]


def test_groups_are_one_family():
    rng = np.random.default_rng(7)
    tests = group_tests(rng.normal(size=(4, 2, 60)) + np.array([0.35, 0])[None, :, None])
    raw = np.array([one.p_value[0, 1] for one in tests])
    for level in (0.001, 0.02, 0.2, 0.999):
        found = across_groups([one.p_value for one in tests], Family(level, "bonferroni"))
        assert found[:, 0, 1].tolist() == (8 * raw <= level).tolist()
        assert not found[:, [0, 1], [0, 1]].any()
