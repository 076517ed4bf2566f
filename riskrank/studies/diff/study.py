"""Compare two models case by case, over all samples or by group, for ``diff``.

The document holds every case, the counts of changes, and the findings with their sentences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from riskrank.engine.changes import Repeats, expected_losses, sign_test
from riskrank.engine.family import Answer
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans
from riskrank.errors import UsageError, option
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.metrics import contradicts_name
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.cases import (
    BETTER,
    WORSE,
    CaseComparison,
    CaseRow,
    add_texts,
    case_metrics,
    case_rows,
    compare_cases,
    sample_groups,
    sample_tasks,
)
from riskrank.studies.checks import require_distributions, resolve_pair
from riskrank.studies.diff.options import DiffSettings
from riskrank.studies.document import Document, attributes
from riskrank.studies.findings import Finding, Sentences, limit_warnings, sample_limits
from riskrank.studies.gate.claim import NOT_WORSE
from riskrank.studies.gate.document import GateRow
from riskrank.studies.gate.findings import SIDES, row_figures
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.sentences import row_sentence
from riskrank.studies.gate.study import gate
from riskrank.studies.gate.verdicts import FAIL
from riskrank.studies.metric_means import assumption_prefix
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import family_from_settings, provenance
from riskrank.studies.wording import counted, join_names, p_value_phrase

# Maximum number of rows of counts on the first screen.
MOST_CHANGES = 5


@dataclass(frozen=True, slots=True)
class Change:
    """Numbers of cases that got worse, got better or stayed the same, on one metric.

    ``group`` is None for all samples together. ``worse_in_one_run`` is the expected number of worse cases
    with one run per model, and ``worse_by_chance`` that between two runs of the old model. ``shown_worse`` is
    the number of significantly worse cases. These are None without repeats.
    """

    metric: str
    group: str | None
    worse: int
    better: int
    same: int
    p_value: float
    p_adjusted: float
    worse_in_one_run: float | None
    worse_by_chance: float | None
    shown_worse: int | None
    significant: bool = False

    @property
    def samples(self) -> int:
        """Number of compared samples."""
        return self.worse + self.better + self.same

    def entry(self) -> dict[str, Any]:
        """Return the counts as a dictionary for the JSON object ``meta``."""
        return {name: value for name, value in asdict(self).items() if name != "significant"}

    @property
    def is_loss(self) -> bool:
        """True if significantly more cases are worse than better."""
        return self.significant and self.worse > self.better


@dataclass(frozen=True, kw_only=True)
class DiffDocument(Document[CaseRow], schema="diff"):
    """Comparison of two models case by case: all cases, the largest losses first, and counts of changes.

    Attributes
    ----------
    new, old : str
        Names of the two models.
    changes : sequence of Change
        For each metric, the counts over all samples, followed by those of each group.
    settings : DiffSettings
        Options of ``diff``.
    metrics : sequence of MetricSpec
        Names, directions and bounds of the metrics.
    clusters : int or None
        Number of clusters, if samples are resampled as clusters.
    texts : str
        Source of the cases' texts.
    statistics : sequence of GateRow
        Differences of the requested statistics, with the tests of a gate.
    """

    new: str
    old: str
    changes: Sequence[Change]
    settings: DiffSettings
    metrics: Sequence[MetricSpec]
    clusters: int | None = None
    texts: str = ""
    statistics: Sequence[GateRow] = ()

    @property
    def model_names(self) -> Sequence[str]:
        """The two models, in the order of the table."""
        return [model for model in self.provenance.models if model in (self.new, self.old)]

    @property
    def main_change(self) -> Change:
        """Counts over all samples for the metric that the verdict is about.

        This is the first metric with a significant change, or else the first one with any change.
        """
        overall = (change for change in self.changes if change.group is None)
        return min(overall, key=lambda change: (not change.significant, change.samples == change.same))

    @property
    def question(self) -> str:
        """Question that the document answers, used as its heading."""
        return f"Which cases change from {self.old} to {self.new}?"

    @property
    def n_cases(self) -> int:
        """Number of cases to show: the requested one, or as many as fit on the first screen."""
        requested = self.settings.cases
        if requested is not None:
            return requested
        return max(7 - min(len(self.changes), MOST_CHANGES) - 2 * len(self.statistics), 1)

    @property
    def test_name(self) -> str:
        """Name of the test that compares the numbers of worse and better cases."""
        suffix = "" if self.clusters is None else f" of {counted(self.clusters, 'cluster')} of samples"
        return f"test of wins and losses{suffix}"

    @property
    def has_repeats(self) -> bool:
        """True if samples have repeats, which allow tests of single cases."""
        return any(row.p_value is not None for row in self.rows)

    @property
    def worse_cases(self) -> list[CaseRow]:
        """Cases that got worse, with significant losses first and then in descending order of the loss."""
        return [row for row in self.rows if row.change == WORSE]

    @property
    def better_cases(self) -> list[CaseRow]:
        """Cases that got better, sorted by metric and in descending order of the gain."""
        names = [spec.name for spec in self.metrics]
        better = (row for row in self.rows if row.change == BETTER)
        ties = [list(tied) for _, tied in groupby(better, lambda row: (row.metric, row.difference))]
        ordered = [row for tied in reversed(ties) for row in tied]
        return sorted(ordered, key=lambda row: names.index(row.metric) if row.metric in names else 0)

    def meta(self) -> Mapping[str, Any]:
        """Return the counts of changes and the requested statistics for the JSON object ``meta``."""
        clusters = {} if self.clusters is None else {"clusters": self.clusters}
        changes = [change.entry() for change in self.changes]
        statistics = {"statistics": [asdict(row) for row in self.statistics]} if self.statistics else {}
        return {"new": self.new, "old": self.old, **clusters, "changes": changes, **statistics}


def diff_findings(document: DiffDocument) -> list[Finding]:
    """Return the findings: changes on the main metric, losses on other metrics or in groups, and repeats."""
    first = document.main_change
    figures: dict[str, float] = {"worse": first.worse, "better": first.better, "samples": first.samples}
    figures |= {} if document.clusters is None else {"clusters": document.clusters}
    if first.worse == first.better == 0:
        findings = [Finding(kind="unchanged", models=(0, 1), on=first.metric, figures=figures)]
    else:
        side = Answer.SIGNIFICANT if first.better > first.worse else Answer.CONTRADICTED
        side = side if first.significant else Answer.UNDECIDED
        figures["p_adjusted"] = first.p_adjusted
        findings = [Finding(kind="changed", models=(0, 1), on=first.metric, figures=figures, answer=side)]
    findings = [*map(_statistic_finding, document.statistics), *findings]
    for name in _other_losing_metrics(document)[:1]:
        findings.append(Finding(kind="loses-too", models=(0, 1), on=name))
    groups = [change for change in document.changes if change.group and change.metric == first.metric]
    if not first.is_loss and (losing := _losing_groups(document)):
        figures = {"groups": len(groups), "worse_in": len(losing)}
        findings.append(Finding(kind="by-group", models=(0, 1), on=first.metric, figures=figures))
    if first.worse_by_chance is not None and first.worse_in_one_run is not None:
        figures = {"worse_in_one_run": first.worse_in_one_run, "worse_by_chance": first.worse_by_chance}
        figures |= {"shown_worse": first.shown_worse or 0}
        findings.append(Finding(kind="runs-differ", models=(0, 1), on=first.metric, figures=figures))
    elif first.worse and not document.has_repeats:
        findings.append(Finding(kind="one-run-each"))
    return findings


def _statistic_finding(row: GateRow) -> Finding:
    """Return the finding about the difference between the two models in a requested statistic."""
    # A claim "better" fails if the new model is significantly worse.
    text = row_sentence(replace(row, claim=NOT_WORSE) if row.verdict == FAIL else row)
    return Finding("statistic", (0, 1), row.metric, row_figures(row), SIDES[row.verdict], {"result": text})


def _change_sentence(finding: Finding, document: DiffDocument) -> str:
    """Return the sentence with the numbers of worse and better cases on the main metric."""
    new, old = document.new, document.old
    worse, better, samples = (int(finding.figures[key]) for key in ("worse", "better", "samples"))
    metric_text = f" ({finding.on})" if len(document.metrics) > 1 else ""
    if finding.kind == "unchanged":
        return f"No case changed between {old} and {new}{metric_text}."
    counts = f"worse than {old} on {worse:,} of {samples:,} cases and better on {better:,}"
    start = f"{new} is {counts}{metric_text}"
    p = f"{document.test_name}, {p_value_phrase(finding.figures['p_adjusted'])}"
    if finding.answer == Answer.UNDECIDED:
        return f"{start}: not significant ({p})."
    more = "more losses than gains" if worse > better else "more gains than losses"
    return f"{start}: significantly {more} ({p})."


def _other_losing_metrics(document: DiffDocument) -> list[str]:
    """Return the metrics other than the main one with significantly more losses than gains."""
    losses = (change for change in document.changes if change.group is None and change.is_loss)
    return [change.metric for change in losses if change is not document.main_change]


def _losing_groups(document: DiffDocument) -> list[str]:
    """Return the groups with significantly more losses than gains on the main metric."""
    metric = document.main_change.metric
    losses = [change for change in document.changes if change.is_loss and change.metric == metric]
    return [change.group for change in losses if change.group]


def _chance_losses_sentence(finding: Finding, document: DiffDocument) -> str:
    """Return the sentence on how many cases would get worse by chance between two runs of the same model."""
    count = int(finding.figures["shown_worse"])
    cases = f"{count:,} single cases are" if count > 1 else f"{'One' if count else 'No'} single case is"
    return (
        f"In single runs, about {finding.figures['worse_in_one_run']:.0f} cases get worse with "
        f"{document.new}; between two runs of {document.old}, about "
        f"{finding.figures['worse_by_chance']:.0f} do. {cases} significantly worse."
    )


# Sentence of each kind of finding.
SENTENCES: Sentences[DiffDocument] = Sentences(
    {
        "changed": _change_sentence,
        "unchanged": _change_sentence,
        "statistic": lambda finding, _: f"{finding.words['result']}.",
        "loses-too": lambda _, document: (
            f"{'It also' if document.main_change.is_loss else 'But it'} has more losses than gains on "
            f"{join_names(_other_losing_metrics(document))}."
        ),
        "by-group": lambda _, document: (
            f"But it has significantly more losses than gains in {join_names(_losing_groups(document))}."
        ),
        "runs-differ": _chance_losses_sentence,
        "one-run-each": lambda _, _document: (
            "With one run of each model, a worse case need not be a regression: only repeated runs show "
            "how many cases change by chance."
        ),
    }
)


def count_changes(table: ScoreTable, cases: CaseComparison, in_group: Booleans, group: str | None) -> Change:
    """Count the better, worse and unchanged cases of a group, and test whether gains and losses differ.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    cases : CaseComparison
        Comparison of n cases.
    in_group : ndarray of bool, shape (n,)
        True for the cases of the group.
    group : str or None
        Name of the group, or None for all cases.

    Returns
    -------
    Change
        Its p-value is not adjusted.
    """
    specs, metric_of_case = case_metrics(table, cases)
    metric_names = {specs[number].name for number in np.unique(metric_of_case[in_group]).tolist()}
    gain = cases.gain[in_group]
    wins, losses = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    p_value = sign_test(gain, cases.units[in_group])
    expectation: tuple[float | None, float | None] = (None, None)
    significant_losses = None
    if cases.p_adjusted is not None:
        expectation = expected_losses(*(_select_samples(runs, in_group) for runs in (cases.new, cases.old)))
        significant_losses = int(np.count_nonzero(cases.significant[in_group] & (gain < 0)))
    name = metric_names.pop() if len(metric_names) == 1 else table.metrics[cases.metric].name
    counts = losses, wins, gain.size - wins - losses
    return Change(name, group, *counts, p_value, p_value, *expectation, significant_losses)


def _select_samples(runs: Repeats, selected: Booleans) -> Repeats:
    """Return the scores of the selected samples, with samples renumbered without gaps.

    `selected` is a mask by sample.
    """
    rows = selected[runs.samples]
    return Repeats(runs.values[rows], (np.cumsum(selected) - 1)[runs.samples[rows]])


def diff(table: ScoreTable, settings: DiffSettings, _runtime: Runtime | None = None) -> DiffDocument:
    """Compare two models case by case: wins, losses, ties, and the largest losses.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : DiffSettings
        Options of ``diff``.
    _runtime : Runtime, optional
        Not used.

    Returns
    -------
    DiffDocument

    Raises
    ------
    UsageError
        If the pair does not name two models, or the table allows only comparisons of means.
    InputError
        If the models have no sample in common.
    """
    assert settings.pair is not None
    require_distributions(table, "diff", "counts cases")
    sample_sets = [{*rows.tolist()} for rows in table.row_samples] if table.options.unpaired else []
    if sample_sets and all(samples == sample_sets[0] for samples in sample_sets):
        problem = "diff compares models on their common samples"
        detail = f"{option('unpaired', True)} and models with the same samples"
        raise UsageError(problem, found=detail, hint=f"leave out {option('unpaired')}")
    new, old = resolve_pair(settings.pair, table.models, parameter="pair")
    groups = sample_tasks(table) if table.groups is None else sample_groups(table, new)
    family = family_from_settings(settings)
    rows: list[CaseRow] = []
    changes: list[Change] = []
    clustered: list[ClusteredScores] = []
    for metric in range(len(table.metrics)):
        cases = compare_cases(table, new, old, metric, family)
        rows += case_rows(table, cases, groups)
        clustered.append(ClusteredScores.build([cases.gain], [cases.units], samples=[cases.samples]))
        group_of_case = [groups[sample] for sample in cases.samples.tolist()]
        for group in (None, *sorted({name for name in group_of_case if name is not None})):
            in_group = np.array([group is None or name == group for name in group_of_case])
            changes.append(count_changes(table, cases, in_group, group))
    adjusted = family.adjust_p_values([change.p_value for change in changes])
    changes = [
        replace(change, p_adjusted=float(p), significant=bool(family.significant(p)))
        for change, p in zip(changes, adjusted, strict=True)
    ]
    # The sign test is valid for few cases, so a small sample is not a limitation.
    weighting = " (weighted equally, without task weights)" if table.suite else ""
    limits = [limit for limit in sample_limits(clustered, per=weighting) if limit[0].kind != "few"]
    adjustments = {"family": counted(len(changes), "test"), "cases": "Benjamini-Hochberg per metric"}
    document = DiffDocument(
        provenance=provenance("diff", table, settings, adjustments, warnings=limit_warnings(limits)),
        rows=rows,
        new=table.models[new],
        old=table.models[old],
        changes=changes,
        settings=settings,
        metrics=table.metrics,
        clusters=None if table.cluster_names is None else len(table.cluster_names),
        texts="" if table.texts is None else table.texts.summary,
    )
    if settings.on:
        levels = attributes(settings, "alpha", "correction")
        claims = ClaimSettings(better=(f"{document.new}:{document.old}",), on=settings.on, **levels)
        document = replace(document, statistics=gate(table, claims).claims)
    # Add texts only to the listed cases, because all texts may not fit in memory.
    listed = document.worse_cases[: document.n_cases]
    with_texts = add_texts(table, listed, document.new, document.old)
    listed_rows = {id(row): new_row for row, new_row in zip(listed, with_texts, strict=True)}
    document = replace(document, rows=[listed_rows.get(id(row), row) for row in rows])
    contradicted = (spec.name for spec in table.suite.specs or table.metrics if contradicts_name(spec))
    assumed_names = assumption_prefix([*dict.fromkeys(contradicted)])
    models = (document.new, document.old)
    sentences = SENTENCES.fields(diff_findings(document), document, models, assumed_names, limits=limits)
    return replace(document, **sentences)
