"""From a table to the answer of the question asked."""

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
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.task_scale import on_task_scale

__all__ = ["copa"]

_STUDIES_BY_QUESTION: dict[str, Callable[[CopaRequest], CopaBase]] = {
    "why": explain_requested_model,
    "sweep": sweep_requested_weight,
    "sweep_p": sweep_norm,
    "compare": compare_with_scalarizations,
}


def copa(table: ScoreTable, settings: CopaSettings, runtime: Runtime = HERE) -> CopaBase:
    """Rank models by objectives that have no common unit, such as accuracy, CO2 and price.

    Parameters
    ----------
    table : ScoreTable
        Read as the command needs it.
    settings : CopaSettings
    runtime : Runtime, optional
        One process is always enough.

    Returns
    -------
    CopaBase
        A :class:`CopaDocument`, or the document of the question asked.

    Raises
    ------
    InputError
        For missing scores that nobody treated, constraints no model meets, and values a scalarization
        asked for by name cannot divide by.
    UsageError
        For objectives without a direction, and names that are none.
    """
    if table.suite.specs:
        table = on_task_scale(table, SuiteSettings())
    asked = CopaRequest(table=table, settings=settings, objectives=build_objectives(table, settings))
    if settings.question is None:
        return rank_population(asked, runtime)
    return _STUDIES_BY_QUESTION[settings.question](asked)
