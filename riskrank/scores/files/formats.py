"""The formats score tables are read in, and the suffixes that tell them."""

DATABASES = ("sqlite", "duckdb")
COMPRESSIONS = (".gz", ".zst")

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
SUFFIXES |= {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".xlsx": "xlsx", ".xlsm": "xlsx"}
SUFFIXES |= {".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}
SUFFIXES |= {".duckdb": "duckdb", ".ddb": "duckdb"}
