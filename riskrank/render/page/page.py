"""The page itself: an answer and chapters through templates into one file, or a fragment for a notebook."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from riskrank.errors import spell
from riskrank.render.escapes import apart, for_page, together
from riskrank.render.figures.catalogue import colors, pictures
from riskrank.render.formats.data import to_json
from riskrank.render.page import require_pages
from riskrank.render.page.sections import Block, answer, chapters, one_of_each
from riskrank.studies.document import Document
from riskrank.studies.rank.document import MEANING

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_FOLDER = "templates"
# Characters up to which a name stays on one line.
_LINE = 28
# After these a browser goes on in the next line.
_BROKEN = re.compile(r"[-–/](?=\w)")
# What to do, at the beginning of a sentence and short: its reasons follow.
_LEAD = re.compile(r"(?:^|(?<=\. ))([A-Z][^:;]{2,50})(?=: )")
_BLANKS = re.compile(r"([ \n]+)")
_JOINTS = re.compile(r"(?<=\w[-_./:@])(?=\w)")


def to_page(document: Document, *, flags: bool, template: str = "page.html") -> str:
    """Write a document as one HTML file that needs no other, or what the template of another page has.

    That of a notebook, ``fragment.html``, is an element: the answer and its main picture.

    Raises
    ------
    UsageError
        If Jinja2 or Matplotlib is not installed.
    """
    require_pages()
    from markupsafe import Markup

    from riskrank.render.page.exhibits import Exhibitor
    from riskrank.render.page.svg import COLORS

    # What names begin with: two results in one notebook must not share any.
    mark = "rr" + hashlib.sha256(to_json(document).encode("utf-8")).hexdigest()[:6]
    models = list(document.provenance.models)
    looks = {name: COLORS[color.lower()] for name, color in colors(document).items()}
    make = Exhibitor(mark, models, looks, flags=flags)
    whole = template == "page.html"
    beside: Sequence[Block] = () if whole else one_of_each(pictures(document)[:1])
    shown = [*make.exhibits([*answer(document), *beside], wide=True)]
    found = []
    for chapter in chapters(document) if whole else ():
        made = [[*make.exhibits(part.blocks, finding=part.finding)] for part in chapter.parts]
        findings = [spell(part.finding, flags=flags) for part in chapter.parts]
        found.append((chapter, [*zip(chapter.parts, findings, made, strict=True)]))
    style = _text("page.css") + "\n" + make.styles.sheet(mark) + "\n"
    script = _text("page.js")
    page = _environment().get_template(template)
    return page.render(
        title=document.question,
        mark=mark,
        models=[
            (number, name, looks.get(name, "others" if looks else ""))
            for number, name in enumerate(models)
            if name in document.about
        ],
        verdict=spell(document.verdict, flags=flags),
        certainty=document.certainty,
        meaning=MEANING.get(document.certainty, ""),
        quotes=document.quotes,
        answer=shown,
        chapters=found,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
    )


def _policy(style: str, script: str) -> str:
    """What a browser may do with the page: show it, and run its own script."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _text(name: str) -> str:
    return (files("riskrank.render.page") / _FOLDER / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("riskrank.render.page", _FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )
    made.filters |= {"prose": _prose, "leading": _leading}
    return made


def _leading(verdict: str) -> Markup:
    """A verdict in which what to do, before its reasons, is seen at a glance."""
    from markupsafe import Markup

    parts = _LEAD.split(verdict)
    marked = ["<strong>{}</strong>" if at % 2 else "{}" for at in range(len(parts))]
    return Markup("".join(marked)).format(*map(_prose, parts))


def _prose(text: str) -> Markup:
    """Words that stay whole: a browser would break after a hyphen, and between a number and its unit.

    A long one may go on in the next line after what joins its parts.
    """
    from markupsafe import Markup

    words = _BLANKS.split(together(for_page(text)))
    return Markup("").join(map(_word, words))


def _word(joined: str) -> Markup:
    from markupsafe import Markup, escape

    word = apart(joined)
    if len(word) > _LINE:
        return Markup("<wbr>").join(map(escape, _JOINTS.split(word)))
    whole = _BROKEN.search(word) or word != joined
    return Markup('<span class="whole">{}</span>').format(word) if whole else escape(word)


def _shown(value: Any) -> Any:
    """Control characters in names as escapes, as on a terminal; endless names are cut."""
    return for_page(value) if type(value) is str else value
