"""What changed, case by case."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.studies.diff.options import DiffSettings
from riskrank.studies.document import Document
from riskrank.studies.wording import counted

# Counts that a first screen has room for, beside some cases.
MOST_CHANGES = 5

WORSE, BETTER, SAME = "worse", "better", "same"

# Fields that a document has only where a row says something in them.
TEXTS = ("input", "output_new", "output_old")


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One sample on one metric; scores in the units of the file, means where there are several runs."""

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
    shown: bool | None
    input: str | None = None
    output_new: str | None = None
    output_old: str | None = None

    def entry(self) -> dict[str, Any]:
        """The row as an entry of ``meta``, without texts it lacks."""
        found = asdict(self)
        return {name: found[name] for name in found if name not in TEXTS or found[name] is not None}


@dataclass(frozen=True, slots=True)
class Change:
    """All samples, or those of a group, on one metric."""

    metric: str
    group: str | None
    worse: int
    better: int
    same: int
    p_value: float
    p_adjusted: float
    worse_in_one_run: float | None
    worse_by_chance: float | None
    shown_worse: int | None
    significant: bool = False

    @property
    def samples(self) -> int:
        """All of them."""
        return self.worse + self.better + self.same

    def entry(self) -> dict[str, Any]:
        """The counts as an entry of ``meta``."""
        return {name: value for name, value in asdict(self).items() if name != "significant"}

    @property
    def lost(self) -> bool:
        """Whether more is shown to be lost than won."""
        return self.significant and self.worse > self.better


@dataclass(frozen=True, kw_only=True)
class DiffDocument(Document[CaseRow], schema="diff"):
    """Every case, the most lost first, and how many there are of each kind.

    Attributes
    ----------
    new, old : str
    changes : sequence of Change
        By metric, of all samples together and then of each group.
    settings : DiffSettings
    metrics : sequence of MetricSpec
    clusters : int or None
        That the samples are drawn in, where they are not drawn one by one.
    texts : str
        Where the texts of cases stand.
    """

    new: str
    old: str
    changes: Sequence[Change]
    settings: DiffSettings
    metrics: Sequence[MetricSpec]
    clusters: int | None = None
    texts: str = ""

    @property
    def about(self) -> Sequence[str]:
        """The two models."""
        return [model for model in self.provenance.models if model in (self.new, self.old)]

    @property
    def foremost(self) -> Change:
        """All samples on the first metric shown to differ, or else on the first on which any case changed."""
        together = (one for one in self.changes if one.group is None)
        return min(together, key=lambda one: (not one.significant, one.samples == one.same))

    @property
    def question(self) -> str:
        """What changes from one model to the other."""
        return f"From {self.old} to {self.new}: which cases change?"

    @property
    def cases(self) -> int:
        """How many to show: as asked, or as many as a first screen has room for."""
        asked = self.settings.cases
        return 7 - min(len(self.changes), MOST_CHANGES) if asked is None else asked

    @property
    def test(self) -> str:
        """What compares how many got worse and better."""
        whole = "" if self.clusters is None else f" of {counted(self.clusters, 'cluster')} of samples"
        return f"exact sign test{whole}"

    @property
    def repeated(self) -> bool:
        """Whether there are several runs of a sample, so that single cases can be tested."""
        return any(row.p_value is not None for row in self.rows)

    @property
    def lost(self) -> list[CaseRow]:
        """Cases that got worse, the worst first; those that are shown before others."""
        return [row for row in self.rows if row.change == WORSE]

    @property
    def won(self) -> list[CaseRow]:
        """Cases that got better, metric by metric the best first; ties in the order of all rows."""
        names = [spec.name for spec in self.metrics]
        better = (row for row in self.rows if row.change == BETTER)
        ties = [list(tied) for _, tied in groupby(better, lambda row: (row.metric, row.difference))]
        found = [row for tied in reversed(ties) for row in tied]
        return sorted(found, key=lambda row: names.index(row.metric) if row.metric in names else 0)

    def meta(self) -> Mapping[str, Any]:
        """Counts of changes."""
        drawn = {} if self.clusters is None else {"clusters": self.clusters}
        return {"new": self.new, "old": self.old, **drawn, "changes": [one.entry() for one in self.changes]}
