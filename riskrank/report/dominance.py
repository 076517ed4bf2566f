"""Dominance verdicts in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.dominance.column import DominanceStudy, Inference, method_name
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.report import numbers
from riskrank.report.view import Cell, Column, Line, Section, Table
from riskrank.studies.dominance import DominanceDocument

CORRECTIONS = {
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
    "none": "no correction",
}


def view(document: DominanceDocument) -> list[Section]:
    """Tables in words: a row a pair, the better model first."""
    models, inference = document.provenance.models, document.inference
    sections: list[Section] = []
    for metric, study in document.by_column:
        sections.append(_pair_table(metric, study, models))
        if document.ratios:
            sections += [_matrix(metric, tests, models) for tests in study.tests]
    first = document.by_column[0][1]
    sections += reading(first.tests, tested=inference.test, matrix=document.ratios)
    sections.append(inference_line(first, inference, models, paired=document.paired))
    return sections


def inference_line(
    study: DominanceStudy, inference: Inference, models: Sequence[str], *, paired: bool
) -> Line:
    """State the design, the resampling and the family of tests."""
    design = "paired" if paired else "unpaired"
    size = f"{study.estimates.samples:,} {design} samples"
    if not inference.test:
        return Line(f"{size}; no test was asked for, verdicts describe these samples only.", "Data:")
    pairs = len(models) * (len(models) - 1)
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.correction]
    source = "asymptotic standard errors"
    if inference.resampled:
        source = f"{study.resamples or 0:,} bootstrap resamples, seed {inference.seed}"
    text = (
        f"{size}, {source}; {rule} over the "
        f"{pairs} ordered pairs of each order, test and threshold, level {inference.alpha:g}."
    )
    return Line(text, "Tests:")


def reading(tests: Sequence[DominanceTests], *, tested: bool, matrix: bool = False) -> list[Line]:
    """How to read the tables."""
    claims = [found.claim for found in tests]
    parts = ["ε is the violation ratio of “better dominates worse”: 0 everywhere better, 0.5 a draw."]
    if any(claim.threshold is None for claim in claims):
        parts.append("Relative dominance: better violates dominance over the field less than worse does.")
    if any(claim.threshold is not None for claim in claims):
        parts.append("τ: smallest threshold with ε significantly below it.")
    if tested:
        relative = any(claim.threshold is None for claim in claims)
        parts.append(
            "p: adjusted p-value of relative dominance; ~ marks one from the extrapolated tail."
            if relative
            else "Significance is by adjusted p-values."
        )
    if matrix:
        parts.append("In a matrix, * marks that the row model dominates the column model.")
    return [Line(" ".join(parts), "Reading:")]


def _pair_table(metric: str, study: DominanceStudy, models: Sequence[str]) -> Table:
    orders = sorted({tests.claim.order for tests in study.tests})
    leading = study.estimates.ratios[orders[-1] - 1]
    overall = leading.sum(axis=1)
    columns = [Column("better", "left"), Column("worse", "left")]
    for order in orders:
        name = "FSD" if order == 1 else "SSD"
        columns.append(Column(f"{name}\nε"))
        relative, absolute = _tests_of(study, order)
        if relative is not None and relative.p_value is not None:
            columns.append(Column(f"{name}\np"))
        if absolute:
            columns.append(Column(f"{name}\nτ"))
    columns.append(Column("verdict", "left"))
    pairs = [
        (i, j) if leading[i, j] < 0.5 or (leading[i, j] == 0.5 and overall[i] <= overall[j]) else (j, i)
        for i, j in zip(*np.triu_indices(len(models), 1), strict=True)
    ]
    pairs.sort(key=lambda pair: (overall[pair[0]], pair[0], overall[pair[1]], pair[1]))
    rows = [_pair_row(study, orders, int(i), int(j), models) for i, j in pairs]
    return Table(f"Stochastic dominance on {metric}", tuple(columns), tuple(rows), stub=2)


def _tests_of(study: DominanceStudy, order: int) -> tuple[DominanceTests | None, list[DominanceTests]]:
    found = [tests for tests in study.tests if tests.claim.order == order]
    relative = next((tests for tests in found if tests.claim.threshold is None), None)
    absolute = [tests for tests in found if tests.claim.threshold is not None]
    return relative, sorted(absolute, key=lambda tests: tests.claim.threshold)


def _pair_row(
    study: DominanceStudy, orders: Sequence[int], i: int, j: int, models: Sequence[str]
) -> tuple[Cell | str, ...]:
    cells: list[Cell | str] = [models[i], models[j]]
    won, lost = [], []
    for order in orders:
        name = "FSD" if order == 1 else "SSD"
        relative, absolute = _tests_of(study, order)
        cells.append(numbers.ratio(study.estimates.ratios[order - 1, i, j]))
        if relative is not None and relative.p_value is not None:
            mark = "~" if relative.extrapolated[i, j] else ""
            cells.append(mark + numbers.p_value(relative.p_adjusted[i, j]))
        if absolute:
            held = [tests.claim.threshold for tests in absolute if tests.dominates[i, j]]
            cells.append(f"{held[0]:g}" if held else "–")
        deciding = [relative] if relative is not None else absolute
        won += [name] if any(tests.dominates[i, j] for tests in deciding) else []
        lost += [name] if any(tests.dominates[j, i] for tests in deciding) else []
    cells.append(
        _verdict(bool(study.estimates.identical[i, j]), won, lost, tested=study.tests[0].p_value is not None)
    )
    return tuple(cells)


def _verdict(identical: bool, won: Sequence[str], lost: Sequence[str], *, tested: bool) -> Cell:
    if identical:
        return Cell("identical scores", "dim")
    if not won and not lost:
        return Cell("not separated", "dim")
    text = f"{'dominates' if tested else 'ahead'} ({', '.join(won)})" if won else ""
    if lost:
        text += f"{'; ' if text else ''}{'dominated' if tested else 'behind'} ({', '.join(lost)})"
    return Cell(text, "green" if not lost else "yellow")


def _matrix(metric: str, tests: DominanceTests, models: Sequence[str]) -> Table:
    columns = [Column("", "left"), *(Column(str(number)) for number in range(1, len(models) + 1))]
    rows = []
    for i, model in enumerate(models):
        cells = [
            "·" if i == j else numbers.ratio(tests.ratios[i, j]) + ("*" if tests.dominates[i, j] else " ")
            for j in range(len(models))
        ]
        rows.append((f"{i + 1} {model}", *cells))
    return Table(f"{method_name(tests.claim)}@{metric}: violation ratios", tuple(columns), tuple(rows))
