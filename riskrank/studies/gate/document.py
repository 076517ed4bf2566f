"""What gates say, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from riskrank.engine.family import Family, Side
from riskrank.options.tiers import SUPPORTING
from riskrank.scores.table.baseline import Overlap, Unshared
from riskrank.studies.diff.document import CaseRow
from riskrank.studies.document import Gated, of
from riskrank.studies.gate.claim import FAILED, MEAN, ORDERS, place_of
from riskrank.studies.gate.looks import Looks
from riskrank.studies.gate.verdicts import INCONCLUSIVE, VERDICTS, counts, known
from riskrank.studies.judge.section import JudgedChapter, JudgedEntry, judged_meta
from riskrank.studies.means_only import CountedAs
from riskrank.studies.wording import whole

# Of more samples than so many times what there is nobody should be told.
_REACH = 100


@dataclass(frozen=True, slots=True)
class GateRow:
    """One claim on one metric; numbers in the units and the direction of the file.

    ``task`` is None where a claim is about all tasks, or there are none. ``estimate_low`` and
    ``estimate_high`` are how far the estimate may lie by what is missing, where claims are decided whatever
    it is; ``estimate`` is then the middle. ``chosen_p`` is the p-value of labels chosen by chance, where they
    do not look so: nothing is decided by them, whatever interval and p-value say. ``e_value`` is the evidence
    for the claim, ``e_value_against`` the evidence that it is false. ``tier`` is None where there are none.
    ``resamples_needed`` are those at which another seed would answer alike, where now it may not.
    ``relative_margin`` is the margin as a share of the old mean, where it is one, ``margin`` what that is.
    """

    claim: str = of(lambda claim: claim.kind)
    new: str = of(lambda models, claim: models[claim.new])
    old: str = of(lambda models, claim: models[claim.old])
    metric: str = of(lambda claim: claim.column.name)
    group: str | None = of(lambda claim: claim.column.group)
    statistic: str = of(lambda claim: claim.statistic)
    estimate: float = of(lambda claim, evidence, at: claim.in_units(evidence.estimate[at]))
    low: float | None = of(lambda ends: known(ends[0]))
    high: float | None = of(lambda ends: known(ends[1]))
    margin: float = of(lambda claim: claim.margin)
    verdict: str = of(lambda answers, at: VERDICTS[Side(answers.side[at])])
    p_value: float = of(lambda answers, at: float(answers.p_value[at]))
    p_adjusted: float = of(lambda answers, at: float(answers.p_adjusted[at]))
    standard_error: float = of(lambda evidence, at: float(evidence.error[at]))
    samples: int = of(lambda evidence, at: int(evidence.worth[at]))
    samples_needed: int | None = of(lambda answers, at: whole(answers.needed[at]))
    direction: str = of(lambda claim: "lower" if claim.column.units.sign < 0 else "higher")
    e_value: float | None = of(lambda e_values: e_values and e_values[0])
    e_value_against: float | None = of(lambda e_values: e_values and e_values[1], default=None)
    task: str | None = of(lambda claim: claim.column.task, default=None)
    estimate_low: float | None = of(lambda span: span and span[0], default=None)
    estimate_high: float | None = of(lambda span: span and span[1], default=None)
    chosen_p: float | None = of(lambda: None, default=None)
    tier: str | None = of(lambda claim: claim.tier, default=None)
    relative_margin: float | None = of(lambda claim: claim.share, default=None)
    resamples_needed: int | None = of(
        lambda answers, at: int(answers.resamples_needed[at]) or None, default=None
    )

    def with_chosen_labels(self, p: float) -> GateRow:
        """The claim where its labels look chosen by outcome: it was decided as if they were not."""
        return replace(self, verdict=INCONCLUSIVE, samples_needed=None, chosen_p=p)

    @property
    def boundary(self) -> float:
        """What all of an interval has to lie on one side of; adding zero turns −0 into 0."""
        claimed = self.margin if self.claim == "better" else -self.margin
        return (-claimed if self.direction == "lower" else claimed) + 0.0

    @property
    def hangs_on_missing(self) -> bool:
        """Whether what is missing alone makes the claim true or not."""
        if self.estimate_low is None or self.estimate_high is None:
            return False
        boundary = 0.5 if self.statistic in ORDERS else self.boundary
        return self.estimate_low < self.estimate_high and self.estimate_low <= boundary <= self.estimate_high

    @property
    def cautious(self) -> bool:
        """Whether its ends count one sample more (method §4, "Gates")."""
        return self.e_value is None and self.statistic.startswith((MEAN, "tvar"))

    @property
    def beyond_reach(self) -> bool:
        """Whether more samples would decide it than anybody will score: a hundred times what there is."""
        return self.samples_needed is not None and self.samples_needed > _REACH * self.samples

    @property
    def waits(self) -> bool:
        """Whether nothing was asked of it, as a critical claim is not shown."""
        return self.tier == SUPPORTING and self.p_adjusted == 1 and self.verdict == INCONCLUSIVE

    @property
    def better_or_worse(self) -> int:
        """1 where the new model is shown to be better by whatever margin, -1 where worse, 0 where open."""
        if self.low is None or self.high is None or self.statistic in ORDERS:
            return 0
        if self.chosen_p is not None or self.waits:
            return 0
        side = int(self.low > 0) - int(self.high < 0)
        return -side if self.direction == "lower" else side

    @property
    def open_loss(self) -> bool:
        """Whether the new model is shown to be worse, and by more than the margin or not is open."""
        return self.verdict == INCONCLUSIVE and self.better_or_worse < 0

    @property
    def place(self) -> str:
        """The task and the group it is about, as a sentence goes on: `` on gsm8k in hard``."""
        return place_of(self.task, self.group)

    @property
    def name(self) -> str:
        """The claim in a few words, as CI servers list it."""
        return f"{self.pair}: {self.statistic} of {self.metric}{self.place}"

    @property
    def asked(self) -> str:
        """The margin as it was asked for: ``0.02``, ``2 %``."""
        return f"{self.margin:,g}" if self.relative_margin is None else f"{100 * self.relative_margin:.12g} %"

    @property
    def pair(self) -> str:
        """What is claimed of which two models, whatever it looks at."""
        margin = f" by {self.asked}" if self.margin else ""
        verb = "better than" if self.claim == "better" else "not worse than"
        return f"{self.new} {verb} {self.old}{margin}"


@dataclass(frozen=True)
class Candidate:
    """A model that may cost less; `price` is that of a call, `p_adjusted` of all that is claimed of it."""

    model: str
    price: float
    p_adjusted: float
    shown: bool
    refuted: bool


@dataclass(frozen=True)
class Choice:
    """The model to take, which is the reference where no candidate is shown.

    Attributes
    ----------
    model, reference : str
    reference_price : float
    saves_a_call : float
    candidates : sequence of Candidate
        Dearest last.
    """

    model: str
    reference: str
    reference_price: float
    saves_a_call: float
    candidates: Sequence[Candidate]


@dataclass(frozen=True)
class Lost:
    """Cases that one model lost most against another on a metric, of all samples or of a group or task.

    Of how many cases how many are worse and better, with the two-sided p-value of a sign test, and whether
    chance alone makes as many.
    """

    new: str
    old: str
    metric: str
    cases: Sequence[CaseRow]
    group: str | None = None
    task: str | None = None
    worse: int = 0
    better: int = 0
    of: int = 0
    p_value: float = 1.0
    by_chance: bool = True

    @property
    def place(self) -> str:
        """The task and the group, as a sentence goes on."""
        return place_of(self.task, self.group)

    def entry(self) -> dict[str, Any]:
        """The list as an entry of ``meta``."""
        return asdict(self) | {"cases": [row.entry() for row in self.cases]}


@dataclass(frozen=True, kw_only=True)
class GateDocument(Gated[GateRow], schema="gate"):
    """Answers to all claims.

    Attributes
    ----------
    family : Family
    unit : str
        What is drawn, and what more of would decide a claim: samples, clusters of them, tasks or labels.
    noisiest : str
        What more of would decide the first open claim, where there are several sources of noise.
    worth : int
        Independent ones of equal size that tell as much, of the claim that has fewest.
    lost : sequence of Lost
        Cases behind the claims that did not pass, if asked for.
    texts : str
        Where the texts of those cases stand.
    overlap : Overlap or None
        What the new scores and a baseline have in common.
    unshared : sequence of Unshared
        Samples that were left out, as not all models have them.
    looks : Looks or None
        What this look and the ones before it saw, where the answers hold whenever one looks.
    judged : JudgedChapter or None
        Of a judge and people, what they are worth together.
    counted_as : CountedAs or None
        Where only means are compared, why, and what the rows count as.
    choice : Choice or None
        Which model to take, where that was asked.
    visible : dict of str to float
        By metric how far from its margin a mean has to lie to be decided, four times out of five.
    """

    entries: ClassVar[Mapping[str, type]] = {"choice": Choice, "baseline": Overlap, "judge": JudgedEntry}

    family: Family
    unit: str = "samples"
    noisiest: str = ""
    worth: int = 0
    lost: Sequence[Lost] = ()
    texts: str = ""
    looks: Looks | None = None
    overlap: Overlap | None = None
    unshared: Sequence[Unshared] = ()
    judged: JudgedChapter | None = None
    counted_as: CountedAs | None = None
    choice: Choice | None = None
    visible: Mapping[str, float] = field(default_factory=dict)

    @property
    def about(self) -> Sequence[str]:
        """The models that something is claimed of."""
        claimed = {model for row in self.rows for model in (row.new, row.old)}
        return [model for model in self.provenance.models if model in claimed]

    @property
    def scored(self) -> int | None:
        """Samples that a judge scored, if there is one."""
        return None if self.judged is None else self.judged.entry.samples

    @property
    def claims(self) -> Sequence[GateRow]:
        """The rows that are claims, and not counts of failures."""
        return claims_among(self.rows)

    @property
    def question(self) -> str:
        """The claim, or how many there are."""
        if self.choice is not None:
            return f"Which model is the cheapest that is not worse than {self.choice.reference}?"
        pairs = {row.pair for row in self.claims}
        return f"Is {pairs.pop()}?" if len(pairs) == 1 else f"Do {len(self.claims)} claims hold?"

    def meta(self) -> Mapping[str, Any]:
        """The answer to all claims together, and what a later look must find again."""
        beside = {
            "choice": self.choice and asdict(self.choice),
            "smallest_visible": None if self.looks is not None else dict(self.visible),
            "baseline": self.overlap and asdict(self.overlap),
            "left_out": [asdict(one) for one in self.unshared] or None,
            "cases": [one.entry() for one in self.lost] or None,
            "looks": self.looks and self.looks.meta(),
            **judged_meta(self.judged),
        }
        told = {name: entry for name, entry in beside.items() if entry is not None}
        return {"outcome": self.outcome, "counts": counts(self.rows), **told}


def claims_among(rows: Sequence[GateRow]) -> list[GateRow]:
    """The rows that are claims, and not counts of failures."""
    return [row for row in rows if row.statistic != FAILED]
