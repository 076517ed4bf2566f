"""What Inspect writes: ``.eval`` archives, whatever they are compressed with, and ``.json`` logs.

Every scorer is a metric; of a scorer whose value is an object, every key is (``scorer.key``). Epochs are
draws of a sample, so reducers are the caller's choice of what to do about repeats. A sample's metadata are
columns, as far as they are short.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, listing, option
from riskrank.scores.exports.copies import RunFile, leave_copies
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.exports.gathering import Gathering, check_used, choose, files_of, model_of, refuse_rules
from riskrank.scores.exports.inspect_grades import GRADES, Grades, Key, texts_in, texts_of
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath, within
from riskrank.scores.files.beginnings import first_bytes
from riskrank.scores.files.json_objects import shown
from riskrank.scores.files.parsing import ERROR, LIMIT, REFUSAL, UNSCORED
from riskrank.scores.files.zip_members import ZipMembers, open_members
from riskrank.scores.names.words import FOUND_BY_NAME

NAME = "inspect"

# Layouts of a log: samples with one score, and samples with scores by scorer. The oldest do not say.
_VERSIONS = (None, 1, 2)
_ZIP = b"PK\x03\x04"
_FIRST_MEMBERS = (b"header.json", b"_journal/start.json")
# Columns that mean something else already, and words no column of a row can be called.
_TAKEN = {*FOUND_BY_NAME, UNSCORED, "cluster", "value", "task", "self", "asked", "answered"}
_LONGEST_METADATA = 200
# Bytes of a sample that is read for its metadata alone.
_LONGEST_SAMPLE = 1 << 24
# An id may hold slashes and the word epoch, so that only the end of a member's name is known.
_SAMPLE = re.compile(r"^samples/.+_epoch_\d+(?:\.json|/sample\.json)$")
_JOURNAL = re.compile(r"^_journal/summaries/(\d+)\.json$")


@dataclass(frozen=True, kw_only=True)
class _Log:
    """One log: its header, and the id, epoch, scores, metadata and error of every sample."""

    path: Path
    model: str
    task: str
    arguments: Mapping[str, Any]
    run: str
    evaluation: str
    samples: Sequence[Mapping[str, Any]]


def recognises(path: Path) -> bool:
    """Whether a file is a log of Inspect."""
    if path.suffix not in (".eval", ".json"):
        return False
    head = first_bytes(path)
    if head[:4] == _ZIP:
        return path.suffix == ".eval" or head[30:60].startswith(_FIRST_MEMBERS)
    described = b'"eval"' in head and b'"task"' in head and (b'"run_id"' in head or b'"status"' in head)
    return path.suffix == ".eval" or (head[:1] == b"{" and described)


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read logs, each of one model on one task.

    Parameters
    ----------
    files : sequence of LabelledPath
        Logs, or folders of them.
    rules : ExportRules
        `filters` picks scorers.

    Returns
    -------
    Export
        A sample is ``task/id``, a draw an epoch; further columns are ``task`` and the samples' metadata.

    Raises
    ------
    InputError, UsageError
    """
    return read_groups([files], rules)[0]


def read_groups(groups: Sequence[Sequence[LabelledPath]], rules: ExportRules) -> list[Export]:
    """Read logs in groups that are compared with each other: letters mean the same in all of them."""
    refuse_rules(rules, NAME, uses=("filter",))
    gathered = [_gathered(files, rules) for files in groups]
    grades = Grades()
    for _, logs in gathered:
        if logs:
            there = (name for log in logs for sample in log.samples for name in _scores(sample))
            check_used("filter", rules.filters, there)
        for log in logs:
            for sample in log.samples:
                grades.meet(log.path, str(sample["id"]), _flat(_scores(sample), rules))
    if not rules.skip_bad:
        grades.refuse_strays()
    return [_export(gathering, logs, grades) for gathering, logs in gathered]


def _gathered(files: Sequence[LabelledPath], rules: ExportRules) -> tuple[Gathering, list[_Log]]:
    gathering = Gathering(rules)
    label = files[0].label if files else None
    logs: list[_Log] = []
    for path in files_of(files, recognises):
        gathering.attempt(path, partial(_read_log, path, gathering, label, logs))
    longest_first = sorted(logs, key=lambda log: -len(log.samples))
    left = leave_copies(gathering, [_run_file(log) for log in longest_first])
    return gathering, [log for log in logs if log.path not in left]


def _run_file(log: _Log) -> RunFile:
    rows: dict[tuple[object, ...], Any] = {_place(sample): _scores(sample) for sample in log.samples}
    # A log that names no evaluation is one of its own.
    run = (log.evaluation, log.model, log.task) if log.evaluation else log.path
    return RunFile(path=log.path, run=run, rows=rows)


def _export(gathering: Gathering, logs: Sequence[_Log], grades: Grades) -> Export:
    for text in grades.notes():
        gathering.note(text)
    tasks = _task_names(logs, gathering)
    for log in logs:
        gathering.expect(log.model)
    repeated = gathering.note_repeats((log.model, tasks[log.path], log.path) for log in logs)
    for log in logs:
        task = tasks[log.path]
        run = log.run if (log.model, task) in repeated else ""
        gathering.attempt(log.path, partial(_add, log, task, gathering, grades, run=run))
    return gathering.export()


def _read_log(path: Path, gathering: Gathering, label: str | None, logs: list[_Log]) -> None:
    if first_bytes(path)[:4] == _ZIP:
        gathering.stamp(path)
        with open_members(path, gathering.room) as archive:
            header = Record(str(path), _header(path, archive), inside=": ")
            samples = _samples(archive)
    else:
        header = gathering.document(path)
        samples = header.listed("samples")
    evaluation = Record(header.at("eval"), header.get("eval"))
    if not isinstance(evaluation.get("task"), str):
        raise broken(f"{path}: no log of Inspect", "no 'eval' with a task in its header")
    _check_samples(path, header.get("version"), samples)
    if not samples:
        raise InputError(
            f"{path}: the log holds no samples",
            found=f"a header alone, status {header.get('status', 'unknown')}",
            hint="write logs with their samples (inspect eval --log-samples); "
            f"{option('skip_bad', True)} leaves such files out",
        )
    _note_status(path, header, evaluation, len(samples), gathering)
    passed = "task_args_passed" if evaluation.get("task_args_passed") else "task_args"
    log = _Log(
        path=path,
        model=model_of(path, evaluation.text("model"), gathering.rules, label=label),
        task=evaluation["task"],
        arguments=evaluation.inner(passed),
        run=evaluation.text("created" if evaluation.get("created") else "run_id", str(path)),
        evaluation=evaluation.text("eval_id"),
        samples=samples,
    )
    logs.append(log)


def _check_samples(path: Path, version: object, samples: Sequence[Any]) -> None:
    """Refuse what is no sample, or is one of another layout than the rest."""
    if version not in _VERSIONS or isinstance(version, bool):
        raise InputError(
            f"{path}: a log of a version that is not known",
            found=f"version {shown(version)}; known are 1 and 2",
            hint="write it again with the Inspect whose logs riskrank knows (inspect log convert), or update "
            f"riskrank; {option('skip_bad', True)} leaves such files out",
        )
    layouts: dict[int, str] = {}
    for number, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict) or "id" not in sample or "epoch" not in sample:
            keys = f"keys {listing(sample)}" if isinstance(sample, dict) else shown(sample)
            raise broken(f"{path}: samples that are none", f"sample {number} without id or epoch: {keys}")
        one = Record(f"{path}: sample {number}", sample)
        named, scores = one.name("id"), one.inner("scores")
        one.name("epoch"), one.inner("metadata")
        if [scores.inner(name) for name in scores]:
            layouts.setdefault(2, named)
        if one.get("scores") is None and one.inner("score"):
            layouts.setdefault(1, named)
    if len(layouts) > 1:
        raise broken(
            f"{path}: samples of two versions in one log",
            f"sample {layouts[1]} with one 'score' (version 1), sample {layouts[2]} with 'scores' "
            "(version 2)",
        )


def _header(path: Path, archive: ZipMembers) -> Any:
    """Header of an archive; a run that was killed left only what it began with."""
    if "header.json" in archive:
        return archive.json("header.json")
    if "_journal/start.json" in archive:
        start = archive.json("_journal/start.json")
        return start | {"status": None} if isinstance(start, dict) else start
    raise broken(f"{path}: no log of Inspect", f"an archive of {listing(archive.names, 3)}")


def _samples(archive: ZipMembers) -> list[Any]:
    """Samples of an archive: by their summaries, which hold the scores, unless some are missing there."""
    members = [name for name in archive.names if _SAMPLE.match(name)]
    found = archive.json("summaries.json") if "summaries.json" in archive else []
    if not isinstance(found, list) or len(found) < len(members):
        pieces = sorted((int(match[1]), name) for name in archive.names if (match := _JOURNAL.match(name)))
        found = [entry for _, name in pieces for entry in _listed(archive.json(name))]
    # A sample that was run again comes once more; the last counts.
    distinct = {_key(entry): entry for entry in found}
    if len(distinct) < len(members):
        return [_short(_whole(name, archive)) for name in members]
    # Older summaries leave out the metadata, and only these.
    told = any(isinstance(entry, dict) and "metadata" in entry for entry in distinct.values())
    if members and not told and _described(members[0], archive)[1]:
        for key, metadata in (_described(name, archive) for name in members):
            if key in distinct:
                distinct[key] = {**distinct[key], "metadata": metadata}
    return list(distinct.values())


def _whole(name: str, archive: ZipMembers, *, most: int | None = None) -> Any:
    """A sample; of one in pieces, its metadata lie beside it."""
    sample = archive.json(name, most=most)
    beside = name.removesuffix("sample.json") + "metadata.json"
    if name.endswith("/sample.json") and beside in archive and isinstance(sample, dict):
        return sample | {"metadata": archive.json(beside, most=most)}
    return sample


def _described(name: str, archive: ZipMembers) -> tuple[object, Mapping[str, Any]]:
    """Key and metadata of a sample whose scores are known already: one damaged or very long has none."""
    try:
        sample = _whole(name, archive, most=_LONGEST_SAMPLE)
    except InputError:
        return None, {}
    return _key(sample), _metadata(sample)


def _metadata(sample: object) -> Mapping[str, Any]:
    found = within(sample, "metadata")
    return found if isinstance(found, dict) else {}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _key(entry: object) -> object:
    return (repr(entry.get("id")), repr(entry.get("epoch"))) if isinstance(entry, dict) else id(entry)


def _short(sample: object) -> object:
    """What is needed of a sample, so that prompts do not pile up."""
    wanted = ("id", "epoch", "scores", "score", "error", "limit", "metadata")
    if not isinstance(sample, dict):
        return sample
    return {key: sample[key] for key in wanted if key in sample} | {"refused": _is_refused(sample)}


def _is_refused(sample: Mapping[str, Any]) -> bool:
    """Whether the model's answer was filtered, as its provider says."""
    choices = _listed(within(sample, "output", "choices"))
    reasons = [within(one, "stop_reason") for one in choices]
    return bool(sample.get("refused")) or "content_filter" in reasons


def _unscored(sample: Mapping[str, Any]) -> dict[str, str]:
    """The column that says why a sample has no score, where the log tells it."""
    if sample.get("error") is not None:
        return {UNSCORED: ERROR}
    if _is_refused(sample):
        return {UNSCORED: REFUSAL}
    return {} if sample.get("limit") is None else {UNSCORED: LIMIT}


def _note_status(path: Path, header: Record, evaluation: Record, found: int, gathering: Gathering) -> None:
    status = header.get("status")
    if header.get("invalidated"):
        gathering.note(f"{path}: the log is marked as invalidated")
    if status == "success":
        return
    ids = evaluation.inner("dataset").get("sample_ids")
    epochs = evaluation.inner("config").get("epochs") or 1
    known = len(ids) * epochs if isinstance(ids, list) and isinstance(epochs, int) else None
    expected = "" if known is None else f" of {known:,}"
    how = f"with status {status}" if status else "before it was done"
    gathering.note(f"{path}: the run ended {how}: {found:,}{expected} samples, epochs counted")


def _scores(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Scores of a sample by scorer; the oldest logs have but one, without a name."""
    found = sample.get("scores")
    if isinstance(found, dict):
        return {name: score["value"] for name, score in found.items() if "value" in (score or ())}
    single = sample.get("score")
    return {"score": single["value"]} if isinstance(single, dict) and "value" in single else {}


def _task_names(logs: Sequence[_Log], gathering: Gathering) -> dict[Path, str]:
    """Names of tasks; where one model ran a task with different arguments, these are part of the name."""
    names = {log.path: log.task for log in logs}
    by_task: dict[str, list[_Log]] = defaultdict(list)
    for log in logs:
        by_task[log.task].append(log)
    for task, same in by_task.items():
        keys = sorted({key for log in same for key in log.arguments})
        differing = [key for key in keys if len({_canonical(log.arguments.get(key)) for log in same}) > 1]
        if not differing:
            continue
        gathering.note(f"task '{task}' was run with different values of {listing(differing)}")
        settings: dict[str, set[str]] = defaultdict(set)
        for log in same:
            settings[log.model].add(_canonical([log.arguments.get(key) for key in differing]))
        if max(map(len, settings.values())) > 1:
            for log in same:
                values = (f"{key}={_plain(log.arguments.get(key))}" for key in differing)
                names[log.path] = f"{task}[{','.join(values)}]"
    return names


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else _canonical(value)


def _add(log: _Log, task: str, gathering: Gathering, grades: Grades, *, run: str) -> None:
    flat = [_flat(_scores(sample), gathering.rules) for sample in log.samples]
    metrics = tuple(dict.fromkeys(name for scores in flat for name in scores))
    about, said = _columns(log, gathering), _texts(log, task, gathering.rules)
    scalar: set[str] = set()
    missing: list[tuple[list[str], dict[str, str]]] = []
    failed_with_score = []
    for sample, scores, columns in zip(log.samples, flat, about, strict=True):
        name, failed = f"{task}/{sample['id']}", sample.get("error") is not None
        asked, answered = said.get(_place(sample), (None, None))
        row = {"model": log.model, "sample": name, "task": task, **columns}
        row["draw"] = f"{run} {sample['epoch']}".strip()
        absent = [metric for metric in metrics if metric not in scores]
        if failed and scores:
            failed_with_score.append(name)
        if absent:
            gathering.count("samples that failed, without a score" if failed else "samples not scored")
            missing.append((absent, row | _unscored(sample)))
        for metric, value in scores.items():
            if isinstance(value, str) and grades.is_graded(metric):
                if value not in GRADES:
                    gathering.count(f"{metric}: values among grades that are none, left out")
                    missing.append(([metric], row))
                    continue
                value = GRADES[value]
                gathering.bound(metric, 0.0, 1.0, graded=True)
            before = gathering.height
            gathering.add(metric=metric, score=value, asked=asked, answered=answered, **row)
            if gathering.height == before + 1:
                scalar.add(metric)
    if failed_with_score:
        gathering.note(
            f"{log.path}: samples that failed and yet have a score, which counts as in Inspect: "
            f"{len(failed_with_score):,} ({listing(failed_with_score, 3)})"
        )
    for absent, row in missing:
        for metric in absent:
            if metric in scalar:
                gathering.add(counted=True, metric=metric, **row)


def _place(sample: Mapping[str, Any]) -> Key:
    return str(sample["id"]), str(sample["epoch"])


def _texts(log: _Log, task: str, rules: ExportRules) -> dict[Key, tuple[object, object]]:
    """What was asked and answered in the samples whose texts are wanted."""
    wanted = [sample for sample in log.samples if f"{task}/{sample['id']}" in rules.texts_of]
    named = {_place(sample): sample for sample in wanted}
    if first_bytes(log.path)[:4] == _ZIP:
        return texts_in(log.path, named, rules.max_bytes, _LONGEST_SAMPLE)
    return {key: texts_of(sample) for key, sample in named.items()}


def _columns(log: _Log, gathering: Gathering) -> list[dict[str, str]]:
    """Metadata by sample, where a key is a number, a boolean or a short text in all of them."""
    metadata = [_metadata(sample) for sample in log.samples]
    keys = dict.fromkeys(key for found in metadata for key in found)
    long = [key for key in keys if not all(_is_short(found.get(key)) for found in metadata)]
    if long:
        gathering.note(f"{log.path}: metadata that are no short text or number, left out: {listing(long)}")
    names = {key: f"metadata_{key}" if key in _TAKEN or not key else key for key in keys if key not in long}
    return [
        {name: _plain(found[key]) for key, name in names.items() if found.get(key) is not None}
        for found in metadata
    ]


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_METADATA
    return value is None or isinstance(value, bool | int | float)


def _flat(scores: Mapping[str, Any], rules: ExportRules) -> dict[str, Any]:
    """Values by metric: objects are one metric a key."""
    kept = choose("filter", rules.filters or ("*",), scores, what="scorers", where="log")
    flat: dict[str, Any] = {}
    for name in kept if scores else ():
        value = scores[name]
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": part for key, part in value.items()}
        else:
            flat[name] = value
    return flat
