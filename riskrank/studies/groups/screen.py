"""Tables of ranks by group of samples, and of pairs whose order differs between groups."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.render.screens import as_details, hidden_count_lines
from riskrank.render.view import Cell, Line, Section, Table, column_heads
from riskrank.studies.groups.study import Groups, Standing, format_groups
from riskrank.studies.wording import join_names, typeset

# Maximum number of reversals in the table.
_MOST_REVERSALS = 12
# Maximum number of groups on the first screen.
_MOST_GROUPS = 12


def group_screen(body: Sequence[Section], groups: Groups) -> list[Section]:
    """Return a table of the best models in each group of samples; other sections become details.

    Parameters
    ----------
    body : sequence of Section
        Sections about all samples. The last two lines, on tests and further options, are kept.
    groups : Groups
        Results by group of samples.
    """
    method = groups.main_methods[0]
    parts = [(part.name, part.samples, part.standings[method]) for part in groups.parts[:_MOST_GROUPS]]
    rows = (
        _group_row("all together", None, groups.overall[method], groups.models),
        *(_group_row(name, samples, standing, groups.models) for name, samples, standing in parts),
    )
    heads = (*column_heads(groups.column, right=("samples",)), *column_heads("first", "clear"))
    more = hidden_count_lines(len(groups.parts) - len(parts), "group")
    lines = [section for section in body if isinstance(section, Line) and not section.details][-2:]
    details = as_details(section for section in body if section not in lines)
    return [Table("", heads, rows), *more, *lines, *details, *as_details(group_sections(groups))]


def _group_row(
    name: str, samples: int | None, standing: Standing, models: Sequence[str]
) -> tuple[Cell | str, ...]:
    """Return the table row of a group: its best models, and how many others the first one beats.

    `samples` is the number of samples in the group, or None for all samples together.
    """
    best = np.flatnonzero(standing.ranks == 1).tolist()
    clear = "not tested"
    if standing.beats is not None:
        rival_count, beaten = len(models) - 1, int(standing.beats[best[0]].sum())
        clear = "ahead of all others" if beaten == rival_count else f"ahead of {beaten} of {rival_count}"
    return (name, "" if samples is None else f"{samples:,}", join_names([models[i] for i in best], 3), clear)


def group_sections(groups: Groups) -> Iterator[Section]:
    """Yield tables of ranks by group, and of pairs of models whose order is reversed between groups."""
    yield from (_rank_table(method, groups) for method in groups.main_methods)
    reversals = [*groups.reversals()]
    text = (
        "each group is analysed separately, with its own family of tests; coloured ranks differ from those "
        "of all samples, and tau is Kendall's tau with the ranking of all samples"
    )
    if reversals:
        rows = [
            (pair.method, pair.model, pair.other, format_groups(pair.better_in), format_groups(pair.worse_in))
            for pair in reversals[:_MOST_REVERSALS]
        ]
        columns = column_heads("method", "model", "and", "is better in", "is worse in")
        title = f"Significant reversals between groups of {groups.column}: {len(reversals)}"
        yield Table(title, columns, tuple(rows), stub=3)
    elif any(standing.beats is not None for standing in groups.overall.values()):
        text += "; no pair of models is reversed significantly between groups"
    yield Line(f"{text}.", "Groups:")


def _rank_table(method: str, groups: Groups) -> Table:
    """Return a table of ranks by group, with models in the order of the overall ranking."""
    overall_ranks = groups.overall[method].ranks
    order = sorted(range(len(groups.models)), key=overall_ranks.__getitem__)
    rows: list[tuple[Cell | str, ...]] = [("all together", *(str(overall_ranks[i]) for i in order), "", "")]
    for part in groups.parts:
        group_ranks, tau = part.standings[method].ranks, part.tau[method]
        ranks = [
            Cell(str(group_ranks[i]), "" if group_ranks[i] == overall_ranks[i] else "yellow") for i in order
        ]
        rows.append((part.name, *ranks, "–" if tau is None else typeset(f"{tau:.2f}"), f"{part.samples:,}"))
    columns = column_heads(groups.column, right=(*(groups.models[i] for i in order), "tau", "samples"))
    return Table(f"Ranks by {groups.column}: {method}", columns, tuple(rows))
