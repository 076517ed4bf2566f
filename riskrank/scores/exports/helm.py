"""What HELM writes: a folder a run, with ``per_instance_stats.json`` and ``run_spec.json``, in one a suite.

Train trials are draws of an instance. Splits and perturbations are kept apart: entries that were perturbed
repeat the instance's identifier.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from riskrank.errors import listing, option
from riskrank.scores.exports.collection import Gathering
from riskrank.scores.exports.fields import Record, wrong_type
from riskrank.scores.exports.interface import within
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.exports.selection import chosen_by_task
from riskrank.scores.files.json_objects import plain_text
from riskrank.scores.files.signatures import first_bytes

# What HELM counts and times beside its metrics.
_BOOKKEEPING = re.compile(
    r"num_.*|finish_reason_.*|training_.*|.*inference_.*runtime.*|batch_size|prompt_truncated|max_prob|logprob"
)
# Columns of a perturbation: its name, and that with its settings.
_CHANGED, _SETTINGS = "perturbation", "(settings)"


def recognises(path: Path) -> bool:
    """Whether a file holds statistics of instances."""
    if path.suffix != ".json":
        return False
    head = first_bytes(path)
    return head[:1] == b"[" and b'"instance_id"' in head and b'"stats"' in head


def _chosen(rows: pl.DataFrame, gathering: Gathering) -> pl.DataFrame:
    """Keep the splits and perturbations that count; those of different settings anywhere carry them."""
    if _CHANGED in rows.columns:
        several = pl.col(_SETTINGS).n_unique().over(_CHANGED) > 1
        rows = rows.with_columns(pl.when(several).then(_SETTINGS).otherwise(_CHANGED).alias(_CHANGED))
        part = pl.concat_str("split", _CHANGED, separator=":").fill_null(pl.col("split"))
        rows = rows.drop(_SETTINGS)
    else:
        part = pl.col("split")
    rows, asked = rows.with_columns(part=part), gathering.rules.split
    rows = chosen_by_task(
        rows, asked, "split", column="part", what="splits or perturbations", where="scenario"
    )
    if _CHANGED in rows.columns:  # pooled with others, a changed instance is a sample of its own
        apart = pl.col(_CHANGED).is_not_null() & (pl.col("part").n_unique().over("task") > 1)
        named = pl.concat_str("sample", _CHANGED, separator=":")
        rows = rows.with_columns(sample=pl.when(apart).then(named).otherwise("sample"))
    return rows.drop("part")


@reads(recognises, uses=("split",), then=_chosen)
def read(file: ExportFile) -> Rows:
    """Statistics of instances, of one model on one scenario a file.

    A sample is ``scenario/instance``, a draw a train trial; further columns are ``task``, ``split`` and
    ``perturbation``. The rule `split` picks splits (``test``) and perturbations (``test:misspellings``);
    `metric` may name what HELM counts beside its metrics, which is left out otherwise.
    """
    path, left_out = file.path, set[str]()
    if path.name in ("run_spec.json", "stats.json", "scenario.json", "schema.json"):
        return  # named by a pattern over the folder
    spec = file.beside(path.with_name("run_spec.json"))
    model = file.model(spec.inner("adapter_spec").text("model"))
    task = _task(spec.text("name", path.parent.name))
    _tell_schema(file, task, spec.listed("groups"))
    asked = file.gathering.rules.metric
    wanted = {*asked, *(text[at + 1 :] for text in asked for at, sign in enumerate(text) if sign == "=")}
    for entry in file.records():
        about = {"model": model, "sample": f"{task}/{entry.name('instance_id')}", "task": task}
        about["draw"] = entry.text("train_trial_index", "0")
        if entry.get("stats") is None:
            raise wrong_type(entry.at("stats"), "a list of objects", None)
        for stat in entry.entries("stats"):
            name = stat.inner("name")
            metric = name.name("name")
            if _BOOKKEEPING.fullmatch(metric) and metric not in wanted:
                left_out.add(metric)
                continue
            changed = (entry if entry.get("perturbation") else name).inner("perturbation")
            columns = {"split": name.text("split", "all"), **_perturbation(changed)}
            yield {"metric": metric, "score": stat.get("mean"), **about, **columns}
    if left_out:
        names = listing(sorted(left_out), 30)
        file.gathering.note(f"left out as bookkeeping ({option('metric')} keeps what it names): {names}")


def _tell_schema(file: ExportFile, task: str, groups: Sequence[object]) -> None:
    """Which way metrics are better, and by which one a scenario is judged, by what helm-summarize writes."""
    path = file.path.parent.parent / "schema.json"
    schema = file.beside(path)
    main: dict[str, str] = {}
    for group in schema.entries("run_groups"):
        name = within(group, "environment", "main_name")
        if isinstance(group.get("name"), str) and isinstance(name, str):
            main[group["name"]] = name
    judged = next((main[group] for group in map(str, groups) if group in main), None)
    if judged is not None:
        file.gathering.judge_by(task, judged)
    for metric in schema.entries("metrics"):
        lower = metric.get("lower_is_better")
        if isinstance(metric.get("name"), str) and isinstance(lower, bool):
            file.gathering.direct(metric["name"], "lower" if lower else "higher", of=str(path))


def _task(name: str) -> str:
    """Scenario and its arguments, without the model; a folder may write - for the colon."""
    scenario, colon, arguments = name.partition(":")
    if not colon and "=" in name:
        head, _, first = name.partition("=")
        scenario, _, key = head.rpartition("-")
        arguments = f"{key}={first}"
    kept = [
        part for part in arguments.split(",") if part and not part.startswith(("model=", "model_deployment="))
    ]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _perturbation(changed: Record) -> dict[str, str]:
    """The columns of what changed an instance, if anything did."""
    if not changed:
        return {}
    # What a perturbation is for, and which of two answers counts, is no setting of it.
    ignored = ("name", "robustness", "fairness", "computed_on")
    settings = [f"{key}={plain_text(value)}" for key, value in sorted(changed.items()) if key not in ignored]
    name = changed.text("name", "perturbed")
    return {_CHANGED: name, _SETTINGS: f"{name}({','.join(settings)})"}
