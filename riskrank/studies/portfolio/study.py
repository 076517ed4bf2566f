"""Entry point of ``portfolio``: combine metrics into one score per sample, or summarise it by model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from riskrank.engine.dominance.ranking import tail_level
from riskrank.engine.portfolio.quantiles import quantile
from riskrank.engine.portfolio.summary import DEFAULT_LEVELS, Summary, summarise, summarise_curves
from riskrank.engine.types import Floats
from riskrank.scores.table.metrics import contradicts_name
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import findings
from riskrank.studies.checks import require_distributions
from riskrank.studies.document import Document, FrameRows, Row, computed, rows_from_records
from riskrank.studies.metric_means import assumption_prefix, is_bad_case_level
from riskrank.studies.portfolio.options import CombinationSettings
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import portfolio_settings, provenance
from riskrank.studies.suites.section import SuiteOutline, suite_outline
from riskrank.studies.targets import check_portfolio, cluster_scores, combined_scores
from riskrank.studies.wording import decimals_from_errors, format_fixed, format_percent, join_names

# Metric name in the output table, which every command can read.
METRIC = "portfolio"


@dataclass(frozen=True, slots=True)
class PortfolioRow:
    """Combined score of one model on one sample."""

    model: str
    sample: str
    metric: str
    score: float


@dataclass(frozen=True, slots=True)
class PortfolioDraw:
    """Combined score of one repeat; ``draw`` numbers the repeats of a sample."""

    model: str
    sample: str
    draw: int
    metric: str
    score: float


@dataclass(frozen=True, slots=True)
class PortfolioSummary:
    """Summary of one model's combined scores; quantiles and Tail Values at Risk are keyed by level."""

    model: str = computed(lambda models, i: models[i])
    n: int = computed(lambda summary, i: int(summary.size[i]))
    mean: float = computed(lambda summary, i: float(summary.mean[i]))
    sd: float = computed(lambda summary, i: float(summary.sd[i]))
    quantiles: Mapping[str, float] = computed(lambda summary, i: _by_level(summary, summary.quantiles[i]))
    tvar: Mapping[str, float] = computed(lambda summary, i: _by_level(summary, summary.tail_values[i]))


@dataclass(frozen=True, kw_only=True)
class CombinedScoreDocument(Document[Row]):
    """Base class for documents of combined scores.

    Attributes
    ----------
    scores : tuple of k ndarrays, shapes (n_i,)
        Scores of the k models, where model i has n_i scores.
    weights : tuple of k ndarrays, shapes (n_i,), or None
        Weight of each score, or None without a suite.
    suite : SuiteOutline or None
        Tasks of the suite.
    """

    scores: tuple[Floats, ...]
    weights: tuple[Floats, ...]
    suite: SuiteOutline | None = None

    @cached_property
    def curves(self) -> Summary:
        """Quantile functions and Tail Values at Risk of all models."""
        return summarise_curves(self.scores, self.weights)


@dataclass(frozen=True, kw_only=True)
class PortfolioDocument(CombinedScoreDocument[PortfolioRow], schema="portfolio"):
    """Combined scores in long format, one row per sample."""

    rows: FrameRows

    def columns(self) -> dict[str, list[Any]]:
        """Return the rows as a dictionary of columns, without creating row objects."""
        return self.rows.frame.to_dict(as_series=False)


@dataclass(frozen=True, kw_only=True)
class PortfolioDrawsDocument(PortfolioDocument):
    """Combined scores in long format, one row per repeat of a sample."""

    row_type: ClassVar[type] = PortfolioDraw


@dataclass(frozen=True, kw_only=True)
class PortfolioSummaryDocument(CombinedScoreDocument[PortfolioSummary], schema="portfolio"):
    """Summary of combined scores by model.

    Attributes
    ----------
    summary : Summary
        Means, quantiles and tail means of all models.
    worst : Summary
        Tail means at the level shown in the output.
    decimals : int
        Decimals that the standard errors of the means support.
    """

    summary: Summary
    worst: Summary
    decimals: int

    def quantiles(self, levels: ArrayLike) -> Floats:
        """Return the quantiles of all k models at l levels in (0, 1], shape (k, l)."""
        scores_and_weights = zip(self.scores, self.weights, strict=True)
        return np.array([quantile(column, levels, weights) for column, weights in scores_and_weights])


@dataclass(frozen=True, eq=False)
class PortfolioCase:
    """Results from which the findings and sentences are derived."""

    summary: Summary
    worst: Summary
    models: Sequence[str]

    @property
    def decimals(self) -> int:
        """Number of decimals that the standard errors of the means support."""
        return decimals_from_errors(self.summary.sd / np.sqrt(self.summary.size))


def portfolio_findings(case: PortfolioCase, table: ScoreTable) -> Iterator[findings.Finding]:
    """Yield findings about the models with the best mean, the best tail mean, and identical scores."""
    (level,), tails = case.worst.levels, case.worst.tail_values[:, 0]
    models = _best_models(case.summary.mean)
    yield findings.Finding("first", models, figures={"mean": float(case.summary.mean.max())})
    if is_bad_case_level(level):
        figures = {"level": level, "tail": float(tails.max())}
        yield findings.Finding("mildest-tail", _best_models(tails), figures=figures)
    yield from findings.same_score_findings(table, table.models)


def _best_models(values: Floats) -> tuple[int, ...]:
    """Return the indices of all models with the largest value."""
    return tuple(np.flatnonzero(values == values.max()).tolist())


def _best_mean_sentence(finding: findings.Finding, case: PortfolioCase) -> str:
    """Return a sentence that names the models with the largest mean."""
    mean, best = format_fixed(finding.figures["mean"], case.decimals), finding.models
    subject, verb = join_names([case.models[i] for i in best]), "has" if len(best) == 1 else "have"
    if len(best) == len(case.models):
        return f"{subject} have the same mean, {mean}." if len(best) > 1 else f"{subject}'s mean is {mean}."
    return f"{subject} {verb} the largest mean, {mean}."


def _best_tail_sentence(finding: findings.Finding, case: PortfolioCase) -> str:
    """Return a sentence that names the models with the largest tail mean."""
    worst = format_percent(finding.figures["level"])
    average = format_fixed(finding.figures["tail"], case.decimals)
    safest, text = finding.models, f"he worst {worst} average {average}"
    if len(safest) == len(case.models):
        return f"T{text}."
    several = len(safest) > 1
    if safest == _best_models(case.summary.mean):
        return f"{'Their' if several else 'Its'} bad cases are also the mildest: t{text}."
    subject = join_names([case.models[i] for i in safest])
    return f"{subject} {'have' if several else 'has'} the mildest bad cases: t{text}."


# Sentence of each kind of finding.
SENTENCES: findings.Sentences[PortfolioCase] = findings.Sentences(
    {"first": _best_mean_sentence, "mildest-tail": _best_tail_sentence}
)


def portfolio(
    table: ScoreTable, settings: CombinationSettings, runtime: Runtime = SERIAL
) -> PortfolioDocument | PortfolioSummaryDocument:
    """Combine the metrics of every sample into one score, by a copula of pooled distribution functions.

    Parameters
    ----------
    table : ScoreTable
        Table with at least one model.
    settings : CombinationSettings
        Options of ``portfolio``.
    runtime : Runtime, optional
        Not used.

    Returns
    -------
    PortfolioDocument or PortfolioSummaryDocument
        One row per sample or repeat or, with ``summary``, per model.

    Raises
    ------
    UsageError
        If weights are given for the empirical copula, which does not support them.
    """
    check_portfolio(table, settings)
    require_distributions(table, "portfolio")
    scores = combined_scores(table, settings)
    levels = tuple(sorted(set(settings.level or DEFAULT_LEVELS)))
    clustered_scores = cluster_scores(table, scores, settings)
    summary = summarise(clustered_scores.values, levels, clustered_scores.weights)
    tail_levels = levels[:1] if settings.level else [tail_level(clustered_scores)]
    worst = summarise(clustered_scores.values, tail_levels, clustered_scores.weights)
    doubtful = [metric.name for metric in table.metrics if contradicts_name(metric)]
    case = PortfolioCase(summary, worst, table.models)
    limits = [
        *((finding, findings.NOTHING_TESTED) for finding in findings.untested_findings(tested=False)),
        *findings.sample_limits([clustered_scores], tested=False),
    ]
    shared: dict[str, Any] = {
        "provenance": provenance("portfolio", table, settings, portfolio_settings(settings, table)),
        **SENTENCES.fields(
            portfolio_findings(case, table), case, table.models, assumption_prefix(doubtful), limits=limits
        ),
        "scores": clustered_scores.values,
        "weights": clustered_scores.weights,
        "suite": suite_outline(table),
    }
    if settings.summary:
        records = ((summary, table.models, i) for i in range(len(table.models)))
        rows = rows_from_records(PortfolioSummary, "summary models i", records)
        return PortfolioSummaryDocument(
            rows=rows, summary=summary, worst=worst, decimals=case.decimals, **shared
        )
    kind = PortfolioDrawsDocument if table.has_repeats else PortfolioDocument
    return kind(rows=FrameRows(_score_frame(table, scores), kind.row_type), **shared)


def _score_frame(table: ScoreTable, scores: Sequence[Floats]) -> pl.DataFrame:
    """Return a data frame with one row per combined score. Repeats of a sample are numbered.

    `scores` has one array per model.
    """
    model = np.repeat(np.arange(len(scores)), [len(model_scores) for model_scores in scores])
    columns = {
        "model": pl.Series(table.models).gather(model),
        "sample": pl.Series(table.samples).gather(np.concatenate(table.row_samples)),
        "score": np.concatenate(scores),
    }
    number = pl.int_range(1, pl.len() + 1).over("model", "sample").alias("draw")
    draw = [number] if table.has_repeats else []
    return pl.DataFrame(columns).select("model", "sample", *draw, pl.lit(METRIC).alias("metric"), "score")


def _by_level(summary: Summary, values: Floats) -> dict[str, float]:
    """Return the values as a dictionary keyed by the levels of the summary."""
    return dict(zip((f"{level:g}" for level in summary.levels), values.tolist(), strict=True))
