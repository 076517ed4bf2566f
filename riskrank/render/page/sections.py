"""Chapters of a page, with a document's text, tables and figures in the order of a reader's questions."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from riskrank.engine.judges.correction import LABELS_ALPHA
from riskrank.errors import spell
from riskrank.render.figures.catalogue import pictures
from riskrank.render.figures.picture import Picture, renumber_pictures
from riskrank.render.mean_tables import binary_metric_lines, single_binary_metric
from riskrank.render.screens import (
    AUDIT,
    CHAPTERS,
    GLOSSARY,
    UNDERSTAND,
    ChapterPart,
    Entry,
    build_parts,
    first_screen,
)
from riskrank.render.sections import sections
from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies.document import Document
from riskrank.studies.wording import counted, join_names, p_value_phrase
from riskrank.version import __version__

Block = Section | Picture


@dataclass(frozen=True)
class PagePart:
    """A part of a chapter: text, tables and figures under a title, with a short finding."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    finding: str


@dataclass(frozen=True)
class Chapter:
    """A chapter of a page with its parts."""

    anchor: str
    title: str
    parts: tuple[PagePart, ...]

    @property
    def folded(self) -> bool:
        """True if all parts are collapsed until the reader opens them."""
        return self.anchor == AUDIT


# Pictures of score distributions.
_SHAPES = ("quantiles", "tvar", "scatter", "risks", "heatmap", "pair", "profile")

# Assumptions of every interval and test.
_ASSUMED = (
    "samples (or clusters) are independent, and the models are fixed: intervals do not include the "
    "variance of retraining, unless the runs are retrained models"
)


def _identity(document: Document) -> Document:
    """Return the document itself as the study of a part."""
    return document


def _tables_of_part(document: Document, part: str) -> list[Section]:
    """Return the tables of a document that belong to a part of the page."""
    return [section for section in sections(document) if isinstance(section, Table) and section.part == part]


STUDY = (
    Entry(UNDERSTAND, "figures", "Main picture", _identity, slice(1), lead=binary_metric_lines),
    Entry(
        UNDERSTAND,
        "cases",
        "Cases",
        _identity,
        words=lambda _, document: _tables_of_part(document, "cases"),
    ),
    Entry(AUDIT, "more-figures", "More pictures", _identity, slice(1, None)),
    Entry(
        *(AUDIT, "details", "Details", _identity),
        words=lambda _, document: _detail_sections(document),
        finding=lambda _, document: "; ".join(
            section.title
            for section in _detail_sections(document)
            if isinstance(section, Table) and section.title
        ),
    ),
)
"""Parts of the page of a single study, after its answer."""


def answer_sections(document: Document) -> list[Section]:
    """Return the first screen, without verdict, option hints, and sections that belong to a part."""
    if document.schema == "report":
        return answer_sections(document.ranking)  # type: ignore[attr-defined]  # the schema says which document it is
    lines = ("Verdict:", "Also:")
    first = first_screen(sections(document))
    return [
        section
        for section in first
        if not (section.label in lines if isinstance(section, Line) else section.part)
    ]


def chapters(document: Document) -> list[Chapter]:
    """Return the chapters that follow the answer: the table-of-contents parts, then inputs and settings."""
    table = STUDY
    if document.schema == "report":
        table = import_module("riskrank.studies.report.screen.contents").REPORT
    pictures_of: dict[int, Sequence[Picture]] = {}
    used: set[int] = set()
    of_chapter: dict[str, list[PagePart]] = {name: [] for name in CHAPTERS}
    for part in build_parts(document, table):
        figures = [
            picture for picture in _part_pictures(part, document, pictures_of) if id(picture) not in used
        ]
        used |= {*map(id, figures)}
        blocks = (*_lead_sections(part), *figures, *part.words)
        if blocks:
            page_part = PagePart(part.entry.anchor, part.title, blocks, part.finding)
            of_chapter[part.entry.chapter].append(page_part)
    of_chapter[AUDIT].insert(0, _warnings_part(document))
    of_chapter[AUDIT] += [_input_part(document), _settings_part(document), _glossary_part()]
    return [Chapter(name, CHAPTERS[name], tuple(parts)) for name, parts in of_chapter.items() if parts]


def _lead_sections(part: ChapterPart) -> Iterator[Section]:
    """Yield the sections before the pictures, without the sentence used as the heading."""
    for section in part.lead:
        if isinstance(section, Line) and part.finding and section.text.startswith(f"{part.finding}."):
            section = Line(section.text.removeprefix(f"{part.finding}.").strip())
        if not isinstance(section, Line) or section.text:
            yield section


def _part_pictures(
    part: ChapterPart, document: Document, cache: dict[int, Sequence[Picture]]
) -> list[Picture]:
    """Return the first picture of each kind requested by a part, with the document's model indices.

    Parameters
    ----------
    part : ChapterPart
    document : Document
        The whole document.
    cache : dict of int to sequence of Picture
        Pictures of every study, by the study's ``id``; extended in place.
    """
    if part.entry.pictures == ():
        return []
    if id(part.study) not in cache:
        models, all_models = part.study.provenance.models, document.provenance.models
        cache[id(part.study)] = renumber_pictures(pictures(part.study, document), models, all_models)
    available = cache[id(part.study)]
    if single_binary_metric(part.study):
        available = [picture for picture in available if picture.kind not in _SHAPES]
    return first_of_every_kind(available, part.entry.pictures)


def first_of_every_kind(
    available: Sequence[Picture], kinds: tuple[str, ...] | slice = slice(None)
) -> list[Picture]:
    """Return the first picture of each requested kind.

    Parameters
    ----------
    available : sequence of Picture
    kinds : tuple of str or slice
        Requested kinds, in order; a slice selects from all available kinds.
    """
    first: dict[str, Picture] = {}
    for picture in available:
        first.setdefault(picture.kind, picture)
    requested = [*first][kinds] if isinstance(kinds, slice) else kinds
    return [first[kind] for kind in requested if kind in first]


def _detail_sections(document: Document) -> list[Section]:
    """Return the sections that only explained output shows."""
    return [replace(section, details=False) for section in sections(document) if section.details]


def _chance_sentence(judge: Mapping[str, Any]) -> str:
    """Return the sentence on the assumption of random labels, for the case that no test contradicts it."""
    smallest = p_value_phrase(judge["chance_p"])
    return (
        f"labels are assumed to be randomly chosen: the means of {judge['judge']} on labelled and other "
        f"samples do not differ significantly (Welch's t, Holm, level {LABELS_ALPHA:g}, least {smallest})"
    )


def _warnings_part(document: Document) -> PagePart:
    """Return the part with warnings and assumptions, whose finding lists the most severe warnings first."""
    warnings = document.provenance.ordered_warnings
    if (judge := document.meta().get("judge")) and judge["chosen_p"] is None:
        warnings.append(_chance_sentence(judge))
    split = [_split_warning(warning) for warning in warnings]
    finding = "; ".join(fact for fact, _ in split) or "none"
    lines = [
        Line(text, style=style)
        for both in split or [("None.", "")]
        for text, style in zip(both, ("yellow" if warnings else "", "dim"), strict=True)
        if text
    ]
    metrics = [warning for warning in document.provenance.metrics if not isinstance(warning, str)]
    undeclared = [str(warning["name"]) for warning in metrics if not warning.get("declared", True)]
    directions = (
        f"; directions of {join_names(undeclared, len(undeclared))} are not declared" if undeclared else ""
    )
    lines.append(Line(f"{_ASSUMED}{directions}.", "Assumed:"))
    return PagePart("mind", "Warnings and assumptions", tuple(lines), finding)


def _split_warning(warning: str) -> tuple[str, str]:
    """Split a warning into its statement and its advice on options, which may be empty."""
    fact, *parts = warning.split(": ")
    plain = [*itertools.takewhile(lambda part: spell(part, flags=True) == part, parts)]
    fact = ": ".join([fact, *plain])
    return (fact, ": ".join(parts[len(plain) :])) if " " in fact else (warning, "")


def _input_part(document: Document) -> PagePart:
    """Return the part on the metrics and on how the table was read."""
    origin = document.provenance
    rows = tuple(map(_metric_row, origin.metrics))
    blocks: list[Block] = [
        Line(f"{origin.samples:,} samples, {counted(len(rows), 'metric')}.", "Data:"),
        *(Line(f"{how}.", "Read as:") for how in origin.reading_notes),
        Table(
            "Metrics", column_heads("metric", "in the file", "direction", "scale", right=("weight",)), rows
        ),
    ]
    finding = f"{len(origin.models)} models, {origin.samples:,} samples; "
    finding += ", ".join(f"{row[0]} ({row[2]})" if row[2] != "–" else row[0] for row in rows)
    if judge := document.meta().get("judge"):
        direction = "lower" if judge["judge_lower"] else "higher"
        finding += (
            f"; {judge['labelled']:,} with human labels, all with {judge['judge']} ({direction} is better)"
        )
    elif not origin.scored:
        finding += "; no missing scores"
    return PagePart("compared", "Input and missing scores", tuple(blocks), finding)


def _metric_row(metric: str | Mapping[str, Any]) -> tuple[str, ...]:
    """Return the table row of a metric: name, name as stored in the file, direction, scale and weight."""
    if isinstance(metric, str):
        return metric, f"“{metric}”", "–", "–", "–"
    weight, transform = metric.get("weight"), metric.get("transform", "none")
    assumed = "" if metric.get("declared", True) else " (assumed)"
    how = filter(None, (metric.get("scale"), transform if transform != "none" else ""))
    direction = f"{metric['direction']} is better{assumed}"
    counts = "equal" if weight is None else f"{weight:g}"
    return str(metric["name"]), f"“{metric['name']}”", direction, ", ".join(map(str, how)) or "–", counts


def _settings_part(document: Document) -> PagePart:
    """Return the part on input files and settings, which suffice to reproduce the page."""
    origin = document.provenance
    rows = tuple((str(entry["path"]), f"{entry['rows']:,}", str(entry["sha256"])) for entry in origin.inputs)
    files = Table("Files", column_heads("file", right=("rows",)) + column_heads("SHA-256"), rows)
    items = {**origin.method, **origin.settings}.items()
    values = tuple((name.replace("_", " "), _format_value(value)) for name, value in items)
    settings = Table("Settings", column_heads("setting", "value"), values)
    description = f"riskrank {__version__}, riskrank {origin.command}"
    description += "" if origin.seed is None else f", seed {origin.seed}"
    description += "" if origin.resamples is None else f", {origin.resamples:,} bootstrap resamples"
    # The pairwise part of a report may need another number of resamples.
    pairs = getattr(document, "pairs", None)
    pair_resamples = None if pairs is None else pairs.provenance.resamples
    description += (
        f" ({pair_resamples:,} for pairs)" if pair_resamples not in (None, origin.resamples) else ""
    )
    description += "" if origin.config is None else f", options from {origin.config}"
    text = f"{description}. The same files, settings and version reproduce this page exactly, byte for byte."
    return PagePart("made", "Settings and files", (Line(text, "Made by:"), files, settings), description)


def _glossary_part() -> PagePart:
    """Return the part with the glossary."""
    lines = tuple(Line(meaning, f"{word}:") for word, meaning in GLOSSARY.items())
    return PagePart("glossary", "Glossary", lines, f"{', '.join([*GLOSSARY][:5])} and more")


def _format_value(value: object) -> str:
    """Format the value of a setting."""
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_format_value(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_value, value))
    return f"{value:,}" if isinstance(value, int | float) else str(value)
