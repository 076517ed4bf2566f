"""Tables of contents of HTML pages: one entry per part, with its study, text and pictures.

To add a part to a page, add an entry to :mod:`riskrank.studies.report.screen.contents` (report) or
:mod:`riskrank.render.page.sections` (all other documents).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from riskrank.render.view import Line, Section
from riskrank.studies.document import Document

UNDERSTAND, AUDIT = "why", "audit"
CHAPTERS = {UNDERSTAND: "Understand", AUDIT: "Audit"}
"""Titles of the chapters by anchor, in order. The parts of the audit are folded."""

SectionBuilder = Callable[[Any, Any], Iterable[Section]]
"""Function of a study and the whole document that returns the sections of a part."""


def verdict_summary(study: Document, _document: Document) -> str:
    """Return the first sentence of a study's verdict, the default finding of a part."""
    return _SENTENCE.split(study.verdict)[0].rstrip(".")


_SENTENCE = re.compile(r"(?<=\w)\. ")


def no_sections(_study: Document, _document: Document) -> Sequence[Line]:
    """Return no sections, the default text of a part."""
    return ()


@dataclass(frozen=True)
class Entry:
    """Entry of a table of contents: one part of a chapter.

    Attributes
    ----------
    chapter : str
        Key of :data:`CHAPTERS`.
    anchor : str
        HTML anchor of the part.
    title : str or callable
        Title, or function that maps the study to the title.
    study : callable
        Maps the whole document to the study of the part, or to None to skip the part.
    pictures : tuple of str or slice
        Kinds of pictures from the study, in order; a slice selects from all available kinds.
    lead, words : callable
        Map the study and the whole document to the sections before and after the pictures.
    finding : callable
        Maps the study and the whole document to a short finding, for the summary line of a collapsed part.
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
    """A part of a chapter, built from a table-of-contents entry and a document."""

    entry: Entry
    title: str
    study: Document
    lead: tuple[Section, ...]
    words: tuple[Section, ...]
    finding: str


def build_parts(document: Document, table: Iterable[Entry]) -> list[ChapterPart]:
    """Return the parts of a document that have a study."""
    parts = []
    for entry in table:
        study = entry.study(document)
        if study is None:
            continue
        title = entry.title if isinstance(entry.title, str) else entry.title(study)
        lead, words = tuple(entry.lead(study, document)), tuple(entry.words(study, document))
        parts.append(ChapterPart(entry, title, study, lead, words, entry.finding(study, document)))
    return parts
