"""Compare two models case by case, over all samples or by group, for ``diff``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.changes.cases import Repeats, case_p_values, expected_losses, sign_test
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.metrics import contradicts_name, to_original_units
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.checks import refuse_distributions, resolve_pair
from riskrank.studies.diff.document import (
    BETTER,
    SAME,
    SENTENCES,
    WORSE,
    CaseRow,
    Change,
    DiffDocument,
    diff_findings,
)
from riskrank.studies.diff.options import DiffSettings
from riskrank.studies.findings import limit_warnings, sample_limits
from riskrank.studies.metric_means import assumption_prefix
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import family_from_settings, provenance
from riskrank.studies.wording import counted


@dataclass(frozen=True, eq=False)
class CaseComparison:
    """Comparison of two models on one metric, on the n samples that both have.

    Attributes
    ----------
    metric : int
        Index of the metric.
    samples : ndarray of int, shape (n,)
        Indices of the samples in the table.
    units : ndarray of int, shape (n,)
        Resampling unit of each sample: its cluster, or the sample itself.
    new, old : Repeats
        Scores of the two models, larger is better.
    p_value, p_adjusted : ndarray, shape (n,), or None
        P-value of each case, raw and adjusted, or None without repeats.
    significant : ndarray of bool, shape (n,)
    """

    metric: int
    samples: Integers
    units: Integers
    new: Repeats
    old: Repeats
    p_value: Floats | None
    p_adjusted: Floats | None
    significant: Booleans

    @property
    def gain(self) -> Floats:
        """Score of the new model minus score of the old one, shape (n,), larger is better."""
        return self.new.means - self.old.means


def compare_cases(table: ScoreTable, new: int, old: int, metric: int, family: Family) -> CaseComparison:
    """Compare two models on their common samples, and test each sample that has repeats.

    Parameters
    ----------
    table : ScoreTable
    new, old, metric : int
        Indices of the two models and of the metric.
    family : Family
        Its significance level applies to the tests of single samples.

    Raises
    ------
    InputError
        If the models have no sample in common.
    """
    rows = [table.row_samples[model] for model in (new, old)]
    shared, first, _ = np.intersect1d(rows[0], rows[1], return_indices=True)
    if not shared.size:
        examples = [[table.samples[at] for at in np.unique(samples)[:3].tolist()] for samples in rows]
        raise InputError(
            "the two models share no sample, so no case can be compared",
            found=f"{table.models[new]} has {listing(examples[0])}, "
            f"{table.models[old]} has {listing(examples[1])}",
            hint=f"provide samples scored for both; {option('columns', 'sample=…')} names their column",
        )
    runs = []
    for model, samples in zip((new, old), rows, strict=True):
        is_shared = np.isin(samples, shared)
        scores = table.values[model][is_shared, metric]
        runs.append(Repeats(scores, np.searchsorted(shared, samples[is_shared])))
    units = table.clusters[new][first]
    p_value = p_adjusted = None
    significant = np.zeros(shared.size, dtype=bool)
    if any(int(repeats.counts.max()) > 1 for repeats in runs):
        family, p_value = replace(family, correction="bh"), case_p_values(*runs)
        p_adjusted = family.adjust_p_values(p_value)
        significant = family.significant(p_adjusted)
    return CaseComparison(metric, shared, units, runs[0], runs[1], p_value, p_adjusted, significant)


def case_metrics(table: ScoreTable, cases: CaseComparison) -> tuple[Sequence[MetricSpec], Integers]:
    """Return the metrics of the table, and the metric index of each of the n cases, shape (n,).

    The metric can differ between cases if the tasks of a suite use different metrics.
    """
    suite = table.suite
    if not suite.specs:
        return [table.metrics[cases.metric]], np.zeros(cases.samples.size, dtype=np.int64)
    return suite.specs, suite.of_sample[cases.samples]


def _means_in_original_units(runs: Repeats, specs: Sequence[MetricSpec], metric_of_case: Integers) -> Floats:
    """Return the mean over repeats of each of n cases, in the units of the file, shape (n,)."""
    values, metric_of_row = np.empty_like(runs.values), metric_of_case[runs.samples]
    for number, spec in enumerate(specs):
        rows = metric_of_row == number
        values[rows] = to_original_units(runs.values[rows, None], [spec])[:, 0]
    return Repeats(values, runs.samples).means


def sample_groups(table: ScoreTable, model: int) -> list[str | None]:
    """Return the group of every sample in the table, according to the rows of one model.

    The group is None for samples that the model lacks, and for all samples of a table without groups.
    """
    groups: list[str | None] = [None] * len(table.samples)
    if table.groups is not None:
        rows = zip(table.row_samples[model].tolist(), table.groups[model].tolist(), strict=True)
        for sample, group in rows:
            groups[sample] = table.group_names[group]
    return groups


def sample_tasks(table: ScoreTable) -> list[str | None]:
    """Return the task of every sample in the table, which is None if the table has no tasks."""
    if not table.suite:
        return [None] * len(table.samples)
    return [table.suite.names[task] for task in table.suite.of_sample.tolist()]


def count_changes(table: ScoreTable, cases: CaseComparison, in_group: Booleans, group: str | None) -> Change:
    """Count the better, worse and unchanged cases of a group, and test their difference.

    Parameters
    ----------
    table : ScoreTable
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
    """Return the scores of the selected samples, renumbered without gaps."""
    rows = selected[runs.samples]
    return Repeats(runs.values[rows], (np.cumsum(selected) - 1)[runs.samples[rows]])


def case_rows(table: ScoreTable, cases: CaseComparison, groups: Sequence[str | None]) -> list[CaseRow]:
    """Return one row per case: significant losses first, then the largest losses.

    Parameters
    ----------
    table : ScoreTable
    cases : CaseComparison
    groups : sequence of str or None
        Group or task of every sample in the table.
    """
    (specs, metric_of_case), gain = case_metrics(table, cases), cases.gain
    new, old = (_means_in_original_units(runs, specs, metric_of_case) for runs in (cases.new, cases.old))
    significant, scaled_gain = cases.significant, gain
    if len(specs) > 1:
        # Divide by the largest gain on the metric, so that gains on different metrics are comparable.
        largest = np.zeros(len(specs))
        np.maximum.at(largest, metric_of_case, np.abs(gain))
        scaled_gain = gain / np.where(largest > 0, largest, 1.0)[metric_of_case]
    # Break ties by name, so that the order of the file does not matter.
    order = np.lexsort((np.arange(gain.size), scaled_gain, ~(significant & (gain < 0))))
    return [
        CaseRow(
            metric=specs[metric_of_case[index]].name,
            group=groups[cases.samples[index]],
            sample=table.samples[cases.samples[index]],
            change=WORSE if gain[index] < 0 else BETTER if gain[index] > 0 else SAME,
            new=float(new[index]),
            old=float(old[index]),
            difference=float(new[index] - old[index]),
            runs_new=int(cases.new.counts[index]),
            runs_old=int(cases.old.counts[index]),
            p_value=None if cases.p_value is None else float(cases.p_value[index]),
            p_adjusted=None if cases.p_adjusted is None else float(cases.p_adjusted[index]),
            significant=None if cases.p_adjusted is None else bool(significant[index]),
        )
        for index in order.tolist()
    ]


def add_texts(table: ScoreTable, cases: Sequence[CaseRow], new: str, old: str) -> list[CaseRow]:
    """Return the cases with input and output texts, if the files contain them."""
    if table.texts is None or not cases:
        return list(cases)
    texts = table.texts.lookup((new, old), (row.sample for row in cases))
    texts_of_cases = [(row, texts.get(row.sample)) for row in cases]
    return [
        replace(row, input=text.input, output_new=text.outputs.get(new), output_old=text.outputs.get(old))
        if text is not None
        else row
        for row, text in texts_of_cases
    ]


def diff(table: ScoreTable, settings: DiffSettings, _runtime: Runtime | None = None) -> DiffDocument:
    """Compare two models case by case: wins, losses, ties, and the largest losses.

    Parameters
    ----------
    table : ScoreTable
    settings : DiffSettings
    _runtime : Runtime, optional

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
    refuse_distributions(table, "diff", "counts cases")
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
