"""Files that a run reads and writes, those that nobody named among them: none is written over another."""

import os
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR
_opened: dict[str, None] = {}
_named: list[str] = []


def begin(named: Iterable[str]) -> None:
    """Note which files were named, to be read or written, and from now on which are opened to be read."""
    _named[:] = named
    _opened.clear()
    _listen()


def opened(but: Iterable[str]) -> list[str]:
    """Files that were opened to be read, but for some."""
    others = {os.path.realpath(path) for path in but}
    return [path for path in _opened if os.path.realpath(path) not in others]


def is_taken(path: str) -> bool:
    """Whether a file is one that the run reads or writes."""
    if not os.path.exists(path):  # noqa: PTH110
        return False
    there = [other for other in (*_named, *_opened) if os.path.exists(other)]  # noqa: PTH110
    return any(os.path.samefile(path, other) for other in there)  # noqa: PTH121


@cache
def _listen() -> None:
    sys.addaudithook(_note)


def _note(event: str, parts: Any) -> None:
    if event == "open" and isinstance(parts[0], str) and not parts[2] & _WRITES:
        _opened[parts[0]] = None
