"""The UCI example of the paper (Jansen et al. 2023, section 6): published verdicts."""

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from riskrank.engine.gsd.preference_system import Threshold, quality_table
from riskrank.engine.gsd.rank_tests import run_criteria_tests
from riskrank.engine.gsd.relabelling import Relabelling, dominance_relation, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities, hasse_diagram

MODELS = ["BDS", "CART", "EN", "GBM", "GLM", "LASSO", "RF", "RIDGE"]
METRICS = ["auc", "acc", "brier"]
INCOMPARABLE = {
    ("BDS", "RF"),
    ("EN", "GLM"),
    ("EN", "LASSO"),
    ("EN", "RIDGE"),
    ("GLM", "LASSO"),
    ("GLM", "RIDGE"),
    ("LASSO", "RIDGE"),
}


@pytest.fixture(scope="module")
def scores():
    frame = pl.read_csv(Path(__file__).parents[3] / "sample_data" / "uci.csv").sort("model", "sample")
    table = [frame.filter(metric=metric)["score"].to_numpy().reshape(len(MODELS), -1) for metric in METRICS]
    return np.stack(table, axis=-1) * [1, 1, -1]


@pytest.fixture(scope="module")
def bounded(scores):
    return quality_table(scores, ordinal=[False] * 3, bounds=[[0, 1], [0, 1], [-1, 0]])


@pytest.mark.parametrize(
    "bounds", [None, pytest.param([[0, 1], [0, 1], [-1, 0]], marks=pytest.mark.slow)], ids=["none", "all"]
)
def test_seven_incomparable_pairs(scores, bounds):
    relation, _ = dominance_relation(Utilities(quality_table(scores, ordinal=[False] * 3, bounds=bounds)))
    pairs = {
        (MODELS[i], MODELS[j])
        for i, j in combinations(range(8), 2)
        if not relation.dominates[i, j] and not relation.dominates[j, i]
    }
    assert pairs == INCOMPARABLE
    diagram = hasse_diagram(relation.dominates)
    assert diagram.implied == ()
    assert diagram.levels[MODELS.index("GBM")] == 0
    assert diagram.levels[MODELS.index("CART")] == max(diagram.levels)


def test_classical_dominance_relates_only_two_pairs(scores):
    # Appendix A.1: all criteria ordinal.
    relation, _ = dominance_relation(Utilities(quality_table(scores, ordinal=[True] * 3)))
    strict = relation.dominates & ~np.eye(8, dtype=bool)
    assert {(MODELS[i], MODELS[j]) for i, j in np.argwhere(strict)} == {("BDS", "CART"), ("GBM", "CART")}


def test_all_test_finds_three_pairs(scores):
    result = run_criteria_tests(scores).all_test(0.05)
    pairs = {(MODELS[i], MODELS[j]) for i, j in np.argwhere(result)}
    assert pairs == {("BDS", "CART"), ("GBM", "CART"), ("RF", "CART")}


@pytest.mark.parametrize(
    ("resamples", "names"),
    [
        (1000, "GBM>CART RF>CART GBM>BDS"),
        pytest.param(
            10_000,
            "GBM>CART RF>CART GLM>CART BDS>CART EN>CART LASSO>CART RIDGE>CART "
            "GBM>BDS GBM>EN GBM>LASSO GBM>RIDGE GBM>GLM GBM>RF",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_significant_pairs(bounded, resamples, names):
    pairs = [tuple(MODELS.index(name) for name in text.split(">")) for text in names.split()]
    tests = run_relabelling_tests(
        Utilities(bounded, Threshold(1e-5)), pairs, Relabelling(resamples=resamples)
    )
    for test in tests:
        significant = (MODELS[test.winner], MODELS[test.loser]) not in {("GBM", "GLM"), ("GBM", "RF")}
        assert (test.p_value < 0.05) == significant
