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
from riskrank.studies.findings import limit_warnings, sample_findings
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
    """Compare two models on their common samples.

    With repeats, each case is tested.

    Raises
    ------
    InputError
        If the models have no sample in common.
    """
    rows = [table.row_samples[model] for model in (new, old)]
    shared, first, _ = np.intersect1d(rows[0], rows[1], return_indices=True)
    if not shared.size:
        raise InputError(
            "the two models share no sample, so no case can be compared",
            found=f"{table.models[new]} has {listing(_example_samples(table, rows[0]))}, "
            f"{table.models[old]} has {listing(_example_samples(table, rows[1]))}",
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


def metrics_of_cases(table: ScoreTable, cases: CaseComparison) -> tuple[Sequence[MetricSpec], Integers]:
    """Return the metrics, and the index of the metric of each of n cases, shape (n,).

    Tasks may have different metrics.
    """
    suite = table.suite
    if not suite.specs:
        return [table.metrics[cases.metric]], np.zeros(cases.samples.size, dtype=np.int64)
    return suite.specs, suite.of_sample[cases.samples]


def _means_in_original_units(runs: Repeats, specs: Sequence[MetricSpec], of_case: Integers) -> Floats:
    """Return the mean over repeats of each of n cases, in the units of the file, shape (n,)."""
    values, of_row = np.empty_like(runs.values), of_case[runs.samples]
    for number, spec in enumerate(specs):
        rows = of_row == number
        values[rows] = to_original_units(runs.values[rows, None], [spec])[:, 0]
    return Repeats(values, runs.samples).means


def _scale_by_metric(gain: Floats, of_case: Integers) -> Floats:
    """Divide the gain of each of n cases by the largest absolute gain on its metric, shape (n,).

    The gains on a single metric are left unchanged.
    """
    largest = np.zeros(int(of_case.max()) + 1)
    np.maximum.at(largest, of_case, np.abs(gain))
    return gain if largest.size == 1 else gain / np.where(largest > 0, largest, 1.0)[of_case]


def _example_samples(table: ScoreTable, samples: Integers) -> list[str]:
    """Return the names of up to three samples, for a message."""
    return [table.samples[at] for at in np.unique(samples)[:3].tolist()]


def group_or_task_of_samples(table: ScoreTable, model: int) -> list[str | None]:
    """Return the group of every sample, or its task if there are no groups.

    The entry of a sample with neither is None.

    Groups are read from the rows of `model`.
    """
    if table.groups is None:
        return tasks_of_samples(table)
    return groups_of_model(table, model)


def tasks_of_samples(table: ScoreTable) -> list[str | None]:
    """Return the task of every sample, or None without tasks."""
    if not table.suite:
        return [None] * len(table.samples)
    return [table.suite.names[task] for task in table.suite.of_sample.tolist()]


def groups_of_model(table: ScoreTable, model: int) -> list[str | None]:
    """Return the group of every sample in the table, according to the rows of one model.

    The group is None for samples that the model lacks, or if there are no groups.
    """
    groups: list[str | None] = [None] * len(table.samples)
    if table.groups is not None:
        rows = zip(table.row_samples[model].tolist(), table.groups[model].tolist(), strict=True)
        for sample, group in rows:
            groups[sample] = table.group_names[group]
    return groups


def count_changes(table: ScoreTable, cases: CaseComparison, in_group: Booleans, group: str | None) -> Change:
    """Count the better, worse and unchanged cases of a group, with an unadjusted p-value."""
    specs, of_case = metrics_of_cases(table, cases)
    metric_names = {specs[number].name for number in np.unique(of_case[in_group]).tolist()}
    gain = cases.gain[in_group]
    wins, losses = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    p_value = sign_test(gain, cases.units[in_group])
    expectation: tuple[float | None, float | None] = (None, None)
    significant_losses = None
    if cases.p_adjusted is not None:
        expectation = expected_losses(_subset(cases.new, in_group), _subset(cases.old, in_group))
        significant_losses = int(np.count_nonzero(cases.significant[in_group] & (gain < 0)))
    name = metric_names.pop() if len(metric_names) == 1 else table.metrics[cases.metric].name
    counts = losses, wins, gain.size - wins - losses
    return Change(name, group, *counts, p_value, p_value, *expectation, significant_losses)


def _subset(runs: Repeats, selected: Booleans) -> Repeats:
    """Return the scores of the selected samples, renumbered without gaps."""
    rows = selected[runs.samples]
    return Repeats(runs.values[rows], (np.cumsum(selected) - 1)[runs.samples[rows]])


def case_rows(table: ScoreTable, cases: CaseComparison, groups: Sequence[str | None]) -> list[CaseRow]:
    """Return one row per case: significant losses first, then the largest losses."""
    (specs, of_case), gain = metrics_of_cases(table, cases), cases.gain
    new, old = (_means_in_original_units(runs, specs, of_case) for runs in (cases.new, cases.old))
    counts = cases.new.counts, cases.old.counts
    is_tested = cases.p_adjusted is not None
    significant = cases.significant
    # Break ties by name, so that the order of the file does not matter.
    scaled_gain = _scale_by_metric(gain, of_case)
    order = np.lexsort((np.arange(gain.size), scaled_gain, ~(significant & (gain < 0))))
    return [
        CaseRow(
            metric=specs[of_case[index]].name,
            group=groups[cases.samples[index]],
            sample=table.samples[cases.samples[index]],
            change=WORSE if gain[index] < 0 else BETTER if gain[index] > 0 else SAME,
            new=float(new[index]),
            old=float(old[index]),
            difference=float(new[index] - old[index]),
            runs_new=int(counts[0][index]),
            runs_old=int(counts[1][index]),
            p_value=None if cases.p_value is None else float(cases.p_value[index]),
            p_adjusted=None if cases.p_adjusted is None else float(cases.p_adjusted[index]),
            significant=bool(significant[index]) if is_tested else None,
        )
        for index in order.tolist()
    ]


def add_texts(table: ScoreTable, cases: Sequence[CaseRow], new: str, old: str) -> list[CaseRow]:
    """Return the cases with input and output texts, if the files contain them."""
    if table.texts is None or not cases:
        return list(cases)
    texts_by_sample = table.texts.lookup((new, old), (row.sample for row in cases))
    rows = []
    for row in cases:
        texts = texts_by_sample.get(row.sample)
        if texts is not None:
            answers = texts.outputs.get(new), texts.outputs.get(old)
            row = replace(row, input=texts.input, output_new=answers[0], output_old=answers[1])
        rows.append(row)
    return rows


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
    groups, family = group_or_task_of_samples(table, new), family_from_settings(settings)
    rows: list[CaseRow] = []
    changes: list[Change] = []
    clustered: list[ClusteredScores] = []
    for metric in range(len(table.metrics)):
        cases = compare_cases(table, new, old, metric, family)
        rows += case_rows(table, cases, groups)
        clustered.append(ClusteredScores.build([cases.gain], [cases.units], samples=[cases.samples]))
        of_case = [groups[sample] for sample in cases.samples.tolist()]
        for group in (None, *sorted({name for name in of_case if name is not None})):
            in_group = np.array([group is None or name == group for name in of_case])
            changes.append(count_changes(table, cases, in_group, group))
    adjusted = family.adjust_p_values([change.p_value for change in changes])
    changes = [
        replace(change, p_adjusted=float(p), significant=bool(family.significant(p)))
        for change, p in zip(changes, adjusted, strict=True)
    ]
    # The test is valid for few cases, so that limitation does not apply.
    weighting = " (weighted equally, without task weights)" if table.suite else ""
    limits = [limit for limit in sample_findings(clustered, per=weighting) if limit[0].kind != "few"]
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
    document = replace(document, rows=_add_listed_texts(table, document))
    contradicted = (spec.name for spec in table.suite.specs or table.metrics if contradicts_name(spec))
    assumed_names = assumption_prefix([*dict.fromkeys(contradicted)])
    models = (document.new, document.old)
    sentences = SENTENCES.fields(diff_findings(document), document, models, assumed_names, limits=limits)
    return replace(document, **sentences)


def _add_listed_texts(table: ScoreTable, document: DiffDocument) -> list[CaseRow]:
    """Return all cases, but texts only for the listed ones, because all texts may not fit in memory."""
    listed = document.worse_cases[: document.n_cases]
    with_texts = add_texts(table, listed, document.new, document.old)
    replaced = {id(row): new for row, new in zip(listed, with_texts, strict=True)}
    return [replaced.get(id(row), row) for row in document.rows]
