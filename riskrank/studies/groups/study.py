"""Separate studies for groups of samples, alongside the study of all samples.

[RAB] Tables 2 and 6 rank the same models on all prompts and on groups of them. The study of a group uses only
its samples, with portfolios and families of tests of its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Generic, TypeVar

import numpy as np

from riskrank.engine.aggregation.agreement import kendall_tau
from riskrank.engine.dominance.tests import across_groups
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import FEWEST_SAMPLES
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, UsageError, listing, option, spell
from riskrank.options.commands import grouping
from riskrank.scores.table.groups import group_tables, without_groups
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document, FindingEntry, Row
from riskrank.studies.runtime import Runtime
from riskrank.studies.sample_findings import LIMITS, of_group, warnings_of_groups
from riskrank.studies.severity import gravity
from riskrank.studies.wording import counted, fitting, names, so_many

Kind = TypeVar("Kind", bound="GroupedDocument[Any]")


_NO_REVERSAL = "no two models change places significantly"


@dataclass(frozen=True)
class Standing:
    """Ranking of the models by one method.

    Attributes
    ----------
    scores : ndarray, shape (k,)
        Larger is better.
    beats : ndarray of bool, shape (k, k), or None
        True if the row's lead over the column is significant; None if the method has no tests.
    p_value : ndarray, shape (k, k), or None
        Unadjusted p-value of each lead.
    family : Family
    """

    scores: np.ndarray
    beats: Booleans | None = None
    p_value: Floats | None = None
    family: Family = Family()

    @property
    def ranks(self) -> np.ndarray:
        """Ranks from 1; ties share the smallest rank."""
        return 1 + (self.scores[None, :] > self.scores[:, None]).sum(axis=1)


# Standings by method.
Standings = Mapping[str, Standing]


@dataclass(frozen=True)
class Group(Generic[Kind]):
    """Study of one group.

    Attributes
    ----------
    name : str
    samples : int
    document : Document
    standings : mapping of str to Standing
    tau : mapping of str to float or None
        Kendall's tau with the ranking of all samples, by method; None if a ranking ties all models.
    """

    name: str
    samples: int
    document: Kind
    standings: Standings
    tau: Mapping[str, float | None]

    def rank_changes(self, overall: Standings, models: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the models whose rank in the group differs from the rank over all samples, by method."""
        for method, standing in self.standings.items():
            everywhere, here = overall[method].ranks, standing.ranks
            for i in np.flatnonzero(everywhere != here).tolist():
                yield {
                    "method": method,
                    "model": models[i],
                    "rank_all": int(everywhere[i]),
                    "rank_group": int(here[i]),
                }


@dataclass(frozen=True)
class Reversal:
    """Two models in a significant order in some groups, and in the opposite order in others.

    Attributes
    ----------
    method : str
    model, other : str
    better_in, worse_in : tuple of str or None
        Groups in which `model` is significantly better or worse than `other`; None stands for all samples.
    """

    method: str
    model: str
    other: str
    better_in: tuple[str | None, ...]
    worse_in: tuple[str | None, ...]


@dataclass(frozen=True)
class Groups(Generic[Kind]):
    """All groups of a study.

    Attributes
    ----------
    column : str
    models : tuple of str
    overall : Standings
        Rankings of all samples.
    parts : tuple of Group
        Groups sorted by name.
    """

    column: str
    models: tuple[str, ...]
    overall: Standings
    parts: tuple[Group[Kind], ...]

    @property
    def main_methods(self) -> list[str]:
        """First method on each column of scores; RA(MRM@acc) and semideviation@acc use the same column."""
        by_column = {method.partition("@")[2].rstrip(")"): method for method in reversed([*self.overall])}
        return [method for method in self.overall if method in by_column.values()]

    def meta(self) -> dict[str, Any]:
        """Return the entries of ``meta``."""
        described = [
            {
                "group": part.name,
                "samples": part.samples,
                "kendall_tau": dict(part.tau),
                "moved": [*part.rank_changes(self.overall, self.models)],
                "verdict": spell(part.document.verdict, flags=True),
            }
            for part in self.parts
        ]
        return {"groups": described, "reversals": [asdict(reversal) for reversal in self.reversals()]}

    def reversals(self) -> Iterator[Reversal]:
        """Yield the pairs of models with significant results in opposite directions."""
        for method, everywhere in self.overall.items():
            beats_overall = {} if everywhere.beats is None else {None: everywhere.beats}
            beats = beats_overall | self._significant_by_group(method)
            for (i, model), (j, other) in combinations(enumerate(self.models), 2):
                better = tuple(name for name, leads in beats.items() if leads[i, j])
                worse = tuple(name for name, leads in beats.items() if leads[j, i])
                if better and worse:
                    yield Reversal(method, model, other, better, worse)

    def _significant_by_group(self, method: str) -> dict[str | None, Booleans]:
        """Return the significant leads in each group, adjusted over all groups (Holm over groups × pairs).

        Each group has its own family of tests. Without this adjustment, some pair would reverse by chance.
        """
        group_standings = {part.name: part.standings[method] for part in self.parts}
        beats: dict[str | None, Booleans] = {
            name: standing.beats for name, standing in group_standings.items() if standing.beats is not None
        }
        values = [standing.p_value for standing in group_standings.values() if standing.p_value is not None]
        if len(values) < len(beats) or not values:
            return beats
        together = across_groups(
            values, replace(next(iter(group_standings.values())).family, correction="holm")
        )
        return {name: leads & p for (name, leads), p in zip(beats.items(), together, strict=True)}

    def sentence(self) -> str:
        """Return a sentence on rank changes between groups by the first method."""
        method = next(iter(self.overall))
        everywhere = self.overall[method].ranks
        moved, of = self._changed_groups(method), len(self.parts)
        head = f"By {self.column}: the order of the models"
        if not moved:
            return f"{head} is the same in {so_many(of, of, 'groups')}."
        first = moved[0].standings[method].ranks == 1
        best = [self.models[i] for i in np.flatnonzero(first).tolist()]
        verb = "comes" if len(best) == 1 else "come"
        if np.array_equal(first, everywhere == 1):
            verb = f"still {verb}"
        many = so_many(len(moved), of, "groups")
        changes = f"changes in {many}, most in {moved[0].name}, where {names(best)} {verb} first"
        reversals_text = self._describe_reversals(method)
        if reversals_text == _NO_REVERSAL:  # report tests before observed changes
            return f"By {self.column}: {reversals_text}; in these samples their order {changes}."
        return f"{head} {changes}; {reversals_text}."

    def _changed_groups(self, method: str) -> list[Group[Kind]]:
        """Return the groups whose ranking differs from that of all samples, the most different first."""
        everywhere = self.overall[method].ranks
        moved = [part for part in self.parts if not np.array_equal(part.standings[method].ranks, everywhere)]
        return sorted(moved, key=lambda part: part.tau[method] or 0.0)

    def findings(self) -> Iterator[FindingEntry]:
        """Yield the finding on rank changes, and the limits of each group's sample size."""
        moved = self._changed_groups(method := next(iter(self.overall)))
        figures: dict[str, float] = {"groups": len(self.parts), "changed": len(moved)}
        if moved and (tau := moved[0].tau[method]) is not None:
            figures["kendall_tau"] = tau
        yield FindingEntry("by-group", [], None, figures, None, self.sentence())
        for part in self.parts:
            for finding in part.document.findings:
                if finding.kind in LIMITS:
                    yield replace(finding, on=part.name, sentence=of_group(part.name, finding.sentence))

    def _describe_reversals(self, method: str) -> str:
        if self.overall[method].beats is None:
            return "nothing is tested"
        reversals = [reversal for reversal in self.reversals() if reversal.method == method]
        if not reversals:
            return _NO_REVERSAL
        first = reversals[0]
        more = f"; so it is for {counted(len(reversals) - 1, 'other pair')}" if len(reversals) > 1 else ""
        return (
            f"{first.model} is significantly better than {first.other} in {format_places(first.better_in)} "
            f"and worse in {format_places(first.worse_in)}{more}"
        )


@dataclass(frozen=True, kw_only=True)
class GroupedDocument(Document[Row]):
    """A study of all samples and, if requested, of each group.

    Attributes
    ----------
    groups : Groups or None
        None if no groups were requested; rows then have no field `group`.
    """

    groups: Groups | None = None

    def meta(self) -> Mapping[str, Any]:
        """Return the entries of the groups; empty without groups."""
        return {} if self.groups is None else self.groups.meta()


def format_places(groups: Sequence[str | None]) -> str:
    """Return a list of groups in words."""
    return listing(["all together" if group is None else group for group in groups], 3)


def refuse_clusters(table: ScoreTable, *, command: str, reason: str, hint: str) -> None:
    """Refuse clustered or time-ordered samples, for a command that does not support them.

    Parameters
    ----------
    table : ScoreTable
    command : str
    reason, hint : str
        Explanation and remedy for clusters.

    Raises
    ------
    UsageError
    """
    if table.units is not None:
        raise UsageError(
            f"{command} knows no samples in the order of time",
            found="samples that are dates" if table.options.time is None else option("time"),
            hint=f"if their order means nothing: {option('time', 'none')}",
        )
    if table.cluster_names is not None:
        raise UsageError(
            f"{command} knows no clusters of samples",
            found=f"{counted(len(table.cluster_names), 'cluster')}, but {reason}",
            hint=hint,
        )


def refuse_groups(table: ScoreTable, command: str) -> None:
    """Refuse groups of samples, for a command that does not support them.

    Raises
    ------
    UsageError
    """
    if table.groups is not None:
        raise UsageError(
            f"{command} does not study groups",
            found=option("group_by", table.options.group_by),
            hint=f"{names(grouping())} do; read one group with {option('where')}",
        )


def study_by_group(
    study: Callable[[ScoreTable, Any, Runtime], Kind],
    standings: Callable[[Kind], Standings],
    table: ScoreTable,
    settings: Any,
    runtime: Runtime,
) -> Kind:
    """Study all samples together, then each group; stability is computed for all samples only.

    Parameters
    ----------
    study : callable
        Gets a table, settings and a runtime, and returns a document.
    standings : callable
        Gets such a document, and returns the ranking of each method.
    table : ScoreTable
        With groups.
    settings : Settings
    runtime : Runtime

    Returns
    -------
    GroupedDocument
        Study of all samples, with the rows and warnings of the groups appended.

    Raises
    ------
    InputError
        If a group has too few samples for tests, or no samples of a model.
    """
    parts = group_tables(table)
    if not settings.no_test:
        require_samples(parts, table, alternative=f"give statistics only: {option('no_test', True)}")
    overall_document = study(replace(table, groups=None, group_names=()), settings, runtime)
    overall_standings = standings(overall_document)
    studied = []
    subsampled = hasattr(settings, "stability")
    group_settings = replace(settings, stability=(), stability_repeats=None) if subsampled else settings
    for name, part in parts.items():
        document = study(part, group_settings, runtime)
        group_standings = standings(document)
        tau = {
            method: _tau(overall_standings[method].scores, standing.scores)
            for method, standing in group_standings.items()
        }
        studied.append(Group(name, len(part.samples), document, group_standings, tau))
    groups = Groups(str(table.options.group_by), table.models, overall_standings, tuple(studied))
    verdict, omitted = fitting([overall_document.verdict, groups.sentence()])
    rows = [replace(row, group=part.name) for part in studied for row in part.document.rows]
    warnings: dict[str | None, Iterable[str]] = {None: overall_document.provenance.warnings}
    warnings |= {part.name: part.document.provenance.warnings for part in studied}
    return replace(
        overall_document,
        rows=[*overall_document.rows, *rows],
        verdict=verdict,
        more=(*overall_document.more, *omitted),
        findings=sorted(
            [*overall_document.findings, *groups.findings()], key=lambda standing: gravity(standing.kind)
        ),
        provenance=replace(overall_document.provenance, warnings=warnings_of_groups(warnings)),
        groups=groups,
    )


def require_samples(parts: Mapping[str, ScoreTable], table: ScoreTable, *, alternative: str) -> None:
    """Refuse groups that are too small for tests, all at once and before any computation.

    Parameters
    ----------
    parts : mapping of str to ScoreTable
        Tables of the groups.
    table : ScoreTable
        Table of all samples.
    alternative : str
        Remedy other than omitting the small groups.

    Raises
    ------
    InputError
    """
    units = {name: min(len(np.unique(codes)) for codes in part.clusters) for name, part in parts.items()}
    small = [name for name, count in units.items() if count < FEWEST_SAMPLES]
    if not small:
        return
    unit = "samples" if table.cluster_names is None else "clusters of samples"
    remedy = without_groups(table, small) if len(small) < len(parts) else "group by a column of fewer values"
    raise InputError(
        f"tests need {FEWEST_SAMPLES} {unit} in every group of {table.options.group_by}, and "
        f"{len(small)} of {len(parts)} groups {'has' if len(small) == 1 else 'have'} fewer",
        found=listing([f"{units[name]} in {name}" for name in small]),
        hint=f"{remedy}, or {alternative}",
    )


def _tau(standing: np.ndarray, other: np.ndarray) -> float | None:
    tau = float(kendall_tau(np.stack([standing, other]).astype(np.float64))[0, 1])
    return None if np.isnan(tau) else tau
