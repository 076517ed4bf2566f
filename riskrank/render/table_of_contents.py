"""Tables of contents: which chapter holds which words and pictures of which study, a row each.

A new chapter or picture of a page is one row in such a table: that of the report is in
:mod:`riskrank.studies.report.screen.contents`, any other's in :mod:`riskrank.render.page.sections`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from riskrank.render.view import Line, Section
from riskrank.studies.document import Document

WHY, AUDIT = "why", "audit"
CHAPTERS = {WHY: "Understand", AUDIT: "Audit"}
"""Titles of chapters by the name of their place, in order; the parts of an audit are folded."""

Words = Callable[[Any, Any], Iterable[Section]]
"""What a part says of its study, within the whole document."""


def verdict_in_short(study: Document, _whole: Document) -> str:
    """The first sentence of what a study says: the finding of a part that is about all of it."""
    return _SENTENCE.split(study.verdict)[0].rstrip(".")


_SENTENCE = re.compile(r"(?<=\w)\. ")


def nothing(_study: Document, _whole: Document) -> Sequence[Line]:
    """No words."""
    return ()


@dataclass(frozen=True)
class Entry:
    """A row: a part of a chapter, made of a document.

    Attributes
    ----------
    chapter : str
        One of :data:`CHAPTERS`.
    anchor : str
        Name of its place.
    title : str or callable
        A callable makes it of the study.
    study : callable
        Of the whole document: the study that the part is about, None where there is nothing to say.
    pictures : tuple of str or slice
        Kinds of pictures of that study, in order; a slice of all kinds there are.
    lead, words : callable
        What stands before the pictures, and after them.
    finding : callable
        What a reader learns in the part, in a few words: its summary line where it is folded.
    """

    chapter: str
    anchor: str
    title: str | Callable[[Any], str]
    study: Callable[[Any], Document | None]
    pictures: tuple[str, ...] | slice = ()
    lead: Words = nothing
    words: Words = nothing
    finding: Callable[[Any, Any], str] = verdict_in_short


@dataclass(frozen=True)
class ChapterPart:
    """What a row says of one document."""

    entry: Entry
    title: str
    study: Document
    lead: tuple[Section, ...]
    words: tuple[Section, ...]
    finding: str


def parts_of(document: Document, table: Iterable[Entry]) -> list[ChapterPart]:
    """The parts of a document that there is something to say in."""
    found = []
    for entry in table:
        study = entry.study(document)
        if study is None:
            continue
        title = entry.title if isinstance(entry.title, str) else entry.title(study)
        lead, words = tuple(entry.lead(study, document)), tuple(entry.words(study, document))
        found.append(ChapterPart(entry, title, study, lead, words, entry.finding(study, document)))
    return found
