"""Fields of documents that others wrote, each of the type it has to have or refused with what it is."""

import math
from typing import Any

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.json_objects import shown


def an_object(place: str, value: object) -> dict[str, Any]:
    """An object; None is an empty one.

    Parameters
    ----------
    place : str
        Where it stands: file, entry and field.
    value : object

    Raises
    ------
    InputError
        If it is anything else.
    """
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise wrong_type(place, "an object", value)


def a_list(place: str, value: object) -> list[Any]:
    """A list; None is an empty one.

    Raises
    ------
    InputError
        If it is anything else.
    """
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise wrong_type(place, "a list", value)


def objects(place: str, value: object) -> list[dict[str, Any]]:
    """A list of objects; None is an empty one.

    Raises
    ------
    InputError
        If it is anything else.
    """
    found = a_list(place, value) if value is None or isinstance(value, list) else None
    if found is None or not all(isinstance(entry, dict) for entry in found):
        raise wrong_type(place, "a list of objects", value)
    return found


def is_name(value: object) -> bool:
    """Whether a value can name something: a text, or a number that identifies."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


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
    if is_name(value):
        return str(value)
    raise wrong_type(place, "a text or a number", value)


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
        super().__init__(an_object(place, value))
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
        return a_list(self.at(field), self.get(field))

    def entries(self, field: str) -> list["Record"]:
        """A list of objects."""
        found = objects(self.at(field), self.get(field))
        return [Record(f"{self.at(field)} {number}", one) for number, one in enumerate(found, start=1)]


def broken(what: str, found: str) -> InputError:
    """Tell that a file is not as its tool writes it when a run is finished and scored."""
    hint = "was the run finished and scored, and is this the file the tool wrote, whole and unchanged?"
    return InputError(what, found=found, hint=f"{hint} {option('skip_bad', True)} leaves out what is not")


def wrong_type(place: str, expected: str, value: object) -> InputError:
    """Tell that a field has a type it cannot have."""
    return broken(f"{place} is not {expected}", shown(value))
