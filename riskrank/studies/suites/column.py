"""Results of one score column by task: tests, macro means in both scopes, and leave-one-task-out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskrank.engine import suites as macro
from riskrank.engine.dominance.column_tests import TopModel
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.mean_differences import MeanContrast, PairDifferences, mean_evidence
from riskrank.engine.evidence.student import Student
from riskrank.engine.sampling.strata import MIN_TASKS
from riskrank.engine.suites import TaskDifferences, TaskScores, task_differences
from riskrank.engine.types import Floats, Integers
from riskrank.options.inference import FIXED, RANDOM
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.targets import Units, column_units


@dataclass(frozen=True, eq=False)
class Scope:
    """Macro means of k models, either for the given tasks (fixed) or for similar tasks (random).

    Attributes
    ----------
    means : Evidence
        Macro means, shape (k,); larger is better.
    differences : PairDifferences
        Differences of all pairs, first minus second, shape (k, k).
    p_adjusted : ndarray, shape (k, k)
        One-sided p-values for the claim that the first model is ahead, adjusted by Holm over all pairs.
    """

    means: Evidence
    differences: PairDifferences
    p_adjusted: Floats


@dataclass(frozen=True, eq=False)
class SuiteColumn:
    """Results of k models by one metric or combined score, for each of T tasks.

    Attributes
    ----------
    name : str
        Metric or portfolio.
    units : Units
        Units of measurement of the scores.
    signs : ndarray, shape (T,)
        −1 for tasks whose scores are lower-is-better in the file, else 1.
    scores : TaskScores
        Scores of all models by task.
    task_differences : TaskDifferences
        Differences of all pairs by task.
    marks : ndarray of int, shape (k, k, T)
        1 if the first model of a pair is significantly better, −1 if it is worse, 0 if undecided.
    scopes : mapping of str to Scope
        Macro means under ``fixed`` and, with enough tasks, ``random``.
    first : TopModel
        Leader of the ranking. Its pair holds the reference model of the verdict, which may differ from the
        leader, and the model with which it is compared.
    left_out : LeaveOneOut or None
        Macro means without each task, or None if one task has all the weight.
    first_without : ndarray of int, shape (T,), or None
        Leader of the ranking without each task, or None if not computed.
    worst : tuple of WorstTasks
        Worst tasks of each model.
    file_means : ndarray, shape (k, T), or None
        Means in the units of the file, or None unless tasks are compared on another scale.
    """

    name: str
    units: Units
    signs: Floats
    scores: TaskScores
    task_differences: TaskDifferences
    marks: Integers
    scopes: dict[str, Scope]
    first: TopModel
    left_out: macro.LeaveOneOut | None
    first_without: Integers | None
    worst: tuple[macro.WorstTasks, ...]
    file_means: Floats | None = None

    @cached_property
    def mean(self) -> Floats:
        """Means by model and task in the units of the file, shape (k, T)."""
        return self.signs * self.scores.mean + 0.0 if self.file_means is None else self.file_means

    @property
    def reference(self) -> int:
        """Index of the model with which all others are compared."""
        return self.first.pair[0]

    @property
    def by_mean(self) -> list[int]:
        """Indices of the models by macro mean, the best first."""
        return np.argsort(-self.scores.macro_means, kind="stable").tolist()

    def lead_by_task(self, model: int, other: int, level: float) -> tuple[Floats, Floats, Floats]:
        """Return the mean difference `model` − `other` on each of T tasks, with pointwise interval limits.

        Parameters
        ----------
        model, other : int
            Indices of the two models.
        level : float
            Significance level α of each interval, not corrected for multiple tasks.

        Returns
        -------
        lead, low, high : ndarray, shape (T,)
        """
        independent = self.scores.effective_sizes
        df = np.maximum(np.minimum(independent[model], independent[other]) - 1, 1)
        error = self.task_differences.error[model, other]
        difference = Student(self.task_differences.difference[model, other], error, df)
        return difference.value, *difference.interval(level)

    def profile(self, level: float) -> macro.Profile:
        """Return each model's performance profile: the proportion of its scores above each threshold τ.

        `level` is the significance level of the intervals.
        """
        return macro.performance_profile(self.scores, macro.profile_thresholds(self.scores), level)

    def decisive_tasks(self) -> list[tuple[int, int]]:
        """Return pairs of a task whose omission changes the ranking's leader, and the new leader."""
        if self.first_without is None:
            return []
        return [(t, i) for t, i in enumerate(self.first_without.tolist()) if i != self.first.model]

    def leaders_without_a_task(self) -> tuple[int, ...]:
        """Return the models that lead if some task is omitted, and are neither better nor worse on all tasks.

        They are significantly better than the leader on some tasks, and worse on others.
        """
        rivals = {model for _, model in self.decisive_tasks()}
        marks = self.marks[self.first.model]
        return tuple(i for i in sorted(rivals) if (marks[i] > 0).any() and (marks[i] < 0).any())

    def tasks_won(self, model: int, other: int) -> list[int]:
        """Return the indices of the tasks on which `model` is significantly better than `other`."""
        return np.flatnonzero(self.marks[model, other] > 0).tolist()

    def p_random_tasks(self, model: int, other: int) -> float | None:
        """Return the adjusted p-value for `model` being ahead of `other` on similar tasks.

        It is None if there are too few tasks for a test.
        """
        scope = self.scopes.get(RANDOM)
        return None if scope is None else float(scope.p_adjusted[model, other])

    def undecided_tasks(self, model: int, other: int) -> int:
        """Return the number of tasks without a significant difference between `model` and `other`."""
        return int(np.count_nonzero(self.marks[model, other] == 0))


def suite_column(
    name: str,
    values: Sequence[np.ndarray],
    table: ScoreTable,
    first: TopModel,
    inference: Inference,
    scope: str,
) -> SuiteColumn:
    """Compare k models by one metric or combined score, task by task.

    Parameters
    ----------
    name : str
        Name of the metric or combined score.
    values : sequence of k ndarrays
        Scores of each model, larger is better, in the order of the table's rows.
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    first : TopModel
        Leader of the ranking.
    inference : Inference
        Test settings: level, correction, resamples and seed.
    scope : {"fixed", "random"}
        Tasks to which the ranking refers: the given ones, or similar ones.
    """
    suite = table.suite
    tasks = [suite.task_codes[rows] for rows in table.row_samples]
    scores = TaskScores.build(values, tasks, units=table.clusters, weights=suite.weights, paired=table.paired)
    differences = task_differences(scores, inference.family)
    marks = differences.marks if inference.test else np.zeros_like(differences.marks)
    units, names = column_units(name, table.metrics), [spec.name for spec in table.metrics]
    signs = [spec.sign for spec in suite.specs] or [units.sign] * scores.count
    scopes, has_enough_tasks = {}, macro.effective_tasks(scores.weights) >= MIN_TASKS - 1e-9
    for task_scope in (FIXED, RANDOM) if has_enough_tasks else (FIXED,):
        design = scores.clustered(random=task_scope == RANDOM)
        means = mean_evidence([MeanContrast.from_mean(design, model) for model in range(scores.models)])
        contrasts = PairDifferences.from_scores(design)
        scopes[task_scope] = Scope(means, contrasts, contrasts.pair_p_values(inference.family))
    return SuiteColumn(
        name=name,
        units=units,
        signs=np.array(signs),
        scores=scores,
        task_differences=differences,
        marks=marks,
        scopes=scopes,
        first=first,
        left_out=macro.leave_one_out(scores, differences, first.model, scope=scope, family=inference.family),
        first_without=None if first.order is None else macro.leaders_by_ratio(scores, first.order),
        worst=tuple(macro.worst_tasks(mean, scores.weights) for mean in scores.mean),
        file_means=None if suite.means is None or name not in names else suite.means[names.index(name)],
    )
