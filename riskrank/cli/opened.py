"""Files that a run has opened to read, those that nobody named among them: no result may replace one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR
_read: dict[str, None] = {}


def begin() -> None:
    """Forget what was read, and note what is read from now on."""
    _read.clear()
    _listen()


def check_not_opened(outputs: Iterable[str], renewed: Iterable[str]) -> None:
    """Refuse a result that would replace what was read, as results of a harness beside its samples.

    Parameters
    ----------
    outputs : iterable of str
    renewed : iterable of str
        Those of them that may lie where something was read.

    Raises
    ------
    UsageError
    """
    from riskrank.shown.files import check_writable

    kept = {*renewed}
    for output in outputs:
        if output not in kept:
            check_writable(output, [*_read])


@cache
def _listen() -> None:
    sys.addaudithook(_note)


def _note(event: str, parts: Sequence[Any]) -> None:
    if event == "open" and isinstance(parts[0], str) and not parts[2] & _WRITES:
        _read[parts[0]] = None
