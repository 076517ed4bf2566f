"""Ranks by group beside those of all samples: where the ranking changes."""

from __future__ import annotations

from riskrank.shown.view import Cell, Column, Line, Section, Table
from riskrank.studies.grouping import Group, Groups, places

# A list of reversals longer than this hides them again.
_MOST_REVERSALS = 12


def group_sections(groups: Groups) -> list[Section]:
    """Ranks by the first method on each column of scores, the others in a line each; reversals."""
    sections: list[Section] = [_ranks(method, groups) for method in groups.leading]
    others = [method for method in groups.whole if method not in groups.leading]
    if others:
        sections.append(_agreement(others, groups))
    reversals = [*groups.reversals()]
    if reversals:
        rows = [
            (found.method, found.model, found.other, places(found.better_in), places(found.worse_in))
            for found in reversals[:_MOST_REVERSALS]
        ]
        heads = ("method", "model", "and", "is better in", "is worse in")
        columns = tuple(Column(head, "left") for head in heads)
        sections.append(Table(f"Reversed between groups of {groups.column}", columns, tuple(rows), stub=3))
    return [*sections, Line(_reading(groups, len(reversals)), "Groups:")]


def _reading(groups: Groups, reversals: int) -> str:
    text = [
        "each group is studied on its own samples alone, its tests a family of their own; a rank other than "
        "that of all samples is coloured, and tau is Kendall's with the ranking of all"
    ]
    if any(one.beats is not None for one in groups.whole.values()):
        text.append(
            "no two models are significantly better in one place and worse in another"
            if not reversals
            else f"{_count(reversals)} better in one place and worse in another, both significantly"
        )
    return "; ".join(text) + "."


def _count(reversals: int) -> str:
    shown = f"; the first {_MOST_REVERSALS} are shown" if reversals > _MOST_REVERSALS else ""
    return f"{reversals} pair{'s are' if reversals > 1 else ' is'}{shown}"


def _ranks(method: str, groups: Groups) -> Table:
    """The longer of groups and models goes down the page."""
    title = f"Ranks by {groups.column}: {method}"
    everywhere = groups.whole[method].ranks
    order = sorted(range(len(groups.models)), key=everywhere.__getitem__)
    of_all = [str(everywhere[i]) for i in order]
    models = [groups.models[i] for i in order]
    ranks = {part.name: _cells(part, method, groups, order) for part in groups.parts}
    taus = [_tau(part.tau[method]) for part in groups.parts]
    sizes = [f"{part.samples:,}" for part in groups.parts]
    if len(groups.parts) > len(models):
        head = (Column(groups.column, "left"), *map(Column, models), Column("tau"), Column("samples"))
        lines = [("all together", *of_all, "", ""), *_lines(ranks, taus, sizes)]
        return Table(title, head, tuple(lines))
    head = (Column("model", "left"), Column("all together"), *(Column(name) for name in ranks))
    down = [(model, of_all[at], *(cells[at] for cells in ranks.values())) for at, model in enumerate(models)]
    return Table(title, head, (*down, ("tau", "", *taus), ("samples", "", *sizes)))


def _agreement(methods: list[str], groups: Groups) -> Table:
    columns = (Column("method", "left"), *(Column(part.name) for part in groups.parts))
    rows = [(method, *(_tau(part.tau[method]) for part in groups.parts)) for method in methods]
    return Table(f"Kendall's tau with the ranking of all, by {groups.column}", columns, tuple(rows))


def _lines(
    ranks: dict[str, list[Cell | str]], taus: list[str], sizes: list[str]
) -> list[tuple[Cell | str, ...]]:
    return [
        (name, *cells, tau, size) for (name, cells), tau, size in zip(ranks.items(), taus, sizes, strict=True)
    ]


def _cells(part: Group, method: str, groups: Groups, order: list[int]) -> list[Cell | str]:
    everywhere, here = groups.whole[method].ranks, part.standings[method].ranks
    return [Cell(str(here[i]), "" if here[i] == everywhere[i] else "yellow") for i in order]


def _tau(tau: float | None) -> str:
    return "–" if tau is None else f"{tau:.2f}"
