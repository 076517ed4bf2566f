"""A document in any format: the one place that knows which renderer belongs to it."""

import io
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from riskrank.render.escapes import for_html
from riskrank.render.formats.data import to_csv, to_json, to_jsonl, to_parquet
from riskrank.render.formats.latex import to_latex
from riskrank.render.formats.markdown import to_markdown
from riskrank.render.formats.terminal import to_terminal
from riskrank.render.glossary import WHERE
from riskrank.render.page import can_make_pages
from riskrank.render.screens import first_screen
from riskrank.render.sections import spelled_sections
from riskrank.render.view import spelled
from riskrank.studies.document import Document

if TYPE_CHECKING:
    from riskrank.render.junit import Suite

# What makes tests of a CI server of a document.
_SUITES = {
    "diff": "riskrank.studies.diff.screen.cases:suite",
    "gate": "riskrank.studies.gate.screen.junit:suite",
    "trend": "riskrank.studies.trend.screen.junit:suite",
}


def render(
    document: Document,
    kind: str,
    *,
    encoding: str,
    width: int | None,
    color: bool,
    flags: bool = True,
    explain: bool = True,
) -> bytes:
    """Render a document in one of the formats as the bytes to write.

    Parameters
    ----------
    document : Document
    kind : str
        ``table``, ``json``, ``jsonl``, ``csv``, ``markdown``, ``latex``, ``html``, ``parquet`` or, of gates,
        ``junit``.
    encoding : str
        Of a table, for who shows it.
    width, color
        As in :func:`riskrank.render.formats.terminal.to_terminal`.
    flags : bool
        Whether a person's formats name parameters as flags of the command line or as Python keywords.
    explain : bool
        Whether a table goes on after its first screen; other formats hold everything.
    """
    if kind == "parquet":
        return to_parquet(document)
    if kind == "table":
        return _terminal_page(document, encoding, width, color, flags, explain)
    if kind == "markdown":
        return markdown_page(document, flags=flags).encode("utf-8")
    if kind == "latex":
        return to_latex(spelled_sections(document, flags=flags)).encode("utf-8")
    if kind == "html":
        page = import_module("riskrank.render.page.page")
        return str(page.to_page(document, flags=flags)).encode("utf-8")
    if kind == "junit":
        return bytes(import_module("riskrank.render.junit").junit(suite_of(document)))
    if kind == "csv":
        return to_csv(document).encode("utf-8")
    writers = {"json": to_json, "jsonl": to_jsonl}
    return writers[kind](document).encode("utf-8")


def suite_of(document: Document) -> "Suite":
    """The tests that a CI server shows of a document."""
    module, _, maker = _SUITES[document.schema].partition(":")
    suite: Suite = getattr(import_module(module), maker)(document)
    limits = [one for one in document.findings if one.kind in ("few", "worth")]
    weak = {" ".join(filter(None, (one.kind, one.on))): one.sentence for one in limits}
    return replace(suite, properties={**suite.properties, **weak})


def markdown_page(document: Document, *, flags: bool = True) -> str:
    """Render a document as Markdown, with its marker where it has one."""
    marker = document.marker
    return (f"{marker}\n\n" if marker else "") + to_markdown(spelled_sections(document, flags=flags))


def notebook_page(document: Document) -> str:
    """Render a document for a notebook: its page where one can be made, what a terminal shows elsewhere."""
    if not can_make_pages():
        how: dict[str, Any] = {"encoding": "utf-8", "width": None, "color": False, "flags": False}
        return f"<pre>{for_html(render(document, 'table', **how, explain=False).decode())}</pre>"
    page = import_module("riskrank.render.page.page")
    return str(page.to_page(document, flags=False, template="fragment.html"))


def _terminal_page(
    document: Document, encoding: str, width: int | None, color: bool, flags: bool, explain: bool
) -> bytes:
    # In memory, and of an encoding, from which Rich tells which characters its reader can show.
    page = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    sections = spelled_sections(document, flags=flags)
    whole = [*sections, *spelled([WHERE], flags=flags)]
    to_terminal(whole if explain else first_screen(sections), page, width=width, color=color)
    page.seek(0)
    lines = [line.rstrip() for line in page.read().splitlines()]
    return ("\n".join(lines) + "\n").encode(encoding)
