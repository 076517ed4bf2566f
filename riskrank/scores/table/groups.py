"""The part of a score table that belongs to each group of samples."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import is_number, leaving_out
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import NO_SUITE


def group_tables(table: ScoreTable) -> dict[str, ScoreTable]:
    """Tables of the groups by their names, numbers in their order.

    Parameters
    ----------
    table : ScoreTable
        With groups.

    Raises
    ------
    InputError
        If a model has no sample of a group.
    """
    codes = table.groups
    if codes is None:
        raise ValueError("the samples of this table have no groups")
    found = {}
    for number in sorted(range(len(table.group_names)), key=lambda at: _order(table.group_names[at])):
        kept = [np.flatnonzero(code == number) for code in codes]
        if any(rows.size == 0 for rows in kept):
            raise _absent(table, number, [rows.size == 0 for rows in kept].index(True))
        found[table.group_names[number]] = _of_rows(table, kept)
    return found


def task_tables(table: ScoreTable) -> dict[str, ScoreTable]:
    """Each task of a suite as a table of its own, by name."""
    suite = table.suite
    tasks = tuple(suite.of_sample[samples] for samples in table.row_samples)
    return group_tables(replace(table, groups=tasks, group_names=suite.names, suite=NO_SUITE))


def without_groups(table: ScoreTable, names: Sequence[str]) -> str:
    """Words that say how to read a table without some of its groups."""
    options = table.options
    condition = leaving_out(str(options.group_by), names, table.group_names, options.where)
    return f"leave {'it' if len(names) == 1 else 'them'} out: {option('where', condition)}"


def _of_rows(table: ScoreTable, kept: Sequence[np.ndarray]) -> ScoreTable:
    def taken(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        return tuple(array[rows] for array, rows in zip(arrays, kept, strict=True))

    used, samples = _renumbered(taken(table.row_samples))
    units, clusters = _renumbered(taken(table.clusters))
    names = table.cluster_names
    return replace(
        table,
        samples=tuple(table.samples[code] for code in used),
        values=taken(table.values),
        best=None if table.best is None else taken(table.best),
        row_samples=samples,
        clusters=samples if names is None else clusters,
        cluster_names=None if names is None else tuple(names[code] for code in units),
        has_draws=any(np.any(np.diff(sample) == 0) for sample in samples),
        groups=None,
        group_names=(),
        units=None if table.units is None else _renumbered(taken(table.units))[1],
        suite=table.suite and table.suite.part(used),
    )


def _renumbered(codes: Sequence[np.ndarray]) -> tuple[list[int], tuple[np.ndarray, ...]]:
    """Codes that are in use, sorted, and all codes as indices into these."""
    used, numbers = np.unique(np.concatenate(codes), return_inverse=True)
    cuts = np.cumsum([part.size for part in codes])[:-1]
    return used.tolist(), tuple(np.split(numbers.astype(np.int64), cuts))


def _absent(table: ScoreTable, group: int, model: int) -> InputError:
    assert table.groups is not None
    name, who = table.group_names[group], table.models[model]
    own = [table.group_names[code] for code in np.unique(table.groups[model]).tolist()]
    return InputError(
        f"model '{who}' has no sample in the group '{name}' of {table.options.group_by}",
        found=f"it has samples in {listing(own)}",
        hint=f"{without_groups(table, [name])}, or choose the models that have it: {option('models', 'A,B')}",
    )


def _order(name: str) -> tuple[bool, float, str]:
    return (False, float(name), name) if is_number(name) else (True, 0.0, name)
