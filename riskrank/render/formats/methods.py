"""Paragraphs for the methods section of a paper, written from the provenance of a document."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from riskrank.errors import listing
from riskrank.studies.document import Document, Provenance
from riskrank.version import __version__

_WIDTH = 100

_TEXTS = tomllib.loads(Path(__file__).with_name("methods.toml").read_text(encoding="utf-8"))


def to_methods(document: Document) -> str:
    """Render the methods section of a paper as plain text: data and tests, limitations, references."""
    text = [*_data_sentences(document), *_test_sentences(document)]
    cited = [f"{mark} {source}" for mark, source in _TEXTS["sources"].items() if mark in " ".join(text)]
    limits = ["Limitations.", *_limit_sentences(document)]
    paragraphs = [" ".join(text), " ".join(limits), *cited]
    return "\n\n".join(fill(paragraph, _WIDTH, break_on_hyphens=False) for paragraph in paragraphs) + "\n"


def _data_sentences(document: Document) -> Iterator[str]:
    """Yield sentences about models, samples and metrics."""
    facts = document.provenance
    metrics = [metric for metric in facts.metrics if isinstance(metric, Mapping)]
    names = listing((f"{metric['name']} ({metric['direction']} is better)" for metric in metrics), 8)
    size, k = f" on {facts.samples:,} samples" if facts.samples > 1 else "", len(document.model_names)
    labels = listing(document.model_names, 8)
    models = f"{k} models ({labels})" if k > 1 else f"the model {labels}"
    verb, by = "compared" if k > 1 else "evaluated", names or listing(facts.metric_names, 8)
    yield f"We {verb} {models}{size} by {by}."
    unpaired = facts.method.get("unpaired") or facts.settings.get("unpaired")
    design = "different samples, which were treated as independent" if unpaired else "the same samples"
    if k > 1:
        yield f"The models were scored on {design}."
    for role, column in _unit_columns(facts).items():
        yield f"The column {column} contains the {role} of each sample."
    yield from (
        _TEXTS[name][word]
        for name in ("missing", "repeats")
        if (word := facts.method.get(name)) in _TEXTS[name]
    )


def _unit_columns(facts: Provenance) -> dict[str, str]:
    """Return the cluster and task columns that the user named, keyed by role."""
    pairs = (part.partition("=") for part in str(facts.settings.get("columns", "")).split(","))
    columns = {role: column for role, _, column in pairs} | dict(facts.settings)
    return {role: str(columns[role]) for role in ("cluster", "task") if columns.get(role)}


def _test_sentences(document: Document) -> Iterator[str]:
    """Yield sentences about the tests, their level and the software."""
    facts = document.provenance
    method: Mapping[str, Any] = facts.method
    yield from dict.fromkeys(_method_sentences(document))
    weights = method.get("weights")
    if isinstance(weights, Mapping) and len(weights) > 1:
        shares = listing((f"{name} {weight:.3g}" for name, weight in weights.items()), 8)
        equal = len(set(weights.values())) == 1
        yield "The metrics had equal weights." if equal else f"The metrics had the weights {shares}."
    if "alpha" in method and not method.get("no_test"):
        correction = method.get("correction", "none")
        rule = _TEXTS["corrections"].get(correction, f"corrected by {str(correction).capitalize()}'s method")
        named = isinstance(method.get("family"), str) and method["family"] != "1 claim"
        family = f" over {method['family']}" if named and correction != "none" else ""
        yield f"The significance level was {method['alpha']:g}, {rule}{family}."
    resamples = f" with {facts.resamples:,} resamples and seed {facts.seed}" if facts.resamples else ""
    yield f"Computations used riskrank {__version__} (riskrank {facts.command}{resamples})."


def _method_sentences(document: Any) -> Iterator[str]:
    """Yield sentences about the tests of a document's command."""
    command, note = document.provenance.command, getattr(document, "counted_as", None)
    if document.schema == "rank-means":
        first = document.rankings[0]
        labels = listing((result.label for result in document.rankings), 4)
        test = first.column.differences.test
        if not document.model_names[1:]:
            yield f"We estimated the {labels} with an interval ({test})."
            return
        yield f"Models were ranked by {labels}, and all pairs were tested ({test})."
        yield document.reason
        return
    if command in _TEXTS["tests"]:
        yield _TEXTS["tests"][command]
    if command != "gate":
        return
    yield f"Claims: {listing((row.name for row in document.claims), 6)}."
    if note is not None:
        yield note.sentence
        return
    for statistic in dict.fromkeys(row.statistic for row in document.claims):
        yield next(text for names, text in _TEXTS["statistics"].items() if re.fullmatch(names, statistic))


def _limit_sentences(document: Any) -> Iterator[str]:
    """Yield one sentence for each assumption on which the result rests."""
    facts = document.provenance
    # Folds, or several sources of noise, are modelled as dependent.
    dependent = getattr(document, "counted_as", None) is not None
    if document.schema == "rank-means":
        dependent = not document.rankings[0].column.named
    yield "Results may differ for cases that are unlike these samples."
    if facts.command in _TEXTS["tests"] and not (dependent or "cluster" in _unit_columns(facts)):
        yield "Samples count as independent: if some are related, the intervals are too short."
    if len(facts.metrics) > 1 and facts.method.get("weights"):
        yield "Other weights of the metrics may lead to another order."
    if facts.method.get("missing") == "drop":
        yield "The excluded samples may differ from the others."
    yield from (finding.sentence for finding in document.findings if finding.kind == "detection-limit")
