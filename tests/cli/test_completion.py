"""Names from the files on the command line: in time, or none, and none that a shell acts on."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

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


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("rank SCORES --models al", ["alpha", "alto"]),
        # As bash breaks --not-worse beta:al, --models=al, --on tvar@0.05:c and new=SCORES.
        ("gate SCORES --not-worse beta : al", ["alpha", "alto"]),
        ("gate SCORES --not-worse beta :", ["alpha", "alto", "beta"]),
        ("rank SCORES --models = beta,al", ["beta,alpha", "beta,alto"]),
        ("gate SCORES --on tvar @ 0.05 : c", ["cost"]),
        ("rank new = SCORES --metric a", ["acc"]),
    ],
)
def test_the_shell_gets_them(start, scores, line, names):
    code = (
        "import sys; sys.argv[0] = 'riskrank'; import riskrank.cli.completion as c; c.SECONDS = 300\n"
        "from riskrank.__main__ import main; main()"
    )
    line = ["riskrank", *line.replace("SCORES", str(scores)).split(" ")]
    words = {"COMP_WORDS": "\n".join(line), "COMP_CWORD": str(len(line) - 1)}
    process = start(code=code, variables=words | {"_RISKRANK_COMPLETE": "complete_bash"})
    stdout, stderr = process.communicate(timeout=600)
    assert (stdout.decode().split(), stderr) == (names, b"")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_the_first_tab_of_zsh_is_answered(tmp_path):
    """As in a new shell, whose folder of completions is read when Tab is pressed."""
    manual = Path(__file__).resolve().parents[2] / "docs" / "manual"
    (tmp_path / "riskrank").write_text("#!/bin/sh\necho print answered\n")
    (tmp_path / "riskrank").chmod(0o755)
    folders = f"fpath=({manual}); path=({tmp_path} $path)"
    code = "words=(riskrank); CURRENT=1; autoload -Uz _riskrank; _riskrank"
    done = START(["zsh", "-f", "-c", f"{folders}; {code}"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("answered\n", "")


@cache
def all_options():
    return {one.name for row in COMMANDS for one in options_on_the_line(row)}


def test_every_option_that_is_completed_exists():
    assert set(completion._NAMES) <= all_options()
    assert set(completion._READING.split()) <= all_options()
