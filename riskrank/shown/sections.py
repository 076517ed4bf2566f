"""A document as what a person reads: its row in the table of commands says who puts it into words."""

from collections.abc import Sequence
from importlib import import_module
from itertools import groupby

from riskrank.asked.commands import PAPERS
from riskrank.errors import option
from riskrank.shown.view import Line, Section, spelled
from riskrank.studies.document import Document, Provenance
from riskrank.studies.groups.screen import group_screen

# Models that lack most, which a line has room for.
_MOST = 3
# What became of what is missing.
_RULES = {
    "drop": "their samples are left out",
    "worst": "what is missing counts as the worst there can be",
    "bounds": "answers hold whatever is missing",
    "auto": "answers hold whatever is missing",
}
# Where models are averaged, and one that lacks scores is dropped as a whole.
_OF_MODELS = {"drop": "models that lack scores are left out"}


def scored_line(origin: Provenance, *, of_models: bool = False) -> list[Line]:
    """A line on the models that lack scores; none where all are there."""
    rules = _RULES | (_OF_MODELS if of_models else {})
    told: list[tuple[int, str]] = []
    for model, of_model in groupby(origin.scored, key=lambda one: one.model):
        entries = [*of_model]
        alike = len({one.said for one in entries}) == 1 and len(entries) == len(origin.metrics)
        for one in entries[:1] if alike else entries:
            on = "" if alike else f" on {one.metric}"
            # What a model has once, as a price, is absent once.
            said = "none" if of_models and one.absent else one.said
            told.append((one.scored - one.total, f"{model} {said}{on}"))
    if not told:
        return []
    told.sort(key=lambda one: one[0])
    texts = [text for _, text in told[:_MOST]]
    if more := sum(lacking < 0 for lacking, _ in told[_MOST:]):
        texts.append(f"{more} more {'lacks' if more == 1 else 'lack'} some")
    missing = origin.method.get("missing")
    rule = ""
    if missing in rules and told[0][0] < 0:
        rule = f"; {rules[missing]}" + (f" ({option('missing', missing)})" if missing != "auto" else "")
    return [Line(f"{'; '.join(texts)}{rule}.", "Scored:")]


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
