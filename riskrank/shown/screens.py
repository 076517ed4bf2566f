"""What a first screen has room for, and where a reader finds the rest."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from riskrank.errors import by_door, option
from riskrank.shown.view import Line, Section
from riskrank.studies.document import Document
from riskrank.studies.wording import counted

# Models a screen has room for beside words.
MOST_ROWS = 10
# Metrics beside each other; a table of more is read by nobody.
MOST_METRICS = 6


def first_screen(sections: Iterable[Section]) -> list[Section]:
    """What answers the question; the rest is asked for."""
    return [section for section in sections if not section.more]


def asked_for(sections: Iterable[Section]) -> list[Section]:
    """The sections as what only a reader who asks for it sees."""
    return [replace(section, more=True) for section in sections]


def offered(sections: Iterable[Section], *asked: str) -> list[Section]:
    """What to ask next, everything last, and the sections that only who asks for everything sees."""
    return [Line(", ".join((*asked, option("explain", True))), "Also:"), *asked_for(sections)]


def unshown(count: int, noun: str, asked: str | None = None) -> list[Line]:
    """How many more there are than a screen shows, and what shows them; nothing where all are shown."""
    asked = option("explain", True) if asked is None else asked
    return [Line(f"… {counted(count, noun)} more: {asked}")] if count > 0 else []


def unseen(document: Document[Any]) -> list[Line]:
    """What the samples cannot see."""
    return [Line(one.sentence) for one in document.findings if one.kind == "blind-to"]


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
