"""How to get what a page has no room for."""

from riskrank.errors import by_door, option
from riskrank.shown.view import Line
from riskrank.studies.wording import counted


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


def unshown(count: int, noun: str, asked: str | None = None) -> list[Line]:
    """How many more there are than a screen shows, and what shows them; nothing where all are shown."""
    asked = option("explain", True) if asked is None else asked
    return [Line(f"… {counted(count, noun)} more: {asked}")] if count > 0 else []
