"""JSON files that hold a whole table: an array of rows, or columns beside data."""

import json
from functools import partial
from pathlib import Path

import polars as pl

from riskrank.scores.files.data_frames import json_columns
from riskrank.scores.files.json_objects import is_half, json_text, no_unicode
from riskrank.scores.files.nested_json import rows_of
from riskrank.scores.files.source import FrameInMemory, decode


class JsonArraySource(FrameInMemory):
    """A JSON document that is a table, in any of the ways pandas writes one."""

    def __init__(self, label: str, data: bytes, sha256: str) -> None:
        data = data.removeprefix(b"\xef\xbb\xbf")
        super().__init__(label, data, sha256)
        if not data.strip():
            raise self._empty(f"{len(data)} bytes")
        decode(label, data)
        columns = json_columns(Path(label), data, otherwise=partial(rows_of, label))
        texts = {name: list(map(json_text, cells)) for name, cells in columns.items()}
        halves = self._halves = dict[str, int]()
        for name, cells in texts.items():
            at = next((at for at, cell in enumerate(cells) if cell is not None and is_half(cell)), None)
            if is_half(name):
                raise no_unicode(label, name)
            if at is not None:
                halves[name], texts[name] = at + 1, [None] * len(cells)
        self._frame = pl.DataFrame([pl.Series(name, cells, pl.String) for name, cells in texts.items()])
        self._data = b""
        self._name_columns(self._frame.columns)

    def rewritten(self) -> str | None:
        """How to write the file as rows, where its scores are nested."""
        path = Path(self.label)
        if not path.is_file():
            return None
        try:
            return rows_of(self.label, json.loads(path.read_bytes()))
        except ValueError:  # it is compressed
            return None
