"""Option groups: dataclasses whose fields are command-line options.

Typer reads options from a function's signature, so eight commands that share thirty options would each
spell all of them. A command takes groups instead; ``grouped`` flattens their fields into one signature
for Typer and puts the groups together again when the command is called.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from riskrank.cli.help import METHOD


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command declare dataclass parameters whose fields Typer sees as options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: kind
        for name, kind in hints.items()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _options(groups[name])
        else:
            _set_panel(hints[name], METHOD)
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def flat(**values: Any) -> None:
        arguments = {
            name: kind(**{item.name: values.pop(item.name) for item in dataclasses.fields(kind)})
            for name, kind in groups.items()
        }
        command(**arguments, **values)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del flat.__wrapped__  # or inspect.signature would look through to the grouped one
    return flat


def _options(kind: type) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for item in dataclasses.fields(kind):
        _set_panel(hints[item.name], getattr(kind, "PANEL", METHOD))
    return [
        inspect.Parameter(
            item.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(item),
            annotation=hints[item.name],
        )
        for item in dataclasses.fields(kind)
    ]


def _set_panel(hint: Any, panel: str) -> None:
    """Tell an option the group of the help it stands in."""
    for option in getattr(hint, "__metadata__", ()):
        option.rich_help_panel = panel


def _default(item: dataclasses.Field) -> Any:
    if item.default is not dataclasses.MISSING:
        return item.default
    return inspect.Parameter.empty
