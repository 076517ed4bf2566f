"""The rows of one lm-eval sample file, by Polars where they are plain; and metrics that are no means."""

import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars as pl

from riskrank.errors import InputError
from riskrank.scores.exports.fields import Record, broken, wrong_type
from riskrank.scores.exports.gathering import Gathering
from riskrank.scores.files.parsing import EMPTY, UNSCORED

# Keys of a row that are never metrics; versions before 0.4.8 do not say which keys are.
_BOOKKEEPING = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "task_name"}
    | {"doc_hash", "prompt_hash", "target_hash", "doc_task_alias"}
)
# Metrics of the harness itself that are 0 or 1 on a sample.
_TRUTHS = frozenset({"acc", "acc_norm", "acc_mutual_info", "acc_bytes", "exact_match"})
_NO_NAME = r"^(?:\[.*\]|\{.*\}|true|false|-?[0-9]*\.[0-9.e+-]*)$"
_NO_TEXT = rf"{_NO_NAME}|^-?[0-9]+$"
SCHEMA = {"doc": pl.String, "hash": pl.UInt64, "filter": pl.String, "metric": pl.String, "score": pl.Float64}
# An answer of nothing, as the harness writes it, of a row that is not looked at as an object.
_NOTHING = re.compile(rb'"resps": ?\[\[""')
_EMPTY_SCORED = "empty responses, whose score counts as in lm-eval"


def frame_of(
    path: Path,
    data: bytes,
    gathering: Gathering,
    *,
    filters: Sequence[str],
    metrics: Sequence[str],
    aggregates: dict[tuple[str, str], float],
) -> pl.DataFrame:
    """Scores of a sample file, one row a document, filter and metric.

    Parameters
    ----------
    path : Path
    data : bytes
        JSON lines, or an array of objects whatever the file is called.
    gathering : Gathering
        Counts what is no score.
    filters : sequence of str
        For rows that do not name their filter: the filters in the order of the rows.
    metrics : sequence of str
        Metrics of the results file, for rows that do not list theirs.
    aggregates : dict
        Gets the metrics that are no means of samples, by filter and metric.

    Returns
    -------
    DataFrame
        Columns ``doc``, ``hash`` (of the document, null where it has none), ``filter``, ``metric``,
        ``score``, and where a row tells it why it has none.
    """
    plain = None if data.lstrip()[:1] == b"[" else _at_once(data, gathering)
    if plain is not None:
        return plain
    return _one_by_one(path, gathering.records(path, data, "row"), gathering, filters, metrics, aggregates)


def bounds_of(metrics: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Bounds of metrics, perhaps called ``metric,filter``, that the harness defines as 0 or 1."""
    return {name: (0.0, 1.0) for name in metrics if name.partition(",")[0] in _TRUTHS}


def _at_once(data: bytes, gathering: Gathering) -> pl.DataFrame | None:
    """Read rows that all have the same numeric metrics; None for any others.

    Polars refuses whatever is no number, so nothing but numbers and nulls comes through here.
    """
    try:
        row = json.loads(data.lstrip().partition(b"\n")[0])
        names = row.get("metrics") if isinstance(row, dict) else None
        if not names or not isinstance(names, list) or "filter" not in row or "doc_id" not in row:
            return None
        if not all(isinstance(name, str) and type(row.get(name)) in (int, float) for name in names):
            return None
        text = dict.fromkeys(("doc_id", "doc_hash", "filter"), pl.String)
        schema = text | {"metrics": pl.List(pl.String)} | dict.fromkeys(names, pl.Float64)
        if len(schema) != 4 + len(set(names)):
            return None
        frame = pl.read_ndjson(io.BytesIO(data), schema=schema)
    except (ValueError, RecursionError, pl.exceptions.PolarsError, OSError):
        return None
    gaps = [name for name in ("doc_id", "filter", *names) if frame[name].null_count()]
    # Polars writes whatever it finds as text where it is told to expect text.
    strange = frame["doc_id"].str.contains(_NO_NAME).any() or frame["filter"].str.contains(_NO_TEXT).any()
    if gaps or strange or frame["metrics"].n_unique() != 1:
        return None
    gathering.count(_EMPTY_SCORED, len(_NOTHING.findall(data)))
    hashes = pl.col("doc_hash").hash()
    frame = frame.select("filter", *dict.fromkeys(names), doc=pl.col("doc_id"), hash=hashes)
    return frame.unpivot(index=["doc", "hash", "filter"], variable_name="metric", value_name="score")


def _one_by_one(
    path: Path,
    rows: Iterable[Record],
    gathering: Gathering,
    filters: Sequence[str],
    metrics: Sequence[str],
    aggregates: dict[tuple[str, str], float],
) -> pl.DataFrame:
    logged: dict[tuple[str, str], list[object]] = defaultdict(list)
    found: list[tuple[str, str | None, str | None, str, float | None, str | None]] = []
    seen: Counter[str] = Counter()
    nameless = 0
    for row in rows:
        document = row.get("doc_id")
        if isinstance(document, bool) or not isinstance(document, int | str):
            if gathering.rules.skip_bad:
                gathering.count(f"{path}: rows without a doc_id, left out")
                continue
            raise broken(f"{row.place} has no doc_id", f"keys {', '.join(list(row)[:8]) or 'none'}")
        doc, hashed = str(document), row.get("doc_hash")
        name = row.get("filter")
        if name is not None and not isinstance(name, str):
            raise wrong_type(row.at("filter"), "a text", name)
        if name is None:
            # Before 0.4.5 rows come filter after filter and do not say which.
            place = seen[doc]
            name = filters[place] if place < len(filters) else f"filter {place + 1}"
            nameless = max(nameless, place + 1)
        seen[doc] += 1
        first = len(found)
        for metric in _metrics_of(row, metrics):
            value = _brier(row[metric]) if metric == "brier_score" else row[metric]
            if isinstance(value, list):
                logged[name, metric].append(value)
            for part, score in gathering.scores(metric, value):
                found.append((doc, hashed if isinstance(hashed, str) else None, name, part, score, None))
        if _is_empty(row.get("resps")):
            gathering.count(_EMPTY_SCORED, any(one[4] is not None for one in found[first:]))
            found[first:] = [(*one[:5], EMPTY if one[4] is None else None) for one in found[first:]]
    if nameless > max(1, len(filters)):
        raise InputError(
            f"{path}: rows that do not say which filter they are of",
            found=f"a document has {nameless} rows; the run names {len(filters) or 'no'} filters",
            hint="keep results.json beside the file: it lists the filters",
        )
    totals = {(name, metric): aggregate(metric, values) for (name, metric), values in logged.items()}
    aggregates |= {key: total for key, total in totals.items() if total is not None}
    schema = SCHEMA | {"hash": pl.String, UNSCORED: pl.String}
    named = [dict(zip(schema, row, strict=True)) for row in found]
    frame = gathering.framed(named, schema, lambda _: str(path))
    frame = frame if frame[UNSCORED].count() else frame.drop(UNSCORED)
    hashed_doc = pl.when(pl.col("hash").is_null()).then(None).otherwise(pl.col("hash").hash())
    return frame.with_columns(hash=hashed_doc)


def _is_empty(responses: object) -> bool:
    """Whether a model answered nothing at all."""
    return (
        isinstance(responses, list)
        and bool(responses)
        and all(isinstance(one, list) and bool(one) and all(text == "" for text in one) for one in responses)
    )


def _metrics_of(row: Record, known: Sequence[str]) -> list[str]:
    """Metrics of a row: as it lists them, else as the results file does, else whatever is no bookkeeping."""
    if row.get("metrics") is not None:
        listed = row.listed("metrics")
        if not all(isinstance(name, str) for name in listed):
            raise wrong_type(row.at("metrics"), "a list of names", listed)
        return [name for name in dict.fromkeys(listed) if name in row]
    present = [name for name in row if name not in _BOOKKEEPING]
    return [name for name in present if name in known] if known else present


def _brier(value: object) -> object:
    """Squared distance of the probabilities from the right answer, of which the metric is the mean.

    The log holds the right answer's index and the probabilities, these as NumPy prints them.
    """
    if not isinstance(value, list) or len(value) != 2 or type(value[0]) is not int:
        return value
    gold, text = value
    try:
        shares = [float(share) for share in (text.strip("[] ").split() if isinstance(text, str) else text)]
    except (TypeError, ValueError):
        return value
    if not 0 <= gold < len(shares):
        return value
    return sum((share - (place == gold)) ** 2 for place, share in enumerate(shares))


Pairs = Sequence[tuple[float, float]]


def aggregate(metric: str, values: Sequence[object]) -> float | None:
    """A metric over all samples, as lm-eval computes it from what they log.

    Parameters
    ----------
    metric : str
    values : sequence
        Of the samples: ``[gold, prediction]`` for ``mcc``, ``[log-likelihood, weight]`` for perplexities.

    Returns
    -------
    float or None
        None for a metric that is a mean, and for values of another form.
    """
    of = _AGGREGATES.get(metric)
    if of is None or not values:
        return None
    pairs = []
    for value in values:
        if not isinstance(value, list) or len(value) != 2:
            return None
        first, second = value
        if type(first) not in (int, float) or type(second) not in (int, float):
            return None
        pairs.append((first, second))
    try:
        found = of(pairs)
    except (OverflowError, ZeroDivisionError):
        return None
    return found if math.isfinite(found) else None


def matthews(pairs: Pairs) -> float:
    """Matthews' correlation of classes and predictions, of two classes or more; 0 where one never varies."""
    number = len(pairs)
    right = sum(gold == predicted for gold, predicted in pairs)
    gold = Counter(first for first, _ in pairs)
    predicted = Counter(second for _, second in pairs)
    agreement = right * number - sum(gold[name] * predicted[name] for name in gold)
    spread = number**2 - sum(count**2 for count in gold.values())
    other = number**2 - sum(count**2 for count in predicted.values())
    return agreement / math.sqrt(spread * other) if spread and other else 0.0


def nats(pairs: Pairs) -> float:
    """Negative log-likelihood a word or byte, in nats: all samples' over all samples' weights."""
    return -math.fsum(first for first, _ in pairs) / math.fsum(weight for _, weight in pairs)


_AGGREGATES: dict[str, Callable[[Pairs], float]] = {
    "mcc": matthews,
    "word_perplexity": lambda pairs: math.exp(nats(pairs)),
    "byte_perplexity": lambda pairs: math.exp(nats(pairs)),
    "bits_per_byte": lambda pairs: nats(pairs) / math.log(2),
}
