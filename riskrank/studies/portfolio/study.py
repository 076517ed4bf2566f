"""Several metrics folded into one score a sample, or summed up by model: the study behind ``portfolio``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from riskrank.engine.dominance.ranking import tail_level
from riskrank.engine.portfolio.quantiles import quantile
from riskrank.engine.portfolio.summary import DEFAULT_LEVELS, Summary, curves, summarise
from riskrank.engine.types import Floats
from riskrank.scores.table.metrics import assumed_against_its_name
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import Document, Row, of, rows_from
from riskrank.studies.findings import NOTHING_TESTED, Finding, Sentences, same_scores, untested
from riskrank.studies.metric_means import assumed, bad_cases
from riskrank.studies.portfolio.options import FoldingSettings
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.sample_findings import sample_findings
from riskrank.studies.settings import portfolio_settings, provenance
from riskrank.studies.suites.section import SuiteOutline, suite_outline
from riskrank.studies.targets import check_portfolio, clustered, fold
from riskrank.studies.wording import decimals_of, names, percent, rounded

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
    worst : Summary
        Of the worst share of samples that is told of.
    decimals : int
        Digits that the errors of the means leave.
    """

    found: Summary
    worst: Summary
    decimals: int

    def quantiles(self, levels: ArrayLike) -> Floats:
        """Quantiles of all models at probabilities in (0, 1], shape (k, l)."""
        both = zip(self.scores, self.weights, strict=True)
        return np.array([quantile(column, levels, own) for column, own in both])


@dataclass(frozen=True, eq=False)
class PortfolioCase:
    """What sentences are made from."""

    found: Summary
    worst: Summary
    models: Sequence[str]

    @property
    def decimals(self) -> int:
        """Digits that the errors of the means leave."""
        return decimals_of(self.found.sd / np.sqrt(self.found.size))


def portfolio_findings(case: PortfolioCase, table: ScoreTable) -> Iterator[Finding]:
    """Who has the best mean, who the best worst cases, and who are alike row by row."""
    (level,), tails = case.worst.levels, case.worst.tail_values[:, 0]
    yield Finding("first", _firsts(case.found.mean), figures={"mean": float(case.found.mean.max())})
    if bad_cases(level):
        figures = {"level": level, "tail": float(tails.max())}
        yield Finding("mildest-tail", _firsts(tails), figures=figures)
    yield from same_scores(table, table.models)


def _firsts(values: Floats) -> tuple[int, ...]:
    return tuple(np.flatnonzero(values == values.max()).tolist())


def _first(finding: Finding, case: PortfolioCase) -> str:
    mean, best = rounded(finding.figures["mean"], case.decimals), finding.models
    who, has = names([case.models[i] for i in best]), "has" if len(best) == 1 else "have"
    if len(best) == len(case.models):
        return f"{who} have the same mean, {mean}." if len(best) > 1 else f"{who}'s mean is {mean}."
    return f"{who} {has} the largest mean, {mean}."


def _mildest(finding: Finding, case: PortfolioCase) -> str:
    worst, average = percent(finding.figures["level"]), rounded(finding.figures["tail"], case.decimals)
    safest, text = finding.models, f"he worst {worst} average {average}"
    if len(safest) == len(case.models):
        return f"T{text}."
    several = len(safest) > 1
    if safest == _firsts(case.found.mean):
        return f"{'Their' if several else 'Its'} bad cases are the mildest, too: t{text}."
    who = names([case.models[i] for i in safest])
    return f"{who} {'have' if several else 'has'} the mildest bad cases: t{text}."


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
    scores = fold(table, settings)
    levels, drawn = tuple(sorted(set(settings.level or DEFAULT_LEVELS))), clustered(table, scores, settings)
    found = summarise(drawn.values, levels, drawn.weights)
    worst = summarise(drawn.values, levels[:1] if settings.level else [tail_level(drawn)], drawn.weights)
    doubtful = [metric.name for metric in table.metrics if assumed_against_its_name(metric)]
    case = PortfolioCase(found, worst, table.models)
    limits = [
        *((one, NOTHING_TESTED) for one in untested(tested=False)),
        *sample_findings([drawn], tested=False),
    ]
    shared: dict[str, Any] = {
        "provenance": provenance("portfolio", table, settings, portfolio_settings(settings, table)),
        **SENTENCES.told(
            portfolio_findings(case, table), case, table.models, assumed(doubtful), limits=limits
        ),
        "scores": drawn.values,
        "weights": drawn.weights,
        "suite": suite_outline(table),
    }
    if settings.summary:
        records = ((found, table.models, i) for i in range(len(table.models)))
        rows = rows_from(PortfolioSummary, "found models i", records)
        return PortfolioSummaryDocument(rows=rows, found=found, worst=worst, decimals=case.decimals, **shared)
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
