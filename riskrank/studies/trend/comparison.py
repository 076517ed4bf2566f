"""Compare runs on their common samples, look by look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from riskrank.engine.changes.cases import LEVEL_SHARES, family_at_look
from riskrank.engine.evidence.evidence import Evidence, worst_case_evidence
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Answer, Family
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, listing, option
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.runs import Runs, Tables
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import rows_from_records
from riskrank.studies.gate.verdicts import finite_or_none
from riskrank.studies.metric_means import metric_means
from riskrank.studies.trend.document import BETTER, SCORING_CHANGED, UNDECIDED, WORSE, RunComparison, TrendRow

_ANSWERS = {Answer.SIGNIFICANT: BETTER, Answer.UNDECIDED: UNDECIDED, Answer.CONTRADICTED: WORSE}

# Metric and model, which identify a line.
LineKey = tuple[str, str]


@dataclass(frozen=True, eq=False)
class RunColumn:
    """Scores of one model on one metric in one run.

    Attributes
    ----------
    table : ScoreTable
    model, metric : int
        Indices in the table.
    """

    table: ScoreTable
    model: int
    metric: int

    @property
    def spec(self) -> MetricSpec:
        """Definition of the metric."""
        return self.table.metrics[self.metric]

    @property
    def scored_and_total(self) -> tuple[int, int]:
        """Number of samples with a score, and total number of samples."""
        key = self.spec.name, self.table.models[self.model]
        counts = ((row.scored, row.total) for row in self.table.scored if (row.metric, row.model) == key)
        return next(counts, (len(self.samples), len(self.samples)))

    @cached_property
    def samples(self) -> Integers:
        """Sorted indices of the distinct samples in the table."""
        return np.unique(self.table.row_samples[self.model])

    @cached_property
    def sample_names(self) -> tuple[str, ...]:
        """Names of the distinct samples."""
        return tuple(self.table.samples[at] for at in self.samples.tolist())

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

        A unit is a cluster, or a single sample if there are no clusters.
        """
        if self.table.cluster_names is None:
            return np.arange(len(shared))
        rows, clusters = self._shared_positions(shared), np.zeros(len(shared), dtype=np.int64)
        clusters[rows[rows >= 0]] = self.table.clusters[self.model][rows >= 0]
        return np.unique(clusters, return_inverse=True)[1]

    def _shared_positions(self, shared: Mapping[str, int]) -> Integers:
        """Return the index of the shared sample of each row, or −1 for rows of other samples."""
        positions = np.array([shared.get(name, -1) for name in self.table.samples], dtype=np.int64)
        return positions[self.table.row_samples[self.model]]


def clustered_samples(new: RunColumn, old: RunColumn) -> ClusteredScores:
    """Return the samples common to both columns, grouped by resampling unit."""
    shared = _shared_samples(new, old)
    of_sample = np.arange(len(shared))
    return ClusteredScores.build([of_sample], [new.shared_units(shared)], samples=[of_sample])


def _shared_samples(new: RunColumn, old: RunColumn) -> dict[str, int]:
    """Return the samples common to both columns, numbered in the order of the new column."""
    old_names = set(old.sample_names)
    return {name: index for index, name in enumerate(name for name in new.sample_names if name in old_names)}


class PairedDifference(NamedTuple):
    """Mean difference of a run from its reference, with missing scores at their worst and best values."""

    shared: int
    against: MeanContrast
    in_favour: MeanContrast


def compare_columns(new: RunColumn, old: RunColumn) -> PairedDifference | None:
    """Return the paired difference on the shared samples, or None if there are too few."""
    shared = _shared_samples(new, old)
    if len(shared) < MIN_SAMPLES:
        return None
    units = new.shared_units(shared)

    def contrast(favourable: bool) -> MeanContrast:
        """Return the difference with missing scores in favour of the new run, or against it."""
        sides = (
            new.shared_scores(shared, units, favourable=favourable),
            old.shared_scores(shared, units, favourable=not favourable),
        )
        return MeanContrast.from_scores(ClusteredScores.build(*zip(*sides, strict=True)), 0, 1)

    against = contrast(favourable=False)
    is_complete = new.table.best is None and old.table.best is None
    return PairedDifference(len(shared), against, against if is_complete else contrast(favourable=True))


def evidence_of_pairs(pairs: Sequence[PairedDifference]) -> Evidence:
    """Return the evidence that the new runs are better, valid for all possible values of missing scores."""
    against = mean_evidence([pair.against for pair in pairs])
    if all(pair.against is pair.in_favour for pair in pairs):
        return against
    return worst_case_evidence(against, mean_evidence([pair.in_favour for pair in pairs]))


def columns_by_run(tables: Mapping[str, Tables]) -> dict[str, dict[LineKey, RunColumn]]:
    """Return the score columns of each run, keyed by metric and model."""
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
    """Return a scoring version per run, which increases whenever scores on the fixed set change.

    Raises
    ------
    InputError
        If two runs have too few samples of the fixed set in common.
    """
    columns, runs = columns_by_run(anchor_tables), [*anchor_tables]
    versions, start = {runs[0]: 0}, runs[0]
    for look, run in enumerate(runs[1:], 1):
        reference = columns[start]
        pairs = [*_compare_lines(columns[run], reference).values()]
        if not pairs:
            raise InputError(
                f"fewer than {MIN_SAMPLES} samples of the fixed set were scored in both {start} and {run}",
                found=f"{run} scored {listing(next(iter(columns[run].values())).sample_names, 3)}",
                hint=f"rescore the same answers in every run, and give them the same names: "
                f"{option('columns', 'sample=…')}",
            )
        sides = family_at_look(family, look, 1.0).answer(evidence_of_pairs(pairs)).side
        if sides.any():
            start = run
        versions[run] = versions[runs[look - 1]] + bool(sides.any())
    return versions


def compare_runs(runs: Runs, family: Family) -> tuple[list[TrendRow], dict[str, list[str]]]:
    """Return one row per run, metric and model, and the runs at which each metric's scoring changed.

    Raises
    ------
    InputError
        If a run has fewer than 10 samples in common with the baseline.
    """
    columns, order = columns_by_run(runs.tables), [*runs.tables]
    versions = {
        metric: scoring_versions(anchor_tables, family) for metric, anchor_tables in runs.anchors.items()
    }
    looks = {run: at for at, run in enumerate([name for name in order if name != runs.baseline], 1)}
    rows: list[TrendRow] = []
    last_runs: dict[LineKey, str] = {}
    for run in order:
        run_columns, look = columns[run], looks.get(run, 1)
        references = {
            "baseline": {} if run == runs.baseline else dict.fromkeys(columns[runs.baseline], runs.baseline),
            "last": last_runs,
        }
        comparisons = {
            name: _compare_with(run, columns, references[name], versions, family_at_look(family, look, share))
            for name, share in LEVEL_SHARES.items()
        }
        if run != runs.baseline and not comparisons["baseline"]:
            raise _no_overlap_error(run, runs.baseline, columns)
        means = {mean.name: mean for table in runs.tables[run] for mean in metric_means(table)}
        rows += rows_from_records(
            TrendRow,
            "run column mean baseline last",
            (
                (
                    run,
                    column,
                    means[key[0]],
                    *(comparisons[name].get(key, RunComparison()) for name in LEVEL_SHARES),
                )
                for key, column in run_columns.items()
            ),
        )
        last_runs = last_runs | dict.fromkeys(run_columns, run)
    changes = {
        metric: [run for previous, run in pairwise(order) if version[run] > version[previous]]
        for metric, version in versions.items()
    }
    return rows, changes


def _no_overlap_error(
    run: str, baseline: str, columns: Mapping[str, Mapping[LineKey, RunColumn]]
) -> InputError:
    """Return the error for a run without models or samples in common with the baseline."""
    column_sets, kind = (columns[run], columns[baseline]), "models"
    name_lists = [list(dict.fromkeys(model for _, model in run_columns)) for run_columns in column_sets]
    hint = "give each model the same name in all runs: write bot=PATH for every run"
    if any(key in columns[baseline] for key in columns[run]):
        name_lists, kind = (
            [list(next(iter(run_columns.values())).sample_names) for run_columns in column_sets],
            "samples",
        )
        hint = f"leave out the run, or name the sample column: {option('columns', 'sample=…')}"
    run_names, baseline_names = (listing(names, 3) for names in name_lists)
    return InputError(
        f"{run} and {baseline} have no model and metric with at least {MIN_SAMPLES} common samples",
        found=f"{run} has the {kind} {run_names}; {baseline} has {baseline_names}",
        hint=hint,
    )


def _compare_lines(
    new_columns: Mapping[LineKey, RunColumn], old_columns: Mapping[LineKey, RunColumn]
) -> dict[LineKey, PairedDifference]:
    """Return the paired difference of each metric and model with enough shared samples."""
    pairs = {
        key: compare_columns(new, old_columns[key]) for key, new in new_columns.items() if key in old_columns
    }
    return {key: pair for key, pair in pairs.items() if pair is not None}


def _compare_with(
    run: str,
    columns: Mapping[str, Mapping[LineKey, RunColumn]],
    references: Mapping[LineKey, str],
    versions: Mapping[str, Mapping[str, int]],
    family: Family,
) -> dict[LineKey, RunComparison]:
    """Compare a run with reference runs on each metric and model, with tests corrected as one family."""
    run_columns = columns[run]
    pairs = _compare_lines(
        run_columns, {key: columns[reference][key] for key, reference in references.items()}
    )
    if not pairs:
        return {}
    run_versions = {key: versions.get(key[0], {}) for key in pairs}
    has_changed = [run_versions[key].get(run) != run_versions[key].get(references[key]) for key in pairs]
    evidence = evidence_of_pairs([*pairs.values()])
    answers = family.answer(evidence, ~np.array(has_changed))
    results = {}
    for at, (key, pair) in enumerate(pairs.items()):
        sign = run_columns[key].spec.sign
        # Adding zero turns −0 into 0.
        interval = (answers.low[at], answers.high[at])[:: int(sign)]
        difference, low, high = (float(sign * value + 0.0) for value in (evidence.estimate[at], *interval))
        answer = SCORING_CHANGED if has_changed[at] else _ANSWERS[Answer(answers.side[at])]
        results[key] = RunComparison(
            difference, finite_or_none(low), finite_or_none(high), answer, pair.shared
        )
    return results
