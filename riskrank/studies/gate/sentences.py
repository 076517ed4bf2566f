"""Sentences about claims, key figures, and the error of a gate that does not pass."""

from collections.abc import Callable, Sequence
from functools import partial

from riskrank.errors import RiskrankError, listing, option
from riskrank.options.inference import ADVISORY
from riskrank.scores.files.parsing import ABSENT
from riskrank.scores.table.baseline import bless_command
from riskrank.scores.table.metric_specs import bounds_hint
from riskrank.studies.document import Quote
from riskrank.studies.gate.claim import AT_LEAST, COUNTED, FAILED, MUST_PASS, NOT_WORSE
from riskrank.studies.gate.document import GateDocument, GateRow, claim_rows
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS, count_verdicts, error_type, joint_verdict
from riskrank.studies.statistics import MACRO, MEAN, ORDERS, statistic_words
from riskrank.studies.wording import (
    counted,
    decimals_from_errors,
    distinct_pair,
    format_fixed,
    format_points,
    p_value_phrase,
    round_up,
    typeset,
)

# Largest number of resamples to propose. If it cannot decide a claim, p-value and level practically agree.
_MAX_RESAMPLES = 1_000_000
# Maximum length of a column head that names two models.
_MAX_HEAD = 20
_CHOSEN_LABELS = "the labels do not look randomly chosen"


def describe_needed_samples(row: GateRow, unit: str, judged: int | None) -> str:
    """Return a description of the number of samples that would decide a claim, rounded up to one digit.

    Parameters
    ----------
    row : GateRow
    unit : str
        Plural noun for the samples.
    judged : int or None
        Number of samples that a judge scored, or None without a judge.

    Returns
    -------
    str
        Noun phrase, such as ``about 300 samples`` or ``no feasible number of samples``. Empty if the claim is
        decided or more samples would not help.
    """
    if row.samples_needed is None:
        is_testable = row.verdict == INCONCLUSIVE and row.statistic == MEAN and row.chosen_p is None
        if judged is not None and is_testable and not row.depends_on_missing:
            return f"no number of labels of these {judged:,} samples"
        return ""
    if row.is_out_of_reach:
        return f"no feasible number of {row_unit(row, unit)}"
    count = round_up(row.samples_needed)
    if judged is not None and row.samples_needed <= judged:  # there are no more samples to label
        count = min(count, judged)
    return f"about {count:,} {row_unit(row, unit)}"


def deciding_row(rows: Sequence[GateRow]) -> GateRow:
    """Return the row that explains the overall verdict: the first row with the same verdict.

    If the overall verdict is inconclusive, rows with a significant loss take precedence.
    """
    outcome = joint_verdict(rows)
    candidates = (row for row in rows if row.verdict == outcome and row.tier != ADVISORY)
    return min(candidates, key=lambda row: not row.has_inconclusive_loss)


def row_unit(row: GateRow, unit: str) -> str:
    """Return the plural noun for a row's resampling units, which are samples for a claim on a single task."""
    return "samples" if row.task is not None and unit == "tasks" else unit


def difference_head(rows: Sequence[GateRow]) -> str:
    """Return a column heading: "new − old", or "difference" if the pairs differ or the names are long."""
    if all(row.is_level for row in rows):
        return "estimate"
    (new, old, relative), *other_pairs = {(row.new, row.old, row.relative_margin is not None) for row in rows}
    head = f"{new} {'/' if relative else '−'} {old}"
    return head if not other_pairs and len(head) <= _MAX_HEAD else "difference"


def row_sentence(row: GateRow) -> str:
    """Return a sentence about the result of a claim, with interval, p-value and sample size."""
    if row.lost_samples is not None:
        lost = f"{counted(len(row.lost_samples), 'sample')} of {row.metric} that must pass"
        passed = f" ({row.old} passes)" if row.old else ""
        return f"{row.new} fails on {lost}{passed}: {listing(row.lost_samples, 5)}"
    if row.statistic == FAILED:
        more = f"{round(row.estimate * row.samples):,} more of {row.samples:,} have no score"
        return (
            f"{row.new} failed {format_points(row.estimate)} more often than {row.old} on {row.metric} "
            f"({more}; the gate fails at {format_points(row.margin)})"
        )
    missing = " for all possible missing scores" if has_estimate_range(row) else ""
    better = ", lower is better" if row.direction == "lower" and not row.is_level else ""
    limits = f"{missing}, {format_interval(row)}{better}"
    words = row_statistic(row)
    if row.low is None or row.high is None:
        words, limits = f"violation ratio {row.estimate:.3g}" if row.statistic in ORDERS else "difference", ""
    p_value = f"; {p_value_phrase(row.p_adjusted)}, n = {row.samples:,}"
    estimate = format_estimate(row, sign=bool(limits) and not row.is_level)
    if row.is_level:
        at_least, met = row.claim == AT_LEAST, row.verdict == PASS
        bound = ("at least" if at_least else "at most") if met else ("below" if at_least else "above")
        verb = "may be" if row.verdict == INCONCLUSIVE else "is"
        result = f"the {row_statistic(row)} of {row.metric}{row.subset} {verb} {bound} {row.margin_text}"
        return f"{row.new}: {result} ({estimate}{limits}{p_value})"
    numbers = words if row.statistic in ORDERS and not limits else f"{words} {estimate}{limits}"
    scope = f"in {row.metric}{row.subset}" if row.task else f"on {row.metric}{row.subset}"
    caveat = "" if row.chosen_p is None else f", because {_CHOSEN_LABELS} ({p_value_phrase(row.chosen_p)})"
    return f"{row.new} {_describe_result(row, scope)} ({numbers}{p_value}){caveat}"


def _describe_result(row: GateRow, scope: str) -> str:
    """Return the result of a claim about two models as a predicate.

    It is about the margin and, if the difference from 0 is significant, about 0. For example: ``is worse than
    old on acc, possibly by more than 0.02``. `scope` is the phrase that names metric and subset.
    """
    better, side = row.claim == "better", row.effect_sign
    margin = margin_phrase(row)
    effect = {1: "better", -1: "worse", 0: ""}[side]
    same_side = effect == ("better" if better else "worse")  # the margin is on the same side of 0
    settled = row.verdict == (PASS if better else FAIL) or (row.verdict == INCONCLUSIVE and not same_side)
    if not margin or not effect or settled:
        verdict = {
            (True, PASS): "is better",
            (True, FAIL): "is not better",
            (True, INCONCLUSIVE): "is not significantly better",
            (False, PASS): "is not worse",
            (False, FAIL): "is worse",
            (False, INCONCLUSIVE): "may be worse",
        }[better, row.verdict]
        return f"{verdict} than {row.old}{margin} {scope}"
    effect_text = f"is {effect} than {row.old} {scope}"
    if row.verdict == INCONCLUSIVE:
        return f"{effect_text}, possibly{margin}"
    if same_side:
        return f"{effect_text}, but not{margin}"
    return f"{effect_text}, so not {'better' if better else 'worse'}{margin}"


def margin_phrase(row: GateRow) -> str:
    """Return a phrase such as " by more than 0.02", or an empty string for a margin of 0."""
    return f" by more than {row.margin_text}" if row.margin else ""


def pass_condition(row: GateRow) -> str:
    """Return the condition that the interval must meet to pass, such as ``above −0.1``."""
    if row.statistic in ORDERS or row.lost_samples is not None:
        return "below 0.5" if row.lost_samples is None else "exactly 0"
    bound = f"{row.boundary:,g}" if row.relative_margin is None else f"{100 * row.boundary:,g}%"
    return f"{'below' if row.direction == 'lower' else 'above'} {typeset(bound)}"


def row_statistic(row: GateRow) -> str:
    """Return the statistic of a claim in words, such as ``worst 5 %`` or ``failed calls``."""
    words = {FAILED: "failed calls", MUST_PASS: "lost samples that must pass"}
    return words.get(row.statistic) or statistic_words(row.statistic)


def format_value(row: GateRow, value: float) -> str:
    """Format a value in the units of a claim, rounded according to the standard error."""
    if row.relative_margin is not None:
        return f"{format_fixed(100 * value, decimals_from_errors([100 * row.standard_error]))} %"
    return format_fixed(value, decimals_from_errors([row.standard_error]))


def format_interval(row: GateRow, default: str = "") -> str:
    """Format the interval of a difference, or return `default` if there is none.

    Limits have enough digits to show on which side of the boundary they lie.
    """
    bounds = [bound for bound in (row.low, row.high) if bound is not None]
    if not bounds:
        return default
    decimals, boundary = decimals_from_errors([row.standard_error]), row.boundary
    marks = (boundary, 0.0) if row.effect_sign else (boundary,)
    percent = row.relative_margin is not None
    scale, decimals = (100, max(decimals - 2, 0)) if percent else (1, decimals)
    texts = [
        max((distinct_pair(scale * x, scale * mark, format_fixed, decimals)[0] for mark in marks), key=len)
        + " %" * percent
        for x in bounds
    ]
    return " to ".join(texts) if len(texts) > 1 else f"{'below' if row.low is None else 'above'} {texts[0]}"


def has_estimate_range(row: GateRow) -> bool:
    """Return True if missing scores leave a range of possible estimates."""
    return row.estimate_low is not None and row.estimate_low != row.estimate_high


def format_estimate(
    row: GateRow, format_number: Callable[[float], str] | None = None, *, sign: bool = False
) -> str:
    """Format the estimated difference, or its possible range if scores are missing.

    If `sign` is True, positive numbers have a plus sign.
    """
    format_number = format_number or partial(format_value, row)
    values = [row.estimate]
    if has_estimate_range(row):
        values = [number for number in (row.estimate_low, row.estimate_high) if number is not None]
    return " to ".join(("+" if sign and value > 0 else "") + format_number(value) for value in values)


def build_quotes(rows: Sequence[GateRow]) -> tuple[Quote, ...]:
    """Return the key figures: estimate, boundary and p-value of the claim that decides the verdict.

    For several claims, the number of claims by verdict replaces the boundary.
    """
    row, rows = deciding_row(rows), claim_rows(rows)
    several = len(rows) > 1
    difference = _difference_quote(row, with_condition=several)
    if several:
        verdicts = count_verdicts(rows)
        words = f"claims passed; {verdicts[FAIL]} failed, {verdicts[INCONCLUSIVE]} inconclusive"
        quotes = [Quote(f"{verdicts[PASS]} of {len(rows)}", words), difference]
    else:
        side, limit = pass_condition(row).split(" ", 1)
        name = "margin" if row.margin and not row.is_level else "boundary"
        words = f"{name}; the entire interval must lie {side} it"
        if row.statistic in ORDERS:
            words = f"the violation ratio must lie {side} this boundary"
        quotes = [difference, Quote(limit, words)]
    if row.statistic not in COUNTED:
        adjusted = f", adjusted for {len(rows)} claims" if several else ""
        caveat = "" if row.chosen_p is None else ", valid only for randomly chosen labels"
        words = f"for the claim{adjusted}, n = {row.samples:,}{caveat}"
        quotes.append(Quote(p_value_phrase(row.p_adjusted), words))
    return tuple(quotes)


def _difference_quote(row: GateRow, *, with_condition: bool) -> Quote:
    """Return the estimated difference of a claim as a key figure, optionally with the condition to pass."""
    label = f"{row_statistic(row)} of {row.metric}{row.subset}"
    if row.statistic in ORDERS:
        passes = f"; it must be {pass_condition(row)}" if with_condition else ""
        words = f"violation ratio of {row.new} to {row.old}, {label}{passes}"
        return Quote(format_estimate(row, lambda value: f"{value:.3g}"), words)
    limits = format_interval(row)
    limits = f": {limits}" if limits else ""
    better = ", lower is better" if row.direction == "lower" else ""
    passes = f"; the interval must lie {pass_condition(row)}" if with_condition else ""
    if row.is_level:
        return Quote(format_estimate(row), f"{label} of {row.new}{limits}{passes}")
    return Quote(format_estimate(row, sign=True), f"{label}, {row.new} − {row.old}{limits}{better}{passes}")


def gate_error(document: GateDocument, settings: ClaimSettings, *, cases: bool) -> RiskrankError | None:
    """Return the error to raise after the result has been written, or None if the gate passes.

    Parameters
    ----------
    document : GateDocument
    settings : ClaimSettings
    cases : bool
        True if the hint may propose to list the largest losses.
    """
    rows, outcome = document.rows, document.outcome
    verdicts, kind = count_verdicts(rows), error_type(outcome, settings.inconclusive)
    if kind is None:
        return None
    first = deciding_row(rows)
    more = f" (and {verdicts[outcome] - 1} more)" if verdicts[outcome] > 1 else ""
    mean = " mean" if first.statistic == MACRO else ""
    verb = "failed" if outcome == FAIL else "is inconclusive"
    if first.statistic == FAILED:
        return kind(
            f"gate failed: more calls of {first.new} failed than of {first.old}",
            found=row_sentence(first),
            hint="find out why the calls failed, and repeat them: failed calls do not measure the model"
            + _absence_hint(document),
            suggestions=_absence_suggestions(document),
        )
    pair = first.margin_text if first.is_level else f"{first.new}:{first.old}"
    claim = option(first.claim.replace("-", "_"), pair)
    if first.lost_samples is not None:
        return kind(
            f"gate failed: {first.new} fails on {counted(len(first.lost_samples), 'sample')} that must pass",
            found=row_sentence(first),
            hint="fix these cases; other samples cannot compensate for them",
        )
    if first.is_level:
        side = "below" if first.claim == AT_LEAST else "above"
        hint = f"{first.new} is significantly {side} {first.margin_text}"
    else:
        result = "significantly worse" if first.claim == NOT_WORSE else "not better"
        hint = f"{first.new} is {result} than {first.old}{margin_phrase(first)}"
        hint += f"; {option('cases', 20)} lists the cases with the largest losses" if cases else ""
    return kind(
        f"gate {claim} {verb} on the {first.statistic}{mean} of {first.metric}{first.subset}{more}",
        found=row_sentence(first),
        hint=hint if outcome == FAIL else next_steps(document),
        suggestions=_absence_suggestions(document) if outcome == INCONCLUSIVE else (),
    )


def _can_drop_absent_samples(document: GateDocument) -> bool:
    """Return True if samples without a row can be excluded: some are, but fewer than half of them."""
    counts = document.provenance.scored
    droppable = document.provenance.method.get("missing") == "auto" and document.looks is None
    return (
        droppable
        and any(entry.why.get(ABSENT) for entry in counts)
        and all(2 * (entry.total - entry.why.get(ABSENT, 0)) > entry.total for entry in counts)
    )


def _absence_hint(document: GateDocument) -> str:
    """Return a hint for samples that were removed on purpose, or an empty string if no sample is missing."""
    if _can_drop_absent_samples(document):
        return f"; if the cases were removed on purpose: {option('missing', 'drop')}"
    if document.overlap is None or not document.overlap.missing:
        return ""
    return f"; if the sample set has changed, bless new scores: {bless_command(document.overlap.path)}"


def _absence_suggestions(document: GateDocument) -> list[tuple[str, object]]:
    """Return the suggested options that declare missing scores as removed cases, or as failures."""
    options = [option("missing", "drop")] if _can_drop_absent_samples(document) else []
    declared = [option("metrics_file", line) for line in document.unbounded.values() if line]
    if len(document.unbounded) == len(declared) == 1 and "metrics_file" not in document.provenance.settings:
        options.append(f"{option('missing', 'worst')} {declared[0]}")
    return [(text, None) for text in options]


def inconclusive_rows(rows: Sequence[GateRow]) -> list[GateRow]:
    """Return the inconclusive claims that are not advisory."""
    return [row for row in rows if row.verdict == INCONCLUSIVE and row.tier != ADVISORY]


def seed_dependent_rows(document: GateDocument) -> tuple[list[GateRow], int]:
    """Return the claims whose verdict depends on the random seed, and the number of resamples they need.

    The number is 0 if no feasible number of resamples would make the verdicts independent of the seed.
    """
    binding = [row for row in document.rows if row.tier != ADVISORY]
    rows = [row for row in binding if row.resamples_needed]
    if any(row.verdict == FAIL and row not in rows for row in binding):
        return [], 0  # the gate fails whatever the seed
    limit = 0 if (document.provenance.resamples or 0) >= _MAX_RESAMPLES else _MAX_RESAMPLES
    return rows, min(limit, round_up(max((row.resamples_needed or 0 for row in rows), default=0)))


def next_steps(document: GateDocument) -> str:
    """Return advice on how to decide or accept the inconclusive claim that needs the most samples."""
    undecided, setting = inconclusive_rows(document.rows), document.inconclusive
    fewest = document.provenance.settings.get("min_samples") or 0
    if any(row.samples < fewest for row in undecided):
        return f"score at least {fewest:,} {document.unit}, which {option('min_samples', fewest)} requires"
    unbounded = [row for row in undecided if row.metric in document.unbounded]
    if unbounded:
        bounds = bounds_hint(unbounded[0].metric, file=document.provenance.settings.get("metrics_file"))
        failures = f"{option('missing', 'worst')}; {bounds}"
        return f"score the missing samples{_absence_hint(document)}; if they are failures: {failures}"
    row = max(undecided, key=lambda row: 0 if row.is_out_of_reach else row.samples_needed or 0)
    if any(map(has_estimate_range, undecided)):
        missing = any(row.depends_on_missing for row in undecided)
        decides = "the missing scores decide the claim, not more samples: " if missing else ""
        rule = f"as the verdict must hold for any missing score{_absence_hint(document)}"
        return f"{decides}score the missing samples, {rule}"
    resamples = seed_dependent_rows(document)[1]
    if resamples and all(row.resamples_needed for row in undecided):
        return f"{option('resamples', resamples)}; with fewer, another seed may give another verdict"
    unit, loss = row_unit(row, document.unit), any(row.has_inconclusive_loss for row in undecided)
    name = row.name if len(document.rows) > 1 else ""
    same = any(finding.kind == "same-distribution" for finding in document.findings)
    needed = (
        describe_needed_samples(row, unit, document.judged_samples) or f"no feasible number of {unit}" * same
    )
    decides, hopeless = f"add more {document.noise_source or unit}", needed.startswith("no ")
    if needed:
        basis = f"({name and f'{name}; '}enough if the estimate is exact)"
        decides = f"{needed} would decide it{name and f' ({name})'}" if hopeless else f"use {needed} {basis}"
    remedies = []
    if any(row.chosen_p is not None for row in undecided):
        decides, hopeless = "have people score randomly chosen samples", False
    elif row.claim == NOT_WORSE and row.statistic not in ORDERS and not loss:
        remedies.append(f"allow a larger {option('margin')}")
    if not setting:
        them = "it" if len(undecided) == 1 else "them"
        accept = f"use {option('inconclusive', 'pass')} to accept {them}"
        reject = f"use {option('inconclusive', 'fail')}, because the loss is significant"
        remedies.append(reject if loss else accept)
    counts_as = f" ({option('inconclusive', setting)} counts it as {setting})" if setting else ""
    after = "; " if hopeless else ", or "
    return f"{decides}{after if remedies else ''}{', or '.join(remedies)}{counts_as}"
