"""Python API: functions that read score files or data frames and return results.

There is one function per command, with the command-line options as keyword arguments. A function reads the
scores, runs the command's study and returns a result. It does not print, and has no global state. Errors are
raised as exceptions from :mod:`riskrank.errors`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskrank.errors import OPTION_CUTOFF, UsageError, listing, nearest, option, spell
from riskrank.options.baseline import GateReading
from riskrank.options.commands import BY_NAME, Command, load_object
from riskrank.options.inference import RunOptions
from riskrank.options.interfaces import ADVICE, MEANINGS, equivalent_option, option_docs, signature
from riskrank.options.option import Option, options_of
from riskrank.options.reading import ReadOptions
from riskrank.options.values import contradict
from riskrank.results import GateResult as GateResult
from riskrank.results import Result as Result
from riskrank.results import to_result
from riskrank.scores.files.source import FrameSource, Source, is_array, is_frame, score_frame
from riskrank.scores.table.score_table import ScoreTable, Trial, read_scores
from riskrank.studies.checks import refuse_groups
from riskrank.studies.convert.options import EXPORT_OPTIONS, VERDICTS, VoteSettings
from riskrank.studies.gate.options import add_default_claim
from riskrank.studies.keyword_types import check_jobs, check_types
from riskrank.studies.runtime import Runtime, open_runtime, try_study

if TYPE_CHECKING:
    from riskrank.scores.layouts.layout import Layout
    from riskrank.scores.table.inspection import Inspection

# Requirements that `read` does not impose, because some command can do without them.
_TOLERANT = {
    "sample_optional": True,
    "min_models": 1,
    "allow_constant": True,
    "missing": "keep",
    "texts": True,
}


class Scores:
    """Score tables to pass to the commands, each of which validates them against its own requirements.

    Attributes
    ----------
    models, metrics, samples : tuple of str
        Names that occur in the tables.
    warnings : tuple of str
        Warnings about how the tables were read.
    """

    def __init__(self, sources: Sequence[str | Source], options: Mapping[str, Any]) -> None:
        """Store the sources and reading options, without reading any file."""
        self._sources = list(sources)
        self._options = dict(options)
        self._read: dict[str, ScoreTable] = {}

    def load(self) -> Scores:
        """Read the tables, set the attributes, and return the object itself.

        Only the requirements that all commands share are checked.

        Raises
        ------
        InputError
            If no command can use the tables.
        """
        table = read_scores(self._sources, ReadOptions(**self._options | _TOLERANT))
        self.models = table.models
        self.metrics = tuple(metric.name for metric in table.metrics)
        self.samples = table.samples
        self.warnings = tuple(spell(warning, flags=False) for warning in table.warnings)
        return self

    def __repr__(self) -> str:
        """Return a summary with the numbers of models and samples, and the metrics."""
        sizes = f"{len(self.models)} models, {len(self.samples)} samples"
        return f"Scores({sizes}, metrics: {listing(self.metrics)})"

    def table(
        self, kind: type[ReadOptions] = ReadOptions, trial: Trial = None, **requirements: Any
    ) -> ScoreTable:
        """Return the validated table for a command.

        Parameters
        ----------
        kind : type
            Class of the reading options.
        trial : callable, optional
            As in `read_scores`.
        **requirements
            Requirements of the command, which override this object's options.
        """
        options = kind(**self._options | requirements)
        key = repr(options)
        if key not in self._read:
            self._read[key] = read_scores(self._sources, options, trial=trial)
        return self._read[key]

    def metric_tables(self, command: Command, settings: Any) -> tuple[ScoreTable, ...]:
        """Return the tables for a gate: one per claimed metric, with the samples scored on that metric."""
        options = command.reading_type(**{**self._options, **command.needs, **settings.needs})
        from riskrank.scores.table.gate_inputs import read_selected, tables_by_metric
        from riskrank.studies.gate.claim_list import select_metrics

        trial = partial(try_study, load_object("riskrank.studies", command.study), settings)
        scores = read_selected(self._sources, options, None, trial, baseline=settings.baseline)
        return tables_by_metric(scores, choose=partial(select_metrics, settings))

    def bless(self, path: str | PathLike[str]) -> None:
        """Save the scores of the only model as a baseline for later runs.

        Parameters
        ----------
        path : path
            Parquet file to write atomically. ``gate`` reads it with ``baseline``.

        Raises
        ------
        UsageError
            If there are several models, the name does not end in .parquet, or the file cannot be written.
        InputError
            If ``gate`` cannot use the scores.
        """
        file = str(Path(path))
        from riskrank.render.files import check_writable, write_all
        from riskrank.scores.table.gate_inputs import baseline_bytes, read_model, require_parquet_name

        require_parquet_name(file)
        options = GateReading(**{**self._options, **BY_NAME["gate"].needs})
        if options.judge is not None:
            contradict(option("judge", options.judge), "bless")
        scores, model = read_model(self._sources, options)
        check_writable(file, [entry.path for entry in scores.notes.inputs if entry.sha256], parameter="path")
        write_all([(file, baseline_bytes(scores, model))], sys.stdout)

    @property
    def options(self) -> dict[str, Any]:
        """Options for reading the tables, as given by the caller."""
        return dict(self._options)

    @property
    def layout(self) -> Layout:
        """Layout of the tables: options that read them without inference, and ``to_toml()``."""
        return load_object("riskrank.studies", "check.study:table_layout")(self.inspection())

    def inspection(self) -> Inspection:
        """Return a description of the sources' contents and problems."""
        inspect_scores = load_object("riskrank.scores", "table.inspection:inspect_scores")
        return inspect_scores(self._sources, BY_NAME["check"].reading_type(**self._options))

    def with_options(self, options: Mapping[str, Any]) -> Scores:
        """Return scores from the same sources with additional options."""
        return Scores(self._sources, self._options | dict(options)) if options else self


_READING_NAMES = tuple(opt.name for opt in options_of(ReadOptions))

Input = Any  # a path, a pattern, a frame, a dict of columns, or Scores
# Function that creates the runtime of a study.
Factory = Callable[[], AbstractContextManager[Runtime]]


def read(scores: Input | Iterable[Input], /, **options: Any) -> Scores:
    """Read score tables from files or data frames.

    Parameters
    ----------
    scores : path, glob pattern, frame, dict of columns, or several of them
        CSV, TSV, Parquet and JSON lines, or any frame that exports an Arrow stream (Polars, pandas,
        PyArrow, DuckDB).
    **options
        Reading options, as on the command line: ``columns={"model": "system"}``, ``wide=True``,
        ``lower="latency,cost"``, ``metrics={"latency": {"direction": "lower"}}``...

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If a file or frame cannot be used.
    UsageError
        If an option is unknown or invalid.
    """
    return scores if isinstance(scores, Scores) and not options else _to_scores(scores, options).load()


def _to_scores(scores: Input | Iterable[Input], options: Mapping[str, Any]) -> Scores:
    """Create `Scores` with validated options, without reading any file."""
    options = _check_reading(_resolve_names(options, options_of(ReadOptions)))
    if isinstance(scores, Scores):
        return scores.with_options(options)
    named = {"columns", "matrix", "wide"} & options.keys()
    arrays = None if named or isinstance(scores, str) else score_frame(scores, options.get("models"))
    return Scores(_to_sources(scores if arrays is None else arrays), options)


def check(scores: Input | Iterable[Input], /, **options: Any) -> Result:
    """Describe the contents and problems of a score table.

    Problems with the table are reported in the result instead of raised as exceptions.

    Parameters
    ----------
    scores : path, frame, dict of columns, several of them, or Scores
        As for :func:`riskrank.read`.
    **options
        As for :func:`riskrank.read`.

    Returns
    -------
    Result
        Its ``document.refusal`` is the error that other commands would raise, or None.

    Raises
    ------
    InputError
        If a file or its columns cannot be read.
    UsageError
        If an option is unknown or invalid.
    """
    return to_result(
        load_object("riskrank.studies", "check.study:check")(_to_scores(scores, options).inspection())
    )


def _check_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """Validate reading options, convert them to their declared types, and drop those that are None.

    Raises
    ------
    UsageError
        If the metrics are not a mapping, the metrics file is a mapping, or a value has the wrong type.
    """
    if isinstance(options.get("metrics_file"), Mapping):
        problem = f"{option('metrics_file')} needs the path of a TOML file"
        raise UsageError(problem, found="a mapping", hint="pass the mapping as metrics={...}")
    if not isinstance(options.get("metrics"), Mapping | None):
        problem = f"{option('metrics')} needs a mapping of metric names to descriptions"
        hint = f"use {option('metrics_file')} for a TOML file, or {option('metric')} to select metrics"
        raise UsageError(problem, found=repr(options["metrics"]), hint=hint)
    return _convert_types(ReadOptions, options)


def _convert_types(kind: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Convert options to the types declared by `kind`, and drop those that are None.

    Mappings of columns and task weights are converted to the text form of the command line.
    """
    values = {name: value for name, value in options.items() if value is not None}
    if isinstance(values.get("columns"), Mapping):
        values["columns"] = ",".join(f"{role}={column}" for role, column in values["columns"].items())
    if isinstance(values.get("task_weight"), Mapping):
        values["task_weight"] = [f"{task}={weight}" for task, weight in values["task_weight"].items()]
    return check_types(kind, values)


def _to_sources(scores: Input | Iterable[Input]) -> list[str | Source]:
    """Convert the inputs to a list of paths and sources."""
    is_single = isinstance(scores, str | PathLike | Result) or hasattr(scores, "read")
    if is_single or is_frame(scores) or not isinstance(scores, Iterable):
        return [_to_source(scores)]
    return [_to_source(source) for source in scores]


def _to_source(source: Input) -> str | Source:
    """Convert one input to a path or a source, raising UsageError for any other type."""
    if is_frame(source):
        return FrameSource(source)
    if is_array(source) and source.ndim == 1 and source.dtype.kind in "biuf":
        return FrameSource({"sample": [*range(source.size)], "score": source})
    if isinstance(source, PathLike):
        return str(Path(source))
    if isinstance(source, str | Source):
        return source
    is_result = isinstance(source, Result | Scores)
    raise UsageError(
        "scores must be paths, frames or columns",
        found=f"{'a' if is_result else 'an object of type'} {type(source).__name__}",
        hint="pass its frame: result.frame"
        if isinstance(source, Result)
        else "pass Scores alone, or pass the files from which they were read"
        if is_result
        else "pass a path, a frame, or columns as {'model': [...], 'sample': [...], 'metric': [...], "
        "'score': [...]}",
    )


def _single_input(command: Command, arguments: Sequence[Input]) -> Input:
    """Return the only positional argument: a table, or a list of files.

    Raises
    ------
    UsageError
        If there is not exactly one argument.
    """
    if len(arguments) == 1:
        return arguments[0]
    raise UsageError(
        f"{command.name} needs one positional argument, the scores",
        found=f"{len(arguments)} positional arguments" if arguments else "no scores",
        hint="write gate(new=NEW, old=OLD)"
        if command.name == "gate" and len(arguments) == 2
        else f'write {command.name}("scores.csv", ...), {command.name}(["one.csv", "two.csv"], ...), or '
        f'{command.name}({{"model a": x, "model b": y}}, ...)',
    )


def _run_study(command: Command, scores: Sequence[Input], options: Mapping[str, Any], run: Factory) -> Result:
    """Read the scores, run a command's study, and return its result.

    Options are divided into reading options and settings by name. An unknown option is an error.
    """
    source = _single_input(command, scores)
    allowed = [*options_of(ReadOptions), *options_of(command.settings_type)]
    options = _resolve_names(options, allowed, command.name)
    table = _to_scores(source, {name: value for name, value in options.items() if name in _READING_NAMES})
    _refuse_judge(command, table.options)
    # A reading option can also be a setting: copa handles missing scores itself, model by model.
    settings = _build_settings(command, table.options | dict(options))
    study = load_object("riskrank.studies", command.study)
    read_table: Any
    if command.name == "gate":
        read_table = table.metric_tables(command, settings)
    else:
        needs = {**command.needs, **settings.needs}
        read_table = table.table(command.reading_type, partial(try_study, study, settings), **needs)
        if not command.supports_groups:
            refuse_groups(read_table, command.name)
    with run() as runtime:
        return to_result(study(read_table, settings, runtime))


def _refuse_judge(command: Command, options: Mapping[str, Any]) -> None:
    """Raise UsageError if the options specify a judge but the command does not support one."""
    judges = [
        name for name in ("human", "judge") if name in command.excluded and options.get(name) is not None
    ]
    if judges:
        able = [other.name for other in BY_NAME.values() if other.needs.get("judges")]
        problem = f"{command.name} does not support judge scores"
        hint = f"use {listing(able)}, or one metric here: {option('metric', options[judges[0]])}"
        raise UsageError(problem, found=option(judges[0], options[judges[0]]), hint=hint)


def _build_settings(command: Command, options: Mapping[str, Any]) -> Any:
    """Create a study's settings, raising UsageError for invalid ones before any file is read."""
    kind = command.settings_type
    names = {opt.name for opt in options_of(kind)}
    settings = kind(**check_types(kind, {name: value for name, value in options.items() if name in names}))
    if command.settings_check:
        load_object("riskrank.studies", command.settings_check)(settings)
    return settings


def _resolve_names(
    options: Mapping[str, Any], allowed: Iterable[Option], command: str = "read"
) -> dict[str, Any]:
    """Return options with aliases replaced by the declared names.

    Raises
    ------
    UsageError
        If an option is unknown, or given both by its name and by its alias.
    """
    by_name = {opt.name: opt for opt in allowed}
    aliases = {opt.spec.python_alias: opt.name for opt in by_name.values() if opt.spec.python_alias}
    resolved: dict[str, Any] = {}
    for keyword, value in options.items():
        name = aliases.get(keyword, keyword)
        if name not in by_name:
            names = [*sorted(by_name), "jobs"]
            meant = equivalent_option(keyword, names)
            advice = "" if meant else ADVICE.get(keyword, "")
            meant = meant if meant or advice else nearest(keyword, names, OPTION_CUTOFF)
            problem = f"unknown option {option(keyword)}"
            hint = (
                f"did you mean {option(meant)}{MEANINGS.get(meant, '')}? " if meant else advice
            ) + f"help(riskrank.{command}) lists all options"
            raise UsageError(problem, found=f"{keyword}={value!r}"[:80], hint=hint)
        if name in resolved:
            contradict(name, by_name[name].spec.python_alias)
        resolved[name] = value
    return resolved


def _command_options(command: Command) -> list[Option]:
    """Return all options of a command: settings, reading options and execution options."""
    settings = options_of(command.settings_type)
    names = {opt.name for opt in settings}
    reading = [opt for opt in options_of(command.reading_type) if opt.name not in names]
    return [*settings, *reading, *options_of(RunOptions)]


def _public_function(command: Command, run: Callable[..., Result], **kwargs: Any) -> Callable[..., Result]:
    """Return the public function for a command, with a signature that lists all options.

    Parameters
    ----------
    command : Command
    run : callable
        Called with the command, the positional arguments, the options and a runtime factory.
    **kwargs
        Further arguments of `_with_signature`.
    """

    def function(*scores: Input, **options: Any) -> Result:
        """Run the command with the given scores and options."""
        jobs, executor = (options.pop(name, None) for name in ("jobs", "executor"))
        return run(command, scores, options, partial(open_runtime, check_jobs(jobs), executor))

    return _with_signature(function, command, **kwargs)


# Positional parameter of the public functions, which report missing or extra arguments themselves.
_SCORES = inspect.Parameter("scores", inspect.Parameter.POSITIONAL_ONLY)
_READ_NOTE = "    As in :func:`riskrank.read`, whose options are also accepted here."


def _with_signature(
    function: Callable[..., Result],
    command: Command,
    options: Sequence[Option] = (),
    *,
    first: inspect.Parameter = _SCORES,
    scores: str = f"scores : path, frame, dict of columns, several of them, or Scores\n{_READ_NOTE}",
) -> Callable[..., Result]:
    """Set the name, signature and docstring of a command's public function, and return it.

    Parameters
    ----------
    function : callable
    command : Command
    options : sequence of Option
        Options to list; by default, all options of the command.
    first : inspect.Parameter
        Positional parameter for the scores.
    scores : str
        Docstring entry for that parameter.
    """
    options = options or _command_options(command)
    function.__name__ = function.__qualname__ = command.name
    function.__module__ = "riskrank"
    returns = "GateResult" if command.name in ("gate", "trend") else "Result"
    function.__signature__ = signature(options, first=first, returns=returns)  # type: ignore[attr-defined]
    summary = spell(inspect.cleandoc(command.words), flags=False)
    described = [scores, *option_docs(options)]
    result = [returns, "", "Raises", "------", "RiskrankError"]
    result += ["    InputError, UsageError or NumericalError, with the problem, its cause, and a hint."]
    function.__doc__ = "\n".join(
        [summary, "", "Parameters", "----------", *described, "", "Returns", "-------", *result]
    )
    return function


@cache
def __getattr__(name: str) -> Callable[..., Result]:
    """Return the function of a command that reads one table, created on first use."""
    if name not in BY_NAME or not BY_NAME[name].python:
        raise AttributeError(f"module 'riskrank.api' has no attribute '{name}'")
    return _public_function(BY_NAME[name], _run_study)


def _run_power(command: Command, scores: Sequence[Input], options: Mapping[str, Any], run: Factory) -> Result:
    """Run a power study for a pilot table or for named distributions."""
    source = scores[0] if len(scores) == 1 else scores
    from riskrank.studies.power.study import parse_distributions, power_between, refuse_table_options

    distributions = parse_distributions(source if isinstance(source, list | tuple) else [source])
    if not distributions:
        return _run_study(command, [source], options, run)
    refuse_table_options(name for name in options if name in _READING_NAMES)
    options = _resolve_names(options, options_of(command.settings_type), command.name)
    settings = _build_settings(command, options)
    with run() as runtime:
        return to_result(power_between(distributions, settings, runtime))


power = _public_function(
    BY_NAME["power"],
    _run_power,
    first=inspect.Parameter("scores", inspect.Parameter.VAR_POSITIONAL),
    scores='*scores : two or more distributions such as ``"normal:0.5,2"``; or path, frame, dict of '
    f"columns, several of them, or Scores\n{_READ_NOTE}",
)


def _run_gate(command: Command, scores: Sequence[Input], options: Mapping[str, Any], run: Factory) -> Result:
    """Test claims on one table, or on two tables given as `new` and `old`."""
    if len(scores) == 1 and not isinstance(options.get("baseline"), str | PathLike | None):
        scores, options = [], {**options, "new": scores[0], "old": options["baseline"], "baseline": None}
    if not scores or scores[0] is None:
        both, options = _new_and_old_sources(options)
        scores = [both]
    paths = scores[0] if isinstance(scores[0], list) else [*scores]
    if all(isinstance(path, str) for path in paths) and isinstance(options.get("baseline"), str | None):
        *scores, options, _ = add_default_claim(paths, options)
    return _run_study(command, scores, options, run)


def _run_trend(command: Command, scores: Sequence[Input], options: Mapping[str, Any], run: Factory) -> Result:
    """Compare runs, one table each."""
    options = _resolve_names(options, _trend_options(), command.name)
    settings = _build_settings(command, options)
    reading = _check_reading({name: value for name, value in options.items() if name in _READING_NAMES})
    runs = load_object("riskrank.scores", "table.runs:read_runs")(
        _to_sources(_single_input(command, scores)),
        command.reading_type(**reading | dict(command.needs)),
        baseline=settings.baseline,
        anchors=settings.anchors,
    )
    with run() as runtime:
        return to_result(load_object("riskrank.studies", command.study)(runs, settings, runtime))


def _trend_options() -> list[Option]:
    """Return the options of ``trend``, without those that need a single table."""
    command = BY_NAME["trend"]
    return [
        opt
        for opt in _command_options(command)
        if opt.name not in (*command.excluded, *command.rejected_options)
    ]


trend = _public_function(
    BY_NAME["trend"],
    _run_trend,
    options=_trend_options(),
    scores=f"scores : list of paths or frames, each a run; or one table with a run column\n{_READ_NOTE}",
)


def _new_and_old_sources(options: Mapping[str, Any]) -> tuple[list[Source | str], dict[str, Any]]:
    """Return the sources and options of ``gate(new=..., old=...)``, which compares two tables.

    The command-line equivalent is ``new=PATH old=PATH``.
    """
    tables = {name: options[name] for name in ("new", "old") if options.get(name) is not None}
    required = ("new",) if options.get("baseline") is not None else ("new", "old")
    if tuple(tables) != required or any(isinstance(table, list | tuple) for table in tables.values()):
        raise UsageError(
            "gate needs scores",
            found=f"no table, and {listing(map(option, tables)) if tables else 'neither new nor old'}",
            hint='pass one table of both models, gate(scores, new="NEW", old="OLD"), or two tables: '
            'gate(new="new.csv", old="old.csv")',
        )
    sources = []
    for name, table in tables.items():
        source = _to_source(table)
        if isinstance(source, Source):
            source.model_label = name
        sources.append(source if isinstance(source, Source) else f"{name}={source}")
    # Claims that name their models refer to the tables as new and old.
    paired = any(options.get(name) not in (None, True, ()) for name in ("better", "not_worse"))
    named = {name: None if paired else name for name in tables}
    return sources, dict(options) | named


gate = _public_function(
    BY_NAME["gate"],
    _run_gate,
    first=_SCORES.replace(default=None),
    scores=f"scores : path, frame, dict of columns, several of them, or Scores, optional\n{_READ_NOTE}"
    " Without them `new` and `old`\n"
    "    are tables, and their models are named new and old.",
)


def convert(scores: Input | Iterable[Input], /, *, from_: str | None = "auto", **options: Any) -> Result:
    """Convert exports or judge verdicts to scores; the docstring for users is generated from the options."""
    if from_ == VERDICTS:
        settings = _convert_types(VoteSettings, _resolve_names(options, options_of(VoteSettings), "convert"))
        from riskrank.studies.convert.study import convert_votes

        return to_result(convert_votes(_to_sources(scores), VoteSettings(**settings)))
    allowed = (opt for opt in options_of(ReadOptions) if opt.name in EXPORT_OPTIONS)
    reading = _check_reading({"from_": from_ or "auto", **_resolve_names(options, allowed, "convert")})
    paths = [source for source in _to_sources(scores) if isinstance(source, str)]
    if len(paths) < len(_to_sources(scores)):
        hint = "pass the files that the harness wrote; other commands accept a frame of scores directly"
        raise UsageError("harness exports must be files", found="a frame", hint=hint)
    from riskrank.studies.convert.study import convert_export

    return to_result(convert_export(paths, ReadOptions(**reading)))


def _convert_options() -> list[Option]:
    """Return the options of ``convert``: those for exports, then those for verdicts."""
    reading = options_of(ReadOptions)
    by_name = {opt.name: opt for opt in reading if opt.name in ("from_", *EXPORT_OPTIONS)}
    return [*by_name.values(), *(opt for opt in options_of(VoteSettings) if opt.name not in by_name)]


convert = _with_signature(
    convert,
    BY_NAME["convert"],
    _convert_options(),
    scores="scores : path, folder, pattern, ``LABEL=PATH``, or several of them\n"
    "    Export of a harness, detected or named by `from_`. With ``verdicts``, a judge's verdicts on\n"
    "    pairs, as files or frames, with the options `columns`, `models`, `metric_name`, `input_format`.",
)
