"""Every bad input ends in three lines on stderr, exit 2, nothing on stdout and no output file."""

import gzip
import re

import polars as pl
import pytest

from riskrank.engine.sampling.design import FEWEST_SAMPLES

HEAD = "model,sample,metric,score\n"
GOOD = HEAD + "".join(f"{m},{i},x,{0.1 * i + k}\n" for k, m in enumerate("AB") for i in range(12))
CASES = {
    "missing file": ("nowhere.csv", None, [], "no such file"),
    "empty file": ("t.csv", "", [], "the file is empty"),
    "header only": ("t.csv", HEAD, [], "the file is empty"),
    "no such column": ("t.csv", "a,b\n1,2\n", [], "missing columns 'model', 'sample'"),
    "no such renamed column": ("t.csv", GOOD, ["--columns", "model=system"], "there is no column 'system'"),
    "non-numeric": ("t.csv", GOOD + "A,99,x,high\n", [], "row 26, column score: the score is not a number"),
    "NaN": ("t.csv", GOOD + "A,99,x,nan\n", [], "row 26, column score: the score is NaN"),
    "infinite": ("t.csv", GOOD + "A,99,x,inf\n", [], "row 26, column score: the score is infinite"),
    "duplicate rows": ("t.csv", GOOD + "A,3,x,0.3\n", [], "row 26, column score: a second score"),
    "missing cell": ("t.csv", GOOD + "A,0,y,1\nB,0,y,2\n", [], "no score for model"),
    "different samples": ("t.csv", GOOD + "A,99,x,1\n", [], "not scored on the same samples"),
    "one model": ("t.csv", re.sub("(?m)^B.*\n", "", GOOD), [], "at least 2 models"),
    "one model left": ("t.csv", GOOD, ["--models", "A"], "at least 2 models"),
    "constant metric": ("t.csv", re.sub(r"(?m)x,[\d.]+$", "x,1", GOOD), [], "metric 'x' is constant"),
    "unknown model": ("t.csv", GOOD, ["--models", "A,C"], "there is no model"),
    "unknown metric": ("t.csv", GOOD, ["--metric", "xx"], "there is no metric"),
    "unknown lower metric": ("t.csv", GOOD, ["--lower", "xx"], "--lower"),
    "negative weight": ("t.csv", GOOD, ["--weight", "x=-1"], "weight"),
    "zero weights": ("t.csv", GOOD, ["--weight", "x=0"], "weight"),
    "weight of an unknown metric": ("t.csv", GOOD, ["--weight", "y=1"], "weight"),
    "weight without a number": ("t.csv", GOOD, ["--weight", "x"], "--weight needs a metric and a number"),
    "weight twice": ("t.csv", GOOD, ["--weight", "x=1", "--weight", "x=2"], "--weight names x twice"),
    "unreadable Parquet": ("t.parquet", b"PAR1 but not really", [], "cannot be read as Parquet"),
    "empty Parquet": ("t.parquet", b"", [], "the file is empty"),
    "damaged gzip": ("t.csv.gz", gzip.compress(GOOD.encode())[:-9], [], "cannot be decompressed"),
    "not UTF-8": ("t.csv", GOOD.replace("A", "\xe4\xf6\xfc").encode("latin-1"), [], "not UTF-8"),
    "broken JSON": ("t.jsonl", '{"model": "A"\n', [], "row 1 is not valid JSON"),
    "unknown suffix": ("t.dat", GOOD, [], "the suffix does not tell the format"),
    "wide and metric column": (
        "t.csv",
        GOOD,
        ["--wide", "--columns", "score=score"],
        "and --wide contradict each other",
    ),
    "lower and higher": ("t.csv", GOOD, ["--lower", "x", "--higher", "x"], "x"),
    "missing metrics file": ("t.csv", GOOD, ["--metrics-file", "nowhere.toml"], "nowhere.toml"),
}


@pytest.mark.parametrize("command", ["rank", "dominance"])
@pytest.mark.parametrize("case", CASES)
def test_bad_input(refused, write, tmp_path, case, command):
    name, content, options, expected = CASES[case]
    path = tmp_path / name if content is None else write(name, content)
    error, _, _ = refused(command, path, *options)
    assert expected in error
    if not options:
        assert str(path) in error


ALONE = {"one model", "one model left"}  # a portfolio of one model is fine


@pytest.mark.parametrize("case", [case for case in CASES if case not in ALONE])
def test_bad_input_of_a_portfolio(refused, write, tmp_path, case):
    name, content, options, expected = CASES[case]
    error, _, _ = refused("portfolio", tmp_path / name if content is None else write(name, content), *options)
    assert expected in error


OF_PORTFOLIOS = {case for case in CASES if "weight" in case}


@pytest.mark.parametrize("case", [case for case in CASES if case not in OF_PORTFOLIOS])
def test_bad_input_of_check(run, write, tmp_path, case):
    """It exits 2 like the others, but still tells what the table holds where it can be read."""
    name, content, options, expected = CASES[case]
    path = tmp_path / name if content is None else write(name, content)
    outcome = run("check", path, *options)
    assert outcome.status == 2
    lines = outcome.stderr.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["error", "found", "hint"]
    assert expected in lines[0]
    if outcome.stdout:
        assert f"Error: {path}" in outcome.stdout.replace("\n", "")


def test_check_names_every_problem(run, write):
    path = write("t.csv", GOOD + "A,3,x,0.3\nA,50,x,nan\n")
    outcome = run("check", path, "--format", "json")
    assert outcome.status == 2
    problems = outcome.document["meta"]["problems"]
    assert {problem["severity"] for problem in problems} == {"error"}
    assert len(problems) >= 3
    assert f"(and {len(problems) - 1} more problems)" in outcome.stderr.splitlines()[0]


CONTRADICTIONS = {
    "relative test with threshold": (["--test", "relative", "--threshold", "0.1"], "--threshold belongs to"),
    "no test, paper exact": (["--no-test", "--paper-exact"], "--no-test and --paper-exact contradict"),
    "empirical weights": (["--copula", "empirical", "--weight", "x=1"], "--weight has no meaning"),
    "independent scope": (["--copula-scope", "model"], "goes with the empirical copula only"),
    "per metric weights": (["--per-metric", "--weight", "x=1"], "--per-metric folds nothing"),
    "per metric copula": (["--per-metric", "--copula", "empirical"], "--per-metric folds nothing"),
    "threshold 0": (["--threshold", "0"], "threshold"),
    "threshold 1": (["--threshold", "1"], "threshold"),
    "threshold nan": (["--threshold", "nan"], "threshold"),
    "alpha": (["--alpha", "5"], "--alpha must lie between 0 and 1"),
    "alpha nan": (["--alpha", "nan"], "--alpha must lie between 0 and 1"),
    "resamples": (["--resamples", "10"], "--resamples must be at least 20"),
    "seed": (["--seed", "-1"], "--seed must not be negative"),
    "jobs": (["--jobs", "0"], "--jobs must be at least 1"),
}


@pytest.mark.parametrize("command", ["rank", "dominance"])
@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictory_options(refused, write, case, command):
    options, expected = CONTRADICTIONS[case]
    error, _, _ = refused(command, write("t.csv", GOOD), *options)
    assert expected in error


def test_contradictions_of_portfolio(refused, table):
    assert "--level belongs to --summary" in refused("portfolio", table, "--level", "0.1")[0]
    assert refused("portfolio", table, "--summary", "--level", "0")
    assert refused("portfolio", table, "--summary", "--level", "1.5")
    assert refused("portfolio", table, "--copula-scope", "model")


def test_weights_of_the_metrics_file_and_the_empirical_copula(refused, table, write):
    metrics = write("m.toml", "[acc]\ndirection = 'higher'\nweight = 1\n[f1]\nweight = 1\n")
    _, found, _ = refused("rank", table, "--metrics-file", metrics, "--copula", "empirical")
    assert found == "found: acc has a weight"


@pytest.mark.parametrize("command", ["rank", "dominance"])
def test_too_few_samples(refused, run, write, quick, command):
    path = write("t.csv", n=FEWEST_SAMPLES - 1)
    error, found, hint = refused(command, path, *quick)
    assert "at least 10 samples" in error
    assert found == "found: 9"
    assert "--no-test" in hint
    assert run(command, path, "--no-test").status == 0


MISTYPED = {
    "command": (["rnak"], "No such command 'rnak'", "did you mean rank?"),
    "option": (
        ["rank", "t.csv", "--resample", "50"],
        "No such option: --resample",
        "did you mean --resamples or",
    ),
    "choice": (["rank", "t.csv", "--format", "jsn"], "'jsn' is not one of", "did you mean json?"),
    "correction": (["rank", "t.csv", "--correction", "bonferoni"], "'bonferoni'", "did you mean bonferroni?"),
    "nothing like it": (["zzz"], "No such command 'zzz'", "riskrank --help lists the commands"),
    "no scores": (["rank"], "Missing argument 'SCORES...'", "riskrank rank --help lists the options"),
    "no number": (["rank", "t.csv", "--seed", "x"], "'x' is not a valid int", "rank --help"),
    "no value": (["rank", "t.csv", "--seed"], "'--seed' requires an argument", "--help"),
}


@pytest.mark.parametrize("case", MISTYPED)
def test_a_mistyped_command_line(run, case):
    args, found, hint = MISTYPED[case]
    outcome = run(*args)
    assert (outcome.status, outcome.stdout) == (2, "")
    lines = outcome.stderr.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["error", "found", "hint"]
    assert re.fullmatch(r"error: riskrank( rank)? cannot be called like this", lines[0])
    assert found in lines[1]
    assert "did you mean" not in lines[1].casefold()
    assert hint in lines[2]


def test_standard_input_needs_a_format(refused):
    assert "standard input" in refused("rank", "-", stdin=b"model sample\nA 1\n")[0]


def test_hints_suggest_the_near_miss(refused, write, tmp_path):
    path = write("scores.csv", GOOD.replace("score", "acc_norm").replace("model", "system"))
    assert str(path) in refused("rank", tmp_path / "scroes.csv")[2]
    good = write("good.csv", GOOD)
    assert refused("rank", good, "--models", "A,b")[2] == "hint: did you mean --models B?"
    assert "did you mean B instead of b" in refused("gate", good, "--better", "A:b")[2]


def test_an_error_is_three_lines_whatever_a_file_holds(refused, write):
    frame = pl.DataFrame(
        {"model": ["A\nB\x1b[31m", "C"], "sample": ["1", "1"], "metric": ["m"] * 2, "score": ["a\nb", "1"]}
    )
    refused("rank", write("t.parquet", frame))


def test_a_traceback_only_when_asked_for(run, write):
    path = write("t.csv", HEAD)
    assert "Traceback" not in run("rank", path).stderr
    outcome = run("rank", path, "--traceback")
    assert outcome.status == 2
    assert outcome.stderr.startswith("Traceback")
    assert outcome.stderr.splitlines()[-3].startswith("error: ")


def test_a_defect_exits_3(run, table, monkeypatch):
    def broken(*args, **options):
        raise RuntimeError("this is\nour fault")

    monkeypatch.setattr("riskrank.studies.rank.study.study_methods", broken)
    outcome = run("rank", table)
    assert (outcome.status, outcome.stdout) == (3, "")
    _, found, hint = outcome.stderr.splitlines()
    assert found == "found: RuntimeError: this is our fault"
    assert "--traceback" in hint


def test_a_lack_of_memory_exits_3(run, table, monkeypatch):
    def too_large(*args, **options):
        raise MemoryError

    monkeypatch.setattr("riskrank.studies.rank.study.study_methods", too_large)
    assert run("rank", table).status == 3
