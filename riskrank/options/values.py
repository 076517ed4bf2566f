"""One form for what may be given in several: names and numbers, one or many, as texts or by name."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NoReturn

from riskrank.errors import UsageError, listing, no_such, option

ALL_OTHERS = "*"
"""Stands in ``--lower``, ``--higher`` or ``--weight`` for the metrics that are not named otherwise."""

Numbers = float | str | Iterable[float | str] | None


def number_or_nan(value: Any) -> float:
    """A number, or what was meant as one; NaN of anything else."""
    try:
        return float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def numbers(
    values: Numbers, *, parameter: str, example: str = "0.05,0.1", kind: str = "numbers"
) -> tuple[float, ...]:
    """One number, several, or none, as a tuple; texts may hold several with commas between.

    Raises
    ------
    UsageError
        If a text is no number; ``example`` shows how to write it.
    """
    found = []
    for part in parts_of(values):
        try:
            found.append(float(part))
        except ValueError:
            raise _takes(kind, parameter, example, str(part)) from None
    return tuple(found)


def whole_numbers(values: Numbers, *, parameter: str, example: str = "100,500") -> tuple[int, ...]:
    """One whole number, several, or none, as a tuple.

    Raises
    ------
    UsageError
        If one is not whole.
    """
    found = numbers(values, parameter=parameter, example=example, kind="whole numbers")
    for number in found:
        if not number.is_integer():
            raise _takes("whole numbers", parameter, example, f"{number:g}")
    return tuple(int(number) for number in found)


def _takes(kind: str, parameter: str, example: str, found: str) -> UsageError:
    hint = f"write {option(parameter, example)}"
    return UsageError(f"{option(parameter)} takes {kind}", found=found, hint=hint)


def parts_of(values: Any) -> Iterator[float | str]:
    """One value, several, or texts with commas between."""
    if isinstance(values, str):
        yield from (part.strip() for part in values.split(","))
    elif isinstance(values, Iterable):
        for value in values:
            yield from parts_of(value)
    elif values is not None:
        yield values


def names(values: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name, several, or none, as a tuple."""
    if values is None:
        return ()
    return (values,) if isinstance(values, str) else tuple(values)


def split_names(values: Iterable[str], *, parameter: str) -> tuple[str, ...]:
    """Names with commas between; a name with a comma goes in double quotes.

    Raises
    ------
    UsageError
        If there is none: an empty variable of a shell must not silently mean "all of them". And for line
        ends outside of double quotes.
    """
    texts = list(values)
    if not any(text.strip(" ,") for text in texts):
        raise UsageError(
            f"{option(parameter)} got no name", found=repr(texts[0]), hint="name some, or leave it out"
        )
    try:
        rows = [row for text in texts for row in csv.reader([text], skipinitialspace=True)]
    except csv.Error:
        raise UsageError(
            f"{option(parameter)} got a name that cannot be read",
            found=listing(map(repr, texts)),
            hint="a name with a line end or a comma goes in double quotes",
        ) from None
    return tuple(name.strip() for row in rows for name in row if name.strip())


def contradict(one: str, other: str, hint: str = "leave out one of them") -> NoReturn:
    """Refuse two options that exclude each other.

    Raises
    ------
    UsageError
    """
    raise UsageError(f"{one} and {other} contradict each other", found="both", hint=hint)


def out_of_place(what: str, found: str, name: str, otherwise: str = "") -> UsageError:
    """Tell that an option says nothing here, and what is to be done beside leaving it out."""
    return UsageError(what, found=found, hint=f"leave out {option(name)}{otherwise}")


def numbers_by_name(given: Any) -> list[tuple[str, Any]]:
    """What was given by name, as texts such as ``acc=2``, or for all, under the name ""."""
    if isinstance(given, Mapping):
        return [(str(name), value) for name, value in given.items()]
    # Settings made from settings hold pairs already.
    every = [given] if isinstance(given, str | int | float) else given or ()
    return [one if isinstance(one, tuple) else _named(one) for one in every]


def _named(text: Any) -> tuple[str, Any]:
    name, separator, value = text.rpartition("=") if isinstance(text, str) else ("", "", text)
    return (name, value) if name or not separator else ("", text)  # "=3" names nothing


def named_numbers(parameter: str, given: Mapping[str, float] | str | Iterable[str]) -> dict[str, float]:
    """Numbers by metric, such as weights, from a mapping or from ``METRIC=NUMBER`` texts.

    Raises
    ------
    UsageError
        If a text is not of that form or names a metric twice, or one is no number.
    """
    alike = parameter == "weight" and given in ("equal", ["equal"], ("equal",))
    found: dict[str, float] = {}
    for name, value in numbers_by_name({ALL_OTHERS: 1} if alike else given):
        number = number_or_nan(value) if name else float("nan")
        if isnan(number):
            raise UsageError(
                f"{option(parameter)} needs a metric and a number",
                found=f"{name}={value}" if name else str(value),
                hint=f"write {option(parameter, 'accuracy=0.5')}",
            )
        if name in found:
            raise UsageError(
                f"{option(parameter)} names {name} twice",
                found=f"{found[name]:g} and {value}",
                hint="give it once",
            )
        found[name] = number
    return found


def require_known(given: Mapping[str, float], names: Sequence[str], *, kind: str, parameter: str) -> None:
    """Refuse a number for what nobody knows.

    Raises
    ------
    UsageError
    """
    for name, value in given.items():
        if name not in names:
            raise no_such(name, names, kind=kind, parameter=parameter, write=f"{{}}={value:g}".format)


def named_directions(given: Mapping[str, str] | None, *, parameter: str = "directions") -> dict[str, str]:
    """Which way is better, by metric.

    Raises
    ------
    UsageError
        If one is neither lower nor higher.
    """
    found = {str(name): way for name, way in (given or {}).items()}
    for name, way in found.items():
        if way not in ("lower", "higher"):
            raise UsageError(
                f"{option(parameter)}: no direction of metric '{name}'",
                found=f"{way!r}; a direction is 'lower' or 'higher'",
                hint=f"write directions={{{name!r}: 'lower'}} if less of it is better",
            )
    return found


def named_metrics(given: Mapping[str, Mapping[str, Any]] | None) -> dict[str, dict[str, Any]]:
    """What is said of metrics, by metric, in dictionaries of one's own; pairs as lists.

    Raises
    ------
    UsageError
        If something is said of one that has no names for what is said.
    """
    found = {}
    for name, described in (given or {}).items():
        if not isinstance(described, Mapping):
            raise UsageError(
                f"{option('metrics')} describes each metric by a mapping",
                found=f"{name!r}: {described!r}",
                hint=f"write metrics={{{str(name)!r}: {{'direction': 'lower'}}}}",
            )
        pairs = ((str(key), value) for key, value in described.items() if value is not None)
        found[str(name)] = {key: [*value] if isinstance(value, tuple) else value for key, value in pairs}
    return found
