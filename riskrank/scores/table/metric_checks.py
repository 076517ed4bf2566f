"""Checks for metrics with questionable values, units or directions, which could reverse a conclusion.

They also detect numbers that represent missing scores: codes such as −1, and zeros for runs that failed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.scores.files.query import quote_column, quote_text
from riskrank.scores.names.directions import (
    clearly_higher_is_better,
    has_both_signs,
    has_uncertain_direction,
    is_ambiguous_name,
    looks_like_a_cost,
    looks_like_an_amount,
    looks_like_errors,
    looks_like_negated_errors,
    looks_like_school_marks,
    lower_is_likelier,
    names_a_metric,
)
from riskrank.scores.names.vocabulary import has_word, names_tasks
from riskrank.scores.table.metric_specs import MetricSpec, bounds_hint
from riskrank.scores.table.scores import Scores, status_columns

_MAX_METRICS = 100
# Largest rating in whole or half steps.
_MAX_RATING = 10
# Fractions are not larger than this; percentages are larger by a factor in this range.
_SURELY_PERCENT, _FACTOR = 1.5, (25.0, 400.0)


class UndeclaredDirectionError(InputError):
    """Error for metrics with an undeclared direction and names or values consistent with both."""


def value_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield errors about codes for missing scores, and metrics that mix percentages with fractions."""
    yield from failure_zero_errors(scores, specs)
    metric, valid = scores.codes("metric"), ~scores.invalid_mask()
    for code, spec in enumerate(specs):
        if spec.bounds is not None or spec.transform != "none":
            continue
        of_metric = valid & (metric == code)
        values = scores.values[of_metric]
        if not values.size:
            continue
        yield from missing_code_errors(scores, spec, of_metric)
        # The overall range settles most metrics and costs less than the range of each model.
        if values.min() < 0 or values.max() <= _SURELY_PERCENT or looks_like_an_amount(spec.name):
            continue
        model = scores.codes("model")[of_metric]
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
        far = low[percent].min() > high[shares].max() and _is_hundredfold(scores, of_metric, shares, percent)
        if binary or far:
            first, second = (scores.models[int(np.argmax(mask))] for mask in (percent, shares))
            percent_max, share_max = (f"{high[int(np.argmax(mask))]:g}" for mask in (percent, shares))
            yield InputError(
                f"{scores.file_names()}: scores of {spec.name} mix percentages and fractions",
                found=f"the maximum is {percent_max} for {first} and {share_max} for {second}",
                hint=f"use one unit; if the scores are right, set [{spec.name}] bounds = [0, 100] in a file, "
                f"{option('metrics_file', 'FILE.toml')}",
                suggestions=_one_unit(scores, of_metric, percent),
            )


def _one_unit(scores: Scores, of_metric: Booleans, percent: Booleans) -> list[tuple[str, object]]:
    """Return the query that divides the percentages of some models by 100."""
    column, change = scores.notes.files[0].roles.model, "{0} / 100"
    if scores.options.sql is not None or (column is None and scores.options.matrix is None):
        return []
    if column is not None:
        names = ", ".join(quote_text(scores.models[model]) for model in np.flatnonzero(percent))
        change = f"CASE WHEN {quote_column(column)} IN ({names}) THEN {change} ELSE {{0}} END"
    return [("", {"sql": edit_query(scores, of_metric & percent[scores.codes("model")], change)})]


def _is_hundredfold(scores: Scores, rows: np.ndarray, shares: np.ndarray, percent: np.ndarray) -> bool:
    """Return True if scores in percent have about 100 times the mean of scores in fractions.

    The two means are taken over the models that use each unit.
    """
    model = scores.codes("model")
    means = [float(scores.values[rows & mask[model]].mean()) for mask in (percent, shares)]
    return means[1] > 0 and _FACTOR[0] <= means[0] / means[1] <= _FACTOR[1]


def direction_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield errors about metrics with an undeclared direction and names or values consistent with both."""
    undeclared = [spec.name for spec in specs if not spec.declared and spec.transform == "none"]
    # Beyond this number, only the names are examined.
    examined = undeclared[:_MAX_METRICS]
    metric, valid = scores.codes("metric"), ~scores.invalid_mask()
    issues: dict[str, _Ambiguity] = {}
    for name in undeclared:
        of_metric = valid & (metric == scores.metrics.index(name)) if name in examined else np.zeros(0, bool)
        values = scores.values[of_metric] if name in examined else np.zeros(0)
        if (issue := _ambiguity(scores, name, values)) is not None:
            issues[name] = issue
        if has_word(name, "off") and has_both_signs(values):
            yield _signed_metric_error(scores, name, of_metric)
    if not issues:
        return
    fixes = _direction_choices([*issues], {name for name, issue in issues.items() if issue.lower})
    hint = f"set {' or '.join(way for way, _ in fixes)}"
    if all(issue.unknowable for issue in issues.values()):  # choosing between two directions would be a guess
        fixes = []
        hint = f"look up its definition, then set {option('lower', 'NAME')} or {option('higher', 'NAME')}"
    clear = tuple(spec.name for spec in specs if spec.name not in issues)
    unnamed = not any(names_a_metric(name) or has_uncertain_direction(name) for name in issues)
    if len(clear) >= len(issues) and unnamed and not scores.notes.requested.metric:
        fixes.insert(0, ("", {"metric": clear}))
        hint = f"{hint}; or leave {'it' if len(issues) == 1 else 'them'} out, as in the first line"
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
    """Return the ambiguity in the direction of an undeclared metric, or None if there is none."""
    # File names often state the topic, not the metric: spam_filter, crash_reports.
    by_file = name == scores.options.matrix and scores.notes.requested.matrix is None
    if has_uncertain_direction(name) or (
        by_file and looks_like_a_cost(name) and np.isin(values, (0, 1)).all()
    ):
        reason = f"only the file has this name, and {name} may be its topic" if by_file else ""
        return _Ambiguity(reason, lower_is_likelier(name), by_file or is_ambiguous_name(name))
    if looks_like_school_marks(name, values):
        reason = f"{name} looks like school marks from 1 to 6, where 1 is the best or the worst mark"
        return _Ambiguity(reason, "Note" in name or "note" in name[1:])
    if looks_like_negated_errors(name, values):
        return _Ambiguity(f"{name} is named like an error, but no value is above 0")
    if names_a_metric(name):
        return None
    if looks_like_errors(values):
        return _Ambiguity(f"{name} is distributed like an error or an amount", lower=True)
    # Users who named the columns know that higher is better by default.
    if scores.notes.resolved == scores.notes.requested or not ((values < 0).any() or (values > 1).any()):
        return None
    # Higher human ratings mean better.
    ratings = ((values >= 0) & (values <= _MAX_RATING) & (2 * values % 1 == 0)).all()
    is_higher = has_word(name, "human", "automatic") or any(map(clearly_higher_is_better, scores.metrics))
    are_tasks = 2 * sum(map(names_tasks, scores.metrics)) > len(scores.metrics)
    return None if are_tasks else _Ambiguity("", unknowable=not (ratings or is_higher))


def _direction_choices(
    metrics: Sequence[str], likely: set[str]
) -> list[tuple[str, dict[str, tuple[str, ...]]]]:
    """Return options that declare directions, the most likely first.

    Each choice consists of the options as text and the corresponding changes of the options.
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


def _signed_metric_error(scores: Scores, name: str, of_metric: Booleans) -> InputError:
    """Return the error for a metric of signed errors, for which values near 0 are best."""
    query = edit_query(scores, of_metric, "ABS({0})")
    values = scores.values[of_metric]
    negative = int(np.count_nonzero(values < 0))
    return InputError(
        f"{scores.file_names()}: {name} has positive and negative values, and values near 0 are best",
        found=f"{negative:,} of {values.size:,} values below 0, range {values.min():g} to {values.max():g}",
        hint=f"use absolute values; if the smallest values are best, {option('lower', name)}",
        suggestions=[("", {"sql": query, "lower": (*scores.options.lower, name)})]
        if scores.options.sql is None
        else [],
    )


# Numbers that programs write for missing scores.
_CODES = {-1.0, *(sign * number for number in (99, 999, 9999, 99999, 999999) for sign in (1.0, -1.0)), -9.0}
# Minimum ratio of a code to all other scores, and minimum number of other scores.
_CODE_DISTANCE, _MIN_SCORES = 5.0, 8
# Minimum share of zeros; a smaller share cannot change a result.
_MIN_ZERO_SHARE = 0.02


def missing_code_errors(scores: Scores, spec: MetricSpec, of_metric: Booleans) -> Iterator[InputError]:
    """Yield an error if the minimum or maximum of a metric is a code far from all other values.

    Parameters
    ----------
    scores : Scores
    spec : MetricSpec
    of_metric : ndarray of bool, shape (rows,)
        Mask of the scores on the metric.
    """
    values = scores.values[of_metric]
    for code in {float(values.min()), float(values.max())} & _CODES:
        remaining = values[values != code]
        if remaining.size < max(_MIN_SCORES, values.size / 2) or not _is_code(code, remaining, spec.name):
            continue
        mask = of_metric & (scores.values == code)
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
            zeros, remaining = (
                scores.values[(metric == code) & rows] for rows in (unasked, valid & ~unasked)
            )
            enough = 0 < remaining.size * _MIN_ZERO_SHARE < zeros.size and not zeros.any()
            mask |= (metric == code) & unasked & bool(enough and np.ptp(remaining) > 0)
        if mask.any():
            names = ", ".join(map(quote_text, states))
            change = f"CASE WHEN {quote_column(column)} NOT IN ({names}) THEN {{0}} END"
            text = f"{'is' if mask.sum() == 1 else 'are'} 0 where {column} is {listing(states)}"
            note, change = "0 may mean that there was no answer", edit_query(scores, mask, change)
            yield _code_error(scores, mask, (text, note), change)


def _code_error(
    scores: Scores, mask: Booleans, text: tuple[str, str], sql: str, bounds: str = "[0, 1]"
) -> InputError:
    """Return the error for scores that may represent missing ones, with suggestions.

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
    from riskrank.scores.table.missing_reasons import Fixes, drop_advice, worst_score_fix

    codes, size = np.unique(scores.codes("metric")[mask]).tolist(), int(np.count_nonzero(mask))
    names = [scores.metrics[code] for code in codes]
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
        f"possible score; if it is a score, {bounds_hint(names[0], bounds)}",
        suggestions=fixes if scores.options.sql is None else [],
    )


def _is_code(code: float, values: Floats, name: str) -> bool:
    """Return True if a number is so far from the other values that it cannot be an ordinary score."""
    low, high = float(values.min()), float(values.max())
    if code > 0 or low < 0:
        return abs(code) > _CODE_DISTANCE * max(abs(low), abs(high))
    if has_word(name, "signed"):
        return abs(code) > _CODE_DISTANCE * max(high, 1.0)
    if code < -1:
        return True
    # −1 may be a third answer alongside 0 and 1, but not among booleans, fractions or positive numbers.
    fractions = bool((values != np.round(values)).any())
    return has_word(name, "truths") or fractions or low > 0


def edit_query(scores: Scores, mask: Booleans, change: str) -> str:
    """Return an SQL query that changes the scores in some rows.

    Parameters
    ----------
    scores : Scores
    mask : ndarray of bool
        Rows to change. Other scores on the same metrics may change as well.
    change : str
        SQL expression with the placeholder ``{0}`` for the column.
    """
    codes = scores.codes("metric")[mask]
    _, first = np.unique(scores.codes("model")[mask] * len(scores.metrics) + codes, return_index=True)
    columns = dict.fromkeys(scores.file_row_column(row)[2] for row in np.flatnonzero(mask)[first].tolist())
    roles, names = scores.notes.files[0].roles, [scores.metrics[code] for code in np.unique(codes)]
    long = roles.score is not None and scores.options.matrix is None and len(scores.metrics) > len(names)
    condition = " OR ".join(f"{quote_column(str(roles.metric))} = {quote_text(name)}" for name in names)
    changed = ((name, change.format(name)) for name in map(quote_column, columns))
    parts = (
        f"CASE WHEN {condition} THEN {new} ELSE {name} END AS {name}" if long else f"{new} AS {name}"
        for name, new in changed
    )
    return f"SELECT * REPLACE ({', '.join(parts)}) FROM scores"
