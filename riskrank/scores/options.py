"""What a caller may ask of the reader: one frozen record, checked once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from numbers import Real
from typing import Any

from riskrank.errors import UsageError, listing, one_of, option
from riskrank.scores.exports.interface import MAX_BYTES, ExportRules
from riskrank.scores.files.formats import FORMATS

_CHOICES = {
    "missing": ("error", "drop", "keep"),
    "repeats": ("error", "mean", "min", "max", "draws"),
    "input_format": (None, *FORMATS),
}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How score files are to be read.

    Parameters
    ----------
    columns : str, optional
        Roles of columns, ``"model=system,sample=doc_id,metric=…,score=…,draw=run,cluster=…"``; several
        columns that are one name together, ``"sample=name+prompt"``.
    cluster : str, optional
        Column that says which samples belong together (questions about one document): models meet on
        samples, resampling draws clusters. The same as the role ``cluster`` of `columns`.
    group_by : str, optional
        Column of the group of each sample; a study is then done for each group and for all together.
    wide : bool
        One row per model and sample, each remaining numeric column a metric.
    matrix : str, optional
        One row per sample, each numeric column a model; the name of the metric the numbers are of.
    where : str, optional
        SQL condition on any columns of the file; rows that do not meet it are not read.
    sql : str, optional
        ``SELECT … FROM scores``, which makes the table to be read of every file; for a database the query
        to send it, for a workbook one over its sheets.
    metrics, models : tuple of str
        Selections; empty means everything. The order of `metrics` is kept.
    lower, higher : tuple of str
        Metrics declared lower-is-better and higher-is-better; ``*`` stands for all others.
    weights : dict
        Weight of a metric by its name; goes before what the metrics file says.
    metrics_file : str, optional
        TOML file with a table per metric.
    missing : {"error", "drop", "keep"}
        What to do about a missing (model, sample, metric) cell. ``keep`` leaves NaN in the values.
    repeats : {"error", "mean", "min", "max", "draws"}
        What to do about several rows for one cell. ``min`` takes the worst run and ``max`` the best one,
        whichever direction the metric has: of passes and failures, whether all runs pass (pass^k) or one
        does (pass@k); of latencies, the largest and the smallest.
    unpaired : bool
        Models have samples of their own.
    input_format : {"csv", "tsv", "parquet", "jsonl", "json", "xlsx", "sqlite", "duckdb"}, optional
        Format of every file, whatever its name; needed for standard input.
    from_ : str, optional
        The inputs are exports of this harness, or of whichever one is recognised (``auto``).
    filter, split : tuple of str
        Of an export: which filters, prompts or scorers, and which splits or perturbations count.
    model_from_path : str, optional
        Of an export: regular expression whose one group is the model, searched in paths.
    parts : bool
        Of an export: a list of numbers becomes one metric a part.
    skip_bad : bool
        Of an export: count what cannot be read, and go on without it.
    max_bytes : int, optional
        Most bytes a file may unpack to: 16 GiB by default, of an export 2 GiB.
    sample_optional : bool
        A table without a sample column has one row per model (its only sample is called ``""``).
    min_models : int
        Fewest models the caller can work with.
    allow_constant : bool
        Accept a metric that has the same value everywhere.
    paired_only : bool
        The caller has no use for models with samples of their own: errors do not propose them.
    largest : float
        Size of the largest score the caller can compute with.
    """

    columns: str | None = None
    cluster: str | None = None
    group_by: str | None = None
    wide: bool = False
    matrix: str | None = None
    where: str | None = None
    sql: str | None = None
    metrics: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()
    weights: dict[str, float] = field(default_factory=dict)
    metrics_file: str | None = None
    missing: str = "error"
    repeats: str = "error"
    unpaired: bool = False
    input_format: str | None = None
    from_: str | None = None
    filter: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    model_from_path: str | None = None
    parts: bool = False
    skip_bad: bool = False
    max_bytes: int | None = None
    sample_optional: bool = False
    min_models: int = 2
    allow_constant: bool = False
    paired_only: bool = False
    largest: float = math.inf

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            one_of(name, getattr(self, name), choices)
        self._check_export()
        if self.matrix is not None and (self.wide or not self.matrix.strip()):
            raise UsageError(
                f"{option('matrix', self.matrix)} contradicts {option('wide', True)}"
                if self.wide
                else f"{option('matrix')} needs the name of the metric",
                found="a column of numbers is a model in a matrix, and a metric in a wide table",
                hint=f"leave one of the two out; a matrix of one metric: {option('matrix', 'accuracy')}",
            )
        if self.matrix is not None and self.group_by is not None:
            raise UsageError(
                f"{option('matrix', self.matrix)} contradicts {option('group_by', self.group_by)}",
                found="every column of a matrix that has no other role is a model",
                hint="give the scores as a long table, with a column of groups",
            )
        both = sorted(set(self.lower) & set(self.higher))
        if both:
            raise UsageError(
                f"metric '{both[0]}' is declared both lower-is-better and higher-is-better",
                found=f"{listing(both)} in {option('lower')} and in {option('higher')}",
                hint=f"keep '{both[0]}' in one of the two",
            )

    @property
    def rules(self) -> ExportRules:
        """What only a person can decide about an export."""
        return ExportRules(
            filters=self.filter,
            splits=self.split,
            metrics=self.metrics,
            model_from_path=self.model_from_path,
            parts=self.parts,
            skip_bad=self.skip_bad,
            max_bytes=self.max_bytes or MAX_BYTES,
        )

    def _check_export(self) -> None:
        """Rules for exports go with exports, and options for tables with tables."""
        if self.from_ is None:
            given = self.rules.given()
            if given:
                raise UsageError(
                    f"{option(given[0])} is a rule for reading a harness's export",
                    found=f"no {option('from')}: the inputs are score tables",
                    hint=f"add {option('from', 'auto')}, or leave it out",
                )
            return
        tables = {
            # A query may make any shape of an export's long rows.
            "wide": self.wide and self.sql is None,
            "matrix": self.matrix is not None and self.sql is None,
            "input_format": self.input_format is not None,
        }
        for name in (name for name, used in tables.items() if used):
            raise UsageError(
                f"{option(name)} is for score tables and contradicts {option('from', self.from_)}",
                found=f"{option('from', self.from_)}: the inputs are exports, whose format is known",
                hint="leave one of the two out",
            )


# Names of the doors for fields that would be ambiguous below: --metric selects, --metrics names a file.
DOOR_NAMES = {"metric": "metrics", "metrics": "metrics_file", "weight": "weights"}
_COMMANDS_OWN = ("sample_optional", "min_models", "allow_constant", "paired_only", "largest")


def reading_defaults() -> dict[str, Any]:
    """Defaults of all reading options, by the names both doors call them."""
    door = {field_name: name for name, field_name in DOOR_NAMES.items()}
    return {
        door.get(option.name, option.name): None if option.default is MISSING else option.default
        for option in fields(ReadOptions)
        if option.name not in _COMMANDS_OWN
    }


def reading_names() -> tuple[str, ...]:
    """Names of all reading options as both doors call them."""
    return tuple(reading_defaults())


def named_weights(given: Mapping[str, float] | str | Iterable[str]) -> dict[str, float]:
    """Weights by metric, from a mapping or from ``METRIC=NUMBER`` texts.

    Raises
    ------
    UsageError
        If a text is not of that form or names a metric twice, or a weight is no number.
    """
    entries: list[tuple[str, object]]
    if isinstance(given, Mapping):
        entries = [(str(name), value) for name, value in given.items()]
    else:
        split = [str(one).rpartition("=") for one in ([given] if isinstance(given, str) else given)]
        entries = [(name, number if name else f"{name}{equals}{number}") for name, equals, number in split]
    weights: dict[str, float] = {}
    for name, value in entries:
        number = _number(value) if name else None
        if number is None:
            raise UsageError(
                f"{option('weight')} needs a metric and a number",
                found=f"{name}={value}" if name else str(value),
                hint=f"write {option('weight', 'accuracy=0.5')}",
            )
        if name in weights:
            raise UsageError(
                f"{option('weight')} names {name} twice",
                found=f"{weights[name]:g} and {value}",
                hint="give it once",
            )
        weights[name] = number
    return weights


def _number(value: object) -> float | None:
    """A number, or a text that is one; nothing for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | Real):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def read_options(given: Mapping[str, Any], **commands_own: Any) -> ReadOptions:
    """Reading options from the names and the forms the doors take.

    Parameters
    ----------
    given : mapping of str to object
        By the names of :func:`reading_names`; None stands for the default. Names may be one string or
        several, ``columns`` a text or a mapping of roles to columns.
    **commands_own
        What the command can do without, such as ``min_models=1``.
    """
    values: dict[str, Any] = {}
    kinds = {option.name: option for option in fields(ReadOptions)}
    for name, value in given.items():
        field_name = DOOR_NAMES.get(name, name)
        if value is None:
            continue
        if kinds[field_name].default == ():
            value = (value,) if isinstance(value, str) else tuple(value)
        elif field_name == "weights":
            value = named_weights(value)
        elif field_name == "columns" and isinstance(value, Mapping):
            value = ",".join(f"{role}={column}" for role, column in value.items())
        elif field_name == "metrics_file":
            value = str(value)
        values[field_name] = value
    return ReadOptions(**(values | commands_own))
