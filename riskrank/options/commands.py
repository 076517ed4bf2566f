"""Every command in one table: what it asks, and who answers, shows and draws it.

A row names what lies in the room of a command by text, ``module:name`` below ``riskrank.studies``: whoever
uses it loads it then, so that the table costs nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from riskrank.errors import option
from riskrank.options.option import Settings
from riskrank.options.output import OutputOptions
from riskrank.options.reading import ReadOptions

_CLASSIFIERS = "sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml"
_LEADERBOARD = (
    "sample_data/llm_leaderboard.csv --wide --metrics-file sample_data/llm_leaderboard.toml "
    "--metric ifeval --metric math --metric co2"
)
_UCI = "sample_data/uci.csv --metrics-file sample_data/uci.toml"
_WEEKS = "sample_data/weeks.csv --wide --columns run=week,sample=case --lower usd"

# Whoever weighs the tasks of a suite wants two samples of each.
_SUITES = {"weighs_tasks": True, "tests": True}

# Whoever shows single cases can say what was asked and answered.
_CASES = {"texts": True}

# Whoever tests one column can take a judge's scores that people's correct.
_JUDGED = _SUITES | {"judges": True}

# Others lack the options for it.
_OF_JUDGES = ("human", "judge")

# The picture of a judge and the people who correct it.
_OF_JUDGE = "judge"

# Pictures of a suite of tasks.
_OF_TASKS = ("taskmap", "taskforest", "profile")

# The picture of sources of noise.
_OF_NOISE = "noise"

TABLES = (
    "CSV, TSV, Parquet, JSON or JSONL files (also .gz, .zst), folders of them, .xlsx, SQLite, DuckDB, globs, "
    "or -; LABEL=PATH names the models of a file."
)


@dataclass(frozen=True)
class Paper:
    """A kind of document, a line of the table.

    Attributes
    ----------
    schema : str
        What follows ``riskrank/`` in its JSON.
    documents : str
        Its classes below ``riskrank.studies``, ``module:One,Other``.
    view : str
        Module below ``riskrank.studies`` that puts it into tables and words: its ``view``, or the function
        named behind a colon.
    figures : str
        Module below ``riskrank.studies`` whose ``pictures`` lists what can be drawn of it, if anything.
    """

    schema: str
    documents: str
    view: str
    figures: str = ""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command.

    Attributes
    ----------
    name : str
    short : str
        What it is good for, in the list of commands.
    words : str
        The same on its own page, for both doors.
    settings : str
        Its settings below ``riskrank``.
    study : str
        Function below ``riskrank.studies`` of a table, settings and a runtime; empty where the command is
        one of the command line alone.
    refuses : str
        Function below ``riskrank.studies`` that refuses impossible settings before anything is read.
    papers : tuple of Paper
        Documents it makes, its own first.
    pictures : tuple of str
        First words of the names of its pictures, the main one first. Known without drawing, so that a wrong
        name is refused before any work.
    needs : mapping of str to object
        What it asks of a reader.
    reading : str
        Reading options below ``riskrank``, where they are not those of all.
    lacks : tuple of str
        Options of reading and of output that the command line does not have here.
    refused : tuple of str
        Those it has only to refuse them with a reason.
    runs : bool
        Whether it takes processes.
    output : str
        Output options below ``riskrank``, where they are not those of all.
    formats : tuple of str
        Formats it writes beside those of all.
    scores, scores_words : str
        What it reads; in brackets, what it can do without.
    own : bool
        Whether it has a file of its own below ``riskrank.cli.commands``, with a function ``run``.
    python : bool
        Whether Python has it, too.
    tried_on : str
        The sample data that stand behind ``riskrank`` and its name in all of the following.
    tries : str
        What a line is good for, up to a colon, and below it what stands behind these scores there. They run
        in a checkout.
    """

    name: str
    short: str
    words: str
    settings: str = "options.option:Settings"
    study: str = ""
    refuses: str = ""
    papers: tuple[Paper, ...] = ()
    pictures: tuple[str, ...] = ()
    needs: Mapping[str, Any] = field(default_factory=dict)
    reading: str = "options.reading:ReadOptions"
    lacks: tuple[str, ...] = ("group_by",)
    refused: tuple[str, ...] = ()
    runs: bool = False
    output: str = "options.output:OutputOptions"
    formats: tuple[str, ...] = ()
    scores: str = "SCORES..."
    scores_words: str = TABLES
    own: bool = False
    python: bool = True
    tried_on: str = ""
    tries: str = ""

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """What to try, as whole lines."""
        begun = " ".join(filter(None, ("riskrank", self.name, self.tried_on)))
        told = re.findall(r"^ *(.+:)$((?:\n.*[^:\n]$)*)", self.tries, re.MULTILINE)
        return tuple((what, " ".join([begun, *rest.split()])) for what, rest in told)

    @property
    def groups(self) -> bool:
        """Whether it studies groups of samples beside all."""
        return "group_by" not in self.lacks

    @property
    def settings_type(self) -> type[Settings]:
        """Its settings."""
        return named("riskrank", self.settings)

    @property
    def reading_type(self) -> type[ReadOptions]:
        """Its reading options."""
        return named("riskrank", self.reading)

    @property
    def output_type(self) -> type[OutputOptions]:
        """Its output options."""
        return named("riskrank", self.output)


def named(home: str, text: str) -> Any:
    """What a row names by ``module:name``, below a package."""
    module, _, name = text.partition(":")
    return getattr(import_module(f"{home}.{module}"), name)


COMMANDS = (
    Command(
        name="rank",
        short="Rank models by stochastic dominance, next to mean win rates.",
        words="""Rank models by stochastic dominance, next to mean win rates, from one bootstrap.

        Ranks follow the violation ratio and are shared only where it is the same; models that no test
        separates share a tier. Under the tables stand the hidden risks: models with a mean at least as
        high as another's and a mean of the worst 5 % that is significantly lower.""",
        settings="studies.rank.options:RankSettings",
        reading="options.reading:RankReading",
        study="rank.study:rank",
        papers=(
            Paper("rank", "rank.document:RankDocument", "rank.screen.first", "rank.figures.pictures"),
            Paper("rank-means", "rank.by_means:MeanRankDocument", "rank.screen.means", "rank.figures.means"),
        ),
        pictures=(
            *("forest", "trade", "bump", "quantiles", "tvar", "cdf", "stability"),
            *(*_OF_TASKS, _OF_JUDGE, _OF_NOISE),
        ),
        lacks=(),
        runs=True,
        needs=_JUDGED,
        tried_on=_CLASSIFIERS,
        tries="""Which classifier to ship; a first answer, from few resamples:
            --resamples 200
        One metric of two models, as JSON for another program:
            --metric correct --models lda,logistic --format json""",
    ),
    Command(
        name="dominance",
        short="Test which model is ahead of which, pair by pair.",
        words="""Test by stochastic dominance which model is ahead of which, with exact violation ratios.

        One row an ordered pair: the violation ratio of "winner dominates loser" (0: everywhere better,
        0.5: a draw), the p-value, and the verdict. Ahead is a ratio below 0.5; dominance itself is 0.""",
        settings="studies.dominance.options:DominanceSettings",
        study="dominance.study:dominance",
        papers=(
            Paper(
                "dominance",
                "dominance.study:DominanceDocument",
                "dominance.screen.first",
                "dominance.figures",
            ),
        ),
        pictures=("heatmap", "pair", *_OF_TASKS, _OF_JUDGE),
        lacks=(),
        runs=True,
        needs=_JUDGED,
        tried_on=_CLASSIFIERS,
        tries="""Who is ahead of whom in log loss, whatever else is in the table:
            --metric log_loss --no-test
        Of two models, the portfolio of all metrics; a gate for CI is riskrank gate --on ssd:
            --models lda,logistic --order 2""",
    ),
    Command(
        name="mrm",
        short="Rank models by mean minus risk, for many risks.",
        words="""Rank models by mean minus risk under every risk, with bootstrap intervals.

        All risks but the standard deviation and the value at risk are consistent with second-order
        dominance: a model that dominates is never placed lower. Their rankings are aggregated exactly.""",
        settings="studies.mrm.options:MeanRiskSettings",
        study="mrm.study:mrm",
        refuses="mrm.study:columns_of",
        papers=(Paper("mrm", "mrm.study:MeanRiskDocument", "mrm.screen.first", "mrm.figures"),),
        pictures=("scatter", "risks", _OF_JUDGE),
        lacks=(),
        runs=True,
        needs=_JUDGED,
        tried_on=_CLASSIFIERS,
        tries="""Mean minus risk on the portfolio, tails at 5 %:
            --level 0.05
        One risk, each metric on its own, as CSV:
            --risk negative-tvar --per-metric --no-test --format csv""",
    ),
    Command(
        name="gsd",
        short="Generalized stochastic dominance over cardinal and ordinal metrics.",
        words=f"""Find which model is at least as good as which for every utility that respects the metrics.

        A sample is what models are compared on, usually a data set. A utility may weigh the metrics as it
        likes, as long as better scores are no worse and, on cardinal metrics, larger differences count for no
        less. The table shows the order this leaves, from the top, and tests it by swapping scores.

        Every metric needs a direction: {option("metrics_file")}, {option("lower")} or {option("higher")};
        ordinal ones are named by {option("ordinal")} or in the metrics file, where bounds also say the worst
        and the best score there can be.""",
        settings="studies.gsd.options:GsdSettings",
        study="gsd.study:gsd",
        refuses="gsd.study:thresholds",
        papers=(Paper("gsd", "gsd.document:GsdDocument", "gsd.screen.first", "gsd.figures.pictures"),),
        pictures=("hasse", "contamination", "null", "ranks"),
        # A criterion that says nothing is warned of, models share their samples.
        needs={"allow_constant": True, "paired_only": True, "largest": 1e303} | _SUITES,
        lacks=("group_by", "weight", *_OF_JUDGES),
        refused=("unpaired", "cluster"),
        runs=True,
        output="options.output:DiagramOptions",
        own=True,
        tried_on=_UCI,
        tries="""The order that holds for every utility, tested with a small threshold:
            --delta 0.00001 --models GBM,RF,GLM
        Why a model does not dominate another:
            --witness GLM:RF --no-test""",
    ),
    Command(
        name="copa",
        short="Choose by objectives without a common unit: ranks, their norm, the Pareto front.",
        words=f"""Rank models by objectives that have no common unit, such as accuracy, CO2 and price.

        Every value becomes the share of the other models that do better; a weighted norm of these ranks
        orders the models. The table has one row a model, or is averaged over the samples, which then say who
        is on the front for sure. Every objective needs a direction: {option("metrics_file")},
        {option("lower")} or {option("higher")}.

        The norm's p says how much a bad objective is forgiven. The default, inf, looks at the worst weighted
        rank: it can reach every model of the Pareto front and answers to the weights. p = 1, the mean rank,
        tends to choose extremes whatever the weights are. {option("sweep")} shows it.""",
        settings="studies.copa.options:CopaSettings",
        study="copa.study:copa",
        papers=(
            Paper("copa", "copa.ranking:CopaDocument", "copa.screen.first", "copa.figures.pictures"),
            Paper(
                "copa-comparison",
                "copa.comparison:ComparisonDocument",
                "copa.screen.comparison",
                "copa.figures.pictures",
            ),
            Paper("copa-explain", "copa.explanation:ExplanationDocument", "copa.screen.explanation"),
            Paper(
                "copa-sweep",
                "copa.sweep:WeightSweepDocument,OrderSweepDocument",
                "copa.screen.comparison:sweep_view",
                "copa.figures.pictures",
            ),
        ),
        pictures=("doubt", "parallel", "boxes", "front", "bump"),
        # It may have one row a model, and what is missing is decided by model. Averages of millions of the
        # largest scores are still numbers.
        needs={"sample_optional": True, "allow_constant": True, "missing": "keep", "largest": 1e303}
        | _SUITES,
        reading="studies.copa.options:ObjectiveReading",
        lacks=("group_by", *_OF_JUDGES),
        tried_on=_LEADERBOARD,
        tries="""Choose by three objectives without a common unit:
        Which model is chosen as CO2 gains weight:
            --sweep co2""",
    ),
    Command(
        name="portfolio",
        short="Fold the metrics of every sample into one score.",
        words=f"""Fold the metrics of every sample into one portfolio score, by a copula of pooled CDFs.

        The result is a long table (model, sample, metric, score) that every other command reads.
        {option("output", "x.parquet")} writes Parquet.""",
        settings="studies.portfolio.options:FoldingSettings",
        study="portfolio.study:portfolio",
        papers=(
            Paper(
                "portfolio",
                "portfolio.study:PortfolioDocument,PortfolioDrawsDocument,PortfolioSummaryDocument",
                "portfolio.screen",
                "portfolio.figures",
            ),
        ),
        pictures=("quantiles", "tvar", "cdf"),
        lacks=("group_by", *_OF_JUDGES),
        needs={"min_models": 1, "weighs_tasks": True},
        formats=("parquet",),
        tried_on=_CLASSIFIERS,
        tries="""Fold all metrics into one score a sample, to feed other commands:
            --format csv
        Mean, spread and tail of every model:
            --summary""",
    ),
    Command(
        name="power",
        short="Plan how many samples a comparison needs.",
        words="""Say how often dominance would be significant with so many samples, and how many it takes.

        Data sets are drawn with replacement from a pilot table, or from named distributions; each is
        tested as `dominance` would test it. The order planned for is every dominance that is significant
        in the pilot, or that each distribution is ahead of those after it. With a judge it is how many
        labels a gate on means needs.""",
        settings="studies.power.options:PowerSettings",
        study="power.study:power",
        refuses="power.study:claim_of",
        papers=(
            Paper("power", "power.study:PowerDocument", "power.screen.first", "power.figures"),
            Paper("power-noise", "power.noise:NoisePlanDocument", "power.screen.first:noise_view"),
            Paper("power-labels", "power.labels:LabelsDocument", "power.screen.first:labels_view"),
        ),
        pictures=("curves", _OF_NOISE),
        lacks=("group_by",),
        runs=True,
        needs=_JUDGED,
        scores="SCORES...|DISTRIBUTION...",
        scores_words="A pilot table, or two or more distributions, the better first: normal:0.5,2, "
        "lognormal:MU,SIGMA, beta:A,B, bernoulli:P; NAME=normal:0.5,2 names one.",
        own=True,
        tries=f"""How many samples it takes to tell two normals apart:
            normal:0.5,2 normal:0,1 --sizes 50,100 --simulations 20
        The same for two models of a pilot table:
            {_CLASSIFIERS} --metric correct --models lda,logistic --pair logistic:lda
            --sizes 100 --simulations 20""",
    ),
    Command(
        name="gate",
        short="Pass or fail a CI job: is a model better, or not worse, than another?",
        words="""Decide claims about models with three answers: pass (exit 0), fail (1), inconclusive (4).

        A claim passes only if it is shown: too few samples are inconclusive, never a pass. All claims are
        one family. Under GITHUB_ACTIONS the run is annotated and its summary written, too.""",
        settings="studies.gate.options:ClaimSettings",
        study="gate.study:gate",
        papers=(Paper("gate", "gate.document:GateDocument", "gate.screen.first", "gate.figures"),),
        pictures=("intervals", _OF_JUDGE),
        # Two models without a mistake are a gate's best case, not a table without information.
        needs={"allow_constant": True} | _JUDGED | _CASES,
        reading="options.baseline:GateReading",
        lacks=("weight",),
        runs=True,
        output="options.output:GateOutputOptions",
        formats=("junit",),
        own=True,
        tried_on=_CLASSIFIERS,
        tries="""Whether lda is not worse than logistic by more than a point of accuracy:
            --not-worse lda:logistic --on correct --margin 0.01
        Whether logistic is better than naive_bayes, on average and in the worst 5 %:
            --better logistic:naive_bayes --on mean:log_loss --on tvar@0.05:log_loss""",
    ),
    Command(
        name="diff",
        short="List which cases a new model does worse than an old one.",
        words="""Compare two models case by case: how many samples got worse and better, and which lost most.

        Counts have an exact sign test (McNemar's for 0/1 scores) that takes clusters of samples whole, of all
        samples and of each group or task.
        With several runs a sample each case is tested, too, and the runs of the old model say how many cases
        change by chance alone.""",
        settings="studies.diff.options:DiffSettings",
        study="diff.changes:diff",
        papers=(Paper("diff", "diff.document:DiffDocument", "diff.screen.first"),),
        needs={"allow_constant": True} | _SUITES | _CASES,
        lacks=("weight", *_OF_JUDGES),
        output="options.output:TestedOutputOptions",
        formats=("junit", "parquet"),
        tried_on=_CLASSIFIERS,
        tries="""Which samples lda gets wrong and logistic right, by data set:
            --metric correct --pair lda:logistic --cases 3
        Every case, for a spreadsheet:
            --metric correct --pair lda:logistic --format csv""",
    ),
    Command(
        name="trend",
        short="Follow an evaluation over many runs: what got worse, since when, and which cases flip.",
        words=f"""Compare every run with a baseline and with the run before, on the samples both have.

        Each file is a run, in the natural order of their names (run2 before run10), or
        {option("columns", "run=COL")} names the column of the runs. Looks after every run err no more often
        together than one does: the j-th spends alpha/(j(j + 1)).""",
        settings="studies.trend.options:TrendSettings",
        study="trend.study:trend",
        papers=(Paper("trend", "trend.document:TrendDocument", "trend.screen.first", "trend.figures"),),
        pictures=("trend",),
        needs={"allow_constant": True, "min_models": 1},
        reading="options.baseline:GateReading",
        lacks=("group_by", "weight", "time", "folds", "noise", "task_weight", *_OF_JUDGES),
        refused=("unpaired",),
        output="options.output:TestedOutputOptions",
        formats=("junit",),
        scores="RUN...",
        scores_words="A file a run, in any form that other commands read; LABEL=PATH names its models.",
        own=True,
        tried_on=_WEEKS,
        tries="""Twenty weeks of one assistant, in one table:
        The same as a gate that fails where the last week is shown to be worse:
            --fail-on worse --inconclusive pass --format json""",
    ),
    Command(
        name="report",
        short="Write one page for a decision meeting: ranking, risks, pairs, pictures.",
        words=f"""Put ranking, hidden risks, pairs, mean and risk, and agreement into one document.

        {option("output", "report.html")} is one file that loads nothing from elsewhere: it can be mailed,
        printed, and read without JavaScript. Every other format holds the same numbers.""",
        settings="studies.report.options:ReportSettings",
        study="report.study:report",
        papers=(Paper("report", "report.study:ReportDocument", "report.screen.contents"),),
        lacks=(),
        runs=True,
        needs=_JUDGED,
        tried_on=_CLASSIFIERS,
        tries="""One page for a decision meeting, to be mailed as it is:
            --resamples 100 --output report.html
        The same with a choice without a common unit, as JSON:
            --copa --resamples 100 --format json""",
    ),
    Command(
        name="convert",
        short="Turn what harnesses and judges write into a score table that every command reads.",
        words="Turn what harnesses and judges write into a score table that every command reads.",
        papers=(
            Paper("convert", "convert.study:ExportDocument", "convert.screen"),
            Paper("convert-verdicts", "convert.study:VoteDocument", "convert.screen:votes_view"),
        ),
        formats=("parquet",),
        own=True,
        tries="""A judge's verdicts on pairs of answers as scores:
            verdicts sample_data/verdicts.csv --format csv
        The same into a file every command reads:
            verdicts sample_data/verdicts.csv --output scores.parquet""",
    ),
    Command(
        name="check",
        short="Say what a score table holds and what is wrong with it.",
        words="""Say what a score table holds (models, samples, metrics, pairing) and what is wrong with it.

        Exits 2 if the commands would refuse to read the table as it is. (Tests also need 10 samples.)""",
        papers=(Paper("check", "check.study:CheckDocument", "check.screen"),),
        reading="options.reading:RankReading",
        lacks=("group_by", "weight"),
        own=True,
        tries=f"""What a table holds, what is wrong with it, and what can be done with it:
            {_CLASSIFIERS}
        The same of another table, as JSON:
            {_UCI} --format json""",
    ),
    Command(
        name="schema",
        short="Print the JSON Schema of a command's document.",
        words=f"""Print the JSON Schema (2020-12) that {option("format", "json")} of a command keeps to.

        Fields of its rows with their types, and what meta says of every result. More fields may be added
        to either without a new version.""",
        reading="options.option:Settings",
        output="options.output:LookOptions",
        scores="COMMAND",
        scores_words="A command, or what follows riskrank/ in its document, such as copa-sweep.",
        own=True,
        python=False,
        tries="""Fields of a ranking, with their types:
            rank
        The same of a sweep, for a validator:
            copa-sweep --output sweep.schema.json""",
    ),
    Command(
        name="examples",
        short="Write the sample data, to try the commands on.",
        words="""Write the sample data into a folder, to try the commands on; nothing is overwritten.

        Below it lies sample_data, so that examples of --help and of the guide can be copied as they are.""",
        reading="options.option:Settings",
        output="options.output:LookOptions",
        lacks=("group_by", "output"),
        scores="[FOLDER]",
        scores_words="Where to: a folder that is not there yet. [default: riskrank-examples]",
        own=True,
        python=False,
        tries="""Into riskrank-examples:
        Into a folder of that name:
            trial""",
    ),
)

BY_NAME = {row.name: row for row in COMMANDS}
PAPERS = {paper.schema: paper for row in COMMANDS for paper in row.papers}


def grouping() -> tuple[str, ...]:
    """Commands that study groups of samples beside all."""
    return tuple(row.name for row in COMMANDS if row.groups)
