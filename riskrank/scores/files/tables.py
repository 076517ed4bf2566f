"""Several tables in one file: which of them looks like scores, for the query a hint proposes."""

from collections.abc import Mapping, Sequence

from riskrank.scores.names.words import synonym

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
