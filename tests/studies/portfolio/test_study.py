"""The study of portfolios: lazy rows equal the columns, and refusals."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest

from riskrank.errors import UsageError
from riskrank.options.commands import BY_NAME
from riskrank.render.formats.data import to_csv, to_json, to_jsonl, to_parquet
from riskrank.studies.portfolio.options import CombinationSettings
from riskrank.studies.portfolio.study import portfolio


@pytest.mark.parametrize("draws", [1, 3])
def test_lazy_rows_equal_the_columns(table, scores, draws):
    document = portfolio(
        table(scores(draws=draws), repeats="draws" if draws > 1 else "error"), CombinationSettings()
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


def test_repeats_are_numbered_within_samples(table, scores):
    columns = scores(metrics=("acc",), draws=3)
    first = columns["sample"][0]
    positions = [
        at for at, sample in enumerate(columns["sample"]) if sample != first or columns["model"][at] != "A"
    ]
    positions += [columns["sample"].index(first)]
    columns = {name: [values[at] for at in positions] for name, values in columns.items()}
    numbers = {}
    for row in portfolio(table(columns, repeats="draws"), CombinationSettings()).rows:
        numbers.setdefault((row.model, row.sample), []).append(row.draw)
    assert numbers["A", first] == [1]
    assert all(values == [1, 2, 3] for key, values in numbers.items() if key != ("A", first))


def test_single_metric_scores_are_pooled_ranks(table, scores):
    columns = scores(metrics=("acc",))
    document = portfolio(table(columns), CombinationSettings())
    pooled = sorted(columns["score"])
    score_by_key = dict(
        zip(zip(columns["model"], columns["sample"], strict=True), columns["score"], strict=True)
    )
    for row in document.rows:
        score = score_by_key[row.model, row.sample]
        assert row.score == pytest.approx(sum(other <= score for other in pooled) / len(pooled))


def test_formats_hold_the_same_rows(table):
    document = portfolio(table(), CombinationSettings())
    columns = document.columns()
    rows = json.loads(to_json(document))["results"]
    assert [list(row.items()) for row in rows] == [
        list(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    assert [json.loads(line) for line in to_jsonl(document).splitlines()] == rows
    written = list(csv.DictReader(io.StringIO(to_csv(document))))
    assert [{**row, "score": float(row["score"])} for row in written] == rows
    assert pl.read_parquet(to_parquet(document)).to_dicts() == rows


def test_summary_by_model(table, scores):
    columns = scores(n=25)
    read = table(columns)
    scores_by_model = {}
    for row in portfolio(read, CombinationSettings()).rows:
        scores_by_model.setdefault(row.model, []).append(row.score)
    document = portfolio(read, CombinationSettings(summary=True, level=[1, "0.2", 0.2]))
    assert [row.model for row in document.rows] == ["A", "B", "C"]
    for row in document.rows:
        ordered = sorted(scores_by_model[row.model])
        assert row.n == 25
        assert row.sd == pytest.approx(np.std(ordered, ddof=1))
        assert row.quantiles == {"0.2": ordered[4], "1": ordered[-1]}
        assert row.tvar == pytest.approx({"0.2": np.mean(ordered[:5]), "1": row.mean})


def test_models_on_the_page_are_ordered_by_mean(table):
    summary = portfolio(table(), CombinationSettings(summary=True)).summary
    means = summary.mean[summary.best_mean_first]
    assert (np.diff(means) <= 0).all()


def test_single_model_is_enough(table, scores):
    document = portfolio(table(scores(models="A"), **BY_NAME["portfolio"].needs), CombinationSettings())
    assert len(document.rows) == 40


def test_weights_are_refused_by_the_empirical_copula(table):
    with pytest.raises(UsageError, match="the empirical copula does not use weights"):
        portfolio(table(weight={"acc": 1.0, "f1": 2.0}), CombinationSettings(copula="empirical"))
