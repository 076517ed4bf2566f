"""Screens of ``rank``: ranks, raw means in the units of the file, tail means and marks, then the details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from riskrank.engine.dominance.ranking import Ranking
from riskrank.errors import option
from riskrank.render import mean_tables, numbers, screens
from riskrank.render.view import Cell, Column, Line, ModelColumn, RowColumn, Section, Table, build_table
from riskrank.studies import wording
from riskrank.studies.judge import screen as judge_screen
from riskrank.studies.metric_means import detectable_suffix
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.leader import Leader, format_marks, marked_models
from riskrank.studies.rank.screen.detail import (
    details,
    factor_grid,
    mean_decimals,
    method_tables,
    stability_table,
)
from riskrank.studies.statistics import plural_statistic
from riskrank.studies.suites.screen import details as task_details
from riskrank.studies.suites.screen import suite_sections as task_screen

if TYPE_CHECKING:
    from riskrank.studies.rank.means import MeanRankDocument, MeanRanking

# Largest multiple of the available samples that a suggestion proposes.
_REACH = 100
# If even the worst model reaches this pass rate, the samples are too easy to separate models.
_SATURATED = 0.95
_OPTIMISTIC = "; the first mean is optimistic (chosen from {} models)"
# Number of marks explained below the table.
_MARKS = 3


def build_sections(document: RankDocument) -> list[Section]:
    """Return the sections of the screen: ranking tables, tests and suggested options, then the details."""
    several, sections = len(document.leaders) > 1, list[Section]()
    if document.leaders:
        sections += (
            _multi_column_table(document) if several else _single_column_sections(document, document.leader)
        )
    if (suite := document.suite) is not None:
        models = {leader.column: _listed_models(document, leader) for leader in document.leaders.values()}
        # The sparklines compare all models with a leader; without one they are omitted.
        uncontested = any(leader.objection is None for leader in document.leaders.values())
        sections += task_screen(
            suite, models, document.more, per_task=document.per_task, marks_by_task=uncontested
        )
    if document.leaders:
        notes = [] if several else mean_tables.combined_score_lines(document.leader.column, document)
        sections += [*notes, _test_line(document), *judge_screen.agreement_line(document.judged)]
    comparisons = [*method_tables(document)]
    if document.methods_chosen or not document.leaders:
        sections, comparisons = [*sections, *comparisons], []
    if document.stability is not None:
        sections.append(stability_table(document.stability))
    tasks = [] if suite is None else task_details(suite, per_task=document.per_task)
    also, metrics = screens.further_sentence_lines(document.more), other_metric_table(document)
    unweighted = any(leader.trade_offs and not leader.weighted for leader in document.leaders.values())
    suggestions = {
        option("weight", "NAME=…"): unweighted,
        option("per_task", True): suite is not None and not document.per_task,
        option("per_metric", True): len(document.means) > 1 and len(document.leaders) == 1,
    }
    grids = chain.from_iterable(
        leader_grid(document, leader) for leader in document.leaders.values() if several
    )
    follow_up = [*also, *metrics, *grids, *tasks, *details(document), *comparisons]
    if document.leaders and not several and (note := selection_note(document, document.leader)):
        follow_up.append(Line(note, "Selection:"))
    return [*sections, *screens.follow_up_sections(follow_up, *compress(suggestions, suggestions.values()))]


def _single_column_sections(document: RankDocument, leader: Leader) -> list[Section]:
    """Return the ranking table for a single ranked score, and lines about models that need attention."""
    models, marks = document.provenance.models, marked_models(leader, document.means)
    listed = _listed_models(document, leader)
    marked = {i: reason for i, reason in marks.items() if i in listed}
    notes = mean_tables.combined_score_lines(leader.column, document)
    lines = format_marks(marked, models, _MARKS)
    if notes and len(lines) > 1:
        # The note on the combined score needs a line.
        lines = [lines[0], "; ! ".join(lines[1:])]
    below = [f"! {line}" for line in lines]
    copies = np.argwhere(np.triu(leader.study.dominance.estimates.identical, 1))
    if notes and len(copies):
        pair = " and ".join(models[i] for i in copies[0])
        below.append(f"! {pair} have the same scores; the combined score compares models with both of them")
    if not notes and (grid := leader_grid(document, leader)):
        table = replace(_ranking_table(document, leader, listed), details=True)
        return [*grid, *map(Line, below), table]
    hidden_models = screens.hidden_count_lines(len(models) - len(listed), "model", option("top", len(models)))
    hidden_metrics = screens.hidden_count_lines(len(document.means) - screens.MOST_METRICS, "metric")
    return [_ranking_table(document, leader, listed), *hidden_models, *map(Line, below), *hidden_metrics]


def leader_grid(document: RankDocument, leader: Leader) -> list[Section]:
    """Return the grid of means on a leader's metric; see `factor_grid`."""
    means = next((means for means in document.means if means.name == leader.column), None)
    wins = leader.tests.dominates if leader.tests is not None and leader.tested else None
    return [] if means is None else factor_grid(document.provenance, means, leader.ranking, wins)


def other_metric_table(document: RankDocument) -> list[Section]:
    """Return a table of raw means for the metrics that do not fit on the first screen."""
    if len(document.leaders) != 1 or len(document.means) <= screens.MOST_METRICS:
        return []
    leader, models = document.leader, document.provenance.models
    order = leader.ranking.order.tolist()
    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: models[i]),
        *mean_tables.mean_columns(document.means[screens.MOST_METRICS :], order),
    ]
    return [build_table("Raw means of the other metrics", columns, order)]


def _multi_column_table(document: RankDocument) -> list[Section]:
    """Return a table of means and ranks by several scores, sorted by the sum of ranks."""
    columns = [*document.leaders.values()]
    together = np.argsort(np.sum([leader.ranking.rank for leader in columns], axis=0), kind="stable").tolist()
    models, names = document.provenance.models, [leader.column for leader in columns]
    listed = together[: document.top or screens.MOST_ROWS]
    return mean_tables.side_by_side_table(
        models, document.means, names, listed, lambda at, i: format_rank(columns[at].ranking, i), "place"
    )


def _listed_models(document: RankDocument, leader: Leader) -> list[int]:
    """Return the models to list in the table: the best ones and, if hidden, the recommended alternative."""
    order = leader.ranking.order.tolist()
    # Reserve one line for the count of hidden models and one for undecided pairs.
    limit = screens.MOST_ROWS - (len(order) > screens.MOST_ROWS) * (
        1 + any(map(_undecided_pairs, document.leaders.values()))
    )
    rows, recommendation = order[: document.top or limit], leader.recommendation
    extra = [] if recommendation is None or recommendation.choice is None else [recommendation.choice]
    return [*rows, *(i for i in extra if i not in rows)]


def _ranking_table(document: RankDocument, leader: Leader, listed: Sequence[int]) -> Table:
    """Return the main table for the models `listed`: rank sets, warning marks, means and tail means."""
    models, marks = document.provenance.models, marked_models(leader, document.means)
    metrics = document.means
    tooltip = "places that the tests allow" if leader.tested else ""
    columns: list[ModelColumn] = [
        (Column("place", name=tooltip), partial(format_rank, leader.ranking)),
        (Column("", "left"), lambda i: Cell("!", "yellow") if i in marks else ""),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i in leader.recommended else "")),
        *mean_tables.mean_columns(metrics[: screens.MOST_METRICS], listed),
    ]
    if all(mean.name != leader.column for mean in metrics):
        means = document.units[leader.column].to_file_units(leader.study.effects[leader.method].mean)
        first, second = (float(means[i]) for i in [*listed, *listed][:2])
        # Use enough digits to make the means of the first two models differ.
        text, _ = wording.distinct_pair(first, second, wording.format_fixed, mean_decimals(document, leader))
        decimals = len(text.partition(".")[2])
        head = Column("mean\ncombined", optional=True)
        columns.append((head, lambda i: wording.format_fixed(float(means[i]), decimals)))
    columns += mean_tables.tail_columns(leader.column, metrics, leader.tail)
    return build_table("", columns, listed, stub=3)


def format_rank(ranking: Ranking, model: int) -> str:
    """Format a model's rank set, or its rank if nothing was tested."""
    low, high = ranking.rank_low, ranking.rank_high
    if low is None or high is None:
        return str(ranking.rank[model])
    return numbers.format_rank_interval(low[model], high[model])


def _test_line(document: RankDocument) -> Line:
    """Return a line about sample size, detection limits, and the number of significantly different pairs."""
    leader = document.leader
    scores, inference = document.study.columns[leader.column], document.inference
    if not inference.test:
        return Line(f"{mean_tables.describe_samples(scores)}; nothing was tested.")
    leaders = {
        name: leader_.study.separations[leader_.method]
        for name, leader_ in document.leaders.items()
        if leader_.method in leader_.study.separations
    }
    if not leaders:
        return Line(f"{mean_tables.describe_samples(scores)}; {leader.method} does not test pairs.")
    method = wording.method_words(leader.method)
    method = method if leader.tests is None else wording.tests_words(method, leader.tests)
    is_metric = any(mean.name == leader.column for mean in document.means)
    on = (f" on {leader.column}" if is_metric else " on the combined score") if len(leaders) == 1 else ""
    scope = "" if document.suite is None else f" {document.suite.scope_text}"
    return mean_tables.separation_line(
        scores,
        inference,
        {name: leader_.separated for name, leader_ in leaders.items()},
        next(iter(leaders.values())).pairs,
        f"{method}{on}{scope}",
        sum(map(_undecided_pairs, document.leaders.values())),
        detectable_suffix(document.means, document.detectable)
        + _needed_suffix(document, leader)
        + _OPTIMISTIC.format(len(leader.ranking.order)) * bool(selection_note(document, leader)),
    )


def _needed_suffix(document: RankDocument, leader: Leader) -> str:
    """Return a clause about how to separate the first two models; empty if they are separated."""
    if not leader.tied or leader.rivals[0] != leader.tied[0] or document.suite is not None:
        return ""
    mean = document.means[0]
    passed = float((1 - mean.mean if mean.lower_is_better else mean.mean).min())
    if len(document.means) == 1 and mean.is_proportion and passed >= _SATURATED:
        share = wording.format_percent(floor(100 * passed) / 100)
        return f"; the samples are nearly saturated, as all models pass at least {share}: add harder ones"
    rival, models, scores = leader.rivals[0], document.provenance.models, leader.scores
    pair = f"the means of {models[leader.first]} and {models[rival]}"
    figures = leader.mean_difference(leader.first, rival)
    return _separating_size(scores.min_effective_size, scores.unit_name, figures, pair)


def _separating_size(size: float, unit: str, gap: Mapping[str, float], pair: str) -> str:
    """Return a clause with the sample size that would separate two models; empty if it is out of reach.

    Parameters
    ----------
    size : float
        Effective sample size.
    unit : str
        Plural noun for the samples.
    gap : mapping of str to float
        Difference of the two models, and the low and high limits of its interval.
    pair : str
        Phrase that names the two models.
    """
    if "low" not in gap or not gap["difference"]:
        return ""
    # Power 80 % adds 0.84 standard errors to the 1.96 or more of an interval's half.
    needed = size * (1.43 * (gap["high"] - gap["low"]) / 2 / gap["difference"]) ** 2
    if not needed <= _REACH * size:
        return ""
    return f"; about {wording.round_up(ceil(needed)):,} {unit} would separate {pair} at this difference"


def selection_note(document: RankDocument, leader: Leader) -> str:
    """Return a sentence on the selection bias of the leader's mean, or "" for several metrics."""
    if leader.recommendation is None or len(document.means) > 1:
        return ""
    first = leader.first
    errors = leader.contrasts.error[:, 0]
    return document.means[0].selection_note(first, errors, document.provenance.models[first])


def _undecided_pairs(leader: Leader) -> int:
    """Return the number of ordered pairs of models whose tests need more resamples."""
    return 0 if leader.tests is None else int(np.count_nonzero(~leader.tests.decided))


def mean_sections(document: MeanRankDocument) -> list[Section]:
    """Return the screen of a ranking by means: one table for all metrics, the tests, then the details."""
    models, rankings = document.provenance.models, document.rankings
    sections: list[Section] = [_mean_table(rankings[0], models)]
    grids = [
        factor_grid(document.provenance, result.means, result.ranking, result.wins if result.tested else None)
        for result in rankings
    ]
    details: list[Section] = [*screens.further_sentence_lines(document.more)]
    if not models[1:]:
        statistics: list[RowColumn] = [
            (Column("statistic", "left"), lambda result: result.label),
            (Column("estimate"), lambda result: result.means.format_mean(0)),
            (Column("interval", "left"), lambda result: result.format_interval()),
        ]
        sections = [build_table("", statistics, rankings)]
    elif len(rankings) > 1:
        order = rankings[0].ranking.order[: screens.MOST_ROWS].tolist()
        columns, means = [result.column.name for result in rankings], [result.means for result in rankings]
        sections = mean_tables.side_by_side_table(
            models, means, columns, order, lambda at, i: format_rank(rankings[at].ranking, i), "place"
        )
        details += chain(*grids, [_mean_table(result, models, result.column.name) for result in rankings])
    elif grids[0]:
        sections, details = grids[0], [*details, *sections]
    reason = [] if document.reason in document.verdict else [Line(document.reason)]
    details += judge_screen.pair_table(document.agreements)
    details += [] if document.components is None else [mean_tables.variance_table(document.components)]
    cause = "the rows are not independent samples."
    if rankings[0].shared is not None:
        tasks = rankings[0].column.unit == "tasks"
        cause = "the scores are means of tasks." if tasks else "each pair shares different samples."
    if rankings[0].column.win_rates is not None:
        cause = "strengths are fitted to all votes. They are log-odds with mean 0."
    guide = (
        "Places contain the true ranks of all models with simultaneous confidence; the intervals of all "
        f"differences are simultaneous. Distributions and tails are not compared, because {cause}"
    )
    details += [Line(guide, "Reading:")] if models[1:] else []
    if len(rankings) == 1 and (note := _mean_selection_note(document)):
        details.append(Line(note, "Selection:"))
    lines = [*reason, _mean_test_line(document), *judge_screen.pair_lines(document.agreements)]
    lines += screens.detection_limit_lines(document)
    return [*sections, *lines, *screens.follow_up_sections(details)]


def _mean_table(result: MeanRanking, models: Sequence[str], title: str = "") -> Table:
    """Return a table of rank sets, means and differences from the first model."""
    means, gaps, excluded = result.means, result.file_differences, result.not_compared_with_first
    listed = result.ranking.order[: screens.MOST_ROWS].tolist()
    scored = np.zeros(1) if result.shared is None else np.diag(result.shared)
    rates = result.column.win_rates
    columns: list[ModelColumn | None] = [
        (Column("place"), partial(format_rank, result.ranking)),
        (Column("model", "left"), lambda i: models[i]),
        (Column("scored"), lambda i: f"{scored[i]:,}") if np.ptp(scored) else None,
        *mean_tables.mean_columns([means], listed),
    ]
    if rates is not None:
        columns.append((Column("wins against\nthe average"), lambda i: f"{100 * rates[i]:.0f} %"))
    low, high = gaps.low, gaps.high
    if low is not None and high is not None:
        compared = [i for i in listed if i not in (result.first, *excluded)]
        differences = {i: means.format_gap(float(gaps.estimate[i])) for i in compared}
        intervals = {i: means.format_interval(float(low[i]), float(high[i])) for i in compared}
        columns.append((Column("difference\nto the first"), lambda i: differences.get(i, "–")))
        columns.append((Column("interval", "left"), lambda i: intervals.get(i, "–")))
    return build_table(title, columns, listed, stub=2)


def _mean_selection_note(document: MeanRankDocument) -> str:
    """Return a sentence on the selection bias of the best mean, or an empty string."""
    result = document.rankings[0]
    if not result.tested or result.column.relative_sign or result.column.win_rates is not None:
        return ""
    errors = np.asarray(result.column.differences.error)[result.first]
    return result.means.selection_note(result.first, errors, document.provenance.models[result.first])


def _mean_test_line(document: MeanRankDocument) -> Line:
    """Return a line about significant pairs, detectable differences and tests of means."""
    first, several = document.rankings[0], len(document.rankings) > 1
    if not document.model_names[1:]:
        level = wording.format_percent(1 - document.family.interval_level(1))
        number = option("at_least", "NUMBER")
        return Line(f"{level} intervals; riskrank gate compares the model with a number: {number}.")
    if not first.tested:
        return Line("Nothing was tested.")
    counts = ", ".join(
        f"{int(result.wins.sum())}" + f" on {result.column.name}" * several for result in document.rankings
    )
    differences = {
        result.means.name: result.detectable for result in document.rankings if result.detectable is not None
    }
    power_note = detectable_suffix([result.means for result in document.rankings], differences)
    models = len(first.column.compared_pairs)
    pairs = models * (models - 1) // 2
    statistic = plural_statistic(first.column.statistic)
    statistic = statistic if first.column.win_rates is None else "Bradley–Terry strengths"
    test = first.column.differences.test
    correction = mean_tables.CORRECTIONS[document.family.correction]
    method = f"{test} of {statistic}, {document.family.text}, {correction}"
    leading, second = first.ranking.order[:2].tolist()
    if first.column.unit and not several and not first.wins[leading, second]:
        pair, size = (document.provenance.models[i] for i in (leading, second)), first.column.effective_size
        power_note += _separating_size(
            size, first.column.unit, first.lead_figures(second), " and ".join(pair)
        )
    note = "" if several else _mean_selection_note(document)
    power_note += _OPTIMISTIC.format(models) * bool(note)
    uncompared = pairs - int(first.column.compared_pairs.sum()) // 2
    suffix = f", {uncompared} not compared" if uncompared else ""
    return Line(f"{counts} of {wording.counted(pairs, 'pair')} separated{suffix} ({method}){power_note}.")
