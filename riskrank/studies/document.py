"""A document: what a study found, as typed rows with their provenance; what lays it out gives it a form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args

import numpy as np

from riskrank.errors import RiskrankError, spell
from riskrank.scores.files.formulas import Table, mark
from riskrank.scores.layouts.layout import ALIKE, CHAPTER, FOLDERS, READ, kind_of
from riskrank.scores.table.missing_scores import tells_of_gone
from riskrank.scores.table.score_counts import Scored

if TYPE_CHECKING:
    import polars as pl

Row = TypeVar("Row")


def entries(of: object, *names: str) -> dict[str, Any]:
    """Some attributes by their names, as ``meta`` has them."""
    return {name: getattr(of, name) for name in names}


def of(source: Callable[..., Any], **default: Any) -> Any:
    """Declare a field of a row beside where its value comes from, a function of some of a record's parts."""
    return field(metadata={"source": source}, **default)


def rows_from(kind: type[Row], parts: str, records: Iterable[tuple[Any, ...]]) -> list[Row]:
    """Rows by the sources of their fields, from records.

    Parameters
    ----------
    kind : type
        A dataclass.
    parts : str
        What the parts of a record are called, by which sources ask for theirs.
    records : iterable of tuple
        A record a row.
    """
    names, sources = parts.split(), {one.name: one.metadata["source"] for one in fields(kind) if one.metadata}  # type: ignore[arg-type]
    asked = {name: [names.index(part) for part in signature(of).parameters] for name, of in sources.items()}
    return [
        kind(**{name: of(*(record[at] for at in asked[name])) for name, of in sources.items()})
        for record in records
    ]


def rows_of(kind: type[Row], at: Any, **columns: Any) -> list[Row]:
    """Rows from columns, each an array or one value for all.

    Parameters
    ----------
    kind : type
        A dataclass; its fields that are not given keep their defaults, or are None.
    at : index
        Which entries of the arrays, in their order.
    **columns : ndarray, shape (rows,), or object
        At least one array; NaN is null.
    """
    arrays = {name: values[at].tolist() for name, values in columns.items() if isinstance(values, np.ndarray)}
    unsaid = {one.name: None for one in fields(kind) if one.default is MISSING}  # type: ignore[arg-type]
    shared = unsaid | {name: value for name, value in columns.items() if name not in arrays}
    entries_ = zip(*arrays.values(), strict=True)
    return [kind(**shared | dict(zip(arrays, map(_known, own), strict=True))) for own in entries_]


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Everything needed to make a result again.

    Attributes
    ----------
    command : str
    seed : int or None
        None where nothing random was done.
    resamples : int or None
        None where nothing was resampled.
    settings : mapping
        Options that differ from their defaults and decide the result, as Python takes them; not those that
        only speed or show it. With the seed and the inputs they make the same document again.
    method : mapping
        How it was done where the options leave that open: tests, families, weights after normalisation.
    inputs : sequence of mapping
        ``path``, ``sha256`` and ``rows`` of each file.
    models : sequence of str
    metrics : sequence of mapping or of str
    samples : int
        Number of distinct samples.
    warnings : sequence of str
        Parameters in them are marked by :func:`riskrank.errors.option`.
    config : str, optional
        Configuration file that gave some of the options, as it was named or found.
    scored : sequence of Scored
        How many scores there are and why not all, of the models and metrics that lack some.
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
    scored: Sequence[Scored] = ()

    @property
    def how_read(self) -> list[str]:
        """Warnings of how files were read."""
        return [warning for warning in self.warnings if kind_of(warning) in (READ, FOLDERS)]

    @property
    def metric_names(self) -> list[str]:
        """Metrics by name alone."""
        return [one if isinstance(one, str) else str(one["name"]) for one in self.metrics]

    @property
    def gravest_first(self) -> list[str]:
        """Warnings: that something is left out, then all others, last weights and how the file was read."""
        return sorted(self.warnings, key=lambda one: _PLACES.get(kind_of(one), int(not tells_of_gone(one))))


# Places of kinds of warnings among others; of no kind are what is left out, and what the answer rests on.
_PLACES = {ALIKE: 2, CHAPTER: 3, READ: 4, FOLDERS: 4}


@dataclass(frozen=True)
class Quote:
    """A figure, and what it is of."""

    figure: str
    words: str


@dataclass(frozen=True)
class FindingEntry:
    """A finding as documents write it, with its sentence."""

    kind: str
    models: Sequence[str]
    on: str | None
    figures: Mapping[str, float]
    answer: str | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Document(Generic[Row]):
    """The result of a study; every kind adds what its pictures and words need.

    Attributes
    ----------
    provenance : Provenance
    rows : sequence of Row
        Dataclasses; their fields are the columns of the CSV and the keys of the JSON, in order.
    verdict : str
        What a decision maker reads first.
    more : sequence of str
        Sentences the verdict had no room for.
    findings : sequence of FindingEntry
        What all of these sentences say, for programs.
    named : sequence of int
        Models that the verdict of a ranking names as the ones to ship or to look at, also where the document
        is a part of a report on it: what pictures show first. None where that is open.
    quotes : sequence of Quote
        Figures that somebody who was asked would quote.
    """

    schema: ClassVar[str]
    row_type: ClassVar[type]
    tells_warnings: ClassVar[bool] = False
    """Whether its page itself holds the warnings."""
    entries: ClassVar[Mapping[str, type]] = {}
    """Types of entries of ``meta`` that only some tables give rise to, for the JSON Schema."""

    provenance: Provenance
    rows: Sequence[Row]
    verdict: str = ""
    more: Sequence[str] = ()
    findings: Sequence[FindingEntry] = ()
    named: Sequence[int] = ()
    quotes: Sequence[Quote] = ()

    def __init_subclass__(cls, schema: str | None = None, **how: Any) -> None:
        """Take the name of the schema, and the type of the rows from what the class says it is made of."""
        super().__init_subclass__(**how)
        cls.schema = str(schema or getattr(cls, "schema", ""))
        kinds = [kind for base in cls.__dict__.get("__orig_bases__", ()) for kind in get_args(base)]
        if "row_type" not in cls.__dict__ and kinds and isinstance(kinds[0], type):
            cls.row_type = kinds[0]

    @property
    def about(self) -> Sequence[str]:
        """The models it speaks of, in the order of the table."""
        return self.provenance.models

    @property
    def question(self) -> str:
        """What it answers, as the head of its page."""
        return f"riskrank {self.provenance.command}: {len(self.about)} models"

    @property
    def certainty(self) -> str:
        """How sure the verdict is, in one word, where tests say so."""
        return ""

    @property
    def marker(self) -> str:
        """Hidden head of its Markdown, by which a program finds the page again; mostly there is none."""
        return ""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of a row's fields, in order; of those with a default what some row says something in."""
        return tuple(
            one.name
            for one in fields(self.row_type)
            if one.default is not None or any(getattr(row, one.name) is not None for row in self.rows)
        )

    def columns(self) -> dict[str, list[Any]]:
        """All rows, field by field."""
        return {name: [getattr(row, name) for row in self.rows] for name in self.fields}

    def written(self) -> dict[str, list[Any]]:
        """All rows, field by field, as JSON and CSV write them."""
        return self.columns()

    def frame(self) -> pl.DataFrame:
        """All rows as a data frame."""
        import polars

        return polars.DataFrame(self.columns(), infer_schema_length=None)

    def table(self) -> Table:
        """The table that CSV has: the rows, or what was asked for in their place."""
        return self.written()

    def for_csv(self) -> Table:
        """The table that CSV has, with formulas marked as text."""
        return mark(self.table())

    def meta(self) -> Mapping[str, Any]:
        """Entries of ``meta`` beyond the provenance and the findings."""
        return {}

    def described(self) -> dict[str, Any]:
        """Entries of ``meta`` beyond the provenance: what was found, and what the kind of document adds."""
        found = [{**vars(one), "sentence": spell(one.sentence, flags=True)} for one in self.findings]
        return {"findings": found, **self.meta()} if found else dict(self.meta())


@dataclass(frozen=True, kw_only=True)
class Gated(Document[Row]):
    """Answers that a run ends with.

    Attributes
    ----------
    outcome : {"pass", "fail", "inconclusive"}
        All passed; one failed; none failed, and one is inconclusive.
    failed : RiskrankError or None
        What the run ends with.
    inconclusive : {"pass", "fail"} or None
        What an inconclusive claim counts as.
    comment : bool
        Whether the Markdown is a comment that the next run replaces.
    """

    outcome: str
    failed: RiskrankError | None = None
    inconclusive: str | None = None
    comment: bool = False

    @property
    def certainty(self) -> str:
        """The answer to all claims together."""
        return self.outcome

    @property
    def marker(self) -> str:
        """Hidden head of a comment: an HTML comment, which no renderer of Markdown shows."""
        return f"<!-- riskrank {self.provenance.command} -->" if self.comment else ""
