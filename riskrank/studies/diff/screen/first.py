"""The first screen of a diff: how many cases changed, and those that lost most."""

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap

from riskrank.errors import option, spell
from riskrank.render import numbers
from riskrank.render.screens import all_rows, asked_for, offered, scored_line, unseen, unshown
from riskrank.render.view import Cell, Column, Line, OfRow, Section, Table, by_row
from riskrank.studies.diff.document import MOST_CHANGES, CaseRow, Change, DiffDocument
from riskrank.studies.diff.screen.cases import cases_table, texts_of_cases
from riskrank.studies.wording import counted

# Cases that a page may hold beside those that matter; of more, files are the list.
_LISTED = 1_000
# Lines and columns of a small terminal, lines around what is counted, and counts it shows at least.
_LINES, _COLUMNS, _AROUND, _FEWEST = 25, 79, 11, 3


def view(document: DiffDocument) -> list[Section]:
    """Counts, the cases that lost most, and where the others are; what was won for who asks."""
    changes, lost = document.changes, document.lost
    lines, listed = _room(document)
    shown = changes if len(changes) <= lines else _gravest(changes, lines)
    texts = texts_of_cases(lost[:listed], document.new, document.old, document.texts)
    sections: list[Section] = [_counts(document, shown), *unshown(len(changes) - len(shown), "line")]
    if lost and listed:
        title = f"Cases that {document.new} lost"
        sections.append(cases_table(lost[:listed], document.new, document.old, title))
        sections += _unlisted(len(lost) - listed, "worse", option("cases", len(lost)))
        sections += texts if document.settings.cases is not None else asked_for(texts)
    return [
        *sections,
        *unseen(document),
        _files(document),
        *offered(_details(document, listed, every_change=len(changes) > len(shown))),
    ]


def _files(document: DiffDocument) -> Line:
    return Line(all_rows(f"all {len(document.rows):,} cases") + ".")


def _room(document: DiffDocument) -> tuple[int, int]:
    """Counts and cases that fit a small terminal below the words, unless somebody asked for so many."""
    asked, counts = document.settings.cases, min(len(document.changes), MOST_CHANGES)
    if asked is not None or not document.lost:
        return MOST_CHANGES, document.cases
    lines = [Line(document.verdict, "Verdict:"), *scored_line(document.provenance), *unseen(document)]
    words = [spell(f"{one.label} {one.text}", flags=True) for one in (*lines, _files(document))]
    taken = _AROUND + document.repeated + sum(len(wrap(text, _COLUMNS)) for text in words)
    while (left := _LINES - taken - counts - 2 * (len(document.changes) > counts)) < 1 and counts > _FEWEST:
        counts -= 1
    left += len(document.lost) == left + 1  # the last one in the place of the line that counts it
    return counts, min(max(left, 1), document.cases)


def _gravest(changes: Sequence[Change], most: int) -> list[Change]:
    """All together, then the groups that lost, then those with the smallest p-values."""
    together = [one for one in changes if one.group is None][:most]
    groups = sorted(
        (one for one in changes if one.group is not None), key=lambda one: (not one.lost, one.p_adjusted)
    )
    return [*together, *groups[: most - len(together)]]


def _counts(document: DiffDocument, changes: Sequence[Change], title: str = "") -> Table:
    grouped = any(one.group is not None for one in document.changes)
    several = len({one.metric for one in document.changes}) > 1
    columns: list[OfRow | None] = [
        (Column("metric", "left"), lambda one: one.metric) if several else None,
        (Column("cases of", "left"), lambda one: one.group or "all together") if grouped else None,
        (Column("worse"), lambda one: Cell(f"{one.worse:,}", "red" if one.lost else "")),
        (Column("better"), lambda one: f"{one.better:,}"),
        (Column("same"), lambda one: f"{one.same:,}"),
        (Column("p", name="p, exact sign test"), lambda one: numbers.p_value(one.p_adjusted)),
    ]
    if document.repeated:
        columns += [
            (Column("worse by\nchance", name="worse by chance"), _by_chance),
            (Column("shown\nworse", name="shown worse"), lambda one: f"{one.shown_worse or 0:,}"),
        ]
    return by_row(title, columns, changes)


def _by_chance(one: Change) -> str:
    return "–" if one.worse_by_chance is None else f"{one.worse_by_chance:.1f}"


def _unlisted(count: int, how: str, asked: str) -> list[Line]:
    """How many cases more changed; of thousands nothing but a file is a list."""
    where = f": {asked}" if count <= _LISTED else ""
    return [Line(f"… {counted(count, 'case')} more that got {how}{where}")] if count > 0 else []


def _details(document: DiffDocument, listed: int, *, every_change: bool) -> list[Section]:
    """All counts where some were left out, what was won, how to read it, and the other cases."""
    new, old, lost, won = document.new, document.old, document.lost, document.won
    best = won[: document.cases]
    return [
        *([_counts(document, document.changes, "Changes")] if every_change else []),
        *([cases_table(best, new, old, f"Cases that {new} won")] if best else []),
        *([] if len(won) - len(best) <= _LISTED else _unlisted(len(won) - len(best), "better", "")),
        Line(_reading(document), "Reading:"),
        *_others(document, lost[listed:], "lost"),
        *_others(document, won[document.cases :], "won"),
    ]


def _others(document: DiffDocument, cases: Sequence[CaseRow], how: str) -> list[Section]:
    """The cases that no table before had room for, as long as somebody may read through them."""
    if not 0 < len(cases) <= _LISTED:
        return []
    title = (
        f"{'The other' if document.cases else 'The'} {counted(len(cases), 'case')} that {document.new} {how}"
    )
    return [replace(cases_table(cases, document.new, document.old, title), folded=True)]


def _reading(document: DiffDocument) -> str:
    mcnemar = " (McNemar's for 0/1 scores)" if document.clusters is None else ""
    text = (
        f"p of the counts is that of the {document.test}{mcnemar}, adjusted for "
        f"{counted(len(document.changes), 'line')}"
    )
    if document.repeated:
        text += (
            "; worse by chance is how many cases one run of the old model loses against another; p of a case "
            "is that of an exact test of its runs, by Benjamini and Hochberg, so that of the cases called "
            f"shown about {100 * document.settings.alpha:g} % at most are expected to be none"
        )
    return f"{text}."
