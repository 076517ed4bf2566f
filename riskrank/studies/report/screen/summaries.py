"""What a reader of a folded part of a report learns from its summary line."""

from collections.abc import Mapping

import numpy as np

from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.screen.detail import leading_method
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.runs import split_of_runs
from riskrank.studies.suites import words
from riskrank.studies.wording import design, names, percent


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
    return f"{first} first; {said} by how they do against the field"


def by_task(ranking: RankDocument, _: ReportDocument) -> str:
    """What single tasks say of the two models of the verdict."""
    one, models = next(iter(ranking.leading.values())), ranking.provenance.models
    if ranking.suite is None or not one.others:
        return ""
    other = next(model for model in one.pair if model != one.first)
    told = words.by_task(ranking.suite, ranking.suite.columns[one.column], one.first, other)
    return f"{models[one.first]} against {models[other]}: {told}" if told else ""


def stays_first(ranking: RankDocument, _: ReportDocument) -> str:
    """The weights, and without which metrics another comes first on the combined score."""
    one, models = next(iter(ranking.leading.values())), ranking.provenance.models
    without = (one.recommendation and one.recommendation.first_without_metric) or {}
    given = [metric for metric in ranking.provenance.metrics if isinstance(metric, Mapping)]
    counted = [
        f"{metric['name']} {metric['weight']:g}" for metric in given if metric.get("weight") is not None
    ]
    weights = names(counted, len(counted)) if counted else "equal"
    found = [f"without {ranking.means[out].name} {models[other]}" for out, other in without.items()]
    if len(found) < len(ranking.means):
        found.append(f"without any {'other' if found else 'one'} metric {models[one.first]}")
    return f"{weights}; first on the combined score: {', '.join(found)} (not tested)"


def sources_of_noise(ranking: RankDocument, _: ReportDocument) -> str:
    """What would come out otherwise another time, with shares of the variance where they can be told."""
    one = next(iter(ranking.leading.values()))
    between = ranking.suite and one.others and ranking.suite.columns[one.column].between_tasks(one.pair)
    if between:
        share = percent(between)
        pair = names([ranking.provenance.models[model] for model in one.pair])
        score = one.column if one.column in ranking.provenance.metric_names else "the combined score"
        of = f"of the difference of {pair} on {score}"
        return (
            f"{of}: on these tasks their samples; on tasks like these {share} of its variance is which tasks"
        )
    split = None if one.scores.judged else split_of_runs(one.column, one.scores)
    if split is None:
        return f"which samples were drawn: {design(one.scores)}"
    return f"{percent(split.share)} from runs of the same sample, the rest from which samples were drawn"


def labels_moved(ranking: RankDocument, _: ReportDocument) -> str:
    """Whom the judge alone would have put first, or what it is worth."""
    told = (one.sentence for one in ranking.findings if one.kind == "judge-alone")
    return "" if ranking.judged is None else next(told, ranking.judged.worth).rstrip(".")


def firsts(others: RankDocument, document: ReportDocument) -> str:
    """In how many of the rankings the first of the report is first, after who is first most often."""
    metric, method = leading(document.ranking)
    first = int(document.ranking.study.studies[metric].rankings[method].order[0])
    models, found = document.provenance.models, others.study.rankings.values()
    counts = np.sum([one.rank == 1 for one in found], axis=0)
    most = first if counts[first] == counts.max() else int(np.argmax(counts))
    said = f"{models[most]} first in {counts[most]} of {len(found)}"
    return said if most == first else f"{said}, {models[first]} in {counts[first]}"
