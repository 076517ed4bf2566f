"""A document as what a person reads: the one table from schemas to the modules that put it into words."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from riskrank.shown.groups import group_sections
from riskrank.shown.view import Line, Section, spelled
from riskrank.studies.document import Document

# By the schema of the document: the module whose ``view`` puts it into tables and words.
VIEWS = {
    "check": "riskrank.shown.check",
    "convert": "riskrank.shown.convert",
    "convert-verdicts": "riskrank.shown.votes",
    "copa": "riskrank.shown.copa.ranking",
    "copa-comparison": "riskrank.shown.copa.comparison",
    "copa-explain": "riskrank.shown.copa.explanation",
    "copa-sweep": "riskrank.shown.copa.sweep",
    "dominance": "riskrank.shown.dominance",
    "gate": "riskrank.shown.gate.table",
    "gsd": "riskrank.shown.gsd.relation",
    "mrm": "riskrank.shown.mean_risk",
    "portfolio": "riskrank.shown.portfolio",
    "power": "riskrank.shown.power",
    "rank": "riskrank.shown.rank",
    "report": "riskrank.shown.report",
}


def sections(document: Document) -> Sequence[Section]:
    """Tables and lines a person reads, with parameters as :func:`riskrank.errors.option` marks them."""
    body = import_module(VIEWS[document.schema]).view(document)
    verdict = [Line(document.verdict, "Verdict:")] if document.verdict else []
    groups = getattr(document, "groups", None)
    if groups is not None:  # behind the study of all samples
        body = [*body, *group_sections(groups)]
    return [*verdict, *body]


def spelled_sections(document: Document, *, flags: bool) -> list[Section]:
    """Tables and lines with parameters as flags of the command line or as Python keywords."""
    return spelled(sections(document), flags=flags)
