"""Polars ends in a panic where it forgot a case, with pages of its insides, and where queries nest deep."""

import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from itertools import accumulate
from typing import IO

from polars.exceptions import PanicException

from riskrank.errors import InputError, option

# Standard error is one for the whole process.
_ALONE = threading.RLock()

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


@contextlib.contextmanager
def panics_unsaid() -> Iterator[None]:
    """Leave out what a panic writes; anything else that goes to standard error comes after."""
    with contextlib.ExitStack() as ending, _ALONE:
        try:
            held: IO[bytes] = ending.enter_context(tempfile.TemporaryFile())
            kept = os.dup(2)
        except OSError:  # no standard error, or no room for another file
            yield
            return
        os.dup2(held.fileno(), 2)
        try:
            yield
        except PanicException:
            held.truncate(0)
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            _write(held)


def _write(held: IO[bytes]) -> None:
    held.seek(0)
    with contextlib.suppress(OSError):
        while piece := held.read(1 << 16):
            os.write(2, piece)


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
