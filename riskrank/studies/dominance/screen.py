"""Screen of ``dominance``: models beaten, significantly different pairs, and details of all claims."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, compress

import numpy as np

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, RELATIVE
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.types import Booleans
from riskrank.errors import option
from riskrank.options.interfaces import join_commas
from riskrank.render import mean_tables, numbers, screens
from riskrank.render.text_charts import interval_bars
from riskrank.render.view import Cell, Column, Line, ModelColumn, RowColumn, Section, Table, build_table
from riskrank.studies.dominance.findings import DominanceColumn
from riskrank.studies.dominance.study import DominanceDocument
from riskrank.studies.metric_means import detectable_suffix
from riskrank.studies.suites.screen import details as task_details
from riskrank.studies.suites.screen import suite_sections as task_screen
from riskrank.studies.wording import claim_words, decimals_for_gaps, format_fixed, tests_words

# Longest list of model numbers, and most metrics that leave room for the first-order column.
_MAX_LIST, _MAX_METRICS = 9, 3


def build_sections(document: DominanceDocument) -> list[Section]:
    """Return the sections of the screen: main table, tests and suggested options, then the details."""
    (column, *more_columns), suite, tasks = document.by_column, document.suite, list[Section]()
    sections = _multi_column_table(document) if more_columns else _single_column_sections(document, column)
    if suite is not None:
        listed = {column.name: column.ranking[: screens.MOST_ROWS] for column in document.by_column}
        sections += task_screen(suite, listed, document.more, per_task=document.per_task)
        tasks = task_details(suite, per_task=document.per_task)
    models = document.provenance.models
    suggestions = {
        option("models", join_commas([models[i] for i in column.ranking[:2]])): len(models) > 2,
        option("per_task", True): suite is not None and not document.per_task,
        option("per_metric", True): len(document.means) > 1 and not more_columns,
    }
    follow_up = [*screens.further_sentence_lines(document.more), *tasks, *details(document)]
    suggested = compress(suggestions, suggestions.values())
    return [*sections, _test_line(document), *screens.follow_up_sections(follow_up, *suggested)]


def _single_column_sections(document: DominanceDocument, column: DominanceColumn) -> list[Section]:
    """Return a table with each model's means, tail means and the models that it beats."""
    models, means = document.provenance.models, document.means
    order = column.ranking
    listed, number = order[: screens.MOST_ROWS], {i: position for position, i in enumerate(order, 1)}
    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: models[i]),
        *(
            (Column(mean_tables.metric_head(mean)), mean.format_mean)
            for mean in means[: screens.MOST_METRICS]
        ),
        *mean_tables.tail_columns(column.name, means, column.tail),
    ]
    stub = 1
    if len(models) > 2:
        columns.insert(0, (Column(""), lambda i: str(number[i])))
        stub = 2
        columns.append((Column("ahead of", "left"), _beaten_models(column.primary, number, listed)))
        first = column.tests_by_order.get(1, column.primary)
        if len(means) <= _MAX_METRICS and not np.array_equal(first.dominates, column.primary.dominates):
            columns.append(
                (Column("ahead of\n(order 1)", "left", optional=True), _beaten_models(first, number, listed))
            )
    table = build_table("", columns, listed, stub=stub)
    below = [
        *screens.hidden_count_lines(len(order) - len(listed), "model"),
        *screens.more_metrics_lines(means),
    ]
    return [table, *below, *mean_tables.combined_score_lines(column.name, document)]


def _beaten_models(
    tests: DominanceTests, number: dict[int, int], listed: Sequence[int]
) -> Callable[[int], str]:
    """Return a function of a model that formats the row numbers of the models it beats.

    If the lists are too long, the function returns the number of beaten models.

    Parameters
    ----------
    tests : DominanceTests
        Test results of all pairs of models.
    number : dict of int to int
        Row number of each model.
    listed : sequence of int
        Models in the table.
    """
    texts = {
        i: numbers.format_ranges(number[j] for j in np.flatnonzero(tests.dominates[i]).tolist()) or "–"
        for i in listed
    }
    if max(map(len, texts.values())) <= _MAX_LIST:
        return texts.__getitem__
    return lambda i: f"{int(tests.dominates[i].sum())} of {len(number) - 1}"


def _multi_column_table(document: DominanceDocument) -> list[Section]:
    """Return a table with each model's means and, for each score, the number of models that it beats."""
    columns = document.by_column
    ratios = np.sum(
        [column.study.estimates.ratios[column.primary.claim.order - 1] for column in columns], axis=0
    )
    order = np.argsort(ratios.sum(axis=1), kind="stable")[: screens.MOST_ROWS].tolist()

    def ahead_of(at: int, i: int) -> str:
        """Return the number of models that model `i` beats on score number `at`, as text."""
        return str(columns[at].primary.dominates[i].sum())

    models, names = document.provenance.models, [column.name for column in columns]
    return mean_tables.side_by_side_table(models, document.means, names, order, ahead_of, "ahead of")


def _test_line(document: DominanceDocument) -> Line:
    """Return a line about sample size, detection limits, and the number of significantly different pairs."""
    columns, inference = document.by_column, document.inference
    if not inference.test:
        return Line(f"{mean_tables.describe_samples(columns[0].scores)}; nothing was tested.")
    k, power = len(document.provenance.models), detectable_suffix(document.means, document.detectable)
    if k == 2 and len(columns) == 1:
        rule = "k²" if inference.paper_exact else mean_tables.CORRECTIONS[inference.family.correction]
        size, p = mean_tables.describe_samples(columns[0].scores), _pair_p_values(columns[0])
        return Line(f"{size}; {p} ({inference.family.text}, {rule}){power}.")
    leading, on = columns[0].primary, f" on {columns[0].name}" if len(columns) == 1 else ""
    return mean_tables.separation_line(
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
    """Return a phrase with the p-value of each test of two models, the smaller one of both directions."""
    parts = []
    for _, tests in sorted(column.tests_by_order.items()):
        p = numbers.format_p_value(min(tests.bounded_p_value((0, 1)), tests.bounded_p_value((1, 0))))
        relation = p[:1] if p[0] in "<≤" else "="
        words = tests_words(claim_words(tests.claim), tests)
        parts.append(f"{words} on {column.name} p {relation} {p.lstrip('<≤')}")
    return ", ".join(parts)


ORDERS = {1: "FSD", 2: "SSD"}
WHY_COUNTS_DIFFER = (
    "Direct and relative tests can count different pairs: a mean over all models is more stable than one "
    "comparison, and it depends on the models in the table."
)


def details(document: DominanceDocument) -> Iterator[Section]:
    """Yield tables with one row per pair of models, followed by a guide to reading them."""
    models, inference = document.provenance.models, document.inference
    for column in document.by_column:
        yield _pair_table(column, models)
    first = document.by_column[0]
    yield reading_guide(document)
    yield mean_tables.inference_line(first.study, inference, models, first.scores)


def reading_guide(document: DominanceDocument) -> Line:
    """Return a line that explains how to read the tables."""
    inference, unit = document.inference, document.by_column[0].units.label
    below = "significantly below" if inference.test else "below"
    p = interval_note = count_note = ""
    if {DIRECT, RELATIVE} <= {tests.claim.kind for tests in document.by_column[0].study.tests}:
        count_note = f" {WHY_COUNTS_DIFFER}"
    if inference.test:
        p = " p: adjusted p-value. ~: extrapolated. ?: needs more resamples."
        p += " ≤: upper bound, as no resample contradicts the claim." if inference.uses_resampling else ""
    if inference.uses_resampling:
        interval_note = ", with a pointwise interval"
    text = (
        "ε is the violation ratio of “better dominates worse”: 0 if better everywhere, 0.5 for a draw. "
        f"ahead: ε is {below} ½ in first (FSD) or second order (SSD), whatever the other models are. "
        f"dominates: ahead, and ε = 0. R-FSD, R-SSD: ahead relative to all models.{count_note} "
        f"τ: smallest threshold that ε is {below}. mean worse: the model ahead has the worse mean."
        f"{p} difference: mean {unit} of better minus worse{interval_note}."
    )
    return Line(text, "Reading:")


def _pair_table(column: DominanceColumn, models: Sequence[str]) -> Table:
    """Return a table with one row per pair of models, the better model first."""
    study = column.study
    orders = sorted({tests.claim.order for tests in study.tests})
    leading = study.estimates.ratios[orders[-1] - 1]
    overall = leading.sum(axis=1)
    pairs = [
        (i, j) if leading[i, j] < 0.5 or (leading[i, j] == 0.5 and overall[i] <= overall[j]) else (j, i)
        for i, j in combinations(range(len(models)), 2)
    ]
    pairs.sort(key=lambda pair: (overall[pair[0]], pair[0], overall[pair[1]], pair[1]))
    differences, bars = _difference_columns(column, pairs)
    columns: list[RowColumn] = [
        (Column("better", "left"), lambda pair: models[pair[0]]),
        (Column("worse", "left"), lambda pair: models[pair[1]]),
        *(cell for order in orders for cell in _order_columns(study, order)),
        *differences,
        (Column("verdict", "left"), lambda pair: _verdict_cell(column, orders, *pair)),
        *bars,
    ]
    title = f"Stochastic dominance on {mean_tables.score_label(column.name)}"
    return build_table(title, columns, pairs, stub=2)


def _order_columns(study: DominanceStudy, order: int) -> Iterator[RowColumn]:
    """Yield the columns for one order of dominance: violation ratio, p-values, and smallest threshold."""
    name, ratios = ORDERS[order], study.estimates.ratios[order - 1]
    deciding, absolute = _tests_of_order(study, order)
    yield Column(f"{name}\nε"), lambda pair: numbers.format_ratio(ratios[pair])
    for tests in deciding:
        if tests.p_value is not None:
            head = tests.claim.method if tests.claim.kind == RELATIVE else name
            yield Column(f"{head}\np"), partial(_p_cell, tests)
    if absolute:
        thresholds = [(f"{tests.claim.boundary:g}", tests.dominates) for tests in absolute]
        yield (
            Column(f"{name}\nτ"),
            lambda pair: next((text for text, dominates in thresholds if dominates[pair]), "–"),
        )


def _tests_of_order(study: DominanceStudy, order: int) -> tuple[list[DominanceTests], list[DominanceTests]]:
    """Return two lists of tests of one order of dominance.

    The first has direct and relative tests. The second has absolute tests sorted by threshold.
    """
    tests_of_order = [tests for tests in study.tests if tests.claim.order == order]
    deciding = [tests for tests in tests_of_order if tests.claim.kind != ABSOLUTE]
    deciding.sort(key=lambda tests: tests.claim.kind == RELATIVE)
    absolute = [tests for tests in tests_of_order if tests.claim.kind == ABSOLUTE]
    return deciding, sorted(absolute, key=lambda tests: tests.claim.boundary)


def _p_cell(tests: DominanceTests, pair: tuple[int, int]) -> str:
    """Format the adjusted p-value of a pair with a mark: ~ extrapolated, ? undecided, ≤ upper bound."""
    mark = "~" if tests.extrapolated[pair] else "" if tests.decided[pair] else "?"
    p_value = tests.bounded_p_value(pair)
    return mark + numbers.format_p_value(float(p_value) if mark else p_value)


def _difference_columns(
    column: DominanceColumn, pairs: Sequence[tuple[int, int]]
) -> tuple[list[RowColumn], list[RowColumn]]:
    """Return two lists of columns: mean differences with intervals, and bars that show the intervals.

    Differences are in the units of the input file. Without intervals, the second list is empty.
    """
    estimate, low, high = column.units.estimates(column.differences)
    if low is None or high is None:
        digits = decimals_for_gaps(estimate.ravel().tolist())
        return [(Column("difference"), lambda pair: format_fixed(float(estimate[pair]), digits))], []
    decimals, at = numbers.interval_decimals(low, high), tuple(np.array(pairs).T)
    bars = dict(zip(pairs, interval_bars(estimate[at], low[at], high[at], mark=0.0), strict=True))
    columns: list[RowColumn] = [
        (Column("difference"), lambda pair: format_fixed(float(estimate[pair]), decimals)),
        (
            Column("interval", "left"),
            lambda pair: numbers.format_difference_interval(float(low[pair]), float(high[pair]), decimals),
        ),
    ]
    return columns, [(Column("difference", "left", medium="terminal"), bars.__getitem__)]


def _verdict_cell(column: DominanceColumn, orders: Sequence[int], i: int, j: int) -> Cell:
    """Return a cell with the verdict on whether model `i` dominates model `j`, by order of dominance.

    `orders` has the tested orders. Only a violation ratio of 0 is called dominance.
    """
    if column.study.estimates.identical[i, j]:
        return Cell("same distribution", "dim")
    phrases, undecided = dict[str, list[str]](), False
    for order in orders:
        deciding, absolute = _tests_of_order(column.study, order)
        checked = deciding[:1] or absolute
        claim, is_absolute = checked[0].claim, checked[0].claim.kind == ABSOLUTE
        name = claim.method if claim.kind == RELATIVE else ORDERS[order]
        if any(tests.dominates[i, j] for tests in checked):
            full = claim.kind == DIRECT and checked[0].ratios[i, j] == 0
            word = "dominates" if full else "almost dominates" if is_absolute else "ahead"
            phrases.setdefault(word, []).append(name)
        if any(tests.dominates[j, i] for tests in checked):
            phrases.setdefault("almost dominated" if is_absolute else "behind", []).append(name)
        undecided |= any(not tests.decided[i, j] for tests in checked)
    if not phrases:
        return Cell("not decided" if undecided else "not separated", "dim")
    text = ", ".join(f"{word} ({', '.join(names)})" for word, names in phrases.items())
    mixed = bool(_ahead_with_worse_mean(column)[i, j]) or "behind" in phrases or "almost dominated" in phrases
    text += ", mean worse" if _ahead_with_worse_mean(column)[i, j] else ""
    return Cell(text, "yellow" if mixed else "green")


def _ahead_with_worse_mean(column: DominanceColumn) -> Booleans:
    """Return a mask of the pairs in which model i is ahead of j but has the worse mean, shape (k, k).

    If tests were run, the mean must be significantly worse.
    """
    difference, tests = column.differences, column.study.tests
    ahead = np.logical_or.reduce([test.dominates for test in tests])
    if tests[0].p_value is None:
        return np.asarray(ahead & (difference.estimate < 0))
    if difference.high is None:
        return np.zeros_like(ahead)
    return np.asarray(ahead & (difference.high < 0))
