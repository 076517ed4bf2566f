"""The one test whose power is wanted, and the sizes to try."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from riskrank.errors import UsageError, listing, option
from riskrank.options.option import METHOD, ask, differing, rare, several
from riskrank.options.resampling import RejectionSettings
from riskrank.options.suites import SuiteSettings
from riskrank.options.values import contradict
from riskrank.studies.dominance.options import ABSOLUTE, DIRECT, RELATIVE, refuse_threshold
from riskrank.studies.portfolio.options import PortfolioSettings

_OF_DOMINANCE = (
    "order",
    "test",
    "threshold",
    "resamples",
    "simulations",
    "variance",
    "correction",
    "paper_exact",
    "copula",
)

# What options are about that say nothing of some plans, what is lacking there, and what to ask for.
_IDLE = {
    "cost": (f"levels of {option('noise')}", "no sources of noise", f"name them, {option('noise', 'COL')}"),
    "margin": ("a gate, and dominance has none", f"no {option('judge')}", f"add {option('judge', 'METRIC')}"),
}


@dataclass(frozen=True, kw_only=True)
class PlannedTestSettings(RejectionSettings):
    """The one test whose power is wanted."""

    order: str | int = ask("Order of dominance.", "2", choices=("1", "2"))
    test: str | None = ask(
        "Kind of claim.",
        choices=(DIRECT, RELATIVE, ABSOLUTE),
        unset=f"direct with {option('pair')}, absolute with {option('threshold')}, else relative",
    )
    threshold: tuple[float, ...] = rare(
        "Largest violation ratio of an absolute test.", (), metavar="TAU", example="0.25"
    )
    resamples: int | str = ask(
        "Bootstrap resamples of each test, or as many as the family needs.", "auto", metavar="auto|B"
    )
    variance: str = rare(
        "Test by resampling, or by the limit theorem, many times faster.",
        "bootstrap",
        choices=("bootstrap", "clt"),
        against=("paper_exact",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_threshold(self.test, self.threshold)
        if len(self.threshold) > 1 or (self.test == ABSOLUTE and not self.threshold):
            raise UsageError(
                "an absolute test needs one threshold",
                found=listing(f"{tau:g}" for tau in self.threshold),
                hint=f"give one, e.g. {option('threshold', 0.25)}, and run again for another",
            )


@dataclass(frozen=True, kw_only=True)
class PowerSettings(PortfolioSettings, PlannedTestSettings, SuiteSettings):
    """The one test whose power is wanted, and the sizes to try."""

    PANEL: ClassVar[str] = METHOD

    sizes: tuple[int, ...] = several(
        "Samples per model to simulate; of a suite samples a task, or tasks; with a judge labels.",
        metavar="N,N,...",
        unset="100,500,1000; 20,50,100 samples a task; 10,20,50 tasks; labels around those needed",
    )
    pair: str | None = ask("One pair, as dominance of these two alone tests it.", metavar="BETTER:WORSE")
    target: float = ask("Power to find the sample size of.", 0.8, metavar="POWER")
    limit: int | None = rare(
        "Largest size to try.",
        metavar="N",
        unset=f"5 times the largest of {option('sizes')}; of labels all but 2 samples",
    )
    simulations: int = ask(
        "How many tables to draw: 40 in closed form for each, and up to a fifth tested whole, one at least.",
        100,
        metavar="R",
        least=1,
    )
    margin: float = rare(
        f"With {option('judge')}: the claim is not worse by so much, in the place of better.",
        0.0,
        metavar="VALUE",
        least=0,
        below=inf,
    )
    cost: dict[str, float] = rare(
        f"With {option('noise')}: what a level of each source costs, items and the others.",
        (),
        metavar="SOURCE=VALUE",
        example="judge=20",
        above=0,
    )

    def refuse_dominance(self, asked: str) -> None:
        """Refuse what is asked of tests of dominance where a gate on means is planned.

        Raises
        ------
        UsageError
        """
        for name in differing(self):
            if name in _OF_DOMINANCE:
                contradict(
                    option(name), asked, "one is about dominance, the other about means: leave out one"
                )

    def refuse_idle(self, name: str) -> None:
        """Refuse costs where no sources of noise are planned, or a margin where dominance is.

        Raises
        ------
        UsageError
        """
        if name in differing(self):
            about, found, ask_for = _IDLE[name]
            hint = f"{ask_for}, or leave out {option(name)}"
            raise UsageError(f"{option(name)} is about {about}", found=found, hint=hint)
