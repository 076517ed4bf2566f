"""Metrics whose numbers, unit or direction are in doubt: refused, for a claim may be the wrong way round."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.asked.flags import among_commas
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.directions import (
    doubtful_by_name,
    looks_like_an_amount,
    lower_is_likelier,
    names_a_metric,
    names_a_truth,
)
from riskrank.scores.names.distributions import (
    like_errors,
    looks_signed,
    marks_of_a_school,
    negated_errors,
    of_both_signs,
)
from riskrank.scores.names.words import known, words
from riskrank.scores.table.metrics_file import MetricSpec, how_to_bound
from riskrank.scores.table.scores import Scores

_MOST_METRICS = 100
# Shares are no larger than 1; percent beyond this are none; and how much larger percent are.
_SURELY_PERCENT, _FACTOR = 1.5, (25.0, 400.0)


def doubtful_numbers(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Metrics with codes for no score, or of which some models are in percent and others in shares of one."""
    metric = scores.frame["metric"].to_physical().to_numpy()
    valid = ~scores.invalid()
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
        shares, percent = there & (high <= 1), there & (high > _SURELY_PERCENT) & (high <= 100)
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
    metric = scores.frame["metric"].to_physical().to_numpy()
    valid = ~scores.invalid()
    places = {spec.name: code for code, spec in enumerate(specs)}
    doubtful, likely, why = [], set(), ""
    # Who said what the columns are knows that more is better where nobody says otherwise.
    guessed = scores.notes.asked != scores.notes.given
    for name in silent:
        of_metric = valid & (metric == places[name]) if name in looked_at else np.zeros(0, dtype=bool)
        values = scores.values[of_metric] if name in looked_at else np.zeros(0)
        if doubtful_by_name(name):
            doubtful.append(name)
            likely |= {name} if lower_is_likelier(name) else set()
        elif marks_of_a_school(name, values):
            doubtful.append(name)
            likely |= {name} if "Note" in name or "note" in name[1:] else set()
            why = f"; of marks from 1 to 6, as {name} are, 1 is best in some countries, worst in others"
        elif negated_errors(name, values):
            doubtful.append(name)
            why = f"; {name} is called as errors are, and none is above 0"
        elif not names_a_metric(name) and like_errors(values):
            doubtful.append(name)
            likely.add(name)
            why = f"; numbers of {name} are distributed as errors or amounts often are"
        elif guessed and not names_a_metric(name) and (values < 0).any() | (values > 1).any():
            doubtful.append(name)
        if looks_signed(name) and of_both_signs(values):
            yield _signed(scores, name, of_metric)
    if doubtful:
        ways = []
        for lower in dict.fromkeys((frozenset(likely), frozenset(doubtful), frozenset[str]())):
            parts = {
                "lower": tuple(name for name in doubtful if name in lower),
                "higher": tuple(name for name in doubtful if name not in lower),
            }
            change = {way: names for way, names in parts.items() if names}
            told = (option(way, ",".join(map(among_commas, names))) for way, names in change.items())
            ways.append((" ".join(told), change))
        yield InputError(
            f"which way is better of {listing(doubtful)} has to be said",
            found=f"nobody declared it{why}" if why else "nobody declared it, and the name may mean either",
            hint=f"say {' or '.join(way for way, _ in ways)}",
            ways=ways,
        )


def _signed(scores: Scores, name: str, of_metric: Booleans) -> InputError:
    """Errors with a sign, of which the smallest are far off."""
    query = changing(scores, name, of_metric, "ABS({0})")
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
    from riskrank.scores.table.gap_reasons import Ways, as_worst

    values = scores.values[of_metric]
    for code in {float(values.min()), float(values.max())} & _CODES:
        others = values[values != code]
        if others.size < max(_FEWEST, values.size / 2) or not _is_code(code, others, spec.name):
            continue
        at = of_metric & (scores.values == code)
        count = int(np.count_nonzero(at))
        models = np.bincount(scores.codes("model")[at], minlength=len(scores.models))
        by_model = (f"{name} has {n:,}" for name, n in zip(scores.models, models.tolist(), strict=True) if n)
        low, high = float(others.min()), float(others.max())
        ends = f"[{min(low, code):g}, {max(high, code):g}]"
        query = {"sql": changing(scores, spec.name, at, f"NULLIF({{0}}, {code:g})")}
        ways: Ways = [("", query), as_worst(scores, at, **query), ("", {**query, "missing": "drop"})]
        yield InputError(
            f"{scores.files()}: {count:,} {'score' if count == 1 else 'scores'} of {spec.name} "
            f"{'is' if count == 1 else 'are'} {code:g}, as programs write it where there is no score",
            found=f"{listing(by_model, 4)}; all other scores are {low:g} to {high:g}",
            hint=f"if it stands for none, {option('missing', 'worst')} or {option('missing', 'drop')} in the "
            f"line says what that counts; if it is a score, {how_to_bound(spec.name, ends)}",
            ways=ways if scores.options.sql is None else [],
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


def changing(scores: Scores, metric: str, at: Booleans, change: str) -> str:
    """The query that changes scores of a metric, those in some rows among them, by an expression of SQL."""
    _, first = np.unique(scores.codes("model")[at], return_index=True)
    columns = dict.fromkeys(scores.where(row)[2] for row in np.flatnonzero(at)[first].tolist())
    roles = scores.notes.files[0].roles
    long = roles.score is not None and scores.options.matrix is None and len(scores.metrics) > 1
    where = f"{quoted_column(str(roles.metric))} = {quoted_text(metric)}" if long else ""
    changed = ((name, change.format(name)) for name in map(quoted_column, columns))
    parts = (
        f"CASE WHEN {where} THEN {new} ELSE {name} END AS {name}" if where else f"{new} AS {name}"
        for name, new in changed
    )
    return f"SELECT * REPLACE ({', '.join(parts)}) FROM scores"
