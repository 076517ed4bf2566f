"""How to get all rows of a document of which a page shows some."""

from __future__ import annotations

from riskrank.errors import by_door, option


def all_rows(what: str) -> str:
    """Where the rows are: in files for the command line, in the result for Python.

    Parameters
    ----------
    what : str
        All of them, as in ``all 1,000 scores``.
    """
    csv = option("format", "csv")
    return by_door(
        f"{option('output', 'FILE.csv')} or FILE.parquet writes {what}, {csv} prints them",
        f"rows and frame hold {what}, to_csv() writes them",
    )
