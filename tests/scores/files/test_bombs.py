"""Decompression bombs and endless pipes are refused within 2 GB of memory and limited time."""

import contextlib
import gzip
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import repeat
from pathlib import Path

import polars as pl
import pytest
import zstandard

from tests.programs import RISKRANK, ROOT
from tests.scores.files.test_parquet import file_of

duckdb = pytest.importorskip("duckdb")
openpyxl = pytest.importorskip("openpyxl")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory and time of processes as Linux counts them"),
]

Make = Callable[[Path], object]

MOST_BYTES = 2 * 1024**3
# Far beyond what a refusal takes on a slow machine; a process that reads on without end is killed by it.
CPU_SECONDS = 120
HEAD, ROW = b"model,sample,metric,score\n", b"A,1,acc,1\n"
MB = 1 << 20

# The beginning of a pipe, the endlessly repeated piece, and options.
PIPES: dict[str, tuple[bytes, bytes, tuple[str, ...]]] = {
    "blank lines": (b"", b"\n", ()),
    "spaces": (b"", b" ", ()),
    "semicolons": (b"", b";\n", ("--input-format", "csv")),
    "zero bytes": (b"", b"\0", ("--input-format", "csv")),
    "rows": (HEAD, ROW, ()),
    "a header": (b"model,sample", b",x", ()),
    "a line": (HEAD, b"x", ()),
    "a quote": (HEAD + b'"', b"x\n", ()),
    "comments": (b"", b"# nothing\n", ("--input-format", "csv")),
    "objects": (b"", b'{"model": "A"}\n', ()),
    "an array": (b"[", b"{},", ()),
    "brackets": (b"", b"[", ()),
    "a text of JSON": (b'{"a": "', b"x", ()),
    "Parquet": (b"PAR1", b"\0", ()),
    "a workbook": (b"PK\x03\x04", b"\0", ()),
}


def content(data: Callable[[], bytes]) -> Make:
    return lambda path: path.write_bytes(data())


def packed(pack: Callable[[bytes], bytes], piece: bytes) -> Make:
    """Write concatenated compressed members of 16 MB, 3 GB in total."""
    return content(lambda: pack(piece * (16 * MB // len(piece))) * 200)


PIECES = {"zeros.csv": b"\0", "blank lines.csv": b"\n", "rows.csv": ROW, "a line.csv": b"x"}
PIECES |= {
    "objects.json": b"{},",
    "lines.jsonl": b'{"a": 1}\n',
    "brackets.json": b"[",
    "pages.parquet": b"PAR1",
}
FILES: dict[str, Make] = {f"{name}.gz": packed(gzip.compress, piece) for name, piece in PIECES.items()}
FILES |= {f"{name}.zst": packed(zstandard.compress, piece) for name, piece in PIECES.items()}
FILES |= {
    "members.csv.gz": content(lambda: gzip.compress(b"") * 3_000_000),
    "skipped frames.csv.zst": content(lambda: b"\x50\x2a\x4d\x18\0\0\0\0" * 5_000_000),
    "a claim of size.csv.zst": content(lambda: b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 7 + b"\x0f" + bytes(20)),
    "a wide window.csv.zst": content(lambda: b"\x28\xb5\x2f\xfd\0\xa8" + bytes(100)),
    "brackets.json": content(lambda: b"[" * 50_000_000),
    "braces.json": content(lambda: b'{"a":' * 10_000_000),
    "a deep line.jsonl": content(lambda: b'{"a": ' + b"[" * 8_000_000 + b"]" * 8_000_000 + b"}\n"),
    "digits.json": content(lambda: b'[{"a": ' + b"1" * 50_000_000 + b"}]"),
    "keys.jsonl": content(lambda: b"".join(b'{"k%d": 1}\n' % at for at in range(300_000))),
    "keys.json": content(lambda: b"[%s]" % b",".join(b'{"k%d": 1}' % at for at in range(300_000))),
    "keys of an object.json": content(
        lambda: b"{%s}" % b",".join(b'"k%d": 1' % at for at in range(3_000_000))
    ),
    "lists of an object.json": content(
        lambda: b"{%s}" % b",".join(b'"k%d": [1]' % at for at in range(3_000_000))
    ),
    "nested objects.json": content(lambda: b"[%s]" % b",".join([b'[{"a": 1}]'] * 3_000_000)),
    "an array of space.json": content(lambda: b"[" + b" " * 400 * MB),
    "comments.csv": content(lambda: b"# nothing\n" * 40 * MB),
    "comments as rows.csv": content(lambda: HEAD + b"# nothing\n" * 40 * MB),
    "quotes.csv": content(lambda: HEAD + b'"",' * 130 * MB),
    "numbers.json": content(lambda: b"[%s1]" % (b"1," * 100 * MB)),
    "a line.csv": content(lambda: HEAD + b"x" * 300 * MB),
    "semicolons.csv": content(lambda: b";\n" * 200 * MB),
    "commas.csv": content(lambda: HEAD + b",,,\n" * 100 * MB + ROW),
    "blank lines.jsonl": content(lambda: b'{"a": 1}' + b"\n" * 400 * MB),
    "spaces.csv": content(lambda: b" \n" * 200 * MB),
    "a header.csv": content(lambda: b"model,sample" + b",x" * 50_000_000),
    "a shorter header.csv": content(lambda: b"model,sample" + b",x" * 7_000_000),
    "blank lines.csv": content(lambda: HEAD + b"\n" * 100 * MB + ROW),
    "blank lines of old Macs.csv": content(lambda: b"model,score\r" + b"\r" * 100 * MB + b"A,1\r"),
    "a quote.csv": content(lambda: HEAD + b'"' + ROW * 10_000_000),
    "short rows.csv": content(lambda: b",".join(b"c%d" % at for at in range(50_000)) + b"\n" + b"1\n" * MB),
}


def sparse(size: int, end: bytes = b"") -> Make:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)
            file.seek(size - len(end))
            file.write(end)

    return make


FILES |= {f"sparse.{suffix}": sparse(9 << 30) for suffix in ("csv", "jsonl", "json", "xlsx", "parquet")}
FILES |= {
    "a terabyte.csv": sparse(1 << 40),
    "sparse with an end.csv": sparse(9 << 30, b"\n" + HEAD + ROW),
    "sparse with an end.parquet": sparse(9 << 30, b"\x15\x02\x19\x0c\x04\0\0\0PAR1"),
    "zero.csv": lambda path: path.symlink_to("/dev/zero"),
    "urandom.csv": lambda path: path.symlink_to("/dev/urandom"),
}


def folder(path: Path) -> None:
    """Write parts, each within the limits."""
    path.mkdir()
    for at in range(30):
        (path / f"{at}.csv.gz").write_bytes(gzip.compress(HEAD + b"A,1,acc,1\n" * 600_000))


def rows(path: Path) -> None:
    values = {"model": "A", "sample": "1", "metric": "acc", "score": 1.0}
    pl.select(**{name: pl.repeat(value, 40_000_000) for name, value in values.items()}).write_parquet(path)


def a_list(path: Path) -> None:
    values = pl.repeat(None, 400_000_000, dtype=pl.Float64)
    pl.select(model=pl.lit("A"), sample=values.implode(), score=1.0).write_parquet(path)


def categories(path: Path) -> None:
    codes = pl.repeat("x" * MB, 1_000_000, dtype=pl.Categorical)
    pl.select(model=codes, sample=pl.int_range(1_000_000), score=1.0).write_parquet(path)


def texts(path: Path) -> None:
    table = pa.table({"model": ["x" * 16 * MB], "sample": ["1"], "metric": ["acc"], "score": [1.0]})
    with parquet.ParquetWriter(path, table.schema, compression="zstd", write_statistics=False) as writer:
        for _ in range(200):
            writer.write_table(table)


def repeated(value: object, kind: object) -> Make:
    """Write a value of one megabyte that is stored once and used in all rows."""

    def make(path: Path) -> None:
        values = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array([value], kind))
        parquet.write_table(pa.table({"model": values, "score": [1.0] * 100_000}), path, store_schema=False)

    return make


FILES |= {
    "parts": folder,
    "deep.parquet": lambda path: path.write_bytes(file_of([1] * 100_000 + [0])),
    "wide.parquet": lambda path: path.write_bytes(file_of([250_000] + [0] * 250_000)),
    "row groups.parquet": lambda path: path.write_bytes(file_of([1, 0], groups=1_000_000)),
    "rows.parquet": rows,
    "a list.parquet": a_list,
    "categories.parquet": categories,
    "texts.parquet": texts,
    "a text in all rows.parquet": repeated("x" * MB, pa.string()),
    "bytes in all rows.parquet": repeated(bytes(MB), pa.binary()),
}


def workbook(
    pieces: Iterable[bytes], name: str = "xl/worksheets/sheet1.xml", end: bytes = b"</sheetData>"
) -> Make:
    """Write a workbook with more XML in one of its parts."""

    def make(path: Path) -> None:
        book = openpyxl.Workbook()
        for row in (["model", "sample", "metric", "score"], ["A", "1", "acc", 1.0]):
            book.active.append(row)
        book.save(plain := path.with_name("plain.zip"))
        with (
            zipfile.ZipFile(plain) as source,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as changed,
        ):
            for member in source.namelist():
                before, closing, after = source.read(member).partition(end)
                with changed.open(member, "w", force_zip64=True) as part:
                    part.write(before)
                    for piece in pieces if member == name else ():
                        part.write(piece)
                    part.write(closing + after)

    return make


STYLES = ("xl/styles.xml", b"<fonts")
SHEET = b'<sheet name="s%d" sheetId="%d" r:id="rId1" xmlns:r="%s"/>'
RELATED = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
FORMAT = b'<numFmts><numFmt numFmtId="170" formatCode="%s"/></numFmts>'
CELLS = b"<row>" + b"<c><v>1</v></c>" * 10_000 + b"</row>"
FILES |= {
    "spaces.xlsx": workbook([b" " * MB] * 3_000),
    "zero bytes.xlsx": workbook([bytes(MB)] * 3_000),
    "a text.xlsx": workbook([b'<row r="3"><c r="A3" t="inlineStr"><is><t>', *[b"x" * MB] * 1_000]),
    "an attribute.xlsx": workbook([b'<row x="', *[b"x" * MB] * 100]),
    "a comment.xlsx": workbook([b"<!-- ", *[b"x<a>" * (MB // 4)] * 100]),
    "deep.xlsx": workbook([b"<a>" * 5_000_000]),
    "cells.xlsx": workbook([CELLS] * 2_000),
    "rows.xlsx": workbook([b"<row/>" * 100_000] * 100),
    "far cells.xlsx": workbook(
        [b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (at, at) for at in range(3, 60_000)]
    ),
    "styles.xlsx": workbook([b'<xf numFmtId="14"><alignment/></xf>' * 1_000_000], *STYLES),
    "a format.xlsx": workbook([FORMAT % (b"[" * 1_000_000)], *STYLES),
    "sheets.xlsx": workbook(
        [SHEET % (at, at, RELATED) for at in range(2, 60_000)], "xl/workbook.xml", b"</sheets>"
    ),
}


def view(query: str) -> Make:
    def make(path: Path) -> None:
        connect = sqlite3.connect if path.suffix == ".sqlite" else duckdb.connect
        with closing(connect(str(path))) as connection:
            connection.execute(f"CREATE VIEW scores AS {query}")
            connection.commit()

    return make


ENDLESS = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT {} FROM r"
for suffix in ("sqlite", "duckdb"):
    FILES[f"rows.{suffix}"] = view(ENDLESS.format("'a' AS model, i AS sample, 'm' AS metric, i AS score"))
    FILES[f"a count.{suffix}"] = view(ENDLESS.format("count(*) AS n"))
    FILES[f"sorted.{suffix}"] = view(ENDLESS.format("i AS n") + " ORDER BY i DESC")
FILES |= {
    "values.sqlite": view(ENDLESS.format("randomblob(10000000) AS score")),
    "a value.sqlite": view("SELECT zeroblob(900000000) AS score"),
    "a text.duckdb": view("SELECT repeat('x', 4 * n) AS score FROM (VALUES (900000000::BIGINT)) AS long(n)"),
    "a list.duckdb": view("SELECT len(range(n)) AS score FROM (VALUES (900000000)) AS long(n)"),
}

# A small process in between, as children inherit the peak size of a large one.
LAUNCHER = f"""
import resource, subprocess, sys
for kind, most in (("RLIMIT_DATA", {5 * 1024**3}), ("RLIMIT_CPU", {CPU_SECONDS})):
    resource.setrlimit(getattr(resource, kind), (most, most))
status = subprocess.call(sys.argv[1:], stderr=subprocess.STDOUT)
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def started(place: Path, *words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, *RISKRANK, "check", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def feed_pipe(stream, first: bytes, piece: bytes) -> None:
    """Write into a pipe until it is closed."""
    with contextlib.suppress(BrokenPipeError), stream:
        stream.write(first)
        for block in repeat(piece * (MB // len(piece))):
            stream.write(block)


def assert_refused(process: subprocess.Popen) -> None:
    *lines, used = process.communicate()[0].decode().splitlines()
    status, size = used.split()
    assert status == "2", lines
    assert [line.partition(": ")[0] for line in lines[:3]] == ["error", "found", "hint"], lines[:3]
    assert all(line.startswith("  riskrank ") for line in lines[3:])
    assert int(size) <= MOST_BYTES


def test_there_are_at_least_30():
    assert len(FILES) + len(PIPES) >= 30


@pytest.mark.parametrize("name", FILES)
def test_decompression_bombs_are_refused(tmp_path, name):
    path = tmp_path / name.replace(" ", "-")
    FILES[name](path)
    assert_refused(started(tmp_path, path.name))


@pytest.mark.parametrize("name", PIPES)
def test_endless_pipe_is_refused(tmp_path, name):
    first, piece, words = PIPES[name]
    process = started(tmp_path, "-", *words)
    feed_pipe(process.stdin, first, piece)
    process.stdin = None
    assert_refused(process)


def test_endless_named_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    process = started(tmp_path, "t.csv")
    feed_pipe((tmp_path / "t.csv").open("wb"), HEAD, ROW)
    assert_refused(process)
