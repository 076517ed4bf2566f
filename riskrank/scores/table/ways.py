"""Ways out of a refusal, of which none is proposed that was not tried on the table itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, RiskrankError
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.shapes.reading import written

# To try a way takes as long as to read the table.
_MOST_ROWS = 2_000_000


def tried(error: InputError, scores: Scores, read: Callable[[Scores], object]) -> InputError:
    """The same error with the ways that lead somewhere, each with all that has to be said.

    Parameters
    ----------
    error : InputError
        Whose ways are changes of options.
    scores : Scores
    read : callable
        What failed, of scores with other options.
    """
    ways: list[tuple[str, object]] = []
    for way, change in error.ways:
        if isinstance(change, Mapping):
            asked = replace(scores.notes.asked, **change)
            if scores.notes.rows > _MOST_ROWS or not _leads_somewhere(scores, asked, read):
                continue
            way = written(asked, scores.notes.given)
        ways.append((way, None))
    return type(error)(error.what, found=error.found, hint=error.hint, ways=ways)


def _leads_somewhere(scores: Scores, asked: ReadOptions, read: Callable[[Scores], object]) -> bool:
    notes = replace(scores.notes, asked=asked)
    try:
        read(replace(scores, options=asked.as_read, notes=notes))
    except RiskrankError:
        return False
    return True
