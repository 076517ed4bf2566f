"""MTEB: a file of results a task, in a folder a model and revision."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.boards import as_board
from riskrank.scores.exports.fields import a_name, an_object, objects
from riskrank.scores.exports.gathering import choose
from riskrank.scores.exports.interface import Export, ExportRules
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.beginnings import holds
from riskrank.scores.files.bounded import parse_json

MAIN = "main_score"
_META = "model_meta.json"


def recognises(path: Path) -> bool:
    """Whether these are the results of a task."""
    return holds(path, MAIN, "hf_subset", "scores")


def _means(export: Export, rules: ExportRules) -> Export:
    """Of each task the mean over the subsets that all its models have, of the split that counts."""
    rows, notes = [], list(export.notes)
    for (task,), of_task in export.rows.group_by("sample", maintain_order=True):
        splits = of_task["split"].unique().sort()
        kept = choose("split", rules.splits, splits, what="splits", where=f"task {task}")
        found = of_task.filter(pl.col("split").is_in(kept))
        models = found["model"].n_unique()
        shared = pl.col("model").n_unique().over("metric", "split", "subset") == models
        same = found.filter(shared)
        gone = found.filter(~shared)["subset"].unique().sort()
        if same.height and len(gone):
            notes.append(f"{task}: subsets that not all models have, left out: {listing(gone, 6)}")
        found = same if same.height else found
        metric = pl.concat_str("metric", "split", separator=",") if len(kept) > 1 else pl.col("metric")
        rows.append(found.with_columns(metric=metric))
    means = (
        pl.concat(rows)
        .group_by("model", "sample", "metric", "split", "subset", "revision", maintain_order=True)
        .agg(pl.col("score").mean())
        .group_by("model", "sample", "metric", "revision", maintain_order=True)
        .agg(pl.col("score").mean())
    )
    means = means.select("model", "sample", "metric", "score", "revision")
    ways = {name: "higher" for name in means["metric"].unique() if name.partition(",")[0] == MAIN}
    return as_board(replace(export, rows=means, directions=ways, notes=tuple(notes)), rules)


@reads("mteb", recognises, uses=("split",), then=_means)
def read(file: ExportFile) -> Rows:
    """The main score of a task, of which more is better, and others that somebody asks for by name.

    The model is named by ``model_meta.json`` beside the file, else by a folder ``<organisation>__<model>``.
    """
    whole = file.document()
    path = file.path.resolve()
    folders = (folder.name for folder in path.parents if "__" in folder.name)
    model = file.model(_named_beside(file) or next(folders, "").replace("__", "/"))
    about = {"model": model, "sample": whole.name("task_name"), "revision": path.parent.name}
    asked = [name.rpartition("=")[2] for name in file.gathering.rules.metrics]
    for split, found in an_object(f"{path}: scores", whole.get("scores")).items():
        for entry in objects(f"{path}: scores.{split}", found):
            subset = a_name(f"{path}: hf_subset", entry.get("hf_subset"), otherwise="default")
            for metric in [name for name in dict.fromkeys((MAIN, *asked)) if name in entry]:
                place = {"split": split, "subset": subset}
                yield {"metric": metric, "score": entry[metric], **about, **place}


def _named_beside(file: ExportFile) -> str:
    beside = file.path.with_name(_META)
    if not beside.is_file():
        return ""
    found = an_object(str(beside), parse_json(str(beside), file.gathering.read(beside)))
    return a_name(f"{beside}: name", found.get("name"), otherwise="")
