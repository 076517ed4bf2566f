"""What a reader of a folded part of a report learns from its summary line."""

import numpy as np

from riskrank.render.mean_tables import score_of
from riskrank.render.view import Line
from riskrank.studies.document import Document
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.repeats import split_of_runs
from riskrank.studies.report.screen import by_metric
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.suites import sentences
from riskrank.studies.wording import counted, design, names, percent, rounded
from riskrank.studies.wording import told_apart as apart


def in_short(study: Document, whole: ReportDocument) -> list[Line]:
    """What the study's own command says first, less what the report says elsewhere."""
    told = [one.sentence for one in study.findings if one.sentence in study.verdict]
    new = [one for one in told if one not in whole.ranking.verdict and not one.startswith("By task")]
    text = " ".join([*told[:1], *(one for one in new if one != told[0])]) or study.verdict
    metrics = "part Differences by metric tests means of metrics, part Ranking the combined score"
    where = metrics if by_metric.tested(whole.ranking) else "part Ranking does that"
    return [Line(text.replace("rank does that", where), "In short:")]


def told_apart(ranking: RankDocument, _: ReportDocument) -> str:
    """Who is first, and how many pairs the tests tell apart."""
    one = ranking.lead
    first, separation = ranking.provenance.models[one.first], one.found.separations.get(one.method)
    if separation is None or not ranking.inference.test:
        return f"{first} first"
    pairs = f"{separation.separated} of {counted(separation.pairs, 'pair')}"
    return f"{first} first; {pairs} told apart by how they do against the field"


def by_task(ranking: RankDocument, _: ReportDocument) -> str:
    """What single tasks say of the two models of the verdict."""
    one, models, suite = ranking.lead, ranking.provenance.models, ranking.suite
    told = one.others and suite and sentences.by_task(suite, suite.columns[one.column], one.first, one.other)
    return f"{models[one.first]} against {models[one.other]}: {told}" if told else ""


def sources_of_noise(ranking: RankDocument, _: ReportDocument) -> str:
    """What would come out otherwise another time, with shares of the variance where they can be told."""
    one, models = ranking.lead, ranking.provenance.models
    between = ranking.suite and one.others and ranking.suite.columns[one.column].between_tasks(one.pair)
    if between:
        of = f"of the difference of {names([models[i] for i in one.pair])} on {score_of(one.column)}"
        share = f"{percent(between)} of its variance is which tasks"
        return f"{of}: on these tasks their samples; on tasks like these {share}"
    split = None if one.scores.judged else split_of_runs(one.column, one.scores)
    if split is None:
        return f"which samples were drawn: {design(one.scores)}"
    return f"{percent(split.share)} from runs of the same sample, the rest from which samples were drawn"


def labels_moved(ranking: RankDocument, _: ReportDocument) -> str:
    """Whom the judge alone would have put first, or what it is worth."""
    told = (one.sentence for one in ranking.findings if one.kind == "judge-alone")
    return "" if ranking.judged is None else next(told, ranking.judged.worth).rstrip(".")


def medians(ranking: RankDocument, _: ReportDocument) -> str:
    """The middle scores of the two models of the verdict, in these samples."""
    one, models = ranking.lead, ranking.provenance.models
    if not one.others:
        return "scores from the worst to the best"
    middle = ranking.units[one.column].of(ranking.medians(one.column))
    mine, its = apart(float(middle[one.first]), float(middle[one.other]), rounded, 2)
    told = f"{mine} of {models[one.first]}, {its} of {models[one.other]}"
    return f"half of the scores are at most {told} (not tested)"


def firsts(others: RankDocument, document: ReportDocument) -> str:
    """In how many of the rankings which models come first, and how many turn the order around."""
    ranking, models = document.ranking.lead.ranking, document.provenance.models
    found = others.study.rankings.values()
    counts = np.sum([one.rank == 1 for one in found], axis=0)
    # Of as many the first of the report is named first.
    order = sorted(range(len(models)), key=lambda i: (-counts[i], ranking.rank[i]))
    told = [f"{models[i]} in {counts[i]}" for i in order if counts[i]]
    told[0] = f"{models[order[0]]} first in {counts[order[0]]} of {len(found)}"
    shared = " (some share the first place)" * bool(sum(counts) > len(found))
    turned = sum(tau <= -1 + 1e-9 for tau in others.agreement_with(ranking).values())
    return names(told, len(told)) + shared + f"; in {turned} the order is the opposite" * bool(turned)
