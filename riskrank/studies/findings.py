"""What a reader should know of a result, each with what it rests on, and how findings become a verdict.

A study makes a list of findings, the gravest first, and has one table of sentences, a kind of finding an
entry; no sentence on a result is made anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from riskrank.engine.family import Side
from riskrank.studies.document import FindingEntry
from riskrank.studies.said import Said, fitting

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
    """

    of_kind: Mapping[str, Callable[[Finding, Case], str]]

    def say(self, finding: Finding, case: Case) -> str:
        """One finding in words."""
        return self.of_kind[finding.kind](finding, case)

    def verdict(self, findings: Sequence[Finding], case: Case, assuming: str = "") -> Said:
        """As many findings as a reader takes in, and the others for who asks.

        Parameters
        ----------
        findings : sequence of Finding
            The gravest first.
        case : Case
        assuming : str
            What all of it rests on, said before the first.
        """
        first, *rest = (self.say(one, case) for one in findings)
        return fitting([assuming + first, *rest])

    def entries(self, findings: Sequence[Finding], case: Case, models: Sequence[str]) -> list[FindingEntry]:
        """All findings as a document writes them."""
        return [
            FindingEntry(
                one.kind,
                [models[i] for i in one.models],
                one.on or None,
                dict(one.figures),
                None if one.answer is None else one.answer.word,
                self.say(one, case),
            )
            for one in findings
        ]
