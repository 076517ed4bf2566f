"""What new scores and a baseline have in common: never less than was blessed without a word."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans
from riskrank.errors import InputError, listing, option
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.baseline import RULES, Baseline, Overlap, how_to_bless
from riskrank.scores.table.imputation import FILLING
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.unmatched_samples import on_shared

# Names that a message or a warning has room for.
_MOST_NAMED = 4


def compared(scores: Scores, metrics: Sequence[str]) -> Scores:
    """Scores whose overlap with their baseline is known; as they are where there is none.

    Parameters
    ----------
    scores : Scores
        Whose options `missing` and `unpaired` say whether other samples are refused.
    metrics : sequence of str
        Those that claims are about.

    Raises
    ------
    InputError
        If the new scores lack a metric, a task or samples of the baseline, or have others.
    """
    rule, paired = scores.options.missing, not scores.options.unpaired
    baseline = scores.notes.baseline
    if baseline is None:
        return on_shared(scores, metrics) if rule == "auto" and paired else scores
    _require_rules(baseline, scores.options)
    old = scores.codes("model") == scores.models.index(BASELINE)
    gone, added = _metrics(scores, old, metrics, baseline)
    kept = np.isin(scores.codes("metric"), [scores.metrics.index(name) for name in metrics])
    if rule != "drop" and paired:
        _require_tasks(scores, old, kept, baseline)
    # A row without a score is a sample that failed; where such samples are left out, it is none.
    has = kept if rule == "auto" else kept & ~scores.invalid()
    of_old, of_new = (np.unique(scores.codes("sample")[has & side]) for side in (old, ~old))
    common = np.intersect1d(of_old, of_new).size
    overlap = Overlap(
        path=baseline.path,
        model=baseline.model,
        samples=of_old.size,
        common=common,
        missing=of_old.size - common,
        added=of_new.size - common,
        metrics_missing=gone,
        metrics_added=added,
        same_files=_same_files(scores, baseline),
    )
    scores = scores.noting(*_warnings(overlap, scores))
    scores = replace(scores, notes=replace(scores.notes, overlap=overlap))
    if rule == "drop" and paired:
        _require_most(overlap, grows=isinstance(scores.options, GateReading) and scores.options.grows)
    if rule in ("auto", "error") and paired:
        scores = on_shared(scores, metrics)
    elif rule in FILLING and paired:
        # What is new is no gap of the baseline: filled, it would flatter the new model.
        scores = scores.only(np.isin(scores.codes("sample"), scores.codes("sample")[kept & old]))
    scores = _in_known_wholes(scores, baseline)
    return scores if scores.options.unpaired else _of_common_tasks(scores)


def _require_rules(baseline: Baseline, options: ReadOptions) -> None:
    """Refuse other scores of an export than were blessed: what a strict filter finds and a loose one."""
    for name in RULES:
        now, then = sorted(getattr(options, name)), sorted(baseline.rules[name])
        if now != then:
            same = " ".join(option(name, one) for one in then) or f"no {option(name)}"
            same += " compares the same scores"
            if options.from_ is None:
                same = f"read the export itself, {option('from', 'auto')}"
            raise InputError(
                f"{baseline.path}: {option(name)} is not what it was when these scores were blessed",
                found=f"{listing(then)} then, and {listing(now)} now",
                hint=f"{same}; or bless the scores that are read now: {how_to_bless(baseline.path)}",
            )


def _metrics(
    scores: Scores, old: Booleans, wanted: Sequence[str], baseline: Baseline
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Metrics of one side alone, which no claim may be about."""
    was, now = (set(scores.frame.filter(pl.Series(side))["metric"].cast(pl.String)) for side in (old, ~old))
    gone, added = sorted(was - now), sorted(now - was)
    strays = [name for name in (*gone, *added) if name in wanted]
    if strays:
        both = [name for name in scores.metrics if name in was & now]
        claims = " ".join(option("metric", name) for name in both[:_MOST_NAMED])
        raise _one_sided(
            baseline,
            f"metric '{strays[0]}'",
            "score it; or, if it has another name now, " if strays[0] in gone else "",
            f"scores that have {'the new one' if strays[0] in gone else 'it'}",
            {"in both": both, "only in the baseline": gone, "only in the new scores": added},
            f"; or gate on what both have: {claims}" if claims else "",
        )
    return tuple(gone), tuple(added)


def _one_sided(
    baseline: Baseline, what: str, score: str, scores: str, sides: Mapping[str, Sequence[str]], more: str = ""
) -> InputError:
    """What one side has alone; `score` says how to mend a lack, and is empty of what is new."""
    told = [f"{where}: {listing(names)}" for where, names in sides.items() if names or where == "in both"]
    lost = f"the new scores lack the {what}, which was blessed"
    return InputError(
        f"{baseline.path}: {lost if score else f'the {what} is new, and the baseline has none of it'}",
        found="; ".join(told),
        hint=f"{score}bless {scores}: {how_to_bless(baseline.path)}{more}",
    )


def _require_tasks(scores: Scores, old: Booleans, kept: Booleans, baseline: Baseline) -> None:
    """Refuse tasks of one side alone."""
    if not scores.has("task"):
        return
    names = scores.names("task")
    of_old, of_new = (
        {names[at] for at in np.unique(scores.codes("task")[kept & side])} for side in (old, ~old)
    )
    gone, added = sorted(of_old - of_new), sorted(of_new - of_old)
    if gone or added:
        sides = {"in both": sorted(of_old & of_new), "only in the baseline": gone}
        sides["only in the new scores"] = added
        what, score = f"task '{[*gone, *added][0]}'", "run it; or " if gone else ""
        raise _one_sided(baseline, what, score, "scores of these tasks", sides)


def _require_most(overlap: Overlap, *, grows: bool) -> None:
    """Refuse to speak of a baseline by half of its samples or less: whole tasks may be gone."""
    if 2 * overlap.common > (overlap.common + overlap.added if grows else overlap.samples):
        return
    raise InputError(
        f"{overlap.path}: {option('missing', 'drop')} leaves too little of it to decide a claim on",
        found=f"scores of {overlap.common:,} of the {overlap.samples:,} blessed samples"
        f"{f', and {overlap.added:,} others' if overlap.added else ''}; a gate needs more than half",
        hint="score the others; or, if the samples changed for good, bless new scores: "
        + how_to_bless(overlap.path),
    )


def _warnings(overlap: Overlap, scores: Scores) -> list[str]:
    """What is left out or looks strange, for who reads warnings."""
    found, rule = [], scores.options.missing
    if rule not in ("auto", "error") and (overlap.missing or overlap.added):
        added = f"; left out: {overlap.added:,} new" if overlap.added and not scores.options.unpaired else ""
        lacking = f"{overlap.missing:,} of the {overlap.samples:,} samples of {overlap.path}"
        found.append(f"{option('missing', rule)}: the new scores lack {lacking}{added}")
    if overlap.metrics_missing:
        gone = listing(overlap.metrics_missing, _MOST_NAMED)
        found.append(f"the new scores have no {gone}, which was blessed; no claim is about it")
    if overlap.metrics_added:
        new = listing(overlap.metrics_added, _MOST_NAMED)
        found.append(f"{overlap.path} has no {new}, which is new; no claim is about it")
    if overlap.same_files:
        same = f"the new scores are byte for byte the files that {overlap.path} was blessed from"
        found.append(f"{same}: was anything scored anew?")
    return found


def _same_files(scores: Scores, baseline: Baseline) -> bool:
    """Whether new scores are those of the files that were blessed, and not of another model in them."""
    digests = [file.sha256 for file in scores.notes.inputs if file != baseline.input_file()]
    if not digests or not all(one is not None and one in baseline.digests for one in digests):
        return False
    cells = scores.frame.select("model", pl.col("sample", "metric").cast(pl.String), "score")
    by_model = [cells.filter(pl.col("model") == name).drop("model").sort(pl.all()) for name in scores.models]
    return all(one.equals(by_model[0]) for one in by_model)


def _of_common_tasks(scores: Scores) -> Scores:
    """Without tasks of one side alone, where that was asked for."""
    if not scores.has("task"):
        return scores
    old, task = scores.codes("model") == scores.models.index(BASELINE), scores.codes("task")
    kept = np.isin(task, np.intersect1d(task[old], task[~old]))
    return scores if kept.all() or not kept.any() else scores.only(kept)


def _in_known_wholes(scores: Scores, baseline: Baseline) -> Scores:
    """Without samples of the baseline whose cluster or group only the new scores could tell."""
    lost = np.zeros(scores.frame.height, dtype=bool)
    for whole in ("cluster", "group"):
        if scores.has(whole):
            lost |= scores.frame[whole].is_null().to_numpy()
    if not lost.any():
        return scores
    if scores.options.missing != "drop" or scores.options.unpaired:
        raise InputError(
            f"{baseline.path}: nobody knows the groups or clusters of samples the new scores lack",
            found=f"{np.unique(scores.codes('sample')[lost]).size:,} samples",
            hint=f"{option('missing', 'drop')} leaves them out",
        )
    return scores.only(~lost)
