"""Who stochastically dominates whom, pair by pair: the study behind ``dominance``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from riskrank.engine.dominance.column import DominanceStudy, Inference, study_dominance
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.errors import GateFailed
from riskrank.scores.table import ScoreTable
from riskrank.studies.document import Document, Provenance
from riskrank.studies.gates import GateSettings, failed_gates, resolve_gates
from riskrank.studies.provenance import described_inputs, portfolio_settings, reading_settings
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import PortfolioSettings
from riskrank.studies.targets import Target, check_portfolio, targets


@dataclass(frozen=True, kw_only=True)
class DominanceSettings(GateSettings, PortfolioSettings):
    """What to test.

    Parameters
    ----------
    per_metric : bool
        Test every metric on its own instead of the portfolio.
    ratios : bool
        Also show the full matrix of ratios of every test.
    """

    per_metric: bool = False
    ratios: bool = False


@dataclass(frozen=True, slots=True)
class DominanceRow:
    """One ordered pair under one test; ``winner`` is the model whose dominance is tested."""

    metric: str
    order: int
    test: str
    threshold: float
    winner: str
    loser: str
    violation_ratio: float
    statistic: float
    standard_error: float | None
    p_value: float | None
    p_adjusted: float | None
    extrapolated: bool
    dominates: bool
    identical: bool


@dataclass(frozen=True, kw_only=True)
class DominanceDocument(Document[DominanceRow]):
    """Verdicts on all ordered pairs.

    Attributes
    ----------
    by_column : tuple of (str, DominanceStudy)
        Every column of scores, by the name it is reported under.
    targets : tuple of Target
        The scores of every column, in the same order.
    inference : Inference
    paired : bool
    ratios : bool
        Whether the matrices of ratios are shown as well.
    failed : GateFailed or None
        The gate that did not hold.
    """

    schema: ClassVar[str] = "dominance"
    row_type: ClassVar[type] = DominanceRow

    by_column: tuple[tuple[str, DominanceStudy], ...]
    targets: tuple[Target, ...]
    inference: Inference
    paired: bool
    ratios: bool
    failed: GateFailed | None


def dominance(
    table: ScoreTable, settings: DominanceSettings | None = None, runtime: Runtime | None = None
) -> DominanceDocument:
    """Test which model stochastically dominates which, with exact violation ratios.

    Parameters
    ----------
    table : ScoreTable
    settings : DominanceSettings, optional
    runtime : Runtime, optional

    Returns
    -------
    DominanceDocument

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    UsageError
        If a gate names an unknown model, or settings do not fit the table.
    """
    settings, runtime = settings or DominanceSettings(), runtime or Runtime()
    check_portfolio(table, settings, per_metric=settings.per_metric)
    gates = resolve_gates(settings, table.models)
    inference = settings.inference(runtime.jobs)
    columns = []
    chosen = targets(table, settings, per_metric=settings.per_metric)
    for target in chosen:
        with runtime.progress(f"resampling {target.name}") as progress:
            study = study_dominance(target.scores, settings.claims, inference, progress=progress)
        columns.append((target.name, study))
    advice = list(dict.fromkeys(line for _, study in columns for line in study.advice))
    described = (
        reading_settings(table.options) | settings.described_tests() | {"per_metric": settings.per_metric}
    )
    if not settings.per_metric and len(table.metrics) > 1:
        described |= portfolio_settings(settings, table)
    return DominanceDocument(
        provenance=Provenance(
            command="dominance",
            seed=settings.seed if inference.resampled else None,
            resamples=settings.resamples if inference.resampled else None,
            settings=described,
            warnings=[*table.warnings, *advice],
            **described_inputs(table),
        ),
        rows=[*_rows(columns, table.models)],
        by_column=tuple(columns),
        targets=tuple(chosen),
        inference=inference,
        paired=table.paired,
        ratios=settings.ratios,
        failed=failed_gates(
            gates, [(name, study.tests) for name, study in columns], table.models, settings.alpha
        ),
    )


def _rows(columns: Sequence[tuple[str, DominanceStudy]], models: Sequence[str]) -> Iterator[DominanceRow]:
    for metric, study in columns:
        for tests in study.tests:
            for i, winner in enumerate(models):
                for j, loser in enumerate(models):
                    if i != j:
                        yield _row(metric, tests, i, j, winner, loser)


def _row(metric: str, tests: DominanceTests, i: int, j: int, winner: str, loser: str) -> DominanceRow:
    def tested(values) -> float | None:
        return None if values is None else float(values[i, j])

    return DominanceRow(
        metric=metric,
        order=tests.claim.order,
        test=tests.claim.kind,
        threshold=tests.claim.boundary,
        winner=winner,
        loser=loser,
        violation_ratio=float(tests.ratios[i, j]),
        statistic=float(tests.statistic[i, j]),
        standard_error=tested(tests.standard_error),
        p_value=tested(tests.p_value),
        p_adjusted=tested(tests.p_adjusted),
        extrapolated=bool(tests.extrapolated[i, j]),
        dominates=bool(tests.dominates[i, j]),
        identical=bool(tests.identical[i, j]),
    )
