"""Parts of a gate's document: which of several models to take, and the cases that one lost most."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from riskrank.studies.diff.document import CaseRow


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
    saves_a_year : float or None
        At the volume asked about.
    volume : float or None
        Calls a year.
    candidates : sequence of Candidate
        Dearest last.
    """

    model: str
    reference: str
    reference_price: float
    saves_a_call: float
    saves_a_year: float | None
    volume: float | None
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


def place_of(task: str | None, group: str | None) -> str:
    """The task and the group, as a sentence goes on."""
    return (f" on {task}" if task else "") + (f" in {group}" if group else "")
