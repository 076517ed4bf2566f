"""Invalid inputs: cells of each type in each format; invalid names, queries, settings and outputs.

Each error has three lines and a status of the contract, and leaves no files.
"""

import gzip
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import polars as pl
import zstandard

from riskrank.cli.options import flag_options
from riskrank.options.commands import COMMANDS
from tests.fuzz import inputs
from tests.fuzz.inputs import ROLES
from tests.fuzz.oracles import Run, judged
from tests.fuzz.running import in_process, write
from tests.scores.files.test_parquet import file_of

STUDIES = ("rank", "dominance", "mrm", "copa", "portfolio", "check", "gsd", "report")
# Texts of JSON a cell may hold; some are no JSON at all.
TEXTS = r"""{"a":1} {} [1,[2]] [] null true "\ud800" "" 1e999 NaN - 0x1 x"""
CELLS = [*TEXTS.split(), "", "1" + "0" * 400, "[" * 600 + "]" * 600, '{"a": ' * 90 + "1" + "}" * 90]
# Parquet columns.
TYPED = [[1.0, 2.0], {"a": 1, "b": [2]}, date(2024, 1, 2), datetime(2024, 1, 2, tzinfo=UTC), b"\xff\x00"]
TYPED += [timedelta(1), time(1, 2), Decimal("1.5"), True, 2**63, [[]], {"a": None}, "x" * 100_000, None]
DUCKDB = """
[1.5,2]; {'a':1}; map {'a':1}; TIMESTAMPTZ '2024-01-01 00:00:00+02'; INTERVAL 3 DAY; uuid(); '101'::BIT; NULL
union_value(n:=1); 170141183460469231731687303715884105727::HUGEINT; 'x'::BLOB; array_value(1,2); TIME '10:00'
DATE 'infinity'; 'nan'::FLOAT; 1.5::DECIMAL(38,10); 'a' || chr(10); 'a'::ENUM('a','b')
true; TIMESTAMP_NS '2024-01-01'; [{'a':[1]}]; chr(0)""".strip().replace("\n", "; ")
SQLITE = (None, b"\xff\x00", "x", "1e999", 9e999, 2**62, "", "a\nb", "\x00", -0.0, b"1", "nan")
FUNCTIONS = """least greatest coalesce concat concat_ws substr round log nullif if strpos regexp_like cast
date sum row_number strftime unnest array_get left initcap bit_length struct exists any all read_csv first"""
PIECES = "score|model|*|''|'a|\"|1|NULL|0/0|(SELECT 1)|--|/*|;|é|[1]|\n"
OPERATORS = ("=", "||", "IN", "LIKE", "BETWEEN", "IS", "AND", "::", "->", "+")
TAILS = (" + 1", " OR 1 = 1", "||'a'", "[1]", " IS NULL")
ODD = [*"\n\"',=:\\* \u2028#[-𝕏", "\r\n", "a\nb", '"a', ""]
VALUES = r"""'a' "a\nb" inf nan [] {} true -1 1979-05-27 ["a",1] "" [[1]] {a=1} {a={b=1}} "pipe" "/dev/zero"
"a=l=pip*" "/dev/stdin" ".gi*/x" ".git/x" 0x1 1e400 9999999999999999999999999999999999"""
PLACES = f"""out.json|own.json|loop.json|hard.csv|s.csv|in|no/r.json|r.what|r.json|r.json|./r.json|/dev/full|
|s.csv/r.json|r\n.json|in/../r.json|r.svg|r.png|{"a" * 300}|"""
# Options that are slow, or that write files tested elsewhere.
HEAVY = "resamples simulations resample_models steps output plot bless"
REPEATED = (
    b"\n",
    b"#\n",
    b",",
    b'"',
    b"a\n",
    b"{}\n",
    b"[",
    b"{},",
    b"1,",
    b",,,\n",
    b"a,1,m,1\n",
    b"\r",
    b'{"a":1}\n',
)
BADLY_PACKED: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: data[: len(data) // 2],
    lambda data: data + b"more",
    lambda data: data + data,
    gzip.compress,
    lambda data: b"\x1f\x8b" + data,
    lambda data: data[:-8] + b"\x00" * 8,
)


def case(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Generate and run one case, and return the violations."""
    table = inputs.table(rng, plain=True)
    words, stdin = rng.choice(KINDS)(rng, folder, table)
    before = _state(folder)
    run = in_process(words, "table", stdin)
    wrong = judged(run)
    if run.status in (2, 3) and _state(folder) != before:
        wrong.append((run, f"files left or changed: {sorted(set(_state(folder)) ^ set(before))}"))
    return wrong


def _state(folder: Path) -> dict[str, object]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def _study(rng: Random, path: str, *more: str) -> tuple[list[str], bytes]:
    command = rng.choice(STUDIES)
    quick = ["--no-test"] if command in ("rank", "dominance", "mrm", "gsd", "report") else []
    page = ["-o", "r.html"] if command == "report" else []
    return [command, path, *quick, *page, *more], b""


def _plain(folder: Path, table: inputs.Table) -> str:
    return write(folder, "s.csv", table.lines())


def _some(rng: Random) -> list[str]:
    """Choose the columns that get unusual cells."""
    return rng.sample(ROLES, rng.choice((1, 1, 2, 4)))


def json_cells(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Write JSON with cells of any type in some or all rows, possibly compressed or corrupt."""
    odd, often = _some(rng), rng.choice((0.02, 0.5, 1.0))
    lines = []
    for row in table.rows():
        cells = {name: json.dumps(value) for name, value in row.items()}
        cells |= {name: rng.choice(CELLS) for name in odd if rng.random() < often}
        lines.append("{" + ", ".join(f'"{name}": {cell}' for name, cell in cells.items()) + "}")
    array = rng.random() < 0.6
    data = (f"[{','.join(lines)}]" if array else "\n".join(lines)).encode("utf-8", "surrogatepass")
    name = "t.json" if array else "t.jsonl"
    packing = rng.choice(("", ".gz", ".gz", ".zst"))
    data = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[packing](data)
    if rng.random() < 0.3:
        data = rng.choice(BADLY_PACKED)(data)
    return _study(rng, write(folder, name + packing, data))


def parquet_cells(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Write Parquet columns with other types."""
    frame = pl.DataFrame(table.rows())
    for name in _some(rng):
        value = rng.choice(TYPED)
        holes = rng.random() < 0.3
        cells = [None if holes and at % 3 else value for at in range(frame.height)]
        frame = frame.with_columns(pl.Series(name, cells, strict=False))
    frame.write_parquet(folder / "t.parquet", compression=rng.choice(("zstd", "snappy", "gzip", "lz4")))
    return _study(rng, "t.parquet")


def database_cells(rng: Random, folder: Path, content: inputs.Table) -> tuple[list[str], bytes]:
    """Write a database with other column types, and possibly an unusual table name."""
    rows = [tuple(row.values()) for row in content.rows()]
    table = rng.choice(("scores", "scores", 'a"b', "x\ny", "select", "é", "*"))
    quoted = '"' + table.replace('"', '""') + '"'
    odd, kind = _some(rng), rng.choice(("duckdb", "sqlite"))
    try:
        import duckdb
    except ImportError:
        kind = "sqlite"
    path = folder / f"t.{kind}"
    if kind == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"CREATE TABLE {quoted} (model, sample, metric, score)")
            connection.executemany(f"INSERT INTO {quoted} VALUES (?, ?, ?, ?)", rows)
            for name in odd:
                connection.execute(f"UPDATE {quoted} SET {name} = ? WHERE rowid % 3", [rng.choice(SQLITE)])
            connection.commit()
    else:
        cells = {name: name for name in ROLES} | {name: rng.choice(DUCKDB.split("; ")) for name in odd}
        columns = ", ".join(f"{cell} AS {name}" for name, cell in cells.items())
        frame = pl.DataFrame(content.rows()).to_dict(as_series=False)
        values = ", ".join(f"unnest({values!r}) AS {name}" for name, values in frame.items())
        with closing(duckdb.connect(str(path))) as connection:
            connection.execute(f"CREATE TABLE {quoted} AS SELECT {columns} FROM (SELECT {values})")
    return _study(rng, path.name, *rng.choice(([], [], ["--where", "score > 0"], ["--sql", "SELECT 1"])))


def _odd_name(rng: Random, table: inputs.Table) -> str:
    pool = (*table.models, *table.metrics, *ROLES, *inputs.NAMES)
    return "".join(rng.choice((*pool, *ODD)) for _ in range(rng.choice((1, 2, 3))))


def names(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Use names with line breaks, quotes and commas in options that take names."""
    path = _plain(folder, table)
    options = rng.sample(("higher", "lower", "models", "metric", "weight", "columns", "cluster", "matrix"), 2)
    text = {name: _odd_name(rng, table) for name in options}
    for name in {"weight", "columns"} & {*options}:
        text[name] += f"={rng.choice(inputs.NUMBERS)}"
    return _study(rng, path, *(word for name in options for word in (f"--{name}", text[name])))


def settings(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Set options to values of any type, in a named or discovered configuration or in a metrics file."""
    path = _plain(folder, table)
    flags = sorted({option.flag[2:] for row in COMMANDS for option in flag_options(row)})
    names = rng.choices(
        [flag for flag in flags if flag not in HEAVY.split()] + [*table.metrics, r"a\nb"], k=2
    )
    lines = [f'"{name}" = {rng.choice(VALUES.split())}' for name in names]
    head = rng.choice(("", "", "[rank]\n", f"[{table.metrics[0]}]\n", "[[x]]\n"))
    file = rng.choice(("riskrank.toml", "named.toml", "metrics.toml"))
    write(folder, file, f"{head}{chr(10).join(lines)}\n".encode())
    (folder / ".git").mkdir()
    os.mkfifo(folder / "pipe")
    words, stdin = _study(rng, path)
    more = {"named.toml": ["--config", file], "metrics.toml": ["--metrics-file", file]}.get(file, [])
    return [*words, *more], stdin


def queries(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Use conditions and queries with missing arguments, fragments or deep nesting."""

    def expression(depth: int) -> str:
        kind = rng.randrange(4 if depth else 1)
        if kind == 0:
            return rng.choice(PIECES.split("|"))
        if kind == 1:
            arguments = ", ".join(expression(depth - 1) for _ in range(rng.randrange(3)))
            return f"{rng.choice(FUNCTIONS.split())}({arguments})"
        if kind == 2:
            return f"{expression(depth - 1)} {rng.choice(OPERATORS)} {expression(depth - 1)}"
        return rng.choice(("NOT ", "-", "(")) * rng.choice((1, 2, 700)) + expression(depth - 1)

    path = _plain(folder, table)
    text = expression(3)
    if rng.random() < 0.1:
        text += rng.choice(TAILS) * rng.choice((3, 500, 20_000))
    if rng.random() < 0.6:
        return _study(rng, path, "--where", text)
    tables = rng.choice(("scores", "x", "scores, scores AS y"))
    return _study(rng, path, "--sql", f"SELECT {text} FROM {tables} LIMIT 9")


def outputs(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Use outputs that are outside the folder, are inputs, occur twice, or cannot be written."""
    path = _plain(folder, table)
    (folder / "in").mkdir()
    for name, target in (("out", folder.parent / "no"), ("own", "s.csv"), ("loop", "loop.json")):
        (folder / f"{name}.json").symlink_to(target)
    (folder / "hard.csv").hardlink_to(folder / path)
    places = PLACES.split("|")
    words, stdin = _study(rng, path, "-o", rng.choice(places), "-o", rng.choice(places))
    more = rng.choice(([], ["--plot"], ["--format", "json"]))
    more += [rng.choice(places)] if len(more) == 1 else []
    return [*words, *more], stdin


def values(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Set any option of a command to a possibly invalid value."""
    row = rng.choice([row for row in COMMANDS if row.name in (*STUDIES, "gate", "diff")])
    options = [option for option in flag_options(row) if option.name not in HEAVY.split()]
    words = [row.name, _plain(folder, table), "--quiet"]
    for option in rng.sample(options, rng.choice((1, 1, 2))):
        words += [option.flag, rng.choice((*inputs.NUMBERS, *ODD, *table.models, *table.metrics, *ROLES))]
    return words, b""


def dense(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Repeat a short content many times, after a table or instead of it, in one or several streams."""
    piece, end = rng.choice(REPEATED), rng.choice(("csv", "tsv", "jsonl", "json"))
    pack, suffix = rng.choice(((gzip.compress, ".gz"), (zstandard.compress, ".zst")))
    often = rng.choice((1_000, 300_000, 6_000_000))
    start = rng.choice((table.lines(), b"", b"[", b"# x\n"))
    if rng.random() < 0.5:
        data = pack(start + piece * often)
    else:
        data = pack(start) + pack(piece * (often // 1_000)) * 1_000
    return _study(rng, write(folder, f"t.{end}{suffix}", data))


def deep(rng: Random, folder: Path, table: inputs.Table) -> tuple[list[str], bytes]:
    """Write Parquet with nested columns, or with millions of empty rows."""
    if rng.random() < 0.5:
        chain = rng.choices((1, 1, 1, 1, 1, 2), k=rng.choice((3, 60, 70, 3_000, 20_000)))
        data = file_of([rng.choice((1, 4)), *chain, *[0] * rng.choice((1, sum(chain) - len(chain) + 1))])
        return _study(rng, write(folder, "t.parquet", data))
    rows = pl.repeat(rng.choice((None, True, "a", 1.0)), rng.choice((10, 500_000, 30_000_000)), eager=True)
    names = rng.sample(ROLES, rng.randrange(1, 5))
    pl.DataFrame(dict.fromkeys(names, rows)).write_parquet(folder / "t.parquet")
    return _study(rng, "t.parquet")


KINDS = (
    dense,
    deep,
    json_cells,
    json_cells,
    parquet_cells,
    database_cells,
    names,
    settings,
    queries,
    outputs,
    values,
)
