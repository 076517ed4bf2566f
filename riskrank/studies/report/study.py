"""Entry point of ``report``: ranking, pairs, risks and further analyses in one document."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from riskrank.engine.portfolio.risks import DEFAULT_LEVELS
from riskrank.errors import option, spell
from riskrank.options.option import changed_settings
from riskrank.options.values import contradict
from riskrank.scores.layouts.layout import SECTION, WarningText
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.checks import require_distributions
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.study import copa
from riskrank.studies.document import Document, Provenance
from riskrank.studies.dominance.study import DominanceDocument, dominance
from riskrank.studies.gsd.study import GsdDocument, gsd
from riskrank.studies.judge.section import refuse_options_with_judge
from riskrank.studies.mrm.study import MeanRiskDocument, mrm
from riskrank.studies.rank.document import RankDocument, RankRow
from riskrank.studies.rank.means import MeanRankDocument, rank_by_means
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.study import rank_by_dominance
from riskrank.studies.report.options import ReportSettings
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.wording import join_names

# Titles of the parts that are studies, by the attribute of the document.
CHAPTERS = {
    "ranking": "Ranking",
    "pairs": "Pairs",
    "risks": "Mean and risk",
    "methods": "Other methods",
    "metrics": "Metric by metric",
    "statistics": "Statistics",
    "by_group": "Groups",
    "relation": "Generalized stochastic dominance",
    "choice": "Choice without a common unit",
}
# JSON names that differ from the attribute.
_JSON_NAMES = {"by_group": "groups", "relation": "gsd", "choice": "copa"}


@dataclass(frozen=True, kw_only=True)
class ReportDocument(Document[RankRow], schema="report"):
    """A ranking with its supporting analyses; the rows are those of the ranking.

    Attributes
    ----------
    ranking : RankDocument
        Result of ``rank``.
    pairs : DominanceDocument
        Direct dominance of all pairs.
    risks : MeanRiskDocument
        Result of ``mrm``.
    methods : RankDocument or None
        Rankings by all methods on all portfolios, without tests, or None if there is one metric.
    metrics : RankDocument or None
        Separate rankings on each metric, without tests, or None if there is one metric.
    statistics : MeanRankDocument or None
        Rankings by single statistics, or None unless requested.
    relation : GsdDocument or None
        Generalized stochastic dominance, or None unless requested.
    choice : CopaDocument or None
        Choice by COPA, or None unless requested.
    by_group : RankDocument or None
        Ranking in each group of samples, or None unless requested.
    title : str
        Title of the report.
    """

    ranking: RankDocument
    pairs: DominanceDocument
    risks: MeanRiskDocument
    methods: RankDocument | None
    metrics: RankDocument | None
    statistics: MeanRankDocument | None
    relation: GsdDocument | None
    choice: CopaDocument | None
    by_group: RankDocument | None
    title: str

    @property
    def parts(self) -> Mapping[str, Document]:
        """Documents of the report by their names in the JSON output."""
        documents = {_JSON_NAMES.get(name, name): getattr(self, name) for name in CHAPTERS}
        return {name: document for name, document in documents.items() if document is not None}

    @property
    def certainty(self) -> str:
        """Label for how certain the ranking's best model is, such as "tied"."""
        return self.ranking.certainty

    @property
    def meaning(self) -> str:
        """Explanation of the label in `certainty`."""
        return self.ranking.meaning

    @property
    def question(self) -> str:
        """Title of the report."""
        return self.title

    def meta(self) -> Mapping[str, Any]:
        """Return the JSON object ``meta``: the results of the ranking, and all other parts in full."""
        parts = {name: _describe_part(part) for name, part in self.parts.items() if name != "ranking"}
        return {**self.ranking.meta_entries(), "title": self.title, "parts": parts}


def _describe_part(part: Document) -> dict[str, Any]:
    """Return a part of the report as a dictionary for the JSON output, with its settings and results."""
    origin, columns = part.provenance, part.stored_columns()
    return {
        "schema": f"riskrank/{part.schema}",
        "seed": origin.seed,
        "resamples": origin.resamples,
        "settings": dict(origin.settings),
        "method": dict(origin.method),
        "verdict": spell(part.verdict, flags=True) or None,
        **part.meta_entries(),
        "results": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    }


# Ranks by every method, without tests.
_EVERY_METHOD = RankSettings(all_methods=True, no_test=True)


def report(table: ScoreTable, settings: ReportSettings, runtime: Runtime = SERIAL) -> ReportDocument:
    """Combine ranking, pairwise dominance, mean-risk models and a comparison of methods in one document.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : ReportSettings
        Options of ``report``.
    runtime : Runtime, optional
        Worker processes and progress display.

    Returns
    -------
    ReportDocument

    Raises
    ------
    InputError
        If tests are requested with fewer than 10 samples.
    UsageError
        If a requested part does not apply to the table.
    """
    refuse_options_with_judge(table, settings)
    require_distributions(table, "report")
    if settings.gsd and not table.paired:
        contradict(option("gsd", True), option("unpaired", True))
    grouped, table = table, replace(table, groups=None, group_names=())
    # COPA comes first, because it refuses bad input before the slow bootstrap.
    choice = copa(table, settings.choice, runtime) if settings.copa else None
    assert choice is None or isinstance(choice, CopaDocument)
    grouped_ranking = rank_by_dominance(grouped, settings.ranking, runtime)
    # The ranking of all samples, without groups.
    rows = [row for row in grouped_ranking.rows if row.group is None]
    ranking = replace(grouped_ranking, groups=None, rows=rows)
    has_several_metrics, pair = len(table.metrics) > 1, ranking.leader.pair if ranking.leaders else None
    # Levels of the tail risks, none of which may be below the tail level of the ranking.
    smallest = ranking.leader.study.dominance.estimates.tail_level
    usable = tuple(level for level in DEFAULT_LEVELS if level >= smallest - 1e-9)
    levels = () if usable == DEFAULT_LEVELS else usable or (smallest,)
    single = replace(settings.ranking, on=settings.on)
    parts: dict[str, Any] = {
        "pairs": replace(dominance(table, settings.pairs, runtime), pair=pair),
        "risks": mrm(table, replace(settings.risks, level=levels), runtime),
        "methods": rank_by_dominance(table, _EVERY_METHOD, runtime) if has_several_metrics else None,
        "metrics": _rank_every_metric(table, runtime) if has_several_metrics else None,
        "statistics": rank_by_means(table, single) if single.on else None,
        "relation": gsd(table, settings.relation, runtime) if settings.gsd else None,
        "choice": choice,
        "by_group": None if grouped_ranking.groups is None else grouped_ranking,
    }
    # All parts of a page are about the same named models.
    parts = {name: part and replace(part, named=ranking.named) for name, part in parts.items()}
    metrics = join_names(ranking.provenance.metric_names)
    criterion = f"on {metrics}" if ranking.judged is None else f"by human labels ({metrics})"
    title = settings.title or f"Which of {len(table.models)} models is best {criterion}?"
    return ReportDocument(
        provenance=_provenance(ranking, settings, table, **parts),
        rows=ranking.rows,
        verdict=grouped_ranking.verdict,
        named=ranking.named,
        quotes=ranking.quotes,
        ranking=ranking,
        title=title,
        **parts,
    )


def _rank_every_metric(table: ScoreTable, runtime: Runtime) -> RankDocument:
    """Rank models by second-order dominance on each metric separately, without weights or tests."""
    unweighted = replace(table, options=replace(table.options, weight={}))
    document = rank_by_dominance(unweighted, RankSettings(per_metric=True, no_test=True, order=2), runtime)
    is_ssd = [name.startswith("R-SSD@") for name in document.study.rankings]
    rankings = {
        name: ranking for name, ranking in document.study.rankings.items() if name.startswith("R-SSD@")
    }
    study = replace(document.study, rankings=rankings, agreement=document.study.agreement[is_ssd][:, is_ssd])
    return replace(document, rows=[row for row in document.rows if row.method in rankings], study=study)


def _provenance(
    ranking: RankDocument, settings: ReportSettings, table: ScoreTable, **parts: Any
) -> Provenance:
    """Return the provenance of the report, based on that of the ranking.

    `parts` has the documents of the other parts by name.
    """
    chapters = {name: getattr(settings, name) for name in ("gsd", "copa")}
    return replace(
        ranking.provenance,
        command="report",
        settings=changed_settings(settings, table.options),
        method={**ranking.provenance.method, **chapters},
        warnings=_warnings(table, {"ranking": ranking, **parts}),
    )


def _warnings(table: ScoreTable, parts: Mapping[str, Document | None]) -> list[str]:
    """Return each distinct warning of the parts.

    A warning starts with the names of its parts, unless it comes from the table or the ranking.
    """
    chapters_of: dict[str, list[str]] = {}
    for name, part in parts.items():
        # The part on other methods names the methods that it shows.
        for line in () if part is None or name == "methods" else part.provenance.warnings:
            chapters_of.setdefault(line, []).append(CHAPTERS[name])
    return [
        line
        if line in table.warnings or CHAPTERS["ranking"] in chapters
        else WarningText(f"part {join_names(list(dict.fromkeys(chapters)))}: {line}", SECTION)
        for line, chapters in chapters_of.items()
    ]
