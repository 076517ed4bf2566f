"""Tests of dominance in detail: a row a pair, every claim, and how to read them."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, RELATIVE
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.types import Booleans
from riskrank.render import numbers
from riskrank.render.mean_tables import score_label, inference_line
from riskrank.render.text_charts import interval_bars
from riskrank.render.view import Cell, Column, Line, RowColumn, Section, Table, build_table
from riskrank.studies.dominance.findings import DominanceColumn
from riskrank.studies.dominance.study import DominanceDocument
from riskrank.studies.wording import decimals_apart, rounded

ORDERS = {1: "FSD", 2: "SSD"}
WHY_COUNTS_DIFFER = (
    "The two need not count the same pairs: a mean over the field is steadier than one comparison, and it "
    "hangs on who is in the field."
)


def details(document: DominanceDocument) -> Iterator[Section]:
    """Tables in words: a row a pair, the better model first."""
    models, inference = document.provenance.models, document.inference
    for column in document.by_column:
        yield _pair_table(column, models)
        if document.ratios:
            yield from (_matrix(column.name, tests, models) for tests in column.study.tests)
    first = document.by_column[0]
    yield reading(document)
    yield inference_line(first.study, inference, models, first.scores)


def reading(document: DominanceDocument) -> Line:
    """How to read the tables."""
    inference, unit = document.inference, document.by_column[0].units.label
    below = "significantly below" if inference.test else "below"
    p = alone = differ = ""
    if {DIRECT, RELATIVE} <= {tests.claim.kind for tests in document.by_column[0].study.tests}:
        differ = f" {WHY_COUNTS_DIFFER}"
    if inference.test:
        p = " p: adjusted p-value; ~: from the extrapolated tail; ?: more resamples would decide"
        p += "; ≤: at most so much, which is as far as so many can tell." if inference.resampled else "."
    if inference.resampled:
        alone = ", with an interval for this pair alone"
    text = (
        "ε is the violation ratio of “better dominates worse”: 0 everywhere better, 0.5 a draw. ahead (FSD, "
        f"SSD): ε {below} ½, better violates dominance less than worse does, whoever else is in the table; "
        f"dominates: ahead, and ε is 0; R-FSD, R-SSD: ahead relative to the field.{differ} τ: smallest "
        f"threshold that ε is {below}, at which better almost dominates. mean worse: the mean points "
        f"the other way.{p} difference: of the means of {unit}, better minus worse{alone}."
    )
    matrix = f" In a matrix, * marks that ε of row against column is {below} its threshold."
    return Line(text + matrix * document.ratios, "Reading:")


def _pair_table(column: DominanceColumn, models: Sequence[str]) -> Table:
    study = column.study
    orders = sorted({tests.claim.order for tests in study.tests})
    leading = study.estimates.ratios[orders[-1] - 1]
    overall = leading.sum(axis=1)
    pairs = [
        (i, j) if leading[i, j] < 0.5 or (leading[i, j] == 0.5 and overall[i] <= overall[j]) else (j, i)
        for i, j in combinations(range(len(models)), 2)
    ]
    pairs.sort(key=lambda pair: (overall[pair[0]], pair[0], overall[pair[1]], pair[1]))
    differences, bars = _differences(column, pairs)
    columns: list[RowColumn] = [
        (Column("better", "left"), lambda pair: models[pair[0]]),
        (Column("worse", "left"), lambda pair: models[pair[1]]),
        *(told for order in orders for told in _of_order(study, order)),
        *differences,
        (Column("verdict", "left"), lambda pair: _answer(column, orders, *pair)),
        *bars,
    ]
    return build_table(f"Stochastic dominance on {score_label(column.name)}", columns, pairs, stub=2)


def _of_order(study: DominanceStudy, order: int) -> Iterator[RowColumn]:
    """Ratios of pairs in one order, p-values of claims that decide, and the smallest threshold that held."""
    name, ratios = ORDERS[order], study.estimates.ratios[order - 1]
    deciding, absolute = _tests_of(study, order)
    yield Column(f"{name}\nε"), lambda pair: numbers.format_ratio(ratios[pair])
    for tests in deciding:
        if tests.p_value is not None:
            head = tests.claim.method if tests.claim.kind == RELATIVE else name
            yield Column(f"{head}\np"), partial(_p_cell, tests)
    if absolute:
        held = [(f"{tests.claim.boundary:g}", tests.dominates) for tests in absolute]
        yield Column(f"{name}\nτ"), lambda pair: next((text for text, of in held if of[pair]), "–")


def _tests_of(study: DominanceStudy, order: int) -> tuple[list[DominanceTests], list[DominanceTests]]:
    """Tests of one order: the direct and the relative one, and the absolute ones by threshold."""
    found = [tests for tests in study.tests if tests.claim.order == order]
    deciding = [tests for tests in found if tests.claim.kind != ABSOLUTE]
    deciding.sort(key=lambda tests: tests.claim.kind == RELATIVE)
    absolute = [tests for tests in found if tests.claim.kind == ABSOLUTE]
    return deciding, sorted(absolute, key=lambda tests: tests.claim.boundary)


def _p_cell(tests: DominanceTests, pair: tuple[int, int]) -> str:
    assert tests.p_adjusted is not None
    mark = "~" if tests.extrapolated[pair] else "" if tests.decided[pair] else "?"
    if not mark and tests.crossings is not None and tests.crossings[pair] == 0:
        mark = "≤"
    return mark + numbers.format_p_value(tests.p_adjusted[pair])


def _differences(
    column: DominanceColumn, pairs: Sequence[tuple[int, int]]
) -> tuple[list[RowColumn], list[RowColumn]]:
    """Differences of the means in the units of the file; with intervals these, and bars on one scale."""
    estimate, low, high = column.units.told(column.differences)
    if low is None or high is None:
        digits = decimals_apart(estimate.ravel().tolist())
        return [(Column("difference"), lambda pair: rounded(float(estimate[pair]), digits))], []
    decimals, at = numbers.interval_decimals(low, high), tuple(np.array(pairs).T)
    bars = dict(zip(pairs, interval_bars(estimate[at], low[at], high[at], mark=0.0), strict=True))
    told: list[RowColumn] = [
        (Column("difference"), lambda pair: rounded(float(estimate[pair]), decimals)),
        (
            Column("interval", "left"),
            lambda pair: numbers.format_difference_interval(float(low[pair]), float(high[pair]), decimals),
        ),
    ]
    return told, [(Column("difference", "left", medium="terminal"), bars.__getitem__)]


def _answer(column: DominanceColumn, orders: Sequence[int], i: int, j: int) -> Cell:
    """What was shown of a pair, in words that claim no more: an ε of 0 alone is dominance."""
    if column.study.estimates.identical[i, j]:
        return Cell("same distribution", "dim")
    found, undecided = dict[str, list[str]](), False
    for order in orders:
        deciding, absolute = _tests_of(column.study, order)
        looked_at = deciding[:1] or absolute
        claim, almost = looked_at[0].claim, looked_at[0].claim.kind == ABSOLUTE
        name = claim.method if claim.kind == RELATIVE else ORDERS[order]
        if any(tests.dominates[i, j] for tests in looked_at):
            full = claim.kind == DIRECT and looked_at[0].ratios[i, j] == 0
            word = "dominates" if full else "almost dominates" if almost else "ahead"
            found.setdefault(word, []).append(name)
        if any(tests.dominates[j, i] for tests in looked_at):
            found.setdefault("almost dominated" if almost else "behind", []).append(name)
        undecided |= any(not tests.decided[i, j] for tests in looked_at)
    if not found:
        return Cell("not decided" if undecided else "not separated", "dim")
    text = ", ".join(f"{word} ({', '.join(names)})" for word, names in found.items())
    mixed = bool(_backwards(column)[i, j]) or "behind" in found or "almost dominated" in found
    text += ", mean worse" if _backwards(column)[i, j] else ""
    return Cell(text, "yellow" if mixed else "green")


def _backwards(column: DominanceColumn) -> Booleans:
    """Pairs ``[i, j]`` of which i is ahead of j although its mean is worse; significantly, where tested."""
    difference, tests = column.differences, column.study.tests
    ahead = np.logical_or.reduce([one.dominates for one in tests])
    if tests[0].p_value is None:
        return np.asarray(ahead & (difference.estimate < 0))
    if difference.high is None:
        return np.zeros_like(ahead)
    return np.asarray(ahead & (difference.high < 0))


def _matrix(metric: str, tests: DominanceTests, models: Sequence[str]) -> Table:
    def cell(j: int, i: int) -> str:
        return (
            "·"
            if i == j
            else numbers.format_ratio(tests.ratios[i, j]) + ("*" if tests.dominates[i, j] else " ")
        )

    every = range(len(models))
    columns: list[RowColumn] = [(Column("", "left"), lambda i: f"{i + 1} {models[i]}")]
    columns += [(Column(str(j + 1)), partial(cell, j)) for j in every]
    return build_table(f"{tests.claim.method}@{metric}: violation ratios", columns, every)
