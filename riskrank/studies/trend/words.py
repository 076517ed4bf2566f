"""Trends as sentences: what is shown to be worse, since when, and by how much."""

from __future__ import annotations

from riskrank.studies.rounding import decimals_of, rounded, rounded_beside_zero
from riskrank.studies.trend.document import BETTER, MOVED, WAS_WORSE, WORSE, TrendLine, TrendRow
from riskrank.studies.wording import percent


def line_sentence(line: TrendLine) -> str:
    """What the last run comes to: that far more of it failed, else what is shown of its scores."""
    if line.more_failed is None:
        return answer_sentence(line)
    last = line.last
    return (
        f"{line.model} failed on {percent(line.more_failed)} more of {line.metric} in {last.run} than in the "
        f"baseline ({last.samples - last.scored:,} of {last.samples:,} have no score)"
    )


def answer_sentence(line: TrendLine) -> str:
    """What the last run is against the baseline, or against the run before, and since when."""
    who, last = f"{line.model} is", line.last
    if line.state == WORSE and line.shown is not None:
        when = f"since {line.since}" if line.since != line.shown.run else f"in {line.since}"
        return f"{who} shown worse on {line.metric} {when}, by {amount(line.shown)}"
    if line.drop:
        by = amount(last, "last")
        return f"{who} shown worse on {line.metric} in {last.run} than in the run before, by {by}"
    if line.state == WAS_WORSE and line.shown is not None:
        first = "" if line.since == line.shown.run else f" since {line.since}, and last"
        by = amount(line.shown)
        return (
            f"{line.model} was shown worse on {line.metric}{first} in {line.shown.run}, by {by}; "
            f"whether {last.run} still is, is open"
        )
    if line.state == BETTER:
        return f"{who} shown better on {line.metric} in {last.run}, by {amount(last)}"
    if line.state == MOVED:
        return f"the ruler of {line.metric} moved, so nothing is claimed of {line.model} across it"
    return f"{line.model} on {line.metric}: neither worse nor better is shown"


def amount(row: TrendRow, of: str = "baseline") -> str:
    """From how much to how much a run is better or worse, without a sign: ``0.04 to 0.09``."""
    ends = [getattr(row, f"against_{of}_{end}") for end in ("low", "high")]
    known = sorted(abs(end) for end in ends if end is not None)
    if len(known) < 2:
        return f"about {rounded(abs(getattr(row, f'against_{of}')), 3)}"
    return " to ".join(rounded_beside_zero(end, _decimals(row, of)) for end in known)


def difference(row: TrendRow, of: str) -> str:
    """A difference with its interval: ``−0.06 (−0.09 to −0.04)``."""
    value, low, high = (getattr(row, f"against_{of}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return "–"
    decimals = _decimals(row, of)
    said = f"{'+' if value > 0 else ''}{rounded(value, decimals)}"
    if low is None or high is None:
        return said
    return f"{said} ({rounded_beside_zero(low, decimals)} to {rounded_beside_zero(high, decimals)})"


def mean_words(row: TrendRow, *, ends: bool = True) -> str:
    """A mean, with its interval."""
    decimals = decimals_of([(row.high - row.low) / 4])
    if not ends:
        return rounded(row.mean, decimals)
    return f"{rounded(row.mean, decimals)} ({rounded(row.low, decimals)} to {rounded(row.high, decimals)})"


def _decimals(row: TrendRow, of: str) -> int:
    low, high = (getattr(row, f"against_{of}_{end}") for end in ("low", "high"))
    return 3 if low is None or high is None else decimals_of([(high - low) / 8])
