"""Suggested commands repeat the call with other options, and the command accepts all of them."""

import re
import shlex

import pytest
import typer

from riskrank.cli.main import app
from riskrank.cli.options import suggested_command
from tests.examples import ROOT

COMMANDS = typer.main.get_command(app).commands
STORED = sorted(
    path
    for folder in ("refused", "expected_facts", "made")
    for path in (ROOT / "tests" / "cli" / folder).glob("*.txt")
)
# A complete command to copy, indented on a screen or marked in stored texts.
LINE = re.compile(r"^[| ]*(?:  )?(riskrank [a-z]+ .*)$", re.MULTILINE)


@pytest.mark.parametrize(
    ("call", "more", "command"),
    [
        ("rank t.csv --columns draw=k --seed 2", "--columns --noise k", "rank t.csv --seed 2 --noise k"),
        ("rank t.csv --missing=drop", "--missing worst", "rank t.csv --missing worst"),
        ("copa t.csv --lower ms", "--lower e --higher a", "copa t.csv --lower ms --lower e --higher a"),
        ("gate t.csv --lower a,b", "--lower b,c", "gate t.csv --lower a --lower b,c"),
        ("gate t.csv --lower=a --lower b", "--lower b,a", "gate t.csv --lower b,a"),
        ("diff t.csv --pair a:b --time t -q", "gate --better b:a", "gate t.csv --time t -q --better b:a"),
        ("rank t.csv --per-metric --top 1", "gate --better b:a", "gate t.csv --better b:a"),
        ("mrm t.csv --level 0.1 --plot risk=x.png -o y.csv", "gate", "gate t.csv -o y.csv"),
        ("gate t.csv --better a:b", "--better a:b --better a:c", None),
    ],
)  # fmt: skip
def test_a_suggestion_changes_only_the_options_it_names(call, more, command):
    command = command or f"{call} {more}"
    assert suggested_command(shlex.split(call), more) == f"riskrank {command}"


def test_inputs_stand_in_the_place_of_inputs():
    assert suggested_command(["rank", "a.csv", "b.csv", "-q"], "a=a.csv b=b.csv", ["a.csv", "b.csv"]) == (
        "riskrank rank -q a=a.csv b=b.csv"
    )


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_stored_line_to_copy_has_options_of_its_command(path):
    for line in LINE.findall(path.read_text("utf-8")):
        name, *arguments = shlex.split(line)[1:]
        if "--help" not in arguments and "COMMAND" not in line:
            assert name in COMMANDS, line
            COMMANDS[name].make_context(name, list(arguments))


def test_skipped_rows_are_not_skipped_again_by_suggestions(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"text {i},{3 + i % 3},{4 + i % 2}" for i in range(20)]
    table = ["Ratings of the editors,,", "Article,Draft A,Draft B", *rows, "Average,3.95,4.5"]
    (tmp_path / "notes.csv").write_text("\n".join(table))
    refused = run("rank", "notes.csv", "--skip-rows", "1")
    line = LINE.findall(refused.stderr)[0]
    answer = run(*shlex.split(line)[1:])
    assert (refused.status, answer.status) == (2, 0)
    assert "--skip-rows 1" in line
    assert "20 paired samples" in answer.stdout
