"""Long runs print an estimate of their duration; runs that exceed the memory are refused."""

import pytest

from riskrank.cli import session
from riskrank.cli.session import reading_memory


@pytest.mark.parametrize(
    "words",
    [
        ("power", "normal:0.5,2", "normal:0,1", "--sizes", "50", "--simulations"),
        ("power", "TABLE", "--resamples"),
        ("power", "TABLE", "--simulations"),
        ("gsd", "TABLE", "--higher", "*", "--resamples"),
        ("copa", "TABLE", "--higher", "*", "--resample-models"),
        ("mrm", "TABLE", "--resamples"),
        ("rank", "TABLE", "--resamples"),
        ("dominance", "TABLE", "--resamples"),
        ("gate", "TABLE", "--better", "A:B", "--higher", "*", "--resamples"),
        ("report", "TABLE", "--resamples"),
    ],
)
def test_a_billion_replicates_of_any_kind_are_refused_at_once(refused, write, monkeypatch, words):
    monkeypatch.setattr(session, "machine_memory", lambda: 9 * 10**9)
    table = write("t.csv", n=400)
    arguments = [str(table) if word == "TABLE" else word for word in words]
    error, detail, hint = refused(*arguments, "1000000000", status=3)
    assert error.startswith(f"error: {words[-1]} 1000000000 needs about ")
    assert detail == "found: 9.0 GB on this machine"
    assert hint == "hint: use a smaller number; --set max-memory=inf disables this check"


def test_a_limit_of_memory_can_be_lifted(run, table, monkeypatch):
    words = ("mrm", table, "--resamples", "2000", "--set", "jobs=1", "--format", "json")
    outcome, needed = run(*words), 300 * 3 * 2000
    monkeypatch.setattr(session, "machine_memory", lambda: needed + 1)
    assert (run(*words).stdout, outcome.stderr) == (outcome.stdout, "")
    monkeypatch.setattr(session, "machine_memory", lambda: needed - 1)
    assert run(*words).status == 3
    insisting = run(*words, "--set", "max-memory=inf")
    assert (insisting.status, insisting.stdout) == (0, outcome.stdout)


def test_files_larger_than_the_memory_are_refused(run, refused, write, monkeypatch):
    path = write("t.csv", n=400)
    needed = reading_memory([str(path)])
    assert 3 * path.stat().st_size < needed < 5 * path.stat().st_size
    monkeypatch.setattr(session, "machine_memory", lambda: needed - 1)
    error, _, hint = refused("rank", path, "--no-test", status=3)
    assert error.startswith("error: reading these files needs about")
    assert "--set max-memory=inf" in hint
    monkeypatch.setattr(session, "machine_memory", lambda: needed + 1)
    assert run("rank", path, "--no-test").status == 0


def test_a_machine_has_memory():
    assert 10**8 < session.machine_memory() < 1 << 60


class Clock:
    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    fake = Clock()
    monkeypatch.setattr(session, "time", fake)
    return fake


@pytest.mark.parametrize(
    ("total", "line"),
    [
        (36_000, "note: resampling takes about 60 minutes: 21 of 36,000 are done"),
        (360_000, "note: resampling takes about 10 hours: 21 of 360,000 are done"),
    ],
)
def test_a_long_run_is_forecast_once(clock, total, line):
    messages = []
    move = session.slow_run_note("resampling", messages.append)
    for tenth in range(500):
        clock.now = 100.0 + tenth / 10
        move(tenth + 1, total)
    assert messages == [line]


def test_pace_excludes_startup_and_earlier_work(clock):
    """The first part takes 1.5 s, then other work takes 1 s, then the pace is ten parts per second."""
    messages = []
    move = session.slow_run_note("comparing", messages.append)
    for after, done, total in ((1.5, 1, 21), (1.0, 21, 21), *((0.1, part, 1600) for part in range(1, 600))):
        clock.now += after
        move(done, total)
    (line,) = messages
    assert line.startswith("note: comparing takes about 3 minutes: 2")


def test_a_short_run_is_not_forecast(clock):
    messages = []
    move = session.slow_run_note("resampling", messages.append)
    for second in range(1, 50):
        clock.now = 100.0 + second
        move(second, 50)
    assert messages == []


def test_the_pace_reaches_standard_error(run, table, monkeypatch):
    monkeypatch.setattr(session, "_PACE_AFTER", 0.0)
    monkeypatch.setattr(session, "_NOTE_AFTER", 0.0)
    words = ("rank", table, "--resamples", "20000", "--set", "jobs=1")
    assert "note: resampling takes about 0 minutes: " in run(*words).stderr
    assert "takes about" not in run(*words, "--quiet").stderr


@pytest.fixture
def first_run():
    """Check threads again, as the first run of a process does."""
    session.require_threads.cache_clear()


@pytest.mark.usefixtures("first_run")
def test_too_few_threads_are_refused_before_anything_is_read(run, monkeypatch):
    """With fewer threads, as in a container, Polars prints many errors or hangs."""

    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", start)
    outcome = run("rank", "nowhere.csv")
    assert outcome.status == 3
    assert outcome.stderr.splitlines()[1:] == [
        "found: only 0 can be started",
        "hint: raise the limit of processes: ulimit -u, or the limit of the container (pids)",
    ]


@pytest.mark.usefixtures("first_run")
def test_too_little_address_space_is_refused_before_anything_is_read(run, monkeypatch):
    """Polars aborts if its libraries cannot reserve their address space."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (1_000_000_000, -1))
    outcome = run("rank", "nowhere.csv")
    assert outcome.status == 3
    assert outcome.stderr.splitlines()[1:] == [
        "found: 1.0 GB allowed",
        "hint: raise the limit: ulimit -v 1800000, or ulimit -v unlimited",
    ]
