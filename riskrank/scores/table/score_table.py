"""Files become the score table that every command computes on: selected, checked, oriented."""

from dataclasses import replace
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from riskrank.engine.types import Integers
from riskrank.errors import InputError
from riskrank.options.reading import SHARED, ReadOptions
from riskrank.scores.files.source import InputFile, Paths
from riskrank.scores.table.dependence import require_independence, require_like_runs
from riskrank.scores.table.designs import NoiseDesign, fold_design, noise_design, refuse_more
from riskrank.scores.table.imputation import FILLING, filled
from riskrank.scores.table.metrics import oriented, resolve_metrics
from riskrank.scores.table.metrics_file import OfTask, Specs
from riskrank.scores.table.oriented_scores import Rows, ScoreTable
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.repeats import assemble
from riskrank.scores.table.score_counts import numbered, scored
from riskrank.scores.table.scores import Scores, select
from riskrank.scores.table.suite import NO_SUITE, fixed, suite_of
from riskrank.scores.table.tasks import of_one_column, of_scored_tasks
from riskrank.scores.table.time_order import counted, in_blocks, in_time, note_of_neighbours
from riskrank.scores.table.validate import constant_metrics, incomplete_tasks, unusable

__all__ = ["InputFile", "ScoreTable", "checked_table", "read_scores"]


def read_scores(
    paths: Paths, options: ReadOptions | None = None, stdin: BinaryIO | None = None
) -> ScoreTable:
    """Read, check and orient the scores of one or more files.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, glob patterns, ``-`` for `stdin`, or open sources.
    options : ReadOptions, optional
    stdin : BinaryIO, optional

    Returns
    -------
    ScoreTable
        The same arrays, bit for bit, whatever the order of the rows and the format of the files.

    Raises
    ------
    InputError
        If a file, its columns or its values cannot be used.
    UsageError
        If the options contradict each other or name something unknown.
    """
    scores = read_frame(paths, options or ReadOptions(), stdin)
    try:
        return _as_asked(scores)
    except InputError as error:
        from riskrank.scores.table.suggestions import tried_on

        raise tried_on(error, scores, _as_asked, read_frame) from None


def _as_asked(scores: Scores) -> ScoreTable:
    """The checked table; of a judge's scores and people's one of corrected scores."""
    asked, table = scores.notes.asked, checked_table(scores)
    if not asked.corrects_judge:
        return table
    from riskrank.scores.table.judge_calibration import corrected

    return corrected(table, asked)


def checked_table(scores: Scores) -> ScoreTable:
    """Select, check and orient what was read; errors are those of `read_scores`."""
    rule = scores.options.missing
    scores = of_scored_tasks(select(scores))
    specs, warnings = resolve_metrics(scores)
    for error in chain(unusable(scores, specs), incomplete_tasks(scores)):
        raise error
    told, texts = scored(scores), None
    if scores.options.texts:
        from riskrank.scores.table.texts import texts_of

        texts = texts_of(scores)
    whole = filled(scores, specs) if rule in FILLING else scores
    table = replace(_laid_out(whole, specs, warnings), scored=told, texts=texts)
    if rule not in ("auto", "bounds") or whole is scores:
        return table
    return replace(table, best=_laid_out(filled(scores, specs, best=True), specs, warnings).values)


def _laid_out(scores: Scores, specs: Specs, warnings: tuple[str, ...]) -> ScoreTable:
    """Orient what was checked, and bring it into rows."""
    values = oriented(scores, specs)
    scores, specs, of_task = of_one_column(scores, specs)
    noise = None
    if scores.has("noise"):
        refuse_more(scores)
        noise = noise_design(scores, np.where(scores.invalid(), np.nan, values))
    scores, time = in_time(scores.over_noise)
    if scores.options.missing == SHARED:
        refuse_more(scores, time)
    rows, dropped = assemble(scores, values)
    require_like_runs(scores, values)
    constant = () if scores.options.allow_constant else constant_metrics(scores, rows.values, specs)
    for error in chain(incomplete_tasks(scores, rows), constant):
        raise error
    table = _table(scores, rows, specs, (*scores.notes.warnings, *warnings, *dropped))
    if scores.options.missing == SHARED:
        return replace(table, noise=NoiseDesign.of_samples(table.as_draws(), table.clusters[0]))
    table = _with_folds(_with_suite(table, scores, of_task), scores)
    if noise is not None:
        return replace(table, noise=noise)
    if time and (scores.options.tests or scores.options.weighs_tasks) and len(table.models) > 1:
        return in_blocks(table, time)
    require_independence(scores, table)
    note = note_of_neighbours(scores, table)
    if note and (in_order := counted(scores)):
        return _laid_out(in_order, specs, warnings)
    return replace(table, warnings=(*table.warnings, *filter(None, [note])))


def _with_suite(table: ScoreTable, scores: Scores, of_task: OfTask) -> ScoreTable:
    """The table with its tasks, and what is to be said of them."""
    options, suite = table.options, NO_SUITE
    if scores.has("task") or options.task_weight:
        suite = suite_of(scores, table.samples, table.row_samples, of_task)
    if not suite:
        return table
    notes = () if options.weighs_tasks else (suite.pooled(),)
    return replace(table, suite=suite, warnings=(*table.warnings, *notes))


def _with_folds(table: ScoreTable, scores: Scores) -> ScoreTable:
    """The table with the folds its samples are, of which every model has one score each."""
    if not table.paired or table.has_draws or scores.options.time is not None:
        return table
    suite = table.suite
    of_task, weights = (suite.of_sample, suite.weights) if suite else (None, None)
    return replace(table, folds=fold_design(scores, table.samples, of_task, weights))


def _table(scores: Scores, rows: Rows, specs: Specs, warnings: tuple[str, ...]) -> ScoreTable:
    used, sample = numbered(rows.sample, len(scores.samples))
    samples = tuple(scores.samples[at] for at in used.tolist())
    pair = rows.model * len(samples) + sample
    sample = fixed(np.ascontiguousarray(sample, dtype=np.int64))
    cuts = np.searchsorted(rows.model, np.arange(1, len(scores.models)))
    row_samples = tuple(np.split(sample, cuts))
    wholes: dict[str, Any] = {"cluster": (row_samples, None), "group": (None, ())}
    for whole in filter(scores.has, wholes):
        codes, names = _of_rows(scores, whole, rows)
        wholes[whole] = (tuple(np.split(codes, cuts)), names)
    (clusters, cluster_names), (groups, group_names) = wholes.values()
    return ScoreTable(
        models=scores.models,
        metrics=specs,
        samples=samples,
        paired=not scores.options.unpaired,
        values=tuple(np.split(fixed(rows.values), cuts)),
        row_samples=row_samples,
        clusters=clusters,
        cluster_names=cluster_names,
        has_draws=bool(np.any(pair[1:] == pair[:-1])),
        inputs=scores.notes.inputs,
        warnings=warnings,
        rows=scores.notes.rows,
        options=scores.options,
        groups=groups,
        group_names=group_names,
        overlap=scores.notes.overlap,
        unshared=scores.notes.unshared,
        told_bounds=scores.notes.bounds,
    )


def _of_rows(scores: Scores, whole: str, rows: Rows) -> tuple[Integers, tuple[str, ...]]:
    """Cluster or group of the sample of each row, as an index into the names of those that are left."""
    # Models with samples of their own may use one name for different samples.
    owner = len(scores.samples) if scores.options.unpaired else 0
    known, first = np.unique(scores.codes("model") * owner + scores.codes("sample"), return_index=True)
    at = np.searchsorted(known, rows.model * owner + rows.sample)
    used, numbers = np.unique(scores.codes(whole)[first[at]], return_inverse=True)
    names = scores.names(whole)
    return fixed(np.ascontiguousarray(numbers, dtype=np.int64)), tuple(names[code] for code in used)
