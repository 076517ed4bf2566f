"""Models that were scored on different samples: a rule for missing scores that rankings by means have."""

from dataclasses import dataclass

from riskrank.asked.option import ask
from riskrank.asked.reading import ReadOptions
from riskrank.asked.values import contradict
from riskrank.errors import option

SHARED = "shared"
"""The rule for missing scores that compares each pair of models on the samples both have."""

# What says more of samples than that they are a sample of others, which is all that two models share.
_BESIDE_SHARED = ("human", "noise", "unpaired", "group_by", "time", "folds")


@dataclass(frozen=True, kw_only=True)
class RankReading(ReadOptions):
    """How score files are read where models are ranked: also if they were scored on different tasks."""

    missing: str = ask(
        "What to do about missing scores: refuse, leave out their samples, count each as the worst there can "
        "be, or compare the means of each pair on the samples both have.",
        "error",
        choices=("error", "drop", "worst", SHARED),
        inner=("keep",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in _BESIDE_SHARED if getattr(self, name) and getattr(self, name) != "none"]
        if self.missing == SHARED and given:
            contradict(option("missing", SHARED), option(given[0], getattr(self, given[0])))
