"""Studies of groups of samples, in addition to the study of all samples.

[RAB] Tables 2 and 6 rank the same models on all prompts and on groups of prompts. The study of a group uses
only its samples, and has its own portfolio scores and families of tests.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Generic, TypeVar

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import kendall_tau
from riskrank.engine.dominance.tests import significant_across_groups
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import MIN_SAMPLES
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, listing, option, spell
from riskrank.scores.table.oriented_scores import exclusion_hint, group_tables
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document, FindingEntry, Row, none_if_nan
from riskrank.studies.findings import SIZE_KINDS, group_sentence, group_warnings, severity_rank
from riskrank.studies.runtime import Runtime
from riskrank.studies.wording import count_of_total, counted, join_names, split_verdict

DocumentT = TypeVar("DocumentT", bound="GroupedDocument[Any]")


_NO_REVERSAL = "no pair of models is reversed significantly"


@dataclass(frozen=True)
class Standing:
    """Ranking of all k models by one method.

    Attributes
    ----------
    scores : ndarray, shape (k,)
        Score of each model, larger is better.
    beats : ndarray of bool, shape (k, k), or None
        True if the row's model is significantly ahead of the column's, or None if the method has no tests.
    p_value : ndarray, shape (k, k), or None
        Unadjusted p-value of each lead.
    family : Family
        Level and correction for multiple tests.
    """

    scores: np.ndarray
    beats: Booleans | None = None
    p_value: Floats | None = None
    family: Family = Family()

    @property
    def ranks(self) -> np.ndarray:
        """Ranks of the k models, starting at 1, shape (k,); tied models share the smallest rank."""
        return 1 + (self.scores[None, :] > self.scores[:, None]).sum(axis=1)


# Standings by method.
Standings = Mapping[str, Standing]


@dataclass(frozen=True)
class Group(Generic[DocumentT]):
    """Results for one group of samples.

    Attributes
    ----------
    name : str
        Name of the group.
    samples : int
        Number of samples.
    document : Document
        Result of the study on the samples of the group.
    standings : mapping of str to Standing
        Scores and significant wins by method.
    tau : mapping of str to float or None
        Kendall's tau with the overall ranking, by method, or None if all models tie in a ranking.
    """

    name: str
    samples: int
    document: DocumentT
    standings: Standings
    tau: Mapping[str, float | None]

    def rank_changes(self, overall: Standings, models: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield a dictionary for each method and model with different ranks in the group and overall."""
        for method, standing in self.standings.items():
            overall_ranks, ranks = overall[method].ranks.tolist(), standing.ranks.tolist()
            for model, rank_all, rank in zip(models, overall_ranks, ranks, strict=True):
                if rank != rank_all:
                    yield {"method": method, "model": model, "rank_all": rank_all, "rank_group": rank}


@dataclass(frozen=True)
class Reversal:
    """Two models whose order differs significantly between groups.

    Attributes
    ----------
    method : str
        Name of the ranking method or test.
    model, other : str
        Names of the two models.
    better_in, worse_in : tuple of str or None
        Groups in which `model` is significantly better or worse than `other`; None means all samples.
    """

    method: str
    model: str
    other: str
    better_in: tuple[str | None, ...]
    worse_in: tuple[str | None, ...]


@dataclass(frozen=True)
class Groups(Generic[DocumentT]):
    """Results for all groups of samples, and the rankings on all samples.

    Attributes
    ----------
    column : str
        Column that defines the groups.
    models : tuple of str
        Names of the models.
    overall : Standings
        Rankings on all samples, by method.
    parts : tuple of Group
        Groups sorted by name.
    """

    column: str
    models: tuple[str, ...]
    overall: Standings
    parts: tuple[Group[DocumentT], ...]

    @property
    def main_methods(self) -> list[str]:
        """First method for each metric or combined score, such as RA(MRM@acc) before semideviation@acc."""
        by_column = {method.partition("@")[2].rstrip(")"): method for method in reversed([*self.overall])}
        return [method for method in self.overall if method in by_column.values()]

    def meta(self) -> dict[str, Any]:
        """Return the results by group for the JSON object ``meta``."""
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
        """Yield the pairs of models with significant differences in opposite directions."""
        for method, everywhere in self.overall.items():
            beats_overall = {} if everywhere.beats is None else {None: everywhere.beats}
            beats = beats_overall | self._significant_by_group(method)
            for (i, model), (j, other) in combinations(enumerate(self.models), 2):
                better = tuple(name for name, leads in beats.items() if leads[i, j])
                worse = tuple(name for name, leads in beats.items() if leads[j, i])
                if better and worse:
                    yield Reversal(method, model, other, better, worse)

    def _significant_by_group(self, method: str) -> dict[str | None, Booleans]:
        """Return the significant wins of models over others by group, each a mask of shape (k, k).

        The p-values are adjusted by Holm's method over all groups and pairs. Each group has its own family of
        tests, so without this adjustment some pairs would reverse by chance.
        """
        group_standings = {part.name: part.standings[method] for part in self.parts}
        beats: dict[str | None, Booleans] = {
            name: standing.beats for name, standing in group_standings.items() if standing.beats is not None
        }
        p_values = [standing.p_value for standing in group_standings.values() if standing.p_value is not None]
        if len(p_values) < len(beats) or not p_values:
            return beats
        family = replace(self.parts[0].standings[method].family, correction="holm")
        across_groups = significant_across_groups(p_values, family)
        return {name: beats[name] & leads for name, leads in zip(beats, across_groups, strict=True)}

    def sentence(self) -> str:
        """Return a sentence about how ranks by the first method differ between groups."""
        method = next(iter(self.overall))
        changed, total = self._changed_groups(method), len(self.parts)
        head = f"By {self.column}: the order of the models"
        if not changed:
            return f"{head} is the same in {count_of_total(total, total, 'groups')}."
        first = changed[0].standings[method].ranks == 1
        best = [self.models[i] for i in np.flatnonzero(first).tolist()]
        verb = "comes" if len(best) == 1 else "come"
        if np.array_equal(first, self.overall[method].ranks == 1):
            verb = f"still {verb}"
        name = changed[0].name
        example = f": in {name}," if len(changed) == 1 else f", most in {name}, where"
        count = count_of_total(len(changed), total, "groups")
        changes = f"differs in {count}{example} {join_names(best)} {verb} first"
        reversals_text = self._describe_reversals(method)
        if reversals_text == _NO_REVERSAL:  # report tests before observed changes
            return f"By {self.column}: {reversals_text}; the observed order {changes}."
        return f"{head} {changes}; {reversals_text}."

    def _changed_groups(self, method: str) -> list[Group[DocumentT]]:
        """Return the groups whose ranking differs from the overall one, the most different first."""
        overall = self.overall[method].ranks
        changed = [part for part in self.parts if not np.array_equal(part.standings[method].ranks, overall)]
        return sorted(changed, key=lambda part: part.tau[method] or 0.0)

    def findings(self) -> Iterator[FindingEntry]:
        """Yield a finding about rank changes between groups, and findings about small groups."""
        method = next(iter(self.overall))
        changed = self._changed_groups(method)
        figures: dict[str, float] = {"groups": len(self.parts), "changed": len(changed)}
        if changed and (tau := changed[0].tau[method]) is not None:
            figures["kendall_tau"] = tau
        yield FindingEntry("by-group", [], None, figures, None, self.sentence())
        for part in self.parts:
            for finding in part.document.findings:
                if finding.kind in SIZE_KINDS:
                    yield replace(finding, on=part.name, sentence=group_sentence(part.name, finding.sentence))

    def _describe_reversals(self, method: str) -> str:
        """Return a clause about the pairs of models whose order is reversed significantly between groups."""
        if self.overall[method].beats is None:
            return "reversals are not tested"
        reversals = [reversal for reversal in self.reversals() if reversal.method == method]
        if not reversals:
            return _NO_REVERSAL
        first = reversals[0]
        more = f"; also reversed: {counted(len(reversals) - 1, 'other pair')}" if len(reversals) > 1 else ""
        return (
            f"{first.model} is significantly better than {first.other} in {format_groups(first.better_in)} "
            f"and worse in {format_groups(first.worse_in)}{more}"
        )


@dataclass(frozen=True, kw_only=True)
class GroupedDocument(Document[Row]):
    """Results for all samples and, if requested, for each group of samples.

    Attributes
    ----------
    groups : Groups or None
        None if no groups were requested; rows then have no field ``group``.
    """

    groups: Groups | None = None

    def meta(self) -> Mapping[str, Any]:
        """Return the results by group for the JSON object ``meta``; empty without groups."""
        return {} if self.groups is None else self.groups.meta()


def format_groups(groups: Sequence[str | None]) -> str:
    """Join the names of groups for a sentence; None stands for all samples."""
    return listing(["all together" if group is None else group for group in groups], 3)


def study_by_group(
    study: Callable[[ScoreTable, Any, Runtime], DocumentT],
    standings: Callable[[DocumentT], Standings],
    table: ScoreTable,
    settings: Any,
    runtime: Runtime,
) -> DocumentT:
    """Run a study on all samples, then on each group of samples.

    The stability of the ranking is computed on all samples only.

    Parameters
    ----------
    study : callable
        Function of a table, settings and a runtime that returns a document.
    standings : callable
        Function of a document that returns the ranking by each method.
    table : ScoreTable
        Table with groups of samples.
    settings : Settings
        Options of the command.
    runtime : Runtime
        Worker processes and progress display.

    Returns
    -------
    GroupedDocument
        Document of all samples, with the rows and warnings of the groups appended.

    Raises
    ------
    InputError
        If a group has too few samples for tests, or lacks a model.
    """
    parts = group_tables(table)
    if not settings.no_test:
        require_samples(parts, table, alternative=f"skip the tests: {option('no_test', True)}")
    overall_document = study(replace(table, groups=None, group_names=()), settings, runtime)
    overall_standings, studied = standings(overall_document), []
    group_settings = replace(settings, stability=()) if hasattr(settings, "stability") else settings
    for name, part in parts.items():
        document = study(part, group_settings, runtime)
        group_standings, tau = standings(document), {}
        for method, standing in group_standings.items():
            scores = np.stack([overall_standings[method].scores, standing.scores]).astype(np.float64)
            tau[method] = none_if_nan(float(kendall_tau(scores)[0, 1]))
        studied.append(Group(name, len(part.samples), document, group_standings, tau))
    groups = Groups(str(table.options.group_by), table.models, overall_standings, tuple(studied))
    verdict, omitted = split_verdict([overall_document.verdict, groups.sentence()])
    rows = [replace(row, group=part.name) for part in studied for row in part.document.rows]
    warnings: dict[str | None, Iterable[str]] = {None: overall_document.provenance.warnings}
    warnings |= {part.name: part.document.provenance.warnings for part in studied}
    return replace(
        overall_document,
        rows=[*overall_document.rows, *rows],
        verdict=verdict,
        more=(*overall_document.more, *omitted),
        findings=sorted(
            [*overall_document.findings, *groups.findings()], key=lambda finding: severity_rank(finding.kind)
        ),
        provenance=replace(overall_document.provenance, warnings=group_warnings(warnings)),
        groups=groups,
    )


def require_samples(parts: Mapping[str, ScoreTable], table: ScoreTable, *, alternative: str) -> None:
    """Raise an error that lists all groups with too few samples for tests.

    Parameters
    ----------
    parts : mapping of str to ScoreTable
        Tables of the groups.
    table : ScoreTable
        Table of all samples.
    alternative : str
        Remedy other than excluding the small groups, for the hint.

    Raises
    ------
    InputError
        If a group has too few samples.
    """
    units = {name: min(len(np.unique(codes)) for codes in part.clusters) for name, part in parts.items()}
    small = [name for name, count in units.items() if count < MIN_SAMPLES]
    if not small:
        return
    unit = "samples" if table.cluster_names is None else "clusters of samples"
    remedy = exclusion_hint(table, small) if len(small) < len(parts) else "group by another column"
    raise InputError(
        f"tests need {MIN_SAMPLES} {unit} in every group of {table.options.group_by}, but "
        f"{len(small)} of {len(parts)} groups {'has' if len(small) == 1 else 'have'} fewer",
        found=listing([f"{units[name]} in {name}" for name in small]),
        hint=f"{remedy}, or {alternative}",
    )
