"""Options of ``copa``: the objectives, the norm, the tests of the front and the question."""

from dataclasses import dataclass
from math import inf

from riskrank.errors import UsageError, listing, option
from riskrank.options.option import METHOD, Settings, ask, differing, rare, several, switch
from riskrank.options.reading import ReadOptions
from riskrank.options.resampling import FamilySettings
from riskrank.options.suites import TaskScopeSettings
from riskrank.options.values import number_or_nan, parts_of

# Settings of the tests on samples, which only the ranking runs.
TEST_SETTINGS = ("margin", "resamples", "alpha", "correction", "seed", "no_test", "tasks")

# Settings that apply to some questions only; None is the ranking.
_QUESTIONS_BY_SETTING: dict[str, tuple[str | None, ...]] = {
    "steps": ("sweep", "sweep_p"),
    "top": (None, "compare"),
    "p": (None, "why", "sweep", "compare"),
    **dict.fromkeys(("resample_models", "ccdf", *TEST_SETTINGS), (None,)),
}


@dataclass(frozen=True, kw_only=True)
class ObjectiveReading(ReadOptions):
    """Options for reading score files whose scores are averaged by model."""

    weight: dict[str, float] = several(
        "Weight of an objective; the others share what is left of 1.",
        metavar="NAME=VALUE",
        unset="equal",
        panel=METHOD,
    )
    repeats: str = ask(
        "Several scores of a model on a sample: refuse, average, or take the worst run (min) or the best "
        "(max).",
        "error",
        choices=("error", "mean", "min", "max"),
    )


@dataclass(frozen=True, kw_only=True)
class ObjectiveSettings(Settings):
    """Options for ranking models on objectives."""

    missing: str = ask(
        "Missing scores: refuse, leave out their samples, or count each as the worst there can be; a model "
        "without any is left out, or ranked last there.",
        "error",
        choices=("error", "drop", "worst"),
        panel="Input",
    )
    objective: tuple[str, ...] = several(
        "An objective that is not the mean of its metric: NAME:tvar@0.05 (or cvar@0.05: the mean of the "
        "worst 5 %), NAME:total, cost-per-success:COST/SUCCESS; NAME:mean keeps the mean beside it.",
        metavar="NAME:STATISTIC",
    )
    require: tuple[str, ...] = several(
        "Choose only among such models, in the units of the file; they are ranked among all.",
        metavar="'NAME <= VALUE'",
    )
    ties: str = rare(
        "Whether none, half or all of the models of equal value count as better.",
        "min",
        choices=("min", "average", "max"),
    )
    denominator: str = rare("Ranks are shares of the other models, or of all.", "n-1", choices=("n-1", "n"))


@dataclass(frozen=True, kw_only=True)
class FrontSettings(TaskScopeSettings, FamilySettings):
    """Options for testing which models are on the front."""

    margin: dict[str, float] = several(
        "Up to what a model counts as as good on an objective, in its units.",
        metavar="NAME=VALUE",
        unset="0",
        least=0,
        below=inf,
    )
    no_test: bool = rare("Values as they are: no tests of the front, no resampling.", False)
    resamples: int | str = rare(
        "Resamples of the samples: a number, or as many as are needed.", "auto", metavar="auto|B"
    )
    seed: int = rare("Seed of the random streams.", 0, metavar="N", least=0)


@dataclass(frozen=True, kw_only=True)
class CopaSettings(ObjectiveSettings, FrontSettings):
    """Options of ``copa``: the norm, and the question to answer."""

    p: tuple[float, ...] = several(
        "Norm of the ranks: 1 is the mean rank and forgives a bad objective, inf looks at the worst one only "
        "and alone can reach every model of the front. The first one decides.",
        metavar="P",
        unset="inf",
        commas=True,
        raw=True,
    )
    why: str | None = ask(
        "Why this model ranks where it does, and what would choose it.",
        metavar="MODEL",
        against=("sweep", "sweep_p", "compare", "against"),
    )
    sweep: str | None = ask(
        "Which model is chosen as an objective's weight goes from 0 to 1.",
        metavar="NAME",
        against=("sweep_p", "compare", "against"),
    )
    sweep_p: bool = rare(
        "Which model is chosen as p goes from 1 to infinity.", False, against=("compare", "against")
    )
    steps: int | None = rare("Steps of a sweep.", metavar="N", unset="10000", least=1)
    compare: bool = switch("Set COPA beside the average, Δ, min-max, the usual p-norm, SAW, AHP, MEW.")
    against: tuple[str, ...] = rare(
        "Compare with these only: average, delta, min-max, p-norm, saw, ahp, mew.",
        (),
        metavar="NAME,...",
        choices=("average", "delta", "min-max", "p-norm", "saw", "ahp", "mew"),
        commas=True,
    )
    resample_models: int | None = rare(
        "How often the choice stays in B populations of models drawn from these.", metavar="B", least=1
    )
    ccdf: bool = rare("Show how each model's ranks spread over the objectives.", False)
    top: int | None = ask("Only the N best models, in every format.", metavar="N", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalise("p", tuple(dict.fromkeys(parse_norm_order(text) for text in parts_of(self.p))))
        self._reject_inapplicable_settings()

    @property
    def question(self) -> str | None:
        """The question: ``why``, ``sweep``, ``sweep_p``, ``compare``, or None for the ranking."""
        requested = {
            "why": self.why is not None,
            "sweep": self.sweep is not None,
            "sweep_p": self.sweep_p,
            "compare": self.compare or bool(self.against),
        }
        return next((name for name, is_requested in requested.items() if is_requested), None)

    @property
    def orders(self) -> tuple[float, ...]:
        """Orders p of the norm to rank by; the first one decides the choice."""
        return self.p or (inf,)

    def _reject_inapplicable_settings(self) -> None:
        """Raise a UsageError for options that do not apply to the question."""
        for name in differing(self):
            if self.question not in _QUESTIONS_BY_SETTING.get(name, (self.question,)):
                about = option(self.question) if self.question else "the ranking"
                raise UsageError(
                    f"{option(name)} says nothing about {about}",
                    found=f"{option(name)} with {about}" if self.question else option(name),
                    hint=f"leave out {option(name)}",
                )
        if self.why is not None and len(self.p) > 1:
            raise UsageError(
                f"{option('why')} works with one p",
                found=option("p", listing(f"{order:g}" for order in self.p)),
                hint="ask them one by one",
            )


def parse_norm_order(value: float | str) -> float:
    """Parse one order of a norm.

    Raises
    ------
    UsageError
        Unless the value is a number of at least 1, or ``inf``.
    """
    order = inf if value == "∞" else number_or_nan(value)
    if not order >= 1:
        raise UsageError(
            f"{option('p')} must be a number of at least 1, or inf",
            found=option("p", value),
            hint="1 is the mean rank, 2 the Euclidean norm, inf the worst weighted rank",
        )
    return order
