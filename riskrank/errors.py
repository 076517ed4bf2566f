"""The few ways riskrank can fail, each with its exit status and its three lines."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum


class ExitStatus(IntEnum):
    """What the process tells its caller; other programs rely on these numbers."""

    OK = 0
    GATE_FAILED = 1
    BAD_INPUT = 2
    NUMERICAL = 3
    INTERRUPTED = 130


class RiskrankError(Exception):
    """A failure the user can act on.

    Parameters
    ----------
    what : str
        What is wrong, and where: file, row, column, value.
    found : str
        What was found instead of what was needed.
    hint : str
        What to do about it, as concretely as possible.
    """

    exit_status = ExitStatus.NUMERICAL

    def __init__(self, what: str, *, found: str, hint: str) -> None:
        super().__init__(what)
        self.what = one_line(what)
        self.found = one_line(found)
        self.hint = one_line(hint)

    def lines(self) -> tuple[str, str, str]:
        """Return the three lines shown to the user."""
        return (f"error: {self.what}", f"found: {self.found}", f"hint: {self.hint}")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __reduce__(self):
        # Errors cross process boundaries under --jobs; keyword-only arguments need this to be pickled.
        return _rebuild, (type(self), self.what, self.found, self.hint)


class UsageError(RiskrankError):
    """The command line contradicts itself or asks for something unknown."""

    exit_status = ExitStatus.BAD_INPUT


class InputError(RiskrankError):
    """A file, its schema or its values cannot be used."""

    exit_status = ExitStatus.BAD_INPUT


class NumericalError(RiskrankError):
    """A computation failed: the answer would not be trustworthy, so there is none."""

    exit_status = ExitStatus.NUMERICAL


class GateFailed(RiskrankError):
    """A gate the user asked for did not hold: the only thing that ever exits 1."""

    exit_status = ExitStatus.GATE_FAILED


def one_line(text: str) -> str:
    """Fold a text onto one line, so that an error is three lines whatever a file held."""
    return " ".join(str(text).split())


def listing(names: Iterable[object], most: int = 8) -> str:
    """Join names for a message, cutting a long list with a count of the rest."""
    shown = [str(name) for name in names]
    if len(shown) <= most:
        return ", ".join(shown) if shown else "none"
    return ", ".join(shown[:most]) + f" … and {len(shown) - most} more"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate a user most likely meant, or None."""
    pool = [str(candidate) for candidate in candidates]
    folded = {candidate.casefold(): candidate for candidate in reversed(pool)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def _rebuild(kind: type[RiskrankError], what: str, found: str, hint: str) -> RiskrankError:
    return kind(what, found=found, hint=hint)
