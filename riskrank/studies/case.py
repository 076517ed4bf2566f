"""What the sentences of every study are made from, and the findings that several studies share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from riskrank.engine.family import Side
from riskrank.studies.findings import Finding
from riskrank.studies.judged.chapter import JudgedChapter
from riskrank.studies.metric_means import MetricMeans, best_of, better_elsewhere, worst_everywhere
from riskrank.studies.suites import words
from riskrank.studies.suites.chapter import SuiteChapter


@dataclass(frozen=True, kw_only=True)
class Case:
    """What findings and sentences of any study look things up in; a study adds its own evidence.

    Attributes
    ----------
    models : sequence of str
    means : tuple of MetricMeans
        Raw means of every metric.
    columns : sequence of str
        Names of the columns of scores that are studied: metrics, and portfolios of them.
    suite : SuiteChapter or None
    judged : JudgedChapter or None
    tested : bool
        Whether anything was tested.
    """

    models: Sequence[str]
    means: tuple[MetricMeans, ...]
    columns: Sequence[str]
    suite: SuiteChapter | None = None
    judged: JudgedChapter | None = None
    tested: bool = True

    @property
    def of_tasks(self) -> SuiteChapter:
        """What the tasks of a suite say, where there is one."""
        assert self.suite is not None
        return self.suite

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return [one.name for one in self.means]

    def mean_of(self, column: str) -> MetricMeans | None:
        """Raw means of a column that is a metric."""
        return next((mean for mean in self.means if mean.name == column), None)

    def score(self, column: str) -> str:
        """What a column of scores is called in a sentence."""
        several = sum(name not in self.metrics for name in self.columns) > 1
        combined = f"the combined score {column}" if several else "the combined score"
        name = column if column in self.metrics else combined
        return name if self.suite is None or len(self.columns) > 1 else f"{name} {self.suite.on}"


NOTHING_TESTED = "Nothing was tested, so nothing says how sure that is."


def answered(case: Case, side: Side) -> Side | None:
    """An answer, where anything was tested."""
    return side if case.tested else None


def untested(case: Case) -> list[Finding]:
    """That nothing was tested."""
    return [] if case.tested else [Finding(kind="nothing-tested")]


def judge_worth(case: Case) -> list[Finding]:
    """What a judge is worth beside the labels, where it is worth a sentence."""
    return [Finding(kind="judge-worth")] if case.judged is not None and case.judged.worth else []


def best_elsewhere(case: Case, model: int) -> Iterator[Finding]:
    """Others have a better mean of a metric than the model that a combined score favours."""
    if model not in worst_everywhere(case.means):  # which is told in words of its own
        best = [best_of(mean) for mean in case.means if mean.of(best_of(mean)) != mean.of(model)]
        if best:
            yield Finding(kind="better-elsewhere", models=(model, *dict.fromkeys(best)))


def other_scope(case: Case, column: str, pair: tuple[int, int]) -> Iterator[Finding]:
    """The answer to the question not asked of a suite: of tasks like these, or of these tasks."""
    if any(words.other_scope(case.of_tasks, case.of_tasks.columns[column], *pair)):
        yield Finding(kind="other-scope", models=pair, on=column)


def _other_scope(finding: Finding, case: Case) -> str:
    suite, (first, other) = case.of_tasks, finding.models
    return " ".join(words.other_scope(suite, suite.columns[finding.on], first, other))


SHARED: Mapping[str, Callable[[Finding, Case], str]] = {
    "nothing-tested": lambda _, _case: NOTHING_TESTED,
    "judge-worth": lambda _, case: "" if case.judged is None else case.judged.worth,
    "better-elsewhere": lambda found, case: "".join(
        better_elsewhere(case.means, found.models[0], case.models)
    ),
    "other-scope": _other_scope,
}
"""Sentences that every study says alike."""
