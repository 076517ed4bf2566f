"""Flat export formats: read the fields that a row of `EXPORTS` names."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import polars as pl

from riskrank.engine.portfolio.judge_votes import normalise_vote
from riskrank.errors import InputError, listing, option
from riskrank.scores.exports import reader
from riskrank.scores.exports.catalogue import Format
from riskrank.scores.files.contents import head_names
from riskrank.scores.files.json_tables import is_number
from riskrank.scores.files.parsing import ERROR, UNSCORED

# Levels of nested objects that become fields.
_LEVELS = 5
Prepare = Callable[[reader.ExportFile, reader.Record], Iterator[reader.Record]]


def flat_reader(name: str, form: Format) -> dict[str, Any]:
    """Return the functions that read a flat format: ``read`` and, for some formats, ``finish``.

    They are those that a module for the format would define.

    Parameters
    ----------
    name : str
        Name of the format.
    form : Format
        Fields of the format, from the table of formats.
    """
    read = {"read": partial(_read, form, _PREPARED.get(name, lambda _, record: iter([record])))}
    return read | ({"finish": _FINISHED[name]} if name in _FINISHED else {})


def _read(form: Format, prepare: Prepare, file: reader.ExportFile) -> reader.Rows:
    """Yield one row, as a dictionary, for each record and metric of a file in a flat format.

    Parameters
    ----------
    form : Format
    prepare : callable
        Converts each record of the file to the records to read.
    file : reader.ExportFile

    Raises
    ------
    InputError
        If the file contains only averages, no metric, or a record without a sample.
    """
    if form.averages:
        problem = f"{file.path}: averages without the scores of samples cannot be tested"
        detail = f"fields: {listing(head_names(file.path)[:-1], 6)}"
        raise InputError(problem, found=detail, hint=form.averages)
    records = [record for raw in _records(form, file) for record in prepare(file, raw)]
    fields = dict.fromkeys(
        name for record in records for name, value in record.items() if not isinstance(value, dict)
    )
    matches = {name: re.fullmatch(form.metric, name) for name in fields}
    metrics = {name: match[match.lastindex or 0] for name, match in matches.items() if match}
    if not metrics:
        detail = f"fields: {listing(fields, 20) or 'none'}"
        raise reader.export_error(f"{file.path}: there is no metric", detail)
    further = [name for name in fields if name not in metrics]
    numeric = [name for name in further if any(is_number(record.get(name)) for record in records)]
    if form.distinct and numeric:
        file.note(f"ignored numeric columns: {listing(numeric)}")
    is_numbered = form.distinct and not any(_first_value(record, form.sample) for record in records)
    if is_numbered:
        file.collector.note("there is no sample column: rows are paired by row number")
    counts = Counter[str]()
    for number, record in enumerate(records, start=1):
        sample = f"row {number}" if is_numbered else _join_fields(record, form.sample)
        if not sample:
            problem = f"{record.location} has no '{form.sample}'"
            raise reader.export_error(problem, f"fields: {listing(record)}")
        counts[sample] += 1
        about: dict[str, Any] = {"input_text": _field_text(record, form.input)}
        about["output_text"] = _field_text(record, form.output)
        model = _join_fields(record, form.model) or file.label or _join_fields(record, form.run)
        about["model"] = file.model_name(model)
        about["sample"] = f"{sample} #{counts[sample]}" if form.distinct and counts[sample] > 1 else sample
        for column, name in form.columns.items():
            if name in record or column in form.choices:
                about[column] = record.get_text(name)
        for name, metric in metrics.items():
            # A prepared record has one metric. In other formats, an absent metric is a missing score.
            if name not in record and name.startswith(("value.", "win_rate")):
                continue
            row = {"metric": metric, "score": record.get(name), **about}
            error = _first_value(record, form.error.replace("{}", metric))
            reason = record.get(UNSCORED) or (error and ERROR)
            yield row | ({UNSCORED: reason} if reason and row["score"] is None else {})


def _records(form: Format, file: reader.ExportFile) -> Iterator[reader.Record]:
    """Yield the records of a file, each with the fields of the JSON objects around it.

    `form` names the fields with lists of records.
    """
    metric = re.compile(f"{form.metric}|value")
    for document in file.rows(metric.fullmatch, is_table=form.distinct):
        outer = reader.Record(document.location, _flatten(document))
        paths = [path for path in form.records.split() if outer.get(path) is not None]
        for record in [entry for path in paths for entry in outer.get_records(path)]:
            yield reader.Record(record.location, {**outer, **_flatten(record)})
        yield from () if paths else (outer,)


def _flatten(value: Mapping[str, Any], levels: int = _LEVELS) -> dict[str, Any]:
    """Return a copy of a JSON object in which nested fields also have dotted names, such as ``scores.f1``.

    Fields are included up to a depth of `levels`.
    """
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


def _first_value(record: Mapping[str, Any], names: str) -> Any:
    """Return the first non-empty value of a record among alternative field names, or None.

    `names` separates them by ``|``.
    """
    return next((record[name] for name in names.split("|") if record.get(name) not in (None, "")), None)


def _join_fields(record: reader.Record, fields: str) -> str:
    """Join the values of several fields to a name, separated by slashes.

    `fields` separates the fields by spaces, and alternative names by ``|``. Objects are written as JSON.
    """
    texts = []
    for names in fields.split():
        value = _first_value(record, names)
        if isinstance(value, dict | list):
            texts.append(json.dumps(value, sort_keys=True))
        elif value is not None:
            texts.append(reader.parse_name(record.location_of(names), value))
    return "/".join(" ".join(text.split()) for text in texts)


def _field_text(record: reader.Record, fields: str) -> object:
    """Return the text of the given fields, a list if several have text, or None.

    `fields` separates the fields by spaces, and alternative names by ``|``.
    """
    texts = []
    for names in fields.split():
        value = _first_value(record, names)
        below = [record[name] for name in record if name.startswith(f"{names}.")]
        texts += [text for text in (below[0] if below and len(below) < 2 else value or below[:1],) if text]
    return texts[0] if len(texts) == 1 else texts or None


def _prepare_preference(_file: reader.ExportFile, record: reader.Record) -> Iterator[reader.Record]:
    """Convert an AlpacaEval preference (1 for the reference, 2 for the model) to a win rate."""
    preference = record.get("preference")
    if isinstance(preference, int | float) and not isinstance(preference, bool):
        if preference and not 1 <= preference <= 2:
            problem = f"{record.location} has a preference that is not between 1 and 2"
            hint = "use 1 if generator_1 wins and 2 if generator_2 wins; check the annotator output"
            raise InputError(problem, found=f"{preference!r}", hint=hint)
        preference = preference - 1 if preference else 0.5
    record["win_rate"] = preference
    yield record


def _add_reference(rows: pl.DataFrame, _collector: reader.RowCollector) -> pl.DataFrame:
    """Add rows of the AlpacaEval reference as a second model if the file contains only one model.

    Their score is 1 minus that of the model.
    """
    if rows["model"].n_unique() > 1 or rows["reference"].n_unique() > 1:
        return rows
    return pl.concat([rows, rows.with_columns(model="reference", score=1 - pl.col("score"))])


# Field names of FastChat, then of its forks.
_FIRST, _SECOND = "model_1|model1_id|model_a|model1", "model_2|model2_id|model_b|model2"
_VALUES = {"a": 1.0, "b": 0.0, "both-good": 0.5, "both-bad": 0.5, "tie": 0.5}


def _prepare_verdict(file: reader.ExportFile, record: reader.Record) -> Iterator[reader.Record]:
    """Yield an MT-Bench rating, or two records for a pairwise judgment, one per model.

    As in FastChat, a model wins a pair if it wins in both orders; otherwise the pair is a tie and counts ½.
    """
    judge = record.get("judge")
    record["judge"], prompt = judge if isinstance(judge, list) and len(judge) == 2 else (judge, "")
    record["prompt"] = reader.parse_name(f"{record.location}, judge's prompt", prompt, default="")
    # Old forks do not store the turn, but the judge's prompt for a second turn is called "multi-turn".
    record["turn"] = record.get_text("turn") or ("2" if "multi-turn" in record["prompt"] else "1")
    first, second = (_join_fields(record, names) for names in (_FIRST, _SECOND))
    games = [record.get_text(key) for key in ("g1_winner", "g2_winner", "winner") if key in record]
    if not games or not first:
        yield from _read_rating(file, record)
        return
    if any(game.casefold() in ("", "error", "none", "null") for game in games):
        file.count("win_rate: ignored pairs in which a game has no winner")
        return
    wins = dict.fromkeys((first, *_FIRST.split("|")), 1.0) | dict.fromkeys((second, *_SECOND.split("|")), 0.0)
    location = record.location
    results = {wins[g] if g in wins else _VALUES[normalise_vote(g, location=location)] for g in games}
    score = results.pop() if len(results) == 1 else 0.5
    for model, opponent, rate in ((first, second, score), (second, first, 1 - score)):
        yield reader.Record(location, {**record, "model": model, "win_rate": rate, "opponent": opponent})


def _read_rating(file: reader.ExportFile, record: reader.Record) -> Iterator[reader.Record]:
    """Yield a record with its rating. A rating of −1, which could not be parsed, becomes missing."""
    if record.get("score") == -1:
        file.count("score: judgments of -1, which cannot be read")
        record["score"] = None
    yield reader.Record(record.location, {**record, "value.score": record.get("score")})


def _mean_over_opponents(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Average the MT-Bench win rates in the rows over the opponents of each model on each sample.

    Repeated games against the same opponent become repeats of the sample. `collector` receives a note if
    pairs of models have no judgments.
    """
    if "opponent" not in rows.columns:
        return rows
    pairs = rows.filter(pl.col("opponent").is_not_null())
    repeat = pl.int_range(1, pl.len() + 1).over("model", "sample", "metric", "opponent")
    columns = ["model", "sample", "metric", "question", "turn", "judge"]
    games = pairs.with_columns(repeat=repeat).group_by(*columns, "repeat", maintain_order=True)
    means = games.agg(pl.col("score").mean(), pl.col("prompt").first())
    n_pairs = pairs.select("model", "opponent").n_unique()
    models = pairs["model"].n_unique()
    if n_pairs < models * (models - 1):
        message = f"{n_pairs // 2:,} of {models * (models - 1) // 2:,} pairs of models have judgments"
        collector.note(f"win_rate: {message}; the win rate of a model depends on its opponents")
    ratings = rows.filter(pl.col("opponent").is_null()).drop("opponent", reader.FILE)
    return pl.concat([ratings, means.drop("repeat")], how="diagonal")


def _prepare_judgment(file: reader.ExportFile, record: reader.Record) -> Iterator[reader.Record]:
    """Yield a LiveBench judgment with its turn as a field, and with category and task taken from its path."""
    folders = file.path.resolve().parts[:-1]
    if len(folders) > 3 and folders[-1] == "model_judgment":
        for key, folder in zip(("category", "task"), folders[-3:-1], strict=True):
            record[key] = record.get_text(key) or folder
    # Older releases write turn 1 into every row, newer ones only if there are several turns.
    record["turn"] = record.get_text("turn") or "1"
    record["later_turn"] = record["turn"] if record["turn"] != "1" else None
    yield from _read_rating(file, record)


def _prepare_test_case(file: reader.ExportFile, record: reader.Record) -> Iterator[reader.Record]:
    """Yield a DeepEval test case.

    The side of the threshold that passes determines the direction of each metric.
    """
    for entry in record.get_records("metricsData"):
        score, threshold, success = (entry.get(name) for name in ("score", "threshold", "success"))
        if not isinstance(score, int | float) or not isinstance(threshold, int | float):
            continue
        if score != threshold and isinstance(success, bool) and not entry.get("error"):
            direction = "higher" if (score > threshold) == success else "lower"
            file.set_direction(entry.get_name("name"), direction)
    yield record


# List in a SWE-bench report → score of its instances, reason for a missing score, and note.
_OUTCOMES: dict[str, tuple[bool | None, str, str]] = {
    "resolved_ids": (True, "", ""),
    "unresolved_ids": (False, "", ""),
    "empty_patch_ids": (False, "", "empty patches, counted as not resolved as in SWE-bench"),
    "error_ids": (None, ERROR, "instances with an error, without a score"),
    "incomplete_ids": (None, "missing prediction", "instances without a prediction, without a score"),
}


def _prepare_report(file: reader.ExportFile, document: reader.Record) -> Iterator[reader.Record]:
    """Yield one record per instance of a SWE-bench report, which is one JSON document.

    The model is named by the file ``<model>.<run>.json`` or the folder in ``<model>/<instance>/report.json``.
    """
    if "no_generation" in document:
        folder = file.path.resolve().parent
        name = file.label or (folder.parent if folder.name == "results" else folder).name
        solved = document.get_list("resolved")
        for value in [*solved, *document.get_list("no_generation"), *document.get_list("no_logs")]:
            sample = reader.parse_name(document.location_of("resolved"), value)
            row = {"instance_id": sample, "model": name, "resolved": value in solved, "listed": "some"}
            yield reader.Record(document.location, row)
        return
    if "resolved_ids" not in document:
        name = file.path.resolve().parent.parent.name.replace("__", "/")
        for sample in [name for name in document if f"{name}.resolved" in document]:
            yield reader.Record(document.location, {"instance_id": sample, "model": name, **document[sample]})
        return
    rows: dict[str, reader.Record] = {}
    for key, (score, reason, note) in _OUTCOMES.items():
        for value in document.get_list(key):
            sample = reader.parse_name(document.location_of(key), value)
            row = {"instance_id": sample, "model": file.label or file.path.stem, "resolved": score}
            rows.setdefault(sample, reader.Record(document.location, {**row, UNSCORED: reason}))
            if note and rows[sample]["resolved"] == score:
                file.count(f"resolved: {note}")
    for _ in document.get_list("infra_failure_ids"):
        file.count("resolved: probable infrastructure failures, scored as in SWE-bench")
    # A report is grouped by outcome, so its order carries no meaning.
    yield from (rows[sample] for sample in sorted(rows))


def _add_unlisted(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Add rows of SWE-bench instances that a submission does not list, scored as not resolved.

    `collector` receives a note.
    """
    if "listed" not in rows.columns:
        return rows
    partial_models = rows.filter(pl.col("listed") == "some").select("model", "metric", reader.FILE).unique()
    keys = partial_models.join(rows.select("sample").unique(), how="cross")
    unlisted = keys.join(rows, on=["model", "sample"], how="anti").sort(reader.FILE, "model", "sample")
    if unlisted.height:
        collector.note("instances that a submission does not list are counted as not resolved")
    return pl.concat([rows, unlisted.with_columns(score=0.0)], how="diagonal").drop("listed")


def _prepare_trial(file: reader.ExportFile, record: reader.Record) -> Iterator[reader.Record]:
    """Yield a Terminal-Bench trial; its score is missing if the trial was not verified."""
    rewards = record.get_record("verifier_result").get_record("rewards")
    if record.get("exception_info"):
        file.count(f"trials that ended in an error, {'with' if rewards else 'without'} a reward")
    if "agent_info" in record and not rewards:
        record["verifier_result.rewards.reward"] = None
    yield reader.Record(record.location, {**record, UNSCORED: ERROR})


def _prepare_span(file: reader.ExportFile, record: reader.Record) -> Iterator[reader.Record]:
    """Yield a Braintrust span that is a test case (a root span); only count other spans."""
    if record.get("is_root") is False or record.get("span_id", 0) != record.get("root_span_id", 0):
        file.count("ignored spans inside test cases")
    else:
        yield record


def _prepare_trace_score(file: reader.ExportFile, record: reader.Record) -> Iterator[reader.Record]:
    """Yield a Langfuse score in a field named after its metric.

    A run item, which links a trace to its run and dataset item, is yielded as `_ITEM`.
    """
    if not _first_value(record, "traceId|trace_id"):
        file.count("ignored scores of sessions and runs")
        return
    if item := _first_value(record, "datasetItemId|dataset_item_id"):
        run = _first_value(record, "datasetRunName|dataset_run_name|name")
        yield reader.Record(record.location, {**record, f"value.{_ITEM}": 0, "item_id": item, "run": run})
        return
    kind, score = _first_value(record, "dataType|data_type"), record.get("value")
    if kind:  # the name is that of the metric, not of a run
        if not (file.label or file.collector.options.model_from_path):
            problem = f"{file.path}: the scores do not name their runs"
            raise InputError(problem, found="scores of traces", hint=_RUN_ITEMS)
        record = reader.Record(record.location, {**record, "name": None, "metric": record.get_name("name")})
    if kind == "CATEGORICAL":
        score = _first_value(record, "stringValue|string_value")
    if kind:
        record[f"value.{record['metric']}"] = bool(score) if kind == "BOOLEAN" else score
    yield record


# Metric of the rows that name the dataset item of a trace.
_ITEM = "(item)"
_RUN_ITEMS = "add the files with the run items, which link each trace to its run and dataset item"


def _join_items(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Name samples after the Langfuse dataset items of their traces, and models after their runs.

    Parameters
    ----------
    rows : DataFrame
        Scores of traces, and rows with the metric `_ITEM` that link a trace to its run and item.
    collector : reader.RowCollector
        Receives the number of excluded scores.

    Raises
    ------
    InputError
        If there are only links or, without links, the runs have no samples in common.
    """
    items = rows.filter(pl.col("metric") == _ITEM)
    rows = rows.filter(pl.col("metric") != _ITEM)
    if not items.height:
        runs = rows.select("model", "sample").unique()
        is_separate = runs["model"].n_unique() > 1 and runs["sample"].is_unique().all()
        if is_separate and not collector.options.unpaired:
            path = collector.path_of(0)
            problem = f"{path}: no trace occurs in two runs, so the runs have no samples in common"
            hint = f"{_RUN_ITEMS}; or {option('unpaired', True)} compares models with different samples"
            raise InputError(problem, found=f"{runs.height:,} traces, and no run items", hint=hint)
        return rows.drop("item", "run", strict=False)
    if not rows.height:
        problem = f"{collector.path_of(0)}: items of a dataset run have no scores"
        hint = "export the scores as well, and name both files: riskrank rank scores.csv run_items.json"
        raise InputError(problem, found=f"{items.height:,} run items", hint=hint)
    run = pl.coalesce(pl.col("run").replace("", None), "model") if "run" in items.columns else pl.col("model")
    items = items.select(run.alias("run_name"), trace="sample", item_name="item")
    rows = rows.drop("item", "run", strict=False)
    rows = rows.with_columns(trace=pl.col("sample").str.split("/").list.first())
    named = rows.join(items.unique("trace", maintain_order=True), on="trace", how="inner")
    collector.count("ignored scores of traces without a run item", rows.height - named.height)
    return named.with_columns(model="run_name", sample="item_name").drop("trace", "run_name", "item_name")


_PREPARED: Mapping[str, Prepare] = {
    "alpaca-eval": _prepare_preference,
    "mt-bench": _prepare_verdict,
    "livebench": _prepare_judgment,
    "deepeval": _prepare_test_case,
    "swe-bench": _prepare_report,
    "terminal-bench": _prepare_trial,
    "braintrust": _prepare_span,
    "langfuse": _prepare_trace_score,
}
_FINISHED: Mapping[str, Callable[[pl.DataFrame, reader.RowCollector], pl.DataFrame]] = {
    "alpaca-eval": _add_reference,
    "mt-bench": _mean_over_opponents,
    "swe-bench": _add_unlisted,
    "langfuse": _join_items,
}
