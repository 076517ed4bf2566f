"""Which cases changed between two models, of all samples or of a group: the study behind ``diff``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.changes.cases import Runs, case_p_values, losses_of_one_run, sign_test
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.scores.table.metrics import assumed_against_its_name, original_units
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.diff.document import BETTER, SAME, WORSE, CaseRow, Change, DiffDocument
from riskrank.studies.diff.findings import SENTENCES, diff_findings
from riskrank.studies.diff.options import DiffSettings
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.metric_means import assumed
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.runtime import Runtime
from riskrank.studies.sample_findings import sample_findings, warned
from riskrank.studies.settings import family_of, provenance
from riskrank.studies.wording import counted


@dataclass(frozen=True, eq=False)
class Cases:
    """Two models on the samples both have, on one metric.

    Attributes
    ----------
    metric : int
        Number of the metric.
    samples : ndarray of int, shape (n,)
        Numbers of the samples in the table.
    units : ndarray of int, shape (n,)
        What each is drawn in: itself, or its cluster.
    new, old : Runs
        Larger is better.
    p_value, p_adjusted : ndarray, shape (n,), or None
        Of each case, where it has several runs.
    significant : ndarray of bool, shape (n,)
    """

    metric: int
    samples: Integers
    units: Integers
    new: Runs
    old: Runs
    p_value: Floats | None
    p_adjusted: Floats | None
    significant: Booleans

    @property
    def gain(self) -> Floats:
        """New minus old, larger is better."""
        return self.new.means - self.old.means


def cases_of(table: ScoreTable, new: int, old: int, metric: int, family: Family) -> Cases:
    """The samples both models have, with the runs of each.

    Raises
    ------
    InputError
        If they share no sample.
    """
    rows = [table.row_samples[model] for model in (new, old)]
    shared, first, _ = np.intersect1d(rows[0], rows[1], return_indices=True)
    if not shared.size:
        raise InputError(
            "the two models share no sample, so that no case can be compared",
            found=f"{table.models[new]} has {listing(_some(table, rows[0]))}, "
            f"{table.models[old]} {listing(_some(table, rows[1]))}",
            hint=f"give samples that both were scored on; {option('columns', 'sample=…')} says what they are",
        )
    runs = []
    for model, samples in zip((new, old), rows, strict=True):
        kept = np.isin(samples, shared)
        runs.append(Runs(table.values[model][kept, metric], np.searchsorted(shared, samples[kept])))
    units = table.clusters[new][first]
    p_value = adjusted = None
    significant = np.zeros(shared.size, dtype=bool)
    if any(int(one.counts.max()) > 1 for one in runs):
        family, p_value = replace(family, correction="bh"), case_p_values(*runs)
        adjusted = family.adjusted(p_value)
        significant = family.significant(adjusted)
    return Cases(metric, shared, units, runs[0], runs[1], p_value, adjusted, significant)


def specs_of(table: ScoreTable, cases: Cases) -> tuple[Sequence[MetricSpec], Integers]:
    """Metrics, and of each case the number of its own: that of its task, where tasks have their own."""
    suite = table.suite
    if not suite.specs:
        return [table.metrics[cases.metric]], np.zeros(cases.samples.size, dtype=np.int64)
    return suite.specs, suite.of_sample[cases.samples]


def _in_units(runs: Runs, specs: Sequence[MetricSpec], of_case: Integers) -> Floats:
    """Mean of the runs of each case as the file has them."""
    values, of_row = np.empty_like(runs.values), of_case[runs.samples]
    for number, spec in enumerate(specs):
        rows = of_row == number
        values[rows] = original_units(runs.values[rows, None], [spec])[:, 0]
    return Runs(values, runs.samples).means


def _in_one_unit(gain: Floats, of_case: Integers) -> Floats:
    """Changes as shares of the largest of their metric, where there are several."""
    largest = np.zeros(int(of_case.max()) + 1)
    np.maximum.at(largest, of_case, np.abs(gain))
    return gain if largest.size == 1 else gain / np.where(largest > 0, largest, 1.0)[of_case]


def _some(table: ScoreTable, samples: Integers) -> list[str]:
    return [table.samples[at] for at in np.unique(samples)[:3].tolist()]


def groups_of(table: ScoreTable, model: int) -> list[str | None]:
    """Group asked for, else task, of every sample, by a model that has it; None where there are none."""
    if table.groups is None:
        return tasks_of(table)
    return named_groups(table, model)


def tasks_of(table: ScoreTable) -> list[str | None]:
    """Task of every sample; None where there are none."""
    if not table.suite:
        return [None] * len(table.samples)
    return [table.suite.names[task] for task in table.suite.of_sample.tolist()]


def named_groups(table: ScoreTable, model: int) -> list[str | None]:
    """Group of every sample that a model has; None of others, and where nobody grouped them."""
    found: list[str | None] = [None] * len(table.samples)
    if table.groups is not None:
        rows = zip(table.row_samples[model].tolist(), table.groups[model].tolist(), strict=True)
        for sample, group in rows:
            found[sample] = table.group_names[group]
    return found


def change_of(table: ScoreTable, cases: Cases, kept: Booleans, group: str | None) -> Change:
    """Count the cases of a group, p-values not adjusted yet."""
    specs, of_case = specs_of(table, cases)
    own = {specs[number].name for number in np.unique(of_case[kept]).tolist()}
    gain = cases.gain[kept]
    wins, losses = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    p_value = sign_test(gain, cases.units[kept])
    expected: tuple[float | None, float | None] = (None, None)
    shown = None
    if cases.p_adjusted is not None:
        expected = losses_of_one_run(_only(cases.new, kept), _only(cases.old, kept))
        shown = int(np.count_nonzero(cases.significant[kept] & (gain < 0)))
    return Change(
        own.pop() if len(own) == 1 else table.metrics[cases.metric].name,
        group,
        losses,
        wins,
        gain.size - wins - losses,
        p_value,
        p_value,
        *expected,
        shown,
    )


def _only(runs: Runs, kept: Booleans) -> Runs:
    rows = kept[runs.samples]
    return Runs(runs.values[rows], (np.cumsum(kept) - 1)[runs.samples[rows]])


def rows_of(table: ScoreTable, cases: Cases, groups: Sequence[str | None]) -> list[CaseRow]:
    """A row a case, the most lost first; what is shown before what is not."""
    (specs, of_case), gain = specs_of(table, cases), cases.gain
    new, old = _in_units(cases.new, specs, of_case), _in_units(cases.old, specs, of_case)
    counts = cases.new.counts, cases.old.counts
    tested = cases.p_adjusted is not None
    shown = cases.significant
    # Names settle ties, so that no order of the rows of a file shows.
    size = _in_one_unit(gain, of_case)
    order = np.lexsort((np.arange(gain.size), size, ~(shown & (gain < 0))))
    return [
        CaseRow(
            metric=specs[of_case[at]].name,
            group=groups[cases.samples[at]],
            sample=table.samples[cases.samples[at]],
            change=WORSE if gain[at] < 0 else BETTER if gain[at] > 0 else SAME,
            new=float(new[at]),
            old=float(old[at]),
            difference=float(new[at] - old[at]),
            runs_new=int(counts[0][at]),
            runs_old=int(counts[1][at]),
            p_value=None if cases.p_value is None else float(cases.p_value[at]),
            p_adjusted=None if cases.p_adjusted is None else float(cases.p_adjusted[at]),
            shown=bool(shown[at]) if tested else None,
        )
        for at in order.tolist()
    ]


def with_texts(table: ScoreTable, cases: Sequence[CaseRow], new: str, old: str) -> list[CaseRow]:
    """Cases with what was asked and answered, where the files have it."""
    if table.texts is None or not cases:
        return list(cases)
    known = table.texts.of((new, old), (row.sample for row in cases))
    found = []
    for row in cases:
        texts = known.get(row.sample)
        if texts is not None:
            answers = texts.outputs.get(new), texts.outputs.get(old)
            row = replace(row, input=texts.input, output_new=answers[0], output_old=answers[1])
        found.append(row)
    return found


def _same_samples(table: ScoreTable) -> bool:
    first, *others = ({*rows.tolist()} for rows in table.row_samples)
    return all(one == first for one in others)


def diff(table: ScoreTable, settings: DiffSettings, _runtime: Runtime | None = None) -> DiffDocument:
    """Compare two models case by case: wins, losses, ties, and the cases that lost most.

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
        If the pair does not name two models, or samples are folds or differ by sources of noise.
    InputError
        If they share no sample.
    """
    assert settings.pair is not None
    refuse_distributions(table, "diff", "counts cases")
    if table.options.unpaired and _same_samples(table):
        raise UsageError(
            "diff compares models on the samples both have",
            found=f"{option('unpaired', True)} of models with the same samples",
            hint=f"leave out {option('unpaired')}",
        )
    new, old = resolve_pair(settings.pair, table.models, parameter="pair")
    groups, family = groups_of(table, new), family_of(settings)
    rows: list[CaseRow] = []
    changes: list[Change] = []
    drawn: list[ClusteredScores] = []
    for metric in range(len(table.metrics)):
        cases = cases_of(table, new, old, metric, family)
        rows += rows_of(table, cases, groups)
        drawn.append(ClusteredScores.build([cases.gain], [cases.units], samples=[cases.samples]))
        of_case = [groups[sample] for sample in cases.samples.tolist()]
        for group in (None, *sorted({name for name in of_case if name is not None})):
            kept = np.array([group is None or name == group for name in of_case])
            changes.append(change_of(table, cases, kept, group))
    adjusted = family.adjusted([one.p_value for one in changes])
    changes = [
        replace(one, p_adjusted=float(p), significant=bool(family.significant(p)))
        for one, p in zip(changes, adjusted, strict=True)
    ]
    # An exact test is one of few cases, too; what few large clusters say, and what is rare, is open.
    each = " counted alike, whatever their tasks weigh," if table.suite else ""
    limits = [limit for limit in sample_findings(drawn, each=each) if limit[0].kind != "few"]
    made = {"family": counted(len(changes), "sign test"), "cases": "Benjamini-Hochberg a metric"}
    document = DiffDocument(
        provenance=provenance("diff", table, settings, made, warnings=warned(limits)),
        rows=rows,
        new=table.models[new],
        old=table.models[old],
        changes=changes,
        settings=settings,
        metrics=table.metrics,
        clusters=None if table.cluster_names is None else len(table.cluster_names),
        texts="" if table.texts is None else table.texts.said,
    )
    document = replace(document, rows=_with_texts(table, document))
    own = table.suite.specs
    unsaid = assumed(
        list(dict.fromkeys(one.name for one in own or table.metrics if assumed_against_its_name(one)))
    )
    about = (document.new, document.old)
    told = SENTENCES.told(diff_findings(document), document, about, unsaid, limits=limits)
    return replace(document, **told)


def _with_texts(table: ScoreTable, document: DiffDocument) -> list[CaseRow]:
    """All cases, those to be shown with their texts: all texts may be more than memory holds."""
    shown = document.lost[: document.cases]
    told = dict(zip(map(id, shown), with_texts(table, shown, document.new, document.old), strict=True))
    return [told.get(id(row), row) for row in document.rows]
