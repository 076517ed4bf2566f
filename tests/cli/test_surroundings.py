"""Variables, limits and homes that make a library fail: three lines, or none where it does not matter."""

import resource
import sys

import pytest

from tests.programs import RISKRANK, run_program

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")


@pytest.fixture
def program(table, tmp_path):
    """Run the program in a folder of its own with some variables, and as many open files as told."""

    def in_folder(*words, files=None, **variables):
        def limited():
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        done = run_program(*RISKRANK, *words, variables=variables, cwd=tmp_path, preexec_fn=limited)
        return done.returncode, done.stdout, done.stderr

    return in_folder


@pytest.mark.parametrize("threads", ["0", "abc", "-1", "", "1.5", "9" * 30, "9" * 9999, "٣", "２", "1025"])
def test_a_number_of_threads_polars_cannot_have(refused, run, table, threads):
    lines = refused("rank", table, "--no-test", variables={"POLARS_MAX_THREADS": threads})
    assert lines[0] == "error: POLARS_MAX_THREADS is no number of threads"
    assert lines[1][:900] == f"found: POLARS_MAX_THREADS={threads}"[:900]
    assert run("rank", "--help", variables={"POLARS_MAX_THREADS": threads}).status == 0


def test_threads_as_a_process(program, table):
    status, stdout, stderr = program("rank", table, "--no-test", POLARS_MAX_THREADS="0")
    assert (status, stdout, len(stderr.splitlines())) == (2, "", 3)
    assert program("rank", table, "--no-test", POLARS_MAX_THREADS="1")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {"MPLBACKEND": "nonsense"},
        {"HOME": "/proc/nothing", "MPLCONFIGDIR": ""},
        {"HOME": "relative"},
        {"MPLCONFIGDIR": "/proc/nothing"},
        {"MPLCONFIGDIR": "relative"},
        {"XDG_CONFIG_HOME": "relative", "XDG_CACHE_HOME": "relative"},
        {"MATPLOTLIBRC": "/dev/zero"},
    ],
)
def test_pictures_are_drawn_whatever_surrounds_them(program, table, tmp_path, variables):
    before = {path.name for path in tmp_path.iterdir()}
    status, _, stderr = program(
        "rank", table, "--no-test", "--higher", "*", "--plot", "p.svg", "-o", "r.json", **variables
    )
    assert (status, stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} - before == {"p.svg", "r.json"}


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("style", ["endless", "broken"])
def test_a_style_in_the_working_directory_is_not_read(program, table, tmp_path, style):
    if style == "endless":
        (tmp_path / "matplotlibrc").symlink_to("/dev/zero")
    else:
        (tmp_path / "matplotlibrc").write_bytes(b"\xff\xfe")
    words = ("rank", "scores.csv", "--no-test", "--higher", "*")
    assert program(*words, "--plot", "p.svg", "-o", "r.json") == (0, "", "")
    assert program(*words, "-o", "r.html") == (0, "", "")
    assert {"p.svg", "r.json", "r.html"} <= {path.name for path in tmp_path.iterdir()}


@POSIX
@pytest.mark.parametrize("files", [5, 8, 10])
def test_hardly_any_open_files(program, table, files):
    status, stdout, stderr = program("rank", table, "--no-test", files=files)
    assert (status, stdout) == (3, "")
    assert stderr.splitlines() == [
        "error: no more files can be opened",
        f"found: a limit of {files} (ulimit -n)",
        "hint: raise the limit: ulimit -n 1024; or take fewer --jobs",
    ]


@POSIX
@pytest.mark.slow
def test_too_few_open_files_for_so_many_workers(program, table):
    status, stdout, stderr = program("rank", table, "--jobs", "40", "--resamples", "4000", files=24)
    if status:  # as many as there was room for may have done
        assert (status, stdout) == (3, "")
        assert stderr.splitlines()[0] == "error: no more files can be opened"


def test_the_configuration_that_was_read_is_not_replaced(run, write, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("order = 1\n", "# nothing\n"):
        write("riskrank.toml", text)
        for words in (("rank", "scores.csv", "--no-test"), ("check", "scores.csv"), ("schema", "rank")):
            outcome = run(*words, "-o", "riskrank.toml", *(() if "schema" in words else ("--format", "json")))
            assert outcome.status == 2
            assert outcome.stderr.splitlines()[1].startswith("found: riskrank.toml is read")
            assert (tmp_path / "riskrank.toml").read_text() == text
    assert run("schema", "rank", "-o", "riskrank.toml", "--isolated").status == 0
