"""Differences of means, metric by metric: the tests that a verdict's words on single metrics rest on."""

from riskrank.engine.family import Side
from riskrank.shown import numbers
from riskrank.shown.means import CORRECTIONS
from riskrank.shown.view import Column, Line, OfRow, Section, by_row
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.leading import Leading
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names, percent, rounded

_SIDES = {Side.SHOWN: "better", Side.REFUTED: "worse", Side.OPEN: "open"}


def tested(document: ReportDocument) -> RankDocument | None:
    """The ranking, where means of several metrics were tested."""
    ranking = document.ranking
    return ranking if len(ranking.means) > 1 and _one(ranking).recommendation is not None else None


def against_the_next(ranking: RankDocument, _: ReportDocument) -> str:
    """On how many metrics the first is better or worse than the model it is held against."""
    one, models = _one(ranking), ranking.provenance.models
    other = next(model for model in one.pair if model != one.first)
    sides = (-one.contrasts.answers.side[other]).tolist()
    told = [f"{word} on {sides.count(side)}" for side, word in _SIDES.items() if side in sides]
    said = f"{models[one.first]} against {models[other]}: {', '.join(told)} of {len(sides)} metrics"
    if Side.OPEN in sides and len({*sides}) == 1:
        counts = one.contrasts.worse.sum(axis=0).tolist()
        shown = [f"{n} other{'s' * (n > 1)} on {ranking.means[m].name}" for m, n in enumerate(counts) if n]
        said += f"; better than {names(shown, len(shown))}" if shown else ""
    return said


def differences(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    """A row a metric and model: its mean less that of the first, with interval, p-value and answer."""
    one, models, family = _one(ranking), ranking.provenance.models, ranking.inference.family
    answers = one.contrasts.answers
    columns: list[OfRow] = [
        (Column("metric", "left"), lambda at: ranking.means[at[1]].name),
        (Column("model", "left"), lambda at: models[at[0]]),
        (Column("difference"), lambda at: _apart(ranking, at)[0]),
        (Column("interval"), lambda at: _apart(ranking, at)[1]),
        (Column("p"), lambda at: numbers.p_value(float(min(answers.p_adjusted[at], answers.p_against[at])))),
        (Column("shown", "left"), lambda at: _SIDES[Side(int(answers.side[at]))]),
    ]
    rows = [(i, m) for m in range(len(ranking.means)) for i in one.others]
    title = f"Means of the others less that of {models[one.first]}"
    correction = CORRECTIONS[family.correction]
    together = f"hold together with {percent(family.confidence)}" if family.simultaneous else "are each alone"
    text = (
        f"{models[one.first]} is the first of the ranking. p: Student's or Johnson's t of the differences, "
        f"whichever is larger, one-sided; {correction} over the {len(rows)} of each direction, "
        f"level {family.alpha:g}. Intervals {together}; where a test decides, they end at 0 at the latest."
    )
    return [by_row(title, columns, rows, stub=2), Line(text, "Tests:")]


def _one(ranking: RankDocument) -> Leading:
    return next(iter(ranking.leading.values()))


def _apart(ranking: RankDocument, at: tuple[int, int]) -> tuple[str, str]:
    """A difference and its interval, in the units of the file."""
    mean, held = ranking.means[at[1]], _one(ranking).contrasts
    units = ranking.units[mean.name]
    estimate = float(units.of(held.difference)[at])
    low, high = (float(end[at]) for end in units.ends(held.answers.low, held.answers.high))
    if units.label == mean.name:
        return mean.gap(estimate), mean.span(low, high)
    decimals = numbers.decimals_of_ends([low], [high])
    return rounded(estimate, decimals), numbers.ends(low, high, decimals)
