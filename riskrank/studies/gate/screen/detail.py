"""Claims in detail: estimates, intervals, p-values, bars, and how to read them."""

from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.view import Cell, Column, Line, OfRow, Section, by_row
from riskrank.studies.gate.claim import ORDERS
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS
from riskrank.studies.gate.words import estimated, interval_of, looked_at

STYLES = {PASS: "green", FAIL: "red", INCONCLUSIVE: "yellow"}


def details(document: GateDocument) -> list[Section]:
    """Table of claims, and how to read it."""
    rows, grouped = document.rows, any(row.group is not None for row in document.rows)
    tasks = any(row.task is not None for row in rows)
    needed = any(row.samples_needed is not None for row in rows)
    columns: list[OfRow | None] = [
        (Column("verdict", "left"), lambda row: Cell(row.verdict, STYLES[row.verdict])),
        (Column("claim", "left"), _claim),
        (Column("on", "left"), lambda row: f"{looked_at(row)} of {row.metric}"),
        (Column("task", "left"), lambda row: row.task or "all together") if tasks else None,
        (Column("group", "left"), lambda row: row.group or "all together") if grouped else None,
        (Column("new − old"), difference),
        (Column("interval", "left"), lambda row: interval_of(row, "–")),
        (Column("p"), lambda row: numbers.p_value(row.p_adjusted)),
        (Column("n"), lambda row: f"{row.samples:,}"),
        (Column("n\nneeded", name="n needed"), lambda row: numbers.count(row.samples_needed))
        if needed
        else None,
    ]
    return [by_row("Gate", columns, rows, stub=3), Line(_reading(document, needed), "Reading:")]


def _claim(row: GateRow) -> str:
    sign = ">" if row.claim == "better" else "≥"
    margin = "" if not row.margin else f" {'+' if row.claim == 'better' else '−'} {row.asked}"
    return f"{row.new} {sign} {row.old}{margin}"


def difference(row: GateRow, ratio: str = "ε") -> str:
    """The difference that was found, or the violation ratio."""
    return f"{ratio} {estimated(row, numbers.ratio)}" if row.statistic in ORDERS else estimated(row)


def _reading(document: GateDocument, needed: bool) -> str:
    rows = document.claims
    text = [
        f"intervals hold together with probability {document.family.confidence:g}, p is adjusted for "
        f"{len(rows)} claims"
        if len(rows) > 1 and document.family.simultaneous
        else f"the interval is at {100 * document.family.confidence:g} %",
        "a claim passes if its interval lies wholly on its side, fails if wholly on the other, and is "
        "inconclusive otherwise",
    ]
    less = dict.fromkeys(
        row.metric for row in rows if row.direction == "lower" and row.statistic not in ORDERS
    )
    if less:
        text.append(f"less is better of {', '.join(less)}, and > means better")
    if any(row.statistic in ORDERS for row in rows):
        text.append("ε is the violation ratio, below 0.5 where new is ahead; it has no interval here")
    if any(row.estimate_low is not None for row in rows):
        text.append(
            "a difference reaches from what is missing at its worst to that at its best, and answers hold "
            "whatever it is"
        )
    if any(row.chosen_p is not None for row in rows):
        text.append(
            "intervals and p hold for labels chosen by chance, which these do not look: no claim is decided"
        )
    if document.looks is not None:
        text.append(
            f"answers, p and intervals hold at whatever moment one looks and stops; this is look "
            f"{document.looks.number}, and {option('continues', 'FILE')} checks that nothing is taken back"
        )
    if needed and document.looks is not None:
        text.append("n needed is what decides a claim if more samples are like these")
    elif needed:
        text.append(
            "n needed is what would decide a claim four times in five if the estimate were the truth, by the "
            "normal approximation"
        )
    if any(row.verdict == INCONCLUSIVE for row in rows) and document.inconclusive:
        counted = option("inconclusive", document.inconclusive)
        text.append(f"{counted}: what is inconclusive counts as {document.inconclusive}")
    return "; ".join(text) + "."
