"""Metrics whose numbers, unit or direction are in doubt: refused, for a claim may be the wrong way round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.asked.flags import among_commas
from riskrank.errors import InputError, listing, option
from riskrank.scores.names.directions import doubtful_by_name, looks_like_an_amount, lower_is_likelier
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.missing_codes import missing_codes
from riskrank.scores.table.scores import Scores

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


def doubtful_directions(specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Metrics of which nobody said which way is better, and whose names may mean either."""
    doubtful = [
        spec.name
        for spec in specs
        if not spec.declared and spec.transform == "none" and doubtful_by_name(spec.name)
    ]
    if doubtful:
        likely = {name for name in doubtful if lower_is_likelier(name)}
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
            found="nobody declared it, and the name may mean either",
            hint=f"say {' or '.join(way for way, _ in ways)}",
            ways=ways,
        )
