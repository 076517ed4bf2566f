"""Convert evaluation-harness exports, and a judge's verdicts on pairs of answers, to score tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, ClassVar

import polars as pl

from riskrank.engine.portfolio.judge_votes import VoteScores, score_votes
from riskrank.errors import index_of, listing, option
from riskrank.options.option import changed_settings
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.reader import Export
from riskrank.scores.exports.registry import read_export
from riskrank.scores.files.source import OpenOptions, Source
from riskrank.scores.layouts.preferences import read_votes, scored_rows
from riskrank.scores.table.export_rows import reshape_export
from riskrank.scores.table.metric_specs import DIRECTION, toml_key
from riskrank.studies.convert.options import VoteSettings
from riskrank.studies.document import Document, FrameRows, Provenance, attributes
from riskrank.studies.wording import counted


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One score of a model on a sample; exports add further columns, such as ``task`` and ``split``."""

    model: str
    sample: str
    metric: str
    score: float | None


@dataclass(frozen=True, kw_only=True)
class ExportDocument(Document[Mapping[str, Any]], schema="convert"):
    """Scores of an evaluation-harness export in long format.

    Attributes
    ----------
    rows : FrameRows
        Fields of `ScoreRow` and further columns.
    directions : mapping of str to {"higher", "lower"}
        Directions declared by the export, by metric.
    """

    row_type: ClassVar[type] = ScoreRow

    rows: FrameRows
    directions: Mapping[str, str]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.rows.frame.columns)

    def frame(self) -> pl.DataFrame:
        """Return the rows as a data frame."""
        return self.rows.frame

    table = frame

    def columns(self) -> dict[str, list[Any]]:
        """Return the rows as a dictionary of columns, keyed by name."""
        return self.rows.frame.to_dict(as_series=False)

    def meta(self) -> Mapping[str, Any]:
        """Return the directions of the metrics for the JSON object ``meta``."""
        return {"directions": dict(self.directions)}

    def totals(self) -> Iterator[tuple[str, int, int]]:
        """Yield each metric's name, its number of scores and its number of rows without a score."""
        counts = {"scores": pl.col("score").count(), "missing": pl.col("score").null_count()}
        yield from self.rows.frame.group_by("metric").agg(**counts).sort("metric").iter_rows()

    @property
    def summary(self) -> str:
        """Text on what was read: the numbers of scores, models, samples, metrics and files."""
        origin = self.provenance
        models, files = counted(len(origin.models), "model"), counted(len(origin.inputs), "file")
        on = f"{counted(origin.samples, 'sample')} and {counted(len(origin.metrics), 'metric')}"
        return f"read {len(self.rows):,} scores of {models} on {on} from {files}"

    @property
    def metrics_file(self) -> str:
        """Contents of a metrics file in TOML with the directions; empty if the export declares none."""
        pairs = sorted(self.directions.items())
        return "\n".join(f'[{toml_key(name)}]\ndirection = "{value}"\n' for name, value in pairs)


def convert_export(paths: Sequence[str], options: ReadOptions) -> ExportDocument:
    """Read evaluation-harness exports into one table in long format.

    Parameters
    ----------
    paths : sequence of str
        Files, folders and patterns, each optionally written as ``LABEL=PATH``.
    options : ReadOptions
        ``from_`` names the harness that wrote the files, or is ``auto``.

    Returns
    -------
    ExportDocument

    Raises
    ------
    InputError
        If a file cannot be read or contains no score.
    UsageError
        If the format is unknown or not recognised, or if the export is ambiguous without an option.
    """
    harness = options.from_ or "auto"
    export = read_export(harness, paths, options)
    export = _select_metrics(reshape_export(export, options, listing(paths, 3)), options.metric)
    rows = export.rows
    if export.directions and DIRECTION not in rows.columns:
        # With this column, a single file or a pipe preserves the directions.
        direction = pl.col("metric").replace_strict(export.directions, default=None, return_dtype=pl.String)
        rows = rows.with_columns(direction.alias(DIRECTION))
    provenance = Provenance(
        command="convert",
        settings=changed_settings(options),
        method={"format": harness},
        inputs=[vars(entry) for entry in export.inputs],
        models=rows["model"].unique().sort().to_list(),
        metrics=rows["metric"].unique().sort().to_list(),
        samples=rows["sample"].n_unique(),
        warnings=export.notes,
    )
    return ExportDocument(provenance=provenance, rows=FrameRows(rows), directions=export.directions)


def _select_metrics(export: Export, metrics: Sequence[str]) -> Export:
    """Return an export with the requested metrics only, or unchanged if `metrics` is empty.

    Raises
    ------
    UsageError
        If a metric is unknown.
    """
    if not metrics:
        return export
    available = export.rows["metric"].unique().sort().to_list()
    for name in metrics:
        index_of(name, available, kind="metric", parameter="metric")
    directions = {name: direction for name, direction in export.directions.items() if name in metrics}
    return replace(export, rows=export.rows.filter(pl.col("metric").is_in(metrics)), directions=directions)


@dataclass(frozen=True, kw_only=True)
class VoteDocument(Document[ScoreRow], schema="convert-verdicts"):
    """Scores computed from a judge's verdicts on pairs of answers.

    Attributes
    ----------
    scores : VoteScores
        Scores computed from the verdicts.
    without_vote : int
        Number of rows excluded because they contain no verdict.
    """

    scores: VoteScores
    without_vote: int

    @property
    def summary(self) -> str:
        """Text on what was read: the numbers of verdicts, models and samples."""
        counts = self.scores.vote_counts
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
        on = f"{len(self.scores.models)} models and {len(self.scores.samples):,} samples"
        return f"read {sum(counts.values()):,} verdicts on {on}: {kinds}"

    def meta(self) -> Mapping[str, Any]:
        """Return the numbers of verdicts for the JSON object ``meta``."""
        scores = self.scores
        counts = {
            "counts": scores.vote_counts,
            "rows_without_verdict": self.without_vote,
            **attributes(scores, "expected_pairs", "judged_pairs", "missing_pairs", "missing_scores"),
            **attributes(scores, "swapped_pairs", "contradictory_pairs"),
        }
        return {"verdicts": counts}


def convert_votes(
    paths: Sequence[str | Source], settings: VoteSettings, stdin: BinaryIO | None = None
) -> VoteDocument:
    """Convert a judge's verdicts on pairs of answers to one score per model and sample.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, glob patterns, ``-`` for `stdin`, or open sources.
    settings : VoteSettings
        Columns, models and format of the file.
    stdin : BinaryIO, optional
        Standard input, read for the path ``-``.

    Returns
    -------
    VoteDocument

    Raises
    ------
    InputError
        If a file cannot be read, or its columns or verdicts are not valid.
    UsageError
        If the settings contradict each other or do not fit the file.
    """
    name, how = settings.metric_name, OpenOptions(input_format=settings.input_format, stdin=stdin)
    table = read_votes(paths, columns=settings.columns, options=how)
    scores = score_votes(*table.columns(), models=settings.models or None, location=table.location)
    return VoteDocument(
        provenance=Provenance(
            command="convert",
            settings=changed_settings(settings),
            method={"format": "verdicts", "metric_name": name},
            inputs=[vars(entry) for entry in table.inputs],
            models=scores.models,
            metrics=[name],
            samples=len(scores.samples),
            warnings=[*_vote_warnings(scores, table.without_vote)],
        ),
        rows=[ScoreRow(model, sample, name, score) for model, sample, score in scored_rows(scores)],
        scores=scores,
        without_vote=table.without_vote,
    )


def _vote_warnings(scores: VoteScores, without_vote: int) -> Iterator[str]:
    """Yield warnings about missing and contradictory verdicts, and how they are treated.

    `without_vote` is the number of rows without a verdict.
    """
    if without_vote:
        yield f"excluded rows without a verdict: {without_vote:,}"
    if scores.missing_pairs:
        yield (
            f"{scores.missing_pairs:,} of {scores.expected_pairs:,} pairs of models on a sample have no "
            "verdict; these pairs count as ties"
        )
    if scores.missing_scores:
        yield (
            f"excluded {scores.missing_scores:,} of {scores.scores.size:,} scores, because their models "
            f"were not judged on the sample; read the result with {option('missing', 'drop')}"
        )
    if scores.contradictory_pairs:
        yield (
            f"{scores.contradictory_pairs:,} of {scores.swapped_pairs:,} pairs judged in both orders have "
            "two different results; the mean of both is used"
        )
