"""Tables of mean-risk models: ranks over all risks, raw means and tail means, then every risk."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from riskrank.engine.portfolio.mean_risk import MeanRiskStudy
from riskrank.engine.portfolio.risks import RISKS
from riskrank.errors import option
from riskrank.render import mean_tables, numbers, screens
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table, value_column
from riskrank.studies.mrm.study import MeanRiskDocument, model_order
from riskrank.studies.wording import counted, decimals_for_gaps, format_fixed

_MOST_PAIRS = 5


def details(document: MeanRiskDocument) -> Iterator[Section]:
    """Yield tables of ranks and values for every risk measure, and lines about aggregated rankings."""
    models, aggregations = document.provenance.models, document.aggregations
    for metric, study in document.studies.items():
        yield _rank_table(metric, study, models)
        values = np.column_stack([study.models.mean, study.models.value])
        columns: list[ModelColumn | None] = [(Column("model", "left"), lambda i: models[i])]
        # Decimals that the intervals support, or that separate the values.
        decimals = [decimals_for_gaps(column) for column in values.T.tolist()]
        if (low := study.value_low) is not None and (high := study.value_high) is not None:
            decimals = [*map(numbers.interval_decimals, low.T, high.T)]
            decimals = [min(decimals), *decimals]
        parts = zip(["mean", *_risk_headings(study)], values.T, decimals, strict=True)
        for head, column, digits in parts:
            columns.append(value_column(head, column, partial(format_fixed, decimals=digits)))
        title = f"Mean minus risk on {mean_tables.score_label(metric)}"
        yield build_table(title, columns, model_order(study))
        if study.contradicted:
            pairs = [f"{models[i]} above {models[j]}" for i, j in study.contradicted]
            more = f" and {len(pairs) - _MOST_PAIRS} more" if len(pairs) > _MOST_PAIRS else ""
            text = (
                f"mean minus standard deviation ranks {', '.join(pairs[:_MOST_PAIRS])}{more}; "
                "every consistent risk measure ranks them the other way."
            )
            yield Line(text, "Note:", "yellow")
    yield from mean_tables.aggregation_lines(aggregations)
    if (overall := aggregations.get("RA(MRM@M)")) is not None:
        order_over_all = " > ".join(models[i] for i in overall.order)
        yield Line(f"{order_over_all}.", "Over all metrics:")
    yield _reading_guide(next(iter(document.studies.values())))


def _risk_headings(study: MeanRiskStudy) -> Iterator[str]:
    """Yield the column headings of the risk measures.

    An asterisk marks risk measures that may contradict second-order dominance.
    """
    for column in study.models.columns:
        mark = "" if column.risk.ssd_consistent else "*"
        level = "" if column.level is None else f"\n{column.level:g}"
        yield f"μ−{column.risk.symbol}{mark}".replace("−-", "+") + level


def _rank_table(metric: str, study: MeanRiskStudy, models: Sequence[str]) -> Table:
    """Return a table of ranks by every risk measure, and of the aggregated rank."""
    columns: list[ModelColumn | None] = [
        (Column("model", "left"), lambda i: models[i]),
        (Column("RA"), lambda i: Cell(str(aggregation.ranks[i]), "bold"))
        if (aggregation := study.aggregation)
        else None,
    ]
    columns += map(value_column, _risk_headings(study), study.models.rank.T)
    title = f"Ranks by mean minus risk on {mean_tables.score_label(metric)}"
    return build_table(title, columns, model_order(study))


def _reading_guide(study: MeanRiskStudy) -> Line:
    """Return a line that explains how to read the tables."""
    symbols = ", ".join(f"{risk.symbol.removeprefix('-')} {risk.meaning}" for risk in RISKS.values())
    parts = [f"{symbols}; larger is always better."]
    if not study.models.ssd_consistent.all():
        parts.append("* (italic in figures) marks risk measures that may contradict second-order dominance.")
    if study.aggregation is not None:
        parts.append("RA aggregates the ranks by the consistent risk measures.")
    return Line(" ".join(parts), "Reading:")


def build_sections(document: MeanRiskDocument) -> list[Section]:
    """Return the sections of the screen: table of models, samples and further options, then the details."""
    has_several = len(document.studies) > 1
    suggestions = [option("per_metric", True)] if not has_several and len(document.means) > 1 else []
    name, first = next(iter(document.studies.items()))
    study = first.models
    count, placing = len(study.columns), int(study.ssd_consistent.sum())
    measures_text = f"places by {placing} of " * (0 < placing < count) + counted(count, "risk measure")
    resampled = any(study.value_low is not None for study in document.studies.values())
    intervals = [Line("The JSON and CSV output contains bootstrap intervals.")] * resampled
    tests = f"{mean_tables.describe_samples(document.scores)}; {measures_text}; differences were not tested."
    return [
        *(_multi_column_table(document) if has_several else _single_column_sections(document, name, first)),
        *screens.hidden_count_lines(len(document.provenance.models) - screens.MOST_ROWS, "model"),
        *([] if has_several else mean_tables.combined_score_lines(name, document)),
        Line(tests),
        *screens.follow_up_sections(
            [*screens.further_sentence_lines(document.more), *details(document), *intervals], *suggestions
        ),
    ]


def _consistent_ranks(study: MeanRiskStudy) -> dict[int, str]:
    """Return each model's rank as text, by model index.

    The rank is aggregated over all risk measures that are consistent with second-order dominance. Ties share
    the best rank.
    """
    if study.aggregation is None:
        return {i: str(rank) for i, rank in enumerate(study.models.rank[:, 0].tolist())}
    return {i: str(rank) for i, rank in enumerate(study.aggregation.ranks)}


def _single_column_sections(document: MeanRiskDocument, name: str, study: MeanRiskStudy) -> list[Section]:
    """Return a table for the score `name`: aggregated ranks, means, tail means, and ranks by risk measure."""
    models, means, tail = document.provenance.models, document.means, document.tails.get(name)
    order, places, rank = model_order(study), _consistent_ranks(study), study.models.rank
    rows = order[: screens.MOST_ROWS]
    columns: list[ModelColumn] = [
        (Column("place"), lambda i: places[i]),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i == order[0] else "")),
        *mean_tables.mean_columns(means[: screens.MOST_METRICS], rows),
        *([] if tail is None else mean_tables.tail_columns(name, means, tail)),
    ]
    if rank.shape[1] > 1:
        single = Column("places by\nsingle measures", optional=True)
        columns.append(
            (single, lambda i: numbers.format_rank_interval(int(rank[i].min()), int(rank[i].max())))
        )
    return [build_table("", columns, rows, stub=2), *screens.more_metrics_lines(means)]


def _multi_column_table(document: MeanRiskDocument) -> list[Section]:
    """Return a table with each model's means and, for each of several scores, its rank."""
    models, columns = document.provenance.models, document.studies
    places = [_consistent_ranks(study) for study in columns.values()]
    order = sorted(range(len(models)), key=lambda i: sum(int(place[i]) for place in places))
    rows, place = order[: screens.MOST_ROWS], lambda at, i: places[at][i]
    return mean_tables.side_by_side_table(models, document.means, [*columns], rows, place, "place")
