"""The same call with other options: how ways out of a refusal are written as lines to copy."""

import shlex
from collections.abc import Iterator, Sequence

from riskrank.cli.typer_functions import options_on_the_line
from riskrank.errors import as_one_word
from riskrank.options.commands import BY_NAME
from riskrank.options.flags import among_commas
from riskrank.options.option import Option
from riskrank.options.values import ALL_OTHERS, split_names

# Options whose names add up: of which metrics more or less is better.
_ADDED = ("lower", "higher")
# Words of an option and its value.
_WHOLE = 2


def to_copy(arguments: Sequence[str], more: str, instead_of: Sequence[str] = ()) -> str:
    """The command line again with more options, each in the place of one of its name.

    Where the first of them is none it is another command, which gets the options that it has as well, or
    inputs instead of those that were given. One that takes a value and has none here is left out.
    """
    given, command = shlex.split(more), arguments[0]
    other = command if given[0].startswith("-") or instead_of else given.pop(0)
    mine, theirs = _options(command), _options(other)
    changes = [part for part in _parts(given, theirs) if part[0] in theirs]
    kept = [other]
    for name, words in _parts([word for word in arguments[1:] if word not in instead_of], mine):
        changed = [words for flag, words in changes if name in mine and flag == mine[name].flag]
        if name not in mine:
            kept += words
        elif _same(mine[name], theirs.get(name)):
            kept += words if len(changed) != 1 else _beside(mine[name], words, changed[0])
    for name, words in _parts(given, theirs):
        kept += words if name not in theirs or theirs[name].switch or len(words) == _WHOLE else []
    return " ".join(["riskrank", *map(as_one_word, kept)])


def _options(command: str) -> dict[str, Option]:
    """Options of a command by their flags, without those it has only to refuse them."""
    row = BY_NAME.get(command)
    known = [one for one in options_on_the_line(row) if one.name not in row.refused] if row else []
    return {flag: one for one in known for flag in (one.flag, one.asking.short) if flag}


def _same(one: Option, other: Option | None) -> bool:
    """Whether two commands mean the same by an option; a picture is one of its command."""
    return other is one or (other is not None and one.asking == other.asking and one.name != "plot")


def _beside(one: Option, words: Sequence[str], changed: Sequence[str]) -> list[str]:
    """What is left of an option beside the same one with another value: names that it does not name."""
    if one.name not in _ADDED or len(changed) < _WHOLE:
        return []
    texts = ([part[-1].removeprefix(f"{one.flag}=")] for part in (words, changed))
    said, now = (split_names(text, parameter=one.name) for text in texts)
    left = [name for name in said if not {name, ALL_OTHERS} & {*now}]
    return [one.flag, among_commas(left)] if left else []


def _parts(words: Sequence[str], known: dict[str, Option]) -> Iterator[tuple[str, list[str]]]:
    """Options with their values, and other words, each with its name."""
    rest = [*words]
    while rest:
        word = rest.pop(0)
        name, written, _ = word.partition("=")
        takes = name in known and not known[name].switch and not written
        has = takes and rest and rest[0] not in known
        yield name, [word, rest.pop(0)] if has else [word]
