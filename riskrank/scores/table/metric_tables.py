"""Tables of the metrics that claims are about, each on the samples it was scored on."""

from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from riskrank.engine.types import Names
from riskrank.errors import InputError, option
from riskrank.options.baseline import BASELINE
from riskrank.options.reading import ReadOptions
from riskrank.options.values import contradict
from riskrank.scores.files.limits import require_few
from riskrank.scores.files.source import Paths
from riskrank.scores.table.baseline import read_baseline
from riskrank.scores.table.overlap import compared
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.score_table import ScoreTable, checked_table
from riskrank.scores.table.scores import Scores, select


def read_selected(
    paths: Paths, options: ReadOptions, stdin: BinaryIO | None = None, *, baseline: str | None = None
) -> Scores:
    """Read the rows of models and metrics that were asked for, and those of a baseline; nothing is checked.

    Parameters
    ----------
    paths, options, stdin
        As for `read_scores`.
    baseline : str, optional
        Its file.
    """
    before = None if baseline is None else read_baseline(baseline, options.max_bytes)
    if before is not None and options.corrects_judge:
        contradict(option("judge", options.judge), option("baseline", before.path))
    scores = read_frame(paths, options, stdin, baseline=before)
    models = scores.options.models
    if before is not None and models and BASELINE not in models:
        scores = scores.asking(models=(*models, BASELINE))
    return select(scores)


def metrics_apart(scores: Scores, *, wanted: Callable[[Names], Names]) -> tuple[ScoreTable, ...]:
    """Tables of some metrics, each on the samples it was scored on.

    Parameters
    ----------
    scores : Scores
        As `read_selected` gives them.
    wanted : callable
        Chooses among the metrics there are; nothing is asked of the others.

    Returns
    -------
    tuple of ScoreTable
        One of all metrics if they were scored on the same samples, else one a metric, of the same models.
    """
    options = scores.notes.asked
    if options.corrects_judge:
        wanted((str(options.human),))
        from riskrank.scores.table.judge_calibration import corrected

        return (corrected(checked_table(scores), options),)
    names = tuple(wanted(scores.metrics))
    require_few(scores.files(), "metric", names)
    if options.missing == "auto" and scores.has("noise"):  # levels need not be crossed with all samples
        options, scores = replace(options, missing="error"), scores.asking(missing="error")
    scores = compared(scores, names)

    def table_of(*metrics: str) -> ScoreTable:
        return replace(checked_table(scores.asking(metric=metrics)), options=options)

    try:
        return (table_of(*names),)
    except InputError as error:
        if len(names) < 2:
            from riskrank.scores.table.suggestions import tried_on

            raise tried_on(error, scores, checked_table, read_frame) from None
        tables = tuple(map(table_of, names))
        if any(table.models != tables[0].models for table in tables):
            raise
        return tables
