"""The Makefile and the action of the guide: run as they are written, and nothing is made twice."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path):
    """Two models' samples as lm-eval writes them, and ``riskrank`` on the path."""
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
    # The suite itself is run by make: what that make tells its children is not for this one.
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
    made = [
        "scores.csv",
        "portfolio.parquet",
        "ranking.json",
        "report.html",
        "gate.json",
        "gate.md",
        "gate.xml",
    ]
    before = {name: (project / name).read_bytes() for name in made}
    assert json.loads(before["gate.json"])["meta"]["outcome"] == "pass"
    assert call(project, "make").stdout == "make: Nothing to be done for 'all'.\n"
    again = call(project, "make", "--always-make")
    assert again.returncode == 0, again.stderr
    assert {name: (project / name).read_bytes() for name in made} == before
    # What convert knew of the directions was known to all that came after it.
    metrics = json.loads(before["ranking.json"])["meta"]["metrics"]
    assert {entry["name"]: entry["direction"] for entry in metrics} == {"acc": "higher", "brier": "lower"}


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_gate_that_fails_leaves_its_files_and_is_asked_again(project):
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
    """Brier is better low, which only the export says."""
    pipe = "set -o pipefail; riskrank convert lm-eval runs/ --metric brier | riskrank gate - --better {}"
    assert call(project, "bash", "-c", pipe.format("new:old")).returncode == 0
    assert call(project, "bash", "-c", pipe.format("old:new")).returncode == 1


@pytest.mark.parametrize(("claim", "status"), [("new:old", 0), ("old:new", 1)])
def test_the_script_of_the_action(project, claim, status):
    """Its own step, with a score table whose name has a space, and options in quotes."""
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    step = action[action.index("- id: gate") :]
    script = re.search(r"      run: \|\n((?:        .*\n)+)", step)[1]
    (project / "my runs").mkdir()
    shutil.move(project / "runs", project / "my runs" / "runs")
    done = call(
        project,
        *("bash", "-e", "-c", script),
        SCORES="'my runs/runs'",
        FROM="lm-eval",
        GATE=f"--not-worse '{claim}' --metric acc",
        GITHUB_OUTPUT=str(project / "output"),
    )
    assert done.returncode == 0, done.stderr
    assert (project / "output").read_text() == f"status={status}\n"
    assert (project / "gate.md").read_text().startswith("<!-- riskrank gate -->")
    assert "Verdict:" in done.stdout


def test_the_action_runs_no_input_as_a_script():
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    scripts = re.findall(r"      run: (\|\n(?:        .*\n)+|.*\n)", action)
    assert len(scripts) == 4
    assert not any("${{" in script for script in scripts)
