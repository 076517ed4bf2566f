"""Commands with option defaults from a configuration file; the command line takes precedence."""

import dataclasses
import os.path
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typer.core import TyperCommand, TyperOption

from riskrank.cli.config_file import (
    CONFIG,
    PROJECT,
    as_texts,
    as_toml,
    config_path,
    dashed,
    read_config,
    refuse_unsafe_settings,
    section_name,
)
from riskrank.cli.set_option import env_name, parse_key_values, read_variables
from riskrank.errors import SET_KEYS, InputError, UsageError, did_you_mean, listing, option

# Options that cannot be configured.
NOT_CONFIGURED = ("help", "help_all", "config", "version")


class ConfiguredCommand(TyperCommand):
    """Typer command with option defaults from a configuration file."""

    def __init__(self, *args: Any, machine: Sequence[str] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self._machine = machine
        self.params += [
            TyperOption(
                param_decls=["--config"],
                type=str,
                metavar="FILE",
                expose_value=False,
                help=f"File with defaults of options; none ignores all files. [{CONFIG}, or [tool.riskrank] "
                f"in {PROJECT}]",
            ),
        ]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, with defaults from the configuration file."""
        parsed, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        # Help and completion must work even if the file is invalid.
        if parsed.get("help") or parsed.get("help_all") or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        path, values = config_path(parsed.get("config")), dict[str, Any]()
        if path is not None:
            settings = read_config(path)
            if parsed.get("config") is None:
                refuse_unsafe_settings(settings, path)
            values = defaults(settings, path, ctx)
            ctx.meta["riskrank.config"] = path, [name for name in values if name not in parsed]
        configured = values.pop("set_", ())
        ctx.default_map = values
        if ctx.obj is not None:
            inherited = parse_key_values(configured) | read_variables(ctx.obj.variables)
            ctx.obj.settings.update({name: inherited[name] for name in self._machine if name in inherited})
            ctx.obj.settings.update(parse_key_values(parsed.get("set_") or (), self._machine))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Usage errors mention configured options as a possible cause.
        """
        path, configured = ctx.meta.get("riskrank.config", (None, ()))
        if ctx.obj is not None:
            ctx.obj = dataclasses.replace(ctx.obj, loaded_config=path, config=path if configured else None)
        try:
            return super().invoke(ctx)
        except UsageError as error:
            flags = listing((option(name.rstrip("_")) for name in configured), 6)
            sources = [f"{path} gives {flags}"] if configured else []
            if ctx.obj is not None:
                names = read_variables(ctx.obj.variables)
                sources += [f"{env_name(n)} is set" for n in names if option(n)[:-1] in error.problem]
            if not sources:
                raise
            details = f"{error.found} ({'; '.join(sources)})"
            raise UsageError(error.problem, found=details, hint=error.hint) from error


def defaults(settings: Mapping[str, Any], path: str, context: Any) -> dict[str, Any]:
    """Return the configured defaults for a command.

    Its own section overrides the general settings.

    Parameters
    ----------
    settings : mapping
        Contents of the configuration file.
    path : str
        Path of the file, for error messages.
    context : click.Context
        Context of the command, whose parents give access to all other commands.

    Returns
    -------
    dict of str to object
        Click default map: values by parameter name.

    Raises
    ------
    InputError
        If a key is unknown, or a value is invalid for its option.
    """
    chain = [context]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    command_name = chain[max(len(chain) - 2, 0)].info_name
    commands = getattr(chain[-1].command, "commands", {command_name: context.command})
    by_command = {name: _options(command) for name, command in commands.items()}
    everything = {key: entry for options in by_command.values() for key, entry in options.items()}
    general, specific = {}, {}
    for key, value in settings.items():
        if key in by_command:
            if not isinstance(value, dict):
                raise InputError(
                    f"{path}: '{key}' is a command, so its settings must be a table",
                    found=as_toml(key, value),
                    hint=f"write [{section_name(path, key)}] on its own line, and its settings below",
                )
            for name in value:
                _refuse_unknown(name, value[name], by_command[key], path, key)
            if key == command_name:
                specific = value
        else:
            _refuse_unknown(key, value, [*everything, *by_command], path)
            general[key] = value
    mine = _options(context.command)
    values: dict[str, Any] = {}
    for table, section in (("", general), (command_name, specific)):
        for key, value in section.items():
            parameter = mine.get(dashed(key))
            if parameter is not None:
                converted = _value(parameter, key, value, path, table or None, context)
                # Keys of --set from both sections are combined.
                values[parameter.name] = [*values.get("set_", ()), *converted] if key == "set" else converted
    return values


def _options(command: Any) -> dict[str, Any]:
    """Return the options of a command, or of a group's subcommands, by long flag without leading dashes."""
    if hasattr(command, "commands"):
        return {key: opt for below in command.commands.values() for key, opt in _options(below).items()}
    return {
        max(parameter.opts, key=len).lstrip("-"): parameter
        for parameter in command.params
        if parameter.param_type_name == "option"
        and parameter.name not in NOT_CONFIGURED
        and not parameter.hidden  # exists only to be refused
    }


def _value(parameter: Any, key: str, value: Any, path: str, section: str | None, context: Any) -> Any:
    """Validate a configured value and convert it to command-line form.

    Raises
    ------
    InputError
        If the value is invalid for the option.
    """
    fits = isinstance(value, bool) if parameter.is_flag else not isinstance(value, bool)
    parsed: Any = value
    if fits and not parameter.is_flag:
        parsed = as_texts(value)
        if dashed(key) == "metrics-file":  # relative to the configuration file
            parsed = [os.path.join(os.path.dirname(path), text) for text in parsed]  # noqa: PTH118, PTH120
        parsed = parsed if parameter.multiple else ",".join(parsed)
    try:
        if not fits or parsed in ([], ""):
            raise ValueError("true or false" if parameter.is_flag else "a value as on the command line")
        parameter.type_cast_value(context, parsed)
        if key == "set":
            parse_key_values(parsed)
    except Exception as error:
        expected = error.format_message() if hasattr(error, "format_message") else f"it needs {error}"
        expected = error.found if isinstance(error, UsageError) else expected
        other = f"; or set it for one command in [{section_name(path, context.info_name)}]"
        raise InputError(
            f"{path}: '{key}' cannot be {value!r}",
            found=f"{as_toml(key, value)}; {expected.rstrip('.')}",
            hint=f"write a value that --{key} accepts" + ("" if section else other),
        ) from None
    return parsed


def _refuse_unknown(key: str, value: Any, names: Iterable[str], path: str, section: str = "") -> None:
    """Raise InputError if a configuration key is not the name of an option."""
    if dashed(key) in names:
        return
    name = f"'{key}' in [{section_name(path, section)}]" if section else f"'{key}'"
    if key.replace("-", "_") in SET_KEYS:
        hint = f"write it below [{section_name(path, f'{section}.set' if section else 'set')}]"
        raise InputError(f"{path}: {name} is an execution option", found=as_toml(key, value), hint=hint)
    options = "an option" if not section else f"an option of riskrank {section}"
    raise InputError(
        f"{path}: {name} is not {options}",
        found=as_toml(key, value),
        hint=did_you_mean(
            dashed(key), names, fallback=f"riskrank {section or 'COMMAND'} --help lists the options"
        ),
    )
