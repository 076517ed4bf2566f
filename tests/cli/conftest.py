"""Fixtures that run commands on in-memory streams, and the score tables they use."""

import io
import itertools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer

from riskrank.cli.environment import Environment
from riskrank.cli.main import app
from tests.screens import RECORDED, screens  # noqa: F401
from tests.tables import of_rows

ROOT = Path(__file__).resolve().parents[2]
COMMAND = typer.main.get_command(app)
RESAMPLES = ("--resamples", "400", "--set", "jobs=1")


@dataclass(frozen=True)
class Outcome:
    """Exit status and output of a command."""

    status: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict:
        """Return the JSON document on stdout; fail on values that JSON does not allow."""

        def refuse(name):
            raise AssertionError(f"{name} is no JSON")

        return json.loads(self.stdout, parse_constant=refuse)

    @property
    def results(self) -> list[dict]:
        return self.document["results"]

    @property
    def meta(self) -> dict:
        return self.document["meta"]


class _Stream(io.TextIOWrapper):
    def __init__(self, encoding: str, tty: bool) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="")
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


def run_command(*args, stdin=b"", tty=False, variables=None, encoding="utf-8") -> Outcome:
    """Run a command in this process."""
    stdout, stderr = _Stream(encoding, tty), _Stream(encoding, False)
    stdin = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
    environment = Environment(stdin, stdout, stderr, variables or {})
    status = COMMAND.main([str(arg) for arg in args], standalone_mode=False, obj=environment)
    RECORDED.append(outcome := Outcome(status, stdout.text(), stderr.text()))
    return outcome


@pytest.fixture(scope="session")
def run():
    """Run a command in this process; the fixture returns a function that returns an Outcome."""
    return run_command


@pytest.fixture
def refused(run, tmp_path):
    """Run a command that must fail with three lines, an exit status (2) and no output; return the lines.

    The requested output alternates between standard output and a file.
    """
    never = tmp_path / "never.json"
    outputs = itertools.cycle(([], ["--output", never]))

    def run_refused(*args, status=2, **streams) -> tuple[str, str, str]:
        outcome = run(*args, *next(outputs), **streams)
        assert outcome.status == status, outcome
        assert outcome.stdout == ""
        messages = outcome.stderr.splitlines()
        lines, suggestions = messages[:3], messages[3:]
        assert [line.split(": ")[0] for line in lines] == ["error", "found", "hint"], outcome.stderr
        assert all(line.startswith("  riskrank ") for line in suggestions), outcome.stderr
        assert all(line.split(": ", 1)[1].strip() for line in lines), outcome.stderr
        assert not never.exists()
        return tuple(lines)

    return run_refused


@pytest.fixture
def messages_of(refused):
    """Return the three lines of an error as one text."""
    return lambda *arguments: "\n".join(refused(*arguments))


@pytest.fixture
def no_reading(monkeypatch):
    """Fail if a command reads scores."""

    def read(*args, **options):
        raise AssertionError("scores were read")

    monkeypatch.setattr("riskrank.scores.table.score_table.read_scores", read)


@pytest.fixture(scope="session")
def start():
    """Start the program in a subprocess and return the process."""

    def start_process(*args, code="", **options) -> subprocess.Popen:
        front = ["-c", code] if code else ["-m", "riskrank"]
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        environment |= {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"} | options.pop("variables", {})
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, *front, *map(str, args)], env=environment, **(streams | options)
        )

    return start_process


def scores(models=("A", "B", "C"), metrics=("acc", "f1"), n=40, seed=0, gap=0.5) -> pl.DataFrame:
    """Return a long table in which the first model leads by far."""
    rng = np.random.default_rng(seed)
    return of_rows(
        (model, f"s{sample}", metric, round(rng.normal() - gap * place, 4))
        for place, model in enumerate(models)
        for sample in range(n)
        for metric in metrics
    )


@pytest.fixture
def write(tmp_path):
    """Write a table or text to a named file and return the path."""

    def write_file(name, content=None, **options) -> Path:
        path = tmp_path / name
        content = scores(**options) if content is None else content
        if isinstance(content, str | bytes):
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        elif name.endswith(".parquet"):
            content.write_parquet(path)
        elif name.endswith(".jsonl"):
            content.write_ndjson(path)
        else:
            content.write_csv(path)
        return path

    return write_file


@pytest.fixture
def table(write):
    """Three models, forty samples, two metrics."""
    return write("scores.csv")


@pytest.fixture(scope="session")
def quick():
    """Options that reduce the number of resamples."""
    return RESAMPLES


@pytest.fixture(scope="session")
def make_scores():
    return scores
