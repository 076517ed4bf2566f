"""One-line summaries for the parts of a report, and the sensitivity of the ranking to metric weights."""

from collections.abc import Iterator

import numpy as np

from riskrank.render.mean_tables import score_title
from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies.document import Document
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.repeats import split_run_variance
from riskrank.studies.report.screen import tests
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.suites.section import task_sentence
from riskrank.studies.wording import counted, design_words, format_fixed, format_percent, join_names
from riskrank.studies.wording import distinct_pair as apart


def verdict_lines(study: Document, document: ReportDocument) -> list[Line]:
    """Return the verdict of a study as a line, without sentences that appear elsewhere in the report."""
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
    target = metrics if tests.has_metric_tests(document.ranking) else "part Ranking does that"
    return [Line(text.replace("rank does that", target), "In short:")]


def separation_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return text that names the leader, and gives the number of significantly different pairs."""
    leader = ranking.leader
    first, separation = ranking.provenance.models[leader.first], leader.study.separations.get(leader.method)
    if separation is None or not ranking.inference.test:
        return f"{first} first"
    pairs = f"{separation.separated} of {counted(separation.pairs, 'pair')}"
    return f"{first} first; {pairs} separated by comparison with the field"


def task_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return text that compares the leader with its rival on single tasks.

    The text is empty without a suite.
    """
    leader, models, suite = ranking.leader, ranking.provenance.models, ranking.suite
    text = (
        leader.rivals
        and suite
        and task_sentence(suite, suite.columns[leader.column], leader.first, leader.rival)
    )
    return f"{models[leader.first]} against {models[leader.rival]}: {text}" if text else ""


def noise_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Describe the sources of random variation, with their proportions of the variance if estimable."""
    leader, models = ranking.leader, ranking.provenance.models
    between = (
        ranking.suite
        and leader.rivals
        and ranking.suite.columns[leader.column].task_variance_share(leader.pair)
    )
    if between:
        of = f"difference of {join_names([models[i] for i in leader.pair])} on {score_title(leader.column)}"
        share = f"{format_percent(between)} of the variance comes from the choice of tasks"
        return f"{of}: on these tasks, noise comes from the samples; on tasks like these, {share}"
    split = None if leader.scores.judged else split_run_variance(leader.column, leader.scores)
    if split is None:
        return f"choice of samples: {design_words(leader.scores)}"
    from_runs = format_percent(split.run_variance_fraction)
    return f"{from_runs} from repeated runs of a sample, the rest from the choice of samples"


def label_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return a description of the effect of the judge on the ranking.

    The text names the leader by the judge alone if it differs. Otherwise, it describes the gain from the
    judge.
    """
    texts = (finding.sentence for finding in ranking.findings if finding.kind == "judge-alone")
    return "" if ranking.judged is None else next(texts, ranking.judged.gain_sentence).rstrip(".")


def median_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return text that compares the median scores of the leader and its rival."""
    leader, models = ranking.leader, ranking.provenance.models
    if not leader.rivals:
        return "scores from worst to best"
    middle = ranking.units[leader.column].to_file_units(ranking.medians(leader.column))
    leader_median, rival_median = apart(
        float(middle[leader.first]), float(middle[leader.rival]), format_fixed, 2
    )
    values = f"{leader_median} for {models[leader.first]}, {rival_median} for {models[leader.rival]}"
    return f"median scores: {values} (not tested)"


def first_place_summary(rankings_document: RankDocument, document: ReportDocument) -> str:
    """Return text on the number of rankings that each model leads, and that reverse the report's order."""
    ranking, models = document.ranking.leader.ranking, document.provenance.models
    rankings = rankings_document.study.rankings.values()
    counts = np.sum([candidate.rank == 1 for candidate in rankings], axis=0)
    # Ties are in the order of the report.
    order = sorted(range(len(models)), key=lambda i: (-counts[i], ranking.rank[i]))
    counts_text = [f"{models[i]} in {counts[i]}" for i in order if counts[i]]
    counts_text[0] = f"{models[order[0]]} first in {counts[order[0]]} of {len(rankings)} rankings"
    ties = " (some tie for the first place)" * bool(sum(counts) > len(rankings))
    reversed_count = sum(tau <= -1 + 1e-9 for tau in rankings_document.agreement_with(ranking).values())
    return (
        join_names(counts_text, len(counts_text))
        + ties
        + f"; {reversed_count} reversed" * bool(reversed_count)
    )


def weights_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return a description of the weights, and the weight changes that would make another model first."""
    models, weights = ranking.provenance.models, _metric_weights(ranking)
    weight_texts = [f"{mean.name} {weight:g}" for mean, weight in zip(ranking.means, weights, strict=True)]
    weighing = "equal" if len({*weights}) == 1 else join_names(weight_texts, len(weight_texts))
    changes = [
        f"{models[i]} first without {ranking.means[m].name}"
        for m, i in _first_without_metric(ranking).items()
    ]
    changes += [
        _threshold_text(ranking, m, i)
        for m, multiples in ranking.leader.leaders_by_weight.items()
        for i in [*multiples][:1]
    ]
    changes_text = f"; {', '.join(changes)}" if changes else ", also with all other weights tried"
    return (
        f"{weighing}: {models[ranking.leader.first]} first on the combined score{changes_text} (not tested)"
    )


def weight_threshold_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """Yield a line on the weights that would make another model first, if the weights decide a trade-off."""
    leader, models = ranking.leader, ranking.provenance.models
    if not leader.trade_offs or leader.weighted or leader.ranked is None:
        return
    heavier = leader.leaders_by_weight
    thresholds = [
        _threshold_text(ranking, m, i)
        for m, multiples in heavier.items()
        for i in multiples
        if i == leader.rival
    ]
    thresholds = thresholds or [
        f"no single weight up to 64 times the others puts {models[leader.rival]} first"
    ]
    thresholds += [
        _threshold_text(ranking, m, i)
        for m, multiples in heavier.items()
        for i in [*multiples][:1]
        if i != leader.rival
    ]
    text = f"with equal weights, {models[leader.first]} is first; {', '.join(thresholds)} (not tested)."
    yield Line(text, "Weights:")


def weight_details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield a table of weights, leaders without each metric, and weights at which the leader changes."""
    models, without, heavier = (
        ranking.provenance.models,
        _first_without_metric(ranking),
        ranking.leader.leaders_by_weight,
    )
    rows = []
    for m, (mean, weight) in enumerate(zip(ranking.means, _metric_weights(ranking), strict=True)):
        threshold, other = next(
            ((f"{n * weight:g}", models[i]) for i, n in heavier.get(m, {}).items()), ("–", "–")
        )
        rows.append(
            (mean.name, f"{weight:g}", models[without.get(m, ranking.leader.first)], threshold, other)
        )
    heads = column_heads("metric", right=("weight",)) + column_heads(
        "first without the metric", right=("first changes at weight",)
    )
    yield Table("First model on the combined score", (*heads, *column_heads("new first")), tuple(rows))
    text = "each row changes one weight, up to 64 times, and keeps the others; same method, not tested."
    yield Line(text, "Weights:")


def _threshold_text(ranking: RankDocument, metric: int, model: int) -> str:
    """Format the weight of a metric from which a model comes first."""
    weight = ranking.leader.leaders_by_weight[metric][model] * _metric_weights(ranking)[metric]
    name = ranking.means[metric].name
    return f"{ranking.provenance.models[model]} first if {name} has weight {weight:g} or more"


def _metric_weights(ranking: RankDocument) -> list[float]:
    """Return the weight of each metric, 1 by default."""
    metrics = [metric for metric in ranking.provenance.metrics if not isinstance(metric, str)]
    return [1.0 if metric.get("weight") is None else float(metric["weight"]) for metric in metrics]


def _first_without_metric(ranking: RankDocument) -> dict[int, int]:
    """Return the model that comes first without each metric, or an empty dict if not computed."""
    recommendation = ranking.leader.recommendation
    return (recommendation and recommendation.first_without_metric) or {}
