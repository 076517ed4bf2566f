"""Elements of screens and pages that commands share: row limits, hints, and tables of contents.

A table of contents has one entry per part of an HTML page, with its study, text and pictures. To add a part
to a page, add an entry to :mod:`riskrank.studies.report.screen` (report) or
:mod:`riskrank.render.page.page` (all other documents).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from riskrank.errors import interface_text, option, single_line
from riskrank.render import WORDS
from riskrank.render.view import Line, Section
from riskrank.studies.document import Document, Provenance
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.wording import counted

# Maximum number of models on a screen that also contains text.
MOST_ROWS = 10
# Maximum number of metrics side by side.
MOST_METRICS = 6
# Maximum number of models named on a line about missing scores.
_MOST_MODELS = 3


def first_screen(sections: Iterable[Section]) -> list[Section]:
    """Return the sections that are not details, which form the first screen."""
    return [section for section in sections if not section.details]


def as_details(sections: Iterable[Section]) -> list[Section]:
    """Mark the sections as details, which are shown only with ``--explain``."""
    return [replace(section, details=True) for section in sections]


def follow_up_sections(sections: Iterable[Section], *suggestions: str) -> list[Section]:
    """Return the sections as details, preceded by a line of suggested options.

    Parameters
    ----------
    sections : iterable of Section
        Sections to render.
    *suggestions : str
        Options to try next; explained output is added at the end.
    """
    return [Line(", ".join((*suggestions, option("explain", True))), "Also:"), *as_details(sections)]


def further_sentence_lines(sentences: Sequence[str]) -> list[Line]:
    """Return a line with the sentences that did not fit into the verdict; an empty list if there are none."""
    return [Line(" ".join(sentences), "Also:")] if sentences else []


def hidden_count_lines(count: int, noun: str, remedy: str | None = None) -> list[Line]:
    """Return a line with the number of omitted items, or an empty list if no item is omitted.

    Parameters
    ----------
    count : int
        Number of omitted items.
    noun : str
        Plural noun for the items.
    remedy : str, optional
        Option that shows the items; by default, the option for explained output.
    """
    remedy = option("explain", True) if remedy is None else remedy
    return [Line(f"… {counted(count, noun)} more: {remedy}")] if count > 0 else []


def more_metrics_lines(means: Sequence[MetricMeans]) -> list[Line]:
    """Return a line with the number of metrics that do not fit on the first screen, or an empty list."""
    return hidden_count_lines(len(means) - MOST_METRICS, "metric", option("metric", means[-1].name))


def detection_limit_lines(document: Document[Any]) -> list[Line]:
    """Return the findings about events that are too rare to detect with this sample size, as lines."""
    return [Line(finding.sentence) for finding in document.findings if finding.kind == "detection-limit"]


def rows_hint(phrase: str) -> str:
    """Return a hint on how to get all rows: by output files or, in Python, by attributes.

    Parameters
    ----------
    phrase : str
        Noun phrase for the rows, such as ``all 1,000 scores``.
    """
    csv = option("format", "csv")
    command_line = f"{option('output', 'FILE.csv')} or FILE.parquet writes {phrase}, {csv} prints them"
    return interface_text(command_line, f"rows and frame contain {phrase}, to_csv() writes them")


def missing_score_lines(origin: Provenance, *, of_models: bool = False) -> list[Line]:
    """Return a line about models with missing scores and their treatment, and lines about what is compared.

    Parameters
    ----------
    origin : Provenance
        Information about the inputs.
    of_models : bool
        Whether the command compares model averages, so that a model without scores is excluded.
    """
    lacking = of_models and not all(entry.scored for entry in origin.scored)
    rules = WORDS["missing"] | (WORDS["missing_values"] if lacking else {})
    incomplete: list[tuple[int, str]] = []
    for model, group in groupby(origin.scored, key=lambda entry: entry.model):
        entries = [*group]
        uniform = len({entry.summary for entry in entries}) == 1 and len(entries) == len(origin.metrics)
        for entry in entries[:1] if uniform else entries:
            metric = "" if uniform else f" on {entry.metric}"
            # A value per model, such as a price, is absent as a whole.
            amount = "none" if of_models and entry.is_absent else entry.summary
            incomplete.append((entry.scored - entry.total, f"{model} {amount}{metric}"))
    parts = (single_line(note).partition(": ") for note in origin.first_notes)
    notes = [Line(f"{text}.", f"{kind.capitalize()}:", "yellow") for kind, _, text in parts]
    if not incomplete:
        return notes
    incomplete.sort(key=lambda entry: entry[0])
    texts = [text for _, text in incomplete[:_MOST_MODELS]]
    if more := sum(lack < 0 for lack, _ in incomplete[_MOST_MODELS:]):
        texts.append(f"{more} more {'lacks' if more == 1 else 'lack'} some")
    missing = origin.method.get("missing")
    rule = ""
    if missing in rules and incomplete[0][0] < 0:
        bounded = missing == "auto" and any("has no bounds" in text for text in origin.warnings)
        chosen = "" if missing == "auto" else f" ({option('missing', missing)})"
        rule = f"; {rules[missing]}{' of metrics with bounds' * bounded}{chosen}"
    return [Line(f"{'; '.join(texts)}{rule}.", "Scored:"), *notes]


# Pointer to the definitions, at the end of an explained screen.
GLOSSARY_HINT = Line(
    f"see docs/glossary.md, or the glossary of any page ({option('format', 'html')}).", "Words:"
)


UNDERSTAND, AUDIT = "why", "audit"
# Titles of the chapters by anchor, in order. The parts of the audit are folded.
CHAPTERS = {UNDERSTAND: "Understand", AUDIT: "Audit"}

# Function of a study and the whole document that returns the sections of a part.
SectionBuilder = Callable[[Any, Any], Iterable[Section]]


def verdict_summary(study: Document, _document: Document) -> str:
    """Return the first sentence of a study's verdict, which is the default summary of a part of its page."""
    return re.split(r"(?<=\w)\. ", study.verdict)[0].rstrip(".")


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
    words : callable
        Maps the study and the whole document to the sections after the pictures.
    finding : callable
        Maps the study and the whole document to a short finding, for the summary line of a collapsed part.
    """

    chapter: str
    anchor: str
    title: str | Callable[[Any], str]
    study: Callable[[Any], Document | None] = lambda document: document
    pictures: tuple[str, ...] | slice = ()
    words: SectionBuilder = lambda _study, _document: ()
    finding: Callable[[Any, Any], str] = verdict_summary


@dataclass(frozen=True)
class ChapterPart:
    """A part of a chapter, built from a table-of-contents entry and a document."""

    entry: Entry
    title: str
    study: Document
    words: tuple[Section, ...]
    finding: str


def build_parts(document: Document, entries: Iterable[Entry]) -> list[ChapterPart]:
    """Return the parts of a document's page, one per entry; entries whose study was not run are omitted."""
    parts = []
    for entry in entries:
        study = entry.study(document)
        if study is None:
            continue
        title = entry.title if isinstance(entry.title, str) else entry.title(study)
        words = tuple(entry.words(study, document))
        parts.append(ChapterPart(entry, title, study, words, entry.finding(study, document)))
    return parts
