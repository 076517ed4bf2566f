"""Missing scores: of samples treated as every command does, of whole objectives by model."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from riskrank.engine.types import Booleans, Integers
from riskrank.errors import InputError, counted, listing, option
from riskrank.scores.table.averages import ModelAverages, expected_scores, model_averages
from riskrank.scores.table.metrics import oriented_bounds
from riskrank.scores.table.metrics_file import how_to_bound
from riskrank.scores.table.missing_scores import DROPPED
from riskrank.scores.table.score_counts import ABSENT
from riskrank.scores.table.score_table import ScoreTable


def handle_missing_scores(
    table: ScoreTable, rule: str
) -> tuple[ScoreTable, ModelAverages, Integers, list[str]]:
    """The table without single missing scores, its averages, the models that stay, and what to warn of.

    Raises
    ------
    InputError
        For missing scores that nobody treated, or that the rule cannot.
    """
    notes, averages, kept = [], model_averages(table), np.arange(len(table.models))
    sizes = [len(rows) for rows in table.values]
    # Single scores: an objective that a model has none of is another matter, as is the price of a row.
    has = np.repeat([~np.isnan(rows).all(axis=0) for rows in table.values], sizes, axis=0)
    single = expected_scores(table) & np.isnan(np.concatenate(table.values)) & has
    gone, sample = single.any(axis=1), np.concatenate(table.row_samples)
    empty = np.isnan(np.concatenate(table.values)).all(axis=1)
    whole, shared = (np.setdiff1d(sample, sample[rows]).size for rows in (gone, gone & empty))
    able = {"drop": whole > 0, "worst": 2 * shared >= len(table.samples)}
    if averages.missing_scores and not able.get(rule, False) and (single.any() or rule == "error"):
        raise _missing_scores_error(
            table, averages, single, able | {"unpaired": not (gone & ~empty).any()}, whole
        )
    if single.any() and rule == "drop":
        gone = np.isin(sample, sample[gone]) if table.paired else gone
        parts = (table.values, table.row_samples, table.clusters)
        splits = np.split(~gone, np.cumsum(sizes)[:-1])
        values, samples, clusters = (tuple(own[at] for own, at in zip(p, splits, strict=True)) for p in parts)
        table = replace(table, values=values, row_samples=samples, clusters=clusters)
        size = len(table.samples)
        notes = [f"{DROPPED}{size - whole:,} of {size:,} samples: they lack a score for some model or metric"]
    elif single.any():
        table = _impute_worst(table, single)
    averages = model_averages(table)
    if averages.missing_scores:
        kept, note = _handle_missing_objectives(table, averages, rule)
        notes.append(note)
    return table, averages, kept, notes


def _impute_worst(table: ScoreTable, single: Booleans) -> ScoreTable:
    """With the worst there can be in the place of single scores."""
    values = np.concatenate(table.values)
    for k in np.flatnonzero(single.any(axis=0)).tolist():
        spec, lacking, known = table.metrics[k], single[:, k], values[~np.isnan(values[:, k]), k]
        low, high = oriented_bounds(replace(spec, bounds=spec.bounds or table.told_bounds.get(spec.name)))
        # What a file tells itself counts only while its scores keep to it.
        if not (low <= known.min() and known.max() <= high):
            raise InputError(
                f"{option('missing', 'worst')} needs the worst score there can be of {spec.name}",
                found=f"{counted(int(lacking.sum()), 'score')} missing, and no finite one is declared",
                hint=how_to_bound(spec.name),
            )
        values[lacking, k] = low
    ends = np.cumsum([len(rows) for rows in table.values])[:-1]
    return replace(table, values=tuple(np.split(values, ends)))


def _missing_scores_error(
    table: ScoreTable, averages: ModelAverages, single: Booleans, able: Mapping[str, bool], whole: int
) -> InputError:
    """Missing scores that nobody treated, and what can be done about them."""
    lacking, size = np.isnan(averages.oriented), len(table.samples)
    drop, worst = option("missing", "drop"), option("missing", "worst")
    ways = {f"{drop} takes these models out of the population": (~lacking.any(axis=1)).sum() > 1}
    ways[f"{worst} ranks them last{' there' if any(ways.values()) else ''}"] = True
    if single.any():
        absent = all(one.lacks == one.why.get(ABSENT, 0) for one in table.scored)
        own = f"{option('unpaired', True)} compares means over each model's own samples"
        ways = {
            f"{drop} leaves out {size - whole:,} of {size:,} samples": able["drop"],
            f"{worst} counts what is missing as the worst there can be": able["worst"],
            own: absent and table.paired and able["unpaired"],
        }
    model, sample, metric = averages.first_missing or ("", "", "")
    where = f"model '{model}'" + (f", sample '{sample}'" if sample else "")
    return InputError(
        f"{listing((file.path for file in table.inputs), 3)}: no score for {where}, metric '{metric}'",
        found=f"{averages.missing_scores:,} of {averages.expected_scores:,} scores missing, of "
        f"{_describe_missing(table, lacking)}",
        hint=("; " if single.any() else ", ").join(way for way, open_ in ways.items() if open_),
    )


def _describe_missing(table: ScoreTable, lacking: Booleans) -> str:
    cells = listing(f"{table.models[i]}/{table.metrics[k].name}" for i, k in np.argwhere(lacking))
    return f"{np.count_nonzero(lacking.any(axis=1))} of {len(table.models)} models: {cells}"


def _handle_missing_objectives(table: ScoreTable, averages: ModelAverages, rule: str) -> tuple[Integers, str]:
    """The models that stay where some have no value of an objective, and what to warn of."""
    lacking = np.isnan(averages.oriented)
    models, _, cells = _describe_missing(table, lacking).partition(": ")
    if rule == "worst":
        count = int(lacking.sum())
        counts = "1 missing value counts" if count == 1 else f"{count} missing values count"
        return np.arange(len(table.models)), f"{counts} as the worst rank, u = 1: {cells}"
    kept = np.flatnonzero(~lacking.any(axis=1))
    if kept.size < 2:
        raise InputError(
            "fewer than two models have a score for every objective",
            found=f"{models} lack one: {cells}",
            hint=f"leave out an objective with {option('metric')}, or use {option('missing', 'worst')}",
        )
    labels = listing(table.models[i] for i in np.flatnonzero(lacking.any(axis=1)))
    return kept, f"dropped {models} from the population, they lack a score: {labels}"
