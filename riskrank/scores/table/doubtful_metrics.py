"""Metrics whose numbers, unit or direction are in doubt: refused, for a claim may be the wrong way round."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.asked.flags import among_commas
from riskrank.engine.types import Booleans
from riskrank.errors import InputError, listing, option
from riskrank.scores.names.directions import (
    doubtful_by_name,
    looks_like_an_amount,
    lower_is_likelier,
    more_by_name,
    names_a_metric,
)
from riskrank.scores.names.distributions import (
    like_errors,
    looks_signed,
    marks_of_a_school,
    negated_errors,
    of_both_signs,
)
from riskrank.scores.names.words import AUTOMATIC, HUMAN, words
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.stand_ins import changing, missing_codes, zeros_of_failures

_MOST_METRICS = 100
# Ratings by whole or half marks reach no further.
_MOST_MARKS = 10
# Shares are no larger than 1; percent beyond this are none; and how much larger percent are.
_SURELY_PERCENT, _FACTOR = 1.5, (25.0, 400.0)


def doubtful_numbers(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Metrics with codes for no score, or of which some models are in percent and others in shares of one."""
    yield from zeros_of_failures(scores, specs)
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
    doubtful, likely, why, untold = [], set(), "", set()
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
            # People give more marks to what is better, of all that they judge.
            marks = ((values >= 0) & (values <= _MOST_MARKS) & (2 * values % 1 == 0)).all()
            known = words(name) & (HUMAN | AUTOMATIC) or any(map(more_by_name, scores.metrics))
            untold |= set() if marks or known else {name}
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
        hint = f"say {' or '.join(way for way, _ in ways)}"
        if untold.issuperset(doubtful):  # to copy one of two lines would be to toss a coin
            ways = []
            hint = (
                f"only who measured it knows: {option('lower', 'NAME')} or {option('higher', 'NAME')} says it"
            )
        yield InputError(
            f"which way is better of {listing(doubtful)} has to be said",
            found=f"nobody declared it{why}" if why else "nobody declared it, and the name may mean either",
            hint=hint,
            ways=ways,
        )


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
