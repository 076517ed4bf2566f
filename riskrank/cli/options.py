"""Options on the command line: Typer functions from declarations, ``--set``, and suggested commands.

``--set KEY=VALUE`` overrides ``RISKRANK_KEY`` variables, which override ``[set]`` in the configuration file.
"""

import inspect
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Annotated, Any, Literal, get_args

import typer

from riskrank.errors import SET_KEYS, UsageError, did_you_mean, listing, option, shell_quote, spell
from riskrank.options.commands import BY_NAME, Command
from riskrank.options.inference import RunOptions
from riskrank.options.interfaces import join_commas
from riskrank.options.option import Option, options_of
from riskrank.options.output import OutputOptions
from riskrank.options.reading import ReadOptions
from riskrank.options.values import WILDCARD, number_or_nan, split_names

_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def key_names(names: Iterable[str]) -> list[str]:
    """Convert option names to keys of ``--set``, in the order of the documentation."""
    return [name.replace("_", "-") for name in sorted(names, key=SET_KEYS.index)]


def env_name(name: str) -> str:
    """Return the name of an option's environment variable."""
    return f"RISKRANK_{name.upper()}"


def parse_key_values(texts: Iterable[str], allowed: Collection[str] = SET_KEYS) -> dict[str, str]:
    """Parse ``KEY=VALUE`` texts into a mapping of option names to values.

    Raises
    ------
    UsageError
        If a text has no value, or its key is not in `allowed`.
    """
    values = {}
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        name = key.replace("-", "_")
        keys = key_names(allowed)
        if name not in allowed:
            problem = f"{option('set', text)}: unknown key {key!r}"
            hint = did_you_mean(key, keys, fallback="use one of these keys", write=_example_assignment)
            raise UsageError(problem, found=f"the keys are {listing(keys)}", hint=hint)
        if not value:
            hint = f"write {_example_assignment(key)}"
            raise UsageError(f"{option('set', key)} has no value", found=text, hint=hint)
        values[name] = value
    return values


def _example_assignment(key: str) -> str:
    """Return an example assignment of a key, for hints."""
    return option("set", f"{key}=VALUE")


def read_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the options set by environment variables, as values by option name."""
    values = {name: variables.get(env_name(name), "").strip() for name in SET_KEYS}
    return {name: value for name, value in values.items() if value}


def is_true(text: str) -> bool:
    """Return True if a text is a true value ("true" or "1")."""
    return _TRUTHS.get(text.lower(), False)


def _parse_value(opt: Option, text: str) -> Any:
    """Convert a string to the type of an option: number, boolean or text.

    Raises
    ------
    UsageError
        If the string cannot be converted.
    """
    kind = next(kind for kind in get_args(opt.kind) or (opt.kind,) if kind is not type(None))
    if kind is str:
        return text
    if kind is bool and text.lower() in _TRUTHS:
        return is_true(text)
    number = number_or_nan(text)
    if kind is bool or isnan(number) or (kind is int and not number.is_integer()):
        example = opt.spec.metavar or "true"
        words = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        hint = f"write {option(opt.name, example)}"
        raise UsageError(f"{option(opt.name)} needs {words}", found=text, hint=hint)
    return kind(number)


@dataclass(frozen=True)
class Call:
    """Parsed command line of one command.

    Attributes
    ----------
    command : Command
        Row of the command table.
    context : typer.Context
        Context of the running command.
    scores : list of str
        Inputs to read.
    values : mapping of str to object
        Option values from the command line, the configuration file, or the defaults.
    """

    command: Command
    context: typer.Context
    scores: list[str]
    values: Mapping[str, Any]

    def group(self, kind: type, **more: Any) -> Any:
        """Create an option group from the parsed values; `more` has additional or overriding values."""
        values = {opt.name: self.values[opt.name] for opt in options_of(kind) if opt.name in self.values}
        return kind(**values | more)

    @cached_property
    def settings(self) -> Any:
        """Settings of the study."""
        return self.group(self.command.settings_type)

    @cached_property
    def reading(self) -> ReadOptions:
        """Reading options, combined with the requirements of the command."""
        return self.group(self.command.reading_type, **self.command.needs)

    @cached_property
    def output(self) -> OutputOptions:
        """Output options."""
        return self.group(self.command.output_type)

    @cached_property
    def run(self) -> RunOptions:
        """Execution options: processes or an executor."""
        return self.group(RunOptions)


def all_options(command: Command) -> list[Option]:
    """Return the options of a command: reading, settings, execution and output."""
    settings = options_of(command.settings_type)
    names = {opt.name for opt in settings} | set(command.excluded)
    reading = [opt for opt in options_of(command.reading_type) if opt.name not in names]
    running = options_of(RunOptions) if command.runs else ()
    output = [opt for opt in options_of(command.output_type) if opt.name not in command.excluded]
    everything = (*reading, *settings, *running, *output)
    return [opt for opt in everything if not opt.spec.cli_equivalent]


def flag_options(command: Command) -> list[Option]:
    """Return the options of a command that have their own flag, not a key of ``--set``."""
    return [opt for opt in all_options(command) if opt.name not in SET_KEYS]


def command_function(
    command: Command, options: Iterable[Option], run: Callable[[Call], None]
) -> Callable[..., None]:
    """Return a function with the options as parameters, to register as a Typer command.

    Parameters
    ----------
    command : Command
        Row of the command table.
    options : iterable of Option
        Options of the command.
    run : callable
        Called with the parsed `Call`.
    """
    declared = list(options)
    flags = [opt for opt in declared if opt.name not in SET_KEYS]
    keys = key_names(opt.name for opt in declared if opt.name in SET_KEYS)
    needed = not command.scores.startswith("[")
    argument = typer.Argument(metavar=command.scores, help=command.scores_words, show_default=False)
    kind: Any = list[str] if needed else list[str] | None
    annotations: dict[str, Any] = {"context": typer.Context, "scores": Annotated[kind, argument]}
    annotations |= {opt.name: _typer_annotation(opt, command, keys) for opt in flags}
    defaults = {opt.name: None if opt.several else opt.default for opt in flags}
    if not needed:
        defaults["scores"] = None

    def callback(context: typer.Context, scores: list[str] | None = None, **args: Any) -> None:
        """Run the command with the parsed options."""
        values = {opt.name: args[opt.name] for opt in flags if args[opt.name] is not None}
        for opt in (opt for opt in flags if opt.several and opt.name in values):
            names = values[opt.name]
            values[opt.name] = split_names(names, parameter=opt.name) if opt.spec.commas else tuple(names)
        texts = context.obj.settings
        values |= {opt.name: _parse_value(opt, texts[opt.name]) for opt in declared if opt.name in texts}
        run(Call(command, context, scores or [], values))

    keyword, empty = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    parameters = [
        inspect.Parameter(name, keyword, annotation=kind, default=defaults.get(name, empty))
        for name, kind in annotations.items()
    ]
    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    callback.__annotations__ = annotations
    callback.__doc__ = spell(inspect.cleandoc(command.words), flags=True)
    return callback


def _typer_annotation(opt: Option, command: Command, keys: Iterable[str]) -> Any:
    """Return the Typer annotation of an option: type, flag and help text."""
    spec = opt.spec
    notes = [spell(spec.words, flags=True), "Repeatable." if opt.several else ""]
    notes += [f"[{', '.join(keys)}]"] if opt.name == "set_" else []
    notes += [f"[{spell(spec.unset, flags=True)}]" if spec.unset else ""]
    return Annotated[
        _option_type(opt),
        typer.Option(
            opt.flag,
            *([spec.short] if spec.short else []),
            metavar="|".join([*spec.choices, "MODEL"]) if spec.accepts_model else spec.metavar or None,
            help=" ".join(note for note in notes if note),
            show_default=not spec.unset,
            hidden=opt.name in command.rejected_options,
            rich_help_panel=opt.panel,
        ),
    ]


def _option_type(opt: Option) -> Any:
    """Return the Typer type of an option: text, unless it is a single number, a choice or a switch."""
    if opt.several:
        return list[str] | None
    if opt.spec.choices and not opt.spec.accepts_model:
        return Literal[opt.spec.choices] | None if opt.default is None else Literal[opt.spec.choices]
    plain = [kind for kind in get_args(opt.kind) or (opt.kind,) if kind is not type(None)]
    kind = str if str in plain else plain[0]
    return kind | None if opt.default is None else kind


# Options that may occur several times; their names are combined.
_ADDITIVE = ("lower", "higher")
# Number of words of an option with a value.
_PAIR = 2


def suggested_command(arguments: Sequence[str], additions: str, replaces: Sequence[str] = ()) -> str:
    """Return the user's command line with options added or replaced.

    Parameters
    ----------
    arguments : sequence of str
        Command line without the program name.
    additions : str
        Options to add, which replace options of the same name. If the first word is not an option, it is an
        input or another command. A command keeps the options that it shares.
    replaces : sequence of str
        Inputs that the inputs in `additions` replace.

    Returns
    -------
    str
        The new command line. An option without its required value is omitted.
    """
    added, command = shlex.split(additions), arguments[0]
    other = command if added[0].startswith("-") or replaces else added.pop(0)
    mine, theirs = _accepted_options(command), _accepted_options(other)
    changes = [part for part in _split_options(added, theirs) if part[0] in theirs]
    result = [other]
    for name, words in _split_options([word for word in arguments[1:] if word not in replaces], mine):
        if name not in mine:
            result += words
            continue
        opt, twin = mine[name], theirs.get(name)
        changed = [words for flag, words in changes if flag == opt.flag]
        # An option with another meaning in the other command is left out.
        if twin is opt or (twin is not None and opt.spec == twin.spec and opt.name != "plot"):
            result += words if len(changed) != 1 else _unchanged_names(opt, words, changed[0])
    for name, words in _split_options(added, theirs):
        result += words if name not in theirs or theirs[name].switch or len(words) == _PAIR else []
    return " ".join(["riskrank", *map(shell_quote, result)])


def _accepted_options(command: str) -> dict[str, Option]:
    """Return the options that a command accepts, by flag."""
    row = BY_NAME.get(command)
    allowed = [opt for opt in flag_options(row) if opt.name not in row.rejected_options] if row else []
    return {flag: opt for opt in allowed for flag in (opt.flag, opt.spec.short) if flag}


def _unchanged_names(opt: Option, words: Sequence[str], changed: Sequence[str]) -> list[str]:
    """Return the words of an option for the names that a changed value lacks, or an empty list.

    Parameters
    ----------
    opt : Option
        Declaration of the option.
    words : sequence of str
        Flag and value on the user's command line.
    changed : sequence of str
        Flag and new value.
    """
    if opt.name not in _ADDITIVE or len(changed) < _PAIR:
        return []
    texts = ([part[-1].removeprefix(f"{opt.flag}=")] for part in (words, changed))
    before, after = (split_names(text, parameter=opt.name) for text in texts)
    unchanged = [name for name in before if not {name, WILDCARD} & {*after}]
    return [opt.flag, join_commas(unchanged)] if unchanged else []


def _split_options(words: Sequence[str], options: dict[str, Option]) -> Iterator[tuple[str, list[str]]]:
    """Yield (name, words) for each option with its value, and for every other word."""
    remaining = [*words]
    while remaining:
        word = remaining.pop(0)
        name, written, _ = word.partition("=")
        needs_value = name in options and not options[name].switch and not written
        has_value = needs_value and remaining and remaining[0] not in options
        yield name, [word, remaining.pop(0)] if has_value else [word]
