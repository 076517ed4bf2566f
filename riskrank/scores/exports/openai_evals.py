"""OpenAI Evals: a log of events, of which ``match`` and ``metrics`` hold scores."""

from collections.abc import Mapping
from pathlib import Path

from riskrank.scores.exports.fields import Record, a_name, as_score
from riskrank.scores.exports.interface import within
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.signatures import first_record

CORRECT = "correct"


def recognises(path: Path) -> bool:
    """Whether this is a log of events."""
    record = first_record(path)
    spec = record.get("spec")
    if isinstance(spec, dict):
        return "eval_name" in spec or "completion_fns" in spec
    return "final_report" in record or {"run_id", "event_id", "type", "data"} <= record.keys()


# A match is right or wrong; of what else a metrics event holds nothing says which end is better.
@reads(recognises, directions={CORRECT: "higher"})
def read(file: ExportFile) -> Rows:
    """Scores of samples: ``correct`` of match events, and every number of metrics events.

    The model is the first completion function of the log's ``spec``. Samples that were run and have no
    score get rows without one.
    """
    path = file.path
    # The spec and the final report may stand anywhere: all lines are read before any is used.
    events = list(file.lines())
    spec = Record(f"{path}: spec", next((e["spec"] for e in events if isinstance(e.get("spec"), dict)), {}))
    if not any("final_report" in event for event in events):
        file.note("no final report; the run was not finished")
    about = {"model": file.model(_model(spec)), "task": spec.text("eval_name")}
    scored: dict[str, set[str]] = {}
    numeric: set[str] = set()
    seen: dict[str, None] = {}
    sampled = {str(one.get("sample_id")): one.get("data") for one in events if one.get("type") == "sampling"}
    for event in events:
        if event.get("type") is None or event.get("sample_id") is None:
            continue
        sample = event.name("sample_id")
        seen[sample] = None
        data = sampled.get(sample)
        said = {"asked": within(data, "prompt"), "answered": within(data, "sampled")}
        for metric, score in _scores(event).items():
            scored.setdefault(metric, set()).add(sample)
            if isinstance(as_score(score), float):
                numeric.add(metric)
            yield {"sample": sample, "metric": metric, "score": score, **about, **said}
    for metric, samples in scored.items():
        for sample in seen if metric in numeric else ():
            if sample not in samples:
                yield {"sample": sample, "metric": metric, "score": None, **about}


def _model(spec: Record) -> str | None:
    functions = spec.listed("completion_fns")
    if functions:
        return a_name(spec.at("completion_fns"), functions[0])
    # Before completion functions, logs named the models they called.
    named = spec.inner("model_names").listed("completions")
    found = named[0] if named else spec.get("model_name")
    return a_name(spec.at("model_names"), found, otherwise="")


def _scores(event: Record) -> Mapping[str, object]:
    if event["type"] == "match":
        return {CORRECT: event.inner("data").get("correct")}
    return event.inner("data") if event["type"] == "metrics" else {}
