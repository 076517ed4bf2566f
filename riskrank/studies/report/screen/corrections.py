"""The tests behind a ranking: how they are corrected for their number, and why two kinds count otherwise."""

from collections.abc import Iterator

import numpy as np

from riskrank.shown.view import Line
from riskrank.studies.dominance.screen import detail as dominance
from riskrank.studies.dominance.screen.detail import CORRECTIONS
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.screen.summaries import leading
from riskrank.studies.report.study import ReportDocument


def corrected(ranking: RankDocument, _: ReportDocument) -> str:
    """Which correction, over what, at which level."""
    inference, k = ranking.inference, len(ranking.provenance.models)
    if not inference.test:
        return "nothing was tested"
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    return f"{rule} over all pairs of {k} models, level {inference.family.level(1):g}"


def corrections(document: RankDocument, _: ReportDocument) -> list[Line]:
    """The family of the ranking's tests."""
    metric, _method = leading(document)
    study, models = document.study.studies[metric].dominance, document.provenance.models
    return [dominance.inference_line(study, document.inference, models, document.study.columns[metric])]


def two_counts(document: ReportDocument) -> Iterator[Line]:
    """How many pairs each of the two tests tells apart, where these are not the same."""
    metric, method = leading(document.ranking)
    counted = document.ranking.study.studies[metric].separations.get(method)
    direct = document.pairs.by_column[0].study.tests[-1]
    apart = int(np.triu(direct.dominates | direct.dominates.T, 1).sum())
    if counted is None or not document.ranking.inference.test or counted.separated == apart:
        return
    yield Line(
        f"{counted.separated} of {counted.pairs} pairs are told apart in the ranking, which asks who does "
        f"better against the field (relative claims), and {apart} in part Pairs, which compares two models "
        f"with each other alone (direct claims). {dominance.WHY_COUNTS_DIFFER}",
        "Two tests:",
    )
