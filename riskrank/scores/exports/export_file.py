"""Files of an export: find the files, and read the records of one file."""

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
from riskrank.scores.files.data_frames import Columns, csv_columns, json_columns
from riskrank.scores.files.guards import empty_error
from riskrank.scores.files.json_objects import parse_json, parse_lines, preview


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """One file of an export, read as type-checked records."""

    path: Path
    label: str | None
    collector: RowCollector

    @cached_property
    def data(self) -> bytes:
        """Decompressed content of the file."""
        return self.collector.read(self.path)

    def lines(self, entry_name: str = "line") -> Iterator[Record]:
        """Yield the objects in a JSON Lines file; `entry_name` is the word for a line in messages.

        Raises
        ------
        InputError
            At the first line that is not a JSON object; with `skip_bad`, such lines are counted instead.
        """
        return self._objects(parse_lines(str(self.path), self.data), "line", entry_name)

    def records(self, entry_name: str = "entry") -> Iterator[Record]:
        """Yield the objects in a JSON array or in JSON Lines, whatever the file name.

        Raises
        ------
        InputError
            If the file is neither, or an entry is not an object; with `skip_bad`, such entries are counted.
        """
        if not self.data.lstrip().startswith(b"["):
            return self.lines(entry_name)
        entries = parse_json(str(self.path), self.data)
        if not entries:
            raise empty_error(str(self.path), "an empty array")
        return self._objects(enumerate(entries, start=1), "entry", entry_name)

    def _objects(self, values: Iterable[tuple[int, Any]], kind: str, entry_name: str) -> Iterator[Record]:
        """Yield numbered values as records, and count or reject values that are not objects."""
        for number, value in values:
            if isinstance(value, dict):
                yield Record(f"{self.path}: {entry_name} {number}", value)
            elif self.collector.options.skip_bad:
                self.count(f"{self.path}: ignored {kind}s that are not JSON objects")
            elif isinstance(value, InputError):
                raise value
            else:
                raise export_error(f"{self.path}: {kind} {number} is not a JSON object", preview(value))

    def document(self) -> Record:
        """Return the single object in a JSON file.

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
        """True if the table is stored as JSON, False if it is stored as CSV."""
        return self.data.lstrip()[:1] in (b"{", b"[")

    def columns(self) -> Columns:
        """Return the columns of a table in CSV or in any JSON layout that pandas writes."""
        return (json_columns if self.is_json else csv_columns)(self.path, self.data)

    def rows(self, is_score: Callable[[str], object]) -> Iterator[Record]:
        """Yield the rows of a table in CSV, as a JSON array, or as JSON Lines.

        CSV columns for which `is_score` returns a false value are read as text.
        """
        if self.is_json:
            yield from self.records()
            return
        columns = csv_columns(self.path, self.data, is_score)
        for number, cells in enumerate(zip(*columns.values(), strict=True), start=2):
            yield Record(f"{self.path}: row {number}", dict(zip(columns, cells, strict=True)))

    def model_name(self, logged_name: str | None = None) -> str:
        """Return the name of the model: from the path rule, otherwise `logged_name`, otherwise the label."""
        return resolve_model_name(self.path, logged_name, self.collector.options, label=self.label)

    def set_direction(self, metric: str, direction: str) -> None:
        """Record the direction that this file declares for a metric."""
        self.collector.set_direction(metric, direction, source=str(self.path))

    def note(self, text: str) -> None:
        """Add a note about this file."""
        self.collector.note(f"{self.path}: {text}")

    def count(self, description: str, times: int = 1) -> None:
        """Add to the number of excluded items with a given description."""
        self.collector.count(description, times)


def find_files(paths: Iterable[LabelledPath], accepts: Callable[[Path], bool]) -> Iterator[LabelledPath]:
    """Yield the files to read, each once: named files, and all accepted files below folders in sorted order.

    A file named by the user is read even if its name is unusual; its reader then reports any problem.
    """
    seen: set[LabelledPath] = set()
    for entry in paths:
        files = sorted(walk_files(entry.path, accepts)) if entry.path.is_dir() else [entry.path]
        if not files:
            raise InputError(
                f"{entry.path}: the folder has no file of this format",
                found="no such file",
                hint="name the output folder of the harness, or the files",
            )
        for file in (replace(entry, path=path) for path in files):
            if file not in seen:
                seen.add(file)
                yield file


def walk_files(folder: Path, accepts: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield the accepted files below a folder, without following links to folders, which may form cycles."""
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            if path.is_file() and accepts(path):  # opening a named pipe would block
                yield path
