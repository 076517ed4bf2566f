"""Inputs in the order they are given: paths are opened as sources, sources are open already."""

from collections.abc import Sequence

from riskrank.errors import UsageError, option
from riskrank.scores.files.paths import labelled_paths
from riskrank.scores.files.source import How, InputFile, Source

__all__ = ["How", "InputFile", "Source", "open_sources"]


def open_sources(paths: Sequence[str | Source], how: How | None = None) -> list[Source]:
    """Open every input, globs expanded, in the order given.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, folders of parts, glob patterns (an existing file of that very name goes first), patterns with
        names of columns in braces, ``-`` for `stdin`, each also as ``LABEL=PATH``; or sources that are open
        already.
    how : How, optional

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
    how = how or How()
    asked = [name for name in ("sheet", "skip_rows") if getattr(how, name)]
    if asked and any(isinstance(given, Source) for given in paths):
        raise UsageError(
            f"{option(asked[0], getattr(how, asked[0]))} is for files",
            found="a table in memory",
            hint="leave it out, and hand over the rows that count",
        )
    for given in paths:
        if isinstance(given, Source):
            opened.append(given)
        else:
            # A data frame needs no reader of files.
            from riskrank.scores.files.containers import open_path

            for label, path in labelled_paths(given):
                source = open_path(path, how)
                source.model_label = label
                opened.append(source)
    return opened
