"""Reading of single members of zip archives within a budget, with Zstandard compression supported."""

import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from riskrank.scores.files.compression import INFLATE, decompress_members, zstd_factory
from riskrank.scores.files.guards import (
    BeyondLimitError,
    BrokenFileError,
    Budget,
    broken_file_error,
    too_large_error,
)
from riskrank.scores.files.json_objects import parse_json

_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class ZipMembers:
    """An open zip archive.

    Attributes
    ----------
    names : tuple of str
        Distinct member names in archive order; if a name is repeated, the last member is read.
    """

    def __init__(self, path: Path, file: BinaryIO, budget: Budget) -> None:
        self._path = path
        self._file = file
        self._budget = budget
        try:
            # Only the directory is read here: zipfile supports Zstandard only from Python 3.14.
            self._members = {entry.filename: entry for entry in zipfile.ZipFile(file).infolist()}
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as error:
            raise self._broken(str(error)) from None
        self.names = tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def json(self, name: str, *, max_bytes: int | None = None) -> Any:
        """Parse a member as JSON.

        Parameters
        ----------
        name : str
        max_bytes : int, optional
            Maximum size, if lower than the limit of the budget.

        Raises
        ------
        InputError
            If the member is truncated, corrupt, too large, encrypted, or not JSON.
        """
        label = f"{self._path}: {name}"
        limit = self._budget.limit if max_bytes is None else min(max_bytes, self._budget.limit)
        data = self._bytes(label, name, limit)
        self._budget.charge_text(label, self._members[name].compress_size, data)
        return parse_json(label, data)

    def _bytes(self, label: str, name: str, limit: int) -> bytes:
        """Return the decompressed content of a member."""
        entry = self._members[name]
        # The directory may be wrong; sizes are checked again during decompression.
        if max(entry.compress_size, entry.file_size) > limit:
            raise too_large_error(label, limit)
        self._budget.charge(label, entry.compress_size, entry.file_size)
        try:
            self._file.seek(entry.header_offset)
            magic, name_size, extra_size = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
            self._file.seek(name_size + extra_size, 1)
            data = self._file.read(entry.compress_size)
        except (OSError, ValueError, struct.error) as error:
            raise self._broken(str(error)) from None
        if magic != b"PK\x03\x04" or len(data) < entry.compress_size:
            raise self._broken(f"member {name} is not at the position in the directory")
        if entry.flag_bits & 1:
            raise self._broken(f"member {name} is encrypted")
        if entry.compress_type == _STORED:
            return data
        if entry.compress_type in (_DEFLATED, _ZSTANDARD):
            is_deflated = entry.compress_type == _DEFLATED
            start = INFLATE if is_deflated else zstd_factory()
            try:
                return decompress_members(label, data, Budget(entry.file_size), start, once=is_deflated)
            except BeyondLimitError:
                raise self._broken(f"member {name} is longer than stated in the directory") from None
        raise self._broken(f"member {name} has the unsupported compression method {entry.compress_type}")

    def _broken(self, reason: str) -> BrokenFileError:
        """Return the error for an archive that cannot be read."""
        return broken_file_error(f"{self._path}: the archive cannot be read", reason or "not a zip archive")


@contextmanager
def open_members(path: Path, budget: Budget) -> Iterator[ZipMembers]:
    """Open an archive for reading single members within a budget."""
    with path.open("rb") as file:
        yield ZipMembers(path, file, budget)
