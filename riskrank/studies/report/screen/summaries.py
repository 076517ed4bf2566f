"""What a reader of a folded part of a report learns from its summary line."""

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.studies.metric_means import bad_cases
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.marks import milder
from riskrank.studies.rank.screen.detail import leading_method
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names, percent


def leading(document: RankDocument) -> tuple[str, str]:
    """Column and method that the ranking is about."""
    metric, study = next(iter(document.study.studies.items()))
    return metric, leading_method(study.rankings)


def told_apart(ranking: RankDocument, _: ReportDocument) -> str:
    """Who is first, and how many pairs the tests tell apart."""
    metric, method = leading(ranking)
    study = ranking.study.studies[metric]
    first = ranking.provenance.models[int(study.rankings[method].order[0])]
    separation = study.separations.get(method)
    said = separation and f"{separation.separated} of {separation.pairs} pairs told apart"
    if not said or not ranking.inference.test:
        return f"{first} first"
    correction = ranking.inference.family.correction.capitalize()
    return f"{first} first; {said} by how they do against the field, corrected for all pairs ({correction})"


def hidden(ranking: RankDocument, _: ReportDocument) -> str:
    """How many models have a tail worse than their mean suggests."""
    metric, _method = leading(ranking)
    risks = ranking.study.studies[metric].hidden_risks
    if risks is None or not bad_cases(ranking.tails[metric].level):
        return "not looked for"
    models = ranking.provenance.models
    shown = [models[i] for i in np.flatnonzero(risks.status == RISK).tolist()]
    first = first_of_the_worst(ranking)
    said = names(shown) if shown else "none shown"
    return (
        said if first is None else f"{said}; {models[first]}, first in the ranking, has the worst bad cases"
    )


def first_of_the_worst(ranking: RankDocument) -> int | None:
    """The first of the ranking, where its mean of the worst samples is the worst of all."""
    metric, method = leading(ranking)
    first = int(ranking.study.studies[metric].rankings[method].order[0])
    tail = ranking.tails[metric]
    values = ranking.units[metric].sign * np.asarray(tail.values)
    return first if tail.says_something and (np.delete(values, first) > values[first]).all() else None


def tails_apart(ranking: RankDocument, _: ReportDocument) -> str:
    """Whose worst samples a test shows to be milder, of the two models of the verdict."""
    one, models = next(iter(ranking.leading.values())), ranking.provenance.models
    if not (one.others and one.tested and ranking.tails[one.column].says_something):
        return "scores from the worst to the best"
    pair = [one.first, next(model for model in one.pair if model != one.first)]
    side = milder(one, pair[1])
    first, other = (models[model] for model in pair[:: side or 1])
    worst = f"worst {percent(ranking.tails[one.column].level)}"
    if side == 0:
        return f"{worst} of {first} and of {other} not shown to differ"
    return f"{worst} of {first} shown to be milder than of {other}"


def firsts(others: RankDocument, document: ReportDocument) -> str:
    """In how many of the rankings the first of the report is first, after who is first most often."""
    metric, method = leading(document.ranking)
    first = int(document.ranking.study.studies[metric].rankings[method].order[0])
    models, found = document.provenance.models, others.study.rankings.values()
    counts = np.sum([one.rank == 1 for one in found], axis=0)
    most = first if counts[first] == counts.max() else int(np.argmax(counts))
    said = f"{models[most]} first in {counts[most]} of {len(found)}"
    return said if most == first else f"{said}, {models[first]} in {counts[first]}"
