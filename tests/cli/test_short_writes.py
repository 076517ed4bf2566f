"""If standard output accepts only a part of the data, the rest is retried or the run reports a failure."""

import io
import os
import resource
import subprocess
import sys

import pytest

from riskrank.cli.environment import Environment
from tests.cli.conftest import COMMAND, ROOT

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="limits and pipes of POSIX")
FORMATS = ("table", "json", "jsonl", "csv", "markdown", "html", "latex")
SMALL = ("--resamples", "20", "--set", "jobs=1")
COMMANDS = {
    "rank": ("--no-test",),
    "gsd": ("--higher", "*", "--models", "A,B", "--no-test"),
    "gate": ("--better", "A:C", "--higher", "*", *SMALL),
    "check": (),
    "report": ("--higher", "*", *SMALL),
    "convert": (),
}
VERDICTS = "sample,model_a,model_b,verdict\n" + "".join(f"q{at},x,y,A\nq{at},y,x,B\n" for at in range(12))


class Sipping(io.RawIOBase):
    """Unbuffered stream that accepts a hundred bytes per write."""

    def __init__(self):
        self.taken = bytearray()

    def writable(self):
        return True

    def write(self, data):
        part = bytes(data[:100])
        self.taken += part
        return len(part)


def _sipped(words) -> tuple[int, str]:
    stream, stderr = Sipping(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    stdout = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    status = COMMAND.main(
        [str(word) for word in words],
        standalone_mode=False,
        obj=Environment(io.BytesIO(), stdout, stderr, {}),
    )
    return status, stream.taken.decode()


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("command", COMMANDS)
def test_output_of_commands_and_formats_is_complete(run, write, command):
    words = [command, write("scores.csv", n=12), *COMMANDS[command]]
    if command == "convert":
        words = ["convert", "verdicts", write("v.csv", VERDICTS)]
    written = 0
    # All formats are written by the same code: one command writes all of them, the others two.
    for kind in FORMATS if command == "rank" else ("table", "json"):
        expected = run(*words, "--format", kind)
        if expected.status == 2:  # a format this command does not write
            continue
        written += 1
        assert _sipped([*words, "--format", kind]) == (expected.status, expected.stdout), kind
    assert written


def test_a_schema_is_complete(run):
    assert _sipped(["schema", "rank"]) == (0, run("schema", "rank").stdout)


@POSIX
@pytest.mark.parametrize(
    "words", [["rank", "FILE", "--no-test", "--format", "json"], ["schema", "rank"], ["rank", "--help"]]
)
@pytest.mark.slow
def test_a_full_device_is_reported_without_buffering(write, tmp_path, words):
    """Limit files to 1,024 bytes, like ``ulimit -f 1``, to simulate a full disk."""
    words = [str(write("scores.csv", n=12)) if word == "FILE" else word for word in words]
    full = tmp_path / "full"
    # Python itself loses what a stream without a buffer has no room for, which is help only.
    for unbuffered in ("1", "")["--help" in words :]:
        with full.open("wb") as stdout:
            done = subprocess.run(
                [sys.executable, "-m", "riskrank", *words],
                env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered},
                stdout=stdout,
                stderr=subprocess.PIPE,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)),
                check=False,
            )
        assert done.returncode == 2, done
        lines = done.stderr.decode().splitlines()
        assert lines[:2] == ["error: cannot write to standard output", "found: File too large"]
        assert len(lines) == 3
