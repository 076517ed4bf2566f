"""Run a command as the fuzzers do: in this process on in-memory streams, or as a subprocess."""

import io
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from riskrank.cli.environment import Environment
from riskrank.cli.main import app
from tests.fuzz.oracles import Run

ROOT = Path(__file__).resolve().parents[2]
COMMAND = typer.main.get_command(app)
# Seconds after which a run counts as hanging, even on a busy machine.
PATIENCE = 120
# Number of runs by exit status.
EXIT_COUNTS: Counter[int] = Counter()


class Hanging(BaseException):
    """Raised if a run does not end."""


def in_process(args, kind, stdin=b"", *, variables=None, raw=None) -> Run:
    """Run a command on in-memory streams; `raw` is an unbuffered stream for standard output."""
    stdout = io.TextIOWrapper(raw or io.BytesIO(), encoding="utf-8", newline="")
    stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    source = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
    environment = Environment(source, stdout, stderr, variables or {})
    before, start = _most_memory(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with _watched():
            status = COMMAND.main(list(args), standalone_mode=False, obj=environment)
    seconds, memory = time.process_time() - start, _most_memory() - before
    EXIT_COUNTS[int(status)] += 1
    texts = []
    for stream in (stdout, stderr):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "surrogateescape"))
    gated = args[0] == "gate"
    messages = tuple(f"{warning.category.__name__}: {warning.message}" for warning in caught)
    return Run(tuple(args), int(status), texts[0], texts[1], messages, kind, gated, seconds, memory)


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def as_process(args, folder, *, before=None, **variables) -> tuple[int, str, str]:
    """Run a command as a subprocess."""
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "riskrank", *args],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        preexec_fn=before,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode()


def write(folder: Path, name: str, data: bytes) -> str:
    """Write a file and return its name."""
    (folder / name).write_bytes(data)
    return name


@contextmanager
def _watched() -> Iterator[None]:
    def hangs(*_):
        raise Hanging

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
