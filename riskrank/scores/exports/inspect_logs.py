"""What Inspect writes: ``.eval`` archives, whatever they are compressed with, and ``.json`` logs.

Every scorer is a metric; of a scorer whose value is an object, every key is (``scorer.key``). Epochs are
draws of a sample, so reducers are the caller's choice of what to do about repeats. A sample's metadata are
columns, as far as they are short.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.scores.exports.collection import Gathering
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.exports.inspect_grades import graded
from riskrank.scores.exports.interface import GRADE, within
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.exports.selection import ALL, chosen_by_task
from riskrank.scores.files.json_objects import plain_text, shown
from riskrank.scores.files.parsing import ERROR, LIMIT, REFUSAL, UNSCORED
from riskrank.scores.files.signatures import first_bytes
from riskrank.scores.files.zip_members import ZipMembers, open_members
from riskrank.scores.names.vocabulary import FOUND_BY_NAME

# Layouts of a log: samples with one score, and samples with scores by scorer. The oldest do not say.
_VERSIONS = (None, 1, 2)
_ZIP = b"PK\x03\x04"
_FIRST_MEMBERS = (b"header.json", b"_journal/start.json")
# Columns that mean something else already, and words no column of a row can be called.
_TAKEN = {*FOUND_BY_NAME, UNSCORED, "cluster", "value", "task", "self", "asked", "answered", "counted"}
_LONGEST_METADATA = 200
# Bytes of a sample that is read for its texts alone.
_LONGEST_SAMPLE = 1 << 24
# An id may hold slashes and the word epoch, so that only the end of a member's name is known.
_SAMPLE = re.compile(r"^samples/.+_epoch_\d+(?:\.json|/sample\.json)$")
_JOURNAL = re.compile(r"^_journal/summaries/(\d+)\.json$")
_LEAVES_OUT = f"{option('skip_bad', True)} leaves such files out"
_SCORER, _ARGUMENTS = "(scorer)", "(arguments)"


def recognises(path: Path) -> bool:
    """Whether a file is a log of Inspect."""
    if path.suffix not in (".eval", ".json"):
        return False
    head = first_bytes(path)
    if head[:4] == _ZIP:
        return path.suffix == ".eval" or head[30:60].startswith(_FIRST_MEMBERS)
    described = b'"eval"' in head and b'"task"' in head and (b'"run_id"' in head or b'"status"' in head)
    return path.suffix == ".eval" or (head[:1] == b"{" and described)


def _named(rows: pl.DataFrame, gathering: Gathering) -> pl.DataFrame:
    """Keep the scorers that count, read grades as what they are worth, and name the tasks."""
    asked = gathering.rules.filter or (ALL,)
    rows = chosen_by_task(rows, asked, "filter", what="scorers", where="task", column=_SCORER)
    rows = graded(rows, gathering)
    names = _task_names(rows.select("task", "model", _ARGUMENTS).unique(maintain_order=True), gathering)
    task = pl.col(_ARGUMENTS).replace_strict(names, default=pl.col("task"), return_dtype=pl.String)
    sample = pl.concat_str(task, "sample", separator="/")
    return rows.with_columns(task=task, sample=sample).drop(_SCORER, _ARGUMENTS)


@reads(recognises, uses=("filter",), then=_named)
def read(file: ExportFile) -> Rows:
    """Scores of a log, of one model on one task.

    A sample is ``task/id``, a draw an epoch; further columns are ``task`` and the samples' metadata. The rule
    `filter` picks scorers.
    """
    header, samples = _log(file)
    evaluation = Record(header.at("eval"), header.get("eval"))
    if not isinstance(evaluation.get("task"), str):
        raise broken(f"{file.path}: no log of Inspect", "no 'eval' with a task in its header")
    _check_samples(file.path, header.get("version"), samples)
    if not samples:
        found = f"a header alone, status {header.get('status', 'unknown')}"
        hint = f"write logs with their samples (inspect eval --log-samples); {_LEAVES_OUT}"
        raise InputError(f"{file.path}: the log holds no samples", found=found, hint=hint)
    _note_status(file, header, evaluation, len(samples))
    # A log that names no evaluation is one of its own.
    named = evaluation.text("eval_id")
    model, task = file.model(evaluation.text("model")), evaluation["task"]
    file.gathering.is_of_run((named, model, task) if named else file.path)
    passed = "task_args_passed" if evaluation.get("task_args_passed") else "task_args"
    arguments = json.dumps([task, evaluation.inner(passed)], sort_keys=True)
    yield from _rows(file, samples, {"model": model, "task": task, _ARGUMENTS: arguments})


def _rows(file: ExportFile, samples: Sequence[Mapping[str, Any]], about: Mapping[str, str]) -> Rows:
    values = [_scores(sample, file.gathering.rules.filter) for sample in samples]
    scorers = {metric: scorer for found in values for metric, (scorer, _) in found.items()}
    failed_with_score = []
    for sample, found, columns in zip(samples, values, _columns(file, samples), strict=True):
        row = {**about, **columns, "sample": str(sample["id"]), "draw": str(sample["epoch"])}
        failed, absent = sample.get("error") is not None, scorers.keys() - found
        if failed and found:
            failed_with_score.append(f"{about['task']}/{sample['id']}")
        if absent:
            file.count("samples that failed, without a score" if failed else "samples not scored")
        asked, answered = _texts(sample)
        for metric, scorer in scorers.items():
            one = {"metric": metric, _SCORER: scorer, **row}
            if metric in absent:
                yield {"counted": True, **one, **_unscored(sample)}
                continue
            value = found[metric][1]
            is_text = isinstance(value, str)
            one |= {GRADE: value} if is_text else {}
            yield {"score": value, "counted": is_text, "asked": asked, "answered": answered, **one}
    if failed_with_score:
        some = f"{len(failed_with_score):,} ({listing(failed_with_score, 3)})"
        file.note(f"samples that failed and yet have a score, which counts as in Inspect: {some}")


def _log(file: ExportFile) -> tuple[Record, list[Any]]:
    """Header and samples of a log, with what was asked and answered in those whose texts are wanted."""
    if first_bytes(file.path)[:4] != _ZIP:
        header = file.document()
        return header, header.listed("samples")
    gathering = file.gathering
    gathering.stamp(file.path)
    with open_members(file.path, gathering.room) as archive:
        header = Record(str(file.path), _header(file.path, archive), inside=": ")
        return header, _samples(archive, lambda sample: gathering.wants_texts(str(within(sample, "id"))))


def _check_samples(path: Path, version: object, samples: Sequence[Any]) -> None:
    """Refuse what is no sample, or is one of another layout than the rest."""
    if version not in _VERSIONS or isinstance(version, bool):
        raise InputError(
            f"{path}: a log of a version that is not known",
            found=f"version {shown(version)}; known are 1 and 2",
            hint="write it again with the Inspect whose logs riskrank knows (inspect log convert), or update "
            f"riskrank; {_LEAVES_OUT}",
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
        old, new = (f"sample {layouts[version]} with" for version in (1, 2))
        found = f"{old} one 'score' (version 1), {new} 'scores' (version 2)"
        raise broken(f"{path}: samples of two versions in one log", found)


def _header(path: Path, archive: ZipMembers) -> Any:
    """Header of an archive; a run that was killed left only what it began with."""
    if "header.json" in archive:
        return archive.json("header.json")
    if "_journal/start.json" in archive:
        start = archive.json("_journal/start.json")
        return start | {"status": None} if isinstance(start, dict) else start
    raise broken(f"{path}: no log of Inspect", f"an archive of {listing(archive.names, 3)}")


def _samples(archive: ZipMembers, wants_texts: Callable[[object], bool]) -> list[Any]:
    """Samples of an archive: by their summaries, which hold the scores, unless some are missing there."""
    members = [name for name in archive.names if _SAMPLE.match(name)]
    found = archive.json("summaries.json") if "summaries.json" in archive else []
    if not isinstance(found, list) or len(found) < len(members):
        pieces = sorted((int(match[1]), name) for name in archive.names if (match := _JOURNAL.match(name)))
        found = [entry for _, name in pieces for entry in _listed(archive.json(name))]
    # A sample that was run again comes once more; the last counts.
    distinct = {_key(entry): entry for entry in found}
    if len(distinct) < len(members):
        return [_short(_whole(name, archive), wants_texts) for name in members]
    return [_with_texts(one, archive) if wants_texts(one) else one for one in distinct.values()]


def _whole(name: str, archive: ZipMembers) -> Any:
    """A sample; of one in pieces, its metadata lie beside it."""
    sample = archive.json(name)
    beside = name.removesuffix("sample.json") + "metadata.json"
    if name.endswith("/sample.json") and beside in archive and isinstance(sample, dict):
        return sample | {"metadata": archive.json(beside)}
    return sample


def _with_texts(summary: Any, archive: ZipMembers) -> Any:
    """A summary with the texts of its sample; one damaged, very long or not there has none."""
    name = f"samples/{summary['id']}_epoch_{within(summary, 'epoch')}"
    member = next((one for one in (f"{name}.json", f"{name}/sample.json") if one in archive), None)
    try:
        sample = None if member is None else archive.json(member, most=_LONGEST_SAMPLE)
    except InputError:
        sample = None
    return summary | {key: within(sample, key) for key in ("input", "output")}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _key(entry: object) -> object:
    return (repr(entry.get("id")), repr(entry.get("epoch"))) if isinstance(entry, dict) else id(entry)


def _short(sample: object, wants_texts: Callable[[object], bool]) -> object:
    """What is needed of a sample, so that prompts do not pile up."""
    if not isinstance(sample, dict):
        return sample
    wanted = ["id", "epoch", "scores", "score", "error", "limit", "metadata"]
    wanted += ["input", "output"] if wants_texts(sample) else []
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


def _texts(sample: Mapping[str, Any]) -> tuple[object, object]:
    """What a sample was asked, and what it answered."""
    output = sample.get("output")
    choices = _listed(within(output, "choices"))
    message = within(choices[0], "message") if choices else None
    return sample.get("input"), within(output, "completion") or message


def _note_status(file: ExportFile, header: Record, evaluation: Record, found: int) -> None:
    status = header.get("status")
    if header.get("invalidated"):
        file.note("the log is marked as invalidated")
    if status == "success":
        return
    ids = evaluation.inner("dataset").get("sample_ids")
    epochs = evaluation.inner("config").get("epochs") or 1
    known = len(ids) * epochs if isinstance(ids, list) and isinstance(epochs, int) else None
    expected = "" if known is None else f" of {known:,}"
    how = f"with status {status}" if status else "before it was done"
    file.note(f"the run ended {how}: {found:,}{expected} samples, epochs counted")


def _scores(sample: Mapping[str, Any], asked: Sequence[str]) -> dict[str, tuple[str, Any]]:
    """Scorer and value of each metric: objects are one a key; the oldest logs have one score without a name.

    Where some scorers are asked for, those, if there are any of them.
    """
    found = sample.get("scores")
    if not isinstance(found, dict):
        found = {"score": sample.get("score")}
    values = {name: score["value"] for name, score in found.items() if "value" in (score or ())}
    kept = [name for name in values if name in asked] or values
    flat: dict[str, tuple[str, Any]] = {}
    for name in values if ALL in asked else kept:
        of = values[name]
        parts = {f"{name}.{key}": one for key, one in of.items()} if isinstance(of, dict) else {name: of}
        flat |= {metric: (name, one) for metric, one in parts.items()}
    return flat


def _task_names(runs: pl.DataFrame, gathering: Gathering) -> dict[str, str]:
    """Names of tasks by their arguments, which are part of them where one model ran a task with several."""
    names: dict[str, str] = {}
    for (task,), of in runs.group_by("task", maintain_order=True):
        arguments = {text: json.loads(text)[1] for text in of[_ARGUMENTS]}
        keys = sorted({key for one in arguments.values() for key in one})
        differing = [
            k for k in keys if len({json.dumps(one.get(k), sort_keys=True) for one in arguments.values()}) > 1
        ]
        if differing:
            gathering.note(f"task '{task}' was run with different values of {listing(differing)}")
        if of.height > of["model"].n_unique():
            for text, one in arguments.items():
                names[text] = f"{task}[{','.join(f'{key}={plain_text(one.get(key))}' for key in differing)}]"
    return names


def _columns(file: ExportFile, samples: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Metadata by sample, where a key is a number, a boolean or a short text in all of them."""
    metadata = [sample.get("metadata") or {} for sample in samples]
    keys = dict.fromkeys(key for found in metadata for key in found)
    long = [key for key in keys if not all(_is_short(found.get(key)) for found in metadata)]
    if long:
        file.note(f"metadata that are no short text or number, left out: {listing(long)}")
    names = {key: f"metadata_{key}" if key in _TAKEN or not key else key for key in keys if key not in long}
    return [
        {name: plain_text(found[key]) for key, name in names.items() if found.get(key) is not None}
        for found in metadata
    ]


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_METADATA
    return value is None or isinstance(value, bool | int | float)
