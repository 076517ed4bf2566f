"""How score files are read: options of every command that reads a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from riskrank.errors import UsageError, listing, option
from riskrank.options.judges import NO_COLUMN, check_judge
from riskrank.options.option import INPUT, METHOD, Settings, ask, rare, several, switch
from riskrank.options.values import contradict, named_directions, named_metrics

FORMATS = ("csv", "tsv", "parquet", "jsonl", "json", "xlsx", "sqlite", "duckdb")

# Rules only a person can decide about an export.
RULES = ("filter", "split", "model_from_path", "parts", "skip_bad")


@dataclass(frozen=True, kw_only=True)
class ReadOptions(Settings):
    """How score files are to be read.

    Attributes
    ----------
    sample_optional : bool
        A table without a sample column has one row per model (its only sample is called ``""``).
    min_models : int
        Fewest models the caller can work with.
    judges : bool
        The caller can do with a judge's scores that people's correct.
    texts : bool
        The caller shows single cases, with what was asked and answered where the files have it.
    tests : bool
        The caller tests samples, and says where neighbours are alike.
    weighs_tasks : bool
        The caller weighs the tasks of a suite, which takes two samples of each; others pool their samples.
    allow_constant : bool
        Accept a metric that has the same value everywhere.
    paired_only : bool
        The caller has no use for models with samples of their own: errors do not propose them.
    largest : float
        Size of the largest score the caller can compute with.
    """

    PANEL: ClassVar[str] = INPUT

    columns: str | None = ask(
        "Name the columns, e.g. model=system,sample=doc_id; sample=name+prompt joins two.",
        metavar="ROLE=NAME,...",
    )
    cluster: str | None = ask(
        "Column of what samples belong to: resampling draws these whole. none draws single samples.",
        metavar="COL",
    )
    group_by: str | None = ask("Column of groups of samples: each group, and all together.", metavar="COL")
    task: str | None = ask(
        "Column of the tasks samples belong to: each task counts alike. Without it the column called task; "
        "none pools all samples.",
        metavar="COL",
    )
    task_weight: tuple[str, ...] = rare(
        "How much a task weighs: equal, samples (by size), or TASK=VALUE for some, the others 1.",
        (),
        metavar="TASK=VALUE",
        unset="equal",
    )
    time: str | None = rare(
        "Column of when samples were scored: neighbours are drawn together. none: order means nothing.",
        metavar="COL",
    )
    folds: int | None = rare(
        "Samples are folds of cross-validation, so many a repeat: they share training rows.",
        metavar="K",
        least=2,
        against=("human", "unpaired"),
    )
    noise: tuple[str, ...] = rare(
        "Columns whose levels are a sample of others: judges, wordings, seeds. Means only.",
        (),
        metavar="COL,...",
        commas=True,
        # Items and the sources that are named are all that varies; people correct one judge, not several.
        against=("human", "unpaired", "cluster", "group_by", "time", "folds"),
    )
    wide: bool = switch("One row a model and sample, a column a metric.")
    matrix: str | None = rare("One row a sample, a column a model; this is the metric.", metavar="METRIC")
    where: str | None = ask("Read these rows only: SQL on any column of the file.", metavar="CONDITION")
    sql: str | None = rare("Reshape: SELECT ... FROM scores; a database gets the query.", metavar="QUERY")
    models: tuple[str, ...] = several("Keep these models.", metavar="A,B,...", commas=True)
    metric: tuple[str, ...] = several("Keep this metric; TASK=NAME keeps it of a task.", metavar="NAME")
    metrics_file: str | None = ask(
        "Direction, weight, scale, transform, bounds of each metric.", metavar="FILE.toml"
    )
    lower: tuple[str, ...] = several(
        "Metrics of which less is better; * is all others.", metavar="NAME,...", commas=True
    )
    higher: tuple[str, ...] = several(
        "Metrics of which more is better; * is all others.", metavar="NAME,...", commas=True
    )
    weight: dict[str, float] = several(
        "Weight of a metric in P(IC); the others weigh 1. equal says that all count alike.",
        metavar="NAME=VALUE",
        panel=METHOD,
        also="weights",
    )
    directions: Mapping[str, str] | None = ask(
        f'"lower" or "higher" by the name of a metric: {option("lower")} and {option("higher")} in one.',
        instead="lower",
    )
    metrics: Mapping[str, Mapping[str, Any]] | None = ask(
        "By the name of a metric its direction, weight, scale, transform and bounds, as "
        f"{option('metrics_file')} has them.",
        instead="metrics_file",
    )
    human: str | None = rare(
        f"Metric of people's scores, of some samples: they correct those of {option('judge')}.",
        metavar="METRIC",
        panel=METHOD,
    )
    judge: str | None = rare(
        f"Metric of a judge's scores of all samples, which {option('human')} corrects.",
        metavar="METRIC",
        panel=METHOD,
    )
    missing: str = ask(
        "What to do about missing scores: refuse, leave out their samples, or count each as the worst there "
        "can be.",
        "error",
        choices=("error", "drop", "worst"),
        inner=("keep",),
    )
    repeats: str = ask(
        "Several scores of a model on a sample: refuse, average, take the worst run (min: all pass) or the "
        "best (max: one does), or keep as draws.",
        "error",
        choices=("error", "mean", "min", "max", "draws"),
    )
    unpaired: bool = rare("Models have samples of their own.", False)
    input_format: str | None = rare("Format of the input where no file name tells it.", choices=FORMATS)
    sheet: str | None = rare("Sheet of a workbook, by its name or number.", metavar="NAME")
    skip_rows: int | None = rare("Rows above the names, as titles.", metavar="N", least=1)
    from_: str | None = ask(
        "The inputs are what a harness wrote: lm-eval, inspect, ..., or auto. Folders will do.",
        metavar="FORMAT",
    )
    filter: tuple[str, ...] = rare(
        "Of an export: the filter, prompt or scorer that counts; '*' is all.", (), metavar="NAME"
    )
    split: tuple[str, ...] = rare(
        "Of an export: the split or perturbation to keep; '*' is all.", (), metavar="NAME"
    )
    model_from_path: str | None = rare(
        "Of an export: finds the model in a path, by its one group.", metavar="REGEX"
    )
    parts: bool = rare("Of an export: a list of numbers becomes a metric a part.", False)
    skip_bad: bool = rare("Of an export: count what cannot be read, and go on without it.", False)
    max_bytes: int | None = rare(
        "Most bytes a file may unpack to.", metavar="N", least=1, unset="16 GiB; of an export 2 GiB"
    )
    sample_optional: bool = False
    min_models: int = 2
    judges: bool = False
    texts: bool = False
    tests: bool = False
    weighs_tasks: bool = False
    allow_constant: bool = False
    paired_only: bool = False
    largest: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_export()
        self._check_matrix()
        if self.task == NO_COLUMN and self.task_weight:
            contradict(option("task", NO_COLUMN), option("task_weight", self.task_weight[0]))
        if self.noise and self.repeats in ("min", "max"):  # all runs are noise of a mean
            contradict(option("noise", ",".join(self.noise)), option("repeats", self.repeats))
        check_judge(vars(self))
        self._unfold_metrics()
        if both := sorted(set(self.lower) & set(self.higher)):
            raise UsageError(
                f"metric '{both[0]}' is declared both lower-is-better and higher-is-better",
                found=f"{listing(both)} in {option('lower')} and in {option('higher')}",
                hint=f"keep '{both[0]}' in one of the two",
            )

    def _unfold_metrics(self) -> None:
        """Bring directions that Python gives by name into the options both doors have; the rest stays."""
        ways = named_directions(self.directions)
        rest: dict[str, dict[str, Any]] = {}
        for name, described in named_metrics(self.metrics).items():
            way = described.pop("direction", None)
            if way is not None:
                ways |= named_directions({name: way}, parameter="metrics")
            rest |= {name: described} if described else {}
        if rest and self.metrics_file is not None:
            contradict(option("metrics"), option("metrics_file"))
        for side in ("lower", "higher"):
            more = [name for name, way in ways.items() if way == side]
            self._normalise(side, tuple(dict.fromkeys((*getattr(self, side), *more))))
        self._normalise("directions", None)
        self._normalise("metrics", rest or None)

    @property
    def corrects_judge(self) -> bool:
        """Whether two metrics are to become one: a judge's, corrected by people's."""
        return self.judges and self.human is not None

    @property
    def as_read(self) -> ReadOptions:
        """How files are read: of a judge two metrics, and what nobody scored is seen to afterwards."""
        if not self.corrects_judge:
            return self
        both = (str(self.human), str(self.judge))
        return replace(self, metric=both, missing="keep", human=None, judge=None, allow_constant=True)

    def _check_matrix(self) -> None:
        if self.matrix is not None and (self.wide or not self.matrix.strip()):
            raise UsageError(
                f"{option('matrix', self.matrix)} contradicts {option('wide', True)}"
                if self.wide
                else f"{option('matrix')} needs the name of the metric",
                found="a column of numbers is a model in a matrix, and a metric in a wide table",
                hint=f"leave one of the two out; a matrix of one metric: {option('matrix', 'accuracy')}",
            )
        if self.matrix is not None and self.group_by is not None:
            raise UsageError(
                f"{option('matrix', self.matrix)} contradicts {option('group_by', self.group_by)}",
                found="every column of a matrix that has no other role is a model",
                hint="give the scores as a long table, with a column of groups",
            )

    def _check_export(self) -> None:
        """Rules for exports go with exports, and options for tables with tables."""
        if self.from_ is None:
            given = [name for name in RULES if getattr(self, name)]
            if given:
                raise UsageError(
                    f"{option(given[0])} is a rule for reading a harness's export",
                    found=f"no {option('from')}: the inputs are score tables",
                    hint=f"add {option('from', 'auto')}, or leave it out",
                )
            return
        # A query may make any shape of an export's long rows.
        shapes = ("wide", "matrix") if self.sql is None else ()
        for name in (name for name in (*shapes, "input_format", "sheet", "skip_rows") if getattr(self, name)):
            raise UsageError(
                f"{option(name)} is for score tables and contradicts {option('from', self.from_)}",
                found=f"{option('from', self.from_)}: the inputs are exports, whose format is known",
                hint="leave one of the two out",
            )


SHARED = "shared"  # of missing scores: each pair of models is compared on the samples both have


@dataclass(frozen=True, kw_only=True)
class RankReading(ReadOptions):
    """How score files are read where models are ranked: also if they were scored on different tasks."""

    missing: str = ask(
        "What to do about missing scores: refuse, leave out their samples, count each as the worst there can "
        "be, or compare the means of each pair on the samples both have.",
        "error",
        choices=("error", "drop", "worst", SHARED),
        inner=("keep",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        # Samples of which more is known than that they are a sample of others, all that two models share.
        for name in ("human", "noise", "unpaired", "group_by", "time", "folds"):
            value = getattr(self, name)
            if self.missing == SHARED and value and value != NO_COLUMN:
                contradict(option("missing", SHARED), option(name, value))
