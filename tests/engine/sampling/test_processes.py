"""Tasks return in order from one or several reused processes, and leave nothing behind."""

import importlib
import operator
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import riskrank
from riskrank.engine.sampling.processes import Workers, run_tasks
from riskrank.errors import InputError, NumericalError

ROOT = Path(riskrank.__file__).parents[1]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def children():
    processes = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = entry.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == os.getpid():
            processes.add(entry.parent.name)
    return processes


@pytest.fixture(scope="module")
def tasks():
    """Return functions that a worker can import from any directory."""
    folder = str(Path(__file__).parent)
    sys.path.append(folder)
    yield importlib.import_module("worker_tasks")
    sys.path.remove(folder)


@pytest.fixture
def nothing_left():
    """Assert that a test leaves no process and no open file."""
    before = children(), set(os.listdir("/proc/self/fd"))  # noqa: PTH208 (names only)
    yield
    assert (children(), set(os.listdir("/proc/self/fd"))) == before  # noqa: PTH208


def test_processes_are_reused(tasks):
    twice, thrice = [2], [3]
    with Workers(1) as workers:
        alone = list(workers.run(tasks.scaled, twice, range(5)))
    assert [value for value, _ in alone] == [0, 2, 4, 6, 8]
    assert {process for _, process in alone} == {os.getpid()}
    with Workers(2) as workers:
        first = list(workers.run(tasks.scaled, twice, range(40)))
        other = list(run_tasks(tasks.scaled, thrice, range(3), jobs=workers))
        repeated = list(workers.run(tasks.scaled, twice, range(40)))
    assert (
        [value for value, _ in first] == [value for value, _ in repeated] == [2 * task for task in range(40)]
    )
    assert [value for value, _ in other] == [0, 3, 6]
    processes = {process for _, process in first + other + repeated}
    assert len(processes) == 2
    assert os.getpid() not in processes


@pytest.mark.parametrize(("jobs", "count"), [(1, 40), (2, 40), (3, 2)])
def test_finished_tasks_are_counted(jobs, count):
    arrived = []
    with Workers(jobs) as workers:
        list(workers.run(operator.mul, 2, range(count), arrived.append))
    assert arrived == list(range(1, count + 1))


@LINUX
@pytest.mark.usefixtures("nothing_left")
def test_arrays_of_any_dtype_are_transferred():
    grid = np.arange(12.0).reshape(3, 4)
    large = np.arange(300_000.0)  # more than a pipe holds
    shared = [grid, grid.T, grid[:, ::2], np.empty((0, 3)), np.array(["a", None]), large, np.float64(0.1)]
    received = list(run_tasks(operator.getitem, shared, range(len(shared)), jobs=2))
    for array, other in zip(shared, received, strict=True):
        np.testing.assert_array_equal(array, other, strict=True)
    received[0][0, 0] = 1  # as an array made here could be


@LINUX
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("error", [InputError("what", found="this", hint="that"), ValueError("no")])
def test_error_of_a_task_is_raised_in_order(tasks, error):
    results = run_tasks(tasks.stumbling, error, range(20), jobs=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(type(error), match=r"what|no") as caught:
        next(results)
    assert "in stumbling" in caught.value.__notes__[-1]


def test_unpicklable_error_is_reported(tasks):
    with pytest.raises(RuntimeError, match="Unspeakable: one"):
        list(run_tasks(tasks.unspeakable, None, range(20), jobs=2))


def test_unreadable_data_is_an_error(tasks):
    with pytest.raises(ZeroDivisionError):
        list(run_tasks(operator.add, tasks.UnreadableThere(), range(4), jobs=2))


@LINUX
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("shared", "cause"),
    [("by_kill", "by SIGKILL"), ("by_exit", "exit status 7"), ("FatalToRead", "by SIGKILL")],
)
def test_dying_worker_aborts_the_run(tasks, shared, cause):
    shared = getattr(tasks, shared)
    data = shared() if isinstance(shared, type) else shared
    with pytest.raises(NumericalError) as caught:
        list(run_tasks(tasks.dying_behind_a_long_task, data, range(20), jobs=3))
    assert "died" in caught.value.problem
    assert cause in caught.value.found


@LINUX
@pytest.mark.usefixtures("nothing_left")
def test_abandoned_run_can_be_closed(tasks):
    with Workers(2) as workers:
        results = workers.run(tasks.scaled, [1], range(1000))
        next(results)
        with pytest.raises(RuntimeError, match="have not been read"):
            next(workers.run(tasks.scaled, [1], range(10)))
        results.close()
        assert [value for value, _ in workers.run(tasks.scaled, [1], range(10))] == list(range(10))


def test_output_of_tasks_is_suppressed(tasks, capfd):
    assert list(run_tasks(tasks.noisy, None, range(4), jobs=2)) == list(range(4))
    assert capfd.readouterr() == ("", "")


def test_workers_share_the_machine_by_processes(tasks, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")  # whoever asks for a number gets it
    assert set(run_tasks(tasks.threads, None, range(4), jobs=2)) == {("1", "3")}


def test_workers_are_pickled_as_a_single_job():
    with Workers(4) as workers:
        assert pickle.loads(pickle.dumps({"jobs": workers})) == {"jobs": 1}


# Separate programs, so that a hanging one can be killed.

PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from riskrank.engine.sampling.processes import run_tasks
"""


def start(path, code, **options):
    path.write_text(PROGRAM + code)
    return subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def test_script_needs_no_main_guard(tmp_path):
    """A worker imports the modules of its tasks, never the main program."""
    code = "import operator; print(list(run_tasks(operator.mul, 2, range(4), jobs=2)))"
    process = start(tmp_path / "script.py", code)
    assert process.communicate(timeout=1200) == ("[0, 2, 4, 6]\n", "")


def test_workers_do_not_import_from_the_current_directory(tmp_path):
    folder = tmp_path / "downloads"
    folder.mkdir()
    for name in ("signal", "pickle", "numpy", "operator", "riskrank", "sitecustomize"):
        (folder / f"{name}.py").write_text("from pathlib import Path; Path('ran').touch()")
    code = "import operator; print(list(run_tasks(operator.mul, 2, range(4), jobs=2)))"
    process = start(tmp_path / "script.py", code, cwd=folder)
    assert process.communicate(timeout=1200) == ("[0, 2, 4, 6]\n", "")
    assert not (folder / "ran").exists()


def alive(pids):
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and "Z" not in _state(pid)]


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@LINUX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_workers_stop_with_their_parent(tmp_path, number):
    code = f"""
import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
sys.path.insert(0, {str(tmp_path)!r})
import tasks
for pid in run_tasks(tasks.first_short_then_long, None, range(4), jobs=2):
    print(pid, flush=True)
"""
    (tmp_path / "tasks.py").write_text(
        "import os, time\ndef first_short_then_long(_, task):\n    time.sleep(600 * (task > 1))\n"
        "    return os.getpid()\n"
    )
    process = start(tmp_path / "script.py", code)
    pids = [int(process.stdout.readline()) for _ in range(2)]
    process.send_signal(number)
    assert process.wait(30) == -number
    until = time.monotonic() + 30
    while alive(pids) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(pids)
    process.communicate()


# Executors of the caller's.


@pytest.mark.parametrize(
    "executor", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2, get_context("spawn"))]
)
def test_executor_gives_equal_results(executor):
    shared = [np.random.default_rng(0).normal(size=(50, 4))]
    alone = list(run_tasks(operator.mul, shared[0], range(7)))
    with executor() as pool:
        workers = Workers(executor=pool)
        with workers:
            result = list(run_tasks(operator.mul, shared[0], range(7), jobs=workers))
        assert pool.submit(int, "3").result() == 3  # it is the caller's, and open
    np.testing.assert_array_equal(alone, result, strict=True)


class Sharing(Executor):
    """Executor that runs tasks immediately and counts shared objects."""

    def __init__(self):
        self.shared = []

    def share(self, data):
        self.shared.append(data)
        return data

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        future.set_result(function(*args, **kwargs))
        return future


def test_executor_may_share_data_once():
    sharing = Sharing()
    assert list(Workers(executor=sharing).run(operator.mul, 3, range(4))) == [0, 3, 6, 9]
    assert sharing.shared == [3]


def test_broken_executor_is_reported(tasks):
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, pytest.raises(NumericalError, match="lost"):
        list(Workers(executor=pool).run(tasks.dying, tasks.by_kill, range(4)))
