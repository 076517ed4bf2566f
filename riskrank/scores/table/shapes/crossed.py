"""A row a sample, a column a metric of a model: both stand in the names of columns."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from riskrank.asked.reading import ReadOptions
from riskrank.errors import listing
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.words import may_name_samples
from riskrank.scores.table.shapes.columns import Columns
from riskrank.scores.table.shapes.keys import keyed, keys_of
from riskrank.scores.table.shapes.reading import Reading, with_roles

_SEPARATORS = ("~", "|", ":", "/", "_", ".", " ", "-")

# Column by metric and model.
_Crossed = dict[tuple[str, str], str]


def as_crossed(columns: Columns, named: Mapping[str, str], options: ReadOptions) -> list[Reading]:
    """Columns of numbers that are every metric of every model, by a query that writes a row a model."""
    if options.sql is not None or options.columns or columns.written or columns.decimal_comma:
        return []
    numbers = [
        name for name in columns.names if columns.kind(name) == "number" and not may_name_samples(name)
    ]
    crossed = next(_crossings(numbers), None)
    if crossed is None:
        return []
    metrics, models = (list(dict.fromkeys(pair[at] for pair in crossed)) for at in (0, 1))
    own = [name for name in columns.names if name not in crossed.values()]
    keys = keys_of(columns, [], [], own)
    if not keys.sample or {"model", *metrics} & {*own}:
        return []
    further = ", ".join(map(quoted_column, own))
    rows = []
    for model in models:
        scores = (f"{quoted_column(crossed[one, model])} AS {quoted_column(one)}" for one in metrics)
        rows.append(f"SELECT {further}, {quoted_text(model)} AS model, {', '.join(scores)} FROM scores")
    said = f"a row a sample ({keys.sample}), "
    said += f"a column a metric ({listing(metrics)}) and model ({listing(models)})"
    read = with_roles(options, {"sample": keys.sample, "draw": keys.draw}, wide=True, metric=tuple(metrics))
    read = replace(read, sql=" UNION ALL ".join(rows), **keyed(keys, named, options))  # type: ignore[arg-type]
    return [Reading(said="; ".join([said, *keys.said]), options=read)]


def _crossings(names: list[str]) -> Iterator[_Crossed]:
    """Ways to part all names into a metric and a model, at least two of each and every pair once."""
    for separator, last, metric_first in product(_SEPARATORS, (False, True), (True, False)):
        parts = {name: name.rpartition(separator) if last else name.partition(separator) for name in names}
        found: _Crossed = {}
        for name, (one, _, other) in parts.items():
            found[(one, other) if metric_first else (other, one)] = name
        metrics, models = ({pair[at] for pair in found} for at in (0, 1))
        if len(found) < len(names) or min(len(metrics), len(models)) < 2 or "" in metrics | models:
            continue
        whole = len(found) == len(metrics) * len(models)
        if whole and all(map(names_a_metric, metrics)) and not any(map(names_a_metric, models)):
            yield found
