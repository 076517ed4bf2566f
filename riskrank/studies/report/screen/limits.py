"""What the samples of a report could not show: in bad cases, of small differences, and of rare events."""

from collections.abc import Iterator

from riskrank.shown.view import Line
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.visible import shown_by_metric
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
