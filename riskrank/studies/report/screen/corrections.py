"""The tests behind a ranking: how they are corrected for their number, and why two kinds count otherwise."""

from collections.abc import Iterator

import numpy as np

from riskrank.shown.means import CORRECTIONS, inference_line
from riskrank.shown.view import Line, Section, Table, headed
from riskrank.studies.dominance.screen.detail import WHY_COUNTS_DIFFER
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import CHAPTERS, ReportDocument

BAD_CASES, DIFFERENCES = "Bad cases and hidden risks", "Differences by metric"


def corrected(ranking: RankDocument, whole: ReportDocument) -> str:
    """In how many families of how many claims tests are corrected, and at which level."""
    if not ranking.inference.test:
        return "nothing was tested"
    found, level = _families(ranking, whole), f"level {ranking.inference.family.level(1):g}"
    counts = [claims for _, claims, *_ in found]
    sizes = f"{min(counts):,} to {max(counts):,}"
    return f"{found[0][2]}, {level} within each of {len(found)} families of {sizes} claims"


def corrections(ranking: RankDocument, whole: ReportDocument) -> Iterator[Section]:
    """All families of tests, and how those of the ranking were made."""
    if ranking.inference.test:
        heads = headed("claims", right=("number",)) + headed("correction", "part")
        rows = tuple((what, f"{claims:,}", *how) for what, claims, *how in _families(ranking, whole))
        yield Table("Families of claims, each corrected by itself", heads, rows)
    study, models = ranking.lead.found.dominance, ranking.provenance.models
    yield inference_line(study, ranking.inference, models, ranking.lead.scores)


def _families(ranking: RankDocument, whole: ReportDocument) -> list[tuple[str, int, str, str]]:
    """What is claimed, how many such claims there are, how they are corrected, and the part they stand in."""
    one, k, suite = ranking.lead, len(ranking.provenance.models), ranking.suite
    rule, pairs, all_metrics = (
        CORRECTIONS[ranking.inference.family.correction],
        k * (k - 1) // 2,
        len(one.others) * len(ranking.means),
    )
    own = "the paper's k² rule" if ranking.inference.paper_exact else rule
    resampled = one.found.effects[one.method].mean_difference.p_value is not None
    risks = one.found.hidden_risks.claims if one.found.hidden_risks else 0
    several, tasks = len(ranking.means) > 1, len(suite.names) if suite and suite.tested else 0
    found = [
        (True, "each order against the field", 2 * pairs, own, CHAPTERS["ranking"]),
        (whole.pairs.inference.test, "each order in pairs", 2 * pairs, own, CHAPTERS["pairs"]),
        (resampled, "mean scores", pairs, "all together", CHAPTERS["ranking"]),
        (resampled, "bad cases", pairs, "all together", BAD_CASES),
        (one.found.hidden_risks, "hidden risks", risks, rule, BAD_CASES),
        (several and one.recommendation, "means of single metrics", all_metrics, rule, DIFFERENCES),
        (several and one.metric_tails, "bad cases on single metrics", all_metrics, rule, BAD_CASES),
        (tasks, "pairs on single tasks", pairs * tasks, rule, "Tasks"),
    ]
    return [(what, claims, how, part) for made, what, claims, how, part in found if made]


def two_counts(document: ReportDocument) -> Iterator[Line]:
    """How many pairs each of the two tests tells apart, where these are not the same."""
    one = document.ranking.lead
    counted = one.found.separations.get(one.method)
    direct = document.pairs.by_column[0].study.tests[-1]
    apart = int(np.triu(direct.dominates | direct.dominates.T, 1).sum())
    if counted and document.ranking.inference.test and counted.separated != apart:
        yield Line(
            f"{counted.separated} of {counted.pairs} pairs are told apart in the ranking, which asks who "
            f"does better against the field (relative claims), and {apart} in part Pairs, which compares two "
            f"models with each other alone (direct claims). {WHY_COUNTS_DIFFER}",
            "Two tests:",
        )
