"""What ``rank`` is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from riskrank.engine.dominance.claims import RELATIVE
from riskrank.errors import UsageError, one_of, option
from riskrank.studies.ranking_methods import MethodSettings
from riskrank.studies.settings import whole_numbers

STABILITY_REPEATS = 5
RANK_BY = ("ratio", "wins")


@dataclass(frozen=True, kw_only=True)
class RankSettings(MethodSettings):
    """What to rank by, and how sure to be.

    Parameters
    ----------
    rank_by : {"ratio", "wins"}
        Order relative methods by the one-versus-all violation ratio, or by significant wins (Borda), as
        [RAB] does.
    top : int, optional
        Only the so many best models by each method.
    stability : sequence of int
        Repeat on random subsamples of these sizes.
    stability_repeats : int, optional
        Subsamples a size; 5 by default.
    """

    default_kinds: ClassVar[tuple[str, ...]] = (RELATIVE,)

    rank_by: str = "ratio"
    top: int | None = None
    stability: tuple[int, ...] = ()
    stability_repeats: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("rank_by", self.rank_by, RANK_BY)
        if self.top is not None and self.top < 1:
            raise UsageError(
                f"{option('top')} must be at least 1", found=str(self.top), hint="leave it out to see all"
            )
        self._normalise("stability", whole_numbers(self.stability, parameter="stability"))
        if self.stability_repeats is not None and not self.stability:
            raise UsageError(
                f"{option('stability_repeats')} goes with {option('stability')}",
                found=option("stability_repeats", self.stability_repeats),
                hint=f"add {option('stability', '100,500')}",
            )
