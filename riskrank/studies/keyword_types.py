"""Whether keyword arguments have the types that settings and reading options declare.

A command line makes what a shell handed over into numbers and lists before anything else sees it; a
caller of Python may hand over anything. What is a plain slip with one meaning is taken: one name for
several, a number for the name of a model, NumPy's numbers. Everything else is refused by name.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from numbers import Integral, Real
from os import PathLike, fspath
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from riskrank.errors import UsageError, option
from riskrank.options.option import options_of

_REFUSED = object()
_hints = cache(get_type_hints)
# What stands for two models in one text, which Python may give as two.
_PAIRS = ("NEW:OLD", "BETTER:WORSE")


def checked(owner: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of keyword arguments, in the types the class of their settings declares.

    Parameters
    ----------
    owner : type
        A dataclass of settings.
    given : mapping of str to object

    Raises
    ------
    UsageError
        If a value cannot be what it stands for.
    """
    hints = _hints(owner)
    pairs = {one.name for one in options_of(owner) if one.asking.metavar in _PAIRS}
    switches = {one.name for one in options_of(owner) if one.asking.truth}
    found = {}
    for name, value in given.items():
        hint = bool if name in switches and isinstance(value, bool | np.bool_) else hints[name]
        value = _joined(value) if name in pairs else value
        # A caller who says None leaves an option out, where that can be.
        free = hint is Any or get_origin(hint) in (tuple, dict) or type(None) in get_args(hint)
        found[name] = None if value is None and free else _converted(name, hint, value)
    return found


def _joined(value: Any) -> Any:
    """Two names of models as one text, ``NEW:OLD``, and several pairs as several; anything else as it is."""
    if not isinstance(value, tuple | list):
        return value
    if len(value) == 2 and all(isinstance(name, str) and ":" not in name for name in value):
        return ":".join(value)
    return [_joined(one) if isinstance(one, tuple | list) else one for one in value]


def whole_number(name: str, value: Any) -> int | None:
    """A whole number or None, for an argument no settings hold."""
    found: int | None = None if value is None else _converted(name, int, value)
    return found


def _converted(name: str, hint: Any, value: Any) -> Any:
    found = _as(hint, value)
    if found is _REFUSED:
        wanted, example = _wanted(hint)
        raise UsageError(
            f"{option(name)} takes {wanted}",
            found=_shown(value),
            hint=f"write {name}={example}",
        )
    return found


def _as(hint: Any, value: Any) -> Any:
    """The value in the declared type, or the mark of what is refused."""
    if get_origin(hint) in (Union, UnionType):
        # A number is a number before it is a text.
        kinds = sorted(get_args(hint), key=lambda one: one is str and not isinstance(value, str))
        tried = (_as(one, value) for one in kinds if one is not type(None))
        return next((found for found in tried if found is not _REFUSED), _REFUSED)
    if hint is Any:
        return _numbers_by_name(value)
    if get_origin(hint) in (dict, Mapping):
        more = str | list | tuple if get_origin(hint) is dict else Mapping
        return value if isinstance(value, Mapping | more) else _REFUSED
    if get_origin(hint) is tuple:
        return _several(get_args(hint)[0], value)
    return _one(hint, value)


def _one(kind: Any, value: Any) -> Any:
    truth = isinstance(value, bool | np.bool_)
    if truth or kind is bool:
        return bool(value) if truth and kind is bool else _REFUSED
    if kind is str:
        return _text(value)
    if kind is int:
        return int(value) if isinstance(value, Integral) else _REFUSED
    if kind is float and isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:  # a whole number beyond all floating-point ones
            return _REFUSED
    return _REFUSED


def _text(value: Any) -> Any:
    """A text, a path, or a number where names are numbers."""
    if isinstance(value, PathLike):
        path = fspath(value)
        return path if isinstance(path, str) else _REFUSED
    if isinstance(value, Integral):
        return str(int(value))
    return str(value) if isinstance(value, str) else _REFUSED


def _several(kind: Any, value: Any) -> Any:
    """One value or several, as a tuple; numbers may be texts, which hold several with commas between."""
    if get_origin(kind) is tuple:  # names with numbers, which the settings read themselves
        return _numbers_by_name(value)
    if isinstance(value, str):  # which may hold several, as the settings know
        return value
    one = _member(kind, value)
    if one is not _REFUSED:
        return (one,)
    if isinstance(value, Mapping | bytes | bytearray) or not isinstance(value, Iterable):
        return _REFUSED
    try:
        found = tuple(_member(kind, entry) for entry in value)
    except TypeError:  # an array of no dimension
        return _REFUSED
    return _REFUSED if any(entry is _REFUSED for entry in found) else found


def _numbers_by_name(value: Any) -> Any:
    """A number, a text, a mapping, or several of these, which the settings read themselves."""
    if isinstance(value, bool | np.bool_ | bytes):
        return _REFUSED
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, Mapping | str):
        return value
    try:
        return list(value)
    except TypeError:
        return _REFUSED


def _member(kind: Any, value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    # Whether a number is whole is told by the settings, which know what it is for.
    return _one(float if kind is int and not isinstance(value, Integral) else kind, value)


def _wanted(hint: Any) -> tuple[str, str]:
    """What a parameter takes, in words, and how that is written."""
    if get_origin(hint) in (Union, UnionType):
        kinds = [one for one in get_args(hint) if one is not type(None)]
        named = [_wanted(kind)[0] for kind in kinds]
        return " or ".join(named), _wanted(kinds[0])[1]
    if get_origin(hint) is dict:
        return "a number by the name of each metric", '{"accuracy": 1}'
    if get_origin(hint) is Mapping:
        inner = '{"direction": "lower"}' if get_args(hint)[1] is not str else '"lower"'
        return "a mapping by the names of metrics", f'{{"latency": {inner}}}'
    if get_origin(hint) is tuple and get_args(hint)[0] is str:
        return "a name, or a list of names", '["one", "other"]'
    if get_origin(hint) is tuple:
        return "a number, or a list of numbers", "[1]" if get_args(hint)[0] is int else "[0.05]"
    words = {bool: ("True or False", "True"), int: ("a whole number", "1")}
    words |= {float: ("a number", "0.05"), str: ("a text", '"…"')}
    return words.get(hint, ("a number, or numbers by name", "0.05"))


def _shown(value: Any) -> str:
    text = repr(value)
    kind = type(value).__name__
    return f"{text if len(text) <= 80 else text[:80] + ' …'}, which is {'nothing' if value is None else kind}"
