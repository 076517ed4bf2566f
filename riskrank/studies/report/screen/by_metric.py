"""Differences of means by metric, with the tests behind the verdict's statements on single metrics."""

from collections.abc import Iterable

from riskrank.engine.family import Side
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS
from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import counted, names, percent, rounded

_SIDES = {Side.SHOWN: "better", Side.REFUTED: "worse", Side.OPEN: "open"}


def differences_table(
    quantity: str, answer_head: str, rows: Iterable[tuple[str, ...]], ranking: RankDocument
) -> Table:
    """Return a table of differences to the leader, with intervals, p-values and answers.

    Parameters
    ----------
    quantity : str
        Name of the quantity, such as "Means".
    answer_head : str
        Head of the column of answers.
    rows : iterable of tuple of str
    ranking : RankDocument
    """
    heads = *column_heads("on", "model", right=("difference", "interval", "p")), *column_heads(answer_head)
    first = ranking.provenance.models[ranking.lead.first]
    return Table(f"{quantity} of the others less that of {first}", heads, tuple(rows), stub=2)


def has_metric_tests(ranking: RankDocument) -> bool:
    """Return True if the means of several metrics were tested."""
    return len(ranking.means) > 1 and ranking.lead.recommendation is not None


def rival_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return on how many metrics the leader is better or worse than its rival."""
    leader, models = ranking.lead, ranking.provenance.models
    sides = (-leader.contrasts.answers.side[leader.other]).tolist()
    counts_by_side = [f"{word} on {sides.count(side)}" for side, word in _SIDES.items() if side in sides]
    counts_text = f"{', '.join(counts_by_side)} of {len(sides)} metrics"
    text = f"{models[leader.first]} against {models[leader.other]}: {counts_text}"
    counts = leader.contrasts.worse.sum(axis=0).tolist() if {*sides} == {Side.OPEN} else ()
    wins = [f"{counted(n, 'other')} on {ranking.means[m].name}" for m, n in enumerate(counts) if n]
    return f"{text}; better than {names(wins, len(wins))}" if wins else text


def difference_sections(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    """Return a table of differences of means to the leader by metric, and a line on the tests."""
    leader, models, family = ranking.lead, ranking.provenance.models, ranking.inference.family
    rows = [
        (mean.name, models[i], *_difference_cells(ranking, i, m))
        for m, mean in enumerate(ranking.means)
        for i in leader.others
    ]
    coverage = f"hold together with {percent(family.confidence)}" if family.simultaneous else "are each alone"
    text = (
        f"{models[leader.first]} is the first of the ranking. p: Student's or Johnson's t of the "
        f"differences, whichever is larger, one-sided; {CORRECTIONS[family.correction]} over the {len(rows)} "
        f"of each direction, level {family.alpha:g}. Intervals {coverage}; where a test decides, they "
        "end at 0 at the latest."
    )
    return [differences_table("Means", "shown", rows, ranking), Line(text, "Tests:")]


def _difference_cells(ranking: RankDocument, model: int, metric: int) -> tuple[str, ...]:
    """Return a difference and its interval in the units of the file, its p-value and its answer."""
    mean, contrasts, index = ranking.means[metric], ranking.lead.contrasts, (model, metric)
    units, answers = ranking.units[mean.name], contrasts.answers
    estimate = float(units.of(contrasts.difference)[index])
    low, high = (float(end[index]) for end in units.ends(answers.low, answers.high))
    if units.label == mean.name:
        cells = mean.gap(estimate), mean.span(low, high)
    else:
        decimals = numbers.interval_decimals([low], [high])
        cells = rounded(estimate, decimals), numbers.format_difference_interval(low, high, decimals)
    p = float(min(answers.p_adjusted[index], answers.p_against[index]))
    return *cells, numbers.format_p_value(p), _SIDES[Side(int(answers.side[index]))]
