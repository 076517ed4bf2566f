"""The skill for programs that run riskrank: its instructions work, and never weaken a gate."""

import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from riskrank.options.commands import BY_NAME
from tests.page.conftest import scores

SKILL = (Path(__file__).resolve().parents[2] / "docs/skill/SKILL.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"`riskrank ([^`]+scores\.csv[^`]*)`", SKILL)


def test_the_header_describes_the_skill():
    head = re.match(r"---\nname: riskrank\ndescription: (.+)\n---\n", SKILL)
    assert head
    assert 80 < len(head[1]) < 1024


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("line", COMMANDS)
def test_followed_to_the_letter_it_gets_an_answer(run, line, tmp_path, monkeypatch):
    """No command of the skill is refused on a table with two models."""
    monkeypatch.chdir(tmp_path)
    table = scores(["new", "old"], metrics=("accuracy", "cost"), n=40)
    table.with_columns(pl.col("score") + 4.0).write_csv("scores.csv")
    few = {"report": " --resamples 60", "power": " --simulations 20"}
    line += few.get(line.split()[0], "")
    done = run(*shlex.split(line))
    command = line.split()[0]
    assert command in BY_NAME
    assert done.status in ((0, 1, 4) if command == "gate" else (0,)), done


def test_it_names_the_exit_codes_and_forbids_to_overrule_a_gate():
    assert re.search(r"0 it passed\. 1 it failed\. 4 it is inconclusive\. 2 the input", SKILL)
    never = SKILL.partition("# Never")[2]
    assert "overrule an inconclusive gate" in never
    assert "--inconclusive pass" in never
