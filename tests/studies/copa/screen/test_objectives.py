"""Tables of models by objectives: contents of cells, and page width."""

import numpy as np
import pytest

import riskrank as rr
from riskrank.engine.copa.population import build_population
from riskrank.render import numbers
from riskrank.render.formats.terminal import to_terminal
from riskrank.render.view import Column, build_table
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.screen import objective_cells, objective_columns, weakest_objective


def ranked(values, upward, weights=None):
    values, upward = np.array(values, dtype=float), np.array(upward)
    oriented = values * np.where(upward, 1, -1)
    K = len(upward)
    return Objectives(
        population=build_population(
            oriented,
            names=[f"model-{i}" for i in range(len(values))],
            metrics=[f"metric{k}" for k in range(K)],
        ),
        values=values,
        larger_is_better=upward,
        weight_override=None if weights is None else np.array(weights),
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
def test_rounded_top_share_stays_inside_the_range(u, text):
    assert numbers.format_top_share(u) == text


def test_cells_hold_the_value_and_the_rank():
    table = ranked([[0.5, 10], [0.9, 30], [0.7, np.nan]], [True, False])
    assert [column.head for column in objective_columns(table)] == ["metric0 ↑", "metric1 ↓"]
    texts = [
        [cell.text for cell in row]
        for row in build_table("", objective_cells(table, [1, 0, 2]), [1, 0, 2]).rows
    ]
    assert texts == [
        ["0.9000   best", "30.00   50 %"],
        ["0.5000  100 %", "10.00   best"],
        ["0.7000   50 %", "missing  100 %"],
    ]


def test_weakest_objective_counts_those_that_share_the_place():
    table = ranked([[3, 3, 3], [2, 1, 2], [1, 2, 2]], [True, True, True], [0.25, 0.5, 0.25])
    assert weakest_objective(table, 0) == "none"
    assert [np.flatnonzero(row).tolist() for row in table.weakest] == [[], [1], [0, 1]]
    assert weakest_objective(table, 1) == "metric1 100 %"
    assert weakest_objective(table, 2) == "metric0 +1 100 %"  # 0.25 · 1 and 0.5 · 0.5


@pytest.mark.parametrize("width", [60, 80, 200])
def test_many_objectives_wrap_to_the_page_width(width):
    table = ranked(np.random.default_rng(0).normal(size=(6, 21)) * 1000, [True] * 21)
    models = list(range(6))
    columns = [(Column("model", "left"), table.name), *objective_cells(table, models)]
    rendered = build_table("Title", columns, models, stub=1)
    page = to_terminal([rendered], width=width, color=False)
    assert max(map(len, page.splitlines())) <= width
    assert all(page.count(f"metric{k} ↑") == 1 for k in range(21))


def test_shares_are_printed_as_percentages():
    scores = {"model": ["a"] * 40 + ["b"] * 40, "sample": [*range(40)] * 2}
    scores |= {"passed": [1, 1, 0, 1] * 10 + [1, 0] * 20, "cost": [1.5] * 40 + [0.5] * 40}
    table = rr.read(scores, wide=True, higher="passed", lower="cost")
    output, ranked = rr.copa(table).to_text(), rr.rank(table, no_test=True).to_text()
    assert "75 %" in output
    assert "75 %" in ranked
    assert "0.75" not in output


@pytest.mark.parametrize("price", [[1, 1], [0, 1]])
def test_price_is_not_a_share(price):
    table = {"model": ["a"] * 40 + ["b"] * 40, "sample": [*range(40)] * 2, "passed": [1, 1, 0, 1] * 20}
    table |= {"price": [float(value) for value in price for _ in range(40)]}
    document = rr.copa(table, wide=True, higher="passed", lower="price", weights={"price": 0.5})
    assert "75 %" in document.to_text()
    heads, *lines = document.to_text().split("place", 1)[1].splitlines()
    assert "price ↓" in heads
    assert [line.split()[4] for line in lines if line.split()[1:2] in (["a"], ["b"])] == [
        str(value) for value in price
    ]
    assert all(row.low["price"] == row.high["price"] == row.values["price"] for row in document.rows)


@pytest.mark.parametrize(
    ("name", "bounds", "text"),
    [
        ("solved", None, "100 %"),
        ("points", [0, 10], "1"),
        ("failed", None, "100 %"),
        ("cost", [0, 1], "100 %"),
    ],
)
def test_constant_unit_scores_are_shares_without_bounds(name, bounds, text):
    table = {"model": ["a"] * 40 + ["b"] * 40, "sample": [*range(40)] * 2, name: [1.0] * 80}
    table |= {"other": [float(at % 7) for at in range(80)]}
    metrics = {name: {"direction": "higher"} | ({"bounds": bounds} if bounds else {})}
    metrics |= {"other": {"direction": "higher"}}
    output = rr.copa(table, wide=True, metrics=metrics, no_test=True).to_text()
    line = next(line for line in output.splitlines() if line.split()[1:2] == ["a"])
    assert f" {text} " in f"{line} "
    assert ("100 %" in line) == (text == "100 %")
