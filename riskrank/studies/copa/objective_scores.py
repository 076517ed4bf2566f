"""What samples say of objectives as the engine takes it, and why nothing is known where that is so."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.copa.replicates import ObjectiveScores
from riskrank.engine.sampling.design import FEWEST_SAMPLES, found_samples
from riskrank.engine.types import Integers
from riskrank.options.option import differing
from riskrank.standard_errors import InputError, UsageError, option
from riskrank.studies.copa.document_base import CopaRequest
from riskrank.studies.copa.objective_columns import ObjectiveColumn
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.options import TEST_SETTINGS, CopaSettings
from riskrank.studies.gate.columns import bounded, limits
from riskrank.studies.targets import check_range


def has_shared_units(columns: Sequence[ObjectiveColumn]) -> bool:
    """Whether a resample draws the same units for every model: their samples, or the tasks of a suite."""
    return columns[0].paired or any(one.tasks is not None and one.tasks.random for one in columns)


def build_objective_scores(
    found: Objectives, margins: dict[str, float]
) -> tuple[list[ObjectiveScores], list[int]]:
    """Objectives as the engine takes them, and how many units of resampling each model has.

    Parameters
    ----------
    found : Objectives
        Of a table with samples.
    margins : dict of str to float
        By objective; 0 where there is none.
    """
    columns, population = found.columns, found.population
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
        there = found.resampled_models(k)
        if not there.size:
            objectives.append(ObjectiveScores(values=values, margin=margin))
            continue
        own = column.of(there.tolist())
        scores = own.scores()
        check_range(column.name.name, scores, [population.names[model] for model in there])
        objectives.append(
            ObjectiveScores(
                values=values,
                scores=scores,
                models=there,
                units=tuple(
                    np.searchsorted(keys[model], np.unique(column.keys[model])) for model in there.tolist()
                ),
                level=column.name.level,
                limits=_score_limits(own, margin) if own.successes is None else None,
                margin=margin,
                successes=own.clustered_successes(),
            )
        )
    return objectives, [own.size for own in keys]


def _score_limits(column: ObjectiveColumn, margin: float) -> tuple[float, float] | None:
    """The worst and the best score there can be; None where nobody knows."""
    spec, scores = column.spec, [values / column.times for values in column.values]
    worst, best = limits(spec, scores, margin / column.times)
    return (worst * column.times, best * column.times) if bounded(spec, scores) else None


# Models whose pairs are tested: their number grows with the square.
_MOST_MODELS = 200
_TOO_MANY_MODELS = f"pairs of more than {_MOST_MODELS} models are not tested"


def reason_not_testable(asked: CopaRequest) -> str:
    """Why nothing can be said of how sure the front is; empty where something can."""
    found, columns = asked.objectives, asked.objectives.columns
    if asked.settings.no_test:
        return f"with {option('no_test', True)} nothing is tested"
    if asked.table.noise is not None:
        return "sources of noise are not drawn anew"
    if asked.table.folds is not None:
        return "folds of cross-validation share their training rows"
    drawn = [found.resampled_models(k) for k in range(len(columns))]
    if not any(there.size for there in drawn):
        return "places are those of the values as given"
    if len(found.population.names) > _MOST_MODELS:
        return _TOO_MANY_MODELS
    for column, there in zip(columns, drawn, strict=True):
        if not there.size:
            continue
        scores = column.of(there.tolist()).scores()
        name = column.name.name
        if scores.strata.several:
            if scores.strata.random:
                scores.strata.require_testable()
                continue
            fewest = min(int(scores.strata.counts(model).min()) for model in range(scores.models))
            if fewest < 2:
                return f"it takes 2 samples a task, and of {name} there is 1"
        if scores.effective_size < FEWEST_SAMPLES:
            count = found_samples(scores)
            verb = "is" if count == "1" else "are"
            return f"it takes {FEWEST_SAMPLES} {scores.unit} a model, and of {name} there {verb} {count}"
    return ""


def reject_unused_test_settings(settings: CopaSettings, reason: str) -> None:
    """Refuse what is asked of samples where nothing is done with them."""
    asked = [name for name in TEST_SETTINGS if name in differing(settings) and name != "no_test"]
    if reason == _TOO_MANY_MODELS:
        return  # which is said, and is nobody's mistake
    if settings.seed and settings.resample_models is not None:
        asked = [name for name in asked if name != "seed"]
    if not asked:
        return
    name, few = asked[0], reason.startswith("it takes")
    raise (InputError if few else UsageError)(
        f"{option(name)} is about how sure the front is, and nothing is known of that",
        found=reason,
        hint=f"leave out {option(name)}",
    )
