"""Fields of documents that others wrote, each of the type it has to have."""

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.json_objects import parse_json, shown


def a_name(place: str, value: object, *, otherwise: str | None = None) -> str:
    """A text or a number as a name.

    Parameters
    ----------
    place : str
    value : object
    otherwise : str, optional
        The name where there is none: None, or an empty text.

    Raises
    ------
    InputError
        If it is anything else.
    """
    if otherwise is not None and value in (None, ""):
        return otherwise
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as pandas writes whole numbers beside a gap
    number = isinstance(value, float) and math.isfinite(value)
    if number or (isinstance(value, str | int) and not isinstance(value, bool)):
        return str(value)
    raise wrong_type(place, "a text or a number", value)


def numbered(names: Iterable[str]) -> list[str]:
    """Names of which the second that is the same is ``name #2``."""
    met, found = Counter[str](), []
    for name in names:
        met[name] += 1
        found.append(name if met[name] == 1 else f"{name} #{met[name]}")
    return found


class Record(dict[str, Any]):
    """An object of a file, which knows its place: a field has the type it has to have, or is refused.

    What is not there is an empty object, list or text.

    Parameters
    ----------
    place : str
    value : object
    inside : str
        What stands between the place and the name of a field.

    Raises
    ------
    InputError
        If it is no object.
    """

    def __init__(self, place: str, value: object, *, inside: str = ", ") -> None:
        if value is not None and not isinstance(value, dict):
            raise wrong_type(place, "an object", value)
        super().__init__(value or {})
        self.place = place
        self._inside = inside

    def at(self, field: str) -> str:
        """Where a field stands."""
        return f"{self.place}{self._inside}{field}"

    def name(self, *fields: str) -> str:
        """The first of several fields that is there, a text or a number."""
        found = next((self[name] for name in fields if self.get(name) is not None), None)
        if found is None:
            raise broken(f"{self.place} has no '{fields[0]}'", f"fields: {listing(self, 12)}")
        return a_name(self.at(fields[0]), found)

    def text(self, field: str, otherwise: str = "") -> str:
        """A text or a number the object may lack."""
        return a_name(self.at(field), self.get(field), otherwise=otherwise)

    def inner(self, field: str) -> "Record":
        """An object within."""
        return Record(self.at(field), self.get(field))

    def listed(self, field: str) -> list[Any]:
        """A list of anything."""
        found = self.get(field)
        if found is not None and not isinstance(found, list):
            raise wrong_type(self.at(field), "a list", found)
        return found or []

    def entries(self, field: str) -> list["Record"]:
        """A list of objects."""
        found = self.get(field)
        if not (found is None or (isinstance(found, list) and all(isinstance(one, dict) for one in found))):
            raise wrong_type(self.at(field), "a list of objects", found)
        return [Record(f"{self.at(field)} {number}", one) for number, one in enumerate(found or (), start=1)]


def broken(what: str, found: str) -> InputError:
    """Tell that a file is not as its tool writes it when a run is finished and scored."""
    hint = "was the run finished and scored, and is this the file the tool wrote, whole and unchanged?"
    return InputError(what, found=found, hint=f"{hint} {option('skip_bad', True)} leaves out what is not")


def wrong_type(place: str, expected: str, value: object) -> InputError:
    """Tell that a field has a type it cannot have."""
    return broken(f"{place} is not {expected}", shown(value))


def document(path: Path, data: bytes) -> Record:
    """The one object a JSON file holds.

    Raises
    ------
    InputError
        If it holds anything else.
    """
    value = parse_json(str(path), data)
    if not isinstance(value, dict):
        raise broken(f"{path}: the file is not a JSON object", shown(value))
    return Record(str(path), value, inside=": ")


def as_score(value: object) -> float | str | None:
    """A number as a score, None where there is none, or words for what it is instead."""
    if value is None:
        return None
    if isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            return "numbers beyond the range of floats"
        return None if math.isnan(number) else number
    kinds: dict[type, str] = {str: "text", list: "lists", tuple: "lists", dict: "objects"}
    return kinds.get(type(value), f"of type {type(value).__name__}")
