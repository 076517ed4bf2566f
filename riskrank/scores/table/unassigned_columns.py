"""Columns without a role, and what they tell of repeats, of wholes and of groups.

Nothing is done because of them: messages name them with what they could mean, which only a person knows.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

import polars as pl

from riskrank.engine.sampling.design import FEWEST_LEVELS
from riskrank.errors import listing, option
from riskrank.options.option import options_of
from riskrank.scores.files.parsing import UNSCORED
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.grouping_columns import MOST_KINDS, divides, says_of
from riskrank.scores.layouts.layout import Reading, with_roles, written
from riskrank.scores.names.vocabulary import vocabulary, names_clusters, has_word, to_numeric, words
from riskrank.scores.table.requested_metrics import DIRECTION
from riskrank.scores.table.scores import Scores

# What these say is of metrics and of missing scores, not of samples.
_TELLING = (DIRECTION, UNSCORED)
# More different values are names, times or measurements: no runs, no parts, no groups to look at.
_MOST_VALUES = 20
# A look at further columns of larger tables would take as long as reading them.
_MOST_ROWS = 5_000_000
_MOST_COLUMNS = 20
# Rows that settle of most columns that they are none, so that a column of responses is not read for this.
_LOOK = 1000
# Wholes are fewer than these shares of samples and of rows.
FEW_WHOLES, _REPEATED = 0.5, 0.8
# What rows are that a column tells apart.
_RUNS, _TASKS = "runs of the same thing are", "tasks with samples of their own are"
_SAMPLES, _METRICS, _ONE = "samples of their own are", "metrics of their own are", "one of them alone is"
# What a row scores, and its sample, beside columns of any name.
_CELL, _SAMPLE = "\0cell", "\0sample"


def hint_for_repeats(scores: Scores) -> tuple[str, list[Reading]]:
    """Which columns tell repeated rows apart, and readings of what each may mean; nothing if none does."""
    from riskrank.scores.layouts.row_keys import beside_of

    metrics = {name for name in scores.metrics if name in scores.options.metric or not has_word(name, "run")}
    columns = _columns(scores, _without_role(scores, metrics))
    found = [name for name in columns.names if _may_explain(columns, name)]
    alone = {name: columns.tell_apart(_CELL, name) for name in found}
    found.sort(key=lambda name: (not alone[name], not has_word(name, "run"), columns.count(name), name))
    beside = beside_of(columns, [_CELL], found)
    if not beside or not columns.tell_apart(_CELL, *beside):
        said = (
            f"{listing(map(repr, beside))} {'differs' if len(beside) == 1 else 'differ'} between such rows: "
        )
        said += f"look at what that is, and choose with {option('where')}; {taking_runs(scores)} all as runs"
        return said if beside else "", []
    if len(beside) > 1:
        said = f"columns {' and '.join(map(repr, beside))} tell them apart together: say what each is ("
        said += f"{_told(scores, _meanings(scores, 'NAME'))}), or choose with {option('where')}"
        return said, []
    (name,), others = beside, [one for one in found[1:] if alone[one]]
    several = f" (so does {listing(map(repr, others))})" if others else ""
    readings = _meanings(scores, name, _of_every_cell(columns, name))
    return f"column {name!r} tells them apart{several}: {_told(scores, readings)}", readings


def how_runs(scores: Scores) -> tuple[str, str]:
    """How a command takes runs of the same thing, and what that does with them: not every one keeps draws."""
    known = next(one for one in options_of(type(scores.options)) if one.name == "repeats").asking.choices
    return ("draws", "keeps") if "draws" in known else ("mean", "averages")


def taking_runs(scores: Scores) -> str:
    """``--repeats draws keeps``."""
    how, does = how_runs(scores)
    return f"{option('repeats', how)} {does}"


def _may_explain(columns: Columns, name: str) -> bool:
    """Whether a column repeats its values; one of measurements, or that names every row, explains nothing."""
    many, measured = columns.count(name), columns.frame[name].dtype.is_float()
    return 1 < many < columns.height and (many <= _MOST_VALUES or not measured)


def _told(scores: Scores, readings: Sequence[Reading]) -> str:
    """Readings in words, with the options that say each."""
    return ", ".join(f"{one.said} {written(one.options, scores.notes.asked)}" for one in readings)


def _meanings(scores: Scores, name: str, kept: object = None) -> list[Reading]:
    """What a column that tells repeats apart may name, the likeliest by its name first."""
    asked, roles, found = scores.notes.asked, scores.notes.files[0].roles, words(name)
    joined = {role: f"{column}+{name}" for role in ("sample", "metric") if (column := getattr(roles, role))}
    whole = {} if roles.cluster else {"cluster": roles.sample}
    of_tasks = bool(found & vocabulary("whole")) and roles.task is None
    ways = {
        _RUNS: with_roles(asked, {"draw": name}, repeats=how_runs(scores)[0]),
        _TASKS: replace(asked, task=name) if of_tasks else None,
        _SAMPLES: with_roles(asked, {"sample": joined["sample"]}, **whole)
        if "sample" in joined and not of_tasks
        else None,
        _METRICS: with_roles(asked, {"metric": joined["metric"]}) if "metric" in joined else None,
        _ONE: None if kept is None else replace(asked, where=condition(name, kept, asked.where)),
    }
    order = [*ways]
    if found & vocabulary(
        "judge", "setting"
    ):  # two judges are no two runs of one: their scores are not alike
        order = [_ONE, _METRICS]
    elif found & vocabulary("within", "whole") and not has_word(name, "run"):
        order = [_TASKS, _SAMPLES, _RUNS, _METRICS, _ONE]
    return [Reading(said=said, options=options) for said in order if (options := ways[said]) is not None]


def _of_every_cell(columns: Columns, name: str) -> object:
    """A value that the rows of every cell have, so that keeping it keeps every cell."""
    of_cells = columns.frame.group_by(name).agg(pl.col(_CELL).n_unique())
    whole = of_cells.filter(pl.col(_CELL) == columns.count(_CELL)).drop_nulls().sort(name)
    return whole[name][0] if whole.height else None


def unforeseen_wholes(scores: Scores) -> list[tuple[str, pl.DataFrame]]:
    """Columns of wholes, or with many or numbered values, each of several samples; and the value of each."""
    none = vocabulary("whole", "setting", "properties", "answer")
    named = [name for name in _free(scores, set(scores.metrics)) if not words(name) & none]
    columns, found = _of_few_values(scores, named, _REPEATED * _LOOK), []
    for name in columns.names:
        many = _fewest_wholes(columns, name) <= columns.count(name) <= FEW_WHOLES * columns.count(_SAMPLE)
        if many and says_of(columns, name, [_SAMPLE]):
            of_sample = columns.frame.select(whole=name, sample=pl.col(_SAMPLE).cast(pl.String))
            found.append((name, of_sample.unique("sample")))
    return found


def _fewest_wholes(columns: Columns, name: str) -> int:
    """How many values a column of wholes has at least: of few values words may be kinds."""
    values = columns.frame[name].unique()
    numbered = values.dtype == pl.String and values.str.contains(r"\d").all()
    if names_clusters(name):
        return 2
    return FEWEST_LEVELS if numbered or values.dtype.is_temporal() else MOST_KINDS + 1


def dividing_columns(scores: Scores) -> tuple[str, ...]:
    """Columns whose values belong to samples, each to enough of them, in the file's order."""
    values = {name for file in scores.notes.files for name in file.roles.values}
    columns = _of_few_values(scores, _free(scores, values), _MOST_VALUES)
    return tuple(name for name in columns.names if divides(columns, name, [_SAMPLE]))


def sorted_by(scores: Scores) -> bool:
    """Whether the rows of a model are sorted by a column that puts samples into groups."""
    names, most = dividing_columns(scores), len(scores.models)
    files = (file.source.load(names) for file in scores.notes.files)
    return bool(names) and any(own.rle().len() <= most * own.n_unique() for own in pl.concat(files))


def _of_few_values(scores: Scores, names: Sequence[str], most: float) -> Columns:
    """The first columns but fractions, without those of more values in the first rows of a file."""

    def in_first_rows(name: str) -> int:
        heads = (file.source.scan([name]) for file in scores.notes.files)
        return max(0 if scan is None else scan.head(_LOOK).collect()[name].n_unique() for scan in heads)

    columns = _columns(scores, [name for name in names[:_MOST_COLUMNS] if in_first_rows(name) <= most])
    whole = [name for name in columns.names if not columns.frame[name].dtype.is_float()]
    return Columns(columns.frame, whole)


def _free(scores: Scores, metrics: set[str]) -> list[str]:
    """Columns that may say something of samples; none of a table too large to look."""
    if scores.notes.rows > _MOST_ROWS or not scores.notes.has_samples:
        return []
    return _without_role(scores, metrics)


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


def _columns(scores: Scores, names: Sequence[str]) -> Columns:
    """Further columns of the input rows, but lists and objects, beside what a row scores."""
    if not names:  # a look at the samples of millions of rows takes seconds
        return Columns(pl.DataFrame(), [])
    frames = [file.source.load(names) for file in scores.notes.files]
    plain = [name for name in names if not any(frame[name].dtype.is_nested() for frame in frames)]
    rows, cell = _rows_read(scores), ["model", "sample", *([] if _is_wide(scores) else ["metric"])]
    own = [rows["sample"].alias(_SAMPLE), rows.select(pl.struct(cell).rank("dense")).to_series().alias(_CELL)]
    if not plain:
        return Columns(pl.DataFrame(own), [])
    texts = pl.concat([frame.select(pl.col(plain).cast(pl.String, strict=False)) for frame in frames])
    return Columns(pl.DataFrame([*map(to_numeric, texts[rows["row"]]), *own]), plain)


def condition(column: str, value: object, given: str | None = None) -> str:
    """SQL that keeps the rows with a value in a column, beside a condition that is given."""
    number = isinstance(value, int | float)
    found = f"{quoted_column(column)} = {repr(value) if number else quoted_text(str(value))}"
    return found if given is None else f"({given}) AND {found}"
