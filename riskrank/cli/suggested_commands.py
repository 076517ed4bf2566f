"""Suggested commands: the user's command line with changed options, ready to copy."""

import shlex
from collections.abc import Iterator, Sequence

from riskrank.cli.typer_functions import flag_options
from riskrank.errors import shell_quote
from riskrank.options.commands import BY_NAME
from riskrank.options.flags import join_commas
from riskrank.options.option import Option
from riskrank.options.values import WILDCARD, split_names

# Options that may occur several times; their names are combined.
_ADDITIVE = ("lower", "higher")
# Number of words of an option with a value.
_PAIR = 2


def suggested_command(arguments: Sequence[str], more: str, replaces: Sequence[str] = ()) -> str:
    """Return the user's command line with options added or replaced.

    Parameters
    ----------
    arguments : sequence of str
        Command line without the program name.
    more : str
        Options to add, which replace options of the same name. If the first word is not an option, it is an
        input or another command. A command keeps the options that it shares.
    replaces : sequence of str
        Inputs that the inputs in `more` replace.

    Returns
    -------
    str
        The new command line. An option without its required value is omitted.
    """
    added, command = shlex.split(more), arguments[0]
    other = command if added[0].startswith("-") or replaces else added.pop(0)
    mine, theirs = _options(command), _options(other)
    changes = [part for part in _split_options(added, theirs) if part[0] in theirs]
    result = [other]
    for name, words in _split_options([word for word in arguments[1:] if word not in replaces], mine):
        changed = [words for flag, words in changes if name in mine and flag == mine[name].flag]
        if name not in mine:
            result += words
        elif _same_option(mine[name], theirs.get(name)):
            result += words if len(changed) != 1 else _remaining_names(mine[name], words, changed[0])
    for name, words in _split_options(added, theirs):
        result += words if name not in theirs or theirs[name].switch or len(words) == _PAIR else []
    return " ".join(["riskrank", *map(shell_quote, result)])


def _options(command: str) -> dict[str, Option]:
    """Return the options of a command by flag, without those that are always rejected."""
    row = BY_NAME.get(command)
    allowed = [opt for opt in flag_options(row) if opt.name not in row.rejected_options] if row else []
    return {flag: opt for opt in allowed for flag in (opt.flag, opt.spec.short) if flag}


def _same_option(opt: Option, other: Option | None) -> bool:
    """Return True if an option has the same meaning in two commands."""
    return other is opt or (other is not None and opt.spec == other.spec and opt.name != "plot")


def _remaining_names(opt: Option, words: Sequence[str], changed: Sequence[str]) -> list[str]:
    """Return the flag and value for the names in an option's old value that its new value does not set.

    Parameters
    ----------
    row : Option
    words : sequence of str
        Flag and value on the user's command line.
    changed : sequence of str
        Flag and new value.
    """
    if opt.name not in _ADDITIVE or len(changed) < _PAIR:
        return []
    texts = ([part[-1].removeprefix(f"{opt.flag}=")] for part in (words, changed))
    before, after = (split_names(text, parameter=opt.name) for text in texts)
    left = [name for name in before if not {name, WILDCARD} & {*after}]
    return [opt.flag, join_commas(left)] if left else []


def _split_options(words: Sequence[str], options: dict[str, Option]) -> Iterator[tuple[str, list[str]]]:
    """Yield (name, words) for each option with its value, and for every other word."""
    remaining = [*words]
    while remaining:
        word = remaining.pop(0)
        name, written, _ = word.partition("=")
        takes = name in options and not options[name].switch and not written
        has = takes and remaining and remaining[0] not in options
        yield name, [word, remaining.pop(0)] if has else [word]
