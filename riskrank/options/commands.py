"""Table of all commands, with their options, study, documents, views and figures.

The objects of a command are given as text, ``module:name`` below ``riskrank.studies``, and imported on first
use. So the table itself is imported quickly.
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

# Weighting the tasks of a suite requires two samples per task.
_SUITES = {"weighs_tasks": True, "tests": True}

# Commands that show single cases also show inputs and outputs.
_CASES = {"texts": True}

# Commands that test one score column support a judge calibrated on human labels.
_JUDGES = _SUITES | {"judges": True}

# Options that the other commands do not have.
_JUDGE_OPTIONS = ("human", "judge")

# Picture of a judge's scores against human labels.
_JUDGE_PICTURE = "judge"

# Pictures of a suite of tasks.
_TASK_PICTURES = ("taskforest", "profile")

# Picture of the sources of noise.
_NOISE_PICTURE = "noise"

TABLES = (
    "Score files: CSV, TSV, Parquet, JSON, JSONL (also .gz, .zst), .xlsx, SQLite or DuckDB; folders, "
    "globs, or - for stdin. LABEL=PATH names the models of a file."
)


@dataclass(frozen=True)
class DocType:
    """Type of document that a command produces.

    Attributes
    ----------
    schema : str
        Schema name in the JSON document, without the prefix ``riskrank/``.
    documents : str
        Document classes below ``riskrank.studies``, as ``module:Class,Class``.
    view : str
        Module below ``riskrank.studies`` that builds tables and text. Its function is ``build_sections`` or
        the one named after a colon.
    figures : str
        Module below ``riskrank.studies`` that builds pictures, or empty if there are none. Its function is
        ``pictures`` or the one named after a colon.
    """

    schema: str
    documents: str
    view: str
    figures: str = ""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of the command line and of the Python API.

    Attributes
    ----------
    name : str
    short : str
        Summary for the list of commands.
    words : str
        Description for the command's help page and its Python docstring.
    settings : str
        Class of the study's settings, below ``riskrank``.
    study : str
        Function below ``riskrank.studies`` that takes a table, settings and a runtime. Empty for commands
        without a study.
    settings_check : str
        Function below ``riskrank.studies`` that rejects invalid settings before any file is read.
    doc_types : tuple of DocType
        Types of documents that the command produces, main type first.
    pictures : tuple of str
        Kinds of pictures, main picture first, for an early check of ``--plot``.
    needs : mapping of str to object
        Requirements on the table, as fields of the reading options.
    reading : str
        Class of the reading options, below ``riskrank``.
    excluded : tuple of str
        Reading and output options that this command does not offer on the command line.
    rejected_options : tuple of str
        Hidden options that are accepted only to explain why they are invalid.
    runs : bool
        True if the command has execution options (:class:`riskrank.options.inference.RunOptions`).
    output : str
        Class of the output options, below ``riskrank``.
    formats : tuple of str
        Output formats in addition to the common ones.
    scores, scores_words : str
        Metavar and help text of the positional argument; brackets mark an optional argument.
    steps : str
        Function below ``riskrank`` that carries out the parsed command line.
    python : bool
        True if the command is part of the Python API.
    example_data : str
        Arguments common to all examples, following ``riskrank`` and the command name.
    example_text : str
        Examples that run in a source checkout. A line that ends with a colon gives the purpose, and the lines
        below it the remaining arguments.
    """

    name: str
    short: str
    words: str
    settings: str = "options.option:Settings"
    study: str = ""
    settings_check: str = ""
    doc_types: tuple[DocType, ...] = ()
    pictures: tuple[str, ...] = ()
    needs: Mapping[str, Any] = field(default_factory=dict)
    reading: str = "options.reading:ReadOptions"
    excluded: tuple[str, ...] = ("group_by",)
    rejected_options: tuple[str, ...] = ()
    runs: bool = False
    output: str = "options.output:OutputOptions"
    formats: tuple[str, ...] = ()
    scores: str = "SCORES..."
    scores_words: str = TABLES
    steps: str = "cli.session:run_study"
    python: bool = True
    example_data: str = ""
    example_text: str = ""

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """Examples as (purpose, complete command line)."""
        prefix = " ".join(filter(None, ("riskrank", self.name, self.example_data)))
        entries = re.findall(r"^ *(.+:)$((?:\n.*[^:\n]$)*)", self.example_text, re.MULTILINE)
        return tuple((purpose, " ".join([prefix, *arguments.split()])) for purpose, arguments in entries)

    @property
    def supports_groups(self) -> bool:
        """True if the command can analyse groups of samples separately."""
        return "group_by" not in self.excluded

    @property
    def settings_type(self) -> type[Settings]:
        """Class of the study's settings."""
        return load_object("riskrank", self.settings)

    @property
    def reading_type(self) -> type[ReadOptions]:
        """Class of the reading options."""
        return load_object("riskrank", self.reading)

    @property
    def output_type(self) -> type[OutputOptions]:
        """Class of the output options."""
        return load_object("riskrank", self.output)


def load_object(home: str, text: str) -> Any:
    """Import and return an object given as ``module:name`` relative to a package."""
    module, _, name = text.partition(":")
    return getattr(import_module(f"{home}.{module}"), name)


COMMANDS = (
    Command(
        name="rank",
        short="Rank models by stochastic dominance and by mean win rate.",
        words="""Rank models by stochastic dominance and by mean win rate, with one bootstrap for both.

        Ranks follow the violation ratio, and models share a rank only if their ratios are equal. Models that
        the tests do not separate share a tier. The output also lists hidden risks: a model whose mean is at
        least as good as another's, but whose mean of the worst 5 % is significantly worse.""",
        settings="studies.rank.options:RankSettings",
        reading="options.reading:RankReading",
        study="rank.study:rank",
        doc_types=(
            DocType("rank", "rank.document:RankDocument", "rank.screen", "rank.figures"),
            DocType(
                "rank-means",
                "rank.means:MeanRankDocument",
                "rank.screen:mean_sections",
                "rank.figures:mean_pictures",
            ),
        ),
        pictures=(
            *("forest", "trade", "bump", "quantiles", "tvar", "cdf", "stability"),
            *(*_TASK_PICTURES, _JUDGE_PICTURE, _NOISE_PICTURE),
        ),
        excluded=(),
        runs=True,
        needs=_JUDGES,
        example_data=_CLASSIFIERS,
        example_text="""Choose a classifier to ship (few resamples give a quick first answer):
            --resamples 200
        Compare two models on one metric, as JSON for another program:
            --metric correct --models lda,logistic --format json""",
    ),
    Command(
        name="dominance",
        short="Test every pair of models for stochastic dominance.",
        words="""Test every ordered pair of models for stochastic dominance, with exact violation ratios.

        Each row is an ordered pair: the violation ratio of "winner dominates loser" (0: better everywhere,
        0.5: a draw), the p-value, and the verdict. A ratio below 0.5 means ahead; 0 means dominance.""",
        settings="studies.dominance.options:DominanceSettings",
        study="dominance.study:dominance",
        doc_types=(
            DocType(
                "dominance",
                "dominance.study:DominanceDocument",
                "dominance.screen",
                "dominance.figures",
            ),
        ),
        pictures=("heatmap", "pair", *_TASK_PICTURES, _JUDGE_PICTURE),
        excluded=(),
        runs=True,
        needs=_JUDGES,
        example_data=_CLASSIFIERS,
        example_text="""Compare all pairs on log loss only:
            --metric log_loss --no-test
        Compare two models on all metrics combined (for CI, use riskrank gate --on ssd):
            --models lda,logistic --order 2""",
    ),
    Command(
        name="mrm",
        short="Rank models by mean minus risk, for several risk measures.",
        words="""Rank models by mean minus risk for several risk measures, with bootstrap intervals.

        Except for the standard deviation and the value at risk, all risk measures are consistent with
        second-order dominance: a dominating model never ranks lower. Their rankings are aggregated.""",
        settings="studies.mrm.options:MeanRiskSettings",
        study="mrm.study:mrm",
        settings_check="mrm.study:requested_risks",
        doc_types=(DocType("mrm", "mrm.study:MeanRiskDocument", "mrm.screen", "mrm.figures"),),
        pictures=("scatter", "risks", _JUDGE_PICTURE),
        excluded=(),
        runs=True,
        needs=_JUDGES,
        example_data=_CLASSIFIERS,
        example_text="""Mean minus risk of the combined score, with tails at 5 %:
            --level 0.05
        One risk measure, each metric separately, as CSV:
            --risk negative-tvar --per-metric --no-test --format csv""",
    ),
    Command(
        name="gsd",
        short="Order models by generalized stochastic dominance over cardinal and ordinal metrics.",
        words=f"""Order models by generalized stochastic dominance, which holds for every compatible utility.

        The models are compared on samples, usually data sets. A compatible utility may weight the metrics in
        any way, if it gives better scores and, on cardinal metrics, larger differences at least the same
        value. The table shows the resulting order, best models first, with permutation tests.

        Every metric needs a direction: {option("metrics_file")}, {option("lower")} or {option("higher")}.
        Name ordinal metrics with {option("ordinal")} or in the metrics file, where bounds also give the worst
        and the best possible score.""",
        settings="studies.gsd.options:GsdSettings",
        study="gsd.study:gsd",
        settings_check="gsd.study:thresholds",
        doc_types=(DocType("gsd", "gsd.study:GsdDocument", "gsd.screen", "gsd.figures"),),
        pictures=("hasse", "contamination", "null", "ranks"),
        # A constant criterion gives a warning instead of an error. Models must have the same samples.
        needs={"allow_constant": True, "paired_only": True, "largest": 1e303} | _SUITES,
        excluded=("group_by", "weight", *_JUDGE_OPTIONS),
        rejected_options=("unpaired", "cluster"),
        runs=True,
        example_data=_UCI,
        example_text="""Order that holds for every utility, tested with a small threshold:
            --delta 0.00001 --models GBM,RF,GLM
        Show why one model does not dominate another:
            --witness GLM:RF --no-test""",
    ),
    Command(
        name="copa",
        short="Choose a model by objectives without a common unit, from ranks and the Pareto front.",
        words=f"""Rank models by objectives that have no common unit, such as accuracy, CO2 and price.

        Each value is replaced by the share of the other models that do better; a weighted norm of these ranks
        orders the models. A table with one row per model is enough. Scores per sample are averaged, and
        tests then show which models are on the front. Every objective needs a direction:
        {option("metrics_file")}, {option("lower")} or {option("higher")}.

        The norm p sets how much a bad objective counts. The default, inf, uses only the worst weighted rank:
        it can reach every model on the Pareto front and responds to the weights. p = 1, the mean rank, tends
        to choose extreme models whatever the weights are. {option("sweep")} shows this effect.""",
        settings="studies.copa.options:CopaSettings",
        study="copa.study:copa",
        doc_types=(
            DocType("copa", "copa.ranking:CopaDocument", "copa.screen", "copa.figures"),
            DocType(
                "copa-comparison",
                "copa.study:ComparisonDocument",
                "copa.screen.questions:comparison_sections",
                "copa.figures",
            ),
            DocType(
                "copa-explain", "copa.study:ExplanationDocument", "copa.screen.questions:explanation_sections"
            ),
            DocType(
                "copa-sweep",
                "copa.study:WeightSweepDocument,OrderSweepDocument",
                "copa.screen.questions:sweep_sections",
                "copa.figures",
            ),
        ),
        pictures=("doubt", "parallel", "boxes", "front", "bump"),
        runs=True,
        # One row per model is enough, and missing scores are handled by model. The limit keeps averages of
        # millions of scores finite.
        needs={"sample_optional": True, "allow_constant": True, "missing": "keep", "largest": 1e303}
        | _SUITES,
        reading="studies.copa.options:ObjectiveReading",
        excluded=("group_by", *_JUDGE_OPTIONS),
        example_data=_LEADERBOARD,
        example_text="""Choose by three objectives without a common unit:
        Show which model is chosen as the weight of CO2 grows:
            --sweep co2""",
    ),
    Command(
        name="portfolio",
        short="Combine the metrics of each sample into one score.",
        words=f"""Combine the metrics of each sample into one portfolio score, by a copula of pooled CDFs.

        The result is a long table (model, sample, metric, score) that every other command reads.
        {option("output", "x.parquet")} writes Parquet.""",
        settings="studies.portfolio.options:CombinationSettings",
        study="portfolio.study:portfolio",
        doc_types=(
            DocType(
                "portfolio",
                "portfolio.study:PortfolioDocument,PortfolioDrawsDocument,PortfolioSummaryDocument",
                "portfolio.screen",
                "portfolio.figures",
            ),
        ),
        pictures=("quantiles", "tvar", "cdf"),
        excluded=("group_by", *_JUDGE_OPTIONS),
        needs={"min_models": 1, "weighs_tasks": True},
        formats=("parquet",),
        example_data=_CLASSIFIERS,
        example_text="""Combine all metrics into one score per sample, as input for other commands:
            --format csv
        Mean, spread and tail of every model:
            --summary""",
    ),
    Command(
        name="power",
        short="Plan how many samples a comparison needs.",
        words="""Estimate the power of a dominance test, and the sample size for a target power.

        Tables are drawn with replacement from a pilot table, or from named distributions, and tested as
        `dominance` tests them. The plan covers every dominance that is significant in the pilot, or the
        order in which the distributions are listed. With a judge, the plan gives the number of labels that
        a gate on means needs.""",
        settings="studies.power.options:PowerSettings",
        study="power.study:power",
        settings_check="power.study:build_claim",
        doc_types=(
            DocType("power", "power.study:PowerDocument", "power.screen", "power.figures"),
            DocType("power-noise", "power.plans:NoisePlanDocument", "power.screen:noise_sections"),
            DocType("power-labels", "power.plans:LabelsDocument", "power.screen:labels_sections"),
        ),
        pictures=("curves", _NOISE_PICTURE),
        excluded=("group_by",),
        runs=True,
        needs=_JUDGES,
        scores="SCORES...|DISTRIBUTION...",
        scores_words="A pilot table, or two or more distributions, the best first: normal:0.5,2, "
        "lognormal:MU,SIGMA, beta:A,B, bernoulli:P. NAME=normal:0.5,2 sets a name.",
        steps="cli.commands:run_power",
        example_text=f"""Samples needed to separate two normal distributions:
            normal:0.5,2 normal:0,1 --sizes 50,100 --simulations 20
        The same for two models of a pilot table:
            {_CLASSIFIERS} --metric correct --models lda,logistic --pair logistic:lda
            --sizes 100 --simulations 20""",
    ),
    Command(
        name="gate",
        short="Pass or fail a CI job: is a model better, or not worse, than another?",
        words="""Decide claims about models with three answers: pass (exit 0), fail (1), inconclusive (4).

        A claim passes only if it is significant; with too few samples it is inconclusive. All claims form
        one family of tests. In GitHub Actions, the command also writes annotations and a job summary.""",
        settings="studies.gate.options:ClaimSettings",
        study="gate.study:gate",
        doc_types=(DocType("gate", "gate.document:GateDocument", "gate.screen", "gate.figures"),),
        pictures=("intervals", _JUDGE_PICTURE),
        # Constant scores are valid: two models without any mistake.
        needs={"allow_constant": True} | _JUDGES | _CASES,
        reading="options.baseline:GateReading",
        excluded=("weight",),
        runs=True,
        output="options.output:GateOutputOptions",
        formats=("junit",),
        steps="cli.gate:run_gate",
        example_data=_CLASSIFIERS,
        example_text="""Test that lda is at most one point of accuracy worse than logistic:
            --not-worse lda:logistic --on correct --margin 0.01
        Test that logistic is better than naive_bayes, on average and in the worst 5 %:
            --better logistic:naive_bayes --on mean:log_loss --on tvar@0.05:log_loss""",
    ),
    Command(
        name="diff",
        short="List the cases in which a new model is worse than an old one.",
        words="""Compare two models case by case: count the samples that got worse or better, and list them.

        A score test compares the counts, for all samples and for each group or task. It treats clusters of
        samples as units. With several runs per sample, each case is tested as well, and the runs of the old
        model show how many cases change by chance alone.""",
        settings="studies.diff.options:DiffSettings",
        study="diff.study:diff",
        doc_types=(DocType("diff", "diff.document:DiffDocument", "diff.screen"),),
        needs={"allow_constant": True} | _SUITES | _CASES,
        excluded=("weight", *_JUDGE_OPTIONS),
        output="options.output:TestedOutputOptions",
        formats=("junit", "parquet"),
        example_data=_CLASSIFIERS,
        example_text="""Samples that lda gets wrong and logistic gets right, by data set:
            --metric correct --pair lda:logistic --cases 3
        All cases, for a spreadsheet:
            --metric correct --pair lda:logistic --format csv""",
    ),
    Command(
        name="trend",
        short="Follow an evaluation over many runs: what got worse, since when, and which cases flip.",
        words=f"""Compare every run with a baseline and with the run before, on the samples both have.

        Each file is a run, in the natural order of the names (run2 before run10), or
        {option("columns", "run=COL")} names the column of the runs. You can test after every run: the j-th
        test uses the level alpha/(j(j + 1)), so the error rate over all runs stays below alpha.""",
        settings="studies.trend.options:TrendSettings",
        study="trend.study:trend",
        doc_types=(DocType("trend", "trend.document:TrendDocument", "trend.screen", "trend.figures"),),
        pictures=("trend",),
        needs={"allow_constant": True, "min_models": 1},
        reading="options.baseline:GateReading",
        excluded=("group_by", "weight", "time", "folds", "noise", "task_weight", *_JUDGE_OPTIONS),
        rejected_options=("unpaired",),
        output="options.output:TestedOutputOptions",
        formats=("junit",),
        scores="RUN...",
        scores_words="One file per run, in any format that other commands read; LABEL=PATH names its models.",
        steps="cli.gate:run_trend",
        example_data=_WEEKS,
        example_text="""Twenty weeks of one assistant, in one table:
        The same as a gate that fails if the last week is significantly worse:
            --fail-on worse --inconclusive pass --format json""",
    ),
    Command(
        name="report",
        short="Write one page for a decision meeting: ranking, risks, pairs, pictures.",
        words=f"""Write one document with ranking, hidden risks, pairs, mean-risk models, and agreement.

        {option("output", "report.html")} is one self-contained file: it can be mailed, printed, and read
        without JavaScript. All other formats contain the same numbers.""",
        settings="studies.report.options:ReportSettings",
        study="report.study:report",
        doc_types=(DocType("report", "report.study:ReportDocument", "report.screen"),),
        excluded=(),
        runs=True,
        needs=_JUDGES,
        example_data=_CLASSIFIERS,
        example_text="""One page for a decision meeting, as a single file:
            --resamples 100 --output report.html
        The same with a section on COPA, as JSON:
            --copa --resamples 100 --format json""",
    ),
    Command(
        name="convert",
        short="Convert harness exports and judge verdicts into a score table that every command reads.",
        words="Convert harness exports and judge verdicts into a score table that every command reads.",
        doc_types=(
            DocType("convert", "convert.study:ExportDocument", "convert.screen"),
            DocType("convert-verdicts", "convert.study:VoteDocument", "convert.screen:votes_sections"),
        ),
        formats=("parquet",),
        example_text="""Convert a judge's verdicts on pairs of answers into scores:
            verdicts sample_data/verdicts.csv --format csv
        The same, written to a file that every command reads:
            verdicts sample_data/verdicts.csv --output scores.parquet""",
    ),
    Command(
        name="check",
        short="Describe a score table and list its problems.",
        words="""Describe a score table (models, samples, metrics, pairing) and list its problems.

        The exit status is 2 if other commands would refuse the table. (Tests also need 10 samples.)""",
        doc_types=(DocType("check", "check.study:CheckDocument", "check.screen"),),
        reading="options.reading:RankReading",
        excluded=("group_by", "weight"),
        output="options.output:CheckOutputOptions",
        steps="cli.commands:run_check",
        example_text=f"""Contents and problems of a table, and the commands that can use it:
            {_CLASSIFIERS}
        The same for another table, as JSON:
            {_UCI} --format json""",
    ),
    Command(
        name="schema",
        short="Print the JSON Schema of a command's JSON output.",
        words=f"""Print the JSON Schema (2020-12) of a command's output with {option("format", "json")}.

        The schema has the fields of the rows with their types, and the fields of meta. New fields may be
        added to both without a new version.""",
        reading="options.option:Settings",
        output="options.output:BasicOutputOptions",
        scores="COMMAND",
        scores_words="A command, or the name of a document, such as copa-sweep.",
        steps="cli.commands:run_schema",
        python=False,
        example_text="""Fields of a ranking, with their types:
            rank
        The same for a sweep, as a file for a validator:
            copa-sweep --output sweep.schema.json""",
    ),
    Command(
        name="examples",
        short="Write the sample data, for trying the commands.",
        words="""Write the sample data into a new folder, for trying the commands.

        The data is in its subfolder sample_data, so the examples of --help and the guide work unchanged.""",
        reading="options.option:Settings",
        output="options.output:BasicOutputOptions",
        excluded=("group_by", "output"),
        scores="[FOLDER]",
        scores_words="Folder to create. [default: riskrank-examples]",
        steps="cli.commands:run_examples",
        python=False,
        example_text="""Write to riskrank-examples:
        Write to a folder named trial:
            trial""",
    ),
)

BY_NAME = {row.name: row for row in COMMANDS}
DOC_TYPES = {paper.schema: paper for row in COMMANDS for paper in row.doc_types}


def grouping_commands() -> tuple[str, ...]:
    """Return the names of the commands that can analyse groups of samples."""
    return tuple(row.name for row in COMMANDS if row.supports_groups)
