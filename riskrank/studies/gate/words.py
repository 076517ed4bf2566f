"""Claims and their answers as sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from riskrank.asked.tiers import ADVISORY
from riskrank.studies.costs import PER_SUCCESS
from riskrank.studies.gate.claim import FAILED, MEAN
from riskrank.studies.gate.document import FAIL, INCONCLUSIVE, PASS, GateRow, overall
from riskrank.studies.rounding import decimals_of, rounded, rounded_up, told_apart, typeset
from riskrank.studies.wording import p_words, percent

_CHOSEN = "the labels do not look chosen by chance"


def what_decides(row: GateRow, unit: str, judged: int | None) -> str:
    """How many samples would decide a claim, to one digit; nothing where none would, or nothing is to be."""
    if (never := beyond_labels(row, judged)) is not None:
        return f"no number of {never}"
    if row.samples_needed is None:
        return ""
    if row.beyond_reach:
        return f"no number of {unit_of(row, unit)} in reach"
    count = rounded_up(row.samples_needed)
    if judged is not None and row.samples_needed <= judged:  # there are no more to be labelled
        count = min(count, judged)
    return f"about {count:,} {unit_of(row, unit)}"


def deciding_row(rows: Sequence[GateRow]) -> GateRow:
    """The first claim with the answer of all together."""
    outcome = overall(rows)
    return next(row for row in rows if row.verdict == outcome and row.tier != ADVISORY)


def beyond_labels(row: GateRow, judged: int | None) -> str | None:
    """Labels of the samples that a judge scored, where all of them are too few to decide a claim on means."""
    settled = row.verdict != INCONCLUSIVE or row.samples_needed is not None
    elsewhere = row.statistic != MEAN or row.chosen_p is not None or row.hangs_on_missing
    return None if judged is None or settled or elsewhere else f"labels of these {judged:,} samples"


def unit_of(row: GateRow, unit: str) -> str:
    """What more of would decide a claim: one on a single task is about its samples, drawn tasks or not."""
    return "samples" if row.task is not None and unit == "tasks" else unit


def row_sentence(row: GateRow) -> str:
    """The claim, and the numbers that decide it."""
    if row.statistic == FAILED:
        more = f"{round(row.estimate * row.samples):,} more of {row.samples:,} have no score"
        return (
            f"{row.new} failed on {percent(row.estimate)} more of {row.metric} than {row.old} ({more}, and "
            f"{percent(row.margin)} more fail a gate)"
        )
    where = f"in {row.metric}{row.place}" if row.task else f"on {row.metric}{row.place}"
    if row.low is None or row.high is None:
        numbers = f"violation ratio {row.estimate:.3g}" if row.statistic in ("fsd", "ssd") else ""
        numbers = numbers or f"difference {said(row, row.estimate)}"
    else:
        better = ", less is better" if row.direction == "lower" else ""
        ends = interval_of(row)
        missing = ", whatever is missing" if ranges(row) else ""
        numbers = f"{looked_at(row)} {estimated(row, sign=True)}{missing}, {ends}{better}"
    doubt = "" if row.chosen_p is None else f", as {_CHOSEN} ({p_words(row.chosen_p)})"
    numbers = f"{numbers}; {p_words(row.p_adjusted)}, n = {row.samples:,}"
    return f"{row.new} {_relation(row, where)} ({numbers}){doubt}"


def _relation(row: GateRow, where: str) -> str:
    """What is shown of the margin, and of 0 where the interval says so: ``is worse than old on acc; …``."""
    better, side = row.claim == "better", row.better_or_worse
    margin = by_margin(row, " by more than ")
    which = {1: "better", -1: "worse", 0: ""}[side]
    along = which == ("better" if better else "worse")  # the margin lies beyond 0 on this side
    settled = row.verdict == (PASS if better else FAIL) or (row.verdict == INCONCLUSIVE and not along)
    if not margin or not which or settled:
        shown = {
            (True, PASS): "is better",
            (True, FAIL): "is not better",
            (True, INCONCLUSIVE): "is not shown to be better",
            (False, PASS): "is not worse",
            (False, FAIL): "is worse",
            (False, INCONCLUSIVE): "is not shown to be no worse",
        }[better, row.verdict]
        return f"{shown} than {row.old}{margin} {where}"
    known = f"is {which} than {row.old} {where}"
    if row.verdict == INCONCLUSIVE:
        return f"{known}; whether{margin} is open"
    if along:
        return f"{known}, but not{margin}"
    return f"{known}, so not {'better' if better else 'worse'}{margin}"


def by_margin(row: GateRow, by: str = " by ") -> str:
    """The margin as a sentence goes on, of a share of the old mean with what it comes to."""
    units = "" if row.relative_margin is None else f" ({row.margin:,.3g})"
    return f"{by}{row.asked}{units}" if row.margin else ""


def passes_if(row: GateRow) -> str:
    """On which side of what all of an interval has to lie, in the units of the file: ``above −0.1``."""
    if row.statistic in ("fsd", "ssd"):
        return "below 0.5"
    # A margin is the user's own number, shown as it was given, or what a share comes to.
    where = f"{boundary_of(row):,g}" if row.relative_margin is None else f"{boundary_of(row):,.3g}"
    return f"{'below' if row.direction == 'lower' else 'above'} {typeset(where)}"


def boundary_of(row: GateRow) -> float:
    """What all of an interval has to lie on one side of; adding zero turns −0 into 0."""
    claimed = row.margin if row.claim == "better" else -row.margin
    return (-claimed if row.direction == "lower" else claimed) + 0.0


def looked_at(row: GateRow) -> str:
    """What of the scores a claim is about, in words."""
    if row.statistic.startswith("pass"):
        return row.statistic
    if row.statistic.startswith("tvar@"):
        return f"worst {percent(float(row.statistic.removeprefix('tvar@')))}"
    words = {"macro": "macro mean", "fsd": "dominance in order 1", "ssd": "dominance in order 2"}
    words |= {FAILED: "failures", PER_SUCCESS: "relative cost per success"}
    return words.get(row.statistic, row.statistic)


def said(row: GateRow, value: float) -> str:
    """A number in the units of a claim, with the digits its standard error leaves."""
    return rounded(value, decimals_of([row.standard_error]))


def interval_of(row: GateRow, none: str = "") -> str:
    """The interval of a difference; on which side of the boundary an end is, which decides, is seen."""
    if row.low is None or row.high is None:
        return none
    decimals, boundary = decimals_of([row.standard_error]), boundary_of(row)
    others = (boundary, 0.0) if row.better_or_worse else (boundary,)
    return " to ".join(
        max((told_apart(end, other, rounded, decimals)[0] for other in others), key=len)
        for end in (row.low, row.high)
    )


def ranges(row: GateRow) -> bool:
    """Whether the estimate hangs on what is missing."""
    return row.estimate_low is not None and row.estimate_low != row.estimate_high


def estimated(row: GateRow, say: Callable[[float], str] | None = None, *, sign: bool = False) -> str:
    """A difference, or from where to where it lies by what is missing."""
    say = say or partial(said, row)
    ends = [row.estimate]
    if ranges(row):
        ends = [end for end in (row.estimate_low, row.estimate_high) if end is not None]
    return " to ".join(("+" if sign and end > 0 else "") + say(end) for end in ends)
