"""Inputs in the order they are given: paths are opened as sources, sources are open already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from riskrank.errors import UsageError
from riskrank.scores.files.paths import labelled_paths
from riskrank.scores.files.source import InputFile, Source

# Far more than a machine holds beside the table it becomes; it is there to stop what unpacks without end.
MAX_TABLE_BYTES = 16 * 1024**3

__all__ = ["InputFile", "Source", "open_sources"]


def open_sources(
    paths: Sequence[str | Source],
    *,
    input_format: str | None = None,
    stdin: BinaryIO | None = None,
    sql: str | None = None,
    max_bytes: int | None = None,
) -> list[Source]:
    """Open every input, globs expanded, in the order given.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, folders of parts, glob patterns (an existing file of that very name goes first), patterns with
        names of columns in braces, ``-`` for `stdin`, each also as ``LABEL=PATH``; or sources that are open
        already.
    input_format : str, optional
        One of `FORMATS`, of every input; without it the suffix of each name decides.
    stdin : BinaryIO, optional
        Where ``-`` reads from.
    sql : str, optional
        Query for inputs that hold several tables: databases, in their own SQL, and workbooks.
    max_bytes : int, optional
        Most bytes a file may unpack to, or a database answer; `MAX_TABLE_BYTES` by default.

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If a file is missing, empty, of unknown format or unreadable in its format.
    UsageError
        If no path is given, or ``-`` without a format.
    """
    if not paths:
        raise UsageError(
            "no score files were given",
            found="an empty list of paths",
            hint="name at least one CSV, TSV, Parquet, JSON, Excel or database file, or - for standard input",
        )
    opened: list[Source] = []
    for given in paths:
        if isinstance(given, Source):
            opened.append(given)
        else:
            # A data frame needs no reader of files.
            from riskrank.scores.files.containers import open_path

            for label, path in labelled_paths(given):
                source = open_path(path, input_format, stdin, sql, max_bytes or MAX_TABLE_BYTES)
                source.model_label = label
                opened.append(source)
    return opened
