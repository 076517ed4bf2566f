"""Names, texts and conditions as SQL writes them, and which of several tables a query is to ask."""

import math
import re
from collections.abc import Mapping, Sequence

from riskrank.scores.names.words import synonym

# Words that SQL takes for something else than a column.
_RESERVED = {"current_user", "interval", "not", "select", "session_user", "user"}


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
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False


_ROLES = ("model", "sample", "metric", "score")


def likeliest(tables: Mapping[str, Sequence[str]]) -> str:
    """The table with columns for the most roles; the first of several."""
    return max(tables, key=lambda name: roles_in(tables[name]))


def roles_in(columns: Sequence[str]) -> int:
    """How many roles have a column that is called like them, or usually is."""
    return len({found for role in _ROLES if (found := synonym(role, columns)) is not None})


def with_columns(tables: Mapping[str, Sequence[str]], most: int = 4) -> list[str]:
    """Tables with their first columns, for a message."""
    return [
        f"{name} ({', '.join(columns[:most])}{', …' if len(columns) > most else ''})"
        for name, columns in tables.items()
    ]
