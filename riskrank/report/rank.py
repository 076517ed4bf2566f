"""Rankings in words and side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.column import MODEL_WIN_RATE, SAMPLE_WIN_RATE, Inference, RankStudy
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.ranking import Ranking, hidden_risks, rank_by
from riskrank.report import numbers
from riskrank.report.aggregation import aggregation_lines
from riskrank.report.agreement import agreement_table, stability_table
from riskrank.report.dominance import inference_line
from riskrank.report.view import Cell, Column, Line, Section, Table
from riskrank.studies.rank import RankDocument

# A list of hidden risks longer than this hides them again.
_MOST_RISKS = 8


def view(document: RankDocument) -> list[Section]:
    """Per column of scores the leading method in detail, all methods and hidden risks; then the rest."""
    study, inference, models = document.study, document.inference, document.provenance.models
    sections: list[Section] = []
    for metric, found in study.studies.items():
        shown = {name: r for name, r in found.rankings.items() if f"{name}@{metric}" in study.rankings}
        if not shown:
            continue  # tested only for an aggregation over the metrics
        leading = _leading_method(shown)
        if shown[leading].wins is not None:
            sections.append(_detail_table(metric, leading, shown[leading], models))
        if len(shown) > 1 or shown[leading].wins is None:
            sections.append(_side_by_side(f"Ranks by every method @{metric}", shown, shown[leading], models))
        if "R-SSD" in shown:
            sections.append(_risk_line(found, models, tested=inference.test))
    sections += _aggregated(study, models)
    if len(study.studies) + len(study.aggregations) > 1 and len(study.rankings) > 1:
        sections.append(agreement_table(study))
    if document.steady is not None:
        sections.append(stability_table(document.steady))
    if study.studies:
        first = next(iter(study.studies.values()))
        names = [name for found in study.studies.values() for name in found.rankings]
        sections.append(_reading(inference, names))
        sections.append(inference_line(first.dominance, inference, models, paired=document.paired))
    return sections


def _aggregated(study: MethodStudy, models: Sequence[str]) -> list[Section]:
    rankings = {name: study.rankings[name] for name in study.aggregations}
    if not rankings:
        return []
    leading = rankings.get("RA(R-SSD@M)", next(iter(rankings.values())))
    table = _side_by_side("Ranks by aggregation", rankings, leading, models)
    return [table, *aggregation_lines(list(study.aggregations.items()), models, orders=False)]


def _leading_method(rankings: Mapping[str, Ranking]) -> str:
    for name in ("R-SSD", "R-FSD"):
        if name in rankings:
            return name
    return next(iter(rankings))


def _detail_table(metric: str, name: str, ranking: Ranking, models: Sequence[str]) -> Table:
    tested, resampled = ranking.tier is not None, ranking.score_low is not None
    columns = [Column("rank"), Column("model", "left")]
    if tested:
        columns.append(Column("tier"))
    columns += [Column("wins"), Column("ε")]
    if resampled:
        columns += [Column("ε interval"), Column("rank interval")]
    rows = []
    for i in ranking.order:
        cells: list[Cell | str] = [
            str(ranking.rank[i]),
            Cell(models[i], "bold" if ranking.rank[i] == 1 else ""),
        ]
        if tested:
            cells.append(str(ranking.tier[i]))
        cells += [str(ranking.wins[i]), numbers.ratio(ranking.score[i])]
        if resampled:
            cells.append(numbers.interval(ranking.score_low[i], ranking.score_high[i]))
            cells.append(numbers.rank_interval(ranking.rank_low[i], ranking.rank_high[i]))
        rows.append(tuple(cells))
    return Table(f"Ranking by {name}@{metric}", tuple(columns), tuple(rows), stub=2)


def _side_by_side(
    title: str, rankings: Mapping[str, Ranking], leading: Ranking, models: Sequence[str]
) -> Table:
    columns = [Column("model", "left")]
    columns += [Column(_short(name), name=name) for name in rankings]
    rows = [(models[i], *(str(ranking.rank[i]) for ranking in rankings.values())) for i in leading.order]
    return Table(title, tuple(columns), tuple(rows))


def _short(name: str) -> str:
    """Name of a method on two lines: ``SSD(0.25)`` as SSD over 0.25, ``RA(R-SSD@M)`` as RA over the rest."""
    if name.startswith("RA("):
        statistic, _, scope = name[3:-1].rpartition("@")
        return f"RA {statistic}\n@{scope}"
    return name.replace("R-", "R-\n").replace("(", "\n").rstrip(")")


def _risk_line(study: RankStudy, models: Sequence[str], *, tested: bool) -> Line:
    """Name the hidden risks and say of each whether its ratios or only its few wins put it there."""
    if not len(study.hidden_risks):
        return Line("none: no model ranks clearly worse by R-SSD than by mean win rate.", "Hidden risks:")
    by_risk, by_average = study.rankings["R-SSD"].rank, study.rankings[MODEL_WIN_RATE].rank
    by_ratio = _ratio_ranks(study)
    by_ratio_too = set(hidden_risks(by_ratio, by_average).tolist())
    named = []
    for i in study.hidden_risks[:_MOST_RISKS].tolist():
        why = "bad in the tail" if i in by_ratio_too else f"too few {'significant ' if tested else ''}wins"
        named.append(f"{models[i]} (win rate {by_average[i]}, R-SSD {by_risk[i]}; {by_ratio[i]} by ε: {why})")
    rest = len(study.hidden_risks) - len(named)
    return Line("; ".join(named) + (f"; and {rest} more" if rest else "") + ".", "Hidden risks:", "yellow")


def _ratio_ranks(study: RankStudy) -> NDArray[np.int64]:
    """Ranks by the one-versus-all ratio of second-order dominance, whatever the wins."""
    return rank_by(study.rankings["R-SSD"].score)


def _reading(inference: Inference, names: Collection[str]) -> Line:
    """How to read the tables, of which ``names`` are the methods."""
    parts = [
        "ε is a model's mean violation ratio against the others: 0 if it dominates all of them, 1 if all of "
        "them dominate it."
    ]
    if inference.test:
        parts.append(
            "wins counts the models it significantly beats; equal wins share a rank, in order of ε. No test "
            "separates the models of a tier."
        )
    else:
        parts.append("wins counts the models it beats in these samples; equal wins share a rank.")
    if inference.resampled:
        parts.append(f"Intervals hold {100 * (1 - inference.alpha):g} % of the resamples.")
    if any(name.startswith("R-") for name in names):
        parts.append("R-FSD, R-SSD: relative dominance of the first and second order (SSD minds the tail).")
    if any(name[0] in "FS" for name in names):
        parts.append("A number under FSD or SSD is the threshold ε has to stay below.")
    parts.append("MWR: mean win rate, by the models' means")
    if SAMPLE_WIN_RATE in names:
        parts[-1] += (
            "; sample: share of samples it is best on; pairwise: share of the others beaten on a sample"
        )
    parts[-1] += "."
    return Line(" ".join(parts), "Reading:")
