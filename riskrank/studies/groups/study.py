"""A study for each group of samples beside that of all together, and where they disagree.

[RAB] Tables 2 and 6 rank the same models on all prompts and on groups of them; what changes is the question.
A group's study is that of its samples alone, with portfolios and families of tests of its own.
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
    """How one method ranks the models.

    Attributes
    ----------
    scores : ndarray, shape (k,)
        Larger is better.
    beats : ndarray of bool, shape (k, k), or None
        Whose lead over whom is significant; None where the method tests nothing.
    p_value : ndarray, shape (k, k), or None
        Of each lead by itself.
    family : Family
    """

    scores: np.ndarray
    beats: Booleans | None = None
    p_value: Floats | None = None
    family: Family = Family()

    @property
    def ranks(self) -> np.ndarray:
        """Ranks from 1; ties share the best."""
        return 1 + (self.scores[None, :] > self.scores[:, None]).sum(axis=1)


# By the name of the method.
Standings = Mapping[str, Standing]


@dataclass(frozen=True)
class Group(Generic[Kind]):
    """One group's study.

    Attributes
    ----------
    name : str
    samples : int
    document : Document
    standings : mapping of str to Standing
    tau : mapping of str to float or None
        Kendall's tau with the ranking of all samples, by method; None where a ranking ties everything.
    """

    name: str
    samples: int
    document: Kind
    standings: Standings
    tau: Mapping[str, float | None]

    def moved(self, whole: Standings, models: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Models whose rank is another than over all samples, by method."""
        for method, own in self.standings.items():
            everywhere, here = whole[method].ranks, own.ranks
            for i in np.flatnonzero(everywhere != here).tolist():
                yield {
                    "method": method,
                    "model": models[i],
                    "rank_all": int(everywhere[i]),
                    "rank_group": int(here[i]),
                }


@dataclass(frozen=True)
class Reversal:
    """Two models that tests put in one order somewhere, and in the other order elsewhere.

    Attributes
    ----------
    method : str
    model, other : str
    better_in, worse_in : tuple of str or None
        Groups in which `model` beats the other, and is beaten by it; None is all samples together.
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
    whole : Standings
        Of all samples together.
    parts : tuple of Group
        Sorted by name.
    """

    column: str
    models: tuple[str, ...]
    whole: Standings
    parts: tuple[Group[Kind], ...]

    @property
    def leading(self) -> list[str]:
        """The first method on each column of scores; RA(MRM@acc) and semideviation@acc are of one column."""
        by_column = {method.partition("@")[2].rstrip(")"): method for method in reversed([*self.whole])}
        return [method for method in self.whole if method in by_column.values()]

    def meta(self) -> dict[str, Any]:
        """Entries of ``meta``."""
        described = [
            {
                "group": part.name,
                "samples": part.samples,
                "kendall_tau": dict(part.tau),
                "moved": [*part.moved(self.whole, self.models)],
                "verdict": spell(part.document.verdict, flags=True),
            }
            for part in self.parts
        ]
        return {"groups": described, "reversals": [asdict(found) for found in self.reversals()]}

    def reversals(self) -> Iterator[Reversal]:
        """Pairs whose order is significant both ways, in different places."""
        for method, everywhere in self.whole.items():
            own = {} if everywhere.beats is None else {None: everywhere.beats}
            beats = own | self._beats_somewhere(method)
            for (i, model), (j, other) in combinations(enumerate(self.models), 2):
                better = tuple(name for name, found in beats.items() if found[i, j])
                worse = tuple(name for name, found in beats.items() if found[j, i])
                if better and worse:
                    yield Reversal(method, model, other, better, worse)

    def _beats_somewhere(self, method: str) -> dict[str | None, Booleans]:
        """By group, whose lead is significant among the leads of all groups (Holm over groups × pairs).

        Each group has a family of its own, and among many families some pair is turned around by chance.
        """
        found = {part.name: part.standings[method] for part in self.parts}
        beats: dict[str | None, Booleans] = {
            name: one.beats for name, one in found.items() if one.beats is not None
        }
        values = [one.p_value for one in found.values() if one.p_value is not None]
        if len(values) < len(beats) or not values:
            return beats
        together = across_groups(values, replace(next(iter(found.values())).family, correction="holm"))
        return {name: own & p for (name, own), p in zip(beats.items(), together, strict=True)}

    def sentence(self) -> str:
        """Where the ranking changes between groups, by the first method."""
        method = next(iter(self.whole))
        everywhere = self.whole[method].ranks
        moved, of = self._moved(method), len(self.parts)
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
        told = self._reversed(method)
        if told == _NO_REVERSAL:  # what was tested comes before what only these samples show
            return f"By {self.column}: {told}; in these samples their order {changes}."
        return f"{head} {changes}; {told}."

    def _moved(self, method: str) -> list[Group[Kind]]:
        """Groups in which the ranking is another than over all samples, the most different first."""
        everywhere = self.whole[method].ranks
        moved = [part for part in self.parts if not np.array_equal(part.standings[method].ranks, everywhere)]
        return sorted(moved, key=lambda part: part.tau[method] or 0.0)

    def findings(self) -> Iterator[FindingEntry]:
        """Where the ranking changes, and what the samples of each group leave open."""
        moved = self._moved(method := next(iter(self.whole)))
        figures: dict[str, float] = {"groups": len(self.parts), "changed": len(moved)}
        if moved and (tau := moved[0].tau[method]) is not None:
            figures["kendall_tau"] = tau
        yield FindingEntry("by-group", [], None, figures, None, self.sentence())
        for part in self.parts:
            for one in part.document.findings:
                if one.kind in LIMITS:
                    yield replace(one, on=part.name, sentence=of_group(part.name, one.sentence))

    def _reversed(self, method: str) -> str:
        if self.whole[method].beats is None:
            return "nothing is tested"
        found = [one for one in self.reversals() if one.method == method]
        if not found:
            return _NO_REVERSAL
        first = found[0]
        more = f"; so it is for {counted(len(found) - 1, 'other pair')}" if len(found) > 1 else ""
        return (
            f"{first.model} is significantly better than {first.other} in {places(first.better_in)} and "
            f"worse in {places(first.worse_in)}{more}"
        )


@dataclass(frozen=True, kw_only=True)
class GroupedDocument(Document[Row]):
    """What is found of all samples together and, where they were grouped, of each group.

    Attributes
    ----------
    groups : Groups or None
        None where nobody asked for groups; rows then have no field `group`.
    """

    groups: Groups | None = None

    def meta(self) -> Mapping[str, Any]:
        """The groups, where there are some."""
        return {} if self.groups is None else self.groups.meta()


def places(groups: Sequence[str | None]) -> str:
    """Groups in a sentence."""
    return listing(["all together" if group is None else group for group in groups], 3)


def refuse_clusters(table: ScoreTable, *, command: str, why: str, hint: str) -> None:
    """Refuse clusters of samples where nothing would be done with them.

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
            found=f"{counted(len(table.cluster_names), 'cluster')}, but {why}",
            hint=hint,
        )


def refuse_groups(table: ScoreTable, command: str) -> None:
    """Refuse groups where nothing would be done with them.

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
    """Study all samples together, then each group; subsamples are of all samples.

    Parameters
    ----------
    study : callable
        From a table, settings and a runtime to a document.
    standings : callable
        How each method ranks the models in such a document.
    table : ScoreTable
        With groups.
    settings : Settings
    runtime : Runtime

    Returns
    -------
    GroupedDocument
        That of all samples, with the rows and the warnings of the groups behind its own.

    Raises
    ------
    InputError
        If a group has too few samples for tests, or none of a model.
    """
    parts = group_tables(table)
    if not settings.no_test:
        require_samples(parts, table, otherwise=f"give statistics only: {option('no_test', True)}")
    whole = study(replace(table, groups=None, group_names=()), settings, runtime)
    everywhere = standings(whole)
    found = []
    subsampled = hasattr(settings, "stability")
    smaller = replace(settings, stability=(), stability_repeats=None) if subsampled else settings
    for name, part in parts.items():
        document = study(part, smaller, runtime)
        here = standings(document)
        tau = {method: _tau(everywhere[method].scores, one.scores) for method, one in here.items()}
        found.append(Group(name, len(part.samples), document, here, tau))
    groups = Groups(str(table.options.group_by), table.models, everywhere, tuple(found))
    verdict, more = fitting([whole.verdict, groups.sentence()])
    rows = [replace(row, group=part.name) for part in found for row in part.document.rows]
    warnings: dict[str | None, Iterable[str]] = {None: whole.provenance.warnings}
    warnings |= {part.name: part.document.provenance.warnings for part in found}
    return replace(
        whole,
        rows=[*whole.rows, *rows],
        verdict=verdict,
        more=(*whole.more, *more),
        findings=sorted([*whole.findings, *groups.findings()], key=lambda one: gravity(one.kind)),
        provenance=replace(whole.provenance, warnings=warnings_of_groups(warnings)),
        groups=groups,
    )


def require_samples(parts: Mapping[str, ScoreTable], table: ScoreTable, *, otherwise: str) -> None:
    """Refuse groups that are too small for tests, all at once and before any work is done.

    Parameters
    ----------
    parts : mapping of str to ScoreTable
        Tables of the groups.
    table : ScoreTable
        Of all.
    otherwise : str
        What else to do than to leave them out.

    Raises
    ------
    InputError
    """
    units = {name: min(len(np.unique(codes)) for codes in part.clusters) for name, part in parts.items()}
    few = [name for name, count in units.items() if count < FEWEST_SAMPLES]
    if not few:
        return
    unit = "samples" if table.cluster_names is None else "clusters of samples"
    instead = without_groups(table, few) if len(few) < len(parts) else "group by a column of fewer values"
    raise InputError(
        f"tests need {FEWEST_SAMPLES} {unit} in every group of {table.options.group_by}, and "
        f"{len(few)} of {len(parts)} groups {'has' if len(few) == 1 else 'have'} fewer",
        found=listing([f"{units[name]} in {name}" for name in few]),
        hint=f"{instead}, or {otherwise}",
    )


def _tau(one: np.ndarray, other: np.ndarray) -> float | None:
    tau = float(kendall_tau(np.stack([one, other]).astype(np.float64))[0, 1])
    return None if np.isnan(tau) else tau
