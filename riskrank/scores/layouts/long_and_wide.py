"""Long tables, wide tables with one column per metric, and tables with one row per model."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, interface_text, listing, option
from riskrank.options.reading import SHARED, RankReading, ReadOptions
from riskrank.scores.files.query import exclude_values
from riskrank.scores.layouts.column_profiles import (
    FILE,
    ROW_IDENTIFIER,
    TOKEN,
    Columns,
    ColumnSplit,
    format_excluded,
)
from riskrank.scores.layouts.layout import (
    Reading,
    both_directions,
    describe_assumed_directions,
    infer_lower_from_file_name,
    set_roles,
)
from riskrank.scores.layouts.refusals import SPLITS, common_totals, reject_mixed_splits, reject_selected_rows
from riskrank.scores.layouts.row_keys import RowKeys, find_keys, key_options
from riskrank.scores.names.directions import (
    clearly_higher_is_better,
    has_clear_direction,
    has_uncertain_direction,
    is_duration,
    is_metric_name,
    looks_like_a_cost,
    looks_like_an_amount,
    looks_like_errors,
)
from riskrank.scores.names.vocabulary import (
    INDEX,
    are_task_names,
    column_for_role,
    has_word,
    is_spread,
    is_task_name,
    may_be_sample_name,
    split_words,
    strip_accents,
    vocabulary,
    words,
)
from riskrank.scores.table.metric_specs import declared_metrics
from riskrank.scores.table.written_numbers import read_limits

# Minimum number of tasks for a test over tasks.
MIN_TASKS = 6
# Columns whose magnitudes differ by a larger factor are not on one scale.
MAX_SCALE_RATIO = 30.0
# With more rows, an unspecific name column names samples.
_MAX_MODELS = 50


def read_leaderboard(
    columns: Columns, model: str, metric: str, free: Names, options: ReadOptions
) -> list[Reading]:
    """Return the possible ways to read a leaderboard as a matrix of models and tasks.

    The list is empty if the options accept a table with one row per model as it is.

    Parameters
    ----------
    columns : Columns
    model, metric : str
        Columns that name the models and the metrics; empty if there is no such column.
    free : sequence of str
        Columns without a role.
    options : ReadOptions

    Raises
    ------
    InputError
        If the table contains only summary statistics.
    """
    if options.sample_optional:
        return []
    tasks, excluded = task_columns(columns, free)
    n_metrics = sum(is_metric_name(name) for name in tasks)
    shared = common_metric(tasks) if len(tasks) >= MIN_TASKS else ""
    are_tasks = 2 * n_metrics <= len(tasks) or shared or _are_tasks_with_metrics(tasks)
    if metric or len(tasks) < MIN_TASKS or not are_tasks:
        raise means_only_error(columns, model, options)
    metric = options.matrix or shared or columns.file_metric or "score"
    summary = f"a leaderboard of {len(tasks)} tasks: one row per model ({model}), one column per task "
    summary += f"({listing(tasks, 4)})" + (f"; ignored: {format_excluded(excluded)}" if excluded else "")
    changes = {"matrix": metric, **missing_scores_option(options)}
    values = np.concatenate([columns.numbers(name) for name in tasks])
    unclear = options.tests and metric == "score" and not {metric, "*"} & {*options.lower, *options.higher}
    options = set_roles(options, {"model": model}, **changes)
    if unclear and not are_task_names(tasks) and looks_like_errors(values[~np.isnan(values)]):
        choices = both_directions([metric], options, lower_first=True)
        return [Reading(summary=summary, options=choice) for choice, _ in choices]
    return [Reading(summary=summary, options=options)]


def read_published(columns: Columns, model: str, free: Names, options: ReadOptions) -> list[Reading]:
    """Return the possible interpretations of a leaderboard whose scores have a published uncertainty.

    The parameters are those of `read_leaderboard`.
    """
    limits = {name for name in free if _has_token(name, "limits", "standard errors")}
    metrics, excluded = columns.split_scores([name for name in free if name not in limits])
    readings = []
    for metric in options.metric or metrics:
        others = [name for name in free if name != metric]
        chosen = options.uncertainty or _uncertainty_columns(columns, metric, others)
        if chosen and isinstance(options, RankReading):
            text = f"a leaderboard: one row per model ({model}); {metric} with published {listing(chosen)}"
            text += f"; ignored: {format_excluded(excluded)}" if excluded else ""
            choice = set_roles(options, {"model": model}, wide=True, metric=(metric,), uncertainty=(*chosen,))
            summary = "; ".join([text, *describe_assumed_directions([metric], choice)])
            readings.append(Reading(summary=summary, options=choice))
    return readings


def _has_token(name: str, *headings: str) -> bool:
    """Return True if a column name contains a word, possibly with digits, listed under a heading."""
    return any(part.casefold() in vocabulary(*headings) for part in TOKEN.findall(name))


def _uncertainty_columns(columns: Columns, metric: str, names: Names) -> Names:
    """Return the columns with 95 % limits or the standard error of a metric, or no columns.

    Every score must lie between its limits.
    """
    scores, named = columns.numbers(metric), [name for name in names if _has_token(name, "limits")]
    numbers = [name for name in named if columns.kind(name) == "number"]
    values = {name: columns.numbers(name) for name in numbers}
    pairs = [
        (low, high)
        for low, high in permutations(numbers, 2)
        if ((values[low] <= scores) & (scores <= values[high]) & (values[low] < values[high])).all()
    ]
    if pairs:  # the limits of another metric are less symmetric
        return min(pairs, key=lambda pair: np.abs(values[pair[0]] + values[pair[1]] - 2 * scores).mean())
    for name in (name for name in named if columns.kind(name) == "text"):
        low, high = read_limits(columns.frame[name]).T
        if (((low <= 0) & (high >= 0)) | ((low <= scores) & (scores <= high))).all():
            return [name]
    errors = [n for n in names if columns.kind(n) == "number" and _has_token(n, "standard errors")]
    errors += [n for n in names if columns.kind(n) == "number" and {"standard", "error"} <= words(n)]
    return [name for name in errors if words(metric) & words(name) or len(errors) == 1][:1]


def task_columns(columns: Columns, names: Names) -> ColumnSplit:
    """Split the numeric columns of a leaderboard into tasks and other columns.

    If at least `MIN_TASKS` column names contain the same metric, the tasks are the columns of the most common
    metric. Otherwise, they are the columns of similar magnitude that are not costs.

    Returns
    -------
    tasks : list of str
    excluded : dict of str to str
        Reason for excluding each of the other columns.
    """
    tasks, excluded = columns.split_scores(names)
    words_of_all = dict.fromkeys(word for name in tasks for word in split_words(name))
    groups = {word: [name for name in tasks if word in split_words(name)] for word in words_of_all}
    metric = max(filter(is_metric_name, groups), key=lambda word: len(groups[word]), default="")
    if metric and len(groups[metric]) >= MIN_TASKS and common_metric(groups[metric]):
        dissimilar = {name: f"no {metric}" for name in tasks if name not in groups[metric]}
    else:
        sizes = dict(zip(tasks, magnitudes(columns, tasks), strict=True))
        usual = float(np.median([*sizes.values()] or [1]))
        n_costs = sum(map(looks_like_an_amount, tasks))
        low, high = usual / MAX_SCALE_RATIO, usual * MAX_SCALE_RATIO
        dissimilar = {name: "another range" for name, size in sizes.items() if not low <= size <= high}
        if 3 * n_costs < len(tasks):
            dissimilar |= {name: "a cost" for name in tasks if looks_like_an_amount(name)}
    return [name for name in tasks if name not in dissimilar], excluded | dissimilar


def missing_scores_option(options: ReadOptions) -> dict[str, str]:
    """Return the option, by name, that compares models on the tasks that they share.

    The dictionary is empty if the user chose another treatment of missing scores.
    """
    return {"missing": SHARED} if isinstance(options, RankReading) and options.missing == "error" else {}


def rows_may_be_models(columns: Columns, column: str, names: Names) -> bool:
    """Return True if the rows of a matrix may be models, as in a leaderboard.

    This is the case if `column`, which names the rows, does not clearly name samples. `names` are the columns
    with numbers.
    """
    if column not in columns.names or columns.kind(column) != "text" or not columns.is_key(column):
        return False
    if len(names) < MIN_TASKS or is_task_name(column) or not have_similar_scale(columns, names):
        return False
    by_name = column_for_role("model", [column]) is not None or column_for_role("sample", [column]) is None
    return by_name and (are_task_names(names) or columns.height <= _MAX_MODELS)


def have_similar_scale(columns: Columns, names: Names) -> bool:
    """Return True if columns have values of similar magnitude, as columns of one metric have."""
    sizes = [size for size in magnitudes(columns, names) if size > 0]
    return not sizes or max(sizes) <= MAX_SCALE_RATIO * min(sizes)


def common_metric(names: Names) -> str:
    """Return the metric that is part of all column names, or an empty string if there is none.

    The rest of each name must be distinct.
    """
    parts = [re.findall(r"[^\W\d_]+\d*", strip_accents(name).casefold()) for name in names]
    common = [word for word in parts[0] if all(word in part for part in parts)]
    extras = [{*part} - {*common} for part in parts]
    are_distinct = all(extras) and len({*map(frozenset, extras)}) == len(names)
    is_metric = any(is_metric_name(word) or word in SPLITS for extra in extras for word in extra)
    return "_".join(common) if any(map(is_metric_name, common)) and are_distinct and not is_metric else ""


def _are_tasks_with_metrics(names: Names) -> bool:
    """Return True if each name consists of a distinct task and a higher-is-better metric."""
    tasks = []
    for name in names:
        parts = split_words(name)
        while parts and is_metric_name(parts[-1]):
            parts.pop()
        tasks.append(tuple(parts))
    excluded = any(word in SPLITS for task in tasks for word in task) or any(map(looks_like_a_cost, names))
    return all(tasks) and len({*tasks}) == len(names) and not excluded


def magnitudes(columns: Columns, names: Names) -> list[float]:
    """Return the 0.9 quantile of each column's absolute values, or 1 if all its values are in [0, 1]."""
    values = [columns.numbers(name) for name in names]
    observed = [x[~np.isnan(x)] for x in values]
    beyond = [x.size and (x.min() < 0 or x.max() > 1) for x in observed]
    return [float(np.quantile(np.abs(x), 0.9)) if b else 1.0 for x, b in zip(observed, beyond, strict=True)]


def means_only_error(columns: Columns, model: str, options: ReadOptions) -> InputError:
    """Return the error for a table that has one row per model and no samples.

    `model` is the column that names the models.
    """
    numbers, _ = columns.split_scores([name for name in columns.names if name != model])
    several = sum(not is_spread(name) for name in numbers) > 1
    clear = [name for name in numbers if not has_uncertain_direction(name)]
    clear = clear if len(clear) > 1 else numbers
    lower = [name for name in clear if looks_like_a_cost(name) and name not in options.lower]
    flags = [option("metric", name) for name in clear] * (len(clear) < len(numbers))
    flags += [option("lower", name) for name in lower] + [option("higher", "*")] * ("*" not in options.higher)
    flags += [option("columns", f"model={model}")] * (
        model != INDEX and (column_for_role("model", [model]) is None or "+" in model)
    )
    copa_command = interface_text(f"copa {' '.join(flags)}", f"rr.copa(…, {', '.join(flags)})")
    copa = ", or choose a model by several objectives without a common unit, as copa does"
    spread = [name for name in columns.names if is_spread(name)]
    subject = "a table of means and spreads" if spread else "a table with one row per model"
    return InputError(
        f"{subject} has no samples, so nothing can be tested",
        found=f"columns: {listing(columns.names, 20)}; {columns.height} rows, one per model ({model})",
        hint=f"write one row per model and sample, with one column per metric{copa if several else ''}",
        suggestions=[(copa_command, None)] if several else [],
    )


def read_means(columns: Columns, options: ReadOptions) -> list[Reading]:
    """Return the possible interpretations of unnamed rows with means and their published uncertainty.

    Raises
    ------
    InputError
        If the rows contain means and only their spreads.
    """
    if INDEX not in columns.names or not columns.is_key(INDEX) or columns.kind(INDEX) != "text":
        return []
    free = [name for name in columns.names if name != INDEX]
    numbers, excluded = columns.split_scores(free)
    readings = read_published(columns, INDEX, free, options)
    if readings or not (any(map(is_spread, excluded)) and any(map(is_metric_name, numbers))):
        return readings
    if options.sample_optional:
        return read_rows(columns, INDEX, {}, options)
    raise means_only_error(columns, INDEX, options)


# Maximum number of metrics in a column recognised by content.
_MAX_METRICS = 100
# Minimum number of distinct values, and of rows per model, to recognise a metric as constant within models.
_MIN_VALUES, _MIN_ROWS = 3, 5
# Options, and notes about these options.
_OptionsWithNotes = tuple[ReadOptions, list[str]]


def read_rows(columns: Columns, model: str, named: Mapping[str, str], options: ReadOptions) -> list[Reading]:
    """Return the possible ways to read a table with one row per score or per sample.

    Its models are named by a column or by the files.

    Parameters
    ----------
    columns : Columns
    model : str
        Column that names the models; empty if the files do.
    named : mapping of str to str
        Columns that the user assigned to roles, by role.
    options : ReadOptions

    Raises
    ------
    InputError
        If the table has only one row per model, or mixes data splits.
    """
    free = _unassigned(columns, model, named)
    metric, score = _metric_and_score(columns, named, free, options)
    options, pooled_note = _pool_task_metrics(columns, model, metric, score, free, options)
    if pooled_note:
        metric = score = ""
    free = [name for name in free if name not in (metric, score)]
    by = columns.parts(model)
    metric_names = [metric] if metric else []
    if columns.is_key(*by, *metric_names) and "sample" not in named:
        few = len(task_columns(columns, free)[0]) < MIN_TASKS
        if by and not metric and few and (published := read_published(columns, model, free, options)):
            return published
        if boards := read_leaderboard(columns, model, metric, free, options):
            return boards
        keys = RowKeys()
    else:
        keys = _choose_keys(columns, named, by, metric_names, free)
    if not keys.sample and not options.sample_optional:
        return []
    reject_mixed_splits(columns, model, [name for name in free if name != keys.task], options)
    if "sample" not in named:
        reject_selected_rows(columns, model, keys.sample)
    groups = (keys.cluster, named.get("cluster", ""), keys.task, *keys.averaged)
    used = {part for column in (keys.sample, keys.draw, *groups) for part in column.split("+")}
    roles = {"model": model, "sample": keys.sample, "draw": keys.draw, "metric": metric, "score": score}
    original, options = options, set_roles(options, roles, **key_options(keys, options))
    if is_task_name(keys.sample) and not keys.task and _is_incomplete(columns, by, metric_names, keys.sample):
        options = replace(options, **missing_scores_option(options))  # type: ignore[arg-type]
    options, totals = _exclude_totals(columns, keys.sample, [*by, *metric_names], options)
    if score:
        metrics, excluded = _select_metric_values(columns, metric, score, options)
        options = replace(options, metric=tuple(metrics)) if excluded else options
        options, notes = _infer_directions(columns, metrics, excluded, options)
        details = [f"score in column {score}", *notes, *totals]
        return [_reading("a long table", model, keys, details, options, metric)]
    sample = keys.sample if model and not keys.unpaired else ""
    free = [name for name in free if name not in used]
    metrics, excluded = _select_metrics(columns, free, options, sample, by)
    if not metrics and len(excluded) == 1 and ROW_IDENTIFIER not in excluded.values():
        # A bookkeeping column is accepted as the metric if there is no other candidate.
        metrics, excluded = [*excluded], {}
        options = replace(options, metric=tuple(metrics))
    if not metrics:
        return []
    if (labels := _find_judge_columns(columns, metrics, options)) is not None:
        # Human labels calibrate the judge on all samples jointly.
        keys = replace(keys, task="", notes=())
        options = set_roles(original, roles, **key_options(keys, original), where=options.where)
        options = replace(options, wide=True, human=labels[0], judge=labels[1], metric=())
        totals = [labels[2], *totals]
    else:
        chosen = tuple(metrics) if excluded or keys.averaged else ()
        options = replace(options, wide=True, metric=options.metric or chosen)
    options, notes = _infer_directions(columns, metrics, excluded, options)
    details = [f"one column per metric ({listing(metrics)})", *pooled_note, *notes, *totals]
    return [
        _reading("a wide table", model, keys, [*details, *direction], choice)
        for choice, direction in _outcome_directions(columns, metrics, options)
    ]


def _unassigned(columns: Columns, model: str, named: Mapping[str, str]) -> list[str]:
    """Return the columns that have neither a role nor model names.

    `named` maps roles to the columns that the user chose. A cluster column is included, because it may also
    be part of the sample name.
    """
    roles = {name for role, name in named.items() if role != "cluster"}
    assigned = {model, *roles, *(part for name in roles for part in name.split("+"))}
    return [name for name in columns.names if name not in assigned]


def _exclude_totals(columns: Columns, sample: str, by: Names, options: ReadOptions) -> _OptionsWithNotes:
    """Return options that exclude rows with totals of a model, and a list with a note about them.

    `sample` is the column that names samples; the columns `by` identify models.
    """
    totals = common_totals(columns, sample, by)
    if not totals:
        return options, []
    where = exclude_values(sample, totals, columns.frame[sample].to_list(), options.where)
    note = f"excluding the row{'s' if len(totals) > 1 else ''} {listing(totals)}"
    return replace(options, where=where), [note]


def _outcome_directions(columns: Columns, metrics: Names, options: ReadOptions) -> list[_OptionsWithNotes]:
    """Return pairs of options and notes, one for each possible direction of the metrics.

    There is one pair, or two if outcome words are ambiguous. The likelier direction comes first.
    """
    unclear = [name for name in metrics if columns.word_direction(name) == "ambiguous"]
    unclear = [name for name in unclear if name not in (*options.lower, *options.higher)]
    if not unclear:
        return [(options, [])]
    outcomes = [columns.text_scores[name].outcomes for name in unclear]
    likely = all(pair is None or pair.is_likely for pair in outcomes)
    return both_directions(unclear, options, lower_first=not likely)


def _infer_directions(
    columns: Columns, names: Names, excluded: Mapping[str, str], options: ReadOptions
) -> _OptionsWithNotes:
    """Return options with the directions that grades in words, such as poor and good, or the file name imply.

    Also return a list of notes about directions and excluded columns. `excluded` maps columns to reasons.
    """
    graded = [name for name in names if name in columns.text_scores and columns.text_scores[name].grades]
    unclear = [name for name in graded if not has_clear_direction(name)]
    unclear = [name for name in unclear if name not in (*options.lower, *options.higher)]
    options = replace(options, higher=(*options.higher, *unclear))
    names = [name for name in names if columns.word_direction(name) not in ("ambiguous", "explicit")]
    options, file_notes = infer_lower_from_file_name(names, options, columns.file_metric)
    excluded_notes = [f"ignored: {format_excluded(excluded)}"] if excluded else []
    return options, [*describe_assumed_directions(names, options), *file_notes, *excluded_notes]


def _is_incomplete(columns: Columns, model: Names, metric: Names, sample: str) -> bool:
    """Return True if models share some tasks, but not all, in a table with one score per model and task.

    `model` and `metric` are the columns with these roles, and `sample` names the tasks.
    """
    single_scores = columns.n_unique(*metric) == 1 and bool(model) and columns.is_key(*model, sample)
    return single_scores and 0 < columns.shared_proportion(sample, model) < 1


def _metric_and_score(
    columns: Columns, roles: Mapping[str, str], free: Names, options: ReadOptions
) -> tuple[str, str]:
    """Return the metric and score columns of a long table, or empty strings for a wide table.

    `roles` maps roles to the columns that the user chose; `free` are the other columns.
    """
    if options.wide:
        return "", ""
    text = [name for name in free if columns.kind(name) == "text" and columns.n_unique(name) <= _MAX_METRICS]
    numbers = [name for name in free if columns.kind(name) == "number" and not may_be_sample_name(name)]
    metric = roles.get("metric") or ("metric" if "metric" in free else column_for_role("metric", text))
    score = roles.get("score") or ("score" if "score" in free else column_for_role("score", numbers))
    if metric and not score and len(numbers) == 1:
        score = numbers[0]
    return (metric, score) if metric and score else ("", "")


def _pool_task_metrics(
    columns: Columns, model: str, metric: str, score: str, free: Names, options: ReadOptions
) -> _OptionsWithNotes:
    """Return options that read all scores as one metric, and a list with a note about it.

    This applies if each task has its own higher-is-better metric, with one score per model. The metrics must
    have the same scale: either none of them exceeds 1, or all of them do. Otherwise, the options are
    unchanged and the list is empty. `model`, `metric` and `score` are the columns with these roles. Tasks are
    searched for in the columns `free`.
    """
    tasks = [name for name in free if metric and has_word(name, "whole") and columns.is_key(model, name)]
    if options.metric or not tasks or columns.n_unique(metric) < 2:
        return options, []
    scores = pl.DataFrame({"metric": columns.frame[metric].cast(pl.String), "score": columns.numbers(score)})
    maxima = scores.group_by("metric").agg(pl.col("score").max())
    on_one_scale = columns.is_constant_within(metric, tasks[:1]) and len({*(maxima["score"] <= 1)}) == 1
    if not on_one_scale or not all(map(clearly_higher_is_better, maxima["metric"].drop_nulls())):
        return options, []
    higher = () if score in options.lower else (score,)
    options = replace(options, metric=(score,), higher=(*options.higher, *higher))
    return options, ["each task has its own metric, and higher is better"]


def _choose_keys(
    columns: Columns, roles: Mapping[str, str], by: Names, metric: Names, free: Names
) -> RowKeys:
    """Return the columns that identify the rows of each model and metric.

    The sample column is chosen by the user, by its name, or otherwise by inference.

    Parameters
    ----------
    columns : Columns
    roles : mapping of str to str
        Columns that the user assigned to roles, by role.
    by, metric : sequence of str
        Columns that name models and metrics.
    free : sequence of str
        Columns without a role.
    """
    if "sample" not in roles and ("sample" not in columns.names or "sample" in (*by, *metric)):
        return find_keys(columns, by, [*metric, *filter(None, [roles.get("task")])], free)
    default = RowKeys(sample=roles.get("sample", "sample"), task=roles.get("task", ""))
    files = [FILE] if FILE in columns.frame.columns else []
    if "sample" in roles or (not files and columns.is_key(*by, *metric, "sample")):
        return default
    keys = find_keys(columns, by, metric, ["sample", *(name for name in free if name != "sample")])
    is_other = bool(files) and not columns.is_constant_within("sample", [keys.sample])
    return keys if (is_other or keys.sample == "sample") and not (files and keys.unpaired) else default


def _select_metrics(
    columns: Columns, free: Names, options: ReadOptions, sample: str = "", model: Names = ()
) -> ColumnSplit:
    """Split the free columns into metrics and excluded columns with reasons.

    A column is excluded if it is constant within each model, or within each sample across all models.
    `sample` and `model` name these columns.
    """
    if options.metric:
        return [name for name in free if name in options.metric and columns.kind(name) == "number"], {}
    declared = options.mentioned_metrics | declared_metrics(options)[1].keys()
    metrics, excluded = columns.split_scores(free, declared, allow_constant=options.allow_constant)
    if model and columns.is_key(*model):
        tasks, extra = task_columns(columns, free)
        if len(tasks) >= MIN_TASKS:
            chosen = {*tasks, *declared, *filter(is_metric_name, metrics)}
            excluded |= {name: extra[name] for name in metrics if name not in chosen}
        return [name for name in metrics if name not in excluded], excluded
    for reason, applies in _EXCLUSION_RULES:
        fits = [name for name in metrics if name not in declared and applies(columns, name, sample, model)]
        if 0 < len(fits) < len(metrics):
            excluded |= dict.fromkeys(fits, reason)
            metrics = [name for name in metrics if name not in fits]
    return metrics, excluded


def _describes_models(columns: Columns, name: str, _sample: str, model: Names) -> bool:
    """Return True if a column has one value per model, given by the columns `model`.

    If the column has the name of a metric, the table must also have several rows per model, and the column
    several distinct values.
    """
    if not model or not columns.is_constant_within(name, model):
        return False
    few = columns.n_unique(name) < _MIN_VALUES or columns.height < _MIN_ROWS * columns.n_unique(*model)
    return not (few and is_metric_name(name))


def _describes_samples(columns: Columns, name: str, sample: str, model: Names) -> bool:
    """Return True if a column describes samples: several models have the same value on each sample."""
    if not sample or (model and columns.n_unique(*model) < 2) or columns.is_key(sample):
        return False
    return columns.is_constant_within(name, [sample])


# Tests for numeric columns that cannot be used to compare models, with the reason for exclusion.
_EXCLUSION_RULES: tuple[tuple[str, Callable[[Columns, str, str, Names], bool]], ...] = (
    ("a model setting", _describes_models),
    (
        "not for all models",
        lambda columns, name, _, model: (
            not is_metric_name(name) and columns.is_missing_for_groups(name, model)
        ),
    ),
    (
        "a duration",
        lambda columns, name, _, model: (
            (is_duration(name) or words(name) <= vocabulary("test times"))
            and any(map(columns.word_direction, columns.names))
        ),
    ),
    ("the same for all models", _describes_samples),
)


def _select_metric_values(columns: Columns, metric: str, score: str, options: ReadOptions) -> ColumnSplit:
    """Split the metrics named in a long table into those with scores and excluded ones with reasons."""
    names, values = columns.frame[metric].cast(pl.String), columns.numbers(score)
    metrics = names.drop_nulls().unique(maintain_order=True).to_list()
    by_metric = {name: values[(names == name).fill_null(False).to_numpy()] for name in metrics}
    if options.metric or len({scores.size for scores in by_metric.values()}) > 1:
        return metrics, {}
    frame = pl.DataFrame({name: pl.Series(scores, nan_to_null=True) for name, scores in by_metric.items()})
    selected, excluded = _select_metrics(Columns(frame, metrics), metrics, options)
    return (selected, excluded) if selected else (metrics, {})


def _find_judge_columns(
    columns: Columns, metrics: Names, options: ReadOptions
) -> tuple[str, str, str] | None:
    """Find a column of human labels among the metrics, and a column of judge scores that they calibrate.

    Return both names and a note, or None if there are no such columns.
    """
    if not options.judges or options.human or (options.metric and len(options.metric) != len(metrics)):
        return None
    human = [name for name in metrics if has_word(name, "human")]
    judges = [name for name in metrics if has_word(name, "automatic") and name not in human]
    if len(human) != 1 or len(judges) != 1 or not columns.n_missing(human[0]):
        return None
    labels = columns.height - columns.n_missing(human[0])
    note = f"human scores in {human[0]} ({labels:,} of {columns.height:,}) calibrate the judge {judges[0]}"
    return human[0], judges[0], note


def _reading(
    kind: str, model: str, keys: RowKeys, notes: Names, options: ReadOptions, metric: str = ""
) -> Reading:
    """Return a reading whose summary has the kind of the table, what a row stands for, and notes.

    `model` and `metric` are the columns with these roles; empty if there are none.
    """
    columns = {"model": model, "sample": keys.sample, "metric": metric}
    *units, last = [f"{role} ({column})" for role, column in columns.items() if column] or [""]
    rows = f"one row per {', '.join(units)} and {last}" if units else f"one row per {last}" * bool(last)
    files = "" if model else "one file per model"
    summary = "; ".join([f"{kind}: {', '.join(filter(None, [files, rows]))}", *notes, *keys.notes])
    return Reading(summary=summary, options=options, checks=keys.checks)
