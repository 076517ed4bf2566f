"""A column of scores on the tasks of a suite: tests, macro means in both scopes, what single tasks decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskrank.engine.dominance.column_tests import First
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.student import Student
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.engine.suites import macro_means as macro
from riskrank.engine.suites.task_differences import TaskDifferences, TaskScores, task_differences
from riskrank.engine.types import Floats, Integers
from riskrank.options.suites import FIXED, RANDOM
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.targets import Units, units_of


@dataclass(frozen=True, eq=False)
class Scope:
    """Macro means as one of the two questions sees them.

    Attributes
    ----------
    means, differences : Student
        Of k models, shape (k,), and of all pairs, first minus second, shape (k, k); larger is better.
    p_adjusted : ndarray, shape (k, k)
        One-sided, of the first being ahead; Holm over all pairs.
    """

    means: Student
    differences: Student
    p_adjusted: Floats


@dataclass(frozen=True, eq=False)
class SuiteColumn:
    """A column of scores task by task.

    Attributes
    ----------
    name : str
        A metric or a portfolio.
    units : Units
    signs : ndarray, shape (T,)
        −1 where less is better in the file.
    scores : TaskScores
    found : TaskDifferences
    marks : ndarray of int, shape (k, k, T)
        1 where the first of a pair is better, −1 where it is worse, 0 where that is open.
    scopes : mapping of str to Scope
        ``fixed`` always, ``random`` where there are tasks enough.
    first : First
        The model that comes first as ranked; its pair is the model of the verdict, which may say to look at
        another than the first, and the one words and pictures hold it against.
    left_out : LeftOut or None
        None where one task weighs everything.
    first_without : ndarray of int, shape (T,), or None
        Who comes first by the method that ranks without each task; None where that was not asked.
    worst : tuple of WorstTasks
        By model.
    file_means : ndarray, shape (k, T), or None
        Means as the file has them, where tasks are compared on another scale.
    """

    name: str
    units: Units
    signs: Floats
    scores: TaskScores
    found: TaskDifferences
    marks: Integers
    scopes: dict[str, Scope]
    first: First
    left_out: macro.LeftOut | None
    first_without: Integers | None
    worst: tuple[macro.WorstTasks, ...]
    file_means: Floats | None = None

    @cached_property
    def mean(self) -> Floats:
        """Means by model and task as the file has them, shape (k, T)."""
        return self.signs * self.scores.mean + 0.0 if self.file_means is None else self.file_means

    @property
    def against(self) -> int:
        """The model all others are shown against."""
        return self.first.pair[0]

    @property
    def by_mean(self) -> list[int]:
        """Models by their macro means, the best first."""
        return np.argsort(-self.scores.macro, kind="stable").tolist()

    def lead(self, model: int, other: int, level: float) -> tuple[Floats, Floats, Floats]:
        """One model's lead over another on every task, with both ends of an interval for each by itself."""
        independent = self.scores.independent
        df = np.maximum(np.minimum(independent[model], independent[other]) - 1, 1)
        found = Student(self.found.difference[model, other], self.found.error[model, other], df)
        return found.value, *found.interval(level)

    def profile(self, level: float) -> macro.Profile:
        """Shares of scores above every τ."""
        return macro.profile(self.scores, macro.thresholds(self.scores), level)

    def deciding(self) -> list[tuple[int, int]]:
        """Tasks without which another model comes first by the method that ranks, with that model."""
        found = self.first_without
        return [] if found is None else [(t, int(i)) for t, i in enumerate(found) if i != self.first.model]

    def turned_by_a_task(self) -> tuple[int, ...]:
        """Models that are better than the first on some tasks and worse on others, and first without one."""
        rivals = {model for _, model in self.deciding()}
        own = self.marks[self.first.model]
        return tuple(i for i in sorted(rivals) if (own[i] > 0).any() and (own[i] < 0).any())

    def between_tasks(self, pair: tuple[int, int]) -> float:
        """Share of the variance of two models' difference on tasks like these that is which tasks they are.

        The rest is that of samples on these tasks; 0 where no tasks are drawn.
        """
        if RANDOM not in self.scopes:
            return 0.0
        fixed, drawn = (float(self.scopes[one].differences.error[pair]) for one in (FIXED, RANDOM))
        return max(1 - (fixed / drawn) ** 2, 0.0) if drawn else 0.0

    def won(self, model: int, other: int) -> list[int]:
        """Tasks on which one model is better than another."""
        return np.flatnonzero(self.marks[model, other] > 0).tolist()

    def p_like_these(self, model: int, other: int) -> float | None:
        """Adjusted p-value of a lead on tasks like these, where they are spoken of."""
        like = self.scopes.get(RANDOM)
        return None if like is None else float(like.p_adjusted[model, other])

    def open(self, model: int, other: int) -> int:
        """Tasks on which no test tells two models apart."""
        return int(np.count_nonzero(self.marks[model, other] == 0))


def suite_column(
    name: str, values: Sequence[np.ndarray], table: ScoreTable, first: First, inference: Inference, scope: str
) -> SuiteColumn:
    """Look at one column of scores task by task.

    Parameters
    ----------
    name : str
    values : sequence of k ndarrays
        Oriented, in the order of the table's rows.
    table : ScoreTable
    first : First
    inference : Inference
    scope : {"fixed", "random"}
        Which question the ranking answers.
    """
    suite = table.suite
    tasks = [suite.of_sample[rows] for rows in table.row_samples]
    scores = TaskScores.build(values, tasks, units=table.clusters, weights=suite.weights, paired=table.paired)
    found = task_differences(scores, inference.family)
    marks = found.marks if inference.test else np.zeros_like(found.marks)
    answered = (FIXED, RANDOM) if macro.task_number(scores.weights) >= FEWEST_TASKS - 1e-9 else (FIXED,)
    units, names = units_of(name, table.metrics), [spec.name for spec in table.metrics]
    signs = [spec.sign for spec in suite.specs] or [units.sign] * scores.count
    scopes = {}
    for one in answered:
        means, apart = macro.macro_means(scores, one), macro.macro_differences(scores, found, one)
        scopes[one] = Scope(means, apart, apart.p_pairs(inference.family))
    return SuiteColumn(
        name=name,
        units=units,
        signs=np.array(signs),
        scores=scores,
        found=found,
        marks=marks,
        scopes=scopes,
        first=first,
        left_out=macro.leave_one_out(scores, found, first.model, scope=scope, family=inference.family),
        first_without=None if first.order is None else macro.first_by_ratio(scores, first.order),
        worst=tuple(macro.worst_tasks(mean, scores.weights) for mean in scores.mean),
        file_means=None if suite.means is None or name not in names else suite.means[names.index(name)],
    )
