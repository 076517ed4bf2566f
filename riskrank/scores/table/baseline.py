"""Baselines: saved scores of one model with which later runs are compared.

A baseline is a Parquet file with a long table, which every command can read. Its metadata record the model,
the directions and bounds of the metrics, and the source files.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from riskrank.errors import InputError, interface_text, listing, option
from riskrank.options.baseline import BASELINE
from riskrank.options.reading import NO_COLUMN
from riskrank.scores.files.contents import read_bytes
from riskrank.scores.files.guards import PARSE_ERRORS, Budget
from riskrank.scores.files.parquet import ParquetSource
from riskrank.scores.files.source import InputFile
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.metric_specs import MetricSpec, parse_spec
from riskrank.scores.table.typed_rows import categories, concat_rows, long_rows

# Key of the baseline in the Parquet metadata.
KEY = "riskrank"
SCHEMA = "riskrank/baseline"
SCHEMA_VERSION = "1.0"

# Options that select the scores of an export.
FILTER_OPTIONS = ("filter", "split")

# Keys of a metric in the metadata.
_KEYS = ("direction", "transform", "bounds")
_REQUIRED_COLUMNS = ("model", "sample", "metric", "score")


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Samples and metrics that new scores and a baseline have in common.

    Attributes
    ----------
    path : str
        Path of the baseline.
    model : str
        Name of the model in the baseline.
    samples : int
        Number of samples in the baseline.
    common, missing, added : int
        Number of samples in both, only in the baseline, and only in the new scores.
    metrics_missing, metrics_added : tuple of str
        Metrics that occur only in the baseline, or only in the new scores. They are not compared.
    same_files : bool
        True if the new scores and the baseline come from identical source files.
    """

    path: str
    model: str
    samples: int
    common: int
    missing: int
    added: int
    metrics_missing: tuple[str, ...]
    metrics_added: tuple[str, ...]
    same_files: bool


@dataclass(frozen=True)
class UnmatchedSamples:
    """Samples of one model that other models lack, because they were added, removed or renamed.

    Attributes
    ----------
    model : str
    samples : tuple of str
    of : int
        Total number of samples of the model.
    """

    model: str
    samples: tuple[str, ...]
    of: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Baseline:
    """An opened baseline file.

    Attributes
    ----------
    source : ParquetSource
    model : str
        Name of the model when the baseline was saved.
    specs : mapping of str to MetricSpec
        Metrics by name, as declared when the baseline was saved.
    sample_column : str
        Name of the sample column in the source files; empty if unknown.
    digests : tuple of str
        SHA-256 digests of the source files.
    has_samples : bool
        True if the source files had a sample column.
    filters : mapping of str to tuple of str
        Values of an export's filter options when the baseline was saved.
    """

    source: ParquetSource
    model: str
    specs: Mapping[str, MetricSpec]
    sample_column: str
    digests: tuple[str, ...]
    has_samples: bool
    filters: Mapping[str, tuple[str, ...]]

    @property
    def path(self) -> str:
        """Path as given by the user."""
        return self.source.label

    @property
    def has_tasks(self) -> bool:
        """True if samples belong to tasks."""
        return "task" in self.source.columns

    @property
    def roles(self) -> Roles:
        """Columns of the baseline file by role."""
        return Roles(
            model=None,  # the label is the model
            sample="sample" if self.has_samples else None,
            metric="metric",
            score="score",
            draw="draw" if "draw" in self.source.columns else None,
            task="task" if self.has_tasks else None,
        )

    @property
    def directions(self) -> dict[str, str]:
        """Declared direction of each metric, ``higher`` or ``lower``."""
        return {name: spec.direction for name, spec in self.specs.items() if spec.declared}

    def input_file(self) -> InputFile:
        """Return the provenance of the rows."""
        return self.source.input_file(self.source.height())

    def append_to(self, frame: pl.DataFrame, start: int, *, pooled: bool) -> pl.DataFrame:
        """Append the rows of the baseline to those of the new scores.

        Each baseline sample is assigned the cluster and group that it has in the new scores.

        Parameters
        ----------
        frame : DataFrame
            Typed rows of the new scores.
        start : int
            Number of rows in the files that precede the baseline.
        pooled : bool
            True if tasks merely distinguish samples with the same name.

        Raises
        ------
        InputError
            If only one of the two has tasks, or a new model has the name reserved for the baseline.
        """
        roles = replace(self.roles, pools_tasks=pooled)
        rows = long_rows(self.source, roles).frame.with_columns(pl.col("row") + start)
        if BASELINE in categories(frame["model"]):
            problem = f"{option('baseline', self.path)}: the new scores also contain a model named {BASELINE}"
            hint = "rename the model in the new scores: write new=PATH"
            raise InputError(problem, found=f"models: {listing(categories(frame['model']))}", hint=hint)
        has_tasks, is_new = rows.schema["task"] != pl.Null, frame.schema["task"] != pl.Null
        if has_tasks != is_new:
            tasks = categories((frame if is_new else rows)["task"]).to_list()
            problem = "the baseline has tasks, but the new scores have none"
            hint = f"name the task column, {option('task', 'COL')}; or bless scores without tasks"
            if is_new:
                problem = "the new scores have tasks, but the baseline has none"
                hint = f"{option('task', NO_COLUMN)} pools the tasks; or bless scores with tasks"
            found = f"{len(tasks)} task{'s' * (len(tasks) > 1)}: {listing(tasks, 4)}"
            raise InputError(f"{self.path}: {problem}", found=found, hint=hint)
        keys = [role for role in ("task", "sample") if rows.schema[role] != pl.Null]
        names = [pl.col(key).cast(pl.String) for key in keys]
        for unit in (unit for unit in ("cluster", "group") if frame.schema[unit] != pl.Null):
            labels = frame.select(*names, unit).unique(subset=keys, keep="first")
            joined = rows.select(names).join(labels, on=keys, how="left", maintain_order="left")
            rows = rows.with_columns(joined[unit])
        dtype = frame.schema["draw"]
        if dtype != pl.Null and rows.schema["draw"] == pl.Null:  # rows without a repeat number
            rows = rows.with_columns(draw=pl.lit("0", dtype=pl.Enum(["0"])))
        if dtype != pl.Null and not isinstance(dtype, pl.Enum):
            rows = rows.with_columns(pl.col("draw").to_physical().cast(dtype))
        return concat_rows([frame, rows])


def frame_digest(frame: pl.DataFrame) -> str:
    """Return the SHA-256 digest of a table's contents, which does not depend on the file format."""
    digest = hashlib.sha256()
    for column in frame.get_columns():
        digest.update(f"{column.name}\0{len(column)}\0".encode())
        if column.dtype.is_float():
            digest.update(np.ascontiguousarray(column.fill_null(np.nan).to_numpy()).tobytes())
        else:
            digest.update("\0".join(column.cast(pl.String).fill_null("\1").to_list()).encode())
    return digest.hexdigest()


def read_baseline(path: str, limit: int | None = None) -> Baseline:
    """Open a baseline of at most `limit` bytes and verify its digest.

    Raises
    ------
    InputError
        If the file is missing, is not a baseline, or was changed after it was saved.
    """
    budget = Budget(limit)
    try:
        data = read_bytes(path, budget)
        source = None
        if data[:4] == b"PAR1":
            source = ParquetSource(path, data, hashlib.sha256(data).hexdigest(), budget)
    except InputError as error:
        hint = f"restore the file, or bless new scores: {bless_command(path)}"
        raise InputError(f"{option('baseline')}: {error.problem}", found=error.found, hint=hint) from None
    metadata = None if source is None else _read_metadata(data)
    if source is None or metadata is None or not set(_REQUIRED_COLUMNS) <= set(source.columns):
        raise InputError(
            f"{option('baseline', path)}: this file is not a baseline",
            found="not a Parquet file" if source is None else "a table without the metadata of a baseline",
            hint=f"bless its scores: {bless_command('baseline.parquet')}; or compare two score files: "
            + interface_text("new=NEW.csv old=OLD.csv", '["new=NEW.csv", "old=OLD.csv"]'),
        )
    baseline, digest = metadata
    if frame_digest(source.load(source.columns)) != digest:
        problem = f"{option('baseline', path)}: the scores have changed since they were blessed"
        detail = "the digest of the scores differs from the digest stored in the file"
        hint = "restore the original file; to accept new scores, bless them instead of editing this file"
        raise InputError(problem, found=detail, hint=hint)
    source.model_label = BASELINE
    return replace(baseline, source=source)


def bless_command(path: str) -> str:
    """Return the command that saves scores as a baseline."""
    return interface_text(f"riskrank gate SCORES {option('bless', path)}", f'rr.read(scores).bless("{path}")')


def _read_metadata(data: bytes) -> tuple[Baseline, str] | None:
    """Parse the metadata of a baseline file; return the baseline and the stored digest.

    The source of the baseline is not set. Return None if the metadata are invalid.
    """
    try:
        document = json.loads(pl.read_parquet_metadata(io.BytesIO(data))[KEY])
        if (document["schema"], document["schema_version"]) != (SCHEMA, SCHEMA_VERSION):
            return None
        specs = {
            str(name): parse_spec(SCHEMA, str(name), {k: spec[k] for k in _KEYS if spec[k] is not None})
            for name, spec in dict(document["metrics"]).items()
        }
        baseline = Baseline(
            source=None,  # type: ignore[arg-type]  # the caller has it
            model=str(document["model"]),
            specs=specs,
            sample_column=str(document["sample_column"]),
            digests=tuple(str(file["sha256"]) for file in document["inputs"] if file["sha256"]),
            has_samples=bool(document["has_samples"]),
            filters={name: tuple(map(str, document["rules"][name])) for name in FILTER_OPTIONS},
        )
        return baseline, str(document["sha256"])
    except (InputError, TypeError, AttributeError, LookupError, pl.exceptions.PanicException, *PARSE_ERRORS):
        return None
