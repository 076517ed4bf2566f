"""Analysis of a suite of tasks, for each score column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riskrank.engine.dominance.column_tests import TopModel
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.family import Family
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.options.inference import BOUNDS, FIXED, NONE, RANK
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import MIXED
from riskrank.studies.wording import count_range, counted

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn


_SCALES = {
    NONE: "",
    MIXED: "; metrics of different tasks are averaged without rescaling",
    RANK: "; scores are ranks within the task, 0 to 1",
    BOUNDS: "; scores are rescaled to their bounds",
}


@dataclass(frozen=True, eq=False)
class SuiteOutline:
    """Tasks of a suite, with their sizes and weights.

    Attributes
    ----------
    names : tuple of str
        Names of the tasks.
    samples : tuple of int
        Number of samples or clusters of each task, as the minimum over models.
    weights : tuple of float
        Weights of the tasks, which sum to 1.
    scale : {"none", "mixed", "rank", "bounds"}
        Scale on which the scores of different tasks are combined.
    """

    names: tuple[str, ...]
    samples: tuple[int, ...]
    weights: tuple[float, ...]
    scale: str

    @property
    def equally_weighted(self) -> bool:
        """True if all tasks have the same weight."""
        return bool(np.ptp(self.weights) < 1e-12)

    @property
    def summary(self) -> str:
        """One-line summary: ``12 tasks, weighted equally, 60 to 14,000 samples each``."""
        weighting, heaviest = "weighted equally", max(self.weights)
        if not self.equally_weighted:
            task = self.names[self.weights.index(heaviest)]
            weighting = f"weights {_format_share(min(self.weights))} to {_format_share(heaviest)} ({task})"
        sizes = f"{count_range(self.samples)} samples each{_SCALES[self.scale]}"
        return f"{counted(len(self.names), 'task')}, {weighting}, {sizes}"


@dataclass(frozen=True, eq=False)
class SuiteAnalysis(SuiteOutline):
    """Results on a suite of tasks, by score column.

    Attributes
    ----------
    metrics : tuple of str
        Metric of each task if tasks have different metrics; otherwise empty.
    scope : {"fixed", "random"}
        Scope of the ranking: these tasks (fixed), or tasks like these (random).
    models : tuple of str
    columns : mapping of str to SuiteColumn
        Results by metric or portfolio.
    family : Family
        Family of tests over all tasks and pairs.
    tested : bool
    """

    metrics: tuple[str, ...]
    scope: str
    models: tuple[str, ...]
    columns: Mapping[str, SuiteColumn]
    family: Family
    tested: bool

    @property
    def scope_text(self) -> str:
        """Phrase for a verdict's scope, such as ``on these 12 tasks``.

        Tasks with weight 0 do not count.
        """
        count, weighing = len(self.names), int(np.count_nonzero(self.weights))
        if weighing < count:
            return f"on {weighing} of these {count} tasks"
        return f"on these {count} tasks" if self.scope == FIXED else f"on tasks like these {count}"


def suite_outline(table: ScoreTable) -> SuiteOutline | None:
    """Return the tasks of a table with their sizes and weights, or None if the table has no suite."""
    suite = table.suite
    if not suite:
        return None
    numbered = (np.unique(rows, return_index=True)[1] for rows in table.clusters)
    tasks = [suite.of_sample[rows[at]] for rows, at in zip(table.row_samples, numbered, strict=True)]
    counts = np.min([np.bincount(rows, minlength=len(suite.names)) for rows in tasks], axis=0)
    return SuiteOutline(suite.names, tuple(counts.tolist()), tuple(suite.weights.tolist()), suite.scale)


def analyze_suite(
    table: ScoreTable,
    tables: ScoreTables,
    leaders: Mapping[str, TopModel],
    inference: Inference,
    scope: str = FIXED,
) -> SuiteAnalysis | None:
    """Analyse the suite of a table task by task, or return None if the table has no suite.

    Parameters
    ----------
    table : ScoreTable
    tables : ScoreTables
        Scores to rank.
    leaders : mapping of str to TopModel
        Leader of each metric or portfolio.
    inference : Inference
    scope : {"fixed", "random"}
    """
    outline = suite_outline(table)
    if outline is None or not leaders:
        return None
    from riskrank.studies.suites.column import suite_column  # imported here because most tables have no suite

    columns = {
        name: suite_column(name, tables.column_scores(name), table, first, inference, scope)
        for name, first in leaders.items()
    }
    return SuiteAnalysis(
        **vars(outline),
        metrics=table.suite.metrics,
        scope=scope,
        models=table.models,
        columns=columns,
        family=inference.family,
        tested=inference.test,
    )


def _format_share(weight: float) -> str:
    """Format a weight in percent."""
    points = 100 * weight
    if 0 < points < 0.01:
        return "under 0.01 %"
    return f"{points:.0f} %" if points >= 10 else f"{points:.2g} %"
