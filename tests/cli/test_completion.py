"""Names from the files on the command line: in time, or none, and none that a shell acts on."""

import os
import subprocess
import sys
from functools import cache

import pytest
import typer

from riskrank.asked.commands import COMMANDS
from riskrank.cli import completion
from riskrank.cli.call import options_on_the_line
from riskrank.cli.main import app

GROUP = typer.main.get_command(app)
START = subprocess.run


@pytest.fixture(autouse=True)
def here(run, monkeypatch):
    """These tests are about what is offered: the command runs in this process, and takes its time."""

    def answered(words, **_options):
        assert words[:4] == [sys.executable, "-P", "-m", "riskrank"]
        return subprocess.CompletedProcess(words, 0, run(*words[4:]).stdout)

    monkeypatch.setattr(subprocess, "run", answered)


@pytest.fixture
def scores(tmp_path):
    rows = [
        f"{model},{at},{metric},{at % 3}\n"
        for model in ("alpha", "alto", "beta")
        for metric in ("acc", "cost")
        for at in range(12)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("model,sample,metric,score\n" + "".join(rows))
    return path


def offered(*words):
    """What is offered in place of the last word."""
    *before, incomplete = map(str, words)
    name = before.pop(0)
    command = GROUP.commands[name]
    context = command.make_context(name, list(before), resilient_parsing=True)
    (option,) = (one for one in command.params if before[-1] in one.opts)
    return [item.value for item in option.shell_complete(context, incomplete)]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("rank", "--metric", ""), ["acc", "cost"]),
        (("rank", "--metric", "c"), ["cost"]),
        (("rank", "--models", "al"), ["alpha", "alto"]),
        (("rank", "--models", "beta,al"), ["beta,alpha", "beta,alto"]),
        (("gate", "--not-worse", "b"), ["beta"]),
        (("gate", "--better", "beta:alp"), ["beta:alpha"]),
        (("gate", "--on", "tvar@0.05:a"), ["tvar@0.05:acc"]),
        (("copa", "--sweep", "co"), ["cost"]),
        (("rank", "--models", "gamma"), []),
    ],
)
def test_names_of_the_file_are_offered(scores, words, names):
    command, *rest = words
    assert offered(command, scores, *rest) == names


def test_names_are_read_as_the_line_says(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(
        "system,sample,acc,cost\n" + "".join(f"{m},{n},{n},{n}\n" for m in "ab" for n in range(12))
    )
    assert offered("rank", path, "--wide", "--columns", "model=system", "--metric", "") == ["acc", "cost"]
    assert offered("rank", path, "--models", "") == ["a", "b"]


def test_names_a_shell_would_act_on_are_not_offered(tmp_path):
    path = tmp_path / "scores.csv"
    names = ["good", "$(touch x)", "a;b", "`id`", "-rf", "two words", "a\\u0007", "q'", "modèle-1.5/b"]
    rows = "".join(f'"{name}",{at},acc,{at % 3}\n' for name in names for at in range(12))
    path.write_text("model,sample,metric,score\n" + rows, encoding="utf-8")
    assert offered("rank", path, "--models", "") == ["good", "modèle-1.5/b"]


@pytest.mark.parametrize("what", ["large", "many", "pipe", "address", "nothing", "stdin"])
def test_nothing_is_read_that_could_take_long(scores, tmp_path, monkeypatch, what):
    def no_process(*_words, **_options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "run", no_process)
    named = {"address": ["s3://bucket/t.csv"], "nothing": [], "stdin": ["-"]}.get(what, [scores])
    if what == "large":
        monkeypatch.setattr(completion, "BYTES", 100)
    elif what == "many":
        monkeypatch.setattr(completion, "FILES", 2)
        (tmp_path / "other.csv").write_text("x")
        (tmp_path / "third.csv").write_text("x")
        named = [tmp_path]
    elif what == "pipe":
        named = [tmp_path / "pipe"]
        os.mkfifo(named[0])
    assert offered("rank", *named, "--metric", "") == []


def test_what_takes_too_long_is_ended(scores, monkeypatch):
    seen = []

    def noted(*words, **options):
        seen.append(options["timeout"])
        return START(*words, **options)

    monkeypatch.setattr(subprocess, "run", noted)
    monkeypatch.setattr(completion, "SECONDS", 0.001)
    assert offered("rank", scores, "--metric", "") == []
    assert seen == [0.001]


def test_tab_runs_no_query(scores, monkeypatch):
    seen = []
    monkeypatch.setattr(subprocess, "run", lambda words, **_: seen.extend(words) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        offered("rank", scores, "--where", "score > 0", "--sql", "SELECT 1", "--wide", "--metric", "")
    assert seen[4:] == ["check", str(scores), "--format", "json", "--quiet", "--wide"]


def test_a_file_that_is_no_table_offers_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\0\1\2")
    assert offered("rank", path, "--metric", "") == []


def test_the_shell_gets_them(start, scores):
    code = (
        "import sys; sys.argv[0] = 'riskrank'; import riskrank.cli.completion as c; c.SECONDS = 300\n"
        "from riskrank.__main__ import main; main()"
    )
    line = ["riskrank", "rank", str(scores), "--models", "al"]
    words = {"COMP_WORDS": "\n".join(line), "COMP_CWORD": str(len(line) - 1)}
    process = start(code=code, variables=words | {"_RISKRANK_COMPLETE": "complete_bash"})
    stdout, stderr = process.communicate(timeout=600)
    assert (stdout.decode().split(), stderr) == (["alpha", "alto"], b"")


@cache
def all_options():
    return {one.name for row in COMMANDS for one in options_on_the_line(row)}


def test_every_option_that_is_completed_exists():
    assert set(completion._NAMES) <= all_options()
    assert set(completion._READING.split()) <= all_options()
