"""Pictures of a suite: arrangement compared with the study, and drawing."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.engine.suites import RANDOM
from riskrank.options.commands import BY_NAME
from riskrank.studies.suites.figures import arrange_task_forest, models_by_mean, pictures
from tests.tables import long_table

TASKS = {"arc": 40, "boolq": 30, "gsm8k": 60, "mmlu": 100, "piqa": 30, "wino": 45}
KINDS = ("taskforest", "profile")


def scores(sign=1):
    rng = np.random.default_rng(0)
    names = [f"{task}" for task, size in TASKS.items() for _ in range(size)]
    base = rng.normal(size=len(names))
    values = {}
    for model, up in (("a", 0.4), ("b", 0.2), ("c", 0.0)):
        better = np.where(np.array(names) == "gsm8k", -up, up)
        values[model] = sign * (base + better + 0.4 * rng.normal(size=len(names)))
    return long_table(values, "x", int).with_columns(task=pl.Series(names * 3))


@pytest.fixture(scope="module", params=[1, -1], ids=["higher", "lower"])
def ranked(request):
    direction = {"higher": ["x"]} if request.param > 0 else {"lower": ["x"]}
    return rr.rank(scores(request.param), resamples=200, **direction)


def test_suite_pictures_are_registered(ranked):
    kinds = {name.partition("@")[0] for name in ranked.pictures}
    assert set(KINDS) <= kinds <= set(BY_NAME["rank"].pictures)
    assert set(KINDS) <= set(BY_NAME["dominance"].pictures)


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_reproducible(ranked, kind):
    plot = ranked.plot(kind)
    if ranked.document.suite.columns["x"].units.sign > 0:
        assert plot.to_bytes("svg") == ranked.plot(kind).to_bytes("svg")
    assert plot.explanation.endswith(".") or plot.explanation.endswith("so.")


def test_forest_sorts_tasks_before_overall_rows(ranked):
    section = ranked.document.suite
    suite_column = section.columns["x"]
    forest = arrange_task_forest(section, suite_column)
    assert forest.rivals[0] == suite_column.first.pair[1]
    assert [suite_column.first.model, *forest.rivals] == models_by_mean(suite_column)
    tasks = len(section.names)
    assert forest.names[tasks:] == ("all, these tasks", "all, tasks like these")
    assert (np.diff(forest.estimate[0, :tasks]) <= 0).all()
    assert forest.names[tasks - 1] == "gsm8k"
    for column, other in enumerate(forest.rivals):
        gap = {
            task: suite_column.scores.values[suite_column.first.model][suite_column.scores.tasks[0] == t]
            - suite_column.scores.values[other][suite_column.scores.tasks[0] == t]
            for t, task in enumerate(section.names)
        }
        means = [values.mean() for values in gap.values()]
        for at, values in [*((at, gap[forest.names[at]]) for at in range(tasks)), (-1, means)]:
            expected = stats.ttest_1samp(values, 0).confidence_interval()
            low, high = forest.low[column, at], forest.high[column, at]
            if at >= 0:
                assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-9)
            else:  # a bootstrap-t is never narrower than Student's t
                assert low <= expected.low + 1e-9 < expected.high - 1e-9 <= high
    assert RANDOM in suite_column.scopes


def test_tasks_have_the_colour_of_the_better_model(ranked):
    column = ranked.document.suite.columns["x"]
    shades = {line.get_color() for line in ranked.plot("profile").axes[0].get_lines()}
    panels = [axes for axes in ranked.plot("taskforest").axes if axes.get_xlabel()]
    assert len(panels) == 2
    colors = {line.get_color() for axes in panels for line in axes.lines if line.get_marker() in "^v"}
    assert (column.marks[column.first.model] != 0).any()
    assert colors
    assert colors <= shades


def test_profiles_decrease_to_zero(ranked):
    lines = ranked.plot("profile").axes[0].get_lines()
    for line in lines:
        share = line.get_ydata()
        assert (share[0], share[-1]) == (1, 0)
        assert (np.diff(share) <= 1e-12).all()


@pytest.mark.parametrize("tasks", [2, pytest.param(60, marks=pytest.mark.slow)])
def test_few_and_many_tasks_are_plotted(tasks):
    rng = np.random.default_rng(1)
    names = [f"a task of a rather long name, number {t}" for t in range(tasks) for _ in range(12)]
    frame = long_table({f"model {at}": rng.integers(0, 2, len(names)) for at in range(12)}, "x", int)
    frame = frame.with_columns(task=pl.Series(names * 12))
    document = rr.rank(frame, no_test=True, higher=["x"]).document
    for picture in pictures(document.suite):
        assert len(picture.draw().to_bytes("svg")) > 1000


def test_mrm_draws_no_task_pictures():
    result = rr.mrm(scores(), resamples=100, higher=["x"])
    assert "6 tasks" in result.document.suite.summary
    assert result.pictures
    assert not {name.partition("@")[0] for name in result.pictures} & set(KINDS)


@pytest.mark.slow
def test_report_has_a_section_on_tasks():
    page = rr.report(scores(), resamples=100, higher=["x"]).to_html()
    assert "Results by task" in page
    assert "performance profiles of x" in page
    assert 'keyed" tabindex="0" role="group" aria-label="Share of scores above each threshold' in page
    assert "6 tasks, weighted equally, 30 to 100 samples each" in page
