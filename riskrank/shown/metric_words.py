"""Names of metrics in words on pages and in pictures: ``time_us`` is a time in µs."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Last words of names that are units, as they are written; the others say what is measured.
_UNITS = {
    **{"usd": "USD", "eur": "EUR", "gbp": "GBP", "pct": "%", "percent": "%"},
    **{"ns": "ns", "us": "µs", "ms": "ms", "s": "s", "sec": "s", "seconds": "s", "min": "min", "h": "h"},
    **{"kb": "KB", "mb": "MB", "gb": "GB", "bytes": "bytes", "wh": "Wh", "kwh": "kWh", "kg": "kg"},
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)+")

# The pattern of names that the words around are about.
_NAMES: ContextVar[re.Pattern[str] | None] = ContextVar("_NAMES", default=None)


def words_of(metric: str) -> str:
    """A name in words, its unit last; a name that is no list of words stays as it is."""
    if not _NAME.fullmatch(metric):
        return metric
    *words, last = metric.split("_")
    unit = _UNITS.get(last.lower())
    return f"{' '.join(words)} in {unit}" if unit else " ".join([*words, last])


@contextmanager
def naming(metrics: Iterable[str], models: Iterable[str]) -> Iterator[None]:
    """Speak of these metrics in words; a name that a model has, too, stays as it is."""
    names = [name for name in {*metrics} - {*models} if words_of(name) != name]
    longest = "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))
    # Not what is to be copied: options and their values, columns in quotes, parts of paths and longer names.
    found = rf"--[\w-]+[= ]\S+|(?<![\w/@:=,.&'\"“`-])(?:{longest})(?![\w/@&'\"”`]|[-.:]\w)"
    before = _NAMES.set(re.compile(found) if names else None)
    try:
        yield
    finally:
        _NAMES.reset(before)


def in_words(text: str) -> str:
    """A text in which the metrics it is about stand in words."""
    pattern = _NAMES.get()
    return text if pattern is None else pattern.sub(_said, text)


def _said(found: re.Match[str]) -> str:
    words = words_of(found[0])
    return words[0].upper() + words[1:] if found.string[: found.start()].endswith(". ") else words
