"""Elements of first screens common to all commands: row limits, and hints at details."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from riskrank.errors import interface_text, option
from riskrank.render.view import Line, Section
from riskrank.studies.document import Document, Provenance
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.wording import counted

# Maximum number of models on a screen that also contains text.
MOST_ROWS = 10
# Maximum number of metrics side by side.
MOST_METRICS = 6
# Maximum number of models named on a line about missing scores.
_MOST_MODELS = 3
# Treatment of missing scores, by rule.
_RULES = {
    "drop": "their samples are excluded",
    "worst": "missing scores count as the worst possible score",
    "bounds": "the answers hold for all possible missing scores",
    "auto": "the answers hold for all possible missing scores",
}
# The same for averages of models, for which a model without any score of a metric is dropped.
_OF_MODELS = {
    "drop": "models with missing scores are excluded",
    "worst": "models without scores rank last on that objective",
}


def first_screen(sections: Iterable[Section]) -> list[Section]:
    """Return the sections of the first screen, without details."""
    return [section for section in sections if not section.details]


def as_details(sections: Iterable[Section]) -> list[Section]:
    """Mark sections as details, shown only in explained output."""
    return [replace(section, details=True) for section in sections]


def follow_up_sections(sections: Iterable[Section], *suggestions: str) -> list[Section]:
    """Return the sections as details, preceded by a line of suggested options.

    Parameters
    ----------
    sections : iterable of Section
    *suggestions : str
        Options to try next; explained output is added at the end.
    """
    return [Line(", ".join((*suggestions, option("explain", True))), "Also:"), *as_details(sections)]


def also_lines(sentences: Sequence[str]) -> list[Line]:
    """Return a line with the sentences that did not fit into the verdict.

    The result is empty if there are no such sentences.
    """
    return [Line(" ".join(sentences), "Also:")] if sentences else []


def hidden_count_lines(count: int, noun: str, remedy: str | None = None) -> list[Line]:
    """Return a line with the number of omitted items and the option that shows them.

    The result is empty if no item is omitted.

    Parameters
    ----------
    count : int
        Number of omitted items.
    noun : str
    remedy : str, optional
        Option to show them; by default, that for explained output.
    """
    remedy = option("explain", True) if remedy is None else remedy
    return [Line(f"… {counted(count, noun)} more: {remedy}")] if count > 0 else []


def more_metrics_lines(means: Sequence[MetricMeans]) -> list[Line]:
    """Return a line on the metrics that do not fit on the first screen, or an empty list if all fit."""
    return hidden_count_lines(len(means) - MOST_METRICS, "metric", option("metric", means[-1].name))


def detection_limit_lines(document: Document[Any]) -> list[Line]:
    """Return lines on events that are too rare to detect with this sample size."""
    return [Line(finding.sentence) for finding in document.findings if finding.kind == "detection-limit"]


def rows_hint(phrase: str) -> str:
    """Return a hint on how to get all rows: by output files or, in Python, by attributes.

    Parameters
    ----------
    phrase : str
        Noun phrase for the rows, such as ``all 1,000 scores``.
    """
    csv = option("format", "csv")
    return interface_text(
        f"{option('output', 'FILE.csv')} or FILE.parquet writes {phrase}, {csv} prints them",
        f"rows and frame contain {phrase}, to_csv() writes them",
    )


def missing_score_lines(origin: Provenance, *, of_models: bool = False) -> list[Line]:
    """Return a line on models with missing scores and their treatment, or an empty list if none are missing.

    Parameters
    ----------
    origin : Provenance
    of_models : bool
        Whether the command compares model averages, so that a model without scores is excluded.
    """
    rules = _RULES | (_OF_MODELS if of_models and not all(entry.scored for entry in origin.scored) else {})
    incomplete: list[tuple[int, str]] = []
    for model, group in groupby(origin.scored, key=lambda entry: entry.model):
        entries = [*group]
        uniform = len({entry.summary for entry in entries}) == 1 and len(entries) == len(origin.metrics)
        for entry in entries[:1] if uniform else entries:
            on = "" if uniform else f" on {entry.metric}"
            # A value per model, such as a price, is absent as a whole.
            amount = "none" if of_models and entry.is_absent else entry.summary
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
        bounded = missing == "auto" and any("has no bounds" in text for text in origin.warnings)
        rule = f"; {rules[missing]}{' of metrics with bounds' * bounded}" + (
            f" ({option('missing', missing)})" if missing != "auto" else ""
        )
    return [Line(f"{'; '.join(texts)}{rule}.", "Scored:")]
