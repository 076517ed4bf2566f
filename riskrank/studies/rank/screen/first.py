"""First screen of ``rank``: ranks, raw means in the units of the file, tail means, and marks."""

from collections.abc import Sequence
from functools import partial
from math import ceil, floor

import numpy as np

from riskrank.engine.dominance.ranking import Ranking
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.agreement import stability_table
from riskrank.render.mean_tables import (
    combined_score_lines,
    describe_samples,
    metric_head,
    separation_line,
    side_by_side_table,
    tail_columns,
    with_interval_bars,
)
from riskrank.render.screens import (
    MOST_METRICS,
    MOST_ROWS,
    also_lines,
    follow_up_sections,
    hidden_count_lines,
)
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.detectable_difference import detectable_suffix
from riskrank.studies.rank.context import list_marks
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.leader import Leader
from riskrank.studies.rank.screen.detail import details, mean_decimals, method_tables
from riskrank.studies.suites.screen import details as task_details
from riskrank.studies.suites.screen import suite_sections as task_screen
from riskrank.studies.wording import (
    distinct_pair,
    format_fixed,
    format_percent,
    method_words,
    rounded_up,
    tests_words,
)

# Largest multiple of the available samples that a suggestion proposes.
_REACH = 100
# If even the worst model reaches this pass rate, the samples are too easy to separate models.
_SATURATED = 0.95
# Number of marks explained below the table.
_MARKS = 3


def build_sections(document: RankDocument) -> list[Section]:
    """Return the sections of the screen: ranking tables, tests and suggested options, then the details."""
    several, sections = len(document.leaders) > 1, list[Section]()
    if document.leaders:
        sections += _column_table(document) if several else _single_column(document, document.leader)
    if (suite := document.suite) is not None:
        models = {leader.column: _listed_models(document, leader) for leader in document.leaders.values()}
        # The sparklines compare all models with a leader; without one they are omitted.
        uncontested = any(leader.objection is None for leader in document.leaders.values())
        sections += task_screen(
            suite, models, document.more, per_task=document.per_task, marks_by_task=uncontested
        )
    if document.leaders:
        sections += [
            *([] if several else combined_score_lines(document.leader.column, document)),
            _test_line(document),
        ]
    comparisons = [*method_tables(document)]
    if document.methods_chosen or not document.leaders:
        sections, comparisons = [*sections, *comparisons], []
    if document.stability is not None:
        sections.append(stability_table(document.stability))
    tasks = [] if suite is None else task_details(suite, per_task=document.per_task)
    follow_up = [*also_lines(document.more), *other_metric_table(document), *tasks, *details(document)]
    return [*sections, *follow_up_sections([*follow_up, *comparisons], *_suggested_options(document))]


def _single_column(document: RankDocument, leader: Leader) -> list[Section]:
    """Return the ranking table of the only score column, and lines on the models that need attention."""
    models, marks = document.provenance.models, document.marks[leader.column]
    listed = _listed_models(document, leader)
    marked = {i: reason for i, reason in marks.items() if i in listed}
    notes = combined_score_lines(leader.column, document)
    lines = list_marks(marked, models, _MARKS)
    if notes and len(lines) > 1:
        # The note on the combined score needs a line.
        lines = [lines[0], "; ! ".join(lines[1:])]
    below = [f"! {line}" for line in lines]
    copies = np.argwhere(np.triu(leader.study.dominance.estimates.identical, 1))
    if notes and len(copies):
        pair = " and ".join(models[i] for i in copies[0])
        below.append(f"! {pair} are copies; the combined score compares with both, so it depends on copies")
    hidden_models = hidden_count_lines(len(models) - len(listed), "model", option("top", len(models)))
    hidden_metrics = hidden_count_lines(len(document.means) - MOST_METRICS, "metric")
    return [_ranking_table(document, leader, listed), *hidden_models, *map(Line, below), *hidden_metrics]


def other_metric_table(document: RankDocument) -> list[Section]:
    """Return a table of raw means for the metrics that do not fit on the first screen."""
    if len(document.leaders) != 1 or len(document.means) <= MOST_METRICS:
        return []
    leader, models = document.leader, document.provenance.models
    order = leader.ranking.order.tolist()
    columns: list[ModelColumn] = [(Column("model", "left"), lambda i: models[i])]
    for mean in document.means[MOST_METRICS:]:
        columns.append(with_interval_bars((Column(metric_head(mean)), mean.format_mean), mean, order))
    return [build_table("Raw means of the other metrics", columns, order)]


def _column_table(document: RankDocument) -> list[Section]:
    """Return a table of means and ranks on several score columns, sorted by the sum of ranks."""
    columns = [*document.leaders.values()]
    together = np.argsort(np.sum([leader.ranking.rank for leader in columns], axis=0), kind="stable").tolist()
    models, names = document.provenance.models, [leader.column for leader in columns]
    listed = together[: document.top or MOST_ROWS]
    return side_by_side_table(
        models, document.means, names, listed, lambda at, i: format_rank(columns[at].ranking, i), "place"
    )


def _listed_models(document: RankDocument, leader: Leader) -> list[int]:
    """Return the models to list: the best ones, and all others named in the verdict."""
    order = leader.ranking.order.tolist()
    # Reserve one line for the count of hidden models and one for undecided pairs.
    limit = MOST_ROWS - (len(order) > MOST_ROWS) * (1 + any(map(_undecided_pairs, document.leaders.values())))
    rows = order[: document.top or limit]
    recommendation = leader.recommendation
    extra = [] if recommendation is None or recommendation.choice is None else [recommendation.choice]
    return [*rows, *(i for i in extra if i not in rows)]


def _ranking_table(document: RankDocument, leader: Leader, listed: Sequence[int]) -> Table:
    """Return the main table: rank sets, marks, means and tail means."""
    models, marks = document.provenance.models, document.marks[leader.column]
    tail, metrics = document.tails[leader.column], document.means
    tooltip = "places that the tests allow" if leader.tested else ""
    columns: list[ModelColumn] = [
        (Column("place", name=tooltip), partial(format_rank, leader.ranking)),
        (Column("", "left"), lambda i: Cell("!", "yellow") if i in marks else ""),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i in leader.recommended else "")),
    ]
    for mean in metrics[:MOST_METRICS]:
        columns.append(with_interval_bars((Column(metric_head(mean)), mean.format_mean), mean, listed))
    if all(mean.name != leader.column for mean in metrics):
        columns.append(_combined_mean_column(document, leader, listed))
    columns += tail_columns(leader.column, metrics, tail)
    return build_table("", columns, listed, stub=3)


def _combined_mean_column(document: RankDocument, leader: Leader, listed: Sequence[int]) -> ModelColumn:
    """Return a column of means of the combined score, with digits that tell the first two models apart."""
    effects = leader.study.effects[leader.method]
    means = document.units[leader.column].to_file_units(effects.mean)
    first, second = (float(means[i]) for i in [*listed, *listed][:2])
    text, _ = distinct_pair(first, second, format_fixed, mean_decimals(document, leader))
    decimals = len(text.partition(".")[2])
    return Column("mean\ncombined", optional=True), lambda i: format_fixed(float(means[i]), decimals)


def format_rank(ranking: Ranking, model: int) -> str:
    """Format a model's rank set, or its rank if nothing was tested."""
    low, high = ranking.rank_low, ranking.rank_high
    if low is None or high is None:
        return str(ranking.rank[model])
    return numbers.format_rank_interval(low[model], high[model])


def _test_line(document: RankDocument) -> Line:
    """Return a line on sample size, detection limits, significantly different pairs and tests."""
    leader = document.leader
    scores, inference = document.study.columns[leader.column], document.inference
    if not inference.test:
        return Line(f"{describe_samples(scores)}; nothing was tested.")
    leaders = {
        name: leader_.study.separations[leader_.method]
        for name, leader_ in document.leaders.items()
        if leader_.method in leader_.study.separations
    }
    if not leaders:
        return Line(f"{describe_samples(scores)}; {leader.method} does not test pairs.")
    method = method_words(leader.method)
    method = method if leader.tests is None else tests_words(method, leader.tests)
    is_metric = any(mean.name == leader.column for mean in document.means)
    on = (f" on {leader.column}" if is_metric else " on the combined score") if len(leaders) == 1 else ""
    scope = "" if document.suite is None else f" {document.suite.scope_text}"
    return separation_line(
        scores,
        inference,
        {name: leader_.separated for name, leader_ in leaders.items()},
        next(iter(leaders.values())).pairs,
        f"{method}{on}{scope}",
        sum(map(_undecided_pairs, document.leaders.values())),
        detectable_suffix(document.means, document.detectable) + _needed_suffix(document, leader),
    )


def _needed_suffix(document: RankDocument, leader: Leader) -> str:
    """Return a clause on how to separate the first two models, or an empty string if they are separated."""
    if not leader.tied or leader.rivals[0] != leader.tied[0] or document.suite is not None:
        return ""
    mean = document.means[0]
    passed = float((1 - mean.mean if mean.lower_is_better else mean.mean).min())
    if len(document.means) == 1 and mean.is_proportion and passed >= _SATURATED:
        share = format_percent(floor(100 * passed) / 100)
        return f"; the samples are nearly saturated, as all models pass at least {share}: add harder ones"
    rival, effects = leader.rivals[0], leader.study.effects[leader.method]
    gap, low, high = document.units[leader.column].estimates(effects.mean_difference)
    if low is None or high is None or not gap[rival]:
        return ""
    # Power 80 % adds 0.84 standard errors to the 1.96 or more of an interval's half.
    size = leader.scores.min_effective_size
    needed = size * (1.43 * (high[rival] - low[rival]) / 2 / abs(gap[rival])) ** 2
    pair = " and ".join(document.provenance.models[i] for i in (leader.first, rival))
    text = f"; about {rounded_up(ceil(needed)):,} samples would separate the means of {pair}"
    return f"{text} at this difference" if needed <= _REACH * size else ""


def _undecided_pairs(leader: Leader) -> int:
    """Return the number of ordered pairs whose tests need more resamples."""
    return 0 if leader.tests is None else int(np.count_nonzero(~leader.tests.decided))


def _suggested_options(document: RankDocument) -> list[str]:
    """Return options to suggest for this result."""
    conditions = {
        option("weight", "NAME=…"): any(
            leader.trade_offs and not leader.weighted for leader in document.leaders.values()
        ),
        option("per_task", True): document.suite is not None and not document.per_task,
        option("per_metric", True): len(document.means) > 1 and len(document.leaders) == 1,
    }
    return [text for text, condition in conditions.items() if condition]
