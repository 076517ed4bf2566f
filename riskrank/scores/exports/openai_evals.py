"""OpenAI Evals: a log of events, of which ``match`` and ``metrics`` hold scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from riskrank.scores.exports.fields import a_list, a_name, an_object
from riskrank.scores.exports.gathering import Gathering, as_score, files_of, model_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.readings import finish
from riskrank.scores.exports.records import first_record

NAME = "openai-evals"
CORRECT = "correct"


def recognises(path: Path) -> bool:
    """Whether this is a log of events."""
    record = first_record(path)
    spec = record.get("spec")
    if isinstance(spec, dict):
        return "eval_name" in spec or "completion_fns" in spec
    return "final_report" in record or {"run_id", "event_id", "type", "data"} <= record.keys()


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read scores of samples: ``correct`` of match events, and every number of metrics events.

    The model is the first completion function of the log's ``spec``. Samples that were run and have no
    score get rows without one.
    """
    refuse_rules(rules, NAME)
    gathering = Gathering(rules)
    # A match is right or wrong; of what else a metrics event holds nothing says which end is better.
    gathering.direct(CORRECT, "higher")

    def use(path: Path, data: bytes) -> None:
        # The spec and the final report may stand anywhere: all lines are read before any is used.
        _add_run(gathering, path, list(gathering.lines(path, data)))

    for path in files_of(files, recognises):
        gathering.take(path, partial(use, path))
    return finish(gathering.export())


def _add_run(gathering: Gathering, path: Path, events: Sequence[tuple[int, dict[str, Any]]]) -> None:
    spec: dict[str, Any] = next(
        (event["spec"] for _, event in events if isinstance(event.get("spec"), dict)), {}
    )
    if not any("final_report" in event for _, event in events):
        gathering.note(f"{path}: no final report; the run was not finished")
    model = model_of(path, _model(path, spec), gathering.rules)
    task = a_name(f"{path}: spec.eval_name", spec.get("eval_name"), otherwise="")
    scored: dict[str, set[str]] = {}
    numeric: set[str] = set()
    seen: dict[str, None] = {}
    for number, event in events:
        if event.get("type") is None or event.get("sample_id") is None:
            continue
        sample = a_name(f"{path}: line {number}, sample_id", event["sample_id"])
        seen[sample] = None
        for metric, value in _scores(path, number, event).items():
            scored.setdefault(metric, set()).add(sample)
            if isinstance(as_score(value), float):
                numeric.add(metric)
            gathering.add(model=model, sample=sample, metric=metric, value=value, task=task)
    for metric, samples in scored.items():
        for sample in seen if metric in numeric else ():
            if sample not in samples:
                gathering.add(model=model, sample=sample, metric=metric, value=None, task=task)


def _model(path: Path, spec: Mapping[str, Any]) -> str | None:
    functions = a_list(f"{path}: spec.completion_fns", spec.get("completion_fns"))
    if functions:
        return a_name(f"{path}: spec.completion_fns", functions[0])
    # Before completion functions, logs named the models they called.
    names = an_object(f"{path}: spec.model_names", spec.get("model_names"))
    named = a_list(f"{path}: spec.model_names.completions", names.get("completions"))
    found = named[0] if named else spec.get("model_name")
    return a_name(f"{path}: spec.model_names", found, otherwise="")


def _scores(path: Path, number: int, event: Mapping[str, Any]) -> dict[str, object]:
    if event["type"] not in ("match", "metrics"):
        return {}
    data = an_object(f"{path}: line {number}, data", event.get("data"))
    if event["type"] == "match":
        return {CORRECT: data.get("correct")}
    return dict(data)
