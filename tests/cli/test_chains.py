"""The Makefile and the GitHub action of the guide run as written, and rebuild nothing unnecessarily."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # every test calls make, or a step of the action

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path):
    """Write lm-eval samples of two models, and put ``riskrank`` on the path."""
    rng = np.random.default_rng(0)
    hard = rng.random(200)
    stamp = "2024-01-01T00-00-00.000000"
    for model, skill in (("old", 0.3), ("new", 0.6)):
        folder = tmp_path / "runs" / model
        folder.mkdir(parents=True)
        right = (skill + 0.4 * rng.random(200) > hard).astype(float)
        common = {"filter": "none", "metrics": ["acc", "brier"]}
        brier = (1 - right) * 0.5 + 0.2 * rng.random(200)
        lines = [
            {"doc_id": at, "acc": acc, "brier": loss} | common
            for at, (acc, loss) in enumerate(zip(right, brier, strict=True))
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_task_{stamp}.jsonl").write_text(text)
        results = {"acc,none": right.mean(), "brier,none": brier.mean()}
        directions = {"acc": True, "brier": False}
        (folder / f"results_{stamp}.json").write_text(
            json.dumps(
                {"model_name": model, "results": {"task": results}, "higher_is_better": {"task": directions}}
            )
        )
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("riskrank", "-m riskrank"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
        (programs / name).chmod(0o755)
    return tmp_path


def call(project, *words, **variables):
    path = f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # The suite may be run by make, whose variables must not reach this one.
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment = outer | {"PATH": path, "PYTHONPATH": str(ROOT)} | variables
    return subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_makefile_of_the_guide(project):
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^```make\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    (project / "Makefile").write_text(recipe)
    first = call(project, "make")
    assert first.returncode == 0, first.stderr
    outputs = [
        "scores.csv",
        "portfolio.parquet",
        "ranking.json",
        "report.html",
        "gate.json",
        "gate.md",
        "gate.xml",
    ]
    before = {name: (project / name).read_bytes() for name in outputs}
    assert json.loads(before["gate.json"])["meta"]["outcome"] == "pass"
    assert call(project, "make").stdout == "make: Nothing to be done for 'all'.\n"
    second = call(project, "make", "--always-make")
    assert second.returncode == 0, second.stderr
    assert {name: (project / name).read_bytes() for name in outputs} == before
    # The directions that convert found reach all later steps.
    metrics = json.loads(before["ranking.json"])["meta"]["metrics"]
    assert {entry["name"]: entry["direction"] for entry in metrics} == {"acc": "higher", "brier": "lower"}


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_failed_gate_keeps_its_files_and_reruns(project):
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^```make\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    (project / "Makefile").write_text(recipe.replace("new:old", "old:new"))
    for _ in range(2):
        done = call(project, "make", "gate.passed")
        assert done.returncode != 0
        assert "Deleting" not in done.stderr
        assert json.loads((project / "gate.json").read_text())["meta"]["outcome"] == "fail"
        assert (project / "gate.md").exists()


def test_a_pipe_keeps_the_directions(project):
    """Lower Brier scores are better, which only the export states."""
    pipe = "set -o pipefail; riskrank convert lm-eval runs/ --metric brier | riskrank gate - --better {}"
    assert call(project, "bash", "-c", pipe.format("new:old")).returncode == 0
    assert call(project, "bash", "-c", pipe.format("old:new")).returncode == 1


def script_of(start):
    """Return the script of a workflow step that starts with the given words."""
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    step = action[action.index(start) :]
    indented = re.search(r"      run: \|\n((?:        .*\n)+)", step)[1]
    return indented.replace("\n        ", "\n").removeprefix("        ")


@pytest.fixture
def action(project):
    """Run a step as GitHub does; Python must be told not to import from the checkout."""
    isolated = project / "bin" / "isolated"
    isolated.write_text(f'#!/bin/sh\n[ "$1" = -I ] || exit 97\nshift\nexec {sys.executable} -P "$@"\n')
    isolated.chmod(0o755)
    (project / "temp").mkdir()

    def step(start, **variables):
        folder = tempfile.mkdtemp(prefix="riskrank.", dir=project / "temp")
        environment = {"PYTHON": str(isolated), "FOLDER": folder, "CASES": "3", "CONFIG": "", "TOKEN": "t"}
        environment |= {"GITHUB_OUTPUT": str(project / "output"), "FROM": "", "BASE": "HEAD"}
        environment |= {"GITHUB_SERVER_URL": f"file://{project}", "GITHUB_REPOSITORY": "."}
        script = script_of(start)
        return call(
            project, "bash", "--noprofile", "-eo", "pipefail", "-c", script, **environment | variables
        )

    return step


def step_outputs(project):
    """Return the last outputs of a step by name."""
    return dict(line.split("=", 1) for line in (project / "output").read_text().splitlines())


def result(project, name):
    """Return the content of a file written by the gate."""
    return Path(step_outputs(project)["folder"], name)


@pytest.mark.parametrize(("claim", "status"), [("new:old", 0), ("old:new", 1)])
def test_the_script_of_the_action(project, action, claim, status):
    """Run the step of the action on a file name with a space and on quoted options."""
    (project / "my runs").mkdir()
    shutil.move(project / "runs", project / "my runs" / "runs")
    summary = project / "summary.md"
    done = action(
        "- id: gate",
        SCORES="'my runs/runs'",
        FROM="lm-eval",
        GATE=f"--not-worse '{claim}' --metric acc",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert done.returncode == 0, done.stderr
    assert step_outputs(project)["status"] == str(status)
    assert result(project, "gate.md").read_text().startswith("<!-- riskrank gate -->")
    assert "Verdict:" in done.stdout
    listed = "Cases with the largest losses of old on acc"
    assert (listed in summary.read_text(), listed in done.stdout) == (
        (True, True) if status else (False, False)
    )


def test_a_gate_that_cannot_run_reports_the_reason_without_a_comment(project, action):
    (project / "gate.md").write_text("<!-- riskrank gate -->\nPASS, says the pull request")
    done = action("- id: gate", SCORES="no-100%.csv", GATE="--not-worse new:old")
    assert step_outputs(project)["status"] == "2", done.stderr
    assert not result(project, "gate.md").exists()
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("::error"))
    assert "no-100%25.csv: no such file%0Afound: " in line
    assert done.stderr.count("\n") == 3


def test_inputs_that_are_no_words_end_the_step(project, action):
    """If unparsable claims were ignored, those of a configuration file would replace them silently."""
    done = action("- id: gate", SCORES="runs", FROM="lm-eval", GATE="--not-worse 'new:old")
    assert done.returncode == 2
    assert "cannot be split into words: No closing quotation" in done.stdout
    assert "status" not in step_outputs(project)


def test_a_checkout_does_not_loosen_its_gate(project, action):
    """Neither its configuration nor its modules with the names of ours, or of Python's, have any effect."""
    (project / "riskrank.toml").write_text('inconclusive = "pass"\nalpha = 0.4\n')
    for name in ("shlex.py", "json.py", "riskrank.py", "pip.py", "sitecustomize.py"):
        (project / name).write_text("raise SystemExit(0)\n")
    done = action("- id: gate", SCORES="runs", FROM="lm-eval", GATE="--better old:new --metric acc")
    assert step_outputs(project)["status"] == "1", done.stderr
    settings = json.loads(result(project, "gate.json").read_text())["meta"]
    assert "config" not in settings
    assert "alpha" not in settings["settings"]


def test_the_configuration_is_that_of_the_base_branch(project, action):
    def git(*words):
        done = call(project, "git", "-c", "user.name=a", "-c", "user.email=a@b", *words)
        assert done.returncode == 0, done.stderr

    (project / "ci").mkdir()
    (project / "ci" / "gate.toml").write_text('metrics-file = "metrics.toml"\nalpha = 0.02\n')
    (project / "ci" / "metrics.toml").write_text('[acc]\ndirection = "higher"\nbounds = [0, 1]\n')
    git("init", "--quiet")
    git("add", "ci")
    git("commit", "--quiet", "-m", "base")
    base = call(project, "git", "rev-parse", "HEAD").stdout.strip()
    (project / "ci" / "gate.toml").write_text('inconclusive = "pass"\n')
    (project / "ci" / "metrics.toml").write_text('[acc]\ndirection = "lower"\n')
    git("commit", "--quiet", "-a", "-m", "loosen")
    # Git settings of the checkout that would run programs.
    (project / "evil").write_text(f"#!/bin/sh\ntouch {project}/ran\ncat\n")
    (project / "evil").chmod(0o755)
    (project / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    for name in ("core.fsmonitor", "core.sshCommand", "filter.evil.smudge", "tar.umask", "credential.helper"):
        git("config", name, str(project / "evil"))
    variables = {"SCORES": "runs", "FROM": "lm-eval", "GATE": "--better new:old --metric acc"}
    done = action("- id: gate", CONFIG="ci/gate.toml", BASE=base, **variables)
    assert not (project / "ran").exists()
    assert step_outputs(project)["status"] == "0", done.stderr
    assert json.loads(result(project, "gate.json").read_text())["meta"]["settings"]["alpha"] == 0.02
    done = action("- id: gate", CONFIG="ci/other.toml", BASE=base, **variables)
    assert step_outputs(project)["status"] == "2"
    assert "the configuration cannot be read" in done.stderr


NAMES = ("gate.json", "gate.md", "gate.xml", "base", "words", "said", "gate", "riskrank-base")
OUTSIDE = ("interpreter", "script", "environment", "folder", "nothing", "pipe")


def _outside(folder):
    """Return paths outside the checkout that a link could try to overwrite, by kind."""
    folder.mkdir()
    places = {kind: folder / kind for kind in OUTSIDE}
    for kind in ("interpreter", "script"):
        places[kind].write_text("#!/bin/sh\nexit 0\n")
        places[kind].chmod(0o755)
    places["environment"].write_text("A=1\n")
    places["folder"].mkdir()
    (places["folder"] / "kept").write_text("kept")
    os.mkfifo(places["pipe"])
    return places


def _seen(folder):
    """Return all paths in a folder with their types and contents."""
    contents = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        contents[str(path)] = (status.st_mode, path.is_symlink() and os.readlink(path), content)  # noqa: PTH115
    return contents


@pytest.mark.parametrize("kind", OUTSIDE)
@pytest.mark.parametrize("names", [NAMES[:1], NAMES[1:3], NAMES])
def test_links_of_a_checkout_lead_nowhere(project, action, tmp_path_factory, kind, names):
    """Links in the checkout to outside files are neither followed nor changed."""
    outside = tmp_path_factory.mktemp("machine")
    places = _outside(outside / "runner")
    for name in names:
        (project / name).symlink_to(places[kind])
    before = {path: state for path, state in _seen(project).items() if "temp" not in path}
    done = action("- id: gate", SCORES="runs", FROM="lm-eval", GATE="--better old:new --metric acc")
    assert step_outputs(project)["status"] == "1", done.stderr
    after = _seen(project)
    assert {path: after.get(path) for path in before} == before
    assert {Path(path).name for path in after.keys() - before.keys() if "temp" not in path} == {"output"}
    assert places["environment"].read_text() == "A=1\n"
    assert sorted(path.name for path in places["folder"].iterdir()) == ["kept"]
    assert not places["nothing"].exists()
    done = action("- id: gate", SCORES=f"runs x=./{names[-1]}", FROM="lm-eval", GATE="--better old:new")
    assert (done.returncode, "A=1" in done.stdout + done.stderr) == (2, False)
    assert "leads out of the checkout or into a hidden place" in done.stdout
    (project / ".hidden").write_text("A=1\n")
    (project / "t.csv").symlink_to(".hidden")
    done = action("- id: gate", SCORES="t.csv", GATE="--better old:new")
    assert (done.returncode, "A=1" in done.stdout + done.stderr) == (2, False)
    (project / "itself").symlink_to("itself")
    done = action("- id: gate", SCORES="itself", FROM="lm-eval", GATE="--better old:new")
    assert ("Traceback" in done.stderr, step_outputs(project)["status"]) == (False, "2")


@pytest.mark.parametrize(
    "name",
    ["$(touch ran)", "`touch ran`", "a; touch ran", "a\nstatus=0", "--config=x", "a && touch ran", "*"],
)
def test_names_that_are_commands_are_names(project, action, name):
    folder = project / name
    shutil.copytree(project / "runs", folder)
    words = f"'./{name}'"
    done = action("- id: gate", SCORES=words, FROM="lm-eval", GATE="--better old:new --metric acc")
    assert (project / "output").read_text().splitlines()[1:] == ["status=1"], done.stderr
    assert not (project / "ran").exists()


def test_a_folder_of_the_runner_is_recreated(project):
    """Earlier steps may have left files under a predictable name."""
    setup = script_of("- id: setup")
    assert setup.startswith('folder=$(mktemp -d "$RUNNER_TEMP/riskrank.XXXXXXXX")\n')
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    scripts = re.findall(r"      run: \|\n((?:        .*\n)+)", action)
    assert "RUNNER_TEMP" not in "".join(scripts[1:])


GH = """#!{python} -P
import json, os, sys
words = sys.argv[1:]
if "graphql" in words:
    print("riskrank-ci[bot]") if os.environ["KNOWS"] else sys.exit(1)
elif "--paginate" in words:
    for one in json.loads(os.environ["COMMENTS"]):
        print(json.dumps(one))
else:
    file = words[-1].removeprefix("body=@")
    if os.environ["REFUSED"] in ("all", os.path.basename(file)):
        sys.exit("HTTP 403: Resource not accessible by integration")
    assert open(file).read().startswith("<!-- riskrank gate -->\\n")
    end = open(file).read().split()[-1]
    print(words[words.index("--method") + 1], words[3], end, file=open("asked", "a"))
"""


@pytest.mark.parametrize(
    ("author", "knows", "refused", "requested"),
    [
        ("riskrank-ci[bot]", "1", "", "PATCH repos/a/b/issues/comments/7 PASS\n"),
        ("github-actions[bot]", "", "", "PATCH repos/a/b/issues/comments/7 PASS\n"),
        ("somebody", "1", "", "POST repos/a/b/issues/5/comments PASS\n"),
        ("github-actions[bot]", "1", "", "POST repos/a/b/issues/5/comments PASS\n"),
        ("somebody", "1", "all", None),
        ("riskrank-ci[bot]", "1", "gate.md", "PATCH repos/a/b/issues/comments/7 run.\n"),
    ],
)
def test_only_the_comment_of_the_action_is_replaced(project, action, author, knows, refused, requested):
    """Other comments may begin in the same way; a token without write access gives a warning only."""
    (project / "bin" / "gh").write_text(GH.format(python=sys.executable))
    (project / "bin" / "gh").chmod(0o755)
    (project / "gate.md").write_text("of the checkout")
    (project / "results").mkdir()
    (project / "results" / "gate.md").write_text("<!-- riskrank gate -->\nPASS\n")
    comments = [
        {"id": 3, "login": author, "body": "looks good"},
        {"id": 4, "login": author, "body": None},
        {"id": 7, "login": author, "body": "<!-- riskrank gate -->\n::error::no"},
        {"id": 9, "login": author, "body": "<!-- riskrank gate -->\nlater"},
    ]
    variables = {"COMMENTS": json.dumps(comments), "KNOWS": knows, "REFUSED": refused}
    variables |= {"RESULTS": str(project / "results"), "STATUS": "1"}
    done = action("- if: inputs.comment", REPOSITORY="a/b", NUMBER="5", GH_TOKEN="t", **variables)
    assert done.returncode == 0, done.stderr
    place = project / "asked"
    assert (place.read_text() if place.exists() else None) == requested
    assert ("::warning title=riskrank gate::No comment" in done.stdout) == (refused == "all")
    assert ("(HTTP 403: Resource not accessible by integration)" in done.stdout) == (refused == "all")
    assert "::error::" not in done.stdout


@pytest.mark.parametrize(("author", "requested"), [("somebody", None), ("riskrank-ci[bot]", "PATCH")])
def test_a_gate_without_a_result_leaves_no_older_verdict(project, action, author, requested):
    (project / "bin" / "gh").write_text(GH.format(python=sys.executable))
    (project / "bin" / "gh").chmod(0o755)
    (project / "results").mkdir()
    comments = [{"id": 7, "login": author, "body": "<!-- riskrank gate -->\n\nPASS"}]
    variables = {"COMMENTS": json.dumps(comments), "KNOWS": "1", "REFUSED": "", "STATUS": "2"}
    variables |= {"RESULTS": str(project / "results"), "REPOSITORY": "a/b", "NUMBER": "5", "GH_TOKEN": "t"}
    done = action("- if: inputs.comment", **variables)
    assert done.returncode == 0, done.stderr
    place = project / "asked"
    assert (place.read_text().split()[0] if place.exists() else None) == requested
    assert "**NO RESULT**" in (project / "results" / "verdict.md").read_text()


@pytest.mark.parametrize("there", [True, False])
def test_summary_and_comment_link_the_artifact(project, action, there):
    results, summary = project / "results", project / "summary.md"
    results.mkdir()
    summary.write_text("before\n")
    if there:
        (results / "gate.md").write_text("PASS\n")
    places = {"RESULTS": str(results), "GITHUB_STEP_SUMMARY": str(summary)}
    done = action("- if: steps.artifact", ARTIFACT="https://github.test/a/b/artifacts/1", **places)
    assert done.returncode == 0, done.stderr
    link = "\n[gate.json, gate.md and gate.xml of this run](https://github.test/a/b/artifacts/1)\n" * there
    assert summary.read_text() == f"before\n{link}"
    assert not there or (results / "gate.md").read_text() == f"PASS\n{link}"


def test_the_action_runs_no_input_as_a_script_and_every_python_isolated():
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    scripts = re.findall(r"      run: (\|\n(?:        .*\n)+|.*\n)", action)
    assert len(scripts) == 5
    assert not any("${{" in script for script in scripts)
    calls = [words for script in scripts for words in re.findall(r'"\$(?:PYTHON|python)" (\S+)', script)]
    assert calls == ["-I"] * len(calls)
    assert len(calls) >= 6
    assert not any(re.search(r"(?m)^\s*(python|pip|riskrank) ", script) for script in scripts)


def test_the_action_installs_packages_of_the_lock_by_their_hashes():
    """The lock includes the runtime and build requirements, in the versions used for tests."""
    action, lock = ((ROOT / ".ci" / f"{name}.txt").read_text() for name in ("action", "lock"))
    pinned = [re.findall(r"(?m)^([a-z0-9-]+==[\w.]+)", text) for text in (action, lock)]
    (builder,) = re.findall(r"(?m)^setuptools==.*", (ROOT / ".ci" / "builder.txt").read_text())
    assert set(pinned[0]) - set(pinned[1]) == {builder}
    assert action.count("--hash=sha256:") >= len(pinned[0])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    needed = {re.match(r"[a-z0-9-]+", requirement)[0] for requirement in project}
    assert needed <= {requirement.partition("==")[0] for requirement in pinned[0]}
