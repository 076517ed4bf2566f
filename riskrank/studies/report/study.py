"""Everything a decision meeting needs in one document: the study behind ``report``, made of the others."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from riskrank.engine.portfolio.risks import DEFAULT_LEVELS
from riskrank.errors import option, spell
from riskrank.options.option import told
from riskrank.options.values import contradict
from riskrank.scores.layouts.layout import CHAPTER, Warned
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.study import copa
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import Document, Provenance
from riskrank.studies.dominance.study import DominanceDocument, dominance
from riskrank.studies.gsd.document import GsdDocument
from riskrank.studies.gsd.study import gsd
from riskrank.studies.judge.section import refuse_with_judge
from riskrank.studies.mrm.study import MeanRiskDocument, mrm
from riskrank.studies.rank.document import RankDocument, RankRow
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.study import rank_by_dominance
from riskrank.studies.report.options import ReportSettings
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.wording import names

CHAPTERS = {
    "ranking": "Ranking",
    "pairs": "Pairs",
    "risks": "Mean and risk",
    "methods": "Other methods",
    "metrics": "Metric by metric",
    "by_group": "Groups",
    "relation": "Generalized stochastic dominance",
    "choice": "Choice without a common unit",
}
"""Names of the chapters that are studies of their own, by their place in the document."""
# What JSON calls them, where it is something else.
_WRITTEN = {"by_group": "groups", "relation": "gsd", "choice": "copa"}


@dataclass(frozen=True, kw_only=True)
class ReportDocument(Document[RankRow], schema="report"):
    """A ranking with all that stands around it; its rows are those of the ranking.

    Attributes
    ----------
    ranking : RankDocument
    pairs : DominanceDocument
        Direct dominance of all pairs.
    risks : MeanRiskDocument
    methods : RankDocument or None
        Every method on every portfolio, statistics only; None where there is one metric.
    metrics : RankDocument or None
        Every metric on its own, statistics only; None where there is one metric.
    relation : GsdDocument or None
    choice : CopaDocument or None
    by_group : RankDocument or None
        The ranking in each group of samples; these three are None where they were not asked for.
    title : str
    """

    ranking: RankDocument
    pairs: DominanceDocument
    risks: MeanRiskDocument
    methods: RankDocument | None
    metrics: RankDocument | None
    relation: GsdDocument | None
    choice: CopaDocument | None
    by_group: RankDocument | None
    title: str

    @property
    def parts(self) -> Mapping[str, Document]:
        """Documents it is made of, by name; those that are there."""
        found = {_WRITTEN.get(name, name): getattr(self, name) for name in CHAPTERS}
        return {name: document for name, document in found.items() if document is not None}

    @property
    def certainty(self) -> str:
        """How sure the ranking is."""
        return self.ranking.certainty

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of a row's fields, those of the ranking."""
        return self.ranking.fields

    @property
    def question(self) -> str:
        """The title it was given."""
        return self.title

    def meta(self) -> Mapping[str, Any]:
        """What the ranking says of itself, and the other parts whole."""
        parts = {name: _described(part) for name, part in self.parts.items() if name != "ranking"}
        return {**self.ranking.described(), "title": self.title, "parts": parts}


def _described(part: Document) -> dict[str, Any]:
    origin, columns = part.provenance, part.written()
    return {
        "schema": f"riskrank/{part.schema}",
        "seed": origin.seed,
        "resamples": origin.resamples,
        "settings": dict(origin.settings),
        "method": dict(origin.method),
        "verdict": spell(part.verdict, flags=True) or None,
        **part.described(),
        "results": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    }


# Ranks by every method: an order needs no test.
_EVERY_METHOD = RankSettings(all_methods=True, no_test=True)


def report(table: ScoreTable, settings: ReportSettings, runtime: Runtime = HERE) -> ReportDocument:
    """Put everything a decision meeting needs into one document: ranking, pairs, risks, agreement.

    Parameters
    ----------
    table : ScoreTable
    settings : ReportSettings
    runtime : Runtime, optional

    Returns
    -------
    ReportDocument

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    UsageError
        If a chapter asked for does not fit the table.
    """
    refuse_with_judge(table, settings)
    refuse_distributions(table, "report")
    if settings.gsd and not table.paired:
        contradict(option("gsd", True), option("unpaired", True))
    grouped, table = table, replace(table, groups=None, group_names=())
    # What is cheap to refuse comes first: nobody waits for a bootstrap to learn of a direction.
    choice = copa(table, settings.choice, runtime) if settings.copa else None
    assert choice is None or isinstance(choice, CopaDocument)
    found = rank_by_dominance(grouped, settings.ranking, runtime)
    # As if nobody had asked for groups.
    ranking = replace(found, groups=None, rows=[row for row in found.rows if row.group is None])
    several, pair = len(table.metrics) > 1, ranking.lead.pair if ranking.leading else None
    parts: dict[str, Any] = {
        "pairs": replace(dominance(table, settings.pairs, runtime), pair=pair),
        "risks": mrm(table, replace(settings.risks, level=_levels(ranking)), runtime),
        "methods": rank_by_dominance(table, _EVERY_METHOD, runtime) if several else None,
        "metrics": _every_metric(table, runtime) if several else None,
        "relation": gsd(table, settings.relation, runtime) if settings.gsd else None,
        "choice": choice,
        "by_group": None if found.groups is None else found,
    }
    # One page speaks of one model, in whatever chapter.
    parts = {name: part and replace(part, named=ranking.named) for name, part in parts.items()}
    metrics = names(ranking.provenance.metric_names)
    on = f"on {metrics}" if ranking.judged is None else f"by human labels ({metrics})"
    title = settings.title or f"Which of {len(table.models)} models is best {on}?"
    return ReportDocument(
        provenance=_provenance(ranking, settings, table, **parts),
        rows=ranking.rows,
        verdict=found.verdict,
        named=ranking.named,
        quotes=ranking.quotes,
        ranking=ranking,
        title=title,
        **parts,
    )


def _every_metric(table: ScoreTable, runtime: Runtime) -> RankDocument:
    """Ranks by every metric on its own, in which weights have no part; by second-order dominance only."""
    unweighted = replace(table, options=replace(table.options, weight={}))
    whole = rank_by_dominance(unweighted, RankSettings(per_metric=True, no_test=True, order=2), runtime)
    kept = [name.startswith("R-SSD@") for name in whole.study.rankings]
    rankings = {name: found for name, found in whole.study.rankings.items() if name.startswith("R-SSD@")}
    return replace(
        whole,
        rows=[row for row in whole.rows if row.method in rankings],
        study=replace(whole.study, rankings=rankings, agreement=whole.study.agreement[kept][:, kept]),
    )


def _levels(ranking: RankDocument) -> tuple[float, ...]:
    """Levels of tails where some of the usual ones are narrower than the tail that the ranking tells of."""
    least = ranking.lead.found.dominance.estimates.tail_level
    kept = tuple(level for level in DEFAULT_LEVELS if level >= least - 1e-9)
    return () if kept == DEFAULT_LEVELS else kept or (least,)


def _provenance(
    ranking: RankDocument, settings: ReportSettings, table: ScoreTable, **others: Any
) -> Provenance:
    chapters = {name: getattr(settings, name) for name in ("gsd", "copa")}
    return replace(
        ranking.provenance,
        command="report",
        settings=told(settings, table.options),
        method={**ranking.provenance.method, **chapters},
        warnings=_warnings(table, {"ranking": ranking, **others}),
    )


def _warnings(table: ScoreTable, parts: Mapping[str, Document | None]) -> list[str]:
    """Every warning once, what neither the table nor the ranking says behind the chapters it is about."""
    told: dict[str, list[str]] = {}
    for name, part in parts.items():
        for line in () if part is None else part.provenance.warnings:
            told.setdefault(line, []).append(CHAPTERS[name])
    return [
        line
        if line in table.warnings or CHAPTERS["ranking"] in where
        else Warned(f"part {names(list(dict.fromkeys(where)))}: {line}", CHAPTER)
        for line, where in told.items()
    ]
