"""``riskrank mrm`` from the outside."""

import numpy as np
import pytest

from riskrank.engine.portfolio.risks import RISKS

CONSISTENT = {
    "standard-deviation": False,
    "semideviation": True,
    "negative-tvar": True,
    "quantile-deviation": True,
    "gini-tail": True,
    "negative-var": False,
}


def test_rows_hold_every_risk_with_its_consistency(run, write, make_scores, quick):
    path = write("t.csv", make_scores())
    rows = run("mrm", path, *quick, "--level", "0.1,0.5", "--format", "json").document["results"]
    found = {row["risk"]: row["ssd_consistent"] for row in rows}
    assert found == {name: risk.ssd_consistent for name, risk in RISKS.items()}
    assert {name: found[name] for name in CONSISTENT} == CONSISTENT
    assert {row["level"] for row in rows if row["risk"] == "negative-tvar"} == {0.1, 0.5}
    assert {row["level"] for row in rows if row["risk"] == "gini-tail"} == {None}
    for row in rows:
        assert row["value"] == pytest.approx(row["mean"] - row["risk_value"], abs=1e-12)
        assert row["value_low"] <= row["value_high"]


def test_values_against_plain_formulas_on_one_metric(run, write, make_scores):
    frame = make_scores(models=("A", "B"), metrics=("x",), n=25)
    path = write("t.csv", frame)
    rows = run("mrm", path, "--no-test", "--level", "0.2", "--format", "json").document["results"]
    for model in ("A", "B"):
        scores = np.sort(frame.filter(frame["model"] == model)["score"].to_numpy())
        found = {row["risk"]: row["risk_value"] for row in rows if row["model"] == model}
        assert found["standard-deviation"] == pytest.approx(scores.std(), rel=1e-9)
        assert found["semideviation"] == pytest.approx(np.maximum(scores.mean() - scores, 0).mean(), rel=1e-9)
        assert found["negative-tvar"] == pytest.approx(-scores[:5].mean(), rel=1e-9)
        assert found["quantile-deviation"] == pytest.approx(scores.mean() - scores[:5].mean(), rel=1e-9)
        assert found["negative-var"] == pytest.approx(-scores[4], rel=1e-9)


def test_aggregations_are_there_for_the_portfolio_and_over_metrics(run, write, make_scores, quick):
    path = write("t.csv", make_scores())
    both = run("mrm", path, *quick, "--per-metric", "--with-portfolio", "--format", "json").document
    names = [entry["method"] for entry in both["meta"]["aggregations"]]
    assert names[0] == "RA(MRM@P(IC))"
    assert names[-1] == "RA(MRM@M)"
    assert len(names) == 2 + len(both["meta"]["metrics"])


def test_the_table_notes_where_the_standard_deviation_contradicts_the_rest(run, write):
    import polars as pl

    # "wide" is better everywhere, yet its spread costs it more than its mean gains.
    steady = np.linspace(0, 1, 40)
    frame = pl.DataFrame(
        {
            "model": ["steady"] * 40 + ["wide"] * 40,
            "sample": [str(i) for i in range(40)] * 2,
            "metric": ["x"] * 80,
            "score": [*steady, *(steady + np.where(steady > 0.9, 9.0, 0.01))],
        }
    )
    text = " ".join(run("mrm", write("t.csv", frame), "--no-test", "--explain").stdout.split())
    assert "places steady above wide; every consistent risk says the opposite" in text
