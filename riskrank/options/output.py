"""Where a result goes, and how it looks: asked for on the command line only."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import option
from riskrank.options.option import OUTPUT, Settings, ask, rare, several, switch

FORMATS = ("table", "json", "jsonl", "csv", "markdown", "html", "latex")


@dataclass(frozen=True, kw_only=True)
class LookOptions(Settings):
    """What every command tells a person."""

    PANEL: ClassVar[str] = OUTPUT

    output: tuple[str, ...] = several(
        "Write to a file, whole or not at all: every file by its suffix, all or none.",
        metavar="FILE",
        short="-o",
    )
    traceback: bool = rare("Show where in the code an error arose.", False)


@dataclass(frozen=True, kw_only=True)
class OutputOptions(LookOptions):
    """Where the result goes, and how it looks."""

    format: str | None = ask(
        "Format of the result.", choices=FORMATS, unset=f"by {option('output')}'s suffix, else table"
    )
    explain: bool = switch("All that stands behind the first screen; other formats have it.")
    plot: tuple[str, ...] = several(
        "Also draw the main picture, or the one named, to FILE.svg, .png or .pdf.", metavar="[PICTURE:]FILE"
    )
    color: str = rare("Colour of tables.", "auto", choices=("auto", "always", "never"))
    quiet: bool = switch("No progress on stderr, and no warnings but of what is left out.", short="-q")
    yes: bool = rare("Begin also what seems to need more memory than there is.", False)


@dataclass(frozen=True, kw_only=True)
class TestedOutputOptions(OutputOptions):
    """Where the result goes, and how it looks; CI servers read JUnit."""

    format: str | None = ask(
        "Format of the result.",
        choices=(*FORMATS, "junit"),
        unset=f"by {option('output')}'s suffix, .xml being junit; else table",
    )


@dataclass(frozen=True, kw_only=True)
class GateOutputOptions(TestedOutputOptions):
    """Where the result goes, and the scores that later runs are compared with."""

    bless: str | None = rare(
        "If all claims pass, keep the scores of the new model as a baseline in FILE (Parquet); without a "
        "claim, those of the only model.",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class DiagramOptions(OutputOptions):
    """Where the result goes, and its diagram."""

    dot: str | None = rare("Write the Hasse diagram for Graphviz as well.", metavar="FILE")
