"""Typed access to the fields of JSON documents."""

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.json_objects import parse_json, preview


def parse_name(location: str, value: object, *, default: str | None = None) -> str:
    """Convert a text or number to a name.

    Parameters
    ----------
    location : str
        Location for the error message.
    value : object
    default : str, optional
        Name to return for None or an empty text.

    Raises
    ------
    InputError
        If the value has another type, or is empty and there is no default.
    """
    if default is not None and value in (None, ""):
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas writes integers as floats if some are missing
    number = isinstance(value, float) and math.isfinite(value)
    if number or (isinstance(value, str | int) and not isinstance(value, bool)):
        return str(value)
    raise type_error(location, "a text or a number", value)


def number_duplicates(names: Iterable[str]) -> list[str]:
    """Number repeated names: the second ``name`` becomes ``name #2``."""
    counts, unique_names = Counter[str](), []
    for name in names:
        counts[name] += 1
        unique_names.append(name if counts[name] == 1 else f"{name} #{counts[name]}")
    return unique_names


class Record(dict[str, Any]):
    """A JSON object that knows its location and checks the types of its fields.

    Missing fields are read as an empty object, list or text.

    Parameters
    ----------
    location : str
        Location of the object for error messages.
    value : object
    separator : str
        Text between the location and a field name.

    Raises
    ------
    InputError
        If the value is not an object.
    """

    def __init__(self, location: str, value: object, *, separator: str = ", ") -> None:
        if value is not None and not isinstance(value, dict):
            raise type_error(location, "an object", value)
        super().__init__(value or {})
        self.location = location
        self._separator = separator

    def location_of(self, field: str) -> str:
        """Return the location of a field for error messages."""
        return f"{self.location}{self._separator}{field}"

    def get_name(self, *fields: str) -> str:
        """Return the first of several fields that is present as a name."""
        value = next((self[name] for name in fields if self.get(name) is not None), None)
        if value is None:
            raise export_error(f"{self.location} has no '{fields[0]}'", f"fields: {listing(self, 12)}")
        return parse_name(self.location_of(fields[0]), value)

    def get_text(self, field: str, default: str = "") -> str:
        """Return a text or number field as text, or the default if the field is missing."""
        return parse_name(self.location_of(field), self.get(field), default=default)

    def get_record(self, field: str) -> "Record":
        """Return a nested object."""
        return Record(self.location_of(field), self.get(field))

    def get_list(self, field: str) -> list[Any]:
        """Return a list with items of any type."""
        value = self.get(field)
        if value is not None and not isinstance(value, list):
            raise type_error(self.location_of(field), "a list", value)
        return value or []

    def get_records(self, field: str) -> list["Record"]:
        """Return a list of objects."""
        value = self.get(field)
        if not (value is None or (isinstance(value, list) and all(isinstance(item, dict) for item in value))):
            raise type_error(self.location_of(field), "a list of objects", value)
        return [
            Record(f"{self.location_of(field)} {number}", item)
            for number, item in enumerate(value or (), start=1)
        ]


def export_error(message: str, detail: str) -> InputError:
    """Return an error for a file that differs from what its tool writes after a complete, scored run."""
    hint = "check that the run was finished and scored, and that the file is complete and unchanged"
    return InputError(message, found=detail, hint=f"{hint}; {option('skip_bad', True)} ignores invalid files")


def type_error(location: str, expected: str, value: object) -> InputError:
    """Return an error for a field of the wrong type."""
    return export_error(f"{location} is not {expected}", preview(value))


def parse_document(path: Path, data: bytes) -> Record:
    """Return the single object in a JSON file.

    Raises
    ------
    InputError
        If the file contains anything else.
    """
    value = parse_json(str(path), data)
    if not isinstance(value, dict):
        raise export_error(f"{path}: the file is not a JSON object", preview(value))
    return Record(str(path), value, separator=": ")


def as_score(value: object) -> float | str | None:
    """Return a number as a score, None for a missing value, and the name of the type for anything else."""
    if value is None:
        return None
    if isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            return "numbers outside the range of floats"
        return None if math.isnan(number) else number
    kinds: dict[type, str] = {str: "text", list: "lists", tuple: "lists", dict: "objects"}
    return kinds.get(type(value), f"of type {type(value).__name__}")
