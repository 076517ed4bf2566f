"""Generalized stochastic dominance as rows, as entries of ``meta`` and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.gsd.analysis import GsdStudy, Relabelling
from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.engine.gsd.relation import Threshold
from riskrank.report import numbers
from riskrank.report.dominance import CORRECTIONS
from riskrank.report.gsd.front import FrontStudy, front_entry, front_view
from riskrank.report.gsd.hasse import class_entries, edge_entries, hasse_table
from riskrank.report.gsd.rank_tests import baseline_entries, baseline_view
from riskrank.report.gsd.witness import WitnessStudy, witness_entry, witness_view
from riskrank.report.view import Cell, Column, Line, Section, Table

FIELDS = (
    "winner",
    "loser",
    "delta",
    "optimum",
    "dominates",
    "p_value",
    "p_adjusted",
    "share_smaller",
    "lps_solved",
    "significant",
    "exact",
    "survives",
    "regularization",
    "delta_max",
)

# The threshold the paper tests with: it hardly changes the relation ([GSD] remark 3).
_SMALL_DELTA = 1e-5


@dataclass(frozen=True, kw_only=True)
class GsdReport:
    """Everything one run found.

    Attributes
    ----------
    models, metrics : tuple of str
    samples : int
    studies : tuple of GsdStudy
        One a threshold.
    relabelling : Relabelling
    fronts : tuple of FrontStudy
    witnesses : tuple of WitnessStudy
    baselines : CriteriaTests or None
    """

    models: tuple[str, ...]
    metrics: tuple[str, ...]
    samples: int
    studies: tuple[GsdStudy, ...]
    relabelling: Relabelling
    fronts: tuple[FrontStudy, ...]
    witnesses: tuple[WitnessStudy, ...]
    baselines: CriteriaTests | None


def threshold_label(threshold: Threshold) -> str:
    """The threshold as a person writes it."""
    return f"δ = {threshold.delta:g}" if threshold.share is None else f"δ = {threshold.share:g} ξ"


def gsd_rows(report: GsdReport) -> list[dict[str, Any]]:
    """One row an ordered pair and threshold; ``winner`` is the model whose dominance is looked at."""
    k = len(report.models)
    return [
        _row(study, i, j, report.models)
        for study in report.studies
        for i in range(k)
        for j in range(k)
        if i != j
    ]


def _row(study: GsdStudy, i: int, j: int, models: Sequence[str]) -> dict[str, Any]:
    relation, test = study.relation, study.tests.get((i, j))
    share = study.threshold.share
    return {
        "winner": models[i],
        "loser": models[j],
        "delta": study.threshold.delta if share is None else float(relation.slack[i, j]),
        "optimum": float(relation.optimum[i, j]),
        "dominates": bool(relation.dominates[i, j]),
        "p_value": test and test.p_value,
        "p_adjusted": test and float(study.p_adjusted[i, j]),
        "share_smaller": test and test.share_smaller,
        "lps_solved": test.lps_solved if test else 1,  # without a test only the optimum's own
        "significant": test and bool(study.significant[i, j]),
        "exact": test and test.exact,
        "survives": study.survives.get((i, j)),
        "regularization": share,
        "delta_max": float(relation.largest_slack[i, j]),
    }


def gsd_meta(report: GsdReport) -> dict[str, Any]:
    """What is not about one ordered pair."""
    models, studies = report.models, report.studies
    relation = studies[0].relation
    both = studies[0].threshold.rows == "r1+r2"
    return {
        "delta_max": relation.delta_max,
        "xi": relation.delta_max if both else None,
        "hasse": [entry for study in studies for entry in edge_entries(study, models)],
        "classes": [entry for study in studies for entry in class_entries(study, models)],
        "incomparable": [
            {**_threshold_entry(study), "models": [models[i], models[j]]}
            for study in studies
            for i, j in study.incomparable
        ],
        "front": [
            {
                **_threshold_entry(study),
                "models": [name for name, inside in zip(models, study.front, strict=True) if inside],
            }
            for study in studies
        ],
        "front_tests": [front_entry(front, models) for front in report.fronts],
        "contamination": [
            {
                **_threshold_entry(study),
                "winner": models[i],
                "loser": models[j],
                "survives": survived,
                "p_values": study.tests[i, j].contamination,
            }
            for study in studies
            for (i, j), survived in study.survives.items()
        ],
        "witness": [witness_entry(found, models, report.metrics) for found in report.witnesses],
        "baselines": None
        if report.baselines is None
        else baseline_entries(report.baselines, models, report.metrics, report.relabelling.alpha),
        "lps_solved": sum(study.lps_solved for study in studies)
        + sum(test.lps_solved for front in report.fronts for test in front.test.tests),
        "rows_generated": sum(study.relation.rows_generated for study in studies),
    }


def _threshold_entry(study: GsdStudy) -> dict[str, Any]:
    threshold = study.threshold
    return {
        "delta": threshold.delta if threshold.share is None else None,
        "regularization": threshold.share,
    }


def gsd_view(report: GsdReport) -> list[Section]:
    """Diagram, incomparable pairs, front and tests, threshold by threshold; then what else was asked."""
    view: list[Section] = []
    shown: list[GsdStudy] = []
    for study in report.studies:
        view += _relation_view(study, shown, report.models)
        view += _pair_view(study, report)
        shown.append(study)
    view += [section for front in report.fronts for section in front_view(front, report.models)]
    view += [
        section
        for found in report.witnesses
        for section in witness_view(found, report.models, report.metrics)
    ]
    if report.baselines is not None:
        view += baseline_view(report.baselines, report.models, report.metrics, report.relabelling.alpha)
    view += _reading(report)
    view.append(_tests_line(report))
    return view


def _relation_view(study: GsdStudy, shown: Sequence[GsdStudy], models: Sequence[str]) -> list[Section]:
    label = threshold_label(study.threshold)
    for earlier in shown:
        if np.array_equal(earlier.relation.dominates, study.relation.dominates):
            return [Line(f"the same as at {threshold_label(earlier.threshold)}.", f"Relation at {label}:")]
    pairs = [f"{models[i]}–{models[j]}" for i, j in study.incomparable]
    inside = [name for name, kept in zip(models, study.front, strict=True) if kept]
    view: list[Section] = [hasse_table(study, models, title=f"Who dominates whom, {label}")]
    view.append(Line(", ".join(pairs) + "." if pairs else "no pair.", "Incomparable:"))
    view.append(Line(", ".join(inside) + ".", "Front:"))
    if study.hasse.implied:
        drawn = [f"{models[i]} over {models[j]}" for i, j in study.hasse.implied]
        view.append(Line(f"{', '.join(drawn)} only through other models.", "Note:", "yellow"))
    return view


def _pair_view(study: GsdStudy, report: GsdReport) -> list[Section]:
    pairs = [
        pair
        for pair in np.ndindex(study.relation.optimum.shape)
        if pair[0] != pair[1] and (study.relation.dominates[pair] or pair in study.tests)
    ]
    if not pairs:
        return []
    level = {model: study.hasse.levels[n] for n, node in enumerate(study.hasse.nodes) for model in node}
    pairs.sort(key=lambda pair: (not study.relation.dominates[pair], level[pair[0]], pair[0], level[pair[1]]))
    tested, how = bool(study.tests), report.relabelling
    columns = [Column("better", "left"), Column("worse", "left"), Column("optimum")]
    if tested:
        columns += [Column("smaller", name="share smaller"), Column("p")]
        columns += [] if how.correction == "none" else [Column("adjusted\np")]
        columns += [Column("survives")] if how.contamination else []
    columns.append(Column("verdict", "left"))
    rows = tuple(_pair_row(study, pair, report) for pair in pairs)
    return [Table(f"Dominance at {threshold_label(study.threshold)}", tuple(columns), rows, stub=2)]


def _pair_row(study: GsdStudy, pair: tuple[int, int], report: GsdReport) -> tuple[Cell | str, ...]:
    i, j = pair
    how, test = report.relabelling, study.tests.get(pair)
    cells: list[Cell | str] = [
        report.models[i],
        report.models[j],
        numbers.score(study.relation.optimum[pair]),
    ]
    if test is not None:
        cells += [numbers.ratio(test.share_smaller), numbers.p_value(test.p_value)]
        cells += [] if how.correction == "none" else [numbers.p_value(study.p_adjusted[pair])]
        cells += [str(study.survives.get(pair, "–"))] if how.contamination else []
    return (*cells, _verdict(study, i, j))


def _verdict(study: GsdStudy, i: int, j: int) -> Cell:
    dominates = study.relation.dominates
    if not dominates[i, j]:
        return Cell("no dominance", "dim")
    if dominates[j, i]:
        return Cell("equal for every utility", "dim")
    if (i, j) not in study.tests:
        return Cell("dominates")
    if study.significant[i, j]:
        return Cell("significant", "green")
    return Cell("in the sample only", "dim")


def _reading(report: GsdReport) -> list[Line]:
    how, first = report.relabelling, report.studies[0]
    parts = [
        "Dominance: at least as good in expectation under every utility that respects the metrics. "
        "Optimum: the least advantage any of them leaves, from -1 to 1."
    ]
    if how.pairs != "none":
        parts.append("Smaller: share of relabellings with a smaller optimum; p: share with one as large.")
    if how.contamination:
        parts.append("Survives: how many samples may be arbitrary before the result is significant no more.")
    room = "ξ" if first.threshold.rows == "r1+r2" else "δ_max"
    parts.append(f"Largest threshold there can be, {room}: {numbers.score(first.relation.delta_max)}.")
    lines = [Line(" ".join(parts), "Reading:")]
    tests = [test for study in report.studies for test in study.tests.values()]
    if tests and max(test.optimum for test in tests) == 0:
        lines.append(_small_delta_hint(first.relation.delta_max))
    return lines


def _small_delta_hint(largest: float) -> Line:
    better = _SMALL_DELTA if largest >= 10 * _SMALL_DELTA else largest / 10
    text = (
        "the optimum of every dominance is 0, so tests cannot tell a clear one from a narrow one; "
        f"--delta {np.format_float_positional(better, precision=1, fractional=False, trim='-')} hardly "
        "changes the relation and makes them much stronger."
    )
    return Line(text, "Note:", "yellow")


def _tests_line(report: GsdReport) -> Line:
    how = report.relabelling
    solved = sum(study.lps_solved for study in report.studies)
    solved += sum(test.lps_solved for front in report.fronts for test in front.test.tests)
    programs = f"{solved:,} linear programs solved"
    if how.pairs == "none":
        return Line(
            f"{report.samples:,} samples; no test was asked for, the relation is that of these samples only. "
            f"{programs.capitalize()}.",
            "Data:",
        )
    tests = [test for study in report.studies for test in study.tests.values()]
    tests += [test for front in report.fronts for test in front.test.tests]
    kind = "swaps of two models' scores within samples" if how.resampling == "swap" else "deals of all scores"
    count = f"{how.resamples:,} random {kind}, seed {how.seed}"
    if tests and tests[0].exact:
        count = f"all {tests[0].resamples + 1:,} {kind}"
    k = len(report.models)
    text = (
        f"{report.samples:,} samples, {count}; {CORRECTIONS[how.correction]} over the {k * (k - 1)} ordered "
        f"pairs of each threshold, level {how.alpha:g}. {programs.capitalize()}."
    )
    return Line(text, "Tests:")
