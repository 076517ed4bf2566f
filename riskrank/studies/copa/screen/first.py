"""The first screen of COPA: who is chosen, the objectives in their units, and how firm the choice is."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from riskrank.engine.family import Side
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.screens import MOST_METRICS, MOST_ROWS, offered, unshown
from riskrank.render.view import Cell, Column, Line, OfModel, Section, Table, by_row
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.screen.detail import details
from riskrank.studies.copa.screen.objectives import front_cell, objective_columns
from riskrank.studies.copa.uncertainty import joint_answer
from riskrank.studies.wording import blind_to, decimals_apart, names, rounded

_MEETS = {Side.SHOWN: "", Side.REFUTED: "yellow", Side.OPEN: "dim"}


def view(document: CopaDocument) -> list[Section]:
    """The best models, what the front and the weights say, and what to ask next; then the rest."""
    table = document.objectives
    every = len(table.population.names)
    room = MOST_ROWS - (every > MOST_ROWS)  # a line says what is left
    models = document.models_by_rank[: document.settings.top or room]
    asked = [option("sweep", _suggested_objective(document)), option("sweep_p", True)]
    return [
        _ranking_table(document, models),
        *unshown(every - len(models), "model", option("top", every)),
        *unshown(len(table.weights) - MOST_METRICS, "objective"),
        *map(Line, [*_suite_lines(document), _describe_front(document), *_stability_lines(document)]),
        *offered(details(document), *asked),
    ]


def _ranking_table(document: CopaDocument, models: Sequence[int]) -> Table:
    table, leading = document.objectives, document.leading
    columns: list[OfModel] = [
        (Column("place"), lambda i: str(leading.rank_of(i) or "–")),
        (Column("model", "left"), lambda i: Cell(table.name(i), "bold" if i == leading.chosen else "")),
    ]
    columns += [(objective_columns(table)[k], _value_formatter(table, k)) for k in _screen_objectives(table)]
    columns += _front_columns(document)
    if document.population_bootstrap is not None:
        share = document.population_bootstrap.share
        head = "chosen in" if document.uncertainty is None else "of populations\nchosen in"
        columns.append((Column(head), lambda i: f"{100 * share(i):.0f} %"))
    return by_row("", columns, models, stub=2)


def _front_columns(document: CopaDocument) -> list[OfModel]:
    """Who is on the front, and who meets the constraints: as measured, or as far as samples show."""
    table, doubt = document.objectives, document.uncertainty
    front, able = table.population.front, table.population.feasible
    if doubt is None:
        found: list[OfModel] = [(Column("front", "center"), lambda i: "*" if front[i] else "")]
        if table.constraints:
            found.append((Column("allowed", "center"), lambda i: "yes" if able[i] else Cell("no", "yellow")))
        return found
    meets = [joint_answer(answers) for answers in doubt.constraint_answers]
    found = [(Column("front", "center"), lambda i: front_cell(doubt, i))]
    if table.constraints:
        found.append((Column("allowed", "center"), lambda i: Cell(meets[i].word, _MEETS[meets[i]])))
    shares = doubt.shares
    found.append((Column("on front\nin"), lambda i: f"{100 * shares.front[i]:.0f} %"))
    found.append((Column("chosen\nin"), lambda i: f"{100 * shares.chosen[i]:.0f} %"))
    return found


def _screen_objectives(table: Objectives) -> list[int]:
    """The objectives a screen has room for, those of most weight."""
    order = np.argsort(-np.asarray(table.weights), kind="stable")[:MOST_METRICS]
    return sorted(order.tolist())


def _value_formatter(table: Objectives, k: int) -> Callable[[int], str]:
    """Means as sure as they are; other values with the digits that tell neighbours apart."""
    values = table.values[:, k]
    plain = partial(rounded, decimals=decimals_apart(values.tolist()))
    said = table.means[k].said if table.means else plain
    return lambda i: "missing" if np.isnan(values[i]) else said(float(values[i]))


def _describe_front(document: CopaDocument) -> str:
    """What the mark of the front means, and how many models have it."""
    table, doubt = document.objectives, document.uncertainty
    population = table.population
    if doubt is not None:
        shown = f"on, off: shown at {doubt.family.level(1):g} for all models together"
        drawn = f"{doubt.resamples:,} resamples of {doubt.samples}"
        return f"{shown}; shares: of {drawn} ({blind_to(doubt.smallest_sample.effective_size)})."
    front, able = int(population.front.sum()), int(population.feasible.sum())
    text = (
        f"* front: no other model is at least as good everywhere and better somewhere ({front:,} of {able:,})"
    )
    if table.constraints:
        text += f"; {able:,} of {len(population.names):,} models meet {names(table.constraints, 3)}"
    return f"{text}."


def _suite_lines(document: CopaDocument) -> list[str]:
    """Of a suite, what its values are, and what is asked."""
    if not document.tasks:
        return []
    asked = (
        "tasks like these" if document.uncertainty is not None and document.uncertainty.random_tasks else "these tasks"
    )
    return [f"Values are means over {document.tasks}; asked of {asked}."]


def _stability_lines(document: CopaDocument) -> list[str]:
    """The weight that the choice hangs on most, and other p's that choose otherwise."""
    table, chosen = document.objectives, document.leading.chosen
    parts = []
    if document.weight_ranges:
        k = _most_sensitive_weight(document)
        found = document.weight_ranges[k]
        if found.low > 0 or found.high < 1:
            place = numbers.interval(found.low, found.high, now=float(table.weights[k]))
            now = numbers.ratio(table.weights[k])
            parts.append(f"while the weight of {table.population.metrics[k]} is {place} (now {now})")
        else:
            parts.append("whatever weight any one objective has")
    other = [ranking for ranking in document.usual_rankings if ranking.chosen != chosen]
    if other:
        ps = ", ".join(numbers.order(ranking.p) for ranking in other)
        which = names([table.name(i) for i in dict.fromkeys(ranking.chosen for ranking in other)], 3)
        less = "which forgives" if len(other) == 1 else "which forgive"
        more = max(ranking.p for ranking in other) < document.leading.p
        why = f", {less} a bad objective," if more else ""
        parts.append(f"but p = {ps}{why} would choose {which}")
    return [f"The choice holds {', '.join(parts)}."] if document.weight_ranges else []


def _most_sensitive_weight(document: CopaDocument) -> int:
    widths = [found.high - found.low for found in document.weight_ranges]
    return int(np.argmin(widths))


def _suggested_objective(document: CopaDocument) -> str:
    """The objective whose weight is worth turning."""
    at = _most_sensitive_weight(document) if document.weight_ranges else 0
    return document.objectives.population.metrics[at]
