"""Generalized dominance: raw means and whom each model is as good as for every taste; then all in detail."""

from collections.abc import Callable, Iterator

import numpy as np

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.engine.types import Booleans
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS, head
from riskrank.render.screens import MOST_METRICS, MOST_ROWS, asked_for, more_metrics, unshown
from riskrank.render.view import Cell, Column, Line, OfModel, OfRow, Section, Table, by_row
from riskrank.studies.gsd.document import GsdDocument
from riskrank.studies.gsd.screen.front import baseline_view, front_view, witness_view
from riskrank.studies.gsd.screen.hasse import hasse_table
from riskrank.studies.wording import blind_to, counted


def details(document: GsdDocument) -> Iterator[Section]:
    """Diagram, incomparable pairs, front and tests, threshold by threshold; then what else was asked."""
    for at, found in enumerate(document.analyses):
        yield from _relation_view(at, document)
        yield from _pair_view(found, document)
    yield from what_else(document)
    yield _reading(document)
    yield from _tests_line(document)


def what_else(document: GsdDocument) -> Iterator[Section]:
    """What was asked for beside the relation."""
    models, level = document.provenance.models, document.relabelling.family.level(1)
    for front in document.front_tests:
        yield from front_view(front, models, level)
    for explanation in document.explanations:
        yield from witness_view(explanation, models, document.criteria)
    if document.baselines is not None:
        yield from baseline_view(document.baselines, models, document.criteria, level)


def _relation_view(at: int, document: GsdDocument) -> Iterator[Section]:
    study, models = document.analyses[at], document.provenance.models
    label = str(study.threshold)
    for earlier in document.analyses[:at]:
        if np.array_equal(earlier.relation.dominates, study.relation.dominates):
            yield Line(f"the same as at {earlier.threshold}.", f"Relation at {label}:")
            return
    pairs = [f"{models[i]}–{models[j]}" for i, j in study.incomparable]
    inside = [name for name, kept in zip(models, study.front, strict=True) if kept]
    yield hasse_table(study, models, title=f"Who dominates whom, {label}")
    yield Line(", ".join(pairs) + "." if pairs else "no pair.", "Incomparable:")
    yield Line(", ".join(inside) + ".", "Front:")
    if study.hasse.implied:
        drawn = [f"{models[i]} over {models[j]}" for i, j in study.hasse.implied]
        yield Line(f"{', '.join(drawn)} only through other models.", "Note:", "yellow")


def _pair_view(study: GsdAnalysis, document: GsdDocument) -> list[Section]:
    pairs = [
        pair
        for pair in np.ndindex(study.relation.optimum.shape)
        if pair[0] != pair[1] and (study.relation.dominates[pair] or pair in study.tests)
    ]
    if not pairs:
        return []
    level = {model: study.hasse.levels[n] for n, node in enumerate(study.hasse.nodes) for model in node}
    pairs.sort(key=lambda pair: (not study.relation.dominates[pair], level[pair[0]], pair[0], level[pair[1]]))
    tested, how, models = bool(study.tests), document.relabelling, document.provenance.models
    adjusted, held = tested and how.family.correction != "none", tested and how.contamination
    p, survives = study.p_adjusted, study.survives
    smaller = Column("smaller", name="share smaller")
    columns: list[OfRow | None] = [
        (Column("better", "left"), lambda pair: models[pair[0]]),
        (Column("worse", "left"), lambda pair: models[pair[1]]),
        (Column("optimum"), lambda pair: numbers.score(float(study.relation.optimum[pair]))),
        (smaller, lambda pair: numbers.ratio(study.tests[pair].share_smaller)) if tested else None,
        (Column("p"), lambda pair: numbers.p_value(study.tests[pair].p_value)) if tested else None,
        (Column("adjusted\np"), lambda pair: numbers.p_value(float(p[pair]))) if adjusted else None,
        (Column("survives"), lambda pair: str(survives.get(pair, "–"))) if held else None,
        (Column("verdict", "left"), lambda pair: _answer(study, *pair)),
    ]
    return [by_row(f"Dominance at {study.threshold!s}", columns, pairs, stub=2)]


def _answer(study: GsdAnalysis, i: int, j: int) -> Cell:
    dominates = study.relation.dominates
    if not dominates[i, j]:
        return Cell("no dominance", "dim")
    if dominates[j, i]:
        return Cell("equal for every utility", "dim")
    if (i, j) not in study.tests:
        return Cell("dominates")
    if study.significant[i, j]:
        return Cell("significant", "green")
    return Cell("not decided" if study.undecided[i, j] else "in the sample only", "dim")


def _reading(document: GsdDocument) -> Line:
    how, first = document.relabelling, document.analyses[0]
    parts = [
        "Dominance: at least as good in expectation under every utility that respects the metrics. "
        "Optimum: the least advantage any of them leaves, from −1 to 1."
    ]
    if how.pairs != "none":
        parts.append("Smaller: share of relabellings with a smaller optimum; p: share with one as large.")
    if how.contamination:
        parts.append("Survives: how many samples may be arbitrary before the result is significant no more.")
    room = "ξ" if first.threshold.rows == "r1+r2" else "δ_max"
    parts.append(f"Largest threshold there can be, {room}: {numbers.score(first.relation.delta_max)}.")
    return Line(" ".join(parts), "Reading:")


def _tests_line(document: GsdDocument) -> list[Line]:
    """What the first screen does not say of the tests."""
    how, k = document.relabelling, len(document.provenance.models)
    if how.pairs == "none":
        return []
    swaps = {"swap": f"swaps of two models' scores within {document.unit}s"}
    kind = swaps.get(how.resampling, "deals of all scores")
    text = (
        f"relabelled by {kind}, seed {how.seed}; a family is the {k * (k - 1)} ordered pairs of a threshold. "
        f"{document.lps_solved:,} linear programs solved."
    )
    return [Line(text, "Tests:")]


def view(document: GsdDocument) -> list[Section]:
    """One table, what else was asked in a line each, the tests, what to ask next; then everything."""
    return [
        _table(document),
        *unshown(len(document.provenance.models) - MOST_ROWS, "model"),
        *more_metrics(document.means),
        *(section for section in what_else(document) if isinstance(section, Line)),
        Line(_tests(document)),
        Line(", ".join(_next(document)), "Also:"),
        *asked_for(details(document)),
    ]


def _table(document: GsdDocument) -> Table:
    """Models from the top of the diagram, by numbers, with those they are at least as good as."""
    analysis, models, means = document.analyses[-1], document.provenance.models, document.means
    level = {i: analysis.hasse.levels[n] for n, node in enumerate(analysis.hasse.nodes) for i in node}
    order = sorted(range(len(models)), key=lambda i: (level[i], i))
    number = {i: at for at, i in enumerate(order, 1)}
    columns: list[OfModel] = [
        (Column(""), lambda i: str(number[i])),
        (Column("model", "left"), lambda i: Cell(models[i], "" if level[i] else "bold")),
        *((Column(head(mean)), mean.of) for mean in means[:MOST_METRICS]),
        (Column("as good as", "left"), _numbers(analysis.relation.dominates, number)),
    ]
    if analysis.tests:
        columns.append((Column("significantly", "left"), _numbers(analysis.significant, number)))
    return by_row("", columns, order[:MOST_ROWS], stub=2)


def _numbers(relation: Booleans, number: dict[int, int]) -> Callable[[int], str]:
    """Numbers of the other models that one is related to."""

    def cell(i: int) -> str:
        return numbers.ranges(number[j] for j in np.flatnonzero(relation[i]).tolist() if j != i) or "–"

    return cell


def _tests(document: GsdDocument) -> str:
    """Samples and what they cannot see, at which threshold, and how it was tested."""
    samples, how, analysis = document.provenance.samples, document.relabelling, document.analyses[-1]
    worth = next(int(one.figures["worth"]) for one in document.findings if one.kind == "blind-to")
    size = f"{counted(samples, document.unit)} ({blind_to(worth)})"
    if not analysis.tests:
        return f"{size}; nothing was tested ({analysis.threshold})."
    rule = f"{how.family.text}, {CORRECTIONS[how.family.correction]}"
    k, apart = len(document.about), int(np.triu(analysis.significant | analysis.significant.T, 1).sum())
    pairs = f"{apart} of {counted(k * (k - 1) // 2, 'pair')} told apart"
    return f"{size}; {pairs} (GSD, {analysis.threshold}, {how.resamples:,} relabellings at most, {rule})."


def _next(document: GsdDocument) -> list[str]:
    """What to ask next; a small threshold where tests cannot tell a clear dominance from a narrow one."""
    found = [option("explain", True)]
    if document.baselines is None:
        found.insert(0, option("baselines", True))
    tests = [test for analysis in document.analyses for test in analysis.tests.values()]
    if tests and max(test.optimum for test in tests) == 0:
        found.insert(0, f"{option('delta', '0.00001')} (stronger tests)")
    return found
