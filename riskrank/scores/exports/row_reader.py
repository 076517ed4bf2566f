"""Turn a generator of the rows of one file into a reader of many files."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing, option
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.export_file import ExportFile, find_files
from riskrank.scores.exports.fields import export_error
from riskrank.scores.exports.interface import FILE, Export, LabelledPath
from riskrank.scores.exports.row_collector import RowCollector
from riskrank.scores.exports.selection import reject_unsupported_options, select_variants
from riskrank.scores.files.paths import differing_parts

Rows = Iterator[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RowReader:
    """Reader of an export format, built from a generator of rows.

    Attributes
    ----------
    recognises : callable
        Returns whether a file has the format.
    rows : callable
        Yields the rows of one file: ``model``, ``sample``, ``metric``, ``score`` and further columns.
    directions : mapping of str to {"higher", "lower"}
        Directions of metrics that have the same meaning in every file.
    choices : mapping of str to str
        Columns whose values the option `filter` selects, with their plurals for messages.
    auxiliary_metrics : collection of str
        Metrics that do not measure quality, such as time and tokens. They are read only on request.
    supported_options : sequence of {"filter", "split"}
        Options that `postprocess` applies.
    model_per_file : bool
        Whether several files that do not name a model are one model each, named by the part of the path that
        differs.
    is_preferred : callable, optional
        Returns whether a file is read instead of others in the same folder, because it repeats their content.
    postprocess : callable, optional
        Transforms the rows of all files: selects variants, and chooses names that depend on several files.
    name : str
        Name of the format in the catalogue.
    """

    recognises: Callable[[Path], bool]
    rows: Callable[[ExportFile], Rows]
    directions: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    auxiliary_metrics: Collection[str] = ()
    supported_options: Sequence[str] = ()
    model_per_file: bool = False
    is_preferred: Callable[[Path], bool] = lambda path: True
    postprocess: Callable[[pl.DataFrame, RowCollector], pl.DataFrame] = lambda rows, _collector: rows
    name: str = ""

    def read(
        self,
        files: Sequence[LabelledPath],
        options: ReadOptions,
        samples_with_texts: frozenset[str] = frozenset(),
    ) -> Export:
        """Read some files and folders, and return their scores as an export."""
        reject_unsupported_options(
            options, self.name, supported=(*self.supported_options, *(("filter",) if self.choices else ()))
        )
        collector = RowCollector(options, samples_with_texts)
        for metric, direction in self.directions.items():
            collector.set_direction(metric, direction)
        export_files = [*find_files(files, self.recognises)]
        preferred_labels = {file.label for file in export_files if self.is_preferred(file.path)}
        export_files = [
            file
            for file in export_files
            if file.label not in preferred_labels or self.is_preferred(file.path)
        ]
        model_names = (
            distinguishing_names([file.path for file in export_files if file.label is None])
            if self.model_per_file
            else {}
        )
        for file in export_files:
            label = file.label or model_names.get(file.path)
            export_file = ExportFile(path=file.path, label=label, collector=collector)
            collector.collect_file(file, partial(self._add, export_file))
        rows = select_variants(collector.rows(), options, self.choices, context=self.name)
        return finish_export(self.postprocess(rows, collector), collector)

    def _add(self, file: ExportFile) -> None:
        """Collect the rows of a file, excluding auxiliary metrics that were not requested."""
        auxiliary = {*self.auxiliary_metrics} - {*file.collector.options.metric}
        excluded: dict[str, None] = {}
        for row in self.rows(file):
            if row["metric"] in auxiliary:
                excluded[row["metric"]] = None
            else:
                file.collector.add(**row)
        if excluded:
            message = (
                f"ignored auxiliary metrics: {listing(excluded)}; {option('metric', 'NAME')} includes one"
            )
            file.collector.note(message)


def distinguishing_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Return short distinct names for several files, or an empty dictionary if this is impossible.

    If the paths differ in only one component, it becomes the name; otherwise the file name does. Suffixes
    that all names share are removed.
    """
    path_parts = differing_parts([str(path) for path in paths])
    labels = path_parts[0] if len(path_parts) == 1 else [path.name for path in paths]
    names = {path: name.removesuffix(path.suffix) for path, name in zip(paths, labels, strict=True)}
    while len(split_names := {name.rpartition(".")[::2] for name in names.values()}) > 1:
        if len({suffix for _, suffix in split_names}) > 1 or not all(stem for stem, _ in split_names):
            break
        names = {path: name.rpartition(".")[0] for path, name in names.items()}
    return names if 1 < len(paths) == len(set(names.values())) else {}


def row_reader(
    recognises: Callable[[Path], bool], **attributes: Any
) -> Callable[[Callable[[ExportFile], Rows]], RowReader]:
    """Return a decorator that turns a generator of rows into a `RowReader` with the given attributes."""
    return lambda rows: RowReader(recognises=recognises, rows=rows, **attributes)


_CELL = ("model", "sample", "metric")


def finish_export(rows: pl.DataFrame, collector: RowCollector) -> Export:
    """Number the repeats and drop metrics without scores.

    Returns
    -------
    Export
        ``draw`` is the repeat that a row names. Otherwise it numbers the scores of the same model, sample and
        metric in file order.

    Raises
    ------
    InputError
        If no metric has a score.
    """
    scored = rows.filter(pl.col("score").is_not_null())["metric"].unique()
    for metric in rows["metric"].unique(maintain_order=True):
        if metric not in scored:
            collector.note(f"{metric}: ignored, as no sample has a score")
    if scored.is_empty():
        location = listing((file.path for file in collector.files), 3)
        raise export_error(f"{location}: no sample has a score", listing(collector.all_notes(), 3))
    rows = rows.filter(pl.col("metric").is_in(scored.implode()))
    _note_repeats(rows, collector)
    if "draw" not in rows.columns or rows.select(*_CELL, "draw").is_duplicated().any():
        rows = rows.with_columns(draw=pl.int_range(1, pl.len() + 1).over(*_CELL).cast(pl.String))
    return collector.to_export(rows)


def _note_repeats(rows: pl.DataFrame, collector: RowCollector) -> None:
    """Add a note for each model (or model and task) that occurs in several files."""
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
