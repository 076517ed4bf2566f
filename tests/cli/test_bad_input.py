"""Each invalid input gives three lines on stderr, exit status 2, and no output."""

import gzip

import polars as pl
import pytest

from riskrank.engine.sampling.design import MIN_SAMPLES

HEAD = "model,sample,metric,score\n"
GOOD = HEAD + "".join(f"{m},{i},x,{0.1 * i + k}\n" for k, m in enumerate("AB") for i in range(12))
BROKEN = {
    "t.parquet": (b"PAR1 but not really", "cannot be read as Parquet"),
    "t.csv.gz": (gzip.compress(GOOD.encode())[:-9], "cannot be decompressed"),
    "t.csv": (GOOD.replace("A", "\xe4\xf6\xfc").encode("latin-1"), "not UTF-8"),
}


@pytest.mark.parametrize("command", ["rank", "portfolio"])
@pytest.mark.parametrize("name", BROKEN)
def test_bytes_that_are_no_table(refused, write, name, command):
    content, expected = BROKEN[name]
    path = write(name, content)
    error, _, _ = refused(command, path)
    assert f"{path}: " in error
    assert expected in error


def test_check_reports_the_error_and_the_content_of_a_table(run, write):
    path = write("t.csv", GOOD + "A,99,x,high\n")
    outcome = run("check", path)
    assert (outcome.status, f"Error: {path}" in outcome.stdout.replace("\n", "")) == (2, True)


def test_check_names_every_problem(run, write):
    path = write("t.csv", GOOD + "A,3,x,0.3\nA,50,x,nan\n")
    outcome = run("check", path, "--format", "json")
    assert outcome.status == 2
    problems = outcome.document["meta"]["problems"]
    assert {problem["severity"] for problem in problems} == {"error"}
    assert len(problems) >= 3
    assert f"(and {len(problems) - 1} more problems)" in outcome.stderr.splitlines()[0]


@pytest.mark.parametrize("command", ["rank", "dominance"])
def test_too_few_samples(refused, run, write, quick, command):
    path = write("t.csv", n=MIN_SAMPLES - 1)
    error, detail, hint = refused(command, path, *quick)
    assert "at least 10 samples" in error
    assert detail == "found: 9"
    assert "--no-test" not in hint  # ranks of so few samples would seem conclusive
    assert run(command, path, "--no-test").status == 0


def test_standard_input_needs_a_format(refused):
    assert "standard input" in refused("rank", "-", stdin=b"model sample\nA 1\n")[0]


def test_an_error_is_three_lines_whatever_a_file_holds(refused, write):
    frame = pl.DataFrame(
        {"model": ["A\nB\x1b[31m", "C"], "sample": ["1", "1"], "metric": ["m"] * 2, "score": ["a\nb", "1"]}
    )
    refused("rank", write("t.parquet", frame))


def test_a_traceback_only_on_request(run, write):
    path = write("t.csv", HEAD)
    assert "Traceback" not in run("rank", path).stderr
    outcome = run("rank", path, "--set", "traceback=true")
    assert outcome.status == 2
    assert outcome.stderr.startswith("Traceback")
    assert outcome.stderr.splitlines()[-3].startswith("error: ")


def test_a_defect_exits_3(run, table, monkeypatch):
    def broken(*args, **options):
        raise RuntimeError("this is\nour fault")

    monkeypatch.setattr("riskrank.studies.rank.study.study_methods", broken)
    outcome = run("rank", table)
    assert (outcome.status, outcome.stdout) == (3, "")
    _, detail, hint = outcome.stderr.splitlines()
    assert detail == "found: RuntimeError: this is our fault"
    assert "--set traceback=true" in hint


def test_a_lack_of_memory_exits_3(run, table, monkeypatch):
    def too_large(*args, **options):
        raise MemoryError

    monkeypatch.setattr("riskrank.studies.rank.study.study_methods", too_large)
    assert run("rank", table).status == 3
