"""Likely reasons for missing scores, advice for each reason, and checks of sample numbers."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans
from riskrank.errors import InputError, interface_text, listing, option
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.options.reading import SHARED, RankReading
from riskrank.scores.files.query import quote_text
from riskrank.scores.names.directions import clearly_lower_is_better
from riskrank.scores.names.vocabulary import has_word, is_task_name, words
from riskrank.scores.table.columns import option_columns
from riskrank.scores.table.metric_specs import likely_bounds_line
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.scores import Fixes, Scores, edit_query, status_columns
from riskrank.scores.table.written_numbers import percent_sql

# A share of missing scores is not random if it exceeds that of other models by this many standard errors.
_OUTLYING_SE = 3.0
# Share of samples that may be dropped without a warning about the remaining population.
_SMALL_SHARE = 0.2
# Largest number of metrics that are listed by name.
_MAX_LISTED = 8
# With two models, pairwise comparison is the same as dropping.
_MIN_MODELS = 3
# Names of sample columns that may hold tasks.
_TASK_WORDS = {"task", "tasks"}


class Advice(NamedTuple):
    """A hint about missing scores, and suggested commands, the most likely to help first."""

    hint: str
    fixes: Fixes


def missing_advice(scores: Scores, rows: Rows, missing: np.ndarray) -> Advice:
    """Return a hint on how to treat missing scores.

    It depends on the pattern: partial human labels, failures of one model, or random gaps.

    Parameters
    ----------
    scores : Scores
    rows : Rows
        Scores by row and metric; NaN if missing.
    missing : ndarray of int, shape (models,)
        Number of missing scores of each model.
    """
    labels = _label_advice(scores, rows) if scores.options.judges else None
    if labels is not None:
        return labels
    if scores.options.matrix is not None and "model" in option_columns(scores.options):
        return _gap_advice(scores, rows)
    if (advice := _success_metric_advice(scores, rows)) is not None:
        return advice
    worst = _outlying_model(missing, np.bincount(rows.model, minlength=missing.size) * rows.values.shape[1])
    status, tried = describe_missing_status(scores)
    if not status and worst is None:
        return _gap_advice(scores, rows)
    model = int(np.argmax(missing)) if worst is None else worst
    text = f"{missing[model]:,} of {int(missing.sum()):,} missing scores belong to {scores.models[model]}; "
    # A row with another metric was run.
    ran = not status and bool((~np.isnan(rows.values)).any(axis=1).all())
    text += status or ("the samples were run" if ran else "the reason is unknown")
    failed = ran or (status and tried)
    return _failure_advice(scores, rows, text) if failed else _gap_advice(scores, rows, f"{text}; ")


def _label_advice(scores: Scores, rows: Rows) -> Advice | None:
    """Return advice to calibrate a judge, or None.

    People must have labelled only some of the rows, and the judge must have scored all of them.
    """
    partial, names = np.isnan(rows.values).any(axis=0), scores.metrics
    humans = [j for j, name in enumerate(names) if partial[j] and has_word(name, "human")]
    humans = [j for j in humans if not has_word(names[j], "places")]
    complete = [j for j in range(len(names)) if not partial[j]]
    judges = [j for j in complete if has_word(names[j], "automatic")] or complete
    if len(humans) != 1 or not judges:
        return None
    (human,) = humans
    labelled = int((~np.isnan(rows.values[:, human])).sum())
    pairs = ({"human": names[human], "judge": names[j]} for j in judges)
    fixes: Fixes = [(" ".join(option(*x) for x in pair.items()), pair | {"metric": ()}) for pair in pairs]
    judge = f"{'a judge' if len(judges) == 1 else 'judges'} scored all {len(rows.model):,} rows"
    hint = f"{labelled:,} human labels, and {judge}: {fixes[0][0]} calibrates the judge on the labels"
    return Advice(hint, fixes)


def _success_metric_advice(scores: Scores, rows: Rows) -> Advice | None:
    """Return advice for a metric that only successful samples have, such as a duration, or None.

    A complete binary metric must separate the successful rows from the failed ones.
    """
    missing = np.isnan(rows.values)
    partial, complete = np.flatnonzero(missing.any(axis=0)), np.flatnonzero(~missing.any(axis=0))
    gaps = missing.any(axis=1)
    for column in complete.tolist() if partial.size else ():
        failed, passed = (set(rows.values[mask, column].tolist()) for mask in (gaps, ~gaps))
        if len(failed) == len(passed) == 1 and failed != passed:
            names = [scores.metrics[code] for code in partial.tolist()]
            picked = tuple(scores.metrics[code] for code in complete.tolist())
            flags = " ".join(option("metric", name) for name in picked)
            explanation = f"{listing(names)} has scores only if {scores.metrics[column]} is {passed.pop():g}"
            hint = f"{explanation}, so the models have different samples; {flags} compares all samples"
            return Advice(hint, [(flags, {"metric": picked})])
    return None


def describe_missing_status(scores: Scores) -> tuple[str, bool]:
    """Describe the status of runs, such as a timeout, that occurs only in rows without a score.

    Returns
    -------
    description : str
        Empty if there is no such status.
    attempted : bool
        Whether the status means that the samples were run.
    """
    missing = np.zeros(scores.notes.rows, dtype=bool)
    missing[scores.frame["row"].to_numpy()[scores.invalid_mask()]] = True
    if not missing.any():
        return "", False
    for name, values in status_columns(scores, missing):
        statuses = set(values.filter(pl.Series(missing)).unique())
        if not statuses & set(values.filter(pl.Series(~missing)).unique()):
            states = sorted(statuses - {""})
            attempted = not states or not all(has_word(state, "unasked") for state in states)
            return f"{name} is {listing(states or ['empty'], 3)}", attempted
    return "", False


def _outlying_model(missing: np.ndarray, expected: np.ndarray) -> int | None:
    """Return the index of a model with far more missing scores than the others, or None.

    `expected` holds the number of scores that each model should have.
    """
    if missing.size < 2:
        return None
    worst = int(np.argmax(missing))
    gaps, total = missing.sum() - missing[worst], max(expected.sum() - expected[worst], 1)
    share = missing.sum() / max(expected.sum(), 1)
    error = np.sqrt(max(share * (1 - share), 1e-12) * (1 / max(expected[worst], 1) + 1 / total))
    outlying = missing[worst] / max(expected[worst], 1) - gaps / total > _OUTLYING_SE * error
    return worst if outlying else None


def _failure_advice(scores: Scores, rows: Rows, text: str) -> Advice:
    """Return advice for scores that are missing because runs failed.

    Either the worst possible score is imputed, or the samples are dropped. `text` describes the failures.
    """
    metric, missing = scores.codes("metric"), scores.invalid_mask()
    fixes = [worst_score_fix(scores, missing)]
    # The bounds of single metrics may be known.
    for code in np.unique(metric[missing]).tolist() if len(scores.metrics) > 1 else ():
        fixes.append(worst_score_fix(scores, missing & (metric == code), metric=(scores.metrics[code],)))
    excluded = np.unique(rows.sample[np.isnan(rows.values).any(axis=1)]).size
    drop = drop_advice(scores, excluded)
    worst = f"{option('missing', 'worst')} counts each as the worst possible score"
    # A failed sample did not pass. On other scales its score is unknown.
    if np.isin(scores.values[np.isin(metric, metric[missing]) & ~missing], (0.0, 1.0)).all():
        text += ", which suggests failures; excluding these samples would favour models that fail"
        return Advice(f"{text}; {worst}; {drop.hint}", [*fixes, *drop.fixes])
    text += ", which suggests failures of unknown severity"
    caution = "" if isinstance(scores.options, GateReading) else "; models it may favour are not recommended"
    is_bounded = any("metrics_file" in change for _, change in fixes if isinstance(change, dict))
    # Without many samples, the mean of the rest says little about a model that failed on them.
    if is_bounded and excluded > _SMALL_SHARE * len(scores.samples):
        return Advice(f"{text}; {worst}; {drop.hint}{caution}", [*fixes, *drop.fixes])
    return Advice(f"{text}; {drop.hint}{caution}; {worst}", [*drop.fixes, *fixes])


def worst_score_fix(scores: Scores, missing: Booleans, **changes: object) -> tuple[str, object]:
    """Return the suggestion to impute the worst possible score: its text and the options to change.

    Likely bounds are suggested as well if none are declared. `missing` is a mask of the rows concerned, and
    `changes` are further options.
    """
    metric = scores.codes("metric")
    codes = np.unique(metric[missing])
    if codes.size == 1 and scores.metrics[codes[0]] not in scores.notes.bounds:
        observed = scores.values[(metric == codes[0]) & ~missing & ~scores.invalid_mask()]
        bounds = likely_bounds_line(scores.metrics[codes[0]], observed)
        changes |= {"metrics_file": bounds} if bounds and not scores.options.metrics_file else {}
    return option("missing", "worst"), {"missing": "worst", **changes}


def _gap_advice(scores: Scores, rows: Rows, prefix: str = "") -> Advice:
    """Return advice for missing scores without a known reason; `prefix` starts the hint."""
    excluded = np.unique(rows.sample[np.isnan(rows.values).any(axis=1)]).size
    drop = drop_advice(scores, excluded)
    incomplete = np.isnan(rows.values).any(axis=0)
    complete = [name for name, gap in zip(scores.metrics, incomplete, strict=True) if not gap]
    fixes = [*drop.fixes]
    if 0 < len(complete) <= _MAX_LISTED:
        picked = " ".join(option("metric", name) for name in complete)
        # An option that excludes many samples is not suggested first.
        index = 0 if excluded > _SMALL_SHARE * len(scores.samples) else len(fixes)
        fixes.insert(index, (picked, {"metric": tuple(complete)}))
    fixes += [] if _is_leaderboard(scores) else [worst_score_fix(scores, scores.invalid_mask())]
    worst = f"{option('missing', 'worst')} counts each missing score as the worst possible score"
    return Advice(f"{prefix}{drop.hint}; {worst}", fixes)


# Most codes for failures, such as TO and MO, and fewest cells with such a code.
_MAX_TEXTS, _MIN_TEXTS = 5, 3
# Cells that are examined.
_MAX_CODED = 1000


def code_fixes(scores: Scores, mask: np.ndarray) -> Fixes:
    """Return suggestions to replace a few repeated texts among the scores, such as TO for a timeout.

    If lower scores are better, each text becomes twice the largest score, as in penalised run times.
    Otherwise it becomes a missing score. Percentages among numbers become numbers, or fractions if the
    numbers are fractions. `mask` marks the texts.
    """
    at = np.flatnonzero(mask)
    texts = {scores.cell_text(int(i)) for i in at[:_MAX_CODED]}
    codes = sorted(text for text in texts if isinstance(text, str))
    if scores.options.sql is None and codes and all(text.endswith("%") for text in codes):
        largest = np.nanmax(scores.values[~scores.invalid_mask()], initial=0)
        return [("", {"sql": edit_query(scores, mask, percent_sql(largest))})]
    if scores.options.sql is not None or len(codes) > _MAX_TEXTS or at.size < _MIN_TEXTS * len(texts):
        return []
    names = ", ".join(map(quote_text, codes))
    metrics = [scores.metrics[code] for code in np.unique(scores.codes("metric")[mask])]
    missing = edit_query(scores, mask, f"CASE WHEN {{0}} NOT IN ({names}) THEN {{0}} END")
    fixes: Fixes = [("", {"sql": missing})]
    if all(name in scores.options.lower or clearly_lower_is_better(name) for name in metrics):
        penalty = 2 * float(np.nanmax(scores.values[~scores.invalid_mask()]))
        query = edit_query(scores, mask, f"CASE WHEN {{0}} IN ({names}) THEN '{penalty:.4g}' ELSE {{0}} END")
        fixes.insert(0, ("", {"sql": query}))
    return fixes


def drop_advice(scores: Scores, excluded: int) -> Advice:
    """Return advice to drop incomplete samples, or to compare each pair of models on its shared samples.

    Parameters
    ----------
    scores : Scores
    excluded : int
        Number of samples that would be dropped.
    """
    total = len(scores.samples)
    hint = f"{option('missing', 'drop')} excludes {excluded:,} of {total:,} samples"
    if excluded > _SMALL_SHARE * total:
        hint += "; the rest is representative only if scores are missing at random"
    fixes: Fixes = [(option("missing", "drop"), {"missing": "drop"})]
    if len(scores.metrics) > 1 or len(scores.models) < _MIN_MODELS or scores.has_role("task"):
        return Advice(hint, fixes)
    if isinstance(scores.options, RankReading):
        pairs, flag = [(option("missing", SHARED), {"missing": SHARED})], option("missing", SHARED)
        fixes = [*pairs, *fixes] if _is_leaderboard(scores) else [*fixes, *pairs]
        return Advice(f"{hint}; {flag} compares each pair of models on their common samples", fixes)
    if _is_leaderboard(scores):
        rank = interface_text("riskrank rank", "rank")
        hint += f"; {rank} compares each pair of models on their common tasks"
    return Advice(hint, fixes)


def _is_leaderboard(scores: Scores) -> bool:
    """Return True if samples are tasks, with one score per model."""
    named = option_columns(scores.options)
    if scores.options.matrix is not None and "model" in named:
        return True
    return is_task_name(named.get("sample", "")) or bool(words(named.get("sample", "")) & _TASK_WORDS)


# A number with an optional prefix, which must contain a letter so that dates and fractions do not match.
_NUMBERED_NAME = re.compile(r"((?:.*[^\W\d_].*?)?)(?<![0-9])([0-9]{1,18})", re.DOTALL)


def shift_hint(scores: Scores, covered: np.ndarray) -> str:
    """Return a hint if models seem to number the same samples from 0 and from 1.

    Otherwise return an empty string.

    Parameters
    ----------
    scores : Scores
    covered : ndarray of bool, shape (models, samples)
        True if a model has a row for a sample.
    """
    firsts = {*_first_numbers(scores.samples, covered)}
    shifted = [first for first in firsts if first is not None and len({*first}) > 1]
    if None in firsts or len(shifted) != 1 or {*shifted[0]} != {0, 1}:
        return ""
    first = shifted[0]
    later = [name for name, start in zip(scores.models, first, strict=True) if start]
    earlier = [name for name in scores.models if name not in later]
    return (
        f"{listing(earlier, 3)} may number samples from 0 and {listing(later, 3)} from 1: if so, use the "
        "same numbers in all files; if equal numbers are the same samples, "
    )


def is_shifted(scores: Scores, covered: np.ndarray) -> bool:
    """Return True if models number the same samples from different starting points.

    Samples are assumed to be the same if their names share a prefix and their numbers have the same
    increments.

    Parameters
    ----------
    scores : Scores
    covered : ndarray of bool, shape (models, samples)
        True if a model has a row for a sample.
    """
    return any(first is not None and len({*first}) > 1 for first in _first_numbers(scores.samples, covered))


def _first_numbers(samples: Sequence[str], covered: np.ndarray) -> list[tuple[int, ...] | None]:
    """Return the number of each model's first sample, for each series of samples.

    Samples in a series share a prefix and differ in the number that follows. Each task, for example, may be a
    series.

    Parameters
    ----------
    samples : sequence of str
    covered : ndarray of bool, shape (models, samples)
        True if a model has a row for a sample.

    Returns
    -------
    list of (tuple of int, or None)
        None for a series in which the numbers of two models differ by more than a shift. The list is empty
        if sample names do not follow this pattern.
    """
    parts = [match.groups() for name in samples if (match := _NUMBERED_NAME.fullmatch(name))]
    series = {prefix for prefix, _ in parts}
    if len(parts) < len(samples) or 2 * len(series) > len(parts) + 1:
        return []
    width = min(len(number) for _, number in parts)
    if any(number not in (str(int(number)), f"{int(number):0{width}}") for _, number in parts):
        return []
    firsts: list[tuple[int, ...] | None] = []
    for prefix in sorted(series):
        values = np.array([int(number) if text == prefix else -1 for text, number in parts])
        numbers = [np.sort(values[mask & (values >= 0)]) for mask in covered]
        same = all(x.size and np.array_equal(x - x[0], numbers[0] - numbers[0][0]) for x in numbers)
        firsts.append(tuple(int(x[0]) for x in numbers) if same else None)
    return firsts


def require_majority(scores: Scores, present: np.ndarray, complete: np.ndarray) -> None:
    """Raise InputError if missing or misaligned samples prevent a gate from deciding a claim.

    This is the case if half of a model's samples or more are missing, or sample numbers may be shifted.
    Commands other than a gate accept both.

    Parameters
    ----------
    scores : Scores
    present, complete : ndarray of bool, shape (models, samples)
        True if a model has a row for a sample, and if it has one without missing scores.
    """
    if not isinstance(scores.options, GateReading):
        return
    shift = "" if scores.options.unpaired else shift_hint(scores, present)
    worst = depleted_model(scores, present, complete)
    if worst is None and not shift:
        return
    hint = "score the missing samples, or use the same samples for all models"
    if worst is None:
        # Dropping unmatched samples would leave samples paired by the wrong number.
        problem = "the same number may name different samples, so no claim can be decided"
        common = int(np.count_nonzero(present.all(axis=0)))
        detail = f"{common:,} of {present.shape[1]:,} samples have scores of every model"
        hint = "use the same samples for all models"
    else:
        total, count = int(present[worst].sum()), int(complete[worst].sum())
        problem = f"{option('missing', 'drop')} leaves too few samples to decide a claim"
        detail = f"{count:,} of {total:,} samples of {scores.models[worst]}; a gate needs more than half"
    raise InputError(f"{scores.file_names()}: {problem}", found=detail, hint=f"{shift}{hint}")


def depleted_model(scores: Scores, present: np.ndarray, complete: np.ndarray) -> int | None:
    """Return the index of a model that keeps half of its samples or less, or None if there is none.

    If models share samples, only one model is considered: the baseline, or otherwise the model with the most
    samples. With the option `grows`, it is the model with the fewest samples, because further samples are
    expected.

    Parameters
    ----------
    scores : Scores
    present, complete : ndarray of bool, shape (models, samples)
        True if a model has a row for a sample, and if it has one without missing scores.
    """
    counts = present.sum(axis=1)
    depleted = np.flatnonzero(2 * complete.sum(axis=1) <= counts)
    if not scores.options.unpaired:
        has_baseline = scores.notes.baseline is not None and BASELINE in scores.models
        reference = scores.models.index(BASELINE) if has_baseline else int(np.argmax(counts))
        if isinstance(scores.options, GateReading) and scores.options.grows:
            reference = int(np.argmin(counts))
        depleted = depleted[depleted == reference]
    return int(depleted[0]) if depleted.size else None
