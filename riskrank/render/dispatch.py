"""Dispatch of documents to the renderers of the output formats."""

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from riskrank.render.escapes import escape_for_html
from riskrank.render.figures.catalogue import can_make_pages
from riskrank.render.formats.data import to_csv, to_json, to_jsonl, to_parquet
from riskrank.render.formats.latex import to_latex
from riskrank.render.formats.markdown import to_comment, to_markdown
from riskrank.render.formats.terminal import to_terminal
from riskrank.render.screens import GLOSSARY_HINT, first_screen
from riskrank.render.sections import sections_with_parameters
from riskrank.render.view import spell_sections
from riskrank.studies.document import Document

if TYPE_CHECKING:
    from riskrank.render.junit import Suite


def render(
    document: Document,
    output_format: str,
    *,
    encoding: str,
    width: int | None,
    color: bool,
    flags: bool = True,
    explain: bool = True,
) -> bytes:
    """Render a document in an output format, and return the bytes to write.

    Parameters
    ----------
    document : Document
        Result to render.
    output_format : str
        ``table``, ``json``, ``jsonl``, ``csv``, ``markdown``, ``latex``, ``html``, ``methods``, ``parquet``
        or, for gates, ``junit``.
    encoding : str
        Encoding of the terminal, for tables.
    width, color
        As in :func:`riskrank.render.formats.terminal.to_terminal`.
    flags : bool
        Whether to name parameters as command-line flags instead of Python keywords. Only human-readable
        formats name parameters.
    explain : bool
        Whether to append the details to the first screen of a table; other formats always contain them.
    """
    if output_format == "parquet":
        return to_parquet(document)
    if output_format == "table":
        view = sections_with_parameters(document, flags=flags)
        view = [*view, *spell_sections([GLOSSARY_HINT], flags=flags)] if explain else first_screen(view)
        screen = to_terminal(view, encoding=encoding, width=width, color=color)
        return "".join(f"{line.rstrip()}\n" for line in screen.splitlines()).encode(encoding)
    if output_format == "markdown":
        return render_markdown(document, flags=flags).encode("utf-8")
    if output_format == "latex":
        return to_latex(sections_with_parameters(document, flags=flags)).encode("utf-8")
    if output_format == "html":
        page = import_module("riskrank.render.page.page")
        return str(page.to_page(document, flags=flags)).encode("utf-8")
    if output_format == "junit":
        return bytes(import_module("riskrank.render.junit").write_junit(build_suite(document)))
    if output_format == "methods":
        text: str = import_module("riskrank.render.formats.methods").to_methods(document)
        return text.encode("utf-8")
    writers = {"csv": to_csv, "json": to_json, "jsonl": to_jsonl}
    return writers[output_format](document).encode("utf-8")


def build_suite(document: Document) -> "Suite":
    """Return the JUnit test suite of a document, with findings about small samples as properties."""
    suite: Suite = import_module(f"riskrank.studies.{document.schema}.screen").suite(document)
    limits = [finding for finding in document.findings if finding.kind in ("few", "unequal-clusters")]
    weak = {" ".join(filter(None, (finding.kind, finding.on))): finding.sentence for finding in limits}
    return replace(suite, properties={**suite.properties, **weak})


def render_markdown(document: Document, *, flags: bool = True) -> str:
    """Render a document as Markdown; a pull-request comment is cut to its maximum length."""
    view = sections_with_parameters(document, flags=flags)
    return to_comment(view, document.marker) if document.marker else to_markdown(view)


def render_notebook(document: Document) -> str:
    """Render a document as HTML for a notebook.

    Without Jinja2 or Matplotlib, the HTML contains the terminal output.
    """
    if not can_make_pages():
        options: dict[str, Any] = {"encoding": "utf-8", "width": None, "color": False, "flags": False}
        return f"<pre>{escape_for_html(render(document, 'table', **options, explain=False).decode())}</pre>"
    page = import_module("riskrank.render.page.page")
    return str(page.to_page(document, flags=False, template="fragment.html"))
