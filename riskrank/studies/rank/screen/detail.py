"""Details of ``rank``: all figures of a method, all methods side by side, risks, and a reading guide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from string import ascii_lowercase

import numpy as np

from riskrank.engine.dominance.hidden_risk import NOT_DECIDED, NOT_SIGNIFICANT, RISK
from riskrank.engine.dominance.method_rankings import MethodStudy, Stability
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.types import Booleans
from riskrank.render import mean_tables, numbers, screens
from riskrank.render.text_charts import interval_bars, significance_letters
from riskrank.render.view import (
    Cell,
    Column,
    Line,
    ModelColumn,
    Section,
    Table,
    build_table,
    column_heads,
    value_column,
)
from riskrank.studies import wording
from riskrank.studies.document import Provenance
from riskrank.studies.metric_means import MetricMeans, detectable_by_metric, is_bad_case_level
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.leader import Leader

# Minimum terminal width for the column of beaten models.
_WIDE = 160
# Limit of listed hidden risks.
_MOST_RISKS = 8
# Model name that joins the levels of two factors, and an option that names both.
_JOINED = re.compile(r"((?:[^\\+]|\\.)+)\+((?:[^\\+]|\\.)+)")
_FACTORS = re.compile(r"\bmodel=([^+,]+)\+([^+,]+)")


def details(document: RankDocument) -> Iterator[Section]:
    """Yield the details for every ranked score: table, significant pairs and hidden risks; then a guide."""
    study, inference, models = document.study, document.inference, document.provenance.models
    for leader in document.leaders.values():
        yield detail_table(document, leader)
        if text := describe_separated_pairs(document, leader):
            yield Line(f"{text}.", "Separated:")
        yield from risk_lines(document, leader)
    if study.studies:
        column, first = next(iter(study.studies.items()))
        yield reading_guide(document)
        # The first screen already shows this for a single metric.
        differences = detectable_by_metric(document.means, document.detectable)
        if len(document.means) > 1 and differences:
            yield Line(differences, "Detectable (power 80 %):")
        yield mean_tables.inference_line(first.dominance, inference, models, document.study.columns[column])


def method_tables(document: RankDocument) -> Iterator[Section]:
    """Yield tables of ranks by all methods, for each ranked score and aggregation, and their agreement."""
    study = document.study
    for metric, leader in document.leaders.items():
        # Skip rankings computed only for the aggregation over metrics.
        computed = leader.study.rankings.items()
        rankings = {name: r for name, r in computed if f"{name}@{metric}" in study.rankings}
        if len(rankings) > 1:
            title = f"Ranks by every method @{metric}"
            yield rank_table(title, rankings, leader.ranking, document)
    if study.aggregations:
        rankings = {name: study.rankings[name] for name in study.aggregations}
        main = rankings.get("RA(R-SSD@M)", next(iter(rankings.values())))
        yield rank_table("Ranks by aggregation", rankings, main, document)
        yield from mean_tables.aggregation_lines(study.aggregations)
    if len(study.studies) + len(study.aggregations) > 1 and len(study.rankings) > 1:
        yield agreement_table(study)


def factor_grid(
    facts: Provenance, means: MetricMeans, ranking: Ranking, wins: Booleans | None
) -> list[Section]:
    """Return a grid of means if the models join the levels of two factors, as in ``model=model+prompt``.

    The margins list the levels that are not significantly worse than any other in the same row or column.
    The list is empty if the models do not form a grid.

    Parameters
    ----------
    facts : Provenance
    means : MetricMeans
    ranking : Ranking
    wins : ndarray of bool, shape (k, k), or None
        True if the row's model is significantly ahead of the column's; None if nothing was tested.
    """
    matches = [_JOINED.fullmatch(name) for name in facts.models]
    cells = {match.groups(): i for i in ranking.order.tolist() if (match := matches[i])}
    rows, columns = ([*dict.fromkeys(parts[at] for parts in cells)] for at in (0, 1))
    most, fewest = max(len(rows), len(columns)), min(len(rows), len(columns))
    if None in matches or len(cells) <= most or fewest < 2:
        return []
    named, low = _FACTORS.search(str(facts.settings.get("columns", ""))), ranking.rank_low
    factors = named.groups() if named else ("first part", "second part")

    def mean_cell(row: str, column: str) -> str:
        """Return a model's mean, marked if the model may be the best one."""
        i = cells.get((row, column))
        best = i is not None and low is not None and low[i] == 1
        return "–" if i is None else "* " * bool(best) + means.format_mean(i)

    def best_levels(fixed: int, level: str) -> str:
        """Return the levels of the other factor that may be the best at one level of the fixed factor."""
        members = {parts[1 - fixed]: i for parts, i in cells.items() if parts[fixed] == level}
        if wins is None:
            return "not tested"
        best = [name for name, i in members.items() if not wins[[*members.values()], i].any()]
        return "any" if len(best) == len(members) > 1 else wording.join_names(best, 3)

    shown = columns[: screens.MOST_METRICS]
    lines = [
        (row, *(mean_cell(row, column) for column in shown), best_levels(0, row))
        for row in rows[: screens.MOST_ROWS]
    ]
    last_row = (f"best {factors[0]}", *(best_levels(1, column) for column in shown), "")
    note = (
        f"* may be the best of all {len(cells)}. best {factors[1]}, best {factors[0]}: not significantly "
        "worse than any other in the same row or column. All comparisons form one family."
    )
    heads = (Column(factors[0], "left"), *map(Column, shown), Column(f"best {factors[1]}", "left"))
    return [
        Table(mean_tables.metric_head(means), heads, (*lines, last_row)),
        *screens.hidden_count_lines(len(rows) - screens.MOST_ROWS, "row"),
        *screens.hidden_count_lines(len(columns) - len(shown), "column"),
        *([] if wins is None else [Line(note)]),
    ]


def rank_table(title: str, rankings: Mapping[str, Ranking], main: Ranking, document: RankDocument) -> Table:
    """Return a table of ranks by several methods, with models in the order of the ranking `main`.

    `rankings` has the rankings by method name.
    """
    models = document.provenance.models
    columns: list[ModelColumn | None] = [(Column("model", "left"), lambda i: models[i])]
    for name, ranking in rankings.items():
        # On two lines, such as SSD and 0.25 for ``SSD(0.25)``.
        head = name.replace("R-", "R-\n").replace("(", "\n").rstrip(")")
        if name.startswith("RA("):
            head = "RA " + name[3:-1].replace("@", "\n@")
        columns.append(value_column(head, ranking.rank, name=name))
    return build_table(title, columns, main.order[: document.top].tolist())


def agreement_table(study: MethodStudy) -> Table:
    """Return a table of Kendall's tau between all methods, with columns numbered like the rows."""
    columns = [Column("", "left"), *(Column(str(i + 1)) for i in range(len(study.rankings)))]
    rows = []
    for i, name in enumerate(study.rankings):
        cells = [wording.typeset(f"{tau:.2f}") for tau in study.agreement[i]]
        cells[i] = "·"
        rows.append((f"{i + 1} {name}", *cells))
    return Table("Agreement of the methods' rankings (Kendall's tau)", tuple(columns), tuple(rows))


def stability_table(stability: Stability) -> Table:
    """Return a table of the mean and standard deviation of Kendall's tau, by method and subsample size."""
    columns = (Column("method", "left"), *(Column(f"n = {size:,}") for size in stability.sizes))
    mean, sd = stability.mean, stability.sd
    rows = []
    for m, method in enumerate(stability.methods):
        cells = [f"{value:.3f} ± {spread:.3f}" for value, spread in zip(mean[m], sd[m], strict=True)]
        rows.append((method, *map(wording.typeset, cells)))
    repeats = f"{stability.repeats} subsamples per size (mean ± sd)"
    return Table(f"Stability: Kendall's tau with the ranking on all samples, {repeats}", columns, tuple(rows))


def ranking_agreement_table(name: str, ranking: RankDocument, rankings: RankDocument, varied: str) -> Table:
    """Return a table of the agreement between one ranking and other rankings of the same models.

    Each row lists the other ranking's leaders, Kendall's tau, and the number of models whose rank differs.

    Parameters
    ----------
    name : str
        Name of the reference ranking.
    ranking : RankDocument
        Document with the reference ranking.
    rankings : RankDocument
        Document with the rankings to compare.
    varied : {"method", "metric"}
        Property in which the rankings differ.
    """
    reference, models = ranking.study.rankings[name], ranking.provenance.models
    rows = []
    agreement = rankings.agreement_with(reference)
    for (label, other), tau in zip(rankings.study.rankings.items(), agreement, strict=True):
        first = [models[i] for i in other.order if other.rank[i] == 1]
        leaders = ", ".join(first[:3]) + (" …" if len(first) > 3 else "")
        moved = int((other.rank != reference.rank).sum())
        head = label if varied == "method" else label.partition("@")[2]
        rows.append((head, leaders, wording.typeset(f"{tau:.2f}"), str(moved)))
    columns = column_heads(varied, "first", right=(f"Kendall's τ to\n{name}", "other\nranks"))
    return Table(f"Agreement with the ranking, {varied} by {varied}", columns, tuple(rows))


def detail_table(document: RankDocument, leader: Leader) -> Table:
    """Return a table of ranks, rank sets, wins, losses, violation ratios, and differences from the leader."""
    metric, units, models = leader.column, document.units[leader.column], document.provenance.models
    ranking, effects = leader.ranking, leader.study.effects[leader.method]
    decimals = mean_decimals(document, leader)
    gap, low, high = units.estimates(effects.mean_difference)
    sets = span = None
    if ranking.rank_low is not None and ranking.rank_high is not None:
        sets = [*map(numbers.format_rank_interval, ranking.rank_low, ranking.rank_high)]
    if low is not None and high is not None:
        limits = zip(low, high, strict=True)
        span = [
            "–" if lower == upper == 0 else numbers.format_difference_interval(lower, upper, decimals)
            for lower, upper in limits
        ]
    columns = [
        value_column("rank", ranking.rank),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i in leader.recommended else "")),
        value_column("rank\nset", sets),
        value_column("beats", ranking.wins),
        value_column("beaten\nby", ranking.losses),
        value_column("tier", ranking.tier),
        value_column("ε" if ranking.wins is not None else "win\nrate", ranking.score, numbers.format_ratio),
        value_column(
            "mean",
            units.to_file_units(effects.mean),
            lambda mean: wording.format_fixed(float(mean), decimals),
        ),
        (Column(f"worst\n{wording.format_percent(effects.tail_fraction)}"), leader.tail.format_mean),
        value_column(
            "to the\nfirst", gap, lambda gap: "–" if gap == 0 else wording.format_fixed(float(gap), decimals)
        ),
        value_column("interval", span),
        *_bar_columns(document, leader),
    ]
    order = ranking.order[: document.top].tolist()
    return build_table(
        f"Ranking of {mean_tables.score_title(metric)}, {leader.method}@{metric}", columns, order, stub=2
    )


def _bar_columns(document: RankDocument, leader: Leader) -> Iterator[ModelColumn]:
    """Yield columns for wide terminals: rank sets and differences as bars, and significance letters."""
    ranking = leader.ranking
    if ranking.rank_low is not None and ranking.rank_high is not None:
        places = interval_bars(ranking.rank, ranking.rank_low, ranking.rank_high)
        yield Column("places, first to last", "left", medium="terminal"), lambda i: places[i]
    effects = leader.study.effects[leader.method]
    gap, low, high = document.units[leader.column].estimates(effects.mean_difference)
    if low is not None and high is not None:
        # Scale the bars to the listed models; hidden ones would coarsen the scale.
        listed = ranking.order[: document.top]
        bars = interval_bars(gap[listed], low[listed], high[listed], mark=0.0)
        gaps = dict(zip(listed.tolist(), bars, strict=True))
        yield Column("difference", "left", medium="terminal"), lambda i: gaps[i]
    if leader.tests is not None and document.inference.test:
        yield from _significance_columns(leader.tests, ranking)


def _significance_columns(tests: DominanceTests, ranking: Ranking) -> Iterator[ModelColumn]:
    """Yield columns of beaten models for wide terminals, and of significance letters for LaTeX."""
    if (beaten := significance_letters(tests.dominates, ranking.order)) is not None:
        by_model = dict(zip(ranking.order.tolist(), beaten, strict=True))
        column = Column("significantly better than", "left", medium="terminal", min_width=_WIDE)
        yield column, lambda i: by_model[i]
    sets = tests.letter_groups(ranking.order)
    if len(sets) <= len(ascii_lowercase):
        letters_of = [
            "".join(letter for letter, group in zip(ascii_lowercase, sets, strict=False) if i in group)
            for i in range(len(ranking.order))
        ]
        yield Column("letters", "left", medium="latex"), lambda i: letters_of[i]
        yield Column("letters", "left", medium="terminal"), lambda i: letters_of[i]


def mean_decimals(document: RankDocument, leader: Leader) -> int:
    """Return the number of decimals for means and differences, chosen from the width of their intervals."""
    effects, units = leader.study.effects[leader.method], document.units[leader.column]
    _, low, high = units.estimates(effects.mean_difference)
    if low is None or high is None:
        return wording.decimals_for_gaps(units.to_file_units(effects.mean).tolist())
    return numbers.interval_decimals(low, high)


def describe_separated_pairs(document: RankDocument, leader: Leader) -> str:
    """Return a phrase with the number of significantly different pairs, or "" if none was tested."""
    separation, tests = leader.study.separations.get(leader.method), leader.tests
    if separation is None or not document.inference.test:
        return ""
    text = f"{separation.separated} of {separation.pairs} pair{'s' * (separation.pairs > 1)} of models"
    if separation.neighbours > 1:
        text += f", {separation.separated_neighbours} of {separation.neighbours} neighbours in the ranking"
    if tests is not None and (undecided := int((~tests.decided).sum())):
        resamples = leader.study.dominance.resamples or 0
        text += f"; {wording.undecided_words(undecided, tests.family, resamples, leader.method)}"
    return text


def risk_lines(document: RankDocument, leader: Leader) -> Iterator[Line]:
    """Yield lines about all hidden risks, and about the leader's worse tails on single metrics."""
    risks, models = leader.study.hidden_risks, document.provenance.models
    if risks is None or not is_bad_case_level(leader.tail.level):
        reason = "a tail would contain more than half of the scores" if risks else "nothing was resampled"
        yield Line(f"not tested, because {reason}.", "Hidden risks:")
        return
    proven = np.flatnonzero(risks.status == RISK)
    tail, means = leader.tail, document.units[leader.column].to_file_units(risks.mean)
    decimals, described = mean_decimals(document, leader), []
    for i in proven[:_MOST_RISKS].tolist():
        rival = int(risks.against[i])
        text = wording.format_fixed(float(means[i]), decimals)
        mean = f"mean {text} (rank {risks.rank_by_mean[i]} by the mean)"
        worst = f"worst {wording.format_percent(tail.level)}: {tail.format_comparison(i, rival)}"
        p_value = wording.p_value_phrase(float(risks.p_adjusted[i]))
        described.append(f"{models[i]}: {mean}, {worst} for {models[rival]} ({p_value})")
    remaining, warning = len(proven) - len(described), leader.tail_warning
    none = "none is significant" if warning is None else "none on the combined score"
    text = "; ".join(described) + (f"; and {remaining} more" if remaining > 0 else "") or none
    undecided = f"not decided at {leader.study.dominance.resamples or 0:,} resamples"
    insignificant = "not significant, but worse in these samples"
    for status, words in ((NOT_SIGNIFICANT, insignificant), (NOT_DECIDED, undecided)):
        uncertain = [models[i] for i in np.flatnonzero(risks.status == status).tolist()]
        text += f"; {words}: {wording.join_names(uncertain)}" if uncertain else ""
    yield Line(f"{text}.", "Hidden risks:", "yellow" if described else "")
    if warning is not None:
        worse = f"{models[warning.first]}: {warning.describe(models)}."
        yield Line(worse, "Worse bad cases on single metrics:", "yellow")


# Shares of tables of two identical models with any claim on the first screen, smallest and largest case of
# docs/calibration.md, "The whole first screen".
SCREEN_ERRORS = 0.100, 0.163


def reading_guide(document: RankDocument) -> Line:
    """Return a line that explains how to read the tables."""
    inference = document.inference
    beats = "beats: number of models that it is ahead of in these samples."
    together = errors = ""
    if inference.test:
        beats = (
            "Rank sets contain the true ranks of all models with simultaneous "
            f"{wording.format_percent(inference.family.confidence)} confidence. beats and beaten by count "
            "significant differences. Models in one tier are not significantly different."
        )
    if inference.uses_resampling:
        together = "; the intervals are simultaneous, and allow for the selection of the first model"
        low, high = (round(100 * share) for share in SCREEN_ERRORS)
        errors = (
            f" Dominance, means and tails are separate families: at level 0.05, {low} to {high} % of first "
            "screens of two identical models claim a difference (docs/calibration.md)."
        )
    text = (
        "ε is a model's mean violation ratio against the others: 0 if it dominates all of them, 1 if all of "
        f"them dominate it. {beats} mean, worst (the mean of a model's worst scores, TVaR) and the "
        f"difference from the first are in the units of the scores{together}. R-FSD, R-SSD: relative first- "
        "and second-order dominance (SSD is risk-averse). A number under FSD or SSD is an upper bound for ε. "
        "MWR: mean win rate, by the models' means. sample: share of samples where the model is best. "
        f"pairwise: share of the other models that it beats on a sample.{errors}"
    )
    return Line(text, "Reading:")
