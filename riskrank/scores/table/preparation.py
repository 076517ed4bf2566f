"""Prepare tables before roles are assigned, and repeat the rows of models with one row for their samples."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, did_you_mean, interface_text, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.options.reading import ReadOptions
from riskrank.scores.files import query
from riskrank.scores.files.derived import DataSetSource, JoinedSource
from riskrank.scores.files.paths import differing_parts, infer_template
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.layout import FOLDERS, WarningText
from riskrank.scores.names.vocabulary import DEFAULT_ROLE_NAMES, INDEX
from riskrank.scores.table.columns import (
    SAMPLE_ROLES,
    FileRoles,
    NamedColumns,
    columns_by_role,
    option_columns,
    unknown_column_error,
)
from riskrank.scores.table.designs import fold_columns
from riskrank.scores.table.typed_rows import categories, concat_rows


def prepare_sources(
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
    lists = model_files(filtered, named, options)
    columns = [_columns_in_file(source, named) if source in lists else named for source in filtered]
    joined = [join_columns(*pair, options.group_by) for pair in zip(filtered, columns, strict=True)]
    if options.matrix is None:
        return [*zip(joined, columns, strict=True)]
    from riskrank.scores.layouts.matrix import MatrixSource

    names = {role: role for role in ("task", "cluster", "time", "noise") if role in named}
    matrices: list[tuple[Source, NamedColumns]] = []
    for source in joined:
        # A cluster column must be named explicitly; a column that happens to be called cluster is ignored.
        of_sample = columns_by_role(source, named, SAMPLE_ROLES[:-1])
        if "model" in named:  # rows are models, columns are samples
            of_sample.pop("sample", None)
        # A label changes the names of the models, so they are selected later.
        models = options.models if source.model_label is None else ()
        matrices.append((MatrixSource(source, options.matrix, of_sample, models), names))
    return matrices


def filter_rows(sources: Sequence[Source], options: ReadOptions, keep: Sequence[Source] = ()) -> list[Source]:
    """Return the sources with only the rows that the options `where` and `sql` select.

    Parameters
    ----------
    sources : sequence of Source
    options : ReadOptions
    keep : sequence of Source
        Files that remain complete if they lack the columns in the condition.
    """
    filtered = list(sources)
    if options.where is not None:
        filtered = query.keep_rows(filtered, options.where, optional=keep)
    if options.sql is not None:
        # Databases and workbooks contain several tables, and run the query when they are opened.
        filtered = [source if source.queried else query.run(source, options.sql) for source in filtered]
    return filtered


def roles_missing(sources: Sequence[Source], options: ReadOptions) -> bool:
    """Return True if some file lacks a column for a required role, which must then be inferred."""
    named = option_columns(options)
    return INDEX in named.values() or any(is_role_missing(source, named, options) for source in sources)


def is_role_missing(source: Source, named: NamedColumns, options: ReadOptions) -> bool:
    """Return True if a file lacks a column for a required role.

    `named` maps roles to the columns that the user chose.
    """
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
    """Add model and task columns to a folder of scores whose subfolders and files name both.

    All models have the same samples on a task. Folders are therefore assumed to name tasks if all files in
    each folder have the same number of rows. Other sources are returned unchanged, as are sources whose
    models are named elsewhere.
    """
    if not source.is_data_set or source.folder_columns or source.model_label is not None:
        return source
    if {"model", "task"} & {*source.columns, *named}:
        return source
    assert isinstance(source, DataSetSource)
    parts, templates, roles = differing_parts(source.paths), path_templates(source.paths), ("model", "task")
    if len(parts) != 2 or len(templates) < 2:
        return source
    inputs = [template for template, _ in templates[:2]]
    # True if all files with the same name, or in the same folder, have the same number of rows.
    equal = [len({*zip(names, source.lengths, strict=True)}) == len({*names}) for names in parts]
    if equal == [True, False]:
        roles, inputs = ("task", "model"), inputs[::-1]
    outer, inner = roles
    result = source.with_keys({outer: parts[0], inner: parts[1]})
    first, second = map(format_inputs, inputs)
    message = f"{source.label}: folders name the {outer}s and files the {inner}s, as in {first}; "
    message += f"if it is the reverse: {second}"
    result.notes = (WarningText(message, FOLDERS),)
    return result


def join_columns(source: Source, named: NamedColumns, group: str | None = None) -> Source:
    """Join the columns of roles such as ``sample=name+prompt``, unless a column has that name.

    `named` maps roles to columns. For a role without a named column, the column with the name of the role is
    used. The column `group` is kept even if it is joined.

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
            known, wrong = (parts, missing[0]) if 0 < len(missing) < len(parts) else ((column,), column)
            raise unknown_column_error(source, role, known, wrong)
        joined[column] = parts
    if not joined:
        return source
    reserved = [named.get(role, role) for role in dict.fromkeys((*DEFAULT_ROLE_NAMES, *named))]
    return JoinedSource(source, joined, retained=[*reserved, *([group] if group else [])])


# Columns that a repeated row takes from its sample, or from each repeat of the sample.
_SAMPLE_ROLES = ("sample", "task", "cluster", "group", "time", "draw")

_NAME = f"name the sample column, {option('columns', 'sample=…')}"


def model_files(sources: Sequence[Source], named: NamedColumns, options: ReadOptions) -> list[Source]:
    """Return the files that have one row per model, if other files have samples.

    `named` maps roles to the columns that the user chose.
    """
    if options.matrix is not None or not options.sample_optional or len(sources) == 1:
        return []
    column = named.get("sample", "sample")
    names = {"sample", column, *(part.strip() for part in column.split("+"))}
    bare = [source for source in sources if not names & {*source.columns}]
    roles = [columns_by_role(source, _columns_in_file(source, named), DEFAULT_ROLE_NAMES) for source in bare]
    files = [source for source, cols in zip(bare, roles, strict=True) if _is_per_model(source, cols, options)]
    return files if len(files) < len(sources) else []


def _columns_in_file(source: Source, named: NamedColumns) -> NamedColumns:
    """Return the user-named columns that exist in a file."""
    return {role: column for role, column in named.items() if column in source.columns}


def layout_options(files: Sequence[tuple[Source, NamedColumns]], options: ReadOptions) -> list[ReadOptions]:
    """Return the options with which each file is read.

    Alongside files of samples, a file with one row per model and one column per metric is read as a wide
    table. `files` are pairs of a source and the columns that the user named, by role.
    """
    roles = [columns_by_role(source, names, DEFAULT_ROLE_NAMES) for source, names in files]
    if options.wide or not options.sample_optional or not any("sample" in names for names in roles):
        return [options] * len(files)
    flags = (
        not {"sample", "metric", "score"} & {*names} and _is_per_model(source, names, options)
        for (source, _), names in zip(files, roles, strict=True)
    )
    return [replace(options, wide=True) if is_list else options for is_list in flags]


def _is_per_model(source: Source, roles: NamedColumns, options: ReadOptions) -> bool:
    """Return True if a file has about one row per model.

    A long table has about one row per model and metric. A few accidental duplicates are tolerated. `roles`
    maps roles to columns of the file.
    """
    if "model" not in roles:
        return False
    long = not options.wide and {"metric", "score"} <= {*roles}
    rows = source.load([roles[role] for role in (("model", "metric") if long else ("model",))])
    return bool(2 * rows.n_unique() > len(rows))


def merge_model_rows(read: FileRoles, frames: Sequence[pl.DataFrame], options: ReadOptions) -> pl.DataFrame:
    """Concatenate the rows of all files; rows without a sample are repeated for every sample of their model.

    Parameters
    ----------
    read : sequence of (Source, Roles)
        Files with samples, followed by files without.
    frames : sequence of DataFrame
        Typed rows of each file.
    options : ReadOptions

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        If a model has two values of a metric or no samples, or if both kinds of files contain the same
        metric.
    """
    count = sum(roles.sample is not None for _, roles in read)
    if count in (0, len(read)):
        return concat_rows(frames)
    scored, lists = concat_rows(frames[:count]), [*zip(read[count:], frames[count:], strict=True)]
    _require_unique([(source, frame) for (source, _), frame in lists], scored)
    parts = []
    for (source, _), frame in lists:
        # A condition may have removed all samples of a model that has a price.
        models = categories((frame if options.where is None else scored)["model"]).to_list()
        parts.append(frame.filter(pl.col("model").cast(pl.String).is_in([*options.models] or models)))
        _require_samples(source, parts[-1], scored)
    rows, keys = concat_rows(parts), ["model", "sample", *(["draw"] if options.repeats == "draws" else [])]
    samples = scored.select("model", *_SAMPLE_ROLES).unique(keys, keep="first", maintain_order=True)
    recoded = categories(rows["model"]).cast(scored.schema["model"], strict=False)
    rows = rows.drop(_SAMPLE_ROLES).with_columns(model=recoded.gather(rows["model"].to_physical()))
    repeated = samples.join(rows, on="model", maintain_order="left").select(scored.columns)
    return concat_rows([scored, repeated])


def _require_unique(lists: Sequence[tuple[Source, pl.DataFrame]], scored: pl.DataFrame) -> None:
    """Raise InputError if a model has two values of a metric, or files of samples also have the metric.

    `lists` holds the files with one row per model and their rows; `scored` holds the rows with samples.
    """
    names = pl.col("model", "metric").cast(pl.String)
    keys = pl.concat([frame.select(names, file=pl.lit(at)) for at, (_, frame) in enumerate(lists)])
    shared = keys.filter(pl.col("metric").is_in(categories(scored["metric"]).to_list()))
    if shared.height:
        source = lists[shared["file"][0]][0]
        problem = f"there is no sample column, but other files have {shared['metric'][0]} per sample"
        raise source.error_with_columns(problem, f"{_NAME}, or read this file separately")
    duplicates = keys.filter(~pl.struct("model", "metric").is_first_distinct())
    if duplicates.height:
        source = lists[duplicates["file"][0]][0]
        problem = f"{source.label}: a second {duplicates['metric'][0]} for model '{duplicates['model'][0]}'"
        detail = f"columns: {listing(source.columns, 20)}, but no sample column"
        hint = f"keep one value, or remove a duplicate file; if each value is a sample, {_NAME}"
        raise InputError(problem, found=detail, hint=hint)


def _require_samples(source: Source, frame: pl.DataFrame, scored: pl.DataFrame) -> None:
    """Raise InputError if a model in a file with one row per model has no samples.

    `frame` holds the rows of this file, and `scored` those of the files with samples.
    """
    models = categories(scored["model"]).to_list()
    unknown = [name for name in frame["model"].unique().cast(pl.String).sort() if name not in models]
    if unknown:
        choice = option("models", join_commas(models))
        otherwise = f"remove the models without samples, or select the models to compare: {choice}"
        hint = did_you_mean(unknown[0], models, fallback=otherwise)
        problem = f"{source.label}: no samples of {listing(unknown, 4)} in any file"
        raise InputError(problem, found=f"samples of {listing(models)} only", hint=hint)


# Number of files above which a pattern is used, and number above which files are not listed.
_FEW, _MAX_LISTED = 4, 12


def path_templates(files: Sequence[str]) -> list[tuple[list[str], dict[str, str]]]:
    """Return ways to write the paths of files so that they name models, tasks or runs.

    Each is a list of path templates such as ``runs/{model}.csv``, or of labelled paths, with the options that
    it requires.
    """
    path_parts = differing_parts(files)
    if len(path_parts) == 2 and min(len(set(names)) for names in path_parts) < len(files):
        templates = [infer_template(files, names) for names in (("{model}", "{task}"), ("{task}", "{model}"))]
        if None in templates:
            return []
        first, second = map(str, templates)
        return [([first], {}), ([second], {}), ([first.replace("{task}", "{draw}")], {"repeats": "draws"})]
    names = file_names(files)
    template = infer_template(files, ["{model}"]) if len(files) > _FEW else None
    if template is not None:
        return [([template], {})]
    if len(set(names)) < len(files) or len(files) > _MAX_LISTED:
        return []
    return [([f"{name}={file}" for name, file in zip(names, files, strict=True)], {})]


def format_inputs(inputs: Sequence[str]) -> str:
    """Format input paths as they would be written on the command line or in the Python API."""
    return interface_text(shlex.join(inputs), repr(inputs[0]) if len(inputs) == 1 else repr(list(inputs)))


def file_names(files: Sequence[str]) -> list[str]:
    """Return short distinct names of files: the parts in which their paths differ.

    If only one component of the paths differs, it is used; otherwise the file name is. Beginnings and ends
    that all names share are removed.
    """
    parts = differing_parts(files)
    names = [*parts[0]] if len(parts) == 1 else [Path(file).stem for file in files]
    for _ in range(2):  # remove the shared beginning, then the shared end
        columns = takewhile(lambda chars: len(set(chars)) == 1, zip(*names, strict=False))
        shared = re.sub(r"[^\W_]*$", "", "".join(chars[0] for chars in columns))
        names = [name.removeprefix(shared)[::-1] for name in names]
    return names if all(names) else [Path(file).stem for file in files]
