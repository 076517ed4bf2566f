"""Type checks of keyword arguments against the declared types of settings and reading options.

The command line has already converted its texts, but a Python caller may pass any object. Harmless variants
are converted: a single name for a list, a number as a model name, NumPy numbers. Other types are refused.
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
# Placeholders of options with two models in one text, which Python may pass as two names.
_PAIRS = ("NEW:OLD", "BETTER:WORSE")


def check_types(owner: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Check keyword arguments and convert them to their declared types.

    Parameters
    ----------
    owner : type
        Dataclass of settings.
    values : mapping of str to object
        Keyword arguments by name.

    Raises
    ------
    UsageError
        If a value has the wrong type.
    """
    hints = _hints(owner)
    pairs = {opt.name for opt in options_of(owner) if opt.spec.metavar in _PAIRS}
    switches = {opt.name for opt in options_of(owner) if opt.spec.accepts_true}
    result = {}
    for name, value in values.items():
        hint = bool if name in switches and isinstance(value, bool | np.bool_) else hints[name]
        value = _join_pairs(value) if name in pairs else value
        # None stands for an omitted option if its type allows it.
        free = hint is Any or get_origin(hint) in (tuple, dict) or type(None) in get_args(hint)
        result[name] = None if value is None and free else _convert_or_raise(name, hint, value)
    return result


def _join_pairs(value: Any) -> Any:
    """Convert pairs of model names to texts such as ``NEW:OLD``, or return other values unchanged."""
    if not isinstance(value, tuple | list):
        return value
    if len(value) == 2 and all(isinstance(name, str) and ":" not in name for name in value):
        return ":".join(value)
    return [_join_pairs(item) if isinstance(item, tuple | list) else item for item in value]


def check_jobs(jobs: Any) -> int | None:
    """Return the argument `jobs` as an integer or None.

    Raises
    ------
    UsageError
        If it is neither.
    """
    return None if jobs is None else int(_convert_or_raise("jobs", int, jobs))


def _convert_or_raise(name: str, hint: Any, value: Any) -> Any:
    """Convert the value of a keyword argument to its declared type.

    `hint` is the type annotation.

    Raises
    ------
    UsageError
        If the value has the wrong type.
    """
    result = _convert(hint, value)
    if result is _REFUSED and isinstance(value, list | tuple) and len(value) == 1:
        result = _convert(hint, value[0])
    if result is _REFUSED:
        (expected, example), text = _describe_type(hint), repr(value)
        text = text if len(text) <= 80 else f"{text[:80]} …"
        raise UsageError(
            f"{option(name)} needs {expected}",
            found=f"{text}, {'which is nothing' if value is None else f'of type {type(value).__name__}'}",
            hint=f"{'leave it out, or ' if value is None else ''}write {name}={example}",
        )
    return result


def _convert(hint: Any, value: Any) -> Any:
    """Convert a value to the type annotation `hint`, or return `_REFUSED` if that is impossible."""
    if get_origin(hint) in (Union, UnionType):
        # Numbers are tried before texts.
        kinds = sorted(get_args(hint), key=lambda kind: kind is str and not isinstance(value, str))
        tried = (_convert(kind, value) for kind in kinds if kind is not type(None))
        return next((result for result in tried if result is not _REFUSED), _REFUSED)
    if hint is Any:
        return _convert_named_numbers(value)
    if get_origin(hint) in (dict, Mapping):
        more = str | list | tuple if get_origin(hint) is dict else Mapping
        return value if isinstance(value, Mapping | more) else _REFUSED
    if get_origin(hint) is tuple:
        return _convert_sequence(get_args(hint)[0], value)
    return _convert_scalar(hint, value)


def _convert_scalar(kind: Any, value: Any) -> Any:
    """Convert a value to bool, str, int or float, or return `_REFUSED` if that is impossible.

    `kind` is the type to convert to.
    """
    truth = isinstance(value, bool | np.bool_)
    if truth or kind is bool:
        return bool(value) if truth and kind is bool else _REFUSED
    if kind is str and isinstance(value, PathLike):
        value = fspath(value)
    if kind is str and isinstance(value, str | Integral):
        return str(value if isinstance(value, str) else int(value))
    if kind is int:
        return int(value) if isinstance(value, Integral) else _REFUSED
    if kind is float and isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:  # an integer beyond the range of floats
            return _REFUSED
    return _REFUSED


def _convert_sequence(kind: Any, value: Any) -> Any:
    """Convert one or several values to a tuple, or return `_REFUSED` if that is impossible.

    `kind` is the type of the entries. Strings are returned unchanged, because the settings split them.
    """
    if get_origin(kind) is tuple:  # names with numbers, which the settings parse
        return _convert_named_numbers(value)
    if isinstance(value, str):  # which may contain several; the settings split it
        return value

    def convert_entry(entry: Any) -> Any:
        """Convert one entry; the settings check for integers, because their message names the purpose."""
        if isinstance(entry, str):
            return str(entry)
        return _convert_scalar(float if kind is int and not isinstance(entry, Integral) else kind, entry)

    single = convert_entry(value)
    if single is not _REFUSED:
        return (single,)
    if isinstance(value, Mapping | bytes | bytearray) or not isinstance(value, Iterable):
        return _REFUSED
    try:
        result = tuple(map(convert_entry, value))
    except TypeError:  # a zero-dimensional array
        return _REFUSED
    return _REFUSED if any(entry is _REFUSED for entry in result) else result


def _convert_named_numbers(value: Any) -> Any:
    """Convert numbers, strings, mappings and lists to values that the settings can parse.

    Other types give `_REFUSED`.
    """
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


def _describe_type(hint: Any) -> tuple[str, str]:
    """Return a description of a type annotation, such as "a whole number", and an example value."""
    if get_origin(hint) in (Union, UnionType):
        kinds = [member for member in get_args(hint) if member is not type(None)]
        named = [_describe_type(kind)[0] for kind in kinds]
        return " or ".join(named), _describe_type(kinds[0])[1]
    if get_origin(hint) is dict:
        return "a mapping of metric names to numbers", '{"accuracy": 1}'
    if get_origin(hint) is Mapping:
        inner = '{"direction": "lower"}' if get_args(hint)[1] is not str else '"lower"'
        return "a mapping of metric names", f'{{"latency": {inner}}}'
    if get_origin(hint) is tuple and get_args(hint)[0] is str:
        return "a name, or a list of names", '["one", "other"]'
    if get_origin(hint) is tuple:
        return "a number, or a list of numbers", "[1]" if get_args(hint)[0] is int else "[0.05]"
    words = {bool: ("True or False", "True"), int: ("a whole number", "1")}
    words |= {float: ("a number", "0.05"), str: ("a text", '"…"')}
    return words.get(hint, ("a number, or a mapping of names to numbers", "0.05"))
