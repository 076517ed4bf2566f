"""Runs of one evaluation in their order: a table a file, or a table a value of the column that names the run.

A fixed set that was scored in each run is read the same way.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import polars as pl

from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.paths import differing, exists, labelled_paths
from riskrank.scores.files.source import Paths, Source
from riskrank.scores.table.fixed_set import all_of, only_scores
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.score_table import ScoreTable, checked_table
from riskrank.scores.table.scores import Scores, renamed, select

RUN = "run"  # of the column that names the run, and its name in a fixed set where nobody says otherwise
_SUFFIXES = re.compile(r"(\.(csv|tsv|parquet|jsonl?|ndjson|xlsx|sqlite|db|duckdb|eval|log|gz|zst))+$")

Tables = tuple[ScoreTable, ...]


@dataclass(frozen=True)
class Runs:
    """Runs in their order.

    Attributes
    ----------
    tables : mapping of str to tuple of ScoreTable
        By the name of the run one of all metrics, or one a metric where they were scored on other samples.
    baseline : str
        The run others are compared with.
    anchors : mapping of str to mapping of str to tuple of ScoreTable
        By metric the fixed set as each run scored it.
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
    """Read every run by itself.

    Parameters
    ----------
    paths, options, stdin
        As for `read_scores`; ``run=COL`` among the columns says that a table holds several runs.
    baseline : str, optional
        A run, or a file of scores that stand before all runs; the first run by default.
    anchors : mapping of str to str, optional
        By metric the file of the fixed set.

    Raises
    ------
    UsageError
        If a run is given twice, there is only one, or the baseline is none of them.
    InputError
        If a table cannot be used.
    """
    columns, unpaired = options.columns, options.unpaired
    column, options = _run_column(options)
    # Models of a run are compared with themselves: each may have samples of its own.
    options = replace(options, unpaired=True)
    if column is None:
        read = _of_files(paths, options, stdin)
    else:
        read = _of_column(_with_runs(paths, options, column, stdin), column)
        baseline = _run_of(baseline, column) if baseline is not None else None
    if baseline is not None:
        baseline, read = _with_baseline(baseline, read, options)
    if len(read) < 2:
        named = option("columns", "run=COL")
        hint = f"give a file a run, as in runs/*.csv, or name the column of the runs: {named}"
        raise UsageError("a trend takes two runs or more", found=f"{len(read)}: {listing(read)}", hint=hint)
    fixed = {
        metric: _fixed_set(metric, path, options, column or RUN, read)
        for metric, path in (anchors or {}).items()
    }
    # A run or a fixed set may lack a metric that others have, and that options describe.
    known = dict.fromkeys(chain(*(scores.notes.known_metrics for scores in read.values())))

    def tables(of: Mapping[str, Scores]) -> dict[str, Tables]:
        every = {name: tuple(known | dict.fromkeys(one.notes.known_metrics)) for name, one in of.items()}
        return {
            name: _apart(replace(one, notes=replace(one.notes, known_metrics=every[name])))
            for name, one in of.items()
        }

    def as_asked(one: ScoreTable) -> ScoreTable:
        return replace(one, options=replace(one.options, columns=columns, unpaired=unpaired))

    told = {name: tuple(map(as_asked, run)) for name, run in tables(read).items()}
    return Runs(told, baseline or next(iter(told)), {metric: tables(one) for metric, one in fixed.items()})


def _with_baseline(
    baseline: str, read: dict[str, Scores], options: ReadOptions
) -> tuple[str, dict[str, Scores]]:
    """Name of the run others are compared with, and the runs; a file that is none of them before all."""
    if baseline not in read:
        if not exists(baseline):
            raise UsageError(
                f"{option('baseline', baseline)} is neither a run nor a file",
                found=f"the runs are {listing(read)}",
                hint="name one of these, or a file of scores that stands before all of them",
            )
        path, scores = baseline, read_frame([baseline], options)
        baseline = _name_of(path)
        if baseline not in read or _digests(read[baseline]) != _digests(scores):
            baseline = path if baseline in read else baseline
            read = {baseline: scores, **read}
    if len(read) > 1 and baseline == [*read][-1]:
        raise UsageError(
            f"{option('baseline', baseline)} is the last run, and none comes after it",
            found=f"the runs are {listing(read)}",
            hint=f"name a run before it, or leave out {option('baseline')} for the first",
        )
    return baseline, read


def natural(name: str) -> list[tuple[int, str]]:
    """Key of names in the order people count: run2 before run10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _run_column(options: ReadOptions) -> tuple[str | None, ReadOptions]:
    """The column that names runs, and the other columns that were named."""
    parts = (options.columns or "").split(",")
    found = [part.partition("=")[2].strip() for part in parts if part.partition("=")[0].strip() == RUN]
    others = ",".join(part for part in parts if part.partition("=")[0].strip() != RUN)
    return (found[0] if found else None), replace(options, columns=others or None)


def _of_files(paths: Paths, options: ReadOptions, stdin: BinaryIO | None) -> dict[str, Scores]:
    """A run a file, in the natural order of names; frames have none, and stay in theirs."""
    found: list[tuple[str, str | Source]] = []
    files: list[tuple[str | None, str]] = []
    for path in paths:
        if isinstance(path, str):
            files += labelled_paths(path, folders=options.from_ is not None)
        else:
            found.append((f"run {len(found) + 1}", path))
    names = _names_of([path for _, path in files])
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        same = [path for name, (_, path) in zip(names, files, strict=True) if name == twice[0]]
        hint = "give every run once: a second look at the same scores tells nothing new"
        raise UsageError(f"the run {twice[0]} is given twice", found=listing(same), hint=hint)
    inputs = [path if label is None else f"{label}={path}" for label, path in files]
    found += sorted(zip(names, inputs, strict=True), key=lambda one: natural(one[0]))
    read = {name: read_frame([path], options, stdin) for name, path in found}
    known: dict[tuple[str, ...], str] = {}
    for name, scores in read.items():
        first = known.setdefault(_digests(scores) or (name,), name)
        if first != name:
            told = f"{name} is {first} byte for byte: a copy, or a system that answers alike each time"
            read[name] = scores.noting(told)
    return read


def _digests(scores: Scores) -> tuple[str, ...]:
    """Digests of the files of a run; none of what is in memory."""
    return tuple(one.sha256 for one in scores.notes.inputs if one.sha256 is not None)


def _names_of(paths: Sequence[str]) -> list[str]:
    """What tells the files apart: their names, or the folders they are in where all have one name."""
    names = [_name_of(path) for path in paths]
    if len({*names}) == len({*paths}):
        return names
    return ["/".join(parts) for parts in zip(*differing(paths), strict=True)] or [*paths]


def _name_of(path: str) -> str:
    name = Path(path).name
    return _SUFFIXES.sub("", name) or name


def _run_of(value: str, column: str) -> str:
    """Name of the run that a value of the column stands for; of a bare number with what is counted."""
    return f"{column} {value}" if value.isdecimal() else value


def _of_column(scores: Scores, column: str) -> dict[str, Scores]:
    """A run a value of the column, each of the models and metrics it has."""
    return {
        _run_of(name, column): _narrowed(scores, pl.col("group") == name)
        for name in sorted(scores.names("group"), key=natural)
    }


def _narrowed(scores: Scores, kept: pl.Expr) -> Scores:
    """Some rows, with the models and metrics that are left, out of their groups."""
    part = scores.only(kept)
    used = {role: part.frame[role].unique().sort().cast(pl.String) for role in ("model", "metric")}
    frame = part.frame.with_columns(
        *(renamed(part.frame[role], names) for role, names in used.items()), group=pl.lit(None, dtype=pl.Null)
    )
    return replace(part, frame=frame).asking(group_by=None)


def _apart(scores: Scores) -> Tables:
    """One table of all metrics of a run, else one a metric: each has samples of its own."""
    try:
        return (checked_table(scores),)
    except InputError:
        chosen = select(scores)
        if len(chosen.metrics) < 2:
            raise
        apart = chosen.asking(metric=(), models=())
        return tuple(checked_table(_narrowed(apart, pl.col("metric") == one)) for one in chosen.metrics)


def _with_runs(paths: Paths, options: ReadOptions, column: str, stdin: BinaryIO | None = None) -> Scores:
    """Scores in groups, which are runs.

    Raises
    ------
    InputError
        If there is no such column, or it was taken for a part of the samples' names.
    """
    try:
        return read_frame(paths, replace(options, group_by=column), stdin)
    except InputError as error:
        if option("group_by", column) not in error.what and "for the role group" not in error.what:
            raise
        named = f"run={column},sample=COL"
        raise InputError(
            f"{error.what.partition(': ')[0]}: no column '{column}' that names runs",
            found=error.found,
            hint=f"name it and the column of the samples: {option('columns', named)}",
        ) from None


def _fixed_set(
    metric: str, path: str, options: ReadOptions, column: str, runs: Mapping[str, Scores]
) -> dict[str, Scores]:
    """The fixed set as each run scored it.

    Raises
    ------
    InputError
        If a run did not score it.
    """
    asked, given = replace(options, metric=(metric,), models=()), f"fixed set={path}"
    alone = only_scores(given, metric, asked)
    if alone is not None:
        asked = replace(asked, wide=True, metric=(alone,))
    scores = _with_runs([given], asked, column)
    found = _of_column(scores if alone is None else all_of(scores, metric), column)
    lacking = [name for name in runs if name not in found]
    if lacking:
        raise InputError(
            f"{option('anchor', f'{metric}={path}')}: {listing(lacking)} did not score the fixed set",
            found=f"its column {column} has {listing(found)}",
            hint="score the same answers anew in every run, and name the runs there as here",
        )
    return {name: found[name] for name in runs}


def inputs_of(tables: Iterable[ScoreTable]) -> list[dict[str, object]]:
    """Files of all runs, each once."""
    return [vars(one) for one in dict.fromkeys(chain(*(table.inputs for table in tables)))]
