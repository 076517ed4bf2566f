"""Metrics whose numbers, unit or direction are in doubt: refused, for a claim may be the wrong way round.

Numbers may stand in the place of a score: codes for none, and zeros of runs that did not end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, listing, option
from riskrank.options.flags import among_commas
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.directions import (
    has_uncertain_direction,
    looks_like_a_cost,
    looks_like_an_amount,
    lower_is_likelier,
    clearly_higher_is_better,
    names_a_metric,
    is_ambiguous_name,
)
from riskrank.scores.names.distributions import (
    looks_like_errors,
    looks_like_school_marks,
    looks_like_negated_errors,
    has_both_signs,
)
from riskrank.scores.names.vocabulary import has_word, is_unfinished, parse_vocabulary, words
from riskrank.scores.table.metrics_file import MetricSpec, how_to_bound
from riskrank.scores.table.score_counts import states_of
from riskrank.scores.table.scores import Scores

_MOST_METRICS = 100
# Ratings by whole or half marks reach no further.
_MOST_MARKS = 10
# Shares and their noise are no larger, percent are; and how much larger these are.
_SURELY_PERCENT, _FACTOR = 1.5, (25.0, 400.0)


class UndeclaredError(InputError):
    """Which way is better, that nobody declared, of metrics whose names and numbers may mean either."""


def doubtful_numbers(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Metrics with codes for no score, or of which some models are in percent and others in shares of one."""
    yield from zeros_of_failures(scores, specs)
    metric, valid = scores.codes("metric"), ~scores.invalid()
    for code, spec in enumerate(specs):
        if spec.bounds is not None or spec.transform != "none":
            continue
        of_metric = valid & (metric == code)
        values = scores.values[of_metric]
        if not values.size:
            continue
        yield from missing_codes(scores, spec, of_metric)
        # Most metrics are told by their ends, which cost less than those of each model.
        if values.min() < 0 or values.max() <= _SURELY_PERCENT or looks_like_an_amount(spec.name):
            continue
        model = scores.codes("model")[of_metric]
        low, high = np.full(len(scores.models), np.inf), np.full(len(scores.models), -np.inf)
        np.minimum.at(low, model, values)
        np.maximum.at(high, model, values)
        there = np.isfinite(high)
        shares, percent = there & (high <= _SURELY_PERCENT), there & (high > _SURELY_PERCENT) & (high <= 100)
        passes = set(high[there].tolist()) == {1.0, 100.0}
        if not (shares.any() and percent.any()):
            continue
        apart = low[percent].min() > high[shares].max() and _means_apart(scores, of_metric, shares, percent)
        if passes or apart:
            one, other = (scores.models[int(np.argmax(of))] for of in (percent, shares))
            top, ends = (f"{high[int(np.argmax(of))]:g}" for of in (percent, shares))
            yield InputError(
                f"{scores.files()}: scores of {spec.name} are in two units: percent, and shares of one",
                found=f"those of {one} reach {top}, those of {other} reach {ends}",
                hint=f"write both in one unit; if they are, give [{spec.name}] bounds = [0, 100] in a file, "
                f"{option('metrics_file', 'FILE.toml')}",
            )


def _means_apart(scores: Scores, rows: np.ndarray, shares: np.ndarray, percent: np.ndarray) -> bool:
    """Whether models in percent lie a factor of about a hundred above those in shares."""
    model = scores.codes("model")
    means = [float(scores.values[rows & of[model]].mean()) for of in (percent, shares)]
    return means[1] > 0 and _FACTOR[0] <= means[0] / means[1] <= _FACTOR[1]


def doubtful_directions(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Metrics of which nobody said which way is better, and whose names or numbers may mean either."""
    silent = [spec.name for spec in specs if not spec.declared and spec.transform == "none"]
    # Of very many nobody looks at the numbers of each.
    looked_at = silent[:_MOST_METRICS]
    metric, valid = scores.codes("metric"), ~scores.invalid()
    doubts: dict[str, _Doubt] = {}
    for name in silent:
        of_metric = valid & (metric == scores.metrics.index(name)) if name in looked_at else np.zeros(0, bool)
        values = scores.values[of_metric] if name in looked_at else np.zeros(0)
        if (doubt := _doubt_of(scores, name, values)) is not None:
            doubts[name] = doubt
        if has_word(name, "off") and has_both_signs(values):
            yield _signed(scores, name, of_metric)
    if not doubts:
        return
    ways = _ways_to_say([*doubts], {name for name, doubt in doubts.items() if doubt.likely})
    hint = f"say {' or '.join(way for way, _ in ways)}"
    if all(doubt.untold for doubt in doubts.values()):  # to copy one of two lines would be to toss a coin
        ways = []
        hint = f"only who measured it knows: {option('lower', 'NAME')} or {option('higher', 'NAME')} says it"
    whys = [f"; {doubt.why}" for doubt in doubts.values() if doubt.why]
    found = f"nobody declared it{whys[-1] if whys else ', and the name may mean either'}"
    what = f"which way is better of {listing(doubts)} has to be said"
    yield UndeclaredError(what, found=found, hint=hint, ways=ways)


@dataclass(frozen=True)
class _Doubt:
    """Why which way is better is in doubt, whether less is likelier to be, and whether only people know."""

    why: str
    likely: bool = False
    untold: bool = False


def _doubt_of(scores: Scores, name: str, values: Floats) -> _Doubt | None:
    """What is in doubt of a metric that nobody declared; None where nothing is."""
    # A file is called by its topic as often as by what it measures: spam_filter, crash_reports.
    by_file = name == scores.options.matrix and scores.notes.given.matrix is None
    if has_uncertain_direction(name) or (
        by_file and looks_like_a_cost(name) and np.isin(values, (0, 1)).all()
    ):
        why = f"only the file is called so, and {name} may be its topic" if by_file else ""
        return _Doubt(why, lower_is_likelier(name), by_file or is_ambiguous_name(name))
    if looks_like_school_marks(name, values):
        why = f"of marks from 1 to 6, as {name} are, 1 is best in some countries, worst in others"
        return _Doubt(why, "Note" in name or "note" in name[1:])
    if looks_like_negated_errors(name, values):
        return _Doubt(f"{name} is called as errors are, and none is above 0")
    if names_a_metric(name):
        return None
    if looks_like_errors(values):
        return _Doubt(f"numbers of {name} are distributed as errors or amounts often are", likely=True)
    # Who said what the columns are knows that more is better where nobody says otherwise.
    if scores.notes.asked == scores.notes.given or not ((values < 0).any() or (values > 1).any()):
        return None
    # People give more marks to what is better, of all that they judge.
    marks = ((values >= 0) & (values <= _MOST_MARKS) & (2 * values % 1 == 0)).all()
    told = has_word(name, "human", "automatic") or any(map(clearly_higher_is_better, scores.metrics))
    return _Doubt("", untold=not (marks or told))


def _ways_to_say(doubtful: Sequence[str], likely: set[str]) -> list[tuple[str, dict[str, tuple[str, ...]]]]:
    """Options that say which way metrics are better, the likelier first, and what they change."""
    ways = []
    for lower in dict.fromkeys((frozenset(likely), frozenset(doubtful), frozenset[str]())):
        parts = {
            "lower": tuple(name for name in doubtful if name in lower),
            "higher": tuple(name for name in doubtful if name not in lower),
        }
        change = {way: names for way, names in parts.items() if names}
        told = (option(way, among_commas(names)) for way, names in change.items())
        ways.append((" ".join(told), change))
    return ways


def _signed(scores: Scores, name: str, of_metric: Booleans) -> InputError:
    """Errors with a sign, of which the smallest are far off."""
    query = changing(scores, of_metric, "ABS({0})")
    values = scores.values[of_metric]
    below = int(np.count_nonzero(values < 0))
    return InputError(
        f"{scores.files()}: {name} has a sign: the smallest are far off, too, and those near 0 are best",
        found=f"{below:,} of {values.size:,} below 0, from {values.min():g} to {values.max():g}",
        hint=f"write its absolute values; if the smallest are best, {option('lower', name)}",
        ways=[("", {"sql": query, "lower": (*scores.options.lower, name)})]
        if scores.options.sql is None
        else [],
    )


# What programs write where there is no score.
_CODES = {-1.0, *(sign * number for number in (99, 999, 9999, 99999, 999999) for sign in (1.0, -1.0)), -9.0}
# A code lies so many times as far out as the farthest of the scores, of which there are at least so many.
_FAR, _FEWEST = 5.0, 8
# Of fewer zeros no answer hangs; and what a score of 0 may be called.
_HARDLY, _FAILED = 0.02, parse_vocabulary("failed fail failure")


def missing_codes(scores: Scores, spec: MetricSpec, of_metric: Booleans) -> Iterator[InputError]:
    """Refuse a metric whose smallest or largest number is a code, and no other number is near it.

    Parameters
    ----------
    scores : Scores
    spec : MetricSpec
    of_metric : ndarray of bool
        Its scores.
    """
    values = scores.values[of_metric]
    for code in {float(values.min()), float(values.max())} & _CODES:
        others = values[values != code]
        if others.size < max(_FEWEST, values.size / 2) or not _is_code(code, others, spec.name):
            continue
        at = of_metric & (scores.values == code)
        low, high = float(others.min()), float(others.max())
        told = f"{'is' if at.sum() == 1 else 'are'} {code:g}, as programs write it where there is no score"
        change = changing(scores, at, f"NULLIF({{0}}, {code:g})")
        ends = f"[{min(low, code):g}, {max(high, code):g}]"
        yield _in_place(scores, at, (told, f"all other scores are {low:g} to {high:g}"), change, ends)


def zeros_of_failures(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Refuse zeros in all rows of which a column says that there was no answer, where other scores differ."""
    metric, valid = scores.codes("metric"), ~scores.invalid()
    for column, said in states_of(scores):
        states = [one for one in sorted(said.unique()) if is_unfinished(one)]
        lost = valid & said.is_in(states).to_numpy()[scores.frame["row"].to_numpy()]
        at = np.zeros_like(lost)
        for code in (code for code, spec in enumerate(specs) if spec.bounds is None):
            zeros, others = (scores.values[(metric == code) & rows] for rows in (lost, valid & ~lost))
            many = 0 < others.size * _HARDLY < zeros.size and not zeros.any()
            # To be called failed for a 0 says no more than that.
            called = others.all() and any(words(one) & _FAILED for one in states)
            at |= (metric == code) & lost & bool(many and not called and np.ptp(others) > 0)
        if at.any():
            names = ", ".join(map(quoted_text, states))
            change = f"CASE WHEN {quoted_column(column)} NOT IN ({names}) THEN {{0}} END"
            told = f"{'is' if at.sum() == 1 else 'are'} 0 where {column} is {listing(states)}"
            more, change = "where there was no answer, 0 may stand for none", changing(scores, at, change)
            yield _in_place(scores, at, (told, more), change)


def _in_place(
    scores: Scores, at: Booleans, told: tuple[str, str], sql: str, ends: str = "[0, 1]"
) -> InputError:
    """Scores that may stand in the place of none, with what to do if they do."""
    from riskrank.scores.table.missing_reasons import Ways, as_worst, dropping

    codes, count = np.unique(scores.codes("metric")[at]).tolist(), int(np.count_nonzero(at))
    names = [scores.metrics[code] for code in codes]
    models = np.bincount(scores.codes("model")[at], minlength=len(scores.models)).tolist()
    by_model = (f"{name} has {n:,}" for name, n in zip(scores.models, models, strict=True) if n)
    drop = dropping(scores, np.unique(scores.codes("sample")[at]).size)
    query: dict[str, object] = {"sql": sql}
    dropped: Ways = [("", query | dict(more)) for _, more in drop.ways]  # type: ignore[call-overload]
    # Whether it is one, and how bad, nobody says: what is left comes before what counts as the worst.
    ways: Ways = [("", query), *dropped, as_worst(scores, at, **query)]
    return InputError(
        f"{scores.files()}: {count:,} {'score' if count == 1 else 'scores'} of {listing(names)} {told[0]}",
        found=f"{listing(by_model, 4)}; {told[1]}",
        hint=f"if it stands for none, {drop.hint}; {option('missing', 'worst')} counts each as the worst "
        f"there can be; if it is a score, {how_to_bound(names[0], ends)}",
        ways=ways if scores.options.sql is None else [],
    )


def _is_code(code: float, others: Floats, name: str) -> bool:
    low, high = float(others.min()), float(others.max())
    if code > 0 or low < 0:
        return abs(code) > _FAR * max(abs(low), abs(high))
    if has_word(name, "signed"):
        return abs(code) > _FAR * max(high, 1.0)
    if code < -1:
        return True
    # Of 0 and 1 a third answer may be -1; of truths, shares and what is above zero there is none.
    fractions = bool((others != np.round(others)).any())
    return has_word(name, "truths") or fractions or low > 0


def changing(scores: Scores, at: Booleans, change: str) -> str:
    """The query that changes scores in some rows, and others of their metrics, by an expression of SQL."""
    codes = scores.codes("metric")[at]
    _, first = np.unique(scores.codes("model")[at] * len(scores.metrics) + codes, return_index=True)
    columns = dict.fromkeys(scores.where(row)[2] for row in np.flatnonzero(at)[first].tolist())
    roles, names = scores.notes.files[0].roles, [scores.metrics[code] for code in np.unique(codes)]
    long = roles.score is not None and scores.options.matrix is None and len(scores.metrics) > len(names)
    where = " OR ".join(f"{quoted_column(str(roles.metric))} = {quoted_text(name)}" for name in names)
    changed = ((name, change.format(name)) for name in map(quoted_column, columns))
    parts = (
        f"CASE WHEN {where} THEN {new} ELSE {name} END AS {name}" if long else f"{new} AS {name}"
        for name, new in changed
    )
    return f"SELECT * REPLACE ({', '.join(parts)}) FROM scores"
