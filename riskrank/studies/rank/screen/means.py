"""The screen of a ranking by means alone: places, means with their differences to the first, and tests."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskrank.render.mean_tables import CORRECTIONS, metric_head, side_by_side_table, with_interval_bars
from riskrank.render.noise import variance_table
from riskrank.render.screens import MOST_ROWS, also_lines, follow_up_sections, detection_limit_lines
from riskrank.render.view import Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.detectable_difference import could_show
from riskrank.studies.rank.by_means import MeanRankDocument
from riskrank.studies.rank.mean_ranking import MeanRanking
from riskrank.studies.rank.screen.first import place_of
from riskrank.studies.wording import counted


def view(document: MeanRankDocument) -> list[Section]:
    """The table of the only metric, or all beside each other; the tests; then each for who asks."""
    models, rankings = document.provenance.models, document.rankings
    sections: list[Section] = [_table(rankings[0], models)]
    if len(rankings) > 1:
        order = rankings[0].ranking.order[:MOST_ROWS].tolist()
        columns, means = [one.column.name for one in rankings], [one.means for one in rankings]
        sections = side_by_side_table(
            models, means, columns, order, lambda at, i: place_of(rankings[at].ranking, i), "place"
        )
    told = [] if document.why in document.verdict else [Line(document.why)]
    sections += [*told, _tests(document), *detection_limit_lines(document)]
    each = [_table(one, models, one.column.name) for one in rankings] if len(rankings) > 1 else []
    rest: list[Section] = [*also_lines(document.more), *each]
    rest += [] if document.components is None else [variance_table(document.components)]
    return [
        *sections,
        *follow_up_sections([*rest, _reading(shared=rankings[0].samples is not None)]),
    ]


def _table(one: MeanRanking, models: Sequence[str], title: str = "") -> Table:
    ranking, means = one.ranking, one.means
    shown = ranking.order[:MOST_ROWS].tolist()
    scored = np.zeros(1) if one.samples is None else np.diag(one.samples)
    columns: list[ModelColumn | None] = [
        (Column("place"), partial(place_of, one.ranking)),
        (Column("model", "left"), lambda i: models[i]),
        (Column("scored"), lambda i: f"{scored[i]:,}") if np.ptp(scored) else None,
        with_interval_bars((Column(metric_head(means)), means.of), means, shown),
    ]
    low, high = one.low, one.high
    if low is not None and high is not None:
        sign, apart = -1 if means.lower else 1, (one.first, *one.not_compared)

        def gap(i: int) -> str:
            return "–" if i in apart else means.gap(sign * float(one.gaps[i]))

        def interval(i: int) -> str:
            ends = sorted((sign * float(low[i]), sign * float(high[i])))
            return "–" if i in apart else means.span(ends[0], ends[1])

        columns += [(Column("difference\nto the first"), gap), (Column("interval", "left"), interval)]
    return build_table(title, columns, shown, stub=2)


def _tests(document: MeanRankDocument) -> Line:
    first = document.rankings[0]
    if first.p_adjusted is None:
        return Line("Nothing was tested.")
    apart = ", ".join(
        f"{int(document.family.significant(one.p_adjusted).sum())}"
        + (f" on {one.column.name}" if len(document.rankings) > 1 else "")
        for one in document.rankings
        if one.p_adjusted is not None
    )
    visible = {one.means.name: one.visible for one in document.rankings if one.visible is not None}
    seen = could_show([one.means for one in document.rankings], visible)
    models = len(first.column.compared)
    pairs = models * (models - 1) // 2
    how = f"Student's t of means, {document.family.text}, {CORRECTIONS[document.family.correction]}"
    left = pairs - int(first.column.compared.sum()) // 2
    without = f", {left} not compared" if left else ""
    return Line(f"{apart} of {counted(pairs, 'pair')} told apart{without} ({how}){seen}.")


def _reading(*, shared: bool) -> Line:
    return Line(
        "Places hold the true ones of all models together; intervals of the differences hold together for "
        "all pairs. Distributions and tails are not compared: "
        + ("each pair has samples of its own." if shared else "the rows are no independent samples."),
        "Reading:",
    )
