"""Score tables for the metrics of a study, each with the samples that were scored on the metric."""

from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from riskrank.engine.types import Names
from riskrank.errors import InputError, option
from riskrank.options.baseline import BASELINE
from riskrank.options.reading import ReadOptions
from riskrank.options.values import contradict
from riskrank.scores.files.guards import reject_too_many
from riskrank.scores.files.source import Paths
from riskrank.scores.table.baseline import read_baseline
from riskrank.scores.table.overlap import compare_with_baseline
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.score_table import ScoreTable, checked_table, require_testable_table
from riskrank.scores.table.scores import Scores, select


def read_selected(
    paths: Paths, options: ReadOptions, stdin: BinaryIO | None = None, *, baseline: str | None = None
) -> Scores:
    """Read the requested models and metrics, and those of a baseline, without checking them.

    Parameters
    ----------
    paths, options, stdin
        See `read_scores`.
    baseline : str, optional
        Path of the baseline.
    """
    saved = None if baseline is None else read_baseline(baseline, options.max_bytes)
    if saved is not None and options.corrects_judge:
        contradict(option("judge", options.judge), option("baseline", saved.path))
    scores = read_frame(paths, options, stdin, baseline=saved, check=require_testable_table)
    models = scores.options.models
    if saved is not None and models and BASELINE not in models:
        scores = scores.with_options(models=(*models, BASELINE))
    return select(scores)


def tables_by_metric(scores: Scores, *, choose: Callable[[Names], Names]) -> tuple[ScoreTable, ...]:
    """Return tables of some metrics, each with the samples that were scored on the metric.

    Parameters
    ----------
    scores : Scores
        Result of `read_selected`.
    choose : callable
        Selects from the available metrics. The other metrics are not checked.

    Returns
    -------
    tuple of ScoreTable
        One table of all metrics if they share their samples; otherwise one per metric, with the same models.
    """
    options = scores.notes.resolved
    if options.corrects_judge:
        choose((str(options.human),))
        from riskrank.scores.table.judge_calibration import calibrate_judge

        return (calibrate_judge(checked_table(scores), options),)
    names = tuple(choose(scores.metrics))
    reject_too_many(scores.file_names(), "metric", names)
    if options.missing == "auto" and scores.has_role("noise"):  # a level may lack some samples
        options, scores = replace(options, missing="error"), scores.with_options(missing="error")
    scores = compare_with_baseline(scores, names)

    def build(*metrics: str) -> ScoreTable:
        return replace(checked_table(scores.with_options(metric=metrics)), options=options)

    try:
        return (build(*names),)
    except InputError as error:
        if len(names) < 2:
            from riskrank.scores.table.suggestions import verify_on_scores

            raise verify_on_scores(error, scores, checked_table, read_frame) from None
        tables = tuple(map(build, names))
        if any(table.models != tables[0].models for table in tables):
            raise
        return tables
