"""How many samples a comparison needs, from a pilot or from distributions: the study behind ``power``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, RELATIVE, Claim
from riskrank.engine.power.distributions import Distribution
from riskrank.engine.power.planning import TASKS, Plan, plan_from_distributions, plan_from_pilot
from riskrank.engine.power.required_size import check_search
from riskrank.engine.power.study import PowerStudy, study_power
from riskrank.engine.sampling.design import FEWEST_SAMPLES, weak_sizes
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.errors import listing, option
from riskrank.options.suites import SuiteSettings
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import Document, Provenance, entries, of, rows_from
from riskrank.studies.findings import stated
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.power.distributions import provenance_of_distributions, refuse_table_options
from riskrank.studies.power.labels import LabelsDocument, labels_of_pilot
from riskrank.studies.power.noise import NoisePlanDocument, plan_of_noise
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.power.verdict import power_said
from riskrank.studies.repeats import RunsSplit, split_of_runs
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.sample_findings import size_findings
from riskrank.studies.settings import inference_of, level_of, portfolio_settings, provenance
from riskrank.studies.targets import check_portfolio, draws_tasks, score_tables, targets
from riskrank.studies.task_scale import on_task_scale


@dataclass(frozen=True, slots=True)
class PowerRow:
    """Power at one size; where there are several pairs, ``claim`` "all" is all of them at once."""

    metric: str | None = of(lambda metric: metric)
    claim: str = of(lambda pair: "all" if pair is None else "pair")
    winner: str | None = of(lambda models, pair: pair and models[pair[0]])
    loser: str | None = of(lambda models, pair: pair and models[pair[1]])
    order: int = of(lambda study: study.plan.claim.order)
    test: str = of(lambda study: study.plan.claim.kind)
    threshold: float = of(lambda study: study.plan.claim.boundary)
    violation_ratio: float | None = of(lambda study, pair: pair and float(study.plan.reference.ratios[pair]))
    size: int = of(lambda study, at: int(study.curve.sizes[at]))
    power: float = of(lambda shares, at: float(shares[0][at]))
    standard_error: float = of(lambda shares, at: float(shares[1][at]))


@dataclass(frozen=True, kw_only=True)
class PowerDocument(Document[PowerRow], schema="power"):
    """Power by size, and the size the target needs.

    Attributes
    ----------
    study : PowerStudy
    metric : str or None
        Column of the pilot's scores; None where distributions were planned with.
    split : RunsSplit or None
        Variance of the pilot's means between and within samples, where it has repeats.
    """

    study: PowerStudy
    metric: str | None
    split: RunsSplit | None = None

    def meta(self) -> Mapping[str, Any]:
        """The size the target needs, and what was simulated to find it."""
        required, unit = self.study.required, self.study.plan.unit
        interval, ends = self.study.interval, dict.fromkeys(("low", "high", "level"))
        if interval is not None:
            ends = entries(interval, *ends)
        tried = zip(required.sizes.tolist(), required.powers.tolist(), strict=True)
        return {
            "required_size": {
                "size": required.size,
                "of": unit,
                **{f"size_{name}": value for name, value in ends.items()},
                **entries(required, "target", "power", "standard_error", "confirmed"),
                "endless_samples": self.study.endless,
                "tried": [{"size": size, "power": power} for size, power in tried],
            },
            "variance": [] if self.split is None else self.split.described(self.provenance.models),
        }


Planned = PowerDocument | LabelsDocument | NoisePlanDocument


def power(table: ScoreTable, settings: PowerSettings, runtime: Runtime = HERE) -> Planned:
    """Say how often dominance would be significant with so many samples, and how many it takes.

    Data sets are drawn with replacement from a pilot; each is tested as ``rank`` tests it, a pair that is
    named as ``dominance`` of these two. The order planned for is every one that is significant in the
    pilot. With a judge it is the labels that a gate on means needs.

    Parameters
    ----------
    table : ScoreTable
        The pilot.
    settings : PowerSettings
    runtime : Runtime, optional

    Returns
    -------
    PowerDocument

    Raises
    ------
    InputError
        If no dominance is significant in the pilot and no pair is named, or it has fewer than 10 samples.
    UsageError
        If settings do not fit the table.
    """
    if table.noise is not None:
        return plan_of_noise(table, settings)
    settings.refuse_idle("cost")
    refuse_distributions(table, "power")
    if table.judged is not None:
        return labels_of_pilot(table, settings)
    settings.refuse_idle("margin")
    table = on_task_scale(table, settings)
    check_portfolio(table, settings)
    claim, pair = claim_of(settings), _pair(settings, table.models)
    column, models = targets(table, settings)[0], table.models
    if pair is not None and claim.kind != RELATIVE:
        # Two models alone: nobody else folds metrics or is tested with them.
        both = score_tables(table, settings).of_models(pair) if len(table.metrics) > 1 else None
        scores = column.scores.of_models(pair) if both is None else both.column(column.name)
        column, models, pair = replace(column, scores=scores), tuple(models[at] for at in pair), (0, 1)
    inference = inference_of(settings, runtime.jobs)
    label = "testing the pilot's tasks" if draws_tasks(settings) else "testing the pilot"
    with runtime.progress(label) as progress:
        plan = plan_from_pilot(column.scores, claim, inference, pair=pair, progress=progress)
    folded = portfolio_settings(settings, table) if len(table.metrics) > 1 else {}

    def origin(how: Mapping[str, Any], **more: Any) -> Provenance:
        found = provenance("power", table, settings, {**folded, **how}, seed=settings.seed, **more)
        return replace(found, models=models)

    document = _simulated(plan, settings, runtime, models, column.name, origin)
    return replace(document, split=split_of_runs(column.name, column.scores))


def power_between(
    distributions: Mapping[str, Distribution], settings: PowerSettings, runtime: Runtime = HERE
) -> PowerDocument:
    """Say how often dominance between named distributions would be significant.

    Parameters
    ----------
    distributions : mapping of str to Distribution
        One a model, the better ones first: each is to be ahead of those after it.
    settings : PowerSettings
    runtime : Runtime, optional

    Returns
    -------
    PowerDocument

    Raises
    ------
    UsageError
        If there are fewer than two distributions, or settings are for a table.
    """
    standard = vars(PortfolioSettings()) | vars(SuiteSettings())
    refuse_table_options(name for name, value in standard.items() if getattr(settings, name) != value)
    settings.refuse_idle("margin")
    claim, inference = claim_of(settings), inference_of(settings, runtime.jobs)
    models = tuple(distributions)
    pair = _pair(settings, models)
    if pair is not None and claim.kind != RELATIVE:
        models, pair = tuple(models[at] for at in pair), (0, 1)
    kept = {model: distributions[model] for model in models}
    plan = plan_from_distributions(list(kept.values()), claim, inference, pair=pair)
    return _simulated(
        plan, settings, runtime, models, None, partial(provenance_of_distributions, settings, kept)
    )


def claim_of(settings: PowerSettings) -> Claim:
    """The claim to test.

    Raises
    ------
    UsageError
        If its threshold, a size or the target makes no sense.
    """
    of, smallest = (TASKS, FEWEST_TASKS) if draws_tasks(settings) else ("", FEWEST_SAMPLES)
    # Sizes that nobody asked for are known with the table.
    sizes = settings.sizes or (smallest,)
    check_search(sizes, target=settings.target, limit=settings.limit, smallest=smallest, of=of)
    if settings.threshold:
        return Claim(int(settings.order), ABSOLUTE, settings.threshold[0])
    return Claim(int(settings.order), settings.test or (RELATIVE if settings.pair is None else DIRECT))


def _pair(settings: PowerSettings, models: Sequence[str]) -> tuple[int, int] | None:
    return None if settings.pair is None else resolve_pair(settings.pair, models, parameter="pair")


def _simulated(
    plan: Plan,
    settings: PowerSettings,
    runtime: Runtime,
    models: Sequence[str],
    metric: str | None,
    origin: Callable[..., Provenance],
) -> PowerDocument:
    """Run the plan; ``origin`` is told how it was done, and says what it drew from."""
    drawn = "resampling tasks" if draws_tasks(settings) else "resampling tables"
    label = drawn if plan.inference.resampled else "testing tables"
    with runtime.progress(label) as progress:
        study = study_power(
            plan,
            settings.sizes or None,
            target=settings.target,
            limit=settings.limit,
            repeats=settings.simulations,
            progress=progress,
        )
    claim, many = plan.claim, plan.inference.resamples if plan.inference.resampled else None
    how = {
        "sizes": study.curve.sizes,
        "sizes_count": plan.unit,
        **entries(settings, "simulations", "target", "limit"),
        "pair": None if settings.pair is None else [models[at] for at in plan.pairs[0]],
        "order": claim.order,
        "test": claim.kind,
        "threshold": claim.threshold,
        **level_of(settings),
        "correction": "k^2" if settings.paper_exact else settings.correction,
        **entries(settings, "variance", "paper_exact"),
        "resamples": many,
        "family": len(plan.family),
    }
    return PowerDocument(
        provenance=origin(how, resamples=None if many == "auto" else many, warnings=[*_advice(plan, models)]),
        rows=_rows(metric, study, models),
        **stated(
            models,
            *power_said(study),
            limits=[] if plan.named else size_findings(plan.scores, plan.scores.effective_size),
        ),
        study=study,
        metric=metric,
    )


def _advice(plan: Plan, models: Sequence[str]) -> Iterator[str]:
    if not plan.named:
        yield from weak_sizes(plan.scores).values()
    if plan.unattainable:
        pairs = listing((f"{models[i]} over {models[j]}" for i, j in plan.unattainable), 4)
        where = "even without noise" if plan.named else "in the pilot"
        number = "tasks like these" if plan.unit == TASKS else "samples"
        yield f"no number of {number} will show {pairs}: {where} the claim does not hold"
    if plan.inference.paper_exact:
        yield (
            f"{option('paper_exact', True)} divides the bootstrap standard error by √n once more, as the "
            "paper prints it: it rejects true null hypotheses about half of the time, so its power is not "
            "worth having"
        )


def _rows(metric: str | None, study: PowerStudy, models: Sequence[str]) -> list[PowerRow]:
    """One row a pair and size, then all pairs at once."""
    curve, pairs = study.curve, study.plan.pairs
    claims: list[tuple[tuple[int, int] | None, Any]] = [
        (pair, (curve.power[:, number], curve.standard_error[:, number])) for number, pair in enumerate(pairs)
    ]
    claims += [(None, (curve.together, curve.together_error))] if len(pairs) > 1 else []
    sizes = range(len(curve.sizes))
    return rows_from(
        PowerRow,
        "metric study models pair shares at",
        ((metric, study, models, pair, shares, at) for pair, shares in claims for at in sizes),
    )
