"""Claims about two models, and how to decide them."""

from dataclasses import dataclass
from typing import Any

from riskrank.errors import UsageError, option
from riskrank.options.baseline import BASELINE, margins
from riskrank.options.option import ByName, ask, rare, several, switch
from riskrank.options.resampling import CORRECTIONS, FamilySettings
from riskrank.options.suites import SuiteSettings
from riskrank.options.tiers import tiers_by_name
from riskrank.options.values import names

# Cases that a comment lists where nobody says how many.
_IN_COMMENT = 10


@dataclass(frozen=True, kw_only=True)
class DecisionSettings(FamilySettings):
    """How to decide a family of claims."""

    correction: str = rare("Correction for many claims.", "holm", choices=CORRECTIONS)
    inconclusive: str | None = ask(
        "What a claim counts as that is neither shown nor refuted.",
        choices=("pass", "fail"),
        unset="an outcome of its own: exit status 4",
    )


@dataclass(frozen=True, kw_only=True)
class ClaimSettings(SuiteSettings, DecisionSettings):
    """Claims about two models, and how to decide them."""

    better: tuple[str, ...] = several("Claim: NEW is better than OLD.", metavar="NEW:OLD", truth=True)
    not_worse: tuple[str, ...] = several("Claim: NEW is not worse than OLD.", metavar="NEW:OLD", truth=True)
    new: tuple[str, ...] = several(
        f"The new model, with {option('old')} and {option('better', True)}, {option('not_worse', True)} or "
        f"both; with neither it is {option('not_worse', True)}.",
        instead="not_worse",
    )
    old: str | None = ask(f"The old model that {option('new')} is compared with.", instead="not_worse")
    on: tuple[str, ...] = several(
        "mean, tvar@0.05 or cvar@0.05 (mean of the worst 5 %), fsd, ssd, pass^3 (all of 3 runs pass), pass@3 "
        "(one does), each of all metrics or of one as in mean:NAME, or a metric for its mean; of a suite "
        "macro, the mean over tasks, and task, each of them.",
        metavar="STATISTIC",
        unset="mean",
    )
    margin: ByName = several(
        "Difference that matters, in the units of the metric or, as 2%, of the old mean: better by more, "
        "worse by less.",
        metavar="[METRIC=]VALUE[%]",
        unset="0",
    )
    tier: tuple[str, ...] = rare(
        "Claims, by metric or statistic, that must hold (critical, as all others are), that are tested only "
        "once these do (supporting), or that fail nothing (advisory).",
        (),
        metavar="TIER=CLAIM,...",
    )
    cheapest: str | None = rare(
        "In the place of claims: take the cheapest model that is shown not to be worse than REFERENCE, else "
        "that one.",
        metavar="REFERENCE",
        needs="price",
        against=("better", "not_worse", "anytime", "baseline", "tier"),
    )
    price: str | None = rare(
        f"With {option('cheapest')}: a file of models and prices, or the metric of measured costs.",
        metavar="FILE|METRIC",
        example="prices.csv",
        needs="cheapest",
    )
    most_failed: float = rare(
        "Share of calls without a score: from so much more than the old model's on the gate fails.",
        0.05,
        metavar="SHARE",
        least=0,
        below=1,
    )
    baseline: str | None = rare(
        f"Scores that were blessed, by {option('bless')}: the model {BASELINE}, beside the new ones.",
        metavar="FILE",
    )
    anytime: bool = switch(
        "Answers that hold whenever one looks, and stops: for scores within bounds, on the same samples."
    )
    largest_cluster: int | None = rare(
        f"With {option('anytime', True)}: the most samples a cluster may ever hold.",
        metavar="N",
        least=1,
        needs="anytime",
    )
    continues: str | None = rare(
        f"With {option('anytime', True)}: the JSON of an earlier look; refuses a table that lacks or changes "
        "a sample of it.",
        metavar="FILE",
        needs="anytime",
    )
    cases: int | None = rare(
        "Cases to list of every claim on means that did not pass, those that lost most first, as diff does.",
        metavar="N",
        least=0,
        unset=f"none; with {option('comment', True)} 10, of all claims on all samples",
    )
    comment: bool = rare(
        "Mark the Markdown, so that the next run can replace a comment.", False, decides=False, panel="Output"
    )

    def __post_init__(self) -> None:
        self._pair_up()
        super().__post_init__()
        tiers_by_name(self.tier)
        for name in ("better", "not_worse", "on"):
            self._normalise(name, tuple(dict.fromkeys(getattr(self, name))))
        self._normalise("margin", margins(self.margin))
        if not (self.cheapest or self.better or self.not_worse):
            raise UsageError(
                "a gate needs a claim",
                found=f"neither {option('better')} nor {option('not_worse')}",
                hint=f"write {option('not_worse', f'NEW:{BASELINE}')} with one of the models"
                if self.baseline
                else f"write {option('not_worse', 'NEW:OLD')} with two of the models",
            )
        if self.baseline is not None and not any(map(_names_baseline, (*self.better, *self.not_worse))):
            raise UsageError(
                f"{option('baseline', self.baseline)} is compared with no model",
                found=f"claims about {' and '.join((*self.better, *self.not_worse))}",
                hint=f"its model is called {BASELINE}: {option('not_worse', f'NEW:{BASELINE}')}",
            )

    @property
    def listed(self) -> int:
        """How many cases are listed: a comment on a pull request begins with them."""
        return (_IN_COMMENT if self.comment else 0) if self.cases is None else self.cases

    @property
    def needs(self) -> dict[str, Any]:
        """What it needs of the reading."""
        return {
            "texts": self.listed > 0,
            "grows": self.anytime,
            "compared": (*self.better, *self.not_worse),
        }

    def _pair_up(self) -> None:
        """Write models that are named on their own as pairs, which is how claims are told."""
        given: dict[str, Any] = {name: getattr(self, name) for name in ("better", "not_worse")}
        true = [name for name, value in given.items() if value is True]
        new = names(self.new)
        if new and self.old is None and self.baseline is not None:
            self._normalise("old", BASELINE)
        if bool(new) != (self.old is not None) or (true and not new):
            raise UsageError(
                f"{option(true[0], True)} needs {option('new')} and {option('old')}"
                if true
                else f"{option('new')} and {option('old')} go together",
                found="neither of them" if not new and self.old is None else "one of them",
                hint=f'write new="NEW", old="OLD", or {option((true or ["not_worse"])[0], "NEW:OLD")}',
            )
        named = [name for name, value in given.items() if not isinstance(value, bool) and value]
        if new and named:
            raise UsageError(
                f"{option(named[0])} names its models, and {option('new')} and {option('old')} do, too",
                found="both",
                hint=f"write {option(named[0], True)}, or leave out {option('new')} and {option('old')}",
            )
        pairs = tuple(f"{one}:{self.old}" for one in new)
        for name, value in given.items():
            wanted = name in true or (new and not true and name == "not_worse")
            self._normalise(name, pairs if wanted else () if isinstance(value, bool) else value)
        self._normalise("new", ())
        self._normalise("old", None)


def _names_baseline(pair: str) -> bool:
    return pair.endswith(f":{BASELINE}") or pair.startswith(f"{BASELINE}:")
