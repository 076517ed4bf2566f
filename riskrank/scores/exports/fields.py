"""Fields of documents that others wrote, each of the type it has to have or refused with what it is."""

import math
from typing import Any

from riskrank.errors import InputError, option
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


def broken(what: str, found: str) -> InputError:
    """Tell that a file is not as its tool writes it when a run is finished and scored."""
    hint = "was the run finished and scored, and is this the file the tool wrote, whole and unchanged?"
    return InputError(what, found=found, hint=f"{hint} {option('skip_bad', True)} leaves out what is not")


def wrong_type(place: str, expected: str, value: object) -> InputError:
    """Tell that a field has a type it cannot have."""
    return broken(f"{place} is not {expected}", shown(value))
