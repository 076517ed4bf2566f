"""Inspection of score tables for ``check``: their contents and all of their problems."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, BinaryIO, TypeVar

import numpy as np

from riskrank.engine.evidence.mean_differences import MIN_SHARED
from riskrank.engine.judges import JudgeAgreement
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores, describe_sample_size, size_warnings
from riskrank.engine.types import Booleans
from riskrank.errors import InputError, RiskrankError, listing, option
from riskrank.options.reading import SHARED, ReadOptions
from riskrank.scores.files.guards import BeyondLimitError, BrokenFileError
from riskrank.scores.files.source import InputFile, Paths, Source
from riskrank.scores.table import validate
from riskrank.scores.table.imputation import FILL_RULES, fill_missing
from riskrank.scores.table.judge_calibration import judge_agreements, judge_scores
from riskrank.scores.table.metric_specs import MetricSpec, Specs, TaskMetrics
from riskrank.scores.table.metrics import resolve_metrics
from riskrank.scores.table.oriented_scores import Rows, ScoreTable
from riskrank.scores.table.reading import read_frame, verify_on_scores
from riskrank.scores.table.rows import assemble_rows, sample_mask
from riskrank.scores.table.score_table import build_table, checked_table, clustered_scores
from riskrank.scores.table.scores import ScoreCount, Scores, crosstab, score_counts, select, unique_inverse
from riskrank.scores.table.suite import NO_SUITE, build_suite, drop_unscored_tasks, merge_task_metrics
from riskrank.scores.table.unassigned_columns import dividing_columns

_Result = TypeVar("_Result")
# Larger tables are not tried with a test, because this takes as long as reading them.
_MAX_ROWS = 5_000_000


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An error with which commands would reject the scores, or a warning.

    The attribute `what` of a warning is one sentence, and `found` and `hint` are empty. The attribute
    `suggestions` is copied from the error.
    """

    severity: str
    what: str
    found: str = ""
    hint: str = ""
    suggestions: Sequence[tuple[str, object]] = ()


@dataclass(frozen=True, kw_only=True)
class InspectedModel:
    """One model, with its number of samples and the number of samples that no other model has."""

    model: str
    samples: int
    only_here: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """Summary of one metric, in original units.

    Attributes
    ----------
    metric, direction, transform, scale : str
    declared : bool
        Whether the direction was declared.
    n : int
        Number of usable scores.
    minimum, maximum, mean : float or None
        Statistics of the usable scores; None if there are none.
    distinct : int
        Number of distinct values.
    tied_share : float
        Proportion of scores that equal another score on the metric, by any model.
    missing : int
        Number of (model, sample) cells without a usable score.
    outside_bounds : int
        Number of scores outside the declared bounds.
    constant : bool
        Whether all scores are equal.
    """

    metric: str
    direction: str
    declared: bool
    transform: str
    scale: str
    n: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    distinct: int
    tied_share: float
    missing: int
    outside_bounds: int
    constant: bool


@dataclass(frozen=True, kw_only=True)
class InspectedTask:
    """Summary of one task in a suite.

    Attributes
    ----------
    task : str
    samples : int
        Number of distinct samples over all models.
    weight : float
        Weight of the task; the weights of all tasks sum to 1.
    metrics : tuple of str
    fewest_scores, most_scores : int
        Smallest and largest number of usable scores per model.
    """

    task: str
    samples: int
    weight: float
    metrics: tuple[str, ...]
    fewest_scores: int
    most_scores: int


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A sample, and the models without a score on it."""

    sample: str
    models: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Contents and problems of one or more files.

    Attributes
    ----------
    inputs : tuple of InputFile
    rows : int
        Number of input rows.
    models : tuple of InspectedModel
    metrics : tuple of MetricRow
    specs : tuple of MetricSpec
        Specifications of the same metrics.
    samples : int
        Number of distinct samples over all models.
    common_samples : int
        Number of samples that every model has.
    clusters : int or None
        Number of clusters; None if no cluster column was named.
    tasks : tuple of InspectedTask
        Tasks of a suite; otherwise empty.
    same_samples : bool
        True if every model has every sample, as a paired comparison requires.
    fewest_repeats, most_repeats : int
        Smallest and largest number of rows per (model, sample, metric) cell, ignoring cells without rows.
    repeated_cells : int
        Number of cells with more than one row.
    problems : tuple of Problem
        Errors, followed by warnings.
    options : ReadOptions
        Options with which the files were read.
    sources : tuple of str or Source
        Files as given by the user.
    runs : tuple of ClusteredScores
        Scores on each metric, over all tasks, if repeats are kept and there are no errors; otherwise empty.
    divisions : tuple of str
        Columns that divide the samples into groups, if every model has every sample exactly once.
    scored : tuple of Scored
        Number of scores and reasons for missing ones, for each model and incomplete metric.
    judged : ScoreTable or None
        Judge scores calibrated on human labels, if this was requested and there are no errors.
    agreements : tuple of JudgeAgreement
        Agreement of each pair of judges.
    folds : bool
        True if the samples are cross-validation folds.
    effective_size : int or None
        Effective sample size of tests; None for folds, tasks, or tables with errors.
    holes : tuple of Gap
        Samples that some models lack, those with the most gaps first. Empty unless each pair of models is
        compared on its shared samples.
    sparse_pairs : tuple of (str, str)
        Pairs of models that share too few samples for such a comparison.
    """

    inputs: tuple[InputFile, ...]
    rows: int
    models: tuple[InspectedModel, ...]
    metrics: tuple[MetricRow, ...]
    specs: Specs
    samples: int
    common_samples: int
    clusters: int | None
    tasks: tuple[InspectedTask, ...]
    same_samples: bool
    fewest_repeats: int
    most_repeats: int
    repeated_cells: int
    problems: tuple[Problem, ...]
    options: ReadOptions
    sources: tuple[str | Source, ...] = ()
    runs: tuple[ClusteredScores, ...] = ()
    divisions: tuple[str, ...] = ()
    scored: tuple[ScoreCount, ...] = ()
    judged: ScoreTable | None = None
    agreements: tuple[JudgeAgreement, ...] = ()
    folds: bool = False
    effective_size: int | None = None
    holes: tuple[Gap, ...] = ()
    sparse_pairs: tuple[tuple[str, str], ...] = ()


# Overflow is reported as a problem, not as a NumPy warning.
@np.errstate(over="ignore", invalid="ignore")
def inspect_scores(
    paths: Paths, options: ReadOptions | None = None, stdin: BinaryIO | None = None
) -> Inspection:
    """Describe the scores of one or more files, and collect all problems instead of the first one.

    Parameters
    ----------
    paths, options, stdin
        See `riskrank.scores.table.score_table.read_scores`.

    Returns
    -------
    Inspection

    Raises
    ------
    InputError
        If a file, its columns or the metrics file cannot be read at all.
    UsageError
        If the options contradict each other or name something unknown.
    """
    # Read the scores like a command that weights tasks and accepts a judge.
    raw = _read_scores(paths, replace(options or ReadOptions(), weighs_tasks=True, judges=True), stdin)
    resolved, options = raw.notes.resolved, raw.notes.resolved.file_options
    # If the metric of a task is unclear, the scores are described as they are.
    scored_tasks, unclear = _attempt(drop_unscored_tasks, selected := select(replace(raw, options=options)))
    read_specs, notes = resolve_metrics(read := scored_tasks or selected)
    scores, specs, task_metrics = merge_task_metrics(read, read_specs)
    lenient = scores.with_options(missing="keep", repeats="mean", unpaired=True, noise=(), folds=None)
    means, _ = assemble_rows(lenient, scores.values)
    mask, repeats = sample_mask(scores, means.model, means.sample), _rows_per_cell(scores)
    # A complete table without repeats needs no further checks, which are slow on large tables.
    complete = bool(mask.all()) and repeats.max(initial=0) <= 1 and not np.isnan(means.values).any()
    used, errors = scores, [*validate.unusable_score_errors(read, read_specs), *unclear]
    if (fills := options.missing in (*FILL_RULES, *scores.models)) and not errors:
        without_gaps, errors = _attempt(fill_missing, read, read_specs)
        used = merge_task_metrics(without_gaps or read, read_specs)[0]
    # Gaps that cannot be imputed are reported once.
    if not fills or not errors:
        errors += _gap_errors(used, specs, means, complete=complete or bool(unclear))
    needs_judge = resolved.corrects_judge and not errors
    judged, errors = _attempt(build_table, read) if needs_judge else (None, errors)
    table, errors = _try_tests(raw, errors)
    sizes = None if table is None else clustered_scores(table)
    texts = [] if table is None else [*table.warnings, *_size_warnings(table, sizes)]
    dropped = None if complete else _attempt(assemble_rows, used, used.values)[0]
    warnings = [*scores.notes.warnings, *notes, *_undeclared_warnings(read_specs, options)]
    warnings += dropped[1] if dropped else ()
    warnings += [text for text in (*(judged.warnings if judged else ()), *texts) if text not in warnings]
    return Inspection(
        inputs=scores.notes.inputs,
        rows=scores.notes.rows,
        models=_inspect_models(scores, mask),
        metrics=tuple(
            _describe_metric(read, *row)
            for row in zip(read_specs, count(), _missing_counts(scores, read_specs, means, task_metrics))
        ),
        specs=read_specs,
        samples=len(scores.samples),
        common_samples=int(np.count_nonzero(mask.all(axis=0))),
        clusters=scores.frame["cluster"].n_unique() if scores.has_role("cluster") else None,
        tasks=_inspect_tasks(scores, means, task_metrics),
        same_samples=bool(mask.all()),
        fewest_repeats=int(repeats.min(initial=repeats.max(initial=0))),
        most_repeats=int(repeats.max(initial=0)),
        repeated_cells=int(np.count_nonzero(repeats > 1)),
        problems=(*map(to_problem, errors), *(Problem(severity="warning", what=text) for text in warnings)),
        options=resolved,
        sources=tuple(paths),
        runs=() if errors or task_metrics or resolved.corrects_judge else _repeated_scores(used, specs),
        scored=() if resolved.corrects_judge else tuple(e for e in score_counts(read) if e.missing),
        divisions=() if errors or options.group_by or not complete else dividing_columns(read),
        judged=judged,
        agreements=judge_agreements(judge_scores(read)),
        folds=table is not None and table.folds is not None,
        effective_size=None if sizes is None else sizes.min_effective_size,
        **_shared_gaps(scores, means),
    )


def to_problem(e: RiskrankError) -> Problem:
    """Convert an error to a problem that is listed with the contents of the table."""
    return Problem(severity="error", what=e.problem, found=e.found, hint=e.hint, suggestions=e.suggestions)


def _shared_gaps(scores: Scores, means: Rows) -> dict[str, Any]:
    """Return the samples that some models lack, and the pairs of models that share few samples.

    The keys of the dictionary are `holes` and `sparse_pairs`, two attributes of an inspection. It is empty
    unless each pair of models is compared on its shared samples. `means` holds the scores averaged over
    repeats.
    """
    if scores.options.missing != SHARED:
        return {}
    complete = ~np.isnan(means.values).any(axis=1)
    present = sample_mask(scores, means.model[complete], means.sample[complete])
    missing = (~present).sum(axis=0)
    holes = [
        Gap(sample=scores.samples[at], models=tuple(np.array(scores.models)[~present[:, at]].tolist()))
        for at in np.argsort(-missing, kind="stable").tolist()
        if missing[at]
    ]
    names, few = scores.models, np.argwhere(present.astype(np.int64) @ present.T < MIN_SHARED).tolist()
    return {"holes": tuple(holes), "sparse_pairs": tuple((names[i], names[j]) for i, j in few if i < j)}


def _try_tests(raw: Scores, errors: list[RiskrankError]) -> tuple[ScoreTable | None, list[RiskrankError]]:
    """Check the scores as a test would; return its table, and the errors including those of the test.

    `raw` holds the scores as read, and `errors` those found so far. Large tables and tables with a judge are
    not checked, and the returned table is None.
    """
    notes, testable = raw.notes, raw.notes.has_samples or raw.notes.resolved.uncertainty
    if notes.rows > _MAX_ROWS or not testable or notes.resolved.corrects_judge:
        return None, errors
    resolved, requested = (replace(settings, tests=True) for settings in (notes.resolved, notes.requested))
    notes = replace(notes, resolved=resolved, requested=requested)
    scores = replace(raw, options=resolved.file_options, notes=notes)
    table, refused = _attempt(checked_table, scores)
    undeclared = (isinstance(error, validate.UndeclaredDirectionError) for error in refused)
    if any(undeclared):  # reported as a warning instead
        return None, errors
    if errors and not {error.problem for error in refused} & {errors[0].problem}:
        return table, errors
    refusals = (error for error in refused if isinstance(error, InputError))
    verify = partial(verify_on_scores, scores=scores, read=lambda changed, _: checked_table(changed))
    return table, [*map(verify, refusals), *errors[1:]]


def _inspect_models(scores: Scores, mask: Booleans) -> tuple[InspectedModel, ...]:
    """Count the samples of each model, and those that no other model has.

    `mask`, shape (models, samples), is True if a model has a sample.
    """
    alone = mask.sum(axis=0) == 1
    return tuple(
        InspectedModel(model=name, samples=int(samples.sum()), only_here=int((samples & alone).sum()))
        for name, samples in zip(scores.models, mask, strict=True)
    )


def _size_warnings(table: ScoreTable, sizes: ClusteredScores | None) -> list[str]:
    """Return warnings about folds, few samples, and large clusters among few.

    `sizes` holds the scores by cluster; None for tables with tasks, noise sources or folds.
    """
    if table.folds is not None:
        return ["samples are folds with shared training rows: only means can be compared"]
    if sizes is None:
        return []
    if sizes.min_effective_size < MIN_SAMPLES:
        text = f"{sizes.unit_name} per model; the table has {describe_sample_size(sizes)}"
        return [f"a test needs at least {MIN_SAMPLES} {text}"]
    return [*size_warnings(sizes).values()]


def _attempt(step: Callable[..., _Result], *args: Any) -> tuple[_Result | None, list[RiskrankError]]:
    """Call the function `step`; return its result and no errors, or None and a list with its error."""
    try:
        return step(*args), []
    except RiskrankError as error:
        return None, [error]


def _read_scores(paths: Paths, options: ReadOptions, stdin: BinaryIO | None) -> Scores:
    """Read the scores, with or without a sample column.

    A table without a sample column is read as one row per model if no model occurs twice.
    """
    try:
        return read_frame(paths, options, stdin)
    except InputError as error:
        final = "-" in paths or isinstance(error, BeyondLimitError | BrokenFileError)
        if final or options.sample_optional or options.corrects_judge:
            raise
        scores, _ = _attempt(read_frame, paths, replace(options, sample_optional=True), stdin)
        if scores is None or scores.notes.has_samples or _rows_per_cell(scores).max(initial=0) > 1:
            raise
        return scores


def _repeated_scores(scores: Scores, specs: Specs) -> tuple[ClusteredScores, ...]:
    """Return the scores on every metric without averaging repeats.

    The result is empty if there are no repeats.
    """
    if scores.options.repeats != "draws" or scores.has_role("cluster"):
        return ()
    rows, _ = assemble_rows(scores, scores.values)
    cuts = np.searchsorted(rows.model, np.arange(1, len(scores.models)))
    samples = [np.unique(part, return_inverse=True) for part in np.split(rows.sample, cuts)]
    paired = all(np.array_equal(names, samples[0][0]) for names, _ in samples)
    numbers = [number for _, number in samples]
    return tuple(
        ClusteredScores.build(np.split(rows.values[:, code], cuts), numbers, paired=paired)
        for code in range(len(specs))
    )


def _inspect_tasks(scores: Scores, means: Rows, task_metrics: TaskMetrics) -> tuple[InspectedTask, ...]:
    """Return a summary of each task; empty if samples do not belong to tasks.

    `means` holds the scores averaged over repeats, and `task_metrics` the metric of each task.
    """
    samples = np.split(means.sample, np.searchsorted(means.model, np.arange(1, len(scores.models))))
    has_suite = scores.has_role("task") or bool(scores.options.task_weight)
    suite = build_suite(scores, scores.samples, samples, task_metrics) if has_suite else NO_SUITE
    if not suite:
        return ()
    names, valid = scores.names("task"), ~scores.invalid_mask()
    shape = (len(names), len(scores.models))
    counts = crosstab(scores.codes("task")[valid], scores.codes("model")[valid], shape)
    metrics = task_metrics or {}
    return tuple(
        InspectedTask(
            task=name,
            samples=size,
            weight=weight,
            metrics=(metrics[name].name,) if name in metrics else scores.metrics,
            fewest_scores=int(counts[names.index(name)].min()),
            most_scores=int(counts[names.index(name)].max()),
        )
        for name, size, weight in zip(suite.names, suite.sizes.tolist(), suite.weights.tolist(), strict=True)
    )


def _gap_errors(scores: Scores, specs: Specs, means: Rows, *, complete: bool) -> Iterable[RiskrankError]:
    """Yield errors about tasks without scores, repeated rows, missing scores and constant metrics.

    `means` holds the scores averaged over repeats. If the scores are `complete`, repeated and missing ones
    are not searched for.
    """
    if scores.options.missing == SHARED:
        scores = scores.with_options(missing="keep")
    scores = scores.noise_averaged
    absent = [*validate.incomplete_task_errors(scores)] or [*validate.incomplete_task_errors(scores, means)]
    yield from absent
    lenient = scores.with_options(missing="keep")
    repeated = [] if complete else _attempt(assemble_rows, lenient, lenient.values)[1]
    yield from repeated
    scores = scores.with_options(repeats="mean") if repeated else scores
    refusals: dict[str, RiskrankError] = {}
    # Different sample sets hide missing cells, which unpaired assembly reveals.
    paired_only = bool(scores.options.noise or scores.options.folds)
    for unpaired in () if complete else sorted({scores.options.unpaired, not paired_only}):
        for refusal in _attempt(assemble_rows, scores.with_options(unpaired=unpaired), scores.values)[1]:
            refusals.setdefault(refusal.problem, refusal)
    yield from () if absent else refusals.values()
    if not scores.options.allow_constant:
        yield from validate.constant_metric_errors(scores, means.values, specs)


def _undeclared_warnings(specs: Specs, options: ReadOptions) -> Iterable[str]:
    """Yield a warning if columns are assumed to be metrics only because they are numeric."""
    names = [spec.name for spec in specs if not spec.declared and spec.name not in options.metric]
    if options.wide and options.matrix is None and names:
        yield (
            f"assumed to be metrics where higher is better: {listing(names)}; {option('metric')} selects "
            f"metrics, {option('lower')} and {option('higher')} set their directions"
        )


def _rows_per_cell(scores: Scores) -> np.ndarray:
    """Return the number of rows for each combination of model, sample and metric, shape (cells,).

    Combinations without rows are omitted.
    """
    cell = scores.codes("model") * len(scores.samples) + scores.codes("sample")
    cell = cell * len(scores.metrics) + scores.codes("metric")
    possible = len(scores.models) * len(scores.samples) * len(scores.metrics)
    return np.bincount(unique_inverse(cell, possible)[1])


def _missing_counts(scores: Scores, specs: Specs, means: Rows, task_metrics: TaskMetrics) -> list[int]:
    """Return the number of missing or unusable scores on each metric.

    Repeats count once. Only samples of the tasks to which the metric applies are counted. `means` holds the
    scores averaged over repeats, and `task_metrics` the metric of each task.
    """
    present, all_samples = ~np.isnan(means.values), np.ones(len(scores.samples), dtype=bool)
    counts = []
    for code, spec in enumerate(specs):
        selected, column = all_samples, code
        if task_metrics is not None:
            tasks = [at for at, name in enumerate(scores.names("task")) if task_metrics.get(name) == spec]
            selected, column = np.isin(scores.task_of_samples(), tasks), 0
        rows = selected[means.sample]
        cells = rows.sum() if scores.options.unpaired else len(scores.models) * selected.sum()
        counts.append(int(cells - present[rows, column].sum()))
    return counts


def _describe_metric(scores: Scores, spec: MetricSpec, code: int, missing: int) -> MetricRow:
    """Return statistics of the usable scores on one metric.

    `code` is its index, and `missing` is the number of missing scores.
    """
    usable = scores.values[(scores.codes("metric") == code) & ~scores.invalid_mask()] + 0.0
    values, counts = np.unique(usable, return_counts=True)
    low, high = spec.bounds or (-np.inf, np.inf)
    n = usable.size
    # The last bit of a matrix product would depend on memory alignment.
    mean = float((values * counts).sum() / n) if n else math.nan
    return MetricRow(
        metric=spec.name,
        direction=spec.direction,
        declared=spec.declared,
        transform=spec.transform,
        scale=spec.scale,
        n=n,
        minimum=float(values[0]) if n else None,
        maximum=float(values[-1]) if n else None,
        mean=mean if math.isfinite(mean) else None,
        distinct=values.size,
        tied_share=float(counts[counts > 1].sum() / n) if n else 0.0,
        missing=missing,
        outside_bounds=int(np.count_nonzero((usable < low) | (usable > high))),
        constant=values.size == 1 and n > 1,
    )
