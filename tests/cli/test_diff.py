"""``riskrank diff``: changed cases, the claims about them, and all output formats."""

import re
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest


def frame_of(rows, columns="model sample metric score"):
    return pl.DataFrame(rows, schema=columns.split(), orient="row")


@pytest.fixture
def flips(write):
    """Ten cases in two groups: the new model loses three and wins one; the other metric is reversed."""
    new, old = [0, 0, 0, 1, 1, 1, 1, 1, 0, 1], [1, 1, 1, 0, 1, 1, 1, 1, 0, 1]
    rows = [
        (model, f"s{at}", metric, value if metric == "acc" else 1 - value, "easy" if at < 5 else "hard")
        for model, values in (("new", new), ("old", old))
        for metric in ("acc", "wrong")
        for at, value in enumerate(values)
    ]
    return write("flips.csv", frame_of(rows, "model sample metric score kind"))


@pytest.fixture
def repeated(write):
    """Forty unreliable cases with twelve runs; the new model always fails three that the old one passes."""
    rng = np.random.default_rng(0)
    rows = []
    for model in ("new", "old"):
        for at in range(40):
            share = float(model == "old") if at < 3 else 0.8
            rows += [
                (model, f"s{at:02}", draw, "acc", int(passed))
                for draw, passed in enumerate(rng.random(12) < share)
            ]
    return write("runs.csv", frame_of(rows, "model sample draw metric score"))


def test_planted_flips_are_detected_and_chance_is_reported(run, repeated):
    outcome = run("diff", repeated, "--repeats", "draws", "--pair", "new:old", "--format", "json")
    document = outcome.document
    assert [row["sample"] for row in document["results"] if row["significant"]] == ["s00", "s01", "s02"]
    (change,) = document["meta"]["changes"]
    assert change["shown_worse"] == 3
    # 37 cases of .8 · .2, and the three that always flip.
    assert change["worse_by_chance"] == pytest.approx(37 * 0.16, abs=1.5)
    assert change["worse_in_one_run"] == pytest.approx(3 + 37 * 0.16, abs=2)
    assert "significantly worse" in document["meta"]["verdict"]


@pytest.fixture
def many(write):
    """Many lost cases and a fifth as many won cases, with differences of increasing size."""

    def make(lost):
        rows = [
            (model, f"{kind}{at:04}", "points", 5000.0 + at if model == better else 1000.0)
            for kind, better, count in (("lost", "old", lost), ("won", "new", lost // 5))
            for at in range(count)
            for model in ("new", "old")
        ]
        return write("many.csv", frame_of(rows))

    return make


def test_tables_and_cases_appear_once(run, many):
    text = run("diff", many(100), "--pair", "new:old", "--explain").stdout
    assert len(re.findall(r"worse +better", text)) == 1
    assert sorted(re.findall(r"(?:lost|won)\d{4}", text)) == [
        *(f"lost{at:04}" for at in range(100)),
        *(f"won{at:04}" for at in range(20)),
    ]
    # The largest changes of either side come first.
    won = text[text.index("Cases that got better with new") :]
    assert re.findall(r"won\d{4}", won)[:3] == ["won0019", "won0018", "won0017"]
    assert re.search(r"won0019 +1,000 +5,019", won)


def test_a_page_lists_important_cases_and_folds_the_remaining_ones(run, many, tmp_path):
    path = tmp_path / "diff.html"
    run("diff", many(100), "--pair", "new:old", "-o", str(path))
    page = path.read_text(encoding="utf-8")
    open_, *folded = re.split('<details class="folded"', page)
    assert [part.partition("</summary>")[0].rpartition(">")[2] for part in folded] == [
        "The other 94 cases that got worse with new",
        "The other 14 cases that got better with new",
    ]
    assert open_.count("<tr><td") - open_.count('<tr><td class="right') == 12
    assert "… 94 more cases that got worse: below" in page


@pytest.mark.slow
def test_thousands_of_cases_are_for_a_file(run, many, tmp_path):
    path = tmp_path / "diff.html"
    command = ("diff", many(6000), "--pair", "new:old")
    run(*command, "-o", str(path))
    text = run(*command, "--explain").stdout
    page = path.read_text(encoding="utf-8")
    for output in (text, page):
        assert len(re.findall(r"\blost\d{4}", output)) == 6  # as many as a first screen has room for
        assert len(re.findall(r"\bwon\d{4}", output)) == 6
        assert "… 5,994 more cases that got worse" in output
        assert "… 1,194 more cases that got better" in output
        assert "writes all 7,200 cases" in output
    assert '<details class="folded"' not in page


def test_junit_has_a_case_a_sample(run, flips, repeated, tmp_path):
    path = tmp_path / "cases.xml"
    run("diff", flips, "--metric", "acc", "--pair", "new:old", "-o", str(path))
    suite = ElementTree.parse(path).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("10", "3", "0")
    run("diff", repeated, "--repeats", "draws", "--pair", "new:old", "-o", str(path))
    suite = ElementTree.parse(path).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("40", "3")
    assert int(suite.get("skipped")) > 0


def test_a_page_has_a_section_for_cases(run, flips, tmp_path):
    path = tmp_path / "gate.html"
    command = ("gate", flips, "--not-worse", "new:old", "--on", "acc", "--resamples", "400", "-o", path)
    run(*command, "--cases", "3")
    page = path.read_text()
    assert page.index('id="cases"') < page.index("Cases with the largest losses of new on acc")
    run(*command)
    assert 'id="cases"' not in path.read_text()


ANSWERS = {"s0": "Paris,\nof course\x1b[2J and more, " + "at length 長い " * 20, "s1": "=cmd()"}


@pytest.fixture
def answered(flips, write):
    """The same cases with questions and answers; the new model answers two samples differently."""
    frame = pl.read_csv(flips).with_columns(
        ("What is " + pl.col("sample") + "?").alias("Question"),
        pl.when(pl.col("model") == "new")
        .then(pl.col("sample").replace_strict(ANSWERS, default="no"))
        .otherwise(pl.lit("yes"))
        .alias("response"),
    )

    def written(name="answered.csv", *, without=(), **more):
        return write(name, frame.drop(without).with_columns(**more))

    return written


def _diff(path, *more):
    return ("diff", path, "--metric", "acc", "--pair", "new:old", *more)


@pytest.mark.parametrize("name", ["answered.csv", "answered.parquet", "answered.jsonl"])
def test_cases_have_inputs_and_outputs(run, answered, name):
    rows = run(*_diff(answered(name), "--cases", "2", "--format", "json")).document["results"]
    assert rows[0]["input"] == "What is s0?"
    assert rows[0]["output_new"] == ANSWERS["s0"].strip()
    assert (rows[0]["output_old"], rows[1]["output_new"]) == ("yes", "=cmd()")
    assert {row["input"] for row in rows[2:]} == {None}, "only those shown"


def test_junit_has_the_texts_of_listed_cases(run, answered, tmp_path):
    path = tmp_path / "cases.xml"
    run(*_diff(answered(), "--cases", "2", "-o", str(path)))
    cases = {case.get("name"): case for case in ElementTree.parse(path).getroot()[0]}
    lines = cases["s0"].findtext("system-out").splitlines()
    assert lines[:2] == ["input: What is s0?", "old: yes"]
    assert lines[2].startswith("new: Paris, of course\\x1b[2J and more")
    assert len(lines[2]) <= 2006
    assert "\x1b" not in path.read_text()
    assert {element.tag for element in cases["s0"]} == {"failure", "system-out"}
    listed = {name for name, case in cases.items() if "input" in (case.findtext("system-out") or "")}
    assert listed == {"s0", "s1"}


def test_junit_of_a_gate_has_the_cases_of_claims_that_did_not_pass(run, answered, tmp_path):
    path = tmp_path / "gate.xml"
    claims = ("--not-worse", "new:old", "--on", "acc", "--better", "old:new", "--resamples", "400")
    run("gate", answered(), *claims, "--cases", "1", "-o", str(path))
    cases = ElementTree.parse(path).iter("testcase")
    texts = {case.get("name"): case.findtext("system-out") for case in cases}
    (out,) = (text for name, text in texts.items() if "not worse" in name)
    assert out.splitlines()[:2] == ["s0: new 0, old 1", "  input: What is s0?"]
    run("gate", answered(), *claims, "-o", str(path))
    assert "What is s0" not in path.read_text()


def test_python_has_the_texts(answered):
    import riskrank as rr

    rows = rr.diff(answered(), metric="acc", pair="new:old", columns="input=response", lower="wrong").rows
    assert rows[0].input.startswith("(1) Paris,\nof course")


def test_the_files_the_first_screen_names_are_written(run, flips, tmp_path):
    command = ("diff", flips, "--metric", "acc", "--pair", "new:old")
    assert "FILE.csv or FILE.parquet" in run(*command).stdout
    outcome = run(*command, "--output", str(tmp_path / "d.csv"), "--output", str(tmp_path / "d.parquet"))
    assert outcome.status == 0, outcome.stderr
    printed, packed = pl.read_csv(tmp_path / "d.csv"), pl.read_parquet(tmp_path / "d.parquet")
    assert packed.columns == printed.columns
    assert packed["sample"].cast(str).to_list() == printed["sample"].cast(str).to_list()
    assert packed["difference"].to_list() == printed["difference"].to_list()


def test_statistics_are_compared_with_the_interval_of_a_gate(run, write):
    """Statistics on the same scores have one interval, and their sentences come before the cases."""
    rng = np.random.default_rng(4)
    rows = [
        (model, f"s{at}", "latency", float(value))
        for model, scale in (("old", 10), ("new", 16))
        for at, value in enumerate(rng.exponential(scale, 400))
    ]
    table = write("latency.csv", frame_of(rows))
    common = ("--lower", "latency", "--on", "p90", "--on", "mean", "--format", "json")
    compared = run("diff", table, "--pair", "new:old", *common).document
    claims = run("gate", table, "--better", "new:old", *common).document
    for row, claim in zip(compared["meta"]["statistics"], claims["results"], strict=True):
        assert {name: row[name] for name in claim} == claim
    first, second, *_ = compared["meta"]["findings"]
    assert (first["kind"], second["kind"]) == ("statistic", "statistic")
    assert first["answer"] == "contradicted"
    assert "new is worse than old on latency (p90 +" in compared["meta"]["verdict"]


def test_statistics_are_shown_above_the_cases(run, flips):
    shown = run("diff", flips, "--pair", "new:old", "--on", "mean:acc").stdout
    assert shown.index("mean of acc") < shown.index("Cases that got worse")
