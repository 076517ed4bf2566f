"""The tests behind a report: how they are corrected for their number, and what samples could not show."""

from collections.abc import Iterator

import numpy as np

from riskrank.render.mean_tables import CORRECTIONS, inference_line
from riskrank.render.view import Line, Section
from riskrank.studies.detectable_difference import shown_by_metric
from riskrank.studies.dominance.screen.detail import WHY_COUNTS_DIFFER
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import counted, percent, unseen

# What the smallest difference means that samples could have shown (method §15).
_OFTEN = "tests of as many samples would find 4 times in 5"


def not_shown(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """What is too small or too rare for these samples, and what no sample tells."""
    scores, study = ranking.lead.scores, ranking.lead.found.dominance.estimates
    tail = counted(max(round(study.tail_level * study.samples), 1), "sample")
    yield from _of_the_pair(ranking)
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


def _of_the_pair(ranking: RankDocument) -> Iterator[Line]:
    """The smallest differences on single metrics that tests would mostly show of the verdict's two models."""
    one, models, metrics = ranking.lead, ranking.provenance.models, [mean.name for mean in ranking.means]
    if one.recommendation is None:
        return
    seen = one.contrasts.visible(ranking.inference.family)[one.other]
    if told := shown_by_metric(ranking.means, dict(zip(metrics, seen.tolist(), strict=True))):
        yield Line(told, f"Of {models[one.first]} and {models[one.other]}, {_OFTEN}")


_FAMILIES = (
    "each is all pairs of models and one question: an order of dominance against the field, or of two models "
    "with each other alone; means of single metrics, better or worse; bad cases on them; hidden risks; all "
    "single tasks; macro means, on these tasks, on tasks like these, and without each task."
)


def corrected(ranking: RankDocument, _: ReportDocument) -> str:
    """By which rule tests are corrected, and at which level."""
    inference = ranking.inference
    if not inference.test:
        return "nothing was tested"
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    return f"{rule}, level {inference.family.level(1):g} within each family of claims, none across them"


def corrections(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """What is a family of tests, and how those of the ranking were made."""
    if ranking.inference.test:
        yield Line(_FAMILIES, "Families:")
    if ranking.judged:
        yield Line("whether they were drawn by chance is tested beside all this, as warnings say.", "Labels:")
    study, models = ranking.lead.found.dominance, ranking.provenance.models
    yield inference_line(study, ranking.inference, models, ranking.lead.scores)


def two_counts(document: ReportDocument) -> Iterator[Line]:
    """How many pairs each of the two tests tells apart, where these are not the same."""
    one = document.ranking.lead
    counted = one.found.separations.get(one.method)
    direct = document.pairs.by_column[0].study.tests[-1]
    order = "first" if direct.claim.order == 1 else "second"
    apart = int(np.triu(direct.dominates | direct.dominates.T, 1).sum())
    if counted and document.ranking.inference.test and counted.separated != apart:
        yield Line(
            f"{counted.separated} of {counted.pairs} pairs are told apart in the ranking, which asks who "
            f"does better against the field (relative claims), and {apart} by {order} order in part "
            f"Pairs, which compares two models with each other alone (direct claims). {WHY_COUNTS_DIFFER}",
            "Two tests:",
        )
