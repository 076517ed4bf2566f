"""Options set by ``--set KEY=VALUE``, ``RISKRANK_KEY`` variables, or ``[set]`` in the configuration file.

The command line overrides the environment, which overrides the configuration file.
"""

from collections.abc import Collection, Iterable, Mapping
from math import isnan
from typing import Any, get_args

from riskrank.errors import SET_KEYS, UsageError, did_you_mean, listing, option
from riskrank.options.option import Option
from riskrank.options.values import number_or_nan

_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def key_names(names: Iterable[str]) -> list[str]:
    """Convert option names to keys of ``--set``, in a fixed order."""
    return [name.replace("_", "-") for name in sorted(names, key=SET_KEYS.index)]


def env_name(name: str) -> str:
    """Return the name of an option's environment variable."""
    return f"RISKRANK_{name.upper()}"


def parse_key_values(texts: Iterable[str], allowed: Collection[str] = SET_KEYS) -> dict[str, str]:
    """Parse ``KEY=VALUE`` texts into a mapping of option names to values.

    Raises
    ------
    UsageError
        If a text has no value, or its key is not in `allowed`.
    """
    values = {}
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        name = key.replace("-", "_")
        keys = key_names(allowed)
        if name not in allowed:
            raise UsageError(
                f"{option('set', text)}: unknown key {key!r}",
                found=f"the keys are {listing(keys)}",
                hint=did_you_mean(key, keys, fallback="use one of these keys", write=_example),
            )
        if not value:
            raise UsageError(f"{option('set', key)} has no value", found=text, hint=f"write {_example(key)}")
        values[name] = value
    return values


def _example(key: str) -> str:
    """Return an example assignment of a key, for hints."""
    return option("set", f"{key}=VALUE")


def read_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the options set by environment variables, as values by option name."""
    values = {name: variables.get(env_name(name), "").strip() for name in SET_KEYS}
    return {name: value for name, value in values.items() if value}


def is_true(text: str) -> bool:
    """Return True if a text is a true value ("true" or "1")."""
    return _TRUTHS.get(text.lower(), False)


def parse_values(options: Iterable[Option], texts: Mapping[str, str]) -> dict[str, Any]:
    """Convert values to the types of their options.

    Raises
    ------
    UsageError
        If a text cannot be converted to the type.
    """
    return {opt.name: _parse_value(opt, texts[opt.name]) for opt in options if opt.name in texts}


def _parse_value(opt: Option, text: str) -> Any:
    """Convert a text to the type of its option: number, boolean or text."""
    kind = next(kind for kind in get_args(opt.kind) or (opt.kind,) if kind is not type(None))
    if kind is str:
        return text
    if kind is bool and text.lower() in _TRUTHS:
        return is_true(text)
    number = number_or_nan(text)
    if kind is bool or isnan(number) or (kind is int and not number.is_integer()):
        example = opt.spec.metavar or "true"
        words = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise UsageError(
            f"{option(opt.name)} needs {words}",
            found=text,
            hint=f"write {option(opt.name, example)}",
        )
    return kind(number)
