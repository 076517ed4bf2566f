"""Section of a report on differences of means by metric, with their tests."""

from collections.abc import Iterable

from riskrank.engine.family import Answer
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS
from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import counted, format_fixed, format_percent, join_names

_SIDES = {Answer.SIGNIFICANT: "better", Answer.CONTRADICTED: "worse", Answer.UNDECIDED: "undecided"}


def differences_table(
    quantity: str, answer_head: str, rows: Iterable[tuple[str, ...]], ranking: RankDocument
) -> Table:
    """Return a table of differences from the leader, with intervals, p-values and answers.

    Parameters
    ----------
    quantity : str
        Name of the quantity, such as "Means".
    answer_head : str
        Heading of the column of answers.
    rows : iterable of tuple of str
    ranking : RankDocument
    """
    heads = *column_heads("on", "model", right=("difference", "interval", "p")), *column_heads(answer_head)
    first = ranking.provenance.models[ranking.leader.first]
    return Table(f"{quantity}: difference from {first}", heads, tuple(rows), stub=2)


def has_metric_tests(ranking: RankDocument) -> bool:
    """Return True if the means of several metrics were tested."""
    return len(ranking.means) > 1 and ranking.leader.recommendation is not None


def rival_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return text on the numbers of metrics on which the leader is better or worse than its rival."""
    leader, models = ranking.leader, ranking.provenance.models
    sides = (-leader.contrasts.answers.side[leader.rival]).tolist()
    counts_by_side = [f"{word} on {sides.count(side)}" for side, word in _SIDES.items() if side in sides]
    counts_text = f"{', '.join(counts_by_side)} of {len(sides)} metrics"
    text = f"{models[leader.first]} against {models[leader.rival]}: {counts_text}"
    counts = leader.contrasts.worse.sum(axis=0).tolist() if {*sides} == {Answer.UNDECIDED} else ()
    wins = [f"{counted(n, 'other')} on {ranking.means[m].name}" for m, n in enumerate(counts) if n]
    return f"{text}; better than {join_names(wins, len(wins))}" if wins else text


def difference_sections(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    """Return a table of each metric's mean differences from the leader, and a line on the tests."""
    leader, models, family = ranking.leader, ranking.provenance.models, ranking.inference.family
    rows = [
        (mean.name, models[i], *_difference_cells(ranking, i, m))
        for m, mean in enumerate(ranking.means)
        for i in leader.rivals
    ]
    level = format_percent(family.confidence)
    coverage = f"are simultaneous ({level})" if family.simultaneous else "are pointwise"
    text = (
        f"{models[leader.first]} is first in the ranking. p: bootstrap-t test of the difference; "
        f"{CORRECTIONS[family.correction]} over the {len(rows)} tests, level {family.alpha:g}. Intervals "
        f"{coverage}; if a test is significant, they are clipped at 0."
    )
    return [differences_table("Means", "result", rows, ranking), Line(text, "Tests:")]


def _difference_cells(ranking: RankDocument, model: int, metric: int) -> tuple[str, ...]:
    """Return the cells of a row: difference and interval in the units of the file, p-value and answer."""
    mean, contrasts, index = ranking.means[metric], ranking.leader.contrasts, (model, metric)
    units, answers = ranking.units[mean.name], contrasts.answers
    estimate = float(units.to_file_units(contrasts.difference)[index])
    low, high = (float(end[index]) for end in units.interval_to_file_units(answers.low, answers.high))
    if units.label == mean.name:
        cells = mean.format_gap(estimate), mean.format_interval(low, high)
    else:
        decimals = numbers.interval_decimals([low], [high])
        cells = format_fixed(estimate, decimals), numbers.format_difference_interval(low, high, decimals)
    p = float(min(answers.p_adjusted[index], answers.p_against[index]))
    return *cells, numbers.format_p_value(p), _SIDES[Answer(int(answers.side[index]))]
