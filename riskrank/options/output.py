"""Output options of the command line."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import option
from riskrank.options.option import OUTPUT, Settings, param, rare, several, switch

FORMATS = ("table", "json", "jsonl", "csv", "markdown", "html", "latex", "methods")


@dataclass(frozen=True, kw_only=True)
class BasicOutputOptions(Settings):
    """Output options common to all commands."""

    PANEL: ClassVar[str] = OUTPUT

    output: tuple[str, ...] = several(
        "Write the result to a file in the format of its suffix. After an error, no file is changed.",
        metavar="FILE",
        short="-o",
    )
    set_: tuple[str, ...] = rare("Set how the command runs, e.g. jobs=4.", (), metavar="KEY=VALUE")
    traceback: bool = rare("Show the traceback of an error.", False)


@dataclass(frozen=True, kw_only=True)
class OutputOptions(BasicOutputOptions):
    """Output options for commands that print a result."""

    format: str | None = param(
        "Format of the result.", choices=FORMATS, unset=f"the suffix of {option('output')}, else table"
    )
    explain: bool = switch("Also show the details. All formats except table always include them.")
    plot: tuple[str, ...] = several(
        "Also write a picture to FILE (.svg, .png or .pdf): the main one, or the one named PICTURE.",
        metavar="[PICTURE:]FILE",
    )
    color: str = rare("When to colour tables.", "auto", choices=("auto", "always", "never"))
    quiet: bool = switch(
        "Hide progress and warnings; warnings about excluded data are still shown.", short="-q"
    )
    max_memory: float | None = rare(
        "Memory limit for files and resamples, in bytes.",
        metavar="N",
        unset="all memory of the machine",
        affects_result=False,
        above=0,
    )


@dataclass(frozen=True, kw_only=True)
class CheckOutputOptions(OutputOptions):
    """Output options for ``check``, with the configuration file to write."""

    save: str | None = param(
        "Save the options that read this table. All commands use riskrank.toml in the working directory.",
        metavar="FILE.toml",
    )


@dataclass(frozen=True, kw_only=True)
class TestedOutputOptions(OutputOptions):
    """Output options for commands that can also write JUnit XML."""

    format: str | None = param(
        "Format of the result.",
        choices=(*FORMATS, "junit"),
        unset=f"the suffix of {option('output')} (.xml for junit), else table",
    )


@dataclass(frozen=True, kw_only=True)
class GateOutputOptions(TestedOutputOptions):
    """Output options for ``gate``, with the baseline file to write."""

    bless: str | None = rare(
        "If all claims pass, save the scores of the new model as a baseline in FILE (Parquet). Without a "
        "claim, save the scores of the only model.",
        metavar="FILE",
    )
