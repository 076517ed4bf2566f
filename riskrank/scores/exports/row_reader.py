"""Readers that are one generator of rows: files, counting, choosing and finishing are done here."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing, option
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.exports.gathering import (
    Gathering,
    check_used,
    choose,
    files_of,
    model_of,
    refuse_rules,
    tidy,
)
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.files.data_frames import Columns, csv_columns, json_columns
from riskrank.scores.files.paths import differing


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """One file of an export, its bytes unpacked: in whichever form it holds its rows, they come checked."""

    path: Path
    data: bytes
    label: str | None
    gathering: Gathering

    def records(self) -> Iterator[Record]:
        """Objects of a JSON array, or of JSON lines, whatever the file is called.

        Raises
        ------
        InputError
            If the file is neither, or an entry is no object; with `skip_bad` such entries are counted.
        """
        return self.gathering.records(self.path, self.data)

    def document(self) -> Record:
        """The one object a JSON file holds.

        Raises
        ------
        InputError
            If it holds anything else.
        """
        return self.gathering.document(self.path, self.data)

    @property
    def is_json(self) -> bool:
        """Whether a table is written as JSON, else as CSV."""
        return self.data.lstrip()[:1] in (b"{", b"[")

    def columns(self) -> Columns:
        """Columns of a table, as CSV or in any of the ways pandas writes JSON."""
        return (json_columns if self.is_json else csv_columns)(self.path, self.data)

    def rows(self, is_score: Callable[[str], object]) -> Iterator[Record]:
        """Rows of a table, as CSV, a JSON array or lines; in CSV, what is no column of scores is text."""
        if self.is_json:
            yield from self.records()
            return
        columns = csv_columns(self.path, self.data, is_score)
        for number, cells in enumerate(zip(*columns.values(), strict=True), start=2):
            yield Record(f"{self.path}: row {number}", dict(zip(columns, cells, strict=True)))

    def model(self, logged: str | None = None) -> str:
        """The model of the file: by the rule for paths, else as it says itself, else its label."""
        return model_of(self.path, logged, self.gathering.rules, label=self.label)

    def direct(self, metric: str, direction: str) -> None:
        """Keep what this file says about a metric's direction."""
        self.gathering.direct(metric, direction, of=str(self.path))

    def note(self, text: str) -> None:
        """Note something about this file."""
        self.gathering.note(f"{self.path}: {text}")

    def count(self, what: str) -> None:
        """Count something that is left out."""
        self.gathering.count(what)


Rows = Iterator[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RowReader:
    """A reader made of a generator of rows: called with files and rules, it gives their export.

    Attributes
    ----------
    name : str
    recognises : callable
    rows : callable
        Gives the rows of one file: ``model``, ``sample``, ``metric``, ``score`` and further columns.
    directions : mapping of str to {"higher", "lower"}
        Of the metrics that mean the same in every file.
    choices : mapping of str to str
        Columns of which the rule `filters` keeps a value, with the plural they are called by.
    beside : collection of str
        Metrics of how it was run, as time and tokens: they count where somebody asks for them by name.
    uses : sequence of {"filter", "split"}
        Rules that `then` or `across` applies.
    by_file : bool
        Whether each of several files that name no model is one, called by what differs in their paths.
    prefers : callable, optional
        Tells of a file whether it is read alone, as it says what the files beside it do.
    then, across : callable, optional
        Change what was kept: of files of one label, and of all, by the rules.
    """

    name: str
    recognises: Callable[[Path], bool]
    rows: Callable[[ExportFile], Rows]
    directions: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    beside: Collection[str] = ()
    uses: Sequence[str] = ()
    by_file: bool = False
    prefers: Callable[[Path], bool] = lambda path: True
    then: Callable[[Export, ExportRules], Export] | None = None
    across: Callable[[Export, ExportRules], Export] | None = None

    def read(self, files: Sequence[LabelledPath], rules: ExportRules) -> Export:
        """Read the rows of all files."""
        refuse_rules(rules, self.name, uses=(*self.uses, *(("filter",) if self.choices else ())))
        gathering = Gathering(rules)
        for metric, way in self.directions.items():
            gathering.direct(metric, way)
        found = [*files_of(files, self.recognises)]
        paths = [path for path in found if self.prefers(path)] or found
        label = files[0].label if files else None
        named = names_of(paths) if self.by_file and label is None else {}
        for path in paths:
            gathering.take(path, partial(self._add, gathering, path, label or named.get(path)))
        export = gathering.export()
        if self.choices:
            export = keep_readings(export, rules, self.choices, where=self.name)
        return finish(self.then(export, rules) if self.then else export)

    def _add(self, gathering: Gathering, path: Path, label: str | None, data: bytes) -> None:
        beside = {*self.beside} - {*gathering.rules.metrics}
        left: dict[str, None] = {}
        for row in self.rows(ExportFile(path=path, data=data, label=label, gathering=gathering)):
            if row["metric"] in beside:
                left[row["metric"]] = None
                continue
            gathering.add(**row)
        if left:
            gathering.note(f"no quality, left out: {listing(left)}; {option('metric', 'NAME')} adds one")


def names_of(paths: Sequence[Path]) -> dict[Path, str]:
    """Names of several files: what differs in their paths, if it differs in one place and for all of them.

    Of a name with points its last parts do not count that all have.
    """
    places = differing([str(path) for path in paths])
    told = places[0] if len(places) == 1 else [path.name for path in paths]
    names = {path: name.removesuffix(path.suffix) for path, name in zip(paths, told, strict=True)}
    while len(ends := {name.rpartition(".")[::2] for name in names.values()}) > 1:
        if len({end for _, end in ends}) > 1 or not all(first for first, _ in ends):
            break
        names = {path: name.rpartition(".")[0] for path, name in names.items()}
    return names if 1 < len(paths) == len(set(names.values())) else {}


def reads(
    name: str, recognises: Callable[[Path], bool], **more: Any
) -> Callable[[Callable[[ExportFile], Rows]], RowReader]:
    """Make a reader of a generator of rows; the arguments are those of `RowReader`."""
    return lambda rows: RowReader(name=name, recognises=recognises, rows=rows, **more)


def keep_readings(export: Export, rules: ExportRules, kinds: Mapping[str, str], *, where: str) -> Export:
    """Keep the judges, references or the like that the rule `filters` names.

    Parameters
    ----------
    export : Export
    rules : ExportRules
    kinds : mapping
        Columns that tell readings apart, with the plural they are called by in a message.
    where : str
        Format, for messages.

    Returns
    -------
    Export
        With one reading; of several that were asked for, each is a metric of its own, ``score,judge``.

    Raises
    ------
    UsageError
        If there are several readings and no rule for them, or the rule names none of them.
    """
    rows = export.rows
    there = {column: rows[column].drop_nulls().unique().sort().to_list() for column in kinds}
    check_used("filter", rules.filters, [name for names in there.values() for name in names])
    for column, plural in kinds.items():
        kept = choose("filter", rules.filters, there[column], what=plural, where=where)
        if not there[column]:
            continue
        rows = rows.filter(pl.col(column).is_in(kept))
        if len(kept) > 1:
            rows = rows.with_columns(metric=pl.concat_str("metric", column, separator=","))
    directions = {
        metric: export.directions[plain]
        for metric in rows["metric"].unique().sort()
        for plain in export.directions
        if metric == plain or metric.startswith(f"{plain},")
    }
    return replace(export, rows=rows, directions=directions)


def chosen_by_task(
    rows: pl.DataFrame, asked: Sequence[str], parameter: str, *, of: str, what: str, where: str
) -> pl.DataFrame:
    """Rows with those filters or splits that the rule picks among what each task has.

    Parameters
    ----------
    rows : DataFrame
    asked : sequence of str
        What the rule says.
    parameter : {"filter", "split"}
        The rule, which is the name of the column too.
    of : str
        Column that names the task.
    what, where : str
        For messages: what there are several of, and what a task is called.

    Raises
    ------
    UsageError
        If a task has several, and nothing picks among them.
    """
    there: dict[str, list[str]] = {}
    for task, name in rows.select(of, parameter).unique(maintain_order=True).iter_rows():
        there.setdefault(task, []).append(name)
    kept = [
        (task, name)
        for task, names in there.items()
        for name in choose(parameter, asked, names, what=what, where=f"{where} {task}")
    ]
    picked = pl.DataFrame(kept, schema={of: pl.String, parameter: pl.String}, orient="row")
    return rows.join(picked, on=[of, parameter], how="semi", maintain_order="left")


def finish(export: Export) -> Export:
    """Number repeats, and leave out metrics without a single score.

    Returns
    -------
    Export
        ``draw`` numbers the scores a model has for one sample and metric, in the order of the files.

    Raises
    ------
    InputError
        If no metric has a score.
    """
    scored = export.rows.filter(pl.col("score").is_not_null())["metric"].unique()
    rows = export.rows.filter(pl.col("metric").is_in(scored.implode()))
    empty = [name for name in export.rows["metric"].unique(maintain_order=True) if name not in scored]
    if rows.is_empty():
        raise broken(
            f"{listing((entry.path for entry in export.inputs), 3)}: no sample has a score",
            listing(export.notes, 3),
        )
    draw = pl.int_range(1, pl.len() + 1).over("model", "sample", "metric").cast(pl.String)
    return replace(
        export,
        rows=tidy(rows.with_columns(draw=draw)),
        directions={metric: way for metric, way in export.directions.items() if metric in scored},
        notes=(*export.notes, *(f"{metric}: no sample has a score, left out" for metric in empty)),
    )
