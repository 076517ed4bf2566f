"""Tests behind a report: correction for multiple comparisons, and limits of detection."""

from collections.abc import Iterator

import numpy as np

from riskrank.render.mean_tables import CORRECTIONS, inference_line
from riskrank.render.view import Line, Section
from riskrank.studies.detectable_difference import shown_by_metric
from riskrank.studies.dominance.screen.detail import WHY_COUNTS_DIFFER
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import counted, percent, unseen

# Meaning of the smallest detectable difference (method §15).
_OFTEN = "tests of as many samples would find 4 times in 5"


def limit_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """Yield lines on effects that are too small or too rare to detect, and on limits of any sample."""
    scores, study = ranking.lead.scores, ranking.lead.found.dominance.estimates
    tail = counted(max(round(study.tail_level * study.samples), 1), "sample")
    yield from _detectable_difference_line(ranking)
    rare = unseen(scores.effective_size, scores.unit)
    yield Line(
        f"{rare} What never happened in n independent samples may still happen in up to about 3 in n of all "
        "cases, with 95 % confidence."
    )
    yield Line(
        f"The mean of the worst {percent(study.tail_level)} is a mean of about {tail} of each model; what is "
        "rarer than that, no row here tells."
    )
    yield Line(
        "Tests and intervals speak of samples like these. They say nothing about other tasks, other "
        "users, or a metric that misses what matters."
    )


def _detectable_difference_line(ranking: RankDocument) -> Iterator[Line]:
    """The smallest differences on single metrics that tests would mostly show of the verdict's two models."""
    leader, models, metrics = ranking.lead, ranking.provenance.models, [mean.name for mean in ranking.means]
    if leader.recommendation is None:
        return
    detectable = leader.contrasts.visible(ranking.inference.family)[leader.other]
    if differences := shown_by_metric(ranking.means, dict(zip(metrics, detectable.tolist(), strict=True))):
        yield Line(differences, f"Of {models[leader.first]} and {models[leader.other]}, {_OFTEN}")


_FAMILIES = (
    "each is all pairs of models and one question: an order of dominance against the field, or of two models "
    "with each other alone; means of single metrics, better or worse; bad cases on them; hidden risks; all "
    "single tasks; macro means, on these tasks, on tasks like these, and without each task."
)


def correction_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return the correction for multiple comparisons and its significance level."""
    inference = ranking.inference
    if not inference.test:
        return "nothing was tested"
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    return f"{rule}, level {inference.family.level(1):g} within each family of claims, none across them"


def correction_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield lines on the families of tests, and on the tests of the ranking."""
    if ranking.inference.test:
        yield Line(_FAMILIES, "Families:")
    if ranking.judged:
        yield Line("whether they were drawn by chance is tested beside all this, as warnings say.", "Labels:")
    study, models = ranking.lead.found.dominance, ranking.provenance.models
    yield inference_line(study, ranking.inference, models, ranking.lead.scores)


def count_difference_lines(document: ReportDocument) -> Iterator[Line]:
    """Yield a line that explains why relative and direct tests separate different numbers of pairs."""
    leader = document.ranking.lead
    counted = leader.found.separations.get(leader.method)
    direct = document.pairs.by_column[0].study.tests[-1]
    order = "first" if direct.claim.order == 1 else "second"
    separated = int(np.triu(direct.dominates | direct.dominates.T, 1).sum())
    if counted and document.ranking.inference.test and counted.separated != separated:
        yield Line(
            f"{counted.separated} of {counted.pairs} pairs are told apart in the ranking, which asks who "
            f"does better against the field (relative claims), and {separated} by {order} order in part "
            f"Pairs, which compares two models with each other alone (direct claims). {WHY_COUNTS_DIFFER}",
            "Two tests:",
        )
