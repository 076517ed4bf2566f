"""First screen of ``dominance``: raw means, models beaten, and significantly different pairs."""

from collections.abc import Callable, Sequence

import numpy as np

from riskrank.engine.dominance.tests import DominanceTests
from riskrank.errors import option
from riskrank.options.interfaces import join_commas
from riskrank.render import numbers
from riskrank.render.mean_tables import (
    CORRECTIONS,
    combined_score_lines,
    describe_samples,
    metric_head,
    separation_line,
    side_by_side_table,
    tail_columns,
)
from riskrank.render.screens import (
    MOST_METRICS,
    MOST_ROWS,
    also_lines,
    follow_up_sections,
    hidden_count_lines,
    more_metrics_lines,
)
from riskrank.render.view import Column, Line, ModelColumn, Section, build_table
from riskrank.studies.detectable_difference import detectable_suffix
from riskrank.studies.dominance.findings import DominanceColumn
from riskrank.studies.dominance.screen.detail import details
from riskrank.studies.dominance.study import DominanceDocument
from riskrank.studies.suites.screen import details as task_details
from riskrank.studies.suites.screen import suite_sections as task_screen
from riskrank.studies.wording import claim_words, tests_words

# Longest list of model numbers, and most metrics that leave room for the first-order column.
_MAX_LIST, _MAX_METRICS = 9, 3


def build_sections(document: DominanceDocument) -> list[Section]:
    """Return the sections of the screen: main table, tests and suggested options, then the details."""
    column, *more_columns = document.by_column
    sections, suite = (
        _column_table(document) if more_columns else _single_column(document, column),
        document.suite,
    )
    tasks: list[Section] = []
    if suite is not None:
        listed = {column.name: column.ranking[:MOST_ROWS] for column in document.by_column}
        sections += task_screen(suite, listed, document.more, per_task=document.per_task)
        tasks = task_details(suite, per_task=document.per_task)
    return [
        *sections,
        _test_line(document),
        *follow_up_sections(
            [*also_lines(document.more), *tasks, *details(document)], *_suggested_options(document)
        ),
    ]


def _single_column(document: DominanceDocument, column: DominanceColumn) -> list[Section]:
    """Return a table with each model's means, tail means and the models that it beats."""
    models, means = document.provenance.models, document.means
    order = column.ranking
    listed, number = order[:MOST_ROWS], {i: position for position, i in enumerate(order, 1)}
    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: models[i]),
        *((Column(metric_head(mean)), mean.format_mean) for mean in means[:MOST_METRICS]),
        *tail_columns(column.name, means, column.tail),
    ]
    stub = 1
    if len(models) > 2:
        columns.insert(0, (Column(""), lambda i: str(number[i])))
        stub = 2
        columns.append((Column("ahead of", "left"), _beaten_models(column.primary, number, listed)))
        first = column.by_order.get(1, column.primary)
        if len(means) <= _MAX_METRICS and not np.array_equal(first.dominates, column.primary.dominates):
            columns.append(
                (Column("ahead of\n(order 1)", "left", optional=True), _beaten_models(first, number, listed))
            )
    table = build_table("", columns, listed, stub=stub)
    below = [*hidden_count_lines(len(order) - len(listed), "model"), *more_metrics_lines(means)]
    return [table, *below, *combined_score_lines(column.name, document)]


def _beaten_models(
    tests: DominanceTests, number: dict[int, int], listed: Sequence[int]
) -> Callable[[int], str]:
    """Return a function that lists the numbers of the models a model beats, or counts them if many."""
    texts = {
        i: numbers.format_ranges(number[j] for j in np.flatnonzero(tests.dominates[i]).tolist()) or "–"
        for i in listed
    }
    if max(map(len, texts.values())) <= _MAX_LIST:
        return texts.__getitem__
    return lambda i: f"{int(tests.dominates[i].sum())} of {len(number) - 1}"


def _column_table(document: DominanceDocument) -> list[Section]:
    """Return a table with each model's mean and number of beaten models on several score columns."""
    columns = document.by_column
    ratios = np.sum(
        [column.study.estimates.ratios[column.primary.claim.order - 1] for column in columns], axis=0
    )
    order = np.argsort(ratios.sum(axis=1), kind="stable")[:MOST_ROWS].tolist()

    def ahead_of(at: int, i: int) -> str:
        return str(columns[at].primary.dominates[i].sum())

    models, names = document.provenance.models, [column.name for column in columns]
    return side_by_side_table(models, document.means, names, order, ahead_of, "ahead of")


def _test_line(document: DominanceDocument) -> Line:
    """Return a line on sample size, detection limits, significantly different pairs and tests."""
    columns, inference = document.by_column, document.inference
    if not inference.test:
        return Line(f"{describe_samples(columns[0].scores)}; nothing was tested.")
    k, power = len(document.provenance.models), detectable_suffix(document.means, document.detectable)
    if k == 2 and len(columns) == 1:
        rule = "k²" if inference.paper_exact else CORRECTIONS[inference.family.correction]
        size, p = describe_samples(columns[0].scores), _pair_p_values(columns[0])
        return Line(f"{size}; {p} ({inference.family.text}, {rule}){power}.")
    leading, on = columns[0].primary, f" on {columns[0].name}" if len(columns) == 1 else ""
    return separation_line(
        columns[0].scores,
        inference,
        {
            column.name: int((column.primary.dominates | column.primary.dominates.T).sum()) // 2
            for column in columns
        },
        k * (k - 1) // 2,
        f"{tests_words(claim_words(leading.claim), leading)}{on}",
        sum(int(np.count_nonzero(~column.primary.decided)) for column in columns),
        power,
    )


def _pair_p_values(column: DominanceColumn) -> str:
    """Return the p-values of all claims tested on the only pair, in the direction closer to significance."""
    parts = []
    for _, tests in sorted(column.by_order.items()):
        assert tests.p_adjusted is not None
        p = min(float(tests.p_adjusted[0, 1]), float(tests.p_adjusted[1, 0]))
        parts.append(
            f"{tests_words(claim_words(tests.claim), tests)} on {column.name} p = {numbers.format_p_value(p)}"
        )
    return ", ".join(parts)


def _suggested_options(document: DominanceDocument) -> list[str]:
    """Return options to suggest for this result."""
    models = document.provenance.models
    best_two = join_commas([models[i] for i in document.by_column[0].ranking[:2]])
    conditions = {
        option("models", best_two): len(models) > 2,
        option("per_task", True): document.suite is not None and not document.per_task,
        option("per_metric", True): len(document.means) > 1 and len(document.by_column) == 1,
    }
    return [text for text, condition in conditions.items() if condition]
