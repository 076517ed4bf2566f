"""How many samples until a gate that may be looked at again answers: what a study of power plans for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from riskrank.engine.power.distributions import Distribution
from riskrank.engine.power.stops import Stops, simulate_stops, size_of_one_look
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document, Provenance, of, rows_from
from riskrank.studies.findings import Finding, Said, stated
from riskrank.studies.gate.anytime import reach_of
from riskrank.studies.gate.columns import score_columns
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.power.planned import PlannedClaim, PlannedRow, of_distributions, planned_pair
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import family_of, level_of, provenance

_SIZES = (100, 500, 1000)

# Quantiles that stand for a distribution.
_QUANTILES = 100_000


@dataclass(frozen=True, slots=True)
class StopRow(PlannedRow):
    """Share of simulated runs whose gate has passed, or failed, by so many samples."""

    passed: float = of(lambda size, stops: float(np.mean(stops.passed <= size)))
    failed: float = of(lambda size, stops: float(np.mean(stops.failed <= size)))
    standard_error: float = of(lambda size, stops: stops.error(size))


@dataclass(frozen=True, kw_only=True)
class AnytimePowerDocument(Document[StopRow], schema="power-anytime"):
    """When a gate that may be looked at again stops.

    Attributes
    ----------
    metric : str or None
        Column of the pilot's scores; None where distributions were planned with.
    stops : Stops
    every : int
        Samples between two looks.
    target : float
        Share of the runs, and power of the single look beside.
    single_look : int or None
        Samples one look needs.
    """

    metric: str | None
    stops: Stops
    every: int
    target: float
    single_look: int | None

    def meta(self) -> Mapping[str, Any]:
        """Samples until the answer."""
        low, high = self.stops.median_interval()
        return {
            "samples_until_answer": {
                "median": self.stops.by_share(0.5),
                "median_low": low,
                "median_high": high,
                "target": self.target,
                "target_samples": self.stops.by_share(self.target),
                "answered_by_limit": float(np.mean(np.isfinite(self.stops.answered))),
                "limit": self.stops.limit,
                "single_look": self.single_look,
            }
        }


# What draws so many differences of samples, and their mean and variance.
_Effect = tuple[Callable[[np.random.Generator, int], Floats], float, float]


def anytime_of_pilot(table: ScoreTable, settings: PowerSettings, runtime: Runtime) -> AnytimePowerDocument:
    """Resample the samples of a pilot.

    Raises
    ------
    UsageError
        If there are several metrics, no pair, no bounds, clusters, or models with samples of their own.
    """
    asked = option("anytime", True)
    pair = planned_pair(settings, table.models, f"{asked} plans", metrics=table.metrics)
    metric = table.metrics[0].name
    column = score_columns(table, {metric: settings.margin}, settings)[metric][0]
    reach = reach_of(column)
    if column.scores.nested:
        raise UsageError(
            f"{asked} simulates samples that both models share",
            found=option("cluster"),
            hint=f"riskrank power without {asked} draws clusters whole",
        )
    means = column.scores.sample_means()
    pilot = np.clip(means[pair[0]] - means[pair[1]], -reach, reach)

    def draw(rng: np.random.Generator, count: int) -> Floats:
        return np.asarray(pilot[rng.integers(0, pilot.size, count)])

    claim = PlannedClaim(column.name, table.models[pair[0]], table.models[pair[1]], settings.margin)
    effect = draw, float(pilot.mean()), float(pilot.var())
    origin = partial(provenance, "power", table, settings, seed=settings.seed)
    return _simulated(claim, effect, reach, settings, runtime, origin)


def anytime_between(
    distributions: Mapping[str, Distribution], settings: PowerSettings, runtime: Runtime
) -> AnytimePowerDocument:
    """Draw independent scores from two distributions.

    Raises
    ------
    UsageError
        If there are more than two and no pair, or one is unbounded.
    """
    models = tuple(distributions)
    pair = planned_pair(settings, models, f"{option('anytime', True)} plans", "distributions")
    new, old = (distributions[models[at]] for at in pair)
    if new.bounds is None or old.bounds is None:
        raise UsageError(
            f"{option('anytime', True)} needs scores within bounds",
            found=str(new if new.bounds is None else old),
            hint="plan with bernoulli:P or beta:A,B, or with a pilot table",
        )
    reach = max(new.bounds[1], old.bounds[1]) - min(new.bounds[0], old.bounds[0])

    def draw(rng: np.random.Generator, count: int) -> Floats:
        return np.asarray(new.sample(rng, count) - old.sample(rng, count), dtype=np.float64)

    quantiles = [one.quantile((np.arange(_QUANTILES) + 0.5) / _QUANTILES) for one in (new, old)]
    mean = float(quantiles[0].mean() - quantiles[1].mean())
    variance = float(quantiles[0].var() + quantiles[1].var())
    claim = PlannedClaim(None, models[pair[0]], models[pair[1]], settings.margin)
    origin = partial(of_distributions, settings, distributions)
    return _simulated(claim, (draw, mean, variance), reach, settings, runtime, origin)


def _simulated(
    claim: PlannedClaim,
    effect: _Effect,
    reach: float,
    settings: PowerSettings,
    runtime: Runtime,
    origin: Callable[..., Provenance],
) -> AnytimePowerDocument:
    """The plan of an effect on scores within a reach, whose origin tells how it was done."""
    if settings.margin >= reach:
        raise UsageError(
            f"{option('margin', f'{settings.margin:g}')} is no margin: no two scores differ by more",
            found=f"scores within {reach:g} of each other",
            hint="give it in the units of the scores",
        )
    sizes, level = sorted(settings.sizes or _SIZES), family_of(settings).level(1)
    limit = max(settings.limit or 5 * sizes[-1], settings.every)
    # Nobody looked beyond the limit, so that nothing is said of it.
    if sizes[-1] > limit:
        sizes = [*(size for size in sizes if size < limit), limit]
    boundary, repeats = -settings.margin, settings.simulations
    looks = {"every": settings.every, "limit": limit, "repeats": repeats, "seed": settings.seed}
    draw, mean, variance = effect
    with runtime.progress("simulating") as progress:
        stops = simulate_stops(draw, reach=reach, boundary=boundary, level=level, **looks, progress=progress)
    rows = rows_from(StopRow, "claim size stops", ((claim, size, stops) for size in sizes))
    single = size_of_one_look(mean, variance, boundary, level, settings.target)
    described = {"anytime": True, "margin": settings.margin, "every": settings.every}
    document = AnytimePowerDocument(
        provenance=origin(described | {"simulations": repeats, "limit": limit, **level_of(settings)}),
        rows=rows,
        metric=claim.metric,
        stops=stops,
        every=settings.every,
        target=settings.target,
        single_look=single,
    )
    return replace(document, **stated(document.provenance.models, *_said(document)))


def _said(document: AnytimePowerDocument) -> list[Said]:
    """Samples until an answer in the median run, and what a single look takes."""
    stops, single, planned = document.stops, document.single_look, document.rows[0]
    models = document.provenance.models
    claim, pair = planned.sentence, (models.index(planned.new), models.index(planned.old))
    share, median = float(np.mean(np.isfinite(stops.answered))), stops.by_share(0.5)
    figures = {"answered_by_limit": share, "limit": float(stops.limit)}
    if median is not None:
        ends = zip(("median", "low", "high"), (median, *stops.median_interval()), strict=True)
        figures |= {name: float(end) for name, end in ends if end}
        figures["refuted"] = float(np.mean(np.isfinite(stops.failed)))
    found = Finding(kind="samples-until-answer", models=pair, figures=figures)
    if median is None:
        text = (
            f"More than {stops.limit:,} samples until a gate that is looked at again answers whether "
            f"{claim}, in the median of all runs; {100 * share:.0f} % of them have an answer by then."
        )
        return [(found, text)]
    low, high = (f"{end:,}" if end else f"more than {stops.limit:,}" for end in stops.median_interval())
    fails = figures.get("refuted")
    wrong = f"; {100 * fails:.0f} % refute it" if fails else ""
    told = (
        f"About {median:,} samples ({low} to {high}) until a gate that is looked at again answers whether "
        f"{claim}, in the median of all runs{wrong}."
    )
    if single is None:
        return [(found, told)]
    beside = f"A single look takes {single:,} for a power of {100 * document.target:g} %."
    figures = {"samples": single, "target": document.target}
    return [(found, told), (Finding(kind="single-look", models=pair, figures=figures), beside)]
