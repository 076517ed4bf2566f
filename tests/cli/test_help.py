"""Help pages: options are grouped, and the examples run."""

import json
import re
import shlex
from pathlib import Path

import pytest
import typer

from riskrank.cli.convert import HARNESSES, JUDGES
from riskrank.cli.help import command_examples
from riskrank.cli.main import app
from riskrank.options.commands import BY_NAME as COMMANDS
from riskrank.options.option import PANELS
from riskrank.scores.exports.catalogue import EXPORTS
from tests import manual

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
COMMANDS_OF_APP = typer.main.get_command(app).commands
CONVERSIONS = tuple(COMMANDS_OF_APP["convert"].commands)
LINES = [
    pytest.param(line, id=f"{name} {at}")
    for name in (*COMMANDS, "verdicts", "auto", "lm-eval")
    for at, (_purpose, line) in enumerate(command_examples(name))
]


def heads_of(page):
    return [line[:-1] for line in page.splitlines() if line.endswith(":") and not line.startswith(" ")]


def assert_two_examples_at_the_end(page, name):
    assert heads_of(page)[-1] == "Examples"
    lines = [line.strip() for line in page.splitlines() if line.startswith("    riskrank ")]
    assert lines == [line for _, line in command_examples(name)]
    return len(lines) == 2


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "convert"])
def test_options_stand_in_groups_and_two_examples_at_the_end(run, capsys, name):
    run(name, "--help")
    page = capsys.readouterr().out
    heads = heads_of(page)
    assert [head for head in heads if head in PANELS] == [panel for panel in PANELS if panel in heads]
    assert {"Input", "Output"} - ({"Input"} if name in ("schema", "examples") else set()) <= set(heads)
    assert "Options" not in heads
    assert assert_two_examples_at_the_end(page, name)


def test_convert_groups_its_formats(run, capsys):
    run("convert", "--help")
    page = capsys.readouterr().out
    assert heads_of(page) == [JUDGES, HARNESSES, "Output", "Examples"]
    assert assert_two_examples_at_the_end(page, "convert")
    assert all(f"\n  {name} " in page for name in CONVERSIONS)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_formats_of_convert_end_with_two_examples(run, capsys, name):
    run("convert", name, "--help")
    assert assert_two_examples_at_the_end(capsys.readouterr().out, name)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Copy the sample data, and write logs of two models for examples that need their own."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "sample_data").symlink_to(SAMPLES)
    for step, model in ((2, "a"), (3, "b")):
        logs = folder / "logs" / model
        logs.mkdir(parents=True)
        rows = [
            {"doc_id": n, "doc": {}, "filter": "none", "metrics": ["acc"], "acc": float(n % step == 0)}
            for n in range(12)
        ]
        (logs / "samples_sums_2026-01-01T00-00-00.0.jsonl").write_text("\n".join(map(json.dumps, rows)))
        results = {"results": {"sums": {}}, "model_name": model, "higher_is_better": {"sums": {"acc": True}}}
        (logs / "results_2026-01-01T00-00-00.0.json").write_text(json.dumps(results))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_examples_run(run, checkout, monkeypatch, line):
    monkeypatch.chdir(checkout)
    program, *words = shlex.split(line)
    assert program == "riskrank"
    done = run(*words)
    # A gate may find that the samples do not decide it, and says so.
    allowed = (0, 4) if words[0] == "gate" else (0,)
    assert done.status in allowed, done.stderr
    written = Path(words[words.index("--output") + 1]).stat().st_size if "--output" in words else 0
    assert done.stdout or written


@pytest.mark.parametrize("name", EXPORTS)
def test_examples_of_harnesses_are_understood(name):
    """These examples need logs of a harness, so only their options are checked."""
    for _purpose, line in command_examples(name):
        words = shlex.split(line)
        assert words[:3] == ["riskrank", "convert", name]
        COMMANDS_OF_APP["convert"].commands[name].make_context(name, words[3:])


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "convert"])
def test_help_lists_common_options_and_help_all_every_option(run, capsys, name):
    listed = []
    for flag in ("--help", "--help-all"):
        assert run(name, flag).status == 0
        page = capsys.readouterr().out
        options = page.partition("\nExamples:")[0]
        listed.append(set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", options, re.MULTILINE)))
    few, all_of_them = listed
    options = {f"--{option.name.rstrip('_').replace('_', '-')}" for option in COMMANDS_OF_APP[name].params}
    hidden = {f"--{refused}" for refused in COMMANDS[name].rejected_options} | {"--scores"}
    assert len(few) <= 30
    assert all_of_them == (options - hidden) | {"--help"}
    assert few < all_of_them


def test_a_call_without_command_fails_with_first_steps(run):
    outcome = run()
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("Usage: riskrank")
    lines = [line.split() for line in outcome.stderr.splitlines() if line.startswith("    riskrank ")]
    assert [words[1] for words in lines] == ["check", "rank", "gate"]
    assert "riskrank --help" in outcome.stderr
    assert len(outcome.stderr.splitlines()) <= 25


def test_a_group_without_a_command_shows_its_help_but_fails(run):
    outcome = run("convert")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert "lm-eval" in outcome.stderr


def test_editors_know_the_signatures_of_the_api():
    stored = (manual.ROOT / "riskrank" / "__init__.pyi").read_text(encoding="utf-8")
    assert stored == manual.stub(), "run make manual"


def test_the_manual_has_the_help_of_options():
    stored = (manual.MANUAL / "riskrank.1").read_text(encoding="utf-8")
    # Click names the short form of --help as it was first asked for.
    assert stored.replace(r"\-h, ", "") == manual.man_page().replace(r"\-h, ", ""), "run make manual"
