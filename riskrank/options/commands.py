"""Table of all commands, with options, study, documents, views and figures, read from ``commands.toml``.

The objects of a command are given as text, ``module:name`` below ``riskrank.studies``, and imported on first
use. So the table itself is imported quickly.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from riskrank.errors import option
from riskrank.options.option import Settings
from riskrank.options.output import OutputOptions
from riskrank.options.reading import ReadOptions

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
        Name on the command line.
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
    subcommands : mapping of str to mapping
        Fields in which each subcommand differs from the command.
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
    subcommands: Mapping[str, Any] = field(default_factory=dict)

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


def _read_command(name: str, row: Mapping[str, Any]) -> Command:
    """Return the command that a table of ``commands.toml`` describes."""
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
    values["doc_types"] = tuple(DocType(**entry) for entry in row.get("doc_types", ()))
    return Command(name=name, **values)


# Options in texts, such as {metrics_file} or {format=json}.
_OPTION = re.compile(r"\{(\w+)(?:=([^}]*))?\}")
_TEXT = Path(__file__).with_name("commands.toml").read_text(encoding="utf-8")
_ROWS = tomllib.loads(_OPTION.sub(lambda match: option(match[1], match[2]), _TEXT))
COMMANDS = tuple(_read_command(name, row) for name, row in _ROWS.items())
BY_NAME = {row.name: row for row in COMMANDS}
DOC_TYPES = {paper.schema: paper for row in COMMANDS for paper in row.doc_types}


def grouping_commands() -> tuple[str, ...]:
    """Return the names of the commands that can analyse groups of samples."""
    return tuple(row.name for row in COMMANDS if row.supports_groups)
