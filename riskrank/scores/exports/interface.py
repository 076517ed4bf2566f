"""What a reader of a harness's exports is told, and what it hands over.

A reader is a generator of the rows of one file, of which `riskrank.scores.exports.row_reader` makes one that
reads all; which of several filters, epochs, splits or repeats count is never its guess: it raises, naming the
rule to give. `riskrank.scores.exports.collection` has what readers share: bounded reading of files, counting
what is no score, asking for a rule; `riskrank.scores.exports.fields` refuses fields of a wrong type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

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
    has_task_averages: bool = False
    notes: tuple[str, ...] = ()
    inputs: tuple[InputFile, ...] = ()


# Columns of rows that were read once more for their texts: no file has any called so.
INPUT_TEXT, OUTPUT_TEXT = "(input)", "(output)"
# Columns of rows while they are gathered: the number of their file, and a text that may be a grade.
FILE, GRADE = "(file)", "(grade)"


def get_nested(value: object, *keys: str) -> Any:
    """What stands in objects within objects; None where it is not there."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def likeliest_choice(likelihoods: Sequence[object], choices: object) -> str | None:
    """The choice that a model gave the highest log-likelihood; None where these are no numbers."""
    try:
        values = [float(likelihood) for likelihood in likelihoods]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not values:
        return None
    best = max(range(len(values)), key=values.__getitem__)
    texts = get_nested(choices, "text") or choices
    if isinstance(texts, list) and len(texts) == len(values):
        return as_text(texts[best])
    return f"choice {best + 1} of {len(values)}"
