"""``--human`` and ``--judge`` from the command line: verdicts, documents, refusals."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import UsageError

ROOT = Path(__file__).parents[2]

DATA = (str(ROOT / "sample_data" / "judge.csv"), "--wide", "--higher", "people,judge")
BOTH = (*DATA, "--human", "people", "--judge", "judge")


def plain_means():
    """Means of every model by the formulas."""
    found = {}
    for (model,), own in pl.read_csv(DATA[0]).sort("sample").group_by("model"):
        people, judge = (own[name].to_numpy().astype(float) for name in ("people", "judge"))
        has = ~np.isnan(people)
        h, j = people[has], judge[has]
        found[model] = h, np.mean((h - h.mean()) * (j - j.mean())) / judge.var(ddof=1) * judge, has
    over, under = 0.0, 0.0
    for (h, u, has), (other, v, _) in itertools.combinations(found.values(), 2):
        difference, taken = h - other, u - v
        over += np.cov(difference, taken[has], bias=True)[0, 1] / difference.var()
        under += taken.var(ddof=1) / difference.var()
    cut = over / under
    assert 0 < cut < 1
    return {model: h.mean() + cut * (u.mean() - u[has].mean()) for model, (h, u, has) in found.items()}


@pytest.mark.parametrize("command", ["rank", "dominance", "mrm"])
def test_means_are_prediction_powered(run, command):
    document = run(command, *BOTH, "--no-test", "--format", "json").document
    wanted = plain_means()
    told = {one["model"]: one["mean"] for one in document["meta"]["judge"]["models"]}
    assert told == pytest.approx(wanted)
    if command != "dominance":
        assert {row["model"]: row["mean"] for row in document["results"]} == pytest.approx(wanted)
    else:
        for row in document["results"]:
            assert row["mean_difference"] == pytest.approx(wanted[row["winner"]] - wanted[row["loser"]])
    assert document["meta"]["settings"]["human"] == "people"
    assert document["meta"]["judge"]["labelled"] == 150
    assert "150 labels with the judge tell as much of a difference as" in document["meta"]["verdict"]


def test_a_gate_has_three_answers(run):
    passed = run("gate", *BOTH, "--better", "tuned:base", "--format", "json")
    row, wanted = passed.document["results"][0], plain_means()
    assert row["estimate"] == pytest.approx(wanted["tuned"] - wanted["base"])
    assert row["samples"] == 150
    assert row["verdict"] == "pass"
    assert run("gate", *BOTH, "--better", "wordy:base").status == 4
    assert run("gate", *BOTH, "--not-worse", "small:tuned", "--margin", "0.2").status == 1


def test_power_says_how_many_labels(run, tmp_path):
    call = ("power", *BOTH, "--pair", "tuned:wordy", "--simulations", "200")
    files = [tmp_path / name for name in ("labels.json", "labels.txt")]
    assert run(*call, "--explain", "-o", files[0], "-o", files[1]).status == 0
    document = json.loads(files[0].read_text("utf-8"))
    assert document["schema"] == "riskrank/power-labels"
    found = document["meta"]["required_labels"]
    assert found["power"] == pytest.approx(0.8, abs=2 * found["standard_error"])
    assert found["size_low"] <= found["size"] < found["without_judge"]
    assert found["endless_samples"] < found["size"]
    assert (found["labelled"], found["samples"], found["limit"]) == (150, 600, 598)
    shares = [row["power"] for row in document["results"]]
    assert shares == sorted(shares)
    sizes = {row["size"] for row in document["results"]}
    assert min(sizes) <= found["size"] <= max(sizes)
    page = files[1].read_text("utf-8")
    assert f"About {found['size']} labels of 600 samples show that tuned is better than wordy" in page
    assert "passes" in page
    assert "labels alone" in page


def test_power_says_the_share_of_a_row_that_is_the_size_found(run):
    call = ("power", *BOTH, "--pair", "tuned:base", "--simulations", "61", "--format", "json")
    size = run(*call).document["meta"]["required_labels"]["size"]
    found = run(*call, "--sizes", size).document
    assert found["meta"]["required_labels"]["size"] == size
    share = next(row["power"] for row in found["results"] if row["size"] == size)
    assert round(share, 2) != 0.8
    assert f"a power of 80 % ({100 * share:.0f} % of 61 simulated tables)" in found["meta"]["verdict"]


COMMANDS = [
    ("check",),
    ("rank", "--no-test"),
    ("dominance", "--no-test"),
    ("mrm", "--no-test"),
    ("gate", "--better", "tuned:base"),
]


@pytest.fixture
def chosen(write):
    """Labels of samples on which the judge likes a model, and no others."""
    lines = (ROOT / "sample_data" / "judge.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    good = {row[1] for row in rows if row[0] == "base" and row[3] in "45"}
    kept = [row if row[1] in good else [*row[:2], "", row[3]] for row in rows]
    return write("chosen.csv", "\n".join([lines[0], *(",".join(row) for row in kept)]) + "\n")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_chosen_labels_are_warned_of(run, chosen, command):
    result = run(command[0], chosen, *BOTH[1:], *command[1:])
    said = " ".join((result.stdout + result.stderr).split())
    assert said.count("the labelled samples do not look chosen by chance: the judge's mean of base is") == 1
    assert "do not look chosen by chance" not in run(command[0], *BOTH, *command[1:]).stderr


IF_BY_CHANCE = "Taking the labels as chosen by chance, which they do not look (p = "


@pytest.mark.parametrize("command", ["rank", "dominance", "mrm"])
def test_a_verdict_by_chosen_labels_says_what_it_takes_for_granted(run, chosen, command):
    """Two models that these labels tell apart for sure, if they were chosen by chance."""
    pair = ("--models", "tuned,small", "--format", "json")
    meta = run(command, chosen, *BOTH[1:], *pair).document["meta"]
    assert meta["verdict"].startswith(IF_BY_CHANCE)
    assert "Ship" not in meta["verdict"]
    assert 0 < meta["judge"]["chosen_p"] < 0.001
    by_chance = run(command, *BOTH, *pair).document["meta"]
    assert by_chance["judge"]["chosen_p"] is None
    assert "by chance" not in by_chance["verdict"]
    if command == "rank":
        assert (meta["certainty"], by_chance["certainty"]) == ("doubtful labels", "clear")


@pytest.mark.usefixtures("no_pictures")
def test_a_page_marks_no_model_by_chosen_labels(run, chosen, tmp_path):
    """What holds only if the labels were chosen by chance is not shown as though it were recommended."""
    pair, page = ("--models", "tuned,small"), tmp_path / "page.html"

    def written(*call):
        assert run("rank", *call, *pair, "--output", str(page)).status == 0
        return page.read_text()

    named = '<td class="left name bold" dir="auto">tuned</td>'
    assert named in written(*BOTH)
    doubted = written(chosen, *BOTH[1:])
    assert named not in doubted
    assert "behind tuned, were the labels chosen by chance" in doubted


def test_power_by_chosen_labels_says_so(run, chosen):
    found = run(
        "power", chosen, *BOTH[1:], "--pair", "tuned:small", "--simulations", "20", "--format", "json"
    )
    verdict = found.document["meta"]["verdict"]
    assert verdict.startswith(IF_BY_CHANCE)
    assert re.search(r"\): (about|at most|more than) ", verdict)


@pytest.mark.parametrize("claim", [("--better", "tuned:small"), ("--not-worse", "small:tuned")])
def test_a_gate_decides_nothing_by_chosen_labels(run, chosen, claim):
    """Not by a pass, nor by a fail: neither was shown; and no number of such labels would do."""
    assert run("gate", *BOTH, *claim).status == (0 if claim[0] == "--better" else 1)
    call = ("gate", chosen, *BOTH[1:], *claim)
    result = run(*call, "--format", "json")
    assert result.status == 4
    row = result.document["results"][0]
    assert (row["verdict"], row["samples_needed"]) == ("inconclusive", None)
    assert row["p_adjusted"] < 0.05
    assert 0 < row["chosen_p"] < 1e-6
    assert "as the labels do not look chosen by chance" in result.document["meta"]["verdict"]
    assert "score samples drawn by chance" in result.stderr
    page = " ".join(run(*call, "--explain").stdout.split())
    assert "To decide: labels of samples drawn by chance, or --inconclusive pass lets them through." in page
    assert "which these do not look: no claim is decided" in page
    let_through = run(*call, "--inconclusive", "pass")
    assert let_through.status == 0
    assert "drawn by chance (--inconclusive pass counts them as pass)." in " ".join(
        let_through.stdout.split()
    )
    assert run(*call, "--inconclusive", "fail").status == 1


def test_a_gate_says_what_labels_are_worth_to_its_claims(run):
    """And not to pairs that nobody asked about."""
    told = {}
    for pair in ("tuned:small", "wordy:tuned", "tuned:base"):
        meta = run("gate", *BOTH, "--better", pair, "--format", "json").document["meta"]
        assert meta["judge"]["worth_low"] == meta["judge"]["worth_high"]
        assert ", by pair" not in meta["verdict"]
        told[pair] = meta["judge"]["worth_low"]
    claims = ("--better", "tuned:small", "--better", "tuned:base")
    meta = run("gate", *BOTH, *claims, "--format", "json").document["meta"]
    both = sorted((told["tuned:small"], told["tuned:base"]))
    assert [meta["judge"]["worth_low"], meta["judge"]["worth_high"]] == both
    for pair, worth in told.items():
        alone = run("rank", *BOTH, "--models", pair.replace(":", ","), "--no-test", "--format", "json")
        assert worth == pytest.approx(alone.document["meta"]["judge"]["worth_low"], rel=0.1)


@pytest.mark.parametrize("value", ["0", "-1"])
@pytest.mark.parametrize("everywhere", [True, False])
def test_labels_that_stand_for_none_are_asked_about(run, write, value, everywhere):
    """In all samples nobody looked at, which leaves the judge nothing to add, or in some of them."""
    lines = (ROOT / "sample_data" / "judge.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    coded = [
        [*row[:2], value, row[3]] if row[2] == "" and (everywhere or row[1] < "q400") else row for row in rows
    ]
    path = write("coded.csv", "\n".join([lines[0], *(",".join(row) for row in coded)]) + "\n")
    asked = f"if {value} stands for samples nobody scored, leave these cells empty"
    for command in (("rank", "--no-test"), ("check",)):
        result = run(command[0], path, *BOTH[1:], *command[1:])
        said = " ".join((result.stdout + result.stderr).split())
        assert asked in said
        assert f"people is {value} for every model on" in said
        assert "nobody scored" not in run(command[0], *BOTH, *command[1:]).stderr
        if command[0] == "rank":
            assert result.status == (2 if everywhere else 0)
            assert ("there is nothing for --judge judge to add" in said) == everywhere


def test_a_judge_that_says_the_same_of_everything_is_refused(run, write):
    lines = (ROOT / "sample_data" / "judge.csv").read_text().splitlines()
    path = write("same.csv", "\n".join([lines[0], *(f"{line.rpartition(',')[0]},3" for line in lines[1:])]))
    result = run("rank", path, *BOTH[1:])
    assert result.status == 2
    assert "judge, says the same of every sample" in result.stderr
    assert "--metric people --missing drop" in result.stderr
    assert run("rank", path, *DATA[1:], "--metric", "people", "--missing", "drop").status == 0


def test_all_of_the_scores_are_no_bad_cases(run, write):
    """A tail of 20 of 20 labels is all of them: its mean is the mean, and tells no risk."""
    draws = np.random.default_rng(0)
    rows = ["model,sample,people,judge"]
    for model, ahead in (("a", 0.0), ("b", 0.3), ("c", 0.35)):
        people = ahead + draws.normal(size=400)
        judge = people + draws.normal(0, 0.4, 400)
        rows += [f"{model},{i},{people[i] if i < 20 else ''},{judge[i]}" for i in range(400)]
    path = write("few.csv", "\n".join(rows) + "\n")
    for command in ("rank", "dominance"):
        stdout = run(command, path, *BOTH[1:], "--resamples", "400").stdout
        assert "worst 100 %" not in stdout
        assert "bad cases" not in stdout


def test_few_labels_that_a_judge_reaches_beyond_are_on_its_scale(run, write):
    """20 of 400 samples do not hold the extremes of the other 380, which the judge scored."""
    draws = np.random.default_rng(0)
    rows = ["model,sample,people,judge"]
    for model in ("a", "b"):
        people = draws.normal(size=400)
        judge = people + draws.normal(0, 0.2, 400)
        assert np.abs(judge).max() > 1.2 * np.abs(people[:20]).max()
        rows += [f"{model},{i},{people[i] if i < 20 else ''},{judge[i]}" for i in range(400)]
    result = run("rank", write("few.csv", "\n".join(rows) + "\n"), *BOTH[1:], "--format", "json")
    assert not result.document["meta"]["judge"]["mapped"]
    assert "another scale" not in result.stderr


def test_a_judge_the_other_way_round_is_asked_about(run, write):
    lines = (ROOT / "sample_data" / "judge.csv").read_text().splitlines()
    rows = [line.rpartition(",") for line in lines[1:]]
    path = write(
        "turned.csv", "\n".join([lines[0], *(f"{rest},{6 - int(judge)}" for rest, _, judge in rows)])
    )
    told = " ".join(run("check", path, *BOTH[1:]).stdout.split())
    assert "correlation with people −0.84 to −0.79" in told
    assert "--lower judge if less of it is better" in told
    assert "The judge adds nothing to the 150 labels: what it scores better, people score worse;" in told
    ranked = " ".join(run("rank", path, *BOTH[1:], "--no-test").stdout.split())
    assert "people score worse; --lower judge if less of it is better." in ranked
    wrong = (DATA[0], "--wide", "--higher", "people", "--lower", "judge", *BOTH[4:])
    for command in ("rank", "check"):
        told = " ".join(run(command, *wrong).stdout.split())
        assert "--higher judge if more of it is better" in told
        assert "--lower judge if less" not in told
    turned = run("check", path, "--wide", "--higher", "people", "--lower", "judge", *BOTH[4:])
    assert "220 to 260 labels" not in turned.stdout
    assert "another scale, by its direction" in " ".join(turned.stdout.split())


def test_python_takes_both(run):
    asked = {"wide": True, "human": "people", "judge": "judge", "higher": ["people", "judge"]}
    result = rr.rank(DATA[0], **asked, no_test=True)
    assert {row.model: row.mean for row in result.rows} == pytest.approx(plain_means())
    read = rr.read(DATA[0], **asked)
    assert rr.rank(read, no_test=True).to_json() == result.to_json()
    with pytest.raises(UsageError, match="judge"):
        rr.copa(read)


def test_the_report_has_a_part_of_its_own(run, tmp_path):
    page = tmp_path / "page.html"
    assert run("report", *BOTH, "--resamples", "60", "--output", str(page)).status == 0
    text = page.read_text()
    part = text[text.index('id="judge"') : text.index('id="distributions"')]
    assert "The judge and the labels" in part
    assert "judge scored all 600 samples, people 150 of them. 150 labels with the judge tell as much" in part
    assert "What 150 labels moved" in text[text.index('id="labels"') : text.index('id="curves"')]
    for model, mean in plain_means().items():
        assert model in part
        assert f"{mean:.2f}" in part
    alone = run("report", *DATA, "--metric", "judge", "--no-test", "--format", "html").stdout
    assert 'id="judge"' not in alone


def labelled(write, count):
    """The table with as many labels."""
    table = pl.read_csv(DATA[0])
    chosen = table.filter(pl.col("people").is_not_null())["sample"].unique().sort().to_list()[:count]
    kept = pl.when(pl.col("sample").is_in(chosen)).then(pl.col("people"))
    return write("labels.csv", table.with_columns(people=kept).write_csv())


@pytest.mark.parametrize(("count", "tail"), [(39, False), (40, True)])
def test_a_tail_is_at_most_half_of_the_scores(run, write, count, tail):
    path = labelled(write, count)
    for command in ("rank", "dominance"):
        stdout = " ".join(run(command, path, *BOTH[1:], "--resamples", "200").stdout.split())
        assert ("worst 50 %" in stdout) == tail
        assert ("too few labels for a tail" in stdout) != tail
        assert "worst 51 %" not in stdout
    told = " ".join(run("report", path, *BOTH[1:], "--resamples", "200").stdout.split())
    assert ("Hidden risks: not looked for" in told) != tail


def test_labels_that_do_not_do(run, write):
    """Of one model only; too few; beyond declared bounds: what is wrong, and what to do."""
    table = pl.read_csv(DATA[0])
    one = pl.when(pl.col("model") == "base").then(pl.col("people"))
    beyond = pl.when(pl.col("sample") == "q001").then(7).otherwise(pl.col("people"))
    bounds = write(
        "bounds.toml",
        "".join(f"[{name}]\ndirection = 'higher'\nbounds = [1, 5]\n" for name in ("people", "judge")),
    )
    cases = (
        (
            write("one.csv", table.with_columns(people=one).write_csv()),
            BOTH[1:],
            "nothing of small, tuned, wordy",
        ),
        (labelled(write, 19), BOTH[1:], "at least 20 samples"),
        (
            write("beyond.csv", table.with_columns(people=beyond).write_csv()),
            ("--wide", "--human", "people", "--judge", "judge", "--metrics-file", bounds),
            "outside the bounds of metric 'people'",
        ),
    )
    for path, options, said in cases:
        outcome = run("rank", path, *options)
        assert outcome.status == 2
        assert said in outcome.stderr
