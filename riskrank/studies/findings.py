"""What a reader should know of a result, each with what it rests on, and how findings become a verdict.

A study makes a list of findings, the gravest first, and has one table of sentences, a kind of finding an
entry; no sentence on a result is made anywhere else.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from riskrank.engine.family import Side
from riskrank.errors import one_line, option
from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.studies.document import FindingEntry
from riskrank.studies.judged.chapter import JudgedChapter
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.wording import names

_SENTENCES, _WORDS = 3, 70


@dataclass(frozen=True)
class Said:
    """A verdict, and the sentences it had no room for."""

    verdict: str
    more: tuple[str, ...]


def fitting(sentences: Iterable[str]) -> Said:
    """As many sentences as a reader takes in; the first always.

    Parameters
    ----------
    sentences : iterable of str
        The gravest first; a long one gives way to a later short one. Empty ones are passed over.

    Returns
    -------
    Said
    """
    first, *rest = filter(None, sentences)
    kept, more = [first], list[str]()
    for sentence in rest:
        fits = len(kept) < _SENTENCES and len(" ".join([*kept, sentence]).split()) <= _WORDS
        (kept if fits else more).append(sentence)
    return Said(" ".join(kept), tuple(more))


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


Case = TypeVar("Case")


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
class Sentences(Generic[Case]):
    """The table of sentences of a study: how each kind of finding is said.

    Attributes
    ----------
    of_kind : mapping of str to callable
        Of a finding and the case it was made from; an empty sentence is not said.
    aside : collection of str
        Kinds that take a command's own words to be understood: only for who asks.
    """

    of_kind: Mapping[str, Callable[[Finding, Case], str]]
    aside: Collection[str] = ()

    def told(
        self, findings: Sequence[Finding], case: Case, models: Sequence[str], assuming: str = ""
    ) -> dict[str, Any]:
        """The findings as a document tells them: as many as a reader takes in, the others, all as entries.

        Parameters
        ----------
        findings : sequence of Finding
            The gravest first.
        case : Case
        models : sequence of str
        assuming : str
            What all of it rests on, said before the first.

        Returns
        -------
        dict
            The fields ``verdict``, ``more`` and ``findings`` of a document.
        """
        sentences = [self.of_kind[one.kind](one, case) for one in findings]
        first, *rest = [
            text for one, text in zip(findings, sentences, strict=True) if one.kind not in self.aside
        ]
        said = fitting([assuming + first, *rest])
        aside = [text for one, text in zip(findings, sentences, strict=True) if one.kind in self.aside]
        return {
            "verdict": said.verdict,
            "more": (*said.more, *aside),
            "findings": written(findings, sentences, models),
        }

    def whole(self, findings: Sequence[Finding], case: Case, models: Sequence[str]) -> dict[str, Any]:
        """The same where all of it is the verdict, in one line."""
        said = [self.of_kind[one.kind](one, case) for one in findings]
        return stated(models, *zip(findings, said, strict=True))


def stated(models: Sequence[str], *said: tuple[Finding, str], assuming: str = "") -> dict[str, Any]:
    """Findings with their sentences, all of which are the verdict: fields of a document."""
    findings, sentences = zip(*((one, one_line(text)) for one, text in said if text), strict=True)
    whole = " ".join(sentences)
    if assuming:
        whole = f"{assuming}{whole[0].lower()}{whole[1:]}"
    return {"verdict": whole, "findings": written(findings, sentences, models)}


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
