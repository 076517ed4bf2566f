"""What a first screen has room for, and where a reader finds the rest."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from riskrank.errors import by_door, option
from riskrank.render.view import Line, Section
from riskrank.studies.document import Document, Provenance
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.wording import counted

# Models a screen has room for beside words.
MOST_ROWS = 10
# Metrics beside each other; a table of more is read by nobody.
MOST_METRICS = 6
# Models that lack most, which a line has room for.
_MOST = 3
# What became of what is missing.
_RULES = {
    "drop": "their samples are left out",
    "worst": "what is missing counts as the worst there can be",
    "bounds": "answers hold whatever is missing",
    "auto": "answers hold whatever is missing",
}
# Where models are averaged, and one that lacks all scores of a metric is dropped as a whole.
_OF_MODELS = {"drop": "models that lack scores are left out", "worst": "models without any are last there"}


def first_screen(sections: Iterable[Section]) -> list[Section]:
    """What answers the question; the rest is asked for."""
    return [section for section in sections if not section.more]


def asked_for(sections: Iterable[Section]) -> list[Section]:
    """The sections as what only a reader who asks for it sees."""
    return [replace(section, more=True) for section in sections]


def offered(sections: Iterable[Section], *asked: str) -> list[Section]:
    """What to ask next, everything last, and the sections that only who asks for everything sees."""
    return [Line(", ".join((*asked, option("explain", True))), "Also:"), *asked_for(sections)]


def also(more: Sequence[str]) -> list[Line]:
    """Sentences a verdict had no room for."""
    return [Line(" ".join(more), "Also:")] if more else []


def unshown(count: int, noun: str, asked: str | None = None) -> list[Line]:
    """How many more there are than a screen shows, and what shows them; nothing where all are shown."""
    asked = option("explain", True) if asked is None else asked
    return [Line(f"… {counted(count, noun)} more: {asked}")] if count > 0 else []


def more_metrics(means: Sequence[MetricMeans]) -> list[Line]:
    """Metrics that a first screen has no room for."""
    return unshown(len(means) - MOST_METRICS, "metric", option("metric", means[-1].name))


def unseen(document: Document[Any]) -> list[Line]:
    """What the samples cannot see."""
    return [Line(one.sentence) for one in document.findings if one.kind == "blind-to"]


def all_rows(what: str) -> str:
    """Where the rows are: in files for the command line, in the result for Python.

    Parameters
    ----------
    what : str
        All of them, as in ``all 1,000 scores``.
    """
    csv = option("format", "csv")
    return by_door(
        f"{option('output', 'FILE.csv')} or FILE.parquet writes {what}, {csv} prints them",
        f"rows and frame hold {what}, to_csv() writes them",
    )


def scored_line(origin: Provenance, *, of_models: bool = False) -> list[Line]:
    """A line on the models that lack scores; none where all are there."""
    rules = _RULES | (_OF_MODELS if of_models and not all(one.scored for one in origin.scored) else {})
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
