"""The first screen of dominance: raw means, whom each model is ahead of, and how many pairs differ."""

from collections.abc import Callable, Sequence

import numpy as np

from riskrank.engine.dominance.tests import DominanceTests
from riskrank.errors import option
from riskrank.options.flags import among_commas
from riskrank.render import numbers
from riskrank.render.mean_tables import (
    CORRECTIONS,
    combined_score_lines,
    metric_head,
    describe_samples,
    side_by_side_table,
    separation_line,
    tail_columns,
)
from riskrank.render.screens import (
    MOST_METRICS,
    MOST_ROWS,
    also_lines,
    more_metrics_lines,
    follow_up_sections,
    hidden_count_lines,
)
from riskrank.render.view import Column, Line, ModelColumn, Section, build_table
from riskrank.studies.detectable_difference import could_show
from riskrank.studies.dominance.findings import DominanceColumn
from riskrank.studies.dominance.screen.detail import details
from riskrank.studies.dominance.study import DominanceDocument
from riskrank.studies.suites.screen import details as task_details
from riskrank.studies.suites.screen import suite_sections as task_screen
from riskrank.studies.wording import claim_words, tests_words

# A list of numbers no longer than this, and metrics beside which the first order has room.
_SHORT, _FEW_METRICS = 9, 3


def view(document: DominanceDocument) -> list[Section]:
    """One table, the tests in a line, and what to ask next; then everything for who asks."""
    one, *others = document.by_column
    shown, suite = _side_by_side(document) if others else _alone(document, one), document.suite
    chapter: list[Section] = []
    if suite is not None:
        of_models = {column.name: column.standing[:MOST_ROWS] for column in document.by_column}
        shown += task_screen(suite, of_models, document.more, per_task=document.per_task)
        chapter = task_details(suite, per_task=document.per_task)
    return [
        *shown,
        _tests(document),
        *follow_up_sections([*also_lines(document.more), *chapter, *details(document)], *_next(document)),
    ]


def _alone(document: DominanceDocument, one: DominanceColumn) -> list[Section]:
    """One column: means of all metrics, worst cases, and whom each model is ahead of by its number."""
    models, means = document.provenance.models, document.means
    order = one.standing
    shown, number = order[:MOST_ROWS], {i: at for at, i in enumerate(order, 1)}
    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: models[i]),
        *((Column(metric_head(mean)), mean.of) for mean in means[:MOST_METRICS]),
        *tail_columns(one.name, means, one.tail),
    ]
    stub = 1
    if len(models) > 2:
        columns.insert(0, (Column(""), lambda i: str(number[i])))
        stub = 2
        columns.append((Column("ahead of", "left"), _ahead_of(one.leading, number, shown)))
        first = one.orders.get(1, one.leading)
        if len(means) <= _FEW_METRICS and not np.array_equal(first.dominates, one.leading.dominates):
            columns.append(
                (Column("ahead of\n(order 1)", "left", optional=True), _ahead_of(first, number, shown))
            )
    table = build_table("", columns, shown, stub=stub)
    below = [*hidden_count_lines(len(order) - len(shown), "model"), *more_metrics_lines(means)]
    return [table, *below, *combined_score_lines(one.name, document)]


def _ahead_of(tests: DominanceTests, number: dict[int, int], shown: Sequence[int]) -> Callable[[int], str]:
    """Numbers of the models that one is ahead of, or how many where they are no short list."""
    found = {
        i: numbers.format_ranges(number[j] for j in np.flatnonzero(tests.dominates[i]).tolist()) or "–"
        for i in shown
    }
    if max(map(len, found.values())) <= _SHORT:
        return found.__getitem__
    return lambda i: f"{int(tests.dominates[i].sum())} of {len(number) - 1}"


def _side_by_side(document: DominanceDocument) -> list[Section]:
    """Several columns: each model's mean with the number of others it is ahead of."""
    columns = document.by_column
    together = np.sum([one.study.estimates.ratios[one.leading.claim.order - 1] for one in columns], axis=0)
    order = np.argsort(together.sum(axis=1), kind="stable")[:MOST_ROWS].tolist()

    def ahead_of(at: int, i: int) -> str:
        return str(columns[at].leading.dominates[i].sum())

    models, names = document.provenance.models, [one.name for one in columns]
    return side_by_side_table(models, document.means, names, order, ahead_of, "ahead of")


def _tests(document: DominanceDocument) -> Line:
    """Samples and what they cannot see, pairs told apart, and by which tests."""
    columns, inference = document.by_column, document.inference
    if not inference.test:
        return Line(f"{describe_samples(columns[0].scores)}; nothing was tested.")
    k, power = len(document.provenance.models), could_show(document.means, document.visible)
    if k == 2 and len(columns) == 1:
        rule = "k²" if inference.paper_exact else CORRECTIONS[inference.family.correction]
        size, p = describe_samples(columns[0].scores), _p_values(columns[0])
        return Line(f"{size}; {p} ({inference.family.text}, {rule}){power}.")
    leading, on = columns[0].leading, f" on {columns[0].name}" if len(columns) == 1 else ""
    return separation_line(
        columns[0].scores,
        inference,
        {one.name: int((one.leading.dominates | one.leading.dominates.T).sum()) // 2 for one in columns},
        k * (k - 1) // 2,
        f"{tests_words(claim_words(leading.claim), leading)}{on}",
        sum(int(np.count_nonzero(~one.leading.decided)) for one in columns),
        power,
    )


def _p_values(one: DominanceColumn) -> str:
    """Of a pair, the p-value of every claim that was looked at, of the side that is ahead or nearer to it."""
    found = []
    for _, tests in sorted(one.orders.items()):
        assert tests.p_adjusted is not None
        p = min(float(tests.p_adjusted[0, 1]), float(tests.p_adjusted[1, 0]))
        found.append(
            f"{tests_words(claim_words(tests.claim), tests)} on {one.name} p = {numbers.format_p_value(p)}"
        )
    return ", ".join(found)


def _next(document: DominanceDocument) -> list[str]:
    """What to ask next."""
    models = document.provenance.models
    first = among_commas([models[i] for i in document.by_column[0].standing[:2]])
    asked = {
        option("models", first): len(models) > 2,
        option("per_task", True): document.suite is not None and not document.per_task,
        option("per_metric", True): len(document.means) > 1 and len(document.by_column) == 1,
    }
    return [text for text, wanted in asked.items() if wanted]
