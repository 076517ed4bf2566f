"""Columns without a role, and what they tell of repeats, of models without common samples, and of groups.

Nothing is done because of them: messages name them with what they could mean, which only a person knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import combinations

import numpy as np
import polars as pl

from riskrank.asked.option import options_of
from riskrank.errors import listing, option
from riskrank.scores.exports import unscored
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.words import BELONGING, JUDGE, SETTING, WHOLE, numbers_runs, typed, words
from riskrank.scores.table import told_directions
from riskrank.scores.table.path_hints import template_of_tasks, written
from riskrank.scores.table.scores import Scores

# What these say is of metrics and of missing scores, not of samples.
_TELLING = (told_directions.COLUMN, unscored.COLUMN)

# More different values are names, times or measurements: no runs, no parts, no groups to look at.
_MOST_VALUES = 20
_FEWEST_SAMPLES = 10
# A look at further columns of larger tables would take as long as reading them.
_MOST_ROWS = 5_000_000
_MOST_COLUMNS = 20
# Rows that settle of most columns that they are none, so that a column of responses is not read for this.
_LOOK = 1000
# Samples that belong together are fewer wholes than this share of them.
_SHARED = 0.8
# Columns looked at in pairs.
_MOST_PAIRED = 8


def hint_for_repeats(scores: Scores) -> str:
    """Which columns tell repeated rows apart, and how each is named by what it means; empty if none does."""
    metrics = {name for name in scores.metrics if name in scores.options.metric or not numbers_runs(name)}
    free = _texts(scores, _without_role(scores, metrics))
    found = {name: typed(free[name]) for name in free.columns}
    found = {name: column for name, column in found.items() if _may_explain(column)}
    if not found:
        return _told_by_files(scores)
    rows = pl.DataFrame(list(found.values())).with_columns(_cells(scores).alias(""))
    cells = rows[""].n_unique()

    def groups(*names: str) -> int:
        return rows.select("", *names).n_unique()

    ordered = sorted(found, key=lambda name: (not numbers_runs(name), found[name].n_unique(), name))
    alone = [name for name in ordered if groups(name) == rows.height]
    if alone:
        return _of_one(alone, _of_every_cell(rows, alone[0], cells), scores)
    varying = [name for name in ordered if groups(name) > cells]
    for pair in combinations(varying[:_MOST_PAIRED], 2):
        if groups(*pair) == rows.height:
            return (
                f"columns {' and '.join(map(repr, pair))} tell them apart together: say what each is "
                f"({', '.join(_meanings('NAME', scores))}), or choose with {option('where')}"
            )
    of_files = _told_by_files(scores)
    if of_files or not varying:
        return of_files
    return (
        f"{listing(map(repr, varying))} {'differs' if len(varying) == 1 else 'differ'} between such rows: "
        f"look at what that is, and choose with {option('where')}; {taking_runs(scores)} all as runs of the "
        "same thing"
    )


def how_runs(scores: Scores) -> tuple[str, str]:
    """How a command takes runs of the same thing, and what that does with them: not every one keeps draws."""
    known = next(one for one in options_of(type(scores.options)) if one.name == "repeats").asking.choices
    return ("draws", "keeps") if "draws" in known else ("mean", "averages")


def taking_runs(scores: Scores) -> str:
    """``--repeats draws keeps``."""
    how, does = how_runs(scores)
    return f"{option('repeats', how)} {does}"


def _may_explain(column: pl.Series) -> bool:
    """Whether a column repeats its values; one of measurements, or that names every row, explains nothing."""
    values = column.n_unique()
    return 1 < values < column.len() and (values <= _MOST_VALUES or not column.dtype.is_float())


def _of_one(alone: Sequence[str], kept: object, scores: Scores) -> str:
    name = alone[0]
    several = f" (so does {listing(map(repr, alone[1:]))})" if len(alone) > 1 else ""
    text = f"column {name!r} tells them apart{several}: "
    if words(name) & (JUDGE | SETTING):  # two judges are no two runs of one: their scores are not alike
        one = "" if kept is None else f"{option('where', condition(name, kept))} compares by that one alone"
        found = [one or f"choose one with {option('where')}"]
        return text + ", ".join([*found, *_meanings(name, scores)[2:]])
    text += ", ".join(_meanings(name, scores))
    return text if kept is None else f"{text}; {option('where', condition(name, kept))} keeps one"


def _meanings(name: str, scores: Scores) -> list[str]:
    """How a column is named that numbers runs, or that names samples or metrics together with their own."""
    roles = scores.notes.files[0].roles
    sample = _named("sample", f"{roles.sample}+{name}" if roles.sample else name, scores)
    together = f" (with {option('cluster', roles.sample)} if they belong together)" if roles.sample else ""
    own = f"samples of their own {sample}{together}"
    if words(name) & WHOLE and roles.sample and roles.task is None:
        own = f"tasks with samples of their own {option('task', name)}"
    runs = option("repeats", how_runs(scores)[0])
    found = [f"runs of the same thing are {_named('draw', name, scores)} {runs}", own]
    if roles.metric:
        found.append(f"metrics of their own are {_named('metric', f'{roles.metric}+{name}', scores)}")
    return found


def _named(role: str, column: str, scores: Scores) -> str:
    """The option that names a column, beside those that are named already."""
    given = {
        role: column
        for role, _, column in (part.partition("=") for part in (scores.options.columns or "").split(","))
        if role and column
    }
    return option("columns", ",".join(f"{r}={c}" for r, c in (given | {role: column}).items()))


def _told_by_files(scores: Scores) -> str:
    """What it may mean that files repeat each other's samples, where each of them has a cell once."""
    files, sample = scores.notes.inputs, scores.notes.files[0].roles.sample
    if len(files) < 2 or sample is None or sum(file.rows for file in files) != scores.notes.rows:
        return ""
    of_row = np.repeat(np.arange(len(files)), [file.rows for file in files])
    read = _rows_read(scores).with_columns(_cells(scores).alias("cell"))
    read = read.with_columns(file=pl.Series(of_row).gather(read["row"]))
    if read.select("cell", "file").n_unique() < read.height:
        return ""
    labels = [file.source.model_label for file in scores.notes.files]
    template = template_of_tasks(labels, [file.path for file in files], read)
    tasks, runs = (
        written([template.replace("{task}", f"{{{name}}}")]) if template else f"add a column '{name}'"
        for name in ("task", "draw")
    )
    return (
        "the files repeat each other's samples. If each is a task of its own: "
        f"{tasks}; if they are runs of the same samples: "
        f"{runs} {option('repeats', how_runs(scores)[0])}; if one is a copy of another, leave it out"
    )


def _of_every_cell(rows: pl.DataFrame, name: str, cells: int) -> object:
    """A value that the rows of every cell have, so that keeping it keeps every cell."""
    of_cells = rows.group_by(name).agg(pl.col("").n_unique())
    whole = of_cells.filter(pl.col("") == cells).drop_nulls().sort(name)
    return whole[name][0] if whole.height else None


def hint_for_parts(scores: Scores) -> str:
    """How to read the largest part of a table in which all models share the samples, if there is one."""
    cells = _rows_read(scores).select("model", "sample")
    for name in _without_role(scores, set(scores.metrics)):
        values = _texts(scores, [name])
        if not values.width or not 1 < values[name].n_unique() <= _MOST_VALUES:
            continue
        best = _largest(cells.with_columns(values[name].alias("of")))
        if best is not None:
            return (
                f"column {name!r} divides them: {option('where', condition(name, best))} compares the models "
                "that share its samples"
            )
    return ""


def _largest(rows: pl.DataFrame) -> str | None:
    """Value under which the most models, at least two, have the same samples."""
    parts = (
        rows.drop_nulls()
        .group_by("of")
        .agg(
            models=pl.col("model").n_unique(),
            samples=pl.col("sample").n_unique(),
            cells=pl.struct("model", "sample").n_unique(),
        )
        .filter((pl.col("models") > 1) & (pl.col("cells") == pl.col("models") * pl.col("samples")))
        .sort("models", "samples", "of", descending=[True, True, False])
    )
    return str(parts["of"][0]) if parts.height else None


def belonging_column(scores: Scores) -> tuple[str, int] | None:
    """A column that says by its name what samples belong to, where several belong to one; and how many."""
    if scores.notes.rows > _MOST_ROWS or not scores.notes.has_samples:
        return None
    for name in _without_role(scores, set(scores.metrics)):
        if not words(name) & BELONGING:
            continue
        values = _texts(scores, [name])
        if not values.width:
            continue
        pairs = pl.DataFrame([_rows_read(scores)["sample"], values[name].alias("whole")]).unique()
        count, samples = pairs["whole"].n_unique(), pairs["sample"].n_unique()
        if pairs.height == samples and not pairs["whole"].null_count() and 2 <= count <= _SHARED * samples:
            return name, count
    return None


def dividing_columns(scores: Scores) -> tuple[str, ...]:
    """Columns whose values belong to samples, each to enough of them, in the file's order."""
    if scores.notes.rows > _MOST_ROWS or not scores.notes.has_samples:
        return ()
    samples = _rows_read(scores)["sample"]
    values = {name for file in scores.notes.files for name in file.roles.values}
    names = _without_role(scores, values)[:_MOST_COLUMNS]
    return tuple(name for name in names if _divides(scores, samples, name))


def _divides(scores: Scores, samples: pl.Series, name: str) -> bool:
    for file in scores.notes.files:
        scan = file.source.scan([name])
        if scan is not None and scan.head(_LOOK).collect()[name].n_unique() > _MOST_VALUES:
            return False
    values = _texts(scores, [name])
    if not values.width or values[name].n_unique() > _MOST_VALUES:
        return False
    pairs = pl.DataFrame([samples, values[name].alias("group")]).unique()
    if pairs["group"].null_count() or typed(pairs["group"]).dtype.is_float():
        return False
    sizes = pairs["group"].value_counts()["count"]
    one_each = pairs["sample"].n_unique() == pairs.height
    return one_each and sizes.len() >= 2 and int(sizes.min()) >= _FEWEST_SAMPLES  # type: ignore[arg-type]


def _without_role(scores: Scores, metrics: set[str]) -> list[str]:
    """Columns of every file that have a name, no role and are no metric, in the order of the first file."""
    files = scores.notes.files
    spare = set.intersection(*(set(file.source.columns) for file in files))
    for file in files:
        roles = [getattr(file.roles, role.name) for role in fields(file.roles)]
        named = [column for column in roles if isinstance(column, str) and column]
        spare -= {part for column in named for part in (column, *column.split("+"))}
    if _is_wide(scores):
        spare -= metrics
    return [name for name in files[0].source.columns if name and name in spare and name not in _TELLING]


def _is_wide(scores: Scores) -> bool:
    return scores.notes.files[0].roles.score is None


def _rows_read(scores: Scores) -> pl.DataFrame:
    """Row, model, sample and metric of the input rows: all metrics of a wide one are one row."""
    rows = scores.frame.select("row", "model", "sample", "metric")
    return rows.unique("row", keep="first", maintain_order=True) if _is_wide(scores) else rows


def _cells(scores: Scores) -> pl.Series:
    """Numbers of what the input rows score: a model on a sample, and for a metric where each has one."""
    cell = ("model", "sample") if _is_wide(scores) else ("model", "sample", "metric")
    return _rows_read(scores).select(pl.struct(cell).rank("dense")).to_series()


def _texts(scores: Scores, names: Sequence[str]) -> pl.DataFrame:
    """Further columns of the input rows as text, without those that hold lists or objects."""
    frames = [file.source.load(names) for file in scores.notes.files if names]
    plain = [name for name in names if not any(frame[name].dtype.is_nested() for frame in frames)]
    texts = [frame.select(pl.col(plain).cast(pl.String, strict=False)) for frame in frames]
    return pl.concat(texts)[_rows_read(scores)["row"]] if plain else pl.DataFrame()


def condition(column: str, value: object) -> str:
    """SQL that keeps the rows with a value in a column."""
    number = isinstance(value, int | float)
    return f"{quoted_column(column)} = {repr(value) if number else quoted_text(str(value))}"
