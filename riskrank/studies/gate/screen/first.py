"""The first screen of a gate: a line a claim, the answer first, and what would decide the open ones."""

from collections.abc import Sequence
from dataclasses import replace

from riskrank.errors import listing, one_line, option
from riskrank.render import numbers
from riskrank.render.screens import follow_up_sections, hidden_count_lines
from riskrank.render.view import Cell, Column, Line, RowColumn, Section, Table, build_table
from riskrank.studies.detectable_difference import visible_words
from riskrank.studies.diff.screen.cases import cases_table, texts_tables
from riskrank.studies.gate import sentences
from riskrank.studies.gate.claim import MACRO, ORDERS
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS
from riskrank.studies.wording import blind_to, p_words, span

# Claims a screen has room for, in words up to a length and where they take two lines; of more, those that did
# not pass come first.
_ROWS, _FEWER, _SHORT = 9, 5, 34
_GRAVITY = {FAIL: 0, INCONCLUSIVE: 1, PASS: 2}
_STYLES = {PASS: "green", FAIL: "red", INCONCLUSIVE: "yellow"}


def view(document: GateDocument) -> list[Section]:
    """Table of claims, the tests in a line, what to do about open claims; then everything for who asks."""
    rows = document.rows
    short = _common(rows) or max(len(f"{row.new} {_than(row)}") for row in rows) <= _SHORT
    doubtful = any(one.kind == "by-seed" for one in document.findings)  # which takes a line of the verdict
    rows = _listed(document, (_ROWS if short else _FEWER) - doubtful)
    cases = _lost(document)
    return [
        *(cases if document.comment else []),
        _table(document, rows),
        *hidden_count_lines(len(document.rows) - len(rows), "claim"),
        Line(_tests(document)),
        *_baseline(document),
        *_unshared(document),
        *_to_do(document),
        *([] if document.comment else cases),
        *follow_up_sections(_details(document)),
    ]


def _listed(document: GateDocument, room: int) -> list[GateRow]:
    """As many claims as there is room for: what did not pass, or the model that is taken, then by price."""
    choice, rows = document.choice, [*document.rows]
    if choice is not None:
        prices = {one.model: one.price for one in choice.candidates}
        rows = sorted(rows, key=lambda row: (row.new != choice.model, prices[row.new]))
    elif len(rows) > room:
        rows = sorted(rows, key=lambda row: _GRAVITY[row.verdict])
    return rows[:room]


def _table(document: GateDocument, rows: Sequence[GateRow], *, every: bool = False) -> Table:
    """Claims, one under the other; with their p-values and what would decide each for who asks."""
    grouped = any(row.group is not None for row in document.rows)
    tasks = any(row.task is not None for row in document.rows)
    apart = len({row.samples for row in document.rows}) > 1
    common, several = _common(document.rows), len({row.new for row in document.rows}) > 1
    tiered = any(row.tier for row in document.rows)
    needed = any(row.samples_needed is not None for row in document.rows)
    together = "all together"
    columns: list[RowColumn | None] = [
        (Column("answer", "left"), _answer),
        (Column("tier", "left"), lambda row: row.tier or "") if tiered else None,
        (Column("new", "left"), lambda row: row.new) if several and common else None,
        (Column("claim", "left"), lambda row: f"{row.new} {_than(row)}") if not common else None,
        (Column("on", "left"), lambda row: f"{sentences.looked_at(row)} of {row.metric}"),
        (Column("task", "left"), lambda row: row.task or ("" if row.statistic == MACRO else together))
        if tasks
        else None,
        (Column("group", "left"), lambda row: row.group or together) if grouped else None,
        (Column(sentences.subtracted(rows)), _difference),
        (Column("interval", "left"), _interval),
        (Column("passes if all", "left"), sentences.passes_if),
        (Column("samples"), lambda row: f"{row.samples:,}") if apart or every else None,
        (Column("p"), lambda row: numbers.format_p_value(row.p_adjusted)) if every else None,
        (Column("n\nneeded", name="n needed"), lambda row: numbers.format_count(row.samples_needed))
        if every and needed
        else None,
    ]
    title = f"{'New' if several else document.rows[0].new} {_than(document.rows[0])}" if common else ""
    return build_table("All claims" if every else title, columns, rows, stub=2)


def _difference(row: GateRow) -> str:
    """The difference that was found, or the violation ratio."""
    return (
        f"ratio {sentences.estimated(row, numbers.format_ratio)}"
        if row.statistic in ORDERS
        else sentences.estimated(row)
    )


def _interval(row: GateRow) -> str:
    """The interval of a difference."""
    return "–" if row.statistic in ORDERS else sentences.interval_of(row, "–")


def _answer(row: GateRow) -> Cell:
    return Cell("WAITS" if row.waits else row.verdict.upper(), _STYLES[row.verdict])


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
    units = {sentences.unit_of(row, document.unit) for row in rows}
    unit = units.pop() if len(units) == 1 else "samples"
    size = f"{span(row.samples for row in rows)} {unit}"
    if document.judged is not None:
        fewest = min(row.samples for row in rows)
        size = f"{fewest:,} of {document.judged.entry.samples:,} samples labelled"
    again = "" if document.looks is None else f", at every look (this is look {document.looks.number})"
    counted = document.counted_as
    seen = f"{size} ({blind_to(document.worth)})" if counted is None else counted.sentence[:-1]
    apart = ""
    if len(document.visible) == 1:
        margin = " from the margin" if any(row.margin for row in rows) else ""
        (away,) = document.visible.values()
        told = visible_words(away, share=False)
        apart = f"; could have decided differences of {told}{margin}" if told else ""
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
        texts = texts_tables(one.cases, one.new, one.old, document.texts)
        sections += [replace(found, part="cases") for found in (table, *texts)]
    return sections


def _to_do(document: GateDocument) -> list[Line]:
    """What would decide an open claim; nothing where one is refuted, which that does not mend."""
    if document.outcome != INCONCLUSIVE or not sentences.open_claims(document.rows):
        return []
    return [Line(f"{sentences.to_decide(document)}.", "To decide:", "yellow")]


def _details(document: GateDocument) -> list[Section]:
    """All claims with their p-values, and how to read them."""
    text = [
        "a claim passes if its interval lies wholly on its side, fails if wholly on the other, and is "
        "inconclusive otherwise; p is adjusted for all claims",
    ]
    if not document.counted_as and any(row.cautious for row in document.rows):
        text.append(
            "an end counts one sample more against its side, so that it may lie a little beyond rank's"
        )
    if any(row.statistic in ORDERS for row in document.rows):
        text.append("the ratio is that of violations, below 0.5 where new is ahead")
    if any(map(sentences.ranges, document.rows)):
        text.append("a difference reaches from what is missing at its worst to that at its best")
    if any(row.chosen_p is not None for row in document.rows):
        text.append("both hold for labels chosen by chance, which these do not look: no claim is decided")
    if any(row.samples_needed is not None for row in document.rows):
        truth = "the estimate were the truth, by a normal one"
        how = "more samples are like these" if document.looks else truth
        text.append(f"n needed would decide a claim four times in five if {how}")
    if document.looks is not None:
        text.append(f"{option('continues', 'FILE')} checks at the next look that nothing is taken back")
    return [_table(document, document.rows, every=True), Line("; ".join(text) + ".", "Reading:")]
