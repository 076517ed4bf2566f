"""Ranks by group beside those of all samples: where the ranking changes."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.render.screens import asked_for, unshown
from riskrank.render.view import Cell, Line, Section, Table, headed
from riskrank.studies.groups.study import Groups, Standing, places
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
    heads = (*headed(groups.column, right=("samples",)), *headed("first", "clear"))
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


def group_sections(groups: Groups) -> Iterator[Section]:
    """Ranks by the first method on each column of scores, and reversals by any."""
    yield from (_ranks(method, groups) for method in groups.leading)
    reversals = [*groups.reversals()]
    text = (
        "each group is studied on its own samples alone, its tests a family of their own; a rank other than "
        "that of all samples is coloured, and tau is Kendall's with the ranking of all"
    )
    if reversals:
        rows = [
            (found.method, found.model, found.other, places(found.better_in), places(found.worse_in))
            for found in reversals[:_MOST_REVERSALS]
        ]
        columns = headed("method", "model", "and", "is better in", "is worse in")
        title = f"Reversed between groups of {groups.column}, both significantly: {len(reversals)}"
        yield Table(title, columns, tuple(rows), stub=3)
    elif any(one.beats is not None for one in groups.whole.values()):
        text += "; no two models are significantly better in one place and worse in another"
    yield Line(f"{text}.", "Groups:")


def _ranks(method: str, groups: Groups) -> Table:
    """A row a group, models in the order of all samples."""
    everywhere = groups.whole[method].ranks
    order = sorted(range(len(groups.models)), key=everywhere.__getitem__)
    rows: list[tuple[Cell | str, ...]] = [("all together", *(str(everywhere[i]) for i in order), "", "")]
    for part in groups.parts:
        here, tau = part.standings[method].ranks, part.tau[method]
        ranks = [Cell(str(here[i]), "" if here[i] == everywhere[i] else "yellow") for i in order]
        rows.append((part.name, *ranks, "–" if tau is None else typeset(f"{tau:.2f}"), f"{part.samples:,}"))
    columns = headed(groups.column, right=(*(groups.models[i] for i in order), "tau", "samples"))
    return Table(f"Ranks by {groups.column}: {method}", columns, tuple(rows))
