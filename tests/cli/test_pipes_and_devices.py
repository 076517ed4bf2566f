"""Inputs of unknown length (pipes, devices, links to them) are read up to a limit."""

import contextlib
import io
import os
import resource
import sys
import threading

import pytest

from riskrank.errors import InputError
from riskrank.scores.files.contents import read_bytes, read_stream
from riskrank.scores.files.guards import Budget
from tests.memory import memory_below
from tests.programs import RISKRANK, run_program

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and limits of POSIX")
TABLE = "model,sample,metric,score\n" + "".join(f"{m},{s},acc,{s / 7:.3f}\n" for m in "ab" for s in range(12))


class Endless:
    """Endless stream that fails once far more than the limit is read."""

    def __init__(self, most):
        self.left = most

    def read(self, size):
        assert 0 <= size <= self.left
        self.left -= size
        return bytes(size)


@pytest.fixture
def pipe(tmp_path):
    """Return a function that writes bytes into a named pipe once and returns its path."""

    def make(name, data):
        path = tmp_path / name
        os.mkfifo(path)

        def give():
            with contextlib.suppress(BrokenPipeError), path.open("wb") as file:
                file.write(data)

        threading.Thread(target=give, daemon=True).start()
        return path

    return make


def test_a_stream_is_read_in_pieces():
    """A table of one kilobyte needs no buffer of the maximum size, 16 GB."""
    with memory_below(5_000_000):
        assert read_stream(io.BytesIO(b"x" * 1000), "-", Budget(16 * 1024**3)) == b"x" * 1000


def test_an_endless_stream_is_left_at_the_limit():
    with pytest.raises(InputError, match="more than 3,000,000 bytes"):
        read_stream(Endless(3_000_000 + 3 * 2**20), "-", Budget(3_000_000))


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 2**20 + 1, 5_000_001])
def test_streams_and_files_are_read_completely(tmp_path, size):
    data = os.urandom(size)
    assert read_stream(io.BytesIO(data), "-", Budget()) == data
    path = tmp_path / "t"
    path.write_bytes(data)
    assert read_bytes(str(path), Budget(max(size, 1))) == data
    if size:
        with pytest.raises(InputError, match="more than"):
            read_bytes(str(path), Budget(size - 1))


@pytest.mark.slow
@POSIX
def test_a_small_pipe_under_a_limit_on_memory():
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (6_000_000_000, 6_000_000_000))

    done = run_program(*RISKRANK, "check", "-", input=TABLE, preexec_fn=limited)
    assert done.returncode == 0, done.stderr


@POSIX
def test_a_named_pipe_is_read_like_a_file_and_as_far_as_allowed(run, refused, pipe):
    assert run("rank", pipe("t.csv", TABLE.encode()), "--no-test").status == 0
    outcome = run("rank", pipe("l.csv", TABLE.encode() * 20_000), "--no-test", "--set", "max-bytes=1000")
    assert (outcome.status, "more than 1,000 bytes" in outcome.stderr) == (2, True)
    metrics = pipe("m.toml", b"# nothing\n" * 4_000_000)
    outcome = run("rank", pipe("u.csv", TABLE.encode()), "--metrics-file", metrics)
    assert outcome.status == 2
    assert outcome.stderr.splitlines()[:2] == [
        f"error: {metrics}: the metrics file cannot be read",
        "found: more than 524,288 bytes",
    ]


@POSIX
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_is_not_a_file(refused, table, tmp_path, device):
    link = tmp_path / "t.csv"
    link.symlink_to(device)
    for path in (link, device):
        error = refused("rank", path, "--input-format", "csv", "--no-test")[0]
        assert error == f"error: {path}: this is a device, not a file"
    assert (
        "a database must be an uncompressed local file"
        in refused("rank", link, "--input-format", "sqlite")[0]
    )
    named = tmp_path / "samples_qa_2024-01-01T00-00-00.000000.jsonl"
    named.symlink_to(device)
    assert "this is a device" in refused("convert", "lm-eval", named)[0]
    assert "cannot detect the harness" in refused("convert", "auto", link)[0]
    assert "cannot be read" in refused("rank", table, "--metrics-file", link)[0]
    with open(device, "rb") as stdin:  # noqa: PTH123
        assert "this is a device" in refused("rank", "-", "--input-format", "csv", stdin=stdin)[0]


def test_nothing_is_empty(refused, run):
    assert "empty" in refused("rank", os.devnull, "--input-format", "csv")[0]


@POSIX
def test_a_pattern_meets_no_pipe(run, tmp_path):
    """Reading a pipe that matches a pattern would block, and it may belong to another user."""
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(TABLE.replace("b,", f"{name[0]}{name[0]},"))
    os.mkfifo(tmp_path / "c.csv")
    (tmp_path / "samples_x.jsonl").write_text('{"model": "a", "sample": 1, "metric": "m", "score": 1}\n')
    os.mkfifo(tmp_path / "samples_y.jsonl")
    assert run("check", tmp_path / "*.csv").status in (0, 2)
    assert run("convert", "auto", tmp_path / "*.jsonl").status in (0, 2)
    assert run("convert", "lm-eval", tmp_path / "*.jsonl").status in (0, 2)


class Broken:
    def read(self, size):
        raise OSError(5, "Input/output error")


def test_standard_input_that_breaks(refused):
    assert refused("rank", "-", "--input-format", "csv", stdin=Broken())[:2] == (
        "error: -: standard input cannot be read",
        "found: Input/output error",
    )
