"""Tasks on a Dask cluster: a real scheduler and two worker processes, one of which dies."""

import dataclasses
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import pytest

import riskrank
from riskrank.engine.dominance import bootstrap
from riskrank.engine.dominance.column_tests import Inference
from riskrank.engine.dominance.inference import Claim
from riskrank.engine.family import Family
from riskrank.engine.gsd.preference_system import quality_table
from riskrank.engine.gsd.relabelling import Relabelling, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities
from riskrank.engine.power.planning import parse_distribution, plan_from_distributions
from riskrank.engine.power.study import study_power
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Workers
from riskrank.errors import InputError, NumericalError, UsageError
from riskrank.studies import runtime
from riskrank.studies.runtime import process_count
from tests.cli.conftest import run_command
from tests.engine.dominance.helpers import replicate
from tests.programs import RISKRANK, ROOT, run_program

INVALID_ADDRESSES = [
    "",
    "tcp://127.0.0.1:8786",
    "dask:",
    "ray:host",
    "dask:tcp://127.0.0.1",
    "dask::abc",
    "dask:host:abc",
    "dask:host:0",
    "dask:host:65536",
    "dask:http://127.0.0.1:1",
    "dask:bogus://x:1",
    "dask:/etc/passwd",
    "dask:inproc://",
    "dask:tcp://[::1]",
    "dask:tcp://node7:8786/",
]


@pytest.mark.parametrize("place", INVALID_ADDRESSES)
def test_invalid_addresses_are_refused(place):
    with pytest.raises(UsageError, match="address of a Dask scheduler") as caught:
        runtime.connect(place)
    assert "dask:tcp://host:8786" in caught.value.hint


@pytest.mark.parametrize(
    "address", ["node7:8786", "tcp://node7.example:1", "tls://10.0.0.1:65535", "tcp://[::1]:8786"]
)
def test_complete_addresses_are_tried(address, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="needs Dask"):
        runtime.connect(f"dask:{address}")


def test_dask_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="needs Dask"):
        runtime.connect("dask:127.0.0.1:8786")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def replying_server(reply):
    """A port that sends every caller the same reply, and then nothing."""
    callers = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with suppress(OSError):  # the socket is closed
                while True:
                    callers.append(server.accept()[0])
                    callers[-1].sendall(reply)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
    for caller in callers:
        caller.close()


def connection_error(address):
    """Return the error of connecting to an address, in a process with an empty standard error."""
    pytest.importorskip("distributed")
    code = f"""
from riskrank.errors import RiskrankError
from riskrank.studies import runtime
assert runtime._PATIENCE <= 5
runtime._PATIENCE = 0.5
try:
    runtime.connect("dask:{address}")
except RiskrankError as error:
    print(type(error).__name__, *error.lines(flags=True), sep="\\n")
"""
    done = run_program(sys.executable, "-c", code, timeout=1200)
    assert done.stderr == ""
    kind, *lines = done.stdout.splitlines()
    assert kind == "InputError"
    assert [line.split(": ")[0] for line in lines] == ["error", "found", "hint"]
    assert "no Dask scheduler answers at" in lines[0]
    assert "tcp://host:8786" in lines[2]
    return lines[1].removeprefix("found: ")


@pytest.mark.slow
@pytest.mark.parametrize("place", ["tcp://127.0.0.1:{}", "nowhere.invalid:{}", "tls://127.0.0.1:{}"])
def test_absent_scheduler_is_refused(place):
    """The error takes at most ten seconds, and Dask prints nothing to standard error."""
    connection_error(place.format(free_port()))


@pytest.mark.slow
def test_silent_port_is_refused():
    with replying_server(b"") as port:
        assert "no answer within" in connection_error(f"tcp://127.0.0.1:{port}")


@pytest.mark.slow
def test_port_of_another_protocol_is_refused():
    with replying_server(b"SSH-2.0-OpenSSH_9.2p1\r\n" + b"x" * 200) as port:
        assert "does not respond like a Dask scheduler" in connection_error(f"tcp://127.0.0.1:{port}")


class Cluster:
    """A scheduler and two workers in separate processes."""

    def __init__(self, stack):
        self._stack = stack
        self.address = f"tcp://127.0.0.1:{free_port()}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        self.workers = [
            self._start("worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard")
            for _ in range(2)
        ]

    def _start(self, role, *options):
        log = subprocess.DEVNULL
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{role}", *options],
            stdout=log,
            stderr=log,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def connect(self):
        """Connect once both workers are there."""
        until = time.monotonic() + 60
        while True:
            try:
                executor = runtime.connect(f"dask:{self.address}")
            except InputError:
                if time.monotonic() > until:
                    raise
                continue
            if len(executor._client.scheduler_info()["workers"]) == 2:
                return executor
            executor.shutdown()


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)  # where Dask puts its scratch
    with ExitStack() as stack:
        yield Cluster(stack)


def leaves(result):
    """Return the bytes of all numbers in a result."""
    if dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result)]
    if isinstance(result, list | tuple):
        return [leaf for part in result for leaf in leaves(part)]
    return [repr(result) if result is None or isinstance(result, str) else np.asarray(result).tobytes()]


def bootstrapped(jobs, progress):
    rng = np.random.default_rng(0)
    scores = ClusteredScores.build(rng.normal(size=(3, 40)))
    return replicate(scores, resamples=400, seed=0, jobs=jobs, progress=progress)


def relabelled(jobs, progress):
    table = quality_table(np.random.default_rng(1).normal(size=(3, 8, 2)).round(1), ordinal=[False, True])
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    return run_relabelling_tests(
        Utilities(table), pairs, Relabelling(resamples=20), jobs=jobs, progress=progress
    )


def simulated(jobs, progress):
    inference = Inference(variance="clt", family=Family(correction="none", sides=1), jobs=jobs)
    normals = [parse_distribution(text) for text in ("normal:0.4", "normal")]
    plan = plan_from_distributions(normals, Claim(2), inference)
    study = study_power(plan, [40, 80], repeats=60, progress=progress)
    return study.curve, study.full_curve, study.size


@pytest.mark.slow
def test_cluster_gives_the_same_bytes_without_a_worker(cluster, monkeypatch):
    monkeypatch.setattr(bootstrap, "_PROCESS_THRESHOLD", 0, raising=False)
    studies = (bootstrapped, relabelled, simulated)
    alone = [leaves(study(1, None)) for study in studies]
    with cluster.connect() as executor:
        workers = Workers(executor=executor)
        assert [leaves(study(workers, None)) for study in studies] == alone
        called = []

        def kill_worker(*_):
            called.append(_)
            if len(called) == 2:
                cluster.workers[0].kill()

        assert [leaves(study(workers, kill_worker)) for study in studies] == alone
        assert len(called) > 2
        assert cluster.workers[0].wait() == -9


@pytest.mark.slow
def test_lost_scheduler_is_reported(cluster):
    with cluster.connect() as executor:
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        with pytest.raises(NumericalError, match="lost its workers") as caught:
            list(Workers(executor=executor).run(max, 3, range(4)))
        assert caught.value.found == "the connection to the scheduler was lost"


@pytest.mark.slow
def test_loss_of_all_workers_is_reported(cluster, monkeypatch):
    monkeypatch.setattr(runtime, "_LOOK", 0.1)
    monkeypatch.setattr(runtime, "_ABANDONED", 0.5)
    with cluster.connect() as executor:
        for worker in cluster.workers:
            worker.kill()
            worker.wait()
        with pytest.raises(NumericalError, match="lost its workers") as caught:
            list(Workers(executor=executor).run(max, 3, range(4)))
        assert caught.value.found == "the cluster has had no workers for 0.5 seconds"


@pytest.mark.slow
def test_worker_address_is_refused(cluster):
    with cluster.connect() as executor:
        worker = next(iter(executor._client.scheduler_info()["workers"]))
    with pytest.raises(InputError, match="no Dask scheduler answers") as caught:
        runtime.connect(f"dask:{worker}")
    assert caught.value.found == "the address belongs to a Dask Worker, not to a scheduler"


@pytest.mark.slow
def test_a_cluster_with_another_riskrank_is_refused(cluster, monkeypatch):
    cluster.connect().shutdown()
    monkeypatch.setattr(runtime, "__version__", "0.0.1")
    with pytest.raises(InputError, match="the cluster needs workers with riskrank"):
        runtime.connect(f"dask:{cluster.address}")


def written(tmp_path, seed=0):
    rng = np.random.default_rng(seed)
    path = tmp_path / "scores.csv"
    lines = [f"{m},{s},{c},{rng.normal():.3f}" for m in "abc" for s in range(40) for c in ("x", "y")]
    path.write_text("\n".join(["model,sample,metric,score", *lines]) + "\n")
    return path


COMMANDS = {
    "rank": ("--resamples", "400"),
    "dominance": ("--resamples", "400"),
    "mrm": ("--resamples", "200"),
    "gate": ("--resamples", "400", "--better", "a:b"),
    "gsd": ("--higher", "*", "--metric", "x", "--models", "a,b", "--resamples", "40"),
    "power": (
        "--pair",
        "a:b",
        "--sizes",
        "20,40",
        "--simulations",
        "6",
        "--variance",
        "clt",
        "--metric",
        "x",
    ),
}


def command(name, table, *options):
    words = (name, table, *COMMANDS[name], "--format", "json", *options)
    return run_program(*RISKRANK, *words, text=False, timeout=1200)


@pytest.mark.slow
def test_every_command_gives_the_same_bytes_on_a_cluster(cluster, tmp_path):
    table = written(tmp_path)
    cluster.connect().shutdown()
    for name in COMMANDS:
        alone = command(name, table, "--set", "jobs=1")
        spread = command(name, table, "--set", f"executor=dask:{cluster.address}")
        assert alone.stdout, alone.stderr
        assert (spread.returncode, spread.stdout, spread.stderr) == (
            alone.returncode,
            alone.stdout,
            alone.stderr,
        )


@pytest.mark.slow
def test_command_survives_the_loss_of_a_worker(cluster, tmp_path, monkeypatch):
    table = written(tmp_path)
    options = {"resamples": 4000, "seed": 0}
    expected = riskrank.rank(table, jobs=1, **options).to_json()
    with cluster.connect() as executor:
        killer = threading.Timer(0.5, cluster.workers[0].kill)
        killer.start()
        text = riskrank.rank(table, executor=executor, **options).to_json()
        killer.join()
        assert text == expected
        assert riskrank.rank(table, executor=executor, **options).to_json() == expected


@pytest.mark.slow
def test_command_without_a_scheduler_is_refused(tmp_path):
    pytest.importorskip("distributed")
    done = command("rank", written(tmp_path), "--set", f"executor=dask:tcp://127.0.0.1:{free_port()}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert [line.partition(b":")[0] for line in done.stderr.splitlines()] == [b"error", b"found", b"hint"]


def test_executor_of_the_caller_stays_open(tmp_path):
    table = written(tmp_path)
    options = {"resamples": 400, "models": ["a", "b"]}
    alone = riskrank.rank(table, jobs=1, **options).to_json()
    with ThreadPoolExecutor(2) as threads:
        assert riskrank.rank(table, executor=threads, **options).to_json() == alone
        assert threads.submit(max, 1, 2).result() == 2  # it stays open


def test_invalid_executors_are_refused(tmp_path):
    table = written(tmp_path)
    with pytest.raises(UsageError, match="needs an executor"):
        riskrank.rank(table, executor=7)
    with pytest.raises(UsageError, match="cannot be used together"):
        riskrank.rank(table, executor="dask:x", jobs=2)
    with pytest.raises(UsageError, match="address of a Dask scheduler"):
        riskrank.rank(table, executor="ray:x")
    refused = run_command("rank", table, "--set", "executor=dask:x", "--set", "jobs=2")
    assert refused.status == 2
    assert refused.stderr.startswith("error: --set jobs=2 and --set executor cannot be used together")


def test_default_jobs_equal_the_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 5}, raising=False)
    assert (process_count(None), process_count(2)) == (3, 2)
