"""Short version of ``make calibrate``: the default test keeps its level."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # simulations, as those they look at are

path = Path(__file__).parents[3] / "tests" / "benchmarks" / "calibration_boundaries.py"
spec = importlib.util.spec_from_file_location("calibration_boundaries", path)
calibration = importlib.util.module_from_spec(spec)


@pytest.fixture(scope="module", autouse=True)
def loaded():
    import sys

    sys.modules["calibration_boundaries"] = calibration
    spec.loader.exec_module(calibration)


def rate(name, *, runs, resamples=150):
    case = next(case for case in calibration.boundary_cases(100) if case.name == name)
    rejected = [calibration.rejections(case, seed, resamples=resamples)[0, 0, 0] for seed in range(runs)]
    return np.mean(rejected), np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("name", ["two identical among three", "tau = 0.25, order 1"])
def test_size_at_five_percent(name):
    size, error = rate(name, runs=120)
    assert size <= 0.08 + 2 * error
    assert size >= 0.03 - 2 * error


def test_rule_of_the_paper_fails_this_check():
    """Check that the simulation detects a bad test: Algorithm 1 rejects far too often on the same data."""
    from riskrank.engine.dominance.inference import Claim
    from riskrank.engine.dominance.ranking import estimate_violation
    from riskrank.engine.dominance.resampled_tests import paper_test
    from tests.engine.dominance.helpers import replicate

    rejected = []
    for seed in range(60):
        draw = calibration.normals([0, 0], [1, 1], n=100)
        scores = draw(np.random.default_rng(seed))
        replicates = replicate(scores, resamples=100, seed=seed)
        rejected.append(paper_test(estimate_violation(scores), replicates, Claim(1)).p_value[0, 1] <= 0.05)
    assert np.mean(rejected) > 0.25
