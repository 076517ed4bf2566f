"""Why scores are missing, as far as the gaps themselves tell, and what to do about each reason."""

from typing import NamedTuple

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans
from riskrank.errors import by_door, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.reading import SHARED, RankReading
from riskrank.scores.names.vocabulary import names_tasks, has_word, words
from riskrank.scores.table.columns import named_roles
from riskrank.scores.table.metrics_file import likely_bounds
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.score_counts import states_of
from riskrank.scores.table.scores import Scores

# Gaps of one model this many standard errors above those of the others are no accident.
_FAR = 3.0
# Samples that may be left out without a word on whether the rest is like them.
_FEW = 0.2
# Metrics that are named one by one.
_MOST_NAMED = 8
# So many labels tell what they are labels of: scores on a scale at most so much wider, correlated so much.
_FEWEST_LABELS, _SCALE, _ALIKE = 10, 3.0, 0.3
# Of two models the samples both have are those that all have.
_FEWEST_OF_PAIRS = 3
# What samples are called that may be tasks.
_TASKS = {"task", "tasks"}

Ways = list[tuple[str, object]]


class Reason(NamedTuple):
    """What gaps look like, and ways out, the likeliest first."""

    hint: str
    ways: Ways


def reason_for(scores: Scores, rows: Rows, lacking: np.ndarray) -> Reason:
    """What gaps look like: labels of some samples, failures of one model, or accidents.

    Parameters
    ----------
    scores : Scores
    rows : Rows
        NaN where a score is missing.
    lacking : ndarray of int, shape (models,)
        Scores that a model lacks, of those that another one has or that were asked for.
    """
    labels = _labels(scores, rows) if scores.options.judges else None
    if labels is not None:
        return labels
    if scores.options.matrix is not None and "model" in named_roles(scores.options):
        return _accidents(scores, rows)
    if (failed := _of_failures(scores, rows)) is not None:
        return failed
    worst = _worst_off(lacking, np.bincount(rows.model, minlength=lacking.size) * rows.values.shape[1])
    status, asked = _status(scores)
    if not status and worst is None:
        return _accidents(scores, rows)
    most = int(np.argmax(lacking)) if worst is None else worst
    told = f"{lacking[most]:,} of {int(lacking.sum()):,} missing scores are of {scores.models[most]}, and "
    # What has another metric was run.
    ran = not status and bool((~np.isnan(rows.values)).any(axis=1).all())
    told += f"where they are missing {status}" if status else "they were run" if ran else "nothing says why"
    return (
        _failures(scores, rows, told) if ran or (status and asked) else _accidents(scores, rows, f"{told}; ")
    )


def _labels(scores: Scores, rows: Rows) -> Reason | None:
    """People's labels of some samples beside a judge's scores of all, by their names or by what they hold."""
    partial = np.isnan(rows.values).any(axis=0)
    whole = np.flatnonzero(~partial).tolist()
    named = {at for at in np.flatnonzero(partial).tolist() if has_word(scores.metrics[at], "human")}
    people = named or {at for at in np.flatnonzero(partial).tolist() if _labelled_alike(rows, at)}
    if len(people) != 1:
        return None
    (human,) = people
    told = [at for at in whole if named and has_word(scores.metrics[at], "automatic")]
    likeness = {at: _likeness(rows, human, at) for at in told or whole}
    judges = [at for at in sorted(likeness, key=likeness.__getitem__, reverse=True) if told or likeness[at]]
    if not judges:
        return None
    labelled = int((~np.isnan(rows.values[:, human])).sum())
    names = scores.metrics
    pairs = ({"human": names[human], "judge": names[at]} for at in judges)
    ways: Ways = [(" ".join(option(*one) for one in pair.items()), pair | {"metric": ()}) for pair in pairs]
    beside = f"{'a judge' if len(judges) == 1 else 'judges'} of all {len(rows.model):,}"
    labels = f"{labelled:,} labels of {'people' if named else names[human]}"
    return Reason(f"{labels} beside {beside}: {ways[0][0]} corrects the judge by them", ways)


def _of_failures(scores: Scores, rows: Rows) -> Reason | None:
    """Metrics of successes alone, such as how long these took, beside one that says what failed."""
    lacking = np.isnan(rows.values)
    partial, whole = np.flatnonzero(lacking.any(axis=0)), np.flatnonzero(~lacking.any(axis=0))
    gaps = lacking.any(axis=1)
    for at in whole.tolist() if partial.size else ():
        failed, passed = (set(rows.values[some, at].tolist()) for some in (gaps, ~gaps))
        if len(failed) == len(passed) == 1 and failed != passed:
            names = [scores.metrics[one] for one in partial.tolist()]
            picked = tuple(scores.metrics[one] for one in whole.tolist())
            told = " ".join(option("metric", name) for name in picked)
            where = f"{listing(names)} is there only where {scores.metrics[at]} is {passed.pop():g}"
            hint = f"{where}: on other samples for each model; {told} compares all samples"
            return Reason(hint, [(told, {"metric": picked})])
    return None


def _labelled_alike(rows: Rows, metric: int) -> bool:
    """Whether the same samples of all models have a score, enough of them and at most half."""
    there = ~np.isnan(rows.values[:, metric])
    has = [np.unique(rows.sample[there & (rows.model == model)]) for model in np.unique(rows.model)]
    alike = all(np.array_equal(one, has[0]) for one in has)
    return alike and has[0].size >= _FEWEST_LABELS and 2 * there.sum() <= there.size


def _likeness(rows: Rows, human: int, judge: int) -> float:
    """Correlation with labels within models; 0 where it is small, or the scales are different."""
    there = ~np.isnan(rows.values[:, human])
    both, model = rows.values[there][:, [human, judge]], rows.model[there]
    spread = np.ptp(both, axis=0)
    if len(both) < _FEWEST_LABELS or spread.min() <= spread.max() / _SCALE:
        return 0.0
    if abs(np.subtract(*both.mean(axis=0))) > spread.max():
        return 0.0
    # A judge may favour a model: what tells is how scores go together within each.
    means = [np.bincount(model, one) / np.maximum(np.bincount(model), 1) for one in both.T]
    found = float(np.corrcoef(both.T - np.stack(means)[:, model])[0, 1])
    return found if found > _ALIKE else 0.0


def _status(scores: Scores) -> tuple[str, bool]:
    """What a column of states says of the rows without a score alone; whether it is of who was asked."""
    missing = np.zeros(scores.notes.rows, dtype=bool)
    missing[scores.frame["row"].to_numpy()[scores.invalid()]] = True
    if not missing.any():
        return "", False
    for name, said in states_of(scores):
        told = set(said.filter(pl.Series(missing)).unique())
        if not told & set(said.filter(pl.Series(~missing)).unique()):
            states = sorted(told - {""})
            asked = not states or not all(has_word(state, "unasked") for state in states)
            return f"{name} is {listing(states or ['empty'], 3)}", asked
    return "", False


def _worst_off(lacking: np.ndarray, asked: np.ndarray) -> int | None:
    """The model that lacks far more than the others; None where all lack about as many."""
    if lacking.size < 2:
        return None
    worst = int(np.argmax(lacking))
    others, of_others = lacking.sum() - lacking[worst], max(asked.sum() - asked[worst], 1)
    share = lacking.sum() / max(asked.sum(), 1)
    error = np.sqrt(max(share * (1 - share), 1e-12) * (1 / max(asked[worst], 1) + 1 / of_others))
    far = lacking[worst] / max(asked[worst], 1) - others / of_others > _FAR * error
    return worst if far else None


def _failures(scores: Scores, rows: Rows, told: str) -> Reason:
    metric, lost = scores.codes("metric"), scores.invalid()
    ways = [as_worst(scores, lost)]
    # Of some metrics their ends are known.
    for code in np.unique(metric[lost]).tolist() if len(scores.metrics) > 1 else ():
        ways.append(as_worst(scores, lost & (metric == code), metric=(scores.metrics[code],)))
    drop = dropping(scores, np.unique(rows.sample[np.isnan(rows.values).any(axis=1)]).size)
    worst = f"{option('missing', 'worst')} counts each as the worst there can be"
    # What failed did not pass; how bad it is on another scale nobody says.
    if np.isin(scores.values[np.isin(metric, metric[lost]) & ~lost], (0.0, 1.0)).all():
        told += ": failures rather than accidents, and to leave them out would flatter who fails"
        return Reason(f"{told}; {worst}; {drop.hint}", [*ways, *drop.ways])
    told += ": failures rather than accidents, and how bad they are nobody says"
    rest = "" if isinstance(scores.options, GateReading) else ", and ships nobody whom that may flatter"
    return Reason(f"{told}; {drop.hint}{rest}; {worst}", [*drop.ways, *ways])


def as_worst(scores: Scores, lacking: Booleans, **more: object) -> tuple[str, object]:
    """The way that counts what is missing as the worst there can be, and says how bad that probably is."""
    metric = scores.codes("metric")
    codes = np.unique(metric[lacking])
    if codes.size == 1 and scores.metrics[codes[0]] not in scores.notes.bounds:
        seen = scores.values[(metric == codes[0]) & ~lacking & ~scores.invalid()]
        bounds = likely_bounds(scores.metrics[codes[0]], seen)
        more |= {"metrics_file": bounds} if bounds and not scores.options.metrics_file else {}
    return option("missing", "worst"), {"missing": "worst", **more}


def _accidents(scores: Scores, rows: Rows, told: str = "") -> Reason:
    gaps = np.isnan(rows.values).any(axis=1)
    gone = np.unique(rows.sample[gaps]).size
    found = dropping(scores, gone)
    whole = [
        name for name, some in zip(scores.metrics, np.isnan(rows.values).any(axis=0), strict=True) if not some
    ]
    ways = [*found.ways]
    if 0 < len(whole) <= _MOST_NAMED:
        picked = " ".join(option("metric", name) for name in whole)
        # What leaves most samples out does not come first.
        first = 0 if gone > _FEW * len(scores.samples) else len(ways)
        ways.insert(first, (picked, {"metric": tuple(whole)}))
    ways += [] if _of_board(scores) else [as_worst(scores, scores.invalid())]
    worst = f"{option('missing', 'worst')} counts what is missing as the worst there can be"
    return Reason(f"{told}{found.hint}; {worst}", ways)


def dropping(scores: Scores, gone: int) -> Reason:
    """To leave out samples, what that makes of the rest, and to compare each pair on what both have.

    Parameters
    ----------
    scores : Scores
    gone : int
        Samples that would be left out.
    """
    every = len(scores.samples)
    hint = f"{option('missing', 'drop')} leaves out {gone:,} of {every:,} samples"
    if gone > _FEW * every:
        hint += ": the rest is another population, unless what is missing is so by accident"
    ways: Ways = [(option("missing", "drop"), {"missing": "drop"})]
    if len(scores.metrics) > 1 or len(scores.models) < _FEWEST_OF_PAIRS or scores.has("task"):
        return Reason(hint, ways)
    if isinstance(scores.options, RankReading):
        pairs, told = [(option("missing", SHARED), {"missing": SHARED})], option("missing", SHARED)
        ways = [*pairs, *ways] if _of_board(scores) else [*ways, *pairs]
        return Reason(f"{hint}; {told} compares each pair of models on the samples both have", ways)
    if _of_board(scores):
        rank = by_door("riskrank rank", "rank")
        hint += f"; {rank} compares each pair of models on the tasks both have"
    return Reason(hint, ways)


def _of_board(scores: Scores) -> bool:
    """Whether samples are tasks, each of which has one score a model."""
    named = named_roles(scores.options)
    if scores.options.matrix is not None and "model" in named:
        return True
    return names_tasks(named.get("sample", "")) or bool(words(named.get("sample", "")) & _TASKS)
