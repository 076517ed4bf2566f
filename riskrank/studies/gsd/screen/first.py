"""First screen of ``gsd``: means and dominated models, followed by the details."""

from collections.abc import Callable, Iterator

import numpy as np

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.engine.types import Booleans
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS, metric_head
from riskrank.render.screens import (
    MOST_METRICS,
    MOST_ROWS,
    as_details,
    hidden_count_lines,
    more_metrics_lines,
)
from riskrank.render.view import Cell, Column, Line, ModelColumn, RowColumn, Section, Table, build_table
from riskrank.studies.gsd.document import GsdDocument
from riskrank.studies.gsd.screen.front import baseline_tables, front_tables, witness_tables
from riskrank.studies.gsd.screen.hasse import hasse_table
from riskrank.studies.wording import counted, detection_limit_words


def details(document: GsdDocument) -> Iterator[Section]:
    """Yield diagram, incomparable pairs, front and tests for each threshold, then the requested analyses."""
    for i, analysis in enumerate(document.analyses):
        yield from _relation_sections(i, document)
        yield from _pair_sections(analysis, document)
    yield from requested_sections(document)
    yield _reading(document)
    yield from _tests_line(document)


def requested_sections(document: GsdDocument) -> Iterator[Section]:
    """Yield the additional analyses that were requested: front tests, witnesses and rank tests."""
    models, level = document.provenance.models, document.relabelling.family.interval_level(1)
    for front in document.front_tests:
        yield from front_tables(front, models, level)
    for explanation in document.explanations:
        yield from witness_tables(explanation, models, document.criteria)
    if document.baselines is not None:
        yield from baseline_tables(document.baselines, models, document.criteria, level)


def _relation_sections(index: int, document: GsdDocument) -> Iterator[Section]:
    """Yield the diagram, the incomparable pairs and the front at one threshold."""
    analysis, models = document.analyses[index], document.provenance.models
    label = str(analysis.threshold)
    for earlier in document.analyses[:index]:
        if np.array_equal(earlier.relation.dominates, analysis.relation.dominates):
            yield Line(f"the same as at {earlier.threshold}.", f"Relation at {label}:")
            return
    pairs = [f"{models[i]}–{models[j]}" for i, j in analysis.incomparable]
    front = [name for name, in_front in zip(models, analysis.front, strict=True) if in_front]
    yield hasse_table(analysis, models, title=f"Dominance relation, {label}")
    yield Line(", ".join(pairs) + "." if pairs else "no pair.", "Incomparable:")
    yield Line(", ".join(front) + ".", "Front:")
    if analysis.hasse.implied:
        implied = [f"{models[i]} over {models[j]}" for i, j in analysis.hasse.implied]
        yield Line(f"implied only through other models: {', '.join(implied)}.", "Note:", "yellow")


def _pair_sections(analysis: GsdAnalysis, document: GsdDocument) -> list[Section]:
    """Return a table of the pairs with dominance or a test, at one threshold."""
    pairs = [
        pair
        for pair in np.ndindex(analysis.relation.optimum.shape)
        if pair[0] != pair[1] and (analysis.relation.dominates[pair] or pair in analysis.tests)
    ]
    if not pairs:
        return []
    level = {model: analysis.hasse.levels[n] for n, node in enumerate(analysis.hasse.nodes) for model in node}
    pairs.sort(
        key=lambda pair: (not analysis.relation.dominates[pair], level[pair[0]], pair[0], level[pair[1]])
    )
    tested, relabelling, models = bool(analysis.tests), document.relabelling, document.provenance.models
    adjusted, contaminated = (
        tested and relabelling.family.correction != "none",
        tested and relabelling.contamination,
    )
    p, survives = analysis.p_adjusted, analysis.tolerated_samples
    smaller = Column("smaller", name="share smaller")
    columns: list[RowColumn | None] = [
        (Column("better", "left"), lambda pair: models[pair[0]]),
        (Column("worse", "left"), lambda pair: models[pair[1]]),
        (Column("optimum"), lambda pair: numbers.format_score(float(analysis.relation.optimum[pair]))),
        (smaller, lambda pair: numbers.format_ratio(analysis.tests[pair].share_smaller)) if tested else None,
        (Column("p"), lambda pair: numbers.format_p_value(analysis.tests[pair].p_value)) if tested else None,
        (Column("adjusted\np"), lambda pair: numbers.format_p_value(float(p[pair]))) if adjusted else None,
        (Column("survives"), lambda pair: str(survives.get(pair, "–"))) if contaminated else None,
        (Column("verdict", "left"), lambda pair: _verdict_cell(analysis, *pair)),
    ]
    return [build_table(f"Dominance at {analysis.threshold!s}", columns, pairs, stub=2)]


def _verdict_cell(analysis: GsdAnalysis, i: int, j: int) -> Cell:
    """Return a cell with the verdict on a pair: no dominance, in the sample only, or significant."""
    dominates = analysis.relation.dominates
    if not dominates[i, j]:
        return Cell("no dominance", "dim")
    if dominates[j, i]:
        return Cell("equal for every utility", "dim")
    if (i, j) not in analysis.tests:
        return Cell("dominates")
    if analysis.significant[i, j]:
        return Cell("significant", "green")
    return Cell("undecided" if analysis.undecided[i, j] else "in the sample only", "dim")


def _reading(document: GsdDocument) -> Line:
    """Return a line that explains how to read the tables."""
    relabelling, first = document.relabelling, document.analyses[0]
    parts = [
        "Dominance: at least as good in expectation under every utility that respects the metrics. "
        "Optimum: smallest advantage under any of these utilities, from −1 to 1."
    ]
    if relabelling.pairs != "none":
        parts.append("Smaller: share of relabellings with a smaller optimum; p: with an optimum as large.")
    if relabelling.contamination:
        parts.append("Survives: number of samples that could be arbitrary without loss of significance.")
    largest = "ξ" if first.threshold.rows == "r1+r2" else "δ_max"
    parts.append(f"Largest possible threshold, {largest}: {numbers.format_score(first.relation.delta_max)}.")
    return Line(" ".join(parts), "Reading:")


def _tests_line(document: GsdDocument) -> list[Line]:
    """Return a line about the relabelling tests, or an empty list without tests."""
    relabelling, k = document.relabelling, len(document.provenance.models)
    if relabelling.pairs == "none":
        return []
    swaps = {"swap": f"swaps of two models' scores within {document.unit}s"}
    kind = swaps.get(relabelling.resampling, "permutations of all scores")
    text = (
        f"relabelling by {kind}, seed {relabelling.seed}; "
        f"each family has the {counted(k * (k - 1) // 2, 'pair')} of one threshold. "
        f"{document.lps_solved:,} linear programs solved."
    )
    return [Line(text, "Tests:")]


def build_sections(document: GsdDocument) -> list[Section]:
    """Return the sections of the screen: models, requested analyses, caption, suggestions, then details."""
    return [
        _model_table(document),
        *hidden_count_lines(len(document.provenance.models) - MOST_ROWS, "model"),
        *more_metrics_lines(document.means),
        *(section for section in requested_sections(document) if isinstance(section, Line)),
        Line(_tests_caption(document)),
        Line(", ".join(_suggestions(document)), "Also:"),
        *as_details(details(document)),
    ]


def _model_table(document: GsdDocument) -> Table:
    """Return a table of the models in diagram order, each with the models that it dominates."""
    analysis, models, means = document.analyses[-1], document.provenance.models, document.means
    level = {i: analysis.hasse.levels[n] for n, node in enumerate(analysis.hasse.nodes) for i in node}
    order = sorted(range(len(models)), key=lambda i: (level[i], i))
    number = {i: at for at, i in enumerate(order, 1)}
    columns: list[ModelColumn] = [
        (Column(""), lambda i: str(number[i])),
        (Column("model", "left"), lambda i: Cell(models[i], "" if level[i] else "bold")),
        *((Column(metric_head(mean)), mean.format_mean) for mean in means[:MOST_METRICS]),
        (Column("as good as", "left"), _related_numbers(analysis.relation.dominates, number)),
    ]
    if analysis.tests:
        columns.append((Column("significantly", "left"), _related_numbers(analysis.significant, number)))
    return build_table("", columns, order[:MOST_ROWS], stub=2)


def _related_numbers(relation: Booleans, number: dict[int, int]) -> Callable[[int], str]:
    """Return a function that lists the numbers of the models to which a model is related."""

    def cell(i: int) -> str:
        return numbers.format_ranges(number[j] for j in np.flatnonzero(relation[i]).tolist() if j != i) or "–"

    return cell


def _tests_caption(document: GsdDocument) -> str:
    """Return a caption with the sample size, the detection limit, the threshold and the tests."""
    samples, relabelling, analysis = document.provenance.samples, document.relabelling, document.analyses[-1]
    effective_size = next(
        int(finding.figures["effective_size"])
        for finding in document.findings
        if finding.kind == "detection-limit"
    )
    size = f"{counted(samples, document.unit)} ({detection_limit_words(effective_size)})"
    if not analysis.tests:
        return f"{size}; nothing was tested ({analysis.threshold})."
    rule = f"{relabelling.family.text}, {CORRECTIONS[relabelling.family.correction]}"
    k, n_separated = len(document.about), int(np.triu(analysis.significant | analysis.significant.T, 1).sum())
    pairs = f"{n_separated} of {counted(k * (k - 1) // 2, 'pair')} separated"
    method = f"GSD, {analysis.threshold}, at most {relabelling.resamples:,} relabellings, {rule}"
    return f"{size}; {pairs} ({method})."


def _suggestions(document: GsdDocument) -> list[str]:
    """Return options to try next, such as a small threshold if all tested optima are zero."""
    suggestions = [option("explain", True)]
    if document.baselines is None:
        suggestions.insert(0, option("baselines", True))
    tests = [test for analysis in document.analyses for test in analysis.tests.values()]
    if tests and max(test.optimum for test in tests) == 0:
        suggestions.insert(0, f"{option('delta', '0.00001')} (stronger tests)")
    return suggestions
