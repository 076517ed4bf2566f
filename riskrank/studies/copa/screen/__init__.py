"""Screen of ``copa``: the best models, their objectives, the stability of the choice, then the details."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from riskrank.engine.copa.ranking import TIE_BREAKING_P, CopaRanking
from riskrank.engine.copa.stability import ModelInfluence
from riskrank.engine.family import Answer
from riskrank.errors import counted, listing, option
from riskrank.render import numbers
from riskrank.render.screens import MOST_METRICS, MOST_ROWS, follow_up_sections, hidden_count_lines
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.ranking import CopaDocument, describe_dominator, explain_undecided_state
from riskrank.studies.copa.uncertainty import FrontUncertainty, joint_answer
from riskrank.studies.statistics import PER_SUCCESS
from riskrank.studies.wording import decimals_for_gaps, detection_limit_words, format_fixed, join_names

# The statistic after the name of a metric, if it is not the mean.
_STATISTIC = re.compile(r":(total|tvar@[0-9.]+)$")


def objective_columns(table: Objectives) -> list[Column]:
    """Return column headings for the objectives, with an arrow that points to better values.

    A statistic other than the mean is written on a second line.
    """
    arrows = ("↑" if larger_is_better else "↓" for larger_is_better in table.larger_is_better)
    names = (_STATISTIC.sub(r"\n\1", name) for name in table.population.metrics)
    lines = (name.replace(f"{PER_SUCCESS}:", f"{PER_SUCCESS}\n") for name in names)
    return [Column(f"{name} {arrow}") for name, arrow in zip(lines, arrows, strict=True)]


def objective_cells(table: Objectives, models: Sequence[int]) -> list[ModelColumn]:
    """Return one table column per objective with each model's value and top-% (share of better models).

    The best and weakest entries are highlighted.
    """
    values, u = table.values, table.population.u

    def cell(k: int, i: int) -> Cell:
        """Format the value and the top-% of model number `i` on objective number `k`."""
        width = max(len(numbers.format_top_share(u[model, k])) for model in models)
        text = "missing" if np.isnan(values[i, k]) else numbers.format_score(values[i, k])
        style = "green" if u[i, k] == 0 else "yellow" if table.weakest[i, k] else ""
        return Cell(f"{text}  {numbers.format_top_share(u[i, k]):>{width}}", style)

    return [(head, partial(cell, k)) for k, head in enumerate(objective_columns(table))]


def weakest_objective(table: Objectives, model: int) -> str:
    """Return a text with a model's weakest objective, its rank on it, and the number of ties."""
    weakest = np.flatnonzero(table.weakest[model])
    if not weakest.size:
        return "none"
    count_text = f" +{len(weakest) - 1}" if len(weakest) > 1 else ""
    share = numbers.format_top_share(table.population.u[model, weakest[0]])
    return f"{table.population.metrics[weakest[0]]}{count_text} {share}"


_STYLES = {"on": "green", "off": "dim", "undecided": "yellow"}
_INFEASIBLE = Cell("no", "yellow")


def front_cell(uncertainty: FrontUncertainty, model: int) -> Cell:
    """Return a coloured cell that says whether a model is on the Pareto front, off it, or undecided."""
    state = uncertainty.membership.state_words[model]
    return Cell(state, _STYLES[state])


def uncertainty_sections(
    document: CopaDocument, uncertainty: FrontUncertainty, models: Sequence[int]
) -> list[Section]:
    """Return tables with the tests of each model's front membership and the intervals of its values."""
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
            "off: tests of all pairs show that another model is at least as good on every objective. on: "
            "tests of all models show that the model is better than each other one on some objective. "
            f"p: adjusted p-value of this result or, if undecided, of being on the front{constraint_note}. "
            f"{uncertainty.resamples:,} resamples of {uncertainty.sample_text}, the same for all objectives.",
            "Evidence:",
        ),
    ]


def _p_value(uncertainty: FrontUncertainty, model: int) -> str:
    """Format the p-value for being on, or off, the Pareto front; a dash if a constraint decides it."""
    membership = uncertainty.membership
    state, dominator = membership.state[model], int(membership.dominator[model])
    if dominator >= 0:
        return numbers.format_p_value(float(membership.p_dominates[dominator, model]))
    if state == Answer.CONTRADICTED or (state == Answer.UNDECIDED and membership.nondominated[model]):
        return "–"
    return numbers.format_p_value(float(membership.p_nondominated[model]))


def _explain_state(table: Objectives, uncertainty: FrontUncertainty, model: int) -> str:
    """Explain why a model is on the Pareto front, off it, or undecided."""
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
    return explain_undecided_state(table, uncertainty, model)


def _format_interval(table: Objectives, uncertainty: FrontUncertainty, model: int, k: int) -> str:
    """Format the interval of a model's value on objective number `k`, or return a dash if unknown."""
    low, high = uncertainty.low[model, k], uncertainty.high[model, k]
    if np.isnan(low) or np.isnan(high):
        return "–"
    limits = [table.means[k].format_value(float(limit)) for limit in (low, high)]
    return limits[0] if low == high else " to ".join(limits)


_MOST_NAMES, _MOST_ROWS = 4, 20


def details(document: CopaDocument) -> Iterator[Section]:
    """Yield the full ranking, the tests of the Pareto front, and the sensitivity of the choice."""
    table, leading, top = document.objectives, document.leading_ranking, document.settings.top
    models = document.models_by_rank[: top or _MOST_ROWS]
    yield _detail_table(document, models)
    yield from hidden_count_lines(len(table.population.names) - len(models), "model", option("top", "N"))
    if document.uncertainty is not None:
        yield from uncertainty_sections(document, document.uncertainty, models)
    if len(document.sweeps) > 1:
        yield _weight_table(document)
    if document.influence is not None:
        yield Line(_describe_influence(table, document.influence), "Influence:")
    if (bootstrap := document.population_bootstrap) is not None:
        shares = [f"{table.name(i)} ({_format_share(bootstrap.share(i))})" for i in bootstrap.runners_up]
        text = f"{table.name(bootstrap.chosen)} stays the choice in {_format_share(bootstrap.survival)} of "
        text += f"{bootstrap.resamples:,} resampled populations"
        text += f"; otherwise {listing(shares, _MOST_NAMES)}." if shares else "."
        yield Line(text, "Stability:")
    yield _reading_guide(table, leading)


def _detail_table(document: CopaDocument, models: Sequence[int]) -> Table:
    """Return a table of the given models with rank, norm, Pareto front membership and objectives."""
    table, leading, bootstrap = document.objectives, document.leading_ranking, document.population_bootstrap
    feasible, limited = table.population.feasible, bool(table.constraints)
    columns: list[ModelColumn | None] = [
        (Column("model", "left"), lambda i: Cell(table.name(i), "bold" if i == leading.chosen else ""))
    ]
    for ranking in document.rankings:
        label = f"p = {numbers.format_order(ranking.p)}\n" if len(document.rankings) > 1 else ""
        columns.append((Column(f"{label}rank"), lambda i, r=ranking: str(r.rank_of(i) or "–")))  # type: ignore[misc]
        columns.append((Column(f"{label}norm"), lambda i, r=ranking: numbers.format_score(r.norm[i])))  # type: ignore[misc]
    columns += [
        (Column("front", "center"), lambda i: "yes" if table.population.front[i] else "–"),
        (Column("meets", "center"), lambda i: "yes" if feasible[i] else _INFEASIBLE) if limited else None,
        (Column("chosen\nin"), lambda i: _format_share(bootstrap.share(i))) if bootstrap else None,
        (Column("weakest", "left"), lambda i: weakest_objective(table, i)),
        *objective_cells(table, models),
    ]
    models_text = f"{len(table.population.names):,} models, {counted(len(table.weights), 'objective')}"
    title = f"COPA, p = {numbers.format_order(leading.p)}: {models_text}"
    return build_table(title, columns, models)


def _weight_table(document: CopaDocument) -> Table:
    """Return a table of the weight ranges that leave the choice unchanged."""
    table, ranges = document.objectives, document.weight_ranges

    def stable_range(k: int) -> Cell:
        """Format the range of weight number `k` for which the choice stays the same."""
        low, high = ranges[k].low, ranges[k].high
        any_weight = low == 0 and high == 1
        text = numbers.format_ratio_interval(low, high, certain=float(table.weights[k]))
        return Cell("any weight" if any_weight else text, "" if any_weight else "yellow")

    columns: list[ModelColumn | None] = [
        (Column("weight of", "left"), lambda k: table.population.metrics[k]),
        (Column("now"), lambda k: numbers.format_ratio(table.weights[k])),
        (Column("choice stays\nbetween"), stable_range),
        (Column("models chosen\nfrom 0 to 1"), lambda k: str(ranges[k].models_chosen)),
    ]
    return build_table("Effect of changing one weight, the others in proportion", columns, range(len(ranges)))


def _describe_influence(table: Objectives, influence: ModelInfluence) -> str:
    """Name the models whose removal would change the choice."""
    name = table.name_or_none
    chosen = f"without the chosen model, {name(influence.successor) or 'none'} is chosen."
    changes = [f"without {name(i)}, {name(influence.choice[i])} is chosen" for i in influence.influential]
    if not changes:
        return f"{chosen} Removing another model never changes the choice."
    return (
        f"{chosen} The choice depends on the presence of {counted(len(changes), 'other model')}, because "
        f"ranks are relative: {listing(changes, 3)}."
    )


def _format_share(share: float) -> str:
    """Format a proportion in percent, with one decimal near 0 % and 100 %."""
    percent = 100 * share
    if 0 < percent < 0.1:
        return "<0.1 %"
    return f"{percent:.1f} %" if 0 < percent < 1 or 99 < percent < 100 else f"{percent:.0f} %"


def _reading_guide(table: Objectives, ranking: CopaRanking) -> Line:
    """Return a line that explains how to read the tables."""
    weighted = "equal weight" if np.ptp(table.weights) < 1e-12 else "weight above"
    norm = {1.0: "the mean", np.inf: "the largest"}.get(ranking.p, f"the p = {ranking.p:g} norm")
    text = (
        "the top-% next to each value is the share of the other models with a better value. "
        f"The norm is {norm} of these shares, each times its {weighted}; smaller is better. The weakest "
        "objective has the largest weighted share. ↑ higher is better, ↓ lower is better. "
        f"{option('sweep', 'NAME')} varies a weight, {option('sweep_p', True)} varies p, and "
        f"{option('why', 'MODEL')} explains the rank of a model."
    )
    if len(ranking.tied_with(ranking.chosen)):
        first, second = (f"p = {q:g}" for q in TIE_BREAKING_P)
        text += f" Ties are broken by the front, by the norm of {first}, then of {second}, and by name."
    return Line(text, "Reading:")


_MEETS = {Answer.SIGNIFICANT: "", Answer.CONTRADICTED: "yellow", Answer.UNDECIDED: "dim"}


def build_sections(document: CopaDocument) -> list[Section]:
    """Return the sections of the screen: ranking, front, weights and suggestions, then the details."""
    table, n_models = document.objectives, len(document.objectives.population.names)
    max_rows = MOST_ROWS - (n_models > MOST_ROWS)  # keep a line for the hidden count
    models = document.models_by_rank[: document.settings.top or max_rows]
    random_tasks = document.uncertainty is not None and document.uncertainty.random_tasks
    scope = "tasks like these" if random_tasks else "these tasks"
    suite = [f"Values are means over {document.tasks}; results refer to {scope}."] if document.tasks else []
    swept = _most_sensitive_weight(document) if document.weight_ranges else 0
    suggestions = [option("sweep", table.population.metrics[swept]), option("sweep_p", True)]
    return [
        _ranking_table(document, models),
        *hidden_count_lines(n_models - len(models), "model", option("top", n_models)),
        *hidden_count_lines(len(table.weights) - MOST_METRICS, "objective"),
        *map(Line, [*suite, _describe_front(document), *_stability_lines(document)]),
        *follow_up_sections(details(document), *suggestions),
    ]


def _ranking_table(document: CopaDocument, models: Sequence[int]) -> Table:
    """Return a table of the given models with their objectives and Pareto front membership."""
    table, leading = document.objectives, document.leading_ranking
    u, rank = table.population.u, leading.rank

    def place(i: int) -> str:
        """Format the rank of model `i`, or the range of ranks that it shares with equal models."""
        places = rank[(u == u[i]).all(axis=1) & (rank > 0)]
        return numbers.format_rank_interval(int(places.min()), int(places.max())) if rank[i] else "–"

    def value(k: int, i: int) -> str:
        """Format the value of objective `k` with as many digits as its standard error justifies.

        If it is unknown, the digits depend on the differences between values.
        """
        if np.isnan(table.values[i, k]):
            return "missing"
        if table.means:
            return table.means[k].format_mean(i)
        return format_fixed(float(table.values[i, k]), decimals_for_gaps(table.values[:, k].tolist()))

    columns: list[ModelColumn | None] = [
        (Column("place"), place),
        (Column("model", "left"), lambda i: Cell(table.name(i), "bold" if i == leading.chosen else "")),
    ]
    heaviest = np.argsort(-table.weights, kind="stable")[:MOST_METRICS]
    columns += [(objective_columns(table)[k], partial(value, k)) for k in sorted(heaviest.tolist())]
    columns += _front_columns(document)
    if document.population_bootstrap is not None:
        bootstrap_share = document.population_bootstrap.share
        head = "chosen in" if document.uncertainty is None else "chosen in\npopulations"
        columns.append((Column(head), lambda i: f"{100 * bootstrap_share(i):.0f} %"))
    return build_table("", columns, models, stub=2)


def _front_columns(document: CopaDocument) -> list[ModelColumn | None]:
    """Return table columns that show which models are on the Pareto front and meet the constraints."""
    table, uncertainty = document.objectives, document.uncertainty
    front, feasible = table.population.front, table.population.feasible
    allowed = Column("allowed", "center")
    if uncertainty is None:
        return [
            (Column("front", "center"), lambda i: "*" if front[i] else ""),
            (allowed, lambda i: "yes" if feasible[i] else _INFEASIBLE) if table.constraints else None,
        ]
    answers, shares = [*map(joint_answer, uncertainty.constraint_answers)], uncertainty.shares
    return [
        (Column("front", "center"), lambda i: front_cell(uncertainty, i)),
        (allowed, lambda i: Cell(answers[i].word, _MEETS[answers[i]])) if table.constraints else None,
        (Column("on front\nin"), lambda i: f"{100 * shares.front[i]:.0f} %"),
        (Column("chosen\nin"), lambda i: f"{100 * shares.chosen[i]:.0f} %"),
    ]


def _describe_front(document: CopaDocument) -> str:
    """Return a sentence that explains the front column.

    It includes the number of resamples or, without tests, of models on the front.
    """
    table, uncertainty, population = document.objectives, document.uncertainty, document.objectives.population
    if uncertainty is not None:
        level_text = f"on, off: jointly significant at {uncertainty.family.interval_level(1):g}"
        resamples_text = f"{uncertainty.resamples:,} resamples of {uncertainty.sample_text}"
        limit = detection_limit_words(uncertainty.smallest_sample.min_effective_size)
        return f"{level_text}; shares of {resamples_text} ({limit})."
    front_size, n_feasible = int(population.front.sum()), int(population.feasible.sum())
    text = "* front: no other model is at least as good on all objectives and better on one"
    text += f" ({front_size:,} of {n_feasible:,})"
    if table.constraints:
        n_models, constraints = len(population.names), join_names(table.constraints, 3)
        text += f"; {n_feasible:,} of {n_models:,} models meet {constraints}"
    return f"{text}."


def _stability_lines(document: CopaDocument) -> list[str]:
    """Return a line on how far the weights and the order p can vary without changing the choice."""
    if not document.weight_ranges:
        return []
    table, chosen, k = document.objectives, document.leading_ranking.chosen, _most_sensitive_weight(document)
    weight_range, weight = document.weight_ranges[k], float(table.weights[k])
    parts = ["for any weight of a single objective"]
    if weight_range.low > 0 or weight_range.high < 1:
        interval = numbers.format_ratio_interval(weight_range.low, weight_range.high, certain=weight)
        now = numbers.format_ratio(weight)
        parts = [f"while the weight of {table.population.metrics[k]} is {interval} (now {now})"]
    different = [ranking for ranking in document.usual_rankings if ranking.chosen != chosen]
    if different:
        ps = ", ".join(numbers.format_order(ranking.p) for ranking in different)
        alternatives = join_names([*dict.fromkeys(table.name(ranking.chosen) for ranking in different)], 3)
        forgives = "which forgives" if len(different) == 1 else "which forgive"
        smaller_p = max(ranking.p for ranking in different) < document.leading_ranking.p
        reason = f", {forgives} a bad objective," if smaller_p else ""
        parts.append(f"but p = {ps}{reason} would choose {alternatives}")
    return [f"The choice holds {', '.join(parts)}."]


def _most_sensitive_weight(document: CopaDocument) -> int:
    """Return the index of the objective whose weight can vary least without changing the choice."""
    widths = [weight_range.high - weight_range.low for weight_range in document.weight_ranges]
    return int(np.argmin(widths))
