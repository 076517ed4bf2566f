"""Rows of one lm-eval sample file, and metrics that are not means over samples."""

import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, listing
from riskrank.scores.exports.reader import (
    ExportFile,
    Record,
    Rows,
    as_score,
    export_error,
    get_nested,
    likeliest_choice,
    type_error,
)
from riskrank.scores.files.guards import PARSE_ERRORS
from riskrank.scores.files.parsing import EMPTY, UNSCORED

# Fields of a row that are never metrics; versions before 0.4.8 do not list the metrics.
_BOOKKEEPING = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "task_name"}
    | {"doc_hash", "prompt_hash", "target_hash", "doc_task_alias"}
)
# Metrics of the harness that are 0 or 1 on each sample.
BINARY_METRICS = frozenset({"acc", "acc_norm", "acc_mutual_info", "acc_bytes", "exact_match"})
# Fields that tasks use for the question; without one the whole document is the input.
_QUESTIONS = ("question", "query", "problem", "prompt", "input", "instruction", "text")
# Column with a document's hash.
HASH = "(hash)"
_NO_NAME = r"^(?:\[.*\]|\{.*\}|true|false|-?[0-9]*\.[0-9.e+-]*)$"
_NO_TEXT = rf"{_NO_NAME}|^-?[0-9]+$"
# An empty response in the raw text of a row.
_EMPTY_RESPONSE = re.compile(rb'"resps": ?\[\[""')
_EMPTY_SCORED = "empty responses, scored as in lm-eval"


def read_uniform_rows(file: ExportFile, model: str, task: str) -> pl.DataFrame | None:
    """Return the scores in a sample file whose rows all have the same numeric metrics; None for other files.

    This is a fast path: Polars rejects everything except numbers and nulls.
    """
    try:
        row = json.loads(file.data.lstrip().partition(b"\n")[0])
        names = row.get("metrics") if isinstance(row, dict) else None
        if not names or not isinstance(names, list) or "filter" not in row or "doc_id" not in row:
            return None
        if not all(isinstance(name, str) and type(row.get(name)) in (int, float) for name in names):
            return None
        text = dict.fromkeys(("doc_id", "doc_hash", "filter"), pl.String)
        schema = text | {"metrics": pl.List(pl.String)} | dict.fromkeys(names, pl.Float64)
        if len(schema) != 4 + len(set(names)):
            return None
        frame = pl.read_ndjson(io.BytesIO(file.data), schema=schema)
    except PARSE_ERRORS:
        return None
    incomplete = [name for name in ("doc_id", "filter", *names) if frame[name].null_count()]
    # Polars converts any value to text in a text column.
    is_mistyped = frame["doc_id"].str.contains(_NO_NAME).any() or frame["filter"].str.contains(_NO_TEXT).any()
    if incomplete or is_mistyped or frame["metrics"].n_unique() != 1:
        return None
    file.count(_EMPTY_SCORED, len(_EMPTY_RESPONSE.findall(file.data)))
    columns = {"model": pl.lit(model), "sample": pl.lit(f"{task}/") + pl.col("doc_id"), "task": pl.lit(task)}
    frame = frame.select("filter", *dict.fromkeys(names), **columns, **{HASH: "doc_hash"}).with_row_index(
        "row"
    )
    index = ["row", *columns, "filter", HASH]
    rows = frame.unpivot(index=index, variable_name="metric", value_name="score")
    is_first_metric = pl.col("metric") == names[0]  # one row per document carries its hash
    rows = rows.with_columns(pl.when(is_first_metric).then(HASH))
    return rows.sort("row", maintain_order=True).drop("row")


def sample_rows(file: ExportFile, model: str, task: str, filters: Names, metrics: Names) -> Rows:
    """Yield the scores in a sample file by document, filter and metric; note metrics that are not means.

    Parameters
    ----------
    file : ExportFile
        File in JSON Lines, or a JSON array whatever the file name.
    model, task : str
    filters : sequence of str
        Filters in row order, for rows that do not name their filter.
    metrics : sequence of str
        Metrics of the results file, for rows that do not list their metrics.
    """
    logged: dict[tuple[str, str], list[object]] = defaultdict(list)
    for row, filter_name in _rows_with_filters(file, filters):
        sample = f"{task}/{row['doc_id']}"
        about: dict[str, Any] = {"model": model, "sample": sample, "task": task, "filter": filter_name}
        if isinstance(row.get("doc_hash"), str):
            about[HASH] = row["doc_hash"]
        if file.collector.needs_texts(sample):
            about |= {"input_text": _input_text(row.get("doc")), "output_text": _output_text(row)}
        values = {metric: row[metric] for metric in _metrics_of(row, metrics)}
        if "brier_score" in values:
            values["brier_score"] = _brier_score(values["brier_score"])
        is_empty = _is_empty(row.get("resps"))
        if is_empty and any(isinstance(as_score(value), float) for value in values.values()):
            file.count(_EMPTY_SCORED)
        for metric, value in values.items():
            if isinstance(value, list):
                logged[filter_name, metric].append(value)
            reason = {UNSCORED: EMPTY} if is_empty and as_score(value) is None else {}
            yield {"metric": metric, "score": value, **about, **reason}
    for (filter_name, metric), listed in logged.items():
        total = aggregate(metric, listed)
        if total is not None:
            label = (
                f"{metric},{filter_name}" if len({filter_name for filter_name, _ in logged}) > 1 else metric
            )
            file.collector.note(
                f"{task}: {label} is {total!r} for {model}, computed from all samples, not as a mean"
            )


def _rows_with_filters(file: ExportFile, filters: Names) -> Iterator[tuple[Record, str]]:
    """Yield each row with its filter.

    Versions before 0.4.5 write all rows of one filter after another, without naming the filter.
    """
    seen: Counter[str] = Counter()
    nameless = 0
    for row in file.records("row"):
        document, name = row.get("doc_id"), row.get("filter")
        if isinstance(document, bool) or not isinstance(document, int | str):
            if file.collector.options.skip_bad:
                file.count(f"{file.path}: ignored rows without a doc_id")
                continue
            raise export_error(f"{row.location} has no doc_id", f"keys {listing(row)}")
        if name is not None and not isinstance(name, str):
            raise type_error(row.location_of("filter"), "a text", name)
        position = seen[str(document)]
        seen[str(document)] += 1
        if name is None:
            name = filters[position] if position < len(filters) else f"filter {position + 1}"
            nameless = max(nameless, position + 1)
        yield row, name
    if nameless > max(1, len(filters)):
        raise InputError(
            f"{file.path}: some rows do not name their filter",
            found=f"a document has {nameless} rows; the run names {len(filters) or 'no'} filters",
            hint="keep results.json in the same folder: it lists the filters",
        )


def _is_empty(responses: object) -> bool:
    """Return whether all responses of a model are empty."""
    return (
        isinstance(responses, list)
        and bool(responses)
        and all(
            isinstance(response, list) and bool(response) and all(text == "" for text in response)
            for response in responses
        )
    )


def _metrics_of(row: Record, reported: Names) -> list[str]:
    """Return the metrics of a row: those it lists, those of the results file, or all remaining fields."""
    if row.get("metrics") is not None:
        listed = row.get_list("metrics")
        if not all(isinstance(name, str) for name in listed):
            raise type_error(row.location_of("metrics"), "a list of names", listed)
        return [name for name in dict.fromkeys(listed) if name in row]
    present = [name for name in row if name not in _BOOKKEEPING]
    return [name for name in present if name in reported] if reported else present


def _brier_score(value: object) -> object:
    """Return the squared distance between predicted probabilities and the one-hot encoded correct class.

    The logged value contains the index of the correct class and the probabilities, as printed by NumPy.
    Values in any other form are returned unchanged.
    """
    if not isinstance(value, list) or len(value) != 2 or type(value[0]) is not int:
        return value
    gold, text = value
    try:
        probabilities = [
            float(probability)
            for probability in (text.strip("[] ").split() if isinstance(text, str) else text)
        ]
    except (TypeError, ValueError):
        return value
    if not 0 <= gold < len(probabilities):
        return value
    return sum((probability - (index == gold)) ** 2 for index, probability in enumerate(probabilities))


Pairs = Sequence[tuple[float, float]]


def aggregate(metric: str, values: Sequence[object]) -> float | None:
    """Compute a corpus-level metric from the logged values of all samples, as lm-eval does.

    Parameters
    ----------
    metric : str
    values : sequence
        One per sample: ``[gold, prediction]`` for ``mcc``, ``[log-likelihood, weight]`` for perplexities.

    Returns
    -------
    float or None
        None if the metric is a mean over samples, or the values have another form.
    """
    function = _AGGREGATES.get(metric)
    if function is None or not values or not all(map(_is_pair, values)):
        return None
    try:
        total = function(values)  # type: ignore[arg-type]  # each is a pair
    except (OverflowError, ZeroDivisionError):
        return None
    return total if math.isfinite(total) else None


def _is_pair(value: object) -> bool:
    """Return whether a value is a list of two numbers."""
    return isinstance(value, list) and [type(item) in (int, float) for item in value] == [True, True]


def matthews_correlation(pairs: Pairs) -> float:
    """Return the Matthews correlation coefficient of classes and predictions; 0 if either is constant."""
    n = len(pairs)
    n_correct = sum(gold == predicted for gold, predicted in pairs)
    gold = Counter(first for first, _ in pairs)
    predicted = Counter(second for _, second in pairs)
    agreement = n_correct * n - sum(gold[name] * predicted[name] for name in gold)
    gold_spread = n**2 - sum(count**2 for count in gold.values())
    predicted_spread = n**2 - sum(count**2 for count in predicted.values())
    return agreement / math.sqrt(gold_spread * predicted_spread) if gold_spread and predicted_spread else 0.0


def mean_negative_log_likelihood(pairs: Pairs) -> float:
    """Return the mean negative log-likelihood per word or byte, in nats.

    It is the sum of the negative log-likelihoods divided by the sum of the weights.
    """
    return -math.fsum(log_likelihood for log_likelihood, _ in pairs) / math.fsum(
        weight for _, weight in pairs
    )


_AGGREGATES: dict[str, Callable[[Pairs], float]] = {
    "mcc": matthews_correlation,
    "word_perplexity": lambda pairs: math.exp(mean_negative_log_likelihood(pairs)),
    "byte_perplexity": lambda pairs: math.exp(mean_negative_log_likelihood(pairs)),
    "bits_per_byte": lambda pairs: mean_negative_log_likelihood(pairs) / math.log(2),
}


def _input_text(document: object) -> object:
    """Return the question in a document, or the whole document if it has no such field."""
    fields: Mapping[str, Any] = document if isinstance(document, dict) else {}
    return next((fields[name] for name in _QUESTIONS if isinstance(fields.get(name), str)), document)


def _output_text(row: Mapping[str, Any]) -> object:
    """Return the filtered response of a model, or the likeliest choice.

    If the row does not name its filter, return the raw responses.
    """
    filter_name, filtered = row.get("filter"), row.get("filtered_resps")
    responses = row.get("resps") if filter_name is None or filtered is None else filtered
    listed = responses if isinstance(responses, list) else []
    # Choices are logged as pairs: log-likelihood, and whether greedy decoding yields the choice.
    flat = [
        response[0] if filter_name is None and isinstance(response, list) and len(response) == 1 else response
        for response in listed
    ]
    if len(flat) > 1 and all(isinstance(response, list) and len(response) == 2 for response in flat):
        return (
            likeliest_choice([response[0] for response in flat], get_nested(row, "doc", "choices"))
            or responses
        )
    return responses
