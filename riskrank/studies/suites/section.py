"""What a document says of a suite: its tasks, the question asked of them, and every column by task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riskrank.engine.dominance.column_tests import First
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.family import Family
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.options.suites import BOUNDS, FIXED, NONE, RANK
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import MIXED
from riskrank.studies.wording import counted, span

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn


_SCALES = {
    NONE: "",
    MIXED: "; metrics of different tasks added as they are",
    RANK: "; scores are ranks within the task, 0 to 1",
    BOUNDS: "; scores are shares of their bounds",
}


@dataclass(frozen=True, eq=False)
class SuiteOutline:
    """What the first line says of a suite of tasks.

    Attributes
    ----------
    names : tuple of str
        Of the tasks.
    samples : tuple of int
        Of each task, clusters as one; of the model with the fewest.
    weights : tuple of float
        Together 1.
    scale : {"none", "mixed", "rank", "bounds"}
        What scores count as.
    """

    names: tuple[str, ...]
    samples: tuple[int, ...]
    weights: tuple[float, ...]
    scale: str

    @property
    def alike(self) -> bool:
        """Whether all tasks weigh alike."""
        return bool(np.ptp(self.weights) < 1e-12)

    @property
    def words(self) -> str:
        """The suite in a line: ``12 tasks, weighed alike, 60 to 14,000 samples each``."""
        weighed, heaviest = "weighed alike", max(self.weights)
        if not self.alike:
            who = self.names[self.weights.index(heaviest)]
            weighed = f"weights {_share(min(self.weights))} to {_share(heaviest)} ({who})"
        each = f"{span(self.samples)} samples each{_SCALES[self.scale]}"
        return f"{counted(len(self.names), 'task')}, {weighed}, {each}"


@dataclass(frozen=True, eq=False)
class SuiteChapter(SuiteOutline):
    """A suite of tasks, with all that was looked at.

    Attributes
    ----------
    metrics : tuple of str
        Of each task, where tasks have metrics of their own; else empty.
    scope : {"fixed", "random"}
        Whether models are ranked on these tasks or on tasks like these.
    models : tuple of str
    columns : mapping of str to SuiteColumn
        By metric or portfolio, as ranked.
    family : Family
        All tasks and pairs.
    tested : bool
    """

    metrics: tuple[str, ...]
    scope: str
    models: tuple[str, ...]
    columns: Mapping[str, SuiteColumn]
    family: Family
    tested: bool

    @property
    def on(self) -> str:
        """What a verdict is about: ``on these 12 tasks``, of which some may not count."""
        count, weighing = len(self.names), int(np.count_nonzero(self.weights))
        if weighing < count:
            return f"on {weighing} of these {count} tasks"
        return f"on these {count} tasks" if self.scope == FIXED else f"on tasks like these {count}"


def suite_outline(table: ScoreTable) -> SuiteOutline | None:
    """What there is to say of a table's suite before any column is looked at; None where it has none."""
    suite = table.suite
    if not suite:
        return None
    numbered = (np.unique(own, return_index=True)[1] for own in table.clusters)
    tasks = [suite.of_sample[own[at]] for own, at in zip(table.row_samples, numbered, strict=True)]
    counts = np.min([np.bincount(own, minlength=len(suite.names)) for own in tasks], axis=0)
    return SuiteOutline(suite.names, tuple(counts.tolist()), tuple(suite.weights.tolist()), suite.scale)


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
    outline = suite_outline(table)
    if outline is None or not leaders:
        return None
    from riskrank.studies.suites.column import suite_column  # most tables are no suite

    found = {
        name: suite_column(name, tables.rows(name), table, first, inference, scope)
        for name, first in leaders.items()
    }
    return SuiteChapter(
        **vars(outline),
        metrics=table.suite.metrics,
        scope=scope,
        models=table.models,
        columns=found,
        family=inference.family,
        tested=inference.test,
    )


def _share(weight: float) -> str:
    points = 100 * weight
    if 0 < points < 0.01:
        return "under 0.01 %"
    return f"{points:.0f} %" if points >= 10 else f"{points:.2g} %"
