"""The first screen of generalized dominance: raw means, and whom each model is as good as for every taste."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.engine.types import Booleans
from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.all_rows import unshown
from riskrank.shown.means import head
from riskrank.shown.view import (
    MOST_METRICS,
    MOST_ROWS,
    Cell,
    Column,
    Line,
    OfModel,
    Section,
    Table,
    asked_for,
    by_row,
)
from riskrank.studies.dominance.screen.detail import CORRECTIONS
from riskrank.studies.gsd.document import GsdDocument
from riskrank.studies.gsd.screen.detail import details, small_delta, what_else
from riskrank.studies.wording import blind_to, counted


def view(document: GsdDocument) -> list[Section]:
    """One table, what else was asked in a line each, the tests, what to ask next; then everything."""
    return [
        _table(document),
        *unshown(len(document.provenance.models) - MOST_ROWS, "model"),
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
    return by_row("", columns, order[:MOST_ROWS])


def _numbers(relation: Booleans, number: dict[int, int]) -> Callable[[int], str]:
    """Numbers of the other models that one is related to."""

    def cell(i: int) -> str:
        return numbers.ranges(number[j] for j in np.flatnonzero(relation[i]).tolist() if j != i) or "–"

    return cell


def _tests(document: GsdDocument) -> str:
    """Samples and what they cannot see, at which threshold, and how it was tested."""
    samples, how, analysis = document.provenance.samples, document.relabelling, document.analyses[-1]
    size = f"{counted(samples, document.unit)} ({blind_to(samples)})"
    if not analysis.tests:
        return f"{size}; nothing was tested ({analysis.threshold})."
    tested = f"{how.resamples:,} relabellings at most, {how.family.text}"
    tested += f", {CORRECTIONS[how.family.correction]}"
    return f"{size}; {_apart(analysis)} (GSD, {analysis.threshold}, {tested})."


def _apart(analysis: GsdAnalysis) -> str:
    k = len(analysis.relation.dominates)
    apart = int(np.triu(analysis.significant | analysis.significant.T, 1).sum())
    return f"{apart} of {counted(k * (k - 1) // 2, 'pair')} told apart"


def _next(document: GsdDocument) -> list[str]:
    """What to ask next; a small threshold where tests cannot tell a clear dominance from a narrow one."""
    found = [option("explain", True)]
    if document.baselines is None:
        found.insert(0, option("baselines", True))
    tests = [test for analysis in document.analyses for test in analysis.tests.values()]
    if tests and max(test.optimum for test in tests) == 0:
        stronger = option("delta", small_delta(document.analyses[0].relation.delta_max))
        found.insert(0, f"{stronger} (stronger tests)")
    return found
