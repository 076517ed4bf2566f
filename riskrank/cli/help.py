"""Help a person can read: options in groups, and two commands to copy at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from riskrank.cli.config import ConfiguredCommand
from riskrank.scores.exports.catalogue import EXPORTS

# Order of the groups on the page.
INPUT, METHOD, TESTS, OUTPUT = "Input", "Method", "Tests", "Output"
PANELS = (INPUT, METHOD, TESTS, OUTPUT)

# By command: what a line is good for, and the line. They run in a checkout, on the sample data.
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "rank": (
        (
            "Which classifier to ship; a first answer, from few resamples:",
            "riskrank rank sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--resamples 200",
        ),
        (
            "One metric of two models, as JSON for another program:",
            "riskrank rank sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--metric correct --models lda,logistic --format json",
        ),
    ),
    "dominance": (
        (
            "Who is ahead of whom in log loss, whatever else is in the table:",
            "riskrank dominance sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--metric log_loss --no-test",
        ),
        (
            "Of two models, the portfolio of all metrics; a gate for CI is riskrank gate --on ssd:",
            "riskrank dominance sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--models lda,logistic --order 2",
        ),
    ),
    "mrm": (
        (
            "Mean minus risk on the portfolio, tails at 5 %:",
            "riskrank mrm sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--level 0.05",
        ),
        (
            "One risk, each metric on its own, as CSV:",
            "riskrank mrm sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--risk negative-tvar --per-metric --no-test --format csv",
        ),
    ),
    "gsd": (
        (
            "The order that holds for every utility, tested with a small threshold:",
            "riskrank gsd sample_data/uci.csv --metrics-file sample_data/uci.toml --delta 0.00001 "
            "--models GBM,RF,GLM",
        ),
        (
            "Why a model does not dominate another:",
            "riskrank gsd sample_data/uci.csv --metrics-file sample_data/uci.toml --explain GLM:RF --no-test",
        ),
    ),
    "copa": (
        (
            "Choose by three objectives without a common unit:",
            "riskrank copa sample_data/llm_leaderboard.csv --wide "
            "--metrics-file sample_data/llm_leaderboard.toml --metric ifeval --metric math --metric co2",
        ),
        (
            "Which model is chosen as CO2 gains weight:",
            "riskrank copa sample_data/llm_leaderboard.csv --wide "
            "--metrics-file sample_data/llm_leaderboard.toml --metric ifeval --metric math --metric co2 "
            "--sweep co2",
        ),
    ),
    "portfolio": (
        (
            "Fold all metrics into one score a sample, to feed other commands:",
            "riskrank portfolio sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--format csv",
        ),
        (
            "Mean, spread and tail of every model:",
            "riskrank portfolio sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--summary",
        ),
    ),
    "power": (
        (
            "How many samples it takes to tell two normals apart:",
            "riskrank power normal:0.5,2 normal:0,1 --sizes 50,100 --simulations 20",
        ),
        (
            "The same for two models of a pilot table:",
            "riskrank power sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--metric correct --models lda,logistic --pair logistic:lda --sizes 100 --simulations 20",
        ),
    ),
    "gate": (
        (
            "Whether lda is not worse than logistic by more than a point of accuracy:",
            "riskrank gate sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--not-worse lda:logistic --on correct --margin 0.01",
        ),
        (
            "Whether logistic is better than naive_bayes, on average and in the worst 5 %:",
            "riskrank gate sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--better logistic:naive_bayes --on mean:log_loss --on tvar@0.05:log_loss",
        ),
    ),
    "report": (
        (
            "One page for a decision meeting, to be mailed as it is:",
            "riskrank report sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--resamples 100 --output report.html",
        ),
        (
            "The same with a choice without a common unit, as JSON:",
            "riskrank report sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml "
            "--copa --resamples 100 --format json",
        ),
    ),
    "convert": (
        (
            "A judge's verdicts on pairs of answers as scores:",
            "riskrank convert verdicts sample_data/verdicts.csv --format csv",
        ),
        (
            "The same into a file every command reads:",
            "riskrank convert verdicts sample_data/verdicts.csv --output scores.parquet",
        ),
    ),
    "verdicts": (
        (
            "Who won how often, as a table:",
            "riskrank convert verdicts sample_data/verdicts.csv --format table",
        ),
        (
            "Columns of other names, and a name for the metric:",
            "riskrank convert verdicts sample_data/verdicts.csv --columns sample=sample,verdict=verdict "
            "--metric-name preference",
        ),
    ),
    "check": (
        (
            "What a table holds, what is wrong with it, and what can be done with it:",
            "riskrank check sample_data/classifiers.parquet --metrics-file sample_data/classifiers.toml",
        ),
        (
            "The same of another table, as JSON:",
            "riskrank check sample_data/uci.csv --metrics-file sample_data/uci.toml --format json",
        ),
    ),
    "schema": (
        ("Fields of a ranking, with their types:", "riskrank schema rank"),
        ("The same of a sweep, for a validator:", "riskrank schema copa-sweep --output sweep.schema.json"),
    ),
}


def examples_of(command: str) -> tuple[tuple[str, str], ...]:
    """Examples of a command, or of a harness that ``convert`` reads: of those no logs are at hand."""
    if command != "auto" and command not in EXPORTS:
        return EXAMPLES.get(command, ())
    return (
        (
            "A folder of logs into a file every command reads:",
            f"riskrank convert {command} logs/ --output scores.parquet",
        ),
        ("Two runs, each under a name of yours:", f"riskrank convert {command} new=logs/a old=logs/b"),
    )


def _write_examples(command: str, formatter: Any) -> None:
    """Write the examples as they are: a wrapped command could not be copied."""
    examples = examples_of(command)
    if not examples:
        return
    with formatter.section("Examples"):
        for purpose, line in examples:
            formatter.write_text(purpose)
            formatter.write(f"    {line}\n")


class Command(ConfiguredCommand):
    """A command whose help shows its options in groups and ends with examples."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then a section a group."""
        arguments: list[tuple[str, str]] = []
        groups: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                arguments.append(record)
            else:
                panel = getattr(parameter, "rich_help_panel", None) or OUTPUT
                groups.setdefault(panel, []).append(record)
        for title, records in [("Arguments", arguments), *groups.items()]:
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        _write_examples(self.name or "", formatter)


class ManyCommands(TyperGroup):
    """A command of several, in groups by what they read (their panel), with examples at the end."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write its commands by group, then its options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None) or "Commands"
            groups.setdefault(str(panel), []).append((name, command.get_short_help_str(200)))
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        groups[OUTPUT] = [record for record in records if record is not None]
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        _write_examples(self.name or "", formatter)


class Application(typer.Typer):
    """A Typer application whose commands have such help."""

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:
        """Register a command."""
        return super().command(name, **({"cls": Command} | options))
