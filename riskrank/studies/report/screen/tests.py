"""Sections of a report on its tests: correction for multiple comparisons, and detection limits."""

from collections.abc import Iterator

import numpy as np

from riskrank.render.mean_tables import CORRECTIONS, inference_line
from riskrank.render.view import Line, Section
from riskrank.studies.detectable_difference import detectable_by_metric
from riskrank.studies.dominance.screen.detail import WHY_COUNTS_DIFFER
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import counted, detection_limit_sentence, format_percent

# Meaning of the smallest detectable difference (method §15).
_POWER = "with power 80 %, tests of as many samples detect"


def limit_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """Yield lines on effects that are too small or too rare to detect, and on general limitations."""
    scores, study = ranking.leader.scores, ranking.leader.study.dominance.estimates
    tail = counted(max(round(study.tail_level * study.samples), 1), "sample")
    yield from _detectable_difference_line(ranking)
    rare = detection_limit_sentence(scores.min_effective_size, scores.unit_name)
    yield Line(
        f"{rare} An event that did not occur in n independent samples has a probability of at most about "
        "3/n, with 95 % confidence."
    )
    yield Line(
        f"The mean of the worst {format_percent(study.tail_level)} averages about {tail} per model. It "
        "cannot describe rarer events."
    )
    yield Line(
        "Tests and intervals generalise to samples like these. They say nothing about other tasks, other "
        "users, or a metric that measures the wrong thing."
    )


def _detectable_difference_line(ranking: RankDocument) -> Iterator[Line]:
    """Yield a line with the minimum detectable differences between the verdict's two models, by metric."""
    leader, models, metrics = ranking.leader, ranking.provenance.models, [mean.name for mean in ranking.means]
    if leader.recommendation is None:
        return
    detectable = leader.contrasts.detectable_differences(ranking.inference.family)[leader.rival]
    if differences := detectable_by_metric(
        ranking.means, dict(zip(metrics, detectable.tolist(), strict=True))
    ):
        yield Line(differences, f"For {models[leader.first]} and {models[leader.rival]}, {_POWER}")


_FAMILIES = (
    "each family covers all pairs of models for one question: one order of dominance, relative to the field "
    "or direct; means of single metrics, better or worse; bad cases on single metrics; hidden risks; all "
    "single tasks; macro means, on these tasks, on tasks like these, and without each task."
)


def correction_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return a description of the correction for multiple comparisons and the significance level."""
    inference = ranking.inference
    if not inference.test:
        return "no tests"
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    return f"{rule}, level {inference.family.interval_level(1):g} within each family of claims, none across"


def correction_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield lines on the families of tests and on the tests of the ranking."""
    if ranking.inference.test:
        yield Line(_FAMILIES, "Families:")
    if ranking.judged:
        text = "a separate test checks whether they were randomly chosen, and may lead to a warning."
        yield Line(text, "Labels:")
    study, models = ranking.leader.study.dominance, ranking.provenance.models
    yield inference_line(study, ranking.inference, models, ranking.leader.scores)


def count_difference_lines(document: ReportDocument) -> Iterator[Line]:
    """Yield a line that explains why relative and direct tests separate different numbers of pairs."""
    leader = document.ranking.leader
    counted = leader.study.separations.get(leader.method)
    direct = document.pairs.by_column[0].study.tests[-1]
    order = "first" if direct.claim.order == 1 else "second"
    separated = int(np.triu(direct.dominates | direct.dominates.T, 1).sum())
    if counted and document.ranking.inference.test and counted.separated != separated:
        yield Line(
            f"the ranking separates {counted.separated} of {counted.pairs} pairs by comparing each model "
            f"with the field (relative claims). Part Pairs separates {separated} by {order}-order dominance "
            f"between two models alone (direct claims). {WHY_COUNTS_DIFFER}",
            "Two tests:",
        )
