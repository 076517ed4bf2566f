"""The document of ``gate``, with one row per claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite, log1p, sqrt
from typing import Any, ClassVar

from riskrank.engine.family import Answer, Family
from riskrank.engine.sampling.monte_carlo import UpperBound
from riskrank.engine.special import ndtr
from riskrank.options.inference import SUPPORTING
from riskrank.scores.table.baseline import Overlap, UnmatchedSamples
from riskrank.studies.cases import CaseRow
from riskrank.studies.document import GatedDocument, computed
from riskrank.studies.gate.anytime import Looks
from riskrank.studies.gate.claim import AT_LEAST, BETTER, COUNTED, LEVELS, describe_subset
from riskrank.studies.gate.verdicts import INCONCLUSIVE, VERDICTS, count_verdicts, finite_or_none
from riskrank.studies.judge.section import JudgeAnalysis, JudgedEntry, judge_meta
from riskrank.studies.means_only import DesignNote
from riskrank.studies.statistics import ORDERS

# A needed sample size above this multiple of the available samples counts as out of reach.
_REACH = 100


@dataclass(frozen=True, slots=True)
class GateRow:
    """Result of one claim on one metric, in the units and direction of the file.

    ``task`` is None if a claim is about all tasks, or there are none. ``estimate_low`` and ``estimate_high``
    bound the estimate over all possible values of the missing scores; ``estimate`` is then their midpoint.
    ``chosen_p`` is the p-value for H₀: labels were chosen at random. It is set only if significant; the claim
    is then inconclusive. ``e_value`` is the evidence for the claim, ``e_value_against`` that against it.
    ``tier`` is None without tiers. ``resamples_needed`` is set if the verdict may depend on the random seed;
    with that many resamples it would not. If ``relative_margin`` is not None, the estimate, its limits and
    the margin are relative changes: −0.05 means 5 % less than the old statistic. In claims about a number,
    ``old`` is None, the estimate is the statistic of one model, and ``margin`` is the number.
    ``lost_samples`` are the samples that must pass and do not.
    """

    claim: str = computed(lambda claim: claim.kind)
    new: str = computed(lambda models, claim: models[claim.new])
    old: str | None = computed(lambda models, claim: models[claim.old] or None)
    metric: str = computed(lambda claim: claim.column.name)
    group: str | None = computed(lambda claim: claim.column.group)
    statistic: str = computed(lambda claim: claim.statistic)
    estimate: float = computed(lambda claim, evidence, i: claim.to_file_units(evidence.estimate[i]))
    low: float | None = computed(lambda interval: finite_or_none(interval[0]))
    high: float | None = computed(lambda interval: finite_or_none(interval[1]))
    margin: float = computed(lambda claim: claim.margin if claim.relative is None else claim.relative)
    verdict: str = computed(lambda answers, i: VERDICTS[Answer(answers.side[i])])
    p_value: float = computed(lambda answers, i: float(answers.p_value[i]))
    p_adjusted: float = computed(
        lambda answers, i: (UpperBound if answers.at_floor[i] else float)(answers.p_adjusted[i])
    )
    standard_error: float = computed(
        lambda claim, evidence, i: claim.error_to_file_units(evidence.error[i], evidence.estimate[i])
    )
    samples: int = computed(lambda evidence, i: int(evidence.samples[i]))
    samples_needed: int | None = computed(
        lambda answers, i: int(answers.needed[i]) if isfinite(answers.needed[i]) else None
    )
    direction: str = computed(lambda claim: "lower" if claim.column.units.sign < 0 else "higher")
    e_value: float | None = computed(lambda e_values: e_values and e_values[0])
    e_value_against: float | None = computed(lambda e_values: e_values and e_values[1], default=None)
    task: str | None = computed(lambda claim: claim.column.task, default=None)
    estimate_low: float | None = computed(lambda span: span and span[0], default=None)
    estimate_high: float | None = computed(lambda span: span and span[1], default=None)
    chosen_p: float | None = computed(lambda: None, default=None)
    tier: str | None = computed(lambda claim: claim.tier, default=None)
    relative_margin: float | None = computed(lambda claim: claim.relative, default=None)
    resamples_needed: int | None = computed(
        lambda answers, i: int(answers.resamples_needed[i]) or None, default=None
    )
    lost_samples: tuple[str, ...] | None = computed(lambda: None, default=None)

    def with_unbounded_scores(self) -> GateRow:
        """Return the row with an inconclusive verdict, because its missing scores could have any value."""
        undecided: dict[str, Any] = {"verdict": INCONCLUSIVE, "p_value": 1.0, "p_adjusted": 1.0}
        return replace(self, low=None, high=None, samples_needed=None, resamples_needed=None, **undecided)

    @property
    def boundary(self) -> float:
        """Value that separates pass from fail, in the units of the input file.

        The claim passes if its interval lies entirely on the required side.
        """
        if self.is_level:
            return self.margin
        claimed = self.margin if self.claim == "better" else -self.margin
        return (-claimed if self.direction == "lower" else claimed) + 0.0

    @property
    def is_level(self) -> bool:
        """True if one model is compared with a number."""
        return self.claim in LEVELS

    @property
    def depends_on_missing(self) -> bool:
        """True if the missing scores determine on which side of the boundary the estimate lies."""
        if self.estimate_low is None or self.estimate_high is None:
            return False
        boundary = 0.5 if self.statistic in ORDERS else self.boundary
        return self.estimate_low < self.estimate_high and self.estimate_low <= boundary <= self.estimate_high

    @property
    def is_out_of_reach(self) -> bool:
        """True if the claim needs more than 100 times the available samples."""
        return self.samples_needed is not None and self.samples_needed > _REACH * self.samples

    @property
    def is_untested(self) -> bool:
        """True if a supporting claim was not tested because a critical claim did not pass."""
        return self.tier == SUPPORTING and self.p_adjusted == 1 and self.verdict == INCONCLUSIVE

    @property
    def effect_size(self) -> float:
        """Distance of the estimate from the boundary in standard errors; positive if the claim holds."""
        estimate, boundary = self.estimate, self.boundary
        if self.relative_margin is not None:
            estimate, boundary = log1p(estimate), log1p(boundary)
        distance = (estimate - boundary) / max(self.standard_error, 1e-300)
        return -distance if self.direction == "lower" else distance

    def power(self, samples: int, critical: float) -> float:
        """Return the approximate probability that the claim passes.

        Parameters
        ----------
        samples : int
            Number of samples.
        critical : float
            Critical value in standard errors.
        """
        return float(ndtr(self.effect_size * sqrt(samples / self.samples) - critical))

    @property
    def effect_sign(self) -> int:
        """Sign of the effect: 1 if new is significantly better than old, −1 if it is worse, 0 otherwise."""
        untested = self.statistic in ORDERS or self.is_level or self.chosen_p is not None or self.is_untested
        if self.low is None or self.high is None or untested:
            return 0
        side = int(self.low > 0) - int(self.high < 0)
        return -side if self.direction == "lower" else side

    @property
    def has_inconclusive_loss(self) -> bool:
        """True if the new model is significantly worse, but not significantly by more than the margin."""
        return self.verdict == INCONCLUSIVE and self.effect_sign < 0

    @property
    def subset(self) -> str:
        """Phrase for task and group, such as `` on gsm8k in hard``, or an empty string for all samples."""
        return describe_subset(self.task, self.group)

    @property
    def name(self) -> str:
        """Name of the claim for CI reports."""
        return f"{self.claim_text}: {self.statistic} of {self.metric}{self.subset}"

    @property
    def margin_text(self) -> str:
        """Margin in the form in which the user wrote it, such as ``0.02`` or ``2 %``."""
        return f"{self.margin:,g}" if self.relative_margin is None else f"{100 * self.margin:.12g} %"

    @property
    def claim_text(self) -> str:
        """The claim without statistic and metric, such as ``new not worse than old by 0.02``."""
        if self.is_level:
            return f"{self.new} {'at least' if self.claim == AT_LEAST else 'at most'} {self.margin_text}"
        margin = f" by {self.margin_text}" if self.margin else ""
        verb = "better than" if self.claim == BETTER else "not worse than"
        return f"{self.new} {verb} {self.old}{margin}"


@dataclass(frozen=True)
class Candidate:
    """A candidate for replacing the reference model at a lower price.

    ``price`` is per call; ``p_adjusted`` is the joint p-value of all claims about the model.
    """

    model: str
    price: float
    p_adjusted: float
    passed: bool
    refuted: bool


@dataclass(frozen=True)
class Choice:
    """The cheapest model that passes, or the reference model if none does.

    Attributes
    ----------
    model, reference : str
    reference_price : float
    saves_a_call : float
    candidates : sequence of Candidate
        Sorted by price, the cheapest first.
    """

    model: str
    reference: str
    reference_price: float
    saves_a_call: float
    candidates: Sequence[Candidate]


@dataclass(frozen=True)
class LostCases:
    """Cases with the largest losses of a new model, over all samples, in one group or on one task.

    ``worse`` and ``better`` are counts out of ``of`` cases. ``p_value`` is that of a two-sided sign test;
    ``by_chance`` is True if it is not significant.
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
    def subset(self) -> str:
        """Phrase for task and group, such as `` on gsm8k in hard``, or an empty string for all samples."""
        return describe_subset(self.task, self.group)

    def entry(self) -> dict[str, Any]:
        """Return the cases as an entry of the JSON object ``meta``."""
        return asdict(self) | {"cases": [row.entry() for row in self.cases]}


@dataclass(frozen=True, kw_only=True)
class GateDocument(GatedDocument[GateRow], schema="gate"):
    """Result of a gate: the verdict on every claim.

    Attributes
    ----------
    family : Family
    unit : str
        Plural noun for the resampling unit: samples, clusters, tasks or labels.
    unbounded : mapping of str to str
        Likely bounds by metric, each a TOML line or empty. The metrics have no declared bounds, and too many
        of their scores are missing to decide a claim.
    noise_source : str
        Largest source of noise in the first inconclusive claim, or empty if there is only one source.
    effective_size : int
        Smallest effective sample size among the claims.
    lost_cases : sequence of LostCases
        Largest losses for the claims that did not pass, if requested.
    texts : str
        Description of the source of the cases' texts.
    overlap : Overlap or None
        Number of samples shared by the new scores and the baseline.
    unmatched : sequence of UnmatchedSamples
        Samples excluded because some models lack them.
    looks : Looks or None
        Record of this look and earlier ones, for anytime-valid claims.
    judged : JudgeAnalysis or None
        Results of calibrating a judge on human labels.
    counted_as : DesignNote or None
        Reason why only means are compared, and how rows count.
    choice : Choice or None
        Cheapest model that passes, if requested.
    detectable : dict of str to float
        Minimum detectable distance from the margin by metric (power 80 %).
    required : int
        Number of samples that must pass; 0 if none are named.
    worse_tails : sequence of GateRow
        Tail means that are significantly worse although the means pass; they do not change the verdict.
    """

    entries: ClassVar[Mapping[str, type]] = {"choice": Choice, "baseline": Overlap, "judge": JudgedEntry}

    family: Family
    unit: str = "samples"
    unbounded: Mapping[str, str] = field(default_factory=dict)
    noise_source: str = ""
    effective_size: int = 0
    lost_cases: Sequence[LostCases] = ()
    texts: str = ""
    looks: Looks | None = None
    overlap: Overlap | None = None
    unmatched: Sequence[UnmatchedSamples] = ()
    judged: JudgeAnalysis | None = None
    counted_as: DesignNote | None = None
    choice: Choice | None = None
    detectable: Mapping[str, float] = field(default_factory=dict)
    required: int = 0
    worse_tails: Sequence[GateRow] = ()

    @property
    def model_names(self) -> Sequence[str]:
        """Models in the claims, in the order of the table."""
        claimed = {model for row in self.rows for model in (row.new, row.old)}
        return [model for model in self.provenance.models if model in claimed]

    @property
    def judged_samples(self) -> int | None:
        """Number of samples that a judge scored, or None without a judge."""
        return None if self.judged is None else self.judged.entry.samples

    @property
    def claims(self) -> Sequence[GateRow]:
        """Rows of tested claims. Rows on failed calls and on samples that must pass are excluded."""
        return claim_rows(self.rows)

    @property
    def question(self) -> str:
        """Question that the gate answers: the only claim, or the number of claims."""
        if self.choice is not None:
            return f"Which is the cheapest model that is not worse than {self.choice.reference}?"
        pairs = {row.claim_text for row in self.claims}
        return f"Is {pairs.pop()}?" if len(pairs) == 1 else f"Do {len(self.claims)} claims hold?"

    def meta(self) -> Mapping[str, Any]:
        """Return the results for the JSON object ``meta``: overall verdict, counts and optional results."""
        optional = {
            "choice": self.choice and asdict(self.choice),
            "smallest_visible": None if self.looks is not None else dict(self.detectable),
            "baseline": self.overlap and asdict(self.overlap),
            "left_out": [asdict(item) for item in self.unmatched] or None,
            "cases": [item.entry() for item in self.lost_cases] or None,
            "looks": self.looks and vars(self.looks),
            "must_pass": self.required or None,
            **judge_meta(self.judged),
        }
        present = {name: entry for name, entry in optional.items() if entry is not None}
        return {"outcome": self.outcome, "counts": count_verdicts(self.rows), **present}


def claim_rows(rows: Sequence[GateRow]) -> list[GateRow]:
    """Return the rows of tested claims. Rows on failed calls and on samples that must pass are excluded."""
    return [row for row in rows if row.statistic not in COUNTED]
