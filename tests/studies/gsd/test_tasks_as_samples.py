"""Generalized stochastic dominance of a suite, with tasks as samples."""

from dataclasses import replace

import numpy as np
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.scores.table.suite import NO_SUITE
from riskrank.studies.gsd.criteria import tasks_as_samples
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.gsd.study import gsd
from riskrank.studies.report.options import ReportSettings
from tests.studies.suites.test_section import NAMES, suite_table

AHEAD = [np.arange(8) / 4 + 1.0, np.arange(8) / 4, 0.3]


def with_directions(table):
    metrics = [replace(spec, direction="higher", declared=True) for spec in table.metrics]
    return replace(table, metrics=tuple(metrics))


def test_task_means_serve_as_samples():
    table = with_directions(suite_table(AHEAD, metrics=2))
    means = tasks_as_samples(table, GsdSettings(tasks="random"))
    assert means.samples == NAMES
    assert not means.suite
    assert not means.has_repeats
    for model, values in enumerate(table.values):
        task_of_sample = table.suite.task_codes[table.row_samples[model]]
        for task in range(8):
            assert means.values[model][task] == pytest.approx(
                values[task_of_sample == task].mean(axis=0), abs=1e-12
            )


def test_analysis_equals_that_of_task_means():
    table = with_directions(suite_table(AHEAD, metrics=2))
    document = gsd(table, GsdSettings(tasks="random", digits=3))
    means = tasks_as_samples(table, GsdSettings(tasks="random"))
    plain = gsd(means, GsdSettings(digits=3))
    assert [row.p_value for row in document.rows] == [row.p_value for row in plain.rows]
    assert [row.optimum for row in document.rows] == [row.optimum for row in plain.rows]
    assert document.provenance.samples == 8
    assert "On these tasks m1 is at least as good as" in document.verdict
    assert document.unit == "task"
    assert "In these samples" in plain.verdict
    # The listed means are macro means.
    assert document.means[0].mean[0] == pytest.approx(means.values[0][:, 0].mean(), abs=1e-12)


def test_pooling_tasks_needs_an_option():
    table = with_directions(suite_table(AHEAD))
    for options in ({}, {"tasks": "fixed"}):
        with pytest.raises(UsageError, match="gsd must know whether tasks are its samples") as error:
            gsd(table, GsdSettings(**options))
        assert 'task="none"' in str(error.value)
    assert ReportSettings(tasks="random").relation.tasks == "random"
    assert ReportSettings().relation.tasks is None


def test_invalid_tasks_are_refused():
    with pytest.raises(UsageError, match="weights all tasks equally"):
        gsd(with_directions(suite_table(AHEAD, weights=range(1, 9))), GsdSettings(tasks="random"))
    few = with_directions(suite_table([1.0, 0.0], sizes=(10,) * 5))
    with pytest.raises(InputError, match="at least 6 tasks") as error:
        gsd(few, GsdSettings(tasks="random"))
    assert "task" in error.value.hint
    assert gsd(few, GsdSettings(tasks="random", no_test=True, digits=3)).provenance.samples == 5
    with pytest.raises(UsageError, match="needs a suite of tasks"):
        gsd(replace(few, suite=NO_SUITE), GsdSettings(tasks="random"))


def test_means_of_levels_are_warned_of():
    table = with_directions(suite_table(AHEAD, metrics=2))
    document = gsd(table, GsdSettings(tasks="random", ordinal="x1", digits=2, no_test=True))
    assert any("average the levels of x1" in warning for warning in document.provenance.warnings)
