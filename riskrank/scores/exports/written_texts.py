"""What was asked and answered, as harnesses write it: texts, messages of a conversation, or their parts."""

import json
from collections.abc import Sequence
from typing import Any

# Columns of rows that were read once more for their texts: no file has any called so.
ASKED, ANSWERED = "(asked)", "(answered)"


def as_text(value: object) -> str:
    """A text without the blanks around it; of messages and their parts the texts, of anything else its JSON.

    Half a character, which no table can hold, is a question mark.
    """
    return _said(value).encode(errors="replace").decode()


def _said(value: object) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list) and len(value) == 1:
        return _said(value[0])
    if isinstance(value, list) and value and all(isinstance(one, dict) and "content" in one for one in value):
        return "\n".join(f"{one.get('role', '')}: {_said(one['content'])}" for one in value)
    if isinstance(value, dict):
        said = next(
            (value[key] for key in ("content", "text") if isinstance(value.get(key), str | list)), None
        )
        if said is not None:
            return _said(said)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return ""


def within(value: object, *keys: str) -> Any:
    """What stands in objects within objects; None where it is not there."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def likeliest(likelihoods: Sequence[object], choices: object) -> str | None:
    """The choice that a model gave the highest log-likelihood; None where these are no numbers."""
    try:
        values = [float(one) for one in likelihoods]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not values:
        return None
    best = max(range(len(values)), key=values.__getitem__)
    texts = within(choices, "text") or choices
    if isinstance(texts, list) and len(texts) == len(values):
        return as_text(texts[best])
    return f"choice {best + 1} of {len(values)}"
