"""Long and large work: what it takes is said, and what no machine has is refused before it begins."""

import contextlib
import threading

import numpy as np
import pytest

from riskrank.cli import forecast, session
from riskrank.cli.forecast import resident_memory
from riskrank.engine.gsd.analysis import analyse
from riskrank.engine.gsd.null_optima import Relabelling
from riskrank.engine.gsd.polytope import UtilityPolytope
from riskrank.engine.gsd.quality import quality_table
from riskrank.engine.gsd.relation import Utilities


@pytest.mark.parametrize(
    "words",
    [
        ("power", "normal:0.5,2", "normal:0,1", "--sizes", "50", "--simulations"),
        ("power", "TABLE", "--resamples"),
        ("power", "TABLE", "--simulations"),
        ("gsd", "TABLE", "--higher", "*", "--resamples"),
        ("copa", "TABLE", "--higher", "*", "--resample-models"),
    ],
)
def test_a_billion_replicates_of_any_kind_are_refused_at_once(refused, write, monkeypatch, words):
    monkeypatch.setattr(forecast, "machine_memory", lambda: 9 * 10**9)
    table = write("t.csv", n=400)
    given = [str(table) if word == "TABLE" else word for word in words]
    what, found, _ = refused(*given, "1000000000", status=3)
    assert what.startswith(f"error: {words[-1]} 1000000000 ")
    assert found == "found: 9.0 GB in this machine"


def test_a_limit_on_memory_counts_where_it_is_less_than_the_machine_has(refused, run, table, monkeypatch):
    monkeypatch.setattr(forecast, "machine_memory", lambda: 16 * 10**9)
    words = ("gate", table, "--better", "A:B", "--higher", "*", "--resamples")
    monkeypatch.setattr(forecast, "address_space_left", lambda: 3 * 10**9)
    what, found, _ = refused(*words, "200000000", status=3)
    assert "needs about 4.8 GB" in what
    assert found == "found: 3.0 GB left by a limit (ulimit -v)"
    assert run(*words, "2000").status in (0, 1, 4)


@pytest.mark.parametrize("command", ["mrm", "rank", "dominance", "gate", "report"])
def test_a_billion_resamples_are_refused_at_once(refused, table, monkeypatch, command):
    monkeypatch.setattr(forecast, "machine_memory", lambda: 16 * 10**9)
    claim = ("--better", "A:B", "--higher", "*") if command == "gate" else ()
    what, found, hint = refused(command, table, *claim, "--resamples", "1000000000", status=3)
    assert what.startswith("error: --resamples 1000000000 with ")
    assert "GB of memory" in what
    assert found == "found: 16.0 GB in this machine"
    assert hint == "hint: ask for fewer; --yes tries it all the same"


def test_half_of_the_memory_is_said_and_all_of_it_tried_where_somebody_insists(run, table, monkeypatch):
    words = ("mrm", table, "--resamples", "2000", "--jobs", "1", "--format", "json")
    whole = run(*words)
    assert whole.stderr == ""
    needed = 300 * 3 * 2000
    monkeypatch.setattr(forecast, "machine_memory", lambda: needed + 1)
    assert run(*words).stderr.startswith("note: --resamples 2000 with 3 models needs about 0.0 of 0.0 GB")
    assert run(*words).stdout == whole.stdout
    assert run(*words, "--quiet").stderr == ""
    monkeypatch.setattr(forecast, "machine_memory", lambda: needed - 1)
    assert run(*words).status == 3
    insisting = run(*words, "--yes")
    assert (insisting.status, insisting.stdout) == (0, whole.stdout)


def test_files_larger_than_the_memory_are_refused(run, refused, write, monkeypatch):
    path = write("t.csv", n=400)
    needed = resident_memory([str(path)])
    assert 3 * path.stat().st_size < needed < 5 * path.stat().st_size
    monkeypatch.setattr(forecast, "machine_memory", lambda: needed - 1)
    what, _, hint = refused("rank", path, "--no-test", status=3)
    assert what.startswith("error: reading these files needs about")
    assert "--yes" in hint
    monkeypatch.setattr(forecast, "machine_memory", lambda: needed + 1)
    outcome = run("rank", path, "--no-test")
    assert outcome.status == 0
    assert outcome.stderr.splitlines()[0].startswith("note: reading these files needs about")


def test_a_machine_has_memory():
    assert 10**8 < forecast.machine_memory() < 1 << 60


class Clock:
    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    one = Clock()
    monkeypatch.setattr(forecast, "time", one)
    return one


def paced(clock, label, each, total):
    """What is said of 49 seconds in which so much is done each, and what tells of more."""
    said = []
    move = forecast.paced(label, said.append)
    for second in range(1, 50):
        clock.now = 100.0 + second
        move(each * second, total)
    return said, move


def test_what_takes_long_is_said_once_and_again_where_it_takes_twice_that(clock):
    said, move = paced(clock, "resampling", 10, 36_000)
    assert said == ["note: resampling takes about 60 minutes: 30 of 36,000 are done after 3 s"]
    clock.now = 200.0
    move(500, 36_000)
    assert said[1:] == ["note: resampling takes about 2 hours: 500 of 36,000 are done after 100 s"]


@pytest.mark.parametrize(
    ("label", "less"),
    [
        (
            "resampling tables",
            "fewer --simulations, --variance clt or, of several pairs, --pair BETTER:WORSE takes less",
        ),
        ("comparing at δ = 0", "fewer --models or --no-test takes less"),
        ("resampling tasks", "fewer --simulations take less"),
    ],
)
def test_what_takes_less_is_said_of_a_plan(clock, label, less):
    said, _ = paced(clock, label, 1, 200)
    assert said[0].endswith(f"3 of 200 are done after 3 s; {less}")


def test_neither_a_start_nor_other_work_before_is_taken_for_the_pace(clock):
    """A second and a half until the first part and of another kind of work, then ten parts a second."""
    said = []
    move = forecast.paced("comparing", said.append)
    for after, done, total in ((1.5, 1, 21), (1.0, 21, 21), *((0.1, part, 1600) for part in range(1, 600))):
        clock.now += after
        move(done, total)
    (line,) = said
    assert line.startswith("note: comparing takes about 3 minutes: 24 of 1,600")


def test_few_parts_as_different_as_pairs_of_gsd_tell_no_pace(clock):
    """One pair of 21 takes as long as twenty: what would be said of the first few is far too much."""
    said = []
    move = forecast.paced("comparing", said.append)
    for part, seconds in enumerate((1, 3, 0.1, 14, *[0.1] * 10), 1):
        clock.now += seconds
        move(part, 21)
    assert said == []


@pytest.mark.slow
def test_gsd_counts_its_tests_from_the_first_note_on(clock, monkeypatch):
    """Each program takes a tenth of a second: ten pairs of five models are tested, 35 with others are not."""

    def solve(self, costs, before=UtilityPolytope._solve):
        clock.now += 0.1
        return before(self, costs)

    monkeypatch.setattr(UtilityPolytope, "_solve", solve)
    monkeypatch.setattr(forecast, "spelled", str)
    monkeypatch.setattr(forecast, "_LONG", 0.0)
    scores = np.random.default_rng(0).normal(size=(10, 12, 2))
    scores[:5] += np.arange(5)[:, None, None]
    table, said, begun = quality_table(scores.round(1), ordinal=[False, False]), [], clock.now
    analyse(Utilities(table), Relabelling(resamples=300), progress=forecast.paced("comparing", said.append))
    assert 0.5 < float(said[0].split()[4].rstrip(":")) / (clock.now - begun) < 2


def test_what_is_soon_done_is_not(clock):
    said, _ = paced(clock, "resampling", 1, 50)
    assert said == []


def test_times_are_spelled_as_a_person_would():
    found = [forecast.spelled(seconds) for seconds in (70, 119, 120, 3600, 7200, 86_400, 200_000)]
    assert found == ["70 seconds", "119 seconds", "2 minutes", "60 minutes", "2 hours", "24 hours", "2 days"]


def test_the_pace_reaches_standard_error(run, table, monkeypatch):
    monkeypatch.setattr(forecast, "_KNOWN", 0.0)
    monkeypatch.setattr(forecast, "_LONG", 0.0)
    words = ("rank", table, "--resamples", "20000", "--jobs", "1")
    assert "note: resampling" in run(*words).stderr
    assert "note:" not in run(*words, "--quiet").stderr


SILENCE = "note: resampling has not moved for 0 s: how long it takes cannot be told yet"


def test_it_is_said_once_where_no_part_is_done_for_long(monkeypatch):
    monkeypatch.setattr(forecast, "_SILENT", 0.05)
    for parts in (0, 1):  # or no further one
        said, told = [], threading.Event()

        def say(line, said=said, told=told):
            said.append(line)
            told.set()

        with forecast.watched("resampling", say) as move:
            move(parts, 10)
            assert told.wait(60)
        assert said == [SILENCE]


def test_no_silence_is_told_where_work_is_done_or_its_pace_was(monkeypatch):
    with forecast.watched("resampling", pytest.fail) as move:
        move(1, 10)
    monkeypatch.setattr(forecast, "_SILENT", 2.0)
    monkeypatch.setattr(forecast, "_KNOWN", 0.0)
    monkeypatch.setattr(forecast, "_LONG", 0.0)
    monkeypatch.setattr(forecast, "_UNSURE", 9.0)
    said, before = [], threading.enumerate()
    with forecast.watched("resampling", said.append) as move:
        move(1, 10)
        move(2, 10)
        move(3, 10)
        watcher = next(one for one in threading.enumerate() if one not in before)
        watcher.join(60)
    assert len(said) == 1
    assert "3 of 10 are done" in said[0]


@pytest.mark.parametrize(
    "words",
    [
        ("gate", "--better", "A:B"),
        ("copa", "--resample-models", "50"),
        ("gsd", "--resamples", "20", "--models", "A,B"),
        ("rank", "--jobs", "1"),
    ],
)
def test_silence_is_watched_wherever_it_may_be_long(run, table, monkeypatch, words):
    watched = []

    def watch(label, say):
        watched.append(label)
        return contextlib.nullcontext()

    monkeypatch.setattr(session, "watched", watch)
    run(words[0], table, *words[1:], "--higher", "*")
    assert watched
    count = len(watched)
    run(words[0], table, *words[1:], "--higher", "*", "--quiet")
    assert len(watched) == count
