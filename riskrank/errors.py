"""Exceptions of riskrank, each with an exit status and a three-line message."""

import difflib
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import partial
from keyword import iskeyword
from typing import Any, TypeVar

Choice = TypeVar("Choice")

# Marks around a parameter in a message, because only the caller knows whether to write --missing drop or
# missing="drop". Private-use characters do not occur in real names.
_OPEN, _EQUALS, _CLOSE = "\ue000", "\ue001", "\ue002"
# Marks around alternative texts for the command line and for Python.
_ALT_START, _ALT_SEP, _ALT_END = "\ue003", "\ue004", "\ue005"
# Characters that a shell would split or expand. A bar separates choices in hints and is not quoted.
_SHELL = re.compile(r"[\s*{}'\"$`\\()&;<>\[\]]")
# Maximum length of an error line, in characters.
_MAX_LINE = 2_000
# Least similarity of an option that is proposed: a typing error has more, another word has less.
OPTION_CUTOFF = 0.8
# Minimum length of a word that can identify a longer name, in characters.
_MIN_WORD = 3
# Keys of --set: options about the execution, some of which are also keywords in Python.
SET_KEYS = ("jobs", "executor", "work_limit", "max_bytes", "max_memory", "color", "traceback")
# Options with another name in Python, where all weights are one mapping.
_PYTHON_NAMES = {"weight": "weights"}
# Credentials in an address: user:password@, and signed parameters of its query.
_SECRET = re.compile(
    r"(://)[^\s/@:]+:[^\s@]+(?=@)|([?&][^=&\s]*(?:sig|token|key|secret|passw)[^=&\s]*=)[^&\s'\"]+",
    re.IGNORECASE,
)
_PARAMETER = re.compile(f"{_OPEN}([a-z0-9_]+)(?:{_EQUALS}([^{_CLOSE}]*))?{_CLOSE}")
_ALTERNATIVES = re.compile(f"{_ALT_START}([^{_ALT_SEP}]*){_ALT_SEP}([^{_ALT_END}]*){_ALT_END}")


class ExitStatus(IntEnum):
    """Exit statuses of the command line, which are part of its stable interface."""

    OK = 0
    GATE_FAILED = 1
    BAD_INPUT = 2
    NUMERICAL = 3
    INCONCLUSIVE = 4
    INTERRUPTED = 130


class RiskrankError(Exception):
    """Base class of errors that the user can fix.

    Parameters
    ----------
    problem : str
        The problem and its location: file, row, column, value.
    found : str
        The actual input, for comparison with the required one.
    hint : str
        Suggested next step, as concrete as possible.
    suggestions : sequence of (str, object)
        Alternative options as marked by `option`, each with the resulting reading options. An entry that does
        not start with an option is another command or consists of other inputs.
    replaces : sequence of str
        Inputs that the suggested inputs replace.
    """

    exit_status = ExitStatus.NUMERICAL

    def __init__(
        self,
        problem: str,
        *,
        found: str,
        hint: str,
        suggestions: Sequence[tuple[str, object]] = (),
        replaces: Sequence[str] = (),
    ) -> None:
        """Store the three lines of the message, and the suggested options with their values."""
        super().__init__(spell(problem, flags=False))
        self.problem = single_line(problem)
        self.found = single_line(found) if found.strip() else "nothing"
        self.hint = single_line(hint)
        self.suggestions = tuple(suggestions)
        self.replaces = tuple(replaces)

    def lines(self, *, flags: bool = False) -> tuple[str, str, str]:
        """Return the three lines of the message, with parameters as flags or as Python keywords."""
        texts = (f"error: {self.problem}", f"found: {self.found}", f"hint: {self.hint}")
        problem, finding, hint = (shorten(spell(text, flags=flags)) for text in texts)
        return problem, finding, hint

    def __str__(self) -> str:
        """Return the three lines of the message, followed by the suggestions."""
        suggestions = [f"  {spell(text, flags=False)}" for text, _ in self.suggestions]
        return "\n".join([*self.lines(), *suggestions])

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to recreate the error in another process."""
        # Errors are pickled between processes, which needs this because of the keyword-only arguments.
        texts = tuple((text, None) for text, _ in self.suggestions)
        new = partial(type(self), found=self.found, hint=self.hint, suggestions=texts, replaces=self.replaces)
        return new, (self.problem,)


class UsageError(RiskrankError):
    """Error for an option that is unknown, invalid, or in conflict with another option."""

    exit_status = ExitStatus.BAD_INPUT


class InputError(RiskrankError):
    """Error for a file, a schema or values that cannot be used."""

    exit_status = ExitStatus.BAD_INPUT


class NumericalError(RiskrankError):
    """Error for a failed computation without a reliable result."""

    exit_status = ExitStatus.NUMERICAL


class GateFailed(RiskrankError):
    """Error for a gate with a failed claim; the only error with exit status 1."""

    exit_status = ExitStatus.GATE_FAILED


class GateInconclusive(RiskrankError):
    """Error for a gate without failed claims, but with an inconclusive claim."""

    exit_status = ExitStatus.INCONCLUSIVE


def option(name: str, value: object = None) -> str:
    """Return a parameter, with or without a value, marked for later formatting in a message.

    ``option("missing", "drop")`` becomes ``--missing drop`` on the command line and ``missing="drop"`` in
    Python. ``option("no_test", True)`` becomes ``--no-test`` or ``no_test=True``. ``option("jobs", 2)``
    becomes ``--set jobs=2`` or ``jobs=2``.
    """
    return f"{_OPEN}{name}{_CLOSE}" if value is None else f"{_OPEN}{name}{_EQUALS}{value}{_CLOSE}"


def interface_text(command_line: str, python: str) -> str:
    """Return text for a message that differs between the command line and the Python API."""
    return f"{_ALT_START}{command_line}{_ALT_SEP}{python}{_ALT_END}"


# Suggested command that describes each model without a test.
UNTESTED = interface_text("portfolio --summary", "rr.portfolio(…, summary=True)")


def spell(text: str, *, flags: bool) -> str:
    """Return a message with its marked parameters written as flags or as Python keywords."""
    text = _ALTERNATIVES.sub(lambda match: match[1 if flags else 2], mask_secrets(text))

    def write(match: re.Match[str]) -> str:
        """Return the flag or the keyword of a marked parameter."""
        name, value = match.groups()
        if flags:
            key = name.rstrip("_").replace("_", "-")
            if name in SET_KEYS:
                return f"--set {key if value is None else _quote_if_needed(f'{key}={value}')}"
            return f"--{key}" if value in (None, "True") else f"--{key} {_quote_if_needed(value)}"
        name = _PYTHON_NAMES.get(name, name)
        name += "_" * iskeyword(name)  # Python calls it from_
        if value is None:
            return name
        plain = value in ("True", "False", "None", "N") or re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", value)
        return f"{name}={value}" if plain else f'{name}="{value}"'

    return _PARAMETER.sub(write, text)


def shell_quote(text: str) -> str:
    """Quote a text as a single word of a shell command, on one line.

    Double quotes are used if the text contains single quotes.
    """
    if not text.isprintable():
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return "$'" + "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in escaped) + "'"
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else shlex.quote(text)


def _quote_if_needed(value: str) -> str:
    """Quote a value for a shell only if it contains special characters."""
    return shell_quote(value) if _SHELL.search(value) else value


def check_choice(parameter: str, value: Choice, choices: Sequence[Choice], advice: str = "") -> Choice:
    """Check that a parameter's value is one of the choices, and return it.

    The `advice` is the hint if no choice is similar to the value; by default, it is the first choice.

    Raises
    ------
    UsageError
        If the value is not among the choices; the hint suggests the most similar one.
    """
    if value in choices:
        return value
    names = [str(choice) for choice in choices if choice is not None]
    written = partial(option, parameter)
    problem = f"{written(value)} is not a valid choice"
    hint = did_you_mean(str(value), names, write=written, fallback=advice or f"write {written(names[0])}")
    raise UsageError(problem, found=f"{value!r}; the choices are {listing(names)}", hint=hint)


def index_of(
    name: str, names: Sequence[str], *, kind: str, plural: str | None = None, parameter: str | None = None
) -> int:
    """Return the position of a user-supplied name.

    Parameters
    ----------
    name : str
    names : sequence of str
        Valid names.
    kind : str
        Noun for the named object, such as ``model`` or ``metric``.
    plural : str, optional
        Plural of the noun, if irregular.
    parameter : str, optional
        Option in which the name was given.

    Raises
    ------
    UsageError
        If the name does not exist; the hint suggests the most similar one.
    """
    if name in names:
        return list(names).index(name)
    raise unknown_name(name, names, kind=kind, plural=plural, parameter=parameter)


def unknown_name(
    name: str,
    names: Sequence[str],
    *,
    kind: str,
    plural: str | None = None,
    parameter: str | None = None,
    write: Callable[[str], str] = str,
) -> UsageError:
    """Create the error for a name that does not exist.

    Parameters
    ----------
    name, names, kind, plural, parameter
        As for :func:`index_of`.
    write : callable
        Formats a name as a value of the parameter.
    """

    def marked(candidate: str) -> str:
        """Return a name formatted as a value of the parameter."""
        return option(parameter, write(candidate)) if parameter else candidate

    quoted = next((f'"{candidate}"' for candidate in names if "," in candidate), "")
    fallback = f"quote names that contain commas: {marked(quoted)}" if quoted else "name one of these"
    problem = f"{marked(name) + ': ' if parameter else ''}there is no {kind} '{name}'"
    detail = f"the {plural or kind + 's'} are {listing(names)}"
    return UsageError(problem, found=detail, hint=did_you_mean(name, names, write=marked, fallback=fallback))


def single_line(text: str) -> str:
    """Collapse all whitespace in a text, so that it fits on one line."""
    return mask_secrets(" ".join(str(text).split()))


def mask_secrets(text: str) -> str:
    """Replace the credentials in URLs with asterisks."""
    return _SECRET.sub(lambda match: f"{match[1] or match[2]}***", text)


def shorten(line: str) -> str:
    """Replace the middle of a long line with the number of omitted characters."""
    half = _MAX_LINE // 2 - 20  # leaves room for the number of characters
    cut = f"{line[:half]} … {len(line) - 2 * half:,} characters … {line[-half:]}"
    return line if len(line) <= _MAX_LINE else cut


def listing(names: Iterable[object], most: int = 8) -> str:
    """Join names with commas.

    If there are more than `most` names, the text ends with the number of remaining names.
    """
    texts = [str(name) for name in names]
    more = f" … and {len(texts) - most} more" if len(texts) > most else ""
    return (", ".join(texts[:most]) if texts else "none") + more


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 metric``, ``2,000 metrics``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def nearest(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the candidate that the user most likely meant, or None.

    This is the most similar candidate or, failing that, the only one that contains the name as a word:
    ``tvar`` matches ``negative-tvar``. `cutoff` is the least similarity, from 0 to 1.
    """
    pool = [str(candidate) for candidate in candidates]
    folded = {candidate.casefold(): candidate for candidate in reversed(pool)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    if not close and len(name) >= _MIN_WORD:
        words = name.casefold().split("_")
        close = [key for key in folded if name.casefold() in re.split(r"[\W_]+", key) or key in words]
    return folded[close[0]] if len(close) == 1 else None


def did_you_mean(
    name: str, candidates: Iterable[str], *, fallback: str, write: Callable[[str], str] = str
) -> str:
    """Return a hint that suggests the candidate most similar to a name.

    Parameters
    ----------
    name : str
        Name given by the user.
    candidates : iterable of str
        Valid names.
    fallback : str
        Hint if no candidate is similar.
    write : callable
        Formats the suggested candidate.
    """
    close = nearest(name, candidates)
    return fallback if close is None else f"did you mean {write(close)}?"
