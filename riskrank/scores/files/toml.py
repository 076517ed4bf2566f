"""TOML that others wrote, parsed in time of its bytes."""

import tomllib
from collections.abc import Mapping
from typing import Any

from riskrank.scores.files.json_objects import reason_of

# Steps down into tables that a text may ask for: the dots of its longest line for every line and every dot.
_MOST_STEPS = 5_000_000
# Levels of tables and lists; nothing that is read has more than four.
_DEEPEST = 32


def parsed_toml(content: bytes) -> dict[str, Any]:
    """Parse a document.

    Raises
    ------
    ValueError
        If it is no TOML or no UTF-8, nests too deeply, or holds a number of thousands of digits, which could
        not be shown in a message.
    """
    text = content.decode("utf-8-sig")
    # A name with dots costs the square of them, and a table with dots in its name that of every line below.
    dots = [line.count(".") for line in text.split("\n") if not line.lstrip().startswith("#")]
    if max(dots, default=0) * (len(dots) + sum(dots)) > _MOST_STEPS:
        raise ValueError(f"a line with {max(dots):,} dots")
    try:
        document = tomllib.loads(text)
        repr(document)
    except (ValueError, RecursionError) as error:
        raise ValueError(reason_of(error)) from None
    if _is_deeper(document, _DEEPEST):
        raise ValueError("values nested too deeply")
    return document


def _is_deeper(value: object, levels: int) -> bool:
    if not isinstance(value, Mapping | list):
        return False
    below = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in below)
