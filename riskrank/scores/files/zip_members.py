"""Members of a zip archive one by one, Zstandard among them, and never more of one than allowed."""

import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from riskrank.scores.files.compression import INFLATE, unpack, unzstd
from riskrank.scores.files.guards import BeyondLimitError, BrokenFileError, Budget, cut_short, too_large
from riskrank.scores.files.json_objects import parse_json

_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class ZipMembers:
    """An open archive.

    Attributes
    ----------
    names : tuple of str
        Each once, in the order of the archive; of members of one name the last counts.
    """

    def __init__(self, path: Path, file: BinaryIO, budget: Budget) -> None:
        self._path = path
        self._file = file
        self._budget = budget
        try:
            # Only the directory is read here: Python cannot undo Zstandard before 3.14.
            self._members = {entry.filename: entry for entry in zipfile.ZipFile(file).infolist()}
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as error:
            raise self._broken(str(error)) from None
        self.names = tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def json(self, name: str, *, most: int | None = None) -> Any:
        """Parse a member as JSON.

        Parameters
        ----------
        name : str
        most : int, optional
            Most bytes it may have, where that is fewer than are allowed anyway.

        Raises
        ------
        InputError
            If it is cut short, corrupt, too large, encrypted, or no JSON.
        """
        label = f"{self._path}: {name}"
        limit = self._budget.limit if most is None else min(most, self._budget.limit)
        data = self._bytes(label, name, limit)
        self._budget.take_text(label, self._members[name].compress_size, data)
        return parse_json(label, data)

    def _bytes(self, label: str, name: str, limit: int) -> bytes:
        entry = self._members[name]
        # What the directory says may be a lie, and is checked again while the member is unpacked.
        if max(entry.compress_size, entry.file_size) > limit:
            raise too_large(label, limit)
        self._budget.take(label, entry.compress_size, entry.file_size)
        try:
            self._file.seek(entry.header_offset)
            magic, name_size, extra_size = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
            self._file.seek(name_size + extra_size, 1)
            data = self._file.read(entry.compress_size)
        except (OSError, ValueError, struct.error) as error:
            raise self._broken(str(error)) from None
        if magic != b"PK\x03\x04" or len(data) < entry.compress_size:
            raise self._broken(f"member {name} is not where the directory says")
        if entry.flag_bits & 1:
            raise self._broken(f"member {name} is encrypted")
        if entry.compress_type == _STORED:
            return data
        if entry.compress_type in (_DEFLATED, _ZSTANDARD):
            bare = entry.compress_type == _DEFLATED
            start = INFLATE if bare else unzstd()
            try:
                return unpack(label, data, Budget(entry.file_size), start, bare=bare)
            except BeyondLimitError:
                raise self._broken(f"member {name} is longer than the directory says") from None
        raise self._broken(f"member {name} is compressed by method {entry.compress_type}")

    def _broken(self, reason: str) -> BrokenFileError:
        return cut_short(f"{self._path}: the archive cannot be read", reason or "no zip archive")


@contextmanager
def open_members(path: Path, budget: Budget) -> Iterator[ZipMembers]:
    """Open an archive for reading members within the budget."""
    with path.open("rb") as file:
        yield ZipMembers(path, file, budget)
