"""Inspect: ``.eval`` archives with any compression, and ``.json`` logs.

Every scorer is a metric; if its value is an object, every key is a metric (``scorer.key``). Epochs are
repeats of a sample, so the user chooses how to combine them. Short metadata of samples become columns.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import polars as pl

from riskrank.errors import InputError, counted, listing, option
from riskrank.scores.exports import reader
from riskrank.scores.exports.selection import ALL, select_by_task
from riskrank.scores.files.contents import ZipMembers, first_bytes
from riskrank.scores.files.parsing import ERROR, LIMIT, REFUSAL, UNSCORED, plain_text, preview
from riskrank.scores.names.vocabulary import DEFAULT_ROLE_NAMES

# Versions of a log: 1 has one score per sample, 2 has scores by scorer. The oldest logs have no version.
_VERSIONS = (None, 1, 2)
_ZIP = b"PK\x03\x04"
_FIRST_MEMBERS = (b"header.json", b"_journal/start.json")
# Column names with another meaning, which metadata must not use.
_RESERVED_NAMES = {*DEFAULT_ROLE_NAMES, UNSCORED, "cluster", "value", "task", "self"}
_RESERVED_NAMES |= {"input_text", "output_text", "already_counted"}
_LONGEST_METADATA = 200
# Largest sample, in bytes, that is read only for its texts.
_LONGEST_SAMPLE = 1 << 24
# An id may contain slashes and "epoch", so only the end of a member's name is certain.
_SAMPLE = re.compile(r"^samples/.+_epoch_\d+(?:\.json|/sample\.json)$")
_JOURNAL = re.compile(r"^_journal/summaries/(\d+)\.json$")
_SKIP_HINT = f"{option('skip_bad', True)} ignores such files"
_SCORER, _ARGUMENTS = "(scorer)", "(arguments)"


def recognises(path: Path) -> bool:
    """Return whether a file is an Inspect log."""
    if path.suffix not in (".eval", ".json"):
        return False
    head = first_bytes(path)
    if head[:4] == _ZIP:
        return path.suffix == ".eval" or head[30:60].startswith(_FIRST_MEMBERS)
    described = b'"eval"' in head and b'"task"' in head and (b'"run_id"' in head or b'"status"' in head)
    return path.suffix == ".eval" or (head[:1] == b"{" and described)


def finish(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Return the rows of the requested Inspect scorers, with grades as scores and tasks as part of names.

    If a task was run with different arguments, these become part of its name. `collector` holds the options
    and receives notes.
    """
    requested = collector.options.filter or (ALL,)
    rows = select_by_task(rows, requested, "filter", plural="scorers", context="task", column=_SCORER)
    rows = score_grades(rows, collector)
    names = _task_names(rows.select("task", "model", _ARGUMENTS).unique(maintain_order=True), collector)
    task = pl.col(_ARGUMENTS).replace_strict(names, default=pl.col("task"), return_dtype=pl.String)
    sample = pl.concat_str(task, "sample", separator="/")
    return rows.with_columns(task=task, sample=sample).drop(_SCORER, _ARGUMENTS)


def read(file: reader.ExportFile) -> reader.Rows:
    """Yield the scores in an Inspect log, which has one model on one task.

    A sample is ``task/id``, and its repeats are epochs. Further columns are ``task`` and the samples'
    metadata. The option `filter` selects scorers.
    """
    header, samples = _read_log(file)
    evaluation = reader.Record(header.location_of("eval"), header.get("eval"))
    if not isinstance(evaluation.get("task"), str):
        raise reader.export_error(f"{file.path}: not an Inspect log", "no 'eval' with a task in its header")
    _check_samples(file.path, header.get("version"), samples)
    if not samples:
        detail = f"only a header, status {header.get('status', 'unknown')}"
        hint = f"write logs with their samples (inspect eval --log-samples); {_SKIP_HINT}"
        raise InputError(f"{file.path}: the log has no samples", found=detail, hint=hint)
    _note_status(file, header, evaluation, len(samples))
    # A log without an evaluation id is a run by itself.
    evaluation_id = evaluation.get_text("eval_id")
    model, task = file.model_name(evaluation.get_text("model")), evaluation["task"]
    file.collector.set_run((evaluation_id, model, task) if evaluation_id else file.path)
    arguments_field = "task_args_passed" if evaluation.get("task_args_passed") else "task_args"
    arguments = json.dumps([task, evaluation.get_record(arguments_field)], sort_keys=True)
    yield from _rows(file, samples, {"model": model, "task": task, _ARGUMENTS: arguments})


def _rows(
    file: reader.ExportFile, samples: Sequence[Mapping[str, Any]], about: Mapping[str, str]
) -> reader.Rows:
    """Yield one row per sample, epoch and metric of an Inspect log; count missing scores.

    `about` holds the columns that are the same in all rows.
    """
    all_scores = [_parse_scores(sample, file.collector.options.filter) for sample in samples]
    scorers = {metric: scorer for scores in all_scores for metric, (scorer, _) in scores.items()}
    failed_with_score = []
    for sample, scores, columns in zip(samples, all_scores, _metadata_columns(file, samples), strict=True):
        row = {**about, **columns, "sample": str(sample["id"]), "draw": str(sample["epoch"])}
        failed, missing = sample.get("error") is not None, scorers.keys() - scores
        if failed and scores:
            failed_with_score.append(f"{about['task']}/{sample['id']}")
        if missing:
            file.count("samples that failed, without a score" if failed else "samples not scored")
        output = sample.get("output")
        choices = _as_list(reader.get_nested(output, "choices"))
        message = reader.get_nested(choices[0], "message") if choices else None
        answer = reader.get_nested(output, "completion") or message
        texts = {"input_text": sample.get("input"), "output_text": answer}
        for metric, scorer in scorers.items():
            score_row: dict[str, Any] = {"metric": metric, _SCORER: scorer, **row}
            if metric in missing:
                yield {"already_counted": True, **score_row, **_missing_reason(sample)}
                continue
            value = scores[metric][1]
            is_text = isinstance(value, str)
            score_row |= {reader.GRADE: value} if is_text else {}
            yield {"score": value, "already_counted": is_text, **score_row, **texts}
    if failed_with_score:
        examples = f"{len(failed_with_score):,} ({listing(failed_with_score, 3)})"
        file.note(f"failed samples with a score, which is used as in Inspect: {examples}")


def _read_log(file: reader.ExportFile) -> tuple[reader.Record, list[Any]]:
    """Return the header and the list of samples of an Inspect log.

    Texts of samples are read only on request.
    """
    if first_bytes(file.path)[:4] != _ZIP:
        header = file.document()
        return header, header.get_list("samples")
    collector = file.collector
    collector.record_input(file.path)
    with file.path.open("rb") as stream:
        archive = ZipMembers(file.path, stream, collector.budget)
        # A run that was aborted has only the initial header.
        name = next((name for name in ("header.json", "_journal/start.json") if name in archive), None)
        if name is None:
            detail = f"an archive of {listing(archive.names, 3)}"
            raise reader.export_error(f"{file.path}: not an Inspect log", detail)
        content = archive.json(name)
        if name != "header.json" and isinstance(content, dict):
            content["status"] = None
        header = reader.Record(str(file.path), content, separator=": ")
        return header, _read_samples(
            archive, lambda sample: collector.needs_texts(str(reader.get_nested(sample, "id")))
        )


def _check_samples(path: Path, version: object, samples: Sequence[Any]) -> None:
    """Raise InputError unless a log has a known version and all its samples use the format of one version."""
    if version not in _VERSIONS or isinstance(version, bool):
        detail = f"version {preview(version)}; known versions are 1 and 2"
        convert = "convert it with an Inspect version that riskrank supports (inspect log convert)"
        hint = f"{convert}, or update riskrank; {_SKIP_HINT}"
        raise InputError(f"{path}: unknown log version", found=detail, hint=hint)
    layouts: dict[int, str] = {}
    for number, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict) or "id" not in sample or "epoch" not in sample:
            keys = f"keys {listing(sample)}" if isinstance(sample, dict) else preview(sample)
            detail = f"sample {number} without id or epoch: {keys}"
            raise reader.export_error(f"{path}: invalid samples", detail)
        record = reader.Record(f"{path}: sample {number}", sample)
        sample_name, scores = record.get_name("id"), record.get_record("scores")
        record.get_name("epoch"), record.get_record("metadata")
        if [scores.get_record(name) for name in scores]:
            layouts.setdefault(2, sample_name)
        if record.get("scores") is None and record.get_record("score"):
            layouts.setdefault(1, sample_name)
    if len(layouts) > 1:
        old, new = (f"sample {layouts[version]} with" for version in (1, 2))
        detail = f"{old} one 'score' (version 1), {new} 'scores' (version 2)"
        raise reader.export_error(f"{path}: the log mixes samples of two versions", detail)


def _read_samples(archive: ZipMembers, wants_texts: Callable[[object], bool]) -> list[Any]:
    """Return the samples of a zipped log.

    Scores are read from the summaries of samples; if there are no summaries, from the samples themselves.
    `wants_texts` returns True for samples whose texts are also read.
    """
    members = [name for name in archive.names if _SAMPLE.match(name)]
    summaries = archive.json("summaries.json") if "summaries.json" in archive else []
    if not isinstance(summaries, list) or len(summaries) < len(members):
        pieces = sorted((int(match[1]), name) for name in archive.names if (match := _JOURNAL.match(name)))
        summaries = [entry for _, name in pieces for entry in _as_list(archive.json(name))]
    # A sample that was retried occurs several times; the last entry counts.
    distinct = {}
    for entry in summaries:
        is_sample = isinstance(entry, dict)
        distinct[(repr(entry.get("id")), repr(entry.get("epoch"))) if is_sample else id(entry)] = entry
    if len(distinct) < len(members):
        return [_read_sample(name, archive, wants_texts) for name in members]
    return [_add_texts(entry, archive) if wants_texts(entry) else entry for entry in distinct.values()]


def _add_texts(summary: Any, archive: ZipMembers) -> Any:
    """Return the summary of a sample with its input and output added.

    They are None if the sample is damaged, too large or missing.
    """
    name = f"samples/{summary['id']}_epoch_{reader.get_nested(summary, 'epoch')}"
    members = [member for member in (f"{name}.json", f"{name}/sample.json") if member in archive]
    try:
        sample = archive.json(members[0], max_bytes=_LONGEST_SAMPLE) if members else None
    except InputError:
        sample = None
    return summary | {key: reader.get_nested(sample, key) for key in ("input", "output")}


def _as_list(value: object) -> list[Any]:
    """Return a value if it is a list, otherwise an empty list."""
    return value if isinstance(value, list) else []


def _read_sample(name: str, archive: ZipMembers, wants_texts: Callable[[object], bool]) -> Any:
    """Return only the fields of a sample that are needed, because prompts take much memory.

    If the sample is stored in parts, its metadata are read from a separate file. `name` is the member of the
    archive; `wants_texts` returns True for samples whose texts are also read.
    """
    sample, metadata_name = archive.json(name), name.removesuffix("sample.json") + "metadata.json"
    if not isinstance(sample, dict):
        return sample
    if name.endswith("/sample.json") and metadata_name in archive:
        sample["metadata"] = archive.json(metadata_name)
    fields = ["id", "epoch", "scores", "score", "error", "limit", "metadata"]
    fields += ["input", "output"] if wants_texts(sample) else []
    return {key: sample[key] for key in fields if key in sample} | {"refused": _is_refused(sample)}


def _is_refused(sample: Mapping[str, Any]) -> bool:
    """Return True if the provider's content filter blocked the answer to a sample."""
    choices = _as_list(reader.get_nested(sample, "output", "choices"))
    reasons = [reader.get_nested(choice, "stop_reason") for choice in choices]
    return bool(sample.get("refused")) or "content_filter" in reasons


def _missing_reason(sample: Mapping[str, Any]) -> dict[str, str]:
    """Return the reason for a missing score of a sample, by the name of its column.

    The dictionary is empty if the log states no reason.
    """
    if sample.get("error") is not None:
        return {UNSCORED: ERROR}
    if _is_refused(sample):
        return {UNSCORED: REFUSAL}
    return {} if sample.get("limit") is None else {UNSCORED: LIMIT}


def _note_status(
    file: reader.ExportFile, header: reader.Record, evaluation: reader.Record, sample_count: int
) -> None:
    """Add a note if a log was marked as invalid, or its run did not finish successfully.

    Parameters
    ----------
    file : reader.ExportFile
    header, evaluation : reader.Record
        Header of the log, and its field ``eval``.
    sample_count : int
        Number of samples in the log, counting each epoch.
    """
    status = header.get("status")
    if header.get("invalidated"):
        file.note("the log is marked as invalidated")
    if status == "success":
        return
    ids = evaluation.get_record("dataset").get("sample_ids")
    epochs = evaluation.get_record("config").get("epochs") or 1
    expected_count = len(ids) * epochs if isinstance(ids, list) and isinstance(epochs, int) else None
    expected = "" if expected_count is None else f" of {expected_count:,}"
    when = f"with status {status}" if status else "before it was finished"
    file.note(f"the run ended {when}: {sample_count:,}{expected} samples (including epochs)")


def _parse_scores(sample: Mapping[str, Any], requested: Sequence[str]) -> dict[str, tuple[str, Any]]:
    """Return a pair of scorer and value for each metric of a sample, by metric.

    A score that is an object gives one metric per key. The oldest logs have one score without a name. If the
    sample has any of the `requested` scorers, only these are returned.
    """
    scores = sample.get("scores")
    if not isinstance(scores, dict):
        scores = {"score": sample.get("score")}
    values = {name: score["value"] for name, score in scores.items() if "value" in (score or ())}
    selected = [name for name in values if name in requested] or values
    flat: dict[str, tuple[str, Any]] = {}
    for name in values if ALL in requested else selected:
        value = values[name]
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": (name, part) for key, part in value.items()}
        else:
            flat[name] = name, value
    return flat


def _task_names(runs: pl.DataFrame, collector: reader.RowCollector) -> dict[str, str]:
    """Return the full name of each run of a task, by the text that identifies the run.

    The name is the task, with arguments that differ between runs if a model ran the task with several. Tasks
    that need no arguments are omitted. `runs` has the columns of task, model and arguments; `collector`
    receives notes.
    """
    names: dict[str, str] = {}
    for (task,), frame in runs.group_by("task", maintain_order=True):
        arguments = {text: json.loads(text)[1] for text in frame[_ARGUMENTS]}
        values: dict[str, set[str]] = {}
        for key in sorted({key for used in arguments.values() for key in used}):
            values[key] = {json.dumps(used.get(key), sort_keys=True) for used in arguments.values()}
        differing = [key for key in values if len(values[key]) > 1]
        if differing:
            collector.note(f"task '{task}' was run with different values of {listing(differing)}")
        if frame.height > frame["model"].n_unique():
            for text, used in arguments.items():
                settings = ",".join(f"{key}={plain_text(used.get(key))}" for key in differing)
                names[text] = f"{task}[{settings}]"
    return names


def _metadata_columns(file: reader.ExportFile, samples: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return one dictionary of metadata per sample.

    A key is included only if every sample has a number, boolean or short text for it.
    """
    metadata = [sample.get("metadata") or {} for sample in samples]
    keys = dict.fromkeys(key for entry in metadata for key in entry)
    values = {key: [entry.get(key) for entry in metadata] for key in keys}
    plain = [key for key in keys if all(isinstance(value, str | int | float | None) for value in values[key])]
    short = [key for key in plain if all(len(str(value)) <= _LONGEST_METADATA for value in values[key])]
    if long := [key for key in keys if key not in short]:
        file.note(f"ignored metadata that is not a short text or a number: {listing(long)}")
    names = {key: f"metadata_{key}" if key in _RESERVED_NAMES or not key else key for key in short}
    return [
        {name: plain_text(entry[key]) for key, name in names.items() if entry.get(key) is not None}
        for entry in metadata
    ]


# Inspect's values of its grades: correct, partially correct, incorrect, no answer.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "NOANSWER": 0.0}


def score_grades(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Convert letter grades to numeric scores, and drop texts that are answers.

    Inspect uses letters as grades, but letters may also be answers. The decision is made once per metric, for
    all logs. If some models answer A, B and D, then for a model that always answers C, C is an answer and not
    the grade "correct". `collector` holds the options and receives notes.

    Raises
    ------
    InputError
        If a text among grades is not a grade; with `skip_bad` it becomes a row without a score.
    """
    if reader.GRADE not in rows.columns:
        return rows
    graded_metrics = []
    texts = rows.filter(pl.col(reader.GRADE).is_not_null())
    for (metric,), frame in texts.group_by("metric", maintain_order=True):
        counts = dict(frame[reader.GRADE].value_counts().iter_rows())
        n_grades = sum(counts[text] for text in counts.keys() & GRADES)
        # Upper-case letters that include at least half of the alphabet up to the last one are answer choices.
        are_choices = {*counts} <= {*ascii_uppercase} and 2 * len(counts) > ascii_uppercase.index(max(counts))
        if not counts.keys() <= GRADES.keys() and (2 * n_grades < sum(counts.values()) or are_choices):
            examples = listing((repr(text[:40]) for text in sorted(counts)), 4)
            files = listing(map(collector.path_of, frame[reader.FILE].unique(maintain_order=True)), 3)
            collector.note(f"{metric}: texts such as {examples} in {files} are answers, not grades")
            continue
        graded_metrics.append(metric)
        strays = frame.filter(~pl.col(reader.GRADE).is_in([*GRADES]))
        if strays.height and not collector.options.skip_bad:
            first = strays.row(0, named=True)
            place = f"{collector.path_of(first[reader.FILE])}: sample {first['sample']}"
            among = f"{frame.height - strays.height:,} grades {', '.join(sorted(counts.keys() & GRADES))}"
            advice = f"score the samples again; {option('skip_bad', True)} ignores other values"
            problem = f"{place}: '{metric}' is '{first[reader.GRADE][:80]}', not a grade"
            detail = f"{counted(strays.height, 'such value')} among {among}"
            raise InputError(problem, found=detail, hint=f"grades are C, P, I and N: {advice}")
        collector.count(f"{metric}: ignored values that are not grades", strays.height)
        collector.bounds[str(metric)] = (0.0, 1.0)
    remaining = rows.filter(pl.col(reader.GRADE).is_null() | pl.col("metric").is_in(graded_metrics))
    for model in rows["model"].unique(maintain_order=True):
        if model not in remaining["model"]:
            collector.note(f"model '{model}': no scores left")
    grade_score = pl.col(reader.GRADE).replace_strict(GRADES, default=None, return_dtype=pl.Float64)
    return remaining.with_columns(score=pl.coalesce("score", grade_score)).drop(reader.GRADE)
