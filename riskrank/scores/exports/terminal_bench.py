"""Terminal-Bench: trials of tasks, as written by Harbor or by the older harness."""

from pathlib import Path

from riskrank.scores.exports.fields import Record
from riskrank.scores.exports.row_reader import ExportFile, Rows, row_reader
from riskrank.scores.files.contents import has_keys
from riskrank.scores.files.parsing import ERROR, UNSCORED

RESOLVED = "is_resolved"
_USAGE_METRICS = ("n_input_tokens", "n_output_tokens", "cost_usd")


def _is_run(path: Path) -> bool:
    """Return whether a file contains the results of a whole run, which repeat those of its trials."""
    return has_keys(path, RESOLVED, "task_id", "results")


def recognises(path: Path) -> bool:
    """Return whether a file contains the result of a trial or of a run."""
    return has_keys(path, "trial_name", "agent_info") or has_keys(path, RESOLVED, "task_id", "failure_mode")


@row_reader(
    recognises,
    directions={"reward": "higher", RESOLVED: "higher"} | dict.fromkeys(_USAGE_METRICS, "lower"),
    auxiliary_metrics=_USAGE_METRICS,
    model_per_file=True,
    is_preferred=_is_run,
)
def read(file: ExportFile) -> Rows:
    """Yield the rewards of trials, or whether each was resolved; several trials of a task are repeats.

    For Harbor, a model is named by agent and model. A trial that was not verified has no score.
    """
    document = file.document()
    if "agent_info" in document:
        yield from _read_trial(file, document)
        return
    model = file.model_name()
    for trial in document.get_records("results") if "results" in document else [document]:
        about = {"model": model, "sample": trial.get_name("task_id")}
        if trial.get(RESOLVED) is None:
            file.count(f"{RESOLVED}: unverified trials, without a score")
            about[UNSCORED] = ERROR
        yield {"metric": RESOLVED, "score": trial.get(RESOLVED), **about}


def _read_trial(file: ExportFile, trial: Record) -> Rows:
    """Yield the rewards and the usage metrics of a Harbor trial."""
    agent = trial.get_record("agent_info")
    model = "/".join(filter(None, (agent.get_text("name"), agent.get_record("model_info").get_text("name"))))
    about = {
        "model": file.model_name(model),
        "sample": trial.get_name("task_name"),
        "dataset": trial.get_text("source"),
    }
    rewards = trial.get_record("verifier_result").get_record("rewards")
    failed = trial.get("exception_info")
    if failed:
        file.count(f"trials that ended in an error, {'with' if rewards else 'without'} a reward")
    for metric, score in (rewards or {"reward": None}).items():
        yield {"metric": metric, "score": score, **about, **({} if rewards else {UNSCORED: ERROR})}
    usage = trial.get_record("agent_result")
    yield from ({"metric": name, "score": usage[name], **about} for name in _USAGE_METRICS if name in usage)
