"""Prepare tables before roles are assigned: label by path, filter, reshape, and join columns."""

from collections.abc import Sequence

from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.layout import FOLDERS, WarningText
from riskrank.scores.names.vocabulary import DEFAULT_ROLE_NAMES, INDEX
from riskrank.scores.table.columns import (
    SAMPLE_ROLES,
    NamedColumns,
    columns_by_role,
    option_columns,
    unknown_column_error,
)
from riskrank.scores.table.designs import fold_columns
from riskrank.scores.table.model_properties import file_columns, model_files


def prepare(
    sources: Sequence[Source], named: NamedColumns, options: ReadOptions
) -> list[tuple[Source, NamedColumns]]:
    """Apply the options `where` and `sql`, join columns, and apply `matrix`, in this order.

    Parameters
    ----------
    sources : sequence of Source
    named : mapping of str to str
        Columns that the user named, by role.
    options : ReadOptions

    Returns
    -------
    list of (Source, mapping of str to str)
        Files with remaining rows, and the named columns of each. A matrix becomes a long table with standard
        columns. A file of model properties has only some of the named columns.

    Raises
    ------
    InputError
        If a condition or query fails or leaves no rows.
    UsageError
        If a query does not select rows.
    """
    filtered = filter_rows(sources, options, model_files(sources, named, options))
    columns = file_columns(filtered, named, options)
    joined = [join_columns(*pair) for pair in zip(filtered, columns, strict=True)]
    if options.matrix is None:
        return [*zip(joined, columns, strict=True)]
    names = {role: role for role in ("task", "cluster", "time", "noise") if role in named}
    return [(_matrix_source(source, options.matrix, named, options.models), names) for source in joined]


def filter_rows(sources: Sequence[Source], options: ReadOptions, keep: Sequence[Source] = ()) -> list[Source]:
    """Apply the options `where` and `sql`.

    Parameters
    ----------
    sources : sequence of Source
    options : ReadOptions
    keep : sequence of Source
        Files that remain complete if they lack the columns in the condition.
    """
    filtered = list(sources)
    if options.where is not None or options.sql is not None:
        from riskrank.scores.files import query
    if options.where is not None:
        filtered = query.where(filtered, options.where, optional=keep)
    if options.sql is not None:
        # Databases and workbooks contain several tables, and run the query when they are opened.
        filtered = [source if source.queried else query.select(source, options.sql) for source in filtered]
    return filtered


def roles_missing(sources: Sequence[Source], options: ReadOptions) -> bool:
    """Return True if any required role must be inferred from column names and contents."""
    named = option_columns(options)
    return INDEX in named.values() or any(is_role_missing(source, named, options) for source in sources)


def is_role_missing(source: Source, named: NamedColumns, options: ReadOptions) -> bool:
    """Return True if a file lacks a column for a required role."""
    roles = columns_by_role(source, named, DEFAULT_ROLE_NAMES)
    if options.matrix is not None and "model" in named:  # rows are models, columns are samples
        return False
    needed = set() if options.sample_optional else {"sample"}
    if options.matrix is None:
        needed |= set() if options.wide else {"metric", "score"}
        needed |= set() if source.model_label is not None else {"model"}
    if "sample" not in roles and fold_columns([source], named):
        needed -= {"sample"}
    return not needed <= roles.keys()


def add_path_columns(source: Source, named: NamedColumns) -> Source:
    """Add model and task columns to a folder with one folder per model and one file per task.

    All models have the same samples on a task. Folders are therefore assumed to name tasks if all files in
    each folder have the same number of rows. Other sources are returned unchanged, as are sources whose
    models are named elsewhere.
    """
    if not source.is_data_set or source.folder_columns or source.model_label is not None:
        return source
    if {"model", "task"} & {*source.columns, *named}:
        return source
    from riskrank.scores.files.derived import DataSetSource
    from riskrank.scores.files.paths import differing_parts
    from riskrank.scores.table.suggestions import format_inputs, path_templates

    assert isinstance(source, DataSetSource)
    parts, templates, roles = differing_parts(source.paths), path_templates(source.paths), ("model", "task")
    if len(parts) != 2 or len(templates) < 2:
        return source
    inputs = [template for template, _ in templates[:2]]
    if [_equal_lengths(names, source.lengths) for names in parts] == [True, False]:
        roles, inputs = ("task", "model"), inputs[::-1]
    outer, inner = roles
    result = source.with_keys({outer: parts[0], inner: parts[1]})
    message = (
        f"{source.label}: folders name the {outer}s and files the {inner}s, as in "
        f"{format_inputs(inputs[0])}; if it is the reverse: {format_inputs(inputs[1])}"
    )
    result.notes = (WarningText(message, FOLDERS),)
    return result


def _equal_lengths(names: Sequence[str], lengths: Sequence[int]) -> bool:
    """Return True if all files with the same name have the same number of rows.

    Parameters
    ----------
    names : sequence of str
        Name of the folder or file from which the rows come.
    lengths : sequence of int
        Number of rows of each file.
    """
    return len(set(zip(names, lengths, strict=True))) == len(set(names))


def _matrix_source(source: Source, metric: str, named: NamedColumns, models: Sequence[str]) -> Source:
    """Return a matrix of scores as a source in long format."""
    from riskrank.scores.table.matrix import MatrixSource

    # A cluster column must be named explicitly; a column that happens to be called cluster is ignored.
    of_sample = columns_by_role(source, named, SAMPLE_ROLES[:-1])
    if "model" in named:  # rows are models, columns are samples
        of_sample.pop("sample", None)
    # A label changes the names of the models, so they are selected later.
    return MatrixSource(source, metric, of_sample, models if source.model_label is None else ())


def join_columns(source: Source, named: NamedColumns) -> Source:
    """Join columns for roles given as ``sample=name+prompt``, unless a column has that name.

    For a role without a named column, the column with the name of the role is used.

    Raises
    ------
    InputError
        If named columns are missing, or if scores are to be joined.
    """
    joined: dict[str, tuple[str, ...]] = {}
    for role, column in named.items():
        if column in source.columns:
            continue
        parts = tuple(part.strip() for part in column.split("+"))
        missing = [part for part in parts if part not in source.columns]
        if missing or role == "score":  # scores are added by a query, not joined
            is_partial = 0 < len(missing) < len(parts)
            raise unknown_column_error(
                source, role, parts if is_partial else [column], missing[0] if is_partial else column
            )
        joined[column] = parts
    if not joined:
        return source
    from riskrank.scores.files.derived import JoinedSource

    reserved = [named.get(role, role) for role in dict.fromkeys((*DEFAULT_ROLE_NAMES, *named))]
    return JoinedSource(source, joined, retained=reserved)
