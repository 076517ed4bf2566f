"""The program as a process: start-up, Ctrl-C, closed pipes, and files left on disk."""

import fcntl
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from riskrank import __version__
from tests.programs import RISKRANK, ROOT, run_program

pytestmark = pytest.mark.slow  # every test starts the program

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc or /dev")
# Long enough for busy machines, so that only real hangs fail.
PATIENCE = 1200
HEAVY = ("numpy", "polars", "scipy", "rich", "multiprocessing", "pydantic")


def finish(process, **options) -> tuple[int, str, str]:
    """Wait for a process and return its outcome, without the duration estimate of a long run."""
    stdout, stderr = process.communicate(timeout=PATIENCE, **options)
    lines = (stderr or b"").decode().splitlines(keepends=True)
    errors = "".join(line for line in lines if not line.startswith("note: resampling takes about "))
    return process.returncode, (stdout or b"").decode(), errors


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


def test_the_statistics_of_scipy_are_not_imported(start, table, quick, tmp_path):
    """Importing scipy.stats takes a second, longer than a whole run."""
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
        outputs = [run(command, option).status or capsys.readouterr().out for option in ("-h", "--help")]
        assert outputs[0] == outputs[1]
        assert outputs[0].startswith(f"Usage: riskrank {command} [OPTIONS] ")
        assert f"  {command} " in stdout
    assert run("--install-completion").status == 2, "no file of a shell is written"
    capsys.readouterr()
    assert run("--version").status == 0
    assert re.fullmatch(rf"riskrank {__version__}\nkernel: (compiled|NumPy)\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "offered"),
    [("ran", {"rank"}), ("rank --cor", {"--correction"}), ("rank --order ", {"1", "2", "both"})],
)
def test_a_shell_completes_commands_options_and_choices(start, words, offered):
    code = "import sys; sys.argv[0] = 'riskrank'; from riskrank.__main__ import main; main()"
    line = ["riskrank", *words.split(" ")]
    variables = {"COMP_WORDS": "\n".join(line), "COMP_CWORD": str(len(line) - 1)}
    process = start(code=code, variables=variables | {"_RISKRANK_COMPLETE": "complete_bash"})
    _, stdout, stderr = finish(process)
    assert (set(stdout.split()), stderr) == (offered, "")


def children(pid: int) -> list[int]:
    processes = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            processes.append(int(status.parent.name))
    return processes


def seconds_of_work(pid: int) -> float:
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
    except OSError:
        return 0.0
    return int(ticks) / os.sysconf("SC_CLK_TCK")


def at_work(pid: int, jobs: int) -> bool:
    """Return whether the bootstrap has begun, after the imports."""
    if jobs > 1:
        return len(children(pid)) == jobs and all(seconds_of_work(child) > 0.6 for child in children(pid))
    return seconds_of_work(pid) > 1.2


def being_started(pid: int, jobs: int) -> bool:
    """Return whether the last process has begun its imports."""
    return len(children(pid)) == jobs


def wait_for(condition, *args) -> None:
    until = time.monotonic() + 60
    while not condition(*args) and time.monotonic() < until:
        time.sleep(0.01)


@pytest.fixture
def long_run(start, write, make_scores, tmp_path):
    """Start a run of several minutes that writes a file; return its process and the unchanged folder."""
    path = write("t.parquet", make_scores(models=tuple("ABCDEFGH"), n=500))
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "r.json").write_text("before")
    processes = []

    def begin(jobs, begun) -> subprocess.Popen:
        process = start(
            "rank", path, "--resamples", 500_000, "--set", f"jobs={jobs}", "-o", folder / "r.json",
            start_new_session=True,
        )  # fmt: skip
        processes.append(process)
        wait_for(begun, process.pid, jobs)
        return process

    yield begin
    for process in processes:
        process.kill()
        wait_for(lambda pid: not session_of(pid), process.pid)
        assert not session_of(process.pid)
    assert [entry.name for entry in folder.iterdir()] == ["r.json"]
    assert (folder / "r.json").read_text() == "before"


def session_of(pid: int) -> list[int]:
    """Return the living processes of the session of a process."""
    processes = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = status.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == pid and state != "Z":
            processes.append(int(status.parent.name))
    return processes


@LINUX
@pytest.mark.parametrize(
    ("jobs", "begun", "times"),
    [(1, at_work, 1), (3, being_started, 1), (3, being_started, 3), (2, at_work, 3)],
)
def test_an_interrupt_leaves_nothing_behind(long_run, jobs, begun, times):
    process = long_run(jobs, begun)
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.02)
    assert finish(process) == (130, "", "interrupted: nothing was written\n")


@LINUX
def test_a_worker_killed_during_startup_stops_the_run(long_run):
    process = long_run(3, being_started)
    os.kill(children(process.pid)[-1], signal.SIGKILL)
    status, stdout, stderr = finish(process)
    assert (status, stdout) == (3, "")
    assert [line.split(": ")[0] for line in stderr.splitlines()] == ["error", "found", "hint"]
    assert "SIGKILL" in stderr


@LINUX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_stops_the_workers(long_run, number):
    process = long_run(2, at_work)
    process.send_signal(number)
    assert finish(process) == (-number, "", "")


@LINUX
@pytest.mark.parametrize("module", ["typer", "polars"])
def test_an_interrupt_amid_imports(start, table, module):
    """Some callbacks of libraries print exceptions and discard them."""
    code = f"""
import os, signal, sys
from riskrank.__main__ import main

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000): pass
            except BaseException:
                print("swallowed", file=sys.stderr)

sys.meta_path.insert(0, Watch())
main()
"""
    process = start("rank", table, "--no-test", code=code)
    assert finish(process) == (130, "", "interrupted: nothing was written\n")


def test_an_interrupt_somebody_swallows(start):
    code = """
import os, signal, time
import riskrank.scores.table.score_table as module
from riskrank.__main__ import main

def stubborn(*args):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except BaseException:
        time.sleep(60)

module.read_scores = stubborn
main()
"""
    assert finish(start("rank", "x.csv", code=code)) == (130, "", "interrupted: nothing was written\n")


# Places where a library discards KeyboardInterrupt or converts it.
LOSING = {
    "generator": "__import__('polars').DataFrame({'a': (interrupt(i) for i in range(3))})",
    "callback": "forget()",
    "error": "convert()",
}


@LINUX
@pytest.mark.parametrize("how", LOSING)
@pytest.mark.parametrize("to", ["file", "stdout"])
def test_an_interrupt_a_library_loses(start, table, tmp_path, how, to):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "c.json").write_text("before")
    code = f"""
import os, signal, weakref
from riskrank.__main__ import main
import riskrank.scores.table.score_table as module

read = module.read_scores

def interrupt(result):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass
    return result

class Thing: pass

def forget():
    thing = Thing()
    watch = weakref.ref(thing, interrupt)
    del thing

def convert():
    try:
        interrupt(0)
    except KeyboardInterrupt:
        raise TypeError("expected sequence, not generator") from None

def reading(*args):
    {LOSING[how]}
    return read(*args)

module.read_scores = reading
main()
"""
    output = ["-o", folder / "c.json"] if to == "file" else []
    process = start("rank", table, "--no-test", *output, code=code)
    assert finish(process) == (130, "", "interrupted: nothing was written\n")
    assert [(entry.name, entry.read_text()) for entry in folder.iterdir()] == [("c.json", "before")]


@LINUX
@pytest.mark.parametrize(
    "words",
    ["check {} -q -o", "schema rank -o", "gate {} --higher * --models A --bless", "rank {} --no-test -q -o"],
)
def test_an_interrupt_while_files_appear_changes_nothing(start, table, tmp_path, words):
    """The files are complete, and the run reports success."""
    code = """
import os, pathlib, signal
from riskrank.__main__ import main

replace = pathlib.Path.replace

def replacing(*args):
    replace(*args)
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass

pathlib.Path.replace = replacing
main()
"""
    file = tmp_path / ("c.parquet" if "bless" in words else "c.json")
    status, stdout, stderr = finish(start(*words.format(table).split(), file, code=code))
    assert (status, stdout) == (0, "")
    assert "interrupted" not in stderr
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith("c.")] == [file.name]


@LINUX
def test_an_interrupt_after_the_result(start, write, tmp_path):
    """The interrupt arrives while the warnings are printed, after the result."""
    code = """
import os, signal
from riskrank.__main__ import main
from riskrank.cli.session import Session

def saying(*args):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass

Session.log = saying
main()
"""
    table = write("scores.csv", metrics=("acc", "loss"))
    process = start("rank", table, "--no-test", "-o", tmp_path / "r.json", code=code)
    assert finish(process) == (0, "", "")
    assert (tmp_path / "r.json").exists()


@LINUX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_writing_leaves_no_temporary_file(start, table, tmp_path, number):
    folder = tmp_path / "out"
    folder.mkdir()
    code = f"""
import os, signal, time
signal.signal({int(number)}, signal.SIG_DFL)  # nohup ignores SIGHUP, and so would the program

from riskrank.__main__ import main

def stuck(*args):
    os.kill(os.getpid(), {int(number)})
    time.sleep(60)

os.fsync = stuck
main()
"""
    process = start("check", table, "-o", folder / "c.json", code=code)
    assert finish(process) == (-number, "", "")
    assert list(folder.iterdir()) == []


def test_an_ignored_interrupt_stays_ignored(start, table):
    """Shells start background jobs of a script with SIGINT ignored."""
    code = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from riskrank.__main__ import main
import riskrank.scores.table.score_table as module

read = module.read_scores
def reading(*args):
    os.kill(os.getpid(), signal.SIGINT)
    return read(*args)

module.read_scores = reading
main()
"""
    assert finish(start("check", table, code=code))[0] == 0


@LINUX
def test_linear_algebra_uses_a_single_thread(start, write, make_scores, monkeypatch):
    """With more threads the order of summation changes, and the last bits depend on the machine."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    path = write("t.parquet", make_scores(models=("A", "B"), n=50))
    code = """
import sys
from riskrank.cli.main import app, run
from pathlib import Path

class Look:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            import os
            print(os.environ["OPENBLAS_NUM_THREADS"], file=sys.stderr)

sys.meta_path.insert(0, Look())
run()
"""
    status, _, stderr = finish(start("rank", path, "--no-test", "-q", code=code))
    assert (status, set(stderr.split())) == (0, {"1"})


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


@LINUX
@pytest.mark.parametrize("how", ["2>/dev/full", "2>&-", "2> >(exec true)", "0<&- 2>&-"])
def test_a_warning_that_cannot_be_printed_costs_nothing(start, write, how):
    table = write("scores.csv", metrics=("acc", "loss"))
    args = ("rank", table, "--no-test", "--format", "json")
    expected = finish(start(*args))
    assert expected[0] == 0
    assert "loss" in expected[2]
    command = [sys.executable, "-m", "riskrank", *map(str, args)]
    # The reader of the pipe ends during the imports, before anything is written.
    status, stdout, _ = finish(_shell(f'"$@" {how}', *command))
    assert (status, stdout) == (0, expected[1])


@LINUX
@pytest.mark.parametrize("how", ["2>/dev/full", "2>&-", "2> >(exec true)"])
def test_an_error_that_cannot_be_printed_keeps_its_status(how):
    command = [sys.executable, "-m", "riskrank", "rank", "missing.csv"]
    assert finish(_shell(f'"$@" {how}', *command))[0] == 2


@LINUX
@pytest.mark.parametrize("args", [("--help",), ("rank", "--help"), ("--version",), ("schema", "rank")])
def test_help_that_cannot_be_printed(start, args):
    with Path("/dev/full").open("wb") as full:
        status, _, stderr = finish(start(*args, stdout=full))
    assert status == 2
    assert [line.partition(":")[0] for line in stderr.splitlines()] == ["error", "found", "hint"]
    assert stderr.startswith("error: cannot write to standard output\n")


CLOSED = "error: cannot write to standard output\nfound: it was closed by the calling program\n"


@LINUX
@pytest.mark.parametrize(
    "args", [("--help",), ("rank", "--help-all"), ("--version",), ("schema", "rank"), ("rank",)]
)
def test_a_standard_output_that_was_closed_is_no_success(table, tmp_path, args):
    words = [*args, str(table), "--no-test"] if args == ("rank",) else args
    closed = ["bash", "-c", '"$@" >&-', "bash", sys.executable, "-P", "-m", "riskrank", *words]
    done = run_program(*closed, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(CLOSED)
    assert done.stderr.count("\n") == 3
    if args == ("rank",):  # nothing is to be written there
        done = run_program(*closed, "-o", "r.json", cwd=tmp_path)
        assert done.returncode == 0
        assert json.loads((tmp_path / "r.json").read_text())["schema"] == "riskrank/rank"


@LINUX
@pytest.mark.parametrize("args", [("rank", "--help-all"), ("gate", "--help"), ("schema", "rank"), ("rank",)])
def test_a_pipe_that_must_not_wait_gets_everything(start, table, args):
    words = [*args, str(table), "--no-test", "--format", "json"] if args == ("rank",) else args
    expected = finish(start(*words))[1]
    assert len(expected) > 4096
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
    os.set_blocking(writer, False)
    process = start(*words, stdout=writer)
    os.close(writer)
    time.sleep(1)  # the pipe is full, and nobody reads
    with os.fdopen(reader, "rb") as file:
        assert file.read().decode() == expected
    assert finish(process)[0] == 0


@LINUX
@pytest.mark.parametrize(
    ("words", "how", "detail"),
    [
        (("rank", "own.csv"), ">> own.csv", "standard output is redirected to the input own.csv"),
        (("rank", "a=own.csv"), ">> own.csv", "standard output is redirected to the input own.csv"),
        (("rank", "*.csv"), ">> own.csv", "standard output is redirected to the input own.csv"),
        (
            ("rank", "-", "--input-format", "csv"),
            "< own.csv >> own.csv",
            "standard output is redirected to the input /dev/stdin",
        ),
        (("convert", "verdicts", "own.csv"), ">> own.csv", "redirected to the input own.csv"),
        (("rank", "own.csv"), ">> link.csv", "redirected to the input"),
        (("gate", "s.csv", "--anytime", "--continues", "own.csv"), ">> own.csv", "redirected to the input"),
        (("gate", "s.csv", "--baseline", "own.csv", "--bless", "b.parquet"), ">> own.csv", "to the input"),
    ],
)
def test_standard_output_does_not_go_into_the_input(table, tmp_path, words, how, detail):
    path = tmp_path / "own.csv"
    path.write_bytes(Path(table).read_bytes())
    if "link" in how:
        (tmp_path / "link.csv").symlink_to(path)
    command = (sys.executable, "-P", "-m", "riskrank", *words)
    done = run_program("bash", "-c", f'"$@" {how}', "bash", *command, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the result would overwrite ")
    assert detail in done.stderr
    assert path.read_bytes() == Path(table).read_bytes()


def test_a_failure_before_the_error_boundary_exits_3(start):
    code = "import sys; sys.modules['typer'] = None\nfrom riskrank.__main__ import main; main()"
    status, _, stderr = finish(start(code=code))
    assert status == 3
    assert [line.partition(":")[0] for line in stderr.splitlines()] == ["error", "found", "hint"]


def _shell(text, *command) -> subprocess.Popen:
    return subprocess.Popen(
        ["bash", "-c", text, "bash", *command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


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
    done = run_program("bash", "-c", line, stdin=subprocess.DEVNULL)
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
    output = run("check", table).stdout
    outcome = run("check", table, "-o", "/dev/null")
    assert (outcome.status, outcome.stdout, outcome.stderr) == (0, "", "")
    assert finish(start("check", table, "-o", "/dev/stdout")) == (0, output, "")
    target = tmp_path / "log.txt"
    with target.open("ab") as log:
        log.write(b"before\n")
        log.flush()
        assert finish(start("check", table, "-o", "/dev/stdout", stdout=log))[0] == 0
    assert target.read_text(encoding="utf-8") == "before\n" + output
    # Others write to the same open file before and after, none of them at its end.
    target.unlink()
    with target.open("wb", buffering=0) as log:
        for device in ("/dev/stdout", "/dev/fd/1"):
            log.write(b"before\n")
            assert finish(start("check", table, "-o", device, stdout=log))[0] == 0
            log.write(b"after\n")
    assert target.read_text(encoding="utf-8") == f"before\n{output}after\n" * 2


@LINUX
def test_a_named_pipe_as_output(run, table, tmp_path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    assert run("check", table, "-o", pipe, "--format", "json").status == 0
    reader.join()
    assert json.loads(received[0])["schema"] == "riskrank/check"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("how", ["command", "module"])
def test_modules_of_the_working_directory_stay_there(table, tmp_path, how, jobs):
    """`python -m` searches the directory first, so a downloaded signal.py or numpy.py would be executed."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    names = ("signal", "numpy", "polars", "typer", "rich", "json", "pickle", "random", "selectors", "scipy")
    for name in names:
        (folder / f"{name}.py").write_text("from pathlib import Path; Path('ran').touch()")
    code = "from riskrank.__main__ import main; main()"
    begin = [sys.executable, "-P", "-c", code] if how == "command" else RISKRANK
    words = (*begin, "rank", table, "--resamples", "200", "--set", f"jobs={jobs}", "-q")
    done = run_program(*words, cwd=folder, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (folder / "ran").exists()
