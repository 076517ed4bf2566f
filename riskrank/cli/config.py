"""Options whose defaults come from a configuration file; what the command line gives wins."""

import dataclasses
import os.path
from collections.abc import Iterable, Mapping
from typing import Any

from typer.core import TyperCommand, TyperOption

from riskrank.cli.config_file import (
    OWN,
    SHARED,
    as_texts,
    config_path,
    dashed,
    in_toml,
    read_config,
    refuse_reaching_out,
    section_name,
)
from riskrank.errors import InputError, UsageError, did_you_mean, listing, option

# Options about the configuration itself, or for one call only.
NOT_CONFIGURED = ("help", "help_all", "config", "isolated", "version")


class ConfiguredCommand(TyperCommand):
    """A command whose options take their defaults from a configuration file."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params += [
            TyperOption(
                param_decls=["--config"],
                type=str,
                metavar="FILE",
                expose_value=False,
                help=f"Defaults of options. [{OWN}, or [tool.riskrank] in {SHARED}]",
            ),
            TyperOption(
                param_decls=["--isolated"],
                is_flag=True,
                default=False,
                expose_value=False,
                help="Ignore every configuration file.",
            ),
        ]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was given, with defaults from the configuration."""
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        # Help and completion work beside a broken file.
        if given.get("help") or given.get("help_all") or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        path = config_path(given.get("config"), isolated=bool(given.get("isolated")))
        if path is not None:
            settings = read_config(path)
            if given.get("config") is None:
                refuse_reaching_out(settings, path)
            ctx.default_map = defaults(settings, path, ctx)
            ctx.meta["riskrank.config"] = path, [name for name in ctx.default_map if name not in given]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what contradicts it may stand in the configuration, so the error says that."""
        path, taken = ctx.meta.get("riskrank.config", (None, ()))
        if ctx.obj is not None:
            ctx.obj = dataclasses.replace(ctx.obj, read=path, config=path if taken else None)
        try:
            return super().invoke(ctx)
        except UsageError as error:
            if not taken:
                raise
            flags = listing((option(name.rstrip("_")) for name in taken), 6)
            found = f"{error.found} ({path} gives {flags})"
            raise UsageError(error.what, found=found, hint=error.hint) from error


def defaults(settings: Mapping[str, Any], path: str, context: Any) -> dict[str, Any]:
    """Defaults of one command's options: those of its own table before the general ones.

    Parameters
    ----------
    settings : mapping
        Of the file.
    path : str
        Of the file, for messages.
    context : click.Context
        Of the command that runs; all others are found through it.

    Returns
    -------
    dict of str to object
        By parameter, as Click takes them from a default map.

    Raises
    ------
    InputError
        If a key is unknown or a value is none of its option.
    """
    chain = [context]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    own_name = chain[max(len(chain) - 2, 0)].info_name
    commands = getattr(chain[-1].command, "commands", {own_name: context.command})
    by_command = {name: _options(command) for name, command in commands.items()}
    everything = {key: found for options in by_command.values() for key, found in options.items()}
    general, own = {}, {}
    for key, value in settings.items():
        if key in by_command:
            if not isinstance(value, dict):
                raise InputError(
                    f"{path}: '{key}' is a command, and its settings are a table",
                    found=in_toml(key, value),
                    hint=f"write [{section_name(path, key)}] on a line of its own, and its settings below it",
                )
            for name in value:
                _refuse_unknown(name, value[name], by_command[key], path, key)
            if key == own_name:
                own = value
        else:
            _refuse_unknown(key, value, [*everything, *by_command], path)
            general[key] = value
    mine = _options(context.command)
    values = {}
    for where, section in (("", general), (own_name, own)):
        for key, value in section.items():
            parameter = mine.get(dashed(key))
            if parameter is not None:
                values[parameter.name] = _value(parameter, key, value, path, where or None, context)
    return values


def _options(command: Any) -> dict[str, Any]:
    """Options of a command, or of all below a group, by their long flag without the dashes."""
    if hasattr(command, "commands"):
        return {key: one for below in command.commands.values() for key, one in _options(below).items()}
    return {
        max(parameter.opts, key=len).lstrip("-"): parameter
        for parameter in command.params
        if parameter.param_type_name == "option"
        and parameter.name not in NOT_CONFIGURED
        and not parameter.hidden  # there only to be refused
    }


def _value(parameter: Any, key: str, value: Any, path: str, section: str | None, context: Any) -> Any:
    """Turn a value of the file into what the command line would have given for it, and try it.

    Raises
    ------
    InputError
    """
    fits = isinstance(value, bool) if parameter.is_flag else not isinstance(value, bool)
    given: Any = value
    if fits and not parameter.is_flag:
        given = as_texts(value)
        if dashed(key) == "metrics-file":  # beside the configuration, wherever that was found
            given = [os.path.join(os.path.dirname(path), text) for text in given]  # noqa: PTH118, PTH120
        given = given if parameter.multiple else ",".join(given)
    try:
        if not fits or given in ([], ""):
            raise ValueError("true or false" if parameter.is_flag else "a value like that of the flag")
        parameter.type_cast_value(context, given)
    except Exception as error:
        wanted = error.format_message() if hasattr(error, "format_message") else f"it takes {error}"
        other = f"; or set it for one command in [{section_name(path, context.info_name)}]"
        raise InputError(
            f"{path}: '{key}' cannot be {value!r}",
            found=f"{in_toml(key, value)}; {wanted.rstrip('.')}",
            hint=f"write what --{key} takes" + ("" if section else other),
        ) from None
    return given


def _refuse_unknown(key: str, value: Any, known: Iterable[str], path: str, section: str = "") -> None:
    if dashed(key) in known:
        return
    what = f"'{key}' in [{section_name(path, section)}]" if section else f"'{key}'"
    options = "an option" if not section else f"an option of riskrank {section}"
    raise InputError(
        f"{path}: {what} is not {options}",
        found=in_toml(key, value),
        hint=did_you_mean(
            dashed(key), known, otherwise=f"riskrank {section or 'COMMAND'} --help lists the options"
        ),
    )
