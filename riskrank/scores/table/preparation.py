"""What happens to a table before its columns get their roles: rows chosen, reshaped, names joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from riskrank.asked.reading import ReadOptions
from riskrank.scores.files import query
from riskrank.scores.files.derived import with_joined_columns
from riskrank.scores.files.matrix import MatrixSource
from riskrank.scores.files.source import Source
from riskrank.scores.table.columns import FOUND_BY_NAME, named_roles


def prepared(sources: Sequence[Source], options: ReadOptions) -> tuple[list[Source], ReadOptions]:
    """Apply `where`, `sql`, joined columns and `matrix`, in this order, to every source.

    Returns
    -------
    sources : list of Source
        Files of which no row is left are not among them.
    options : ReadOptions
        For the sources as they are now: a matrix has become a long table with its own columns.

    Raises
    ------
    InputError
        If a condition or query fails, or leaves nothing.
    UsageError
        If the options make no sense.
    """
    found = list(sources)
    if options.where is not None:
        found = query.where(found, options.where)
    if options.sql is not None:
        # Databases and workbooks hold several tables and have answered when they were opened.
        found = [source if source.queried else query.select(source, options.sql) for source in found]
    named = named_roles(options)
    known = tuple(dict.fromkeys((*FOUND_BY_NAME, *named)))
    found = [with_joined_columns(source, named, known) for source in found]
    if options.matrix is None:
        return found, options
    found = [_matrix(source, named, options) for source in found]
    return found, replace(
        options,
        columns=None,
        task="task" if "task" in named else options.task,
        cluster="cluster" if "cluster" in named else None,
    )


def _matrix(source: Source, named: dict[str, str], options: ReadOptions) -> MatrixSource:
    # Under a label the models are called otherwise than their columns; they are selected later.
    models = () if source.model_label is not None else options.models
    return MatrixSource(source, options.matrix or "", named, models)
