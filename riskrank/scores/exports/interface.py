"""Data types and helpers shared by the readers of harness exports.

A reader is a generator of the rows of one file; `riskrank.scores.exports.row_reader` turns it into a reader
of many files. A reader never guesses which filter, epoch, split or repeat to use: it raises an error that
names the option to set. `riskrank.scores.exports.row_collector` collects rows and counts what is excluded;
`riskrank.scores.exports.fields` checks the types of fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.scores.files.json_objects import message_text
from riskrank.scores.files.source import InputFile

# Size limit of a file or archive member; exports of real evaluations are smaller.
MAX_BYTES = 2 * 1024**3


@dataclass(frozen=True, kw_only=True)
class LabelledPath:
    """A path from the command line: a file, or the output folder of a harness.

    Attributes
    ----------
    path : Path
    label : str or None
        Model name from ``LABEL=PATH``. `read_export` substitutes it for the model name after reading; readers
        need it only if the files do not name a model.
    """

    path: Path
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class Export:
    """Scores of an export in long format, one row per score.

    Attributes
    ----------
    rows : DataFrame
        Columns ``model``, ``sample``, ``metric`` (strings), ``score`` (float, null if missing), ``draw``
        (string, only if samples have repeats), and further string columns that identify or group rows
        (``task``, ``split``, ``subject``, ...). Sample names include the task, because two tasks may use
        the same sample numbers.
    directions : mapping of str to {"higher", "lower"}
        Directions that the export declares, by metric.
    primary : mapping of str to str
        Primary metric of each task, if the harness declares one.
    bounds : mapping of str to (float, float)
        Smallest and largest possible score, for metrics with boolean values or grades.
    has_task_averages : bool
        Whether scores are task averages, so that each task is a sample.
    notes : tuple of str
        Reasons for excluding items, with counts: unscored, failed, cancelled, truncated, not a scalar.
    inputs : tuple of InputFile
    """

    rows: pl.DataFrame
    directions: Mapping[str, str] = field(default_factory=dict)
    primary: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    has_task_averages: bool = False
    notes: tuple[str, ...] = ()
    inputs: tuple[InputFile, ...] = ()


# Columns with the model's input and output; the parentheses avoid clashes with columns of a file.
INPUT_TEXT, OUTPUT_TEXT = "(input)", "(output)"
# Temporary columns: the number of a row's file, and a text that may be a grade.
FILE, GRADE = "(file)", "(grade)"


def get_nested(value: object, *keys: str) -> Any:
    """Return the value at a path of keys in nested dictionaries, or None if a key is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def likeliest_choice(likelihoods: Sequence[object], choices: object) -> str | None:
    """Return the choice with the highest log-likelihood, or None if the values are not numbers."""
    try:
        values = [float(likelihood) for likelihood in likelihoods]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not values:
        return None
    best = max(range(len(values)), key=values.__getitem__)
    texts = get_nested(choices, "text") or choices
    if isinstance(texts, list) and len(texts) == len(values):
        return message_text(texts[best])
    return f"choice {best + 1} of {len(values)}"
