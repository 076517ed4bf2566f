"""``riskrank rank`` as a study of several methods."""

import json

import pytest


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
