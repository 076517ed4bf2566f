"""One way to read a table: options that do so, a sentence that describes it, and warnings."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from types import MappingProxyType
from typing import Any, Self

from riskrank.errors import InputError, interface_text, listing, option, single_line, spell
from riskrank.options.baseline import GateReading
from riskrank.options.interfaces import join_commas
from riskrank.options.option import Option, options_of
from riskrank.options.reading import SHARED, RankReading, ReadOptions
from riskrank.options.values import WILDCARD
from riskrank.scores.names.directions import clearly_lower_is_better, has_uncertain_direction, is_metric_name
from riskrank.scores.table.metric_specs import declared_metrics, is_inline_toml, toml_key


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One possible way to read a table.

    Attributes
    ----------
    summary : str
        One sentence that describes the reading.
    options : ReadOptions
        Options that read the table in this way.
    checks : tuple of WarningText
        Warnings about votes, copies of rows, and models without common samples.
    """

    summary: str
    options: ReadOptions
    checks: tuple["WarningText", ...] = ()


class LayoutError(InputError):
    """Error for a table that can be read in no way or in several ways.

    Its suggestions are the possible options.
    """


def set_roles(options: ReadOptions, roles: Mapping[str, str], **changes: Any) -> ReadOptions:
    """Return options in which columns are assigned to further roles, such as model or sample.

    `roles` maps roles to columns. Other roles in the options are kept. `changes` are further options to set.
    """
    named = dict(part.split("=", 1) for part in (options.columns or "").split(",") if "=" in part)
    skip = options.matrix is None and "matrix" not in changes
    named |= {role: column for role, column in roles.items() if column and (role != column or not skip)}
    text = ",".join(f"{role.strip()}={column.strip()}" for role, column in named.items())
    return replace(options, columns=text or None, **changes)


def describe_assumed_directions(
    names: Sequence[str], options: ReadOptions, *, guessed: bool = False
) -> list[str]:
    """Return at most one note that lists the metrics assumed to be higher-is-better.

    The direction of these metrics follows neither from their names nor from the options. With `guessed`, the
    names themselves are guesses and imply no direction.
    """
    undirected = _metrics_without_direction(names, options, guessed=guessed)
    if not undirected:
        return []
    flag = option("lower", join_commas(undirected))
    return [f"higher {listing(undirected)} is assumed to be better ({flag} reverses this)"]


def infer_lower_from_file_name(
    names: Sequence[str], options: ReadOptions, metric: str
) -> tuple[ReadOptions, list[str]]:
    """Declare metrics as lower-is-better if the file name implies it and no column does.

    Parameters
    ----------
    names : sequence of str
        Metrics of the table.
    options : ReadOptions
    metric : str
        Metric in the file name; empty if there is none.

    Returns
    -------
    options : ReadOptions
    notes : list of str
        At most one sentence that describes the assumption.

    Raises
    ------
    InputError
        If the options belong to a gate, which does not accept an assumed direction.
    """
    undirected = _metrics_without_direction(names, options) if clearly_lower_is_better(metric) else []
    if not undirected or len(undirected) < len(names):
        return options, []
    joined = join_commas(undirected)
    if isinstance(options, GateReading):
        raise InputError(
            f"unknown direction of {listing(undirected)}: lower or higher may be better",
            found=f"no direction is declared, and the file name {metric} suggests lower is better",
            hint=f"set {option('lower', joined)} or {option('higher', joined)}",
            suggestions=[(option(side, joined), {side: (*undirected,)}) for side in ("lower", "higher")],
        )
    flag = option("higher", joined)
    note = f"lower {listing(undirected)} is better, judging by the file name {metric} ({flag} reverses this)"
    return replace(options, lower=(*options.lower, *undirected)), [note]


def both_directions(
    names: Sequence[str], options: ReadOptions, *, lower_first: bool = False
) -> list[tuple[ReadOptions, list[str]]]:
    """Return two sets of options: metrics declared as higher-is-better, and as lower-is-better.

    Each comes with a list of notes that state the direction. With `lower_first`, the order is reversed.
    """
    sides = ("lower", "higher") if lower_first else ("higher", "lower")
    changes: list[dict[str, Any]] = [{side: (*getattr(options, side), *names)} for side in sides]
    notes = [[f"{side} {listing(names)} is better"] for side in sides]
    return [(replace(options, **change), note) for change, note in zip(changes, notes, strict=True)]


def _metrics_without_direction(
    names: Sequence[str], options: ReadOptions, *, guessed: bool = False
) -> list[str]:
    """Return the metrics whose direction follows neither from their names nor from the options.

    With `guessed`, names imply no direction.
    """
    directed = {*options.lower, *options.higher, *declared_metrics(options)[1]}
    if WILDCARD in directed:
        return []
    names = [name for name in names if name not in directed]
    return [n for n in names if guessed or not (is_metric_name(n) or has_uncertain_direction(n))]


def format_options(options: ReadOptions, base: ReadOptions) -> str:
    """Format the command-line options that turn `base` into `options`."""
    parts = []
    for field in options_of(ReadOptions):
        value = getattr(options, field.name)
        if value == getattr(base, field.name) or field.spec.cli_equivalent:
            continue
        if value is None or value == ():
            parts.append(interface_text(option(field.name), option(field.name, "None")))
        elif field.by_name:
            parts += [option(field.name, f"{name}={number:g}") for name, number in value.items()]
        elif field.spec.commas:
            parts.append(option(field.name, join_commas(value)))
        else:
            parts += [option(field.name, text) for text in (value if field.several else (value,))]
    return " ".join(parts)


# First line of saved layouts, by which they are recognised.
_SAVED = "Layout of a table, saved by riskrank check: every command in this folder reads it."


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Layout of a table: options that read it without inference.

    Attributes
    ----------
    options : mapping of str to object
        Reading options that differ from their defaults, as keyword arguments of the Python API.
    notes : tuple of str
        Sentences that describe the reading.
    bounds : tuple of str
        TOML lines with the likely bounds of metrics without declared bounds.
    """

    options: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()

    def to_toml(self, folder: str = "") -> str:
        """Return the text of a TOML configuration file, with a comment above each option.

        Parameters
        ----------
        folder : str
            Folder of the configuration file, to which the path of a metrics file is relative.
        """
        parts = ["\n".join(map(_toml_comment, [_SAVED, *self.notes]))]
        values, shared = {**self.options}, self.options.get("missing") == SHARED
        if metrics := values.pop("metrics", None):
            keys = [(name, *item) for name, described in metrics.items() for item in described.items()]
            lines = [f"{toml_key(name)}.{key} = {json.dumps(value)}" for name, key, value in keys]
            values["metrics_file"] = "\n".join(lines)
        elif (path := values.get("metrics_file")) and not is_inline_toml(path):
            values["metrics_file"] = os.path.relpath(path, folder or ".")
        if shared:  # only some commands compare each pair of models on the samples both have
            del values["missing"]
        for opt in options_of(RankReading):
            comment, key = _toml_comment(spell(opt.spec.words, flags=True)), opt.flag[2:]
            if opt.name in values:
                parts.append(f"{comment}\n{key} = {_toml_value(opt, values[opt.name])}")
            elif opt.name == "missing" and not shared:
                parts.append(f'{comment}\n# {key} = "drop"')
            elif opt.name == "metrics_file" and self.bounds:
                parts.append(f"{comment}\n# {key} = {toml_key(chr(10).join(self.bounds))}")
        parts += [f'[{name}]\nmissing = "{SHARED}"' for name in ("check", "rank", "report") if shared]
        return "\n\n".join(parts) + "\n"


def _toml_comment(text: str) -> str:
    """Wrap a text and format it as comment lines in TOML."""
    return fill(single_line(text), 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _toml_value(opt: Option, value: Any) -> str:
    """Format the value of an option as a TOML value."""
    if opt.by_name:
        value = [f"{name}={number:g}" for name, number in value.items()]
    texts = [join_commas([text]) for text in value] if opt.spec.commas else value
    return json.dumps(texts, ensure_ascii=False).replace("\x7f", "\\u007f")


# Kinds of warnings: layout of a table, its design, folders, unweighted metrics, notes on one section.
READ, DESIGN, FOLDERS, EQUAL_WEIGHTS, SECTION = "read", "design", "folders", "equal-weights", "section"
# Kinds of warnings that screens show: checks of votes, and metrics that no claim tests.
VOTES, IGNORED = "votes", "ignored"
# Kinds of warnings that follow the verdict, because they change what was compared.
FIRST = RERUNS, COPIES, UNPAIRED, UNITS = "reruns", "copies", "unpaired", "units"


class WarningText(str):
    """Text of a warning with the numbers in it and an optional kind, by which programs recognise it."""

    kind = ""
    figures: Mapping[str, float] = MappingProxyType({})

    def __new__(cls, text: str, kind: str = "", figures: Mapping[str, float] | None = None) -> Self:
        """Create a warning with an optional kind. `figures` holds the numbers in its text, by name."""
        warning = super().__new__(cls, text)
        warning.kind, warning.figures = kind, figures or {}
        return warning


def warning_kind(warning: str) -> str:
    """Return the kind of a warning, such as ``"read"``, or an empty string if it has none."""
    return getattr(warning, "kind", "")
