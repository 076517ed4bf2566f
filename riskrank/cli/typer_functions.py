"""Conversion of option declarations to Typer functions, and of parsed values to option groups."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

import typer

from riskrank.cli.set_option import key_names, parse_values
from riskrank.errors import SET_KEYS, spell
from riskrank.options.commands import Command
from riskrank.options.option import Option, options_of
from riskrank.options.output import OutputOptions
from riskrank.options.reading import ReadOptions
from riskrank.options.resampling import RunOptions
from riskrank.options.values import split_names


@dataclass(frozen=True)
class Call:
    """Parsed command line of one command.

    Attributes
    ----------
    row : Command
    context : typer.Context
    scores : list of str
        Inputs to read.
    values : mapping of str to object
        Option values from the command line, the configuration file, or the defaults.
    """

    row: Command
    context: typer.Context
    scores: list[str]
    values: Mapping[str, Any]

    def group(self, kind: type, **more: Any) -> Any:
        """Create an option group from the parsed values.

        `more` overrides them.
        """
        values = {opt.name: self.values[opt.name] for opt in options_of(kind) if opt.name in self.values}
        return kind(**values | more)

    @cached_property
    def settings(self) -> Any:
        """Settings of the study."""
        return self.group(self.row.settings_type)

    @cached_property
    def reading(self) -> ReadOptions:
        """Reading options, combined with the requirements of the command."""
        return self.group(self.row.reading_type, **self.row.needs)

    @cached_property
    def output(self) -> OutputOptions:
        """Output options."""
        return self.group(self.row.output_type)

    @cached_property
    def run(self) -> RunOptions:
        """Execution options: processes or an executor."""
        return self.group(RunOptions)


def all_options(row: Command) -> list[Option]:
    """Return the options of a command: reading, settings, execution and output."""
    settings = options_of(row.settings_type)
    names = {opt.name for opt in settings} | set(row.excluded)
    reading = [opt for opt in options_of(row.reading_type) if opt.name not in names]
    running = options_of(RunOptions) if row.runs else ()
    output = [opt for opt in options_of(row.output_type) if opt.name not in row.excluded]
    everything = (*reading, *settings, *running, *output)
    return [opt for opt in everything if not opt.spec.cli_equivalent]


def flag_options(row: Command) -> list[Option]:
    """Return the options of a command that have their own flag, not a key of ``--set``."""
    return [opt for opt in all_options(row) if opt.name not in SET_KEYS]


def command_function(
    row: Command, options: Iterable[Option], answer: Callable[[Call], None]
) -> Callable[..., None]:
    """Return a function with the options as parameters, to register as a Typer command.

    Parameters
    ----------
    row : Command
    options : iterable of Option
    answer : callable
        Called with the parsed `Call`.
    """
    declared = list(options)
    flags = [opt for opt in declared if opt.name not in SET_KEYS]
    keys = key_names(opt.name for opt in declared if opt.name in SET_KEYS)
    needed = not row.scores.startswith("[")
    argument = typer.Argument(metavar=row.scores, help=row.scores_words, show_default=False)
    kind: Any = list[str] if needed else list[str] | None
    annotations: dict[str, Any] = {"context": typer.Context, "scores": Annotated[kind, argument]}
    annotations |= {opt.name: _annotation(opt, row, keys) for opt in flags}
    defaults = {opt.name: None if opt.several else opt.default for opt in flags}
    if not needed:
        defaults["scores"] = None

    def command(context: typer.Context, scores: list[str] | None = None, **args: Any) -> None:
        values = {opt.name: _value(opt, args[opt.name]) for opt in flags if args[opt.name] is not None}
        values |= parse_values(declared, context.obj.settings)
        answer(Call(row, context, scores or [], values))

    keyword = inspect.Parameter.KEYWORD_ONLY
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name, keyword, annotation=kind, default=defaults.get(name, inspect.Parameter.empty)
            )
            for name, kind in annotations.items()
        ]
    )
    command.__annotations__ = annotations
    command.__doc__ = spell(inspect.cleandoc(row.words), flags=True)
    return command


def _annotation(opt: Option, row: Command, keys: Iterable[str]) -> Any:
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
            metavar=spec.metavar or None,
            help=" ".join(note for note in notes if note),
            show_default=not spec.unset,
            hidden=opt.name in row.rejected_options,
            rich_help_panel=opt.panel,
        ),
    ]


def _option_type(opt: Option) -> Any:
    """Return the Typer type of an option: text, unless it is a single number, a choice or a switch."""
    if opt.several:
        return list[str] | None
    if opt.spec.choices:
        return Literal[opt.spec.choices] | None if opt.default is None else Literal[opt.spec.choices]
    plain = [kind for kind in get_args(opt.kind) or (opt.kind,) if kind is not type(None)]
    kind = str if str in plain else plain[0]
    return kind | None if opt.default is None else kind


def _value(opt: Option, value: Any) -> Any:
    """Convert a parsed value to the type of its option.

    Several values become a tuple.
    """
    if opt.several:
        return split_names(value, parameter=opt.name) if opt.spec.commas else tuple(value)
    return value
