"""Compare runs of one evaluation on their common samples, and date significant changes, for ``trend``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

import numpy as np

from riskrank.engine.changes import LEVEL_SHARES, Repeats, count_flips, family_at_look, trailing_failures
from riskrank.engine.evidence.evidence import Evidence, worst_case_evidence
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Answer, Family
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, RiskrankError, index_of, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.runs import Runs, Tables, input_entries
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.checks import refuse_assumed_costs
from riskrank.studies.document import rows_from_records
from riskrank.studies.findings import Remark, limit_warnings, sample_limits
from riskrank.studies.gate.verdicts import FAIL, error_type, finite_or_none, joint_verdict
from riskrank.studies.metric_means import metric_means
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import family_from_settings, provenance
from riskrank.studies.trend.document import (
    BETTER,
    NOT_SCORED,
    SCORING_CHANGED,
    SENTENCES,
    UNDECIDED,
    WAS_WORSE,
    WORSE,
    RunComparison,
    TrendCase,
    TrendDocument,
    TrendLine,
    TrendRow,
    line_sentence,
    trend_findings,
)
from riskrank.studies.trend.options import TrendSettings

# Lines and cases that fit a screen.
_SCREEN_ROWS = 5
# Fewest flips of a flaky case: a case that flips twice has recovered.
_FEWEST_FLIPS = 2
_ANSWERS = {Answer.SIGNIFICANT: BETTER, Answer.UNDECIDED: UNDECIDED, Answer.CONTRADICTED: WORSE}

# Metric and model, which identify a line.
LineKey = tuple[str, str]


@dataclass(frozen=True, eq=False)
class RunColumn:
    """Scores of one model on one metric in one run of an evaluation.

    Attributes
    ----------
    table : ScoreTable
        Scores of the run.
    model, metric : int
        Indices in the table.
    absent : int
        Number of samples by which the run is smaller than the baseline.
    """

    table: ScoreTable
    model: int
    metric: int
    absent: int = 0

    @property
    def spec(self) -> MetricSpec:
        """Name, direction and bounds of the metric."""
        return self.table.metrics[self.metric]

    @property
    def counts(self) -> tuple[int, int]:
        """Number of samples with a score, and total number of samples, which includes absent ones."""
        key = self.spec.name, self.table.models[self.model]
        counts = ((row.scored, row.total) for row in self.table.scored if (row.metric, row.model) == key)
        scored, total = next(counts, (len(self.samples), len(self.samples)))
        return scored, total + self.absent

    def count_absent(self, baseline: RunColumn | None) -> RunColumn:
        """Return a copy in which samples of the baseline that the run lacks count as absent.

        Their number is reduced by that of additional samples. It is 0 if missing samples are dropped.
        """
        if baseline is None or self.table.options.missing == "drop":
            return self
        return replace(self, absent=max(baseline.counts[1] - self.counts[1], 0))

    @cached_property
    def samples(self) -> Integers:
        """Sorted indices of the samples that the model was scored on."""
        return np.unique(self.table.row_samples[self.model])

    @cached_property
    def sample_names(self) -> tuple[str, ...]:
        """Names of the samples that the model was scored on."""
        return tuple(self.table.samples[i] for i in self.samples.tolist())

    def values(self, *, favourable: bool = False) -> Floats:
        """Return the score of each row, larger is better.

        Missing scores of bounded metrics are replaced by the worst value, or by the best one if `favourable`.
        """
        scores = self.table.best if favourable and self.table.best is not None else self.table.values
        return scores[self.model][:, self.metric]

    def shared_scores(
        self, shared: Mapping[str, int], units: Integers, *, favourable: bool
    ) -> tuple[Floats, Integers]:
        """Return the scores of the shared samples and their resampling units, sorted by unit.

        Parameters
        ----------
        shared : mapping of str to int
            Index of each shared sample by its name.
        units : ndarray of int
            Resampling unit of each shared sample.
        favourable : bool
            True to replace missing scores by the best value instead of the worst.
        """
        rows = self._shared_positions(shared)
        is_shared = rows >= 0
        row_units = units[rows[is_shared]]
        order = np.argsort(row_units, kind="stable")
        return self.values(favourable=favourable)[is_shared][order], row_units[order]

    def shared_units(self, shared: Mapping[str, int]) -> Integers:
        """Return the resampling unit of each of n shared samples, numbered from 0, shape (n,).

        `shared` has the index of each shared sample by its name. A unit is a cluster, or a single sample if
        there are no clusters.
        """
        if self.table.cluster_names is None:
            return np.arange(len(shared))
        rows, clusters = self._shared_positions(shared), np.zeros(len(shared), dtype=np.int64)
        clusters[rows[rows >= 0]] = self.table.clusters[self.model][rows >= 0]
        return np.unique(clusters, return_inverse=True)[1]

    def _shared_positions(self, shared: Mapping[str, int]) -> Integers:
        """Return the index of the shared sample of each row, or −1 for rows of other samples.

        `shared` has the index of each shared sample by its name.
        """
        positions = np.array([shared.get(name, -1) for name in self.table.samples], dtype=np.int64)
        return positions[self.table.row_samples[self.model]]


def _shared_samples(new: RunColumn, old: RunColumn) -> dict[str, int]:
    """Number the samples that two runs have in common, in the order of `new`; return indices by name."""
    old_names = set(old.sample_names)
    shared = [name for name in new.sample_names if name in old_names]
    return {name: index for index, name in enumerate(shared)}


class PairedDifference(NamedTuple):
    """Mean difference between a run and its reference on the samples that both have.

    Attributes
    ----------
    shared : int
        Number of samples that both runs have.
    against, in_favour : MeanContrast
        Mean difference with missing scores at their worst and at their best values for the run.
    """

    shared: int
    against: MeanContrast
    in_favour: MeanContrast


def paired_difference(new: RunColumn, old: RunColumn) -> PairedDifference | None:
    """Return the mean difference `new` − `old` of two runs on their common samples.

    It is None if they share fewer than 10 samples.
    """
    shared = _shared_samples(new, old)
    if len(shared) < MIN_SAMPLES:
        return None
    units = new.shared_units(shared)

    def contrast(favourable: bool) -> MeanContrast:
        """Return the mean difference with missing scores in favour of the new run, or against it."""
        sides = (
            new.shared_scores(shared, units, favourable=favourable),
            old.shared_scores(shared, units, favourable=not favourable),
        )
        return MeanContrast.from_scores(ClusteredScores.build(*zip(*sides, strict=True)), 0, 1)

    against = contrast(favourable=False)
    is_complete = new.table.best is None and old.table.best is None
    return PairedDifference(len(shared), against, against if is_complete else contrast(favourable=True))


def difference_evidence(differences: Sequence[PairedDifference]) -> Evidence:
    """Return the estimates, standard errors and p-values of differences between runs.

    They are valid for all possible values of missing scores.
    """
    against = mean_evidence([difference.against for difference in differences])
    if all(difference.against is difference.in_favour for difference in differences):
        return against
    return worst_case_evidence(against, mean_evidence([item.in_favour for item in differences]))


def columns_by_run(tables: Mapping[str, Tables]) -> dict[str, dict[LineKey, RunColumn]]:
    """Return the scores of each run, keyed by run and then by (metric, model).

    `tables` has one or more tables by run.
    """
    return {
        run: {
            (metric.name, model): RunColumn(table, model_index, metric_index)
            for table in run_tables
            for metric_index, metric in enumerate(table.metrics)
            for model_index, model in enumerate(table.models)
        }
        for run, run_tables in tables.items()
    }


def scoring_versions(anchor_tables: Mapping[str, Tables], family: Family) -> dict[str, int]:
    """Number the versions of a metric's scoring by run, starting at 0.

    The number increases whenever scores on a fixed set of answers change significantly.

    Parameters
    ----------
    anchor_tables : mapping of str to sequence of ScoreTable
        Scores of the fixed set, by run.
    family : Family
        Level and correction for multiple tests.

    Raises
    ------
    InputError
        If two runs have too few samples of the fixed set in common.
    """
    columns, runs = columns_by_run(anchor_tables), [*anchor_tables]
    versions, start = {runs[0]: 0}, runs[0]
    for look, run in enumerate(runs[1:], 1):
        differences = [*_paired_differences(columns[run], columns[start]).values()]
        if not differences:
            raise InputError(
                f"fewer than {MIN_SAMPLES} samples of the fixed set were scored in both {start} and {run}",
                found=f"{run} scored {listing(next(iter(columns[run].values())).sample_names, 3)}",
                hint=f"rescore the same answers in every run, and give them the same names: "
                f"{option('columns', 'sample=…')}",
            )
        answers = family_at_look(family, look, 1.0).answer(difference_evidence(differences))
        has_changed = bool(answers.side.any())
        versions[run] = versions[runs[look - 1]] + has_changed
        start = run if has_changed else start
    return versions


def compare_runs(runs: Runs, family: Family) -> tuple[list[TrendRow], dict[str, list[str]]]:
    """Compare every run with the baseline and with the previous run.

    Returns
    -------
    rows : list of TrendRow
        One row per run, metric and model.
    scoring_changes : dict of str to list of str
        Runs at which a metric's scoring changed, for metrics with a fixed set of answers.

    Raises
    ------
    InputError
        If a run has fewer than 10 samples in common with the baseline.
    """
    columns, order = columns_by_run(runs.tables), [*runs.tables]
    anchors = runs.anchors.items()
    versions = {metric: scoring_versions(tables, family) for metric, tables in anchors}
    looks = {run: look for look, run in enumerate([name for name in order if name != runs.baseline], 1)}
    rows: list[TrendRow] = []
    last_runs: dict[LineKey, str] = {}
    for run in order:
        run_columns, look = columns[run], looks.get(run, 1)
        references = {
            "baseline": {} if run == runs.baseline else dict.fromkeys(columns[runs.baseline], runs.baseline),
            "last": last_runs,
        }
        comparisons = {
            name: _compare_with_references(
                run, columns, references[name], versions, family_at_look(family, look, share)
            )
            for name, share in LEVEL_SHARES.items()
        }
        if run != runs.baseline and not comparisons["baseline"]:
            raise _no_overlap_error(run, runs.baseline, columns)
        means = {mean.name: mean for table in runs.tables[run] for mean in metric_means(table)}
        records = []
        for key, column in run_columns.items():
            compared = (comparisons[name].get(key, RunComparison()) for name in LEVEL_SHARES)
            counted = column.count_absent(columns[runs.baseline].get(key))
            records.append((run, counted, means[key[0]], *compared))
        rows += rows_from_records(TrendRow, "run column mean baseline last", records)
        last_runs = last_runs | dict.fromkeys(run_columns, run)
    changes = {
        metric: [run for previous, run in pairwise(order) if version[run] > version[previous]]
        for metric, version in versions.items()
    }
    return rows, changes


def _no_overlap_error(
    run: str, baseline: str, columns: Mapping[str, Mapping[LineKey, RunColumn]]
) -> InputError:
    """Create the error for a run without models, or without samples, in common with the baseline.

    `columns` has the scores by run, then by (metric, model).
    """
    column_sets, kind = (columns[run], columns[baseline]), "models"
    name_lists = [list(dict.fromkeys(model for _, model in run_columns)) for run_columns in column_sets]
    hint = "give each model the same name in all runs: write bot=PATH for every run"
    if any(key in columns[baseline] for key in columns[run]):
        kind = "samples"
        name_lists = [list(next(iter(run_columns.values())).sample_names) for run_columns in column_sets]
        hint = f"leave out the run, or name the sample column: {option('columns', 'sample=…')}"
    run_names, baseline_names = (listing(names, 3) for names in name_lists)
    problem = f"{run} and {baseline} have no model and metric with at least {MIN_SAMPLES} common samples"
    detail = f"{run} has the {kind} {run_names}; {baseline} has {baseline_names}"
    return InputError(problem, found=detail, hint=hint)


def _paired_differences(
    new_columns: Mapping[LineKey, RunColumn], old_columns: Mapping[LineKey, RunColumn]
) -> dict[LineKey, PairedDifference]:
    """Return the mean differences between two runs, for each metric and model with enough shared samples."""
    shared_keys = (key for key in new_columns if key in old_columns)
    pairs = ((key, paired_difference(new_columns[key], old_columns[key])) for key in shared_keys)
    return {key: difference for key, difference in pairs if difference is not None}


def _compare_with_references(
    run: str,
    columns: Mapping[str, Mapping[LineKey, RunColumn]],
    references: Mapping[LineKey, str],
    versions: Mapping[str, Mapping[str, int]],
    family: Family,
) -> dict[LineKey, RunComparison]:
    """Compare a run with reference runs on each metric and model, with tests corrected as one family.

    Parameters
    ----------
    run : str
        Name of the run.
    columns : mapping of str to mapping
        Scores by run, then by metric and model.
    references : mapping of (str, str) to str
        Reference run of each metric and model.
    versions : mapping of str to mapping of str to int
        Scoring versions by metric, then by run.
    family : Family
        Level and correction for multiple tests.
    """
    run_columns = columns[run]
    reference_columns = {key: columns[reference][key] for key, reference in references.items()}
    differences = _paired_differences(run_columns, reference_columns)
    if not differences:
        return {}
    run_versions = {key: versions.get(key[0], {}) for key in differences}
    has_changed = [version.get(run) != version.get(references[key]) for key, version in run_versions.items()]
    evidence = difference_evidence([*differences.values()])
    answers = family.answer(evidence, ~np.array(has_changed))
    results = {}
    for i, (key, paired) in enumerate(differences.items()):
        sign = run_columns[key].spec.sign
        # Adding zero turns −0 into 0.
        interval = (answers.low[i], answers.high[i])[:: int(sign)]
        difference, low, high = (float(sign * value + 0.0) for value in (evidence.estimate[i], *interval))
        answer = SCORING_CHANGED if has_changed[i] else _ANSWERS[Answer(answers.side[i])]
        limits = finite_or_none(low), finite_or_none(high)
        results[key] = RunComparison(difference, *limits, answer, paired.shared)
    return results


def trend(runs: Runs, settings: TrendSettings, _runtime: Runtime | None = None) -> TrendDocument:
    """Compare each run with a baseline and the previous run, controlling the error rate over all looks.

    Parameters
    ----------
    runs : Runs
        Score tables of all runs, the oldest first.
    settings : TrendSettings
        Options of ``trend``.
    _runtime : Runtime, optional
        Not used.

    Returns
    -------
    TrendDocument

    Raises
    ------
    InputError
        If a run has fewer than 10 samples in common with the baseline.
    UsageError
        If the direction of a cost-like metric is undeclared, or a fixed set has no matching metric.
    """
    tables, family = [*chain(*runs.tables.values())], family_from_settings(settings)
    metrics = {metric.name: metric for table in tables for metric in table.metrics}
    refuse_assumed_costs(metrics.values(), command="trend")
    for metric in runs.anchors:
        index_of(metric, [*metrics], kind="metric", parameter="anchor")
    rows, scoring_changes = compare_runs(runs, family)
    columns, by_line = columns_by_run(runs.tables), dict[LineKey, list[TrendRow]]()
    for row in rows:
        by_line.setdefault((row.metric, row.model), []).append(row)
    lines_with_cases = []
    for key, line_rows in by_line.items():
        line = _trend_line(key, line_rows, runs, settings.most_failed)
        lines_with_cases.append(add_case_counts(line, columns, family))
    lines = [line for line, _ in lines_with_cases]
    anchors = (table for fixed in runs.anchors.values() for table in chain(*fixed.values()))
    outcome, limits = joint_verdict(lines), _sample_limits(runs, columns, lines)
    document = TrendDocument(
        provenance=provenance(
            "trend",
            tables[-1],
            settings,
            {
                "spending": "alpha/(j(j + 1)) at look j: 0.8 for the baseline, 0.2 for the previous run",
                "cases": "Benjamini-Hochberg per metric and model",
            },
            warnings=[
                *dict.fromkeys(chain(*(table.warnings for table in tables[:-1]))),
                *limit_warnings(limits),
            ],
            metrics=[*metrics.values()],
            inputs=input_entries([*tables, *anchors]),
            models=[*dict.fromkeys(row.model for row in rows)],
            samples=len({sample for table in tables for sample in table.samples}),
        ),
        rows=rows,
        runs=[*runs.tables],
        baseline=runs.baseline,
        lines=lines,
        changed_cases=[case for _, cases in lines_with_cases for case in cases],
        n_cases=max(_SCREEN_ROWS - len(lines), 0) if settings.cases is None else settings.cases,
        scoring_changes=scoring_changes,
        family=family,
        outcome=outcome,
        failed=_exit_error(lines, outcome, settings),
        inconclusive=settings.inconclusive,
    )
    models = document.provenance.models
    return replace(document, **SENTENCES.fields(trend_findings(document), document, models, limits=limits))


def _sample_limits(
    runs: Runs, columns: Mapping[str, Mapping[LineKey, RunColumn]], lines: Sequence[TrendLine]
) -> list[Remark]:
    """Return findings, with sentences, on the size of the sample shared by last run and baseline.

    `columns` has the scores by run, then by (metric, model).
    """
    last_columns, baseline_columns = columns[[*runs.tables][-1]], columns[runs.baseline]
    clustered = []
    for line in lines:
        key = line.metric, line.model
        if key in last_columns and line.last.against_baseline is not None:
            shared = _shared_samples(last_columns[key], baseline_columns[key])
            samples, units = np.arange(len(shared)), last_columns[key].shared_units(shared)
            clustered.append(ClusteredScores.build([samples], [units], samples=[samples]))
    return sample_limits(clustered)


def _trend_line(key: LineKey, rows: Sequence[TrendRow], runs: Runs, most_failed: float) -> TrendLine:
    """Summarise the runs of one model on one metric: state of the last run, and increase of failed calls.

    Parameters
    ----------
    key : (str, str)
        Metric and model.
    rows : sequence of TrendRow
        Results of the runs with scores.
    runs : Runs
        Score tables of all runs, the oldest first.
    most_failed : float
        Smallest increase of the proportion of failed calls that is reported.
    """
    if later := [*runs.tables][[*runs.tables].index(rows[-1].run) + 1 :]:
        return TrendLine(*key, NOT_SCORED, False, rows, since=later[0])
    at_baseline = [row.failure_rate for row in rows if row.run == runs.baseline]
    increase = rows[-1].failure_rate - min(at_baseline, default=rows[-1].failure_rate)
    more_failed = increase if increase > 0 and increase >= most_failed - 1e-12 else None
    compared_rows = [row for row in rows if row.against_baseline_answer is not None]
    drop = rows[-1].against_last_answer == WORSE
    state = str(compared_rows[-1].against_baseline_answer) if compared_rows else UNDECIDED
    losing_rows = takewhile(
        lambda row: row.loss > 0 and row.against_baseline_answer != SCORING_CHANGED, reversed(compared_rows)
    )
    worse_rows = [row for row in losing_rows if row.against_baseline_answer == WORSE]
    line = TrendLine(*key, state, drop, rows, more_failed=more_failed)
    if not worse_rows:
        return line
    state = WAS_WORSE if state == UNDECIDED else state
    return replace(line, state=state, since=worse_rows[-1].run, last_worse=worse_rows[0])


def _exit_error(lines: Sequence[TrendLine], outcome: str, settings: TrendSettings) -> RiskrankError | None:
    """Return the error to raise after the result has been written, or None for a pass.

    `outcome` is "pass", "fail" or "inconclusive".
    """
    kind = error_type(outcome, settings.inconclusive)
    if settings.fail_on is None or kind is None:
        return None
    first = next(line for line in lines if line.verdict == outcome)
    hints = {
        WORSE: f"{option('explain', True)} lists every run, and {option('cases', 20)} lists more cases",
        SCORING_CHANGED: "rescore the earlier runs with the current scoring, or start with a new baseline",
        WAS_WORSE: f"add runs to decide it, or use {option('inconclusive', 'pass')} to accept it",
        NOT_SCORED: f"score it in the last run; if it was removed on purpose, {_selection_of_scored(lines)}",
    }
    hint = hints.get(first.state, hints[WORSE])
    if first.more_failed is not None:
        hint = f"repeat the failed calls; if samples were removed on purpose, {option('missing', 'drop')}"
    verb = "failed" if outcome == FAIL else "is inconclusive"
    problem = f"trend {option('fail_on', 'worse')} {verb} on {first.metric} of {first.model}"
    return kind(problem, found=line_sentence(first), hint=hint)


def _selection_of_scored(lines: Sequence[TrendLine]) -> str:
    """Return the options that select the metrics and models with scores in the last run."""
    scored = [line for line in lines if line.state != NOT_SCORED]
    metrics, models = (dict.fromkeys(getattr(line, name) for line in scored) for name in ("metric", "model"))
    selected = [option("metric", name) for name in metrics]
    if len(models) < len({line.model for line in lines}):
        selected.append(option("models", join_commas([*models])))
    return " ".join(selected)


def add_case_counts(
    line: TrendLine, columns: Mapping[str, Mapping[LineKey, RunColumn]], family: Family
) -> tuple[TrendLine, list[TrendCase]]:
    """Count the cases that change between runs or fail for good, and return them.

    Returns the history with these counts, and the changed cases. A history with scores other than 0 and 1 is
    returned unchanged, without cases. `columns` has the scores by run, then by (metric, model).
    """
    key = line.metric, line.model
    passed = {row.run: _passed_samples(columns[row.run][key]) for row in line.rows}
    passed_by_run = {run: outcomes for run, outcomes in passed.items() if outcomes is not None}
    if len(passed_by_run) < len(passed):
        return line, []
    changed_runs = {row.run for row in line.rows if row.against_last_answer in (WORSE, BETTER)}
    names = sorted({name for outcomes in passed_by_run.values() for name in outcomes})
    cases, n_steps = [], 0
    for name in names:
        runs = [run for run, outcomes in passed_by_run.items() if name in outcomes]
        history = np.array([passed_by_run[run][name] for run in runs])
        # Flips at a significant change of the model do not count.
        counted = np.array([run not in changed_runs for run in runs[1:]], dtype=bool)
        failures, p_value = trailing_failures(history)
        since = runs[len(runs) - failures] if p_value < 1 else None
        flips, n_passed = count_flips(history, counted), int(history.sum())
        cases.append(TrendCase(*key, name, len(runs), n_passed, flips, since, p_value))
        n_steps += int(counted.sum())
    family = replace(family, correction="bh")
    adjusted = family.adjust_p_values([case.p_value for case in cases])
    cases = [
        replace(case, p_adjusted=float(p), significant=bool(family.significant(p)))
        for case, p in zip(cases, adjusted, strict=True)
    ]
    lost = sum(case.significant for case in cases)
    flaky = sum(case.flips >= _FEWEST_FLIPS and not case.significant for case in cases)
    share = sum(case.flips for case in cases) / n_steps if n_steps else None
    changed_cases = [case for case in cases if case.flips or case.significant]
    # Lost cases come first, in the order of their p-values.
    changed_cases.sort(key=lambda case: (-case.flips, case.sample))
    changed_cases.sort(key=lambda case: case.p_adjusted if case.significant else np.inf)
    return replace(line, cases=len(names), flaky=flaky, lost=lost, flip_share=share), changed_cases


def _passed_samples(column: RunColumn) -> dict[str, bool] | None:
    """Return True for each sample that passed at least half of its repeats, by name.

    The result is None if scores are not 0 and 1.
    """
    values, sign = column.values(), column.spec.sign
    if not np.isin(values * sign, (0.0, 1.0)).all():
        return None
    sample_indices = np.searchsorted(column.samples, column.table.row_samples[column.model])
    means = Repeats(values, sample_indices).means + (sign < 0)
    return dict(zip(column.sample_names, (means >= 0.5).tolist(), strict=True))
