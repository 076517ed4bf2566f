"""Options of ``diff``: the two models, and the number of cases to show."""

from dataclasses import dataclass

from riskrank.errors import UsageError, option
from riskrank.options.option import ask
from riskrank.options.resampling import LevelSettings


@dataclass(frozen=True, kw_only=True)
class DiffSettings(LevelSettings):
    """The two models to compare case by case, and the number of cases to show."""

    pair: str | None = ask("The two models: what the new one does worse than the old one.", metavar="NEW:OLD")
    cases: int | None = ask(
        "Cases to show of those that got worse, the worst first.",
        metavar="N",
        unset="1 to 6, as fit a screen",
        least=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pair is None:
            raise UsageError(
                "diff needs to know which model is the new one",
                found=f"no {option('pair')}",
                hint=f"write {option('pair', 'NEW:OLD')} with two of the models",
            )
