"""Options of ``copa``: the objectives, the norm, the front tests and the question."""

from dataclasses import dataclass
from math import inf

from riskrank.errors import UsageError, listing, option
from riskrank.options.inference import FamilySettings, TaskScopeSettings
from riskrank.options.option import METHOD, Settings, non_defaults, param, rare, several, switch
from riskrank.options.reading import ReadOptions
from riskrank.options.values import number_or_nan, split_parts

# Settings of the tests on samples, which only the ranking runs.
TEST_SETTINGS = ("margin", "resamples", "alpha", "correction", "seed", "no_test", "tasks")

# Settings that apply to some questions only; None is the ranking.
_QUESTIONS_BY_SETTING: dict[str, tuple[str | None, ...]] = {
    "steps": ("sweep", "sweep_p"),
    "top": (None, "compare"),
    "p": (None, "why", "sweep", "compare"),
    **dict.fromkeys(("resample_models", *TEST_SETTINGS), (None,)),
}


@dataclass(frozen=True, kw_only=True)
class ObjectiveReading(ReadOptions):
    """Options for reading scores that are averaged per model."""

    weight: dict[str, float] = several(
        "Weight of an objective, between 0 and 1. The other objectives share the rest equally.",
        metavar="NAME=VALUE",
        unset="equal",
        panel=METHOD,
    )
    repeats: str = param(
        "What to do about several scores of a model on one sample: stop with an error, or use their mean, "
        "the worst (min) or the best (max).",
        "error",
        choices=("error", "mean", "min", "max"),
    )


@dataclass(frozen=True, kw_only=True)
class ObjectiveSettings(Settings):
    """Options that define the objectives and constraints."""

    missing: str = param(
        "What to do about missing scores: stop with an error, drop the sample, or use the worst possible "
        "score. A model without any score on an objective is dropped (drop) or ranked last there (worst).",
        "error",
        choices=("error", "drop", "worst"),
        panel="Input",
    )
    objective: tuple[str, ...] = several(
        "Use another statistic than the mean of a metric: NAME:tvar@0.05 (or cvar@0.05: the mean of the "
        "worst 5 %), NAME:total, or cost-per-success:COST/SUCCESS. Add NAME:mean to keep the mean as well.",
        metavar="NAME:STATISTIC",
    )
    require: tuple[str, ...] = several(
        "Choose only among models that meet this condition, in the units of the file. All models are ranked.",
        metavar="'NAME <= VALUE'",
    )
    ties: str = rare(
        "How many models with the same value count as better: none (min), half (average) or all (max).",
        "min",
        choices=("min", "average", "max"),
    )
    denominator: str = rare(
        "Divide the ranks by the number of other models (n-1) or of all models (n).",
        "n-1",
        choices=("n-1", "n"),
    )


@dataclass(frozen=True, kw_only=True)
class FrontSettings(TaskScopeSettings, FamilySettings):
    """Options for testing which models are on the Pareto front."""

    margin: dict[str, float] = several(
        "Largest difference on an objective at which two models still count as equally good, in its units.",
        metavar="NAME=VALUE",
        unset="0",
        least=0,
        below=inf,
    )
    no_test: bool = rare("Show only the values, and do not test which models are on the Pareto front.", False)
    resamples: int | str = rare(
        "Number of bootstrap resamples. auto uses as many as the tests need.", "auto", metavar="auto|B"
    )
    seed: int = rare("Seed of the random number generator.", 0, metavar="N", least=0)


@dataclass(frozen=True, kw_only=True)
class CopaSettings(ObjectiveSettings, FrontSettings):
    """Options of ``copa``: the norm, and the analysis to run."""

    p: tuple[float, ...] = several(
        "Order of the norm that combines ranks. 1 is the mean rank, which forgives a bad objective. inf uses "
        "only the worst rank, and can choose every model on the front. The first of several values decides.",
        metavar="P",
        unset="inf",
        commas=True,
        raw=True,
    )
    why: str | None = param(
        "Explain the rank of this model, and show which weights would choose it.",
        metavar="MODEL",
        against=("sweep", "sweep_p", "compare", "against"),
    )
    sweep: str | None = param(
        "Show which model is chosen as the weight of this objective increases from 0 to 1.",
        metavar="NAME",
        against=("sweep_p", "compare", "against"),
    )
    sweep_p: bool = rare(
        "Show which model is chosen as p increases from 1 to infinity.", False, against=("compare", "against")
    )
    steps: int | None = rare("Number of values to try in a sweep.", metavar="N", unset="10000", least=1)
    compare: bool = switch("Compare COPA with the average, Δ, min-max, the usual p-norm, SAW, AHP and MEW.")
    against: tuple[str, ...] = rare(
        "Compare COPA only with these methods: average, delta, min-max, p-norm, saw, ahp, mew.",
        (),
        metavar="NAME,...",
        choices=("average", "delta", "min-max", "p-norm", "saw", "ahp", "mew"),
        commas=True,
    )
    resample_models: int | None = rare(
        "Resample the models B times, and show how often the choice stays the same.", metavar="B", least=1
    )
    top: int | None = param("Show only the N best models, in every format.", metavar="N", least=1)

    def __post_init__(self) -> None:
        """Parse the orders p, and raise UsageError for options that the requested analysis does not use."""
        super().__post_init__()
        self._normalise("p", tuple(dict.fromkeys(parse_norm_order(text) for text in split_parts(self.p))))
        for name in non_defaults(self):
            if self.question not in _QUESTIONS_BY_SETTING.get(name, (self.question,)):
                about = option(self.question) if self.question else "the ranking"
                problem = f"{option(name)} has no effect on {about}"
                detail = f"{option(name)} with {about}" if self.question else option(name)
                raise UsageError(problem, found=detail, hint=f"leave out {option(name)}")
        if self.why is not None and len(self.p) > 1:
            detail = option("p", listing(f"{order:g}" for order in self.p))
            raise UsageError(f"{option('why')} needs a single p", found=detail, hint="run once for each p")

    @property
    def question(self) -> str | None:
        """Requested analysis: ``why``, ``sweep``, ``sweep_p`` or ``compare``; None for the ranking."""
        requested = {
            "why": self.why is not None,
            "sweep": self.sweep is not None,
            "sweep_p": self.sweep_p,
            "compare": self.compare or bool(self.against),
        }
        return next((name for name, is_requested in requested.items() if is_requested), None)

    @property
    def orders(self) -> tuple[float, ...]:
        """Orders p of the norms to rank by. The first one determines the choice."""
        return self.p or (inf,)


def parse_norm_order(value: float | str) -> float:
    """Parse the order p of a norm, such as "2" or "inf".

    Raises
    ------
    UsageError
        If the value is neither a number of at least 1 nor ``inf``.
    """
    order = inf if value == "∞" else number_or_nan(value)
    if not order >= 1:
        problem = f"{option('p')} must be a number of at least 1, or inf"
        hint = "1 is the mean rank, 2 the Euclidean norm, inf the worst weighted rank"
        raise UsageError(problem, found=option("p", value), hint=hint)
    return order
