"""Findings of ``copa`` about the choice, its justification and its uncertainty, and their sentences."""

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
    """Input of the findings and their sentences.

    Attributes
    ----------
    table : Objectives
    ranking : CopaRanking
        The ranking by the first p, which decides the choice.
    uncertainty : FrontUncertainty or str
        Uncertainty of the front, or the reason why it is unknown.
    """

    table: Objectives
    ranking: CopaRanking
    uncertainty: FrontUncertainty | str

    @property
    def front_uncertainty(self) -> FrontUncertainty:
        """Uncertainty of the front; only valid if it is known."""
        assert not isinstance(self.uncertainty, str)
        return self.uncertainty


def copa_findings(case: CopaCase) -> list[Finding]:
    """Return the findings about the choice, the other models on the front and the reason for the choice."""
    chosen, uncertainty = case.ranking.chosen, case.uncertainty
    figures = {"norm": float(case.ranking.norm[chosen])}
    figures |= {} if np.isinf(case.ranking.p) else {"p": case.ranking.p}
    if (worst := _weakest_objective(case.table, case.ranking)) is not None:
        figures["better_share"] = float(case.table.population.u[chosen, worst])
    if isinstance(uncertainty, str):
        return [Finding(kind="choice", models=(chosen,), figures=figures), *untested(tested=False)]
    other_models = tuple(i for i in case.ranking.order.tolist() if i != chosen)
    share = {"chosen_share": float(uncertainty.shares.chosen[chosen]), "tied_share": uncertainty.shares.tied}
    front = {side.word: sum(uncertainty.membership.state[i] == side for i in other_models) for side in Side}
    choice = Finding(
        kind="choice", models=(chosen,), figures=share, answer=Side(uncertainty.membership.state[chosen])
    )
    if uncertainty.identical:
        return [choice, Finding(kind="same-distribution", models=(chosen, *other_models))]
    return [
        choice,
        Finding(kind="front", models=other_models, figures=front),
        Finding(kind="why-chosen", models=(chosen,), figures=figures),
    ]


def _tested_choice(case: CopaCase) -> str:
    """Return the sentence about the choice when the front was tested."""
    table, ranking, uncertainty = case.table, case.ranking, case.front_uncertainty
    chosen, shares = ranking.chosen, uncertainty.shares.chosen
    state = uncertainty.membership.state[chosen]
    equal_models = [chosen, *_models_equal_to_chosen(table, ranking)]
    reason = f" ({explain_open_state(table, uncertainty, chosen)})" if len(equal_models) == 1 else ""
    status = {
        Side.SHOWN: "surely on the front",
        Side.OPEN: f"whether {'they are' if equal_models[1:] else 'it is'} on the front is open{reason}",
        Side.REFUTED: f"though {describe_dominator(table, uncertainty, chosen)}",
    }[state]
    if joint_answer(uncertainty.constraint_answers[chosen]) != Side.SHOWN:
        status = _describe_unmet_constraints(table, uncertainty, chosen)
    resamples_text = "resampled tasks" if uncertainty.random_tasks else "resamples"
    if uncertainty.identical:
        model_names = names([table.name(i) for i in case.ranking.order.tolist()])
        return f"Nothing but names chooses between {model_names}: all tie."
    text = f"Choose {' or '.join(map(table.name, equal_models))}: {status}; "
    if equal_models[1:] and shares[chosen] < 0.01:
        return f"{text}tied in {_format_share(uncertainty.shares.tied)} of {resamples_text}."
    text += f"chosen in {_format_share(shares[chosen])} of {resamples_text}"
    if uncertainty.shares.tied >= 0.01:
        return f"{text}, tied in {_format_share(uncertainty.shares.tied)}."
    other = int(np.argsort(-shares, kind="stable")[0])
    if other == chosen and shares[chosen] < 0.5 and len(shares) > 1:
        other = int(np.argsort(-shares, kind="stable")[1])
    return text + (f", {table.name(other)} in {_format_share(shares[other])}." if other != chosen else ".")


def _models_equal_to_chosen(table: Objectives, ranking: CopaRanking) -> list[int]:
    """Return the models with the same values as the chosen model on every objective."""
    values = table.population.objectives
    equal = (values == values[ranking.chosen]).all(axis=1)
    return [i for i in ranking.tied_with(ranking.chosen).tolist() if equal[i]]


def _format_share(share: float) -> str:
    """Format a share of resamples in percent, never as 0 % or 100 %."""
    return "over 99 %" if share > 0.99 else "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _describe_front(finding: Finding, case: CopaCase) -> str:
    """Return the sentence about which other models are on the front, open or dominated."""
    table, uncertainty = case.table, case.front_uncertainty
    explanations = {Side.OPEN: explain_open_state, Side.REFUTED: describe_dominator}
    parts, other_models = (
        [],
        [i for i in finding.models if i not in _models_equal_to_chosen(table, case.ranking)],
    )
    for state, state_text in _STATE_TEXTS.items():
        models = [i for i in other_models if uncertainty.membership.state[i] == state]
        if state == Side.REFUTED:
            models = [i for i in models if uncertainty.membership.dominator[i] >= 0]
        if models:
            verb = "is" if len(models) == 1 else "are"
            explanation = explanations.get(state) if verb == "is" else None
            reason = f" ({explanation(table, uncertainty, models[0])})" if explanation else ""
            parts.append(f"{names([table.name(i) for i in models])} {verb} {state_text}{reason}")
    return f"{'; '.join(parts)}." if parts else ""


def describe_dominator(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Describe the model that significantly dominates a model.

    Returns
    -------
    str
        Such as ``mid is as good on everything``.
    """
    dominator = int(uncertainty.membership.dominator[i])
    return f"{table.name(dominator)} is as good on everything{_margin_note(table, dominator, i)}"


def _margin_note(table: Objectives, first: int, second: int) -> str:
    """Return a note if the first model is as good as the second only within the margins, else ""."""
    values = table.population.objectives
    return "" if np.all(values[first] >= values[second]) else " up to the margins"


def _describe_unmet_constraints(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Name the constraints that a model is not shown to meet."""
    pairs = zip(table.constraints, uncertainty.constraint_answers[i], strict=True)
    return f"not shown to meet {names([text for text, answer in pairs if answer != Side.SHOWN], 3)}"


def explain_open_state(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Explain why the tests do not decide whether a model is on the front.

    Returns
    -------
    str
        Such as ``mid is as good on all 3, not shown on cost``.
    """
    rival = int(uncertainty.membership.rival[i])
    if (
        joint_answer(uncertainty.constraint_answers[i]) != Side.SHOWN
        and uncertainty.membership.nondominated[i]
    ):
        return _describe_unmet_constraints(table, uncertainty, i)
    metrics, name = table.population.metrics, table.name(rival)
    values = table.population.objectives
    margins = np.array([evidence.margin for evidence in uncertainty.evidence])
    if np.all(values[rival] >= values[i] - margins):
        undecided = [
            metric
            for metric, evidence in zip(metrics, uncertainty.evidence, strict=True)
            if not uncertainty.family.significant(evidence.noninferior[rival, i])
        ]
        if len(metrics) == 1 and undecided:
            return f"{name} is as good on {metrics[0]}{_margin_note(table, rival, i)}, which is not shown"
        all_metrics = {1: metrics[0], 2: "both"}.get(len(metrics), f"all {len(metrics)}")
        undecided_text = "any" if len(undecided) == len(metrics) > 1 else names(undecided, 3)
        gap = f"not shown on {undecided_text}" if undecided else "not shown among so many pairs"
        return f"{name} is as good on {all_metrics}{_margin_note(table, rival, i)}, {gap}"
    best = int(uncertainty.membership.best_on[i, rival])
    if best >= 0 and uncertainty.family.significant(uncertainty.evidence[best].better[i, rival]):
        return f"better than {name} on {metrics[best]}, not shown among so many comparisons"
    return f"nowhere shown to be better than {name}"


def _untested_choice(case: CopaCase) -> str:
    """Return the sentence about the choice by the values alone."""
    table, ranking = case.table, case.ranking
    n_feasible, name = int(table.population.feasible.sum()), table.name(ranking.chosen)
    if n_feasible == 1:
        return f"Choose {name}: it is the only model whose values meet the constraints."
    tied = ranking.tied_with(ranking.chosen).tolist()
    text = f"Choose {name}: {_describe_optimality(table, ranking, n_feasible, tied=bool(tied))}"
    if not tied:
        return f"{text}."
    verb = "is as good by that" if len(tied) == 1 else "are as good by that"
    by_name = ", and only the names tell them apart" if _tied_except_for_name(table, ranking, tied) else ""
    return f"{text}; {names([table.name(i) for i in tied])} {verb}{by_name}."


def _tied_except_for_name(table: Objectives, ranking: CopaRanking, tied: Sequence[int]) -> bool:
    """Return whether the tied models agree in every tie-breaker of `rank_models` except the name."""
    population = table.population
    shares = population.u[[ranking.chosen, *tied]]
    places = [tie_codes(rank_norm(shares, ranking.weights, p)) for p in TIE_BREAKING_P]
    return bool(population.front[tied].all()) and not np.ptp(places, axis=1).any()


def _weakest_objective(table: Objectives, ranking: CopaRanking) -> int | None:
    """Return the objective on which most models beat the chosen one, or None if no model does on any."""
    ranks = np.where(np.asarray(table.weights) > 0, table.population.u[ranking.chosen], -1.0)
    worst = int(np.argmax(ranks))
    return worst if ranks[worst] > 0 else None


def _describe_optimality(table: Objectives, ranking: CopaRanking, n_feasible: int, *, tied: bool) -> str:
    """Describe in which sense the chosen model is the best, or as good as any."""
    population, chosen, worst = table.population, ranking.chosen, _weakest_objective(table, ranking)
    if worst is None:
        return "no model is better on any objective that has a weight"
    share = percent(float(population.u[chosen, worst]))
    weak = f"on {population.metrics[worst]}, {share} of the other models do better"
    equal = "" if np.ptp(np.asarray(table.weights)) < 1e-12 else " by these weights"
    if np.isinf(ranking.p):
        best = "as strong as any" if tied else "the least weak"
        return f"of {n_feasible:,} models its weakest objective is {best}{equal} ({weak})"
    places = "its mean place" if ranking.p == 1 else f"its place by all objectives (p = {ranking.p:g})"
    best = "as good as any" if tied else "the best"
    return f"of {n_feasible:,} models {places} is {best}{equal}; it is weakest {weak}"


SENTENCES: Sentences[CopaCase] = Sentences(
    {
        "choice": lambda _, case: (
            _untested_choice(case) if isinstance(case.uncertainty, str) else _tested_choice(case)
        ),
        "nothing-tested": lambda _, case: f"Nothing says how sure that is: {case.uncertainty}.",
        "same-distribution": lambda _, case: same_distribution(
            case.table.population.names, names(case.table.population.metrics)
        ),
        "same-scores": lambda finding, case: alike_throughout([case.table.name(i) for i in finding.models]),
        "front": _describe_front,
        "why-chosen": lambda _, case: _untested_choice(case).replace("Choose ", "Why ", 1),
    }
)
"""How each kind of finding is said."""
