"""The formats score tables are read in, and the suffixes that tell them."""

from pathlib import PurePath

DATABASES = ("sqlite", "duckdb")
COMPRESSIONS = (".gz", ".zst")

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
SUFFIXES |= {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".xlsx": "xlsx", ".xlsm": "xlsx"}
SUFFIXES |= {".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}
SUFFIXES |= {".duckdb": "duckdb", ".ddb": "duckdb"}


def told_by_suffixes(path: str) -> tuple[str | None, str | None]:
    """Format and compression of a file by its name, each None if it does not tell."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    return SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def part_format(path: str) -> str | None:
    """Format of a file by its suffix, None if no table is called like that."""
    return told_by_suffixes(path)[0]
