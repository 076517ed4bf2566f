"""Readers that are one generator of rows: files, counting, choosing and finishing are done here."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.collection import Gathering
from riskrank.scores.exports.export_file import ExportFile, files_of
from riskrank.scores.exports.fields import broken
from riskrank.scores.exports.interface import FILE, Export, LabelledPath
from riskrank.scores.exports.selection import keep_readings, refuse_rules
from riskrank.scores.files.paths import differing

Rows = Iterator[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RowReader:
    """A reader made of a generator of rows: called with files and rules, it gives their export.

    Attributes
    ----------
    recognises : callable
    rows : callable
        Gives the rows of one file: ``model``, ``sample``, ``metric``, ``score`` and further columns.
    directions : mapping of str to {"higher", "lower"}
        Of the metrics that mean the same in every file.
    choices : mapping of str to str
        Columns of which the rule `filter` keeps a value, with the plural they are called by.
    beside : collection of str
        Metrics of how it was run, as time and tokens: they count where somebody asks for them by name.
    uses : sequence of {"filter", "split"}
        Rules that `then` applies.
    by_file : bool
        Whether each of several files that name no model is one, called by what differs in their paths.
    prefers : callable, optional
        Tells of a file whether it is read alone, as it says what the files beside it do.
    then : callable, optional
        Changes what was gathered of all files, by the rules: names that hang on all of them, what counts.
    name : str
        That of its row in the catalogue.
    """

    recognises: Callable[[Path], bool]
    rows: Callable[[ExportFile], Rows]
    directions: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    beside: Collection[str] = ()
    uses: Sequence[str] = ()
    by_file: bool = False
    prefers: Callable[[Path], bool] = lambda path: True
    then: Callable[[pl.DataFrame, Gathering], pl.DataFrame] = lambda rows, _gathering: rows
    name: str = ""

    def read(
        self, files: Sequence[LabelledPath], rules: ReadOptions, texts_of: frozenset[str] = frozenset()
    ) -> Export:
        """Read the rows of all files."""
        refuse_rules(rules, self.name, uses=(*self.uses, *(("filter",) if self.choices else ())))
        gathering = Gathering(rules, texts_of)
        for metric, way in self.directions.items():
            gathering.direct(metric, way)
        found = [*files_of(files, self.recognises)]
        alone = {file.label for file in found if self.prefers(file.path)}
        found = [file for file in found if file.label not in alone or self.prefers(file.path)]
        named = names_of([file.path for file in found if file.label is None]) if self.by_file else {}
        for file in found:
            label = file.label or named.get(file.path)
            one = ExportFile(path=file.path, label=label, gathering=gathering)
            gathering.take(file, partial(self._add, one))
        rows = keep_readings(gathering.rows(), rules, self.choices, where=self.name)
        return finish(self.then(rows, gathering), gathering)

    def _add(self, file: ExportFile) -> None:
        beside = {*self.beside} - {*file.gathering.rules.metric}
        left: dict[str, None] = {}
        for row in self.rows(file):
            if row["metric"] in beside:
                left[row["metric"]] = None
            else:
                file.gathering.add(**row)
        if left:
            told = f"no quality, left out: {listing(left)}; {option('metric', 'NAME')} adds one"
            file.gathering.note(told)


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
    recognises: Callable[[Path], bool], **more: Any
) -> Callable[[Callable[[ExportFile], Rows]], RowReader]:
    """Make a reader of a generator of rows; the arguments are those of `RowReader`."""
    return lambda rows: RowReader(recognises=recognises, rows=rows, **more)


_CELL = ("model", "sample", "metric")


def finish(rows: pl.DataFrame, gathering: Gathering) -> Export:
    """Number repeats, and leave out metrics without a single score.

    Returns
    -------
    Export
        ``draw`` is the draw that a row names, or the number of the score among those a model has for one
        sample and metric, in the order of the files.

    Raises
    ------
    InputError
        If no metric has a score.
    """
    scored = rows.filter(pl.col("score").is_not_null())["metric"].unique()
    for metric in rows["metric"].unique(maintain_order=True):
        if metric not in scored:
            gathering.note(f"{metric}: no sample has a score, left out")
    if scored.is_empty():
        place = listing((file.path for file in gathering.files), 3)
        raise broken(f"{place}: no sample has a score", listing(gathering.said(), 3))
    rows = rows.filter(pl.col("metric").is_in(scored.implode()))
    _note_repeats(rows, gathering)
    if "draw" not in rows.columns or rows.select(*_CELL, "draw").is_duplicated().any():
        rows = rows.with_columns(draw=pl.int_range(1, pl.len() + 1).over(*_CELL).cast(pl.String))
    return gathering.export(rows)


def _note_repeats(rows: pl.DataFrame, gathering: Gathering) -> None:
    """Note models, and their tasks, that several files are of."""
    if FILE not in rows.columns:
        return
    by = [name for name in ("model", "task") if name in rows.columns]
    again = rows.filter(pl.col(FILE).n_unique().over(*_CELL) > 1)
    runs = again.group_by(by, maintain_order=True).agg(pl.col(FILE).unique(maintain_order=True))
    for model, *task, numbers in runs.iter_rows():
        on = f" on task '{task[0]}'" if task else ""
        files = listing(map(gathering.path_of, numbers), 3)
        said = f"{len(numbers)} runs of model '{model}'{on}, from {files}"
        gathering.note(f"{said}: they are repeats of the same samples")
