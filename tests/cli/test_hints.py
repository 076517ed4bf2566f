"""Hints lead to the intended comparison: each suggested command runs on the expected models and samples."""

import json
import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import riskrank
from riskrank.scores.table.scores import reports_exclusion

N = 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a function that writes files below the current directory."""
    monkeypatch.chdir(tmp_path)

    def put(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return put


def column(seed, n=N):
    """Return the random scores of one file."""
    return [round((at * 7 + seed * 5) % 11 / 11 + seed / 10, 3) for at in range(n)]


TWO = [(model, at, "acc", value) for seed, model in enumerate("ab") for at, value in enumerate(column(seed))]


def lines(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def hint(run):
    """Return the hint of a command that is refused."""

    def hint_of(*args):
        outcome = run(*args)
        assert outcome.status == 2, outcome
        return outcome.stderr.splitlines()[2].removeprefix("hint: ")

    return hint_of


@pytest.fixture
def suggestions(run):
    """Return the commands that an error suggests, as lists of words without the program name."""

    def suggestions_of(*args):
        outcome = run(*args)
        assert outcome.status == 2, outcome
        return [shlex.split(line)[1:] for line in outcome.stderr.splitlines()[3:]]

    return suggestions_of


@pytest.fixture
def meta(run):
    """Return models, samples and metrics of a suggested comparison."""

    def meta_of(*args):
        outcome = run(*args, "--format", "json")
        assert outcome.status == 0, outcome.stderr
        meta = outcome.document["meta"]
        return meta["models"], meta["samples"], [metric["name"] for metric in meta["metrics"]]

    return meta_of


def words(text, start, end=r"$"):
    """Return the shell words of a hint between two texts."""
    return shlex.split(re.search(f"{start}(.*?){end}", text)[1])


FOUR = [f"runs/{model}/{task}.csv" for model in "ab" for task in "xy"]


@pytest.mark.parametrize(
    ("paths", "wide"), [(["runs"], False), (["runs"], True), (["runs/*/*.csv"], False), (FOUR, True)]
)
def test_a_folder_of_models_and_tasks_is_read_with_tasks(folder, suggestions, meta, paths, wide):
    both = (["a", "b"], 2 * N, ["acc"])
    for seed, (model, task) in enumerate((m, t) for m in "ab" for t in "xy"):
        rows = [(s, *([] if wide else ["acc"]), v) for s, v in enumerate(column(seed))]
        folder(f"runs/{model}/{task}.csv", lines("sample,acc" if wide else "sample,metric,score", rows))
    if paths == ["runs"]:
        assert meta("rank", "runs", "--no-test") == both
        return
    tasks, other, runs = suggestions("rank", *paths, "--no-test")
    assert meta(*tasks) == both
    assert meta(*other) == (["x", "y"], 2 * N, ["acc"])
    assert meta(*runs) == (["a", "b"], N, ["acc"])


@pytest.mark.parametrize("many", [False, True])
def test_files_of_one_layout_are_models(folder, meta, many):
    models = "abcdef" if many else "ab"
    for seed, model in enumerate(models):
        folder(f"run_{model}_ok.csv", lines("question,score", enumerate(column(seed))))
    for paths in ([f"run_{model}_ok.csv" for model in models], ["."]):
        assert meta("rank", *paths, "--no-test") == ([*models], N, ["score"])


def test_numbered_parts_are_no_models(folder, run):
    for part in range(3):
        folder(f"fold_{part}.csv", lines("question,score", enumerate(column(part))))
    assert "if each file is a model" in run("rank", "fold_0.csv", "fold_1.csv").stderr


def test_a_date_names_no_model(folder, suggestions, meta):
    rows = [(f"2024-01-0{m}", "abc"[m - 1], s, "acc", v) for m in (1, 2, 3) for s, v in enumerate(column(m))]
    folder("t.csv", lines("submission_date,entry,question,metric,score", rows))
    assert meta("rank", "t.csv", "--no-test") == ([*"abc"], N, ["acc"])
    folder("u.csv", lines("team,bot,question,metric,score", [(r[1].upper(), *r[1:]) for r in rows]))
    assert meta("rank", "u.csv", "--no-test")[0] == [*"ABC"]  # a name people use goes first
    folder("v.csv", lines("who,place,question,metric,score", [(r[1].upper(), *r[1:]) for r in rows]))
    readings = suggestions("rank", "v.csv", "--no-test")
    assert [meta(*way)[0] for way in readings] == [[*"ABC"], [*"abc"]]


@pytest.mark.parametrize("spread", ["", "_std"])
def test_means_are_no_scores_of_samples(folder, run, spread):
    folder("t.csv", lines(f"model,acc,f1{spread},latency", [("a", 0.5, 0.6, 3), ("b", 0.7, 0.2, 5)]))
    refused = run("rank", "t.csv")
    assert refused.status == 2
    assert "has no samples, so nothing can be tested" in refused.stderr
    assert refused.stderr.endswith("\n  riskrank copa t.csv --lower latency --higher '*'\n")
    assert run("copa", "t.csv", "--higher", "*", "--lower", "latency").status == 0


def test_files_that_repeat_samples_are_tasks_or_runs(folder, hint, meta):
    for seed, (model, task) in enumerate((m, t) for m in "ab" for t in "xy"):
        rows = [(model, s, "acc", v) for s, v in enumerate(column(seed))]
        folder(f"runs/{model}/{task}.csv", lines("model,sample,metric,score", rows))
    for paths in (["runs"], FOUR, ["new=runs/a", "old=runs/b"]):
        text = hint("rank", *paths)
        tasks = words(text, "into the paths: ", ";")
        assert meta("rank", *tasks, "--no-test") == (["a", "b"], 2 * N, ["acc"])
        runs = tasks[0].replace("task", "draw")
        assert meta("rank", runs, "--repeats", "draws", "--no-test") == (["a", "b"], N, ["acc"])
        assert "--repeats mean" not in text
    folder("copy.csv", lines("model,sample,metric,score", rows))
    folder("b.csv", lines("model,sample,metric,score", rows))
    assert "if a file is a duplicate, remove it" in hint("rank", "runs/a/x.csv", "b.csv", "copy.csv")


NAMED = {
    "subject": ["--task subject", "--columns metric=metric+subject", "--where"],
    "side": [
        "--columns model=model+side",
        "--columns sample=sample+side",
        "--columns metric=metric+side",
        "--where",
    ],
    "turn": ["--columns sample=sample+turn", "--columns metric=metric+turn", "--where"],
    "judge": ["--where", "--columns metric=metric+judge"],
}


@pytest.mark.parametrize(
    ("name", "wide"), [*((name, False) for name in NAMED), ("turn", True), ("judge", True)]
)
def test_a_column_of_repeats_is_read_by_its_name_first(folder, suggestions, meta, name, wide):
    """Two judges are not two runs of one judge; parts of a sample form a cluster; names are no runs."""
    rows = [
        (m, s, part, *([] if wide else ["quality"]), (s * 3 + at) % 5)
        for at, m in enumerate("ab")
        for s in range(N)
        for part in ("gpt", "claude's")
    ]
    folder("t.csv", lines(f"model,sample,{name}," + ("quality" if wide else "metric,score"), rows))
    command = ["rank", "t.csv", "--no-test", *(["--wide"] if wide else [])]
    proposals = suggestions(*command)
    added = [" ".join(word for word in way if word not in command) for way in proposals]
    expected = [role for role in NAMED[name] if not (wide and "metric" in role)]
    assert all(way.startswith(role) for way, role in zip(added, expected, strict=True))
    for way, column in zip(proposals, added, strict=True):
        samples = 2 * N if "task" in column or "sample=" in column else N
        both = ["quality+claude's", "quality+gpt"] if "metric=" in column else ["quality"]
        parts = ("+claude's", "+gpt") if "model=" in column else ("",)
        assert meta(*way) == ([m + part for m in "ab" for part in parts], samples, both)


def test_runs_that_share_their_luck_under_any_name_are_noise(folder, suggestions, meta):
    """Repeated rows that are certainly not independent repeats are a source of noise."""
    rows = [
        (m, fit, s, ((s * 3 + fit) % 5 + 9 * (fit * 7 % 4)) / 10)
        for m in "ab"
        for fit in range(5)
        for s in range(N)
    ]
    folder("t.csv", lines("model,random_state,example,accuracy_score", rows))
    way = suggestions("rank", "t.csv")[0]
    assert way[-2:] == ["--repeats", "draws"]
    assert meta(*way) == (["a", "b"], N, ["accuracy_score"])


def test_a_metric_missing_from_a_file_is_reported(folder, suggestions, meta):
    for model in "abc":
        metrics = ("acc", "f1") if model != "b" else ("acc",)
        rows = [(model, s, metric, v) for metric in metrics for s, v in enumerate(column(ord(model) % 3))]
        folder(f"{model}.csv", lines("model,sample,metric,score", rows))
    for more in ([], ["--missing", "drop"]):
        metric, models = suggestions("rank", "a.csv", "b.csv", "c.csv", "--no-test", *more)
        assert meta(*metric) == ([*"abc"], N, ["acc"])
        assert meta(*models) == (["a", "c"], N, ["acc", "f1"])
    (models,) = suggestions("rank", "a.csv", "b.csv", "c.csv", "--no-test", "--metric", "f1")
    assert meta(*models) == (["a", "c"], N, ["f1"])


@pytest.mark.parametrize("name", ["{}", "q{:03}", "{:02}", "it's q-{}", "q{:01}"])
def test_samples_numbered_from_0_and_from_1_are_refused(folder, hint, meta, name):
    for at, (model, first) in enumerate((("a", 0), ("b", 1), ("it's", 1))):
        rows = [(model, name.format(s + first), "acc", v) for s, v in enumerate(column(at))]
        folder(f"{at}.csv", lines("model,sample,metric,score", rows))
    text = hint("rank", "0.csv", "1.csv", "2.csv")
    assert "a may number samples from 0 and b, it's from 1" in text
    assert "if so, use the same numbers in all files" in text
    dropped = words(text, "the same samples, ", " excludes 2 of 13")
    assert meta("rank", "0.csv", "1.csv", "2.csv", "--no-test", *dropped)[1] == N - 1


@pytest.mark.parametrize("names", [("01-{:02}", "01-{:02}"), ("q{:03}", "r{:03}"), ("q{}", "q{:02}")])
def test_other_prefixes_are_not_shifted_numbers(folder, hint, names):
    for at, name in enumerate(names):
        rows = [("ab"[at], name.format(s + at), "acc", v) for s, v in enumerate(column(at))]
        folder(f"{at}.csv", lines("model,sample,metric,score", rows))
    assert "may number samples from" not in hint("rank", "0.csv", "1.csv")


def test_other_ranges_are_not_shifted_numbers(folder, hint):
    for model, numbers in (("a", range(9)), ("b", range(1, 11))):
        rows = [(model, s, "acc", s % 4) for s in numbers]
        folder(f"{model}.csv", lines("model,sample,metric,score", rows))
    text = hint("rank", "a.csv", "b.csv")
    warning = "the rest is representative only if scores are missing at random"
    assert text == f"--missing drop excludes 3 of 11 samples; {warning}"


def test_dropped_samples_are_reported_with_quiet(folder, run):
    rows = [(m, s, "acc", (s * 3 + at) % 7) for at, m in enumerate("ab") for s in range(N + at)]
    folder(
        "t.csv", lines("model,sample,metric,score", [*rows, ("a", N + 1, "acc", ""), ("b", N + 1, "acc", 2)])
    )
    outcome = run("rank", "t.csv", "--missing", "drop", "--no-test", "--quiet")
    assert outcome.stderr.startswith(f"warning: dropped 2 of {N + 2} samples")
    assert len(outcome.stderr.splitlines()) == 1


def test_counts_of_an_export_are_reported_with_quiet():
    """Counts of excluded rows are printed even with --quiet."""
    root = Path(__file__).resolve().parents[2] / "riskrank" / "scores" / "exports"
    called = re.compile(r"\.count\(\s*f?\"([^\"]*)\"", re.MULTILINE)
    counted = [text for file in root.glob("*.py") for text in called.findall(file.read_text())]
    assert len(counted) > 15
    counts = {
        "rows that ended in an error, scored 0 as in promptfoo",
        "{metric}: {_LEFT_OUT} {number}, not scores{advice}",
        "{PASSED}: tests that passed when repeated",
        "resolved: {note}",
        "resolved: probable infrastructure failures, scored as in SWE-bench",
    }
    assert {text for text in counted if not reports_exclusion(text)} <= counts


def test_exclusions_of_an_export_are_reported_with_quiet(folder, run):
    judged = [
        {"question_id": q, "model": m, "judge": ["gpt-4", "single-v1"], "user_prompt": "", "judgment": "",
         "score": -1 if q == 3 else q % 5 + 1, "turn": 1, "tstamp": 1.0}
        for m in "ab" for q in range(N)
    ]  # fmt: skip
    folder("gpt-4_single.jsonl", "".join(json.dumps(row) + "\n" for row in judged))
    command = [
        "rank",
        "gpt-4_single.jsonl",
        "--from",
        "mt-bench",
        "--no-test",
        "--quiet",
        "--missing",
        "drop",
    ]
    outcome = run(*command)
    assert outcome.status == 0, outcome.stderr
    assert "warning: score: judgments of -1, which cannot be read: 2" in outcome.stderr


@pytest.mark.parametrize("wide", [False, True])
def test_percentages_become_numbers_and_are_never_left_out(folder, hint, meta, wide):
    rows = [
        (m, s, *([] if wide else ["acc"]), f"{(s * 7 + at) % 100}%")
        for at, m in enumerate("ab")
        for s in range(N)
    ]
    if wide:
        rows = [(*row, 1 / (at + 1)) for at, row in enumerate(rows)]
    folder("t.csv", lines("model,sample,acc,f1" if wide else "model,sample,metric,score", rows))
    command = ["rank", "t.csv", "--no-test", *(["--wide"] if wide else [])]
    query = words(hint(*command), "", " reads the percentages")
    assert meta(*command, *query) == (["a", "b"], N, ["acc", "f1"] if wide else ["acc"])


def test_percentages_among_fractions_are_divided(folder, hint):
    folder(
        "t.csv",
        lines(
            "model,sample,metric,score", [(m, s, "acc", v) for m in "ab" for s, v in ((1, "85%"), (2, 0.9))]
        ),
    )
    assert "/ 100" in hint("rank", "t.csv")


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ([], "choose: "),
        (["--sql", "SELECT * FROM scores"], "choose: "),
        (["--sql", "SELECT * FROM resultz"], ""),
    ],
)
def test_the_table_of_scores_is_chosen_among_those_of_a_database(folder, hint, meta, options, start):
    with closing(sqlite3.connect("t.db")) as base:
        base.execute("CREATE TABLE logs (id INT, message TEXT)")
        base.execute("INSERT INTO logs VALUES (1, 'started')")
        base.execute("CREATE TABLE results (model TEXT, sample INT, metric TEXT, score REAL)")
        base.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", TWO)
        base.commit()
    text = hint("rank", "t.db", *options)
    if not start:
        assert text == "did you mean the table results?"
        return
    assert meta("rank", "t.db", "--no-test", *words(text, start)) == (["a", "b"], N, ["acc"])


def test_the_sheet_of_scores_is_chosen_among_those_of_a_workbook(folder, hint, meta):
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.title = "notes"
    for row in (("author", "remark"), ("me", 3)):
        book.active.append(row)
    sheet = book.create_sheet("all scores")
    sheet.append(("model", "sample", "metric", "score"))
    for row in TWO:
        sheet.append(row)
    book.save("t.xlsx")
    assert meta("rank", "t.xlsx", "--no-test", *words(hint("rank", "t.xlsx"), "choose: "))[1] == N


def pivot(first, second):
    """Return two models by two metrics in columns, with a header of two rows."""
    return [
        first,
        second,
        *([s, *values] for s, values in enumerate(zip(*map(column, range(4)), strict=True))),
    ]


PIVOTS = {
    "pandas": (["model", "a", "a", "b", "b"], ["metric", "acc", "f1", "acc", "f1"]),
    "blanks": (["", "a", "", "b", ""], ["sample", "acc", "f1", "acc", "f1"]),
    "metrics above": (["metric", "acc", "f1", "acc", "f1"], ["model", "a", "a", "b", "b"]),
    "metrics above, one word": (["", "acc", "f1", "acc", "f1"], ["Model", "a", "a", "b", "b"]),
    "metrics above, no words": (["", "acc", "f1", "acc", "f1"], ["", "a", "a", "b", "b"]),
}


@pytest.mark.parametrize(
    ("name", "suffix"), [*((name, "csv") for name in PIVOTS), ("pandas", "tsv"), ("blanks", "xlsx")]
)
def test_two_rows_of_names_are_read(folder, meta, name, suffix):
    rows, path = pivot(*PIVOTS[name]), f"t.{suffix}"
    if suffix == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in rows:
            book.active.append([cell if cell != "" else None for cell in row])
        book.save(path)
    else:
        sign = "," if suffix == "csv" else "\t"
        folder(path, "\n".join(sign.join(map(str, row)) for row in rows) + "\n")
    assert meta("rank", path, "--no-test") == (["a", "b"], N, ["acc", "f1"])
    means = {row.model: row.mean for row in riskrank.rank(path, metric="acc", no_test=True).rows}
    assert means == pytest.approx({"a": sum(column(0)) / N, "b": sum(column(2)) / N})


def test_two_rows_of_names_that_may_be_either_are_refused(folder, hint, meta):
    rows = [
        [f"x{cell}" if cell == "f1" else cell.replace("acc", "xa") for cell in row]
        for row in PIVOTS["blanks"]
    ]
    body = [",".join(map(str, row)) for row in pivot(*rows)]
    folder("t.csv", "\n".join(body) + "\n")
    assert hint("rank", "t.csv").startswith("in the first column, write model and metric")
    folder("t.csv", "\n".join(["model" + body[0], "metric," + body[1].partition(",")[2], *body[2:]]) + "\n")
    assert meta("rank", "t.csv", "--no-test") == (["a", "b"], N, ["xa", "xf1"])


TITLES = [
    "Results of May,,,\n",
    "Results of May,,,\nBy: L. K.,internal,,\n",
    "Results of May\n",
    "\n# by hand\nResults of May\n\n",
    ",,,\n",
    ",Results of May,,\n",
]


@pytest.mark.parametrize(
    ("titles", "separator"), [*((titles, ",") for titles in TITLES), (TITLES[0], ";"), (TITLES[1], "\t")]
)
def test_a_title_above_the_names_is_refused_with_the_rows_to_skip(folder, hint, meta, titles, separator):
    text = f"{titles}model,sample,metric,score\na,1,acc,0.5\nb,1,acc,0.25\n"
    folder("t.csv", text.replace(",", separator))
    skipped = ("--skip-rows", str(titles.count("\n")))
    assert hint("rank", "t.csv") == f"{' '.join(skipped)} skips the rows above the header"
    assert meta("rank", "t.csv", "--no-test", *skipped)[0] == ["a", "b"]


def test_a_title_in_a_workbook_is_refused_with_the_rows_to_skip(folder, hint, meta):
    book = pytest.importorskip("openpyxl").Workbook()
    rows = (("Results",), (), ("model", "sample", "metric", "score"), *TWO)
    for row in rows:
        book.active.append(row)
    book.save("t.xlsx")
    assert hint("rank", "t.xlsx") == "--skip-rows 2 skips the rows above the header"
    assert meta("rank", "t.xlsx", "--no-test", "--skip-rows", "2")[0] == ["a", "b"]


def test_a_title_with_separators_is_recognised_by_the_first_row(folder, hint):
    folder("t.csv", "Results of May, all\nmodel,sample,metric,score\na,1,acc,0.5\nb,1,acc,0.25\n")
    assert hint("rank", "t.csv").endswith("--skip-rows 1 skips a title above the header")


def test_an_index_without_a_name_is_no_title(folder, hint, meta):
    folder("a.csv", ",score\nq1,0.5\nq2,0.25\n")
    folder("b.csv", ",score\nq1,0.75\nq2,0.5\n")
    assert meta("rank", "a=a.csv", "b=b.csv", "--no-test")[0] == ["a", "b"]
    folder("t.csv", ",,score\na,q1,0.5\nb,q1,0.25\n")
    assert "skip-rows" not in hint("rank", "t.csv")


def test_scores_with_spreads_lose_them(folder, hint, meta):
    rows = [(*row, f"{value} ± 0.1") for *row, value in TWO]
    folder("t.csv", lines("model,sample,metric,score", rows))
    query = words(hint("rank", "t.csv"), "", " reads the numbers")
    assert meta("rank", "t.csv", "--no-test", *query) == (["a", "b"], N, ["acc"])
    second_hint = hint("rank", "t.csv", "--where", "metric = 'acc'", "--sql", "SELECT * FROM scores")
    assert second_hint.startswith("remove other characters in the query")
