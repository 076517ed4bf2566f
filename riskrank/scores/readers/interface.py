"""What a reader of a harness's exports hands over, and what it is told.

A reader is a module with three names: ``NAME``, ``recognises(path)`` and ``read(files, rules)``. It turns
the files of one harness into long rows; which of several filters, epochs, splits or repeats count is never
its guess: it raises, naming the rule to give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import polars as pl

from riskrank.scores.readers.files import InputFile


@dataclass(frozen=True, kw_only=True)
class LabelledPath:
    """One path of the command line: a file, or the folder a harness writes into.

    Attributes
    ----------
    path : Path
    label : str or None
        Name of the model, from ``LABEL=PATH``; where the file holds several, ``LABEL/model``.
    """

    path: Path
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExportRules:
    """What only a person can decide about an export.

    Attributes
    ----------
    filter : str or None
        Which of several filters, reducers or scorers counts, where an export holds several.
    model_from_path : str or None
        Regular expression with one group (or one named ``model``) that finds the model in a path.
    skip_bad : bool
        Whether files and entries that cannot be read are counted and left out instead of refused.
    splits : tuple of str
        Splits, perturbations or the like to keep, where an export holds several.
    """

    filter: str | None = None
    model_from_path: str | None = None
    skip_bad: bool = False
    splits: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Export:
    """Scores of an export as long rows.

    Attributes
    ----------
    rows : DataFrame
        Columns ``model``, ``sample``, ``metric`` (strings), ``score`` (float, null where there is none),
        ``draw`` (string, only where samples repeat), and further columns that tell rows apart or group
        them (``task``, ``split``, ``subject``, ...), all strings.
    directions : mapping of str to {"higher", "lower"}
        Of the metrics whose direction the export itself tells.
    notes : tuple of str
        What was left out and how often: unscored, failed, cancelled, truncated, no scalar.
    inputs : tuple of InputFile
    """

    rows: pl.DataFrame
    directions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    inputs: tuple[InputFile, ...] = ()


class Reader(Protocol):
    """A module that reads one harness's exports."""

    NAME: str

    def recognises(self, path: Path) -> bool:
        """Whether a path looks like this harness wrote it, from names and first bytes alone."""
        ...

    def read(self, files: Sequence[LabelledPath], rules: ExportRules) -> Export:
        """Read the files; raises InputError for what cannot be read, UsageError for a rule to give."""
        ...
