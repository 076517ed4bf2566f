"""``--cluster``: samples stay paired, and clusters are resampled as units."""

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def grouped(write):
    """Two models on 60 documents with five questions each; questions share the effect of their document."""
    rng = np.random.default_rng(0)
    rows = []
    for place, model in enumerate(("A", "B")):
        of_document = rng.normal(size=60) * (1 + place) + 0.8 * place
        for document, base in enumerate(of_document):
            rows += [
                (model, f"q{document}-{question}", f"d{document}", "acc", round(base + 0.1 * rng.normal(), 4))
                for question in range(5)
            ]
    return write(
        "t.csv", pl.DataFrame(rows, schema=["model", "sample", "doc", "metric", "score"], orient="row")
    )


@pytest.mark.parametrize("variance", ["bootstrap", "clt"])
def test_a_standard_error_is_that_of_the_documents(run, grouped, quick, variance):
    options = ("--order", "1", "--variance", variance, "--format", "json")
    options = (*options, *(quick if variance == "bootstrap" else ()))
    by = [run("dominance", grouped, *options, "--cluster", of).document for of in ("none", "doc")]
    errors = [document["results"][0]["standard_error"] for document in by]
    # Five identical questions are one observation, so the error is √5 times as large.
    assert 1.7 < errors[1] / errors[0] < 2.7
    assert by[0]["results"][0]["violation_ratio"] == by[1]["results"][0]["violation_ratio"]
    assert [document["meta"]["settings"].get("cluster") for document in by] == ["none", "doc"]
    assert [document["meta"]["samples"] for document in by] == [300, 300]


def test_win_rates_are_those_of_the_questions(run, grouped, quick):
    options = ("--method", "MWR(sample)", *quick, "--format", "json")
    plain, clustered = (
        run("rank", grouped, *options, "--cluster", of).document["results"] for of in ("none", "doc")
    )
    assert [row["score"] for row in plain] == [row["score"] for row in clustered]


def test_mean_risk_models_draw_documents(run, grouped, quick):
    options = ("--risk", "semideviation", *quick, "--format", "json")
    plain, clustered = (
        run("mrm", grouped, *options, "--cluster", of).document["results"] for of in ("none", "doc")
    )
    widths = [row[0]["value_high"] - row[0]["value_low"] for row in (plain, clustered)]
    assert widths[1] > 1.5 * widths[0]
