"""Defaults from a configuration file: where it is found, what wins, and what it may not say."""

import os
import re
import sys
from pathlib import Path

import pytest

from riskrank.asked.commands import COMMANDS
from riskrank.cli.call import options_on_the_line
from riskrank.cli.ownership import OUTPUTS, READS
from tests.pace import at_most

FILES = {
    "riskrank.toml": "{}",
    "pyproject.toml": "[tool.other]\nx = 1\n[tool.riskrank]\n{}",
}


@pytest.fixture
def project(tmp_path, monkeypatch, write):
    """A repository with a table in it, the current directory; returns a function that configures it."""
    (tmp_path / ".git").mkdir()
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
    said = run(*RANK, "--per-metric", "--lower", "f1", "--threshold", "0.1", "--threshold", "0.2")
    project('per_metric = true\nlower = ["f1"]\nthreshold = [0.1, 0.2]\n')
    read = run(*RANK).document
    assert read["meta"].pop("config") == "riskrank.toml"
    assert read == said.document


def test_a_file_in_a_parent_counts_up_to_the_repository(run, project, tmp_path, monkeypatch):
    project('order = 1\nmetrics-file = "directions.toml"\n')
    project('[acc]\ndirection = "lower"\n', "directions.toml")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    outcome = run("rank", "../../scores.csv", "--no-test", "--format", "json")
    assert settings(outcome)["order"] == "1"
    assert outcome.document["meta"]["config"] == "../../riskrank.toml"
    assert outcome.document["meta"]["metrics"][0]["direction"] == "lower"
    (tmp_path / "a" / ".git").mkdir()
    assert "config" not in run("rank", "../../scores.csv", "--no-test", "--format", "json").document["meta"]


def test_a_nearer_file_hides_those_above(run, project, tmp_path, monkeypatch, write):
    project("order = 1\n")
    (tmp_path / "a").mkdir()
    write("a/pyproject.toml", '[project]\nname = "riskrank"\n[tool.ruff]\nline-length = 110\n')
    monkeypatch.chdir(tmp_path / "a")
    args = ("rank", "../scores.csv", "--no-test", "--format", "json")
    assert run(*args).document["meta"]["config"] == "../riskrank.toml"
    write("a/pyproject.toml", "[tool.riskrank]\norder = 2\n")
    assert settings(run(*args))["order"] == "2"
    write("a/riskrank.toml", "seed = 3\n")  # a file of our own goes before the shared one
    assert settings(run(*args))["order"] == "both"


def test_outside_of_repository_and_home_nobody_elses_parent_counts(run, project, tmp_path, monkeypatch):
    project("order = 1\n")
    (tmp_path / ".git").rmdir()
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    assert settings(run(*RANK))["order"] == "1"
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    args = ("rank", "../scores.csv", "--no-test", "--format", "json")
    assert settings(run(*args))["order"] == "both"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings(run(*args))["order"] == "1"


@pytest.mark.parametrize(
    ("text", "what", "found", "hint"),
    [
        (b"order = \xff", "not valid TOML", "utf-8", "UTF-8"),
        ("#" * 300_000, "cannot be read", "262,144 bytes", "small"),
        ("a" + ".a" * 20_000 + " = 1", "not valid TOML", "a line with 20,000 dots", ""),
        ("[a" + ".a" * 200 + "]\n" + "b=1\n" * 30_000, "not valid TOML", "a line with 200 dots", ""),
        ("x = " + "[" * 30_000, "not valid TOML", "", ""),
    ],
)
def test_what_is_wrong_with_the_file_is_said_in_three_lines(refused, project, text, what, found, hint):
    lines = refused(*RANK[:3], "--config", project(text, "r.toml"))
    assert "r.toml: " in lines[0]
    for line, part in zip(lines, (what, found, hint), strict=True):
        assert part in line, lines


def test_a_broken_file_is_named_and_help_still_works(refused, run, project):
    project("[tool.riskrank]\norder = \n", "pyproject.toml")
    assert "pyproject.toml" in refused(*RANK[:3])[0]
    assert (run("rank", "--help").status, run("rank", "--help-all").status) == (0, 0)
    assert run(*RANK, "--isolated").status == 0
    project("[tool.other]\norder = \n", "pyproject.toml")
    assert run(*RANK).status == 0
    project("[tool]\nriskrank = 1\n", "pyproject.toml")
    assert "no table [tool.riskrank]" in refused(*RANK[:3])[0]


def test_a_deleted_current_directory_has_no_configuration(tmp_path, monkeypatch):
    from riskrank.cli.config_file import found_file

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert found_file().path is None


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of POSIX")


@POSIX
@pytest.mark.parametrize(
    ("place", "mode", "reason"),
    [
        ("riskrank.toml", 0o646, "anybody may write to it"),
        (".", 0o1777, "anybody may write to its folder"),
        ("riskrank.toml", "group", "a group may write to it"),
        (".", "group", "a group may write to its folder"),
        ("riskrank.toml", "owner", "it belongs to another user"),
        (".", "owner", "its folder belongs to another user"),
        ("riskrank.toml", "link", "it is a link that leads out of its folder"),
    ],
)
@pytest.mark.parametrize("below", [False, True])
def test_a_file_others_may_have_written_is_passed_over(
    run, project, tmp_path, monkeypatch, place, mode, reason, below
):
    project("order = 1\n")
    if mode in ("group", "owner") and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    if mode == "link":
        (tmp_path / "hidden").mkdir()
        Path(place).rename(tmp_path / "hidden" / "secret.toml")
        Path(place).symlink_to(tmp_path / "hidden" / "secret.toml")
    elif mode == "owner":
        os.chown(place, 12345, 0)
    elif mode == "group":
        os.chown(place, 0, 12345)
        os.chmod(place, 0o775)  # noqa: PTH101
    else:
        os.chmod(place, mode)  # noqa: PTH101
    front = ""
    if below:
        (tmp_path / "mine").mkdir()
        monkeypatch.chdir(tmp_path / "mine")
        front = "../"
    words = ("rank", f"{front}scores.csv", "--no-test", "--format", "json")
    outcome = run(*words)
    assert settings(outcome)["order"] == "both"
    assert "config" not in outcome.document["meta"]
    path = f"{front}riskrank.toml"
    expected = f"warning: {path} is not read: {reason}; if you trust it, add --config {path}"
    assert outcome.stderr.splitlines() == [expected]
    assert run(*words, "--quiet").stderr == run(*words, "--isolated").stderr == ""
    assert settings(run(*words, "--config", path))["order"] == "1"


@POSIX
@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_passed_over_with_a_word(run, project, kind):
    project("order = 1\n")
    place = Path("riskrank.toml")
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir() if kind == "folder" else place.symlink_to(os.devnull)
    told = run("rank", "scores.csv", "--no-test", "--format", "json").stderr
    assert told.startswith("warning: riskrank.toml is not read: it is no plain file; ")


@POSIX
def test_a_neighbours_file_is_passed_over_and_the_own_one_above_counts(run, project, tmp_path, monkeypatch):
    project("order = 1\n")
    (tmp_path / "shared").mkdir()
    monkeypatch.chdir(tmp_path / "shared")
    project('executor = "dask:tcp://198.51.100.7:8786"\norder = 2\n', "shared/riskrank.toml")
    (tmp_path / "shared").chmod(0o777)
    outcome = run("rank", "../scores.csv", "--no-test", "--format", "json")
    assert settings(outcome)["order"] == "1"
    assert outcome.document["meta"]["config"] == "../riskrank.toml"


@POSIX
def test_a_group_of_its_own_is_no_stranger(run, project):
    project("order = 1\n")
    os.chmod("riskrank.toml", 0o664)  # noqa: PTH101
    status = os.stat("riskrank.toml")  # noqa: PTH116
    if status.st_uid != status.st_gid:
        pytest.skip("this user's group is shared with others")
    assert settings(run(*RANK))["order"] == "1"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('metrics_file = "pipe"', "'metrics_file' reads a pipe or a device"),
        ('metrics_file = ".git/config"', "'metrics_file' reads what is hidden"),
        ('metrics_file = "link"', "'metrics_file' reads what is hidden"),
        ('metrics_file = "folder/config"', "'metrics_file' reads what is hidden"),
        ('[trend]\nanchor = ["a=.git/config"]', "'anchor' reads what is hidden"),
        ('metrics_file = "/proc/self/environ"', "'metrics_file' reads a pipe or a device"),
        ('metrics_file = "/dev/fd/77"', "'metrics_file' reads a pipe or a device"),
        ('metrics_file = "in"', "'metrics_file' reads a pipe or a device"),
        ('[trend]\nanchor = ["acc=.gi*/config"]', "'anchor' reads what is hidden"),
        ('[trend]\nanchor = ["acc=label=.git/config"]', "'anchor' reads what is hidden"),
        ('[trend]\nanchor = ["acc=label=pipe"]', "'anchor' reads a pipe or a device"),
        ('[trend]\nanchor = {acc = "label=pip[e]"}', "'anchor' reads a pipe or a device"),
        ('[gate]\nbaseline = ["fold", "/../.git/config"]', "'baseline' reads what is hidden"),
        ('[gate]\nbaseline = "parts"', "'baseline' reads what is hidden"),
        ("[gate]\nprice = '" + "=" * 10_000 + "'", "'price' is longer than a path"),
        ("[gate]\nbaseline = '" + "*=" * 4_000 + "x'", "'baseline' is longer than a path"),
        ('metrics_file = "out"', "'metrics_file' reads what lies outside of its folder"),
    ],
)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_nobody_named_does_not_reach_out(refused, run, project, text, why, name):
    if name == "pyproject.toml":
        text = text.replace("[rank]", "[tool.riskrank.rank]").replace("[trend]", "[tool.riskrank.trend]")
        text = text.replace("[gate]", "[tool.riskrank.gate]")
    project(FILES[name].format(text), name)
    os.mkfifo("pipe")
    Path(".git").mkdir(exist_ok=True)
    Path(".git/config").write_text("[a]")
    Path("link").symlink_to(".git/config")
    Path("folder").symlink_to(".git")
    Path("in").symlink_to(f"/dev/fd/{os.pipe()[0]}")
    Path("parts").mkdir()
    Path("parts/more").symlink_to("../.git")
    Path("fold,").mkdir()
    Path("out").symlink_to(sys.executable)
    with at_most(500):
        what, _, hint = refused("rank", "scores.csv", "--no-test")
    assert what == f"error: {name}: {why}, and nobody named this file"
    assert hint == f"hint: if you trust it, name it: --config {name}; --isolated ignores it"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("b.parquet", "reads a pipe or a device"),
        ("out", "reads what lies outside of its folder"),
        (".hid/b.parquet", "reads what is hidden"),
    ],
)
def test_a_path_is_that_of_the_working_directory(refused, project, tmp_path, monkeypatch, text, why):
    """Above it, where the file was found, there is nothing of that name."""
    project(f'[gate]\nbaseline = "{text}"')
    (tmp_path / "sub" / ".hid").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "sub")
    os.mkfifo("b.parquet")
    Path(".hid/b.parquet").touch()
    Path("out").symlink_to(sys.executable)
    asked = ("--higher", "*", "--not-worse", "A:baseline", "--margin", "0.1")
    what, _, _ = refused("gate", "../scores.csv", *asked)
    assert what == f"error: ../riskrank.toml: 'baseline' {why}, and nobody named this file"


def test_a_ledger_that_nobody_named_is_not_begun(run, project):
    project('confirm = ".git/hooks/pre-commit"')
    Path(".git/hooks").mkdir(parents=True, exist_ok=True)
    found = run("gate", "scores.csv", "--not-worse", "A:B", "--margin", "0.1", "--higher", "*")
    assert "is passed over, as nobody named this file to write by" in found.stderr
    assert not [*Path(".git/hooks").iterdir()]


@pytest.mark.parametrize(
    "text",
    [
        'output = ".git/config"',
        '[rank]\nplot = ["bump:evil.svg"]',
        '[gsd]\ndot = ".git/hooks/pre-commit"',
        '[rank.output]\nfile = "r.json"',
        'quiet = true\noutput = "r.json"',
    ],
)
def test_a_file_that_nobody_named_names_no_outputs(run, project, text):
    project(text)
    Path(".git").mkdir(exist_ok=True)
    Path(".git/config").write_text("[core]")
    before = sorted(Path().rglob("*"))
    command = "gsd" if "gsd" in text else "rank"
    found = run(command, "scores.csv", "--no-test", "--format", "json", "--higher", "*")
    assert found.status == 0
    assert "is passed over, as nobody named this file to write by" in found.stderr
    assert sorted(Path().rglob("*")) == before
    assert Path(".git/config").read_text() == "[core]"


def test_every_option_that_names_a_file_reads_or_is_passed_over():
    options = {option for command in COMMANDS for option in options_on_the_line(command)}
    words = re.compile("FILE|LEDGER")
    named = {option.flag[2:] for option in options if words.search(option.asking.metavar or "")}
    assert named == {*READS, *OUTPUTS}
