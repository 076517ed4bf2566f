"""What SQL writes: names, texts and conditions, a table to ask, and queries no deeper than a stack."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from riskrank.errors import InputError, option
from riskrank.options.values import number_or_nan
from riskrank.scores.names.vocabulary import column_for_role

# Words that SQL takes for something else than a column.
_RESERVED = {"current_user", "interval", "not", "select", "session_user", "user"}

# Steps of a query, which Polars nests in one another: some thousand fill its stack, and the process is gone.
_MOST_STEPS = 400
# Brackets within brackets, of which the parser of Polars tries so many readings that it never ends.
_DEEPEST = 20
# BETWEEN within BETWEEN, as in x BETWEEN 0 AND 1 BETWEEN 0 AND 1: another that never ends.
_CHAINED = re.compile(
    r"\bbetween\b(?:(?!\b(?:and|or|between)\b).)*\band\b(?:(?!\b(?:and|or)\b).)*\bbetween\b", re.I | re.S
)
_STRINGS = re.compile(r"'[^']*'|\"[^\"]*\"")
_STEP = re.compile(
    r"[-+*/%~^&\[]|[|<>=!:]+|\b(?:and|or|not|when|is|in|i?like|between|join|union|except|intersect|select|collate)\b",
    re.IGNORECASE,
)


def quoted_column(column: str) -> str:
    """A column as SQL names it."""
    plain = re.fullmatch(r"[A-Za-z_]\w*", column) and column.lower() not in _RESERVED
    return column if plain else '"' + column.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def leaving_out(column: str, values: Sequence[str], every: Sequence[str], given: str | None) -> str:
    """The condition that leaves out rows with some values of a column, beside one that is given.

    Parameters
    ----------
    column : str
    values : sequence of str
    every : sequence of str
        All values of the column: where each is a number, the column holds numbers.
    given : str or None
    """
    texts = values if all(map(is_number, every)) else map(quoted_text, values)
    condition = f"{quoted_column(column)} NOT IN ({', '.join(texts)})"
    return condition if given is None else f"({given}) AND {condition}"


def is_number(name: str) -> bool:
    """Whether a name is a finite number."""
    return math.isfinite(number_or_nan(name))


_ROLES = ("model", "sample", "metric", "score")


def likeliest(tables: Mapping[str, Sequence[str]]) -> str:
    """The table with columns for the most roles; the first of several."""
    return max(tables, key=lambda name: roles_in(tables[name]))


def roles_in(columns: Sequence[str]) -> int:
    """How many roles have a column that is called like them, or usually is."""
    return len({found for role in _ROLES if (found := column_for_role(role, columns)) is not None})


def with_columns(tables: Mapping[str, Sequence[str]], most: int = 4) -> list[str]:
    """Tables with their first columns, for a message."""
    return [
        f"{name} ({', '.join(columns[:most])}{', …' if len(columns) > most else ''})"
        for name, columns in tables.items()
    ]


def refuse_long(label: str, parameter: str, text: str) -> None:
    """Refuse a query that no stack is deep enough for, which would end the process.

    Raises
    ------
    InputError
    """
    plain = _STRINGS.sub(" ", text)
    steps = len(_STEP.findall(plain))
    depth = max(accumulate((one in "([") - (one in ")]") for one in plain), default=0)
    if depth > _DEEPEST or _CHAINED.search(plain):
        deep = f"{depth:,} brackets within one another; {_DEEPEST} are allowed"
        raise InputError(
            f"{label}: {option(parameter, text)} is too deep",
            found=deep if depth > _DEEPEST else "a BETWEEN of the result of another",
            hint="write it flat, or select rows before",
        )
    if steps > _MOST_STEPS:
        raise InputError(
            f"{label}: {option(parameter, text)} is too long",
            found=f"{steps:,} operators; {_MOST_STEPS} are allowed",
            hint="write several values as column IN (…), or select rows before",
        )
