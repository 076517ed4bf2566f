"""Hidden risks in a report: a row a model that another of no larger mean beats in the tail."""

from __future__ import annotations

import numpy as np

from riskrank.engine.dominance.hidden_risk import NONE, RISK
from riskrank.shown import numbers
from riskrank.shown.means import in_words
from riskrank.shown.view import Cell, Line, Section, Table, headed
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.screen.detail import mean_decimals, percent, risk_lines
from riskrank.studies.report.screen.summaries import leading
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.rounding import rounded
from riskrank.studies.tails import bad_cases


def hidden_risks(document: RankDocument, _: ReportDocument) -> list[Section]:
    """A row a model that another of no larger mean beats in the tail."""
    metric, _method = leading(document)
    study, models = document.study.studies[metric], document.provenance.models
    risks = study.hidden_risks
    if risks is None:
        return [*risk_lines(document, metric)]
    if not bad_cases(study.dominance.estimates.tail_level):
        return [Line("not looked for: a tail would hold more than half of the scores.", "Hidden risks:")]
    level = percent(study.dominance.estimates.tail_level)
    words: list[Section] = [
        Line(
            f"A hidden risk is a model with a mean at least as high as another's that comes before it, and a "
            f"significantly worse mean of its worst {level}. Sorting by the mean would not show it."
        )
    ]
    shown = np.flatnonzero(risks.status != NONE).tolist()
    if not shown or document.worse_cases.get(metric) is not None:
        words += risk_lines(document, metric)
    if not shown:
        return words
    tail, decimals = document.tails[metric], mean_decimals(document, metric)
    mean = [rounded(value, decimals) for value in document.units[metric].of(risks.mean).tolist()]
    rows = []
    for i in sorted(shown, key=lambda i: (risks.status[i] != RISK, risks.p_adjusted[i], i)):
        other, proven = int(risks.against[i]), risks.status[i] == RISK
        rows.append(
            (
                models[i],
                Cell("hidden risk", "yellow") if proven else Cell(str(risks.status[i]), "dim"),
                mean[i],
                tail.of(i),
                models[other],
                mean[other],
                tail.of(other),
                numbers.p_value(float(risks.p_adjusted[i])),
            )
        )
    columns = (
        *headed("model", "verdict", right=("mean", f"worst\n{level}")),
        *headed("against", right=("its\nmean", f"its worst\n{level}", "p")),
    )
    return [*words, Table(f"Hidden risks on {in_words(metric)}", columns, tuple(rows))]
