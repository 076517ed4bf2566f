"""A document as chapters of a page: words, tables and figures in the order a meeting asks for them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from riskrank.errors import spell
from riskrank.render.figures.catalogue import pictures
from riskrank.render.figures.picture import Picture, numbered
from riskrank.render.glossary import GLOSSARY
from riskrank.render.mean_tables import means_say_it, only_share
from riskrank.render.screens import first_screen
from riskrank.render.sections import sections
from riskrank.render.table_of_contents import AUDIT, CHAPTERS, WHY, ChapterPart, Entry, parts_of
from riskrank.render.view import Line, Section, Table, headed
from riskrank.studies.document import Document
from riskrank.studies.judge.section import by_chance
from riskrank.studies.wording import counted, names
from riskrank.version import __version__

Block = Section | Picture


@dataclass(frozen=True)
class PagePart:
    """Words, tables and figures under a title of their own, with their finding in a few words."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    finding: str


@dataclass(frozen=True)
class Chapter:
    """A chapter of a page: parts that hang together, folded or not, under its place's name and a title."""

    anchor: str
    title: str
    parts: tuple[PagePart, ...]

    @property
    def folded(self) -> bool:
        """Whether a reader opens its parts one by one."""
        return self.anchor == AUDIT


# Pictures of how scores are distributed.
_SHAPES = ("quantiles", "tvar", "scatter", "risks", "heatmap", "pair", "profile")

# What every interval and test rests on.
_ASSUMED = (
    "samples, or clusters of them, are independent draws, and models as they were scored: what training "
    "again would change is in no interval, unless runs are trainings"
)


def _whole(document: Document) -> Document:
    return document


def _in_part(document: Document, part: str) -> list[Section]:
    return [one for one in sections(document) if isinstance(one, Table) and one.part == part]


STUDY = (
    Entry(WHY, "figures", "In a picture", _whole, slice(1), lead=means_say_it),
    Entry(WHY, "cases", "Case by case", _whole, words=lambda _, whole: _in_part(whole, "cases")),
    Entry(AUDIT, "more-figures", "More pictures", _whole, slice(1, None)),
    Entry(
        *(AUDIT, "details", "In detail", _whole),
        words=lambda _, whole: _asked_for(whole),
        finding=lambda _, whole: "; ".join(
            one.title for one in _asked_for(whole) if isinstance(one, Table) and one.title
        ),
    ),
)
"""What the page of one study holds after its answer, a row a part, as that of a report."""


def answer(document: Document) -> list[Section]:
    """What a terminal shows first, less the verdict, what to ask next, and what has a chapter of its own."""
    if document.schema == "report":
        return answer(document.ranking)  # type: ignore[attr-defined]  # the schema says which document it is
    lines = ("Verdict:", "Also:")
    shown = first_screen(sections(document))
    return [one for one in shown if not (one.label in lines if isinstance(one, Line) else one.part)]


def chapters(document: Document) -> list[Chapter]:
    """What follows the answer: the rows of the table of contents, then what was compared, and with what."""
    table = STUDY
    if document.schema == "report":
        table = import_module("riskrank.studies.report.screen.contents").REPORT
    drawn: dict[int, Sequence[Picture]] = {}
    shown: set[int] = set()
    of_chapter: dict[str, list[PagePart]] = {name: [] for name in CHAPTERS}
    for part in parts_of(document, table):
        figures = [one for one in _figures(part, document, drawn) if id(one) not in shown]
        shown |= {*map(id, figures)}
        blocks = (*_beside(part), *figures, *part.words)
        if blocks:
            kept = PagePart(part.entry.anchor, part.title, blocks, part.finding)
            of_chapter[part.entry.chapter].append(kept)
    of_chapter[AUDIT].insert(0, _minded(document))
    of_chapter[AUDIT] += [_compared(document), _made(document), _glossary()]
    return [Chapter(name, CHAPTERS[name], tuple(parts)) for name, parts in of_chapter.items() if parts]


def _beside(part: ChapterPart) -> Iterator[Section]:
    """Words before the pictures, less the sentence that the heading is."""
    for one in part.lead:
        if isinstance(one, Line) and part.finding and one.text.startswith(f"{part.finding}."):
            one = Line(one.text.removeprefix(f"{part.finding}.").strip())
        if not isinstance(one, Line) or one.text:
            yield one


def _figures(part: ChapterPart, document: Document, drawn: dict[int, Sequence[Picture]]) -> list[Picture]:
    """The pictures of a part, the first of every kind, with models by their numbers in the whole document."""
    if part.entry.pictures == ():
        return []
    if id(part.study) not in drawn:
        models, whole = part.study.provenance.models, document.provenance.models
        drawn[id(part.study)] = numbered(pictures(part.study, document), models, whole)
    found = drawn[id(part.study)]
    if only_share(part.study):
        found = [one for one in found if one.kind not in _SHAPES]
    return one_of_each(found, part.entry.pictures)


def one_of_each(found: Sequence[Picture], kinds: tuple[str, ...] | slice = slice(None)) -> list[Picture]:
    """The first picture of every kind, of those kinds that are asked for, in that order."""
    first: dict[str, Picture] = {}
    for picture in found:
        first.setdefault(picture.kind, picture)
    asked = [*first][kinds] if isinstance(kinds, slice) else kinds
    return [first[kind] for kind in asked if kind in first]


def _asked_for(document: Document) -> list[Section]:
    return [replace(section, more=False) for section in sections(document) if section.more]


def _minded(document: Document) -> PagePart:
    """Warnings, all of them in the summary line, the gravest first."""
    told = document.provenance.gravest_first
    if (judge := document.meta().get("judge")) and judge["chosen_p"] is None:
        told.append(by_chance(judge))
    parted = [_fact(one) for one in told]
    finding = "; ".join(fact for fact, _ in parted) or "none"
    lines = [
        Line(text, style=style)
        for both in parted or [("None.", "")]
        for text, style in zip(both, ("yellow" if told else "", "dim"), strict=True)
        if text
    ]
    of_table = [one for one in document.provenance.metrics if not isinstance(one, str)]
    unsaid = [str(one["name"]) for one in of_table if not one.get("declared", True)]
    directions = f"; directions of {names(unsaid, len(unsaid))} are not declared" if unsaid else ""
    lines.append(Line(f"{_ASSUMED}{directions}.", "Assumed:"))
    return PagePart("mind", "Warnings and assumptions", tuple(lines), finding)


def _fact(warning: str) -> tuple[str, str]:
    """What a warning says, where a sentence is left without it, and what an option would do about it."""
    fact, *rest = warning.split(": ")
    plain = [*itertools.takewhile(lambda part: spell(part, flags=True) == part, rest)]
    fact = ": ".join([fact, *plain])
    return (fact, ": ".join(rest[len(plain) :])) if " " in fact else (warning, "")


def _compared(document: Document) -> PagePart:
    """Metrics, and what a reader should know of the table."""
    origin = document.provenance
    rows = tuple(map(_read, origin.metrics))
    blocks: list[Block] = [
        Line(f"{origin.samples:,} samples, {counted(len(rows), 'metric')}.", "Data:"),
        *(Line(f"{how}.", "Read as:") for how in origin.how_read),
        Table("Metrics", headed("metric", "in the file", "direction", "scale", right=("weight",)), rows),
    ]
    finding = f"{len(origin.models)} models, {origin.samples:,} samples; "
    finding += ", ".join(f"{row[0]} ({row[2]})" if row[2] != "–" else row[0] for row in rows)
    if judge := document.meta().get("judge"):
        side = "lower" if judge["judge_lower"] else "higher"
        finding += f"; people scored {judge['labelled']:,} of them, {judge['judge']} ({side} is better) all"
    elif not origin.scored:
        finding += "; no score is missing"
    return PagePart("compared", "How the table was read, and what is missing", tuple(blocks), finding)


def _read(metric: str | Mapping[str, Any]) -> tuple[str, ...]:
    """A metric: its name here and in the file, direction, scale and weight."""
    if isinstance(metric, str):
        return metric, f"“{metric}”", "–", "–", "–"
    weight, transform = metric.get("weight"), metric.get("transform", "none")
    assumed = "" if metric.get("declared", True) else " (assumed)"
    how = filter(None, (metric.get("scale"), transform if transform != "none" else ""))
    direction = f"{metric['direction']} is better{assumed}"
    counts = "equal" if weight is None else f"{weight:g}"
    return str(metric["name"]), f"“{metric['name']}”", direction, ", ".join(map(str, how)) or "–", counts


def _made(document: Document) -> PagePart:
    """Files and settings: with the same version they give the same bytes."""
    origin = document.provenance
    rows = tuple((str(one["path"]), f"{one['rows']:,}", str(one["sha256"])) for one in origin.inputs)
    files = Table("Files", headed("file", right=("rows",)) + headed("SHA-256"), rows)
    given = {**origin.method, **origin.settings}.items()
    values = tuple((name.replace("_", " "), _value(value)) for name, value in given)
    settings = Table("Settings", headed("setting", "value"), values)
    made = f"riskrank {__version__}, riskrank {origin.command}"
    made += "" if origin.seed is None else f", seed {origin.seed}"
    made += "" if origin.resamples is None else f", {origin.resamples:,} bootstrap resamples"
    # A report takes as many of its pairs as their own claims need.
    pairs = getattr(document, "pairs", None)
    drawn = None if pairs is None else pairs.provenance.resamples
    made += f" ({drawn:,} of pairs)" if drawn not in (None, origin.resamples) else ""
    made += "" if origin.config is None else f", options from {origin.config}"
    text = f"{made}. The same files, settings and version give the same page, byte for byte."
    return PagePart("made", "Settings and files", (Line(text, "Made by:"), files, settings), made)


def _glossary() -> PagePart:
    lines = tuple(Line(meaning, f"{word}:") for word, meaning in GLOSSARY.items())
    return PagePart("glossary", "Glossary", lines, f"{', '.join([*GLOSSARY][:5])} and more")


def _value(value: object) -> str:
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    return f"{value:,}" if isinstance(value, int | float) else str(value)
