"""JSON files that hold a whole table: an array of rows, or columns beside data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from riskrank.scores.readers.json_lines import json_text
from riskrank.scores.readers.source import Source, decode
from riskrank.scores.readers.tables import json_columns


class JsonArraySource(Source):
    """A JSON document that is a table, in any of the ways pandas writes one."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        data = data.removeprefix(b"\xef\xbb\xbf")
        super().__init__(label, data, sha256)
        if not data.strip():
            raise self._empty(f"{len(data)} bytes")
        decode(label, data)
        columns = json_columns(Path(label), data)
        self._frame = pl.DataFrame(
            [pl.Series(name, map(json_text, cells), dtype=pl.String) for name, cells in columns.items()]
        )
        self._data = b""
        self._name_columns(self._frame.columns)

    def load(self, names: Sequence[str]) -> pl.DataFrame:
        """Return the named columns."""
        raw = dict(zip(self.columns, self._frame.columns, strict=True))
        return self._frame.select(pl.col(raw[name]).alias(name) for name in names)
