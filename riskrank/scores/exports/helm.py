"""HELM: ``per_instance_stats.json`` and ``run_spec.json``, in one folder per run and suite.

Train trials are repeats of an instance. Splits and perturbations are kept separate, because a perturbed
instance has the same identifier as the original instance.
"""

import re
from collections.abc import Sequence

import polars as pl

from riskrank.errors import listing, option
from riskrank.scores.exports import reader
from riskrank.scores.exports.selection import select_by_task
from riskrank.scores.files.parsing import plain_text

# Counts and times that HELM stores alongside its metrics.
_BOOKKEEPING = re.compile(
    r"num_.*|finish_reason_.*|training_.*|.*inference_.*runtime.*|batch_size|prompt_truncated|max_prob|logprob"
)
# Columns of a perturbation: its name, and its name with settings.
_PERTURBATION, _SETTINGS = "perturbation", "(settings)"


def finish(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Return the rows of the requested splits and perturbations of HELM runs.

    `collector` holds the options. If a perturbation occurs with several settings, its name includes them.
    """
    if _PERTURBATION in rows.columns:
        several = pl.col(_SETTINGS).n_unique().over(_PERTURBATION) > 1
        name = pl.when(several).then(_SETTINGS).otherwise(_PERTURBATION)
        rows = rows.with_columns(name.alias(_PERTURBATION))
        part = pl.concat_str("split", _PERTURBATION, separator=":").fill_null(pl.col("split"))
        rows = rows.drop(_SETTINGS)
    else:
        part = pl.col("split")
    rows, requested = rows.with_columns(part=part), collector.options.split
    rows = select_by_task(
        rows, requested, "split", column="part", plural="splits or perturbations", context="scenario"
    )
    if _PERTURBATION in rows.columns:  # a perturbed instance is a separate sample if pooled
        is_separate = pl.col(_PERTURBATION).is_not_null() & (pl.col("part").n_unique().over("task") > 1)
        sample_name = pl.concat_str("sample", _PERTURBATION, separator=":")
        rows = rows.with_columns(sample=pl.when(is_separate).then(sample_name).otherwise("sample"))
    return rows.drop("part")


def read(file: reader.ExportFile) -> reader.Rows:
    """Yield the metrics of every instance in a HELM file, which has one model on one scenario.

    A sample is ``scenario/instance``, and train trials are its repeats. Further columns are ``task``,
    ``split`` and ``perturbation``. The option `split` selects splits (``test``) and perturbations
    (``test:misspellings``). Counts and times that HELM stores alongside its metrics are excluded unless
    `metric` names them.
    """
    path, left_out = file.path, set[str]()
    if path.name in ("run_spec.json", "stats.json", "scenario.json", "schema.json"):
        return  # a glob pattern also matches these files
    spec = file.read_optional(path.with_name("run_spec.json"))
    model = file.model_name(spec.get_record("adapter_spec").get_text("model"))
    task = _task_name(spec.get_text("name", path.parent.name))
    _apply_schema(file, task, spec.get_list("groups"))
    requested = file.collector.options.metric
    # After any equals sign of TASK=NAME, because tasks may contain equals signs as well.
    requested_names = {name[at:] for name in requested for at in range(len(name)) if f"={name}"[at] == "="}
    for entry in file.records():
        about = {"model": model, "sample": f"{task}/{entry.get_name('instance_id')}", "task": task}
        about["draw"] = entry.get_text("train_trial_index", "0")
        if entry.get("stats") is None:
            raise reader.type_error(entry.location_of("stats"), "a list of objects", None)
        for stat in entry.get_records("stats"):
            name = stat.get_record("name")
            metric = name.get_name("name")
            if _BOOKKEEPING.fullmatch(metric) and metric not in requested_names:
                left_out.add(metric)
                continue
            perturbation = (entry if entry.get("perturbation") else name).get_record("perturbation")
            columns = {"split": name.get_text("split", "all"), **_perturbation_columns(perturbation)}
            yield {"metric": metric, "score": stat.get("mean"), **about, **columns}
    if left_out:
        names = listing(sorted(left_out), 30)
        file.collector.note(f"ignored bookkeeping metrics ({option('metric')} can include them): {names}")


def _apply_schema(file: reader.ExportFile, task: str, groups: Sequence[object]) -> None:
    """Record metric directions and the primary metric of a task, as stated in ``schema.json``.

    `groups` are the groups of the run, which may have a main metric.
    """
    path = file.path.parent.parent / "schema.json"
    schema = file.read_optional(path)
    main_metrics: dict[str, str] = {}
    for group in schema.get_records("run_groups"):
        name = reader.get_nested(group, "environment", "main_name")
        if isinstance(group.get("name"), str) and isinstance(name, str):
            main_metrics[group["name"]] = name
    primary = next((main_metrics[group] for group in map(str, groups) if group in main_metrics), None)
    if primary is not None:
        file.collector.set_primary_metric(task, primary)
    for metric in schema.get_records("metrics"):
        lower = metric.get("lower_is_better")
        if isinstance(metric.get("name"), str) and isinstance(lower, bool):
            file.collector.set_direction(metric["name"], "lower" if lower else "higher", source=str(path))


def _task_name(name: str) -> str:
    """Return the name of a HELM run without its model: the scenario and its arguments.

    Folder names may contain ``-`` in place of the colon.
    """
    scenario, colon, arguments = name.partition(":")
    if not colon and "=" in name:
        head, _, first = name.partition("=")
        scenario, _, key = head.rpartition("-")
        arguments = f"{key}={first}"
    of_model = ("model=", "model_deployment=")
    remaining = [part for part in arguments.split(",") if part and not part.startswith(of_model)]
    return f"{scenario}:{','.join(remaining)}" if remaining else scenario


def _perturbation_columns(perturbation: reader.Record) -> dict[str, str]:
    """Return the columns that describe a perturbation, or none for an unperturbed instance."""
    if not perturbation:
        return {}
    # These fields do not change the instance.
    ignored = ("name", "robustness", "fairness", "computed_on")
    items = [(key, value) for key, value in sorted(perturbation.items()) if key not in ignored]
    settings = [f"{key}={plain_text(value)}" for key, value in items]
    name = perturbation.get_text("name", "perturbed")
    return {_PERTURBATION: name, _SETTINGS: f"{name}({','.join(settings)})"}
