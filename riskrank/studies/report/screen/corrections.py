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
    counts, rules = [claims for _, claims, *_ in found], " or ".join({how: 0 for *_, how, _ in found})
    sizes, families = f"{min(counts):,} to {max(counts):,}", sum(number for *_, number, _, _ in found)
    return f"{rules}, {level} within each of {families} families of {sizes} claims, none across them"


def corrections(ranking: RankDocument, whole: ReportDocument) -> Iterator[Section]:
    """All families of tests, and how those of the ranking were made."""
    if ranking.inference.test:
        heads = headed("claims", right=("families", "claims in each")) + headed("correction", "part")
        found = _families(ranking, whole)
        rows = tuple((what, f"{families:,}", f"{claims:,}", *how) for what, claims, families, *how in found)
        yield Table("Families of claims, each corrected by itself, nothing across them", heads, rows)
    if ranking.judged:
        yield Line("whether they were drawn by chance is tested beside all this, as warnings say.", "Labels:")
    study, models = ranking.lead.found.dominance, ranking.provenance.models
    yield inference_line(study, ranking.inference, models, ranking.lead.scores)


def _families(ranking: RankDocument, whole: ReportDocument) -> list[tuple[str, int, int, str, str]]:
    """What is claimed, how many claims are how many families, how they are corrected, and in which part."""
    one, k, suite = ranking.lead, len(ranking.provenance.models), ranking.suite
    rule, pairs = CORRECTIONS[ranking.inference.family.correction], k * (k - 1) // 2
    all_metrics = len(one.others) * len(ranking.means)
    own = "the paper's k² rule" if ranking.inference.paper_exact else rule
    resampled = one.found.effects[one.method].mean_difference.p_value is not None
    risks = one.found.hidden_risks.claims if one.found.hidden_risks else 0
    several, tasks = len(ranking.means) > 1, len(suite.names) if suite and suite.tested else 0
    on_tasks = suite.columns[one.column] if suite and tasks else None
    direct, scopes = whole.pairs.by_column[0].study.tests, on_tasks.scopes if on_tasks else ()
    without = on_tasks is not None and on_tasks.left_out is not None
    macro = f"macro means, these tasks{' or tasks like these' * (len(scopes) > 1)}"
    ahead, behind = "means of single metrics, better or worse", "bad cases on single metrics, milder"
    found = [
        ("orders against the field", 2 * pairs, len(one.found.dominance.tests), own, CHAPTERS["ranking"]),
        ("orders in pairs", 2 * pairs, len(direct) * whole.pairs.inference.test, own, CHAPTERS["pairs"]),
        ("mean scores", pairs, resampled, "all together", CHAPTERS["ranking"]),
        ("bad cases", pairs, resampled, "all together", BAD_CASES),
        ("hidden risks", risks, bool(one.found.hidden_risks), rule, BAD_CASES),
        (ahead, all_metrics, 2 * (several and bool(one.recommendation)), rule, DIFFERENCES),
        (behind, all_metrics, several and bool(one.metric_tails), rule, BAD_CASES),
        ("pairs on single tasks", pairs * tasks, bool(tasks), rule, "Tasks"),
        (macro, 2 * pairs, len(scopes), rule, "Tasks"),
        ("macro means without each task", 2 * pairs, tasks * without, rule, "Tasks"),
    ]
    return [(what, claims, int(made), how, part) for what, claims, made, how, part in found if made]


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
