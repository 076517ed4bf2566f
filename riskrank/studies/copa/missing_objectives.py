"""Handling of missing scores in ``copa``: single scores, and models without any score on an objective."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from riskrank.engine.types import Booleans, Integers
from riskrank.errors import InputError, counted, listing, option
from riskrank.scores.table.averages import ModelAverages, expected_scores, model_averages
from riskrank.scores.table.metrics import oriented_bounds
from riskrank.scores.table.metrics_file import bounds_hint
from riskrank.scores.table.missing_scores import DROPPED
from riskrank.scores.table.score_counts import ABSENT
from riskrank.scores.table.score_table import ScoreTable


def handle_missing_scores(
    table: ScoreTable, rule: str
) -> tuple[ScoreTable, ModelAverages, Integers, list[str]]:
    """Apply the option ``missing`` to a table.

    Parameters
    ----------
    table : ScoreTable
    rule : {"error", "drop", "worst"}

    Returns
    -------
    table : ScoreTable
        Table in which no single score is missing.
    averages : ModelAverages
    retained : ndarray of int
        Models that remain in the population.
    messages : list of str
        Warnings.

    Raises
    ------
    InputError
        If scores are missing and the rule is ``error``, or the rule cannot be applied.
    """
    messages, averages, retained = [], model_averages(table), np.arange(len(table.models))
    sizes = [len(rows) for rows in table.values]
    # Single scores only: objectives without any score and values given once per model are handled separately.
    has_scores = np.repeat([~np.isnan(rows).all(axis=0) for rows in table.values], sizes, axis=0)
    single = expected_scores(table) & np.isnan(np.concatenate(table.values)) & has_scores
    incomplete, sample = single.any(axis=1), np.concatenate(table.row_samples)
    empty = np.isnan(np.concatenate(table.values)).all(axis=1)
    n_incomplete, n_without_scores = (
        np.setdiff1d(sample, sample[rows]).size for rows in (incomplete, incomplete & empty)
    )
    possible = {"drop": n_incomplete > 0, "worst": 2 * n_without_scores >= len(table.samples)}
    if averages.missing_scores and not possible.get(rule, False) and (single.any() or rule == "error"):
        raise _unhandled_scores_error(
            table, averages, single, possible | {"unpaired": not (incomplete & ~empty).any()}, n_incomplete
        )
    if single.any() and rule == "drop":
        incomplete = np.isin(sample, sample[incomplete]) if table.paired else incomplete
        parts = (table.values, table.row_samples, table.clusters)
        splits = np.split(~incomplete, np.cumsum(sizes)[:-1])
        values, samples, clusters = (
            tuple(column[mask] for column, mask in zip(p, splits, strict=True)) for p in parts
        )
        table = replace(table, values=values, row_samples=samples, clusters=clusters)
        size = len(table.samples)
        messages = [
            f"{DROPPED}{size - n_incomplete:,} of {size:,} samples: "
            "they lack a score for some model or metric"
        ]
    elif single.any():
        table = _impute_worst(table, single)
    averages = model_averages(table)
    if averages.missing_scores:
        retained, message = _handle_missing_objectives(table, averages, rule)
        messages.append(message)
    return table, averages, retained, messages


def _impute_worst(table: ScoreTable, single: Booleans) -> ScoreTable:
    """Return the table with every single missing score replaced by the worst possible score."""
    values = np.concatenate(table.values)
    for k in np.flatnonzero(single.any(axis=0)).tolist():
        spec, missing, present = table.metrics[k], single[:, k], values[~np.isnan(values[:, k]), k]
        low, high = oriented_bounds(replace(spec, bounds=spec.bounds or table.score_bounds.get(spec.name)))
        # Bounds stated in a file hold only if its scores lie within them.
        if not (low <= present.min() and present.max() <= high):
            raise InputError(
                f"{option('missing', 'worst')} needs the worst possible score of {spec.name}",
                found=f"{counted(int(missing.sum()), 'score')} missing, and no finite bound is declared",
                hint=bounds_hint(spec.name),
            )
        values[missing, k] = low
    splits = np.cumsum([len(rows) for rows in table.values])[:-1]
    return replace(table, values=tuple(np.split(values, splits)))


def _unhandled_scores_error(
    table: ScoreTable,
    averages: ModelAverages,
    single: Booleans,
    possible: Mapping[str, bool],
    n_incomplete: int,
) -> InputError:
    """Return the error for missing scores that no rule handles, with suggestions that suit this table."""
    missing, size = np.isnan(averages.oriented), len(table.samples)
    drop, worst = option("missing", "drop"), option("missing", "worst")
    suggestions = {f"{drop} excludes these models from the population": (~missing.any(axis=1)).sum() > 1}
    suggestions[f"{worst} ranks them last{' there' if any(suggestions.values()) else ''}"] = True
    if single.any():
        absent = all(count.missing == count.why.get(ABSENT, 0) for count in table.scored)
        unpaired_text = f"{option('unpaired', True)} compares means over each model's own samples"
        suggestions = {
            f"{drop} excludes {size - n_incomplete:,} of {size:,} samples": possible["drop"],
            f"{worst} replaces missing scores by the worst possible score": possible["worst"],
            unpaired_text: absent and table.paired and possible["unpaired"],
        }
    model, sample, metric = averages.first_missing or ("", "", "")
    location = f"model '{model}'" + (f", sample '{sample}'" if sample else "")
    return InputError(
        f"{listing((file.path for file in table.inputs), 3)}: no score for {location}, metric '{metric}'",
        found=f"{averages.missing_scores:,} of {averages.expected_scores:,} scores missing, in "
        f"{_describe_missing(table, missing)}",
        hint=("; " if single.any() else ", ").join(
            suggestion for suggestion, applies in suggestions.items() if applies
        ),
    )


def _describe_missing(table: ScoreTable, missing: Booleans) -> str:
    """Return text on the number of models that lack values, and on the missing pairs of model and metric."""
    cells = listing(f"{table.models[i]}/{table.metrics[k].name}" for i, k in np.argwhere(missing))
    return f"{np.count_nonzero(missing.any(axis=1))} of {len(table.models)} models: {cells}"


def _handle_missing_objectives(table: ScoreTable, averages: ModelAverages, rule: str) -> tuple[Integers, str]:
    """Return the models to keep if some have no score on an objective, and a warning."""
    missing = np.isnan(averages.oriented)
    models, _, cells = _describe_missing(table, missing).partition(": ")
    if rule == "worst":
        count = int(missing.sum())
        counts = "1 missing value counts" if count == 1 else f"{count} missing values count"
        return np.arange(len(table.models)), f"{counts} as the worst rank, u = 1: {cells}"
    retained = np.flatnonzero(~missing.any(axis=1))
    if retained.size < 2:
        raise InputError(
            "fewer than two models have a score for every objective",
            found=f"{models} lack one: {cells}",
            hint=f"leave out an objective with {option('metric')}, or use {option('missing', 'worst')}",
        )
    labels = listing(table.models[i] for i in np.flatnonzero(missing.any(axis=1)))
    return retained, f"dropped {models} from the population, because they lack a score: {labels}"
