"""The options commands share, group by group; design of the command line in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import typer

from riskrank.cli.help import INPUT, METHOD, OUTPUT, TESTS
from riskrank.errors import UsageError

Names = list[str] | None

# Options of `dominance`, `rank` and `power`, whose groups differ.
Correction = Annotated[
    Literal["holm", "bonferroni", "bh", "none"], typer.Option(help="Correction for many tests.")
]
PaperExact = Annotated[
    bool, typer.Option("--paper-exact", help="Reject as the paper's Algorithm 1 prints it (liberal).")
]
NoTest = Annotated[
    bool, typer.Option("--no-test", help="Statistics only: no resampling, any number of samples.")
]
Variance = Annotated[
    Literal["bootstrap", "clt"],
    typer.Option(help="P-values from resampling, or asymptotic ones from influence functions."),
]

# Rules for reading what a harness exported; `convert` takes them too.
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="ROLE=NAME,...",
        help="Name the columns, e.g. model=system,sample=doc_id; sample=name+prompt joins two.",
    ),
]
Where = Annotated[
    str | None,
    typer.Option(metavar="CONDITION", help="Read these rows only: SQL on any column of the file."),
]
Query = Annotated[
    str | None,
    typer.Option(metavar="QUERY", help="Reshape: SELECT ... FROM scores; a database gets the query."),
]
Matrix = Annotated[str | None, typer.Option(metavar="METRIC", help="One row a sample, a column a model.")]
Filters = Annotated[
    Names,
    typer.Option(
        metavar="NAME", help="Of an export: the filter, prompt or scorer that counts; '*' is all. Repeatable."
    ),
]
Splits = Annotated[
    Names,
    typer.Option(
        metavar="NAME", help="Of an export: the split or perturbation to keep; '*' is all. Repeatable."
    ),
]
ModelFromPath = Annotated[
    str | None,
    typer.Option(metavar="REGEX", help="Of an export: finds the model in a path, by its one group."),
]
Parts = Annotated[
    bool, typer.Option("--parts", help="Of an export: a list of numbers becomes a metric a part.")
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Of an export: count what cannot be read, and go on without it.")
]
MaxBytes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Most bytes a file may unpack to. [16 GiB; of an export 2 GiB]"),
]


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """Which scores to read, and how."""

    PANEL: ClassVar[str] = INPUT

    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES...",
            help="CSV, TSV, Parquet, JSON or JSONL files (also .gz, .zst), folders of them, .xlsx, SQLite, "
            "DuckDB, globs, or -; LABEL=PATH names the models of a file.",
        ),
    ]
    columns: Columns = None
    cluster: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column of what samples belong to: resampling draws these whole."),
    ] = None
    wide: Annotated[bool, typer.Option("--wide", help="One row a model and sample, a column a metric.")] = (
        False
    )
    matrix: Matrix = None
    where: Where = None
    sql: Query = None
    models: Annotated[
        Names, typer.Option("--models", metavar="A,B,...", help="Keep these models. Repeatable.")
    ] = None
    metric: Annotated[Names, typer.Option(metavar="NAME", help="Keep this metric. Repeatable.")] = None
    metrics_file: Annotated[
        str | None,
        typer.Option(metavar="FILE.toml", help="Direction, weight, scale, transform, bounds of each metric."),
    ] = None
    lower: Annotated[
        Names, typer.Option(metavar="NAME,...", help="Metrics of which less is better; * is all others.")
    ] = None
    higher: Annotated[
        Names, typer.Option(metavar="NAME,...", help="Metrics of which more is better; * is all others.")
    ] = None
    missing: Annotated[Literal["error", "drop"], typer.Option(help="What to do about missing scores.")] = (
        "error"
    )
    repeats: Annotated[
        Literal["error", "mean", "min", "max", "draws"],
        typer.Option(
            help="Several scores of a model on a sample: refuse, average, take the worst run (min: all "
            "pass) or the best (max: one does), or keep as draws."
        ),
    ] = "error"
    unpaired: Annotated[bool, typer.Option("--unpaired", help="Models have samples of their own.")] = False
    input_format: Annotated[
        Literal["csv", "tsv", "parquet", "jsonl", "json", "xlsx", "sqlite", "duckdb"] | None,
        typer.Option(help="Format of the input where no file name tells it."),
    ] = None
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="The inputs are what a harness wrote: lm-eval, inspect, ..., or auto. Folders will do.",
        ),
    ] = None
    filter: Filters = None
    split: Splits = None
    model_from_path: ModelFromPath = None
    parts: Parts = False
    skip_bad: SkipBad = False
    max_bytes: MaxBytes = None


@dataclass(frozen=True, kw_only=True)
class GroupedInputOptions(InputOptions):
    """Which scores to read, and how; each group of samples is studied beside all."""

    group_by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column of groups of samples: each group, and all together."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PortfolioOptions:
    """How metrics become one score."""

    PANEL: ClassVar[str] = METHOD

    copula: Annotated[
        Literal["independent", "empirical"],
        typer.Option(help="Fold the metrics by the independent, P(IC), or the empirical copula, P(EC)."),
    ] = "independent"
    copula_scope: Annotated[
        Literal["pooled", "model"],
        typer.Option(help="P(EC) compares a sample with those of all models, or of its own."),
    ] = "pooled"
    weight: Annotated[
        Names, typer.Option(metavar="NAME=VALUE", help="Weight of a metric in P(IC). Repeatable.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ResamplingOptions:
    """How to resample."""

    PANEL: ClassVar[str] = TESTS

    resamples: Annotated[int, typer.Option(metavar="B", help="Bootstrap resamples.")] = 1000
    alpha: Annotated[float, typer.Option(metavar="LEVEL", help="Significance level of a family.")] = 0.05
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random streams.")] = 0
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; results do not depend on it. [all cores]")
    ] = None
    executor: Annotated[
        str | None,
        typer.Option(
            metavar="dask:ADDRESS", help="Run on the workers of a Dask cluster instead; the same results."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TestResamplingOptions(ResamplingOptions):
    """How to resample for a family of tests."""

    resamples: Annotated[
        str,
        typer.Option(metavar="auto|B", help="Bootstrap resamples: a number, or as many as the family needs."),
    ] = "auto"  # type: ignore[assignment]  # a number, or a word
    work_limit: Annotated[
        float,
        typer.Option(
            metavar="W",
            show_default=False,
            help="Score comparisons (pairs x samples x resamples) auto may cost. [1e9]",
        ),
    ] = 1e9


@dataclass(frozen=True, kw_only=True)
class DominanceOptions:
    """Which dominance to test."""

    PANEL: ClassVar[str] = TESTS

    order: Annotated[Literal["1", "2", "both"], typer.Option(help="Order of dominance.")] = "both"
    test: Annotated[
        Literal["direct", "absolute", "relative", "all"] | None,
        typer.Option(
            help="Claims: one model against the other alone, a ratio below --threshold, against the field. "
            "[dominance: direct and absolute; rank: relative]"
        ),
    ] = None
    threshold: Annotated[
        list[float] | None,
        typer.Option(metavar="TAU", help="Largest violation ratio of absolute tests. [0.08 0.25 0.4]"),
    ] = None
    correction: Correction = "holm"
    no_test: NoTest = False
    variance: Variance = "bootstrap"
    paper_exact: PaperExact = False


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """What to rank by."""

    PANEL: ClassVar[str] = METHOD

    per_metric: Annotated[
        bool, typer.Option("--per-metric", help="Rank by every metric on its own instead of the portfolio.")
    ] = False
    aggregate: Annotated[
        Literal["kemeny", "footrule", "pearson", "borda"] | None,
        typer.Option(help="Aggregate the rankings of the metrics, exactly: RA(R-SSD@M) and so on. [kemeny]"),
    ] = None
    method: Annotated[
        Names,
        typer.Option(
            metavar="NAME",
            help="Only this method: R-SSD, SSD(0.25)@P(EC), RA(R-SSD@M), RA(MRM@P(IC)), MWR... Repeatable.",
        ),
    ] = None
    rank_by: Annotated[
        Literal["ratio", "wins"],
        typer.Option(help="Order by violation ratio, or by significant wins (Borda), as the paper does."),
    ] = "ratio"
    top: Annotated[int | None, typer.Option(metavar="N", help="Only the N best models by each method.")] = (
        None
    )
    all_methods: Annotated[
        bool,
        typer.Option("--all-methods", help="Both portfolios, aggregation over metrics, mean-risk models."),
    ] = False
    stability: Annotated[
        Names,
        typer.Option(metavar="N,...", help="Repeat on random subsamples of these sizes. Repeatable."),
    ] = None
    stability_repeats: Annotated[
        int | None, typer.Option(metavar="R", help="Subsamples a size of --stability. [5]")
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where the result goes, and how it looks."""

    PANEL: ClassVar[str] = OUTPUT

    format: Annotated[
        Literal["table", "json", "jsonl", "csv", "markdown", "html", "latex"] | None,
        typer.Option(help="Format of the result. [by --output's suffix, else table]"),
    ] = None
    output: Annotated[
        Names,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to a file, whole or not at all. Repeatable: every file by its suffix, all or none.",
        ),
    ] = None
    csv_safe: Annotated[
        bool,
        typer.Option("--csv-safe", help="CSV for a spreadsheet: no name becomes a formula."),
    ] = False
    plot: Annotated[
        Names,
        typer.Option(
            metavar="[PICTURE:]FILE",
            help="Also draw the main picture, or the one named, to FILE.svg, .png or .pdf. Repeatable.",
        ),
    ] = None
    color: Annotated[Literal["auto", "always", "never"], typer.Option(help="Colour of tables.")] = "auto"
    ascii: Annotated[bool, typer.Option("--ascii", help="Tables and their pictures in ASCII only.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings on stderr.")] = (
        False
    )
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where in the code an error arose.")] = (
        False
    )

    @property
    def files(self) -> tuple[str, ...]:
        """Files to write; the result goes to stdout where there are none."""
        return tuple(self.output or ())


def split_names(values: Names) -> tuple[str, ...]:
    """Names from a repeatable, comma-separated option; a name with a comma goes in double quotes."""
    import csv

    if not values:
        return ()
    if not any(value.strip(" ,") for value in values):
        # An empty shell variable must not silently mean "all of them".
        raise UsageError(
            "an option that takes names got none", found=repr(values[0]), hint="name some, or leave it out"
        )
    return tuple(
        name.strip() for row in csv.reader(values, skipinitialspace=True) for name in row if name.strip()
    )
