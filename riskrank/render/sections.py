"""Tables and lines of a document, built by its command's view function."""

from collections.abc import Sequence
from importlib import import_module

from riskrank.options.commands import DOC_TYPES
from riskrank.render.screens import missing_score_lines
from riskrank.render.view import Line, Section, spell_sections
from riskrank.studies.document import Document
from riskrank.studies.groups.screen import group_screen


def sections(document: Document) -> Sequence[Section]:
    """Return the tables and lines of a document, with parameters marked by :func:`riskrank.errors.option`.

    The result is cached, because a page uses it several times.
    """
    cache = vars(document)
    if "_sections" in cache:
        return cache["_sections"]
    module, _, function = DOC_TYPES[document.schema].view.partition(":")
    body = getattr(import_module(f".{module}", "riskrank.studies"), function or "build_sections")(document)
    suite = getattr(document, "suite", None)
    heading = [] if suite is None else [Line(f"{suite.summary}.", "Suite:")]
    # Names may contain line breaks, but a verdict is one paragraph.
    text = document.verdict.replace("\n", " ")
    verdict = [Line(text, "Verdict:")] if text else []
    verdict += missing_score_lines(document.provenance, of_models=document.schema.startswith("copa"))
    groups = getattr(document, "groups", None)
    if groups is not None:
        body = group_screen(body, groups)
    cache["_sections"] = (*heading, *verdict, *body)
    return cache["_sections"]


def sections_with_parameters(document: Document, *, flags: bool) -> list[Section]:
    """Return the tables and lines of a document, with parameters as command-line flags or Python keywords."""
    return spell_sections(sections(document), flags=flags)
