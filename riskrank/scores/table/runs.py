"""Successive runs of an evaluation: one table per file, or per value of the column that names the run.

A fixed set of samples that every run scored again, called anchors, is read in the same way.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import polars as pl

from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.paths import differing_parts, exists, labelled_paths
from riskrank.scores.files.source import Paths, Source
from riskrank.scores.names.vocabulary import has_word
from riskrank.scores.table.reading import opening_settings, read_frame
from riskrank.scores.table.score_table import ScoreTable, checked_table
from riskrank.scores.table.scores import Scores, recode, select

RUN = "run"  # role of the column that names the run, and its default name in a fixed set
_SUFFIXES = re.compile(r"(\.(csv|tsv|parquet|jsonl?|ndjson|xlsx|sqlite|db|duckdb|eval|log|gz|zst))+$")

Tables = tuple[ScoreTable, ...]


@dataclass(frozen=True)
class Runs:
    """Runs in chronological order.

    Attributes
    ----------
    tables : mapping of str to tuple of ScoreTable
        Tables of each run: one table of all metrics, or one per metric if metrics have different samples.
    baseline : str
        The run with which the others are compared.
    anchors : mapping of str to mapping of str to tuple of ScoreTable
        Scores of the fixed set of samples, by metric and run.
    """

    tables: Mapping[str, Tables]
    baseline: str
    anchors: Mapping[str, Mapping[str, Tables]] = field(default_factory=dict)


def read_runs(
    paths: Paths,
    options: ReadOptions,
    stdin: BinaryIO | None = None,
    *,
    baseline: str | None = None,
    anchors: Mapping[str, str] | None = None,
) -> Runs:
    """Read all runs separately.

    Parameters
    ----------
    paths, options, stdin
        See `read_scores`; ``run=COL`` among the columns means that a table contains several runs.
    baseline : str, optional
        A run, or a file of scores that precedes all runs; the first run by default.
    anchors : mapping of str to str, optional
        File with the fixed set of samples, by metric.

    Returns
    -------
    Runs

    Raises
    ------
    UsageError
        If a run is given twice, there is only one run, or the baseline is neither a run nor a file.
    InputError
        If a table cannot be used.
    """
    columns, unpaired = options.columns, options.unpaired
    parts = (columns or "").split(",")
    named = [part for part in parts if part.partition("=")[0].strip() == RUN]
    column = named[0].partition("=")[2].strip() if named else None
    remaining = ",".join(part for part in parts if part not in named)
    # Models are compared with themselves across runs, so their samples may differ.
    options = replace(options, columns=remaining or None, unpaired=True)
    if column is None:
        read = _read_files(paths, options, stdin)
    else:
        read = _split_by_run(_read_grouped(paths, options, column, stdin), column)
        baseline = _run_name(baseline, column) if baseline is not None else None
    if baseline is not None:
        baseline, read = _add_baseline(baseline, read, options)
    if len(read) < 2:
        hint = f"give one file per run, such as runs/*.csv, or name the run column: {_run_option(read)}"
        raise UsageError("a trend needs two or more runs", found=f"{len(read)}: {listing(read)}", hint=hint)
    fixed = {
        metric: _read_fixed_set(metric, path, options, column or RUN, read)
        for metric, path in (anchors or {}).items()
    }
    # Options may describe a metric that only some runs or fixed sets have.
    shared = dict.fromkeys(chain(*(scores.notes.all_metrics for scores in read.values())))

    def run_tables(run: Scores) -> Tables:
        """Return the tables of one run; the requested metrics are those of all runs."""
        metrics = tuple(shared | dict.fromkeys(run.notes.all_metrics))
        return _run_tables(replace(run, notes=replace(run.notes, all_metrics=metrics)))

    def restore_options(table: ScoreTable) -> ScoreTable:
        """Return a table with the options that the user gave, without inferred ones."""
        return replace(table, options=replace(table.options, columns=columns, unpaired=unpaired))

    tables = {name: tuple(map(restore_options, run_tables(run))) for name, run in read.items()}
    anchor_tables = {
        metric: {name: run_tables(run) for name, run in runs.items()} for metric, runs in fixed.items()
    }
    return Runs(tables, baseline or next(iter(tables)), anchor_tables)


def _add_baseline(
    baseline: str, read: dict[str, Scores], options: ReadOptions
) -> tuple[str, dict[str, Scores]]:
    """Return the name of the baseline run, and all runs.

    A baseline file that is not among the runs is read and placed first.

    Raises
    ------
    UsageError
        If the baseline is neither a run nor a file, or is the last run.
    """
    if baseline not in read:
        if not exists(baseline):
            problem = f"{option('baseline', baseline)} is neither a run nor a file"
            hint = "name one of these runs, or a score file that precedes all runs"
            raise UsageError(problem, found=f"the runs are {listing(read)}", hint=hint)
        path, scores = baseline, read_frame([baseline], options)
        baseline = _file_stem(path)
        if baseline not in read or _digests(read[baseline]) != _digests(scores):
            baseline = path if baseline in read else baseline
            read = {baseline: scores, **read}
    if len(read) > 1 and baseline == [*read][-1]:
        problem = f"{option('baseline', baseline)} is the last run, and none comes after it"
        hint = f"name an earlier run, or remove {option('baseline')} to use the first"
        raise UsageError(problem, found=f"the runs are {listing(read)}", hint=hint)
    return baseline, read


def natural_sort_key(name: str) -> list[tuple[int, str]]:
    """Return a sort key by which run2 comes before run10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _run_option(read: Mapping[str, Scores]) -> str:
    """Return the option that names a run column of the files read so far, or a placeholder for it.

    It includes the columns that have other roles. `read` holds the scores by run.
    """
    for scores in read.values():
        roles = (scores.options.columns or "").split(",")
        for name in scores.notes.files[0].source.columns if scores.notes.files else ():
            if has_word(name, "run over time", "time"):
                others = [role for role in roles if role and role.partition("=")[2] != name]
                return option("columns", ",".join([f"run={name}", *others]))
    return option("columns", "run=COL")


def _read_files(paths: Paths, options: ReadOptions, stdin: BinaryIO | None) -> dict[str, Scores]:
    """Read one run per file, in natural order of names.

    Data frames come first, in the given order.

    Raises
    ------
    UsageError
        If a run is given twice.
    """
    named: list[tuple[str, str | Source]] = []
    files: list[tuple[str | None, str]] = []
    for path in paths:
        if isinstance(path, str):
            files += labelled_paths(path, folders=options.from_ is not None)
        else:
            named.append((f"run {len(named) + 1}", path))
    file_paths = [path for _, path in files]
    names = [*map(_file_stem, file_paths)]
    if len({*names}) < len({*file_paths}):  # name the runs by the parts of their paths that differ
        names = ["/".join(parts) for parts in zip(*differing_parts(file_paths), strict=True)] or file_paths
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        copies = [path for name, (_, path) in zip(names, files, strict=True) if name == duplicates[0]]
        hint = "give every run once"
        raise UsageError(f"the run {duplicates[0]} is given twice", found=listing(copies), hint=hint)
    inputs = [path if label is None else f"{label}={path}" for label, path in files]
    named += sorted(zip(names, inputs, strict=True), key=lambda item: natural_sort_key(item[0]))
    read = {name: read_frame([path], options, stdin) for name, path in named}
    seen: dict[tuple[str, ...], str] = {}
    for name, scores in read.items():
        first = seen.setdefault(_digests(scores) or (name,), name)
        if first != name:
            warning = f"{name} is identical to {first}: a copy, or a deterministic system"
            read[name] = scores.with_warnings(warning)
    return read


def _digests(scores: Scores) -> tuple[str, ...]:
    """Return the SHA-256 digests of a run's files; data in memory have none."""
    return tuple(file.sha256 for file in scores.notes.inputs if file.sha256 is not None)


def _file_stem(path: str) -> str:
    """Return a file name without known suffixes."""
    name = Path(path).name
    return _SUFFIXES.sub("", name) or name


def _run_name(value: str, column: str) -> str:
    """Return the name of a run, given its value in the run column.

    A number is prefixed with the name of the column.
    """
    return f"{column} {value}" if value.isdecimal() else value


def _split_by_run(scores: Scores, column: str) -> dict[str, Scores]:
    """Split scores by run; each run keeps only the models and metrics that it has."""
    return {
        _run_name(name, column): _select_rows(scores, pl.col("group") == name)
        for name in sorted(scores.names("group"), key=natural_sort_key)
    }


def _select_rows(scores: Scores, mask: pl.Expr) -> Scores:
    """Return the rows that a mask selects, with only the models and metrics that have scores in them."""
    part = scores.filter(mask)
    valid = part.frame.select("model", "metric", valid=pl.Series(~part.invalid_mask()))
    part = part.filter(valid.select(pl.col("valid").any().over("model", "metric"))["valid"].to_numpy())
    used = {role: part.frame[role].unique().sort().cast(pl.String) for role in ("model", "metric")}
    frame = part.frame.with_columns(
        *(recode(part.frame[role], names) for role, names in used.items()), group=pl.lit(None, dtype=pl.Null)
    )
    return replace(part, frame=frame).with_options(group_by=None)


def _run_tables(scores: Scores) -> Tables:
    """Return the tables of a run.

    There is one table of all metrics, or one table per metric if metrics have different samples.
    """
    try:
        return (checked_table(scores),)
    except InputError:
        chosen = select(scores)
        if len(chosen.metrics) < 2:
            raise
        alone = chosen.with_options(metric=(), models=())
        return tuple(
            checked_table(_select_rows(alone, pl.col("metric") == metric)) for metric in chosen.metrics
        )


def _read_grouped(paths: Paths, options: ReadOptions, column: str, stdin: BinaryIO | None = None) -> Scores:
    """Read scores grouped by run; `column` names the run of each row.

    Raises
    ------
    InputError
        If the column does not exist, or was used as part of the sample names.
    """
    try:
        return read_frame(paths, replace(options, group_by=column), stdin)
    except InputError as error:
        if option("group_by", column) not in error.problem and "for the role group" not in error.problem:
            raise
        roles = f"run={column},sample=COL"
        problem = f"{error.problem.partition(': ')[0]}: there is no run column '{column}'"
        hint = f"name the run column and the sample column: {option('columns', roles)}"
        raise InputError(problem, found=error.found, hint=hint) from None


def _read_fixed_set(
    metric: str, path: str, options: ReadOptions, column: str, runs: Mapping[str, Scores]
) -> dict[str, Scores]:
    """Read the scores of a fixed set of samples, which every run scored again; return them by run.

    Parameters
    ----------
    metric, path : str
        Metric of the set, and its file.
    options : ReadOptions
    column : str
        Column that names the runs.
    runs : mapping of str to Scores
        Scores of all runs, by name.

    Raises
    ------
    InputError
        If a run did not score the fixed set.
    """
    settings, label = replace(options, metric=(metric,), models=()), f"fixed set={path}"
    score = score_column(label, metric, settings)
    if score is not None:
        settings = replace(settings, wide=True, metric=(score,))
    scores = _read_grouped([label], settings, column)
    by_run = _split_by_run(scores if score is None else with_metric(scores, metric), column)
    missing = [name for name in runs if name not in by_run]
    if missing:
        problem = f"{option('anchor', f'{metric}={path}')}: the fixed set has no scores of {listing(missing)}"
        hint = "score the same answers again in every run, and use the same run names"
        raise InputError(problem, found=f"its column {column} has {listing(by_run)}", hint=hint)
    return {name: by_run[name] for name in runs}


def input_entries(tables: Iterable[ScoreTable]) -> list[dict[str, object]]:
    """Return the input files of all tables as dictionaries, without duplicates."""
    return [vars(file) for file in dict.fromkeys(chain(*(table.inputs for table in tables)))]


def score_column(path: str, metric: str, options: ReadOptions) -> str | None:
    """Return the score column of a table without a metric column, named after the metric or ``score``.

    Return None if the table has a metric column, or the options or another reader determine its layout.
    """
    roles = {part.partition("=")[0].strip() for part in (options.columns or "").split(",")}
    if options.from_ is not None or options.matrix is not None or roles & {"metric", "score"}:
        return None
    try:
        (source,) = open_sources([path], opening_settings(options))
    except (InputError, ValueError):
        return None  # an export, or a later reader reports the error
    names = () if "metric" in source.columns else (metric, "score")
    return next((name for name in names if name in source.columns), None)


def with_metric(scores: Scores, metric: str) -> Scores:
    """Return the scores with `metric` as their only metric."""
    frame = scores.frame.with_columns(metric=pl.lit(metric, dtype=pl.Enum([metric])))
    notes, options = replace(scores.notes, all_metrics=(metric,)), replace(scores.options, metric=(metric,))
    return replace(scores, frame=frame, notes=notes, options=options)
