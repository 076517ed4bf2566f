"""Options for converting a judge's verdicts; exports are read with the options that all commands share."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.options.option import INPUT, METHOD, Settings, param, rare, several

# Format name for verdicts in the Python API.
VERDICTS = "verdicts"

# Reading options that apply to exports.
EXPORT_OPTIONS = (
    *("metric", "columns", "where", "sql", "matrix", "filter", "split"),
    *("model_from_path", "parts", "skip_bad", "max_bytes"),
)


@dataclass(frozen=True, kw_only=True)
class VoteSettings(Settings):
    """Columns, models and format of a file with verdicts."""

    PANEL: ClassVar[str] = INPUT

    columns: str | None = param(
        "Columns of sample, model_a, model_b and verdict, e.g. sample=question_id,verdict=winner.",
        metavar="ROLE=NAME,...",
    )
    models: tuple[str, ...] = several(
        "All models that may occur. Any other model name is an error.", metavar="A,B,...", commas=True
    )
    metric_name: str = param("Name of the metric in the output.", "verdict", metavar="NAME", panel=METHOD)
    input_format: str | None = rare(
        "Format of the input, if the suffix of the file does not show it.",
        choices=("csv", "tsv", "parquet", "jsonl", "json", "xlsx"),
    )
