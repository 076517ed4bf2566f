"""Flat export formats: read the fields that a row of `EXPORTS` names."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import polars as pl

from riskrank.errors import InputError, listing
from riskrank.scores.exports.catalogue import Format
from riskrank.scores.exports.reader import (
    ExportFile,
    Record,
    RowCollector,
    RowReader,
    Rows,
    export_error,
    parse_name,
)
from riskrank.scores.files.contents import head_names
from riskrank.scores.files.parsing import ERROR, UNSCORED

# Levels of nested objects that become fields.
_LEVELS = 5
_TEXTS = ("input_text", "output_text")
Prepare = Callable[[ExportFile, Record], Iterator[Record]]


def flat_reader(name: str, form: Format) -> RowReader:
    """Return the reader of a flat format."""
    return RowReader(
        recognises=lambda path: form.matches(head_names(path)),
        rows=partial(_read, form, _PREPARED.get(name, lambda _file, record: iter([record]))),
        choices=form.choices,
        auxiliary_metrics=form.auxiliary.split(),
        model_per_file=True,
        is_preferred=lambda path: not form.preferred or form.preferred in head_names(path),
        postprocess=_add_reference if name == "alpaca-eval" else lambda rows, _collector: rows,
    )


def _read(form: Format, prepare: Prepare, file: ExportFile) -> Rows:
    """Yield one row per record and metric."""
    records = [record for raw in _records(form, file) for record in prepare(file, raw)]
    fields = dict.fromkeys(
        name for record in records for name, value in record.items() if not isinstance(value, dict)
    )
    matches = {name: re.fullmatch(form.metric, name) for name in fields}
    metrics = {name: match[match.lastindex or 0] for name, match in matches.items() if match}
    if not metrics:
        raise export_error(f"{file.path}: there is no metric", f"fields: {listing(fields, 20) or 'none'}")
    for metric in metrics.values():
        is_lower = metric in form.auxiliary.split() or re.fullmatch(form.lower, metric)
        if is_lower or re.fullmatch(form.higher, metric):
            file.collector.set_direction(metric, "lower" if is_lower else "higher")
        if form.bounds:
            file.collector.bounds[metric] = form.bounds
    is_numbered = form.distinct and not any(_value(record, form.sample) for record in records)
    if is_numbered:
        file.collector.note("there is no sample column: rows are paired by row number")
    counts = Counter[str]()
    for number, record in enumerate(records, start=1):
        sample = f"row {number}" if is_numbered else _join(record, form.sample)
        if not sample:
            raise export_error(f"{record.location} has no '{form.sample}'", f"fields: {listing(record, 12)}")
        counts[sample] += 1
        about: dict[str, Any] = {name: _text(record, getattr(form, name[:-5])) for name in _TEXTS}
        about["model"] = file.model_name(_join(record, form.model))
        about["sample"] = f"{sample} #{counts[sample]}" if form.distinct and counts[sample] > 1 else sample
        for column, name in form.columns.items():
            if name in record or column in form.choices:
                about[column] = record.get_text(name)
        for name, metric in metrics.items():
            if name not in record and name.startswith("value."):
                continue
            row = {"metric": metric, "score": record.get(name), **about}
            reason = record.get(UNSCORED) or (_value(record, form.error.replace("{}", metric)) and ERROR)
            yield row | ({UNSCORED: reason} if reason and row["score"] is None else {})


def _records(form: Format, file: ExportFile) -> Iterator[Record]:
    """Yield the records of a file, with the fields around their lists."""
    metric = re.compile(f"{form.metric}|value")
    for document in file.rows(metric.fullmatch, is_table=form.distinct):
        outer = Record(document.location, _flatten(document))
        paths = [path for path in form.records.split() if outer.get(path) is not None]
        for record in [entry for path in paths for entry in outer.get_records(path)]:
            yield Record(record.location, {**outer, **_flatten(record)})
        if not paths:
            yield outer


def _flatten(value: Mapping[str, Any], levels: int = _LEVELS) -> dict[str, Any]:
    """Return the fields of nested objects by dotted names, next to the objects themselves."""
    flat = dict[str, Any]()
    for key, cell in value.items():
        flat[key] = cell
        items = cell if isinstance(cell, list) else []
        names = [item.get("name") if isinstance(item, dict) else None for item in items]
        if names and all(isinstance(name, str) for name in names):
            cell = dict(zip(names, items, strict=True))
        if isinstance(cell, dict) and levels > 1:
            flat |= {f"{key}.{name}": part for name, part in _flatten(cell, levels - 1).items()}
    return flat


def _value(record: Mapping[str, Any], names: str) -> Any:
    """Return the first of several fields, ``a|b``, that is not empty."""
    return next((record[name] for name in names.split("|") if record.get(name) not in (None, "")), None)


def _join(record: Record, fields: str) -> str:
    """Return the values of some fields as a name on one line; objects are written as JSON."""
    values = [(names, value) for names in fields.split() if (value := _value(record, names)) is not None]
    texts = (
        json.dumps(value, sort_keys=True)
        if isinstance(value, dict | list)
        else parse_name(record.location_of(names), value)
        for names, value in values
    )
    return "/".join(" ".join(text.split()) for text in texts)


def _text(record: Record, fields: str) -> object:
    """Return the text in some fields, or in the first field below one of them."""
    below = {
        names: next((record[name] for name in record if name.startswith(f"{names}.")), None)
        for names in fields.split()
    }
    texts = [text for names, part in below.items() if (text := _value(record, names) or part)]
    return texts[0] if len(texts) == 1 else texts or None


def _prepare_preference(_file: ExportFile, record: Record) -> Iterator[Record]:
    """Convert AlpacaEval's preference to a win rate of the model.

    1 means that the reference wins, 2 that the model wins. A tie is 0 in old files and 1.5 in new ones.
    """
    preference = record.get("preference")
    if isinstance(preference, int | float) and not isinstance(preference, bool):
        if preference and not 1 <= preference <= 2:
            raise InputError(
                f"{record.location} has a preference outside 1 to 2",
                found=f"{preference!r}",
                hint="use 1 if generator_1 wins and 2 if generator_2 wins; check the annotator output",
            )
        preference = preference - 1 if preference else 0.5
    record["win_rate"] = preference
    yield record


def _add_reference(rows: pl.DataFrame, _collector: RowCollector) -> pl.DataFrame:
    """Add the reference of AlpacaEval as the second model, if there is only one."""
    if rows["model"].n_unique() > 1 or rows["reference"].n_unique() > 1:
        return rows
    return pl.concat([rows, rows.with_columns(model="reference", score=1 - pl.col("score"))])


def _prepare_judgment(file: ExportFile, record: Record) -> Iterator[Record]:
    """Complete a judgment of LiveBench.

    Task and category are read from the row, or otherwise from ``<category>/<task>/model_judgment/<file>``.
    """
    folders = file.path.resolve().parts[:-1]
    if len(folders) > 3 and folders[-1] == "model_judgment":
        for key, folder in zip(("category", "task"), folders[-3:-1], strict=True):
            record[key] = record.get_text(key) or folder
    # Older releases write turn 1 into every row, newer ones only if there are several turns.
    record["turn"] = record.get_text("turn") or "1"
    record["later_turn"] = record["turn"] if record["turn"] != "1" else None
    if record.get("score") == -1:
        file.count("score: judgments of -1, which cannot be read")
        record["score"] = None
    yield record


def _prepare_test_case(file: ExportFile, record: Record) -> Iterator[Record]:
    """Infer the direction of DeepEval's metrics from the side of their threshold that passes."""
    for entry in record.get_records("metricsData"):
        score, threshold, success = (entry.get(name) for name in ("score", "threshold", "success"))
        if not isinstance(score, int | float) or not isinstance(threshold, int | float):
            continue
        if score != threshold and isinstance(success, bool) and not entry.get("error"):
            direction = "higher" if (score > threshold) == success else "lower"
            file.set_direction(entry.get_name("name"), direction)
    yield record


# List of a report of SWE-bench → score of its instances, reason of a missing score, and note.
_OUTCOMES: dict[str, tuple[bool | None, str, str]] = {
    "resolved_ids": (True, "", ""),
    "unresolved_ids": (False, "", ""),
    "empty_patch_ids": (False, "", "empty patches, counted as not resolved as in SWE-bench"),
    "error_ids": (None, ERROR, "instances with an error, without a score"),
    "incomplete_ids": (None, "missing prediction", "instances without a prediction, without a score"),
}


def _prepare_report(file: ExportFile, document: Record) -> Iterator[Record]:
    """Yield the instances in a report of SWE-bench.

    A run's model is its file name ``<model>.<run>.json``; an instance's is the folder name in
    ``<model>/<instance>/report.json``.
    """
    if "resolved_ids" not in document:
        folder = file.path.resolve().parent.parent.name.replace("__", "/")
        for sample in [name for name in document if f"{name}.resolved" in document]:
            yield Record(document.location, {"instance_id": sample, "model": folder, **document[sample]})
        return
    rows: dict[str, Record] = {}
    for key, (score, reason, note) in _OUTCOMES.items():
        for value in document.get_list(key):
            sample = parse_name(document.location_of(key), value)
            row = {"instance_id": sample, "model": file.label or file.path.stem, "resolved": score}
            rows.setdefault(sample, Record(document.location, {**row, UNSCORED: reason}))
            if note and rows[sample]["resolved"] == score:
                file.count(f"resolved: {note}")
    for _ in document.get_list("infra_failure_ids"):
        file.count("resolved: probable infrastructure failures, scored as in SWE-bench")
    # A report is grouped by outcome, so its order carries no meaning.
    yield from (rows[sample] for sample in sorted(rows))


def _prepare_trial(file: ExportFile, record: Record) -> Iterator[Record]:
    """Mark trials of Terminal-Bench that were not verified, which have no score."""
    rewards = record.get_record("verifier_result").get_record("rewards")
    if record.get("exception_info"):
        file.count(f"trials that ended in an error, {'with' if rewards else 'without'} a reward")
    if "agent_info" in record and not rewards:
        record["verifier_result.rewards.reward"] = None
    yield Record(record.location, {**record, UNSCORED: ERROR})


def _prepare_span(file: ExportFile, record: Record) -> Iterator[Record]:
    """Yield a root span of Braintrust, which is a test case, and count other spans."""
    if record.get("is_root") is False or record.get("span_id", 0) != record.get("root_span_id", 0):
        file.count("ignored spans within a case")
    else:
        yield record


def _prepare_trace_score(file: ExportFile, record: Record) -> Iterator[Record]:
    """Yield the score of a Langfuse trace or observation as a field named after its metric."""
    if not _value(record, "traceId|trace_id"):
        file.count("ignored scores of sessions and runs")
        return
    kind, score = _value(record, "dataType|data_type"), record.get("value")
    if kind == "CATEGORICAL":
        score = _value(record, "stringValue|string_value")
    record[f"value.{record.get_name('name')}"] = bool(score) if kind == "BOOLEAN" else score
    yield record


_PREPARED: Mapping[str, Prepare] = {
    "alpaca-eval": _prepare_preference,
    "livebench": _prepare_judgment,
    "deepeval": _prepare_test_case,
    "swe-bench": _prepare_report,
    "terminal-bench": _prepare_trial,
    "braintrust": _prepare_span,
    "langfuse": _prepare_trace_score,
}
