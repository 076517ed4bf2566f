"""Fixtures that write small score tables in any format."""

import gzip
import io

import polars as pl
import pytest
import zstandard

from riskrank.scores.files.parquet import ParquetSource
from tests.tables import of_rows


def _encode(frame: pl.DataFrame, suffix: str) -> bytes:
    buffer = io.BytesIO()
    kind, _, compression = suffix.partition(".")
    if kind == "csv":
        frame.write_csv(buffer)
    elif kind == "tsv":
        frame.write_csv(buffer, separator="\t")
    elif kind == "parquet":
        frame.write_parquet(buffer)
    elif kind == "jsonl":
        frame.write_ndjson(buffer)
    data = buffer.getvalue()
    return {"gz": gzip.compress, "zst": zstandard.compress}.get(compression, bytes)(data)


@pytest.fixture
def loads(monkeypatch):
    """Return the columns of each Parquet read, in order."""
    columns = []
    original = ParquetSource.load
    monkeypatch.setattr(
        ParquetSource, "load", lambda self, names: columns.append([*names]) or original(self, names)
    )
    return columns


@pytest.fixture
def write(tmp_path):
    """Write text, bytes or a frame under a name and return the path as a string."""

    def to_file(name: str, content) -> str:
        path = tmp_path / name
        if isinstance(content, pl.DataFrame):
            content = _encode(content, name.split(".", 1)[1])
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return to_file


@pytest.fixture
def long_frame():
    """Return scores of three models, four samples and two metrics, without ties or gaps."""
    return of_rows(
        (model, sample, metric, round(0.1 + 0.37 * i + 0.11 * j * j + (0.05 * k if i else -0.07 * k), 4))
        for i, model in enumerate(["B", "A", "C"])
        for j, sample in enumerate(["s2", "s10", "s1", "s3"])
        for k, metric in enumerate(["acc", "loss"])
    )
