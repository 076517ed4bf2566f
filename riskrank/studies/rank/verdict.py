"""What a ranking means for a decision: which model to ship, what it gains, how sure we are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.column_ranking import RankStudy
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.errors import option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.rank.gain import gain, weak_spots
from riskrank.studies.units import column_words
from riskrank.studies.verdicts import aggregated_verdict
from riskrank.studies.wording import design, names, not_decided, unseen_in

# Methods whose ranking a decision should look at, the most careful first.
_LEADING = ("R-SSD", "R-FSD")


@dataclass(frozen=True)
class _Rivals:
    """The others by what the tests say of the first model against them, each in the order of the ranking."""

    beaten: list[int]
    identical: list[int]
    undecided: list[int]
    inseparable: list[int]


def rank_verdict(study: MethodStudy, table: ScoreTable, inference: Inference) -> str:
    """Say who comes first, what it gains over the next, who cannot be told apart from it, and its weak spots.

    Parameters
    ----------
    study : MethodStudy
    table : ScoreTable
    inference : Inference
    """
    leading: dict[str, str] = {}
    for name, found in study.studies.items():
        shown = [method for method in found.rankings if f"{method}@{name}" in study.rankings]
        if shown:
            leading[name] = next((method for method in _LEADING if method in shown), shown[0])
    if not leading:
        name, first = next(iter(study.aggregations.items()))
        return aggregated_verdict(name, first, table.models)
    sentences = [*_together(leading, study, table)]
    agree = len(leading) == 1 or len(_firsts(leading, study)) == 1
    for name, method in leading.items():
        found = study.studies[name]
        rivals = _rivals(method, found, inference)
        how = f"{method}@{name}"
        if len(leading) == 1 and inference.test:
            how = f"{design(study.columns[name])}, α = {inference.alpha:g}; {how}"
        sentences.append(_place(name, how, method, found, table, inference, rivals, ship=agree))
        sentences += gain(name, method, found, table, inference)
        if len(leading) == 1:
            sentences += weak_spots(name, method, found, table)
        sentences += _open_claims(name, method, found)
    least = min((study.columns[name] for name in leading), key=lambda scores: scores.effective_size)
    return " ".join([*sentences, unseen_in(least)])


def _firsts(leading: Mapping[str, str], study: MethodStudy) -> dict[int, list[str]]:
    """First models, and the columns each of them leads."""
    found: dict[int, list[str]] = {}
    for name, method in leading.items():
        found.setdefault(int(study.studies[name].rankings[method].order[0]), []).append(name)
    return found


def _together(leading: Mapping[str, str], study: MethodStudy, table: ScoreTable) -> Iterator[str]:
    """Whether several columns agree on the first model, and what would weigh them."""
    if len(leading) == 1:
        return
    firsts = _firsts(leading, study)
    if len(firsts) == 1:
        every = [column_words(name, table.metrics) for name in leading]
        yield f"{table.models[next(iter(firsts))]} ranks first on each of {names(every, 6)}."
        return
    parts = [
        f"{table.models[i]} on {names([column_words(name, table.metrics) for name in columns])}"
        for i, columns in firsts.items()
    ]
    advice = ""
    if all(name in {metric.name for metric in table.metrics} for name in leading):
        advice = (
            f"; rank without {option('per_metric', True)} weighs them in one portfolio, by "
            f"{option('weight')} if they do not count alike"
        )
    yield f"No one model ranks first everywhere: {names(parts, 6)}{advice}."


def _rivals(method: str, found: RankStudy, inference: Inference) -> _Rivals:
    order = found.rankings[method].order.tolist()
    leader, rest = order[0], order[1:]
    same = found.dominance.estimates.identical[leader]
    identical = [i for i in rest if same[i]]
    tests = found.tests_of(method)
    if tests is None or not inference.test:
        return _Rivals([], identical, [], [])
    beaten = [i for i in rest if tests.dominates[leader, i]]
    others = [i for i in rest if not tests.dominates[leader, i] and not same[i]]
    decided = tests.decided[leader]
    return _Rivals(
        beaten, identical, [i for i in others if not decided[i]], [i for i in others if decided[i]]
    )


def _place(
    name: str,
    how: str,
    method: str,
    found: RankStudy,
    table: ScoreTable,
    inference: Inference,
    rivals: _Rivals,
    *,
    ship: bool,
) -> str:
    """Who is first, and against whom that is significant."""
    ranking, models = found.rankings[method], table.models
    leader, count = int(ranking.order[0]), len(table.models) - 1
    first = [models[i] for i in [leader, *rivals.identical]]
    on = column_words(name, table.metrics)
    if len(rivals.identical) == count:
        every = f"All {len(models)} models" if count > 1 else names(first)
        return f"{every} have identical scores on {on}: there is nothing to tell them apart."
    who = names(first) if len(first) > 1 else first[0]
    same = ", whose scores are identical," if len(first) > 1 else ""
    tied = [models[i] for i in ranking.order if ranking.rank[i] == 1 and i not in (leader, *rivals.identical)]
    ranks = f"{'rank' if len(first) > 1 else 'ranks'} first" + (f", level with {names(tied)}" if tied else "")
    tests = found.tests_of(method)
    if tests is None or not inference.test:
        return f"{who}{same} {ranks} ({how}); no test says how sure that is."
    are, they = ("are", "they are") if len(first) > 1 else ("is", "it is")
    if len(rivals.beaten) == count - len(rivals.identical):
        others = "the other" if len(rivals.beaten) == 1 else f"all {len(rivals.beaten)} others"
        if not ship:
            return f"On {on}, {who}{same} {are} significantly better than {others} ({how})."
        which = f"one of {who}" if len(first) > 2 else " or ".join(first)
        return f"Ship {which}{same.rstrip(',')}: {they} significantly better than {others} ({how})."
    doubts = _doubts(rivals, models, _resamples(found), many=len(first) > 1)
    if not rivals.beaten:
        return f"{who}{same} {ranks}, but {are} significantly better than none: {doubts} ({how})."
    better = f"significantly better than {len(rivals.beaten)} of {count} others, but {doubts} ({how})"
    if ship and len(first) == 1:
        return f"Ship {who} if it has to be one: it {ranks} and is {better}."
    return f"{who}{same} {ranks} and {are} {better}."


def _doubts(rivals: _Rivals, models: Sequence[str], resamples: int, *, many: bool) -> str:
    """Who is as good for all the tests say, apart from those that more resamples would decide."""
    parts = []
    if rivals.inseparable:
        told = names([models[i] for i in rivals.inseparable])
        parts.append(f"{'they' if many else 'it'} cannot be told apart from {told}")
    if rivals.undecided:
        told = names([models[i] for i in rivals.undecided])
        again = "and " if parts else ""
        parts.append(f"{again}against {told} that is not decided at {resamples:,} resamples")
    return ", ".join(parts)


def _resamples(found: RankStudy) -> int:
    return found.dominance.resamples or 0


def _open_claims(name: str, method: str, found: RankStudy) -> Iterator[str]:
    tests = found.tests_of(method)
    undecided = 0 if tests is None else int(np.count_nonzero(~tests.decided))
    if tests is not None and undecided:
        yield f"{not_decided(undecided, tests.family, _resamples(found), f'{method}@{name}')}."
