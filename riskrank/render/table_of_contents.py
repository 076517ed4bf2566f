"""Tables of contents of HTML pages: one row per part, with its study, text and pictures.

To add a part to a page, add a row: to :mod:`riskrank.studies.report.screen.contents` for the report, to
:mod:`riskrank.render.page.sections` for all other documents.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from riskrank.render.view import Line, Section
from riskrank.studies.document import Document

UNDERSTAND, AUDIT = "why", "audit"
CHAPTERS = {UNDERSTAND: "Understand", AUDIT: "Audit"}
"""Titles of chapters by their anchor, in order; the parts of the audit are folded."""

SectionBuilder = Callable[[Any, Any], Iterable[Section]]
"""Function that gets a study and the whole document, and returns the sections of a part."""


def verdict_summary(study: Document, _document: Document) -> str:
    """Return the first sentence of a study's verdict: the default finding of a part."""
    return _SENTENCE.split(study.verdict)[0].rstrip(".")


_SENTENCE = re.compile(r"(?<=\w)\. ")


def no_sections(_study: Document, _document: Document) -> Sequence[Line]:
    """Return no sections: the default text of a part."""
    return ()


@dataclass(frozen=True)
class Entry:
    """A row of a table of contents: one part of a chapter.

    Attributes
    ----------
    chapter : str
        Key of :data:`CHAPTERS`.
    anchor : str
        HTML anchor of the part.
    title : str or callable
        A callable gets the study and returns the title.
    study : callable
        Gets the whole document and returns the study of the part, or None to skip the part.
    pictures : tuple of str or slice
        Kinds of pictures of the study, in order; a slice selects from all available kinds.
    lead, words : callable
        Get the study and the whole document. Return the sections before and after the pictures.
    finding : callable
        Gets the study and the whole document. Returns the finding in a few words, for the summary line of a
        folded part.
    """

    chapter: str
    anchor: str
    title: str | Callable[[Any], str]
    study: Callable[[Any], Document | None]
    pictures: tuple[str, ...] | slice = ()
    lead: SectionBuilder = no_sections
    words: SectionBuilder = no_sections
    finding: Callable[[Any, Any], str] = verdict_summary


@dataclass(frozen=True)
class ChapterPart:
    """A part of a chapter, built from a table-of-contents row and a document."""

    entry: Entry
    title: str
    study: Document
    lead: tuple[Section, ...]
    words: tuple[Section, ...]
    finding: str


def build_parts(document: Document, table: Iterable[Entry]) -> list[ChapterPart]:
    """Return the parts of a document, without those that have no study."""
    parts = []
    for entry in table:
        study = entry.study(document)
        if study is None:
            continue
        title = entry.title if isinstance(entry.title, str) else entry.title(study)
        lead, words = tuple(entry.lead(study, document)), tuple(entry.words(study, document))
        parts.append(ChapterPart(entry, title, study, lead, words, entry.finding(study, document)))
    return parts
