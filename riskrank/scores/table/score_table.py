"""Convert files to the score table on which commands compute: selected, checked and oriented."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import InputError, UsageError, check_choice, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.option import options_of
from riskrank.options.reading import SHARED, ReadOptions
from riskrank.scores.files.source import InputFile, Paths
from riskrank.scores.table import dependence, designs, validate
from riskrank.scores.table.designs import NoiseDesign, fold_design, noise_design, reject_tasks_and_time
from riskrank.scores.table.imputation import BOUNDING_RULES, drop_reruns, drop_unbounded, fill_missing
from riskrank.scores.table.metric_specs import Specs
from riskrank.scores.table.metrics import orient_scores, resolve_metrics
from riskrank.scores.table.oriented_scores import Rows, ScoreTable
from riskrank.scores.table.reading import read_frame, verify_on_scores
from riskrank.scores.table.rows import assemble_rows
from riskrank.scores.table.scores import Scores, required_samples, score_counts, select, unique_inverse
from riskrank.scores.table.suite import (
    NO_SUITE,
    build_suite,
    drop_unscored_tasks,
    merge_task_metrics,
    read_only,
)

# Maximum number of rows of a table that is read again to verify a suggestion.
_MAX_ROWS = 2_000_000

__all__ = ["InputFile", "ScoreTable", "checked_table", "read_scores"]


# Function that runs a command on a table with changed settings, and raises an error if this fails.
Trial = Callable[[ScoreTable, Mapping[str, Any]], object] | None


def read_scores(
    paths: Paths, options: ReadOptions | None = None, stdin: BinaryIO | None = None, trial: Trial = None
) -> ScoreTable:
    """Read, check and orient the scores in one or more files.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, glob patterns, ``-`` for `stdin`, or open sources.
    options : ReadOptions, optional
    stdin : BinaryIO, optional
    trial : callable or None
        Function of a table and changed settings that runs the command. Errors only suggest options for which
        it succeeds.

    Returns
    -------
    ScoreTable
        The arrays do not depend on the order of rows or the format of files.

    Raises
    ------
    InputError
        If a file, its columns or its values cannot be used.
    UsageError
        If the options contradict each other or name something unknown.
    """
    check = partial(require_usable_table, trial=trial)
    scores = read_frame(paths, options or ReadOptions(), stdin, check=check)
    try:
        return build_table(scores)
    except InputError as error:
        raise verify_on_scores(error, scores, check) from None


def require_usable_table(scores: Scores, settings: Mapping[str, Any], trial: Trial = None) -> None:
    """Raise an error if a command could not use the scores.

    Large tables are not checked.

    Parameters
    ----------
    scores : Scores
    settings : mapping of str to object
        Changed settings of the command.
    trial : callable or None
        Function of a table and changed settings that runs the command, and raises its error.
    """
    if scores.notes.rows <= _MAX_ROWS:
        table = build_table(scores)
        if trial is not None:
            trial(table, settings)


def clustered_scores(table: ScoreTable) -> ClusteredScores | None:
    """Return the scores on the first metric, with the cluster of each score.

    Return None for tables with tasks, noise sources or folds.
    """
    if table.suite or table.means_only:
        return None
    first = [values[:, 0] for values in table.values]
    return ClusteredScores.build(first, table.clusters, samples=table.row_samples, paired=table.paired)


def build_table(scores: Scores) -> ScoreTable:
    """Check and orient scores; calibrate judge scores if the options request it."""
    options, table = scores.notes.resolved, checked_table(scores)
    if not options.corrects_judge:
        return table
    from riskrank.scores.table.judge_calibration import calibrate_judge

    return calibrate_judge(table, options)


def checked_table(scores: Scores) -> ScoreTable:
    """Select the requested models and metrics, check the scores, and orient them.

    Raises
    ------
    InputError, UsageError
        See `read_scores`.
    """
    rule = scores.options.missing
    scores = drop_unscored_tasks(drop_reruns(select(scores)))
    specs, warnings = resolve_metrics(scores)
    rules = next(item.spec for item in options_of(type(scores.options)) if item.name == "missing")
    known = (*rules.choices, *rules.internal_choices)
    if rule not in known:
        advice = "give a rule, or a model whose scores replace those that another model lacks"
        check_choice("missing", rule, (*rules.choices, *scores.models), advice)
    for error in validate.unusable_score_errors(scores, specs):
        raise error
    # The worst score, or that of a model, also replaces whole tasks.
    complete = fill_missing(scores, specs) if rule == "worst" or rule not in known else scores
    for error in validate.incomplete_task_errors(complete):
        raise error
    counts, texts = score_counts(scores), None
    required: frozenset[str] = frozenset()
    if isinstance(scores.options, GateReading) and scores.options.must_pass is not None:
        required = required_samples(scores, scores.options.must_pass)
    if scores.options.texts:
        from riskrank.scores.table.texts import locate_sample_texts

        texts = locate_sample_texts(scores)
    scores, unbounded = drop_unbounded(scores, specs) if rule == "auto" else (scores, {})
    complete = fill_missing(scores, specs) if rule in BOUNDING_RULES else complete
    table = replace(_arrange(complete, specs, warnings), scored=counts, texts=texts, unbounded=unbounded)
    table = replace(table, required=required)
    if rule == "drop" and (excluded := sorted(required - {*table.samples})):
        problem = f"{option('must_pass')} needs scores of every sample that must pass"
        hint = f"count missing scores as failures, {option('missing', 'worst')}, or require fewer samples"
        raise UsageError(problem, found=f"{listing(excluded)} without a score of a model", hint=hint)
    if rule not in BOUNDING_RULES or complete is scores:
        return table
    return replace(table, best=_arrange(fill_missing(scores, specs, best=True), specs, warnings).values)


def _arrange(scores: Scores, specs: Specs, warnings: tuple[str, ...]) -> ScoreTable:
    """Arrange checked scores as a table: orient them, and treat missing ones as the options state.

    Clusters or an order in time that the scores reveal are taken into account. `warnings` are those about
    metrics.
    """
    values = orient_scores(scores, specs)
    scores, specs, by_task = merge_task_metrics(dependence.declare_systematic_runs(scores, values), specs)
    noise = None
    if scores.has_role("noise"):
        reject_tasks_and_time(scores)
        noise = noise_design(scores, np.where(scores.invalid_mask(), np.nan, values))
    scores, time = dependence.order_by_time(scores.noise_averaged)
    if scores.options.missing == SHARED:
        reject_tasks_and_time(scores, time)
    rows, dropped = assemble_rows(scores, values)
    for error in validate.incomplete_task_errors(scores, rows):
        raise error
    constant = validate.constant_metric_errors(scores, rows.values, specs)
    for error in () if scores.options.allow_constant else constant:
        raise error
    table = _assemble_table(scores, rows, specs, (*scores.notes.warnings, *warnings, *dropped))
    if scores.options.uncertainty:
        return replace(table, published=designs.published_errors(scores, specs))
    if scores.options.missing == SHARED:
        return replace(table, noise=NoiseDesign.from_samples(table.score_array(), table.clusters[0]))
    options = table.options
    has_suite = scores.has_role("task") or options.task_weight
    suite = build_suite(scores, table.samples, table.row_samples, by_task) if has_suite else NO_SUITE
    pooled = (suite.pooling_note(),) if suite and not options.weighs_tasks else ()
    table = replace(table, suite=suite, warnings=(*table.warnings, *pooled))
    if table.paired and not table.has_repeats and scores.options.time is None:
        tasks = (table.suite.task_codes, table.suite.weights) if table.suite else (None, None)
        table = replace(table, folds=fold_design(scores, table.samples, *tasks))
    if noise is not None:
        from riskrank.scores.table.judge_calibration import judge_scores

        return replace(table, noise=noise, judge_scores=judge_scores(scores))
    if time and (scores.options.tests or scores.options.weighs_tasks) and len(table.models) > 1:
        return dependence.add_blocks(table, time)
    clustered, proposals = dependence.find_clusters(scores, table)
    if clustered is not None:
        return _arrange(clustered, specs, warnings)
    note = dependence.autocorrelation_note(scores, table)
    if note and (in_order := dependence.order_by_step(scores)):
        return _arrange(in_order, specs, warnings)
    return replace(table, warnings=(*table.warnings, *proposals, *filter(None, [note])))


def _assemble_table(scores: Scores, rows: Rows, specs: Specs, warnings: tuple[str, ...]) -> ScoreTable:
    """Build the score table from its rows and warnings, numbering only the samples that remain.

    It has no tasks, noise sources or folds yet.
    """
    used, sample = unique_inverse(rows.sample, len(scores.samples))
    samples = tuple(scores.samples[at] for at in used.tolist())
    pair = rows.model * len(samples) + sample
    sample = read_only(np.ascontiguousarray(sample, dtype=np.int64))
    cuts = np.searchsorted(rows.model, np.arange(1, len(scores.models)))
    row_samples = tuple(np.split(sample, cuts))
    roles: dict[str, Any] = {"cluster": (row_samples, None), "group": (None, ())}
    # Unpaired models may use the same name for different samples.
    stride = len(scores.samples) if scores.options.unpaired else 0
    for role in filter(scores.has_role, roles):
        pairs, first = np.unique(scores.codes("model") * stride + scores.codes("sample"), return_index=True)
        at = np.searchsorted(pairs, rows.model * stride + rows.sample)
        present, numbers = np.unique(scores.codes(role)[first[at]], return_inverse=True)
        codes = np.split(read_only(np.ascontiguousarray(numbers, dtype=np.int64)), cuts)
        roles[role] = (tuple(codes), tuple(scores.names(role)[code] for code in present))
    (clusters, cluster_names), (groups, group_names) = roles.values()
    return ScoreTable(
        models=scores.models,
        metrics=specs,
        samples=samples,
        paired=not scores.options.unpaired,
        values=tuple(np.split(read_only(rows.values), cuts)),
        row_samples=row_samples,
        clusters=clusters,
        cluster_names=cluster_names,
        has_repeats=bool(np.any(pair[1:] == pair[:-1])),
        inputs=scores.notes.inputs,
        warnings=warnings,
        rows=scores.notes.rows,
        options=scores.options,
        groups=groups,
        group_names=group_names,
        overlap=scores.notes.overlap,
        unmatched=scores.notes.unmatched,
        score_bounds=scores.notes.bounds,
    )
