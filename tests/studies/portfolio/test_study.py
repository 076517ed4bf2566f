"""The study of portfolios: rows on demand equal columns, and what it refuses."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest

from riskrank.errors import UsageError
from riskrank.options.commands import BY_NAME
from riskrank.render.formats.data import to_csv, to_json, to_jsonl, to_parquet
from riskrank.studies.portfolio.options import FoldingSettings
from riskrank.studies.portfolio.study import portfolio


@pytest.mark.parametrize("draws", [1, 3])
def test_rows_on_demand_are_the_columns(table, scores, draws):
    document = portfolio(
        table(scores(draws=draws), repeats="draws" if draws > 1 else "error"), FoldingSettings()
    )
    columns, rows = document.columns(), document.rows
    assert tuple(columns) == document.fields
    assert ("draw" in columns) == (draws > 1)
    assert len(rows) == 3 * 40 * draws == len(columns["score"])
    for name, values in columns.items():
        assert [getattr(row, name) for row in rows] == values
    assert rows[-1] == list(rows)[-1]
    assert rows[5:8] == [rows[5], rows[6], rows[7]]
    with pytest.raises(IndexError):
        rows[len(rows)]


def test_draws_of_a_sample_are_numbered_from_one_within_it(table, scores):
    columns = scores(metrics=("acc",), draws=3)
    first = columns["sample"][0]
    kept = [
        at for at, sample in enumerate(columns["sample"]) if sample != first or columns["model"][at] != "A"
    ]
    kept += [columns["sample"].index(first)]
    columns = {name: [of[at] for at in kept] for name, of in columns.items()}
    numbers = {}
    for row in portfolio(table(columns, repeats="draws"), FoldingSettings()).rows:
        numbers.setdefault((row.model, row.sample), []).append(row.draw)
    assert numbers["A", first] == [1]
    assert all(of == [1, 2, 3] for key, of in numbers.items() if key != ("A", first))


def test_one_metric_scores_are_pooled_ranks(table, scores):
    columns = scores(metrics=("acc",))
    document = portfolio(table(columns), FoldingSettings())
    pooled = sorted(columns["score"])
    own = dict(zip(zip(columns["model"], columns["sample"], strict=True), columns["score"], strict=True))
    for row in document.rows:
        score = own[row.model, row.sample]
        assert row.score == pytest.approx(sum(other <= score for other in pooled) / len(pooled))


def test_every_format_says_the_same(table):
    document = portfolio(table(), FoldingSettings())
    columns = document.columns()
    found = json.loads(to_json(document))["results"]
    assert [list(row.items()) for row in found] == [
        list(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    assert [json.loads(line) for line in to_jsonl(document).splitlines()] == found
    written = list(csv.DictReader(io.StringIO(to_csv(document))))
    assert [{**row, "score": float(row["score"])} for row in written] == found
    assert pl.read_parquet(to_parquet(document)).to_dicts() == found


def test_summary_by_model(table, scores):
    columns = scores(n=25)
    read = table(columns)
    scores_of = {}
    for row in portfolio(read, FoldingSettings()).rows:
        scores_of.setdefault(row.model, []).append(row.score)
    document = portfolio(read, FoldingSettings(summary=True, level=[1, "0.2", 0.2]))
    assert [row.model for row in document.rows] == ["A", "B", "C"]
    for row in document.rows:
        ordered = sorted(scores_of[row.model])
        assert row.n == 25
        assert row.sd == pytest.approx(np.std(ordered, ddof=1))
        assert row.quantiles == {"0.2": ordered[4], "1": ordered[-1]}
        assert row.tvar == pytest.approx({"0.2": np.mean(ordered[:5]), "1": row.mean})


def test_models_of_the_page_are_ordered_by_mean(table):
    found = portfolio(table(), FoldingSettings(summary=True)).summary
    means = found.mean[found.best_mean_first]
    assert (np.diff(means) <= 0).all()


def test_one_model_is_enough(table, scores):
    document = portfolio(table(scores(models="A"), **BY_NAME["portfolio"].needs), FoldingSettings())
    assert len(document.rows) == 40


def test_weights_are_refused_by_the_empirical_copula(table):
    with pytest.raises(UsageError, match="no meaning for the empirical copula"):
        portfolio(table(weight={"acc": 1.0, "f1": 2.0}), FoldingSettings(copula="empirical"))
