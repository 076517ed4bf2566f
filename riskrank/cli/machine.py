"""Options of the machine: ``--set KEY=VALUE``, a variable ``RISKRANK_KEY``, or ``[set]`` of a configuration.

The command line comes before the environment, and the environment before the configuration.
"""

from collections.abc import Collection, Iterable, Mapping
from math import isnan
from typing import Any, get_args

from riskrank.asked.option import Option
from riskrank.asked.values import number_or_nan
from riskrank.errors import MACHINE, UsageError, did_you_mean, listing, option

_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def keys_of(names: Iterable[str]) -> list[str]:
    """Return names of options as ``--set`` takes them, in one order for all commands."""
    return [name.replace("_", "-") for name in sorted(names, key=MACHINE.index)]


def variable(name: str) -> str:
    """Return the environment variable of an option."""
    return f"RISKRANK_{name.upper()}"


def read_texts(texts: Iterable[str], known: Collection[str] = MACHINE) -> dict[str, str]:
    """Return the values of ``KEY=VALUE`` texts by the names of their options.

    Raises
    ------
    UsageError
        If a text has no value, or a key that is not among the known options.
    """
    values = {}
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        name = key.replace("-", "_")
        keys = keys_of(known)
        if name not in known:
            raise UsageError(
                f"{option('set', text)}: there is no key {key!r} here",
                found=f"the keys are {listing(keys)}",
                hint=did_you_mean(key, keys, otherwise="use one of these keys", write=_written),
            )
        if not value:
            raise UsageError(f"{option('set', key)} has no value", found=text, hint=f"write {_written(key)}")
        values[name] = value
    return values


def _written(key: str) -> str:
    return option("set", f"{key}=VALUE")


def read_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the values of environment variables by the names of their options."""
    given = {name: variables.get(variable(name), "").strip() for name in MACHINE}
    return {name: value for name, value in given.items() if value}


def is_true(text: str) -> bool:
    """Return whether a text turns an option on."""
    return _TRUTHS.get(text.lower(), False)


def typed_values(options: Iterable[Option], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return values in the types of their options.

    Raises
    ------
    UsageError
    """
    return {one.name: _typed(one, texts[one.name]) for one in options if one.name in texts}


def _typed(one: Option, text: str) -> Any:
    """Return a number, a truth value or a text."""
    kind = next(kind for kind in get_args(one.kind) or (one.kind,) if kind is not type(None))
    if kind is str:
        return text
    if kind is bool and text.lower() in _TRUTHS:
        return is_true(text)
    number = number_or_nan(text)
    if kind is bool or isnan(number) or (kind is int and not number.is_integer()):
        example = one.asking.metavar or "true"
        words = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise UsageError(
            f"{option(one.name)} takes {words}",
            found=text,
            hint=f"write {option(one.name, example)}",
        )
    return kind(number)
