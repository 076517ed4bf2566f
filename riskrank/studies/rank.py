"""A ranking and how sure it is: the study behind ``rank``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.column import MODEL_WIN_RATE, Inference
from riskrank.engine.dominance.method_rankings import MethodStudy, study_methods
from riskrank.engine.dominance.ranking import Ranking, rank_by
from riskrank.engine.dominance.stability import Stability, stability
from riskrank.errors import GateFailed, UsageError, option
from riskrank.scores.table import ScoreTable
from riskrank.studies.aggregation import described_aggregation
from riskrank.studies.document import Document, Provenance
from riskrank.studies.gates import failed_gates, resolve_gates
from riskrank.studies.provenance import described_inputs, portfolio_settings, reading_settings
from riskrank.studies.ranking_methods import MethodSettings, chosen_methods, gated_columns
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import whole_numbers
from riskrank.studies.targets import check_portfolio, score_tables

STABILITY_REPEATS = 5


@dataclass(frozen=True, kw_only=True)
class RankSettings(MethodSettings):
    """What to rank by, and how sure to be.

    Parameters
    ----------
    stability : sequence of int
        Repeat on random subsamples of these sizes.
    stability_repeats : int, optional
        Subsamples a size; 5 by default.
    """

    stability: tuple[int, ...] = ()
    stability_repeats: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalise("stability", whole_numbers(self.stability, parameter="stability"))
        if self.stability_repeats is not None and not self.stability:
            raise UsageError(
                f"{option('stability_repeats')} goes with {option('stability')}",
                found=option("stability_repeats", self.stability_repeats),
                hint=f"add {option('stability', '100,500')}",
            )


@dataclass(frozen=True, slots=True)
class RankRow:
    """One model's place by one method."""

    method: str
    model: str
    rank: int
    tier: int | None
    wins: int | None
    score: float
    score_low: float | None
    score_high: float | None
    rank_low: int | None
    rank_high: int | None


@dataclass(frozen=True, kw_only=True)
class RankDocument(Document[RankRow]):
    """Rankings by one or more methods.

    Attributes
    ----------
    study : MethodStudy
    steady : Stability or None
    inference : Inference
    paired : bool
    failed : GateFailed or None
        The gate that did not hold.
    """

    schema: ClassVar[str] = "rank"
    row_type: ClassVar[type] = RankRow

    study: MethodStudy
    steady: Stability | None
    inference: Inference
    paired: bool
    failed: GateFailed | None

    def meta(self) -> Mapping[str, Any]:
        """Hidden risks, aggregations, agreement and stability."""
        models = self.provenance.models
        return {
            "hidden_risks": _hidden_risks(self.study, models),
            "aggregations": [
                described_aggregation(name, found, models) for name, found in self.study.aggregations.items()
            ],
            "agreement": {
                "methods": list(self.study.rankings),
                "kendall_tau": self.study.agreement.tolist(),
            },
            "stability": None if self.steady is None else [*_stability(self.steady)],
        }

    @property
    def aggregations(self) -> list[tuple[str, Aggregation]]:
        """How aggregated rankings were found, by method."""
        return list(self.study.aggregations.items())


def rank(
    table: ScoreTable, settings: RankSettings | None = None, runtime: Runtime | None = None
) -> RankDocument:
    """Rank models by stochastic dominance, next to mean win rates, from one bootstrap.

    Parameters
    ----------
    table : ScoreTable
    settings : RankSettings, optional
    runtime : Runtime, optional

    Returns
    -------
    RankDocument

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    UsageError
        If a method or a gate does not fit the table.
    """
    settings, runtime = settings or RankSettings(), runtime or Runtime()
    check_portfolio(table, settings, per_metric=settings.folds_nothing)
    gates = resolve_gates(settings, table.models)
    methods = chosen_methods(settings, table)
    gated = gated_columns(methods) if gates else []
    tables = score_tables(table, settings)
    inference = settings.inference(runtime.jobs)
    common = {"names": table.models, "aggregator": settings.aggregator}
    with runtime.progress("resampling") as progress:
        study = study_methods(tables, methods, inference, progress=progress, **common)
    steady = None
    if settings.stability:
        repeats = settings.stability_repeats
        with runtime.progress("subsampling") as progress:
            steady = stability(
                tables,
                methods,
                inference,
                study,
                sizes=settings.stability,
                repeats=STABILITY_REPEATS if repeats is None else repeats,
                progress=progress,
                **common,
            )
    tested = [(name, study.studies[name].dominance.tests) for name in gated]
    return RankDocument(
        provenance=_provenance(table, settings, study, inference),
        rows=[*_rows(study, table.models)],
        study=study,
        steady=steady,
        inference=inference,
        paired=table.paired,
        failed=failed_gates(gates, tested, table.models, settings.alpha),
    )


def _provenance(
    table: ScoreTable, settings: RankSettings, study: MethodStudy, inference: Inference
) -> Provenance:
    advice = list(dict.fromkeys(line for found in study.studies.values() for line in found.dominance.advice))
    if settings.all_methods and any(metric.weight is not None for metric in table.metrics):
        advice.append("P(EC) is left out: the empirical copula has no use for weights")
    described = reading_settings(table.options) | settings.described_tests()
    described |= {"per_metric": settings.per_metric, "methods": list(study.rankings)}
    described |= {"aggregate": settings.aggregator if study.aggregations else None}
    if len(table.metrics) > 1 and not settings.folds_nothing:
        described |= portfolio_settings(settings, table)
    return Provenance(
        command="rank",
        seed=settings.seed if inference.resampled or settings.stability else None,
        resamples=settings.resamples if inference.resampled else None,
        settings=described,
        warnings=[*table.warnings, *advice],
        **described_inputs(table),
    )


def _rows(study: MethodStudy, models: Sequence[str]) -> Iterator[RankRow]:
    """One row a method and model, methods in the order asked for, models by rank."""
    for method, ranking in study.rankings.items():
        for i in ranking.order:
            yield _row(method, models[i], ranking, int(i))


def _row(method: str, model: str, ranking: Ranking, i: int) -> RankRow:
    def entry(values):
        return None if values is None else values[i].item()

    return RankRow(
        method=method,
        model=model,
        rank=entry(ranking.rank),
        tier=entry(ranking.tier),
        wins=entry(ranking.wins),
        score=entry(ranking.score),
        score_low=entry(ranking.score_low),
        score_high=entry(ranking.score_high),
        rank_low=entry(ranking.rank_low),
        rank_high=entry(ranking.rank_high),
    )


def _hidden_risks(study: MethodStudy, models: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "metric": metric,
            "model": models[i],
            "risk_rank": found.rankings["R-SSD"].rank[i].item(),
            "win_rate_rank": found.rankings[MODEL_WIN_RATE].rank[i].item(),
            "ratio_rank": rank_by(found.rankings["R-SSD"].score)[i].item(),
        }
        for metric, found in study.studies.items()
        for i in found.hidden_risks
    ]


def _stability(found: Stability) -> Iterator[dict[str, Any]]:
    """Mean and spread of the agreement with the full-sample ranking."""
    for method, by_size in zip(found.methods, found.tau, strict=True):
        for size, tau in zip(found.sizes, by_size, strict=True):
            yield {
                "method": method,
                "size": size,
                "kendall_tau_mean": float(tau.mean()),
                "kendall_tau_sd": float(tau.std(ddof=1)) if len(tau) > 1 else None,
                "repeats": len(tau),
            }
