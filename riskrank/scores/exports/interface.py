"""What a reader of a harness's exports is told, and what it hands over.

A reader is a generator of the rows of one file, of which `riskrank.scores.exports.row_reader` makes one that
reads all; which of several filters, epochs, splits or repeats count is never its guess: it raises, naming the
rule to give. `riskrank.scores.exports.gathering` has what readers share: bounded reading of files, counting
what is no score, asking for a rule; `riskrank.scores.exports.fields` refuses fields of a wrong type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.scores.files.json_objects import as_text
from riskrank.scores.files.source import InputFile

# More bytes than any export of a real evaluation has, in one file or one member of an archive.
MAX_BYTES = 2 * 1024**3


@dataclass(frozen=True, kw_only=True)
class LabelledPath:
    """One path of the command line: a file, or the folder a harness writes into.

    Attributes
    ----------
    path : Path
    label : str or None
        Name of the model, from ``LABEL=PATH``. `read_export` puts it in the place of the model's name
        afterwards; a reader needs it only where the files name no model at all.
    """

    path: Path
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExportRules:
    """What only a person can decide about an export.

    Attributes
    ----------
    filters : tuple of str
        Which of several filters, prompts, scorers or the like count, where an export holds several; ``*``
        for all of them, each of which then is a metric (or model) of its own.
    splits : tuple of str
        Which of several splits, perturbations or the like to keep; ``*`` for all of them.
    metrics : tuple of str
        The metrics somebody wants; empty for all. A reader need not leave out others, but asks for no rule
        that only they would need.
    model_from_path : str or None
        Regular expression with one group (or one named ``model``) that finds the model in a path.
    parts : bool
        Whether a list of numbers becomes one metric a part (``mcc.0``, ``mcc.1``) instead of being left out.
    skip_bad : bool
        Whether files and entries that cannot be read are counted and left out instead of refused.
    max_bytes : int
        Most bytes a file, or one member of an archive, may have once decompressed.
    texts_of : frozenset of str
        Samples, as the reader names them, whose rows are to hold what was asked and answered: few, as
        prompts would pile up.
    """

    filters: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    model_from_path: str | None = None
    parts: bool = False
    skip_bad: bool = False
    max_bytes: int = MAX_BYTES
    texts_of: frozenset[str] = frozenset()


def export_rules(options: ReadOptions) -> ExportRules:
    """What only a person can decide about an export, of all that was asked for."""
    return ExportRules(
        filters=options.filter,
        splits=options.split,
        metrics=options.metric,
        model_from_path=options.model_from_path,
        parts=options.parts,
        skip_bad=options.skip_bad,
        max_bytes=options.max_bytes or MAX_BYTES,
    )


@dataclass(frozen=True, kw_only=True)
class Export:
    """Scores of an export as long rows.

    Attributes
    ----------
    rows : DataFrame
        Columns ``model``, ``sample``, ``metric`` (strings), ``score`` (float, null where there is none),
        ``draw`` (string, only where samples repeat), and further columns that tell rows apart or group
        them (``task``, ``split``, ``subject``, ...), all strings. A sample's name holds its task, so that
        two tasks may number their samples alike.
    directions : mapping of str to {"higher", "lower"}
        Of the metrics whose direction the export itself tells.
    primary : mapping of str to str
        By task, the metric by which the harness itself judges it, where it says so.
    bounds : mapping of str to (float, float)
        Smallest and largest score there can be, of the metrics whose kind of value tells it: true or false,
        grades.
    board : bool
        Whether scores are averages of tasks, so that tasks are the samples.
    notes : tuple of str
        What was left out and how often: unscored, failed, cancelled, truncated, no scalar.
    inputs : tuple of InputFile
    """

    rows: pl.DataFrame
    directions: Mapping[str, str] = field(default_factory=dict)
    primary: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    board: bool = False
    notes: tuple[str, ...] = ()
    inputs: tuple[InputFile, ...] = ()


# Columns of rows that were read once more for their texts: no file has any called so.
ASKED, ANSWERED = "(asked)", "(answered)"
# Columns of rows while they are gathered: the number of their file, and a text that may be a grade.
FILE, GRADE = "(file)", "(grade)"


def within(value: object, *keys: str) -> Any:
    """What stands in objects within objects; None where it is not there."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def likeliest(likelihoods: Sequence[object], choices: object) -> str | None:
    """The choice that a model gave the highest log-likelihood; None where these are no numbers."""
    try:
        values = [float(one) for one in likelihoods]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not values:
        return None
    best = max(range(len(values)), key=values.__getitem__)
    texts = within(choices, "text") or choices
    if isinstance(texts, list) and len(texts) == len(values):
        return as_text(texts[best])
    return f"choice {best + 1} of {len(values)}"
