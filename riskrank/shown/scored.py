"""Scored of all, a model: what every answer stands on, where some of it is missing."""

from itertools import groupby

from riskrank.errors import option
from riskrank.shown.view import Line
from riskrank.studies.document import Provenance

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
