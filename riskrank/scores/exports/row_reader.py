"""Readers that are one generator of rows: files, counting, choosing and finishing are done here."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from riskrank.errors import listing, option
from riskrank.scores.exports.fields import Record
from riskrank.scores.exports.gathering import Gathering, files_of, model_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.readings import finish, keep_readings
from riskrank.scores.files.data_frames import Columns, csv_columns, json_columns
from riskrank.scores.files.templates import differing


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
