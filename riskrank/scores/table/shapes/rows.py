"""A row a model and sample: long, with a column of metrics, or wide, with a column a metric."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import leaving_out, quoted_column, quoted_text
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.measures import NAMES_ROWS, left_out
from riskrank.scores.names.words import (
    ANSWER,
    AUTOMATIC,
    HUMAN,
    RUN,
    SETTING,
    WHOLE,
    WORDING,
    may_name_samples,
    names_something,
    names_tasks,
    synonym,
    vocabulary,
    words,
)
from riskrank.scores.table.metrics_file import described_metrics
from riskrank.scores.table.shapes.board import SPLITS, as_board, pair_by_pair
from riskrank.scores.table.shapes.columns import Columns
from riskrank.scores.table.shapes.keys import Keys, keyed, keys_of
from riskrank.scores.table.shapes.reading import Reading, taken_as_better, told_by_title, with_roles
from riskrank.scores.table.shapes.totals import totals_of
from riskrank.scores.table.written_numbers import Writing

# Names of models are no more, where only content tells that they are; nor metrics.
_MOST_MODELS, _MOST_METRICS = 20, 100
# Programs that grade, which may be what is compared.
_GRADERS = vocabulary("grader scorer evaluator")
# Samples all models have, where only content tells what the models are.
_NEARLY_ALL = 0.8


def models_of(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> list[str]:
    """Columns that may name the models: one by its name, else all that may by what they hold."""
    if "model" in named:
        return [named["model"]]
    taken = {part for column in named.values() for part in column.split("+")}
    if "model" in columns.names and "model" not in taken and columns.count("model") > 1:
        return ["model"]
    free = [name for name in columns.names if name not in taken]
    fit = [name for name in free if _may_name_models(columns, name)]
    numbers = [name for name in fit if columns.kind(name) == "number"]
    # Several columns of numbers that are called as models are a model each.
    fit = [name for name in fit if len(numbers) == 1 or name not in numbers]
    by_name = synonym("model", [name for name in fit if columns.count(name) > 1] or fit)
    if by_name is None and "model" in free:
        return ["model"]
    if by_name is not None or columns.by_file:
        return [] if by_name is None else [by_name]
    text = [name for name in fit if columns.kind(name) == "text" and 2 <= columns.count(name) <= _MOST_MODELS]
    if not text and any(map(names_a_metric, columns.names)):  # graders that are compared
        judges = [name for name in free if words(name) & _GRADERS and columns.kind(name) == "text"]
        text = [
            name for name in judges if 2 <= columns.count(name) <= _MOST_MODELS and not columns.gaps(name)
        ]
    found, crossed = [], []
    # Fewer rows than columns of text tell nothing by what they hold.
    for name in text if len(text) <= columns.height else ():
        others = [other for other in free if other != name]
        keys = keys_of(columns, [name], [], others)
        parts = keys.sample.split("+") if keys.sample else []
        runs = [keys.draw] if keys.draw else []
        apart = columns.tell_apart(name, *parts, *runs) and (bool(runs) or not keys.repeats)
        if parts and (keys.copied or apart):
            found += [name] if columns.shared(parts[0], [name]) >= _NEARLY_ALL else []
            crossed += [name] if all(columns.shared(part, [name]) >= _NEARLY_ALL for part in parts) else []
    told = [name for name in found if not words(name) & (WHOLE | SETTING | WORDING | RUN)]
    told = [name for name in told if synonym("metric", [name]) is None] or told
    compared = synonym("compared", [] if found else text)
    return (
        [compared]
        if compared
        else sorted(told or found, key=lambda name: (name not in crossed, columns.count(name)))
    )


def _may_name_models(columns: Columns, name: str) -> bool:
    # Cheap questions come first: wide tables have many columns.
    if not names_something(name) or (words(name) & ANSWER and "model" not in words(name)):
        return False
    kind = columns.kind(name)
    if kind not in ("text", "number") or columns.frame[name].dtype.is_nested():
        return False
    # Only its name says of a number that it is a model's.
    if kind == "number" and not (
        synonym("model", [name]) and columns.whole(name) and columns.count(name) <= _MOST_MODELS
    ):
        return False
    return not columns.gaps(name)


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
    _require_one_split(columns, [name for name in free if name != keys.task], options)
    wholes = (keys.cluster, named.get("cluster", ""), keys.task, *keys.averaged)
    used = {part for one in (keys.sample, keys.draw, *wholes) for part in one.split("+")}
    roles = {"model": model, "sample": keys.sample, "draw": keys.draw, "metric": metric, "score": score}
    before = options
    options = with_roles(options, roles, **keyed(keys, named, options))
    if names_tasks(keys.sample) and _has_holes(columns, by, of_metric, keys.sample):
        options = replace(options, **pair_by_pair(options))  # type: ignore[arg-type]
    totals = totals_of(columns, keys.sample, [*by, *of_metric])
    without = []
    if totals:
        rows = columns.frame[keys.sample].to_list()
        options = replace(options, where=leaving_out(keys.sample, totals, rows, options.where))
        without = [f"without the row{'s' if len(totals) > 1 else ''} {listing(totals)}"]
    if score:
        known, gone = _measures_of(columns, metric, score, options)
        options, told = _told(
            columns, known, gone, replace(options, metric=tuple(known) if gone else options.metric)
        )
        said = ["a row a score", *told, *without]
        return [Reading(said=_sentence("a long table", model, keys, said), options=options)]
    own = keys.sample if model and not keys.unpaired else ""
    measures, gone = _measures(columns, [name for name in free if name not in used], options, own)
    if not measures and len(gone) == 1 and NAMES_ROWS not in gone.values():
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
        options = replace(
            options, wide=True, metric=options.metric or (tuple(measures) if gone or keys.averaged else ())
        )
    words_of = {name: one for name in measures if (one := columns.written.get(name)) and one.truths}
    asked = [
        name for name in words_of if words_of[name].open and name not in (*options.lower, *options.higher)
    ]
    silent = [name for name in measures if name not in asked]
    silent = [name for name in silent if not (name in words_of and words_of[name].truths.told)]
    options, told = _told(columns, silent, gone, options)
    readings = []
    for way, better in _ways_of_words(asked, words_of):
        said = [f"a column a metric ({listing(measures)})", *better, *told, *without]
        chosen = replace(options, **{side: (*getattr(options, side), *names) for side, names in way.items()})
        readings.append(Reading(said=_sentence("a wide table", model, keys, said), options=chosen))
    return readings


def _ways_of_words(
    asked: Sequence[str], words_of: Mapping[str, Writing]
) -> list[tuple[dict[str, Sequence[str]], list[str]]]:
    """Options for words of which only the reader knows which is better, the likelier first, and sentences."""
    if not asked:
        return [({}, [])]
    likely = all((found := words_of[name].truths) is None or found.likely for name in asked)
    ways = [("higher", "more"), ("lower", "less")]
    return [
        ({side: asked}, [f"{word} {listing(asked)} is better"])
        for side, word in (ways if likely else ways[::-1])
    ]


def _told(
    columns: Columns, names: Sequence[str], gone: Mapping[str, str], options: ReadOptions
) -> tuple[ReadOptions, list[str]]:
    """What is said of directions nobody gave, and of columns that are no scores; and options that say it."""
    options, by_title = told_by_title(names, options, columns.measured)
    left = [f"left out: {left_out(gone)}"] if gone else []
    return options, [*taken_as_better(names, options), *by_title, *left]


def _require_one_split(columns: Columns, free: Sequence[str], options: ReadOptions) -> None:
    """Refuse rows of training beside those of test, which would count as samples like them."""
    for name in (one for one in free if words(one) & {"split", "partition", "fold", "set", "subset"}):
        held = columns.frame[name].unique().to_list() if columns.kind(name) == "text" else []
        known = [one for one in SPLITS for text in held if text and one == text.casefold()]
        if name in (options.task, options.cluster) or len(known) < max(len(held), 2):
            continue
        last = next(text for text in held if text.casefold() == known[0])
        where = f"{quoted_column(name)} = {quoted_text(last)}"
        where = f"({options.where}) AND {where}" if options.where else where
        raise InputError(
            f"{columns.label}: {name} names parts of the data, which are not samples alike",
            found=f"{name}: {listing(sorted(held))}",
            hint=f"{option('where', where)} takes the rows of {last} alone",
            ways=[(option("where", where), replace(options, where=where))],
        )


def _has_holes(columns: Columns, model: Sequence[str], metric: Sequence[str], sample: str) -> bool:
    """Whether models lack rows of tasks that others have, of one metric and with one score a task."""
    one = columns.groups(*metric) == 1 and bool(model) and columns.tell_apart(*model, sample)
    return one and columns.height < columns.groups(*model) * columns.groups(sample)


def _long_columns(
    columns: Columns, model: str, named: Mapping[str, str], free: Sequence[str], options: ReadOptions
) -> tuple[str, str]:
    """The columns of metric and score of a long table; none of a wide one."""
    if options.wide:
        return "", ""
    text = [name for name in free if columns.kind(name) == "text" and columns.count(name) <= _MOST_METRICS]
    numbers = [name for name in free if columns.kind(name) == "number" and not may_name_samples(name)]
    metric = named.get("metric") or ("metric" if "metric" in free else synonym("metric", text))
    score = named.get("score") or ("score" if "score" in free else synonym("score", numbers))
    if metric and not score and len(numbers) == 1:
        score = numbers[0]
    return (metric, score) if metric and score else ("", "")


def _keys(
    columns: Columns, named: Mapping[str, str], by: Sequence[str], metric: Sequence[str], free: Sequence[str]
) -> Keys:
    """What tells rows apart: what was said or is called sample, with what to do about its repeats."""
    if "sample" not in named and "sample" not in columns.names:
        return keys_of(columns, by, metric, free)
    told = Keys(sample=named.get("sample", "sample"), task=named.get("task", ""))
    if "sample" in named or columns.tell_apart(*by, *metric, "sample"):
        return told
    keys = keys_of(columns, by, metric, ["sample", *(name for name in free if name != "sample")])
    return keys if keys.sample == "sample" else told


def _measures(
    columns: Columns, free: Sequence[str], options: ReadOptions, sample: str
) -> tuple[list[str], dict[str, str]]:
    """Columns that are metrics, and numbers that are none, with what they are; all models share samples."""
    if options.metric:
        return [name for name in free if name in options.metric and columns.kind(name) == "number"], {}
    said = {*options.lower, *options.higher, *options.weight, *described_metrics(options)[1]}
    found, gone = columns.measures(free, said, constant=options.allow_constant)
    unsaid = [name for name in found if name not in said] if len(found) > 1 and sample else []
    same = [name for name in unsaid if columns.constant_within(name, sample.split("+"))]
    if len(same) == len(found):
        return found, gone
    return [name for name in found if name not in same], gone | dict.fromkeys(same, "the same for all models")


def _measures_of(
    columns: Columns, metric: str, score: str, options: ReadOptions
) -> tuple[list[str], dict[str, str]]:
    """Metrics of a long table that are scores, and those that are none, with what they are."""
    names, values = columns.frame[metric].cast(pl.String), columns.numbers(score)
    known = names.drop_nulls().unique(maintain_order=True).to_list()
    own = {name: values[(names == name).fill_null(False).to_numpy()] for name in known}
    if options.metric or len({one.size for one in own.values()}) > 1:
        return known, {}
    frame = pl.DataFrame({name: pl.Series(one, nan_to_null=True) for name, one in own.items()})
    left, gone = _measures(Columns(frame, known), known, options, "")
    return (left, gone) if left else (known, {})


def _labelled(columns: Columns, measures: Sequence[str], options: ReadOptions) -> tuple[str, str, str] | None:
    """People's labels, the judge they correct where some samples have none, and a sentence; else None."""
    if not options.judges or options.human or (options.metric and len(options.metric) != len(measures)):
        return None
    people = [name for name in measures if words(name) & HUMAN]
    judges = [name for name in measures if words(name) & AUTOMATIC and name not in people]
    if len(people) != 1 or len(judges) != 1 or not columns.gaps(people[0]):
        return None
    labels = columns.height - columns.gaps(people[0])
    told = f"people's {people[0]} ({labels:,} of {columns.height:,}) correct those of the judge, {judges[0]}"
    return people[0], judges[0], told


def _sentence(kind: str, model: str, keys: Keys, more: Sequence[str]) -> str:
    of = f"model ({model})" if model else "model a file"
    of += f" and sample ({keys.sample})" if keys.sample else ""
    return "; ".join([f"{kind}: a row a {of}", *more, *keys.said])
