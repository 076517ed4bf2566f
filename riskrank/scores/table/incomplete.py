"""What stands in the way of a complete table: repeated, unlinked and missing scores, as errors."""

from __future__ import annotations

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, listing, option
from riskrank.scores.table.further_columns import hint_for_parts, hint_for_repeats
from riskrank.scores.table.rows import Rows
from riskrank.scores.table.scores import Scores


def first_repeat(cell: np.ndarray) -> tuple[int, int, int]:
    """The first entry that repeats an earlier one: (earlier, later, number of repeats)."""
    order = np.argsort(cell, kind="stable")
    again = np.flatnonzero(np.diff(cell[order]) == 0) + 1
    if again.size == 0:
        return 0, 0, 0
    place = again[np.argmin(order[again])]
    return int(order[place - 1]), int(order[place]), int(again.size)


def duplicates(scores: Scores, cell: np.ndarray, options: ReadOptions) -> InputError:
    """A score that is there twice."""
    first, second, count = first_repeat(cell)
    hint = f"average them with {option('repeats', 'mean')}, take the worst or the best run with min or max, "
    hint += f"or keep them as repeated draws with {option('repeats', 'draws')}"
    if scores.notes.draw_column:
        hint = f"a column numbers the runs: {option('repeats', 'draws')} keeps them, min takes the worst"
    if not scores.notes.has_samples:
        hint = f"if a column names the sample, say so: {option('columns', 'sample=…')}; "
        hint += f"otherwise {option('repeats', 'mean')}"
    return InputError(
        f"{scores.place(second)}: a second score for {scores.cell(second)}",
        found=f"the first score is {scores.near(first, second)}; duplicates in all: {count:,}",
        hint=hint_for_repeats(scores, options) or hint,
    )


def unlinked_draws(scores: Scores) -> InputError:
    """Draws of several metrics that nothing links."""
    return InputError(
        f"{scores.files()}: nothing says which scores of different metrics belong to the same draw",
        found=f"several rows per model and sample, {len(scores.metrics)} metrics and no draw column",
        hint=f"name the column that numbers the draws ({option('columns', 'draw=…')}), "
        f"pick one {option('metric')}, or use {option('repeats', 'mean')}",
    )


def different_samples(scores: Scores, covered: np.ndarray, options: ReadOptions) -> InputError:
    """Models that were scored on different samples."""
    common = int(np.count_nonzero(covered.all(axis=0)))
    counts = covered.sum(axis=1)
    most = counts.max()
    short = [
        f"{name} has {count:,}"
        for name, count in zip(scores.models, counts, strict=True)
        if count < most or most < covered.shape[1]
    ]
    model, sample = (int(index) for index in np.argwhere(~covered)[0])
    hint = f"{option('unpaired', True)} compares models that have samples of their own"
    if options.paired_only:
        hint = "compare models that were scored on the same samples"
    if common > 1:
        hint = f"{option('missing', 'drop')} compares on the common samples"
    else:
        hint = hint_for_parts(scores) or hint
    return InputError(
        f"{scores.files()}: the models were not scored on the same samples",
        found=f"{common:,} of {covered.shape[1]:,} samples are common to all {covered.shape[0]} models; "
        f"{listing(short, 4)}; for example {scores.models[model]} lacks '{scores.samples[sample]}'",
        hint=hint,
    )


def missing_cells(scores: Scores, rows: Rows, gaps: np.ndarray) -> InputError:
    """Scores that are missing."""
    count = int(np.count_nonzero(np.isnan(rows.values)))
    record = int(np.flatnonzero(gaps)[0])
    metric = int(np.flatnonzero(np.isnan(rows.values[record]))[0])
    model, sample = int(rows.model[record]), int(rows.sample[record])
    cell = (
        (scores.codes("model") == model)
        & (scores.codes("sample") == sample)
        & (scores.codes("metric") == metric)
    )
    at = np.flatnonzero(cell & scores.invalid())
    place = scores.place(int(at[0])) if at.size else scores.files()
    name = f"model '{scores.models[model]}'"
    name += f", sample '{scores.samples[sample]}'" if scores.notes.has_samples else ""
    lacking = lacking_scores(scores)
    return InputError(
        f"{place}: no score for {name}, metric '{scores.metrics[metric]}'",
        found=f"{count:,} missing of {rows.values.size:,} scores" + (f"; {lacking}" if lacking else ""),
        hint=_way_out(scores, rows, lacking),
    )


def _way_out(scores: Scores, rows: Rows, lacking: str) -> str:
    """What to do about missing scores: dropping samples helps only if some are left."""
    if lacking:
        return f"leave those metrics or models out with {option('metric')} or {option('models')}"
    scored = ~np.isnan(rows.values)
    models = len(scores.models)

    def whole(kept: np.ndarray) -> np.ndarray:
        """Samples on which every model has what is kept."""
        pairs = np.unique(rows.sample[kept] * models + rows.model[kept])
        return np.bincount(pairs // models, minlength=len(scores.samples)) == models

    if whole(scored.all(axis=1)).any():
        return f"{option('missing', 'drop')} leaves out the samples that have a gap"
    for number, name in enumerate(scores.metrics):
        of_metric = scored[:, number]
        if of_metric.any() and whole(of_metric)[rows.sample[of_metric]].all():
            return f"metrics were scored on different samples: take one at a time, {option('metric', name)}"
    return "choose metrics and models that have samples in common, with " + (
        f"{option('metric')} and {option('models')}"
    )


def lacking_scores(scores: Scores) -> str:
    """Name the models that have no score at all for some metric."""
    valid = ~scores.invalid()
    shape = (len(scores.models), len(scores.metrics))
    key = scores.codes("model")[valid] * shape[1] + scores.codes("metric")[valid]
    empty = np.argwhere(np.bincount(key, minlength=shape[0] * shape[1]).reshape(shape) == 0)
    pairs = [f"{scores.models[i]} has no {scores.metrics[j]}" for i, j in empty]
    return listing(pairs, 4) if pairs else ""
