"""Terminal-Bench: trials of tasks, as Harbor writes them, and as its own harness did before."""

from collections.abc import Sequence
from pathlib import Path

from riskrank.scores.exports.fields import a_name, an_object, objects
from riskrank.scores.exports.row_reader import ExportFile, Record, Rows, reads
from riskrank.scores.exports.unscored import COLUMN, ERROR
from riskrank.scores.files.beginnings import holds

RESOLVED = "is_resolved"
_USED = ("n_input_tokens", "n_output_tokens", "cost_usd")


def _is_run(path: Path) -> bool:
    return holds(path, RESOLVED, "task_id", "results")


def recognises(path: Path) -> bool:
    """Whether this is the result of a trial, or of all of a run."""
    return holds(path, "trial_name", "agent_info") or holds(path, RESOLVED, "task_id", "failure_mode")


def _runs_first(paths: Sequence[Path]) -> Sequence[Path]:
    """Results of runs, which repeat those of their trials."""
    return [path for path in paths if _is_run(path)] or paths


@reads(
    "terminal-bench",
    recognises,
    directions={"reward": "higher", RESOLVED: "higher"} | dict.fromkeys(_USED, "lower"),
    beside=_USED,
    by_file=True,
    pick=_runs_first,
)
def read(file: ExportFile) -> Rows:
    """Rewards of trials, or whether they were resolved; several trials of a task are repeats.

    The model is agent and model as Harbor names them. A trial that was not verified has no score.
    """
    whole = file.document()
    if "agent_info" in whole:
        yield from _harbor(file, whole)
        return
    trials = objects(f"{file.path}: results", whole["results"]) if "results" in whole else [whole]
    model = file.model()
    for place, trial in enumerate(trials, start=1):
        one = Record(f"{file.path}: result {place}", trial)
        about = {"model": model, "sample": one.name("task_id")}
        if one.get(RESOLVED) is None:
            file.count(f"{RESOLVED}: trials that were not verified, no score")
            about[COLUMN] = ERROR
        yield {"metric": RESOLVED, "score": one.get(RESOLVED), **about}


def _harbor(file: ExportFile, trial: Record) -> Rows:
    agent = Record(f"{file.path}: agent_info", an_object(f"{file.path}: agent_info", trial["agent_info"]))
    of = an_object(f"{agent.place}.model_info", agent.get("model_info"))
    model = "/".join(filter(None, (agent.text("name"), a_name(agent.place, of.get("name"), otherwise=""))))
    about = {"model": file.model(model), "sample": trial.name("task_name"), "dataset": trial.text("source")}
    verified = an_object(f"{file.path}: verifier_result", trial.get("verifier_result"))
    rewards = an_object(f"{file.path}: rewards", verified.get("rewards"))
    failed = trial.get("exception_info")
    if failed:
        file.count(f"trials that ended in an error, {'with' if rewards else 'without'} a reward")
    for metric, score in (rewards or {"reward": None}).items():
        yield {"metric": metric, "score": score, **about, **({} if rewards else {COLUMN: ERROR})}
    used = an_object(f"{file.path}: agent_result", trial.get("agent_result"))
    yield from ({"metric": name, "score": used[name], **about} for name in _USED if name in used)
