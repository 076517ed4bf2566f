"""Warnings of a kind, by which they are told apart."""

from typing import Self

READ, FOLDERS, ALIKE, CHAPTER = "read", "folders", "alike", "chapter"
"""How a table was understood, and its folders; metrics that nobody weighed; of a chapter alone."""


class Warned(str):
    """A warning of a kind."""

    kind = ""

    def __new__(cls, text: str, kind: str = "") -> Self:
        """Keep the kind beside the text."""
        made = super().__new__(cls, text)
        made.kind = kind
        return made


def kind_of(warning: str) -> str:
    """The kind of a warning; of most there is none."""
    return getattr(warning, "kind", "")
