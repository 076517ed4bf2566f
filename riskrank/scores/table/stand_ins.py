"""Numbers that stand in the place of a score: codes for none, and zeros of runs that did not end."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.directions import names_a_truth
from riskrank.scores.names.words import known, unasked, unfinished, vocabulary, words
from riskrank.scores.table.metrics_file import MetricSpec, how_to_bound
from riskrank.scores.table.scored import states_of
from riskrank.scores.table.scores import Scores

# What programs write where there is no score.
_CODES = {-1.0, *(sign * number for number in (99, 999, 9999, 99999, 999999) for sign in (1.0, -1.0)), -9.0}
# A code lies so many times as far out as the farthest of the scores, of which there are at least so many.
_FAR, _FEWEST = 5.0, 8
# Of fewer zeros no answer hangs; and what a score of 0 may be called.
_HARDLY, _FAILED = 0.02, vocabulary("failed fail failure")
# Below zero may be what differs from something, is paid, or is a logarithm.
_SIGNED = known("signed")


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
        states = [one for one in sorted(said.unique()) if unfinished(one)]
        lost = valid & said.is_in(states).to_numpy()[scores.frame["row"].to_numpy()]
        at = np.zeros_like(lost)
        for code in (code for code, spec in enumerate(specs) if spec.bounds is None):
            zeros, others = (scores.values[(metric == code) & rows] for rows in (lost, valid & ~lost))
            many = 0 < others.size * _HARDLY < zeros.size and not zeros.any()
            # To be called failed for a 0 says no more than that.
            called = others.all() and any(words(one) & _FAILED for one in states)
            at |= (metric == code) & lost & bool(many and not called and np.ptp(others) > 0)
        if at.any():
            names, asked = ", ".join(map(quoted_text, states)), not all(map(unasked, states))
            change = f"CASE WHEN {quoted_column(column)} NOT IN ({names}) THEN {{0}} END"
            told = f"{'is' if at.sum() == 1 else 'are'} 0 where {column} is {listing(states)}"
            more, change = "where there was no answer, 0 may stand for none", changing(scores, at, change)
            yield _in_place(scores, at, (told, more), change, asked=asked)


def _in_place(
    scores: Scores, at: Booleans, told: tuple[str, str], sql: str, ends: str = "[0, 1]", *, asked: bool = True
) -> InputError:
    """Scores that may stand in the place of none, with what to do if they do."""
    from riskrank.scores.table.gap_reasons import Ways, as_worst, dropping

    codes, count = np.unique(scores.codes("metric")[at]).tolist(), int(np.count_nonzero(at))
    names = [scores.metrics[code] for code in codes]
    models = np.bincount(scores.codes("model")[at], minlength=len(scores.models)).tolist()
    by_model = (f"{name} has {n:,}" for name, n in zip(scores.models, models, strict=True) if n)
    drop = dropping(scores, np.unique(scores.codes("sample")[at]).size)
    query: dict[str, object] = {"sql": sql}
    dropped: Ways = [("", query | dict(more)) for _, more in drop.ways]  # type: ignore[call-overload]
    ways: Ways = [("", query), as_worst(scores, at, **query)]
    return InputError(
        f"{scores.files()}: {count:,} {'score' if count == 1 else 'scores'} of {listing(names)} {told[0]}",
        found=f"{listing(by_model, 4)}; {told[1]}",
        hint=f"if it stands for none, {drop.hint}; {option('missing', 'worst')} counts each as the worst "
        f"there can be; if it is a score, {how_to_bound(names[0], ends)}",
        ways=([*ways, *dropped] if asked else [*dropped, *ways]) if scores.options.sql is None else [],
    )


def _is_code(code: float, others: Floats, name: str) -> bool:
    low, high = float(others.min()), float(others.max())
    if code > 0 or low < 0:
        return abs(code) > _FAR * max(abs(low), abs(high))
    if words(name) & _SIGNED:
        return abs(code) > _FAR * max(high, 1.0)
    if code < -1:
        return True
    # Of 0 and 1 a third answer may be -1; of truths, shares and what is above zero there is none.
    fractions = bool((others != np.round(others)).any())
    return names_a_truth(name) or fractions or low > 0


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
