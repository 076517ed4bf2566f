"""Install what ``make dist`` built into empty environments and use it as somebody new would.

Each Python of ``.ci/pythons`` gets the wheel and the source distribution, alone and with ``[report]``,
and runs in an empty folder, on the sample data that the installation wrote. The ranking must be the
same bytes everywhere. ``make try-dist`` builds them first.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
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

    def __init__(self, python: str, file: Path, extra: str, folder: Path) -> None:
        self.place, self.folder = folder / "environment", folder / "empty"
        self.folder.mkdir(parents=True)
        subprocess.run([python, "-m", "venv", str(self.place)], env=environment(), check=True)
        self.bin = self.place / ("Scripts" if os.name == "nt" else "bin")
        self.install(f"{file}{extra}")

    def install(self, what: str) -> None:
        """Install a file, or an extra of what is installed."""
        self.run("python", "-m", "pip", "--quiet", "install", what)

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
    if len(files) != 2 or len(rankings) != 1:
        print(f"{len(files)} files in {folder}, {len(rankings)} different rankings", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
