"""Tables of models by objectives: what a cell says, and how columns are spread over a page."""

import io

import numpy as np
import pytest

from riskrank.engine.copa import population
from riskrank.report import numbers
from riskrank.report.objectives import (
    RankedTable,
    objective_cells,
    objective_columns,
    spread,
    weakest_objective,
)
from riskrank.report.view import Column, to_terminal


def ranked(values, upward, weights=None, width=None):
    values, upward = np.array(values, dtype=float), np.array(upward)
    oriented = values * np.where(upward, 1, -1)
    K = len(upward)
    return RankedTable(
        population=population(
            oriented,
            names=[f"model-{i}" for i in range(len(values))],
            metrics=[f"metric{k}" for k in range(K)],
            missing="worst",
        ),
        values=values,
        larger_is_better=upward,
        weights=np.full(K, 1 / K) if weights is None else np.array(weights),
        constraints=[],
        width=width,
    )


@pytest.mark.parametrize(
    ("u", "text"),
    [
        (0, "best"),
        (1, "100 %"),
        (0.5, "50 %"),
        (0.9999, "99.9 %"),
        (0.994, "99 %"),
        (0.012, "1 %"),
        (0.004, "0.40 %"),
        (1 / 2147, "0.05 %"),
        (1e-6, "<0.01 %"),
    ],
)
def test_top_share_is_never_rounded_onto_the_ends(u, text):
    assert numbers.top_share(u) == text


def test_cells_hold_the_value_and_the_rank():
    table = ranked([[0.5, 10], [0.9, 30], [0.7, np.nan]], [True, False])
    assert [column.head for column in objective_columns(table)] == ["metric0 ↑", "metric1 ↓"]
    texts = [[cell.text for cell in row] for row in objective_cells(table, [1, 0, 2])]
    assert texts == [
        ["0.9000   best", "30.00   50 %"],
        ["0.5000  100 %", "10.00   best"],
        ["0.7000   50 %", "missing  100 %"],
    ]


def test_weakest_objective_counts_those_that_share_the_place():
    table = ranked([[3, 3, 3], [2, 1, 2], [1, 2, 2]], [True, True, True], [0.25, 0.5, 0.25])
    assert weakest_objective(table, 0) == "none"
    assert weakest_objective(table, 1) == "metric1 100 %"
    assert weakest_objective(table, 2) == "metric0 +1 100 %"  # 0.25 · 1 and 0.5 · 0.5


def page(tables, width):
    stream = io.StringIO()
    to_terminal(tables, stream, width=width, color=False)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 200, 400])
@pytest.mark.parametrize("K", [1, 7, 21])
def test_spread_tables_fit_the_page_and_lose_nothing(width, K):
    values = np.random.default_rng(K).normal(size=(6, K)) * 1000
    table = ranked(values, [True] * K)
    models = list(range(6))
    head = [Column("model", "left"), Column("rank")]
    rows = [[table.name(i), str(i)] for i in models]
    columns, cells = objective_columns(table), objective_cells(table, models)
    tables = spread("Title", head, rows, columns, cells, width=width, few=False)
    heads = [column.head for shown in tables for column in shown.columns]
    assert [text for text in heads if text.startswith("metric")] == [column.head for column in columns]
    assert heads.count("rank") == 1
    assert all(shown.columns[0].head == "model" for shown in tables)
    assert all(len(row) == len(shown.columns) for shown in tables for row in shown.rows)
    lines = page(tables, width)
    assert max(map(len, lines)) <= width
    # nothing was folded: as many lines start with a model's name as there are rows
    assert sum(line.startswith(" model-") for line in lines) == 6 * len(tables)
    if width == 400:
        assert len(tables) <= 2


def test_without_a_limit_there_is_one_table():
    table = ranked(np.random.default_rng(0).normal(size=(4, 30)), [True] * 30)
    cells = objective_cells(table, range(4))
    rows = [[table.name(i)] for i in range(4)]
    (shown,) = spread("T", [Column("model")], rows, objective_columns(table), cells, width=None, few=True)
    assert len(shown.columns) == 31


def test_many_tables_are_cut_to_the_best_models():
    table = ranked(np.random.default_rng(0).normal(size=(12, 30)), [True] * 30)
    cells = objective_cells(table, range(12))
    rows = [[table.name(i)] for i in range(12)]
    tables = spread("T", [Column("model")], rows, objective_columns(table), cells, width=80, few=True)
    assert len(tables) > 4
    assert [len(shown.rows) for shown in tables] == [12] + [5] * (len(tables) - 1)
    assert tables[1].title == "T, continued: the best 5"
