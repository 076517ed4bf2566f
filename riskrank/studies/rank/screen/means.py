"""Screen of a ranking by means: ranks, means, differences from the first model, and tests."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskrank.engine.evidence.mean_differences import PairDifferences
from riskrank.render.mean_tables import (
    CORRECTIONS,
    metric_head,
    side_by_side_table,
    variance_table,
    with_interval_bars,
)
from riskrank.render.screens import MOST_ROWS, also_lines, detection_limit_lines, follow_up_sections
from riskrank.render.view import Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.detectable_difference import detectable_suffix
from riskrank.studies.rank.by_means import MeanRankDocument
from riskrank.studies.rank.mean_ranking import MeanRanking
from riskrank.studies.rank.screen.first import format_rank
from riskrank.studies.wording import counted


def build_sections(document: MeanRankDocument) -> list[Section]:
    """Return the sections of the screen: one ranking table for all metrics, the tests, then the details."""
    models, rankings = document.provenance.models, document.rankings
    sections: list[Section] = [_mean_table(rankings[0], models)]
    if len(rankings) > 1:
        order = rankings[0].ranking.order[:MOST_ROWS].tolist()
        columns, means = [result.column.name for result in rankings], [result.means for result in rankings]
        sections = side_by_side_table(
            models, means, columns, order, lambda at, i: format_rank(rankings[at].ranking, i), "place"
        )
    reason = [] if document.reason in document.verdict else [Line(document.reason)]
    sections += [*reason, _test_line(document), *detection_limit_lines(document)]
    tables = (
        [_mean_table(result, models, result.column.name) for result in rankings] if len(rankings) > 1 else []
    )
    details: list[Section] = [*also_lines(document.more), *tables]
    details += [] if document.components is None else [variance_table(document.components)]
    return [*sections, *follow_up_sections([*details, _reading_guide(rankings[0])])]


def _mean_table(result: MeanRanking, models: Sequence[str], title: str = "") -> Table:
    """Return a table of rank sets, means and differences from the first model."""
    ranking, means = result.ranking, result.means
    listed = ranking.order[:MOST_ROWS].tolist()
    scored = np.zeros(1) if result.shared is None else np.diag(result.shared)
    rates = result.column.win_rates
    columns: list[ModelColumn | None] = [
        (Column("place"), partial(format_rank, result.ranking)),
        (Column("model", "left"), lambda i: models[i]),
        (Column("scored"), lambda i: f"{scored[i]:,}") if np.ptp(scored) else None,
        with_interval_bars((Column(metric_head(means)), means.format_mean), means, listed),
    ]
    if rates is not None:
        columns.append((Column("wins against\nthe average"), lambda i: f"{100 * rates[i]:.0f} %"))
    low, high = result.low, result.high
    if low is not None and high is not None:
        sign, excluded = -1 if means.lower_is_better else 1, (result.first, *result.not_compared_with_first)

        def gap(i: int) -> str:
            return "–" if i in excluded else means.format_gap(sign * float(result.differences_from_first[i]))

        def interval(i: int) -> str:
            limits = sorted((sign * float(low[i]), sign * float(high[i])))
            return "–" if i in excluded else means.format_interval(limits[0], limits[1])

        columns += [(Column("difference\nto the first"), gap), (Column("interval", "left"), interval)]
    return build_table(title, columns, listed, stub=2)


def _test_line(document: MeanRankDocument) -> Line:
    """Return a line on significant pairs, detectable differences and tests."""
    first = document.rankings[0]
    if first.p_adjusted is None:
        return Line("Nothing was tested.")
    counts = ", ".join(
        f"{int(document.family.significant(result.p_adjusted).sum())}"
        + (f" on {result.column.name}" if len(document.rankings) > 1 else "")
        for result in document.rankings
        if result.p_adjusted is not None
    )
    differences = {
        result.means.name: result.detectable for result in document.rankings if result.detectable is not None
    }
    power_note = detectable_suffix([result.means for result in document.rankings], differences)
    models = len(first.column.compared_pairs)
    pairs = models * (models - 1) // 2
    statistic = "means" if first.column.win_rates is None else "Bradley–Terry strengths"
    test = "bootstrap-t" if isinstance(first.column.differences, PairDifferences) else "Student's t"
    method = f"{test} of {statistic}, {document.family.text}, {CORRECTIONS[document.family.correction]}"
    uncompared = pairs - int(first.column.compared_pairs.sum()) // 2
    suffix = f", {uncompared} not compared" if uncompared else ""
    return Line(f"{counts} of {counted(pairs, 'pair')} separated{suffix} ({method}){power_note}.")


def _reading_guide(result: MeanRanking) -> Line:
    """Return a line that explains how to read the tables."""
    reason = (
        "the rows are not independent samples."
        if result.shared is None
        else "each pair shares different samples."
    )
    if result.column.win_rates is not None:
        reason = "strengths are fitted to all votes. They are logarithms of odds, with a mean of 0."
    return Line(
        "Places contain the true ranks of all models with simultaneous confidence; the intervals of all "
        f"differences are simultaneous. Distributions and tails are not compared, because {reason}",
        "Reading:",
    )
