"""Options of ``diff``: the two models, and the number of cases to show."""

from dataclasses import dataclass

from riskrank.errors import UsageError, option
from riskrank.options.inference import LevelSettings, StatisticSettings
from riskrank.options.option import param


@dataclass(frozen=True, kw_only=True)
class DiffSettings(StatisticSettings, LevelSettings):
    """Options that select the two models to compare, and the number of cases to show."""

    pair: str | None = param("The new model and the old model to compare it with.", metavar="NEW:OLD")
    cases: int | None = param(
        "Number of worsened cases to show, largest losses first.",
        metavar="N",
        unset="1 to 6, as many as fit on the screen",
        least=0,
    )

    def __post_init__(self) -> None:
        """Validate the options, and raise UsageError if no pair of models is given."""
        super().__post_init__()
        if self.pair is None:
            hint = f"write {option('pair', 'NEW:OLD')} with two of the models"
            raise UsageError("diff needs a new and an old model", found=f"no {option('pair')}", hint=hint)
