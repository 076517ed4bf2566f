"""What a score table holds and what is wrong with it, in words."""

from __future__ import annotations

from riskrank.shown import numbers
from riskrank.shown.view import Cell, Column, Line, Section, Table
from riskrank.studies.check import CheckDocument, Inspection, MetricRow, Problem
from riskrank.studies.wording import counted


def view(document: CheckDocument) -> list[Section]:
    """What the table holds first, what is wrong with it last."""
    found = document.inspection
    sections: list[Section] = [
        Line(_holdings(found), "Table:"),
        Line(_pairing(found), "Samples:"),
        Line(_repeats(found), "Repeats:"),
        _metric_table(document),
    ]
    if not found.same_samples:
        sections.append(_model_table(found))
    sections += [_problem_line(problem) for problem in found.problems]
    if not found.problems:
        sections.append(Line("none: every command can read this table.", "Problems:", "green"))
    if document.splits:
        sections.append(_split_table(document))
    for one in document.suggestions:
        sections += [Line(one.purpose, "What fits:"), Line(one.command, verbatim=True)]
    return sections


def _holdings(found: Inspection) -> str:
    return (
        f"{counted(found.rows, 'row')}, {counted(len(found.models), 'model')}, "
        f"{counted(found.samples, 'sample')}, {counted(len(found.metrics), 'metric')}."
    )


def _pairing(found: Inspection) -> str:
    grouped = f" They belong to {found.clusters:,} clusters, which are drawn whole." if found.clusters else ""
    if found.same_samples:
        return f"all models have the same {found.samples:,} samples (paired).{grouped}"
    return f"{found.common_samples:,} of {found.samples:,} samples are common to all models.{grouped}"


def _repeats(found: Inspection) -> str:
    if found.most_repeats <= 1:
        return "one score a model, sample and metric."
    fewest, most = found.fewest_repeats, found.most_repeats
    count = f"{most}" if fewest == most else f"{fewest} to {most}"
    return f"{count} scores a model, sample and metric; {found.repeated_cells:,} cells hold several."


def _metric_table(document: CheckDocument) -> Table:
    columns = (
        Column("metric", "left"),
        Column("better", "left"),
        Column("n"),
        Column("min"),
        Column("mean"),
        Column("max"),
        Column("distinct"),
        Column("ties"),
        Column("missing"),
    )
    rows: list[tuple[Cell | str, ...]] = []
    for metric in document.rows:
        values = (metric.minimum, metric.mean, metric.maximum)
        rows.append(
            (
                metric.metric,
                _better(metric),
                f"{metric.n:,}",
                *("–" if value is None else numbers.score(value) for value in values),
                f"{metric.distinct:,}",
                f"{100 * metric.tied_share:.0f} %",
                Cell(f"{metric.missing:,}", "red" if metric.missing else ""),
            )
        )
    return Table("Metrics, in the units of the file", columns, tuple(rows))


def _split_table(document: CheckDocument) -> Table:
    columns = (
        Column("metric", "left"),
        Column("from\nruns"),
        Column("from\nsamples"),
        Column("twice the\nruns"),
        Column("twice the\nsamples"),
        Column("what would help", "left"),
    )
    rows = tuple(
        (
            split.metric,
            *(f"{100 * share:.0f} %" for share in (split.share, 1 - split.share)),
            *(f"−{100 * share:.0f} %" for share in (split.share / 2, 0.5)),
            split.advice,
        )
        for split in document.splits
    )
    return Table("Variance of a model's mean (median of the models)", columns, rows)


def _better(metric: MetricRow) -> str:
    """Direction as it applies to the numbers in the file: a negative logarithm turns it around."""
    lower = (metric.direction == "lower") != (metric.transform == "neg_log")
    return ("lower" if lower else "higher") + ("" if metric.declared else " (assumed)")


def _model_table(found: Inspection) -> Table:
    rows = tuple((model.name, f"{model.samples:,}", f"{model.only_here:,}") for model in found.models)
    columns = (Column("model", "left"), Column("samples"), Column("no other\nmodel has"))
    return Table("Samples by model", columns, rows)


def _problem_line(problem: Problem) -> Line:
    parts = [problem.what]
    parts += [f"found: {problem.found}"] if problem.found else []
    parts += [f"hint: {problem.hint}"] if problem.hint else []
    label = "Error:" if problem.severity == "error" else "Warning:"
    return Line("\n".join(parts), label, "red" if problem.severity == "error" else "yellow")
