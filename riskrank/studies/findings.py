"""What a reader should know of a result, each with what it rests on, and how findings become a verdict.

A study makes a list of findings and has one table of sentences, a kind of finding an entry, by their gravity.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Generic, TypeVar

from riskrank.engine.dominance.ranking import alike
from riskrank.engine.family import Family, Side
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import one_line
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import FindingEntry
from riskrank.studies.judge.section import JudgedChapter, judged_chapter
from riskrank.studies.metric_means import (
    MetricMeans,
    assumed,
    better_elsewhere,
    doubtful,
    means_of_two,
    metric_means,
    worst_everywhere,
)
from riskrank.studies.severity import gravity
from riskrank.studies.suites import sentences
from riskrank.studies.suites.section import SuiteChapter
from riskrank.studies.wording import fitting, names

CaseType = TypeVar("CaseType")


@dataclass(frozen=True)
class Finding:
    """One thing a reader should know.

    Attributes
    ----------
    kind : str
        As ``ahead``, ``level``, ``worse-tail``; a study's table of sentences has an entry for it.
    models : tuple of int
        The models it is about, by number, in the order its sentence speaks of them.
    on : str
        The metric, column of scores, task or group it is about; empty where it is about all.
    figures : mapping of str to float
        What it rests on, in the units of the file.
    answer : Side or None
        The answer of a test; None where nothing was tested.
    """

    kind: str
    models: tuple[int, ...] = ()
    on: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    answer: Side | None = None


Said = tuple[Finding, str]
"""A finding with its sentence."""


@dataclass(frozen=True)
class Sentences(Generic[CaseType]):
    """The table of sentences of a study: how each kind of finding is said.

    Attributes
    ----------
    of_kind : mapping of str to callable
        Of a finding and its case, where :data:`SHARED` has no words or others; an empty one is not said.
    aside : collection of str
        Kinds that take a command's own words to be understood: only for who asks.
    """

    of_kind: Mapping[str, Callable[[Finding, CaseType], str]]
    aside: Collection[str] = ()

    def said(self, findings: Iterable[Finding], case: CaseType) -> list[Said]:
        """Findings with their sentences, the gravest first."""
        sentences = {**SHARED, **self.of_kind}
        found = ((one, sentences[one.kind](one, case)) for one in findings)
        return sorted(found, key=lambda said: gravity(said[0].kind))

    def told(
        self,
        findings: Iterable[Finding],
        case: CaseType,
        models: Sequence[str],
        assuming: str = "",
        *,
        limits: Sequence[Said] = (),
    ) -> dict[str, Any]:
        """The findings as a document tells them, how sure the first is with it; the others, all as entries.

        Parameters
        ----------
        findings : iterable of Finding
        case : CaseType
        models : sequence of str
        assuming : str
            What all of it rests on, said before the first.
        limits : sequence of (Finding, str)
            What the samples leave open, which captions and warnings say where the verdict does not.

        Returns
        -------
        dict
            The fields ``verdict``, ``more`` and ``findings`` of a document.
        """
        said = self.said(findings, case)
        (_, first), *rest = ((one.kind, text) for one, text in said if one.kind not in self.aside)
        first += f" {rest.pop(0)[1]}" if rest and rest[0][0] == "nothing-tested" else ""
        verdict, more = fitting([assuming + first, *(text for _, text in rest)])
        aside = [text for one, text in said if one.kind in self.aside]
        return {"verdict": verdict, "more": (*more, *aside), "findings": _written(said, limits, models)}


def stated(
    models: Sequence[str], *said: Said, assuming: str = "", limits: Sequence[Said] = ()
) -> dict[str, Any]:
    """Findings with their sentences, all of which are the verdict: fields of a document."""
    said = tuple((one, one_line(text)) for one, text in said if text)
    whole = " ".join(text for _, text in said)
    if assuming:
        whole = f"{assuming}{whole[0].lower()}{whole[1:]}"
    return {"verdict": whole, "findings": _written(said, limits, models)}


def _written(said: Sequence[Said], limits: Sequence[Said], models: Sequence[str]) -> list[FindingEntry]:
    """Findings as documents write them, the gravest first, with the limits that nobody said."""
    kinds = {(one.kind, one.on) for one, _ in said}
    limits = [(one, text) for one, text in limits if (one.kind, one.on) not in kinds]
    entries = []
    for one, text in sorted([*said, *limits], key=lambda said: gravity(said[0].kind)):
        about, answer = [models[i] for i in one.models], None if one.answer is None else one.answer.word
        entries.append(FindingEntry(one.kind, about, one.on or None, dict(one.figures), answer, text))
    return entries


@dataclass(frozen=True, kw_only=True)
class Case:
    """What findings and sentences of any study look things up in; a study adds its own evidence.

    Attributes
    ----------
    table : ScoreTable
    columns : mapping of str to ClusteredScores
        The columns of scores that are studied, by name: metrics, and portfolios of them.
    suite : SuiteChapter or None
    tested : bool
        Whether anything was tested.
    family : Family
    """

    table: ScoreTable
    columns: Mapping[str, ClusteredScores]
    suite: SuiteChapter | None = None
    tested: bool = True
    family: Family = Family()

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""
        return self.table.models

    @cached_property
    def means(self) -> tuple[MetricMeans, ...]:
        """Raw means of every metric."""
        return metric_means(self.table)

    @cached_property
    def judged(self) -> JudgedChapter | None:
        """What there is to say of a judge, where there is one."""
        return judged_chapter(self.table)

    @property
    def of_tasks(self) -> SuiteChapter:
        """What the tasks of a suite say, where there is one."""
        assert self.suite is not None
        return self.suite

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return [one.name for one in self.means]

    @cached_property
    def same(self) -> list[Finding]:
        """That all models have one distribution of scores on every column, where they have."""
        if not all(map(alike, self.columns.values())):
            return []
        on = "" if len(self.columns) > 1 else next(iter(self.columns))
        return [Finding("same-distribution", (*range(len(self.models)),), on=on)]

    @property
    def twins(self) -> list[Finding]:
        """Models that are exactly alike, where not all have one distribution."""
        return [] if self.same else same_scores(self.table, self.models)

    @property
    def assuming(self) -> str:
        """What every sentence rests on."""
        return assumed(doubtful(self.means), "" if self.judged is None else self.judged.assumption)

    @property
    def beside(self) -> list[Finding]:
        """What goes with any answer: that nothing was tested, who is alike, and what a judge is worth."""
        return [*untested(self.tested), *self.twins, *judge_worth(self)]

    def mean_of(self, column: str) -> MetricMeans | None:
        """Raw means of a column that is a metric."""
        return next((mean for mean in self.means if mean.name == column), None)

    def score(self, column: str) -> str:
        """What a column of scores is called in a sentence."""
        several = sum(name not in self.metrics for name in self.columns) > 1
        combined = f"the combined score {column}" if several else "the combined score"
        name = column if column in self.metrics else combined
        return name if self.suite is None or len(self.columns) > 1 else f"{name} {self.suite.scope_text}"


NOTHING_TESTED = "Nothing was tested, so nothing says how sure that is."


def untested(tested: bool) -> list[Finding]:
    """That nothing was tested, where nothing was."""
    return [] if tested else [Finding("nothing-tested")]


def judge_worth(case: Case) -> list[Finding]:
    """What a judge is worth beside the labels, where it is worth a sentence."""
    told = case.judged
    return [Finding("judge-worth", figures=told.figures)] if told is not None and told.gain_sentence else []


def same_scores(table: ScoreTable, models: Sequence[str]) -> list[Finding]:
    """Some of the models that have the same score on every sample, as of a file read under two names."""
    found = dict[bytes, list[int]]()
    for at, model in enumerate(models):
        i = table.index(model)
        scores = table.values[i].tobytes() + table.row_samples[i].tobytes()
        found.setdefault(sha256(scores).digest(), []).append(at)
    return [Finding("same-scores", tuple(same)) for same in found.values() if len(same) > 1]


def better_means(case: Case, column: str, model: int) -> Iterator[Finding]:
    """Others have a better mean than a model that is favoured on a metric, or by a combined score."""
    if (mean := case.mean_of(column)) is not None:
        if mean.of(mean.best) != mean.of(model):
            figures = means_of_two([mean], mean.best, model)
            yield Finding("best-mean", (mean.best, model), on=column, figures=figures)
    elif model not in worst_everywhere(case.means):  # which is told in words of its own
        best = [mean.best for mean in case.means if mean.of(mean.best) != mean.of(model)]
        if best:
            figures = {f"{mean.name}.mean": float(mean.mean[mean.best]) for mean in case.means}
            figures |= {f"{mean.name}.against": float(mean.mean[model]) for mean in case.means}
            yield Finding("better-elsewhere", (model, *dict.fromkeys(best)), figures=figures)


def other_scope(case: Case, column: str, pair: tuple[int, int]) -> Iterator[Finding]:
    """The answer to the question not asked of a suite: of tasks like these, or of these tasks."""
    for p, _ in sentences.other_scope_answer(case.of_tasks, case.of_tasks.columns[column], *pair):
        yield Finding("other-scope", pair, on=column, figures={"p_adjusted": p})


def _other_scope(finding: Finding, case: Case) -> str:
    suite, (first, other) = case.of_tasks, finding.models
    return " ".join(
        text for _, text in sentences.other_scope_answer(suite, suite.columns[finding.on], first, other)
    )


def alike_throughout(models: Sequence[str]) -> str:
    """That nothing tells some of the models apart."""
    return f"{names(models)} have the same score on every sample: nothing tells them apart."


def same_distribution(models: Sequence[str], on: str) -> str:
    """That nothing tells models apart."""
    every = f"All {len(models)} models" if len(models) > 2 else names(models)
    return f"{every} have the same distribution of scores on {on}: nothing tells them apart."


def _best_mean(finding: Finding, case: Case) -> str:
    mean, (best, first) = case.mean_of(finding.on), finding.models
    return f"{case.models[best]} has the best mean{'' if mean is None else f', {mean.against(best, first)}'}."


SHARED: Mapping[str, Callable[[Finding, Any], str]] = {
    "nothing-tested": lambda *_: NOTHING_TESTED,
    "judge-worth": lambda _, case: "" if case.judged is None else case.judged.gain_sentence,
    "better-elsewhere": lambda found, case: better_elsewhere(case.means, found.models[0], case.models),
    "other-scope": _other_scope,
    "same-scores": lambda found, case: alike_throughout([case.models[i] for i in found.models]),
    "best-mean": _best_mean,
    "same-distribution": lambda found, case: same_distribution(
        case.models, names([case.score(name) for name in (found.on and [found.on]) or case.columns])
    ),
}
"""Sentences that every study says alike, if it has no words of its own."""
