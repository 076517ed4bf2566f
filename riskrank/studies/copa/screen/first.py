"""First screen of ``copa``: the best models, their objectives, and how stable the choice is."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from riskrank.engine.family import Answer
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.screens import MOST_METRICS, MOST_ROWS, follow_up_sections, hidden_count_lines
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.screen.detail import details
from riskrank.studies.copa.screen.objectives import front_cell, objective_columns
from riskrank.studies.copa.uncertainty import joint_answer
from riskrank.studies.wording import decimals_for_gaps, detection_limit_words, format_fixed, join_names

_MEETS = {Answer.SIGNIFICANT: "", Answer.CONTRADICTED: "yellow", Answer.UNDECIDED: "dim"}


def build_sections(document: CopaDocument) -> list[Section]:
    """Return the sections of the screen: ranking, notes on front and weights, suggestions, then details."""
    table = document.objectives
    n_models = len(table.population.names)
    max_rows = MOST_ROWS - (n_models > MOST_ROWS)  # keep a line for the hidden count
    models = document.models_by_rank[: document.settings.top or max_rows]
    suggestions = [option("sweep", _suggested_objective(document)), option("sweep_p", True)]
    return [
        _ranking_table(document, models),
        *hidden_count_lines(n_models - len(models), "model", option("top", n_models)),
        *hidden_count_lines(len(table.weights) - MOST_METRICS, "objective"),
        *map(Line, [*_suite_lines(document), _describe_front(document), *_stability_lines(document)]),
        *follow_up_sections(details(document), *suggestions),
    ]


def _ranking_table(document: CopaDocument, models: Sequence[int]) -> Table:
    """Return a table of the best models, with their objectives and front membership."""
    table, leading = document.objectives, document.leading_ranking
    columns: list[ModelColumn] = [
        (Column("place"), partial(_format_place, document)),
        (Column("model", "left"), lambda i: Cell(table.name(i), "bold" if i == leading.chosen else "")),
    ]
    columns += [(objective_columns(table)[k], _value_formatter(table, k)) for k in _screen_objectives(table)]
    columns += _front_columns(document)
    if document.population_bootstrap is not None:
        bootstrap_share = document.population_bootstrap.share
        head = "chosen in" if document.uncertainty is None else "chosen in\npopulations"
        columns.append((Column(head), lambda i: f"{100 * bootstrap_share(i):.0f} %"))
    return build_table("", columns, models, stub=2)


def _format_place(document: CopaDocument, model: int) -> str:
    """Format the place of a model.

    Models with equal ranks on all objectives share their places.
    """
    u, rank = document.objectives.population.u, document.leading_ranking.rank
    if not rank[model]:
        return "–"
    places = rank[(u == u[model]).all(axis=1) & (rank > 0)]
    return numbers.format_rank_interval(int(places.min()), int(places.max()))


def _front_columns(document: CopaDocument) -> list[ModelColumn]:
    """Return the columns for front membership and constraints, from tests if available."""
    table, uncertainty = document.objectives, document.uncertainty
    front, feasible = table.population.front, table.population.feasible
    if uncertainty is None:
        columns: list[ModelColumn] = [(Column("front", "center"), lambda i: "*" if front[i] else "")]
        if table.constraints:
            columns.append(
                (Column("allowed", "center"), lambda i: "yes" if feasible[i] else Cell("no", "yellow"))
            )
        return columns
    joint_answers = [joint_answer(answers) for answers in uncertainty.constraint_answers]
    columns = [(Column("front", "center"), lambda i: front_cell(uncertainty, i))]
    if table.constraints:
        columns.append(
            (Column("allowed", "center"), lambda i: Cell(joint_answers[i].word, _MEETS[joint_answers[i]]))
        )
    shares = uncertainty.shares
    columns.append((Column("on front\nin"), lambda i: f"{100 * shares.front[i]:.0f} %"))
    columns.append((Column("chosen\nin"), lambda i: f"{100 * shares.chosen[i]:.0f} %"))
    return columns


def _screen_objectives(table: Objectives) -> list[int]:
    """Return as many objectives as fit on the screen, those with the largest weights first."""
    order = np.argsort(-np.asarray(table.weights), kind="stable")[:MOST_METRICS]
    return sorted(order.tolist())


def _value_formatter(table: Objectives, k: int) -> Callable[[int], str]:
    """Return a function that formats a model's value with the digits that its standard error supports.

    Values without standard errors get enough digits to tell neighbouring values apart.
    """
    values = table.values[:, k]
    plain = partial(format_fixed, decimals=decimals_for_gaps(values.tolist()))
    format_value = table.means[k].format_value if table.means else plain
    return lambda i: "missing" if np.isnan(values[i]) else format_value(float(values[i]))


def _describe_front(document: CopaDocument) -> str:
    """Explain the front marks, and count the models on the front."""
    table, uncertainty = document.objectives, document.uncertainty
    population = table.population
    if uncertainty is not None:
        level_text = f"on, off: jointly significant at {uncertainty.family.interval_level(1):g}"
        resamples_text = f"{uncertainty.resamples:,} resamples of {uncertainty.sample_text}"
        limit = detection_limit_words(uncertainty.smallest_sample.min_effective_size)
        return f"{level_text}; shares of {resamples_text} ({limit})."
    front_size, n_feasible = int(population.front.sum()), int(population.feasible.sum())
    text = (
        "* front: no other model is at least as good on all objectives and better on one "
        f"({front_size:,} of {n_feasible:,})"
    )
    if table.constraints:
        text += (
            f"; {n_feasible:,} of {len(population.names):,} models meet {join_names(table.constraints, 3)}"
        )
    return f"{text}."


def _suite_lines(document: CopaDocument) -> list[str]:
    """Return a line about the tasks of a suite and the scope of the inference.

    The result is empty without a suite.
    """
    if not document.tasks:
        return []
    scope = (
        "tasks like these"
        if document.uncertainty is not None and document.uncertainty.random_tasks
        else "these tasks"
    )
    return [f"Values are means over {document.tasks}; results refer to {scope}."]


def _stability_lines(document: CopaDocument) -> list[str]:
    """Return a line about the weight and the values of p to which the choice is most sensitive."""
    table, chosen = document.objectives, document.leading_ranking.chosen
    parts = []
    if document.weight_ranges:
        k = _most_sensitive_weight(document)
        weight_range = document.weight_ranges[k]
        if weight_range.low > 0 or weight_range.high < 1:
            interval = numbers.format_ratio_interval(
                weight_range.low, weight_range.high, certain=float(table.weights[k])
            )
            now = numbers.format_ratio(table.weights[k])
            parts.append(f"while the weight of {table.population.metrics[k]} is {interval} (now {now})")
        else:
            parts.append("for any weight of a single objective")
    different = [ranking for ranking in document.usual_rankings if ranking.chosen != chosen]
    if different:
        ps = ", ".join(numbers.format_order(ranking.p) for ranking in different)
        alternatives = join_names(
            [table.name(i) for i in dict.fromkeys(ranking.chosen for ranking in different)], 3
        )
        forgives = "which forgives" if len(different) == 1 else "which forgive"
        smaller_p = max(ranking.p for ranking in different) < document.leading_ranking.p
        reason = f", {forgives} a bad objective," if smaller_p else ""
        parts.append(f"but p = {ps}{reason} would choose {alternatives}")
    return [f"The choice holds {', '.join(parts)}."] if document.weight_ranges else []


def _most_sensitive_weight(document: CopaDocument) -> int:
    """Return the objective with the narrowest weight range that leaves the choice unchanged."""
    widths = [weight_range.high - weight_range.low for weight_range in document.weight_ranges]
    return int(np.argmin(widths))


def _suggested_objective(document: CopaDocument) -> str:
    """Return the name of the objective to suggest for a weight sweep."""
    k = _most_sensitive_weight(document) if document.weight_ranges else 0
    return document.objectives.population.metrics[k]
