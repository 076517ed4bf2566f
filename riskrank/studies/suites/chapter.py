"""What a document says of a suite: its tasks, the question asked of them, and every column by task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from riskrank.asked.suites import FIXED
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.suites.column import First, SuiteColumn, suite_column
from riskrank.studies.wording import counted


@dataclass(frozen=True, eq=False)
class SuiteChapter:
    """A suite of tasks.

    Attributes
    ----------
    names : tuple of str
        Of the tasks.
    samples : tuple of int
        Of each task; of the model with the fewest.
    weights : tuple of float
        Together 1.
    metrics : tuple of str or None
        Of each task, where tasks have metrics of their own.
    scope : {"fixed", "random"}
        Whether models are ranked on these tasks or on tasks like these.
    models : tuple of str
    columns : mapping of str to SuiteColumn
        By metric or portfolio, as ranked.
    alpha : float
    correction : str
        Over all tasks and pairs.
    tested : bool
    """

    names: tuple[str, ...]
    samples: tuple[int, ...]
    weights: tuple[float, ...]
    metrics: tuple[str, ...] | None
    scope: str
    models: tuple[str, ...]
    columns: Mapping[str, SuiteColumn]
    alpha: float
    correction: str
    tested: bool

    @property
    def alike(self) -> bool:
        """Whether all tasks weigh alike."""
        return bool(np.ptp(self.weights) < 1e-12)

    @property
    def on(self) -> str:
        """What a verdict is about: ``on these 12 tasks``."""
        count = len(self.names)
        return f"on these {count} tasks" if self.scope == FIXED else f"on tasks like these {count}"

    @property
    def words(self) -> str:
        """The suite in a line: ``12 tasks, weighed alike, 60 to 14,000 samples each``."""
        fewest, most = min(self.samples), max(self.samples)
        size = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        weighed = "weighed alike" if self.alike else f"weights {_share(min(self.weights))} to {self._most}"
        return f"{counted(len(self.names), 'task')}, {weighed}, {size} samples each"

    @property
    def _most(self) -> str:
        heaviest = int(np.argmax(self.weights))
        return f"{_share(self.weights[heaviest])} ({self.names[heaviest]})"


def suite_chapter(
    table: ScoreTable,
    tables: ScoreTables,
    leaders: Mapping[str, First],
    inference: Inference,
    scope: str = FIXED,
) -> SuiteChapter | None:
    """Look at a table's suite task by task; None where it has none.

    Parameters
    ----------
    table : ScoreTable
    tables : ScoreTables
        What is ranked of it.
    leaders : mapping of str to First
        By metric or portfolio.
    inference : Inference
    scope : {"fixed", "random"}
    """
    suite = table.suite
    if suite is None or not leaders:
        return None
    found = {
        name: suite_column(name, tables.rows(name), table, suite, first, inference, scope)
        for name, first in leaders.items()
    }
    first = next(iter(found.values()))
    return SuiteChapter(
        names=suite.names,
        samples=tuple(first.scores.samples.tolist()),
        weights=tuple(suite.weights.tolist()),
        metrics=suite.metrics,
        scope=scope,
        models=table.models,
        columns=found,
        alpha=inference.alpha,
        correction=inference.correction,
        tested=inference.test,
    )


def _share(weight: float) -> str:
    return f"{100 * weight:.2g} %"
