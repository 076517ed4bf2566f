"""Compare two models case by case, over all samples or by group, for ``diff``."""

from dataclasses import replace

import numpy as np

from riskrank.engine.changes import Repeats, expected_losses, sign_test
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans
from riskrank.errors import UsageError, option
from riskrank.scores.table.metrics import contradicts_name
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.cases import (
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
from riskrank.studies.diff.document import SENTENCES, Change, DiffDocument, diff_findings
from riskrank.studies.diff.options import DiffSettings
from riskrank.studies.document import attributes
from riskrank.studies.findings import limit_warnings, sample_limits
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.study import gate
from riskrank.studies.metric_means import assumption_prefix
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import family_from_settings, provenance
from riskrank.studies.wording import counted


def count_changes(table: ScoreTable, cases: CaseComparison, in_group: Booleans, group: str | None) -> Change:
    """Count the better, worse and unchanged cases of a group, and test whether gains and losses differ.

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
