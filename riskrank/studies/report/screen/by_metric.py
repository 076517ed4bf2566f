"""Differences of means, metric by metric: the tests that a verdict's words on single metrics rest on."""

from collections.abc import Iterable

from riskrank.engine.family import Side
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS
from riskrank.render.view import Line, Section, Table, headed
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import counted, names, percent, rounded

_SIDES = {Side.SHOWN: "better", Side.REFUTED: "worse", Side.OPEN: "open"}


def to_the_first(what: str, answer: str, rows: Iterable[tuple[str, ...]], ranking: RankDocument) -> Table:
    """Differences to the first: of what, of whom, how large, within which ends, p-value and answer."""
    heads = *headed("on", "model", right=("difference", "interval", "p")), *headed(answer)
    first = ranking.provenance.models[ranking.lead.first]
    return Table(f"{what} of the others less that of {first}", heads, tuple(rows), stub=2)


def tested(ranking: RankDocument) -> bool:
    """Whether means of several metrics were tested."""
    return len(ranking.means) > 1 and ranking.lead.recommendation is not None


def against_the_next(ranking: RankDocument, _: ReportDocument) -> str:
    """On how many metrics the first is better or worse than the model it is held against."""
    one, models = ranking.lead, ranking.provenance.models
    sides = (-one.contrasts.answers.side[one.other]).tolist()
    told = [f"{word} on {sides.count(side)}" for side, word in _SIDES.items() if side in sides]
    said = f"{models[one.first]} against {models[one.other]}: {', '.join(told)} of {len(sides)} metrics"
    counts = one.contrasts.worse.sum(axis=0).tolist() if {*sides} == {Side.OPEN} else ()
    shown = [f"{counted(n, 'other')} on {ranking.means[m].name}" for m, n in enumerate(counts) if n]
    return f"{said}; better than {names(shown, len(shown))}" if shown else said


def differences(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    """A row a metric and model: its mean less that of the first, with interval, p-value and answer."""
    one, models, family = ranking.lead, ranking.provenance.models, ranking.inference.family
    rows = [
        (mean.name, models[i], *_apart(ranking, i, m))
        for m, mean in enumerate(ranking.means)
        for i in one.others
    ]
    together = f"hold together with {percent(family.confidence)}" if family.simultaneous else "are each alone"
    text = (
        f"{models[one.first]} is the first of the ranking. p: Student's or Johnson's t of the differences, "
        f"whichever is larger, one-sided; {CORRECTIONS[family.correction]} over the {len(rows)} of each "
        f"direction, level {family.alpha:g}. Intervals {together}; where a test decides, they end at 0 at "
        "the latest."
    )
    return [to_the_first("Means", "shown", rows, ranking), Line(text, "Tests:")]


def _apart(ranking: RankDocument, model: int, metric: int) -> tuple[str, ...]:
    """A difference and its interval in the units of the file, its p-value and answer."""
    mean, held, at = ranking.means[metric], ranking.lead.contrasts, (model, metric)
    units, answers = ranking.units[mean.name], held.answers
    estimate = float(units.of(held.difference)[at])
    low, high = (float(end[at]) for end in units.ends(answers.low, answers.high))
    if units.label == mean.name:
        apart = mean.gap(estimate), mean.span(low, high)
    else:
        decimals = numbers.decimals_of_ends([low], [high])
        apart = rounded(estimate, decimals), numbers.ends(low, high, decimals)
    p = float(min(answers.p_adjusted[at], answers.p_against[at]))
    return *apart, numbers.p_value(p), _SIDES[Side(int(answers.side[at]))]
