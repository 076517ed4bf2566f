"""Names and texts as SQL writes them."""

from __future__ import annotations

import re


def quoted_column(column: str) -> str:
    """A column as SQL names it."""
    return column if re.fullmatch(r"[A-Za-z_]\w*", column) else '"' + column.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
