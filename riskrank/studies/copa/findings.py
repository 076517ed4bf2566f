"""Which model COPA chooses, in which sense it is the best, how sure that is; and how that is said."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.ranking import TIE_BREAKING_P, CopaRanking, rank_norm
from riskrank.engine.family import Side
from riskrank.engine.ties import tie_codes
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.uncertainty import FrontUncertainty, joint_answer
from riskrank.studies.findings import Finding, Sentences, alike_throughout, same_distribution, untested
from riskrank.studies.wording import names, percent

_STATE_TEXTS = {Side.SHOWN: "on the front", Side.OPEN: "open", Side.REFUTED: "off the front"}


@dataclass(frozen=True, eq=False)
class CopaCase:
    """What sentences are made from: the ranking that decides, and what is known of the front or why not."""

    table: Objectives
    ranking: CopaRanking
    uncertainty: FrontUncertainty | str

    @property
    def front_uncertainty(self) -> FrontUncertainty:
        """What samples say of the front, where anything is known of it."""
        assert not isinstance(self.uncertainty, str)
        return self.uncertainty


def copa_findings(case: CopaCase) -> list[Finding]:
    """The choice and how sure it is, who else is on the front, and what decides."""
    chosen, doubt = case.ranking.chosen, case.uncertainty
    figures = {"norm": float(case.ranking.norm[chosen])}
    figures |= {} if np.isinf(case.ranking.p) else {"p": case.ranking.p}
    if (worst := _weakest_objective(case.table, case.ranking)) is not None:
        figures["better_share"] = float(case.table.population.u[chosen, worst])
    if isinstance(doubt, str):
        return [Finding(kind="choice", models=(chosen,), figures=figures), *untested(tested=False)]
    others = tuple(i for i in case.ranking.order.tolist() if i != chosen)
    share = {"chosen_share": float(doubt.shares.chosen[chosen]), "tied_share": doubt.shares.tied}
    front = {side.word: sum(doubt.membership.state[i] == side for i in others) for side in Side}
    choice = Finding(kind="choice", models=(chosen,), figures=share, answer=Side(doubt.membership.state[chosen]))
    if doubt.identical:
        return [choice, Finding(kind="same-distribution", models=(chosen, *others))]
    return [
        choice,
        Finding(kind="front", models=others, figures=front),
        Finding(kind="why-chosen", models=(chosen,), figures=figures),
    ]


def _tested_choice(case: CopaCase) -> str:
    table, ranking, doubt = case.table, case.ranking, case.front_uncertainty
    chosen, shares = ranking.chosen, doubt.shares.chosen
    state = doubt.membership.state[chosen]
    same = [chosen, *_models_equal_to_chosen(table, ranking)]
    why = f" ({explain_open_state(table, doubt, chosen)})" if len(same) == 1 else ""
    told = {
        Side.SHOWN: "surely on the front",
        Side.OPEN: f"whether {'they are' if same[1:] else 'it is'} on the front is open{why}",
        Side.REFUTED: f"though {describe_dominator(table, doubt, chosen)}",
    }[state]
    if joint_answer(doubt.constraint_answers[chosen]) != Side.SHOWN:
        told = _describe_unmet_constraints(table, doubt, chosen)
    drawn = "resampled tasks" if doubt.random_tasks else "resamples"
    if doubt.identical:
        every = names([table.name(i) for i in case.ranking.order.tolist()])
        return f"Nothing but names chooses between {every}: all tie."
    text = f"Choose {' or '.join(map(table.name, same))}: {told}; "
    if same[1:] and shares[chosen] < 0.01:
        return f"{text}tied in {_format_share(doubt.shares.tied)} of {drawn}."
    text += f"chosen in {_format_share(shares[chosen])} of {drawn}"
    if doubt.shares.tied >= 0.01:
        return f"{text}, tied in {_format_share(doubt.shares.tied)}."
    other = int(np.argsort(-shares, kind="stable")[0])
    if other == chosen and shares[chosen] < 0.5 and len(shares) > 1:
        other = int(np.argsort(-shares, kind="stable")[1])
    return text + (f", {table.name(other)} in {_format_share(shares[other])}." if other != chosen else ".")


def _models_equal_to_chosen(table: Objectives, ranking: CopaRanking) -> list[int]:
    """Models that have the values of the chosen one on every objective."""
    values = table.population.objectives
    alike = (values == values[ranking.chosen]).all(axis=1)
    return [i for i in ranking.tied_with(ranking.chosen).tolist() if alike[i]]


def _format_share(share: float) -> str:
    """A share of resamples; all of them is no certainty."""
    return "over 99 %" if share > 0.99 else "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _describe_front(finding: Finding, case: CopaCase) -> str:
    """Who else is on the front, of whom it is open, and who is dominated."""
    table, doubt = case.table, case.front_uncertainty
    reasons = {Side.OPEN: explain_open_state, Side.REFUTED: describe_dominator}
    parts, others = [], [i for i in finding.models if i not in _models_equal_to_chosen(table, case.ranking)]
    for side, where in _STATE_TEXTS.items():
        models = [i for i in others if doubt.membership.state[i] == side]
        if side == Side.REFUTED:
            models = [i for i in models if doubt.membership.dominator[i] >= 0]
        if models:
            verb = "is" if len(models) == 1 else "are"
            why = reasons.get(side) if verb == "is" else None
            reason = f" ({why(table, doubt, models[0])})" if why else ""
            parts.append(f"{names([table.name(i) for i in models])} {verb} {where}{reason}")
    return f"{'; '.join(parts)}." if parts else ""


def describe_dominator(table: Objectives, doubt: FrontUncertainty, i: int) -> str:
    """Who is shown to dominate a model.

    ``mid is as good on everything``
    """
    by = int(doubt.membership.dominator[i])
    return f"{table.name(by)} is as good on everything{_margin_note(table, by, i)}"


def _margin_note(table: Objectives, first: int, second: int) -> str:
    """Said of a model that is as good as another only if margins are allowed for."""
    values = table.population.objectives
    return "" if np.all(values[first] >= values[second]) else " up to the margins"


def _describe_unmet_constraints(table: Objectives, doubt: FrontUncertainty, i: int) -> str:
    """Constraints that a model is not shown to meet."""
    pairs = zip(table.constraints, doubt.constraint_answers[i], strict=True)
    return f"not shown to meet {names([text for text, answer in pairs if answer != Side.SHOWN], 3)}"


def explain_open_state(table: Objectives, doubt: FrontUncertainty, i: int) -> str:
    """What is lacking to say whether a model is on the front.

    ``mid is as good on all 3, not shown on cost``
    """
    rival = int(doubt.membership.rival[i])
    if joint_answer(doubt.constraint_answers[i]) != Side.SHOWN and doubt.membership.nondominated[i]:
        return _describe_unmet_constraints(table, doubt, i)
    metrics, name = table.population.metrics, table.name(rival)
    values = table.population.objectives
    margins = np.array([one.margin for one in doubt.evidence])
    if np.all(values[rival] >= values[i] - margins):
        unshown = [
            metric
            for metric, one in zip(metrics, doubt.evidence, strict=True)
            if not doubt.family.significant(one.noninferior[rival, i])
        ]
        if len(metrics) == 1 and unshown:
            return f"{name} is as good on {metrics[0]}{_margin_note(table, rival, i)}, which is not shown"
        everywhere = {1: metrics[0], 2: "both"}.get(len(metrics), f"all {len(metrics)}")
        some = "any" if len(unshown) == len(metrics) > 1 else names(unshown, 3)
        lacking = f"not shown on {some}" if unshown else "not shown among so many pairs"
        return f"{name} is as good on {everywhere}{_margin_note(table, rival, i)}, {lacking}"
    best = int(doubt.membership.best_on[i, rival])
    if best >= 0 and doubt.family.significant(doubt.evidence[best].better[i, rival]):
        return f"better than {name} on {metrics[best]}, not shown among so many comparisons"
    return f"nowhere shown to be better than {name}"


def _untested_choice(case: CopaCase) -> str:
    table, ranking = case.table, case.ranking
    able, name = int(table.population.feasible.sum()), table.name(ranking.chosen)
    if able == 1:
        return f"Choose {name}: it is the only model whose values meet the constraints."
    tied = ranking.tied_with(ranking.chosen).tolist()
    text = f"Choose {name}: {_describe_optimality(table, ranking, able, tied=bool(tied))}"
    if not tied:
        return f"{text}."
    verb = "is as good by that" if len(tied) == 1 else "are as good by that"
    by_name = ", and only the names tell them apart" if _tied_except_for_name(table, ranking, tied) else ""
    return f"{text}; {names([table.name(i) for i in tied])} {verb}{by_name}."


def _tied_except_for_name(table: Objectives, ranking: CopaRanking, tied: Sequence[int]) -> bool:
    """Whether all of the same norm are as good by all that `rank_models` asks before the name."""
    population = table.population
    shares = population.u[[ranking.chosen, *tied]]
    places = [tie_codes(rank_norm(shares, ranking.weights, p)) for p in TIE_BREAKING_P]
    return bool(population.front[tied].all()) and not np.ptp(places, axis=1).any()


def _weakest_objective(table: Objectives, ranking: CopaRanking) -> int | None:
    """The objective on which most others do better than the chosen model; None where nobody does on any."""
    ranks = np.where(np.asarray(table.weights) > 0, table.population.u[ranking.chosen], -1.0)
    worst = int(np.argmax(ranks))
    return worst if ranks[worst] > 0 else None


def _describe_optimality(table: Objectives, ranking: CopaRanking, able: int, *, tied: bool) -> str:
    """In which sense the chosen model is the best, or as good as any."""
    population, chosen, worst = table.population, ranking.chosen, _weakest_objective(table, ranking)
    if worst is None:
        return "no model is better on any objective that has a weight"
    share = percent(float(population.u[chosen, worst]))
    weak = f"on {population.metrics[worst]}, {share} of the other models do better"
    equal = "" if np.ptp(np.asarray(table.weights)) < 1e-12 else " by these weights"
    if np.isinf(ranking.p):
        best = "as strong as any" if tied else "the least weak"
        return f"of {able:,} models its weakest objective is {best}{equal} ({weak})"
    places = "its mean place" if ranking.p == 1 else f"its place by all objectives (p = {ranking.p:g})"
    best = "as good as any" if tied else "the best"
    return f"of {able:,} models {places} is {best}{equal}; it is weakest {weak}"


SENTENCES: Sentences[CopaCase] = Sentences(
    {
        "choice": lambda _, case: (
            _untested_choice(case) if isinstance(case.uncertainty, str) else _tested_choice(case)
        ),
        "nothing-tested": lambda _, case: f"Nothing says how sure that is: {case.uncertainty}.",
        "same-distribution": lambda _, case: same_distribution(
            case.table.population.names, names(case.table.population.metrics)
        ),
        "same-scores": lambda found, case: alike_throughout([case.table.name(i) for i in found.models]),
        "front": _describe_front,
        "why-chosen": lambda _, case: _untested_choice(case).replace("Choose ", "Why ", 1),
    }
)
"""How each kind of finding is said."""
