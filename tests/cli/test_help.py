"""Help a person can read: options in groups, and examples that run."""

import shlex

import pytest
import typer

from riskrank.cli.help import EXAMPLES, PANELS
from riskrank.cli.main import COMMANDS, app

COMMANDS_OF_APP = typer.main.get_command(app).commands
LINES = [
    pytest.param(name, line, id=f"{name} {at}")
    for name, examples in EXAMPLES.items()
    for at, (_purpose, line) in enumerate(examples)
]


@pytest.mark.parametrize("name", COMMANDS)
def test_options_stand_in_groups_and_two_examples_at_the_end(run, capsys, name):
    if hasattr(COMMANDS_OF_APP[name], "commands"):
        pytest.skip("a group of commands")
    run(name, "--help")
    page = capsys.readouterr().out
    heads = [line[:-1] for line in page.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert [head for head in heads if head in PANELS] == [panel for panel in PANELS if panel in heads]
    assert {"Input", "Output"} - ({"Input"} if name == "schema" else set()) <= set(heads)
    assert "Options" not in heads
    assert heads[-1] == "Examples"
    lines = [line.strip() for line in page.splitlines() if line.startswith("    riskrank ")]
    assert lines == [line for _, line in EXAMPLES[name]]
    assert len(lines) == 2


@pytest.mark.parametrize(("name", "line"), LINES)
def test_examples_are_understood(name, line):
    """Options and choices exist; tests of the README run lines like these."""
    words = shlex.split(line)
    assert words[:2] == ["riskrank", name]
    COMMANDS_OF_APP[name].make_context(name, words[2:])
