"""Files of an export: finding them, and reading the records of one file."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from riskrank.errors import InputError
from riskrank.scores.exports.fields import Record, export_error, parse_document
from riskrank.scores.exports.interface import LabelledPath
from riskrank.scores.exports.row_collector import RowCollector
from riskrank.scores.exports.selection import resolve_model_name
from riskrank.scores.files.bounded import parse_json, parse_lines
from riskrank.scores.files.data_frames import Columns, csv_columns, json_columns
from riskrank.scores.files.json_objects import shown
from riskrank.scores.files.limits import empty


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """One file of an export, read as type-checked records."""

    path: Path
    label: str | None
    collector: RowCollector

    @cached_property
    def data(self) -> bytes:
        """The decompressed content."""
        return self.collector.read(self.path)

    def lines(self, entry_name: str = "line") -> Iterator[Record]:
        """Return the objects of a JSON Lines file; messages call each line `entry_name`.

        Raises
        ------
        InputError
            At the first line that is not a JSON object; with `skip_bad` such lines are counted instead.
        """
        return self._objects(parse_lines(str(self.path), self.data), "line", entry_name)

    def records(self, entry_name: str = "entry") -> Iterator[Record]:
        """Return the objects of a JSON array or of JSON Lines, whatever the file name.

        Raises
        ------
        InputError
            If the file is neither, or an entry is not an object; with `skip_bad` such entries are counted.
        """
        if not self.data.lstrip().startswith(b"["):
            return self.lines(entry_name)
        entries = parse_json(str(self.path), self.data)
        if not entries:
            raise empty(str(self.path), "an array without entries")
        return self._objects(enumerate(entries, start=1), "entry", entry_name)

    def _objects(self, values: Iterable[tuple[int, Any]], kind: str, entry_name: str) -> Iterator[Record]:
        for number, value in values:
            if isinstance(value, dict):
                yield Record(f"{self.path}: {entry_name} {number}", value)
            elif self.collector.rules.skip_bad:
                self.count(f"{self.path}: no JSON object in a {kind}, left out")
            elif isinstance(value, InputError):
                raise value
            else:
                raise export_error(f"{self.path}: {kind} {number} is not a JSON object", shown(value))

    def document(self) -> Record:
        """Return the single object that a JSON file contains.

        Raises
        ------
        InputError
            If the file contains anything else.
        """
        return parse_document(self.path, self.data)

    def read_optional(self, path: Path) -> Record:
        """Return the object in another JSON file, or an empty record if the file does not exist."""
        return self.collector.read_optional(path)

    @property
    def is_json(self) -> bool:
        """True if a table is written as JSON, False if as CSV."""
        return self.data.lstrip()[:1] in (b"{", b"[")

    def columns(self) -> Columns:
        """Return the columns of a table, read from CSV or from any JSON layout of pandas."""
        return (json_columns if self.is_json else csv_columns)(self.path, self.data)

    def rows(self, is_score: Callable[[str], object]) -> Iterator[Record]:
        """Yield the rows of a table in CSV, a JSON array or JSON Lines.

        In CSV, columns for which `is_score` is false are read as text.
        """
        if self.is_json:
            yield from self.records()
            return
        columns = csv_columns(self.path, self.data, is_score)
        for number, cells in enumerate(zip(*columns.values(), strict=True), start=2):
            yield Record(f"{self.path}: row {number}", dict(zip(columns, cells, strict=True)))

    def model_name(self, logged_name: str | None = None) -> str:
        """Return the model of the file: from the path rule, else `logged_name`, else the label."""
        return resolve_model_name(self.path, logged_name, self.collector.rules, label=self.label)

    def set_direction(self, metric: str, direction: str) -> None:
        """Record the direction that this file declares for a metric."""
        self.collector.set_direction(metric, direction, source=str(self.path))

    def note(self, text: str) -> None:
        """Add a note about this file."""
        self.collector.note(f"{self.path}: {text}")

    def count(self, description: str, times: int = 1) -> None:
        """Count excluded items under a description."""
        self.collector.count(description, times)


def find_files(paths: Iterable[LabelledPath], accepts: Callable[[Path], bool]) -> Iterator[LabelledPath]:
    """Yield the files to read, each once: named files, and all accepted files below folders in sorted order.

    A file that was named is read even if its name is unusual; its reader reports what is wrong with it.
    """
    seen: set[LabelledPath] = set()
    for entry in paths:
        files = sorted(walk_files(entry.path, accepts)) if entry.path.is_dir() else [entry.path]
        if not files:
            raise InputError(
                f"{entry.path}: no file of this format in the folder",
                found="a folder without one",
                hint="name the folder the harness wrote into, or the files themselves",
            )
        for file in (replace(entry, path=path) for path in files):
            if file not in seen:
                seen.add(file)
                yield file


def walk_files(folder: Path, accepts: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield the accepted files below a folder; links to folders are not followed, to avoid cycles."""
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            if path.is_file() and accepts(path):  # opening a named pipe would block
                yield path
