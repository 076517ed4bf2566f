"""Install what ``make dist`` built into empty environments and use it as somebody new would.

Each Python of ``.ci/pythons`` gets the wheel and the source distribution, alone and with ``[report]``,
and runs in an empty folder, on the sample data that the installation wrote. The ranking must be the
same bytes everywhere. The newest then goes every other way in: the lines that the README has for a clone, the
conda recipe, the action from another repository, and the skill, line by line. ``make try-dist`` builds first.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

DIAMONDS = ("sample_data/diamonds.parquet", "--metrics-file", "sample_data/diamonds.toml")
REPORT = ("report", *DIAMONDS, "--output", "report.html")
# What each command is asked, and a word of its answer.
ASKED = (
    (("check", *DIAMONDS), "every command can read this table"),
    (("rank", *DIAMONDS), "Ship boosting_squared"),
    (("gate", *DIAMONDS, "--better", "boosting_squared:random_forest", "--on", "error_usd"), "PASS"),
    (
        (
            "copa",
            "--wide",
            "sample_data/llm_leaderboard.csv",
            "--metrics-file",
            "sample_data/llm_leaderboard.toml",
        ),
        "Verdict",
    ),
)


def environment() -> dict[str, str]:
    """What pip and riskrank see: with a checkout on its path, pip takes riskrank for installed."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


class Trial:
    """An empty environment with one file installed, and an empty folder beside it."""

    def __init__(self, python: str, file: Path | None, extra: str, folder: Path) -> None:
        self.place, self.folder = folder / "environment", folder / "empty"
        self.folder.mkdir(parents=True)
        subprocess.run([python, "-m", "venv", str(self.place)], env=environment(), check=True)
        self.bin = self.place / ("Scripts" if os.name == "nt" else "bin")
        if file is not None:
            self.install(f"{file}{extra}")

    def install(self, *what: str) -> None:
        """Install files, packages, or an extra of what is installed."""
        self.run("python", "-m", "pip", "--quiet", "install", *what)

    def run(self, program: str, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the folder; another status is an error."""
        done = subprocess.run(
            [self.bin / program, *words],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode != status:
            raise SystemExit(
                f"{self.bin / program} {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done

    def ask(self, *words: str, status: int = 0, says: str = "") -> str:
        """Ask riskrank; returns the answer, which has some words."""
        done = self.run("riskrank", *words, status=status)
        answer = done.stdout if status == 0 else done.stderr
        assert says in answer, f"riskrank {' '.join(words)} says\n{answer}\nand not: {says}"
        return answer

    def use(self) -> str:
        """Ask what somebody new asks; returns the hash of a ranking."""
        self.ask(status=2, says="riskrank rank scores.csv")
        self.ask("examples", says="cd riskrank-examples")
        self.folder /= "riskrank-examples"
        for words, says in ASKED:
            self.ask(*words, says=says)
        self.import_it()
        return hashlib.sha256(self.ask("rank", *DIAMONDS, "--format", "json").encode()).hexdigest()

    def import_it(self) -> None:
        """Ask the same in Python, in an interpreter of its own."""
        code = f"import riskrank; print(riskrank.rank({DIAMONDS[0]!r}, metrics_file={DIAMONDS[2]!r}).verdict)"
        assert ASKED[1][1] in self.run("python", "-c", code).stdout

    def report(self) -> int:
        """Write a page; returns its size."""
        self.ask(*REPORT)
        return (self.folder / REPORT[-1]).stat().st_size

    def without_report(self) -> int:
        """Be told what a page lacks, install that, and write it; returns its size."""
        lines = self.ask(*REPORT, status=2).splitlines()
        assert [line.partition(":")[0] for line in lines] == ["error", "found", "hint"], lines
        wanted = re.fullmatch(r"hint: pip install '(.+)'", lines[2])
        assert wanted, lines[2]
        self.install(wanted[1])
        return self.report()


def tried(python: str, file: Path, extra: str, folder: Path) -> tuple[str, str]:
    """Try one file with one Python; returns a row of the table and the hash of a ranking."""
    trial = Trial(python, file, extra, folder)
    version = re.search(r"-(\d[^-]*?)(-py3|\.tar)", file.name)[1]
    trial.ask("--version", says=f"riskrank {version}\n")
    found = trial.use()
    size = trial.report() if extra else trial.without_report()
    said = trial.run("python", "--version").stdout.split()[1]
    kind = "wheel" if file.suffix == ".whl" else "sdist"
    return f"| {said} | {kind}{extra} | {found[:12]} | {size:,} |", found


def clone(folder: Path) -> Path:
    """What a clone of this commit holds."""
    folder.mkdir()
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x"], cwd=folder, input=packed, check=True)
    return folder


def scores(folder: Path) -> None:
    """A table of two models, as the lines of guide and skill ask for it."""
    draw, rows = random.Random(0), ["model,sample,accuracy,cost"]
    for sample in range(40):
        rows += [f"{name},{sample},{draw.random():.3f},{1 + draw.random():.3f}" for name in ("new", "old")]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def the_lines_for_a_clone(python: str, _dist: Path, folder: Path) -> str:
    """``pip install '.[report]'`` and ``uvx --from .`` in a clone, as the README has them."""
    home, readme = clone(folder / "clone"), (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install '.[report]'" in readme
    assert "uvx --from . riskrank check scores.csv" in readme
    trial = Trial(python, None, "", folder / "pip")
    trial.install(f"{home}[report]")
    scores(trial.folder)
    trial.ask("report", "scores.csv", "--resamples", "60", "--output", "report.html")
    uv = Path(sys.executable).with_name("uv")
    words = [
        uv,
        "--quiet",
        "tool",
        "run",
        "--python",
        python,
        "--from",
        home,
        "riskrank",
        "check",
        "scores.csv",
    ]
    done = subprocess.run(
        words, cwd=trial.folder, env=environment(), capture_output=True, text=True, check=True
    )
    assert "2 models" in done.stdout
    return "report.html, check"


def the_recipe(python: str, dist: Path, folder: Path) -> str:
    """What conda-forge would do: what it needs beside, its own script on the source, its own tests."""
    text = (dist / "recipe.yaml").read_text(encoding="utf-8")
    (source,) = dist.glob("riskrank-*.tar.gz")
    assert hashlib.sha256(source.read_bytes()).hexdigest() in text
    assert source.name in text
    trial = Trial(python, None, "", folder)
    needed = [
        one.replace(" ", "") for one in re.findall(r"    - '(.+)'", text) if not one.startswith("python ")
    ]
    trial.install("setuptools>=77", *needed)
    with tarfile.open(source) as archive:
        archive.extractall(trial.folder, filter="data")
    (trial.folder,) = trial.folder.iterdir()
    trial.run(*shlex.split(re.search(r"script: (python .+)", text)[1]))
    trial.folder = trial.folder.parent
    trial.run("python", "-m", "pip", "check")
    trial.run("python", "-c", "import riskrank")
    return trial.ask("--version").strip()


def the_action(python: str, _dist: Path, folder: Path) -> str:
    """``uses:`` from another repository: both of its scripts, in an empty one, with a gate that passes."""
    home, elsewhere = clone(folder / "action"), folder / "elsewhere"
    elsewhere.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=elsewhere, check=True)
    scores(elsewhere)
    text = (home / "action.yml").read_text(encoding="utf-8")
    found = {"FROM": "", "CONFIG": "", "CASES": "3", "BASE": "HEAD", "TOKEN": "", "ACTION": str(home)}
    found |= {"PYTHON": python, "RUNNER_TEMP": str(folder), "GITHUB_ACTIONS": "true", "SCORES": "scores.csv"}
    found |= {"GATE": "--metric accuracy --not-worse new:old --margin 0.9"}
    found |= {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for step in ("- id: setup", "- id: gate"):
        script = re.search(r"      run: \|\n((?:        .*\n|\n)+)", text[text.index(step) :])[1]
        done = subprocess.run(
            ["bash", "--noprofile", "-eo", "pipefail", "-c", re.sub("^        ", "", script, flags=re.M)],
            cwd=elsewhere,
            env=environment() | found,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{step}\n{done.stdout}{done.stderr}"
        said = dict(line.split("=", 1) for line in Path(found["GITHUB_OUTPUT"]).read_text().splitlines())
        found |= {"PYTHON": said["python"], "FOLDER": said["folder"]}
    assert said["status"] == "0", said
    return "PASS"


def the_skill(python: str, dist: Path, folder: Path) -> str:
    """Every line of the skill, on a table of two models: a gate may say anything, but nothing is refused."""
    (wheel,) = dist.glob("riskrank-*.whl")
    trial = Trial(python, wheel, "[report]", folder)
    scores(trial.folder)
    lines = re.findall(
        r"`riskrank ([^`]+scores\.csv[^`]*)`", (ROOT / "docs/skill/SKILL.md").read_text("utf-8")
    )
    for line in lines:
        done = subprocess.run(
            [trial.bin / "riskrank", *shlex.split(line)],
            cwd=trial.folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in ((0, 1, 4) if line.startswith("gate") else (0,)), f"{line}\n{done.stderr}"
    return f"{len(lines)} lines"


WAYS: tuple[Callable[[str, Path, Path], str], ...] = (
    the_lines_for_a_clone,
    the_recipe,
    the_action,
    the_skill,
)


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    files = sorted((*folder.glob("riskrank-*.whl"), *folder.glob("riskrank-*.tar.gz")))
    pythons = subprocess.run(
        [ROOT / ".ci" / "pythons"], capture_output=True, text=True, check=True
    ).stdout.split()
    print("| Python | installed | rank --format json | bytes of report |\n|---|---|---|---|", flush=True)
    rankings = set()
    for python in reversed(pythons):
        for file in files:
            for extra in ("", "[report]"):
                with tempfile.TemporaryDirectory() as place:
                    row, found = tried(python, file, extra, Path(place))
                print(row, flush=True)
                rankings.add(found)
    for way in WAYS:
        with tempfile.TemporaryDirectory() as place:
            print(f"{way.__name__.replace('_', ' ')}: {way(pythons[0], folder, Path(place))}", flush=True)
    if len(files) != 2 or len(rankings) != 1:
        print(f"{len(files)} files in {folder}, {len(rankings)} different rankings", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
