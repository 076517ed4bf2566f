"""No output format prints a name that a CI runner would execute as a workflow command."""

import json
import os
import threading
from functools import cache

import pytest

from tests.fuzz.oracles import obeyed

NAMES = ("##[stop-commands]x", "::error::y", "##vso[task.setvariable]z", "b\n::error::pwn")
# Nothing says which way a metric of such a name is better.
DIRECTIONS = ("--higher", "*")
BUILDS = ({"GITHUB_ACTIONS": "true"}, {"TF_BUILD": "True"}, {"TEAMCITY_VERSION": "1"}, {"GITLAB_CI": "true"})
FORMATS = ("table", "json", "jsonl", "csv", "markdown", "latex", "html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, make_scores):
    """Return a table whose models and metric have the names of workflow commands."""
    path = tmp_path_factory.mktemp("hostile") / "scores.csv"
    make_scores(models=NAMES, metrics=("##[warning]m",), n=12).write_csv(path)
    return path


@pytest.fixture(scope="module")
def plain(run):
    """Return the output of a command outside CI, cached for all CI providers."""
    return cache(run)


# The CI provider decides whether names are escaped, the format how.
@pytest.mark.parametrize(
    ("variables", "kind"), [*((one, "table") for one in BUILDS), *((BUILDS[0], kind) for kind in FORMATS[1:])]
)
@pytest.mark.usefixtures("no_pictures")
def test_nothing_printed_is_a_command(run, plain, hostile, kind, variables):
    commands = ["rank", "portfolio", "mrm"] if variables is BUILDS[0] else ["rank"]
    for command in commands:
        words = (command, hostile, *DIRECTIONS, *(["--no-test"] if command != "portfolio" else []))
        outcome = run(*words, "--format", kind, variables=variables)
        assert outcome.status == 0, outcome.stderr
        assert not obeyed(outcome.stdout)
        assert not obeyed(outcome.stderr)
        if kind == "json":
            assert json.loads(outcome.stdout) == plain(*words, "--format", kind).document
        if kind == "table":
            assert obeyed(plain(*words, "--format", kind).stdout)  # elsewhere names stay as they are


def test_errors_and_warnings_are_no_command(run, refused, hostile):
    for variables in BUILDS:
        lines = refused("rank", hostile, "--metric", "##[warning]n", "--no-test", variables=variables)
        assert not obeyed("\n".join(lines))
        outcome = run("rank", hostile, "--where", "sample <> ''", "--no-test", variables=variables)
        assert not obeyed(outcome.stderr)


@pytest.mark.parametrize("kind", ["table", "json"])
def test_standard_output_by_another_name_is_no_command(run, hostile, kind, tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    outcome = run(
        "rank", hostile, *DIRECTIONS, "--no-test", "-o", pipe, "--format", kind, variables=BUILDS[1]
    )
    reader.join(timeout=60)
    assert outcome.status == 0, outcome.stderr
    assert not obeyed(read[0])


def test_files_hold_names_as_they_are(run, hostile, tmp_path):
    for variables in ({}, BUILDS[0]):
        path = tmp_path / "p.csv"
        assert run("portfolio", hostile, "-o", path, variables=variables).status == 0
        assert "##[stop-commands]x" in path.read_text()


def test_only_annotations_are_commands(run, hostile):
    words = (
        "gate",
        hostile,
        "--better",
        "##vso[task.setvariable]z:##[stop-commands]x",
        "--higher",
        "*",
        "--resamples",
        "40",
    )
    outcome = run(*words, variables=BUILDS[0])
    assert outcome.status in (1, 4), outcome.stderr
    assert not obeyed(outcome.stderr)
    notes = [line for line in outcome.stderr.splitlines() if line.startswith("::")]
    assert [line.partition(":: ")[0][:28] for line in notes] == ["::error title=riskrank gate:"]
