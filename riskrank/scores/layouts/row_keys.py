"""Columns that identify the rows of a model, or group its samples: keys, repeats, clusters and subsets."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
import polars as pl

from riskrank.engine.sampling.design import MIN_SAMPLES
from riskrank.engine.types import Names
from riskrank.errors import InputError, UsageError
from riskrank.options.baseline import GateReading
from riskrank.options.reading import SHARED, RankReading, ReadOptions
from riskrank.scores.layouts.column_profiles import FILE, Columns
from riskrank.scores.layouts.layout import COPIES, WarningText
from riskrank.scores.names.directions import is_metric_name
from riskrank.scores.names.vocabulary import (
    column_for_role,
    has_word,
    is_cluster_name,
    is_task_name,
    looks_like_an_identifier,
    may_be_sample_name,
    parse_vocabulary,
    vocabulary,
    words,
)

# If there are more tasks or clusters, their parts are samples.
MAX_SUBSETS, MIN_SUBSET = 20, 10
# Maximum number of clusters, as a share of the number of samples.
_MAX_CLUSTER_SHARE = 0.8
# A column with more values does not name sample kinds.
MAX_KINDS = 8
# Shares differ significantly below this p-value.
ALPHA = 1e-4
# Words for subsets of the samples.
_SUBSET_WORDS = vocabulary("whole") - parse_vocabulary("task tasks split subset subject")

# Numbered columns with these words are sample kinds or steps of a longer unit, not repeats.
_NOT_REPEATS = vocabulary("whole", "setting", "judge", "wording", "steps")


def is_per_sample(columns: Columns, name: str, sample: Sequence[str]) -> bool:
    """Return True if a column has a single value for each sample.

    Parameters
    ----------
    columns : Columns
    name : str
    sample : sequence of str
        Columns that identify samples.
    """
    return columns.is_constant_within(name, sample) and not columns.n_missing(name)


def is_cluster(columns: Columns, name: str, sample: Sequence[str]) -> bool:
    """Return True if a column contains clusters of samples, as shown by its name and values.

    The columns `sample` identify samples.
    """
    return is_cluster_name(name) and is_shared(columns, name, sample) and is_per_sample(columns, name, sample)


def is_shared(columns: Columns, name: str, sample: Sequence[str]) -> bool:
    """Return True if a column has at least two values that each occur with several samples.

    The columns `sample` identify samples.
    """
    return 2 <= columns.n_unique(name) <= _MAX_CLUSTER_SHARE * columns.n_unique(*sample)


def is_partition(columns: Columns, name: str, sample: Sequence[str], by: Sequence[str] = ()) -> bool:
    """Return True if a column divides each model's samples into a few sufficiently large groups.

    The columns `sample` identify samples, and the columns `by` identify models.
    """
    if not 2 <= columns.n_unique(name) <= MAX_SUBSETS or not is_per_sample(columns, name, sample):
        return False
    sizes = columns.frame.select({name, *sample, *by}).unique().group_by(name, *by).len()["len"]
    return int(sizes.min() or 0) >= MIN_SUBSET  # type: ignore[arg-type]


def is_subset_name(columns: Columns, name: str) -> bool:
    """Return True if a column name suggests subsets of the samples rather than clusters."""
    if {str(value).casefold() for value in columns.frame[name].unique().head(3)} <= {"true", "false"}:
        return False
    is_kind = has_word(name, "belonging") and has_word(name, "kinds")  # document_type
    if not (is_kind or is_cluster_name(name)):
        return bool(words(name) & _SUBSET_WORDS)
    if not (is_kind or has_word(name, "whole")):
        return False
    values = columns.frame[name].cast(pl.String).unique()
    is_small_text = columns.kind(name) == "text" and values.len() <= MAX_KINDS
    return is_small_text and not values.str.contains(r"\d").any()


def composition_differs(columns: Columns, name: str, by: Sequence[str]) -> bool:
    """Return True if models differ significantly in the kinds of their samples (chi-squared test).

    The column `name` holds the kinds, and the columns `by` identify models.
    """
    if columns.kind(name) != "text" or not 2 <= columns.n_unique(name) <= MAX_KINDS:
        return False
    counts = columns.frame.group_by(name, *by).len().sort(name, *by)["len"].to_numpy()
    if counts.size < columns.n_unique(name) * columns.n_unique(*by) or counts.min() < MIN_SUBSET:
        return False
    from riskrank.engine.special import chdtrc

    table = counts.reshape(columns.n_unique(name), -1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return bool(chdtrc(freedom, ((table - expected) ** 2 / expected).sum()) < ALPHA)


def is_repeat_column(columns: Columns, by: Sequence[str], sample: str, name: str) -> bool:
    """Return True if a column numbers repeats of samples.

    Either its name suggests repeats, or it has few distinct numbers, each of which occurs with every
    combination of a sample and the columns `by`.
    """
    if name == sample or has_word(name, "run"):
        return name != sample
    name_words = words(name)
    excluded = name_words & _NOT_REPEATS or name_words <= vocabulary("within") or is_cluster_name(name)
    if excluded or not columns.n_unique(name) < columns.n_unique(sample) or not is_balanced(columns, name):
        return False
    n_cells = columns.n_unique(*by) * columns.n_unique(sample) * columns.n_unique(name)
    return columns.height == n_cells == columns.n_unique(*by, sample, name)


def is_balanced(columns: Columns, name: str) -> bool:
    """Return True if all distinct values of a column are equally frequent and there are few of them.

    The values must be integers, or numbers after a common prefix.
    """
    if not 2 <= columns.n_unique(name) <= MAX_SUBSETS or columns.n_missing(name):
        return False
    if not columns.is_integer(name):
        stems = columns.frame[name].cast(pl.String).unique().str.extract(r"^(\D*)\d+$")
        if stems.null_count() or stems.n_unique() > 1:
            return False
    counts = columns.frame[name].value_counts()["count"]
    return counts.n_unique() == 1 and counts[0] >= MIN_SUBSET


def cluster_options(clusters: Sequence[str], options: ReadOptions, *, few: bool) -> dict[str, Any]:
    """Return the options that declare clusters, as keyword arguments.

    Clusters are resampled as units. They are treated as random effects instead if there are `few` clusters or
    several cluster columns.
    """
    means = isinstance(options, RankReading | GateReading) and options.missing != SHARED
    if (few or len(clusters) > 1) and means and not options.noise:
        with suppress(UsageError):  # the option conflicts with others
            replace(options, noise=tuple(clusters))
            return {"noise": tuple(clusters)}
    return {"cluster": clusters[0]}


def cluster_note(name: str) -> str:
    """Return a note that each value of a column is a cluster of samples."""
    return f"each {name} is a cluster, resampled as a unit"


# Maximum number of columns to examine.
_MAX_CANDIDATES = 20
# Models share their samples if at least this fraction is common to all of them.
_MAJORITY = 0.5
# Roles of columns that differ between rows of one sample.
_REPEAT_ROLES = ("run", "setting", "judge", "wording")
# If there are fewer seeds per data set, seeds are repeats and not samples.
_MIN_SEEDS = 5
# Files are paired by texts if at least this share of the texts in each is distinct.
_MIN_DISTINCT_TEXTS = 0.9


@dataclass(frozen=True, kw_only=True)
class RowKeys:
    """Columns that identify rows.

    Attributes
    ----------
    sample, draw, cluster, task : str
        Columns that name samples, their repeats, clusters and tasks. Several columns are joined by ``+``; the
        text is empty if there is none.
    repeats : str
        Treatment of several scores per sample, as in `ReadOptions.repeats`; empty if there are none.
    unpaired : bool
        Whether models have different samples.
    notes : tuple of str
        Descriptions of the keys for the summary of the reading.
    averaged : tuple of str
        Columns over which scores are averaged.
    few : bool
        Whether there are too few clusters for resampling.
    checks : tuple of WarningText
        Warnings about copies of rows.
    """

    sample: str = ""
    draw: str = ""
    cluster: str = ""
    task: str = ""
    repeats: str = ""
    unpaired: bool = False
    notes: tuple[str, ...] = ()
    averaged: tuple[str, ...] = ()
    few: bool = False
    checks: tuple[WarningText, ...] = ()

    @property
    def is_duplicated(self) -> bool:
        """True if rows are copies of each other."""
        return self.repeats == "mean" and not self.averaged


def find_keys(columns: Columns, model: Names, metric: Names, free: Names) -> RowKeys:
    """Find the columns that identify the rows within each model and metric.

    Parameters
    ----------
    columns : Columns
    model, metric : sequence of str
        Columns that name models and metrics, at most one each.
    free : sequence of str
        Columns without a role.
    """
    by = [*model, *([FILE] if columns.by_file and FILE in columns.frame.columns else [])]
    fixed = [*by, *metric]
    possible = [name for name in free if _may_be_key(columns, name)][:_MAX_CANDIDATES]
    candidates = [name for name in possible if not (by and columns.ranked_column(name, by))]
    unique = [name for name in candidates if columns.is_key(*fixed, name) and not _is_repeat_name(name)]
    if unique and FILE in by and (paired_keys := _pair_by_text(columns, unique, candidates, by, free)):
        return paired_keys
    if unique:
        sample = max(unique, key=lambda name: _sample_sort_key(columns, name, by))
        if by and not columns.shared_proportion(sample, by):
            keys = find_keys(columns, model, metric, [name for name in free if name not in unique])
            parts = [part for key in (keys.sample, keys.draw, keys.task) for part in columns.parts(key)]
            samples, models = columns.n_unique(*parts), columns.n_unique(*fixed)
            # Every sample occurs at most once for each model, and most do.
            n_scores = columns.n_unique(*fixed, *parts)
            if samples > 1 and columns.height == n_scores > _MAJORITY * samples * models:
                return keys
        if by and (has_word(sample, "of rows") or not columns.shared_proportion(sample, by)):
            sample = _find_shared_seed(columns, fixed, by, candidates) or sample
        return _keys_with_group(columns, sample, by, free)
    # Numbers that restart with every run of a model name the same samples.
    runs = partial(is_repeat_column, columns, fixed)
    by_candidate = {name: [*by, *filter(partial(runs, name), candidates)] for name in candidates}
    judged = [name for name in candidates if _is_judged(columns, fixed, name, candidates)]
    positions = [c for c in candidates if c not in judged and _is_position(columns, c, by_candidate[c])]
    identifiers = [name for name in candidates if not _is_repeat_name(name) and name not in positions]
    named = [name for name in identifiers if may_be_sample_name(name) or is_cluster_name(name)]
    named = named or [name for name in identifiers if by and columns.shared_proportion(name, by) >= _MAJORITY]
    if not named:
        seeds = [name for name in candidates if not has_word(name, "no draws")]
        if run := _find_shared_seed(columns, fixed, by, seeds):
            return RowKeys(sample=run, notes=(f"each {run} is a sample",))
        crossed = extra_keys(columns, fixed, identifiers)
        sizes = prod(map(columns.n_unique, crossed)) * columns.n_unique(*fixed)
        if len(crossed) > 1 and columns.is_key(*fixed, *crossed) and sizes == columns.height:
            return RowKeys(sample="+".join(crossed))
        return _find_duplicates(columns, fixed, "", free, by)
    base = max(
        named, key=lambda c: (columns.shared_proportion(c, by) >= _MAJORITY, columns.n_unique(*fixed, c))
    )
    extra = extra_keys(columns, [*fixed, base], [name for name in candidates if name != base])
    if not columns.is_key(*fixed, base, *extra):
        return _find_duplicates(columns, fixed, base, free, by)
    numbers = [name for name in columns.by_kind("number") if name not in (*fixed, base, *extra)]
    is_joined = bool(numbers) and all(columns.is_constant_within(name, [*fixed, base]) for name in numbers)
    # A join repeats rows with the same numbers.
    if is_joined and not any(map(_is_repeat_name, extra)):
        note = f"duplicates: the same scores for every {' and '.join(extra)}, used once"
        return RowKeys(sample=base, repeats="mean", notes=(note,))
    return _combine_keys(columns, base, extra, by, fixed)


def _pair_by_text(
    columns: Columns, unique: Names, candidates: Names, by: Names, free: Names
) -> RowKeys | None:
    """Return the keys that pair files by equal texts although their record numbers differ, or None.

    Parameters
    ----------
    columns : Columns
    unique, candidates : sequence of str
        Columns that identify the rows of each file; and columns that may identify them with others.
    by, free : sequence of str
        Columns that identify files and models; and columns without a role.
    """
    distinct = {name: columns.n_unique(*by, name) for name in candidates if columns.kind(name) == "text"}
    for text in sorted(distinct, key=lambda name: -distinct[name]):
        if distinct[text] < _MIN_DISTINCT_TEXTS * columns.height or columns.shared_proportion(text, by) < 1:
            continue
        numbers = [c for c in unique if c != text and (columns.kind(c) == "number" or may_be_sample_name(c))]
        if any(columns.shared_proportion(c, by) and columns.is_constant_within(text, [c]) for c in numbers):
            return None  # these numbers already pair the same texts
        differing = [c for c in numbers if columns.shared_proportion(c, by) == 0]
        if differing := differing or [c for c in numbers if not columns.is_constant_within(text, [c])]:
            average = RowKeys(sample=text, repeats="mean", notes=(f"rows with the same {text} are averaged",))
            keys = _keys_with_group(columns, text, by, free) if text in unique else average
            verb = "differs" if len(differing) == 1 else "differ"
            note = f"paired by {text}, as {' and '.join(differing)} {verb} between the files"
            return replace(keys, notes=(note, *keys.notes))
    return None


def _find_shared_seed(columns: Columns, fixed: Names, by: Names, candidates: Names) -> str:
    """Return the candidate column of seeds that identifies the rows of each model, or an empty string.

    All models must have the same seeds. The columns `by` identify models; `fixed` also includes the metric.
    """
    runs = (name for name in candidates if has_word(name, "run"))
    return next(
        (run for run in runs if columns.is_key(*fixed, run) and columns.shared_proportion(run, by) == 1), ""
    )


def key_options(keys: RowKeys, options: ReadOptions) -> dict[str, object]:
    """Return the options, by name, that declare the columns in `keys`.

    Options of the user take precedence.
    """
    changes: dict[str, object] = {}
    if keys.task and options.task is None and "task=" not in (options.columns or ""):
        changes["task"] = keys.task
    if keys.cluster and options.cluster is None and not options.noise:
        changes |= cluster_options([keys.cluster], options, few=keys.few and not keys.unpaired)
    if keys.repeats and options.repeats == "error":
        changes["repeats"] = "mean" if options.missing == "keep" else keys.repeats
    if keys.unpaired and not options.paired_only:
        changes["unpaired"] = True
    return changes


def _may_be_key(columns: Columns, name: str) -> bool:
    """Return True if a column may identify rows: text, dates, or numbers that look like identifiers."""
    name_words, kind = words(name), columns.kind(name)
    if kind == "empty" or columns.frame[name].dtype.is_nested() or name_words & vocabulary("status"):
        return False
    if columns.n_unique(name) < 2 or columns.n_missing(name):
        return False
    if kind != "number":
        return True
    if name_words & vocabulary("setting") or not columns.is_integer(name):
        return bool(name_words & vocabulary("setting")) and columns.n_unique(name) <= MAX_SUBSETS
    is_named = may_be_sample_name(name) or _is_repeat_name(name) or name_words & vocabulary("within")
    if is_named or columns.n_sequences(name):
        return True
    numbered = is_balanced(columns, name) and (not is_metric_name(name) or _is_level(columns, name))
    return numbered or looks_like_an_identifier(name, columns.frame[name].unique())


def _is_level(columns: Columns, name: str) -> bool:
    """Return True if a column such as a severity has each of its values once with every value of a text."""
    text = columns.by_kind("text") if has_word(name, "doubtful") and not has_word(name, "places") else []
    sizes = {other: columns.n_unique(other) * columns.n_unique(name) for other in text}
    return any(columns.height == size == columns.n_unique(other, name) for other, size in sizes.items())


def _is_judged(columns: Columns, fixed: Names, name: str, candidates: Names) -> bool:
    """Return True if every judge in one of the candidate columns scored each value of the column `name` once.

    The columns `fixed` identify models and metrics.
    """
    judges = (judge for judge in candidates if judge != name and has_word(judge, "judge"))
    n_cells = columns.n_unique(*fixed) * columns.n_unique(name)
    return may_be_sample_name(name) and any(
        columns.height == n_cells * columns.n_unique(judge) == columns.n_unique(*fixed, name, judge)
        for judge in judges
    )


def _is_position(columns: Columns, name: str, by: Names) -> bool:
    """Return True if a column numbers the parts of a larger unit, such as the turns of a dialogue.

    The columns `by` identify models and their runs.
    """
    return has_word(name, "within") or columns.n_sequences(name) > columns.n_unique(*by)


def _is_repeat_name(name: str) -> bool:
    """Return True if a column name suggests repeats of a sample, such as runs, settings or judges."""
    return has_word(name, *_REPEAT_ROLES) and not ("id" in words(name) and may_be_sample_name(name))


def _sample_sort_key(columns: Columns, name: str, by: Names) -> tuple[bool, bool, bool, int]:
    """Return a sort key for candidate sample columns; larger keys are more suitable.

    Columns that models share come before names that suggest samples, then text, then file order. The columns
    `by` identify models.
    """
    exact = column_for_role("sample", [name]) is not None and not has_word(name, "of rows")
    shared, text = columns.shared_proportion(name, by) >= _MAJORITY, columns.kind(name) == "text"
    return shared, exact, text, -columns.names.index(name)


def _keys_with_group(columns: Columns, sample: str, by: Names, free: Names) -> RowKeys:
    """Return the keys for a given sample column, with a cluster or subset column if there is one.

    The columns `by` identify models, and the columns `free` have no role.
    """
    unpaired = bool(by) and columns.n_unique(*by) > 1 and columns.shared_proportion(sample, by) == 0
    notes = ("models have different samples",) if unpaired else ()
    key = [*by, sample] if unpaired else [sample]
    fields = [name for name in free if name != sample and columns.kind(name) in ("text", "number")]
    for name in fields if unpaired else ():
        # Effects of models and of sample sets are confounded if each model has its own set.
        grouping = columns.kind(name) == "text" or columns.is_integer(name)
        disjoint = grouping and has_word(name, "whole", "occasions") and is_per_sample(columns, name, by)
        if disjoint and columns.n_unique(name) > 1:
            problem = f"{columns.label}: the models were scored on different samples, separated by {name}"
            detail = f"{columns.n_unique(name)} values of {name}, each with one model only"
            hint = "score all models on the same samples; otherwise the samples may cause the differences"
            raise InputError(problem, found=detail, hint=hint)
    clusters = [c for c in fields if is_cluster(columns, c, key) and not is_subset_name(columns, c)]
    for name in fields if "task" not in columns.names else ():
        # If there are only two wordings, they are compared and not treated as a sample.
        worded = has_word(name, "wording") and (by or columns.n_unique(name) > 2)
        if worded and is_per_sample(columns, name, key) and is_shared(columns, name, key):
            clusters.append(name)
    for name in clusters[:1]:
        few, cluster_notes = columns.n_unique(name) < MIN_SAMPLES, (*notes, cluster_note(name))
        return RowKeys(sample=sample, cluster=name, unpaired=unpaired, notes=cluster_notes, few=few)
    for name in fields:
        is_split = is_subset_name(columns, name) and is_partition(columns, name, key, by)
        mixed = unpaired and is_per_sample(columns, name, key) and composition_differs(columns, name, by)
        if is_split or mixed:
            text = "models differ in the proportion of each {0}; " * mixed + "each {0} has the same weight"
            return RowKeys(sample=sample, task=name, unpaired=unpaired, notes=(*notes, text.format(name)))
    return RowKeys(sample=sample, unpaired=unpaired, notes=notes)


def extra_keys(columns: Columns, fixed: Names, candidates: Names) -> list[str]:
    """Return columns that identify rows in combination with the columns `fixed`.

    They are chosen among the candidates, those whose names suggest repeats first.
    """
    ordered = sorted(candidates, key=lambda name: (not _is_repeat_name(name), not has_word(name, "within")))
    chosen: list[str] = []
    for name in ordered:
        if columns.is_key(*fixed, *chosen):
            break
        if columns.n_unique(*fixed, *chosen, name) > columns.n_unique(*fixed, *chosen):
            chosen.append(name)
    return chosen


def _combine_keys(columns: Columns, base: str, extra: Names, by: Names, fixed: Names) -> RowKeys:
    """Return the keys for several columns that identify rows together.

    The columns may represent repeats, clusters, tasks, or conditions over which scores are averaged.

    Parameters
    ----------
    columns : Columns
    base : str
        Column that names samples or larger units.
    extra : sequence of str
        Columns that identify rows in combination with `base`.
    by, fixed : sequence of str
        Columns that identify models; and models with metrics.
    """
    kinds = [next((kind for kind in _REPEAT_ROLES if has_word(name, kind)), None) for name in extra]
    if len(extra) == 1 and not is_cluster_name(base) and is_repeat_column(columns, fixed, base, extra[0]):
        kinds = ["run"]
    joined = "+".join([base, *extra])
    parts = RowKeys(sample=joined, cluster=base, notes=(cluster_note(base),))
    few_tasks = base == "task" and columns.n_unique(base) < MIN_SAMPLES  # too few to resample
    is_task = few_tasks or is_task_name(base)
    if is_task and len(extra) == 1 and is_partition(columns, base, [base, *extra], by):
        return RowKeys(sample=extra[0], task=base, notes=(f"each {base} has the same weight",))
    if None in kinds or (is_cluster_name(base) and _is_position(columns, extra[0], by)):
        single = len(extra) == 1
        nested = is_cluster_name(base) or (single and _is_position(columns, extra[0], by))
        numbered = may_be_sample_name(base) or (single and columns.is_integer(extra[0]))
        nested = nested or (numbered and columns.n_unique(base) >= MIN_SUBSET)
        return parts if nested else RowKeys(sample=joined)
    if len(extra) == 1 and kinds[0] == "run":
        repeats, units = columns.n_unique(extra[0]), columns.n_unique(base)
        few = repeats < _MIN_SEEDS and units >= MIN_SAMPLES
        is_scale = has_word(base, "scales") and units <= MAX_SUBSETS and not (is_task_name(base) and few)
        # Fewer units cannot be tested as samples.
        if is_scale or units < MIN_SAMPLES <= repeats:
            return RowKeys(sample=extra[0], task=base, notes=(f"each {base} has the same weight",))
        note = f"{extra[0]}: repeats of each {base}"
        return RowKeys(sample=base, draw=extra[0], repeats="draws", notes=(note,))
    n_cells = columns.n_unique(*fixed) * columns.n_unique(base) * columns.n_unique(*extra)
    if columns.shared_proportion(base, by) >= 1 and columns.height == n_cells:
        notes = (f"averaged over {' and '.join(extra)}",)
        draw = extra[0] if kinds in (["judge"], ["wording"]) else ""
        return RowKeys(sample=base, draw=draw, repeats="mean", notes=notes, averaged=tuple(extra))
    return parts


def _find_duplicates(columns: Columns, fixed: Names, base: str, free: Names, by: Names) -> RowKeys:
    """Return the keys for a table in which no columns identify the rows.

    Such rows are exact copies, or several rows of the same cluster.

    Parameters
    ----------
    columns : Columns
    fixed : sequence of str
        Columns that identify models and metrics.
    base : str
        Column that names samples; empty to choose it by name.
    free : sequence of str
        Columns without a role.
    by : sequence of str
        Columns that identify models.
    """
    sample_names = [name for name in free if may_be_sample_name(name) and _may_be_key(columns, name)]
    base = base or (column_for_role("sample", sample_names) or "")
    if not base:
        return RowKeys()
    distinct = columns.n_unique(*columns.names)
    if columns.n_unique(*fixed, base) == distinct < columns.height:
        times = columns.height / distinct
        repeated = f"{times:g} times" if times == int(times) else f"up to {int(times) + 1} times"
        note = f"duplicates: each row occurs {repeated} and is used once"
        copies = f"copies: {columns.height - distinct:,} rows are copies of other rows, and are not counted"
        checks = (WarningText(copies, COPIES),)
        return RowKeys(sample=base, repeats="mean", notes=(note,), checks=checks)
    if is_cluster_name(base) and by:
        note = f"rows are averaged within each {base}"
        return RowKeys(
            sample=base, repeats="mean", unpaired=columns.shared_proportion(base, by) == 0, notes=(note,)
        )
    return RowKeys(sample=base)
