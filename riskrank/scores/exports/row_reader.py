"""Readers that are one generator of rows: files, counting, choosing and finishing are done here."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.collection import RowCollector
from riskrank.scores.exports.export_file import ExportFile, find_files
from riskrank.scores.exports.fields import export_error
from riskrank.scores.exports.interface import FILE, Export, LabelledPath
from riskrank.scores.exports.selection import refuse_unsupported_rules, select_variants
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
    then: Callable[[pl.DataFrame, RowCollector], pl.DataFrame] = lambda rows, _collector: rows
    name: str = ""

    def read(
        self,
        files: Sequence[LabelledPath],
        rules: ReadOptions,
        samples_with_texts: frozenset[str] = frozenset(),
    ) -> Export:
        """Read the rows of all files."""
        refuse_unsupported_rules(
            rules, self.name, supported=(*self.uses, *(("filter",) if self.choices else ()))
        )
        collector = RowCollector(rules, samples_with_texts)
        for metric, direction in self.directions.items():
            collector.set_direction(metric, direction)
        export_files = [*find_files(files, self.recognises)]
        preferred_labels = {file.label for file in export_files if self.prefers(file.path)}
        export_files = [
            file for file in export_files if file.label not in preferred_labels or self.prefers(file.path)
        ]
        model_names = (
            distinguishing_names([file.path for file in export_files if file.label is None])
            if self.by_file
            else {}
        )
        for file in export_files:
            label = file.label or model_names.get(file.path)
            export_file = ExportFile(path=file.path, label=label, collector=collector)
            collector.collect_file(file, partial(self._add, export_file))
        rows = select_variants(collector.rows(), rules, self.choices, context=self.name)
        return finish_export(self.then(rows, collector), collector)

    def _add(self, file: ExportFile) -> None:
        auxiliary = {*self.beside} - {*file.collector.rules.metric}
        excluded: dict[str, None] = {}
        for row in self.rows(file):
            if row["metric"] in auxiliary:
                excluded[row["metric"]] = None
            else:
                file.collector.add(**row)
        if excluded:
            message = f"no quality, left out: {listing(excluded)}; {option('metric', 'NAME')} adds one"
            file.collector.note(message)


def distinguishing_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Names of several files: what differs in their paths, if it differs in one place and for all of them.

    Of a name with points its last parts do not count that all have.
    """
    places = differing([str(path) for path in paths])
    labels = places[0] if len(places) == 1 else [path.name for path in paths]
    names = {path: name.removesuffix(path.suffix) for path, name in zip(paths, labels, strict=True)}
    while len(split_names := {name.rpartition(".")[::2] for name in names.values()}) > 1:
        if len({suffix for _, suffix in split_names}) > 1 or not all(stem for stem, _ in split_names):
            break
        names = {path: name.rpartition(".")[0] for path, name in names.items()}
    return names if 1 < len(paths) == len(set(names.values())) else {}


def row_reader(
    recognises: Callable[[Path], bool], **attributes: Any
) -> Callable[[Callable[[ExportFile], Rows]], RowReader]:
    """Make a reader of a generator of rows; the arguments are those of `RowReader`."""
    return lambda rows: RowReader(recognises=recognises, rows=rows, **attributes)


_CELL = ("model", "sample", "metric")


def finish_export(rows: pl.DataFrame, collector: RowCollector) -> Export:
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
            collector.note(f"{metric}: no sample has a score, left out")
    if scored.is_empty():
        place = listing((file.path for file in collector.files), 3)
        raise export_error(f"{place}: no sample has a score", listing(collector.all_notes(), 3))
    rows = rows.filter(pl.col("metric").is_in(scored.implode()))
    _note_repeats(rows, collector)
    if "draw" not in rows.columns or rows.select(*_CELL, "draw").is_duplicated().any():
        rows = rows.with_columns(draw=pl.int_range(1, pl.len() + 1).over(*_CELL).cast(pl.String))
    return collector.to_export(rows)


def _note_repeats(rows: pl.DataFrame, collector: RowCollector) -> None:
    """Note models, and their tasks, that several files are of."""
    if FILE not in rows.columns:
        return
    by = [name for name in ("model", "task") if name in rows.columns]
    repeated = rows.filter(pl.col(FILE).n_unique().over(*_CELL) > 1)
    runs = repeated.group_by(by, maintain_order=True).agg(pl.col(FILE).unique(maintain_order=True))
    for model, *task, numbers in runs.iter_rows():
        task_text = f" on task '{task[0]}'" if task else ""
        files = listing(map(collector.path_of, numbers), 3)
        message = f"{len(numbers)} runs of model '{model}'{task_text}, from {files}"
        collector.note(f"{message}: they are repeats of the same samples")
