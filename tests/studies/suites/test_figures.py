"""Pictures of a suite: what is arranged, against the study, and that each is drawn in its place."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import riskrank as rr
from riskrank.engine.suites.macro_means import RANDOM
from riskrank.options.commands import BY_NAME
from riskrank.studies.suites.figures.pictures import (
    pictures,
    models_by_mean,
    arrange_task_forest,
    arrange_task_map,
)
from tests.tables import long_table

TASKS = {"arc": 40, "boolq": 30, "gsm8k": 60, "mmlu": 100, "piqa": 30, "wino": 45}
KINDS = ("taskmap", "taskforest", "profile")


def scores(sign=1):
    rng = np.random.default_rng(0)
    names = [f"{task}" for task, size in TASKS.items() for _ in range(size)]
    base = rng.normal(size=len(names))
    found = {}
    for model, up in (("a", 0.4), ("b", 0.2), ("c", 0.0)):
        better = np.where(np.array(names) == "gsm8k", -up, up)
        found[model] = sign * (base + better + 0.4 * rng.normal(size=len(names)))
    return long_table(found, "x", int).with_columns(task=pl.Series(names * 3))


@pytest.fixture(scope="module", params=[1, -1], ids=["higher", "lower"])
def ranked(request):
    how = {"higher": ["x"]} if request.param > 0 else {"lower": ["x"]}
    return rr.rank(scores(request.param), resamples=200, **how)


def test_every_kind_is_in_the_table_of_pictures(ranked):
    found = {name.partition("@")[0] for name in ranked.pictures}
    assert set(KINDS) <= found <= set(BY_NAME["rank"].pictures)
    assert set(KINDS) <= set(BY_NAME["dominance"].pictures)


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_drawn_the_same_again(ranked, kind):
    one = ranked.plot(kind)
    if ranked.document.suite.columns["x"].units.sign > 0:
        assert one.to_bytes("svg") == ranked.plot(kind).to_bytes("svg")
    assert one.reading.endswith(".") or one.reading.endswith("so.")


def test_a_map_is_of_means_and_marks(ranked):
    chapter = ranked.document.suite
    one = chapter.columns["x"]
    found = arrange_task_map(chapter, one)
    order = found.order.tolist()
    assert order[0] == one.first.model
    assert order == models_by_mean(one)
    frame = scores(1 if one.units.sign > 0 else -1)
    for row, model in enumerate(order):
        for t, task in enumerate(chapter.names):
            own = frame.filter((pl.col("model") == "abc"[model]) & (pl.col("task") == task))["score"].mean()
            assert found.mean[row, t] == pytest.approx(own)
    assert not found.ahead[0].any()
    assert np.abs(found.shade).max() == 1
    worse = chapter.names.index("gsm8k")
    assert found.marks[-1, worse] == 1
    assert found.shade[-1, worse] > 0


def test_a_forest_sorts_tasks_and_ends_with_all_of_them(ranked):
    chapter = ranked.document.suite
    one = chapter.columns["x"]
    found = arrange_task_forest(chapter, one)
    assert found.rivals[0] == one.first.pair[1]
    assert [one.first.model, *found.rivals] == models_by_mean(one)
    tasks = len(chapter.names)
    assert found.names[tasks:] == ("all, these tasks", "all, tasks like these")
    assert (np.diff(found.estimate[0, :tasks]) <= 0).all()
    assert found.names[tasks - 1] == "gsm8k"
    for column, other in enumerate(found.rivals):
        gap = {
            task: one.scores.values[one.first.model][one.scores.tasks[0] == t]
            - one.scores.values[other][one.scores.tasks[0] == t]
            for t, task in enumerate(chapter.names)
        }
        means = [values.mean() for values in gap.values()]
        for at, values in [*((at, gap[found.names[at]]) for at in range(tasks)), (-1, means)]:
            expected = stats.ttest_1samp(values, 0).confidence_interval()
            ends = found.low[column, at], found.high[column, at]
            assert ends == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert RANDOM in one.scopes


def test_a_task_has_the_colour_of_who_is_better_there(ranked):
    one = ranked.document.suite.columns["x"]
    shades = {line.get_color() for line in ranked.plot("profile").axes[0].get_lines()}
    panels = [axes for axes in ranked.plot("taskforest").axes if axes.get_xlabel()]
    assert len(panels) == 2
    shown = {line.get_color() for axes in panels for line in axes.lines if line.get_marker() in "^v"}
    assert (one.marks[one.first.model] != 0).any()
    assert shown
    assert shown <= shades


def test_profiles_fall_from_one_to_none(ranked):
    lines = ranked.plot("profile").axes[0].get_lines()
    for line in lines:
        share = line.get_ydata()
        assert (share[0], share[-1]) == (1, 0)
        assert (np.diff(share) <= 1e-12).all()


@pytest.mark.parametrize("tasks", [2, pytest.param(60, marks=pytest.mark.slow)])
def test_few_and_many_tasks_are_drawn(tasks):
    rng = np.random.default_rng(1)
    names = [f"a task of a rather long name, number {t}" for t in range(tasks) for _ in range(12)]
    frame = long_table({f"model {at}": rng.integers(0, 2, len(names)) for at in range(12)}, "x", int)
    frame = frame.with_columns(task=pl.Series(names * 12))
    document = rr.rank(frame, no_test=True, higher=["x"]).document
    for picture in pictures(document.suite):
        assert len(picture.draw().to_bytes("svg")) > 1000


def test_a_command_that_only_names_its_tasks_draws_what_it_has():
    found = rr.mrm(scores(), resamples=100, higher=["x"])
    assert "6 tasks" in found.document.suite.summary
    assert found.pictures
    assert not {name.partition("@")[0] for name in found.pictures} & set(KINDS)


@pytest.mark.slow
def test_a_report_has_a_chapter_of_tasks():
    page = rr.report(scores(), resamples=100, higher=["x"]).to_html()
    assert "Task by task" in page
    assert "performance profiles of x" in page
    assert 'keyed" tabindex="0" role="group" aria-label="Share of the scores above each level' in page
    assert "6 tasks, weighed alike, 30 to 100 samples each" in page
