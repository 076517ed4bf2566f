"""The few ways riskrank can fail, each with its exit status and its three lines."""

import difflib
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import partial
from keyword import iskeyword
from typing import Any, TypeVar

Choice = TypeVar("Choice")

# Around a parameter in a message. Below the command line nobody knows whether it will be written
# --missing drop or missing="drop"; private-use characters occur in no sensible name.
_OPEN, _EQUALS, _CLOSE = "\ue000", "\ue001", "\ue002"
# Around words for the command line and words for Python, where the two are asked differently.
_HERE, _THERE, _END = "\ue003", "\ue004", "\ue005"
# What a shell would split, expand or take away; a bar stands between choices in hints, not for a pipe.
_SHELL = re.compile(r"[\s*{}'\"$`\\()&;<>\[\]]")
# Characters of a line of an error; beyond, its middle is left out.
_LONGEST = 2_000
# Characters of a word that tells which name was meant.
_SHORTEST_WORD = 3
# Options of the machine, not of the question: keys of --set, of which Python has some as keywords.
MACHINE = ("jobs", "executor", "work_limit", "max_bytes", "max_memory", "color", "traceback")
# What Python calls otherwise: several weights are one mapping there.
_OTHERWISE = {"weight": "weights"}
_PARAMETER = re.compile(f"{_OPEN}([a-z0-9_]+)(?:{_EQUALS}([^{_CLOSE}]*))?{_CLOSE}")
_EITHER = re.compile(f"{_HERE}([^{_THERE}]*){_THERE}([^{_END}]*){_END}")


class ExitStatus(IntEnum):
    """What the process tells its caller; other programs rely on these numbers."""

    OK = 0
    GATE_FAILED = 1
    BAD_INPUT = 2
    NUMERICAL = 3
    INCONCLUSIVE = 4
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
    ways : sequence of (str, object)
        What else to say, as `option` spells it, each a way out; and what that makes of the options, for who
        tries it. One that begins with no option is another command, or other inputs.
    instead_of : sequence of str
        Inputs in whose place those of the ways stand.
    """

    exit_status = ExitStatus.NUMERICAL

    def __init__(
        self,
        what: str,
        *,
        found: str,
        hint: str,
        ways: Sequence[tuple[str, object]] = (),
        instead_of: Sequence[str] = (),
    ) -> None:
        super().__init__(spell(what, flags=False))
        self.what = one_line(what)
        self.found = one_line(found) if found.strip() else "nothing"
        self.hint = one_line(hint)
        self.ways = tuple(ways)
        self.instead_of = tuple(instead_of)

    def lines(self, *, flags: bool = False) -> tuple[str, str, str]:
        """The three lines shown to the user, parameters written for Python or as flags."""
        texts = (f"error: {self.what}", f"found: {self.found}", f"hint: {self.hint}")
        what, found, hint = (bounded(spell(text, flags=flags)) for text in texts)
        return what, found, hint

    def __str__(self) -> str:
        ways = [f"  {spell(way, flags=False)}" for way, _ in self.ways]
        return "\n".join([*self.lines(), *ways])

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process boundaries; keyword-only arguments need this to be pickled.
        ways = tuple((way, None) for way, _ in self.ways)
        again = partial(type(self), found=self.found, hint=self.hint, ways=ways, instead_of=self.instead_of)
        return again, (self.what,)


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


class GateInconclusive(RiskrankError):
    """No gate failed, but one is neither shown to hold nor shown not to."""

    exit_status = ExitStatus.INCONCLUSIVE


def option(name: str, value: object = None) -> str:
    """Name a parameter in a message, with a value or without.

    ``option("missing", "drop")`` is shown as ``--missing drop`` by the command line and as
    ``missing="drop"`` by Python; ``option("no_test", True)`` as ``--no-test`` and ``no_test=True``;
    ``option("jobs", 2)`` as ``--set jobs=2`` and ``jobs=2``.
    """
    return f"{_OPEN}{name}{_CLOSE}" if value is None else f"{_OPEN}{name}{_EQUALS}{value}{_CLOSE}"


def by_door(command_line: str, python: str) -> str:
    """Words for the command line or for Python, where one has an option and the other a method."""
    return f"{_HERE}{command_line}{_THERE}{python}{_END}"


def spell(text: str, *, flags: bool) -> str:
    """Write the parameters in a message as flags of the command line or as Python keywords."""
    text = _EITHER.sub(lambda match: match[1 if flags else 2], text)

    def write(match: re.Match[str]) -> str:
        name, value = match.groups()
        if flags:
            key = name.rstrip("_").replace("_", "-")
            if name in MACHINE:
                return f"--set {key if value is None else _quoted(f'{key}={value}')}"
            return f"--{key}" if value in (None, "True") else f"--{key} {_quoted(value)}"
        name = _OTHERWISE.get(name, name)
        name += "_" * iskeyword(name)  # Python calls it from_
        if value is None:
            return name
        plain = value in ("True", "False", "None", "N") or re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", value)
        return f"{name}={value}" if plain else f'{name}="{value}"'

    return _PARAMETER.sub(write, text)


def as_one_word(text: str) -> str:
    """A text as one word of a shell, in double quotes where it has single ones of its own, on one line."""
    if not text.isprintable():
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return "$'" + "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in escaped) + "'"
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else shlex.quote(text)


def _quoted(value: str) -> str:
    """Write a value so that a shell hands it on as it is, should it be copied."""
    return as_one_word(value) if _SHELL.search(value) else value


def one_of(parameter: str, value: Choice, choices: Sequence[Choice]) -> Choice:
    """The value of a parameter if it is one of its choices.

    Raises
    ------
    UsageError
        If it is none of them, with the nearest.
    """
    if value in choices:
        return value
    known = [str(choice) for choice in choices if choice is not None]
    written = partial(option, parameter)
    raise UsageError(
        f"{written(value)} is not a choice",
        found=f"{value!r}; the choices are {listing(known)}",
        hint=did_you_mean(str(value), known, write=written, otherwise=f"write {written(known[0])}"),
    )


def index_of(
    name: str, names: Sequence[str], *, kind: str, plural: str | None = None, parameter: str | None = None
) -> int:
    """The place of a name a user gave among those there are.

    Parameters
    ----------
    name : str
    names : sequence of str
    kind : str
        What is named: ``model``, ``metric``, ``objective``.
    plural, parameter : str, optional
        Of the kind, where it does not end in s; and what the name was given by.

    Raises
    ------
    UsageError
        If there is none of that name, with the nearest.
    """
    if name in names:
        return list(names).index(name)
    raise no_such(name, names, kind=kind, plural=plural, parameter=parameter)


def no_such(
    name: str,
    names: Sequence[str],
    *,
    kind: str,
    plural: str | None = None,
    parameter: str | None = None,
    write: Callable[[str], str] = str,
) -> UsageError:
    """The error of `index_of`; `write` says how the value of the parameter holds a name."""

    def told(one: str) -> str:
        return option(parameter, write(one)) if parameter else one

    return UsageError(
        f"{told(name) + ': ' if parameter else ''}there is no {kind} '{name}'",
        found=f"the {plural or kind + 's'} are {listing(names)}",
        hint=did_you_mean(name, names, write=told, otherwise="name one of these"),
    )


def one_line(text: str) -> str:
    """Fold a text onto one line, so that an error is three lines whatever a file held."""
    return " ".join(str(text).split())


def bounded(line: str) -> str:
    """Leave out the middle of a line nobody could read: a cell may hold ten million characters."""
    half = _LONGEST // 2
    cut = f"{line[:half]} … {len(line) - 2 * half:,} characters … {line[-half:]}"
    return line if len(line) <= _LONGEST else cut


def listing(names: Iterable[object], most: int = 8) -> str:
    """Join names for a message, cutting a long list with a count of the rest."""
    shown = [str(name) for name in names]
    more = f" … and {len(shown) - most} more" if len(shown) > most else ""
    return (", ".join(shown[:most]) if shown else "none") + more


def counted(count: int, noun: str) -> str:
    """A number of things: 1 metric, 2,000 metrics."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate a user most likely meant, or None.

    The one spelled most alike, else the only one that has the name among its words: ``tvar`` means
    ``negative-tvar``.
    """
    pool = [str(candidate) for candidate in candidates]
    folded = {candidate.casefold(): candidate for candidate in reversed(pool)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if not close and len(name) >= _SHORTEST_WORD:
        close = [one for one in folded if name.casefold() in re.split(r"[\W_]+", one)]
    return folded[close[0]] if len(close) == 1 else None


def did_you_mean(
    name: str,
    candidates: Iterable[str],
    *,
    otherwise: str,
    write: Callable[[str], str] = str,
) -> str:
    """The hint that names what a user most likely meant.

    Parameters
    ----------
    name : str
        What was written.
    candidates : iterable of str
        What could have been meant.
    otherwise : str
        The hint where nothing is near.
    write : callable
        How to write the one meant.
    """
    close = nearest(name, candidates)
    return otherwise if close is None else f"did you mean {write(close)}?"
