"""Machine options on the command line, in the environment and in a configuration file."""

from pathlib import Path

import pytest

from riskrank.cli.options import all_options
from riskrank.errors import SET_KEYS
from riskrank.options.commands import COMMANDS

KEYS = "jobs, executor, work-limit, max-bytes, max-memory, color, traceback"
RANK = ("rank", "t.csv", "--format", "json")


@pytest.fixture
def configured(write, tmp_path, monkeypatch):
    """Write a table and a configuration into the working directory."""
    write("t.csv", n=12)
    monkeypatch.chdir(tmp_path)
    return Path("riskrank.toml").write_text


def limit(outcome):
    assert outcome.status == 0, outcome.stderr
    return outcome.document["meta"]["method"]["work_limit"]


def test_every_key_is_an_option_of_some_command():
    assert {option.name for row in COMMANDS for option in all_options(row) if option.name in SET_KEYS} == {
        *SET_KEYS
    }


def test_the_command_line_precedes_the_environment_and_that_the_configuration(run, configured):
    named = ("--config", "riskrank.toml")
    variables = {"RISKRANK_WORK_LIMIT": "3e6", "RISKRANK_JOBS": "", "RISKRANK_OTHER": "x"}
    assert limit(run(*RANK)) == 1e9
    configured("[set]\nwork-limit = 1e6\njobs = 1\n[rank.set]\nwork_limit = 2e6\n")
    assert limit(run(*RANK, *named)) == 2e6
    assert limit(run(*RANK, *named, variables=variables)) == 3e6
    assert limit(run(*RANK, *named, "--set", "work_limit=4e6", variables=variables)) == 4e6
    assert limit(run(*RANK, *named, "--set", "work-limit=4e6", "--set", "work-limit=5e6")) == 5e6


def test_keys_of_other_commands_are_ignored_in_files_only(run, refused, configured):
    configured("[set]\njobs = 1\n")
    assert run("check", "t.csv", variables={"RISKRANK_WORK_LIMIT": "3"}).status == 0
    error, detail, _ = refused("check", "t.csv", "--set", "jobs=1")
    assert error == "error: --set jobs=1: unknown key 'jobs'"
    assert detail == "found: the keys are max-bytes, max-memory, color, traceback"


@pytest.mark.parametrize(
    ("text", "error", "detail", "hint"),
    [
        ("job=2", "unknown key 'job'", f"the keys are {KEYS}", "did you mean --set jobs=VALUE?"),
        ("x=2", "unknown key 'x'", f"the keys are {KEYS}", "use one of these keys"),
        ("", "unknown key ''", f"the keys are {KEYS}", "use one of these keys"),
        ("jobs", "--set jobs has no value", "jobs", "write --set jobs=VALUE"),
        ("jobs=", "--set jobs has no value", "jobs=", "write --set jobs=VALUE"),
        ("jobs=two", "--set jobs needs a whole number", "two", "write --set jobs=N"),
        ("jobs=1.5", "--set jobs needs a whole number", "1.5", "write --set jobs=N"),
        ("max-memory=all", "--set max-memory needs a number", "all", "write --set max-memory=N"),
        ("max-bytes=0", "--set max-bytes must be at least 1", "0", "16 GiB"),
        ("traceback=2", "--set traceback needs true or false", "2", "write --set traceback=true"),
        ("color=pink", "--set color=pink is not a valid choice", "auto, always, never", "--set color=auto"),
    ],
)
def test_wrong_keys_and_values_are_refused(run, configured, text, error, detail, hint):
    lines = run("rank", "t.csv", "--set", text).stderr.splitlines()
    for line, part in zip(lines, (error, detail, hint), strict=True):
        assert part in line, lines


def test_an_error_names_the_variable_that_gave_the_value(refused, configured):
    _, detail, _ = refused("rank", "t.csv", variables={"RISKRANK_JOBS": "0", "RISKRANK_COLOR": "never"})
    assert detail == "found: 0 (RISKRANK_JOBS is set)"


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ("[set]\njob = 2\n", "'set' cannot be {'job': 2}", "write a value that --set accepts"),
        ("jobs = 2\n", "'jobs' is an execution option", "write it below [set]"),
        ("[rank]\njobs = 2\n", "'jobs' in [rank] is an execution option", "below [rank.set]"),
        ("[rank.set]\nmax_bytes = 2\n", "'max_bytes' is allowed only in a file that --config", "trust"),
        ('set = ["executor=dask:a:1"]\n', "'executor' is allowed only in a file that --config", "trust"),
    ],
)
def test_keys_that_a_configuration_may_not_set(refused, configured, text, error, hint):
    configured(text)
    lines = refused("rank", "t.csv")
    assert f"riskrank.toml: {error}" in lines[0]
    assert hint in lines[2]


def test_a_traceback_can_be_set_in_all_places(run, configured):
    failing = ("rank", "t.csv", "--metric", "none")
    assert "Traceback" in run(*failing, "--set", "traceback=true").stderr
    assert "Traceback" in run(*failing, variables={"RISKRANK_TRACEBACK": "1"}).stderr
    assert "Traceback" not in run(*failing, "--set", "traceback=false").stderr
    configured("[set]\ntraceback = true\n")
    assert "Traceback" in run(*failing).stderr
