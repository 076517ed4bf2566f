"""``riskrank rank`` as a study of several methods."""

import json

import pytest


def names(document):
    return list(dict.fromkeys(row["method"] for row in document["results"]))


def test_chosen_methods_come_in_the_order_asked_for(run, write, make_scores, quick):
    path = write("t.csv", make_scores())
    asked = ["RA(R-SSD@M)", "MWR", "SSD(0.4)@P(EC)"]
    options = [part for name in asked for part in ("--method", name)]
    document = run("rank", path, *quick, *options, "--format", "json").document
    assert names(document) == ["RA(R-SSD@M)", "MWR@P(IC)", "SSD(0.4)@P(EC)"]


def test_a_method_has_the_rows_it_has_in_the_default_table(run, write, make_scores, quick):
    path = write("t.csv", make_scores())
    every = run("rank", path, *quick, "--format", "json").document["results"]
    alone = run("rank", path, *quick, "--method", "R-SSD", "--format", "json").document["results"]
    assert alone == [row for row in every if row["method"] == "R-SSD@P(IC)"]


@pytest.mark.slow
def test_stability_is_the_same_for_any_number_of_jobs(run, write, make_scores):
    path = write("t.csv", make_scores(n=30))
    options = ("--resamples", "40", "--method", "R-SSD", "--stability", "15", "--format", "json")
    one, two = (json.loads(run("rank", path, *options, "--jobs", jobs).stdout) for jobs in (1, 2))
    assert one == two


def test_weights_leave_the_empirical_copula_out(run, refused, write, make_scores, quick):
    path = write("t.csv", make_scores(metrics=("x", "y")))
    weights = ("--weight", "x=2", "--weight", "y=1")
    document = run("rank", path, *quick, "--all-methods", *weights, "--format", "json").document
    assert not any("P(EC)" in name for name in names(document))
    refused("rank", path, "--method", "R-SSD@P(EC)", *weights)
