"""A silent, single-threaded solver for linear programs."""

import highspy


class Solver(highspy.Highs):
    """HiGHS solver without output; version 1.16 would print its licence during construction.

    Parameters
    ----------
    options : bool, float or str
        HiGHS options by name.

    Raises
    ------
    ValueError
        If HiGHS rejects an option or its value.
    """

    def __init__(self, **options: bool | float | str) -> None:
        super().__init__()
        for name, value in {"threads": 1, **options}.items():
            if self.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise ValueError(f"HiGHS rejects {name} = {value}")

    def enableCallbacks(self) -> None:  # noqa: N802
        """Disable output first; HiGHS calls this method before it prints its licence."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()
