"""Pictures of a suite of tasks, of any document that has one."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from riskrank.options.suites import FIXED, RANDOM
from riskrank.render.figures.legend import OTHERS, Key, beside_key, looks
from riskrank.render.figures.marks import curve_mark, model_mark
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import Plot, drawn
from riskrank.render.figures.units import Unit
from riskrank.render.mean_tables import score_of
from riskrank.studies.suites.column import SuiteColumn
from riskrank.studies.suites.figures.task_map import TaskForest, TaskMap, draw_task_forest, draw_task_map
from riskrank.studies.suites.section import SuiteChapter, SuiteOutline
from riskrank.studies.wording import percent


@drawn
def draw_profiles(chapter: SuiteChapter, one: SuiteColumn) -> Plot:
    """Draw one curve a model over τ, in the units of the file, with the bands of the study's confidence."""
    found, units, order = one.profile(chapter.family.level(1)), one.units, standing(one)
    given = looks(len(chapter.models), order)
    key = Key.of(chapter.models, order, given)
    better, sure = "above" if units.sign > 0 else "below", percent(chapter.family.confidence)
    page, axes, legend = beside_key(
        key,
        f"Share of the scores {better} each level, {score_of(one.name)}",
        f"Height over τ: share of scores {better} τ, each task with its weight. A curve above another "
        f"everywhere dominates it in the first order. Band: {sure}, at one τ at a time, on these tasks.",
        method=f"performance profiles of {one.name}",
    )
    tau = units.of(found.tau)
    unit = Unit.of(tau)
    # Before the first value every score is better.
    x = unit.apply(np.concatenate([tau[:1], tau]))
    step = "steps-post" if units.sign > 0 else "steps-pre"
    for model, look in enumerate(given):
        share, low, high = (
            np.concatenate([[1.0], part[model]]) for part in (found.share, found.low, found.high)
        )
        if look is not OTHERS:
            axes.fill_between(
                x, low, high, step="post", color=look.color, alpha=0.14, linewidth=0, gid=model_mark(model)
            )
        axes.plot(x, share, drawstyle=step, **look.line, gid=curve_mark(model))
    axes.set_xlabel(unit.label(f"τ, {one.name}"))
    axes.set_ylabel(f"share of scores {better} τ")
    axes.set_ylim(0, 1)
    if units.sign < 0:
        axes.invert_xaxis()
    legend()
    return page.figure


_OTHERS = 4
"""Models that the lead of another is drawn over beside each other."""


def pictures(chapter: SuiteOutline) -> list[Picture]:
    """Three of every column; none where a document only says which tasks there are."""
    if not isinstance(chapter, SuiteChapter):
        return []
    return [picture for one in chapter.columns.values() for picture in _of_column(chapter, one)]


def _of_column(chapter: SuiteChapter, one: SuiteColumn) -> Iterator[Picture]:
    name, far = one.name, "coloured by its distance to the model of the verdict"
    caption = f"Every model's mean {name} on every task, {far}."
    yield Picture(f"taskmap@{name}", caption, partial(draw_task_map, task_map(chapter, one), chapter, one))
    caption = f"The lead of the verdict's model on {name}, task by task and over all tasks."
    drawing = partial(draw_task_forest, task_forest(chapter, one), chapter, one)
    yield Picture(f"taskforest@{name}", caption, drawing)
    caption = f"Performance profile: share of scores of {name} better than τ, tasks weighed."
    yield Picture(f"profile@{name}", caption, partial(draw_profiles, chapter, one))


def standing(one: SuiteColumn) -> list[int]:
    """The model all are shown against, then the others by their macro means."""
    return [one.against, *(i for i in one.by_mean if i != one.against)]


def task_map(chapter: SuiteChapter, one: SuiteColumn) -> TaskMap:
    """Arrange means and marks by model, that of the verdict first."""
    order = np.array(standing(one))
    return TaskMap(
        order=order,
        mean=one.mean[order],
        ahead=one.found.difference[order, one.against],
        marks=one.marks[order, one.against],
        by_task=bool(chapter.metrics),
    )


def task_forest(chapter: SuiteChapter, one: SuiteColumn) -> TaskForest:
    """The lead of the verdict's model over the one it is held against, and over those that stand next."""
    first, level = one.against, chapter.family.level(1)
    others = list(dict.fromkeys([one.first.pair[1], *standing(one)[1:]]))[:_OTHERS]
    leads = np.array([one.lead(first, other, level) for other in others])
    order = np.argsort(-leads[0, 0], kind="stable")
    asked = {FIXED: "all, these tasks", RANDOM: "all, tasks like these"}
    scopes = [scope for scope in asked if scope in one.scopes]
    of_all = [one.scopes[scope].differences for scope in scopes]
    whole = np.array([[part[first, others] for part in (one.value, *one.interval(level))] for one in of_all])
    estimate, low, high = np.concatenate([leads[:, :, order], whole.T], axis=2).swapaxes(0, 1)
    shown = (whole[:, 1] > 0).astype(int) - (whole[:, 2] < 0)
    return TaskForest(
        others=tuple(others),
        names=(*(chapter.names[task] for task in order), *(asked[scope] for scope in scopes)),
        estimate=estimate,
        low=low,
        high=high,
        marks=np.hstack([one.marks[first, others][:, order], shown.T]),
        whole=len(scopes),
    )
