"""The page itself: chapters through templates into one file, or into a fragment for a notebook."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from riskrank.errors import spell
from riskrank.shown.escapes import visible
from riskrank.shown.figures.catalogue import pictures
from riskrank.shown.figures.picture import Picture, numbered
from riskrank.shown.formats.data import to_json
from riskrank.shown.page import require_pages
from riskrank.shown.page.chapters import (
    Block,
    Chapter,
    Figure,
    comparison_chapter,
    document_chapters,
    one_of_each,
    provenance_chapter,
)
from riskrank.shown.view import Cell, Line, Table, spelled, text_of
from riskrank.studies.document import Document

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from riskrank.shown.page.svg import Styles

_FOLDER = "templates"


def to_page(document: Document, *, flags: bool = True) -> str:
    """Write a document as one HTML file that needs no other.

    Raises
    ------
    UsageError
        If Jinja2 or Matplotlib is not installed.
    """
    require_pages()
    return _rendered("page.html", document, chapters(document), flags=flags)


def to_page_fragment(document: Document, *, flags: bool = False) -> str:
    """Write a document as an element for a notebook: the result and its main picture.

    Raises
    ------
    UsageError
        If Jinja2 or Matplotlib is not installed.
    """
    require_pages()
    found = document_chapters(document, pictures(document)[:1])
    shown = [chapter for chapter in found if chapter.anchor in ("result", "figures")]
    return _rendered("fragment.html", document, shown, flags=flags)


def chapters(document: Document) -> list[Chapter]:
    """Chapters of a page, those of a report or of one study."""
    if document.schema != "report":
        return document_chapters(document, pictures(document))
    from riskrank.shown.report import parts

    found = [comparison_chapter(document)]
    drawn: dict[int, Sequence[Picture]] = {}
    for part in parts(document):  # type: ignore[arg-type]  # the schema says which document it is
        known: Sequence[Picture] = ()
        if part.pictures:
            models, whole = part.source.provenance.models, document.provenance.models
            known = drawn.setdefault(id(part.source), numbered(pictures(part.source), models, whole))
        figures = one_of_each(known, part.pictures) if part.pictures else []
        found.append(Chapter(part.anchor, part.title, (*part.lead, *figures, *part.sections)))
    return [*found, provenance_chapter(document)]


def _title(document: Document) -> str:
    named = getattr(document, "title", "")
    return named or f"riskrank {document.provenance.command}: {len(document.provenance.models)} models"


@dataclass(frozen=True)
class Row:
    """A row of a table, with the models it is about by their numbers."""

    cells: tuple[Cell | str, ...]
    models: str


@dataclass(frozen=True)
class Drawing:
    """A figure as the template takes it."""

    svg: Markup
    title: str
    reading: str
    caption: str


def _rendered(template: str, document: Document, found: Sequence[Chapter], *, flags: bool) -> str:
    from markupsafe import Markup

    from riskrank.shown.page.svg import Styles

    models = list(document.provenance.models)
    # What names begin with: two results in one notebook must not share any.
    mark = "rr" + hashlib.sha256(to_json(document).encode("utf-8")).hexdigest()[:6]
    styles = Styles()
    found = [_plain(chapter, flags=flags) for chapter in found]
    drawn = {
        id(block): _drawing(block, styles, f"{mark}-{number}")
        for number, block in enumerate(block for chapter in found for block in chapter.blocks)
        if isinstance(block, Figure)
    }
    style = _text("page.css") + "\n" + styles.sheet(mark) + "\n"
    script = _text("page.js")
    numbered = {name: number for number, name in enumerate(models)}
    return (
        _environment()
        .get_template(template)
        .render(
            title=_title(document),
            mark=mark,
            models=models,
            verdict=spell(document.verdict, flags=flags),
            chapters=found,
            drawn=drawn,
            rows=lambda table: _rows(table, numbered),
            is_table=lambda block: isinstance(block, Table),
            is_line=lambda block: isinstance(block, Line),
            identity=id,
            text_of=text_of,
            classes=_classes,
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
        )
    )


def _plain(chapter: Chapter, *, flags: bool) -> Chapter:
    """A chapter in the words of a door, whose tables have none of the pictures made for terminals."""
    blocks: list[Block] = []
    for block in chapter.blocks:
        if isinstance(block, Figure):
            blocks.append(block)
            continue
        plain = block.plain if isinstance(block, Table) else block
        blocks += spelled([plain], flags=flags)
    return replace(chapter, blocks=tuple(blocks))


def _drawing(figure: Figure, styles: Styles, identity: str) -> Drawing:
    from markupsafe import Markup

    from riskrank.shown.figures.fonts import browser_fonts
    from riskrank.shown.page.svg import to_inline

    caption = visible(figure.picture.caption)
    with browser_fonts():
        plot = figure.picture.draw()
        svg = to_inline(plot, styles, identity=identity, alternative=caption)
    return Drawing(Markup(svg), plot.title, plot.reading, caption)


def _rows(table: Table, models: Mapping[str, int]) -> list[Row]:
    """Rows of a table; a row is about the models its leading columns name."""
    found = []
    for row in table.rows:
        about = [models[text] for text in map(text_of, row[: table.stub]) if text in models]
        found.append(Row(row, " ".join(map(str, about))))
    return found


def _classes(cell: Cell | str) -> str:
    """Classes of a cell by its style on a terminal."""
    return "" if isinstance(cell, str) else cell.style


def _policy(style: str, script: str) -> str:
    """What a browser may do with the page: show it, and run its own script."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _text(name: str) -> str:
    return (files("riskrank.shown.page") / _FOLDER / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("riskrank.shown.page", _FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Control characters in names are written as escapes, as on a terminal."""
    return visible(value) if type(value) is str else value
