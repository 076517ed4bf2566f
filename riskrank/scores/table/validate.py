"""Find scores that cannot be used, and return an error that describes each problem."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.types import Integers
from riskrank.errors import InputError, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.scores.files import parsing
from riskrank.scores.files.query import exclude_values
from riskrank.scores.table.metric_checks import direction_errors, value_errors
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.rows import assemble_rows, missing_score_hint
from riskrank.scores.table.scores import Scores, crosstab

# Models and tasks listed in a message.
_MAX_NAMES = 4

_INVALID = {
    parsing.TEXT: (
        "is not a number",
        f"correct it, leave it empty if it is missing, or select other metrics with {option('metric')}",
    ),
    parsing.INFINITE: (
        "is infinite",
        "write a finite value; for an unfinished run, the amount used until then or the maximum, because "
        "excluding failed runs would favour models that fail",
    ),
    parsing.NOT_A_NUMBER: ("is NaN", ""),
}


def unusable_score_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield an error for each kind of unusable score, with the location of the first one."""
    options = scores.options
    yield from _too_few_models_errors(scores, options.min_models)
    yield from _invalid_score_errors(scores, nan_is_missing=options.missing != "error")
    yield from _too_large_errors(scores, options.largest)
    yield from _out_of_range_errors(scores, specs)
    yield from value_errors(scores, specs)
    if options.tests:
        yield from direction_errors(scores, specs)
    yield from _divided_sample_errors(scores, unpaired=options.unpaired)


def _invalid_score_errors(scores: Scores, *, nan_is_missing: bool) -> Iterator[InputError]:
    """Yield errors for text, infinite values and NaN among the scores."""
    for kind, (problem, hint) in _INVALID.items():
        if kind == parsing.NOT_A_NUMBER and nan_is_missing:
            continue
        mask = scores.states == kind
        if kind == parsing.TEXT and mask.any():
            hint = _text_hint(scores)
        for error in _first_error(scores, mask, problem, "", hint):
            yield _nan_error(scores, error) if kind == parsing.NOT_A_NUMBER else error


def _nan_error(scores: Scores, error: InputError) -> InputError:
    """Return the error for NaN scores, with the suggestions for missing scores."""
    rows, _ = assemble_rows(scores.with_options(missing="keep", repeats="mean"), scores.values)
    hint, suggestions = missing_score_hint(scores, rows)
    return InputError(error.problem, found=error.found, hint=hint, suggestions=suggestions)


def _text_hint(scores: Scores) -> str:
    """Return a hint for text among the scores.

    If all scores in a long table have the same number format, the hint is a query that converts them.
    """
    from riskrank.scores.table.written_numbers import conversion_hint, number_format

    columns = {file.roles.score for file in scores.notes.files}
    name = columns.pop()
    sources = [file.source for file in scores.notes.files]
    formats = {number_format(s.load([name])[name]) for s in sources} if name and not columns else {None}
    fmt = formats.pop()
    if name is None or fmt is None or formats:
        return _INVALID[parsing.TEXT][1]
    return conversion_hint(sources, {name: fmt})


def _too_large_errors(scores: Scores, largest: float) -> Iterator[InputError]:
    """Yield an error if a score exceeds, in absolute value, the limit of the command."""
    with np.errstate(invalid="ignore"):
        beyond = np.abs(scores.values) > largest
    hint = "leave it empty if it means missing, or use a larger unit"
    yield from _first_error(scores, beyond, "is too large to compute with", f"beyond {largest:g}", hint)


def _out_of_range_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield errors for scores outside the bounds of their metric, or outside the domain of its logarithm."""
    for code, spec in enumerate(specs):
        name, values = f"metric '{spec.name}'", scores.values
        if spec.bounds is not None:
            low, high = spec.bounds
            outside = (scores.codes("metric") == code) & ((values < low) | (values > high))
            hint = "correct the score, or the bounds in the metrics file"
            yield from _first_error(
                scores, outside, f"is outside the bounds of {name}", f"bounds [{low:g}, {high:g}]", hint
            )
        if spec.transform == "neg_log":
            problem = f"has no logarithm, but {name} has transform neg_log"
            hint = "add a small constant to all scores, or remove the transform"
            no_log = (scores.codes("metric") == code) & (values <= 0)
            yield from _first_error(scores, no_log, problem, "not a positive number", hint)


def incomplete_task_errors(scores: Scores, rows: Rows | None = None) -> Iterator[InputError]:
    """Yield an error if a model has no score on a task, or a task has too few samples for a variance.

    Parameters
    ----------
    scores : Scores
    rows : Rows, optional
        Rows that remain. If None, only scores missing from the input are reported.
    """
    if not scores.uses_tasks:
        return
    if rows is None:
        valid = ~scores.invalid_mask()
        model, task = scores.codes("model")[valid], scores.codes("task")[valid]
    else:
        model, task = rows.model, scores.task_of_samples()[rows.sample]
    shape = (len(scores.models), len(scores.names("task")))
    tasks = np.unique(scores.codes("task"))
    if tasks.size < 2:
        return
    counts = crosstab(model, task, shape)[:, tasks]
    yield from _absent_task_errors(scores, tasks, counts, dropped=rows is not None)
    if rows is not None and scores.options.weighs_tasks:
        _, at = np.unique(rows.model * len(scores.samples) + rows.sample, return_index=True)
        least = crosstab(rows.model[at], task[at], shape)[:, tasks].min(axis=0)
        if scores.notes.tasks_named or least.max() > 1:
            yield from _small_task_errors(scores, tasks, least)


def constant_metric_errors(
    scores: Scores, values: np.ndarray, specs: Sequence[MetricSpec]
) -> Iterator[InputError]:
    """Yield an error for each metric with only one distinct value.

    Parameters
    ----------
    scores : Scores
    values : ndarray of float64, shape (rows, m)
        Scores of all models; NaN is ignored.
    specs : sequence of MetricSpec
    """
    filled = [values[~np.isnan(values[:, code]), code] for code in range(len(specs))]
    constant = [scores.size > 1 and scores.min() == scores.max() for scores in filled]
    varying = [spec.name for spec, is_constant in zip(specs, constant, strict=True) if not is_constant]
    for code, spec in enumerate(specs):
        if constant[code]:
            first = int(np.flatnonzero((scores.codes("metric") == code) & ~scores.invalid_mask())[0])
            choices = " ".join(option("metric", name) for name in varying[:8])
            is_rounded = abs(scores.values[first]) >= parsing.EXACT
            advice = "numbers beyond 2^53 are rounded: subtract a constant, or " if is_rounded else ""
            yield InputError(
                f"{scores.file_names()}: metric '{spec.name}' is constant and cannot separate the models",
                found=f"{scores.values[first]:g} for every model and sample",
                hint=f"ignore it: {choices}" if varying else f"{advice}score the models with another metric",
            )


def _divided_sample_errors(scores: Scores, *, unpaired: bool) -> Iterator[InputError]:
    """Yield an error if a sample belongs to two clusters or two groups.

    Samples of unpaired models are different samples, even if they have the same name.
    """
    for role in filter(scores.has_role, ("cluster", "group")):
        codes, key = scores.codes(role), scores.codes("sample")
        if unpaired:
            key += scores.codes("model") * len(scores.samples)
        order = np.argsort(key, kind="stable")
        first = order[np.searchsorted(key[order], key)]
        at = np.flatnonzero(codes[first] != codes)
        if at.size:
            entry, earlier = int(at[0]), int(first[at[0]])
            names = [scores.frame[role][row] for row in (earlier, entry)]
            yield InputError(
                f"{scores.location(entry)}: sample '{scores.frame['sample'][entry]}' belongs to two {role}s",
                found=f"'{names[1]}' here and '{names[0]}' {scores.relative_location(earlier, entry)}",
                hint=f"each sample needs one {role}, the same for all models: correct the column, or "
                f"use different sample names in each {role}",
            )


def _too_few_models_errors(scores: Scores, least: int) -> Iterator[InputError]:
    """Yield an error if there are fewer models than required."""
    if len(scores.models) < least:
        count = f"{len(scores.models)} model: {listing(scores.models)}"
        detail = "; ".join([count, *scores.notes.warnings[:3]])
        select = f"select more with {option('models')}"
        hint = f"add the scores of another model (several files can be given), or {select}"
        problem = f"{scores.file_names()}: a comparison needs at least {least} models"
        yield InputError(problem, found=detail, hint=hint)


def _first_error(
    scores: Scores, mask: np.ndarray, problem: str, reason: str, hint: str
) -> Iterator[InputError]:
    """Yield an error for the first of the selected scores, if there is any.

    Parameters
    ----------
    scores : Scores
    mask : ndarray of bool
        Scores that cannot be used.
    problem : str
        Description of the problem, as the end of a sentence that begins "the score …".
    reason : str
        Detail that follows the value; if empty, the value is quoted as written in the file.
    hint : str
    """
    if not mask.any():
        return
    first, count = int(np.argmax(mask)), scores.count_rows(mask)
    # Show numbers as parsed and other values as written.
    text = repr(float(scores.values[first])) if reason else repr(scores.cell_text(first))
    more = f"; {count:,} such scores in total" if count > 1 else ""
    detail = f"{text} for {scores.cell_name(first)}{', ' * bool(reason)}{reason}{more}"
    yield InputError(f"{scores.location(first)}: the score {problem}", found=detail, hint=hint)


def _absent_task_errors(
    scores: Scores, codes: Integers, counts: Integers, *, dropped: bool
) -> Iterator[InputError]:
    """Yield an error for models without any score on a task."""
    gaps = np.argwhere(counts == 0)
    if not gaps.size:
        return
    names = scores.names("task")
    pairs = [(scores.models[model], names[codes[task]]) for model, task in gaps.tolist()]
    first_model, first_task = pairs[0]
    complete = [name for name, row in zip(scores.models, counts, strict=True) if row.all()]
    tasks = list(dict.fromkeys(task for _, task in pairs))
    suggestions = []
    if len(complete) > 1:
        suggestions.append(f"{option('models', join_commas(complete))} compares the models with all tasks")
    if len(tasks) < codes.size:
        suggestions.append(f"{_exclusion_option(scores, tasks)} compares on the other tasks")
    missing = f"task '{first_task}' has no complete samples"
    problem = missing if dropped else f"model '{first_model}' has no scores on task '{first_task}'"
    empty = listing((f"{model} has no {task}" for model, task in pairs), _MAX_NAMES)
    detail = f"{len(pairs)} of {counts.size:,} pairs of model and task have no scores: {empty}"
    hint = "; ".join(suggestions) or f"{option('task', 'none')} pools the samples of all tasks"
    yield InputError(f"{scores.file_names()}: {problem}", found=detail, hint=hint)


def _small_task_errors(scores: Scores, tasks: Integers, units: Integers) -> Iterator[InputError]:
    """Yield an error for tasks with fewer than two samples."""
    names = scores.names("task")
    small = [names[task] for task, count in zip(tasks.tolist(), units.tolist(), strict=True) if count < 2]
    if small:
        yield InputError(
            f"{scores.file_names()}: {'a task has' if len(small) == 1 else 'tasks have'} "
            "only one sample, so the spread is unknown",
            found=f"{listing(small)}, of {len(units)} tasks",
            hint=f"exclude {'it' if len(small) == 1 else 'them'}: {_exclusion_option(scores, small)}; "
            f"or {option('task', 'none')} pools the samples of all tasks"
            if len(small) < len(units)
            else f"{option('task', 'none')} ignores the tasks",
        )


def _exclusion_option(scores: Scores, names: Sequence[str]) -> str:
    """Return the option that excludes some tasks."""
    column = str(scores.notes.files[0].roles.task)
    return option("where", exclude_values(column, names, scores.names("task"), scores.options.where))
