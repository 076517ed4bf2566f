"""``check`` at a terminal lets the user choose one of several readings, and saves the choice."""

import os
import pty
import select
import subprocess
import sys
import tomllib

import polars as pl
import pytest

TABLE = pl.DataFrame(
    {
        "Samples": [3] * 24,
        "Score": [at % 5 + 0.5 for at in range(24)],
        "Score Error (99.9%)": [0.1] * 12 + [0.2] * 12,
        "Param: dim": [f"{size} rows" for size in range(12) for _ in "ab"],
        "Param: lib": ["ant", "bee"] * 12,
    }
)


def converse(folder, words, answers):
    """Run a command at a pseudo-terminal, answer its questions, and return its output and exit status."""
    terminal, end = pty.openpty()
    streams = {"stdin": end, "stdout": end, "stderr": end}
    process = subprocess.Popen([sys.executable, "-m", "riskrank", *words], cwd=folder, **streams)
    os.close(end)
    text, answers = "", [*answers]
    while select.select([terminal], [], [], 120)[0]:
        try:
            text += os.read(terminal, 4096).decode(errors="replace")
        except OSError:  # the process has closed the terminal
            break
        if answers and text.endswith("]: "):
            os.write(terminal, f"{answers.pop(0)}\n".encode())
    os.close(terminal)
    return text, process.wait()


@pytest.fixture
def folder(tmp_path):
    TABLE.write_csv(tmp_path / "t.csv")
    return tmp_path


def test_the_chosen_reading_is_shown_and_saved(folder):
    text, status = converse(folder, ["check", "t.csv", "--save", "riskrank.toml"], ["7", "2"])
    assert "type a number from 0 to 2" in text
    assert "The table can be used" in text
    assert status == 0
    assert tomllib.loads((folder / "riskrank.toml").read_text())["columns"] == (
        "model=Param: dim,sample=Param: lib"
    )


def test_without_a_choice_the_table_stays_unread(folder):
    text, status = converse(folder, ["check", "t.csv"], [""])
    assert "The table can be used" not in text
    assert status == 2


def test_a_pipe_only_lists_the_readings(run, folder):
    outcome = run("check", f"{folder}/t.csv")
    assert outcome.status == 2
    assert outcome.stderr.count("  riskrank check ") == 2
    assert "Run line" not in outcome.stderr
