"""A row a sample, and a column a model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from riskrank.engine.sampling.design import FEWEST_SAMPLES
from riskrank.errors import InputError, listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.layout import Reading, taken_as_better, with_roles
from riskrank.scores.layouts.leaderboard import (
    FEWEST_TASKS,
    ONE_SCALE,
    measured_by_all,
    on_one_scale,
    pair_by_pair,
    rows_may_be_models,
    sizes,
    tasks_across,
)
from riskrank.scores.layouts.long_and_wide import as_rows
from riskrank.scores.layouts.refusals import require_no_curves
from riskrank.scores.layouts.row_keys import Keys, keyed, keys_of
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.distributions import has_long_tail
from riskrank.scores.names.score_columns import format_excluded
from riskrank.scores.names.vocabulary import names_tasks

# Where most columns are shares no other of their metric reaches so far; sizes of others are so much alike.
_BEYOND_SHARES, _ALIKE = 1.5, 5.0
# Fewer rows that nothing names are no samples.
_FEWEST_NUMBERED = 3


def as_matrix(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> list[Reading]:
    """The columns of numbers as models, if they may be of one metric; none if names say what they measure."""
    if not named and options.matrix is None:
        require_no_curves(columns)
    taken = {part for column in named.values() for part in column.split("+")}
    free = [name for name in columns.names if name not in taken]
    known = named.get("sample") or ("sample" if "sample" in free else "")
    keys = Keys(sample=known, task=named.get("task", "")) if known else keys_of(columns, [], [], free)
    sample = keys.sample
    used = {part for one in (sample, keys.cluster, keys.task, keys.draw) for part in (one, *one.split("+"))}
    free = [name for name in free if name not in used]
    models, gone = columns.measures(free, models=True)
    models = [name for name in options.models if name in free] or models
    if options.matrix is None and (len(models) < 2 or (not sample and columns.height < _FEWEST_NUMBERED)):
        return []
    # Words are scores of every model only where all columns hold words.
    in_words = [name for name in models if name in columns.written and columns.written[name].truths]
    if len(in_words) < len(models) and not options.models:
        models = [name for name in models if name not in in_words]
        gone |= dict.fromkeys(in_words, "in words")
    shared = "" if options.matrix else measured_by_all(models)
    if shared and _one_metric(columns, models):
        raise _of_one_measure(columns, models, shared)
    if options.matrix is None and not options.models:
        models, far = _without_counts(columns, models)
        gone |= far
    metrics = sum(map(names_a_metric, models))
    # Where the file name says what is measured, one of many models may be called as a metric is: elo.
    wide = metrics and (not columns.measured or 2 * metrics >= len(models))
    if options.matrix is None and (wide or not _one_metric(columns, models)):
        return []
    boards: list[Reading] = []
    if "sample" not in named and rows_may_be_models(columns, sample, models):
        boards = as_rows(columns, sample, named, options)
        if options.matrix is None and tasks_across(models):
            return boards
        # Who says what rows are has said enough, but for holes of a matrix that was asked for.
        told = with_roles(options, {"model": sample}, **(pair_by_pair(options) if options.matrix else {}))
        boards = [replace(board, options=told) for board in boards]
    metric = options.matrix or columns.measured or "score"
    more: dict[str, object] = {"matrix": metric}
    holes = any(np.isnan(columns.numbers(name)).any() for name in models)
    if names_tasks(sample) and (holes or FEWEST_TASKS <= columns.height < FEWEST_SAMPLES):
        more |= pair_by_pair(options)
    ways = _directions(columns, models, metric, sample, options)
    roles = {"sample": sample if sample != "sample" else "", "draw": keys.draw}
    strange = [] if options.matrix or options.models else _of_another_range(columns, models)
    usual = [name for name in models if name not in strange]
    for chosen in (usual, models) if 1 < len(usual) < len(models) else (models,):
        said = f"a matrix: a row a sample ({sample or 'numbered'}), a column a model ({listing(chosen)})"
        said += f"; the numbers are called {metric}" if options.matrix is None else ""
        said += f"; left out: {format_excluded(gone)}" if gone else ""
        picked = options.models or (tuple(chosen) if gone or chosen is usual else ())
        read = with_roles(options, roles, **more, models=picked, **keyed(keys, named, options))
        boards += [
            Reading(said="; ".join([said, *better, *keys.said]), options=replace(read, **way))
            for better, way in ways
        ]
    if strange:
        raise _of_two_ranges(columns, models, strange, boards)
    return boards


def _directions(
    columns: Columns, models: Sequence[str], metric: str, sample: str, options: ReadOptions
) -> list[tuple[list[str], dict[str, Any]]]:
    """What is said of which way is better, and the options that say it: both ways where nothing tells."""
    guessed = options.matrix is None and metric == "score"
    told = taken_as_better([metric], options, guessed=guessed)
    rows = np.stack([columns.numbers(name) for name in models], axis=1)
    values = rows[~np.isnan(rows)]
    # Places of the models on each sample, of which the first is mostly the best.
    ranked = bool((np.sort(rows, axis=1) == np.arange(1, len(models) + 1)).all())
    # What benchmarks give, and what is 1 or 0, is more where it is better.
    usual = (names_tasks(sample) and not ranked) or np.isin(values, (0, 1)).all()
    if usual or not (guessed and told and options.tests):
        return [(told, {})]
    ways: list[tuple[list[str], dict[str, Any]]] = [
        ([f"of which more {metric} is better"], {"higher": (metric,)}),
        ([f"of which less {metric} is better"], {"lower": (metric,)}),
    ]
    return ways[::-1] if ranked or has_long_tail(values) else ways


def _without_counts(columns: Columns, models: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Columns without one of whole numbers beside fractions that are all far smaller: it counts something."""
    found = dict(zip(models, sizes(columns, models), strict=True))
    top = max(found, key=found.__getitem__)
    rest = [name for name in models if name != top]
    fractions = len(rest) > 1 and columns.whole(top) and not any(map(columns.whole, rest))
    if not fractions or found[top] <= ONE_SCALE * max(found[name] for name in rest):
        return [*models], {}
    return rest, {top: "whole numbers in another range"}


def _of_another_range(columns: Columns, models: Sequence[str]) -> list[str]:
    """Columns that are hardly of the metric of the others: beyond 1 where most are shares, or far larger."""
    found = dict(zip(models, sizes(columns, models), strict=True))
    # Percent beside shares are refused with both models named.
    if len(models) == 2 and max(found.values()) > _ALIKE**2 * min(found.values()):
        return []
    shares = sum(size == 1 for size in found.values())
    if 2 * shares >= len(models):
        return [name for name, size in found.items() if size > _BEYOND_SHARES]
    usual = float(np.median([*found.values()]))
    return [name for name, size in found.items() if not usual / _ALIKE <= size <= usual * _ALIKE]


def _of_two_ranges(
    columns: Columns, models: Sequence[str], strange: Sequence[str], readings: Sequence[Reading]
) -> InputError:
    every = {name: columns.numbers(name) for name in models}
    ends = (f"{name}: {np.fmin.reduce(one):g} to {np.fmax.reduce(one):g}" for name, one in every.items())
    return InputError(
        f"{columns.label}: numbers of {listing(strange)} lie in another range than those of other columns: "
        "whether they are scores of a model has to be said",
        found=listing(ends, 8),
        hint=f"copy the line that is right: only those with {option('models')} leave out {listing(strange)}",
        ways=[("", one.options) for one in readings],
    )


def _of_one_measure(columns: Columns, models: Sequence[str], metric: str) -> InputError:
    told = option("matrix", metric)
    what = f"{columns.label}: columns of {metric}, and whether each is a model has to be said"
    hint = f"if each is a model, {told}; else name a column of models"
    return InputError(what, found=f"columns: {listing(models)}", hint=hint, ways=[(told, None)])


def _one_metric(columns: Columns, models: Sequence[str]) -> bool:
    """Whether columns may be of one metric: sizes alike, or shares beside percent, which is refused."""
    if on_one_scale(columns, models):
        return True
    tops = [float(np.fmax.reduce(columns.numbers(name))) for name in models]
    ends = [float(np.fmin.reduce(columns.numbers(name))) for name in models]
    shares = [top for top in tops if top <= 1]
    return min(ends) >= 0 and bool(shares) and all(top <= 1 or 1.5 < top <= 100 for top in tops)
