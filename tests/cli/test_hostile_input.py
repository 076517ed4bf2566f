"""Hostile input gives three short lines and exit status 2, or is read literally."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.pace import at_most
from tests.programs import RISKRANK, run_program

LONG = "x" * 140_000  # Python's csv module stops at 131,072 characters unless told otherwise
DEEP = "[" * 100_000 + "]" * 100_000
HEAD = "model,sample,metric,score"


def rows(models="ab", n=12):
    return [
        (model, str(sample), round(0.1 * sample + 0.01 * ord(model), 3))
        for model in models
        for sample in range(n)
    ]


def csv_text(*, head=HEAD, end=""):
    return head + "\n" + "".join(f"{model},{sample},acc,{score}{end}\n" for model, sample, score in rows())


def json_line(model, sample, score, /, **texts) -> str:
    cells = {"model": f'"{model}"', "sample": f'"{sample}"', "metric": '"acc"', "score": str(score)} | texts
    return "{" + ", ".join(f'"{name}": {text}' for name, text in cells.items()) + "}"


def json_lines(**texts):
    return [json_line(*row, **texts) for row in rows()]


def bounded(lines):
    assert max(map(len, lines)) < 2_100
    return lines


@pytest.mark.parametrize("command", ["rank", "check"])
def test_a_column_of_long_responses(run, write, command):
    plain = run(command, write("t.csv", csv_text()), *(("--no-test",) if command == "rank" else ()))
    assert plain.status == 0
    for name, text in {
        "long.csv": csv_text(head=HEAD + ",response", end=f',"{LONG}"'),
        "head.csv": csv_text(head=f'{HEAD},"{LONG}"', end=",x"),
        # A blank line forces the slow row count in Python.
        "blank.csv": csv_text(head=HEAD + ",response", end=f',"{LONG}"').replace("\na,3", "\n\na,3"),
    }.items():
        long = run(command, write(name, text), *(("--no-test",) if command == "rank" else ()))
        assert long.status == 0, long.stderr[:500]
        if command == "rank":
            assert long.stdout == plain.stdout


def test_a_short_row_among_long_ones(refused, write):
    text = csv_text(head=HEAD + ",response", end=f',"{LONG}"') + "a,99,acc\n"
    error, _, _ = bounded(refused("rank", write("t.csv", text), "--no-test"))
    assert "row 26 has 3 fields, but the header has 5" in error


@pytest.mark.parametrize("place", ["scores", "-o", "--plot", "--metrics-file", "--config"])
def test_a_name_no_file_can_have(refused, run, table, place):
    name = "n" * 300
    args = {
        "scores": (f"{name}.csv",),
        "-o": (table, "-o", f"{name}.json"),
        "--plot": (table, "--plot", f"{name}.svg"),
        "--metrics-file": (table, "--metrics-file", f"{name}.toml"),
        "--config": (table, "--config", f"{name}.toml"),
    }[place]
    outcome = run("rank", *args, "--no-test")
    assert outcome.status == 2, outcome.stderr
    lines = outcome.stderr.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["error", "found", "hint"]
    assert "File name too long" in outcome.stderr


def test_names_that_are_not_utf_8(run, refused, write, table, tmp_path):
    odd = os.fsencode(tmp_path) + b"/n\xffame.csv"
    Path(os.fsdecode(odd)).write_text(csv_text())
    name = os.fsdecode(odd)
    assert run("rank", name, "--no-test").status == 0
    assert run("rank", name, "--no-test", "--format", "csv").status == 0
    refused("rank", name, "--no-test", "--format", "json")
    refused("rank", f"A\udcff={table}", "--no-test", "--format", "json")
    refused("rank", f"A\udcff={table}", "--no-test")
    refused("rank", table, "--no-test", "--models", "A\udcff,B")
    refused("rank", table, "--no-test", "--where", "model = '\udcff'")


@pytest.mark.parametrize(
    "text",
    [
        "bounds = [0, 1" + "0" * 400 + "]",
        "bounds = [0, 1" + "0" * 5000 + "]",
        "weight = 1" + "0" * 400,
        "weight = 0x" + "f" * 9000,
        "direction = 0x" + "f" * 9000,
        "x = " + "[" * 3000 + "]" * 3000,
        "bounds = [0, inf]",
    ],
)
def test_a_metrics_file_beyond_numbers(refused, write, table, text):
    metrics = write("m.toml", f"[acc]\n{text}\n")
    bounded(refused("rank", table, "--metrics-file", metrics, "--no-test"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.toml", "top = 1" + "0" * 5000),
        ("c.toml", "top = 0x" + "f" * 9000),
        ("c.toml", "x = " + "[" * 3000 + "]" * 3000),
        ("riskrank.toml", f'top = "{LONG}"'),
    ],
)
def test_a_configuration_beyond_numbers(refused, write, table, monkeypatch, name, text):
    path = write(name, f"{text}\n")
    monkeypatch.chdir(Path(path).parent)
    with at_most(500):
        named = ("--config", path) if name == "c.toml" else ()
        bounded(refused("rank", table, *named, "--no-test"))


def test_json_nested_deeply(refused, write):
    lines = [*json_lines(), json_line("a", "99", 1.0, sample=DEEP)]
    error, detail, _ = bounded(refused("rank", write("t.jsonl", "\n".join(lines)), "--no-test"))
    assert "row 25" in error
    assert "nested too deeply" in detail
    bounded(refused("rank", write("t.json", DEEP), "--no-test"))


@pytest.mark.parametrize("name", ["model", "sample", "metric"])
@pytest.mark.parametrize("suffix", ["jsonl", "json"])
@pytest.mark.parametrize("half", [r"x\ud800y", r"\udc00", r"\ud83dA", r"\ude00\ud83d"])
def test_half_of_a_character(refused, write, name, suffix, half):
    lines = json_lines()
    lines[3] = json_line(*rows()[3], **{name: f'"{half}"'})
    text = "\n".join(lines) if suffix == "jsonl" else f"[{', '.join(lines)}]"
    error, detail, _ = refused("rank", write(f"t.{suffix}", text), "--no-test")
    assert f"row 4: '{name}' is not valid Unicode" in error
    assert "surrogate" in detail


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_half_of_a_character_in_an_unused_column(run, write, suffix):
    plain = json_lines()
    cut = [line[:-1] + r', "response": "cut \ud83d"}' for line in plain]
    complete = [line[:-1] + r', "response": "whole \ud83d\ude00"}' for line in plain]
    outcomes = [
        run(
            "rank",
            write(f"t.{suffix}", "\n".join(lines) if suffix == "jsonl" else f"[{','.join(lines)}]"),
            "--no-test",
        )
        for lines in (plain, cut, complete)
    ]
    assert [outcome.status for outcome in outcomes] == [0, 0, 0], outcomes[1].stderr
    assert outcomes[0].stdout == outcomes[1].stdout == outcomes[2].stdout


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
@pytest.mark.parametrize("name", ["score", "model", "sample", "metric"])
def test_a_name_twice_in_a_line(refused, write, suffix, name):
    lines = json_lines()
    duplicates = {"score": "0.5", "model": '"c"', "sample": '"s"', "metric": '"m"'}[name]
    lines[5] = lines[5][:-1] + f', "{name}" : {duplicates}}}'
    text = "\n".join(lines) if suffix == "jsonl" else f"[{', '.join(lines)}]"
    error, _, _ = refused("rank", write(f"t.{suffix}", text), "--no-test")
    assert f"two values named '{name}'" in error
    assert suffix == "json" or "row 6" in error


def test_a_name_in_a_nested_object_is_not_a_duplicate(run, write):
    lines = [line[:-1] + ', "judge": {"score": 3}}' for line in json_lines()]
    assert run("rank", write("t.jsonl", "\n".join(lines)), "--no-test").status == 0


@pytest.mark.parametrize("place", ["score", "model", "metric"])
def test_a_cell_of_a_megabyte_is_not_printed(refused, run, write, place):
    cell = "y" * 1_000_000
    line = {"score": f"a,99,acc,{cell}", "model": f"{cell},0,acc,1", "metric": f"a,0,{cell},1"}[place]
    path = write("t.csv", csv_text() + line + "\n")
    bounded(refused("rank", path, "--no-test"))
    checked = run("check", path, "--format", "json")  # as a page, folding the cell takes a second
    assert len(checked.stderr) < 10_000


@pytest.mark.parametrize("command", ["copa", "gsd"])
@pytest.mark.parametrize("huge", [1.7e308, -1.7e308])
def test_scores_too_large_for_objectives_and_criteria(refused, write, command, huge):
    path = write("t.csv", csv_text() + f"a,99,acc,{huge!r}\nb,99,acc,1\n")
    error, detail, _ = refused(command, path, "--higher", "*")
    assert "row 26, column score: the score is too large to compute with" in error
    assert repr(huge) in detail


@pytest.mark.parametrize("command", ["rank", "dominance", "mrm", "gate"])
@pytest.mark.parametrize("huge", [1.7e308, -1.7e308])
def test_scores_too_large_for_a_statistic(run, write, command, huge):
    path = write("t.csv", csv_text() + f"a,99,acc,{huge!r}\nb,99,acc,1\n")
    extra = ("--not-worse", "a:b", "--margin", "0.1") if command == "gate" else ()
    outcome = run(command, path, *extra)
    assert outcome.status == 3
    assert "scores of acc are too large" in outcome.stderr
    assert "score of a\n" in outcome.stderr
    assert "Warning" not in outcome.stderr


# What each command says in plain units, found once.
PLAIN: dict[tuple[str, ...], object] = {}


@pytest.mark.parametrize(
    "arguments",
    [
        ("rank", "--resamples", "60"),
        ("dominance", "--test", "all", "--resamples", "60"),
        ("mrm", "--resamples", "60"),
        ("mrm", "--no-test"),
        ("gate", "--not-worse", "c:a", "--better", "c:b", "--on", "tvar@0.05"),
        ("power", "--sizes", "30", "--simulations", "3"),
        ("portfolio", "--summary"),
        ("copa", "--higher", "*"),
    ],
)
@pytest.mark.parametrize("factor", ["e154", "e-300"])
def test_verdicts_do_not_depend_on_the_unit(run, write, tmp_path, monkeypatch, arguments, factor):
    """The scores are rescaled as decimal text, without rounding."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = [
        f"{model},{sample},acc,{rng.normal(at):.6f}" for at, model in enumerate("abc") for sample in range(30)
    ]
    command, *extra = arguments

    def verdict(unit):
        write("t.csv", "\n".join([HEAD, *(row + unit for row in rows)]) + "\n")
        outcome = run(command, "t.csv", *extra, "--format", "json")
        assert outcome.status in (0, 4), outcome.stderr
        assert "Warning" not in outcome.stderr
        return _without_numbers(json.loads(outcome.stdout) | {"status": outcome.status})

    if arguments not in PLAIN:
        PLAIN[arguments] = verdict("")
    assert verdict(factor) == PLAIN[arguments]


def _without_numbers(value):
    """Return a document without its numbers and sentences: names, places, verdicts."""
    if isinstance(value, dict):
        return {
            name: _without_numbers(item)
            for name, item in value.items()
            if name not in ("verdict", "inputs", "reasons", "text", "sentence")
        }
    if isinstance(value, list):
        return [_without_numbers(item) for item in value]
    return None if isinstance(value, float) else value


def test_scores_too_small_for_exact_steps(refused, run, write):
    rng = np.random.default_rng(0)
    lines = [f"{m},{s},acc,{int(rng.integers(1, 9)) * 5e-324!r}" for m in "abc" for s in range(12)]
    path = write("t.csv", "\n".join([HEAD, *lines]) + "\n")
    error, _, hint = refused("gsd", path, "--higher", "*", "--no-test")
    assert "too small" in error
    assert run("gsd", path, "--higher", "*", "--no-test", "--ordinal", "acc").status == 0
    assert "ordinal" in hint


def test_more_digits_than_there_are(refused, table):
    for digits in ("400", "308", "99999999999"):
        refused("gsd", table, "--higher", "*", "--no-test", "--digits", digits)


@pytest.mark.skipif(sys.platform == "win32", reason="a working directory cannot be removed there")
@pytest.mark.parametrize("args", [("rank", "t.csv"), ("rank", "*.csv"), ("check", "t.csv", "-o", "c.json")])
def test_a_deleted_working_directory(start, tmp_path, args):
    deleted = tmp_path / "gone"
    deleted.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    done = run_program("bash", "-c", script, "bash", deleted, *RISKRANK, *args)
    assert done.returncode == 2, done.stderr
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["error", "found", "hint"]


def test_names_json_can_hold_come_back(run, write):
    lines = [
        json.dumps({"model": f"{model}😀", "sample": sample, "metric": "acc", "score": score})
        for model, sample, score in rows()
    ]
    outcome = run("rank", write("t.jsonl", "\n".join(lines)), "--no-test", "--format", "json")
    assert outcome.document["meta"]["models"] == ["a😀", "b😀"]


def test_a_name_of_a_hundred_thousand_letters_is_shortened(run, write):
    """Each line of a summary on stderr has the same length limit as an error."""
    name = "x" * 100_000
    table = {"columns": ["inputs", name, "latency"], "data": [["q", 1, 0.5], ["r", 2, 0.25]]}
    outcome = run("convert", "mlflow", f"m={write('t.json', json.dumps(table))}", "--format", "csv")
    assert "xxx" in outcome.stderr
    assert max(map(len, outcome.stderr.splitlines())) < 2_300
