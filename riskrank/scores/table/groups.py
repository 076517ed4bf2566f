"""Score tables restricted to one group of samples."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.query import exclude_values, is_number
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import NO_SUITE


def group_tables(table: ScoreTable) -> dict[str, ScoreTable]:
    """Return one table per group, by name.

    Numeric names come first, in numeric order.

    Parameters
    ----------
    table : ScoreTable
        Table with groups.

    Raises
    ------
    InputError
        If a model has no samples in a group.
    """
    codes = table.groups
    if codes is None:
        raise ValueError("the samples of this table have no groups")
    tables = {}
    for number in sorted(range(len(table.group_names)), key=lambda i: _sort_key(table.group_names[i])):
        positions = [np.flatnonzero(code == number) for code in codes]
        if any(rows.size == 0 for rows in positions):
            raise _missing_group_error(table, number, [rows.size == 0 for rows in positions].index(True))
        tables[table.group_names[number]] = _select_rows(table, positions)
    return tables


def task_tables(table: ScoreTable) -> dict[str, ScoreTable]:
    """Return one table per task of a suite, by name."""
    suite = table.suite
    tasks = tuple(suite.of_sample[samples] for samples in table.row_samples)
    return group_tables(replace(table, groups=tasks, group_names=suite.names, suite=NO_SUITE))


def exclusion_hint(table: ScoreTable, names: Sequence[str]) -> str:
    """Return a hint on how to exclude some groups of a table."""
    options = table.options
    condition = exclude_values(str(options.group_by), names, table.group_names, options.where)
    return f"exclude {'this group' if len(names) == 1 else 'these groups'}: {option('where', condition)}"


def _select_rows(table: ScoreTable, positions: Sequence[np.ndarray]) -> ScoreTable:
    """Return the table with the rows at the given positions of each model."""

    def select(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        return tuple(array[rows] for array, rows in zip(arrays, positions, strict=True))

    used, samples = _renumber(select(table.row_samples))
    units, clusters = _renumber(select(table.clusters))
    names = table.cluster_names
    return replace(
        table,
        samples=tuple(table.samples[code] for code in used),
        values=select(table.values),
        best=None if table.best is None else select(table.best),
        row_samples=samples,
        clusters=samples if names is None else clusters,
        cluster_names=None if names is None else tuple(names[code] for code in units),
        has_repeats=any(np.any(np.diff(sample) == 0) for sample in samples),
        groups=None,
        group_names=(),
        units=None if table.units is None else _renumber(select(table.units))[1],
        suite=table.suite and table.suite.subset(used),
    )


def _renumber(codes: Sequence[np.ndarray]) -> tuple[list[int], tuple[np.ndarray, ...]]:
    """Renumber codes from 0.

    Returns
    -------
    values : list of int
        Distinct codes, sorted.
    indices : tuple of ndarray of int
        Each of the given arrays, with codes replaced by indices into `values`.
    """
    used, numbers = np.unique(np.concatenate(codes), return_inverse=True)
    cuts = np.cumsum([part.size for part in codes])[:-1]
    return used.tolist(), tuple(np.split(numbers.astype(np.int64), cuts))


def _missing_group_error(table: ScoreTable, group: int, model: int) -> InputError:
    """Return the error for a model without samples in a group."""
    assert table.groups is not None
    name, model_name = table.group_names[group], table.models[model]
    names = [table.group_names[code] for code in np.unique(table.groups[model]).tolist()]
    return InputError(
        f"model '{model_name}' has no samples in the group '{name}' of {table.options.group_by}",
        found=f"the model has samples in {listing(names)}",
        hint=f"{exclusion_hint(table, [name])}, or select complete models: {option('models', 'A,B')}",
    )


def _sort_key(name: str) -> tuple[bool, float, str]:
    """Return a sort key that puts numeric names first, in numeric order."""
    return (False, float(name), name) if is_number(name) else (True, 0.0, name)
