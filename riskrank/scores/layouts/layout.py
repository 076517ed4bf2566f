"""How a file is to be read where nobody said so: options, a sentence that says them, and its kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from riskrank.errors import InputError, by_door, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.flags import among_commas
from riskrank.options.option import options_of
from riskrank.options.reading import ReadOptions
from riskrank.options.values import ALL_OTHERS
from riskrank.scores.names.directions import has_uncertain_direction, clearly_lower_is_better, names_a_metric
from riskrank.scores.table.metrics_file import described_metrics


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to understand a table.

    Attributes
    ----------
    said : str
        What it is taken for, one sentence.
    options : ReadOptions
        What reads it so.
    """

    said: str
    options: ReadOptions


class UnlikeRunsError(InputError):
    """Runs that are no draws of each sample: to take them as samples of their own would be wrong as well."""


def with_roles(options: ReadOptions, roles: Mapping[str, str], **more: Any) -> ReadOptions:
    """Options with columns for more roles, and more options; what was asked for stays."""
    named = dict(part.split("=", 1) for part in (options.columns or "").split(",") if "=" in part)
    told = options.matrix is None and "matrix" not in more
    named |= {role: column for role, column in roles.items() if column and (role != column or not told)}
    text = ",".join(f"{role.strip()}={column.strip()}" for role, column in named.items())
    return replace(options, columns=text or None, **more)


def taken_as_better(names: Sequence[str], options: ReadOptions, *, guessed: bool = False) -> list[str]:
    """What is said of metrics of which more is taken as better, though neither names nor options say so."""
    silent = _silent(names, options, guessed=guessed)
    if not silent:
        return []
    turned = option("lower", among_commas(silent))
    return [f"more {listing(silent)} is taken as better, for nothing says so: {turned} turns it around"]


def told_by_file_name(
    names: Sequence[str], options: ReadOptions, metric: str
) -> tuple[ReadOptions, list[str]]:
    """What less is better of by the metric in the name of a file, where no column says it; and a sentence.

    Raises
    ------
    InputError
        If a gate is to take it for granted.
    """
    silent = _silent(names, options) if clearly_lower_is_better(metric) else []
    if not silent or len(silent) < len(names):
        return options, []
    together = among_commas(silent)
    if isinstance(options, GateReading):
        raise InputError(
            f"which way is better of {listing(silent)} has to be said",
            found=f"nobody declared it, and the file name says {metric}: a step back might pass",
            hint=f"say {option('lower', together)} or {option('higher', together)}",
            ways=[(option(way, together), {way: (*silent,)}) for way in ("lower", "higher")],
        )
    turned = option("higher", together)
    told = f"less {listing(silent)} is better, for the file name says {metric}: {turned} turns it around"
    return replace(options, lower=(*options.lower, *silent)), [told]


def _silent(names: Sequence[str], options: ReadOptions, *, guessed: bool = False) -> list[str]:
    """Metrics of which neither names nor options say which way is better."""
    said = {*options.lower, *options.higher, *described_metrics(options)[1]}
    if ALL_OTHERS in said:
        return []
    return [
        name
        for name in names
        if name not in said and (guessed or not (names_a_metric(name) or has_uncertain_direction(name)))
    ]


def written(options: ReadOptions, before: ReadOptions) -> str:
    """What has to be said to read a file so, beside what was said before."""
    found = []
    for one in options_of(ReadOptions):
        value = getattr(options, one.name)
        if value == getattr(before, one.name) or one.asking.instead:
            continue
        if value is None or value == ():
            found.append(by_door(option(one.name), option(one.name, "None")))
        elif one.by_name:
            found += [option(one.name, f"{name}={number:g}") for name, number in value.items()]
        elif one.asking.commas:
            found.append(option(one.name, among_commas(value)))
        else:
            found += [option(one.name, text) for text in (value if one.several else (value,))]
    return " ".join(found)


READ, FOLDERS, ALIKE, CHAPTER = "read", "folders", "alike", "chapter"
"""How a table was understood, and its folders; metrics that nobody weighed; of a chapter alone."""


class Warned(str):
    """A warning of a kind."""

    kind = ""

    def __new__(cls, text: str, kind: str = "") -> Self:
        """Keep the kind beside the text."""
        made = super().__new__(cls, text)
        made.kind = kind
        return made


def kind_of(warning: str) -> str:
    """The kind of a warning; of most there is none."""
    return getattr(warning, "kind", "")
