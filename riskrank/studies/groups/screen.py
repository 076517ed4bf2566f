"""Ranks by group beside those of all samples: where the ranking changes."""

from collections.abc import Sequence

import numpy as np

from riskrank.shown.screens import asked_for, unshown
from riskrank.shown.view import Cell, Column, Line, Section, Table
from riskrank.studies.groups.study import Group, Groups, Standing, places
from riskrank.studies.wording import names, typeset

# A list of reversals longer than this hides them again.
_MOST_REVERSALS = 12
# Groups a first screen has room for below its table of models.
_MOST_GROUPS = 12


def group_screen(body: Sequence[Section], groups: Groups) -> list[Section]:
    """A group a line: who comes first there, and whether that is clear; all else for who asks.

    Of the study of all samples its last two lines remain: on the tests, and on what to ask next.
    """
    method = groups.leading[0]
    parts = [(part.name, part.samples, part.standings[method]) for part in groups.parts[:_MOST_GROUPS]]
    rows = (
        _first("all together", None, groups.whole[method], groups.models),
        *(_first(name, samples, one, groups.models) for name, samples, one in parts),
    )
    words = (Column(head, "left") for head in ("first", "clear"))
    heads = (Column(groups.column, "left"), Column("samples"), *words)
    more = unshown(len(groups.parts) - len(parts), "group")
    lines = [section for section in body if isinstance(section, Line) and not section.more][-2:]
    rest = asked_for(section for section in body if section not in lines)
    return [Table("", heads, rows), *more, *lines, *rest, *asked_for(group_sections(groups))]


def _first(name: str, samples: int | None, one: Standing, models: Sequence[str]) -> tuple[Cell | str, ...]:
    """One group: its best models, and how many others the first one beats there."""
    best = np.flatnonzero(one.ranks == 1).tolist()
    clear = "not tested"
    if one.beats is not None:
        others = len(models) - 1
        beaten = int(one.beats[best[0]].sum())
        clear = "ahead of all others" if beaten == others else f"ahead of {beaten} of {others}"
    return (name, "" if samples is None else f"{samples:,}", names([models[i] for i in best], 3), clear)


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
    pairs = f"{reversals} pair{'s are' if reversals > 1 else ' is'}"
    shown = f"; the first {_MOST_REVERSALS} are shown" if reversals > _MOST_REVERSALS else ""
    text = [
        "each group is studied on its own samples alone, its tests a family of their own; a rank other than "
        "that of all samples is coloured, and tau is Kendall's with the ranking of all"
    ]
    if any(one.beats is not None for one in groups.whole.values()):
        text.append(
            "no two models are significantly better in one place and worse in another"
            if not reversals
            else f"{pairs}{shown} better in one place and worse in another, both significantly"
        )
    return "; ".join(text) + "."


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
        across = zip(ranks, ranks.values(), taus, sizes, strict=True)
        lines = [(name, *cells, tau, size) for name, cells, tau, size in across]
        return Table(title, head, (("all together", *of_all, "", ""), *lines))
    head = (Column("model", "left"), Column("all together"), *(Column(name) for name in ranks))
    down = [(model, of_all[at], *(cells[at] for cells in ranks.values())) for at, model in enumerate(models)]
    return Table(title, head, (*down, ("tau", "", *taus), ("samples", "", *sizes)))


def _agreement(methods: list[str], groups: Groups) -> Table:
    columns = (Column("method", "left"), *(Column(part.name) for part in groups.parts))
    rows = [(method, *(_tau(part.tau[method]) for part in groups.parts)) for method in methods]
    return Table(f"Kendall's tau with the ranking of all, by {groups.column}", columns, tuple(rows))


def _cells(part: Group, method: str, groups: Groups, order: list[int]) -> list[Cell | str]:
    everywhere, here = groups.whole[method].ranks, part.standings[method].ranks
    return [Cell(str(here[i]), "" if here[i] == everywhere[i] else "yellow") for i in order]


def _tau(tau: float | None) -> str:
    return "–" if tau is None else typeset(f"{tau:.2f}")
