"""Options of the ``power`` command."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from riskrank.errors import UsageError, listing, option
from riskrank.options.inference import RejectionSettings, StatisticSettings, SuiteSettings
from riskrank.options.option import METHOD, non_defaults, param, rare, several
from riskrank.options.values import contradict
from riskrank.studies.dominance.options import ABSOLUTE, DIRECT, RELATIVE, refuse_threshold
from riskrank.studies.portfolio.options import PortfolioSettings

_TEST_OPTIONS = ("resamples", "simulations", "variance", "correction", "paper_exact")
_DOMINANCE_OPTIONS = ("order", "test", "threshold", "copula", *_TEST_OPTIONS)

# Options by the option that they require.
_REQUIRED = {"cost": "noise", "margin": "judge"}


@dataclass(frozen=True, kw_only=True)
class PlannedTestSettings(RejectionSettings):
    """Options that define the test whose sample size is planned."""

    order: str | int = param("Order of stochastic dominance to test.", "2", choices=("1", "2"))
    test: str | None = rare(
        "Kind of claim: one model against another (direct), against all others (relative), or a violation "
        "ratio below a threshold (absolute).",
        choices=(DIRECT, RELATIVE, ABSOLUTE),
        unset=f"direct with {option('pair')}, absolute with {option('threshold')}, else relative",
    )
    threshold: tuple[float, ...] = rare(
        "Violation ratio that an absolute test compares with.", (), metavar="TAU", example="0.25"
    )
    resamples: int | str = param(
        "Number of bootstrap resamples per test. auto uses as many as the tests need.",
        "auto",
        metavar="auto|B",
    )
    variance: str = rare(
        "Test by resampling (bootstrap), or by the central limit theorem (clt), which is much faster.",
        "bootstrap",
        choices=("bootstrap", "clt"),
        against=("paper_exact",),
    )

    def __post_init__(self) -> None:
        """Validate the options, and raise UsageError unless an absolute test has exactly one threshold."""
        super().__post_init__()
        refuse_threshold(self.test, self.threshold)
        if len(self.threshold) > 1 or (self.test == ABSOLUTE and not self.threshold):
            problem = "an absolute test needs one threshold"
            hint = f"give one, e.g. {option('threshold', 0.25)}, and run again for another threshold"
            raise UsageError(problem, found=listing(f"{tau:g}" for tau in self.threshold), hint=hint)


@dataclass(frozen=True, kw_only=True)
class PowerSettings(StatisticSettings, PortfolioSettings, PlannedTestSettings, SuiteSettings):
    """Options of ``power``: the planned test, and the sample sizes to try."""

    PANEL: ClassVar[str] = METHOD

    sizes: tuple[int, ...] = several(
        "Sample sizes to simulate, per model. With tasks, they are numbers of samples per task or of tasks; "
        "with a judge, numbers of labels.",
        metavar="N,N,...",
        unset="100,500,1000; 20,50,100 samples per task; 10,20,50 tasks; labels near the required number",
    )
    pair: str | None = param(
        "Plan for one pair of models, as if the table contained no others.",
        metavar="BETTER:WORSE",
        unset="the models, if there are two; otherwise all pairs significant in the pilot",
    )
    target: float = param("Power to reach, between 0 and 1.", 0.8, metavar="POWER", above=0, below=1)
    limit: int | None = rare(
        "Largest sample size to try.",
        metavar="N",
        unset=f"5 times the largest of {option('sizes')}; for labels, all samples but 2",
    )
    simulations: int = param(
        "Number of simulations per sample size. Each one approximates the test on 40 random tables. For "
        "every five simulations, up to one table is tested in full, as a check.",
        100,
        metavar="R",
        least=1,
    )
    margin: float = rare(
        f'With {option("judge")} or {option("on")}: plan for the claim "not worse by more than this margin" '
        'instead of "better".',
        0.0,
        metavar="VALUE",
        least=0,
        below=inf,
    )
    cost: dict[str, float] = rare(
        f"With {option('noise')}: cost of one more judge, prompt, seed or item. The cheapest plan is shown.",
        (),
        metavar="SOURCE=VALUE",
        example="judge=20",
        above=0,
    )

    def refuse_dominance(self, gate_option: str) -> None:
        """Raise an error if options for dominance tests are set, although a test of means is planned.

        Parameters
        ----------
        gate_option : str
            Option that requests the test of means, for the message.

        Raises
        ------
        UsageError
            If such an option is set.
        """
        hint = "one plans a test of dominance, the other a test of means: leave out one"
        for name in non_defaults(self):
            if name in _DOMINANCE_OPTIONS:
                contradict(option(name), gate_option, hint)

    def refuse_unused(self, name: str) -> None:
        """Raise an error if ``cost`` is set without ``noise``, or ``margin`` without ``judge``.

        Parameters
        ----------
        name : {"cost", "margin"}
            Option to check.

        Raises
        ------
        UsageError
            If the option is set and has no effect.
        """
        if name in non_defaults(self):
            other = option(_REQUIRED[name])
            hint = f"add {other}, or leave out {option(name)}"
            raise UsageError(f"{option(name)} needs {other}", found=f"no {other}", hint=hint)
