"""MTEB: a file of results a task, in a folder a model and revision."""

from dataclasses import replace

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.interface import Export, ExportRules
from riskrank.scores.exports.row_reader import ExportFile, Rows, chosen_by_task, reads
from riskrank.scores.files.beginnings import holding

MAIN = "main_score"
_META = "model_meta.json"


def _means(export: Export, rules: ExportRules) -> Export:
    """Of each task the mean over the subsets that all its models have, of the split that counts."""
    rows = chosen_by_task(export.rows, rules.splits, "split", of="sample", what="splits", where="task")
    splits = pl.col("split").n_unique().over("sample")
    named = pl.concat_str("metric", "split", separator=",")
    rows = rows.with_columns(metric=pl.when(splits > 1).then(named).otherwise("metric"))
    models = pl.col("model").n_unique()
    rows = rows.with_columns(shared=models.over("sample", "metric", "subset") == models.over("sample"))
    gone = rows.filter(~pl.col("shared") & pl.col("shared").any().over("sample"))
    notes = [
        f"{task}: subsets that not all models have, left out: {listing(sorted(set(found['subset'])), 6)}"
        for (task,), found in gone.group_by("sample", maintain_order=True)
    ]
    by = ["model", "sample", "metric", "revision"]
    means = rows.filter(pl.col("shared") | ~pl.col("shared").any().over("sample"))
    for keys in ([*by, "subset"], by):
        means = means.group_by(keys, maintain_order=True).agg(pl.col("score").mean())
    means = means.select("model", "sample", "metric", "score", "revision")
    ways = {name: "higher" for name in means["metric"].unique() if name.partition(",")[0] == MAIN}
    return replace(export, rows=means, directions=ways, notes=(*export.notes, *notes), board=True)


@reads("mteb", holding(MAIN, "hf_subset", "scores"), uses=("split",), across=_means)
def read(file: ExportFile) -> Rows:
    """The main score of a task, of which more is better, and others that somebody asks for by name.

    The model is named by ``model_meta.json`` beside the file, else by a folder ``<organisation>__<model>``.
    """
    whole = file.document()
    path = file.path.resolve()
    folders = (folder.name for folder in path.parents if "__" in folder.name)
    beside = file.gathering.beside(file.path.with_name(_META)).text("name")
    model = file.model(beside or next(folders, "").replace("__", "/"))
    about = {"model": model, "sample": whole.name("task_name"), "revision": path.parent.name}
    asked = [name.rpartition("=")[2] for name in file.gathering.rules.metrics]
    scores = whole.inner("scores")
    for split in scores:
        for entry in scores.entries(split):
            place = {"split": split, "subset": entry.text("hf_subset", "default")}
            for metric in [name for name in dict.fromkeys((MAIN, *asked)) if name in entry]:
                yield {"metric": metric, "score": entry[metric], **about, **place}
