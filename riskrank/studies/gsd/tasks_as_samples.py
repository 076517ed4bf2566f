"""The tasks of a suite as samples, each by its means: what ``gsd`` compares when asked to (method §8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from riskrank.asked.suites import RANDOM
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import NO_SUITE, Suite
from riskrank.studies.targets import tasks_of


def tasks_as_samples(
    table: ScoreTable, *, asked: bool, tested: bool, ordinal: Sequence[str] = ()
) -> ScoreTable:
    """Take the tasks of a suite as samples; other tables stay as they are.

    Parameters
    ----------
    table : ScoreTable
    asked : bool
        Whether tasks like these were asked about.
    tested : bool
        Whether anything is, for which it takes six tasks.
    ordinal : sequence of str
        Metrics of which only the order means something, beside those that say so themselves.

    Returns
    -------
    ScoreTable
        Of a suite, one row a model and task, with a note.

    Raises
    ------
    UsageError
        Of a suite that nobody asked to take so, or whose tasks do not count alike or share no metrics; of
        another table where that was asked.
    InputError
        If there are fewer than six tasks to test.
    """
    suite = table.suite
    if not suite:
        tasks_of(table, random=asked)
        return table
    _refuse(suite, asked=asked)
    if tested and len(suite.names) < FEWEST_TASKS:
        raise InputError(
            f"to speak of tasks like these takes at least {FEWEST_TASKS} tasks",
            found=f"{len(suite.names)} tasks: {listing(suite.names)}",
            hint=f"add tasks, test nothing ({option('no_test', True)}), or pool: {option('task', 'none')}",
        )
    rows = [suite.of_sample[samples] for samples in table.row_samples]
    count = len(suite.names)
    numbers = tuple(np.arange(count) for _ in table.models)
    return replace(
        table,
        samples=suite.names,
        values=tuple(_means(own, values, count) for own, values in zip(rows, table.values, strict=True)),
        row_samples=numbers,
        clusters=numbers,
        has_draws=False,
        suite=NO_SUITE,
        warnings=(*table.warnings, *_notes(table, ordinal)),
    )


def _notes(table: ScoreTable, ordinal: Sequence[str]) -> Iterator[str]:
    yield f"{option('tasks', RANDOM)}: the samples are the tasks, by the means of their scores"
    levels = [spec.name for spec in table.metrics if spec.scale == "ordinal" or spec.name in ordinal]
    if levels:
        yield f"means average levels of {listing(levels)}, of which only the order means something"


def _refuse(suite: Suite, *, asked: bool) -> None:
    if not asked:
        raise UsageError(
            "gsd takes the tasks of a suite as its samples, or all samples as one pot: say which",
            found=f"a suite of {len(suite.names)} tasks",
            hint=f"speak of tasks like these, {option('tasks', RANDOM)}, or pool: {option('task', 'none')}",
        )
    if np.ptp(suite.weights) > 1e-12:
        raise UsageError(
            "gsd counts every task alike",
            found=f"weights from {suite.weights.min():.3g} to {suite.weights.max():.3g}",
            hint=f"leave out {option('task_weight')}",
        )
    if suite.specs:
        raise UsageError(
            "gsd compares models by criteria that all tasks share",
            found="tasks with metrics of their own",
            hint="rank them, by ranks within the tasks: riskrank rank",
        )


def _means(tasks: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Mean of every column on every task, shape (T, m)."""
    sizes = np.bincount(tasks, minlength=count)
    return np.column_stack([np.bincount(tasks, column, minlength=count) / sizes for column in values.T])
