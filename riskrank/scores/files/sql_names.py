"""Quoting of SQL names and strings, choice of a table, and limits on query complexity."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from riskrank.errors import InputError, option
from riskrank.options.values import number_or_nan
from riskrank.scores.names.vocabulary import column_for_role

# Reserved words that need quotes as column names.
_RESERVED = {"current_user", "interval", "not", "select", "session_user", "user"}

# Maximum operators of a query; Polars nests them, and some thousands overflow its stack.
_MAX_STEPS = 400
# Maximum nesting of brackets; the Polars parser takes exponential time.
_MAX_DEPTH = 20
# Nested BETWEEN, as in x BETWEEN 0 AND 1 BETWEEN 0 AND 1, also takes exponential time.
_NESTED_BETWEEN = re.compile(
    r"\bbetween\b(?:(?!\b(?:and|or|between)\b).)*\band\b(?:(?!\b(?:and|or)\b).)*\bbetween\b", re.I | re.S
)
_STRINGS = re.compile(r"'[^']*'|\"[^\"]*\"")
_STEP = re.compile(
    r"[-+*/%~^&\[]|[|<>=!:]+|\b(?:and|or|not|when|is|in|i?like|between|join|union|except|intersect|select|collate)\b",
    re.IGNORECASE,
)


def quote_column(column: str) -> str:
    """Return a column name, quoted for SQL if necessary."""
    plain = re.fullmatch(r"[A-Za-z_]\w*", column) and column.lower() not in _RESERVED
    return column if plain else '"' + column.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def exclude_values(column: str, values: Sequence[str], all_values: Sequence[str], where: str | None) -> str:
    """Return an SQL condition that excludes rows with certain values in a column.

    Parameters
    ----------
    column : str
    values : sequence of str
        Values to exclude.
    all_values : sequence of str
        All values of the column; they are compared as numbers if all of them are numeric.
    where : str or None
        Existing condition to combine with.
    """
    texts = values if all(map(is_number, all_values)) else map(quote_text, values)
    condition = f"{quote_column(column)} NOT IN ({', '.join(texts)})"
    return condition if where is None else f"({where}) AND {condition}"


def is_number(name: str) -> bool:
    """Return True if a text is a finite number."""
    return math.isfinite(number_or_nan(name))


_ROLES = ("model", "sample", "metric", "score")


def most_likely_table(tables: Mapping[str, Sequence[str]]) -> str:
    """Return the table whose columns match the most roles, or the first of several such tables."""
    return max(tables, key=lambda name: count_roles(tables[name]))


def count_roles(columns: Sequence[str]) -> int:
    """Return the number of roles for which there is a column with a usual name."""
    return len({column for role in _ROLES if (column := column_for_role(role, columns)) is not None})


def describe_tables(tables: Mapping[str, Sequence[str]], most: int = 4) -> list[str]:
    """Describe tables by their names and first columns, for use in messages."""
    return [
        f"{name} ({', '.join(columns[:most])}{', …' if len(columns) > most else ''})"
        for name, columns in tables.items()
    ]


def reject_long_query(label: str, parameter: str, text: str) -> None:
    """Raise InputError if a query is so long or deeply nested that Polars could crash or never finish."""
    plain = _STRINGS.sub(" ", text)
    steps = len(_STEP.findall(plain))
    depth = max(accumulate((char in "([") - (char in ")]") for char in plain), default=0)
    if depth > _MAX_DEPTH or _NESTED_BETWEEN.search(plain):
        nesting = f"{depth:,} nested brackets; the maximum is {_MAX_DEPTH}"
        raise InputError(
            f"{label}: {option(parameter, text)} is nested too deeply",
            found=nesting if depth > _MAX_DEPTH else "a nested BETWEEN",
            hint="simplify it, or select rows beforehand",
        )
    if steps > _MAX_STEPS:
        raise InputError(
            f"{label}: {option(parameter, text)} is too long",
            found=f"{steps:,} operators; the maximum is {_MAX_STEPS}",
            hint="write several values as column IN (…), or select rows beforehand",
        )
