"""What a reader should know of a result, each with what it rests on, and how findings become a verdict.

A study makes a list of findings, the gravest first, and has one table of sentences, a kind of finding an
entry; no sentence on a result is made anywhere else.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from riskrank.engine.family import Side
from riskrank.errors import one_line, option
from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.studies.document import FindingEntry
from riskrank.studies.judged.chapter import JudgedChapter
from riskrank.studies.metric_means import MetricMeans, best_of, better_elsewhere, worst_everywhere
from riskrank.studies.suites import words
from riskrank.studies.suites.chapter import SuiteChapter
from riskrank.studies.wording import names

CaseType = TypeVar("CaseType")

_SENTENCES, _WORDS = 3, 70


def fitting(sentences: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """As many sentences as a reader takes in; the first always.

    Parameters
    ----------
    sentences : iterable of str
        The gravest first; a long one gives way to a later short one. Empty ones are passed over.

    Returns
    -------
    verdict : str
    more : tuple of str
        Those it had no room for.
    """
    first, *rest = filter(None, sentences)
    kept, more = [first], list[str]()
    for sentence in rest:
        fits = len(kept) < _SENTENCES and len(" ".join([*kept, sentence]).split()) <= _WORDS
        (kept if fits else more).append(sentence)
    return " ".join(kept), tuple(more)


def doubtful(means: Sequence[MetricMeans]) -> list[str]:
    """Metrics that sound as if less were better, and of which nobody said so."""
    return [one.name for one in means if not one.declared and not one.lower and looks_like_a_cost(one.name)]


def assuming(means: Sequence[MetricMeans], judged: JudgedChapter | None = None) -> str:
    """What the sentence after it rests on: directions nobody declared, labels that look chosen."""
    return assumed(doubtful(means), "" if judged is None else judged.taken_for_granted)


def assumed(unsaid: Sequence[str], more: str = "") -> str:
    """The same of metrics whose names say that less is better, and nobody did, and of one thing more."""
    flag = option("lower", ",".join(unsaid[:3]))
    directions = (
        f"more {names(unsaid)} as better, which nobody declared ({flag} if less is)" if unsaid else ""
    )
    taken = ", and ".join(filter(None, (directions, more)))
    return f"Taking {taken}: " if taken else ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing a reader should know.

    Attributes
    ----------
    kind : str
        As ``ahead``, ``level``, ``worse-tail``; a study's table of sentences has an entry for it.
    models : tuple of int
        The models it is about, by number, in the order its sentence speaks of them.
    on : str
        The metric, column of scores or task it is about; empty where it is about all.
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


@dataclass(frozen=True)
class Sentences(Generic[CaseType]):
    """The table of sentences of a study: how each kind of finding is said.

    Attributes
    ----------
    of_kind : mapping of str to callable
        Of a finding and the case it was made from; an empty sentence is not said.
    aside : collection of str
        Kinds that take a command's own words to be understood: only for who asks.
    """

    of_kind: Mapping[str, Callable[[Finding, CaseType], str]]
    aside: Collection[str] = ()

    def told(
        self,
        findings: Sequence[Finding],
        case: CaseType,
        models: Sequence[str],
        assuming: str = "",
        *,
        limits: Sequence[FindingEntry] = (),
    ) -> dict[str, Any]:
        """The findings as a document tells them: as many as a reader takes in, the others, all as entries.

        Parameters
        ----------
        findings : sequence of Finding
            The gravest first.
        case : CaseType
        models : sequence of str
        assuming : str
            What all of it rests on, said before the first.
        limits : sequence of FindingEntry
            What the samples leave open, which captions and warnings say.

        Returns
        -------
        dict
            The fields ``verdict``, ``more`` and ``findings`` of a document.
        """
        sentences = [self.of_kind[one.kind](one, case) for one in findings]
        first, *rest = [
            text for one, text in zip(findings, sentences, strict=True) if one.kind not in self.aside
        ]
        verdict, more = fitting([assuming + first, *rest])
        aside = [text for one, text in zip(findings, sentences, strict=True) if one.kind in self.aside]
        return {
            "verdict": verdict,
            "more": (*more, *aside),
            "findings": [*written(findings, sentences, models), *limits],
        }

    def whole(
        self,
        findings: Sequence[Finding],
        case: CaseType,
        models: Sequence[str],
        limits: Sequence[FindingEntry] = (),
    ) -> dict[str, Any]:
        """The same where all of it is the verdict, in one line."""
        said = [self.of_kind[one.kind](one, case) for one in findings]
        return stated(models, *zip(findings, said, strict=True), limits=limits)


def stated(
    models: Sequence[str],
    *said: tuple[Finding, str],
    assuming: str = "",
    limits: Sequence[FindingEntry] = (),
) -> dict[str, Any]:
    """Findings with their sentences, all of which are the verdict: fields of a document."""
    findings, sentences = zip(*((one, one_line(text)) for one, text in said if text), strict=True)
    whole = " ".join(sentences)
    if assuming:
        whole = f"{assuming}{whole[0].lower()}{whole[1:]}"
    return {"verdict": whole, "findings": [*written(findings, sentences, models), *limits]}


def written(
    findings: Sequence[Finding], sentences: Sequence[str], models: Sequence[str]
) -> list[FindingEntry]:
    """Findings as documents write them."""
    return [
        FindingEntry(
            one.kind,
            [models[i] for i in one.models],
            one.on or None,
            dict(one.figures),
            None if one.answer is None else one.answer.word,
            sentence,
        )
        for one, sentence in zip(findings, sentences, strict=True)
    ]


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


def _same(finding: Finding, case: Case) -> str:
    k = len(case.models)
    every, on = f"All {k} models" if k > 2 else names(case.models), case.score(finding.on)
    return f"{every} have the same distribution of scores on {on}: nothing tells them apart."


SHARED: Mapping[str, Callable[[Finding, Case], str]] = {
    "nothing-tested": lambda _, _case: NOTHING_TESTED,
    "judge-worth": lambda _, case: "" if case.judged is None else case.judged.worth,
    "better-elsewhere": lambda found, case: better_elsewhere(case.means, found.models[0], case.models),
    "other-scope": _other_scope,
    "same-distribution": _same,
}
"""Sentences that every study says alike."""
