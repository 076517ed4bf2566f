"""Screen of ``gate``: one line per claim, and how to decide inconclusive claims; and its JUnit report.

In the report, a failed claim is a failure. An inconclusive claim is a failure or skipped if the option
``inconclusive`` is "fail" or "pass". Otherwise it is an error, so that no CI server counts it as a pass.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from riskrank.errors import listing, option, single_line
from riskrank.options.inference import ADVISORY
from riskrank.render import numbers
from riskrank.render.junit import Suite, TestCase
from riskrank.render.screens import follow_up_sections, hidden_count_lines
from riskrank.render.view import Cell, Column, Line, RowColumn, Section, Table, build_table
from riskrank.studies.diff.screen import cases_table, text_lines, texts_tables
from riskrank.studies.gate import sentences
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS, result_kind
from riskrank.studies.metric_means import format_detectable
from riskrank.studies.statistics import MACRO, ORDERS, TASK
from riskrank.studies.wording import count_range, detection_limit_words, p_value_phrase

# Maximum number of claims on the screen if each takes one line, or two; longest claim that fits one line.
# Claims that did not pass come first.
_ROWS, _FEWER, _SHORT = 9, 5, 34
_SEVERITY = {FAIL: 0, INCONCLUSIVE: 1, PASS: 2}
_STYLES = {PASS: "green", FAIL: "red", INCONCLUSIVE: "yellow"}


def build_sections(document: GateDocument) -> list[Section]:
    """Return the sections of the screen: claims, tests and next steps, then the details."""
    rows = document.rows
    short = _share_old_model(rows) or max(len(f"{row.new} {_short_claim(row)}") for row in rows) <= _SHORT
    by_seed = any(finding.kind == "by-seed" for finding in document.findings)  # its sentence needs a line
    rows = _select_rows(document, (_ROWS if short else _FEWER) - by_seed)
    cases = _case_sections(document)
    averaged = all(row.statistic == MACRO for row in document.claims)
    lost = any(row.lost_samples is not None for row in document.rows)
    required = f"none of the {document.required:,} samples that must pass is lost."
    undecided = document.outcome == INCONCLUSIVE and sentences.inconclusive_rows(document.rows)
    text = "; ".join(
        f"{len(entry.samples):,} of the {entry.of:,} samples of {entry.model} ({listing(entry.samples, 4)})"
        for entry in document.unmatched
    )
    reason = "because other models lack them"
    return [
        *(cases if document.comment else []),
        _claims_table(document, rows),
        *hidden_count_lines(len(document.rows) - len(rows), "claim"),
        Line(_describe_tests(document)),
        *_baseline_lines(document),
        *([Line(required, "Must pass:")] if document.required and not lost else []),
        *([Line(f"{single_line(text)}, {reason}.", "Excluded:", "yellow")] if text else []),
        *(
            Line(f"{single_line(note.removeprefix('ignored: '))}.", "Ignored:", "yellow")
            for note in document.provenance.ignored
        ),
        *([Line(f"{sentences.next_steps(document)}.", "To decide:", "yellow")] if undecided else []),
        *([] if document.comment else cases),
        *follow_up_sections(_detail_sections(document), *[option("on", TASK)] * averaged),
    ]


def _select_rows(document: GateDocument, limit: int) -> list[GateRow]:
    """Select at most `limit` rows, failures first; if the gate chooses a model, the chosen model first."""
    choice, rows = document.choice, [*document.rows]
    if choice is not None:
        prices = {candidate.model: candidate.price for candidate in choice.candidates}
        rows = sorted(rows, key=lambda row: (row.new != choice.model, prices[row.new]))
    elif len(rows) > limit:
        rows = sorted(rows, key=lambda row: _SEVERITY[row.verdict])
    return rows[:limit]


def _claims_table(document: GateDocument, rows: Sequence[GateRow], *, details: bool = False) -> Table:
    """Return a table of claims, with sample sizes, p-values and samples needed if `details` is True."""
    grouped = any(row.group is not None for row in document.rows)
    tasks = any(row.task is not None for row in document.rows)
    sizes_differ = len({row.samples for row in document.rows}) > 1
    common, several = _share_old_model(document.rows), len({row.new for row in document.rows}) > 1
    tiered = any(row.tier for row in document.rows)
    needed = any(row.samples_needed is not None for row in document.rows)
    all_label = "all together"
    columns: list[RowColumn | None] = [
        (Column("verdict", "left"), _verdict_cell),
        (Column("tier", "left"), lambda row: row.tier or "") if tiered else None,
        (Column("new", "left"), lambda row: row.new) if several and common else None,
        (Column("claim", "left"), lambda row: f"{row.new} {_short_claim(row)}") if not common else None,
        (Column("on", "left"), lambda row: f"{sentences.row_statistic(row)} of {row.metric}"),
        (Column("task", "left"), lambda row: row.task or ("" if row.statistic == MACRO else all_label))
        if tasks
        else None,
        (Column("group", "left"), lambda row: row.group or all_label) if grouped else None,
        (Column(sentences.difference_head(rows)), _format_difference),
        (
            Column("interval", "left"),
            lambda row: "–" if row.statistic in ORDERS else sentences.format_interval(row, "–"),
        ),
        (Column("required", "left"), sentences.pass_condition),
        (Column("samples"), lambda row: f"{row.samples:,}") if sizes_differ or details else None,
        (Column("p"), lambda row: numbers.format_p_value(row.p_adjusted)) if details else None,
        (Column("n\nneeded", name="n needed"), lambda row: numbers.format_count(row.samples_needed))
        if details and needed
        else None,
    ]
    several_title = "Each model" if rows[0].is_level else "New"
    claim = (document.claims or rows)[0]
    title = f"{several_title if several else claim.new} {_short_claim(claim)}" if common else ""
    return build_table("All claims" if details else title, columns, rows, stub=2)


def _format_difference(row: GateRow) -> str:
    """Format the estimated difference, or the violation ratio of a dominance claim."""
    if row.statistic in ORDERS:
        return f"ratio {sentences.format_estimate(row, numbers.format_ratio)}"
    return sentences.format_estimate(row)


def _verdict_cell(row: GateRow) -> Cell:
    """Return the verdict as a coloured cell."""
    return Cell("UNTESTED" if row.is_untested else row.verdict.upper(), _STYLES[row.verdict])


def _share_old_model(rows: Sequence[GateRow]) -> bool:
    """Return True if all claims are of the same kind and have the same old model."""
    return len({(row.claim, row.old) for row in rows}) == 1


def _short_claim(row: GateRow) -> str:
    """Return the claim without the new model and the margin, such as ``not worse than old``."""
    if row.is_level:
        return f"{row.claim.replace('-', ' ')} {row.margin_text}"
    return f"{'better' if row.claim == 'better' else 'not worse'} than {row.old}"


def _describe_tests(document: GateDocument) -> str:
    """Return a sentence about sample size, confidence level, correction and minimum detectable difference."""
    rows = document.claims
    simultaneous = len(rows) > 1 and document.family.simultaneous
    level = f"{100 * document.family.confidence:g} %"
    intervals = f"simultaneous {level} intervals" if simultaneous else f"{level} intervals"
    over = f"over {len(rows)} claims"
    if document.choice is not None:
        over = f"over {len(document.choice.candidates)} candidates"
    elif any(row.tier for row in rows):
        over = "within each tier; supporting claims are tested only if all critical claims pass"
    correction = f" ({document.family.correction.capitalize()} {over})" if simultaneous else ""
    units = {sentences.row_unit(row, document.unit) for row in rows}
    unit = units.pop() if len(units) == 1 else "samples"
    size = f"{count_range(row.samples for row in rows)} {unit}"
    if document.judged is not None:
        fewest = min(row.samples for row in rows)
        size = f"{fewest:,} of {document.judged.entry.samples:,} samples labelled"
    looks = "" if document.looks is None else f", valid at every look (this is look {document.looks.number})"
    note = document.counted_as
    basis = note.sentence[:-1] if note else f"{size} ({detection_limit_words(document.effective_size)})"
    detectable = ""
    if len(document.detectable) == 1:
        margin = " from the margin" if any(row.margin for row in rows) else ""
        margin = " from the number" if all(row.is_level for row in rows) else margin
        ((metric, difference),) = document.detectable.items()
        relative = any(row.metric == metric and row.relative_margin is not None for row in rows)
        text = format_detectable(difference, is_proportion=relative).replace("points", "%")
        detectable = f"; smallest detectable difference{margin}: {text} (power 80 %)" if text else ""
    return f"{basis}; {intervals}{correction}{looks}{detectable}."


def _baseline_lines(document: GateDocument) -> list[Line]:
    """Return a line about the baseline scores and how many of them are compared."""
    overlap = document.overlap
    if overlap is None:
        return []
    used = "all" if overlap.common == overlap.samples else f"{overlap.common:,}"
    new = f", plus {overlap.added:,} other samples" if overlap.added else ""
    source = f"{single_line(overlap.model)}, blessed in {overlap.path}"
    text = f"{source}; the new scores cover {used} of its {overlap.samples:,} samples{new}."
    if overlap.same_files:
        text += " The new files are the blessed files: nothing was rescored."
    return [Line(text, "Baseline:", "" if used == "all" and not new and not overlap.same_files else "yellow")]


def _case_sections(document: GateDocument) -> list[Section]:
    """Return tables of the largest losses, one per claim that did not pass."""
    sections: list[Section] = []
    for lost in document.lost_cases:
        on = f"{'in' if lost.task else 'on'} {lost.metric}{lost.subset}"
        counts = f"{lost.worse:,} worse, {lost.better:,} better of {lost.of:,}"
        counts += f" ({p_value_phrase(lost.p_value)}, wins and losses{'; not significant' * lost.by_chance})"
        if not lost.cases:
            sections.append(Line(f"{counts}.", f"{lost.new} {on}:"))
            continue
        title = f"Cases with the largest losses of {lost.new} {on}: {counts}"
        table = cases_table(lost.cases, lost.new, lost.old, title)
        texts = texts_tables(lost.cases, lost.new, lost.old, document.texts)
        sections += [replace(section, part="cases") for section in (table, *texts)]
    return sections


def _detail_sections(document: GateDocument) -> list[Section]:
    """Return a table of all claims with p-values, and a line that explains how to read it."""
    text = [
        "a claim passes if its entire interval lies on the required side, fails if all of it lies on the "
        "other side, and is inconclusive otherwise. p is adjusted for all claims"
    ]
    if not document.counted_as and any(
        (row.e_value is None and row.statistic.startswith("tvar")) for row in document.rows
    ):
        text.append("Intervals of tail means allow for one more worst-case sample, unlike those of rank")
    if any(row.statistic in ORDERS for row in document.rows):
        text.append("The violation ratio is below 0.5 if the new model is ahead")
    if any(map(sentences.has_estimate_range, document.rows)):
        text.append("A difference ranges from the worst to the best possible values of the missing scores")
    if any(row.chosen_p is not None for row in document.rows):
        text.append("No claim is decided, because the labels do not look randomly chosen")
    if any(row.samples_needed is not None for row in document.rows):
        truth = "the estimate is the true difference (normal approximation)"
        condition = "further samples are like these" if document.looks else truth
        text.append(f"n needed: number of samples that decides a claim with power 80 %, if {condition}")
    if document.looks is not None:
        text.append(f"{option('continues', 'FILE')} checks at the next look that no earlier score changed")
    return [_claims_table(document, document.rows, details=True), Line(". ".join(text) + ".", "Reading:")]


def suite(document: GateDocument) -> Suite:
    """Return a JUnit test suite with one test case per claim."""
    cases, choice = [], document.choice
    for row in document.rows:
        # Advisory claims and candidates that were not chosen cannot fail.
        rejected = choice is not None and document.failed is None and row.new != choice.model
        lenient = (rejected or row.tier == ADVISORY) and row.verdict != PASS
        kind = "skipped" if lenient else result_kind(row.verdict, document.inconclusive)
        name, lines = f"riskrank.gate.{row.claim}", tuple(_case_lines(document, row))
        cases.append(TestCase(kind, name, row.name, sentences.row_sentence(row), row.verdict, lines))
    looks, ignored = document.looks, document.provenance.ignored
    properties = {} if looks is None else {"looks": f"{looks.number}; verdicts hold at every look"}
    properties |= {"ignored": "; ".join(ignored).replace("ignored: ", "")} if ignored else {}
    return Suite("riskrank gate", cases, properties)


def _case_lines(document: GateDocument, row: GateRow) -> Iterator[str]:
    """Yield lines about the cases with the largest losses for a claim that did not pass, if requested."""
    if row.verdict == PASS:
        return
    key = (row.new, row.old, row.metric, row.group, row.task)
    for lost in document.lost_cases:
        if (lost.new, lost.old, lost.metric, lost.group, lost.task) == key:
            for case in lost.cases:
                new, old = map(numbers.format_single_score, (case.new, case.old))
                yield single_line(f"{case.sample}: {row.new} {new}, {row.old} {old}")
                yield from (f"  {line}" for line in text_lines(case, row.new, row.old or ""))
