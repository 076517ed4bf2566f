"""Commands with option defaults from a configuration file; the command line takes precedence.

The file is ``riskrank.toml``, or ``[tool.riskrank]`` in ``pyproject.toml``, in the working directory, unless
``--config`` names another file. A file named this way may set more options.
"""

import dataclasses
import os.path
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from typer.core import TyperCommand, TyperOption

from riskrank.cli.options import env_name, parse_key_values, read_variables
from riskrank.errors import SET_KEYS, InputError, UsageError, did_you_mean, listing, option

CONFIG, PROJECT = "riskrank.toml", "pyproject.toml"
# Value of --config for no configuration file.
NO_FILE = "none"
# Larger than any handwritten configuration; a limit is needed because a device never ends.
MAX_BYTES = 1 << 18

WRITING = ("output", "plot", "bless", "save", "continues")
READING = ("baseline", "anchor", "price", "must-pass")
# Options that open, write or run something by name, or lift a limit. Only a file named by `--config` may set
# them: users of a cloned repository have not reviewed its files.
TRUSTED_ONLY = (*WRITING, *READING, "executor", "max-memory", "max-bytes", "work-limit")

# Functions that open a file in Polars SQL, quoted or not.
_OPENS = re.compile(r"(?:read|scan)_\w", re.IGNORECASE)
# Queries of the table alone, as they convert written numbers.
_READS = r"\b(?:from|join|select|read_|scan_)"
_MAGIC = re.compile(r"[*?\[{]")
_PLAIN_QUERY = re.compile(rf"(?is)SELECT \* REPLACE \(((?!{_READS})[^;])*\) FROM scores")


def config_path(path: str | None) -> str | None:
    """Return the configuration file to read, or None if there is none.

    A given file takes precedence over the one in the working directory.
    """
    if path is not None:
        return None if path == NO_FILE else path
    if Path(CONFIG).is_file():
        return CONFIG
    return PROJECT if Path(PROJECT).is_file() and _has_settings(PROJECT) else None


def read_config(path: str) -> Mapping[str, Any]:
    """Read the settings of a configuration file.

    Raises
    ------
    InputError
        If the file cannot be read, or is a ``pyproject.toml`` without ``[tool.riskrank]``.
    """
    settings = _parse_config(path)
    if Path(path).name != PROJECT:
        return settings
    tool = settings.get("tool")
    table = tool.get("riskrank") if isinstance(tool, dict) else None
    if not isinstance(table, dict):
        problem = f"{path}: the table [tool.riskrank] is missing"
        hint = f"add [tool.riskrank], or write the settings into {CONFIG}"
        raise InputError(problem, found="no settings for riskrank", hint=hint)
    return table


def _has_settings(path: str) -> bool:
    """Return True if a ``pyproject.toml`` contains settings for riskrank.

    Return False for an invalid file.
    """
    content = b""
    with suppress(InputError):
        content = _read_content(path)
        if b"tool.riskrank" in content or b"[tool]" in content:  # parsing is slow
            tool = _parse_config(path).get("tool")
            return isinstance(tool, dict) and "riskrank" in tool
    return b"[tool.riskrank" in content


def _parse_config(path: str) -> Mapping[str, Any]:
    """Parse a TOML file, raising InputError if it is invalid."""
    from riskrank.scores.files.guards import parse_toml

    try:
        return parse_toml(_read_content(path))
    except ValueError as error:
        hint = 'write one option = value per line, below [rank] for that command only; quote text: "mean"'
        hint = "save it as UTF-8" if isinstance(error, UnicodeDecodeError) else hint
        problem = f"{path}: the configuration is not valid TOML"
        raise InputError(problem, found=str(error), hint=hint) from None


def _read_content(path: str) -> bytes:
    """Return the bytes of a file, raising InputError if it is too large or cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (keeps a path with "..")
            content = file.read(MAX_BYTES + 1)
        if len(content) <= MAX_BYTES:
            return content
        problem, hint = f"more than {MAX_BYTES:,} bytes", "use a small TOML file"
    except FileNotFoundError:
        problem, hint = "no such file", f"check the path given to {option('config')}"
    except OSError as error:
        problem, hint = error.strerror or str(error), "use a readable TOML file"
    raise InputError(f"{path}: the configuration cannot be read", found=problem, hint=hint)


def refuse_unsafe_settings(settings: Mapping[str, Any], path: str) -> None:
    """Raise InputError for settings that only a file given by ``--config`` may contain.

    Users of a cloned repository may not have reviewed its configuration file.

    Raises
    ------
    InputError
        If a setting names a file to read or write or code to run, or lifts a limit.
    """
    tables = [settings, *(value for value in settings.values() if isinstance(value, dict))]
    entries = [entry for table in tables for entry in table.items()]
    machine = [text.split("=") for key, value in entries if key == "set" for text in to_texts(value)]
    for key, value in (*entries, *((key.strip(), "=".join(values).strip()) for key, *values in machine)):
        name = flag_name(key)
        if name == "metrics-file":
            rule = "must be a file below the working directory"
            refused = any(map(_leads_outside, to_texts(value)))
        else:
            rule = f"is allowed only in a file that {option('config')} names"
            unsafe = _OPENS.search if name == "where" else lambda text: not _PLAIN_QUERY.fullmatch(text)
            refused = name in TRUSTED_ONLY or (name in ("where", "sql") and any(map(unsafe, to_texts(value))))
        if refused:
            trust, ignore = option("config", path), option("config", NO_FILE)
            hint = f"if you trust this file, add {trust}; {ignore} ignores it"
            raise InputError(f"{path}: '{key}' {rule}", found=format_toml(key, value), hint=hint)


def _leads_outside(text: str) -> bool:
    """Return True if a path may lead out of the working directory.

    URLs, absolute paths, hidden paths, and links to such locations count as outside.
    """
    path = PurePath(text)
    inside = not (path.is_absolute() or ":" in text or any(part.startswith(".") for part in path.parts))
    return not inside or escaping_link(text) is not None


def escaping_link(text: str) -> str | None:
    """Return the first path that leads out of the working directory through a link, or None.

    `text` is a path, a glob pattern or a folder, as given on the command line.

    A link to a hidden location inside the directory also counts. The GitHub Action uses this check for files
    in a pull request.
    """
    from riskrank.scores.files.paths import possible_paths

    root = Path.cwd().resolve()
    for path in (path for name in possible_paths(text) for path in _openable_paths(name)):
        absolute, real = Path(os.path.abspath(path)), Path(os.path.realpath(path))  # noqa: PTH100 (keeps links)
        if not absolute.is_relative_to(root) or absolute == real:
            continue
        if not real.is_relative_to(root) or any(part[0] == "." for part in real.relative_to(root).parts):
            return path
    return None


def _openable_paths(name: str) -> Iterator[str]:
    """Yield the paths that a name may open: the path itself, matches of a glob pattern, and log files.

    Paths are generated lazily, so that the caller can stop before a forbidden folder is entered.
    """
    from riskrank.scores.files.paths import LOGS, expand_pattern

    first = _MAGIC.search(name)
    if first:
        front = os.path.dirname(name[: first.start()]) or os.curdir  # noqa: PTH120
        yield from _walk_files(front) if "**" in name else (front,)
    yield from _walk_files(name)
    yield from (f"{name}{end}" for end in LOGS)
    for path in expand_pattern(name) if first else ():
        yield from _walk_files(path)


def _walk_files(name: str) -> Iterator[str]:
    """Yield a path and all non-hidden files below it.

    Links are followed, and link cycles are detected.
    """
    stack, seen = [name], set[str]()
    while stack:
        path = stack.pop()
        yield path
        try:
            real_path = os.path.realpath(path)
            if real_path in seen:
                continue
            seen.add(real_path)
            with os.scandir(path) as entries:
                stack += [item.path for item in entries if item.is_dir() or not item.name.startswith(".")]
        except (OSError, ValueError):  # not a folder, or not readable
            continue


def section_name(path: str, name: str) -> str:
    """Return the name of a command's table in the configuration file."""
    return f"tool.riskrank.{name}" if Path(path).name == PROJECT else name


def to_texts(value: Any) -> list[str]:
    """Convert a value to command-line texts: one per list item, or NAME=VALUE per table entry."""
    if isinstance(value, dict):
        return [f"{name}={text}" for name, text in value.items()]
    return [str(text) for text in (value if isinstance(value, list) else [value])]


def flag_name(key: str) -> str:
    """Replace the underscores of a key with dashes, as in its flag."""
    return key.replace("_", "-")


def format_toml(key: str, value: Any) -> str:
    """Return a setting as TOML for messages, truncated to 80 characters."""
    text = f"[{key}]" if isinstance(value, dict) else f"{key} = {value!r}"
    return text if len(text) <= 80 else text[:79] + "…"


# Options that cannot be configured.
NOT_CONFIGURED = ("help", "help_all", "config", "version")


class ConfiguredCommand(TyperCommand):
    """Typer command with option defaults from a configuration file."""

    def __init__(self, *args: Any, machine: Sequence[str] = (), **options: Any) -> None:
        """Add the option ``--config``."""
        super().__init__(*args, **options)
        self.machine = machine
        self.params += [
            TyperOption(
                param_decls=["--config"],
                type=str,
                metavar="FILE",
                expose_value=False,
                help=f"File with defaults of options; none ignores all files. [{CONFIG}, or [tool.riskrank] "
                f"in {PROJECT}]",
            )
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
            values = command_defaults(settings, path, ctx)
            ctx.meta["riskrank.config"] = path, [name for name in values if name not in parsed]
        configured = values.pop("set_", ())
        ctx.default_map = values
        if ctx.obj is not None:
            inherited = parse_key_values(configured) | read_variables(ctx.obj.variables)
            ctx.obj.settings.update({name: inherited[name] for name in self.machine if name in inherited})
            ctx.obj.settings.update(parse_key_values(parsed.get("set_") or (), self.machine))
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


def command_defaults(settings: Mapping[str, Any], path: str, context: Any) -> dict[str, Any]:
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
    by_command = {name: _list_options(command) for name, command in commands.items()}
    everything = {key: entry for options in by_command.values() for key, entry in options.items()}
    general, specific = {}, {}
    for key, value in settings.items():
        if key in by_command:
            if not isinstance(value, dict):
                problem = f"{path}: '{key}' is a command, so its settings must be a table"
                hint = f"write [{section_name(path, key)}] on its own line, and its settings below"
                raise InputError(problem, found=format_toml(key, value), hint=hint)
            for name in value:
                _refuse_unknown(name, value[name], by_command[key], path, key)
            if key == command_name:
                specific = value
        else:
            _refuse_unknown(key, value, [*everything, *by_command], path)
            general[key] = value
    mine = _list_options(context.command)
    values: dict[str, Any] = {}
    for table, section in (("", general), (command_name, specific)):
        for key, value in section.items():
            parameter = mine.get(flag_name(key))
            if parameter is not None:
                converted = _convert_setting(parameter, key, value, path, table, context)
                # Keys of --set from both sections are combined.
                values[parameter.name] = [*values.get("set_", ()), *converted] if key == "set" else converted
    return values


def _list_options(command: Any) -> dict[str, Any]:
    """Return the options of a command, or of a group's subcommands, by long flag without leading dashes."""
    if hasattr(command, "commands"):
        return {key: opt for below in command.commands.values() for key, opt in _list_options(below).items()}
    return {
        max(parameter.opts, key=len).lstrip("-"): parameter
        for parameter in command.params
        if parameter.param_type_name == "option"
        and parameter.name not in NOT_CONFIGURED
        and not parameter.hidden  # exists only to be refused
    }


def _convert_setting(parameter: Any, key: str, value: Any, path: str, section: str, context: Any) -> Any:
    """Validate a configured value and convert it to command-line form.

    Raises
    ------
    InputError
        If the value is invalid for the option.
    """
    fits = isinstance(value, bool) if parameter.is_flag else not isinstance(value, bool)
    parsed: Any = value
    if fits and not parameter.is_flag:
        parsed = to_texts(value)
        if flag_name(key) == "metrics-file":  # relative to the configuration file
            from riskrank.scores.table.metric_specs import is_inline_toml

            parsed = [t if is_inline_toml(t) else os.path.join(os.path.dirname(path), t) for t in parsed]  # noqa: PTH118, PTH120
        parsed = parsed if parameter.multiple else ",".join(parsed)
    try:
        if not fits or parsed in ([], ""):
            form = "true or false" if parameter.is_flag else "a value in the form of the command line"
            raise ValueError(form)
        parameter.type_cast_value(context, parsed)
        if key == "set":
            parse_key_values(parsed)
    except Exception as error:
        expected = error.format_message() if hasattr(error, "format_message") else f"it needs {error}"
        expected = error.found if isinstance(error, UsageError) else expected
        other = f"; or set it for one command in [{section_name(path, context.info_name)}]"
        detail = f"{format_toml(key, value)}; {expected.rstrip('.')}"
        hint = f"write a value that --{key} accepts" + ("" if section else other)
        raise InputError(f"{path}: '{key}' cannot be {value!r}", found=detail, hint=hint) from None
    return parsed


def _refuse_unknown(key: str, value: Any, names: Iterable[str], path: str, section: str = "") -> None:
    """Raise InputError if a configuration key is not the name of an option."""
    if flag_name(key) in names:
        return
    name = f"'{key}' in [{section_name(path, section)}]" if section else f"'{key}'"
    if key.replace("-", "_") in SET_KEYS:
        hint = f"write it below [{section_name(path, f'{section}.set' if section else 'set')}]"
        raise InputError(f"{path}: {name} is an execution option", found=format_toml(key, value), hint=hint)
    options = "an option" if not section else f"an option of riskrank {section}"
    fallback = f"riskrank {section or 'COMMAND'} --help lists the options"
    hint = did_you_mean(flag_name(key), names, fallback=fallback)
    raise InputError(f"{path}: {name} is not {options}", found=format_toml(key, value), hint=hint)
