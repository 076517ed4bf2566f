"""The first screen of a ranking: places, raw means in the file's units, worst cases, and what to mind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.rank.detail import details
from riskrank.shown.view import Cell, Column, Line, Section, Table, asked_for
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank import RankDocument
from riskrank.studies.rank.catches import listed
from riskrank.studies.rank.leading import Leading
from riskrank.studies.wording import counted, design, percent

# Models a screen has room for beside words, and marks that are explained below.
_ROWS, _MARKS = 10, 3
# Metrics beside each other; a table of more is read by nobody.
_METRICS = 6


def view(document: RankDocument) -> list[Section]:
    """Every column's table, the tests in a line, and what to ask next; then everything for who asks."""
    sections: list[Section] = []
    for name in document.leading:
        sections += _of_column(document, name)
    if document.leading:
        sections.append(_tests(document))
    more = Line(" ".join(document.more), "Also:") if document.more else None
    return [
        *sections,
        _next(document),
        *asked_for([*([more] if more else []), *details(document)]),
    ]


def _of_column(document: RankDocument, name: str) -> list[Section]:
    one = document.leading[name]
    models, marks = document.provenance.models, document.marks[name]
    shown = _shown(document, one)
    several = len(document.leading) > 1
    table = _table(document, one, shown, title=f"{one.method} on {name}" if several else "")
    below = [
        f"! {line}" for line in listed({i: why for i, why in marks.items() if i in shown}, models, _MARKS)
    ]
    left = len(models) - len(shown)
    if left:
        below.insert(0, f"… {counted(left, 'model')} more: {option('top', len(models))}")
    hidden = [mean.name for mean in document.means[_METRICS:]]
    if hidden and not several:
        below.append(f"{counted(len(hidden), 'metric')} more: {option('explain', True)}")
    return [table, *(Line(line) for line in below)]


def _shown(document: RankDocument, one: Leading) -> list[int]:
    """The best models, and whatever else the verdict speaks of."""
    order = one.ranking.order.tolist()
    rows = order[: document.top or _ROWS]
    found = one.recommendation
    spoken = [] if found is None or found.choice is None else [found.choice]
    return [*rows, *(i for i in spoken if i not in rows)]


def _table(document: RankDocument, one: Leading, shown: Sequence[int], *, title: str) -> Table:
    models, marks = document.provenance.models, document.marks[one.column]
    ranking, tail = one.ranking, document.tails[one.column]
    low, high = ranking.rank_low, ranking.rank_high
    metrics = document.means
    if len(document.leading) > 1 and any(mean.name == one.column for mean in metrics):
        metrics = tuple(mean for mean in metrics if mean.name == one.column)

    def place(i: int) -> str:
        if low is None or high is None:
            return str(ranking.rank[i])
        return numbers.rank_interval(low[i], high[i])

    columns: list[tuple[Column, Callable[[int], Cell | str]]] = [
        (Column("place"), place),
        (Column("", "left"), lambda i: Cell("!", "yellow") if i in marks else ""),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i == one.first else "")),
    ]
    columns += [(Column(_head(mean)), mean.of) for mean in metrics[:_METRICS]]
    columns += _worst(document, one, metrics, tail.of)
    rows = tuple(tuple(cell(i) for _, cell in columns) for i in shown)
    return Table(title, tuple(column for column, _ in columns), rows, stub=3)


def _head(mean: MetricMeans) -> str:
    """Name and direction; a direction nobody declared is doubted."""
    return f"{mean.name} {'↓' if mean.lower else '↑'}{'' if mean.declared else '?'}"


def _worst(
    document: RankDocument, one: Leading, metrics: Sequence[MetricMeans], of: Callable[[int], str]
) -> list[tuple[Column, Callable[[int], Cell | str]]]:
    """The worst cases, where they say something: shares of failures for 0/1 scores, nothing of constants."""
    alone = next((mean for mean in metrics if mean.name == one.column), None)
    tail = document.tails[one.column]
    if alone is not None and alone.share:
        failed = (
            (lambda i: alone.said(float(alone.mean[i])))
            if alone.lower
            else (lambda i: alone.said(1 - float(alone.mean[i])))
        )
        return [(Column("failed"), failed)]
    if not tail.says_something:
        return []
    of_what = "" if alone is not None or len(metrics) == 1 else "\ncombined"
    return [(Column(f"worst {percent(tail.level)}{of_what}"), of)]


def _tests(document: RankDocument) -> Line:
    """Samples and what they cannot see, pairs told apart, and by which tests."""
    one = next(iter(document.leading.values()))
    scores, inference = document.scores[one.column], document.inference
    blind = f"blind to what happens less than once in {max(scores.effective_size // 3, 1):,}"
    size = f"{design(scores)} ({blind})"
    if not inference.test:
        return Line(f"{size}; nothing was tested.")
    counted_pairs = one.found.separations.get(one.method)
    if counted_pairs is None:
        return Line(f"{size}; {one.method} tests no pairs.")
    tests = one.found.tests_of(one.method)
    undecided = 0 if tests is None else int(np.count_nonzero(~tests.decided))
    rule = "k²" if inference.paper_exact else inference.correction.capitalize()
    how = f"{one.method} on {one.column}, α {inference.alpha:g}, {rule}"
    left = f", {undecided} not decided for lack of resamples" if undecided else ""
    return Line(f"{size}; {counted_pairs.separated} of {counted_pairs.pairs} pairs told apart{left} ({how}).")


def _next(document: RankDocument) -> Line:
    """What to ask next."""
    asked = [option("explain", True)]
    if len(document.means) > 1 and len(document.leading) == 1:
        asked.insert(0, option("per_metric", True))
    return Line(", ".join(asked), "Also:")
