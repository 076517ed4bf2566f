"""Terminal-Bench: trials of tasks, as Harbor writes them, and as its own harness did before."""

from pathlib import Path

from riskrank.scores.exports.fields import Record
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.parsing import ERROR, UNSCORED
from riskrank.scores.files.signatures import holds

RESOLVED = "is_resolved"
_USED = ("n_input_tokens", "n_output_tokens", "cost_usd")


def _is_run(path: Path) -> bool:
    """Whether these are the results of a run, which repeat those of its trials."""
    return holds(path, RESOLVED, "task_id", "results")


def recognises(path: Path) -> bool:
    """Whether this is the result of a trial, or of all of a run."""
    return holds(path, "trial_name", "agent_info") or holds(path, RESOLVED, "task_id", "failure_mode")


@reads(
    recognises,
    directions={"reward": "higher", RESOLVED: "higher"} | dict.fromkeys(_USED, "lower"),
    beside=_USED,
    by_file=True,
    prefers=_is_run,
)
def read(file: ExportFile) -> Rows:
    """Rewards of trials, or whether they were resolved; several trials of a task are repeats.

    The model is agent and model as Harbor names them. A trial that was not verified has no score.
    """
    whole = file.document()
    if "agent_info" in whole:
        yield from _harbor(file, whole)
        return
    model = file.model()
    for one in whole.entries("results") if "results" in whole else [whole]:
        about = {"model": model, "sample": one.name("task_id")}
        if one.get(RESOLVED) is None:
            file.count(f"{RESOLVED}: trials that were not verified, no score")
            about[UNSCORED] = ERROR
        yield {"metric": RESOLVED, "score": one.get(RESOLVED), **about}


def _harbor(file: ExportFile, trial: Record) -> Rows:
    agent = trial.inner("agent_info")
    model = "/".join(filter(None, (agent.text("name"), agent.inner("model_info").text("name"))))
    about = {"model": file.model(model), "sample": trial.name("task_name"), "dataset": trial.text("source")}
    rewards = trial.inner("verifier_result").inner("rewards")
    failed = trial.get("exception_info")
    if failed:
        file.count(f"trials that ended in an error, {'with' if rewards else 'without'} a reward")
    for metric, score in (rewards or {"reward": None}).items():
        yield {"metric": metric, "score": score, **about, **({} if rewards else {UNSCORED: ERROR})}
    used = trial.inner("agent_result")
    yield from ({"metric": name, "score": used[name], **about} for name in _USED if name in used)
