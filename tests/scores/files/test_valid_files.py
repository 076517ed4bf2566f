"""Valid files of many writers, types, encodings and compressions give the scores that were written."""

import csv
import gzip
import io
import json
import struct
import zlib
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import polars as pl
import pytest
import zstandard

from riskrank.options.reading import ReadOptions
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores

duckdb = pytest.importorskip("duckdb")
openpyxl = pytest.importorskip("openpyxl")
# PyArrow 18 has 32-bit decimals and writes string views.
pa = pytest.importorskip("pyarrow", "18")
pd = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")
pyarrow_csv = pytest.importorskip("pyarrow.csv")

pytestmark = pytest.mark.slow

NAMES = ("model", "sample", "metric", "score")
VALUES = [3, 0, 6, 1, 7, 2, 5, 0, 4, 7, 1, 6, 2, 5, 0, 4, 3, 7, 6, 1, 5, 2, 7, 0]
ROWS = [("AB"[at // 12], f"s{at % 12:02}", "acc", value) for at, value in enumerate(VALUES)]
COLUMNS: dict[str, list[Any]] = dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))
NUMBERS = [at % 12 for at in range(24)]
DAYS = [date(2024, 2, 25) + timedelta(days=at) for at in NUMBERS]
MOMENTS = [datetime(2024, 2, 28, 23, 59, 59) + timedelta(hours=at) for at in NUMBERS]
TEXT = "\n".join(",".join(map(str, row)) for row in (NAMES, *ROWS)) + "\n"
OBJECTS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
LINES = "".join(f"{json.dumps(row)}\n" for row in OBJECTS)

FILES: dict[str, Callable[[Path], object]] = {}


def bytes_of(name: str, data: bytes | str) -> None:
    assert name not in FILES
    FILES[name] = lambda path: path.write_bytes(data.encode() if isinstance(data, str) else data)


# Parquet of PyArrow.
def arrow(path: Path, options: dict[str, Any] | None = None, **columns: Any) -> None:
    parquet.write_table(pa.table({**COLUMNS, **columns}), path, **options or {})


KINDS = [pa.float32(), pa.float64(), pa.int8(), pa.int16(), pa.int32(), pa.int64()]
KINDS += [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
SCORES: dict[str, Any] = {str(kind): pa.array(VALUES, kind) for kind in KINDS}
DECIMALS = [pa.decimal32(5, 1), pa.decimal64(12, 3), pa.decimal128(5, 2), pa.decimal128(38, 10)]
SCORES |= {str(kind): pa.array([Decimal(value) for value in VALUES], kind) for kind in DECIMALS}
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
SCORES |= {f"{kind} numbers": pa.array([*map(str, VALUES)]).cast(kind) for kind in TEXTS}
SCORES["float16"] = pa.array(np.array(VALUES, np.float16))

SAMPLES: dict[str, Any] = {
    "binary": pa.array(COLUMNS["sample"], pa.binary()),
    "large binary": pa.array(COLUMNS["sample"], pa.large_binary()),
    "binary view": pa.array(COLUMNS["sample"], pa.binary_view()),
    "fixed binary": pa.array([name.encode() for name in COLUMNS["sample"]], pa.binary(3)),
    "uuid": pa.array(
        [UUID(int=(at + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128).bytes for at in NUMBERS]
    ),
    "date32": pa.array(DAYS, pa.date32()),
    "date64": pa.array(DAYS, pa.date64()),
    "time32": pa.array([time(at) for at in NUMBERS], pa.time32("s")),
    "time64": pa.array([time(at) for at in NUMBERS], pa.time64("ns")),
    "int8": pa.array(NUMBERS, pa.int8()),
    "uint64": pa.array(NUMBERS, pa.uint64()),
    "float16": pa.array(np.array(NUMBERS, np.float16)),
    "float32": pa.array(NUMBERS, pa.float32()),
}
SAMPLES |= {str(kind): pa.array(COLUMNS["sample"], kind) for kind in TEXTS[:3]}
INDEXES = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
SAMPLES |= {
    f"codes {kind}": pa.array(COLUMNS["sample"]).cast(pa.dictionary(kind, pa.string())) for kind in INDEXES
}
SAMPLES |= {f"time in {unit}": pa.array(MOMENTS, pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")}
ZONES = {"UTC": "UTC", "Berlin": "Europe/Berlin", "offset": "+02:00"}
SAMPLES |= {f"time in {name}": pa.array(MOMENTS, pa.timestamp("us", zone)) for name, zone in ZONES.items()}

# Columns next to the scores that are not read.
EXTRA_COLUMNS: dict[str, Any] = {
    "list": pa.array([[0.5, None], [], None] * 8),
    "list of texts": pa.array([["a", "b"]] * 24),
    "large list": pa.array([[1, 2]] * 24, pa.large_list(pa.int32())),
    "list of lists": pa.array([[[1], [2, 3]], None] * 12),
    "fixed list": pa.array([[1.0, 2.0]] * 24, pa.list_(pa.float32(), 2)),
    "struct": pa.array([{"prompt": "q", "tokens": {"in": 3, "out": None}}] * 24),
    "list of structs": pa.array([[{"role": "user", "content": "q"}, {"role": "x", "content": None}]] * 24),
    "map": pa.array([[("a", 1), ("b", 2)]] * 24, pa.map_(pa.string(), pa.int32())),
    "map of lists": pa.array([[("a", [1, 2])]] * 24, pa.map_(pa.string(), pa.list_(pa.int64()))),
    "nulls": pa.nulls(24),
    "duration": pa.array([timedelta(seconds=at) for at in NUMBERS], pa.duration("us")),
    "bool": pa.array([True, None] * 12),
    "half floats": pa.array([np.array([0.5], np.float16)] * 24, pa.list_(pa.float16())),
}
deep: Any = 1
for _ in range(20):
    deep = {"below": [deep]}
EXTRA_COLUMNS["deep"] = pa.array([deep] * 24)

for name, values in SCORES.items():
    FILES[f"score {name}.parquet"] = partial(arrow, score=values)
for name, values in SAMPLES.items():
    FILES[f"sample {name}.parquet"] = partial(arrow, sample=values)
    FILES[f"sample {name} bare.parquet"] = partial(arrow, options={"store_schema": False}, sample=values)
for name, values in EXTRA_COLUMNS.items():
    FILES[f"beside {name}.parquet"] = partial(arrow, note=values)

ENCODINGS = {
    "plain": {},
    "delta packed": {"sample": "DELTA_BINARY_PACKED", "score": "DELTA_BINARY_PACKED"},
    "delta lengths": {"model": "DELTA_LENGTH_BYTE_ARRAY"},
    "delta bytes": {"model": "DELTA_BYTE_ARRAY"},
    "byte stream split": {"score": "BYTE_STREAM_SPLIT", "sample": "BYTE_STREAM_SPLIT"},
}
for name, encoding in ENCODINGS.items():
    for version in ("1.0", "2.0"):
        arguments = {
            "use_dictionary": False,
            "column_encoding": encoding or None,
            "data_page_version": version,
        }
        FILES[f"{name} pages {version}.parquet"] = partial(arrow, options=arguments, sample=NUMBERS)
WRITTEN: dict[str, dict[str, Any]] = {
    "row groups": {"row_group_size": 5},
    "rows apart": {"row_group_size": 1},
    "small pages": {"data_page_size": 1, "write_batch_size": 1},
    "no statistics": {"write_statistics": False},
    "page index": {"write_page_index": True},
    "checksums": {"write_page_checksum": True},
    "version 1.0": {"version": "1.0"},
    "version 2.4": {"version": "2.4"},
    "no dictionary": {"use_dictionary": False},
    "sorted": {"sorting_columns": [parquet.SortingColumn(0)]},
}
WRITTEN |= {name: {"compression": name} for name in ("none", "snappy", "gzip", "brotli", "zstd", "lz4")}
for name, arguments in WRITTEN.items():
    FILES[f"{name}.parquet"] = partial(arrow, options=arguments)
FILES["int96.parquet"] = partial(arrow, options={"use_deprecated_int96_timestamps": True}, sample=MOMENTS)
# Lists as written by Spark: other element names, two levels.
FILES["lists of Spark.parquet"] = partial(
    arrow, options={"use_compliant_nested_type": False}, note=EXTRA_COLUMNS["list of structs"]
)


def in_groups(path: Path) -> None:
    """Write an empty row group between others."""
    table = pa.table(COLUMNS)
    with parquet.ParquetWriter(path, table.schema) as writer:
        for part in (table[:7], table[:0], table[7:]):
            writer.write_table(part)


def with_metadata(path: Path) -> None:
    """Write metadata as long as a page into the footer."""
    table = pa.table(COLUMNS)
    parquet.write_table(table.replace_schema_metadata({"note": "x" * 100_000}), path)


FILES["empty group.parquet"] = in_groups
FILES["long metadata.parquet"] = with_metadata
FILES["many columns.parquet"] = partial(arrow, **{f"note {at}": ["x"] * 24 for at in range(500)})

# Parquet of Polars.
FRAME = pl.DataFrame(COLUMNS)
SERIES: dict[str, pl.Series] = {
    str(kind).split("(")[0]: pl.Series(VALUES).cast(kind)
    for kind in (
        pl.Float16,
        pl.Float32,
        pl.Float64,
        pl.Int8,
        pl.Int64,
        pl.Int128,
        pl.UInt16,
        pl.Decimal(10, 3),
    )
}
for name, scores in SERIES.items():
    FILES[f"polars score {name}.parquet"] = lambda path, scores=scores: FRAME.with_columns(
        score=scores
    ).write_parquet(path)
FURTHER = {
    "categories": pl.col("model").cast(pl.Categorical),
    "enum": pl.col("model").cast(pl.Enum(["A", "B"])),
    "array": pl.lit([1.0, 2.0], pl.Array(pl.Float16, 2)),
    "half list": pl.lit([0.5], pl.List(pl.Float16)),
    "struct": pl.struct("model", pl.struct("metric").alias("inner")),
    "duration": pl.duration(hours=pl.col("score")),
    "time": pl.time(pl.col("score")),
    "binary": pl.col("model").cast(pl.Binary),
    "null": pl.lit(None),
}
for name, column in FURTHER.items():
    FILES[f"polars {name}.parquet"] = lambda path, column=column: FRAME.with_columns(
        column.alias("note")
    ).write_parquet(path)
for codec in ("lz4", "uncompressed", "snappy", "gzip", "brotli", "zstd"):
    FILES[f"polars {codec}.parquet"] = lambda path, codec=codec: FRAME.write_parquet(
        path, compression=codec, row_group_size=10, statistics=False, data_page_size=64
    )
FILES["polars codes of models.parquet"] = lambda path: FRAME.with_columns(
    pl.col("model", "metric").cast(pl.Categorical)
).write_parquet(path)
FILES["polars pyarrow.parquet"] = lambda path: FRAME.write_parquet(path, use_pyarrow=True)


# Parquet of DuckDB.
def of_duckdb(path: Path, select: str = "*", options: str = "") -> None:
    with duckdb.connect() as connection:
        connection.register("rows", pa.table(COLUMNS))
        connection.execute(f"COPY (SELECT {select} FROM rows) TO '{path}' (FORMAT parquet{options})")


for codec in ("uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"):
    FILES[f"duckdb {codec}.parquet"] = partial(of_duckdb, options=f", COMPRESSION {codec}")
FILES["duckdb pages 2.parquet"] = partial(of_duckdb, options=", PARQUET_VERSION V2")
FILES["duckdb row groups.parquet"] = partial(of_duckdb, options=", ROW_GROUP_SIZE 10")
for kind in (
    "TINYINT",
    "UINTEGER",
    "HUGEINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(4,1)",
    "DECIMAL(30,5)",
):
    cast = f"* REPLACE (score::{kind} AS score)"
    FILES[f"duckdb score {kind.replace(',', ' ')}.parquet"] = partial(of_duckdb, select=cast)
DUCKDB = {
    "enum": "model::ENUM('A', 'B')",
    "uuid": "uuid()",
    "map": "MAP {'a': score}",
    "struct": "{'a': score, 'b': {'c': [model]}}",
    "list": "[[score], NULL]",
    "blob": "model::BLOB",
    "bit": "'101'::BIT",
    "json": "to_json({'a': score})",
    "time": "TIME '12:34:56'",
    "time with zone": "TIMETZ '12:34:56+02'",
    "moment": "TIMESTAMP_NS '2024-01-02 03:04:05.678901234'",
    "moment with zone": "TIMESTAMPTZ '2024-01-02 03:04:05+02'",
    "array": "[1, 2]::INTEGER[2]",
}
for name, column in DUCKDB.items():
    FILES[f"duckdb {name}.parquet"] = partial(of_duckdb, select=f"*, {column} AS note")

# Parquet of pandas.
PANDAS: dict[str, Callable[[], Any]] = {
    "plain": lambda: pd.DataFrame(COLUMNS),
    "index": lambda: pd.DataFrame(COLUMNS).set_index("sample"),
    "levels": lambda: pd.DataFrame(COLUMNS).set_index(["model", "sample"]),
    "categories": lambda: pd.DataFrame(COLUMNS).astype({"model": "category", "metric": "category"}),
    "nullable": lambda: pd.DataFrame(COLUMNS).astype({"score": "Int8"}),
    "floats": lambda: pd.DataFrame(COLUMNS).astype({"score": "Float32"}),
    "strings": lambda: pd.DataFrame(COLUMNS).astype({"model": "string", "sample": "string"}),
    "arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "half floats": lambda: pd.DataFrame(COLUMNS).astype({"score": "float16"}),
    "days": lambda: pd.DataFrame(COLUMNS).assign(day=pd.to_datetime(DAYS)),
    "zones": lambda: pd.DataFrame(COLUMNS).assign(day=pd.to_datetime(MOMENTS).tz_localize("US/Pacific")),
    "periods": lambda: pd.DataFrame(COLUMNS).assign(day=pd.PeriodIndex(DAYS, freq="D")),
    "objects": lambda: pd.DataFrame(COLUMNS).assign(note=[{"a": [1, None]}] * 24),
    "differences": lambda: pd.DataFrame(COLUMNS).assign(took=pd.to_timedelta(NUMBERS, unit="s")),
}
for name, make in PANDAS.items():
    FILES[f"pandas {name}.parquet"] = lambda path, make=make: make().to_parquet(path)


# CSV.
def written(**options: Any) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, **options)
    writer.writerows([NAMES, *ROWS])
    return text.getvalue()


NOTED = "model,sample,metric,score,note\n" + "".join(
    f'{model},{sample},{metric},{score},"two\nlines, ""quoted"", and Ö"\n'
    for model, sample, metric, score in ROWS
)
CSV = {
    "plain": TEXT,
    "mark": "\ufeff" + TEXT,
    "line ends of Windows": TEXT.replace("\n", "\r\n"),
    "line ends of old Macs": TEXT.replace("\n", "\r"),
    "no last line end": TEXT.rstrip(),
    "blank lines at the end": TEXT + "\n\n\n",
    "blank lines between": TEXT.replace("\nB", "\n\nB"),
    "semicolons": TEXT.replace(",", ";"),
    "tabs": TEXT.replace(",", "\t"),
    "quotes": written(quoting=csv.QUOTE_ALL),
    "quoted names": '"model","sample","metric","score"\n' + TEXT.partition("\n")[2],
    "quoted lines": NOTED,
    "quoted lines of Windows": NOTED.replace("\n", "\r\n"),
    "quoted lines with a mark": "\ufeff" + NOTED,
    "decimals": TEXT.replace("acc,", "acc,0."),
    "decimal commas": TEXT.replace(",", ";").replace("acc;", "acc;0,"),
    "exponents": "".join(f"{line}e-3\n" if line[0] in "AB" else f"{line}\n" for line in TEXT.splitlines()),
    "signs": TEXT.replace("acc,", "acc,+"),
    "blanks": TEXT.replace(",", " , "),
    "comments": "# made by hand\n# twice\n" + TEXT,
    "long text": "".join(
        f"{line},{'x' * 20_000 if at else 'note'}\n" for at, line in enumerate(TEXT.splitlines())
    ),
    "unnamed index": "".join(
        f"{'' if at == 0 else at - 1},{line}\n" for at, line in enumerate(TEXT.splitlines())
    ),
    "names of any kind": TEXT.replace("A,", "模型 😀,").replace("B,", "Ünïcode–Modell,"),
    "empty column": "".join(
        f"{line},{'note' if at == 0 else ''}\n" for at, line in enumerate(TEXT.splitlines())
    ),
}
for name, text in CSV.items():
    bytes_of(f"{name}.csv", text)
for code in ("utf-16", "utf-16-le", "utf-16-be"):
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(code, b"")
    for name, text in {"": TEXT, " quoted": NOTED, " of Windows": TEXT.replace("\n", "\r\n")}.items():
        bytes_of(f"{code}{name}.csv", mark + text.encode(code))
bytes_of("utf-16.tsv", TEXT.replace(",", "\t").encode("utf-16"))
bytes_of("windows-1252.csv", TEXT.replace("A,", "Größe,").encode("cp1252"))
bytes_of("tabs.tsv", TEXT.replace(",", "\t"))
bytes_of("tabs.tab", TEXT.replace(",", "\t"))
FILES["polars.csv"] = FRAME.write_csv
FILES["pandas.csv"] = lambda path: pd.DataFrame(COLUMNS).to_csv(path)
FILES["pandas codes.csv"] = lambda path: pd.DataFrame(COLUMNS).to_csv(path, index=False, encoding="utf-16")
FILES["arrow.csv"] = lambda path: pyarrow_csv.write_csv(pa.table(COLUMNS), path)


# Compressed texts.
def pigz(data: bytes) -> bytes:
    """Write a gzip member with a name, a comment and an extra field."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = (
        b"\x1f\x8b\x08\x1c" + struct.pack("<IBB", 1, 2, 3) + b"\x04\0ab\0\0" + b"t.csv\0" + b"made by hand\0"
    )
    return head + body.compress(data) + body.flush() + struct.pack("<II", zlib.crc32(data), len(data))


def skipped(size: int, kind: int = 0) -> bytes:
    return bytes([0x50 + kind]) + b"\x2a\x4d\x18" + struct.pack("<I", size) + bytes(size)


HALVES = [TEXT[:100].encode(), TEXT[100:].encode()]
ZSTD = {
    "plain": zstandard.compress(TEXT.encode()),
    "best": zstandard.compress(TEXT.encode(), 19),
    "frames": b"".join(map(zstandard.compress, HALVES)),
    "empty frames": zstandard.compress(b"") + zstandard.compress(TEXT.encode()) + zstandard.compress(b"") * 3,
    "skipped before": skipped(5) + zstandard.compress(TEXT.encode()),
    "skipped between": skipped(0).join([b"", *map(zstandard.compress, HALVES), b""]),
    "skipped kinds": b"".join(skipped(9, kind) for kind in range(16)) + zstandard.compress(TEXT.encode()),
    "long skip": skipped(100_000) + zstandard.compress(TEXT.encode()) + skipped(100_000),
    "no size": zstandard.ZstdCompressor(write_content_size=False).compress(TEXT.encode()),
    "checksum": zstandard.ZstdCompressor(write_checksum=True).compress(TEXT.encode()),
}
GZIP = {
    "plain": gzip.compress(TEXT.encode()),
    "stored": gzip.compress(TEXT.encode(), 0),
    "members": b"".join(map(gzip.compress, HALVES)),
    "a member a line": b"".join(gzip.compress(line.encode()) for line in TEXT.splitlines(keepends=True)),
    "empty members": gzip.compress(b"") + gzip.compress(TEXT.encode()) + gzip.compress(b"") * 3,
    "padding": gzip.compress(TEXT.encode()) + bytes(5_000),
    "padding between": bytes(512).join([*map(gzip.compress, HALVES), b""]),
    "fields": pigz(TEXT.encode()),
    "mark": gzip.compress(("\ufeff" + TEXT).encode()),
    "utf-16": gzip.compress(TEXT.encode("utf-16")),
}
for name, data in ZSTD.items():
    bytes_of(f"{name}.csv.zst", data)
for name, data in GZIP.items():
    bytes_of(f"{name}.csv.gz", data)
bytes_of("gzip without a suffix.csv", gzip.compress(TEXT.encode()))
bytes_of("lines.jsonl.gz", gzip.compress(LINES.encode()))
bytes_of("lines.jsonl.zst", skipped(7) + zstandard.compress(LINES.encode()))
bytes_of("array.json.gz", gzip.compress(json.dumps(OBJECTS).encode()) + bytes(8))

# JSON.
JSON = {
    "array": json.dumps(OBJECTS),
    "indented": json.dumps(OBJECTS, indent=2),
    "mark": "\ufeff" + json.dumps(OBJECTS),
    "blanks before": "\n\n  " + json.dumps(OBJECTS),
    "columns": json.dumps(COLUMNS),
    "split": json.dumps({"columns": NAMES, "index": [*range(24)], "data": ROWS}),
    "columns of cells": pd.DataFrame(COLUMNS).to_json(),
    "records": pd.DataFrame(COLUMNS).to_json(orient="records"),
    "rows within": json.dumps({"version": 2, "about": {"a": None}, "results": OBJECTS}),
    "nested": json.dumps(
        [{**row, "usage": {"tokens": {"in": 1, "out": [1, 2]}}, "tags": []} for row in OBJECTS]
    ),
    "escapes": json.dumps([{**row, "model": row["model"] + "\u00e9\U0001f600"} for row in OBJECTS]),
    "letters": json.dumps(
        [{**row, "model": row["model"] + "\u00e9\U0001f600"} for row in OBJECTS], ensure_ascii=False
    ),
    "numbers": json.dumps(
        [{**row, "score": row["score"] / 8, "seed": 12345678901234567890} for row in OBJECTS]
    ),
    "missing keys": json.dumps(
        [{**row, **({"note": None} if at % 2 else {})} for at, row in enumerate(OBJECTS)]
    ),
}
for name, text in JSON.items():
    bytes_of(f"{name}.json", text)
for code in ("utf-16", "utf-8-sig"):
    bytes_of(f"{code}.json", json.dumps(OBJECTS).encode(code))
    bytes_of(f"{code}.jsonl", LINES.encode(code))
JSON_LINES = {
    "plain": LINES,
    "line ends of Windows": LINES.replace("\n", "\r\n"),
    "no last line end": LINES.rstrip(),
    "blank lines": LINES.replace("\n", "\n\n"),
    "not a number": LINES.replace("}", ', "loss": NaN, "most": Infinity}'),
    "nested": "".join(
        json.dumps({**row, "chat": [{"role": "user", "content": ["q"]}]}) + "\n" for row in OBJECTS
    ),
    "keys in any order": "".join(json.dumps(dict(reversed(row.items()))) + "\n" for row in OBJECTS),
    "long text": "".join(json.dumps({**row, "answer": "x" * 20_000}) + "\n" for row in OBJECTS),
    "new keys": "".join(json.dumps({**row, f"note {at}": at}) + "\n" for at, row in enumerate(OBJECTS)),
}
for name, text in JSON_LINES.items():
    bytes_of(f"{name}.jsonl", text)
bytes_of("lines.ndjson", LINES)
FILES["polars.jsonl"] = FRAME.write_ndjson
FILES["polars.json"] = FRAME.write_json


# Workbooks.
def workbook(
    change: Callable[[Any], object] = lambda book: None, rows: Any = ROWS, **options: Any
) -> Callable:
    def make(path: Path) -> None:
        book = openpyxl.Workbook(**options)
        sheet = book.create_sheet() if options.get("write_only") else book.active
        for row in (NAMES, *rows):
            sheet.append(row)
        change(book)
        book.save(path)

    return make


def styled(book: Any) -> None:
    for cell in book.active[1]:
        cell.font = openpyxl.styles.Font(bold=True)
        cell.fill = openpyxl.styles.PatternFill("solid", fgColor="FFEE00")
    book.active["D2"].number_format = '[Red]0.00;[>100]"much";@'
    book.active.freeze_panes = "A2"
    book.active.auto_filter.ref = "A1:D25"
    book.active.conditional_formatting.add("D2:D25", openpyxl.formatting.rule.ColorScaleRule())


def noted(book: Any) -> None:
    book.active["A2"].comment = openpyxl.comments.Comment("by hand", "me")
    book.active["F1"].hyperlink = "https://example.org"
    book.active.merge_cells("F2:G3")


def charted(book: Any) -> None:
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(book.active, min_col=4, min_row=1, max_row=25))
    book.active.add_chart(chart, "H2")


def far(book: Any) -> None:
    book.active["XFD1048576"].fill = openpyxl.styles.PatternFill("solid", fgColor="FFEE00")


XLSX: dict[str, Callable[[Path], object]] = {
    "plain": workbook(),
    "write only": workbook(write_only=True),
    "styled": workbook(styled),
    "noted": workbook(noted),
    "charted": workbook(charted),
    "far blank cell": workbook(far),
    "further sheet": workbook(lambda book: book.create_sheet("notes").append(["made by hand"])),
    "hidden sheet": workbook(lambda book: setattr(book.create_sheet("more"), "sheet_state", "hidden")),
    "many sheets": workbook(lambda book: [book.create_sheet(f"empty {at}") for at in range(50)]),
    "names": workbook(lambda book: setattr(book.active, "title", "Größe & <Maß> 😀")),
    "days": workbook(rows=[(m, DAYS[at], k, v) for at, (m, _, k, v) in enumerate(ROWS)]),
    "moments": workbook(rows=[(m, MOMENTS[at], k, v) for at, (m, _, k, v) in enumerate(ROWS)]),
    "numbers": workbook(rows=[(m, NUMBERS[at], k, v / 8) for at, (m, _, k, v) in enumerate(ROWS)]),
    "texts": workbook(rows=[(m, s, k, str(v)) for m, s, k, v in ROWS]),
    "long texts": workbook(rows=[(*row, None, "&" * 32_767) for row in ROWS]),
    "blank rows": workbook(rows=[*ROWS[:12], (), *ROWS[12:], ()]),
    "pandas": lambda path: pd.DataFrame(COLUMNS).to_excel(path),
    "pandas without index": lambda path: pd.DataFrame(COLUMNS).to_excel(path, index=False),
    "protected": workbook(lambda book: book.active.protection.enable()),
    "grouped": workbook(lambda book: book.active.row_dimensions.group(3, 9, hidden=True)),
    "checked": workbook(
        lambda book: book.active.add_data_validation(
            openpyxl.worksheet.datavalidation.DataValidation("list", formula1='"A,B"', sqref="A2:A25")
        )
    ),
}
for name, make in XLSX.items():
    FILES[f"{name}.xlsx"] = make
FILES["plain.xlsm"] = workbook()


def test_there_are_at_least_200():
    kinds = ("parquet", "csv", "tsv", "json", "jsonl", "xlsx")
    assert len(FILES) >= 200
    assert all(sum(f".{kind}" in name for name in FILES) >= 2 for kind in kinds)


@pytest.mark.parametrize("name", FILES)
def test_a_valid_file_is_read(tmp_path, name):
    path = tmp_path / name
    FILES[name](path)
    rules = ReadOptions(higher=("acc",), time="none")
    problems = inspect_scores([str(path)], rules).problems
    assert [problem.what for problem in problems if problem.severity == "error"] == []
    table = read_scores([str(path)], rules)
    assert (len(table.models), len(table.samples)) == (2, 12)
    scores = np.array(sorted(sorted(values.ravel()) for values in table.values))
    written = np.array(sorted([sorted(VALUES[:12]), sorted(VALUES[12:])]))
    np.testing.assert_allclose(scores / scores.max(), written / 7, rtol=1e-6)
