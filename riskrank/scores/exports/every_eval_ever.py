"""Every Eval Ever: instances in ``<name>_samples.jsonl``, the aggregate beside them in ``<name>.json``."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, option
from riskrank.scores.exports.fields import a_name, an_object, objects
from riskrank.scores.exports.gathering import (
    Gathering,
    as_score,
    check_used,
    choose,
    files_of,
    model_of,
    refuse_rules,
    wanted_metrics,
)
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.written_texts import within
from riskrank.scores.files.beginnings import first_bytes
from riskrank.scores.files.bounded import parse_json

NAME = "every-eval-ever"

_SUFFIX = "_samples.jsonl"


@dataclass(frozen=True, kw_only=True)
class _Instance:
    """One scored instance; `filter` is what the evaluation's name holds behind a slash, if it is one."""

    path: Path
    model: str
    evaluation: str
    task: str
    filter: str
    result: str
    sample: str
    value: object
    asked: object
    answered: object


def recognises(path: Path) -> bool:
    """Whether a file holds rows of instances."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    if not name.endswith(".jsonl"):
        return False
    head = first_bytes(path)
    return b'"schema_version"' in head and (b'"evaluation_name"' in head or name.endswith(_SUFFIX))


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read rows of instances.

    Parameters
    ----------
    files : sequence of LabelledPath
        ``*_samples.jsonl`` files, or folders of them.
    rules : ExportRules
        `filters` picks among the filters of an evaluation.

    Returns
    -------
    Export
        A metric is the evaluation's name, with the identifier of the result where an evaluation has
        several; a sample is ``task/sample_id``; further columns are ``evaluation``, ``task`` and ``filter``.

    Raises
    ------
    InputError, UsageError
    """
    refuse_rules(rules, NAME, uses=("filter",))
    gathering = Gathering(rules)
    rows: list[_Instance] = []
    for path in files_of(files, recognises):
        if path.suffix != ".json":
            gathering.take(path, partial(_read_file, path, gathering, rows))
    results: dict[str, dict[str, None]] = defaultdict(dict)
    filters: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        results[row.evaluation][row.result] = None
        filters[row.task][row.filter] = None
    if rows:
        check_used("filter", rules.filters, [name for there in filters.values() for name in there])
    wanted = wanted_metrics(rules.metrics, filters)
    needed = {row.task for row in rows if row.evaluation in wanted[row.task] or not wanted[row.task]}
    needed = needed or set(filters)
    kept = {
        task: choose("filter", rules.filters, there, what="filters", where=f"evaluation {task}")
        for task, there in filters.items()
        if task in needed
    }
    draws: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        if row.filter not in kept.get(row.task, ()):
            continue
        metric = row.evaluation
        if len(results[row.evaluation]) > 1 and row.result:
            metric = f"{row.evaluation} {row.result}"
        cell = (row.model, row.task, row.sample, metric)
        draws[cell] += 1
        gathering.attempt(row.path, partial(_add, row, metric, str(draws[cell]), gathering))
    return gathering.export()


def _add(row: _Instance, metric: str, draw: str, gathering: Gathering) -> None:
    gathering.add(
        model=row.model,
        sample=f"{row.task}/{row.sample}",
        metric=metric,
        score=row.value,
        draw=draw,
        evaluation=row.evaluation,
        task=row.task,
        filter=row.filter,
        asked=row.asked,
        answered=row.answered,
    )


def _read_file(path: Path, gathering: Gathering, rows: list[_Instance], data: bytes) -> None:
    found: list[_Instance] = []
    for number, row in gathering.lines(path, data):
        try:
            found.append(_row(path, number, row, gathering))
        except KeyError as missing:
            if gathering.rules.skip_bad:
                gathering.count(f"{path}: rows that lack what the schema requires, left out")
                continue
            raise InputError(
                f"{path}: line {number} lacks {missing}",
                found=f"keys {', '.join(list(row)[:8]) or 'none'}",
                hint=f"is it a file of instances? {option('skip_bad', True)} leaves such rows out",
            ) from None
    if not found:
        raise InputError(f"{path}: no rows in it", found="no instances", hint="was the export finished?")
    _directions(path, found, gathering)
    rows += found


def _row(path: Path, number: int, row: Mapping[str, Any], gathering: Gathering) -> _Instance:
    place = f"{path}: line {number}"
    name, evaluation = row["evaluation_name"], row["evaluation"]
    sample = row["sample_id"]
    if not isinstance(name, str) or not isinstance(evaluation, dict):
        raise KeyError("evaluation_name" if not isinstance(name, str) else "evaluation")
    details = an_object(f"{place}, metadata", row.get("metadata"))
    value = evaluation.get("score")
    logged = _logged(details.get("lm_eval_metrics"))
    if isinstance(logged, list):
        value = logged  # no scalar, which the converter wrote as 0.0
    task, slash, behind = name.rpartition("/")
    filtered = slash and details.get("filter") == behind
    if row.get("error"):
        gathering.count("rows with an error")
    return _Instance(
        path=path,
        model=model_of(path, a_name(f"{place}, model_id", row["model_id"], otherwise=""), gathering.rules),
        evaluation=name,
        task=task if filtered else name,
        filter=behind if filtered else "none",
        result=a_name(f"{place}, evaluation_result_id", row.get("evaluation_result_id"), otherwise=""),
        sample=a_name(f"{place}, sample_id", sample),
        value=value,
        asked=within(row, "input", "raw"),
        answered=within(row, "output", "raw"),
    )


def _logged(text: object) -> object:
    """First of the metrics lm-eval logged, which is the one whose value the row carries."""
    try:
        metrics = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return next(iter(metrics.values()), None) if isinstance(metrics, dict) else None


def _directions(path: Path, rows: Sequence[_Instance], gathering: Gathering) -> None:
    """Directions of the aggregate: of the result a row names, else of all of its name that could be meant."""
    beside = path.with_name(path.name.removesuffix(_SUFFIX) + ".json")
    if not path.name.endswith(_SUFFIX) or not beside.is_file():
        return
    document = parse_json(str(beside), gathering.read(beside))
    place = f"{beside}: evaluation_results"
    results = objects(place, an_object(str(beside), document).get("evaluation_results"))
    by_evaluation: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        score = as_score(row.value)
        if isinstance(score, float):
            by_evaluation[row.evaluation, row.result].append(score)
    short = []
    for (evaluation, result), values in by_evaluation.items():
        fitting = [
            entry
            for entry in results
            if (
                entry.get("evaluation_result_id") == result
                if result
                else entry.get("evaluation_name") == evaluation
            )
        ]
        lower = {_lower(entry) for entry in fitting}
        if len(lower) > 1:
            # Several metrics under one name, of which rows carry one: the one whose aggregate is their mean.
            mean = math.fsum(values) / len(values)
            lower = {_lower(entry) for entry in fitting if _close(_aggregate(entry), mean)}
        way = lower.pop() if len(lower) == 1 else None
        if way is not None:
            gathering.direct(evaluation, "lower" if way else "higher", of=str(path))
        counts = [count for entry in fitting if (count := _count(entry)) is not None]
        if counts and len(values) < min(counts):
            short.append(f"'{evaluation}' has {len(values):,} of {min(counts):,}")
    if short:
        gathering.note(f"{path}: fewer samples than its aggregate: {', '.join(short)}")


def _lower(entry: Mapping[str, Any]) -> bool | None:
    config = entry.get("metric_config")
    found = config.get("lower_is_better") if isinstance(config, dict) else None
    return found if isinstance(found, bool) else None


def _details(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    found = entry.get("score_details")
    return found if isinstance(found, dict) else {}


def _aggregate(entry: Mapping[str, Any]) -> float:
    score = as_score(_details(entry).get("score"))
    return score if isinstance(score, float) else math.nan


def _count(entry: Mapping[str, Any]) -> int | None:
    uncertainty = _details(entry).get("uncertainty")
    found = uncertainty.get("num_samples") if isinstance(uncertainty, dict) else None
    return found if isinstance(found, int) else None


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
