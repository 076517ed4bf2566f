"""Limits on large, endless or hostile inputs: thousands of columns, circular links, bombs, open folders."""

import gzip
import io
import os
import stat
import sys
import time
import zipfile
from pathlib import Path

import polars as pl
import pytest
import zstandard

from riskrank.cli.session import reading_memory
from riskrank.scores.files.paths import expand_glob
from riskrank.scores.files.source import FrameSource

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes, owners and links of POSIX")
TABLE = "model,sample,metric,score\n" + "".join(
    f"{m},{s},acc,{0.1 * s + 0.01 * ord(m):.3f}\n" for m in "ab" for s in range(12)
)


def test_columns_by_the_thousand(refused, run, write):
    """With eight times the columns, the time grows by a factor of eight, not sixty-four."""

    def effort(n):
        source = FrameSource(pl.DataFrame({"a": [1]}))
        names = [f"column {place}" for place in range(n)]
        spent = []
        for _ in range(3):
            start = time.process_time()
            source._name_columns(names)
            spent.append(time.process_time() - start)
        return min(spent)

    assert effort(16_000) < 25 * max(effort(2_000), 0.001)  # a clock may tick more slowly
    many = ",".join(f"c{place}" for place in range(20_000))
    rows = "".join(
        f"{m},{s},{0.1 * s + 0.01 * ord(m):.3f}" + ",1" * 20_000 + "\n" for m in "ab" for s in range(3)
    )
    path = write("many.csv", f"model,sample,acc,{many}\n{rows}")
    assert run("rank", path, "--wide", "--metric", "acc", "--no-test").status == 0
    twice = write("t.csv", f"model,sample,acc,{many},c7\n{rows}")
    assert "two columns are named 'c7'" in refused("rank", twice, "--wide", "--no-test")[0]


@POSIX
def test_patterns_do_not_go_round_in_circles(tmp_path, monkeypatch):
    for folder in ("a", "a/b", "a/b/c", "a/.hidden"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.csv").write_text(TABLE)
    expected = {"a/b/c/t.csv", "a/b/t.csv", "a/t.csv"}
    monkeypatch.chdir(tmp_path)
    assert set(expand_glob("**/*.csv")) == set(expand_glob("a/**/t.csv")) == expected
    for name in ("one", "two", "three"):  # of which each doubles the ways round
        (tmp_path / "a" / "b" / name).symlink_to(tmp_path / "a")
        (tmp_path / "a" / name).symlink_to("..")
    paths = expand_glob("**/*.csv")
    assert expected <= set(paths)
    assert len(paths) < 100
    assert {os.path.realpath(path) for path in paths} == {str(tmp_path / path) for path in expected}
    (tmp_path / "linked").symlink_to(tmp_path / "a" / "b" / "c")
    assert "linked/t.csv" in expand_glob("**/*.csv")
    assert set(expand_glob(str(tmp_path / "a" / "b" / "**" / "c" / "*.csv"))) >= {
        str(tmp_path / "a/b/c/t.csv")
    }


@pytest.mark.parametrize(
    "pattern", ["*.csv", "**", "**/*.csv", "x/**", "x/**/y/**/*", "[ab].csv", "x/*/t.csv", "/**/no"]
)
def test_patterns_match_like_glob(tmp_path, monkeypatch, pattern):
    import glob

    for folder in ("x", "x/y", "x/y/z", "x/y/z/y", "q[1]"):
        (tmp_path / folder).mkdir()
        for name in ("t.csv", "a.csv", ".hidden.csv"):
            (tmp_path / folder / name).write_text("")
    monkeypatch.chdir(tmp_path)
    if pattern.startswith("/"):
        pattern = str(tmp_path) + pattern
    expected = {path.rstrip("/") for path in glob.glob(pattern, recursive=True)}  # noqa: PTH207
    assert {path.rstrip("/") for path in expand_glob(pattern)} == expected - {""}


def _bomb(kind) -> bytes:
    text = TABLE.encode() + b"a,99,acc,0.5\n" * 200_000
    if kind == "gz":
        return gzip.compress(text)
    if kind == "zst":
        return zstandard.compress(text)
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", text)
    return book.getvalue()


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst", "t.xlsx"])
def test_a_decompression_bomb_is_refused(refused, write, name):
    path = write(name, _bomb(name.rpartition(".")[2] if name != "t.xlsx" else "xlsx"))
    error, _, hint = refused("rank", path, "--no-test", "--set", "max-bytes=100000")
    assert "more than 100,000 bytes" in error
    assert "--set max-bytes=200000" in hint


def test_a_file_and_a_pipe_larger_than_allowed(refused, run, write):
    path = write("t.csv", TABLE)
    assert run("rank", path, "--no-test", "--set", f"max-bytes={len(TABLE)}").status == 0
    assert "--set max-bytes" in refused("rank", path, "--no-test", "--set", "max-bytes=100")[2]
    piped = ("rank", "-", "--input-format", "csv", "--no-test", "--set", "max-bytes=100")
    assert "--set max-bytes" in refused(*piped, stdin=TABLE.encode())[2]


def test_the_memory_needed_grows_with_the_files(write):
    small, large = write("s.csv", TABLE), write("l.csv", TABLE * 1000)
    grown = reading_memory([str(large)]) - reading_memory([str(small)])
    assert 3 * len(TABLE) * 999 < grown < 10 * len(TABLE) * 999
    assert reading_memory([f"new={large}"]) == reading_memory([str(large)])
    assert reading_memory([str(large.parent)]) > reading_memory([str(large)])  # a folder is all it holds


@POSIX
def test_the_memory_needed_is_that_of_all_that_is_read(write, tmp_path):
    """Patterns, templates with names in braces, labels, and folders behind links are included."""
    for name in ("a", "b"):
        (tmp_path / "real" / name).mkdir(parents=True)
        (tmp_path / "real" / name / "x.csv").write_text(TABLE * 10)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "a" / "round").symlink_to(tmp_path / "real")
    single = reading_memory([str(tmp_path / "real" / "a" / "x.csv")])
    assert single > 10 * len(TABLE)
    real = tmp_path / "real"
    for text in (f"{real}/*/x.csv", f"{real}/{{model}}/{{task}}.csv", f"new={real}/*/*.csv"):
        assert reading_memory([text]) == pytest.approx(2 * single), text
    assert reading_memory([str(tmp_path / "runs")]) == pytest.approx(2 * single)


@POSIX
def test_a_replaced_file_keeps_its_rights(run, table, tmp_path):
    place = tmp_path / "r.json"
    place.write_text("old")
    place.chmod(0o6640)
    assert run("rank", table, "--no-test", "-o", place).status == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("broken", ["full", "folder"])
def test_all_files_appear_or_none(run, table, tmp_path, monkeypatch, broken):
    """If one output fails, no other is written, and existing files are kept."""
    old, new = tmp_path / "old.json", tmp_path / "new.csv"
    old.write_text("old")
    dot = tmp_path / "order.dot"
    blocked = tmp_path / "z.md"
    if broken == "full":
        if not Path("/dev/full").exists():
            pytest.skip("no /dev/full")
        blocked.symlink_to("/dev/full")
    else:
        replace = Path.replace

        def fails(self, target):
            if Path(target).name == "z.md":
                raise OSError(28, "No space left on device")
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", fails)
    args = (
        "gsd",
        table,
        "--higher",
        "*",
        "--models",
        "A,B",
        "--no-test",
        "--dot",
        dot,
        "-o",
        old,
        "-o",
        new,
        "-o",
        blocked,
    )
    outcome = run(*args)
    assert outcome.status == 2, outcome.stderr
    assert old.read_text() == "old"
    assert not new.exists()
    assert not dot.exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
