"""Documents: study results as typed rows with provenance, independent of the output format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args

import numpy as np

from riskrank.errors import RiskrankError, spell
from riskrank.scores.files.parsing import Table, escape_table
from riskrank.scores.layouts.layout import (
    DESIGN,
    EQUAL_WEIGHTS,
    FIRST,
    FOLDERS,
    IGNORED,
    READ,
    SECTION,
    warning_kind,
)
from riskrank.scores.table.scores import ScoreCount, reports_exclusion

if TYPE_CHECKING:
    import polars as pl

Row = TypeVar("Row")


def attributes(source: object, *names: str) -> dict[str, Any]:
    """Return the named attributes of an object as a dictionary."""
    return {name: getattr(source, name) for name in names}


def computed(source: Callable[..., Any], **default: Any) -> Any:
    """Define a dataclass field whose value `rows_from_records` computes with the function `source`.

    The parameter names of `source` select the items of a record that it receives. `default` may contain the
    default value of the field.
    """
    return field(metadata={"source": source}, **default)


@dataclass(frozen=True, eq=False)
class FrameRows(Sequence[Any]):
    """Rows of a data frame, created on access because there may be millions.

    Attributes
    ----------
    frame : DataFrame
        Data of the rows.
    kind : callable
        Creates a row from its values as keyword arguments; rows are dictionaries by default.
    """

    frame: pl.DataFrame
    kind: Callable[..., Any] = dict

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.frame.height

    def __iter__(self) -> Iterator[Any]:
        """Yield each row, created by `kind`."""
        return (self.kind(**row) for row in self.frame.iter_rows(named=True))

    def __getitem__(self, index: Any) -> Any:
        """Return the row with an integer index, or a list of rows for a slice."""
        if isinstance(index, slice):
            return list(replace(self, frame=self.frame[index]))
        return self.kind(**self.frame.row(range(len(self))[index], named=True))


def rows_from_records(kind: type[Row], part_names: str, records: Iterable[tuple[Any, ...]]) -> list[Row]:
    """Create one dataclass instance per record. Its fields are computed from the items of the record.

    For example, a field defined as ``computed(lambda model, i: model.names[i])`` uses the items ``model`` and
    ``i`` of each record.

    Parameters
    ----------
    kind : type
        Dataclass of the rows, with fields defined by `computed`.
    part_names : str
        Names of the items of each record, separated by spaces.
    records : iterable of tuple
        One record per row.
    """
    names, sources = part_names.split(), {f.name: f.metadata["source"] for f in fields(kind) if f.metadata}  # type: ignore[arg-type]
    args = {
        name: [names.index(part) for part in signature(call).parameters] for name, call in sources.items()
    }
    return [
        kind(**{name: call(*(record[at] for at in args[name])) for name, call in sources.items()})
        for record in records
    ]


def rows_from_columns(kind: type[Row], index: Any, **columns: Any) -> list[Row]:
    """Create dataclass instances from columns of equal length.

    Parameters
    ----------
    kind : type
        Dataclass of the rows. Fields that are not given keep their defaults, or are None.
    index : index
        Index that selects and orders the entries of the arrays.
    **columns : ndarray, shape (rows,), or object
        At least one array; other objects are repeated in every row. NaN becomes None.
    """
    arrays = {
        name: values[index].tolist() for name, values in columns.items() if isinstance(values, np.ndarray)
    }
    missing = {f.name: None for f in fields(kind) if f.default is MISSING}  # type: ignore[arg-type]
    shared = missing | {name: value for name, value in columns.items() if name not in arrays}
    records = zip(*arrays.values(), strict=True)
    return [kind(**shared | dict(zip(arrays, map(none_if_nan, record), strict=True))) for record in records]


def none_if_nan(value: Any) -> Any:
    """Return the value, or None if it is NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Information needed to reproduce a result.

    Attributes
    ----------
    command : str
        Name of the command.
    seed : int or None
        None if no random numbers were used.
    resamples : int or None
        None if nothing was resampled.
    settings : mapping
        Non-default options that affect the result, as Python keywords. With the seed and the inputs, they
        reproduce the document.
    method : mapping
        Method details that the options do not determine: tests, families, normalised weights.
    inputs : sequence of mapping
        ``path``, ``sha256`` and ``rows`` of each file.
    models : sequence of str
        Names of the models.
    metrics : sequence of mapping or of str
        Metrics with their directions, or only their names.
    samples : int
        Number of distinct samples.
    warnings : sequence of str
        Warnings, in which parameters are marked by :func:`riskrank.errors.option`.
    config : str, optional
        Configuration file that set at least one option.
    scored : sequence of Scored
        Numbers of scores and reasons for missing ones, for each model and metric with missing scores.
    """

    command: str
    seed: int | None = None
    resamples: int | None = None
    settings: Mapping[str, Any]
    inputs: Sequence[Mapping[str, Any]]
    models: Sequence[str]
    metrics: Sequence[Mapping[str, Any]] | Sequence[str]
    samples: int
    warnings: Sequence[str]
    method: Mapping[str, Any] = field(default_factory=dict)
    config: str | None = None
    scored: Sequence[ScoreCount] = ()

    @property
    def reading_notes(self) -> list[str]:
        """Warnings about how the input files were read."""
        return [warning for warning in self.warnings if warning_kind(warning) in (READ, DESIGN, FOLDERS)]

    @property
    def ignored(self) -> list[str]:
        """Warnings about metrics that no claim tests."""
        return [warning for warning in self.warnings if warning_kind(warning) == IGNORED]

    @property
    def first_notes(self) -> list[str]:
        """Warnings that follow the verdict, such as one about models that share no sample."""
        return [warning for warning in self.warnings if warning_kind(warning) in FIRST]

    @property
    def metric_names(self) -> list[str]:
        """Names of the metrics."""
        return [metric if isinstance(metric, str) else str(metric["name"]) for metric in self.metrics]

    @property
    def ordered_warnings(self) -> list[str]:
        """Warnings in order of severity: excluded data first, notes about weights and file layout last."""
        return sorted(self.warnings, key=lambda w: _ORDER.get(warning_kind(w), int(not reports_exclusion(w))))


# Order of warnings by kind; excluded data (0) and assumptions (1) have no kind.
_ORDER = {EQUAL_WEIGHTS: 2, SECTION: 3, READ: 4, DESIGN: 4, FOLDERS: 4}


@dataclass(frozen=True)
class Quote:
    """Key figure of a result, and the text that describes it."""

    figure: str
    words: str


@dataclass(frozen=True)
class FindingEntry:
    """A conclusion about the models with its numbers and its sentence, as stored in the JSON output."""

    kind: str
    models: Sequence[str]
    on: str | None
    figures: Mapping[str, float]
    answer: str | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Document(Generic[Row]):
    """Result of a study; subclasses add the data for their figures and texts.

    Attributes
    ----------
    provenance : Provenance
        Information needed to reproduce the result.
    rows : sequence of Row
        Dataclasses. Their fields are the columns of the CSV and the keys of the JSON, in order.
    verdict : str
        Summary for a decision maker.
    more : sequence of str
        Sentences that did not fit into the verdict.
    findings : sequence of FindingEntry
        Machine-readable contents of all sentences.
    named : sequence of int
        Models named in the verdict, which figures highlight; may be empty.
    quotes : sequence of Quote
        Key figures.
    """

    schema: ClassVar[str]
    row_type: ClassVar[type]
    # True if the rendered page contains the warnings.
    includes_warnings: ClassVar[bool] = False
    # Types of optional `meta` entries, for the JSON Schema.
    entries: ClassVar[Mapping[str, type]] = {}

    provenance: Provenance
    rows: Sequence[Row]
    verdict: str = ""
    more: Sequence[str] = ()
    findings: Sequence[FindingEntry] = ()
    named: Sequence[int] = ()
    quotes: Sequence[Quote] = ()

    def __init_subclass__(cls, schema: str | None = None, **how: Any) -> None:
        """Set the schema name of a subclass, and its row type from the type argument of its base class.

        ``Document[RankRow]``, for example, sets the row type to ``RankRow``.
        """
        super().__init_subclass__(**how)
        cls.schema = str(schema or getattr(cls, "schema", ""))
        kinds = [kind for base in cls.__dict__.get("__orig_bases__", ()) for kind in get_args(base)]
        if "row_type" not in cls.__dict__ and kinds and isinstance(kinds[0], type):
            cls.row_type = kinds[0]

    @property
    def model_names(self) -> Sequence[str]:
        """Names of the models in the document, in the order of the table."""
        return self.provenance.models

    @property
    def question(self) -> str:
        """Question that the document answers, used as the heading of its page."""
        return f"riskrank {self.provenance.command}: {len(self.model_names)} models"

    @property
    def certainty(self) -> str:
        """Label for how certain the verdict is, such as "tied"; an empty string if nothing was tested."""
        return ""

    @property
    def meaning(self) -> str:
        """Explanation of the label in `certainty`, or an empty string."""
        return ""

    @property
    def marker(self) -> str:
        """Hidden first line of the Markdown output, by which the next run finds the comment to replace.

        It is empty for most documents.
        """
        return ""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the row fields, in order.

        Optional fields that are None in all rows are omitted.
        """
        return tuple(
            entry.name
            for entry in fields(self.row_type)
            if entry.default is not None or any(getattr(row, entry.name) is not None for row in self.rows)
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the rows as a dictionary of columns, keyed by field name."""
        return {name: [getattr(row, name) for row in self.rows] for name in self.fields}

    def stored_columns(self) -> dict[str, list[Any]]:
        """Return the columns as written to JSON and CSV. By default, these are the columns of the rows."""
        return self.columns()

    def frame(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame."""
        import polars

        return polars.DataFrame(self.columns(), infer_schema_length=None)

    def table(self) -> Table:
        """Return the table to write as CSV: the rows, or another table if the user requested one."""
        return self.stored_columns()

    def csv_table(self) -> Table:
        """Return the table to write as CSV, with values that resemble spreadsheet formulas marked as text."""
        return escape_table(self.table())

    def meta(self) -> Mapping[str, Any]:
        """Return the results for the JSON object ``meta``. Subclasses override this method."""
        return {}

    def meta_entries(self) -> dict[str, Any]:
        """Return everything in the JSON object ``meta`` except the provenance."""
        findings = [{**vars(f), "sentence": spell(f.sentence, flags=True)} for f in self.findings]
        return {"findings": findings, **self.meta()} if findings else dict(self.meta())


@dataclass(frozen=True, kw_only=True)
class GatedDocument(Document[Row]):
    """Document whose result determines the exit status: pass, fail or inconclusive.

    Attributes
    ----------
    outcome : {"pass", "fail", "inconclusive"}
        ``fail`` if a claim failed; otherwise ``inconclusive`` if a claim is inconclusive.
    failed : RiskrankError or None
        Error to raise after the document is written.
    inconclusive : {"pass", "fail"} or None
        How an inconclusive claim counts, or None if the option is not set.
    comment : bool
        True if the Markdown output is a pull-request comment that the next run replaces.
    """

    outcome: str
    failed: RiskrankError | None = None
    inconclusive: str | None = None
    comment: bool = False

    @property
    def certainty(self) -> str:
        """Overall result of all claims: pass, fail or inconclusive."""
        return self.outcome

    @property
    def marker(self) -> str:
        """HTML comment by which the next run finds the pull-request comment to replace.

        It is empty if `comment` is False.
        """
        return f"<!-- riskrank {self.provenance.command} -->" if self.comment else ""
