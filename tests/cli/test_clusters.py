"""``--cluster``: samples stay paired, resampling draws what they belong to."""

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def grouped(write):
    """Two models on 60 documents of five questions; what a document adds is shared by its questions."""
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
    # Five questions that say the same are one observation: √5 times the error.
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


def test_ten_questions_about_few_documents_carry_no_test(refused, write, quick):
    rows = [(m, f"q{q}", f"d{q % 4}", "acc", float(q * 7 % 11)) for m in "AB" for q in range(40)]
    path = write(
        "t.csv", pl.DataFrame(rows, schema=["model", "sample", "doc", "metric", "score"], orient="row")
    )
    what, found, _ = refused("rank", path, *quick, "--cluster", "doc")
    assert "10 clusters of samples" in what
    assert found == "found: 4"


def test_gsd_tests_no_clusters_and_tells_their_order(run, refused, grouped):
    for named in (("--cluster", "doc"), ("--columns", "cluster=doc")):
        what, found, hint = refused("gsd", grouped, "--higher", "*", *named)
        assert "no clusters" in what
        assert "60 clusters" in found
        assert "--no-test" in hint
        assert run("gsd", grouped, "--higher", "*", *named, "--no-test", "--digits", "0").status == 0


def test_diff_exchanges_models_on_whole_clusters(run, tmp_path):
    """Seven of ten clusters of 20 samples were won: 140 against 60 samples are no evidence."""
    rows = [
        (m, f"q{q}", f"d{q // 20}", float(m == "A") * (1 if q < 140 else -1))
        for m in "AB"
        for q in range(200)
    ]
    path = tmp_path / "t.csv"
    pl.DataFrame(rows, schema=["model", "sample", "doc", "acc"], orient="row").write_csv(path)
    outcome = run(
        "diff", path, "--pair", "A:B", "--wide", "--higher", "acc", "--cluster", "doc", "--format", "json"
    )
    (change,) = outcome.document["meta"]["changes"]
    assert (change["worse"], change["better"], outcome.document["meta"]["clusters"]) == (60, 140, 10)
    assert change["p_value"] == pytest.approx(
        0.34375, abs=1e-9
    )  # of ten coins at most three or at least seven


def test_power_counts_clusters_to_be_drawn(run, grouped):
    options = ("--pair", "B:A", "--simulations", "10", "--cluster", "doc")
    screen = run("power", grouped, *options).stdout
    assert "clusters of samples a model show the pair" in screen
    assert "Pilot: 60 clusters of samples" in screen


def test_check_counts_them(run, grouped):
    outcome = run("check", grouped, "--cluster", "doc")
    assert "60 clusters" in outcome.stdout
    document = run("check", grouped, "--cluster", "doc", "--format", "json").document
    assert document["meta"]["table"]["clusters"] == 60


@pytest.mark.parametrize("command", ["rank", "dominance", "mrm", "gate", "copa"])
def test_every_command_says_the_same_of_clusters_worth_half_of_their_number(run, tmp_path, command):
    """Forty clusters, half of one sample and half of seven and more: Kish's number is 22."""
    sizes = [1] * 20 + [7, 8] * 10
    of_sample = [at for at, size in enumerate(sizes) for _ in range(size)]
    rng = np.random.default_rng(4)
    lines = [f"{m},{n},{rng.normal():.4f},{c}" for m in "ab" for n, c in enumerate(of_sample)]
    path = tmp_path / "scores.csv"
    path.write_text("model,sample,acc,doc\n" + "\n".join(lines) + "\n", encoding="utf-8")
    given = ("--wide", "--metric", "acc", "--higher", "acc", "--cluster", "doc")
    own = {"gate": ("--better", "a:b"), "copa": ()}.get(command, ("--resamples", "100"))
    found = run(command, path, *given, *own)
    worth = int(sum(sizes) ** 2 / sum(size**2 for size in sizes))
    assert f"only 40 clusters of samples, worth {worth} independent ones: verdicts below 30" in found.stderr
    said = " ".join(found.stdout.split())
    assert f"too few to see what happens less than once in {worth // 3})" in said
    assert "40 " in said
