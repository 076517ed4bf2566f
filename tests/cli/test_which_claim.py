"""Every command in the table of docs/which-claim.md answers."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "which-claim.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\| .*? \| `riskrank (.*?)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_table_answers(command, run, monkeypatch):
    monkeypatch.chdir(ROOT)
    words = command.replace(" W ", " sample_data/weeks.csv --columns model=week,sample=case ")
    outcome = run(*shlex.split(words))
    assert outcome.status in (0, 1, 4)
    assert "Verdict: " in outcome.stdout
