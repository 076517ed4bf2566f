"""A document as chapters of a page: words, tables and figures in the order a meeting asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riskrank import __version__
from riskrank.shown.figures.picture import Picture
from riskrank.shown.sections import sections
from riskrank.shown.view import Column, Line, Section, Table
from riskrank.studies.document import Document


@dataclass(frozen=True)
class Figure:
    """A picture of a chapter."""

    picture: Picture


Block = Section | Figure


@dataclass(frozen=True)
class Chapter:
    """Part of a page.

    Attributes
    ----------
    anchor : str
        Name of its place.
    title : str
    blocks : tuple of Block
    """

    anchor: str
    title: str
    blocks: tuple[Block, ...]


def one_of_each(found: Sequence[Picture], kinds: Sequence[str] | None = None) -> list[Figure]:
    """The first picture of every kind, of those kinds that are asked for, in that order."""
    first: dict[str, Picture] = {}
    for picture in found:
        first.setdefault(picture.name.partition("@")[0], picture)
    return [Figure(first[kind]) for kind in kinds or first if kind in first]


def document_chapters(document: Document, found: Sequence[Picture]) -> list[Chapter]:
    """Chapters of one study: its tables, a picture of each kind, and where it all comes from."""
    body = [section for section in sections(document) if not _is_verdict(section)]
    chapters = [Chapter("result", "Result", tuple(body))]
    figures = one_of_each(found)
    if figures:
        chapters.append(Chapter("figures", "Figures", tuple(figures)))
    return [*chapters, comparison_chapter(document), provenance_chapter(document)]


def _is_verdict(section: Section) -> bool:
    return isinstance(section, Line) and section.label == "Verdict:"


def comparison_chapter(document: Document, *, title: str = "What was compared") -> Chapter:
    """Models and metrics, and what a reader should know of the table."""
    origin = document.provenance
    rows = []
    for metric in origin.metrics:
        if isinstance(metric, str):
            rows.append((metric, "–", "–", "–"))
            continue
        weight, transform = metric.get("weight"), metric.get("transform", "none")
        how = [str(metric.get("scale") or "")] + ([] if transform == "none" else [str(transform)])
        rows.append(
            (
                str(metric["name"]),
                f"{metric['direction']} is better",
                ", ".join(part for part in how if part) or "–",
                "equal" if weight is None else f"{weight:g}",
            )
        )
    blocks: list[Block] = [
        Line(f"{origin.samples:,} samples, {len(rows)} metric{'s' * (len(rows) != 1)}.", "Data:"),
        Table(
            "Metrics",
            (*(Column(head, "left") for head in ("metric", "direction", "scale")), Column("weight")),
            tuple(rows),
        ),
    ]
    blocks += [Line(warning, "Mind:", "yellow") for warning in origin.warnings]
    return Chapter("compared", title, tuple(blocks))


def provenance_chapter(document: Document) -> Chapter:
    """Files and settings: with the same version they give the same bytes."""
    origin = document.provenance
    files = Table(
        "Files",
        (Column("file", "left"), Column("rows"), Column("SHA-256", "left")),
        tuple((str(one["path"]), f"{one['rows']:,}", str(one["sha256"])) for one in origin.inputs),
    )
    settings = Table(
        "Settings",
        (Column("setting", "left"), Column("value", "left")),
        tuple(
            (name.replace("_", " "), _value(value))
            for name, value in {**origin.method, **origin.settings}.items()
        ),
    )
    made = f"riskrank {__version__}, riskrank {origin.command}"
    made += "" if origin.seed is None else f", seed {origin.seed}"
    made += "" if origin.resamples is None else f", {origin.resamples:,} bootstrap resamples"
    made += "" if origin.config is None else f", options from {origin.config}"
    text = f"{made}. The same files, settings and version give the same page, byte for byte."
    return Chapter("provenance", "Settings and provenance", (Line(text, "Made by:"), files, settings))


def _value(value: object) -> str:
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_value(one) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
