"""Several metrics folded into one score a sample, or summed up by model: the study behind ``portfolio``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.portfolio.quantiles import quantile
from riskrank.engine.portfolio.summary import DEFAULT_LEVELS, Curves, Summary, curves, summarise
from riskrank.engine.types import Floats, Integers
from riskrank.scores.table.metrics import assumed_against_its_name
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.distributions import refuse_distributions
from riskrank.studies.document import Document
from riskrank.studies.portfolio.options import FoldingSettings
from riskrank.studies.provenance import portfolio_settings, provenance
from riskrank.studies.rounding import decimals_of, rounded
from riskrank.studies.runtime import Runtime
from riskrank.studies.said import assumed
from riskrank.studies.suites.chapter import SuiteOutline, suite_outline
from riskrank.studies.targets import check_portfolio, fold, row_weights
from riskrank.studies.wording import percent

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

    model: str
    n: int
    mean: float
    sd: float
    quantiles: Mapping[str, float]
    tvar: Mapping[str, float]


ScoreRow = PortfolioRow | PortfolioDraw


@dataclass(frozen=True, eq=False)
class PortfolioScores(Sequence[ScoreRow]):
    """Rows by model and sample, made when they are asked for: there may be millions.

    Attributes
    ----------
    models, samples : sequence of str
    scores : tuple of k ndarrays, shapes (n_i,)
    row_samples : tuple of k ndarrays of int, shapes (n_i,)
        Sample of each score as an index into ``samples``, non-decreasing.
    draws : bool
        Whether a sample may have several scores.
    """

    models: Sequence[str]
    samples: Sequence[str]
    scores: tuple[Floats, ...]
    row_samples: tuple[Integers, ...]
    draws: bool

    def __len__(self) -> int:
        return sum(len(column) for column in self.scores)

    @overload
    def __getitem__(self, at: int) -> ScoreRow: ...

    @overload
    def __getitem__(self, at: slice) -> list[ScoreRow]: ...

    def __getitem__(self, at: int | slice) -> ScoreRow | list[ScoreRow]:
        if isinstance(at, slice):
            return [self._row(place) for place in range(len(self))[at]]
        return self._row(range(len(self))[at])

    def columns(self) -> dict[str, list[Any]]:
        """All rows, field by field."""
        sizes = [len(column) for column in self.scores]
        numbered = (
            {"draw": np.concatenate([*map(_draw_numbers, self.row_samples)]).tolist()} if self.draws else {}
        )
        return {
            "model": [model for model, size in zip(self.models, sizes, strict=True) for _ in range(size)],
            "sample": [self.samples[at] for at in np.concatenate(self.row_samples).tolist()],
            **numbered,
            "metric": [METRIC] * len(self),
            "score": np.concatenate(self.scores).tolist(),
        }

    def _row(self, place: int) -> ScoreRow:
        model = 0
        while place >= len(self.scores[model]):
            place -= len(self.scores[model])
            model += 1
        cluster, score = self.row_samples[model], float(self.scores[model][place])
        name, sample = self.models[model], self.samples[cluster[place]]
        if not self.draws:
            return PortfolioRow(name, sample, METRIC, score)
        draw = place - int(np.searchsorted(cluster, cluster[place])) + 1
        return PortfolioDraw(name, sample, draw, METRIC, score)


@dataclass(frozen=True, kw_only=True)
class PortfolioDocument(Document[ScoreRow]):
    """Portfolio scores as a long table.

    Attributes
    ----------
    rows : PortfolioScores
    weights : tuple of k ndarrays, shapes (n_i,), or None
        How much each row of a suite counts.
    suite : SuiteOutline or None
    """

    schema: ClassVar[str] = "portfolio"
    row_type: ClassVar[type] = PortfolioRow

    rows: PortfolioScores
    weights: tuple[Floats, ...]
    suite: SuiteOutline | None = None

    @property
    def scores(self) -> tuple[Floats, ...]:
        """Portfolio scores of each model."""
        return self.rows.scores

    @cached_property
    def curves(self) -> Curves:
        """Quantile functions and Tail Value at Risk of all models."""
        return curves(self.scores, self.weights)

    def columns(self) -> dict[str, list[Any]]:
        """All rows, field by field, without making them."""
        return self.rows.columns()


@dataclass(frozen=True, kw_only=True)
class PortfolioDrawsDocument(PortfolioDocument):
    """Portfolio scores of samples that have several draws."""

    row_type: ClassVar[type] = PortfolioDraw


@dataclass(frozen=True, kw_only=True)
class PortfolioSummaryDocument(Document[PortfolioSummary]):
    """Portfolio scores summed up by model.

    Attributes
    ----------
    found : Summary
    scores : tuple of k ndarrays, shapes (n_i,)
        Portfolio scores of each model.
    weights : tuple of k ndarrays, shapes (n_i,), or None
        How much each of them counts in a suite.
    suite : SuiteOutline or None
    """

    schema: ClassVar[str] = "portfolio"
    row_type: ClassVar[type] = PortfolioSummary

    found: Summary
    scores: tuple[Floats, ...]
    weights: tuple[Floats, ...]
    suite: SuiteOutline | None = None

    @cached_property
    def curves(self) -> Curves:
        """Quantile functions and Tail Value at Risk of all models."""
        return curves(self.scores, self.weights)

    def quantiles(self, levels: ArrayLike) -> Floats:
        """Quantiles of all models at probabilities in (0, 1], shape (k, l)."""
        both = zip(self.scores, self.weights, strict=True)
        return np.array([quantile(column, levels, own) for column, own in both])


def portfolio(
    table: ScoreTable, settings: FoldingSettings | None = None, runtime: Runtime | None = None
) -> PortfolioDocument | PortfolioSummaryDocument:
    """Fold the metrics of every sample into one portfolio score, by a copula of pooled CDFs.

    Parameters
    ----------
    table : ScoreTable
        Of one model or more.
    settings : FoldingSettings, optional
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
    settings = settings or FoldingSettings()
    check_portfolio(table, settings)
    refuse_distributions(table, "portfolio")
    scores, weights = fold(table, settings), row_weights(table)
    origin = provenance("portfolio", table, settings, portfolio_settings(settings, table))
    found = summarise(scores, tuple(sorted(set(settings.level or DEFAULT_LEVELS))), weights)
    doubtful = [metric.name for metric in table.metrics if assumed_against_its_name(metric)]
    verdict = assumed(doubtful) + portfolio_verdict(found, table.models)
    suite = suite_outline(table)
    if settings.summary:
        rows = _summary_rows(found, table.models)
        return PortfolioSummaryDocument(
            provenance=origin,
            rows=rows,
            verdict=verdict,
            found=found,
            scores=scores,
            weights=weights,
            suite=suite,
        )
    kind = PortfolioDrawsDocument if table.has_draws else PortfolioDocument
    return kind(
        provenance=origin,
        verdict=verdict,
        rows=PortfolioScores(table.models, table.samples, scores, table.row_samples, table.has_draws),
        weights=weights,
        suite=suite,
    )


def _summary_rows(found: Summary, models: Sequence[str]) -> list[PortfolioSummary]:
    labels = [f"{level:g}" for level in found.levels]
    return [
        PortfolioSummary(
            model=model,
            n=int(found.size[i]),
            mean=float(found.mean[i]),
            sd=float(found.sd[i]),
            quantiles=dict(zip(labels, found.quantiles[i].tolist(), strict=True)),
            tvar=dict(zip(labels, found.tail_values[i].tolist(), strict=True)),
        )
        for i, model in enumerate(models)
    ]


def _draw_numbers(cluster: Integers) -> Integers:
    return np.arange(1, len(cluster) + 1) - np.searchsorted(cluster, cluster)


def summary_decimals(found: Summary) -> int:
    """Digits that the errors of the means leave."""
    return decimals_of(found.sd / np.sqrt(found.size))


def portfolio_verdict(found: Summary, models: Sequence[str]) -> str:
    """Who has the best mean, and who the best worst cases; rounded as the table is."""
    best, level = int(np.argmax(found.mean)), found.levels[0]
    safest = int(np.argmax(found.tail_values[:, 0]))
    decimals = summary_decimals(found)
    worst = f"the worst {percent(level)} average {rounded(float(found.tail_values[safest, 0]), decimals)}"
    text = f"{models[best]} has the largest mean, {rounded(float(found.mean[best]), decimals)}"
    if safest == best:
        return f"{text}, and the mildest bad cases: {worst}."
    return f"{text}; {models[safest]} has the mildest bad cases: {worst}."
