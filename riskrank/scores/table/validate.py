"""Find scores and metrics that cannot be used, and return an error that describes each problem."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import UNTESTED, InputError, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.options.values import directed_metrics
from riskrank.scores.files import parsing
from riskrank.scores.files.query import exclude_values, quote_column, quote_text
from riskrank.scores.names import directions
from riskrank.scores.names.vocabulary import has_word, is_task_name, vocabulary
from riskrank.scores.table.comparability import direction_by_value_errors, incomparable_score_errors
from riskrank.scores.table.metric_specs import MetricSpec, bounds_hint
from riskrank.scores.table.missing_reasons import (
    code_fixes,
    describe_missing_status,
    drop_advice,
    worst_score_fix,
)
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.rows import assemble_rows, missing_score_hint
from riskrank.scores.table.scores import Fixes, Scores, crosstab, edit_query, status_columns
from riskrank.scores.table.written_numbers import conversion_hint, number_format

# Models and tasks listed in a message.
_MAX_NAMES = 4

# Part of the message about a table with a single model, which supports claims about levels.
FEW_MODELS = "a comparison needs at least"

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
    """Yield an error for each kind of score that cannot be used, such as text or infinity.

    Each error states the location of the first such score.
    """
    options = scores.options
    if (k := len(scores.models)) < options.min_models:
        yield InputError(
            f"{scores.file_names()}: {FEW_MODELS} {options.min_models} models",
            found="; ".join([f"{k} model: {listing(scores.models)}", *scores.notes.warnings[:3]]),
            hint="add the scores of another model (several files can be given), or select more with "
            f"{option('models')}; riskrank gate {option('at_least', 'NUMBER')} tests one model",
            suggestions=[(UNTESTED, None)] if options.tests and scores.models else [],
        )
    yield from _invalid_score_errors(scores, nan_is_missing=options.missing != "error")
    with np.errstate(invalid="ignore"):
        beyond = np.abs(scores.values) > options.largest
    hint = "leave it empty if it means missing, or use a larger unit"
    reason = f"beyond {options.largest:g}"
    yield from _first_error(scores, beyond, "is too large to compute with", reason, hint)
    yield from _out_of_range_errors(scores, specs)
    yield from value_errors(scores, specs)
    if options.tests:
        used = [spec for spec in specs if spec.name in directed_metrics(options.statistics)]
        yield from direction_errors(scores, used or specs)
        yield from incomparable_score_errors(scores, specs)
    yield from _divided_sample_errors(scores, unpaired=options.unpaired)


def _invalid_score_errors(scores: Scores, *, nan_is_missing: bool) -> Iterator[InputError]:
    """Yield errors for text, infinite values and NaN among the scores.

    If `nan_is_missing`, NaN is accepted.
    """
    for kind, (problem, hint) in _INVALID.items():
        mask, fixes = scores.states == kind, Fixes()
        if not mask.any() or (kind == parsing.NOT_A_NUMBER and nan_is_missing):
            continue
        if kind == parsing.TEXT:
            hint, fixes = _text_hint(scores), code_fixes(scores, mask)
        if kind == parsing.INFINITE:
            invalid = {*np.unique(scores.codes("metric")[mask]).tolist()}
            finite = tuple(name for code, name in enumerate(scores.metrics) if code not in invalid)
            flags = " ".join(option("metric", name) for name in finite)
            fixes += [(flags, {"metric": finite})] if finite else []
        if kind == parsing.NOT_A_NUMBER:
            rows, _ = assemble_rows(scores.with_options(missing="keep", repeats="mean"), scores.values)
            hint, fixes = missing_score_hint(scores, rows)
        yield from _first_error(scores, mask, problem, "", hint, fixes)


def _text_hint(scores: Scores) -> str:
    """Return a hint for text among the scores.

    If all scores in a long table have the same number format, the hint is a query that converts them.
    """
    columns = {file.roles.score for file in scores.notes.files}
    name = columns.pop()
    sources = [file.source for file in scores.notes.files]
    formats = {number_format(s.load([name])[name]) for s in sources} if name and not columns else {None}
    fmt = formats.pop()
    if name is None or fmt is None or formats:
        return _INVALID[parsing.TEXT][1]
    return conversion_hint(sources, {name: fmt})


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
        names = scores.names("task")
        small = [names[task] for task, count in zip(tasks.tolist(), least.tolist(), strict=True) if count < 2]
        if small and (scores.notes.tasks_named or least.max() > 1):
            yield _small_task_error(scores, small, len(tasks))


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
    """Yield an error if rows assign a sample to two clusters or two groups.

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


def _first_error(
    scores: Scores, mask: np.ndarray, problem: str, reason: str, hint: str, fixes: Fixes | None = None
) -> Iterator[InputError]:
    """Yield an error about the first of the scores in a mask, if there is any.

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
    fixes : Fixes, optional
    """
    if not mask.any():
        return
    # The files state a model property once, whereas it is repeated here for each sample.
    first, count = int(np.argmax(mask)), scores.frame.select("row", "metric").filter(mask).n_unique()
    # Show numbers as parsed and other values as written.
    text = repr(float(scores.values[first])) if reason else repr(scores.cell_text(first))
    more = f"; {count:,} such scores in total" if count > 1 else ""
    detail = f"{text} for {scores.cell_name(first)}{', ' * bool(reason)}{reason}{more}"
    problem = f"{scores.location(first)}: the score {problem}"
    yield InputError(problem, found=detail, hint=hint, suggestions=fixes or ())


def _absent_task_errors(
    scores: Scores, codes: Integers, counts: Integers, *, dropped: bool
) -> Iterator[InputError]:
    """Yield an error for models without any score on a task.

    Parameters
    ----------
    scores : Scores
    codes : ndarray of int, shape (tasks,)
        Tasks to check.
    counts : ndarray of int, shape (models, tasks)
        Number of scores of each model on each of these tasks.
    dropped : bool
        Whether incomplete samples have been excluded.
    """
    gaps = np.argwhere(counts == 0)
    if not gaps.size:
        return
    names = scores.names("task")
    pairs = [(scores.models[model], names[codes[task]]) for model, task in gaps.tolist()]
    complete = [name for name, row in zip(scores.models, counts, strict=True) if row.all()]
    tasks = list(dict.fromkeys(task for _, task in pairs))
    suggestions, fixes = [], Fixes()
    grouped = scores.options.group_by in {file.roles.task for file in scores.notes.files} - {None}
    noun = "group" if grouped else "task"
    trivial = [name for name in complete for word in vocabulary("trivial") if word in name.casefold()]
    if trivial and not dropped:
        suggestions.append(f"{option('missing', trivial[0])} replaces failures by the scores of that model")
        fixes.append(("", {"missing": trivial[0]}))
    if len(complete) > 1:
        suggestions.append(f"{option('models', join_commas(complete))} compares the models with all tasks")
        fixes.append(("", {"models": tuple(complete)}))
    if len(tasks) < codes.size:
        where = _exclude_tasks(scores, tasks)
        suggestions.append(f"{option('where', where)} compares on the other {noun}s")
        fixes.append(("", {"where": where}))
    model, task = pairs[0]
    problem = f"model '{model}' has no scores {'in' if grouped else 'on'} {noun} '{task}'"
    problem = f"{noun} '{task}' has no complete samples" if dropped else problem
    empty = listing((f"{model} has no {task}" for model, task in pairs), _MAX_NAMES)
    detail = f"{len(pairs)} of {counts.size:,} pairs of model and {noun} have no scores: {empty}"
    detail += "" if dropped else f"; {describe_missing_status(scores)[0]}".rstrip("; ")
    fixes.append(("", {"task": "none"}))
    meaning = "counts its samples as missing" if grouped else "pools the samples of all tasks"
    suggestions += [f"{option('task', 'none')} {meaning}"] if grouped or not suggestions else []
    hint = "; ".join(suggestions)
    yield InputError(f"{scores.file_names()}: {problem}", found=detail, hint=hint, suggestions=fixes)


def _small_task_error(scores: Scores, small: Sequence[str], n_tasks: int) -> InputError:
    """Return the error for tasks with fewer than two samples.

    `small` names them; `n_tasks` counts all tasks.
    """
    has, them = ("a task has", "it") if len(small) == 1 else ("tasks have", "them")
    hint, fixes = f"{option('task', 'none')} pools the samples of all tasks", [("", {"task": "none"})]
    if len(small) < n_tasks:
        where = _exclude_tasks(scores, small)
        hint, fixes = f"exclude {them}: {option('where', where)}; or {hint}", [("", {"where": where}), *fixes]
    problem = f"{scores.file_names()}: {has} only one sample, so the spread is unknown"
    return InputError(problem, found=f"{listing(small)}, of {n_tasks} tasks", hint=hint, suggestions=fixes)


def _exclude_tasks(scores: Scores, names: Sequence[str]) -> str:
    """Return an SQL condition that excludes the named tasks, joined with the user's condition."""
    files, where = scores.notes.files, scores.options.where
    return exclude_values(str(files[0].roles.task), names, scores.names("task"), where)


_MAX_METRICS = 100
# Largest rating in whole or half steps.
_MAX_RATING = 10
# Fractions are not larger than this; percentages are larger by a factor in this range.
_SURELY_PERCENT, _FACTOR = 1.5, (25.0, 400.0)


class UndeclaredDirectionError(InputError):
    """Error for metrics with an undeclared direction and names or values consistent with both."""


def value_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield errors about suspicious values of a metric.

    Some values may be codes for missing scores. Others may be percentages among fractions.
    """
    yield from failure_zero_errors(scores, specs)
    metric, valid = scores.codes("metric"), ~scores.invalid_mask()
    for code, spec in enumerate(specs):
        if spec.bounds is not None or spec.transform != "none":
            continue
        on_metric = valid & (metric == code)
        values = scores.values[on_metric]
        if not values.size:
            continue
        yield from missing_code_errors(scores, spec, on_metric)
        # The overall range settles most metrics and costs less than the range of each model.
        if values.min() < 0 or values.max() <= _SURELY_PERCENT or directions.looks_like_an_amount(spec.name):
            continue
        model = scores.codes("model")[on_metric]
        low, high = np.full(len(scores.models), np.inf), np.full(len(scores.models), -np.inf)
        np.minimum.at(low, model, values)
        np.maximum.at(high, model, values)
        used = np.isfinite(high)
        if values.size <= np.count_nonzero(used):  # a single score per model does not reveal its unit
            continue
        shares, percent = used & (high <= _SURELY_PERCENT), used & (high > _SURELY_PERCENT) & (high <= 100)
        binary = set(high[used].tolist()) == {1.0, 100.0}
        if not (shares.any() and percent.any()):
            continue
        # Scores in percent have about 100 times the mean of scores in fractions.
        means = [float(values[unit[model]].mean()) for unit in (percent, shares)]
        hundredfold = means[1] > 0 and _FACTOR[0] <= means[0] / means[1] <= _FACTOR[1]
        if binary or (hundredfold and low[percent].min() > high[shares].max()):
            first, second = (scores.models[int(np.argmax(mask))] for mask in (percent, shares))
            percent_max, share_max = (f"{high[int(np.argmax(mask))]:g}" for mask in (percent, shares))
            yield InputError(
                f"{scores.file_names()}: scores of {spec.name} mix percentages and fractions",
                found=f"the maximum is {percent_max} for {first} and {share_max} for {second}",
                hint=f"use one unit; if the scores are right, set [{spec.name}] bounds = [0, 100] in a file, "
                f"{option('metrics_file', 'FILE.toml')}",
                suggestions=_rescale_percents(scores, on_metric, percent),
            )


def _rescale_percents(scores: Scores, on_metric: Booleans, percent: Booleans) -> list[tuple[str, object]]:
    """Return a suggestion that divides the scores of models in percent by 100; empty if impossible.

    `on_metric` is a mask of the rows of the metric, and `percent` a mask of these models.
    """
    column, change = scores.notes.files[0].roles.model, "{0} / 100"
    if scores.options.sql is not None or (column is None and scores.options.matrix is None):
        return []
    if column is not None:
        names = ", ".join(quote_text(scores.models[model]) for model in np.flatnonzero(percent))
        change = f"CASE WHEN {quote_column(column)} IN ({names}) THEN {change} ELSE {{0}} END"
    return [("", {"sql": edit_query(scores, on_metric & percent[scores.codes("model")], change)})]


def direction_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield errors about metrics whose direction is unknown.

    It is not declared, and both directions fit the name and the values.
    """
    undeclared = [spec.name for spec in specs if not spec.declared and spec.transform == "none"]
    # Beyond this number, only the names are examined.
    examined = undeclared[:_MAX_METRICS]
    metric, valid = scores.codes("metric"), ~scores.invalid_mask()
    issues: dict[str, _Ambiguity] = {}
    for name in undeclared:
        on_metric = valid & (metric == scores.metrics.index(name)) if name in examined else np.zeros(0, bool)
        values = scores.values[on_metric] if name in examined else np.zeros(0)
        negated = name.startswith("neg_") and values.size and values.max() <= 0  # as in scikit-learn
        if not negated and (issue := _ambiguity(scores, name, values)) is not None:
            issues[name] = issue
        if values.size:
            yield from direction_by_value_errors(scores, name, on_metric)
    if not issues:
        return
    fixes = _direction_choices([*issues], {name for name, issue in issues.items() if issue.lower})
    hint = f"set {' or '.join(way for way, _ in fixes)}"
    if all(issue.unknowable for issue in issues.values()):  # choosing between two directions would be a guess
        fixes = []
        lower, higher = (option(way, join_commas(issues)) for way in ("lower", "higher"))
        hint = f"look up its definition, then set {lower} or {higher}"
    clear = tuple(spec.name for spec in specs if spec.name not in issues)
    named = (directions.is_metric_name(name) or directions.has_uncertain_direction(name) for name in issues)
    if len(clear) >= len(issues) and not any(named) and not scores.notes.requested.metric:
        fixes.insert(0, ("", {"metric": clear}))
        it = "it" if len(issues) == 1 else "them"
        hint = f"{hint}; or leave {it} out by naming the others with {option('metric')}"
    reasons = [f"; {issue.reason}" for issue in issues.values() if issue.reason]
    summary = f"no direction is declared{reasons[-1] if reasons else ', and the name fits both directions'}"
    message = f"unknown direction of {listing(issues)}: lower or higher may be better"
    yield UndeclaredDirectionError(message, found=summary, hint=hint, suggestions=fixes)


@dataclass(frozen=True)
class _Ambiguity:
    """Ambiguity in the direction of a metric.

    Attributes
    ----------
    reason : str
        Explanation for messages.
    lower : bool
        True if lower values are more likely to be better.
    unknowable : bool
        True if neither the name nor the values suggest a direction.
    """

    reason: str
    lower: bool = False
    unknowable: bool = False


def _ambiguity(scores: Scores, name: str, values: Floats) -> _Ambiguity | None:
    """Return why the direction of a metric is uncertain, or None if it is clear.

    `name` and `values` are its name and its scores; without values, only the name is examined.
    """
    # File names often state the topic, not the metric: spam_filter, crash_reports.
    by_file = name == scores.options.matrix and scores.notes.requested.matrix is None
    is_topic = by_file and directions.looks_like_a_cost(name) and np.isin(values, (0, 1)).all()
    if directions.has_uncertain_direction(name) or is_topic:
        reason = f"only the file has this name, and {name} may be its topic" if by_file else ""
        is_unknowable = by_file or directions.is_ambiguous_name(name)
        return _Ambiguity(reason, directions.lower_is_likelier(name), is_unknowable)
    if has_word(name, "marks") and values.size and values.min() >= 1 and values.max() <= 6:
        reason = f"{name} looks like school marks from 1 to 6, where 1 is the best or the worst mark"
        return _Ambiguity(reason, "Note" in name or "note" in name[1:])
    all_negative = values.size > 0 and values.max() <= 0 and values.min() < 0
    if all_negative and directions.clearly_lower_is_better(name):
        return _Ambiguity(f"{name} is named like an error, but no value is above 0")
    if directions.is_metric_name(name):
        return None
    if directions.looks_like_errors(values):
        return _Ambiguity(f"{name} is distributed like an error or an amount", lower=True)
    # Users who named the columns know that higher is better by default.
    if scores.notes.resolved == scores.notes.requested or not ((values < 0).any() or (values > 1).any()):
        return None
    # Higher human ratings mean better.
    ratings = ((values >= 0) & (values <= _MAX_RATING) & (2 * values % 1 == 0)).all()
    is_higher = any(map(directions.clearly_higher_is_better, scores.metrics))
    is_higher = is_higher or has_word(name, "human", "automatic")
    are_tasks = 2 * sum(map(is_task_name, scores.metrics)) > len(scores.metrics)
    return None if are_tasks else _Ambiguity("", unknowable=not (ratings or is_higher))


def _direction_choices(
    metrics: Sequence[str], likely: set[str]
) -> list[tuple[str, dict[str, tuple[str, ...]]]]:
    """Return the possible declarations of the metrics' directions, the most likely first.

    `likely` holds the metrics for which lower is probably better. Each choice consists of the options as text
    and the corresponding changes of the options.
    """
    choices = []
    for lower in dict.fromkeys((frozenset(likely), frozenset(metrics), frozenset[str]())):
        parts = {
            "lower": tuple(name for name in metrics if name in lower),
            "higher": tuple(name for name in metrics if name not in lower),
        }
        change = {direction: names for direction, names in parts.items() if names}
        flags = (option(direction, join_commas(names)) for direction, names in change.items())
        choices.append((" ".join(flags), change))
    return choices


# Numbers that programs write for missing scores.
_CODES = {-1.0, *(sign * number for number in (99, 999, 9999, 99999, 999999) for sign in (1.0, -1.0)), -9.0}
# Minimum ratio of a code to all other scores, and minimum number of other scores.
_CODE_DISTANCE, _MIN_SCORES = 5.0, 8
# Minimum share of zeros; a smaller share cannot change a result.
_MIN_ZERO_SHARE = 0.02


def missing_code_errors(scores: Scores, spec: MetricSpec, on_metric: Booleans) -> Iterator[InputError]:
    """Yield an error if the smallest or largest score looks like a code for a missing score.

    Parameters
    ----------
    scores : Scores
    spec : MetricSpec
    on_metric : ndarray of bool, shape (rows,)
        Mask of the scores on the metric.
    """
    values = scores.values[on_metric]
    for code in {float(values.min()), float(values.max())} & _CODES:
        remaining = values[values != code]
        if remaining.size < max(_MIN_SCORES, values.size / 2) or not _is_code(code, remaining, spec.name):
            continue
        mask = on_metric & (scores.values == code)
        low, high = float(remaining.min()), float(remaining.max())
        text = f"{'is' if mask.sum() == 1 else 'are'} {code:g}, a common code for a missing score"
        change = edit_query(scores, mask, f"NULLIF({{0}}, {code:g})")
        bounds = f"[{min(low, code):g}, {max(high, code):g}]"
        yield _code_error(scores, mask, (text, f"all other scores are {low:g} to {high:g}"), change, bounds)


def failure_zero_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield errors about metrics that are 0 on all samples that were never run.

    A rate limit, for example, may prevent a run. Zeros of runs that failed or timed out are valid scores.
    """
    metric, valid = scores.codes("metric"), ~scores.invalid_mask()
    for column, status in status_columns(scores):
        states = [state for state in sorted(status.unique()) if has_word(state, "unasked")]
        unasked = valid & status.is_in(states).to_numpy()[scores.frame["row"].to_numpy()]
        mask = np.zeros_like(unasked)
        for code in (code for code, spec in enumerate(specs) if spec.bounds is None):
            of_metric = metric == code
            zeros, remaining = (scores.values[of_metric & rows] for rows in (unasked, valid & ~unasked))
            enough = 0 < remaining.size * _MIN_ZERO_SHARE < zeros.size and not zeros.any()
            mask |= of_metric & unasked & bool(enough and np.ptp(remaining) > 0)
        if mask.any():
            names = ", ".join(map(quote_text, states))
            change = f"CASE WHEN {quote_column(column)} NOT IN ({names}) THEN {{0}} END"
            text = f"{'is' if mask.sum() == 1 else 'are'} 0 where {column} is {listing(states)}"
            note, change = "0 may mean that there was no answer", edit_query(scores, mask, change)
            yield _code_error(scores, mask, (text, note), change)


def _code_error(
    scores: Scores, mask: Booleans, text: tuple[str, str], sql: str, bounds: str = "[0, 1]"
) -> InputError:
    """Return the error for scores that may be codes for missing ones.

    Parameters
    ----------
    scores : Scores
    mask : ndarray of bool
        The questionable scores.
    text : tuple of (str, str)
        Description of these scores, and of the evidence.
    sql : str
        Query that removes these scores.
    bounds : str
        Bounds that would declare them valid, as TOML.
    """
    size = int(np.count_nonzero(mask))
    names = [scores.metrics[code] for code in np.unique(scores.codes("metric")[mask])]
    models = np.bincount(scores.codes("model")[mask], minlength=len(scores.models)).tolist()
    by_model = (f"{name} has {n:,}" for name, n in zip(scores.models, models, strict=True) if n)
    drop = drop_advice(scores, np.unique(scores.codes("sample")[mask]).size)
    query: dict[str, object] = {"sql": sql}
    dropped: Fixes = [("", query | dict(changes)) for _, changes in drop.fixes]  # type: ignore[call-overload]
    # It is unclear whether the scores are missing, and how bad they are: dropping comes before imputing.
    fixes: Fixes = [("", query), *dropped, worst_score_fix(scores, mask, **query)]
    return InputError(
        f"{scores.file_names()}: {size:,} {'score' if size == 1 else 'scores'} of {listing(names)} {text[0]}",
        found=f"{listing(by_model, 4)}; {text[1]}",
        hint=f"if it means missing, {drop.hint}; {option('missing', 'worst')} counts each as the worst "
        f"possible score; if it is a score, {bounds_hint(names[0], bounds, scores.options.metrics_file)}",
        suggestions=fixes if scores.options.sql is None else [],
    )


def _is_code(code: float, values: Floats, name: str) -> bool:
    """Return True if `code` is too far from the other values of a metric to be an ordinary score.

    `values` are the other scores, and `name` is the metric.
    """
    low, high = float(values.min()), float(values.max())
    if code > 0 or low < 0:
        return abs(code) > _CODE_DISTANCE * max(abs(low), abs(high))
    if has_word(name, "signed"):
        return abs(code) > _CODE_DISTANCE * max(high, 1.0)
    if code < -1:
        return True
    # −1 may be a third answer alongside 0 and 1, but not among booleans, fractions or positive numbers.
    return has_word(name, "truths") or bool((values != np.round(values)).any()) or low > 0
