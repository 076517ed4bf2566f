"""Figures of a gate that somebody who was asked quotes: the claim that decides, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.studies.document import Quote
from riskrank.studies.gate.claim import FAILED
from riskrank.studies.gate.document import FAIL, INCONCLUSIVE, PASS, GateRow, claims_among, counts
from riskrank.studies.gate.words import deciding_row, estimated, interval_of, looked_at, passes_if
from riskrank.studies.wording import p_words


def quoted(rows: Sequence[GateRow]) -> tuple[Quote, ...]:
    """The difference with its interval, where that has to lie, and the p-value; of several claims counts."""
    row, rows = deciding_row(rows), claims_among(rows)
    several = len(rows) > 1
    told = [_counts(rows)] if several else []
    told.append(_difference(row, margin=several))
    told += [] if several else [_boundary(row)]
    if row.statistic == FAILED:
        return tuple(told)
    return (*told, _sure(row, len(rows)))


def _counts(rows: Sequence[GateRow]) -> Quote:
    found = counts(rows)
    words = f"claims shown; {found[FAIL]} refuted, {found[INCONCLUSIVE]} open"
    return Quote(f"{found[PASS]} of {len(rows)}", words)


def _difference(row: GateRow, *, margin: bool) -> Quote:
    """What was found of the claim that decides."""
    what = f"{looked_at(row)} of {row.metric}{row.place}"
    if row.statistic in ("fsd", "ssd"):
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
    if row.statistic in ("fsd", "ssd"):
        return Quote(place, f"the ratio has to lie {side} it")
    return Quote(place, f"{'the margin: ' if row.margin else ''}all of the interval has to lie {side} it")


def _sure(row: GateRow, claims: int) -> Quote:
    adjusted = f", adjusted for {claims} claims" if claims > 1 else ""
    doubt = "" if row.chosen_p is None else ", were the labels chosen by chance"
    return Quote(p_words(row.p_adjusted), f"of the claim{adjusted}, n = {row.samples:,}{doubt}")
