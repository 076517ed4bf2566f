"""The first screen of a gate: a line a claim, the answer first, and what would decide the open ones."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from riskrank.asked.tiers import ADVISORY
from riskrank.errors import listing, one_line, option
from riskrank.shown.screens import offered, unshown
from riskrank.shown.view import Cell, Column, Line, OfRow, Section, Table, by_row
from riskrank.studies.diff.screen.cases import cases_table, texts_of_cases
from riskrank.studies.gate.claim import MACRO, ORDERS
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.screen.detail import STYLES, details, difference
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS
from riskrank.studies.gate.words import (
    beyond_labels,
    interval_of,
    looked_at,
    passes_if,
    ranges,
    unit_of,
    what_decides,
)
from riskrank.studies.visible import visible_words
from riskrank.studies.wording import blind_to, p_words

# Claims a screen has room for, in words up to a length and where they take two lines; of more, those that did
# not pass come first.
_ROWS, _FEWER, _SHORT = 9, 5, 34
_GRAVITY = {FAIL: 0, INCONCLUSIVE: 1, PASS: 2}


def view(document: GateDocument) -> list[Section]:
    """Table of claims, the tests in a line, what to do about open claims; then everything for who asks."""
    rows = document.rows
    short = _common(rows) or max(len(f"{row.new} {_than(row)}") for row in rows) <= _SHORT
    room = _ROWS if short else _FEWER
    if len(rows) > room:
        rows = sorted(rows, key=lambda row: _GRAVITY[row.verdict])[:room]
    cases = _lost(document)
    return [
        *(cases if document.comment else []),
        _table(document, rows),
        *unshown(len(document.rows) - len(rows), "claim"),
        Line(_tests(document)),
        *_baseline(document),
        *_unshared(document),
        *_to_do(document),
        *([] if document.comment else cases),
        *offered(details(document)),
    ]


def _table(document: GateDocument, rows: Sequence[GateRow]) -> Table:
    grouped = any(row.group is not None for row in document.rows)
    tasks = any(row.task is not None for row in document.rows)
    apart = len({row.samples for row in document.rows}) > 1
    common, several = _common(document.rows), len({row.new for row in document.rows}) > 1
    tiered = any(row.tier for row in document.rows)
    together = "all together"
    columns: list[OfRow | None] = [
        (Column("answer", "left"), _answer),
        (Column("tier", "left"), lambda row: row.tier or "") if tiered else None,
        (Column("new", "left"), lambda row: row.new) if several and common else None,
        (Column("claim", "left"), lambda row: f"{row.new} {_than(row)}") if not common else None,
        (Column("on", "left"), lambda row: f"{looked_at(row)} of {row.metric}"),
        (Column("task", "left"), lambda row: row.task or ("" if row.statistic == MACRO else together))
        if tasks
        else None,
        (Column("group", "left"), lambda row: row.group or together) if grouped else None,
        (Column("new − old"), partial(difference, ratio="ratio")),
        (Column("interval", "left"), lambda row: "–" if row.statistic in ORDERS else interval_of(row, "–")),
        (Column("passes if all", "left"), passes_if),
        (Column("samples"), lambda row: f"{row.samples:,}") if apart else None,
    ]
    title = f"{'New' if several else document.rows[0].new} {_than(document.rows[0])}" if common else ""
    return by_row(title, columns, rows, stub=2)


def _answer(row: GateRow) -> Cell:
    return Cell("WAITS" if row.waits else row.verdict.upper(), STYLES[row.verdict])


def _common(rows: Sequence[GateRow]) -> bool:
    """Whether all claims compare with one old model, in one way."""
    return len({(row.claim, row.old) for row in rows}) == 1


def _than(row: GateRow) -> str:
    """The claim without its margin, which has a column of its own."""
    return f"{'better' if row.claim == 'better' else 'not worse'} than {row.old}"


def _tests(document: GateDocument) -> str:
    """At which level intervals hold, and what the samples cannot see."""
    rows = document.claims
    together = len(rows) > 1 and document.family.simultaneous
    level = f"{100 * document.family.confidence:g} %"
    how = f"intervals hold together at {level}" if together else f"intervals at {level}"
    over = f"over {len(rows)} claims"
    if document.choice is not None:
        over = f"over {len(document.choice.candidates)} candidates"
    elif any(row.tier for row in rows):
        over = "within each tier; supporting claims are tested once all critical ones are shown"
    many = f" ({document.family.correction.capitalize()} {over})" if together else ""
    fewest, most = min(row.samples for row in rows), max(row.samples for row in rows)
    units = {unit_of(row, document.unit) for row in rows}
    unit = units.pop() if len(units) == 1 else "samples"
    size = f"{fewest:,} {unit}" if fewest == most else f"{fewest:,} to {most:,} {unit}"
    if document.judged is not None:
        size = f"{fewest:,} of {document.judged.entry.samples:,} samples labelled"
    again = "" if document.looks is None else f", at every look (this is look {document.looks.number})"
    seen = f"{size} ({blind_to(document.worth)})" if not document.counted_as else document.counted_as[:-1]
    apart = ""
    if len(document.visible) == 1:
        margin = " from the margin" if any(row.margin for row in rows) else ""
        (away,) = document.visible.values()
        apart = f"; could have decided differences of {visible_words(away, share=False)}{margin}"
    return f"{seen}; {how}{many}{again}{apart}."


def _baseline(document: GateDocument) -> list[Line]:
    """Which scores were blessed, and how many of them are compared."""
    one = document.overlap
    if one is None:
        return []
    of = "all" if one.common == one.samples else f"{one.common:,}"
    more = f", and {one.added:,} that were not blessed" if one.added else ""
    who = f"{one_line(one.model)}, blessed in {one.path}"
    text = f"{who}; the new scores have {of} of its {one.samples:,} samples{more}."
    if one.same_files:
        text += " They are the very files that were blessed: nothing was scored anew."
    return [Line(text, "Baseline:", "" if of == "all" and not more and not one.same_files else "yellow")]


def _unshared(document: GateDocument) -> list[Line]:
    """Samples that were left out, as they were added, removed or renamed."""
    told = "; ".join(
        f"{len(one.samples):,} of the {one.of:,} samples of {one.model} ({listing(one.samples, 4)})"
        for one in document.unshared
    )
    return [Line(f"{one_line(told)}, which not all have.", "Left out:", "yellow")] if told else []


def _lost(document: GateDocument) -> list[Section]:
    """The cases behind what did not pass, claim by claim."""
    sections: list[Section] = []
    for one in document.lost:
        where = f"{'in' if one.task else 'on'} {one.metric}{one.place}"
        counted = f"{one.worse:,} worse, {one.better:,} better of {one.of:,}"
        counted += f" ({p_words(one.p_value)} by a sign test{': no more than chance makes' * one.by_chance})"
        if not one.cases:
            sections.append(Line(f"{counted}.", f"{one.new} {where}:"))
            continue
        table = cases_table(one.cases, one.new, one.old, f"Cases that {one.new} lost most {where}: {counted}")
        texts = texts_of_cases(one.cases, one.new, one.old, document.texts)
        sections += [replace(found, part="cases") for found in (table, *texts)]
    return sections


def _claim(rows: Sequence[GateRow], one: GateRow) -> str:
    """Which of several claims: what it is about, and of which models where they are several."""
    what = f"{looked_at(one)} of {one.metric}{one.place}"
    alone = len({(row.claim, row.new, row.old) for row in rows}) == 1
    return what if alone else f"{one.new} {_than(one)} on {what}"


def _to_do(document: GateDocument) -> list[Line]:
    """What would decide the claims that are open; nothing where one is refuted, which that does not mend."""
    open_ = [row for row in document.rows if row.verdict == INCONCLUSIVE and row.tier != ADVISORY]
    if not open_ or document.outcome == FAIL or (document.choice and document.outcome == PASS):
        return []
    needed = [row for row in open_ if row.samples_needed is not None]
    reached = [row for row in needed if not row.beyond_reach]
    parts = ["more samples" if document.judged is None else "more labels"]
    chosen = any(row.chosen_p is not None for row in open_)
    hanging = sum(row.hangs_on_missing for row in open_)
    beyond = [said for row in open_ if (said := beyond_labels(row, document.scored)) is not None]
    if chosen:
        parts = ["labels of samples drawn by chance"]
    elif hanging:
        which = "" if hanging == len(open_) else f" of {hanging} of them"
        parts = [f"scores for what is missing, which alone makes the claim true or not{which}"]
    elif beyond:
        which = "" if len(beyond) == len(open_) else f" for {len(beyond)} of them"
        parts = [f"more samples, as no number of {beyond[0]} would do{which}"]
    elif needed:
        most = max(reached or needed, key=lambda row: row.samples_needed or 0)
        size = what_decides(most, document.unit, document.scored)
        each = f"{size}, were the difference found the true one"
        parts = [f"{each} ({_claim(document.rows, most)})" if len(document.rows) > 1 else each]
    loss, missing = any(row.open_loss for row in open_), any(map(ranges, open_))
    if any(row.claim != "better" and row.statistic not in ORDERS for row in open_) and not (
        chosen or loss or missing
    ):
        parts.append(f"or a {option('margin')} that does not matter")
    counted = ""
    if document.inconclusive:
        flag = option("inconclusive", document.inconclusive)
        counted = f" ({flag} counts them as {document.inconclusive})"
    elif loss:
        parts.append(f"or {option('inconclusive', 'fail')}, as a loss is shown")
    elif not missing:
        parts.append(f"or {option('inconclusive', 'pass')} lets them through")
    return [Line(f"{', '.join(parts)}{counted}.", "To decide:", "yellow")]
