"""A row a model and sample: long, with a column of metrics, or wide, with a column a metric."""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import listing
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.sql_names import leaving_out
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.layout import Reading, taken_as_better, told_by_file_name, with_roles
from riskrank.scores.layouts.leaderboard import as_board, pair_by_pair
from riskrank.scores.layouts.refusals import require_alike
from riskrank.scores.layouts.row_keys import Keys, keyed, keys_of
from riskrank.scores.layouts.total_rows import totals_of
from riskrank.scores.names.directions import clearly_higher_is_better, names_a_metric
from riskrank.scores.names.score_columns import ROW_IDENTIFIER, ColumnSplit, format_excluded
from riskrank.scores.names.vocabulary import (
    vocabulary,
    may_name_samples,
    names_tasks,
    has_word,
    column_for_role,
    words,
)
from riskrank.scores.table.metrics_file import described_metrics

# Names of metrics are no more, where only content tells that they are.
_MOST_METRICS = 100
# Options, and what is said of them.
_Told = tuple[ReadOptions, list[str]]


def as_rows(columns: Columns, model: str, named: Mapping[str, str], options: ReadOptions) -> list[Reading]:
    """How to read a table whose models a column names, or its files do.

    Raises
    ------
    InputError
        If there is a row a model, of which nothing can be tested, or no column of numbers.
    """
    # What samples belong to may be half of their name.
    taken = {model, *(part for role in named if role != "cluster" for part in named[role].split("+"))}
    free = [name for name in columns.names if name not in taken]
    metric, score = _long_columns(columns, model, named, free, options)
    own_metrics: list[str] = []
    if not options.metric and _one_metric_a_task(columns, model, metric, score, free):
        options, own_metrics = _as_one_metric(score, options)
        metric = score = ""
    free = [name for name in free if name not in (metric, score)]
    by = [model] if model else []
    if columns.tell_apart(*by, *([metric] if metric else [])) and "sample" not in named:
        board = as_board(columns, model, metric, free, options)
        if board is not None:
            return [board]
    of_metric = [metric] if metric else []
    keys = _keys(columns, named, by, of_metric, free)
    if not keys.sample and not options.sample_optional:
        return []
    require_alike(columns, model, [name for name in free if name != keys.task], options)
    wholes = (keys.cluster, named.get("cluster", ""), keys.task, *keys.averaged)
    used = {part for one in (keys.sample, keys.draw, *wholes) for part in one.split("+")}
    roles = {"model": model, "sample": keys.sample, "draw": keys.draw, "metric": metric, "score": score}
    before = options
    options = with_roles(options, roles, **keyed(keys, named, options))
    if names_tasks(keys.sample) and _has_holes(columns, by, of_metric, keys.sample):
        options = replace(options, **pair_by_pair(options))  # type: ignore[arg-type]
    options, without = _without_totals(columns, keys.sample, [*by, *of_metric], options)
    if score:
        known, gone = _measures_of(columns, metric, score, options)
        options = replace(options, metric=tuple(known)) if gone else options
        options, told = _told(columns, known, gone, options)
        said = ["a row a score", *told, *without]
        return [Reading(said=_sentence("a long table", model, keys, said), options=options)]
    own = keys.sample if model and not keys.unpaired else ""
    measures, gone = _measures(columns, [name for name in free if name not in used], options, own, by)
    if not measures and len(gone) == 1 and ROW_IDENTIFIER not in gone.values():
        # What else is bookkeeping is what was measured where nothing else is.
        measures = [*gone]
        options = replace(options, metric=tuple(measures))
        gone = {}
    if not measures:
        return []
    if (labels := _labelled(columns, measures, options)) is not None:
        # What is corrected by labels is one pool.
        keys = replace(keys, task="", said=())
        options = with_roles(before, roles, **keyed(keys, named, before), where=options.where)
        options = replace(options, wide=True, human=labels[0], judge=labels[1], metric=())
        without = [labels[2], *without]
    else:
        chosen = tuple(measures) if gone or keys.averaged else ()
        options = replace(options, wide=True, metric=options.metric or chosen)
    options, told = _told(columns, measures, gone, options)
    said = [f"a column a metric ({listing(measures)})", *own_metrics, *told, *without]
    return [
        Reading(said=_sentence("a wide table", model, keys, [*said, *better]), options=way)
        for way, better in _ways_of_words(columns, measures, options)
    ]


def _without_totals(columns: Columns, sample: str, by: Names, options: ReadOptions) -> _Told:
    """Options without rows that sum up those of every model, and what is said of them."""
    totals = totals_of(columns, sample, by)
    if not totals:
        return options, []
    where = leaving_out(sample, totals, columns.frame[sample].to_list(), options.where)
    said = f"without the row{'s' if len(totals) > 1 else ''} {listing(totals)}"
    return replace(options, where=where), [said]


def _ways_of_words(columns: Columns, measures: Names, options: ReadOptions) -> list[_Told]:
    """Both ways to take two words of which only the reader knows the better, the likelier first."""
    said = (*options.lower, *options.higher)
    asked = [name for name in measures if name not in said and columns.in_words(name) == "open"]
    if not asked:
        return [(options, [])]
    names = listing(asked)
    ways = [
        (replace(options, higher=(*options.higher, *asked)), [f"more {names} is better"]),
        (replace(options, lower=(*options.lower, *asked)), [f"less {names} is better"]),
    ]
    found = [columns.written[name].truths for name in asked]
    return ways if all(one is None or one.is_likely for one in found) else ways[::-1]


def _told(columns: Columns, names: Names, gone: Mapping[str, str], options: ReadOptions) -> _Told:
    """What is said of directions nobody gave, and of columns that are no scores; and options that say it."""
    names = [name for name in names if columns.in_words(name) not in ("open", "told")]
    options, by_file_name = told_by_file_name(names, options, columns.measured)
    left = [f"left out: {format_excluded(gone)}"] if gone else []
    return options, [*taken_as_better(names, options), *by_file_name, *left]


def _has_holes(columns: Columns, model: Names, metric: Names, sample: str) -> bool:
    """Whether models lack rows of tasks that others have, of one metric and with one score a task."""
    one = columns.groups(*metric) == 1 and bool(model) and columns.tell_apart(*model, sample)
    return one and columns.height < columns.groups(*model) * columns.groups(sample)


def _long_columns(
    columns: Columns, model: str, named: Mapping[str, str], free: Names, options: ReadOptions
) -> tuple[str, str]:
    """The columns of metric and score of a long table; none of a wide one."""
    if options.wide:
        return "", ""
    text = [name for name in free if columns.kind(name) == "text" and columns.count(name) <= _MOST_METRICS]
    numbers = [name for name in free if columns.kind(name) == "number" and not may_name_samples(name)]
    metric = named.get("metric") or ("metric" if "metric" in free else column_for_role("metric", text))
    score = named.get("score") or ("score" if "score" in free else column_for_role("score", numbers))
    if metric and not score and len(numbers) == 1:
        score = numbers[0]
    return (metric, score) if metric and score else ("", "")


def _one_metric_a_task(columns: Columns, model: str, metric: str, score: str, free: Names) -> bool:
    """Whether each task is scored once a model by its own metric: more is better of all, on one scale."""
    tasks = [name for name in free if metric and has_word(name, "whole") and columns.tell_apart(model, name)]
    if not tasks or columns.count(metric) < 2 or not columns.constant_within(metric, tasks[:1]):
        return False
    held = columns.frame.select(pl.col(metric).cast(pl.String), score=columns.numbers(score))
    tops = held.group_by(metric).agg(pl.col("score").max())
    return all(map(clearly_higher_is_better, tops[metric].drop_nulls())) and len({*(tops["score"] <= 1)}) == 1


def _as_one_metric(score: str, options: ReadOptions) -> _Told:
    """Options that take scores of all tasks for one metric, and what is said of it."""
    higher = () if score in options.lower else (score,)
    told = ["each task by a metric of its own, of which more is better"]
    return replace(options, metric=(score,), higher=(*options.higher, *higher)), told


def _keys(columns: Columns, named: Mapping[str, str], by: Names, metric: Names, free: Names) -> Keys:
    """What tells rows apart: what was said or is called sample, with what to do about its repeats."""
    if "sample" not in named and "sample" not in columns.names:
        return keys_of(columns, by, metric, free)
    told = Keys(sample=named.get("sample", "sample"), task=named.get("task", ""))
    if "sample" in named or columns.tell_apart(*by, *metric, "sample"):
        return told
    keys = keys_of(columns, by, metric, ["sample", *(name for name in free if name != "sample")])
    return keys if keys.sample == "sample" else told


def _measures(
    columns: Columns, free: Names, options: ReadOptions, sample: str = "", model: Names = ()
) -> ColumnSplit:
    """Columns that are metrics, and numbers that are none, with what they are; all models share samples."""
    if options.metric:
        return [name for name in free if name in options.metric and columns.kind(name) == "number"], {}
    said = {*options.lower, *options.higher, *options.weight, *described_metrics(options)[1]}
    found, gone = columns.measures(free, said, constant=options.allow_constant)
    unsaid = [name for name in found if name not in said] if len(found) > 1 else []
    fixed = [name for name in unsaid if not names_a_metric(name) and columns.constant_within(name, model)]
    if model and 0 < len(fixed) < len(found):
        gone |= dict.fromkeys(fixed, "a setting of the model")
        found = [name for name in found if name not in fixed]
    unsaid = [name for name in unsaid if name in found] if sample else []
    same = [name for name in unsaid if columns.constant_within(name, sample.split("+"))]
    # What tells of samples in numbers and in words, such as what was read off them, is none beside scores.
    mixed = [name for name in unsaid if not names_a_metric(name) and columns.mixed(name)]
    if 0 < len(mixed) < len(found):
        gone |= dict.fromkeys(mixed, "numbers and text")
        found = [name for name in found if name not in mixed]
    if _are_tests(columns, found):
        # Whether tests pass is asked; how long they took is known of any of them.
        timed = [name for name in unsaid if words(name) <= vocabulary("test times")]
        gone |= dict.fromkeys(timed, "how long it took")
        found = [name for name in found if name not in timed]
    if len(same) == len(found):
        return found, gone
    return [name for name in found if name not in same], gone | dict.fromkeys(same, "the same for all models")


def _are_tests(columns: Columns, found: Names) -> bool:
    """Whether rows are those of tests that pass or fail."""
    judged = any(map(columns.in_words, found))
    return judged and any(has_word(name, "tests") for name in columns.names)


def _measures_of(columns: Columns, metric: str, score: str, options: ReadOptions) -> ColumnSplit:
    """Metrics of a long table that are scores, and those that are none, with what they are."""
    names, values = columns.frame[metric].cast(pl.String), columns.numbers(score)
    known = names.drop_nulls().unique(maintain_order=True).to_list()
    own = {name: values[(names == name).fill_null(False).to_numpy()] for name in known}
    if options.metric or len({one.size for one in own.values()}) > 1:
        return known, {}
    frame = pl.DataFrame({name: pl.Series(one, nan_to_null=True) for name, one in own.items()})
    left, gone = _measures(Columns(frame, known), known, options)
    return (left, gone) if left else (known, {})


def _labelled(columns: Columns, measures: Names, options: ReadOptions) -> tuple[str, str, str] | None:
    """People's labels, the judge they correct where some samples have none, and a sentence; else None."""
    if not options.judges or options.human or (options.metric and len(options.metric) != len(measures)):
        return None
    people = [name for name in measures if has_word(name, "human")]
    judges = [name for name in measures if has_word(name, "automatic") and name not in people]
    if len(people) != 1 or len(judges) != 1 or not columns.gaps(people[0]):
        return None
    labels = columns.height - columns.gaps(people[0])
    told = f"people's {people[0]} ({labels:,} of {columns.height:,}) correct those of the judge, {judges[0]}"
    return people[0], judges[0], told


def _sentence(kind: str, model: str, keys: Keys, more: Names) -> str:
    of = f"model ({model})" if model else "model a file"
    of += f" and sample ({keys.sample})" if keys.sample else ""
    return "; ".join([f"{kind}: a row a {of}", *more, *keys.said])
