"""A document as what a person reads: its row in the table of commands says who puts it into words."""

from collections.abc import Sequence
from importlib import import_module

from riskrank.options.commands import PAPERS
from riskrank.render.screens import scored_line
from riskrank.render.view import Line, Section, spelled
from riskrank.studies.document import Document
from riskrank.studies.groups.screen import group_screen


def sections(document: Document) -> Sequence[Section]:
    """Tables and lines a person reads, with parameters as :func:`riskrank.errors.option` marks them.

    They are made once: a page asks for them in several places.
    """
    kept = vars(document)
    if "_sections" not in kept:
        kept["_sections"] = tuple(_made(document))
    return kept["_sections"]


def _made(document: Document) -> list[Section]:
    module, _, maker = PAPERS[document.schema].view.partition(":")
    body = getattr(import_module(f".{module}", "riskrank.studies"), maker or "view")(document)
    suite = getattr(document, "suite", None)
    what = [] if suite is None else [Line(f"{suite.words}.", "Suite:")]
    # A name may hold the end of a line, a verdict is one paragraph.
    said = document.verdict.replace("\n", " ")
    verdict = [Line(said, "Verdict:")] if said else []
    verdict += scored_line(document.provenance, of_models=document.schema.startswith("copa"))
    groups = getattr(document, "groups", None)
    if groups is not None:
        body = group_screen(body, groups)
    return [*what, *verdict, *body]


def spelled_sections(document: Document, *, flags: bool) -> list[Section]:
    """Tables and lines with parameters as flags of the command line or as Python keywords."""
    return spelled(sections(document), flags=flags)
