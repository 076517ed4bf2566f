"""A solver of linear programs that prints nothing and runs on one core."""

import highspy


class Solver(highspy.Highs):
    """HiGHS, silent before its first step: version 1.16 prints its licence while it is being made.

    Parameters
    ----------
    options : bool, float or str
        Settings of HiGHS by their names.

    Raises
    ------
    ValueError
        If HiGHS knows no such setting, or not such a value.
    """

    def __init__(self, **options: bool | float | str) -> None:
        super().__init__()
        for name, value in {"threads": 1, **options}.items():
            if self.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise ValueError(f"HiGHS does not take {name} = {value}")

    def enableCallbacks(self) -> None:  # noqa: N802
        """What HiGHS does last while it is being made, and what prints."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()
