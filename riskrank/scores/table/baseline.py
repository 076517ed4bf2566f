"""Scores that were blessed: those of one model in a file of their own, which later runs are compared with.

The file is Parquet, a long table that any command reads, and its metadata say what the scores were when they
were blessed: of which model, with which directions and bounds, from which files.
"""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from riskrank.errors import InputError, by_door, listing, option
from riskrank.options.baseline import BASELINE
from riskrank.options.reading import NO_COLUMN
from riskrank.scores.files.contents import read_bytes
from riskrank.scores.files.limits import Room
from riskrank.scores.files.parquet import ParquetSource
from riskrank.scores.files.source import MAX_TABLE_BYTES, InputFile
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.metrics_file import MetricSpec, spec_of
from riskrank.scores.table.typed_rows import list_of, long_rows, united

KEY = "riskrank"
"""Entry of the metadata of the file."""
SCHEMA = "riskrank/baseline"
SCHEMA_VERSION = "1.0"

RULES = ("filter", "split")
"""Options that say which of the scores of an export count."""

# What it says of a metric.
_TOLD = ("direction", "transform", "bounds")
_NEEDED = ("model", "sample", "metric", "score")


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """What new scores and a baseline have in common, and what not, of what claims are about.

    Attributes
    ----------
    path : str
        Of the baseline.
    model : str
        Own name of the model that was blessed.
    samples : int
        Of the baseline.
    common, missing, added : int
        Samples of both, of the baseline alone, and of the new scores alone.
    metrics_missing, metrics_added : tuple of str
        Metrics of the baseline alone and of the new scores alone, which no claim is about.
    same_files : bool
        Whether the new scores are byte for byte the files that were blessed.
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
class Unshared:
    """Samples of one model that others do not have, of how many: they were added, removed or renamed."""

    model: str
    samples: tuple[str, ...]
    of: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Baseline:
    """A baseline that was opened.

    Attributes
    ----------
    source : ParquetSource
    model : str
        Its own name.
    specs : mapping of str to MetricSpec
        Its metrics, as they were declared.
    sample_column : str
        What the column of samples was called where they were blessed; empty where nobody knows.
    digests : tuple of str
        SHA-256 of the files it was made of.
    has_samples : bool
        Whether there was a column of samples.
    rules : mapping of str to tuple of str
        Rules of an export that say which of its scores count, as they were then.
    """

    source: ParquetSource
    model: str
    specs: Mapping[str, MetricSpec]
    sample_column: str
    digests: tuple[str, ...]
    has_samples: bool
    rules: Mapping[str, tuple[str, ...]]

    @property
    def path(self) -> str:
        """As it was given."""
        return self.source.label

    @property
    def has_tasks(self) -> bool:
        """Whether its samples belong to tasks."""
        return "task" in self.source.columns

    @property
    def roles(self) -> Roles:
        """Its columns."""
        return Roles(
            model=None,  # a label names it
            sample="sample" if self.has_samples else None,
            metric="metric",
            score="score",
            draw="draw" if "draw" in self.source.columns else None,
            task="task" if self.has_tasks else None,
        )

    @property
    def directions(self) -> dict[str, str]:
        """Directions that were declared."""
        return {name: spec.direction for name, spec in self.specs.items() if spec.declared}

    def input_file(self) -> InputFile:
        """Where its rows come from."""
        return self.source.input_file(self.source.height())

    def below(self, frame: pl.DataFrame, start: int, *, pooled: bool) -> pl.DataFrame:
        """Its rows below those of new scores, in the clusters and groups the new scores put their samples in.

        Parameters
        ----------
        frame : DataFrame
            Typed rows of the new scores.
        start : int
            Rows of the files before it.
        pooled : bool
            Whether tasks tell samples apart, and nothing else.

        Raises
        ------
        InputError
            If one of the two has tasks and the other has not, or a new model is called as this one is.
        """
        roles = replace(self.roles, pools_tasks=pooled)
        rows = long_rows(self.source, roles).frame.with_columns(pl.col("row") + start)
        if BASELINE in list_of(frame["model"]):
            raise InputError(
                f"{option('baseline', self.path)}: the new scores hold a model called {BASELINE}, too",
                found=f"models: {listing(list_of(frame['model']))}",
                hint="name the models of the new scores otherwise: write new=PATH",
            )
        self._require_alike(frame, rows)
        keys = [role for role in ("task", "sample") if rows.schema[role] != pl.Null]
        for whole in ("cluster", "group"):
            if frame.schema[whole] != pl.Null:
                rows = rows.with_columns(_of_samples(frame, rows, keys, whole))
        return united([frame, rows.with_columns(_draws(rows["draw"], frame.schema["draw"]))])

    def _require_alike(self, new: pl.DataFrame, old: pl.DataFrame) -> None:
        has_tasks = new.schema["task"] != pl.Null
        if has_tasks == (old.schema["task"] != pl.Null):
            return
        tasks = list_of((new if has_tasks else old)["task"]).to_list()
        raise InputError(
            f"{self.path}: the new scores have tasks, and the baseline has none"
            if has_tasks
            else f"{self.path}: the baseline has tasks, and the new scores have none",
            found=f"{len(tasks)} task{'s' * (len(tasks) > 1)}: {listing(tasks, 4)}",
            hint=f"{option('task', NO_COLUMN)} pools them; or bless scores with tasks"
            if has_tasks
            else f"name the column of the tasks, {option('task', 'COL')}; or bless scores without",
        )


def _of_samples(frame: pl.DataFrame, rows: pl.DataFrame, keys: Sequence[str], whole: str) -> pl.Series:
    """Cluster or group of other rows by their samples; null of samples the frame does not have."""
    names = [pl.col(key).cast(pl.String) for key in keys]
    known = frame.select(*names, whole).unique(subset=keys, keep="first")
    return rows.select(names).join(known, on=keys, how="left", maintain_order="left")[whole]


def _draws(own: pl.Series, wanted: Any) -> pl.Series:
    """Draws in the type of those of new scores; what has none is one draw."""
    if wanted == pl.Null:
        return own
    if own.dtype == pl.Null:
        own = pl.Series(["0"], dtype=pl.Enum(["0"])).new_from_index(0, len(own)).alias(own.name)
    return own if isinstance(wanted, pl.Enum) else own.to_physical().cast(wanted)


def digest_of(frame: pl.DataFrame) -> str:
    """SHA-256 of what a table says, however a file writes it."""
    found = hashlib.sha256()
    for column in frame.get_columns():
        found.update(f"{column.name}\0{len(column)}\0".encode())
        if column.dtype.is_float():
            found.update(np.ascontiguousarray(column.fill_null(np.nan).to_numpy()).tobytes())
        else:
            found.update("\0".join(column.cast(pl.String).fill_null("\1").to_list()).encode())
    return found.hexdigest()


def read_baseline(path: str, limit: int | None = None) -> Baseline:
    """Open a baseline, and see that it is what was blessed.

    Raises
    ------
    InputError
        If it is not there, nobody blessed it, or it was changed since.
    """
    limit = limit or MAX_TABLE_BYTES
    try:
        data = read_bytes(path, limit)
        source = None
        if data[:4] == b"PAR1":
            source = ParquetSource(path, data, hashlib.sha256(data).hexdigest(), Room(limit))
    except InputError as error:
        hint = f"fetch it from where it is kept, or bless scores anew: {how_to_bless(path)}"
        raise InputError(f"{option('baseline')}: {error.what}", found=error.found, hint=hint) from None
    told = None if source is None else _told(data)
    if source is None or told is None or not set(_NEEDED) <= set(source.columns):
        raise InputError(
            f"{option('baseline', path)}: this is no baseline",
            found="no Parquet file" if source is None else "a table that nobody blessed",
            hint=f"bless its scores: {how_to_bless('baseline.parquet')}; or compare two files of scores: "
            + by_door("new=NEW.csv old=OLD.csv", '["new=NEW.csv", "old=OLD.csv"]'),
        )
    baseline, digest = told
    if digest_of(source.load(source.columns)) != digest:
        raise InputError(
            f"{option('baseline', path)}: the scores are not those that were blessed",
            found="another digest than the file itself tells",
            hint="take the file back from where it is kept; new scores are blessed, not written into it",
        )
    source.model_label = BASELINE
    return replace(baseline, source=source)


def how_to_bless(path: str) -> str:
    """A line that makes a baseline."""
    return by_door(f"riskrank gate SCORES {option('bless', path)}", f'rr.read(scores).bless("{path}")')


def _told(data: bytes) -> tuple[Baseline, str] | None:
    """What the metadata say, and the digest of the scores; None if they say nothing of the kind."""
    try:
        found = json.loads(pl.read_parquet_metadata(io.BytesIO(data))[KEY])
        if (found["schema"], found["schema_version"]) != (SCHEMA, SCHEMA_VERSION):
            return None
        specs = {
            str(name): spec_of(SCHEMA, str(name), {key: one[key] for key in _TOLD if one[key] is not None})
            for name, one in dict(found["metrics"]).items()
        }
        baseline = Baseline(
            source=None,  # type: ignore[arg-type]  # the caller has it
            model=str(found["model"]),
            specs=specs,
            sample_column=str(found["sample_column"]),
            digests=tuple(str(one["sha256"]) for one in found["inputs"] if one["sha256"]),
            has_samples=bool(found["has_samples"]),
            rules={name: tuple(map(str, found["rules"][name])) for name in RULES},
        )
        return baseline, str(found["sha256"])
    except (InputError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
