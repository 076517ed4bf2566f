"""``riskrank rank`` as a study of several methods."""

import json

import pytest


def names(document):
    return list(dict.fromkeys(row["method"] for row in document["results"]))


def test_all_methods_are_those_of_the_paper(run, write, make_scores, quick):
    path = write("t.csv", make_scores())
    document = run("rank", path, *quick, "--all-methods", "--threshold", "0.25", "--format", "json").document
    found = names(document)
    for method in ("R-FSD", "R-SSD", "FSD(0.25)", "SSD(0.25)", "MWR"):
        assert {f"{method}@P(IC)", f"{method}@P(EC)", f"RA({method}@M)"} <= set(found)
    assert {"RA(MRM@P(IC))", "RA(MRM@M)"} <= set(found)
    agreement = document["meta"]["agreement"]
    assert agreement["methods"] == found
    assert len(agreement["kendall_tau"]) == len(found)


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


@pytest.mark.parametrize("distance", ["kemeny", "borda"])
def test_aggregation_of_metrics(run, write, make_scores, quick, distance):
    path = write("t.csv", make_scores())
    options = ("--per-metric", "--aggregate", distance, "--test", "relative")
    document = run("rank", path, *quick, *options, "--format", "json").document
    assert {"RA(R-FSD@M)", "RA(R-SSD@M)", "RA(MWR@M)"} <= set(names(document))
    assert {entry["distance"] for entry in document["meta"]["aggregations"]} == {distance}
    ranks = [row["rank"] for row in document["results"] if row["method"] == "RA(R-SSD@M)"]
    assert ranks == list(range(1, len(ranks) + 1))


def test_asymptotic_tests_resample_nothing(run, write, make_scores):
    path = write("t.csv", make_scores(n=60))
    for command in ("rank", "dominance"):
        document = run(command, path, "--variance", "clt", "--format", "json").document
        assert document["meta"]["resamples"] is None
        assert document["meta"]["seed"] is None
    assert all(0 < row["p_value"] <= 1 for row in document["results"])
    assert any(row["standard_error"] > 0 for row in document["results"])


def test_stability_is_reported_for_every_method_and_size(run, write, make_scores, quick):
    path = write("t.csv", make_scores(n=40))
    options = ("--method", "R-SSD", "--method", "MWR", "--stability", "20,40", "--stability-repeats", "3")
    document = run("rank", path, *quick, *options, "--format", "json").document
    entries = document["meta"]["stability"]
    assert [(e["method"], e["size"], e["repeats"]) for e in entries] == [
        (method, size, 3) for method in ("R-SSD@P(IC)", "MWR@P(IC)") for size in (20, 40)
    ]
    assert entries[-1]["kendall_tau_mean"] == 1
    assert "Stability" in run("rank", path, *quick, *options).stdout


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
