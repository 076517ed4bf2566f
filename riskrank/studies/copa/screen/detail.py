"""Details of ``copa``: ranks and values, ties, the front, and the sensitivity of the choice."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from riskrank.engine.copa.ranking import TIE_BREAKING_P, CopaRanking
from riskrank.engine.copa.stability import ChoiceBootstrap, ModelInfluence
from riskrank.errors import counted, listing, option
from riskrank.render import numbers
from riskrank.render.screens import hidden_count_lines
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.ranking import CCDF_PROBABILITIES, CopaDocument
from riskrank.studies.copa.screen.objectives import objective_cells, uncertainty_sections, weakest_objective

_MOST_NAMES, _MOST_ROWS = 4, 20


def details(document: CopaDocument) -> Iterator[Section]:
    """Yield the ranking, the evidence for the front, and the sensitivity of the choice."""
    table, leading, top = document.objectives, document.leading_ranking, document.settings.top
    models = document.models_by_rank[: top or _MOST_ROWS]
    yield _ranking_table(document, models)
    yield from hidden_count_lines(len(table.population.names) - len(models), "model", option("top", "N"))
    if document.settings.ccdf:
        yield _ccdf_table(document, models)
    if document.uncertainty is not None:
        yield from uncertainty_sections(document, document.uncertainty, models)
    if len(document.sweeps) > 1:
        yield _weight_table(document)
    if document.influence is not None:
        yield Line(_describe_influence(table, document.influence), "Influence:")
    if document.population_bootstrap is not None:
        yield Line(_describe_stability(table, document.population_bootstrap), "Stability:")
    yield _reading(table, leading)


def _ranking_table(document: CopaDocument, models: Sequence[int]) -> Table:
    """Return a table of the models with rank, norm, front membership and objectives."""
    table, leading, bootstrap = document.objectives, document.leading_ranking, document.population_bootstrap
    columns: list[ModelColumn | None] = [
        (Column("model", "left"), lambda i: Cell(table.name(i), "bold" if i == leading.chosen else ""))
    ]
    for ranking in document.rankings:
        label = f"p = {numbers.format_order(ranking.p)}\n" if len(document.rankings) > 1 else ""
        columns.append((Column(f"{label}rank"), lambda i, r=ranking: str(r.rank_of(i) or "–")))  # type: ignore[misc]
        columns.append((Column(f"{label}norm"), lambda i, r=ranking: numbers.format_score(r.norm[i])))  # type: ignore[misc]
    columns += [
        (Column("front", "center"), lambda i: "yes" if table.population.front[i] else "–"),
        (Column("meets", "center"), lambda i: "yes" if table.population.feasible[i] else Cell("no", "yellow"))
        if table.constraints
        else None,
        (Column("chosen\nin"), lambda i: _format_percent(bootstrap.share(i))) if bootstrap else None,
        (Column("weakest", "left"), lambda i: weakest_objective(table, i)),
        *objective_cells(table, models),
    ]
    objectives = f"{len(table.weights)} objective{'s' if len(table.weights) > 1 else ''}"
    title = (
        f"COPA, p = {numbers.format_order(leading.p)}: {len(table.population.names):,} models, {objectives}"
    )
    return build_table(title, columns, models)


def _ccdf_table(document: CopaDocument, models: Sequence[int]) -> Table:
    """Return a table of quantiles of the proportion of models that are not better."""
    table, quantiles, mean = document.objectives, document.ccdf_quantiles, document.ccdf_mean
    columns: list[ModelColumn] = [
        (Column("model", "left"), table.name),
        (Column("mean"), lambda i: numbers.format_ratio(mean[i])),
    ]
    for k, share in enumerate(CCDF_PROBABILITIES):
        columns.append(
            (
                Column(f"Q {share:g}"),
                partial(lambda values, i: numbers.format_ratio(values[i]), quantiles[:, k]),
            )
        )
    title = "Share of models that do not do better (1 − u), over the objectives"
    return build_table(title, columns, models)


def _weight_table(document: CopaDocument) -> Table:
    """Return a table of the weight ranges that leave the choice unchanged."""
    table, ranges = document.objectives, document.weight_ranges

    def stable_range(k: int) -> Cell:
        """Format the range of a weight without a change of the choice."""
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
    return build_table("Effect of each weight, with the others in proportion", columns, range(len(ranges)))


def _describe_influence(table: Objectives, influence: ModelInfluence) -> str:
    """Name the models whose removal would change the choice."""
    chosen = f"without the chosen model, {table.name_or_none(influence.successor) or 'none'} is chosen."
    changes = [
        f"without {table.name(i)}, {table.name_or_none(influence.choice[i])} is chosen"
        for i in influence.influential
    ]
    if not changes:
        return f"{chosen} Removing another model never changes the choice."
    return (
        f"{chosen} The choice depends on the presence of {counted(len(changes), 'other model')}, because "
        f"ranks are relative: {listing(changes, 3)}."
    )


def _describe_stability(table: Objectives, bootstrap: ChoiceBootstrap) -> str:
    """Describe how often the choice stays the same in bootstrapped populations of models."""
    text = (
        f"{table.name(bootstrap.chosen)} stays the choice in {_format_percent(bootstrap.survival)} of "
        f"{bootstrap.resamples:,} resampled populations"
    )
    runners_up = bootstrap.runners_up
    if not len(runners_up):
        return text + "."
    texts = (f"{table.name(i)} ({_format_percent(bootstrap.share(i))})" for i in runners_up)
    return f"{text}; otherwise {listing(texts, _MOST_NAMES)}."


def _format_percent(share: float) -> str:
    """Format a proportion in percent, with one decimal near 0 % and 100 %."""
    percent = 100 * share
    if 0 < percent < 0.1:
        return "<0.1 %"
    return f"{percent:.1f} %" if 0 < percent < 1 or 99 < percent < 100 else f"{percent:.0f} %"


def _reading(table: Objectives, ranking: CopaRanking) -> Line:
    """Return a line that explains how to read the tables."""
    weighted = "equal weights" if np.ptp(table.weights) < 1e-12 else "the weights above"
    norm = {1.0: "the mean", np.inf: "the largest"}.get(ranking.p, f"the p = {ranking.p:g} norm")
    text = (
        "the top-% next to each value is the share of other models with a better value. "
        f"The norm is {norm} of these ranks times {weighted}; smaller is better. The weakest objective has "
        "the largest of them. ↑ higher is better, ↓ lower is better. "
        f"{option('sweep', 'NAME')} and {option('sweep_p', True)} vary the weights and p, "
        f"{option('why', 'MODEL')} explains one model."
    )
    if len(ranking.tied_with(ranking.chosen)):
        first, second = (f"p = {q:g}" for q in TIE_BREAKING_P)
        text += f" Ties are broken by the front, then by the norm of {first}, then of {second}, then by name."
    return Line(text, "Reading:")
