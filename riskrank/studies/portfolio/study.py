"""Several metrics folded into one score a sample, or summed up by model: the study behind ``portfolio``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from riskrank.engine.portfolio.quantiles import quantile
from riskrank.engine.portfolio.summary import DEFAULT_LEVELS, Summary, curves, summarise
from riskrank.engine.types import Floats
from riskrank.scores.table.metrics import assumed_against_its_name
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import Document, Row, of, rows_from
from riskrank.studies.findings import NOTHING_TESTED, Finding, Sentences, same_scores, untested
from riskrank.studies.metric_means import assumed
from riskrank.studies.portfolio.options import FoldingSettings
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.sample_findings import limits_of_rows
from riskrank.studies.settings import portfolio_settings, provenance
from riskrank.studies.suites.chapter import SuiteOutline, suite_outline
from riskrank.studies.targets import check_portfolio, fold, tasks_of
from riskrank.studies.wording import decimals_of, percent, rounded

METRIC = "portfolio"
"""Metric of the scores in the table that is written, which every command reads."""


@dataclass(frozen=True, slots=True)
class PortfolioRow:
    """One sample's score."""

    model: str
    sample: str
    metric: str
    score: float


@dataclass(frozen=True, slots=True)
class PortfolioDraw:
    """One draw's score; draws of a sample are told apart by their number."""

    model: str
    sample: str
    draw: int
    metric: str
    score: float


@dataclass(frozen=True, slots=True)
class PortfolioSummary:
    """One model's scores; quantiles and Tail Values at Risk by their level."""

    model: str = of(lambda models, i: models[i])
    n: int = of(lambda found, i: int(found.size[i]))
    mean: float = of(lambda found, i: float(found.mean[i]))
    sd: float = of(lambda found, i: float(found.sd[i]))
    quantiles: Mapping[str, float] = of(lambda found, i: _by_level(found, found.quantiles[i]))
    tvar: Mapping[str, float] = of(lambda found, i: _by_level(found, found.tail_values[i]))


@dataclass(frozen=True, eq=False)
class PortfolioScores(Sequence[Any]):
    """Rows of a frame as a type of row, made when they are asked for: there may be millions."""

    frame: pl.DataFrame
    kind: type

    def __len__(self) -> int:
        return self.frame.height

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self.kind(*row) for row in self.frame[at].iter_rows()]
        return self.kind(*self.frame.row(range(len(self))[at]))

    def __iter__(self) -> Iterator[Any]:
        return (self.kind(*row) for row in self.frame.iter_rows())


@dataclass(frozen=True, kw_only=True)
class FoldedDocument(Document[Row]):
    """Portfolio scores.

    Attributes
    ----------
    scores : tuple of k ndarrays, shapes (n_i,)
        Of each model.
    weights : tuple of k ndarrays, shapes (n_i,), or None
        How much each of them counts in a suite.
    suite : SuiteOutline or None
    """

    scores: tuple[Floats, ...]
    weights: tuple[Floats, ...]
    suite: SuiteOutline | None = None

    @cached_property
    def curves(self) -> Summary:
        """Quantile functions and Tail Value at Risk of all models."""
        return curves(self.scores, self.weights)


@dataclass(frozen=True, kw_only=True)
class PortfolioDocument(FoldedDocument[PortfolioRow], schema="portfolio"):
    """Portfolio scores as a long table."""

    rows: PortfolioScores

    def columns(self) -> dict[str, list[Any]]:
        """All rows, field by field, without making them."""
        return self.rows.frame.to_dict(as_series=False)


@dataclass(frozen=True, kw_only=True)
class PortfolioDrawsDocument(PortfolioDocument):
    """Portfolio scores of samples that have several draws."""

    row_type: ClassVar[type] = PortfolioDraw


@dataclass(frozen=True, kw_only=True)
class PortfolioSummaryDocument(FoldedDocument[PortfolioSummary], schema="portfolio"):
    """Portfolio scores summed up by model.

    Attributes
    ----------
    found : Summary
    decimals : int
        Digits that the errors of the means leave.
    """

    found: Summary
    decimals: int

    def quantiles(self, levels: ArrayLike) -> Floats:
        """Quantiles of all models at probabilities in (0, 1], shape (k, l)."""
        both = zip(self.scores, self.weights, strict=True)
        return np.array([quantile(column, levels, own) for column, own in both])


@dataclass(frozen=True, eq=False)
class PortfolioCase:
    """What sentences are made from."""

    found: Summary
    models: Sequence[str]

    @property
    def decimals(self) -> int:
        """Digits that the errors of the means leave."""
        return decimals_of(self.found.sd / np.sqrt(self.found.size))


def portfolio_findings(case: PortfolioCase, table: ScoreTable) -> Iterator[Finding]:
    """Who has the best mean, who the best worst cases, and who are alike row by row."""
    means, tails = case.found.mean, case.found.tail_values[:, 0]
    best, safest = int(np.argmax(means)), int(np.argmax(tails))
    yield Finding("first", (best,), figures={"mean": float(means[best])})
    figures = {"level": case.found.levels[0], "tail": float(tails[safest])}
    yield Finding("mildest-tail", (safest,), figures=figures)
    yield from same_scores(table, table.models)


def _first(finding: Finding, case: PortfolioCase) -> str:
    mean = rounded(finding.figures["mean"], case.decimals)
    return f"{case.models[finding.models[0]]} has the largest mean, {mean}."


def _mildest(finding: Finding, case: PortfolioCase) -> str:
    worst, average = percent(finding.figures["level"]), rounded(finding.figures["tail"], case.decimals)
    safest, text = finding.models[0], f"the worst {worst} average {average}"
    if safest == int(np.argmax(case.found.mean)):
        return f"Its bad cases are the mildest, too: {text}."
    return f"{case.models[safest]} has the mildest bad cases: {text}."


SENTENCES: Sentences[PortfolioCase] = Sentences({"first": _first, "mildest-tail": _mildest})
"""How each kind of finding is said."""


def portfolio(
    table: ScoreTable, settings: FoldingSettings, runtime: Runtime = HERE
) -> PortfolioDocument | PortfolioSummaryDocument:
    """Fold the metrics of every sample into one portfolio score, by a copula of pooled CDFs.

    Parameters
    ----------
    table : ScoreTable
        Of one model or more.
    settings : FoldingSettings
    runtime : Runtime, optional
        Folding needs none of it.

    Returns
    -------
    PortfolioDocument or PortfolioSummaryDocument
        Rows a sample, a draw, or with ``summary`` a model.

    Raises
    ------
    UsageError
        If weights are given that the empirical copula has no use for.
    """
    check_portfolio(table, settings)
    refuse_distributions(table, "portfolio")
    scores, weights = fold(table, settings), _row_weights(table)
    found = summarise(scores, tuple(sorted(set(settings.level or DEFAULT_LEVELS))), weights)
    doubtful = [metric.name for metric in table.metrics if assumed_against_its_name(metric)]
    case, limits = PortfolioCase(found, table.models), limits_of_rows(table, tested=False)
    limits = [*((one, NOTHING_TESTED) for one in untested(tested=False)), *limits]
    shared: dict[str, Any] = {
        "provenance": provenance("portfolio", table, settings, portfolio_settings(settings, table)),
        **SENTENCES.told(
            portfolio_findings(case, table), case, table.models, assumed(doubtful), limits=limits
        ),
        "scores": scores,
        "weights": weights,
        "suite": suite_outline(table),
    }
    if settings.summary:
        records = ((found, table.models, i) for i in range(len(table.models)))
        rows = rows_from(PortfolioSummary, "found models i", records)
        return PortfolioSummaryDocument(rows=rows, found=found, decimals=case.decimals, **shared)
    kind = PortfolioDrawsDocument if table.has_draws else PortfolioDocument
    return kind(rows=PortfolioScores(_frame(table, scores), kind.row_type), **shared)


def _frame(table: ScoreTable, scores: Sequence[Floats]) -> pl.DataFrame:
    """A row a score; draws of a sample are numbered."""
    model = np.repeat(np.arange(len(scores)), [len(own) for own in scores])
    columns = {
        "model": pl.Series(table.models).gather(model),
        "sample": pl.Series(table.samples).gather(np.concatenate(table.row_samples)),
        "score": np.concatenate(scores),
    }
    number = pl.int_range(1, pl.len() + 1).over("model", "sample").alias("draw")
    draw = [number] if table.has_draws else []
    return pl.DataFrame(columns).select("model", "sample", *draw, pl.lit(METRIC).alias("metric"), "score")


def _by_level(found: Summary, values: Floats) -> dict[str, float]:
    return dict(zip((f"{level:g}" for level in found.levels), values.tolist(), strict=True))


def _row_weights(table: ScoreTable) -> tuple[np.ndarray, ...]:
    """Weight of every row of every model, of sum 1 where it has tasks."""
    tasks = tasks_of(table)
    if tasks is None:
        return tuple(np.ones(len(rows)) for rows in table.row_samples)
    return tuple(
        (tasks.weights / np.bincount(rows, minlength=len(tasks.names)))[rows] for rows in tasks.of_row
    )
