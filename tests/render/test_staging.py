"""If a signal interrupts writing at any line, all files are either old or new, without leftovers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Each trial forks a child that is signalled before its n-th line, until no line is left.
TRIALS = """
import json, os, signal, sys
from pathlib import Path
from riskrank.render import files

NUMBER, TWICE = int(sys.argv[1]), int(sys.argv[2])
OURS = {files.__file__}
NEW = {"t.csv": b"new table", "t.metrics.toml": b"new metrics", "p.svg": b"new picture"}

def write(last):
    seen = 0
    def tracing(frame, event, _):
        nonlocal seen
        if frame.f_code.co_filename not in OURS:
            return None
        if event == "line":
            seen += 1
            if seen == last or (TWICE and seen == last + TWICE):
                os.kill(os.getpid(), NUMBER)
        return tracing
    first, *rest = NEW.items()
    with open(os.devnull, "w") as stdout:
        sys.settrace(tracing)
        files.write_all([first], stdout, dict(rest))
        sys.settrace(None)
    os._exit(0 if seen < last else 9)

signal.signal(NUMBER, signal.SIG_DFL)
found = []
for last in range(1, 10_000):
    for name in os.listdir():
        os.unlink(name)
    Path("t.csv").write_bytes(b"old table")
    child = os.fork()
    if not child:
        sys.stderr = open(os.devnull, "w")
        try:
            write(last)
        finally:
            os._exit(7)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = {path.name: path.read_bytes() for path in Path().iterdir()}
    if left not in ({"t.csv": b"old table"}, NEW) or status not in (0, -NUMBER):
        found.append([last, status, sorted(left)])
    if status == 0:
        break
print(json.dumps([last, found]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.slow
@pytest.mark.parametrize(("number", "twice"), [(2, 0), (15, 0), (1, 1), (15, 4)])
def test_all_files_or_none_whenever_a_signal_comes(tmp_path, number, twice):
    done = subprocess.run(
        [sys.executable, "-c", TRIALS, str(number), str(twice)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines, files = json.loads(done.stdout)
    assert lines > 100
    assert files == []
