"""The program as a process: start-up, Ctrl-C, closed pipes, and what it leaves on disk."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from riskrank import __version__

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc or /dev")
HEAVY = ("numpy", "polars", "scipy", "rich", "multiprocessing", "pydantic")


def finish(process, **options) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=60, **options)
    return process.returncode, (stdout or b"").decode(), (stderr or b"").decode()


def test_nothing_heavy_is_imported_at_start(start):
    code = f"""
import sys
from riskrank.cli.main import app
for args in (["--help"], ["rank", "-h"], ["--version"], ["rnak"], ["rank"]):
    app(args, standalone_mode=False)
sys.stderr.write("LOADED " + " ".join(name for name in {HEAVY!r} if name in sys.modules))
"""
    _, _, stderr = finish(start(code=code))
    assert stderr.splitlines()[-1].split() == ["LOADED"]


def test_scipy_stats_is_never_imported(start, table, quick, tmp_path):
    """Importing it takes a second, more than a whole run."""
    runs = [
        [
            command,
            str(table),
            *(quick if command != "portfolio" else ()),
            "-o",
            str(tmp_path / f"{command}.txt"),
        ]
        for command in ("rank", "dominance", "portfolio")
    ]
    code = f"""
import sys
from riskrank.cli.main import app
for run in {runs!r}:
    assert app(run, standalone_mode=False) == 0
assert "scipy" in sys.modules
assert "scipy.stats" not in sys.modules
"""
    assert finish(start(code=code))[0] == 0


def test_help_and_version(start, run, capsys):
    status, stdout, stderr = finish(start("--help"))
    assert (status, stderr) == (0, "")
    assert stdout.startswith("Usage: riskrank [OPTIONS] COMMAND")
    for command in ("rank", "dominance", "portfolio", "check"):
        shown = [run(command, option).status or capsys.readouterr().out for option in ("-h", "--help")]
        assert shown[0] == shown[1]
        assert shown[0].startswith(f"Usage: riskrank {command} [OPTIONS] ")
        assert f"  {command} " in stdout
    assert run("--version").status == 0
    assert capsys.readouterr().out == f"riskrank {__version__}\n"


def test_no_command_shows_the_help_but_fails(run):
    outcome = run()
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("Usage: riskrank")


def test_shell_completion(start):
    variables = {"_RISKRANK_COMPLETE": "complete_bash", "COMP_WORDS": "riskrank do", "COMP_CWORD": "1"}
    assert finish(start(variables=variables))[1].split() == ["dominance"]


def children(pid: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(status.parent.name))
    return found


def deaf_to_interrupts(pid: int) -> bool:
    try:
        lines = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    except (OSError, ValueError):
        return False
    bit = 1 << (signal.SIGINT - 1)
    return any(int(lines[name], 16) & bit for name in ("SigIgn", "SigBlk"))


def at_work(pid: int, jobs: int) -> bool:
    """Whether the bootstrap has begun: its processes are up, or the imports must be done by now."""
    if jobs > 1:
        # The workers and the tracker of their resources.
        return sum(deaf_to_interrupts(child) for child in children(pid)) > jobs
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
    return int(ticks) / os.sysconf("SC_CLK_TCK") > 1.2


def being_started(pid: int, jobs: int) -> bool:
    """Whether the last process has begun to import what it needs."""
    return len(children(pid)) > jobs


@LINUX
@pytest.mark.parametrize(("jobs", "begun"), [(1, at_work), (2, being_started), (2, at_work)])
def test_an_interrupt_leaves_nothing_behind(start, write, make_scores, tmp_path, jobs, begun):
    path = write("t.parquet", make_scores(models=tuple("ABCDEFGH"), n=500))
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "r.json").write_text("before")
    process = start(
        "rank", path, "--resamples", 500_000, "--jobs", jobs, "-o", folder / "r.json", start_new_session=True
    )
    try:
        until = time.monotonic() + 60
        while not begun(process.pid, jobs) and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        status, stdout, stderr = finish(process)
    finally:
        process.kill()
    assert (status, stdout, stderr) == (130, "", "interrupted: nothing was written\n")
    assert [entry.name for entry in folder.iterdir()] == ["r.json"]
    assert (folder / "r.json").read_text() == "before"


def test_an_interrupt_while_python_runs_text(start, tmp_path):
    """Code run from a string makes the interpreter die by the signal, unless something clears its mark."""
    code = """
import riskrank.scores.table as module
from riskrank.cli.main import run

def interrupted(*args):
    exec("raise KeyboardInterrupt")

module.read_scores = interrupted
run()
"""
    status, stdout, stderr = finish(start("rank", "x.csv", code=code))
    assert (status, stdout, stderr) == (130, "", "interrupted: nothing was written\n")


@pytest.mark.parametrize("when", ["os.fsync", "pathlib.Path.replace"])
def test_an_interrupt_while_writing(run, table, tmp_path, monkeypatch, when):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(when, interrupted)
    folder = tmp_path / "out"
    folder.mkdir()
    outcome = run("check", table, "-o", folder / "c.json")
    assert (outcome.status, outcome.stderr) == (130, "interrupted: nothing was written\n")
    assert list(folder.iterdir()) == []


def test_a_pipe_closed_from_the_start(start, table):
    reader, writer = os.pipe()
    os.close(reader)
    process = start("check", table, stdout=writer)
    os.close(writer)
    assert finish(process) == (0, "", "")


@LINUX
def test_head(write, make_scores):
    path = write("t.csv", make_scores(n=3000))  # more rows than a pipe holds
    line = f"{sys.executable} -m riskrank portfolio {path} --format csv | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.DEVNULL,
    )
    assert (done.stdout, done.stderr) == ("model,sample,metric,score\n0\n", "")


@LINUX
def test_a_full_disk(start, run, table):
    with Path("/dev/full").open("wb") as full:
        printed = finish(start("check", table, stdout=full))
    written = run("check", table, "-o", "/dev/full")
    for status, stdout, stderr in (printed, (written.status, written.stdout, written.stderr)):
        assert (status, stdout) == (2, "")
        assert [line.split(":")[0] for line in stderr.splitlines()] == ["error", "found", "hint"]
        assert "No space left" in stderr


@LINUX
def test_devices_as_output(start, run, table, tmp_path):
    shown = run("check", table).stdout
    outcome = run("check", table, "-o", "/dev/null")
    assert (outcome.status, outcome.stdout, outcome.stderr) == (0, "", "")
    assert finish(start("check", table, "-o", "/dev/stdout")) == (0, shown, "")
    target = tmp_path / "log.txt"
    with target.open("ab") as log:
        log.write(b"before\n")
        log.flush()
        assert finish(start("check", table, "-o", "/dev/stdout", stdout=log))[0] == 0
    assert target.read_text(encoding="utf-8") == "before\n" + shown


@LINUX
def test_a_named_pipe_as_output(run, table, tmp_path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    assert run("check", table, "-o", pipe, "--format", "json").status == 0
    reader.join()
    assert json.loads(found[0])["schema"] == "riskrank/check"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
