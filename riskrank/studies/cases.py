"""Comparison of two models on single cases, for ``diff`` and for the lost cases of ``gate``."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.changes import Repeats, case_p_values
from riskrank.engine.family import Family
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, listing, option
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.metrics import to_original_units
from riskrank.scores.table.score_table import ScoreTable

WORSE, BETTER, SAME = "worse", "better", "same"
_TEXT_FIELDS = ("input", "output_new", "output_old")


@dataclass(frozen=True, slots=True)
class CaseRow:
    """Scores of two models on one sample and metric, averaged over repeats, in the units of the file."""

    metric: str
    group: str | None
    sample: str
    change: str
    new: float
    old: float
    difference: float
    runs_new: int
    runs_old: int
    p_value: float | None
    p_adjusted: float | None
    significant: bool | None
    input: str | None = None
    output_new: str | None = None
    output_old: str | None = None

    def entry(self) -> dict[str, Any]:
        """Return the row as a dictionary for the JSON object ``meta``. Texts are omitted if they are None."""
        fields = asdict(self).items()
        return {name: value for name, value in fields if name not in _TEXT_FIELDS or value is not None}


@dataclass(frozen=True, eq=False)
class CaseComparison:
    """Comparison of two models on one metric, case by case, on the n samples that both have.

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
        True for samples that differ significantly.
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
        """Mean score of the new model minus that of the old one, shape (n,); larger is better."""
        return self.new.means - self.old.means


def compare_cases(table: ScoreTable, new: int, old: int, metric: int, family: Family) -> CaseComparison:
    """Compare two models on their common samples, and test each sample that has repeats.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
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
    """Return a list of metrics, and the index of each case's metric in this list, shape (n,).

    The metric differs between cases if the tasks of a suite use different metrics.
    """
    suite = table.suite
    if not suite.specs:
        return [table.metrics[cases.metric]], np.zeros(cases.samples.size, dtype=np.int64)
    return suite.specs, suite.task_codes[cases.samples]


def _means_in_original_units(runs: Repeats, specs: Sequence[MetricSpec], metric_of_case: Integers) -> Floats:
    """Return the mean over repeats of each of n cases, in the units of the input file, shape (n,).

    `metric_of_case` has the index of each case's metric in `specs`.
    """
    values, metric_of_row = np.empty_like(runs.values), metric_of_case[runs.samples]
    for number, spec in enumerate(specs):
        rows = metric_of_row == number
        values[rows] = to_original_units(runs.values[rows, None], [spec])[:, 0]
    return Repeats(values, runs.samples).means


def sample_groups(table: ScoreTable, model: int) -> list[str | None]:
    """Return the group of every sample in the table, as given in the rows of model number `model`.

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
    return [table.suite.names[task] for task in table.suite.task_codes.tolist()]


def case_rows(table: ScoreTable, cases: CaseComparison, groups: Sequence[str | None]) -> list[CaseRow]:
    """Return one row per case: significant losses first, then the largest losses.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    cases : CaseComparison
        Comparison of both models on each sample.
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
    """Return the cases with input and output texts, if the files contain them.

    `new` and `old` are the names of the two models.
    """
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
