"""Defaults from a configuration file: its location, precedence, and options that it may not set."""

import os
import sys
from pathlib import Path

import pytest

from riskrank.cli.config import READING, TRUSTED_ONLY, WRITING
from riskrank.cli.options import flag_options
from riskrank.options.commands import COMMANDS

FILES = {"riskrank.toml": "{}", "pyproject.toml": "[tool.other]\nx = 1\n[tool.riskrank]\n{}"}


@pytest.fixture
def project(tmp_path, monkeypatch, write):
    """Create a working directory with a table; return a function that writes its configuration."""
    monkeypatch.chdir(tmp_path)
    write("scores.csv")

    def configure(text, name="riskrank.toml"):
        write(name, text)
        return name

    return configure


def settings(outcome) -> dict:
    assert outcome.status == 0, outcome.stderr
    meta = outcome.document["meta"]
    return {**meta["method"], **meta["settings"]}


RANK = ("rank", "scores.csv", "--no-test", "--format", "json")


def test_the_same_options_give_the_same_rows_wherever_they_stand(run, project):
    outcome = run(*RANK, "--per-metric", "--lower", "f1", "--stability", "10", "--stability", "20")
    project('per_metric = true\nlower = ["f1"]\nstability = [10, 20]\n')
    read = run(*RANK).document
    assert read["meta"].pop("config") == "riskrank.toml"
    assert read == outcome.document


def test_only_the_working_directory_is_looked_at(run, project, tmp_path, monkeypatch, write):
    project('order = 1\nmetrics-file = "directions.toml"\n')
    project('[acc]\ndirection = "lower"\n', "directions.toml")
    document = run(*RANK).document
    assert document["meta"]["metrics"][0]["direction"] == "lower"
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    args = ("rank", "../scores.csv", "--no-test", "--format", "json")
    assert "config" not in run(*args).document["meta"]
    write("a/pyproject.toml", "[tool.riskrank]\norder = 2\n")
    assert settings(run(*args))["order"] == "2"
    write("a/riskrank.toml", "seed = 3\n")  # a file of our own goes before the shared one
    assert settings(run(*args))["order"] == "both"
    named = run(*args, "--config", "../riskrank.toml")
    assert settings(named)["order"] == "1"
    assert named.document["meta"]["metrics"][0]["direction"] == "lower"


@pytest.mark.parametrize(
    ("text", "error", "detail", "hint"),
    [
        (b"order = \xff", "not valid TOML", "utf-8", "UTF-8"),
        ("#" * 300_000, "cannot be read", "262,144 bytes", "small"),
        ("a" + ".a" * 20_000 + " = 1", "not valid TOML", "a line with 20,000 dots", ""),
        ("[a" + ".a" * 200 + "]\n" + "b=1\n" * 30_000, "not valid TOML", "a line with 200 dots", ""),
        ("x = " + "[" * 30_000, "not valid TOML", "", ""),
    ],
)
def test_errors_of_the_file_have_three_lines(refused, project, text, error, detail, hint):
    lines = refused(*RANK[:3], "--config", project(text, "r.toml"))
    assert "r.toml: " in lines[0]
    for line, part in zip(lines, (error, detail, hint), strict=True):
        assert part in line, lines


def test_a_broken_file_is_named_and_help_still_works(refused, run, project):
    project("[tool.riskrank]\norder = \n", "pyproject.toml")
    assert "pyproject.toml" in refused(*RANK[:3])[0]
    assert (run("rank", "--help").status, run("rank", "--help-all").status) == (0, 0)
    assert run(*RANK, "--config", "none").status == 0
    project("[tool.other]\norder = \n", "pyproject.toml")
    assert run(*RANK).status == 0
    project("[tool]\nriskrank = 1\n", "pyproject.toml")
    assert "the table [tool.riskrank] is missing" in refused(*RANK[:3])[0]


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
def test_a_folder_or_pipe_is_not_a_configuration(run, project, kind):
    place = Path("riskrank.toml")
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir() if kind == "folder" else place.symlink_to(os.devnull)
    assert "config" not in run(*RANK).document["meta"]


@pytest.mark.parametrize(
    "path",
    [
        "pipe",
        ".git/config",
        "link",
        "folder/config",
        "in",
        "out",
        "/dev/null",
        "../up.toml",
        "a=out",
        "s3://b/m",
    ],
)
@pytest.mark.parametrize("name", FILES)
def test_a_default_configuration_names_only_a_metrics_file_next_to_it(refused, project, path, name):
    project(FILES[name].format(f'metrics_file = "{path}"'), name)
    Path(".git").mkdir(exist_ok=True)
    Path(".git/config").write_text("[a]")
    Path("link").symlink_to(".git/config")
    Path("folder").symlink_to(".git")
    Path("in").symlink_to(f"/dev/fd/{os.pipe()[0]}")
    Path("out").symlink_to(sys.executable)
    Path("pipe").symlink_to(os.devnull)
    error, _, hint = refused("rank", "scores.csv", "--no-test")
    assert error == f"error: {name}: 'metrics_file' must be a file below the working directory"
    assert hint == f"hint: if you trust this file, add --config {name}; --config none ignores it"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("key", TRUSTED_ONLY)
def test_settings_that_a_default_configuration_may_not_have(refused, project, tmp_path, key, name):
    front = "[tool.riskrank.rank]" if name == "pyproject.toml" else "[rank]"
    project(f'{front}\n{key} = "x"\n', name)
    before = sorted(tmp_path.rglob("*"))
    error, _, hint = refused("rank", "scores.csv", "--no-test")
    assert error == f"error: {name}: '{key}' is allowed only in a file that --config names"
    assert hint == f"hint: if you trust this file, add --config {name}; --config none ignores it"
    assert sorted(tmp_path.rglob("*")) == before


def test_every_option_that_names_a_file_has_a_rule():
    options = {option for command in COMMANDS for option in flag_options(command)}
    named = {option.flag[2:] for option in options if "FILE" in (option.spec.metavar or "")}
    assert named == {*READING, *WRITING, "metrics-file"}
