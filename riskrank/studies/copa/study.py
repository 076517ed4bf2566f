"""Entry point of ``copa``: compute the document that answers the requested question."""

from collections.abc import Callable

from riskrank.options.suites import SuiteSettings
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.copa.comparison import compare_with_scalarizations
from riskrank.studies.copa.document_base import CopaBase, CopaRequest
from riskrank.studies.copa.explanation import explain_requested_model
from riskrank.studies.copa.objectives import build_objectives
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.copa.ranking import rank_population
from riskrank.studies.copa.sweep import sweep_norm, sweep_requested_weight
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.task_scale import rescale_tasks

__all__ = ["copa"]

_STUDIES_BY_QUESTION: dict[str, Callable[[CopaRequest], CopaBase]] = {
    "why": explain_requested_model,
    "sweep": sweep_requested_weight,
    "sweep_p": sweep_norm,
    "compare": compare_with_scalarizations,
}


def copa(table: ScoreTable, settings: CopaSettings, runtime: Runtime = SERIAL) -> CopaBase:
    """Rank models by objectives that have no common unit, such as accuracy, CO2 and price.

    Parameters
    ----------
    table : ScoreTable
        Read with the reading options of ``copa``.
    settings : CopaSettings
    runtime : Runtime, optional
        Used for the progress display only; the study uses a single process.

    Returns
    -------
    CopaBase
        A :class:`CopaDocument`, or the document of ``why``, ``sweep``, ``sweep_p`` or ``compare``.

    Raises
    ------
    InputError
        If the ``missing`` rule does not handle missing scores, no model meets the constraints, or a
        scalarization requested by name would divide by zero.
    UsageError
        If an objective has no direction, or a name is unknown.
    """
    if table.suite.specs:
        table = rescale_tasks(table, SuiteSettings())
    request = CopaRequest(table=table, settings=settings, objectives=build_objectives(table, settings))
    if settings.question is None:
        return rank_population(request, runtime)
    return _STUDIES_BY_QUESTION[settings.question](request)
