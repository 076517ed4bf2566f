"""Short version of ``make calibrate``: intervals of differences and hidden risks."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

path = Path(__file__).parents[2] / "benchmarks" / "calibration_effects.py"


@pytest.fixture(scope="module")
def calibration():
    spec = importlib.util.spec_from_file_location("calibration_effects", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def flagged(calibration, name, n, tables=30):
    number = [case.name for case in calibration.RISKS].index(name)
    return np.mean(calibration.risk_rows((number, n), range(tables)), axis=0)


@pytest.mark.slow
def test_rare_disasters_are_detected(calibration):
    first, other_models = flagged(calibration, "5 % chance of -6", 300, tables=15)
    assert first > 0.6
    assert other_models < 0.2


def test_shifts_are_no_risk(calibration):
    assert flagged(calibration, "plain shifts of .1", 100).tolist() == [0, 0]


@pytest.mark.slow
def test_intervals_of_means_cover(calibration):
    covered = np.array(calibration.coverage_rows(("normal, correlation .8", 30), range(150), 400))
    assert covered[:, 0].mean() == pytest.approx(0.95, abs=0.05)
    assert covered[:, 1].mean() > 0.88


def test_benchmark_replicates_match_the_definition(calibration):
    from riskrank.engine.portfolio.quantiles import tail_value_at_risk

    values = np.random.default_rng(0).normal(size=(3, 41))
    mean, tail = calibration.statistics(values, 0.13)
    assert mean == pytest.approx(values.mean(axis=1))
    assert tail == pytest.approx([tail_value_at_risk(row, 0.13) for row in values])
