"""``riskrank power``: planning from a pilot table and from distributions, and refusals."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = ("--variance", "clt", "--set", "jobs=1", "--simulations", "30")
CLASSIFIERS = ROOT / "sample_data/classifiers"
FEW = (f"{CLASSIFIERS}.parquet", "--metrics-file", f"{CLASSIFIERS}.toml", "--where", "dataset = 'cancer'")
TWO = ("A=normal:0.5,1", "B=normal:0,1")


def power_at(document, winner, loser):
    return {
        row["size"]: row["power"]
        for row in document["results"]
        if (row["winner"], row["loser"]) == (winner, loser)
    }


@pytest.mark.slow
def test_the_same_for_any_number_of_jobs(run):
    options = "--sizes 30 --limit 30 --resamples 20 --simulations 12 --format json"
    call = ("power", *TWO, *options.split())
    alone = run(*call, "--set", "jobs=1")
    assert alone.status == 0
    assert alone.stdout == run(*call, "--set", "jobs=2").stdout
    assert alone.stdout != run(*call, "--set", "jobs=1", "--seed", "1").stdout


@pytest.mark.slow
def test_the_order_of_a_pilot(run):
    models = ("--models", "neural_net,lda,logistic")
    document = run(
        "power", *FEW, *models, *SMALL, "--sizes", "50,300", "--limit", "300", "--format", "json"
    ).document
    outcome = run(
        "dominance",
        *FEW,
        *models,
        "--order",
        "2",
        "--test",
        "relative",
        "--set",
        "jobs=1",
        "--format",
        "json",
    ).document["results"]
    significant = {(row["winner"], row["loser"]) for row in outcome if row["dominates"]}
    rows = document["results"]
    assert {(row["winner"], row["loser"]) for row in rows if row["claim"] == "pair"} == significant
    together = {row["size"]: row["power"] for row in rows if row["claim"] == "all"}
    for size in (50, 300):
        of_pairs = [power_at(document, *pair)[size] for pair in significant]
        assert together[size] <= min(of_pairs)
        assert sum(of_pairs) - len(of_pairs) + 1 <= together[size] + 1e-9
    assert document["meta"]["samples"] == 569


@pytest.mark.slow
def test_many_pairs_are_folded_but_none_is_lost(run, tmp_path):
    page, table = tmp_path / "page.txt", tmp_path / "rows.csv"
    call = ("power", *FEW, *SMALL[:4], "--simulations", "1", "--sizes", "100", "--limit", "100", "--explain")
    assert run(*call, "-o", page, "-o", table).status == 0
    assert "easier pairs" in page.read_text()
    assert "Even with 100 samples per model, there is less than 80 % power" in page.read_text()
    assert len([line for line in table.read_text().splitlines() if ",pair," in line]) > 25


@pytest.mark.slow
def test_the_papers_rule_is_liberal(run):
    call = ("power", "A=normal", "B=normal", "--sizes", "50", "--limit", "50", "--resamples", "40")
    call += ("--simulations", "40", "--set", "jobs=1", "--format", "json", "--pair", "A:B")
    paper = run(*call, "--paper-exact")
    assert "--paper-exact" in paper.stderr
    assert power_at(paper.document, "A", "B")[50] > 0.25
    assert power_at(run(*call).document, "A", "B")[50] < 0.2


@pytest.mark.slow
def test_the_interval_of_the_size_from_a_pilot(run, write, tmp_path):
    rows = []
    for i in range(40):
        base = (7 * i) % 40 / 10
        rows.append({"model": "new", "sample": i, "metric": "m", "score": base + 0.45 + (11 * i) % 17 / 10})
        rows.append({"model": "old", "sample": i, "metric": "m", "score": base + (13 * i) % 19 / 10})
    paths = [
        write(name, "".join(json.dumps(row) + "\n" for row in some))
        for name, some in (("rows.jsonl", rows), ("turned.jsonl", rows[::-1]))
    ]
    call = ("--pair", "new:old", "--higher", "m", "--variance", "clt", "--simulations", "40", "--sizes", "60")
    sizes, page, document = [], tmp_path / "page.txt", tmp_path / "document.json"
    for path, jobs in ((paths[0], "2"), (paths[1], "1"), (paths[0], "1")):
        assert run("power", path, *call, "--set", f"jobs={jobs}", "-o", document, "-o", page).status == 0
        sizes.append(json.loads(document.read_text())["meta"]["required_size"])
    assert sizes[0] == sizes[1] == sizes[2]
    low, size, high = (sizes[0][key] for key in ("size_low", "size", "size_high"))
    assert 10 <= low < size
    assert high is None or high > size
    assert sizes[0]["size_level"] == 0.95
    words = page.read_text()
    above = "more than 300" if high is None else f"{high:,}"
    assert f"compatible with sizes from {low} to {above}." in " ".join(words.split())
    assert "pairs were selected" not in words
