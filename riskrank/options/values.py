"""Normalisation of option values (names, numbers, and values by metric) from text or Python objects."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NoReturn

from riskrank.errors import UsageError, listing, option, unknown_name

# Placeholder in `--lower`, `--higher` or `--weight` for all metrics that are not named.
WILDCARD = "*"

# Pattern of a statistic such as `sum(2*tp)/sum(2*tp+fp+fn)`.
RATIO_OF_SUMS = re.compile(r"sum\((.*)\)/sum\((.*)\)")

Numbers = float | str | Iterable[float | str] | None


def directed_metrics(statistics: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics whose direction the statistics depend on; an empty tuple means all metrics.

    A ratio of sums has the direction of its numerator.
    """
    names: list[str] = []
    for text in statistics:
        match, metric = RATIO_OF_SUMS.fullmatch(text), text.partition(":")[2]
        if not match and (not metric or "/" in metric):
            return ()
        terms = match[1].split("+") if match else [metric]
        names += (term.rpartition("*")[2].strip() for term in terms)
    return tuple(names)


def number_or_nan(value: Any) -> float:
    """Convert a value to float, or to NaN if it is not a number."""
    try:
        return float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def parse_numbers(
    values: Numbers, *, parameter: str, example: str = "0.05,0.1", kind: str = "numbers"
) -> tuple[float, ...]:
    """Parse numbers into a tuple of floats.

    Texts may contain several, separated by commas.

    Parameters
    ----------
    values : float, str, iterable of these, or None
        Value of the option; None gives an empty tuple.
    parameter : str
        Option name, for error messages.
    example : str
        Example value, for the hint in error messages.
    kind : str
        Noun for the values, for error messages.

    Raises
    ------
    UsageError
        If a text is not a number.
    """
    result = []
    for part in split_parts(values):
        try:
            result.append(float(part))
        except ValueError:
            raise _type_error(kind, parameter, example, str(part)) from None
    return tuple(result)


def parse_ints(values: Numbers, *, parameter: str, example: str = "100,500") -> tuple[int, ...]:
    """Parse integers into a tuple.

    Texts may contain several, separated by commas.

    Raises
    ------
    UsageError
        If a value is not an integer.
    """
    result = parse_numbers(values, parameter=parameter, example=example, kind="whole numbers")
    for number in result:
        if not number.is_integer():
            raise _type_error("whole numbers", parameter, example, f"{number:g}")
    return tuple(int(number) for number in result)


def _type_error(kind: str, parameter: str, example: str, text: str) -> UsageError:
    """Create the error for a value of the wrong type."""
    hint = f"write {option(parameter, example)}"
    return UsageError(f"{option(parameter)} needs {kind}", found=text, hint=hint)


def split_parts(values: Any) -> Iterator[float | str]:
    """Yield single values from a value, nested iterables, or comma-separated texts."""
    if isinstance(values, str):
        yield from (part.strip() for part in values.split(","))
    elif isinstance(values, Iterable):
        for value in values:
            yield from split_parts(value)
    elif values is not None:
        yield values


def to_names(values: str | Iterable[str] | None) -> tuple[str, ...]:
    """Convert a name, several names, or None to a tuple of names."""
    if values is None:
        return ()
    return (values,) if isinstance(values, str) else tuple(values)


def split_names(values: Iterable[str], *, parameter: str) -> tuple[str, ...]:
    """Split comma-separated texts into names.

    A name that contains a comma must be in double quotes.

    Raises
    ------
    UsageError
        If there is no name (an empty shell variable must not mean "all"), or a line break is outside double
        quotes.
    """
    texts = list(values)
    if not any(text.strip(" ,") for text in texts):
        hint = f"write at least one name, or leave out {option(parameter)}"
        raise UsageError(f"{option(parameter)} needs a name", found=repr(texts[0]), hint=hint)
    try:
        rows = [row for text in texts for row in csv.reader([text], skipinitialspace=True)]
    except csv.Error:
        problem = f"{option(parameter)} has a name that cannot be parsed"
        hint = "put a name with a line break or a comma in double quotes"
        raise UsageError(problem, found=listing(map(repr, texts)), hint=hint) from None
    return tuple(name.strip() for row in rows for name in row if name.strip())


def contradict(first: str, second: str, hint: str = "leave out one of them") -> NoReturn:
    """Raise UsageError for two options that are mutually exclusive."""
    raise UsageError(f"{first} and {second} cannot be used together", found="both", hint=hint)


def misplaced_option_error(problem: str, found: str, name: str, alternative: str = "") -> UsageError:
    """Create the error for an option that has no effect in this context.

    Parameters
    ----------
    problem, found : str
        What is wrong, and the value found.
    name : str
        Name of the option.
    alternative : str
        Alternative to suggest at the end of the hint.
    """
    return UsageError(problem, found=found, hint=f"leave out {option(name)}{alternative}")


def name_value_pairs(values: Any) -> list[tuple[str, Any]]:
    """Convert values by name to pairs.

    The name "" stands for all other names.

    Parameters
    ----------
    values : mapping, number, or texts such as ``acc=2``
        Value of the option; a number applies to all names.
    """
    if isinstance(values, Mapping):
        return [(str(name), value) for name, value in values.items()]
    # Settings created from other settings already contain pairs.
    pairs = []
    for item in [values] if isinstance(values, str | int | float) else values or ():
        name, separator, value = item.rpartition("=") if isinstance(item, str) else ("", "", item)
        # "=3" has no name.
        pair = (name, value) if name or not separator else ("", item)
        pairs.append(item if isinstance(item, tuple) else pair)
    return pairs


def named_numbers(parameter: str, values: Mapping[str, float] | str | Iterable[str]) -> dict[str, float]:
    """Parse numbers by metric, such as weights, from a mapping or ``METRIC=NUMBER`` texts.

    Raises
    ------
    UsageError
        If a text is not of this form, a metric occurs twice, or a value is not a number.
    """
    equal = parameter == "weight" and values in ("equal", ["equal"], ("equal",))
    result: dict[str, float] = {}
    for name, value in name_value_pairs({WILDCARD: 1} if equal else values):
        number = number_or_nan(value) if name else float("nan")
        if isnan(number):
            problem = f"{option(parameter)} needs a metric and a number"
            hint = f"write {option(parameter, 'accuracy=0.5')}"
            raise UsageError(problem, found=f"{name}={value}" if name else str(value), hint=hint)
        if name in result:
            problem = f"{option(parameter)} names {name} twice"
            raise UsageError(problem, found=f"{result[name]:g} and {value}", hint="give each metric once")
        result[name] = number
    return result


def check_names(numbers: Mapping[str, float], names: Sequence[str], *, kind: str, parameter: str) -> None:
    """Raise UsageError if `numbers` contains an unknown name."""
    for name, value in numbers.items():
        if name not in names:
            raise unknown_name(name, names, kind=kind, parameter=parameter, write=f"{{}}={value:g}".format)


def check_directions(values: Mapping[str, str] | None, *, parameter: str = "directions") -> dict[str, str]:
    """Validate and return the directions by metric.

    Raises
    ------
    UsageError
        If a direction is neither "lower" nor "higher".
    """
    result = {str(name): direction for name, direction in (values or {}).items()}
    for name, direction in result.items():
        if direction not in ("lower", "higher"):
            problem = f"{option(parameter)}: invalid direction for metric '{name}'"
            hint = f"write directions={{{name!r}: 'lower'}} if lower is better"
            raise UsageError(problem, found=f"{direction!r}; a direction is 'lower' or 'higher'", hint=hint)
    return result


def check_metrics(metrics: Mapping[str, Mapping[str, Any]] | None) -> dict[str, dict[str, Any]]:
    """Return the metric descriptions as new dictionaries, with tuples converted to lists.

    Raises
    ------
    UsageError
        If a description is not a mapping.
    """
    result = {}
    for name, described in (metrics or {}).items():
        if not isinstance(described, Mapping):
            raise UsageError(
                f"{option('metrics')} needs a mapping for each metric",
                found=f"{name!r}: {described!r}",
                hint=f"write metrics={{{str(name)!r}: {{'direction': 'lower'}}}}",
            )
        pairs = ((str(key), value) for key, value in described.items() if value is not None)
        result[str(name)] = {key: [*value] if isinstance(value, tuple) else value for key, value in pairs}
    return result
