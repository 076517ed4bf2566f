"""A verdict short enough to be read: at most three sentences and seventy words; the rest is for who asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from riskrank.errors import option
from riskrank.scores.names.directions import looks_like_a_cost
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
