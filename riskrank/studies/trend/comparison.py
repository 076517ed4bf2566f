"""Runs compared on the samples they share: differences with their answers, look by look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from riskrank.engine.changes.cases import SHARES, evidence_of, family_of_look
from riskrank.engine.evidence.evidence import Evidence, either_way
from riskrank.engine.evidence.student import MeanDifference, mean_difference
from riskrank.engine.family import Family, Side
from riskrank.engine.sampling.design import FEWEST_SAMPLES, ClusteredScores
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, listing, option
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.runs import Runs, Tables
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import rows_from
from riskrank.studies.gate.verdicts import known
from riskrank.studies.metric_means import metric_means
from riskrank.studies.trend.document import Against, TrendRow
from riskrank.studies.trend.states import BETTER, MOVED, OPEN, WORSE

_WORDS = {Side.SHOWN: BETTER, Side.OPEN: OPEN, Side.REFUTED: WORSE}

# Metric and model, whose runs are one line.
Key = tuple[str, str]


@dataclass(frozen=True, eq=False)
class RunColumn:
    """One model on one metric in one run.

    Attributes
    ----------
    table : ScoreTable
    model, metric : int
    """

    table: ScoreTable
    model: int
    metric: int

    @property
    def spec(self) -> MetricSpec:
        """The metric."""
        return self.table.metrics[self.metric]

    @property
    def counted(self) -> tuple[int, int]:
        """How many samples have a score, and how many there are."""
        own = self.spec.name, self.table.models[self.model]
        found = ((one.scored, one.total) for one in self.table.scored if (one.metric, one.model) == own)
        return next(found, (len(self.samples), len(self.samples)))

    @cached_property
    def samples(self) -> Integers:
        """Distinct samples, as numbers of the table."""
        return np.unique(self.table.row_samples[self.model])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of these."""
        return tuple(self.table.samples[at] for at in self.samples.tolist())

    def values(self, *, best: bool = False) -> Floats:
        """Scores, larger is better; what is missing at its best or worst where both are known."""
        ends = self.table.best if best and self.table.best is not None else self.table.values
        return ends[self.model][:, self.metric]

    def of(self, shared: Mapping[str, int], units: Integers, *, best: bool) -> tuple[Floats, Integers]:
        """Scores of shared samples with the unit each is drawn in, the units in their order."""
        rows = self._rows(shared)
        kept = rows >= 0
        unit = units[rows[kept]]
        order = np.argsort(unit, kind="stable")
        return self.values(best=best)[kept][order], unit[order]

    def units(self, shared: Mapping[str, int]) -> Integers:
        """The cluster of each shared sample, or the sample itself, numbered without gaps."""
        if self.table.cluster_names is None:
            return np.arange(len(shared))
        rows, found = self._rows(shared), np.zeros(len(shared), dtype=np.int64)
        found[rows[rows >= 0]] = self.table.clusters[self.model][rows >= 0]
        return np.unique(found, return_inverse=True)[1]

    def _rows(self, shared: Mapping[str, int]) -> Integers:
        """Which shared sample each row is of, −1 of others."""
        place = np.array([shared.get(name, -1) for name in self.table.samples], dtype=np.int64)
        return place[self.table.row_samples[self.model]]


def drawn(new: RunColumn, old: RunColumn) -> ClusteredScores:
    """The samples that both have, as they are drawn."""
    shared = _shared(new, old)
    of_sample = np.arange(len(shared))
    return ClusteredScores.build([of_sample], [new.units(shared)], samples=[of_sample])


def _shared(new: RunColumn, old: RunColumn) -> dict[str, int]:
    theirs = set(old.names)
    return {name: at for at, name in enumerate(name for name in new.names if name in theirs)}


class Pair(NamedTuple):
    """A run and what it is compared with; what is missing against the new one, and in its favour."""

    shared: int
    against: MeanDifference
    in_favour: MeanDifference


def paired(new: RunColumn, old: RunColumn) -> Pair | None:
    """The two on the samples both have; None of too few to tell anything."""
    shared = _shared(new, old)
    if len(shared) < FEWEST_SAMPLES:
        return None
    units = new.units(shared)
    worst, best = (
        mean_difference(new.of(shared, units, best=best), old.of(shared, units, best=not best), paired=True)
        for best in (False, True)
    )
    exact = new.table.best is None and old.table.best is None
    return Pair(len(shared), worst, worst if exact else best)


def evidence_of_pairs(pairs: Sequence[Pair]) -> Evidence:
    """What shared samples say of "the new run is better", whatever is missing."""
    against = evidence_of([one.against for one in pairs])
    if all(one.against is one.in_favour for one in pairs):
        return against
    return either_way(against, evidence_of([one.in_favour for one in pairs]))


def columns_of(tables: Mapping[str, Tables]) -> dict[str, dict[Key, RunColumn]]:
    """By run every model and metric it has."""
    return {
        run: {
            (metric.name, model): RunColumn(table, at, number)
            for table in run_tables
            for number, metric in enumerate(table.metrics)
            for at, model in enumerate(table.models)
        }
        for run, run_tables in tables.items()
    }


def stretches(fixed: Mapping[str, Tables], family: Family) -> dict[str, int]:
    """Runs numbered by the ruler they were measured with: a new one where the fixed set is shown to change.

    Raises
    ------
    InputError
        If two runs share too little of the fixed set.
    """
    columns, runs = columns_of(fixed), [*fixed]
    found, start = {runs[0]: 0}, runs[0]
    for look, run in enumerate(runs[1:], 1):
        before = columns[start]
        enough = [*_pairs(columns[run], before).values()]
        if not enough:
            raise InputError(
                f"the fixed set has fewer than {FEWEST_SAMPLES} samples that both {start} and {run} scored",
                found=f"{run} scored {listing(next(iter(columns[run].values())).names, 3)}",
                hint=f"score the same answers anew in every run, and give them the same names: "
                f"{option('columns', 'sample=…')}",
            )
        sides = family_of_look(family, look, 1.0).answer(evidence_of_pairs(enough)).side
        if sides.any():
            start = run
        found[run] = found[runs[look - 1]] + bool(sides.any())
    return found


def compared(runs: Runs, family: Family) -> tuple[list[TrendRow], dict[str, list[str]]]:
    """A row a run, metric and model, and the runs at which a ruler moved.

    Raises
    ------
    InputError
        If a run shares fewer than 10 samples with the baseline.
    """
    columns, order = columns_of(runs.tables), [*runs.tables]
    rulers = {metric: stretches(fixed, family) for metric, fixed in runs.anchors.items()}
    looks = {run: at for at, run in enumerate([one for one in order if one != runs.baseline], 1)}
    rows: list[TrendRow] = []
    before: dict[Key, str] = {}
    for run in order:
        here, look = columns[run], looks.get(run, 1)
        others = {
            "baseline": {} if run == runs.baseline else dict.fromkeys(columns[runs.baseline], runs.baseline),
            "last": before,
        }
        found = {
            name: _answers(run, columns, others[name], rulers, family_of_look(family, look, share))
            for name, share in SHARES.items()
        }
        if run != runs.baseline and not found["baseline"]:
            raise _nothing_shared(run, runs.baseline, columns)
        means = {one.name: one for table in runs.tables[run] for one in metric_means(table)}
        rows += rows_from(
            TrendRow,
            "run column mean baseline last",
            (
                (run, column, means[key[0]], *(found[name].get(key, Against()) for name in SHARES))
                for key, column in here.items()
            ),
        )
        before = before | dict.fromkeys(here, run)
    moved = {
        metric: [run for one, run in pairwise(order) if found[run] > found[one]]
        for metric, found in rulers.items()
    }
    return rows, moved


def _nothing_shared(run: str, baseline: str, columns: Mapping[str, Mapping[Key, RunColumn]]) -> InputError:
    both, what = (columns[run], columns[baseline]), "models"
    lists = [list(dict.fromkeys(model for _, model in one)) for one in both]
    hint = "give models that change their names one: write bot=PATH for every run"
    if any(key in columns[baseline] for key in columns[run]):
        lists, what = [list(next(iter(one.values())).names) for one in both], "samples"
        hint = f"leave the run out, or say what samples are: {option('columns', 'sample=…')}"
    here, there = (listing(one, 3) for one in lists)
    return InputError(
        f"{run} and {baseline} share no model and metric with {FEWEST_SAMPLES} samples that both scored",
        found=f"{run} has the {what} {here}, {baseline} {there}",
        hint=hint,
    )


def _pairs(here: Mapping[Key, RunColumn], there: Mapping[Key, RunColumn]) -> dict[Key, Pair]:
    """What both have, where they share enough samples."""
    found = {key: paired(new, there[key]) for key, new in here.items() if key in there}
    return {key: pair for key, pair in found.items() if pair is not None}


def _answers(
    run: str,
    columns: Mapping[str, Mapping[Key, RunColumn]],
    others: Mapping[Key, str],
    rulers: Mapping[str, Mapping[str, int]],
    family: Family,
) -> dict[Key, Against]:
    """A run against another of each line, where there is something to compare; one family."""
    here = columns[run]
    found = _pairs(here, {key: columns[other][key] for key, other in others.items()})
    if not found:
        return {}
    ruler = {key: rulers.get(key[0], {}) for key in found}
    across = [ruler[key].get(run) != ruler[key].get(others[key]) for key in found]
    evidence = evidence_of_pairs([*found.values()])
    answers = family.answer(evidence, ~np.array(across))
    told = {}
    for at, (key, pair) in enumerate(found.items()):
        sign = here[key].spec.sign
        # Adding zero turns −0 into 0.
        ends = (answers.low[at], answers.high[at])[:: int(sign)]
        difference, low, high = (float(sign * end + 0.0) for end in (evidence.estimate[at], *ends))
        answer = MOVED if across[at] else _WORDS[Side(answers.side[at])]
        told[key] = Against(difference, known(low), known(high), answer, pair.shared)
    return told
