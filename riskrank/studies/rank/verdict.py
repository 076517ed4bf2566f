"""What a ranking means for a decision: which model, what it gains and gives up, how sure, what the catch is.

Every sentence follows from a test that was made, or says that none was (method §4, "What a verdict may say").
At most three of them and seventy words are the verdict; what else is worth a sentence is for who asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.recommendation import Recommendation
from riskrank.studies.judged.chapter import sentences as judge_worth
from riskrank.studies.rank.case import Case
from riskrank.studies.rank.catches import catches
from riskrank.studies.rank.gains import against_of, differing, gain, means_differ, span_of, strongest
from riskrank.studies.rank.leading import Leading
from riskrank.studies.rank.worst_cases import mind, worse_cases
from riskrank.studies.said import Said, assuming, fitting
from riskrank.studies.suites.chapter import SuiteChapter
from riskrank.studies.suites.words import by_mean, by_task, other_scope
from riskrank.studies.wording import all_metrics, all_others, names


def rank_verdict(study: MethodStudy, case: Case) -> Said:
    """Say who comes first, what it gains over the next, and the catch.

    Parameters
    ----------
    study : MethodStudy
    case : Case

    Returns
    -------
    Said
    """
    if not case.leading:
        name, first = next(iter(study.aggregations.items()))
        return Said(aggregated_verdict(name, first, case.models), ())
    assumed = assuming(case.means, case.judged)
    if len(case.leading) > 1:
        head, *rest = _together(case)
        return fitting([assumed + head, *rest])
    one = next(iter(case.leading.values()))
    answer = [f"{assumed}{_who(one, case, ship=not assumed)}", *mind(one, case.table.metrics, case.models)]
    found = catches(one, case.table, case.means)
    if case.suite is not None:
        return fitting([*answer, *_tasks(one, case, case.suite), *found])
    return fitting([*answer, *judge_worth(case.judged), *gain(one, case), *found])


def _tasks(one: Leading, case: Case, suite: SuiteChapter) -> Iterator[str]:
    """What the tasks say of the first against the next, and the answer to the question not asked."""
    column, held = suite.columns[one.column], one.refuted is None
    if not one.others:
        return
    following = one.others[0]
    told = by_task(suite, column, one.first, following)
    mean = next((mean for mean in case.means if mean.name == one.column), None)
    if held and mean is not None:
        span = differing(span_of(one, one.pair, case))
        means = f"macro mean {mean.against(one.first, following)}{span}"
        yield f"Against {case.models[following]}: {'; '.join(filter(None, (means, told)))}."
    elif held and told:
        yield f"Against {case.models[following]}: {told}."
    yield from other_scope(suite, column, *one.pair)
    if held and mean is None:
        yield from gain(one, case)
    yield from by_mean(suite, column, one.first)


def _together(case: Case) -> Iterator[str]:
    """Of several columns: who leads where, and where that is sure."""
    models = case.models
    firsts: dict[int, list[str]] = {}
    for column, one in case.leading.items():
        firsts.setdefault(one.first, []).append(case.score(column))
    if len(firsts) == 1:
        yield f"{models[next(iter(firsts))]} comes first on each of {names(next(iter(firsts.values())), 6)}."
    else:
        parts = [f"{models[i]} on {names(columns)}" for i, columns in firsts.items()]
        yield f"No model comes first everywhere: {names(parts, 6)}."
    if not case.inference.test:
        yield "Nothing was tested, so nothing says how sure that is."
        return
    refuted = [case.score(name) for name, one in case.leading.items() if one.refuted]
    sure = [
        case.score(name)
        for name, one in case.leading.items()
        if not one.refuted and one.others and not _open(one)
    ]
    if refuted:
        ways = "head to head, on every metric, or in bad cases on one"
        yield f"On {names(refuted)} another model is ahead of the first {ways}."
    left = len(case.leading) - len(refuted) - len(sure)
    rest = "; elsewhere the first is not shown to be" if left else ""
    if len(sure) == len(case.leading):
        yield "The first is significantly ahead of all others on each."
    elif sure:
        yield f"Significantly ahead of all others: on {names(sure, 6)}{rest}."
    elif left:
        none = "On none of them is the first significantly ahead of all others."
        yield "Elsewhere the first is not shown to be ahead of all others." if refuted else none


def _open(one: Leading) -> bool:
    return bool(one.level or one.undecided)


def _who(one: Leading, case: Case, *, ship: bool) -> str:
    """Who is first, and against whom that is shown; or that the evidence is against the first."""
    models, k = case.models, len(case.models)
    on = case.score(one.column)
    same = [models[i] for i in [one.first, *one.identical]]
    if len(same) == k:
        every = f"All {k} models" if k > 2 else names(same)
        return f"{every} have the same distribution of scores on {on}: nothing tells them apart."
    who = models[one.first] if len(same) == 1 else f"{names(same)} (same distribution of scores)"
    if not one.tested:
        first = f"{who} comes first on {on}{_by(one)}"
        return f"{first}; nothing was tested, so nothing says how sure that is."
    if one.refuted is not None:
        return _disagreement(one, one.refuted, case)
    if len(one.beaten) + len(one.worse_throughout) == len(one.others):
        which = who if len(same) == 1 else f"{' or '.join(same[:3])} (same distribution of scores)"
        better = f"significantly better {_ahead(one, case)}"
        return f"Ship {which}: {better}." if ship else f"{which} is {better}."
    where = f" {case.suite.on}" if case.suite is not None and one.column in case.names else ""
    return f"{_level(one, who, case)}{_undecided(one, models)}{where}."


def _ahead(one: Leading, case: Case) -> str:
    """Of whom the first is ahead on the column ranked, and of whom by its means on every metric."""
    models, beaten, others = case.models, len(one.beaten), len(one.others)
    whom = models[one.others[0]] if others == 1 else all_others(others)
    if beaten == others:
        return f"than {whom} on {case.score(one.column)}"
    means = f"than {names([models[i] for i in one.worse_throughout], 3)} on {all_metrics(len(case.means))}"
    if not beaten:
        return f"{means}, though no test separates them on {case.score(one.column)}"
    return f"than {beaten} of {others} others on {case.score(one.column)}, and {means}"


def _by(one: Leading) -> str:
    """The method in words, where it is another than what is usual."""
    return "" if one.method == "R-SSD" else f" by {one.method}"


def _level(one: Leading, who: str, case: Case) -> str:
    """The first and those that no test puts behind it, with what it does beat."""
    models, on = case.models, "" if one.column in case.names else f" on {case.score(one.column)}"
    on = " on the whole" if means_differ(one, case) else on
    beaten, others = len(one.beaten), len(one.others)
    so_many = f"{beaten} of {others} others" if beaten > 1 else f"1 other of {others}"
    beats = f"; {who} beats {so_many}" if beaten else ""
    level = [models[i] for i in one.level]
    if not level:
        return f"{who} comes first{beats.replace(f'; {who}', ' and')}" if beats else f"{who} comes first"
    if not beaten and len(level) > 1:
        return f"No test tells {who}, first in these samples, from {_any(level, others)}{on}"
    them = "them" if one.level_among_themselves else f"{who} from them"
    whom = (
        names([who, *level]).replace(" and ", " or ")
        if len(level) < 3
        else f"{who} or one of {len(level)} others ({names(level)})"
    )
    return f"{whom}: no test separates {them}{on}{beats}"


def _any(level: Sequence[str], others: int) -> str:
    return f"any of the {others} others" if len(level) == others else names(level)


def _undecided(one: Leading, models: Sequence[str]) -> str:
    if not one.undecided:
        return ""
    whom = names([models[i] for i in one.undecided], 2)
    return f"; against {whom} the resamples are too few to tell"


def _disagreement(one: Leading, found: Recommendation, case: Case) -> str:
    """The first is not to be shipped: who speaks against it, and who stands instead."""
    models = case.models
    leader = models[one.first]
    first = f"{leader} comes first on {case.score(one.column)}{_by(one)}"
    ahead = found.rival
    against = models[ahead]
    if ahead in found.leader.better:
        every = all_metrics(len(case.means)) if len(case.means) > 1 else "average"
        shown = strongest(found.leader.contrasts.difference[ahead] / found.leader.contrasts.error[ahead], 2)
        parts = [against_of(case.means[m], ahead, one.first) for m in shown]
        why = f"but {against} is better on {every} ({', '.join(parts)})"
    elif ahead in found.leader.ahead:
        parts = [against_of(mean, ahead, one.first) for mean in case.means[:2]]
        why = f"but {against} is significantly ahead of it head to head ({', '.join(parts)})"
    else:
        worse = worse_cases(one, case.table.metrics)
        assert worse is not None
        why = f"but its {worse.words(models)}"
    return f"No model to ship on this evidence: {first}, {why}. {_instead(found, case)}"


def _instead(found: Recommendation, case: Case) -> str:
    """The first by the metrics' own rankings among the models nobody beats, and which metric decides."""
    if found.choice is None:
        return "Every other model is beaten by some other in its turn."
    chosen = case.models[found.choice]
    if len(found.unbeaten) == 1:
        return f"Look at {chosen} instead: no other model beats it throughout."
    if found.passed_over:
        first = found.passed_over[0]
        before, better = case.models[first.model], case.models[first.rival]
        on = names([case.means[m].name for m in first.metrics], 3)
        return (
            f"Look at {chosen} instead: {before} comes before it by the metrics' own rankings, "
            f"but {better} is significantly better on {on}, and worse on none."
        )
    rest = names([case.models[i] for i in found.unbeaten[1:]], 3)
    decides = names([case.means[m].name for m in found.deciding])
    taste = f"; {decides} decides" if len(found.deciding) == 1 else f"; {decides} decide" if decides else ""
    by = "by the metrics' own rankings" if len(case.means) > 1 else "in the ranking"
    return (
        f"Look at {chosen} instead: of the models nobody beats throughout it comes first {by}, before "
        f"{rest}{taste}."
    )


def aggregated_verdict(name: str, found: Aggregation, models: Sequence[str]) -> str:
    """Who comes first in an aggregated order."""
    order = [models[i] for i in found.order]
    doubt = "" if found.unique else ", though another order fits as well"
    return f"{order[0]} comes first by {name}, before {names(order[1:])}{doubt}; no test says how sure."
