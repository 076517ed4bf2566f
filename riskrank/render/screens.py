"""Parts of first screens that all commands share: limits on rows, and hints to details."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from riskrank.errors import by_door, option
from riskrank.render.view import Line, Section
from riskrank.studies.document import Document, Provenance
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.wording import counted

# Models that fit on a screen, next to text.
MOST_ROWS = 10
# Metrics that fit next to each other.
MOST_METRICS = 6
# Models with the most missing scores that fit on a line.
_MOST_MODELS = 3
# Treatment of missing scores, by rule.
_RULES = {
    "drop": "their samples are left out",
    "worst": "what is missing counts as the worst there can be",
    "bounds": "answers hold whatever is missing",
    "auto": "answers hold whatever is missing",
}
# The same for averages of models, for which a model without any score of a metric is dropped.
_OF_MODELS = {"drop": "models that lack scores are left out", "worst": "models without any are last there"}


def first_screen(sections: Iterable[Section]) -> list[Section]:
    """Return the sections that answer the question, without details."""
    return [section for section in sections if not section.details]


def as_details(sections: Iterable[Section]) -> list[Section]:
    """Mark sections as details, which only the explained output shows."""
    return [replace(section, details=True) for section in sections]


def follow_up_sections(sections: Iterable[Section], *suggestions: str) -> list[Section]:
    """Return a line with suggested options, the explained output last, and the sections as details.

    Parameters
    ----------
    sections : iterable of Section
    *suggestions : str
        Options to try next.
    """
    return [Line(", ".join((*suggestions, option("explain", True))), "Also:"), *as_details(sections)]


def also_lines(sentences: Sequence[str]) -> list[Line]:
    """Return a line of sentences that did not fit into the verdict; empty if there are none."""
    return [Line(" ".join(sentences), "Also:")] if sentences else []


def hidden_count_lines(count: int, noun: str, remedy: str | None = None) -> list[Line]:
    """Return a line with the number of omitted items and the option that shows them; empty if there are none.

    Parameters
    ----------
    count : int
        Number of omitted items.
    noun : str
    remedy : str, optional
        Option that shows them; the explained output by default.
    """
    remedy = option("explain", True) if remedy is None else remedy
    return [Line(f"… {counted(count, noun)} more: {remedy}")] if count > 0 else []


def more_metrics_lines(means: Sequence[MetricMeans]) -> list[Line]:
    """Return a line on the metrics that do not fit on the first screen; empty if all fit."""
    return hidden_count_lines(len(means) - MOST_METRICS, "metric", option("metric", means[-1].name))


def detection_limit_lines(document: Document[Any]) -> list[Line]:
    """Return the finding on events that are too rare for the sample size, as lines."""
    return [Line(finding.sentence) for finding in document.findings if finding.kind == "blind-to"]


def rows_hint(phrase: str) -> str:
    """Return a hint on how to get all rows: as files on the command line, as attributes in Python.

    Parameters
    ----------
    phrase : str
        Noun phrase for the rows, such as ``all 1,000 scores``.
    """
    csv = option("format", "csv")
    return by_door(
        f"{option('output', 'FILE.csv')} or FILE.parquet writes {phrase}, {csv} prints them",
        f"rows and frame hold {phrase}, to_csv() writes them",
    )


def missing_score_lines(origin: Provenance, *, of_models: bool = False) -> list[Line]:
    """Return a line on models with missing scores and the rule for them; empty if no score is missing.

    Parameters
    ----------
    origin : Provenance
    of_models : bool
        True if the command compares averages of models, so that a model with no score is dropped as a whole.
    """
    rules = _RULES | (_OF_MODELS if of_models and not all(entry.scored for entry in origin.scored) else {})
    incomplete: list[tuple[int, str]] = []
    for model, group in groupby(origin.scored, key=lambda entry: entry.model):
        entries = [*group]
        uniform = len({entry.said for entry in entries}) == 1 and len(entries) == len(origin.metrics)
        for entry in entries[:1] if uniform else entries:
            on = "" if uniform else f" on {entry.metric}"
            # A value per model, such as a price, is absent as a whole.
            amount = "none" if of_models and entry.absent else entry.said
            incomplete.append((entry.scored - entry.total, f"{model} {amount}{on}"))
    if not incomplete:
        return []
    incomplete.sort(key=lambda entry: entry[0])
    texts = [text for _, text in incomplete[:_MOST_MODELS]]
    if more := sum(lack < 0 for lack, _ in incomplete[_MOST_MODELS:]):
        texts.append(f"{more} more {'lacks' if more == 1 else 'lack'} some")
    missing = origin.method.get("missing")
    rule = ""
    if missing in rules and incomplete[0][0] < 0:
        rule = f"; {rules[missing]}" + (f" ({option('missing', missing)})" if missing != "auto" else "")
    return [Line(f"{'; '.join(texts)}{rule}.", "Scored:")]
