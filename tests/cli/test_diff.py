"""``riskrank diff``: which cases changed, what may be said of them, and every format."""

import re
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len
from scipy import stats


def frame_of(rows, columns="model sample metric score"):
    return pl.DataFrame(rows, schema=columns.split(), orient="row")


@pytest.fixture
def flips(write):
    """Ten cases, five of a kind: new loses three, wins one; the other metric is the opposite."""
    new, old = [0, 0, 0, 1, 1, 1, 1, 1, 0, 1], [1, 1, 1, 0, 1, 1, 1, 1, 0, 1]
    rows = [
        (model, f"s{at}", metric, value if metric == "acc" else 1 - value, "easy" if at < 5 else "hard")
        for model, values in (("new", new), ("old", old))
        for metric in ("acc", "wrong")
        for at, value in enumerate(values)
    ]
    return write("flips.csv", frame_of(rows, "model sample metric score kind"))


def test_counts_and_cases(run, flips):
    document = run("diff", flips, "--metric", "acc", "--pair", "new:old", "--format", "json").document
    (change,) = document["meta"]["changes"]
    assert (change["worse"], change["better"], change["same"]) == (3, 1, 6)
    assert change["p_value"] == pytest.approx(2 * (1 + 4) / 16)
    cases = document["results"]
    assert [row["sample"] for row in cases[:3]] == ["s0", "s1", "s2"]
    told = {"change": "worse", "new": 0.0, "old": 1.0, "difference": -1.0, "shown": None}
    assert cases[0].items() >= told.items()
    assert cases[-1]["change"] == "better"
    assert len(cases) == 10


def test_less_is_better_where_it_is_said(run, flips):
    asked = ("--metric", "wrong", "--lower", "wrong", "--pair", "new:old", "--format", "json")
    document = run("diff", flips, *asked).document
    assert [row["sample"] for row in document["results"] if row["change"] == "worse"] == ["s0", "s1", "s2"]
    assert document["results"][0]["difference"] == 1.0


def test_groups_are_one_family(run, flips):
    document = run(*_diff(flips, "--group-by", "kind", "--format", "json")).document
    changes = {change["group"]: change for change in document["meta"]["changes"]}
    assert list(changes) == [None, "easy", "hard"]
    assert (changes["easy"]["worse"], changes["easy"]["better"], changes["hard"]["worse"]) == (3, 1, 0)
    assert changes["easy"]["p_adjusted"] == 1.0
    assert {row["group"] for row in document["results"]} == {"easy", "hard"}


def test_one_run_each_is_said_to_be_no_regression(run, flips):
    text = run("diff", flips, "--metric", "acc", "--pair", "new:old").stdout
    assert "worse than old on 3 of 10 cases" in " ".join(text.split())
    assert "no regression yet" in " ".join(text.split())
    assert len(text.splitlines()) <= 25


@pytest.fixture
def repeated(write):
    """Twelve runs of 40 flaky cases, three of which new always fails and old always passes."""
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


def test_what_is_not_shown_is_not_denied(run, write):
    """20 lost and 30 won may be chance, and need not be: no test shows that nothing changed."""
    pairs = [(0, 1)] * 20 + [(1, 0)] * 30 + [(1, 1)] * 50
    rows = [
        (model, at, "acc", pair[k]) for at, pair in enumerate(pairs) for k, model in enumerate(("new", "old"))
    ]
    outcome = run("diff", write("s.csv", frame_of(rows)), "--pair", "new:old")
    said = " ".join(outcome.stdout.split())
    assert "no more on one side than chance alone can make (exact sign test, p = 0.2)" in said


def test_planted_flips_are_found_and_chance_is_told(run, repeated):
    outcome = run("diff", repeated, "--repeats", "draws", "--pair", "new:old", "--format", "json")
    document = outcome.document
    assert [row["sample"] for row in document["results"] if row["shown"]] == ["s00", "s01", "s02"]
    (change,) = document["meta"]["changes"]
    assert change["shown_worse"] == 3
    # 37 cases of .8 · .2, and the three that always flip.
    assert change["worse_by_chance"] == pytest.approx(37 * 0.16, abs=1.5)
    assert change["worse_in_one_run"] == pytest.approx(3 + 37 * 0.16, abs=2)
    assert "shown to be worse" in document["meta"]["verdict"]


@pytest.fixture
def many(write):
    """A table of so many cases that were lost, and a fifth as many that were won, by ever larger scores."""

    def make(lost):
        rows = [
            (model, f"{kind}{at:04}", "points", 5000.0 + at if model == better else 1000.0)
            for kind, better, count in (("lost", "old", lost), ("won", "new", lost // 5))
            for at in range(count)
            for model in ("new", "old")
        ]
        return write("many.csv", frame_of(rows))

    return make


def test_each_table_and_each_case_stands_once(run, many):
    text = run("diff", many(100), "--pair", "new:old", "--explain").stdout
    assert len(re.findall(r"worse +better", text)) == 1
    assert sorted(re.findall(r"(?:lost|won)\d{4}", text)) == [
        *(f"lost{at:04}" for at in range(100)),
        *(f"won{at:04}" for at in range(20)),
    ]
    # The largest changes of either side come first.
    won = text[text.index("Cases that new won") :]
    assert re.findall(r"won\d{4}", won)[:3] == ["won0019", "won0018", "won0017"]
    assert re.search(r"won0019 +1,000 +5,019", won)


def test_a_page_lists_the_cases_that_matter_and_folds_the_others_away(run, many, tmp_path):
    path = tmp_path / "diff.html"
    run("diff", many(100), "--pair", "new:old", "-o", str(path))
    page = path.read_text(encoding="utf-8")
    open_, *folded = re.split('<details class="folded"', page)
    assert [part.partition("</summary>")[0].rpartition(">")[2] for part in folded] == [
        "The other 90 cases that new lost",
        "The other 10 cases that new won",
    ]
    assert open_.count("<tr><td") - open_.count('<tr><td class="right') == 20
    assert "… 90 cases more that got worse: below" in page


def test_thousands_of_cases_are_for_a_file(run, many, tmp_path):
    path = tmp_path / "diff.html"
    asked = ("diff", many(6000), "--pair", "new:old")
    run(*asked, "-o", str(path))
    text = run(*asked, "--explain").stdout
    page = path.read_text(encoding="utf-8")
    for shown in (text, page):
        assert len(re.findall(r"\blost\d{4}", shown)) == len(re.findall(r"\bwon\d{4}", shown)) == 10
        assert "… 5,990 cases more that got worse" in shown
        assert "… 1,190 cases more that got better" in shown
        assert "writes all 7,200 cases" in shown
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


def test_nothing_changed(run, flips, write):
    scores = pl.read_csv(flips).filter(pl.col("model") == "old")
    both = pl.concat([scores, scores.with_columns(model=pl.lit("new"))])
    text = run("diff", write("same.csv", both), "--metric", "acc", "--pair", "new:old").stdout
    assert "No case changed" in text


def test_a_gate_lists_the_cases_behind_it(run, flips, write):
    scores = pl.read_csv(flips).filter(pl.col("metric") == "acc").drop("kind")
    more = pl.concat([scores.with_columns(sample=pl.col("sample") + f"-{part}") for part in range(20)])
    path = write("more.csv", more)
    asked = ("gate", path, "--not-worse", "new:old", "--margin", "0.01")
    document = run(*asked, "--cases", "4", "--format", "json").document
    (lost,) = document["meta"]["cases"]
    assert (lost["new"], lost["old"], lost["metric"]) == ("new", "old", "acc")
    assert [case["change"] for case in lost["cases"]] == ["worse"] * 4
    assert [len(lost["cases"]), lost["worse"] > 4, lost["of"]] == [4, True, more["sample"].n_unique()]
    changed = run("diff", path, "--pair", "new:old", "--format", "json").document["meta"]
    (change,) = changed["changes"]
    assert (lost["worse"], lost["better"]) == (change["worse"], change["better"])
    expected = stats.binomtest(lost["worse"], lost["worse"] + lost["better"]).pvalue
    assert lost["p_value"] == pytest.approx(expected, rel=1e-6)
    text = " ".join(run(*asked, "--cases", "4").stdout.split())
    counted = f"{lost['worse']} worse, {lost['better']} better of {lost['of']} (p "
    assert f"Cases that new lost most on acc: {counted}" in text
    assert "cases" not in run(*asked, "--format", "json").document["meta"]
    passed = run("gate", path, "--better", "old:new", "--cases", "4", "--format", "json")
    assert passed.status == 0
    assert "cases" not in passed.document["meta"]


def test_tasks_have_a_line_each_and_are_not_pooled(run, write):
    rows = [
        (model, task, f"s{at}", "acc", int(at < (9 if model == "old" else 9 - 4 * (task == "b"))))
        for model in ("new", "old")
        for task in ("a", "b")
        for at in range(10)
    ]
    path = write("suite.csv", frame_of(rows, "model task sample metric score"))
    outcome = run("diff", path, "--pair", "new:old", "--format", "json")
    found = [(one["group"], one["worse"], one["better"]) for one in outcome.document["meta"]["changes"]]
    assert found == [(None, 4, 0), ("a", 0, 0), ("b", 4, 0)]
    assert "pooled" not in outcome.stderr
    more = pl.read_csv(path).with_columns(half=pl.col("sample").str.slice(1).cast(int) % 2)
    asked = ("diff", write("halves.csv", more), "--pair", "new:old", "--group-by", "half", "--format", "json")
    assert [one["group"] for one in run(*asked).document["meta"]["changes"]] == [None, "0", "1"]


@pytest.fixture
def own_metrics(write):
    """Twenty samples a task: right or wrong, and seconds, of which less is better; new loses 4 and 6."""
    rows = []
    for model in ("new", "old"):
        for at in range(20):
            lost = model == "new"
            rows.append((model, "quiz", f"q{at}", "acc", float(not (lost and at < 4))))
            rows.append((model, "speed", f"t{at}", "seconds", 10.0 + at * (lost and at < 7)))
    return write("own.csv", frame_of(rows, "model task sample metric score").with_columns(half=pl.lit("x")))


def test_tasks_with_metrics_of_their_own_keep_their_units_and_directions(run, own_metrics):
    asked = ("diff", own_metrics, "--pair", "new:old", "--lower", "seconds")
    document = run(*asked, "--format", "json").document
    found = [(one["metric"], one["group"], one["worse"]) for one in document["meta"]["changes"]]
    assert found == [("score", None, 10), ("acc", "quiz", 4), ("seconds", "speed", 6)]
    by_sample = {row["sample"]: row for row in document["results"]}
    told = {"metric": "seconds", "new": 16.0, "old": 10.0, "difference": 6.0, "change": "worse"}
    assert by_sample["t6"].items() >= told.items()
    assert by_sample["q0"].items() >= {"metric": "acc", "new": 0.0, "old": 1.0, "change": "worse"}.items()
    # As shares of the largest change of their metric: q0 to q3 and t6, then t5 and so on.
    assert [row["sample"] for row in document["results"][:6]] == ["q0", "q1", "q2", "q3", "t6", "t5"]
    text = run(*asked).stdout
    assert "seconds" in text
    assert "-16" not in text


@pytest.mark.parametrize("scale", [(), ("--task-scale", "rank")])
def test_a_gate_lists_the_cases_of_the_task_that_failed(run, own_metrics, scale):
    asked = ("gate", own_metrics, "--not-worse", "new:old", "--lower", "seconds", "--on", "task", *scale)
    asked = (*asked, "--margin", "seconds=0.01", "--margin", "acc=0.01", "--cases", "3", "--resamples", "400")
    document = run(*asked, "--format", "json").document
    cases = {
        (one["metric"], one["task"]): [(case["sample"], case["new"]) for case in one["cases"]]
        for one in document["meta"]["cases"]
    }
    open_ = {(row["metric"], row["task"]) for row in document["results"] if row["verdict"] != "pass"}
    assert set(cases) == open_
    assert cases["seconds", "speed"] == [("t6", 16.0), ("t5", 15.0), ("t4", 14.0)]
    assert cases["acc", "quiz"] == [("q0", 0.0), ("q1", 0.0), ("q2", 0.0)]
    assert "Cases that new lost most in seconds on speed" in run(*asked).stdout


def test_a_gate_lists_the_cases_of_the_group_that_failed(run, write):
    rows = [
        (model, f"s{at:02}", "acc", "odd" if at % 2 else "even", float(not (model == "new" and at % 2)))
        for model in ("new", "old")
        for at in range(40)
    ]
    path = write("groups.csv", frame_of(rows, "model sample metric half score"))
    asked = ("gate", path, "--not-worse", "new:old", "--margin", "0.3", "--group-by", "half", "--cases", "50")
    document = run(*asked, "--resamples", "400", "--format", "json").document
    by_group = {one["group"]: {case["sample"] for case in one["cases"]} for one in document["meta"]["cases"]}
    assert set(by_group) == {None, "odd"}
    assert by_group["odd"] == {f"s{at:02}" for at in range(1, 40, 2)}


def test_a_page_has_a_part_of_its_own_for_cases(run, own_metrics, tmp_path):
    path = tmp_path / "gate.html"
    asked = ("gate", own_metrics, "--not-worse", "new:old", "--lower", "seconds", "--on", "task")
    run(*asked, "--resamples", "400", "--cases", "3", "-o", path)
    page = path.read_text()
    assert page.index('id="cases"') < page.index("Cases that new lost most in seconds on speed")
    run(*asked, "--resamples", "400", "-o", path)
    assert 'id="cases"' not in path.read_text()


ANSWERS = {"s0": "Paris,\nof course\x1b[2J and more, " + "at length 長い " * 20, "s1": "=cmd()"}


@pytest.fixture
def answered(flips, write):
    """The same with what was asked and answered; new answers two samples in a way of its own."""
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
def test_cases_have_what_was_asked_and_answered(run, answered, name):
    rows = run(*_diff(answered(name), "--cases", "2", "--format", "json")).document["results"]
    assert rows[0]["input"] == "What is s0?"
    assert rows[0]["output_new"] == ANSWERS["s0"].strip()
    assert (rows[0]["output_old"], rows[1]["output_new"]) == ("yes", "=cmd()")
    assert {row["input"] for row in rows[2:]} == {None}, "only those shown"


def test_texts_are_a_line_where_somebody_asks_for_cases(run, answered):
    path = answered()
    text = run(*_diff(path, "--cases", "2")).stdout
    assert "input from column 'Question', output from column 'response'" in text
    assert "Paris, of course\\x1b[2J and more" in text
    assert "\x1b" not in text
    assert "…\n" in text
    assert all(cell_len(line) <= 100 for line in text.splitlines())
    assert "Their texts" not in run(*_diff(path)).stdout
    assert "Their texts" in run(*_diff(path, "--explain")).stdout
    assert "Their texts" not in run(*_diff(path, "--cases", "0", "--explain")).stdout


def test_a_table_without_texts_has_no_fields_of_them(run, flips):
    row = run(*_diff(flips, "--format", "json")).document["results"][0]
    assert not {"input", "output_new", "output_old"} & set(row)


def test_two_columns_that_could_be_it_are_none_until_one_is_named(run, answered):
    path = answered(answer=pl.lit("yes"))
    row = run(*_diff(path, "--format", "json")).document["results"][0]
    assert row["input"] == "What is s0?"
    assert "output_new" not in row
    asked = ("--columns", "output=response,input=answer", "--format", "json")
    row = run(*_diff(path, *asked)).document["results"][0]
    assert (row["input"], row["output_old"]) == ("yes", "yes")


def test_a_column_with_a_role_is_no_text(run, answered):
    row = run(*_diff(answered(), "--group-by", "Question", "--format", "json")).document["results"][0]
    assert row["group"] == "What is s0?"
    assert "input" not in row
    assert "output_new" in row
    asked = ("--columns", "sample=Question", "--format", "json")
    row = run(*_diff(answered(without=["sample"]), *asked)).document["results"][0]
    assert row["sample"] == "What is s0?"
    assert "input" not in row


def test_a_metric_of_a_wide_table_is_no_text(run, write):
    rows = [(model, f"s{at}", at % 3 + (model == "new"), at) for model in ("new", "old") for at in range(10)]
    frame = frame_of(rows, "model sample output prompt")
    path = write("wide.csv", frame.with_columns(prompt="p" + pl.col("prompt").cast(pl.String)))
    asked = ("diff", path, "--wide", "--lower", "output", "--pair", "new:old", "--format", "json")
    row = run(*asked).document["results"][0]
    assert row["input"] == f"p{row['sample'][1:]}"
    assert "output_new" not in row


def test_several_answers_are_numbered_whatever_the_order_of_the_rows(run, write):
    rows = [
        (model, f"s{at}", draw, "acc", float(model == "old"), f"run {draw}" if model == "new" else "same")
        for model in ("new", "old")
        for at in range(10)
        for draw in range(2)
    ]
    frame = frame_of(rows, "model sample draw metric score output")
    found = []
    for name, one in (("up.csv", frame), ("down.csv", frame.reverse())):
        asked = ("diff", write(name, one), "--pair", "new:old", "--repeats", "draws", "--format", "json")
        found.append(run(*asked).document["results"])
    assert found[0] == found[1]
    assert found[0][0]["output_new"] == "(1) run 0\n(2) run 1"
    assert found[0][0]["output_old"] == "same"


def test_texts_of_two_files_and_of_chosen_rows(run, answered, write):
    frame = pl.read_csv(answered())
    parts = [write(f"{name}.csv", frame.filter(pl.col("model") == name)) for name in ("old", "new")]
    asked = ("--metric", "acc", "--pair", "new:old", "--where", "sample <> 's0'", "--format", "json")
    row = run("diff", *parts, *asked).document["results"][0]
    assert (row["sample"], row["output_new"], row["output_old"]) == ("s1", "=cmd()", "yes")


def test_a_gate_has_texts_of_its_cases(run, answered):
    asked = ("gate", answered(), "--not-worse", "new:old", "--on", "acc", "--resamples", "400")
    (lost,) = run(*asked, "--cases", "2", "--format", "json").document["meta"]["cases"]
    assert [case["output_new"] for case in lost["cases"]] == [ANSWERS["s0"].strip(), "=cmd()"]
    assert "Their texts: input from column 'Question'" in run(*asked, "--cases", "2").stdout
    assert "Their texts" not in run(*asked).stdout


def test_junit_has_the_texts_of_the_cases_shown(run, answered, tmp_path):
    path = tmp_path / "cases.xml"
    run(*_diff(answered(), "--cases", "2", "-o", str(path)))
    cases = {case.get("name"): case for case in ElementTree.parse(path).getroot()[0]}
    lines = cases["s0"].findtext("system-out").splitlines()
    assert lines[:2] == ["input: What is s0?", "old: yes"]
    assert lines[2].startswith("new: Paris, of course\\x1b[2J and more")
    assert len(lines[2]) <= 2006
    assert "\x1b" not in path.read_text()
    assert {one.tag for one in cases["s0"]} == {"failure", "system-out"}
    shown = {name for name, case in cases.items() if "input" in (case.findtext("system-out") or "")}
    assert shown == {"s0", "s1"}


def test_junit_of_a_gate_has_the_cases_behind_what_did_not_pass(run, answered, tmp_path):
    path = tmp_path / "gate.xml"
    claims = ("--not-worse", "new:old", "--on", "acc", "--better", "old:new", "--resamples", "400")
    run("gate", answered(), *claims, "--cases", "1", "-o", str(path))
    found = {case.get("name"): case.findtext("system-out") for case in ElementTree.parse(path).getroot()[0]}
    (out,) = (text for name, text in found.items() if "not worse" in name)
    assert out.splitlines()[:2] == ["s0: new 0, old 1", "  input: What is s0?"]
    run("gate", answered(), *claims, "-o", str(path))
    assert "What is s0" not in path.read_text()


@pytest.mark.parametrize("command", [("rank",), ("gate", "--not-worse", "new:old", "--on", "acc")])
def test_who_shows_no_cases_knows_no_texts(run, answered, command):
    name, *more = command
    found = run(name, answered(), *more, "--columns", "input=Question")
    assert found.status == 2
    assert "does not name a role" in found.stderr


def test_python_has_the_texts(answered):
    import riskrank as rr

    rows = rr.diff(answered(), metric="acc", pair="new:old", columns="input=response", lower="wrong").rows
    assert rows[0].input.startswith("(1) Paris,\nof course")


def test_the_files_the_first_screen_names_are_written(run, flips, tmp_path):
    asked = ("diff", flips, "--metric", "acc", "--pair", "new:old")
    assert "FILE.csv or FILE.parquet" in run(*asked).stdout
    outcome = run(*asked, "--output", str(tmp_path / "d.csv"), "--output", str(tmp_path / "d.parquet"))
    assert outcome.status == 0, outcome.stderr
    printed, packed = pl.read_csv(tmp_path / "d.csv"), pl.read_parquet(tmp_path / "d.parquet")
    assert packed.columns == printed.columns
    assert packed["sample"].cast(str).to_list() == printed["sample"].cast(str).to_list()
    assert packed["difference"].to_list() == printed["difference"].to_list()
