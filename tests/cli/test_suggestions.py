"""Commands that `check` suggests can be copied."""

import shlex

import pytest
import typer

from riskrank.cli.main import app

COMMANDS = typer.main.get_command(app).commands
EXTRA = {"rank": ("--no-test",), "gsd": ("--no-test",)}


@pytest.fixture
def commands(run, monkeypatch, tmp_path):
    """Return a function that lists the commands which check suggests for a file."""
    monkeypatch.chdir(tmp_path)

    def proposed(*args):
        outcome = run("check", *args, "--format", "json")
        assert outcome.status == 0, outcome.stderr
        page = run("check", *args, "--explain", tty=True, variables={"COLUMNS": "60"})
        lines = [suggestion["command"] for suggestion in outcome.document["meta"]["suggestions"]]
        assert all(f"   {line}\n" in page.stdout for line in lines), "a command was wrapped"
        assert all(
            f"```\n{line}\n```" in run("check", *args, "--format", "markdown").stdout for line in lines
        )
        return [shlex.split(line)[1:] for line in lines]

    return proposed


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"metrics": ("acc", "top 1, it's")}, ()),
        ({"models": ("A", "B")}, ("--columns", "sample=sample", "--where", "model <> 'C'")),
        ({"metrics": ("acc", "cost", "f1")}, ("--lower", "cost", "--models", "A,C")),
        ({"n": 5}, ("--unpaired",)),
    ],
)
def test_every_proposed_command_runs(run, commands, write, options, flags):
    write("a table.csv", **options)
    proposed = commands("a table.csv", *flags)
    assert len(proposed) > 2
    for command, *arguments in proposed:
        COMMANDS[command].make_context(command, list(arguments))
        if command != "power":
            extra = [flag for flag in EXTRA.get(command, ()) if flag not in arguments]
            assert run(command, *arguments, *extra).status == 0, (command, arguments)
