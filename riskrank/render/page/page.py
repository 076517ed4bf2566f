"""HTML pages rendered from templates, as whole pages or as fragments for notebooks."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from riskrank.errors import spell
from riskrank.render.escapes import escape_for_page, protect_spaces, restore_spaces
from riskrank.render.figures.catalogue import model_colors, pictures
from riskrank.render.formats.data import to_json
from riskrank.render.page import require_pages
from riskrank.render.page.sections import Block, answer_sections, chapters, first_of_every_kind
from riskrank.studies.document import Document

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_FOLDER = "templates"
# Longest name, in characters, that stays on one line.
_LINE = 28
# Characters after which a browser may break a line.
_BROKEN = re.compile(r"[-–/](?=\w)")
# Short advice at the start of a sentence, followed by its reasons.
_LEAD = re.compile(r"(?:^|(?<=\. ))([A-Z][^:;]{2,50})(?=: )")
_BLANKS = re.compile(r"([ \n]+)")
_JOINTS = re.compile(r"(?<=\w[-_./:@])(?=\w)")


def to_page(document: Document, *, flags: bool, template: str = "page.html") -> str:
    """Render a document as a self-contained HTML page.

    Parameters
    ----------
    document : Document
    flags : bool
        Whether to name parameters as command-line flags instead of Python keywords.
    template : str
        ``page.html``, or ``fragment.html`` for an element with the answer and its main picture (notebooks).

    Raises
    ------
    UsageError
        If Jinja2 or Matplotlib is not installed.
    """
    require_pages()
    from markupsafe import Markup

    from riskrank.render.page.exhibits import Exhibitor
    from riskrank.render.page.svg import COLORS

    # Prefix of element names: two results in one notebook must not share any.
    mark = "rr" + hashlib.sha256(to_json(document).encode("utf-8")).hexdigest()[:6]
    models = list(document.provenance.models)
    css_classes = {name: COLORS[color.lower()] for name, color in model_colors(document).items()}
    exhibitor = Exhibitor(mark, models, css_classes, flags=flags)
    full_page = template == "page.html"
    main_picture: Sequence[Block] = () if full_page else first_of_every_kind(pictures(document)[:1])
    answer = [*exhibitor.exhibits([*answer_sections(document), *main_picture], wide=True)]
    rendered = []
    for chapter in chapters(document) if full_page else ():
        exhibits = [[*exhibitor.exhibits(part.blocks, finding=part.finding)] for part in chapter.parts]
        findings = [spell(part.finding, flags=flags) for part in chapter.parts]
        rendered.append((chapter, [*zip(chapter.parts, findings, exhibits, strict=True)]))
    style = _read_template("page.css") + "\n" + exhibitor.styles.css(mark) + "\n"
    script = _read_template("page.js")
    page = _environment().get_template(template)
    return page.render(
        title=document.question,
        mark=mark,
        models=[
            (number, name, css_classes.get(name, "others" if css_classes else ""))
            for number, name in enumerate(models)
            if name in document.about
        ],
        verdict=spell(document.verdict, flags=flags),
        certainty=document.certainty,
        meaning=document.meaning,
        quotes=document.quotes,
        answer=answer,
        chapters=rendered,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
    )


def _policy(style: str, script: str) -> str:
    """Return the page's content-security policy, which allows only its own style sheet and script."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    """Return the SHA-256 hash of a text, as used in a content-security policy."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _read_template(name: str) -> str:
    """Return the text of a template file."""
    return (files("riskrank.render.page") / _FOLDER / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    """Return the Jinja2 environment of the page templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("riskrank.render.page", _FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_finalize,
    )
    environment.filters |= {"prose": _to_prose, "leading": _emphasize_advice}
    return environment


def _emphasize_advice(verdict: str) -> Markup:
    """Mark the advice at the start of each sentence of a verdict in bold."""
    from markupsafe import Markup

    parts = _LEAD.split(verdict)
    marked = ["<strong>{}</strong>" if at % 2 else "{}" for at in range(len(parts))]
    return Markup("".join(marked)).format(*map(_to_prose, parts))


def _to_prose(text: str) -> Markup:
    """Convert text to HTML without line breaks after hyphens or between a number and its unit.

    Long words may still break after their punctuation.
    """
    from markupsafe import Markup

    words = _BLANKS.split(protect_spaces(escape_for_page(text)))
    return Markup("").join(map(_to_word, words))


def _to_word(joined: str) -> Markup:
    """Convert a word to HTML, with break points if it is long."""
    from markupsafe import Markup, escape

    word = restore_spaces(joined)
    if len(word) > _LINE:
        return Markup("<wbr>").join(map(escape, _JOINTS.split(word)))
    unbroken = _BROKEN.search(word) or word != joined
    return Markup('<span class="whole">{}</span>').format(word) if unbroken else escape(word)


def _finalize(value: Any) -> Any:
    """Escape control characters and shorten very long words in text.

    Other values are unchanged.
    """
    return escape_for_page(value) if type(value) is str else value
