"""Findings of ``copa`` and their sentences: the choice, its justification and its uncertainty."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.ranking import TIE_BREAKING_P, CopaRanking, rank_norm
from riskrank.engine.family import Answer
from riskrank.engine.ties import tie_codes
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.uncertainty import FrontUncertainty, joint_answer
from riskrank.studies.findings import (
    Finding,
    Sentences,
    same_distribution_sentence,
    same_scores_sentence,
    untested_finding,
)
from riskrank.studies.wording import format_percent, join_names

_STATE_TEXTS = {
    Answer.SIGNIFICANT: "on the front",
    Answer.UNDECIDED: "undecided",
    Answer.CONTRADICTED: "off the front",
}


@dataclass(frozen=True, eq=False)
class CopaCase:
    """Results from which the findings and their sentences are derived.

    Attributes
    ----------
    table : Objectives
    ranking : CopaRanking
        Ranking by the first requested p, which determines the choice.
    uncertainty : FrontUncertainty or str
        Uncertainty of the Pareto front, or the reason why it could not be tested.
    """

    table: Objectives
    ranking: CopaRanking
    uncertainty: FrontUncertainty | str

    @property
    def front_uncertainty(self) -> FrontUncertainty:
        """Uncertainty of the front, which must have been tested."""
        assert not isinstance(self.uncertainty, str)
        return self.uncertainty


def copa_findings(case: CopaCase) -> list[Finding]:
    """Return the findings: the choice, the other models on the front, and the reason for the choice."""
    chosen, uncertainty = case.ranking.chosen, case.uncertainty
    figures = {"norm": float(case.ranking.norm[chosen])}
    figures |= {} if np.isinf(case.ranking.p) else {"p": case.ranking.p}
    if (worst := _weakest_objective(case.table, case.ranking)) is not None:
        figures["better_share"] = float(case.table.population.u[chosen, worst])
    if isinstance(uncertainty, str):
        return [Finding(kind="choice", models=(chosen,), figures=figures), *untested_finding(tested=False)]
    other_models = tuple(i for i in case.ranking.order.tolist() if i != chosen)
    share = {"chosen_share": float(uncertainty.shares.chosen[chosen]), "tied_share": uncertainty.shares.tied}
    front = {side.word: sum(uncertainty.membership.state[i] == side for i in other_models) for side in Answer}
    choice = Finding(
        kind="choice", models=(chosen,), figures=share, answer=Answer(uncertainty.membership.state[chosen])
    )
    if uncertainty.identical:
        return [choice, Finding(kind="same-distribution", models=(chosen, *other_models))]
    return [
        choice,
        Finding(kind="front", models=other_models, figures=front),
        Finding(kind="choice-reason", models=(chosen,), figures=figures),
    ]


def _tested_choice(case: CopaCase) -> str:
    """Return the sentence about the choice, if the front was tested."""
    table, ranking, uncertainty = case.table, case.ranking, case.front_uncertainty
    chosen, shares = ranking.chosen, uncertainty.shares.chosen
    state = uncertainty.membership.state[chosen]
    equal_models = [chosen, *_models_equal_to_chosen(table, ranking)]
    reason = f" ({explain_open_state(table, uncertainty, chosen)})" if len(equal_models) == 1 else ""
    status = {
        Answer.SIGNIFICANT: "significantly on the front",
        Answer.UNDECIDED: f"possibly not on the front{reason}",
        Answer.CONTRADICTED: f"although {describe_dominator(table, uncertainty, chosen)}",
    }[state]
    if joint_answer(uncertainty.constraint_answers[chosen]) != Answer.SIGNIFICANT:
        status = _describe_unmet_constraints(table, uncertainty, chosen)
    resamples_text = "resampled tasks" if uncertainty.random_tasks else "resamples"
    if uncertainty.identical:
        model_names = join_names([table.name(i) for i in case.ranking.order.tolist()])
        return f"{model_names} tie on every objective, so their names decide the choice."
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
    """Return the models that equal the chosen model on every objective."""
    values = table.population.objectives
    equal = (values == values[ranking.chosen]).all(axis=1)
    return [i for i in ranking.tied_with(ranking.chosen).tolist() if equal[i]]


def _format_share(share: float) -> str:
    """Format a proportion of resamples in percent, but never as 0 % or 100 %."""
    return "over 99 %" if share > 0.99 else "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _describe_front(finding: Finding, case: CopaCase) -> str:
    """Return the sentence about the other models: on the front, undecided or dominated."""
    table, uncertainty = case.table, case.front_uncertainty
    explanations = {Answer.UNDECIDED: explain_open_state, Answer.CONTRADICTED: describe_dominator}
    parts, other_models = (
        [],
        [i for i in finding.models if i not in _models_equal_to_chosen(table, case.ranking)],
    )
    for state, state_text in _STATE_TEXTS.items():
        models = [i for i in other_models if uncertainty.membership.state[i] == state]
        if state == Answer.CONTRADICTED:
            models = [i for i in models if uncertainty.membership.dominator[i] >= 0]
        if models:
            verb = "is" if len(models) == 1 else "are"
            explanation = explanations.get(state) if verb == "is" else None
            reason = f" ({explanation(table, uncertainty, models[0])})" if explanation else ""
            parts.append(f"{join_names([table.name(i) for i in models])} {verb} {state_text}{reason}")
    return f"{'; '.join(parts)}." if parts else ""


def describe_dominator(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Describe the model that significantly dominates model `i`.

    Returns
    -------
    str
        Such as ``mid is as good on every objective``.
    """
    dominator = int(uncertainty.membership.dominator[i])
    return f"{table.name(dominator)} is as good on every objective{_margin_note(table, dominator, i)}"


def _margin_note(table: Objectives, first: int, second: int) -> str:
    """Return a note if the first model matches the second only within the margins.

    The note is empty otherwise.
    """
    values = table.population.objectives
    return "" if np.all(values[first] >= values[second]) else " within the margins"


def _describe_unmet_constraints(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Return a phrase that names the constraints that model `i` does not significantly meet."""
    pairs = zip(table.constraints, uncertainty.constraint_answers[i], strict=True)
    return f"may not meet {join_names([text for text, answer in pairs if answer != Answer.SIGNIFICANT], 3)}"


def explain_open_state(table: Objectives, uncertainty: FrontUncertainty, i: int) -> str:
    """Explain why the tests cannot decide whether model `i` is on the front.

    Returns
    -------
    str
        Such as ``mid is as good on all 3, but not significantly on cost``.
    """
    rival = int(uncertainty.membership.rival[i])
    if (
        joint_answer(uncertainty.constraint_answers[i]) != Answer.SIGNIFICANT
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
            return f"{name} is as good on {metrics[0]}{_margin_note(table, rival, i)}, but not significantly"
        all_metrics = {1: metrics[0], 2: "both"}.get(len(metrics), f"all {len(metrics)}")
        undecided_text = "any" if len(undecided) == len(metrics) > 1 else join_names(undecided, 3)
        gap = f"but not significantly on {undecided_text}" if undecided else "but not after correction"
        return f"{name} is as good on {all_metrics}{_margin_note(table, rival, i)}, {gap}"
    best = int(uncertainty.membership.best_on[i, rival])
    if best >= 0 and uncertainty.family.significant(uncertainty.evidence[best].better[i, rival]):
        return f"better than {name} on {metrics[best]}, but not significantly after correction"
    return f"not significantly better than {name} anywhere"


def _untested_choice(case: CopaCase) -> str:
    """Return the sentence about the choice, if the front was not tested."""
    table, ranking = case.table, case.ranking
    n_feasible, name = int(table.population.feasible.sum()), table.name(ranking.chosen)
    if n_feasible == 1:
        return f"Choose {name}: it is the only model whose values meet the constraints."
    tied = ranking.tied_with(ranking.chosen).tolist()
    text = f"Choose {name}: {_describe_optimality(table, ranking, n_feasible, tied=bool(tied))}"
    if not tied:
        return f"{text}."
    verb = "is equally good" if len(tied) == 1 else "are equally good"
    by_name = ", and the tie is broken by name" if _tied_except_for_name(table, ranking, tied) else ""
    return f"{text}; {join_names([table.name(i) for i in tied])} {verb}{by_name}."


def _tied_except_for_name(table: Objectives, ranking: CopaRanking, tied: Sequence[int]) -> bool:
    """Return True if the tied models are equal on every tie-breaker of `rank_models` except the name."""
    population = table.population
    shares = population.u[[ranking.chosen, *tied]]
    places = [tie_codes(rank_norm(shares, ranking.weights, p)) for p in TIE_BREAKING_P]
    return bool(population.front[tied].all()) and not np.ptp(places, axis=1).any()


def _weakest_objective(table: Objectives, ranking: CopaRanking) -> int | None:
    """Return the objective on which most models beat the chosen one, or None if no model beats it on any."""
    ranks = np.where(np.asarray(table.weights) > 0, table.population.u[ranking.chosen], -1.0)
    worst = int(np.argmax(ranks))
    return worst if ranks[worst] > 0 else None


def _describe_optimality(table: Objectives, ranking: CopaRanking, n_feasible: int, *, tied: bool) -> str:
    """Describe the criterion by which the chosen model is the best, or as good as any other."""
    population, chosen, worst = table.population, ranking.chosen, _weakest_objective(table, ranking)
    if worst is None:
        return "no model is better on any objective with a positive weight"
    share = format_percent(float(population.u[chosen, worst]))
    weak = f"on {population.metrics[worst]}, {share} of the others are better"
    equal = "" if np.ptp(np.asarray(table.weights)) < 1e-12 else " with these weights"
    if np.isinf(ranking.p):
        best = "as strong as any" if tied else "the least weak"
        return f"its weakest objective is {best}{equal} ({weak})"
    places = "its mean rank" if ranking.p == 1 else f"its combined rank (p = {ranking.p:g})"
    best = "as good as any" if tied else "the best"
    return f"of {n_feasible:,} models, {places} is {best}{equal}; it is weakest {weak}"


SENTENCES: Sentences[CopaCase] = Sentences(
    {
        "choice": lambda _, case: (
            _untested_choice(case) if isinstance(case.uncertainty, str) else _tested_choice(case)
        ),
        "nothing-tested": lambda _, case: f"The uncertainty of the choice is unknown: {case.uncertainty}.",
        "same-distribution": lambda _, case: same_distribution_sentence(
            case.table.population.names, join_names(case.table.population.metrics)
        ),
        "same-scores": lambda finding, case: same_scores_sentence(
            [case.table.name(i) for i in finding.models]
        ),
        "front": _describe_front,
        "choice-reason": lambda _, case: f"Why: {_untested_choice(case).partition(': ')[2]}",
    }
)
"""Sentence of each kind of finding."""
