"""Table columns for objectives: values, ranks in percent, and the uncertainty of the front."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from riskrank.engine.family import Answer
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
    """Return column headings for the objectives, with an arrow that points to better values.

    A statistic other than the mean is written on a second line.
    """
    arrows = ("↑" if larger_is_better else "↓" for larger_is_better in table.larger_is_better)
    names = [
        _STATISTIC.sub(r"\n\1", name).replace(f"{PER_SUCCESS}:", f"{PER_SUCCESS}\n")
        for name in table.population.metrics
    ]
    return [Column(f"{name} {arrow}") for name, arrow in zip(names, arrows, strict=True)]


def objective_cells(table: Objectives, models: Sequence[int]) -> list[ModelColumn]:
    """Return one column per objective with value and top-%.

    The best and weakest entries are highlighted.
    """
    return [(head, _cell_formatter(table, k, models)) for k, head in enumerate(objective_columns(table))]


def _cell_formatter(table: Objectives, k: int, models: Sequence[int]) -> Callable[[int], Cell]:
    """Return a function that formats a model's value and top-% on one objective."""
    values, u = table.values[:, k], table.population.u[:, k]
    width = max((len(numbers.format_top_share(u[i])) for i in models), default=0)

    def cell(i: int) -> Cell:
        text = "missing" if np.isnan(values[i]) else numbers.format_score(values[i])
        style = "green" if u[i] == 0 else "yellow" if table.weakest[i, k] else ""
        return Cell(f"{text}  {numbers.format_top_share(u[i]):>{width}}", style)

    return cell


def weakest_objective(table: Objectives, model: int) -> str:
    """Return the name of a model's weakest objective, with its rank on it and the number of ties."""
    weakest = np.flatnonzero(table.weakest[model])
    if not weakest.size:
        return "none"
    count_text = f" +{len(weakest) - 1}" if len(weakest) > 1 else ""
    share = numbers.format_top_share(table.population.u[model, weakest[0]])
    return f"{table.population.metrics[weakest[0]]}{count_text} {share}"


_STYLES = {"on": "green", "off": "dim", "undecided": "yellow"}


def front_cell(uncertainty: FrontUncertainty, model: int) -> Cell:
    """Return the table cell for a model's front membership."""
    state = uncertainty.membership.state_words[model]
    return Cell(state, _STYLES[state])


def uncertainty_sections(
    document: CopaDocument, uncertainty: FrontUncertainty, models: Sequence[int]
) -> list[Section]:
    """Return tables of the evidence for each model's front membership, and of the intervals of its values."""
    table = document.objectives
    percent = f"{100 * uncertainty.family.confidence:g} %"
    state_columns: list[ModelColumn] = [
        (Column("model", "left"), table.name),
        (Column("front", "center"), lambda i: front_cell(uncertainty, i)),
        (Column("p"), lambda i: _p_value(uncertainty, i)),
        (Column("reason", "left"), lambda i: _explain_state(table, uncertainty, i)),
    ]
    interval_columns: list[ModelColumn] = [(Column("model", "left"), table.name)]
    for k, head in enumerate(objective_columns(table)):
        interval_columns.append((head, lambda i, k=k: _format_interval(table, uncertainty, i, k)))  # type: ignore[misc]
    constraint_note = ", unless a constraint decides" if table.constraints else ""
    return [
        build_table("Models on the front", state_columns, models),
        build_table(f"Intervals of the values, {percent} each", interval_columns, models),
        Line(
            "off: another model is significantly as good on every objective, among all pairs; on: "
            "the model is significantly better than every other model on some objective, among all models. p "
            "belongs to this result, adjusted for its family; for undecided models, it is that of being on "
            f"the front{constraint_note}. "
            f"{uncertainty.resamples:,} resamples of {uncertainty.sample_text}, the same for all objectives.",
            "Evidence:",
        ),
    ]


def _p_value(uncertainty: FrontUncertainty, model: int) -> str:
    """Format the p-value of a model's front membership, or return a dash if a constraint decides it."""
    membership = uncertainty.membership
    dominator = int(membership.dominator[model])
    if dominator >= 0:
        return numbers.format_p_value(float(membership.p_dominates[dominator, model]))
    p_nondominated = float(membership.p_nondominated[model])
    if membership.state[model] == Answer.CONTRADICTED or (
        membership.state[model] == Answer.UNDECIDED and membership.nondominated[model]
    ):
        return "–"
    return numbers.format_p_value(p_nondominated)


def _explain_state(table: Objectives, uncertainty: FrontUncertainty, model: int) -> str:
    """Explain why a model is on the front, dominated or undecided."""
    membership = uncertainty.membership
    dominator, rival = int(membership.dominator[model]), int(membership.rival[model])
    if dominator >= 0:
        return describe_dominator(table, uncertainty, model)
    if membership.state[model] == Answer.CONTRADICTED:
        return "it violates a constraint"
    if rival < 0:
        return "no other model is feasible"
    if membership.state[model] == Answer.SIGNIFICANT:
        objective = int(membership.best_on[model, rival])
        return f"better on {table.population.metrics[objective]} than {table.name(rival)}, the closest model"
    return explain_open_state(table, uncertainty, model)


def _format_interval(table: Objectives, uncertainty: FrontUncertainty, model: int, k: int) -> str:
    """Format the interval of a model's value on one objective, or return a dash if unknown."""
    low, high = uncertainty.low[model, k], uncertainty.high[model, k]
    if np.isnan(low) or np.isnan(high):
        return "–"
    format_value = table.means[k].format_value
    return (
        format_value(float(low))
        if low == high
        else f"{format_value(float(low))} to {format_value(float(high))}"
    )
