"""Scores of objectives for resampling, and reasons why a front cannot be tested."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.copa.replicates import ObjectiveScores
from riskrank.engine.sampling.design import MIN_SAMPLES, describe_sample_size
from riskrank.engine.types import Integers
from riskrank.errors import InputError, UsageError, option
from riskrank.options.option import non_defaults
from riskrank.studies.copa.document_base import CopaRequest
from riskrank.studies.copa.objective_columns import ObjectiveColumn
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.options import TEST_SETTINGS, CopaSettings
from riskrank.studies.gate.columns import score_limits
from riskrank.studies.targets import check_range


def has_shared_units(columns: Sequence[ObjectiveColumn]) -> bool:
    """Return True if all models have the same resampling units: shared samples, or tasks of a suite."""
    return columns[0].paired or any(column.tasks is not None and column.tasks.random for column in columns)


def build_objective_scores(
    table: Objectives, margins: dict[str, float]
) -> tuple[list[ObjectiveScores], list[int]]:
    """Return the scores of each objective for resampling, and each model's number of resampling units.

    Parameters
    ----------
    table : Objectives
        Objectives of a table with samples.
    margins : dict of str to float
        Margins by objective name; 0 by default.

    Returns
    -------
    objectives : list of K ObjectiveScores
    units : list of N int
        Number of resampling units of each model.
    """
    columns, population = table.columns, table.population
    keys: list[Integers] = [
        np.unique(np.concatenate([column.keys[model] for column in columns]))
        for model in range(len(population.names))
    ]
    if has_shared_units(columns):
        keys = [np.unique(np.concatenate(keys))] * len(keys)
    objectives = []
    for k, column in enumerate(columns):
        values = population.objectives[:, k]
        margin = margins.get(column.name.name, 0.0)
        models = table.resampled_models(k)
        if not models.size:
            objectives.append(ObjectiveScores(values=values, margin=margin))
            continue
        selected = column.select_models(models.tolist())
        scores = selected.clustered_scores()
        check_range(column.name.name, scores, [population.names[model] for model in models])
        objectives.append(
            ObjectiveScores(
                values=values,
                scores=scores,
                models=models,
                units=tuple(
                    np.searchsorted(keys[model], np.unique(column.keys[model])) for model in models.tolist()
                ),
                level=column.name.level,
                limits=_score_limits(selected, margin) if selected.successes is None else None,
                margin=margin,
                successes=selected.clustered_successes(),
            )
        )
    return objectives, [selected.size for selected in keys]


def _score_limits(column: ObjectiveColumn, margin: float) -> tuple[float, float]:
    """Return the worst and the best possible score."""
    scores = [values / column.scale_factor for values in column.values]
    worst, best = score_limits(column.spec, scores, margin / column.scale_factor)
    return worst * column.scale_factor, best * column.scale_factor


# Largest number of models to test; the number of pairs grows with its square.
_MOST_MODELS = 200
_TOO_MANY_MODELS = f"pairs of more than {_MOST_MODELS} models are not tested"


def reason_not_testable(request: CopaRequest) -> str:
    """Return the reason why the front cannot be tested, or an empty string if it can be tested."""
    objectives, columns = request.objectives, request.objectives.columns
    if request.settings.no_test:
        return f"with {option('no_test', True)} nothing is tested"
    if request.table.noise is not None:
        return "sources of noise are not resampled"
    if request.table.folds is not None:
        return "folds of cross-validation share their training rows"
    resampled = [objectives.resampled_models(k) for k in range(len(columns))]
    if not any(models.size for models in resampled):
        return "the values have no samples to resample"
    if len(objectives.population.names) > _MOST_MODELS:
        return _TOO_MANY_MODELS
    for column, models in zip(columns, resampled, strict=True):
        if not models.size:
            continue
        scores = column.select_models(models.tolist()).clustered_scores()
        name = column.name.name
        if scores.strata.has_several_tasks:
            if scores.strata.random:
                scores.strata.require_testable()
                continue
            fewest = min(int(scores.strata.counts(model).min()) for model in range(scores.models))
            if fewest < 2:
                return f"tests need 2 samples per task, but {name} has 1"
        if scores.min_effective_size < MIN_SAMPLES:
            count = describe_sample_size(scores)
            return f"tests need {MIN_SAMPLES} {scores.unit_name} per model, but {name} has {count}"
    return ""


def reject_unused_test_settings(settings: CopaSettings, reason: str) -> None:
    """Raise an error if options for front tests are set although the front cannot be tested.

    Parameters
    ----------
    settings : CopaSettings
    reason : str
        Reason why the front cannot be tested.

    Raises
    ------
    InputError
        If the reason is that there are too few samples.
    UsageError
        If there is any other reason.
    """
    unused = [name for name in TEST_SETTINGS if name in non_defaults(settings) and name != "no_test"]
    if reason == _TOO_MANY_MODELS:
        return  # the document reports it, because the user made no mistake
    if settings.seed and settings.resample_models is not None:
        unused = [name for name in unused if name != "seed"]
    if not unused:
        return
    name, too_few = unused[0], reason.startswith("tests need")
    raise (InputError if too_few else UsageError)(
        f"{option(name)} concerns the uncertainty of the front, which is unknown",
        found=reason,
        hint=f"leave out {option(name)}",
    )
