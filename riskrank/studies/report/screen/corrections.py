"""The tests behind a ranking: how they are corrected for their number, and why two kinds count otherwise."""

from collections.abc import Iterator

import numpy as np

from riskrank.shown.means import CORRECTIONS, inference_line
from riskrank.shown.view import Line, Section, Table, headed
from riskrank.studies.dominance.screen.detail import WHY_COUNTS_DIFFER
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.screen.summaries import leading
from riskrank.studies.report.study import CHAPTERS, ReportDocument

BAD_CASES, DIFFERENCES = "Bad cases and hidden risks", "Differences by metric"


def corrected(ranking: RankDocument, whole: ReportDocument) -> str:
    """In how many families of how many claims tests are corrected, and at which level."""
    inference, found = ranking.inference, _families(ranking, whole)
    if not inference.test:
        return "nothing was tested"
    counts, level = [claims for _, claims, *_ in found], f"level {inference.family.level(1):g}"
    sizes = f"{min(counts):,} to {max(counts):,}"
    return f"{found[0][2]}, {level} within each of {len(found)} families of {sizes} claims"


def corrections(document: RankDocument, whole: ReportDocument) -> list[Section]:
    """All families of tests, and how those of the ranking were made."""
    metric, _method = leading(document)
    study, models = document.study.studies[metric].dominance, document.provenance.models
    line = inference_line(study, document.inference, models, document.study.columns[metric])
    if not document.inference.test:
        return [line]
    heads = headed("claims", right=("number",)) + headed("correction", "part")
    rows = tuple((what, f"{claims:,}", how, part) for what, claims, how, part in _families(document, whole))
    return [Table("Families of claims, each corrected by itself", heads, rows), line]


def _families(ranking: RankDocument, whole: ReportDocument) -> list[tuple[str, int, str, str]]:
    """What is claimed, how many such claims there are, how they are corrected, and the part they stand in."""
    one, k, m = next(iter(ranking.leading.values())), len(ranking.provenance.models), len(ranking.means)
    rule = CORRECTIONS[ranking.inference.family.correction]
    own, ordered = "the paper's k² rule" if ranking.inference.paper_exact else rule, k * (k - 1)
    found = [("each order against the field", ordered, own, CHAPTERS["ranking"])]
    if whole.pairs.inference.test:
        found.append(("each order in pairs", ordered, own, CHAPTERS["pairs"]))
    difference = one.found.effects[one.method].mean_difference
    if difference.p_value is not None:
        found.append(("mean scores", ordered // 2, "all together", CHAPTERS["ranking"]))
        found.append(("bad cases", ordered // 2, "all together", BAD_CASES))
    if (risks := one.found.hidden_risks) is not None:
        found.append(("hidden risks", risks.claims, rule, BAD_CASES))
    if (held := one.recommendation) is not None and m > 1:
        found.append(("means of single metrics", len(one.others) * m, rule, DIFFERENCES))
        if held.leader.tails is not None:
            found.append(("bad cases on single metrics", len(one.others) * m, rule, BAD_CASES))
    if ranking.suite is not None and ranking.suite.tested:
        found.append(("pairs on single tasks", ordered // 2 * len(ranking.suite.names), rule, "Tasks"))
    return found


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
        f"with each other alone (direct claims). {WHY_COUNTS_DIFFER}",
        "Two tests:",
    )
