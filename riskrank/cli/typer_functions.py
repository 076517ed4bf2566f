"""From the options of a row to a function Typer can call, and from what Typer found to the groups again."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

import typer

from riskrank.errors import spell
from riskrank.options.commands import Command
from riskrank.options.option import Option, options_of
from riskrank.options.output import OutputOptions
from riskrank.options.reading import ReadOptions
from riskrank.options.resampling import RunOptions
from riskrank.options.values import split_names


@dataclass(frozen=True)
class Call:
    """A command as it was called.

    Attributes
    ----------
    row : Command
    context : typer.Context
    scores : list of str
        What to read.
    values : mapping of str to object
        Options that were given, by a person or a configuration, or have a default of the command line's.
    """

    row: Command
    context: typer.Context
    scores: list[str]
    values: Mapping[str, Any]

    def group(self, kind: type, **more: Any) -> Any:
        """The options of a group, as they were given."""
        given = {one.name: self.values[one.name] for one in options_of(kind) if one.name in self.values}
        return kind(**given | more)

    @cached_property
    def settings(self) -> Any:
        """Settings of the study."""
        return self.group(self.row.settings_type)

    @cached_property
    def reading(self) -> ReadOptions:
        """How to read; what decides on missing scores may be the study."""
        return self.group(self.row.reading_type, **self.row.needs)

    @cached_property
    def output(self) -> OutputOptions:
        """Where the result goes."""
        return self.group(self.row.output_type)

    @cached_property
    def run(self) -> RunOptions:
        """Where to run."""
        return self.group(RunOptions)


def options_on_the_line(row: Command) -> list[Option]:
    """All options of a command: of the reader, its own, and those of every command's output."""
    own = options_of(row.settings_type)
    names = {one.name for one in own} | set(row.lacks)
    reading = [one for one in options_of(row.reading_type) if one.name not in names]
    running = options_of(RunOptions) if row.runs else ()
    output = [one for one in options_of(row.output_type) if one.name not in row.lacks]
    everything = (*reading, *own, *running, *output)
    return [one for one in everything if not one.asking.instead]


def callable_of(
    row: Command, options: Iterable[Option], answer: Callable[[Call], None]
) -> Callable[..., None]:
    """A function with the options as its parameters, which Typer makes a command of."""
    known = list(options)
    needed = not row.scores.startswith("[")
    argument = typer.Argument(metavar=row.scores, help=row.scores_words, show_default=False)
    kind: Any = list[str] if needed else list[str] | None
    annotations: dict[str, Any] = {"context": typer.Context, "scores": Annotated[kind, argument]}
    annotations |= {one.name: _annotation(one, row) for one in known}
    defaults = {one.name: None if one.several else one.default for one in known}
    if not needed:
        defaults["scores"] = None

    def command(context: typer.Context, scores: list[str] | None = None, **given: Any) -> None:
        values = {one.name: _value(one, given[one.name]) for one in known if given[one.name] is not None}
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


def _annotation(one: Option, row: Command) -> Any:
    asking = one.asking
    notes = [spell(asking.words, flags=True), "Repeatable." if one.several else ""]
    notes += [f"[{spell(asking.unset, flags=True)}]" if asking.unset else ""]
    return Annotated[
        _kind(one),
        typer.Option(
            one.flag,
            *([asking.short] if asking.short else []),
            metavar=asking.metavar or None,
            help=" ".join(note for note in notes if note),
            show_default=not asking.unset,
            hidden=one.name in row.refused,
            rich_help_panel=one.panel,
        ),
    ]


def _kind(one: Option) -> Any:
    """Type of an option on the command line: texts, unless it is one number, a choice or a switch."""
    if one.several:
        return list[str] | None
    if one.asking.choices:
        return Literal[one.asking.choices] | None if one.default is None else Literal[one.asking.choices]
    plain = [kind for kind in get_args(one.kind) or (one.kind,) if kind is not type(None)]
    kind = str if str in plain else plain[0]
    return kind | None if one.default is None else kind


def _value(one: Option, given: Any) -> Any:
    if one.several:
        return split_names(given, parameter=one.name) if one.asking.commas else tuple(given)
    return given
