"""Options for converting a judge's verdicts; exports use the reading options of every command."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.options.option import INPUT, METHOD, Settings, ask, rare, several

# Format name for verdicts in the Python API.
VERDICTS = "verdicts"

# Reading options that apply to exports.
EXPORT_OPTIONS = (
    "metric",
    "columns",
    "where",
    "sql",
    "matrix",
    "filter",
    "split",
    "model_from_path",
    "parts",
    "skip_bad",
    "max_bytes",
)


@dataclass(frozen=True, kw_only=True)
class VoteSettings(Settings):
    """Columns, models and format of a file of verdicts."""

    PANEL: ClassVar[str] = INPUT

    columns: str | None = ask(
        "Name sample, model_a, model_b, verdict, e.g. sample=question_id,verdict=winner.",
        metavar="ROLE=NAME,...",
    )
    models: tuple[str, ...] = several(
        "All models there are; any other is an error.", metavar="A,B,...", commas=True
    )
    metric_name: str = ask("Name of the metric that is written.", "verdict", metavar="NAME", panel=METHOD)
    input_format: str | None = rare(
        "Format of the input where no file name tells it.",
        choices=("csv", "tsv", "parquet", "jsonl", "json", "xlsx"),
    )
