"""MTEB: one results file per task, in one folder per model and revision."""

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.reader import ExportFile, RowCollector, Rows
from riskrank.scores.exports.selection import select_by_task

MAIN = "main_score"
_META = "model_meta.json"


def finish(rows: pl.DataFrame, collector: RowCollector) -> pl.DataFrame:
    """Return rows of MTEB scores by model and task, averaged over the subsets of the requested split.

    Only subsets that all models have are included. `collector` holds the options and receives notes.
    """
    rows = select_by_task(
        rows, collector.options.split, "split", task_column="sample", plural="splits", context="task"
    )
    n_splits = pl.col("split").n_unique().over("sample")
    metric_name = pl.concat_str("metric", "split", separator=",")
    rows = rows.with_columns(metric=pl.when(n_splits > 1).then(metric_name).otherwise("metric"))
    models = pl.col("model").n_unique()
    rows = rows.with_columns(shared=models.over("sample", "metric", "subset") == models.over("sample"))
    excluded = rows.filter(~pl.col("shared") & pl.col("shared").any().over("sample"))
    for (task,), frame in excluded.group_by("sample", maintain_order=True):
        subsets = listing(sorted(set(frame["subset"])), 6)
        collector.note(f"{task}: ignored subsets that some models lack: {subsets}")
    by = ["model", "sample", "metric", "revision"]
    means = rows.filter(pl.col("shared") | ~pl.col("shared").any().over("sample"))
    for keys in ([*by, "subset"], by):
        means = means.group_by(keys, maintain_order=True).agg(pl.col("score").mean())
    collector.has_task_averages = True
    return means


def read(file: ExportFile) -> Rows:
    """Yield the main score of an MTEB task, and any other metrics requested by name.

    The model is named in ``model_meta.json`` in the same folder, or otherwise by a folder
    ``<organisation>__<model>``.
    """
    document = file.document()
    path = file.path.resolve()
    folders = (folder.name for folder in path.parents if "__" in folder.name)
    named_model = file.read_optional(file.path.with_name(_META)).get_text("name")
    model = file.model_name(named_model or next(folders, "").replace("__", "/"))
    about = {"model": model, "sample": document.get_name("task_name"), "revision": path.parent.name}
    requested = [name.rpartition("=")[2] for name in file.collector.options.metric]
    scores = document.get_record("scores")
    for split in scores:
        for entry in scores.get_records(split):
            columns = {"split": split, "subset": entry.get_text("hf_subset", "default")}
            for metric in [name for name in dict.fromkeys((MAIN, *requested)) if name in entry]:
                yield {"metric": metric, "score": entry[metric], **about, **columns}
