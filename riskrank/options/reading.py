"""Options for reading score tables, and checks of their combinations with a judge and human labels."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from riskrank.errors import UsageError, listing, option
from riskrank.options.option import INPUT, METHOD, Settings, param, rare, several, switch
from riskrank.options.values import check_directions, check_metrics, contradict

# Value of task, cluster or time for no column.
NO_COLUMN = "none"

# Options that cannot be combined with a judge.
_INCOMPATIBLE = ("metric", "weight", "unpaired", "cluster", "group_by", "task_weight", "matrix")


def check_judge(options: Mapping[str, Any]) -> None:
    """Raise UsageError for invalid combinations of a judge, human labels and other options.

    Parameters
    ----------
    options : mapping of str to Any
        Reading options by name.
    """
    pair = {name: options[name] for name in ("human", "judge") if options[name] is not None}
    if not pair:
        return
    name, metric = next(iter(pair.items()))
    if len(pair) == 1:
        other = "judge" if name == "human" else "human"
        raise UsageError(
            f"{option(name, metric)} needs {option(other)}",
            found=f"no {option(other)}",
            hint=f"name the metric of the {'judge' if name == 'human' else 'human labels'}, "
            f"{option(other, 'METRIC')}, or compare on one metric: {option('metric', metric)}",
        )
    if options["human"] == options["judge"]:
        problem = f"{option('human', metric)} and {option('judge', metric)} name the same metric"
        hint = "name the metric of the human labels and the metric of the judge's scores"
        raise UsageError(problem, found="one metric for both", hint=hint)
    judge = option("judge", options["judge"])
    for other in _INCOMPATIBLE:
        value = options[other]
        if value:
            text = value if isinstance(value, str | bool) else next(iter(value))
            contradict(judge, option(other, text), _conflict_hint(other, options))
    if options["task"] not in (None, NO_COLUMN):
        contradict(judge, option("task", options["task"]), _conflict_hint("task", options))
    for other, beyond in (("repeats", ("draws",)), ("missing", ("worst", "bounds"))):
        if options[other] in beyond:
            contradict(judge, option(other, options[other]))


def _conflict_hint(other: str, options: Mapping[str, Any]) -> str:
    """Return the hint of the error for an option `other` that conflicts with a judge."""
    if other in ("metric", "weight"):
        return f"leave out {option(other)}: {option('human')} and {option('judge')} name the metrics"
    if other == "group_by":
        return f"analyse one group at a time with {option('where')}"
    if other in ("task", "task_weight"):
        pool = option("task", NO_COLUMN)
        return f"analyse one task at a time with {option('where')}, or pool all tasks: {pool}"
    if other in ("unpaired", "cluster"):
        people = f"{option('metric', options['human'])} {option('missing', 'drop')}"
        return f"compare on the human labels alone: {people} {option(other, options[other])}"
    return "leave out one of them"


FORMATS = ("csv", "tsv", "parquet", "jsonl", "json", "xlsx", "sqlite", "duckdb", "arrow", "npy")


@dataclass(frozen=True, kw_only=True)
class ReadOptions(Settings):
    """Options for reading score files.

    Attributes
    ----------
    sample_optional : bool
        Whether to accept a table without a sample column, with one row per model. Its only sample is named
        ``""``.
    min_models : int
        Smallest number of models that the command accepts.
    judges : bool
        Whether the command supports judge scores calibrated on human labels.
    texts : bool
        Whether the command shows single cases, with inputs and outputs from the files.
    tests : bool
        Whether the command runs tests, and so warns about scores that are autocorrelated in file order.
    weighs_tasks : bool
        Whether the command weights the tasks of a suite, and so needs two samples per task. Other commands
        pool the samples.
    allow_constant : bool
        Whether to accept a metric with a single value.
    paired_only : bool
        True if the command does not support unpaired models, so that errors do not suggest them.
    statistics : tuple of str
        Statistics that the command computes. Metrics that they name are scores.
    largest : float
        Largest absolute score that the command can process.
    """

    PANEL: ClassVar[str] = INPUT

    columns: str | None = param(
        "Columns by role, e.g. model=system,sample=doc_id. sample=name+prompt joins two columns.",
        metavar="ROLE=NAME,...",
    )
    cluster: str | None = param(
        "Column of clusters, such as users or documents. Samples of a cluster are resampled together. none "
        "treats all samples as independent.",
        metavar="COL",
    )
    group_by: str | None = param(
        "Column of groups. Each group is analysed separately, and all samples together.", metavar="COL"
    )
    task: str | None = param(
        'Column of tasks, by default "task". Tasks are weighted equally; "none" pools all samples.',
        metavar="COL",
    )
    task_weight: tuple[str, ...] = rare(
        "Weights of the tasks: equal, samples (proportional to the number of samples), or TASK=VALUE. Tasks "
        "that are not listed have weight 1.",
        (),
        metavar="TASK=VALUE",
        unset="equal",
    )
    time: str | None = rare(
        "Column of times. Neighbouring samples are resampled together, in blocks. none ignores the order.",
        metavar="COL",
    )
    folds: int | None = rare(
        "The samples are folds of K-fold cross-validation. The tests allow for shared training rows.",
        metavar="K",
        least=2,
        against=("human", "unpaired"),
    )
    noise: tuple[str, ...] = rare(
        "Columns of random factors, such as judges, prompts or seeds. Results then generalise to other "
        "judges, prompts or seeds, and only means are compared.",
        (),
        metavar="COL,...",
        commas=True,
        # Items and the named sources are the only random factors, and labels can calibrate only one judge.
        against=("human", "unpaired", "cluster", "group_by", "time", "folds"),
    )
    wide: bool = switch("Read a wide table: one row per model and sample, one column per metric.")
    matrix: str | None = rare(
        "Read a matrix of METRIC: one row per sample, one column per model.",
        metavar="METRIC",
        against=("wide", "group_by"),
    )
    where: str | None = param(
        "Read only the rows that satisfy this SQL condition on columns of the file.", metavar="CONDITION"
    )
    sql: str | None = rare(
        "Transform the input by SELECT ... FROM scores. A database runs the query itself.", metavar="QUERY"
    )
    models: tuple[str, ...] = several("Keep only these models.", metavar="A,B,...", commas=True)
    metric: tuple[str, ...] = several(
        "Keep only this metric; TASK=NAME keeps it for one task.", metavar="NAME"
    )
    uncertainty: tuple[str, ...] = rare(
        "Columns with the uncertainty of published scores, one row per model: standard errors, or 95 % "
        "limits in two columns or in one (+5/-4).",
        (),
        metavar="COL,...",
        commas=True,
        against=("human", "noise", "cluster", "task", "group_by", "time", "folds", "matrix"),
    )
    metrics_file: str | None = param(
        "TOML file with direction, weight, scale, transform and bounds of each metric.", metavar="FILE.toml"
    )
    lower: tuple[str, ...] = several(
        "Metrics where lower is better; * means all metrics not listed.", metavar="NAME,...", commas=True
    )
    higher: tuple[str, ...] = several(
        "Metrics where higher is better; * means all metrics not listed.", metavar="NAME,...", commas=True
    )
    weight: dict[str, float] = several(
        "Weight of a metric in the combined score (1 if not set). equal gives all metrics the same weight.",
        metavar="NAME=VALUE",
        panel=METHOD,
        python_alias="weights",
    )
    directions: Mapping[str, str] | None = param(
        f'Mapping of metrics to "lower" or "higher", instead of {option("lower")} and {option("higher")}.',
        cli_equivalent="lower",
    )
    metrics: Mapping[str, Mapping[str, Any]] | None = param(
        "Mapping of metric names to direction, weight, scale, transform and bounds, as in a metrics file.",
        cli_equivalent="metrics_file",
    )
    human: str | None = rare(
        f"Metric with human labels for some of the samples. They calibrate the scores of {option('judge')}.",
        metavar="METRIC",
        panel=METHOD,
    )
    judge: str | None = rare(
        f"Metric with a judge's scores for all samples. They are calibrated on {option('human')}.",
        metavar="METRIC",
        panel=METHOD,
    )
    missing: str = param(
        "What to do about missing scores: stop with an error, drop the sample, use the worst possible score, "
        "or use the score of MODEL, such as a trivial model.",
        "error",
        choices=("error", "drop", "worst"),
        internal_choices=("keep",),
        accepts_model=True,
    )
    repeats: str = param(
        "What to do about several scores of a model on one sample: stop with an error; use their mean, the "
        "worst (min) or the best (max); or keep all of them and resample them together (draws).",
        "error",
        choices=("error", "mean", "min", "max", "draws"),
    )
    unpaired: bool = rare("The models were scored on different samples.", False)
    input_format: str | None = rare(
        "Format of the input, if the suffix of the file does not show it.", choices=FORMATS
    )
    sheet: str | None = rare("Sheet of a workbook, by name or number.", metavar="NAME")
    skip_rows: int | None = rare("Number of rows to skip above the header.", metavar="N", least=1)
    from_: str | None = param(
        "Read the output of an evaluation harness: lm-eval, inspect, ..., or auto to detect the harness. The "
        "input may be a folder.",
        metavar="FORMAT",
        example="auto",
    )
    filter: tuple[str, ...] = rare(
        "For exports: filter, prompt or scorer to keep; '*' keeps all.", (), metavar="NAME", needs="from_"
    )
    split: tuple[str, ...] = rare(
        "For exports: split or perturbation to keep; '*' keeps all.", (), metavar="NAME", needs="from_"
    )
    model_from_path: str | None = rare(
        "For exports: regular expression whose only group matches the model name in the path.",
        metavar="REGEX",
        needs="from_",
    )
    parts: bool = rare("For exports: make each number of a list a metric.", False, needs="from_")
    skip_bad: bool = rare("For exports: skip and count entries that cannot be read.", False, needs="from_")
    max_bytes: int | None = rare(
        "Largest size of a file after decompression, in bytes.",
        metavar="N",
        least=1,
        unset="16 GiB; 2 GiB for an export, 1 GiB for a pipe",
    )
    sample_optional: bool = False
    min_models: int = 2
    judges: bool = False
    texts: bool = False
    tests: bool = False
    weighs_tasks: bool = False
    allow_constant: bool = False
    paired_only: bool = False
    statistics: tuple[str, ...] = ()
    largest: float = math.inf

    def __post_init__(self) -> None:
        """Validate the options, and raise UsageError for options that contradict each other."""
        super().__post_init__()
        self._normalise("sample_optional", self.sample_optional or bool(self.uncertainty))
        self._check_export()
        if self.matrix is not None and not self.matrix.strip():
            example = option("matrix", "accuracy")
            problem = f"{option('matrix')} needs the name of the metric"
            raise UsageError(problem, found="no name", hint=f"write {example}")
        if self.task == NO_COLUMN and self.task_weight:
            contradict(option("task", NO_COLUMN), option("task_weight", self.task_weight[0]))
        if self.noise and self.repeats in ("min", "max"):  # min and max are not means of the runs
            contradict(option("noise", ",".join(self.noise)), option("repeats", self.repeats))
        check_judge(vars(self))
        self._unfold_metrics()
        if both := sorted(set(self.lower) & set(self.higher)):
            problem = f"metric '{both[0]}' is declared both lower-is-better and higher-is-better"
            detail = f"{listing(both)} in {option('lower')} and in {option('higher')}"
            raise UsageError(problem, found=detail, hint=f"keep '{both[0]}' in one of the two")

    def _unfold_metrics(self) -> None:
        """Move directions from `directions` and `metrics` to `lower` and `higher`."""
        directions = check_directions(self.directions)
        descriptions: dict[str, dict[str, Any]] = {}
        for name, described in check_metrics(self.metrics).items():
            direction = described.pop("direction", None)
            if direction is not None:
                directions |= check_directions({name: direction}, parameter="metrics")
            descriptions |= {name: described} if described else {}
        if descriptions and self.metrics_file is not None:
            contradict(option("metrics"), option("metrics_file"))
        for side in ("lower", "higher"):
            more = [name for name, direction in directions.items() if direction == side]
            self._normalise(side, tuple(dict.fromkeys((*getattr(self, side), *more))))
        self._normalise("directions", None)
        self._normalise("metrics", descriptions or None)

    @property
    def mentioned_metrics(self) -> set[str]:
        """Columns named by options as metrics: by directions, weights or statistics."""
        parts = (part for text in self.statistics for part in re.split(r"[()/+*: ]+", text))
        return {*self.lower, *self.higher, *self.weight, *parts}

    @property
    def corrects_judge(self) -> bool:
        """True if judge scores are calibrated on human labels."""
        return self.judges and self.human is not None

    @property
    def file_options(self) -> ReadOptions:
        """Options for reading files.

        With a judge, scores stay uncalibrated and missing labels are kept.
        """
        if not self.corrects_judge:
            return self
        both = (str(self.human), str(self.judge))
        return replace(self, metric=both, missing="keep", human=None, judge=None, allow_constant=True)

    def _check_export(self) -> None:
        """Raise UsageError if options for score tables are combined with exports."""
        # A query may turn the long rows of an export into any layout.
        layouts = ("wide", "matrix") if self.sql is None else ()
        for name in (*layouts, "input_format", "sheet", "skip_rows"):
            if self.from_ is None or not getattr(self, name):
                continue
            problem = f"{option(name)} is for score tables and contradicts {option('from', self.from_)}"
            detail = f"{option('from', self.from_)}: the inputs are exports, whose format is known"
            raise UsageError(problem, found=detail, hint="leave out one of the two")


SHARED = "shared"  # value of the option missing: compare each pair of models on common samples


@dataclass(frozen=True, kw_only=True)
class RankReading(ReadOptions):
    """Reading options for ``rank``, which can also compare models scored on different samples."""

    missing: str = param(
        "What to do about missing scores: stop with an error, drop the sample, use the worst possible score, "
        "compare the means of each pair of models on the samples that both have (shared), or use the score "
        "of MODEL, such as a trivial model.",
        "error",
        choices=("error", "drop", "worst", SHARED),
        internal_choices=("keep",),
        accepts_model=True,
    )

    def __post_init__(self) -> None:
        """Raise UsageError for options that ``missing="shared"`` does not support."""
        super().__post_init__()
        # The comparison on common samples supports no other design of the samples.
        for name in ("human", "noise", "unpaired", "group_by", "time", "folds"):
            value = getattr(self, name)
            if self.missing == SHARED and value and value != NO_COLUMN:
                contradict(option("missing", SHARED), option(name, value))
