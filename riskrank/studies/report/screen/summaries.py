"""One-line findings of the parts of a report."""

import numpy as np

from riskrank.render.mean_tables import score_title
from riskrank.render.view import Line
from riskrank.studies.document import Document
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.repeats import split_of_runs
from riskrank.studies.report.screen import by_metric
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.suites import sentences
from riskrank.studies.wording import counted, design, names, percent, rounded
from riskrank.studies.wording import told_apart as apart


def verdict_lines(study: Document, document: ReportDocument) -> list[Line]:
    """Return the main finding of a study as a line, without sentences that the report has elsewhere."""
    main_sentences = [sentence.sentence for sentence in study.findings if sentence.sentence in study.verdict]
    new = [
        sentence
        for sentence in main_sentences
        if sentence not in document.ranking.verdict and not sentence.startswith("By task")
    ]
    text = (
        " ".join([*main_sentences[:1], *(sentence for sentence in new if sentence != main_sentences[0])])
        or study.verdict
    )
    metrics = "part Differences by metric tests means of metrics, part Ranking the combined score"
    target = metrics if by_metric.has_metric_tests(document.ranking) else "part Ranking does that"
    return [Line(text.replace("rank does that", target), "In short:")]


def separation_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return the leader, and the number of significantly different pairs."""
    leader = ranking.lead
    first, separation = ranking.provenance.models[leader.first], leader.found.separations.get(leader.method)
    if separation is None or not ranking.inference.test:
        return f"{first} first"
    pairs = f"{separation.separated} of {counted(separation.pairs, 'pair')}"
    return f"{first} first; {pairs} told apart by how they do against the field"


def task_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return the comparison of the leader and its rival on single tasks; empty without a suite."""
    leader, models, suite = ranking.lead, ranking.provenance.models, ranking.suite
    text = (
        leader.others
        and suite
        and sentences.task_sentence(suite, suite.columns[leader.column], leader.first, leader.other)
    )
    return f"{models[leader.first]} against {models[leader.other]}: {text}" if text else ""


def noise_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return the sources of random variation, with shares of the variance if they can be estimated."""
    leader, models = ranking.lead, ranking.provenance.models
    between = (
        ranking.suite
        and leader.others
        and ranking.suite.columns[leader.column].task_variance_share(leader.pair)
    )
    if between:
        of = f"of the difference of {names([models[i] for i in leader.pair])} on {score_title(leader.column)}"
        share = f"{percent(between)} of its variance is which tasks"
        return f"{of}: on these tasks their samples; on tasks like these {share}"
    split = None if leader.scores.judged else split_of_runs(leader.column, leader.scores)
    if split is None:
        return f"which samples were drawn: {design(leader.scores)}"
    return f"{percent(split.share)} from runs of the same sample, the rest from which samples were drawn"


def label_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return the leader by the judge alone if it differs, else the gain from the judge, if there is one."""
    texts = (finding.sentence for finding in ranking.findings if finding.kind == "judge-alone")
    return "" if ranking.judged is None else next(texts, ranking.judged.gain_sentence).rstrip(".")


def median_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return the median scores of the leader and its rival."""
    leader, models = ranking.lead, ranking.provenance.models
    if not leader.others:
        return "scores from the worst to the best"
    middle = ranking.units[leader.column].of(ranking.medians(leader.column))
    leader_median, rival_median = apart(float(middle[leader.first]), float(middle[leader.other]), rounded, 2)
    values = f"{leader_median} of {models[leader.first]}, {rival_median} of {models[leader.other]}"
    return f"half of the scores are at most {values} (not tested)"


def first_place_summary(rankings_document: RankDocument, document: ReportDocument) -> str:
    """Return how many of the rankings each model leads, and how many reverse the order of the report."""
    ranking, models = document.ranking.lead.ranking, document.provenance.models
    rankings = rankings_document.study.rankings.values()
    counts = np.sum([candidate.rank == 1 for candidate in rankings], axis=0)
    # Ties are in the order of the report.
    order = sorted(range(len(models)), key=lambda i: (-counts[i], ranking.rank[i]))
    counts_text = [f"{models[i]} in {counts[i]}" for i in order if counts[i]]
    counts_text[0] = f"{models[order[0]]} first in {counts[order[0]]} of {len(rankings)}"
    ties = " (some share the first place)" * bool(sum(counts) > len(rankings))
    reversed_count = sum(tau <= -1 + 1e-9 for tau in rankings_document.agreement_with(ranking).values())
    return (
        names(counts_text, len(counts_text))
        + ties
        + f"; in {reversed_count} the order is the opposite" * bool(reversed_count)
    )
