"""Claims and their answers as sentences, the figures one quotes, and what a run ends with."""

from collections.abc import Callable, Sequence
from functools import partial

from riskrank.errors import RiskrankError, option
from riskrank.options.tiers import ADVISORY
from riskrank.studies.costs import PER_SUCCESS
from riskrank.studies.document import Quote
from riskrank.studies.gate.claim import FAILED, MACRO, MEAN, NOT_WORSE, ORDERS
from riskrank.studies.gate.document import GateDocument, GateRow, claims_among
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS, counts, ends_with, overall
from riskrank.studies.wording import decimals_of, p_words, percent, rounded, rounded_up, told_apart, typeset

# Nobody should be told of more resamples: where so many do not settle it a p-value is at its level.
_MOST_RESAMPLES = 1_000_000
# Letters of the longest head that names two models.
_HEAD = 20
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
    """The first claim with the answer of all together; of open ones the first that is shown to be a loss."""
    outcome = overall(rows)
    found = (row for row in rows if row.verdict == outcome and row.tier != ADVISORY)
    return min(found, key=lambda row: not row.open_loss)


def beyond_labels(row: GateRow, judged: int | None) -> str | None:
    """Labels of the samples that a judge scored, where all of them are too few to decide a claim on means."""
    settled = row.verdict != INCONCLUSIVE or row.samples_needed is not None
    elsewhere = row.statistic != MEAN or row.chosen_p is not None or row.hangs_on_missing
    return None if judged is None or settled or elsewhere else f"labels of these {judged:,} samples"


def unit_of(row: GateRow, unit: str) -> str:
    """What more of would decide a claim: one on a single task is about its samples, drawn tasks or not."""
    return "samples" if row.task is not None and unit == "tasks" else unit


def subtracted(rows: Sequence[GateRow]) -> str:
    """What is subtracted from what, as a head: by name where all claims are of the same models, and fits."""
    (new, old), *others = {(row.new, row.old) for row in rows}
    head = f"{new} − {old}"
    return head if not others and len(head) <= _HEAD else "difference"


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
        numbers = f"violation ratio {row.estimate:.3g}" if row.statistic in ORDERS else ""
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
    if row.statistic in ORDERS:
        return "below 0.5"
    # A margin is the user's own number, shown as it was given, or what a share comes to.
    where = f"{row.boundary:,g}" if row.relative_margin is None else f"{row.boundary:,.3g}"
    return f"{'below' if row.direction == 'lower' else 'above'} {typeset(where)}"


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
    ends = [end for end in (row.low, row.high) if end is not None]
    if not ends:
        return none
    decimals, boundary = decimals_of([row.standard_error]), row.boundary
    others = (boundary, 0.0) if row.better_or_worse else (boundary,)
    told = [max((told_apart(end, other, rounded, decimals)[0] for other in others), key=len) for end in ends]
    return " to ".join(told) if len(told) > 1 else f"{'below' if row.low is None else 'above'} {told[0]}"


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


def quoted(rows: Sequence[GateRow]) -> tuple[Quote, ...]:
    """The difference with its interval, where that has to lie, and the p-value; of several claims counts."""
    row, rows = deciding_row(rows), claims_among(rows)
    several = len(rows) > 1
    found = _difference(row, margin=several)
    told = (_counts(rows), found) if several else (found, _boundary(row))
    return told if row.statistic == FAILED else (*told, _sure(row, len(rows)))


def _counts(rows: Sequence[GateRow]) -> Quote:
    found = counts(rows)
    words = f"claims shown; {found[FAIL]} refuted, {found[INCONCLUSIVE]} open"
    return Quote(f"{found[PASS]} of {len(rows)}", words)


def _difference(row: GateRow, *, margin: bool) -> Quote:
    """What was found of the claim that decides."""
    what = f"{looked_at(row)} of {row.metric}{row.place}"
    if row.statistic in ORDERS:
        where = f"; passes {passes_if(row)}" if margin else ""
        words = f"violation ratio of {row.new} to {row.old}, {what}{where}"
        return Quote(estimated(row, lambda value: f"{value:.3g}"), words)
    ends = interval_of(row)
    ends = f": {ends}" if ends else ""
    less = ", less is better" if row.direction == "lower" else ""
    where = f", passes if all {passes_if(row)}" if margin else ""
    return Quote(estimated(row, sign=True), f"{what}, {row.new} − {row.old}{ends}{less}{where}")


def _boundary(row: GateRow) -> Quote:
    side, place = passes_if(row).split(" ")
    if row.statistic in ORDERS:
        return Quote(place, f"the ratio has to lie {side} it")
    return Quote(place, f"{'the margin: ' if row.margin else ''}all of the interval has to lie {side} it")


def _sure(row: GateRow, claims: int) -> Quote:
    adjusted = f", adjusted for {claims} claims" if claims > 1 else ""
    doubt = "" if row.chosen_p is None else ", were the labels chosen by chance"
    return Quote(p_words(row.p_adjusted), f"of the claim{adjusted}, n = {row.samples:,}{doubt}")


def ending(document: GateDocument, settings: ClaimSettings, *, cases: bool) -> RiskrankError | None:
    """What the run ends with, after its result is written."""
    rows, outcome = document.rows, document.outcome
    found, kind = counts(rows), ends_with(outcome, settings.inconclusive)
    if kind is None:
        return None
    first = deciding_row(rows)
    more = f" (and {found[outcome] - 1} more)" if found[outcome] > 1 else ""
    mean = " mean" if first.statistic == MACRO else ""
    verb = "failed" if outcome == FAIL else "is inconclusive"
    if first.statistic == FAILED:
        return kind(
            f"gate failed: {first.new} has no score more often than {first.old}",
            found=row_sentence(first),
            hint="see why calls failed, and run them again: what did not answer says nothing of the model",
        )
    asked = option(first.claim.replace("-", "_"), f"{first.new}:{first.old}")
    return kind(
        f"gate {asked} {verb} on the {first.statistic}{mean} of {first.metric}{first.place}{more}",
        found=row_sentence(first),
        hint=_lost(first, cases=cases) if outcome == FAIL else to_decide(document),
    )


def _lost(row: GateRow, *, cases: bool) -> str:
    """What a claim that is refuted says of the new model, and where to look."""
    shown = f"shown not to be better than {row.old}{by_margin(row)}"
    if row.claim == NOT_WORSE:
        shown = f"a step back from {row.old}"
    which = f"; {option('cases', 20)} lists the cases that lost most" if cases else ""
    return f"{row.new} is {shown}{which}"


def open_claims(rows: Sequence[GateRow]) -> list[GateRow]:
    """The claims that are neither shown nor refuted, and matter."""
    return [row for row in rows if row.verdict == INCONCLUSIVE and row.tier != ADVISORY]


def more_resamples(document: GateDocument) -> tuple[list[GateRow], int]:
    """The claims that another seed may answer otherwise, and resamples at which it would not.

    0 where there are as many as one may ask for, and the p-value is at its level.
    """
    asked = [row for row in document.rows if row.tier != ADVISORY]
    rows = [row for row in asked if row.resamples_needed]
    if any(row.verdict == FAIL and row not in rows for row in asked):
        return [], 0  # whatever the others are
    most = 0 if (document.provenance.resamples or 0) >= _MOST_RESAMPLES else _MOST_RESAMPLES
    return rows, min(most, rounded_up(max((row.resamples_needed or 0 for row in rows), default=0)))


def to_decide(document: GateDocument) -> str:
    """What would decide the open claim that takes most, and what lets it through as it is."""
    open_, counted = open_claims(document.rows), document.inconclusive
    row = max(open_, key=lambda one: 0 if one.beyond_reach else one.samples_needed or 0)
    if any(map(ranges, open_)):
        missing = any(one.hangs_on_missing for one in open_)
        decides = "what is missing decides it, not more samples: " if missing else ""
        return f"{decides}score what is missing, as the answer is to hold whatever it is"
    resamples = more_resamples(document)[1]
    if resamples and all(one.resamples_needed for one in open_):
        return f"{option('resamples', resamples)}, as another seed may say otherwise at so few"
    unit, loss = unit_of(row, document.unit), any(one.open_loss for one in open_)
    which = f" ({row.name})" if len(document.rows) > 1 else ""
    alike = any(one.kind == "same-distribution" for one in document.findings)
    needed = what_decides(row, unit, document.scored) or f"no number of {unit}" * alike
    decides, never = f"more {document.noisiest or unit}", needed.startswith("no ")
    if needed:
        truth = " would decide it" if never else ", were the difference found the true one"
        decides = f"{needed}{truth}{which}"
    remedies = []
    if any(one.chosen_p is not None for one in open_):
        decides, never = "have people score samples drawn by chance", False
    elif row.claim == NOT_WORSE and row.statistic not in ORDERS and not loss:
        remedies.append(f"a {option('margin')} that does not matter{' might' if never else ''}")
    if not counted:
        them = "it" if len(open_) == 1 else "them"
        through = f"{option('inconclusive', 'pass')} lets {them} through"
        remedies.append(f"{option('inconclusive', 'fail')}, as a loss is shown" if loss else through)
    counts_as = f" ({option('inconclusive', counted)} counts it as {counted})" if counted else ""
    after = "; " if never else ", or "
    return f"{decides}{after if remedies else ''}{', or '.join(remedies)}{counts_as}"
