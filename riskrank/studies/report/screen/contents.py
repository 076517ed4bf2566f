"""Contents of a report: text, tables, pictures and a one-line summary of every part."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from riskrank.render.mean_tables import binary_metric_lines, score_title, single_binary_metric
from riskrank.render.screens import (
    AUDIT,
    UNDERSTAND,
    ChapterPart,
    Entry,
    SectionBuilder,
    also_lines,
    build_parts,
)
from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies import wording
from riskrank.studies.copa import screen as copa
from riskrank.studies.document import Document
from riskrank.studies.dominance import screen as dominance
from riskrank.studies.dominance.study import DominanceDocument
from riskrank.studies.groups.screen import group_sections
from riskrank.studies.gsd import screen as gsd
from riskrank.studies.judge import screen as judged
from riskrank.studies.mrm import screen as mean_risk
from riskrank.studies.rank.document import RankDocument, trade_off
from riskrank.studies.rank.screen import detail, mean_sections, other_metric_table
from riskrank.studies.repeats import split_run_variance
from riskrank.studies.report.screen import tests
from riskrank.studies.report.study import CHAPTERS, ReportDocument
from riskrank.studies.suites.screen import details as task_details
from riskrank.studies.suites.section import task_sentence


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
    """Name the leader, and count the pairs of models that differ significantly."""
    leader = ranking.leader
    first, separation = ranking.provenance.models[leader.first], leader.study.separations.get(leader.method)
    if separation is None or not ranking.inference.test:
        return f"{first} first"
    pairs = f"{separation.separated} of {wording.counted(separation.pairs, 'pair')}"
    return f"{first} first; {pairs} significantly different"


def task_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Compare the leader with its rival on single tasks in words, or return "" without a suite."""
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
        names = wording.join_names([models[i] for i in leader.pair])
        pair = f"difference of {names} on {score_title(leader.column)}"
        share = f"{wording.format_percent(between)} of the variance comes from the choice of tasks"
        return f"{pair}: on these tasks, noise comes from the samples; on tasks like these, {share}"
    split = None if leader.scores.judged else split_run_variance(leader.column, leader.scores)
    if split is None:
        return f"choice of samples: {wording.design_words(leader.scores)}"
    from_runs = wording.format_percent(split.run_variance_fraction)
    return f"{from_runs} from repeated runs of a sample, the rest from the choice of samples"


def label_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Describe how the judge changes the ranking: another leader without labels, or the gain in precision."""
    texts = (finding.sentence for finding in ranking.findings if finding.kind == "judge-alone")
    return "" if ranking.judged is None else next(texts, ranking.judged.gain_sentence).rstrip(".")


def median_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Compare the median scores of the leader and its rival in words."""
    leader, models = ranking.leader, ranking.provenance.models
    if not leader.rivals:
        return "scores from worst to best"
    middle = ranking.units[leader.column].to_file_units(ranking.medians(leader.column))
    pair = float(middle[leader.first]), float(middle[leader.rival])
    first, second = wording.distinct_pair(*pair, wording.format_fixed, 2)
    return (
        f"median scores: {first} for {models[leader.first]}, {second} for {models[leader.rival]} (not tested)"
    )


def first_place_summary(rankings_document: RankDocument, document: ReportDocument) -> str:
    """Count the rankings that each model leads, and the rankings that reverse the report's order."""
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
        wording.join_names(counts_text, len(counts_text))
        + ties
        + f"; {reversed_count} reversed" * bool(reversed_count)
    )


def weights_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Describe the weights, and the changes of weights that would put another model first."""
    models, weights = ranking.provenance.models, _metric_weights(ranking)
    weight_texts = [f"{mean.name} {weight:g}" for mean, weight in zip(ranking.means, weights, strict=True)]
    weighing = "equal" if len({*weights}) == 1 else wording.join_names(weight_texts, len(weight_texts))
    changes = [
        f"{models[i]} first without {ranking.means[m].name}"
        for m, i in (_first_without_metric(ranking) or {}).items()
    ]
    for m, multiples in ranking.leader.leaders_by_weight.items():
        for i, multiple in [*multiples.items()][:1]:
            condition = f"{ranking.means[m].name} has weight {multiple * weights[m]:g} or more"
            changes.append(f"{models[i]} first if {condition}")
    changes_text = f"; {', '.join(changes)}" if changes else ", also with all other weights tried"
    return (
        f"{weighing}: {models[ranking.leader.first]} first on the combined score{changes_text} (not tested)"
    )


def weight_details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield a table of each metric's weight, the leader without it, and the weight with another leader."""
    models, without = ranking.provenance.models, _first_without_metric(ranking) or {}
    heavier = ranking.leader.leaders_by_weight
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


def _metric_weights(ranking: RankDocument) -> list[float]:
    """Return the weight of each metric, 1 by default."""
    metrics = [metric for metric in ranking.provenance.metrics if not isinstance(metric, str)]
    return [1.0 if metric.get("weight") is None else float(metric["weight"]) for metric in metrics]


def _first_without_metric(ranking: RankDocument) -> dict[int, int] | None:
    """Return the metrics without which another model leads, each with this model, or None if not computed."""
    recommendation = ranking.leader.recommendation
    return None if recommendation is None else recommendation.first_without_metric


def build_sections(document: ReportDocument) -> list[Section]:
    """Return the sections of all parts for the terminal, without pictures."""
    return [section for part in report_parts(document) for section in (*part.lead, *part.words)]


def report_parts(document: ReportDocument) -> list[ChapterPart]:
    """Return the parts that a report contains."""
    return build_parts(document, REPORT)


def _summary_line_builder(label: str, finding: Callable[[Any, Any], str], note: str = "") -> SectionBuilder:
    """Return a function that builds a labelled line from a summary, for output without headings."""
    return lambda study, document: (
        [Line(f"{text}. {note}".strip(), label)] if (text := finding(study, document)) else []
    )


def _ranking_sections(document: RankDocument, report: ReportDocument) -> Iterator[Section]:
    """Yield the sections that describe the ranking."""
    leader = document.leader
    yield from other_metric_table(document)
    yield detail.detail_table(document, leader)
    if leader.method in leader.study.separations and document.inference.test:
        yield detail.separated_pairs_line(leader)
        yield from tests.pair_count_lines(report)
    yield from also_lines(document.more)
    yield detail.reading_guide(document)


def _pair_lines(pairs: DominanceDocument, document: ReportDocument) -> Iterator[Line]:
    """Yield the verdict of the pairwise study, and how its intervals differ from those of the ranking."""
    yield from verdict_lines(pairs, document)
    if document.ranking.inference.test:
        text = (
            "each interval holds for one pair alone. It may exclude 0 although the corrected tests do not "
            "separate the two models. Intervals of the ranking are simultaneous for all models."
        )
        yield Line(text, "Intervals:")


def _agreement_entry(name: str, varied: str, basis: str, study: Callable[[ReportDocument], Any]) -> Entry:
    """Return the entry on how well other methods or metrics agree with the ranking.

    Parameters
    ----------
    name : str
        Key of :data:`CHAPTERS`, which is also the anchor.
    varied : {"method", "metric"}
        Property in which the compared rankings differ.
    basis : str
        Phrase for the rankings in the text.
    study : callable
        Function of the report that returns the document with the rankings.
    """
    text = (
        f"Dependence of the ranking on the {varied}: ranks by {basis}, from the same samples, without tests. "
        "τ is 1 for the same order and −1 for the reverse order."
    )
    single_metric = (
        "there is only one, so no method combines metrics; measures of risk are in part Mean and risk."
    )

    def lead(_: RankDocument, document: ReportDocument) -> list[Line]:
        """Return the lines before the picture."""
        return [Line(text), *[Line(single_metric, "Metrics:")] * (document.metrics is None)]

    def words(rankings: RankDocument, document: ReportDocument) -> list[Table]:
        """Return the table of agreements."""
        leader = document.ranking.leader
        return [
            detail.ranking_agreement_table(
                f"{leader.method}@{leader.column}", document.ranking, rankings, varied
            )
        ]

    title = CHAPTERS[name]
    return Entry(AUDIT, name, title, study, ("bump",), lead=lead, words=words, finding=first_place_summary)


def _ranking_if(condition: Callable[[RankDocument], Any]) -> Callable[[ReportDocument], Any]:
    """Return a function that returns the report's ranking if it meets a condition, or else None."""
    return lambda document: document.ranking if condition(document.ranking) else None


def _unless_binary(name: str) -> Callable[[ReportDocument], Any]:
    """Return a function that selects the part `name`, unless all scores are binary."""
    return lambda document: None if single_binary_metric(document.ranking) else getattr(document, name)


_JUDGED, _SUITE = _ranking_if(attrgetter("judged")), _ranking_if(attrgetter("suite"))
_TASKS = _ranking_if(lambda ranking: ranking.suite and not trade_off(ranking))
_SINGLE_RUN_NOTE = (
    "With one run per sample, the noise includes differences between repeated answers of a model, but not "
    "differences between training runs."
)

REPORT = (
    Entry(
        *(UNDERSTAND, "means", "Differences from the first", _ranking_if(single_binary_metric), ("forest",)),
        lead=binary_metric_lines,
    ),
    Entry(
        *(UNDERSTAND, "trade", "Wins by metric", _ranking_if(trade_off), ("trade",)),
        finding=tests.rival_summary,
    ),
    Entry(UNDERSTAND, "labels", "Effect of the labels", _JUDGED, ("judge",), finding=label_summary),
    Entry(
        *(UNDERSTAND, "curves", "Worst cases", _unless_binary("ranking"), ("tvar",)),
        lead=tests.tail_test_lines,
        finding=tests.tail_comparison,
    ),
    # With several metrics or a judge, the pair is compared above.
    Entry(
        *(UNDERSTAND, "pair", "The deciding pair"),
        study=lambda report: None if trade_off(report.ranking) or report.ranking.judged else report.pairs,
        pictures=("pair",),
    ),
    Entry(UNDERSTAND, "unseen", "Detection limits", attrgetter("ranking"), words=tests.limit_lines),
    # With several metrics, tasks are compared on the combined score only.
    Entry(UNDERSTAND, "by-task", "Results by task", _TASKS, ("taskforest",), finding=task_summary),
    Entry(
        *(AUDIT, "ranking", CHAPTERS["ranking"], attrgetter("ranking")),
        words=_ranking_sections,
        finding=separation_summary,
    ),
    Entry(
        *(AUDIT, "differences", "Differences by metric", _ranking_if(tests.has_metric_tests)),
        words=tests.difference_sections,
        finding=tests.rival_summary,
    ),
    Entry(
        *(AUDIT, "weights", "Weights of the metrics"),
        study=_ranking_if(lambda ranking: _first_without_metric(ranking) is not None),
        lead=_summary_line_builder("Weights:", weights_summary),
        words=weight_details,
        finding=weights_summary,
    ),
    Entry(
        *(AUDIT, "corrections", "Correction for multiple comparisons", attrgetter("ranking")),
        words=tests.correction_lines,
        finding=tests.correction_summary,
    ),
    Entry(
        *(AUDIT, "noise", "Sources of noise", attrgetter("ranking")),
        lead=_summary_line_builder("Noise:", noise_summary, _SINGLE_RUN_NOTE),
        finding=noise_summary,
    ),
    Entry(
        *(AUDIT, "judge", "The judge and the labels", _JUDGED),
        lead=lambda ranking, _: judged.label_lines(ranking.judged),
        words=lambda ranking, _: judged.mean_sections(ranking.judged),
        finding=lambda ranking, _: ranking.judged.gain_sentence.rstrip("."),
    ),
    Entry(
        *(AUDIT, "distributions", "Distributions", _unless_binary("ranking"), ("quantiles",)),
        finding=median_summary,
    ),
    Entry(
        *(AUDIT, "risks", "Bad cases and hidden risks", _unless_binary("ranking")),
        words=tests.tail_details,
        finding=tests.hidden_risk_summary,
    ),
    Entry(
        *(AUDIT, "mean-risk", CHAPTERS["risks"], _unless_binary("risks"), ("scatter", "risks")),
        lead=verdict_lines,
        # The picture of all risks replaces the tables.
        words=lambda study, _: [section for section in mean_risk.details(study) if isinstance(section, Line)],
    ),
    Entry(
        *(AUDIT, "pairs", CHAPTERS["pairs"], attrgetter("pairs"), ("heatmap", "pair")),
        lead=_pair_lines,
        words=lambda study, _: dominance.details(study),
    ),
    Entry(
        *(AUDIT, "tasks", "Tasks", _SUITE, ("taskforest", "profile")),
        lead=_summary_line_builder(
            "Suite:", lambda study, _: f"{study.suite.summary}; models are ranked {study.suite.scope_text}"
        ),
        words=lambda ranking, _: [
            replace(section, details=False) for section in task_details(ranking.suite, per_task=False)
        ],
        finding=task_summary,
    ),
    Entry(
        *(AUDIT, "groups", lambda study: f"{CHAPTERS['by_group']} by {study.groups.column}"),
        study=attrgetter("by_group"),
        words=lambda study, _: group_sections(study.groups),
    ),
    # A single metric needs no combination, so the methods are those of the ranking.
    _agreement_entry("methods", "method", "methods", lambda document: document.methods or document.ranking),
    _agreement_entry("metrics", "metric", "single metrics", attrgetter("metrics")),
    Entry(
        *(AUDIT, "statistics", CHAPTERS["statistics"], attrgetter("statistics")),
        lead=verdict_lines,
        words=lambda study, _: mean_sections(study),
    ),
    Entry(
        *(AUDIT, "gsd", CHAPTERS["relation"], attrgetter("relation"), ("hasse",)),
        lead=verdict_lines,
        words=lambda study, _: gsd.details(study),
    ),
    Entry(
        *(AUDIT, "copa", CHAPTERS["choice"], attrgetter("choice"), ("doubt", "parallel", "boxes")),
        lead=verdict_lines,
        words=lambda study, _: copa.details(study),
    ),
)
"""Parts of a report, one row per part."""
