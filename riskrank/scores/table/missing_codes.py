"""Numbers that stand for no score, such as -999: refused, for as scores they would decide everything."""

from collections.abc import Iterator

import numpy as np

from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import quoted_column, quoted_text
from riskrank.scores.names.directions import names_a_truth
from riskrank.scores.names.words import known, words
from riskrank.scores.table.metrics_file import MetricSpec, how_to_bound
from riskrank.scores.table.scores import Scores

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
