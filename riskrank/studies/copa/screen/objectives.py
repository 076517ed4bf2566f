"""Table columns of the objectives: values, shares of better models, and the uncertainty of the front."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from riskrank.engine.family import Side
from riskrank.render import numbers
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, build_table
from riskrank.studies.copa.findings import describe_dominator, explain_open_state
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.uncertainty import FrontUncertainty
from riskrank.studies.costs import PER_SUCCESS

# The statistic after the name of a metric, if it is not the mean.
_STATISTIC = re.compile(r":(total|tvar@[0-9.]+)$")


def objective_columns(table: Objectives) -> list[Column]:
    """Return column headings of the objectives, with an arrow towards better values.

    The statistic, unless it is the mean, follows on a second line.
    """
    arrows = ("↑" if larger_is_better else "↓" for larger_is_better in table.larger_is_better)
    names = [
        _STATISTIC.sub(r"\n\1", name).replace(f"{PER_SUCCESS}:", f"{PER_SUCCESS}\n")
        for name in table.population.metrics
    ]
    return [Column(f"{name} {arrow}") for name, arrow in zip(names, arrows, strict=True)]


def objective_cells(table: Objectives, models: Sequence[int]) -> list[ModelColumn]:
    """Return one column per objective with the value and the top-%; best and weakest are highlighted."""
    return [(head, _cell_formatter(table, k, models)) for k, head in enumerate(objective_columns(table))]


def _cell_formatter(table: Objectives, k: int, models: Sequence[int]) -> Callable[[int], Cell]:
    """Return a function that formats the value and the top-% of a model on one objective."""
    values, u = table.values[:, k], table.population.u[:, k]
    width = max((len(numbers.format_top_share(u[i])) for i in models), default=0)

    def cell(i: int) -> Cell:
        text = "missing" if np.isnan(values[i]) else numbers.format_score(values[i])
        style = "green" if u[i] == 0 else "yellow" if table.weakest[i, k] else ""
        return Cell(f"{text}  {numbers.format_top_share(u[i]):>{width}}", style)

    return cell


def weakest_objective(table: Objectives, model: int) -> str:
    """Return the name of a model's weakest objective, with the number of ties and the rank there."""
    weakest = np.flatnonzero(table.weakest[model])
    if not weakest.size:
        return "none"
    count_text = f" +{len(weakest) - 1}" if len(weakest) > 1 else ""
    share = numbers.format_top_share(table.population.u[model, weakest[0]])
    return f"{table.population.metrics[weakest[0]]}{count_text} {share}"


_STYLES = {"on": "green", "off": "dim", "open": "yellow"}


def front_cell(uncertainty: FrontUncertainty, model: int) -> Cell:
    """Return the cell that shows whether a model is on the front."""
    state = uncertainty.membership.state_words[model]
    return Cell(state, _STYLES[state])


def uncertainty_sections(
    document: CopaDocument, uncertainty: FrontUncertainty, models: Sequence[int]
) -> list[Section]:
    """Return the evidence on the front for each model, and the intervals of its values."""
    table = document.objectives
    percent = f"{100 * uncertainty.family.confidence:g} %"
    state_columns: list[ModelColumn] = [
        (Column("model", "left"), table.name),
        (Column("front", "center"), lambda i: front_cell(uncertainty, i)),
        (Column("p"), lambda i: _p_value(uncertainty, i)),
        (Column("because", "left"), lambda i: _explain_state(table, uncertainty, i)),
    ]
    interval_columns: list[ModelColumn] = [(Column("model", "left"), table.name)]
    for k, head in enumerate(objective_columns(table)):
        interval_columns.append((head, lambda i, k=k: _format_interval(table, uncertainty, i, k)))  # type: ignore[misc]
    constraint_note = ", and none where a constraint decides" if table.constraints else ""
    return [
        build_table("Who is on the front", state_columns, models),
        build_table(f"Where the values lie, {percent} each", interval_columns, models),
        Line(
            "off: another model is shown to be as good on every objective, among all ordered pairs; on: "
            "against every other model some objective is shown to be better, among all models. p is of what "
            "the front says, adjusted for all of these; of open models it is that of being on it"
            f"{constraint_note}. "
            f"{uncertainty.resamples:,} resamples of {uncertainty.sample_text}, the same for all objectives.",
            "Evidence:",
        ),
    ]


def _p_value(uncertainty: FrontUncertainty, model: int) -> str:
    """Format the p-value behind a model's state on the front, or a dash if a constraint decides the state."""
    membership = uncertainty.membership
    dominator = int(membership.dominator[model])
    if dominator >= 0:
        return numbers.format_p_value(float(membership.p_dominates[dominator, model]))
    p_nondominated = float(membership.p_nondominated[model])
    if membership.state[model] == Side.REFUTED or (
        membership.state[model] == Side.OPEN and membership.nondominated[model]
    ):
        return "–"
    return numbers.format_p_value(p_nondominated)


def _explain_state(table: Objectives, uncertainty: FrontUncertainty, model: int) -> str:
    """Explain a model's state on the front by its evidence."""
    membership = uncertainty.membership
    dominator, rival = int(membership.dominator[model]), int(membership.rival[model])
    if dominator >= 0:
        return describe_dominator(table, uncertainty, model)
    if membership.state[model] == Side.REFUTED:
        return "it violates a constraint"
    if rival < 0:
        return "no other model may be chosen"
    if membership.state[model] == Side.SHOWN:
        objective = int(membership.best_on[model, rival])
        return f"better than {table.name(rival)} on {table.population.metrics[objective]}, the nearest"
    return explain_open_state(table, uncertainty, model)


def _format_interval(table: Objectives, uncertainty: FrontUncertainty, model: int, k: int) -> str:
    """Format the interval of a model's value on one objective, or a dash if it is unknown."""
    low, high = uncertainty.low[model, k], uncertainty.high[model, k]
    if np.isnan(low) or np.isnan(high):
        return "–"
    format_value = table.means[k].said
    return (
        format_value(float(low))
        if low == high
        else f"{format_value(float(low))} to {format_value(float(high))}"
    )
