"""MTEB: a file of results a task, in a folder a model and revision."""

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.collection import Gathering
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.exports.selection import chosen_by_task
from riskrank.scores.files.signatures import holding

MAIN = "main_score"
_META = "model_meta.json"


def _means(rows: pl.DataFrame, gathering: Gathering) -> pl.DataFrame:
    """Of each task the mean over the subsets that all its models have, of the split that counts."""
    rows = chosen_by_task(rows, gathering.rules.split, "split", of="sample", what="splits", where="task")
    splits = pl.col("split").n_unique().over("sample")
    named = pl.concat_str("metric", "split", separator=",")
    rows = rows.with_columns(metric=pl.when(splits > 1).then(named).otherwise("metric"))
    models = pl.col("model").n_unique()
    rows = rows.with_columns(shared=models.over("sample", "metric", "subset") == models.over("sample"))
    gone = rows.filter(~pl.col("shared") & pl.col("shared").any().over("sample"))
    for (task,), found in gone.group_by("sample", maintain_order=True):
        subsets = listing(sorted(set(found["subset"])), 6)
        gathering.note(f"{task}: subsets that not all models have, left out: {subsets}")
    by = ["model", "sample", "metric", "revision"]
    means = rows.filter(pl.col("shared") | ~pl.col("shared").any().over("sample"))
    for keys in ([*by, "subset"], by):
        means = means.group_by(keys, maintain_order=True).agg(pl.col("score").mean())
    gathering.board = True
    return means


@reads(holding(MAIN, "hf_subset", "scores"), directions={MAIN: "higher"}, uses=("split",), then=_means)
def read(file: ExportFile) -> Rows:
    """The main score of a task, of which more is better, and others that somebody asks for by name.

    The model is named by ``model_meta.json`` beside the file, else by a folder ``<organisation>__<model>``.
    """
    whole = file.document()
    path = file.path.resolve()
    folders = (folder.name for folder in path.parents if "__" in folder.name)
    beside = file.beside(file.path.with_name(_META)).text("name")
    model = file.model(beside or next(folders, "").replace("__", "/"))
    about = {"model": model, "sample": whole.name("task_name"), "revision": path.parent.name}
    asked = [name.rpartition("=")[2] for name in file.gathering.rules.metric]
    scores = whole.inner("scores")
    for split in scores:
        for entry in scores.entries(split):
            place = {"split": split, "subset": entry.text("hf_subset", "default")}
            for metric in [name for name in dict.fromkeys((MAIN, *asked)) if name in entry]:
                yield {"metric": metric, "score": entry[metric], **about, **place}
