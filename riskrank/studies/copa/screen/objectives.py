"""Models by objectives: values as measured, the share of models that do better, and how sure the front is."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from riskrank.engine.family import Side
from riskrank.render import numbers
from riskrank.render.view import Cell, Column, Line, OfModel, Section, by_row
from riskrank.studies.copa.findings import describe_dominator, explain_open_state
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.uncertainty import FrontUncertainty
from riskrank.studies.costs import PER_SUCCESS

# What follows the name of a metric whose mean the objective is not.
_STATISTIC = re.compile(r":(total|tvar@[0-9.]+)$")


def objective_columns(table: Objectives) -> list[Column]:
    """Heads of the objectives, with an arrow towards the better values; what they are beside means below."""
    arrows = ("↑" if larger else "↓" for larger in table.larger_is_better)
    names = [
        _STATISTIC.sub(r"\n\1", name).replace(f"{PER_SUCCESS}:", f"{PER_SUCCESS}\n")
        for name in table.population.metrics
    ]
    return [Column(f"{name} {arrow}") for name, arrow in zip(names, arrows, strict=True)]


def objective_cells(table: Objectives, models: Sequence[int]) -> list[OfModel]:
    """A column an objective, of some models: the value and the top-%; best and weakest stand out."""
    return [(head, _cell_formatter(table, k, models)) for k, head in enumerate(objective_columns(table))]


def _cell_formatter(table: Objectives, k: int, models: Sequence[int]) -> Callable[[int], Cell]:
    values, u = table.values[:, k], table.population.u[:, k]
    room = max((len(numbers.top_share(u[i])) for i in models), default=0)

    def cell(i: int) -> Cell:
        text = "missing" if np.isnan(values[i]) else numbers.score(values[i])
        style = "green" if u[i] == 0 else "yellow" if table.weakest[i, k] else ""
        return Cell(f"{text}  {numbers.top_share(u[i]):>{room}}", style)

    return cell


def weakest_objective(table: Objectives, model: int) -> str:
    """First of the weakest objectives, how many share its place, and the rank there."""
    found = np.flatnonzero(table.weakest[model])
    if not found.size:
        return "none"
    also = f" +{len(found) - 1}" if len(found) > 1 else ""
    share = numbers.top_share(table.population.u[model, found[0]])
    return f"{table.population.metrics[found[0]]}{also} {share}"


_STYLES = {"on": "green", "off": "dim", "open": "yellow"}


def front_cell(doubt: FrontUncertainty, model: int) -> Cell:
    """Whether a model is on the front."""
    state = doubt.membership.state_words[model]
    return Cell(state, _STYLES[state])


def uncertainty_sections(
    document: CopaDocument, doubt: FrontUncertainty, models: Sequence[int]
) -> list[Section]:
    """The evidence on every model, and where its values lie."""
    table = document.objectives
    percent = f"{100 * doubt.family.confidence:g} %"
    doubts: list[OfModel] = [
        (Column("model", "left"), table.name),
        (Column("front", "center"), lambda i: front_cell(doubt, i)),
        (Column("p"), lambda i: _p_value(doubt, i)),
        (Column("because", "left"), lambda i: _explain_state(table, doubt, i)),
    ]
    spans: list[OfModel] = [(Column("model", "left"), table.name)]
    for k, head in enumerate(objective_columns(table)):
        spans.append((head, lambda i, k=k: _format_interval(table, doubt, i, k)))  # type: ignore[misc]
    barred = ", and none where a constraint decides" if table.constraints else ""
    return [
        by_row("Who is on the front", doubts, models),
        by_row(f"Where the values lie, {percent} each", spans, models),
        Line(
            "off: another model is shown to be as good on every objective, among all ordered pairs; on: "
            "against every other model some objective is shown to be better, among all models. p is of what "
            f"the front says, adjusted for all of these; of open models it is that of being on it{barred}. "
            f"{doubt.resamples:,} resamples of {doubt.samples}, the same for all objectives.",
            "Evidence:",
        ),
    ]


def _p_value(doubt: FrontUncertainty, model: int) -> str:
    """Of what the front says of a model; where a constraint decides, no test of the front does."""
    states = doubt.membership
    dominator = int(states.dominator[model])
    if dominator >= 0:
        return numbers.p_value(float(states.p_dominates[dominator, model]))
    stands = float(states.p_nondominated[model])
    if states.state[model] == Side.REFUTED or (
        states.state[model] == Side.OPEN and states.nondominated[model]
    ):
        return "–"
    return numbers.p_value(stands)


def _explain_state(table: Objectives, doubt: FrontUncertainty, model: int) -> str:
    """The evidence in words."""
    states = doubt.membership
    dominator, rival = int(states.dominator[model]), int(states.rival[model])
    if dominator >= 0:
        return describe_dominator(table, doubt, model)
    if states.state[model] == Side.REFUTED:
        return "it violates a constraint"
    if rival < 0:
        return "no other model may be chosen"
    if states.state[model] == Side.SHOWN:
        objective = int(states.best_on[model, rival])
        return f"better than {table.name(rival)} on {table.population.metrics[objective]}, the nearest"
    return explain_open_state(table, doubt, model)


def _format_interval(table: Objectives, doubt: FrontUncertainty, model: int, k: int) -> str:
    low, high = doubt.low[model, k], doubt.high[model, k]
    if np.isnan(low) or np.isnan(high):
        return "–"
    said = table.means[k].said
    return said(float(low)) if low == high else f"{said(float(low))} to {said(float(high))}"
