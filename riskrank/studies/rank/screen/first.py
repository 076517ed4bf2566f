"""The first screen of a ranking: places, raw means in the file's units, worst cases, and what to mind."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskrank.engine.dominance.ranking import Ranking
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.agreement import stability_table
from riskrank.render.mean_tables import (
    combined_score_lines,
    metric_head,
    describe_samples,
    side_by_side_table,
    separation_line,
    with_interval_bars,
    tail_columns,
)
from riskrank.render.screens import (
    MOST_METRICS,
    MOST_ROWS,
    also_lines,
    follow_up_sections,
    hidden_count_lines,
)
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.detectable_difference import could_show
from riskrank.studies.rank.context import listed
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.leader import Leading
from riskrank.studies.rank.screen.detail import details, methods_beside
from riskrank.studies.suites.screen import details as task_details
from riskrank.studies.suites.screen import suite_sections as task_screen
from riskrank.studies.wording import method_words, tests_words

# Marks that are explained below the table.
_MARKS = 3


def view(document: RankDocument) -> list[Section]:
    """Every column's table, the tests in a line, and what to ask next; then everything for who asks."""
    several, sections = len(document.leading) > 1, list[Section]()
    if document.leading:
        sections += _side_by_side(document) if several else _alone(document, document.lead)
    if (suite := document.suite) is not None:
        shown = {one.column: _shown(document, one) for one in document.leading.values()}
        # Where no first stands, there is nobody against whom all others could be held.
        stands = any(one.refuted is None for one in document.leading.values())
        sections += task_screen(suite, shown, document.more, per_task=document.per_task, strip=stands)
    if document.leading:
        sections += [
            *([] if several else combined_score_lines(document.lead.column, document)),
            _tests(document),
        ]
    beside = [*methods_beside(document)]
    if document.methods_asked or not document.leading:
        sections, beside = [*sections, *beside], []
    if document.steady is not None:
        sections.append(stability_table(document.steady))
    chapter = [] if suite is None else task_details(suite, per_task=document.per_task)
    rest = [*also_lines(document.more), *other_metrics(document), *chapter, *details(document), *beside]
    return [*sections, *follow_up_sections(rest, *_next(document))]


def _alone(document: RankDocument, one: Leading) -> list[Section]:
    """One column: its table, and the models to look at twice."""
    models, marks = document.provenance.models, document.marks[one.column]
    shown = _shown(document, one)
    marked = {i: why for i, why in marks.items() if i in shown}
    meant = combined_score_lines(one.column, document)
    lines = listed(marked, models, _MARKS)
    if meant and len(lines) > 1:
        # The line on the combined score takes the room of some.
        lines = [lines[0], "; ! ".join(lines[1:])]
    below = [f"! {line}" for line in lines]
    more = hidden_count_lines(len(models) - len(shown), "model", option("top", len(models)))
    left = hidden_count_lines(len(document.means) - MOST_METRICS, "metric")
    return [_table(document, one, shown), *more, *map(Line, below), *left]


def other_metrics(document: RankDocument) -> list[Section]:
    """Raw means of the metrics that the first screen has no room for."""
    if len(document.leading) != 1 or len(document.means) <= MOST_METRICS:
        return []
    one, models = document.lead, document.provenance.models
    order = one.ranking.order.tolist()
    columns: list[ModelColumn] = [(Column("model", "left"), lambda i: models[i])]
    for mean in document.means[MOST_METRICS:]:
        columns.append(with_interval_bars((Column(metric_head(mean)), mean.of), mean, order))
    return [build_table("Raw means of the other metrics", columns, order)]


def _side_by_side(document: RankDocument) -> list[Section]:
    """Several columns: every model's mean on each with its place, models by their places together."""
    columns = [*document.leading.values()]
    together = np.argsort(np.sum([one.ranking.rank for one in columns], axis=0), kind="stable").tolist()
    models, names = document.provenance.models, [one.column for one in columns]
    shown = together[: document.top or MOST_ROWS]
    return side_by_side_table(
        models, document.means, names, shown, lambda at, i: place_of(columns[at].ranking, i), "place"
    )


def _shown(document: RankDocument, one: Leading) -> list[int]:
    """The best models, and whatever else the verdict speaks of."""
    order = one.ranking.order.tolist()
    # A line says how many more; what is not decided takes one below.
    room = MOST_ROWS - (len(order) > MOST_ROWS) * (1 + any(map(_undecided, document.leading.values())))
    rows = order[: document.top or room]
    found = one.recommendation
    spoken = [] if found is None or found.choice is None else [found.choice]
    return [*rows, *(i for i in spoken if i not in rows)]


def _table(document: RankDocument, one: Leading, shown: Sequence[int]) -> Table:
    models, marks = document.provenance.models, document.marks[one.column]
    tail, metrics = document.tails[one.column], document.means
    by_tests = "places that tests leave" if one.tested else ""
    columns: list[ModelColumn] = [
        (Column("place", name=by_tests), partial(place_of, one.ranking)),
        (Column("", "left"), lambda i: Cell("!", "yellow") if i in marks else ""),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i in one.named else "")),
    ]
    for mean in metrics[:MOST_METRICS]:
        columns.append(with_interval_bars((Column(metric_head(mean)), mean.of), mean, shown))
    columns += tail_columns(one.column, metrics, tail)
    return build_table("", columns, shown, stub=3)


def place_of(ranking: Ranking, model: int) -> str:
    """The places the tests leave to a model, or its rank where nothing was tested."""
    low, high = ranking.rank_low, ranking.rank_high
    if low is None or high is None:
        return str(ranking.rank[model])
    return numbers.format_rank_interval(low[model], high[model])


def _tests(document: RankDocument) -> Line:
    """Samples and what they cannot see, pairs told apart, and by which tests."""
    one = document.lead
    scores, inference = document.study.columns[one.column], document.inference
    if not inference.test:
        return Line(f"{describe_samples(scores)}; nothing was tested.")
    told = {
        name: each.found.separations[each.method]
        for name, each in document.leading.items()
        if each.method in each.found.separations
    }
    if not told:
        return Line(f"{describe_samples(scores)}; {one.method} tests no pairs.")
    made = method_words(one.method)
    made = made if one.tests is None else tests_words(made, one.tests)
    alone = any(mean.name == one.column for mean in document.means)
    on = (f" on {one.column}" if alone else " of the combined score") if len(told) == 1 else ""
    where = "" if document.suite is None else f" {document.suite.scope_text}"
    return separation_line(
        scores,
        inference,
        {name: found.separated for name, found in told.items()},
        next(iter(told.values())).pairs,
        f"{made}{on}{where}",
        sum(map(_undecided, document.leading.values())),
        could_show(document.means, document.visible),
    )


def _undecided(one: Leading) -> int:
    return 0 if one.tests is None else int(np.count_nonzero(~one.tests.decided))


def _next(document: RankDocument) -> list[str]:
    """What to ask next."""
    asked = {
        option("weight", "NAME=…"): any(one.trade and not one.weighed for one in document.leading.values()),
        option("per_task", True): document.suite is not None and not document.per_task,
        option("per_metric", True): len(document.means) > 1 and len(document.leading) == 1,
    }
    return [text for text, wanted in asked.items() if wanted]
