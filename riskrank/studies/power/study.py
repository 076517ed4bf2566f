"""Entry point of ``power``: required sample size, from a pilot or from distributions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, RELATIVE, Claim
from riskrank.engine.dominance.tests import collect_advice
from riskrank.engine.power import planning
from riskrank.engine.power.study import PowerStudy, check_search, study_power
from riskrank.engine.sampling.design import MIN_SAMPLES
from riskrank.engine.sampling.strata import MIN_TASKS
from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.options.inference import StatisticSettings, SuiteSettings
from riskrank.options.option import changed_settings
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import targets
from riskrank.studies.checks import require_distributions, resolve_pair
from riskrank.studies.document import Document, Provenance, attributes, computed, rows_from_records
from riskrank.studies.findings import size_findings, verdict_fields
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.power import plans
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.repeats import RunsSplit, split_run_variance
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import alpha_entry, inference_from_settings, portfolio_settings, provenance


@dataclass(frozen=True, slots=True)
class PowerRow:
    """Power of one dominance test at one sample size.

    ``claim`` is "pair", or "all" for the power to show the dominance of all pairs.
    """

    metric: str | None = computed(lambda metric: metric)
    claim: str = computed(lambda pair: "all" if pair is None else "pair")
    winner: str | None = computed(lambda models, pair: pair and models[pair[0]])
    loser: str | None = computed(lambda models, pair: pair and models[pair[1]])
    order: int = computed(lambda study: study.plan.claim.order)
    test: str = computed(lambda study: study.plan.claim.kind)
    threshold: float = computed(lambda study: study.plan.claim.boundary)
    violation_ratio: float | None = computed(
        lambda study, pair: pair and float(study.plan.reference.ratios[pair])
    )
    size: int = computed(lambda study, entry: int(study.curve.sizes[entry[0]]))
    power: float = computed(lambda study, entry: float(study.curve.power[entry]))
    standard_error: float = computed(lambda study, entry: float(study.curve.standard_error[entry]))


@dataclass(frozen=True, kw_only=True)
class PowerDocument(Document[PowerRow], schema="power"):
    """Power by sample size, and the sample size needed for the target power.

    Attributes
    ----------
    study : PowerStudy
        Power at several sizes, and the required size.
    metric : str or None
        Metric or combined score of the pilot, or None for distributions.
    split : RunsSplit or None
        Split of the pilot's variance into samples and runs, if it has repeats.
    """

    study: PowerStudy
    metric: str | None
    split: RunsSplit | None = None

    def meta(self) -> Mapping[str, Any]:
        """Return the required and the simulated sample sizes for the JSON object ``meta``."""
        study, interval = self.study, self.study.interval
        tried = zip(study.full_curve.sizes.tolist(), study.full_curve.power[:, -1].tolist(), strict=True)
        return {
            "required_size": {
                "size": study.size,
                "of": study.plan.unit,
                **{f"size_{name}": interval and getattr(interval, name) for name in ("low", "high", "level")},
                **attributes(study, "target", "power", "standard_error", "confirmed"),
                "endless_samples": study.tasks_needed,
                "tried": [{"size": size, "power": power} for size, power in tried],
            },
            "variance": [] if self.split is None else self.split.entries(self.provenance.models),
        }


PowerResult = PowerDocument | plans.ClaimsDocument | plans.LabelsDocument | plans.NoisePlanDocument


def power(table: ScoreTable, settings: PowerSettings, runtime: Runtime = SERIAL) -> PowerResult:
    """Estimate the power of dominance tests by sample size, and the size needed for a target power.

    Data sets are drawn with replacement from a pilot and tested as in ``rank``. A named pair, or the only
    two models, are tested as in ``dominance``; otherwise the plan is for all pairs significant in the pilot.
    For a pilot with a judge, the result is the number of labels needed for a gate on means. For named
    statistics, it is the number of samples that a gate on them needs.

    Parameters
    ----------
    table : ScoreTable
        Scores of the pilot.
    settings : PowerSettings
        Options of ``power``.
    runtime : Runtime, optional
        Worker processes and progress display.

    Returns
    -------
    PowerDocument, ClaimsDocument, LabelsDocument or NoisePlanDocument

    Raises
    ------
    InputError
        If none of several pairs is named or significant in the pilot, or the pilot has fewer than 10 samples.
    UsageError
        If the settings do not apply to the table.
    """
    if table.noise is not None:
        return plans.plan_noise(table, settings)
    settings.refuse_unused("cost")
    require_distributions(table, "power")
    if settings.on:
        return plans.plan_claims(table, settings, runtime)
    if table.judged is not None:
        return plans.plan_labels(table, settings)
    settings.refuse_unused("margin")
    table = targets.rescale_tasks(table, settings)
    targets.check_portfolio(table, settings)
    column, models = targets.target_columns(table, settings)[0], table.models
    means = [float(scores.mean()) for scores in column.scores.sample_means()]
    first_two = ":".join(models[at] for at in np.argsort(means, kind="stable")[:-3:-1])
    if settings.pair is None and len(models) == 2:
        settings = replace(settings, pair=first_two)
    claim, pair = build_claim(settings), _resolve_pair(settings, models)
    if pair is not None and claim.kind != RELATIVE:
        # Test the two models alone: other models affect neither the portfolio nor the tests.
        scores = column.scores.select_models(pair)
        if len(table.metrics) > 1:
            scores = targets.score_tables(table, settings).select_models(pair).clustered_column(column.name)
        column, models, pair = replace(column, scores=scores), tuple(models[i] for i in pair), (0, 1)
    inference = inference_from_settings(settings, runtime.jobs)
    label = "testing the pilot's tasks" if targets.resamples_tasks(settings) else "testing the pilot"
    with runtime.progress(label) as progress:
        plan = planning.plan_from_pilot(
            column.scores, claim, inference, pair=pair, suggested=first_two, progress=progress
        )
    folded = portfolio_settings(settings, table) if len(table.metrics) > 1 else {}
    origin = partial(provenance, "power", table, settings, seed=settings.seed, models=models)
    document = _simulate(plan, settings, runtime, models, origin, folded, column.name)
    return replace(document, split=split_run_variance(column.name, column.scores))


def power_between(
    distributions: Mapping[str, planning.Distribution], settings: PowerSettings, runtime: Runtime = SERIAL
) -> PowerDocument:
    """Estimate the power of dominance tests between given distributions.

    Parameters
    ----------
    distributions : mapping of str to Distribution
        One distribution per model, the best first. Each is tested for dominance over all later ones.
    settings : PowerSettings
        Options of ``power``.
    runtime : Runtime, optional
        Worker processes and progress display.

    Returns
    -------
    PowerDocument

    Raises
    ------
    UsageError
        If there are fewer than two distributions, or the settings need a table.
    """
    standard = vars(PortfolioSettings()) | vars(SuiteSettings()) | vars(StatisticSettings())
    refuse_table_options(name for name, value in standard.items() if getattr(settings, name) != value)
    settings.refuse_unused("margin")
    claim, inference = build_claim(settings), inference_from_settings(settings, runtime.jobs)
    models = tuple(distributions)
    pair = _resolve_pair(settings, models)
    if pair is not None and claim.kind != RELATIVE:
        models, pair = tuple(models[i] for i in pair), (0, 1)
    ordered = [distributions[model] for model in models]
    plan = planning.plan_from_distributions(ordered, claim, inference, pair=pair)
    source = {"distributions": dict(zip(models, map(str, ordered), strict=True))}
    base = partial(Provenance, command="power", seed=settings.seed, settings=changed_settings(settings))
    origin = partial(base, models=models, inputs=[], metrics=[], samples=0)
    return _simulate(plan, settings, runtime, models, origin, source)


def build_claim(settings: PowerSettings) -> Claim:
    """Return the dominance hypothesis to test, after checking the sample sizes.

    Raises
    ------
    UsageError
        If the threshold or a sample size is out of range.
    """
    unit, smallest = (planning.TASKS, MIN_TASKS) if targets.resamples_tasks(settings) else ("", MIN_SAMPLES)
    # Default sizes depend on the table and are valid.
    sizes = settings.sizes or (smallest,)
    check_search(sizes, limit=settings.limit, smallest=smallest, unit=unit)
    if settings.threshold:
        return Claim(int(settings.order), ABSOLUTE, settings.threshold[0])
    return Claim(int(settings.order), settings.test or (RELATIVE if settings.pair is None else DIRECT))


def _resolve_pair(settings: PowerSettings, models: Sequence[str]) -> tuple[int, int] | None:
    """Return the indices of the models in the named pair, or None if no pair is named."""
    return None if settings.pair is None else resolve_pair(settings.pair, models, parameter="pair")


def _simulate(
    plan: planning.Plan,
    settings: PowerSettings,
    runtime: Runtime,
    models: Sequence[str],
    origin: Callable[..., Provenance],
    source: Mapping[str, Any],
    metric: str | None = None,
) -> PowerDocument:
    """Simulate the power of a planned test and return the document.

    Parameters
    ----------
    plan : Plan
        Population and test of the power study.
    settings : PowerSettings
        Options of ``power``.
    runtime : Runtime
        Worker processes and progress display.
    models : sequence of str
        Names of the models.
    origin : callable
        Function that builds the provenance from method, resamples and warnings.
    source : mapping
        Provenance entries that describe the pilot or the distributions.
    metric : str, optional
        Metric or combined score of the pilot.
    """
    label = "resampling tasks" if targets.resamples_tasks(settings) else "resampling tables"
    with runtime.progress(label if plan.inference.uses_resampling else "testing tables") as progress:
        options = attributes(settings, "target", "limit") | {"repeats": settings.simulations}
        study = study_power(plan, settings.sizes or None, **options, progress=progress)
    planned = plan.inference.resamples if plan.inference.uses_resampling else None
    method = {
        **source,
        "sizes": study.curve.sizes,
        "sizes_count": plan.unit,
        **attributes(settings, "simulations", "target", "limit"),
        "pair": None if settings.pair is None else [models[i] for i in plan.pairs[0]],
        "order": plan.claim.order,
        "test": plan.claim.kind,
        "threshold": plan.claim.threshold,
        **alpha_entry(settings),
        "correction": "k^2" if settings.paper_exact else settings.correction,
        **attributes(settings, "variance", "paper_exact"),
        "resamples": planned,
        "family": len(plan.family),
    }
    resamples, warnings = None if planned == "auto" else planned, [*_plan_warnings(plan, models)]
    limits = [] if plan.uses_distributions else size_findings(plan.scores, plan.scores.min_effective_size)
    # Several pairs also have a joint power, without a pair.
    pairs = [*plan.pairs, *([None] if len(plan.pairs) > 1 else [])]
    entries = product(enumerate(pairs), range(len(study.curve.sizes)))
    records = ((metric, study, models, pair, (size, claim)) for (claim, pair), size in entries)
    return PowerDocument(
        provenance=origin(method=method, resamples=resamples, warnings=warnings),
        rows=rows_from_records(PowerRow, "metric study models pair entry", records),
        **verdict_fields(models, *plans.power_findings(study), limits=limits),
        study=study,
        metric=metric,
    )


def _plan_warnings(plan: planning.Plan, models: Sequence[str]) -> Iterator[str]:
    """Yield warnings about the pilot, and about pairs of models that no sample size could separate."""
    yield from collect_advice(plan.scores, plan.inference, ())
    if plan.unattainable_pairs:
        pairs = listing((f"{models[i]} over {models[j]}" for i, j in plan.unattainable_pairs), 4)
        basis = "even without noise" if plan.uses_distributions else "in the pilot"
        unit = "tasks like these" if plan.unit == planning.TASKS else "samples"
        yield f"no number of {unit} can show {pairs}: {basis} the claim does not hold"


def parse_distributions(arguments: Sequence[object]) -> dict[str, planning.Distribution]:
    """Parse distributions such as ``normal:0.5,2`` or ``new=normal:0.5,2``; return {} for files.

    Parameters
    ----------
    arguments : sequence of object
        Positional arguments of the command: distributions, or files and data frames.

    Returns
    -------
    dict of str to Distribution
        Distributions by name, or by text if unnamed.

    Raises
    ------
    UsageError
        If some arguments are distributions and others are not, or a name is given twice.
    """
    is_distribution = [
        isinstance(item, str) and _family_name(item) in planning.FAMILIES and not Path(item).exists()
        for item in arguments
    ]
    if not any(is_distribution):
        return {}
    if not all(is_distribution):
        file = arguments[is_distribution.index(False)]
        families = f"available distributions: {listing(planning.FAMILIES)}"
        problem = "files and distributions cannot be combined"
        hint = did_you_mean(_family_name(file), planning.FAMILIES, fallback=families)
        raise UsageError(problem, found=f"{file} and {arguments[is_distribution.index(True)]}", hint=hint)
    distributions: dict[str, planning.Distribution] = {}
    for argument in arguments:
        label, equals, text = str(argument).rpartition("=")
        distribution = planning.parse_distribution(text)
        name = label.strip() if equals else str(distribution)
        if not name or name in distributions:
            problem = "every distribution needs a unique name"
            raise UsageError(problem, found=str(argument), hint="name them: new=normal:0.5,2 old=normal:0,1")
        distributions[name] = distribution
    return distributions


def refuse_table_options(names: Iterable[str]) -> None:
    """Raise an error for the first of the given options, because they need a table of scores.

    Parameters
    ----------
    names : iterable of str
        Options that are set although distributions are given instead of a table.

    Raises
    ------
    UsageError
        If `names` is not empty.
    """
    for name in names:
        problem = f"{option(name)} needs a pilot table"
        raise UsageError(problem, found="distributions instead of a table", hint=f"leave out {option(name)}")


def _family_name(argument: object) -> str:
    """Return the lower-case name of the family in an argument such as ``new=Normal:0.5,2``."""
    text = str(argument)
    return (text.partition("=")[2] if "=" in text else text).partition(":")[0].strip().casefold()
