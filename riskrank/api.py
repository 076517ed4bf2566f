"""The Python door: files and frames in, results with rows, a verdict and every format out.

One function a command, with the options of the command line as keyword arguments. A function reads,
calls the command's study and wraps its document; it computes nothing, prints nothing and changes no
global state. Failures are exceptions of :mod:`riskrank.errors`.
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

from riskrank.errors import UsageError, did_you_mean, listing, option, spell
from riskrank.options.baseline import GateReading
from riskrank.options.commands import BY_NAME, Command, named
from riskrank.options.option import Option, options_of
from riskrank.options.reading import ReadOptions
from riskrank.options.resampling import RunOptions
from riskrank.options.signature import documented, signature
from riskrank.options.values import contradict
from riskrank.results import GateResult as GateResult
from riskrank.results import Result as Result
from riskrank.results import result_of
from riskrank.scores.files.frames import FrameSource, is_frame
from riskrank.scores.files.source import Source
from riskrank.scores.table.score_table import ScoreTable, read_scores
from riskrank.studies.convert.options import EXPORT_OPTIONS, VERDICTS, VoteSettings
from riskrank.studies.groups.study import refuse_groups
from riskrank.studies.keyword_types import checked, whole_number
from riskrank.studies.runtime import Runtime, running

if TYPE_CHECKING:
    from riskrank.scores.table.inspection import Inspection

# What every command can do without is no error yet when a table is only read.
_TOLERANT = {
    "sample_optional": True,
    "min_models": 1,
    "allow_constant": True,
    "missing": "keep",
    "texts": True,
}


class Scores:
    """Score tables that were read once and are checked by every command for what it needs.

    Attributes
    ----------
    models, metrics, samples : tuple of str
    warnings : tuple of str
    """

    def __init__(self, sources: Sequence[str | Source], options: Mapping[str, Any]) -> None:
        self._sources = list(sources)
        self._options = dict(options)
        self._read: dict[str, ScoreTable] = {}

    def look(self) -> Scores:
        """Read them for no command: what none can use is told, and what there is; the table is not kept."""
        table = read_scores(self._sources, ReadOptions(**self._options | _TOLERANT))
        self.models = table.models
        self.metrics = tuple(metric.name for metric in table.metrics)
        self.samples = table.samples
        self.warnings = tuple(spell(warning, flags=False) for warning in table.warnings)
        return self

    def __repr__(self) -> str:
        sizes = f"{len(self.models)} models, {len(self.samples)} samples"
        return f"Scores({sizes}, metrics: {listing(self.metrics)})"

    def table(self, kind: type[ReadOptions] = ReadOptions, **commands_own: Any) -> ScoreTable:
        """Validated table for a command that can do without so much, or knows more rules."""
        options = kind(**self._options | commands_own)
        key = repr(options)
        if key not in self._read:
            self._read[key] = read_scores(self._sources, options)
        return self._read[key]

    def tables_apart(self, row: Command, settings: Any) -> tuple[ScoreTable, ...]:
        """Validated tables of the metrics that a gate wants, each on the samples it was scored on."""
        options = row.reading_type(**{**self._options, **row.needs, **settings.needs})
        from riskrank.scores.table.metric_tables import metrics_apart, read_selected
        from riskrank.studies.gate.claim_list import wanted_metrics

        scores = read_selected(self._sources, options, baseline=settings.baseline)
        return metrics_apart(scores, wanted=partial(wanted_metrics, settings))

    def bless(self, path: str | PathLike[str]) -> None:
        """Keep the scores, which are those of one model, as a baseline that later runs are compared with.

        Parameters
        ----------
        path : path
            Written whole or not at all, as Parquet; ``gate`` takes it as ``baseline``.

        Raises
        ------
        UsageError
            If there are several models, the name is no Parquet file's, or nothing can be written there.
        InputError
            If a gate could not use them.
        """
        file = str(Path(path))
        from riskrank.render.files import check_writable, write_all
        from riskrank.scores.table.baseline_writer import blessed, read_only_model, require_name

        require_name(file)
        options = GateReading(**{**self._options, **BY_NAME["gate"].needs})
        if options.judge is not None:
            contradict(option("judge", options.judge), "bless")
        scores, model = read_only_model(self._sources, options)
        check_writable(file, [one.path for one in scores.notes.inputs if one.sha256], parameter="path")
        write_all([(file, blessed(scores, model))], sys.stdout)

    @property
    def options(self) -> dict[str, Any]:
        """Options the table is read with, as they were given."""
        return dict(self._options)

    def inspected(self) -> Inspection:
        """What the sources hold and what is wrong with it."""
        inspect_scores = named("riskrank.scores", "table.inspection:inspect_scores")
        return inspect_scores(self._sources, BY_NAME["check"].reading_type(**self._options))

    def with_options(self, options: Mapping[str, Any]) -> Scores:
        """Read the same sources with further options."""
        return Scores(self._sources, self._options | dict(options)) if options else self


_READING = tuple(one.name for one in options_of(ReadOptions))

Given = Any  # a path, a pattern, a frame, a dict of columns, or Scores
Run = Callable[[], AbstractContextManager[Runtime]]
"""Where a study runs, once it does."""


def read(scores: Given | Iterable[Given], /, **options: Any) -> Scores:
    """Read score tables from files or frames.

    Parameters
    ----------
    scores : path, glob pattern, frame, dict of columns, or several of them
        CSV, TSV, Parquet and JSON lines, or any frame that exports an Arrow stream (Polars, pandas,
        PyArrow, DuckDB).
    **options
        The input options of the command line: ``columns={"model": "system"}``, ``wide=True``,
        ``lower="latency,cost"``, ``metrics={"latency": {"direction": "lower"}}``...

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If a file or frame cannot be used.
    UsageError
        If an option is unknown or makes no sense.
    """
    return scores if isinstance(scores, Scores) and not options else _of(scores, options).look()


def _of(scores: Given | Iterable[Given], options: Mapping[str, Any]) -> Scores:
    """Score tables with their options, which a command reads as it needs them."""
    options = _checked_reading(_named(options, options_of(ReadOptions)))
    if isinstance(scores, Scores):
        return scores.with_options(options)
    return Scores(_sources(scores), options)


def check(scores: Given | Iterable[Given], /, **options: Any) -> Result:
    """Say what a score table holds and what is wrong with it; nothing wrong in it is an exception.

    Parameters
    ----------
    scores : path, frame, dict of columns, several of them, or Scores
        As for :func:`riskrank.read`.
    **options
        As for :func:`riskrank.read`.

    Returns
    -------
    Result
        ``document.refusal`` is why the other commands would refuse the table, or None.

    Raises
    ------
    InputError
        If a file or its columns cannot be read at all.
    UsageError
        If an option is unknown or makes no sense.
    """
    return result_of(named("riskrank.studies", "check.study:check")(_of(scores, options).inspected()))


def _checked_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """Reading options in the types they are declared in; None leaves one out."""
    if isinstance(options.get("metrics_file"), Mapping):
        raise UsageError(
            f"{option('metrics_file')} is the path of a TOML file that describes metrics",
            found="a mapping",
            hint="give the mapping as metrics={...}",
        )
    if not isinstance(options.get("metrics"), Mapping | None):
        raise UsageError(
            f"{option('metrics')} describes metrics by their names",
            found=repr(options["metrics"]),
            hint=f"{option('metrics_file')} names a file that does, {option('metric')} keeps some metrics",
        )
    return _checked(ReadOptions, options)


def _checked(kind: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options in their types, columns and weights of tasks from mappings, too; None leaves one out."""
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(given.get("columns"), Mapping):
        given["columns"] = ",".join(f"{role}={column}" for role, column in given["columns"].items())
    if isinstance(given.get("task_weight"), Mapping):
        given["task_weight"] = [f"{task}={weight}" for task, weight in given["task_weight"].items()]
    return checked(kind, given)


def _sources(scores: Given | Iterable[Given]) -> list[str | Source]:
    if isinstance(scores, str | PathLike) or is_frame(scores) or not isinstance(scores, Iterable):
        return [_source(scores)]
    return [_source(one) for one in scores]


def _source(given: Given) -> str | Source:
    if is_frame(given):
        return FrameSource(given)
    if isinstance(given, PathLike):
        return str(Path(given))
    if isinstance(given, str | Source):
        return given
    known = isinstance(given, Result | Scores)
    raise UsageError(
        "scores are read from paths, frames or columns",
        found=f"{'a' if known else 'an object of type'} {type(given).__name__}",
        hint="give its frame: result.frame"
        if isinstance(given, Result)
        else "give scores on their own, or the files they were read from together"
        if known
        else "give a path, a frame, or columns as {'model': [...], 'sample': [...], 'metric': [...], "
        "'score': [...]}",
    )


def _only(row: Command, given: Sequence[Given]) -> Given:
    """The one thing scores are read from: a table, or several files in a list.

    Raises
    ------
    UsageError
        If there is none, or several that nobody put together.
    """
    if len(given) == 1:
        return given[0]
    raise UsageError(
        f"{row.name} takes its scores first, and in one place",
        found=f"{len(given)} of them" if given else "no scores",
        hint=f'write {row.name}("scores.csv", ...), or {row.name}(["one.csv", "two.csv"], ...) of several',
    )


def _run(row: Command, scores: Sequence[Given], options: Mapping[str, Any], run: Run) -> Result:
    """Read, study, wrap; an option belongs to the reading, to the settings, or to nobody."""
    given = _only(row, scores)
    options = _named(options, [*options_of(ReadOptions), *options_of(row.settings_type)])
    table = _of(given, {name: value for name, value in options.items() if name in _READING})
    _refuse_judge(row, table.options)
    # What the table was read with may be a setting too: copa decides on missing scores model by model.
    settings = _settings(row, table.options | dict(options))
    study = named("riskrank.studies", row.study)
    read_table: Any
    if row.name == "gate":
        read_table = table.tables_apart(row, settings)
    else:
        read_table = table.table(row.reading_type, **row.needs)
        if not row.groups:
            refuse_groups(read_table, row.name)
    with run() as runtime:
        return result_of(study(read_table, settings, runtime))


def _refuse_judge(row: Command, options: Mapping[str, Any]) -> None:
    """Refuse a judge and people where a command has no options for them."""
    given = [name for name in ("human", "judge") if name in row.lacks and options.get(name) is not None]
    if given:
        able = [one.name for one in BY_NAME.values() if one.needs.get("judges")]
        raise UsageError(
            f"{row.name} does not correct a judge's scores",
            found=option(given[0], options[given[0]]),
            hint=f"{listing(able)} do; take one metric here: {option('metric', options[given[0]])}",
        )


def _settings(row: Command, given: Mapping[str, Any]) -> Any:
    """Settings of a study in their types; impossible ones are refused before anything is read."""
    kind = row.settings_type
    own = {one.name for one in options_of(kind)}
    settings = kind(**checked(kind, {name: value for name, value in given.items() if name in own}))
    if row.refuses:
        named("riskrank.studies", row.refuses)(settings)
    return settings


def _named(options: Mapping[str, Any], known: Iterable[Option]) -> dict[str, Any]:
    """Options by their own names; what nobody knows is refused."""
    by_name = {one.name: one for one in known}
    others = {one.asking.also: one.name for one in by_name.values() if one.asking.also}
    found: dict[str, Any] = {}
    for given, value in options.items():
        name = others.get(given, given)
        if name not in by_name:
            raise UsageError(
                f"there is no option {option(given)}",
                found=listing(sorted(by_name), 60),
                hint=did_you_mean(given, sorted(by_name), write=option, otherwise="leave it out"),
            )
        if name in found:
            contradict(name, by_name[name].asking.also)
        found[name] = value
    return found


def _options(row: Command) -> list[Option]:
    """All options of a command: its own, those of the reader, and where to run."""
    own = options_of(row.settings_type)
    names = {one.name for one in own}
    reading = [one for one in options_of(row.reading_type) if one.name not in names]
    return [*own, *reading, *options_of(RunOptions)]


@cache
def _door(name: str) -> Callable[..., Result]:
    """The public function of a command that reads one table."""
    return _answered(BY_NAME[name], _run)


def _answered(row: Command, answer: Callable[..., Result], **how: Any) -> Callable[..., Result]:
    """Make the public function of a command, with a signature that names every option."""

    def command(*scores: Given, **options: Any) -> Result:
        jobs, executor = (options.pop(name, None) for name in ("jobs", "executor"))
        return answer(row, scores, options, partial(running, whole_number("jobs", jobs), executor))

    return _dressed(command, row, **how)


# How scores are given, in signatures; the functions themselves say what is wrong with none or several.
_SCORES = inspect.Parameter("scores", inspect.Parameter.POSITIONAL_ONLY)
_AS_READ = "    As :func:`riskrank.read`, whose options may be given here as well."


def _dressed(
    command: Callable[..., Result],
    row: Command,
    options: Sequence[Option] = (),
    *,
    first: inspect.Parameter = _SCORES,
    scores: str = f"scores : path, frame, dict of columns, several of them, or Scores\n{_AS_READ}",
) -> Callable[..., Result]:
    """Name, signature and documentation of a command's function, from its row and its options."""
    options = options or _options(row)
    command.__name__ = command.__qualname__ = row.name
    command.__module__ = "riskrank"
    returns = "GateResult" if row.name in ("gate", "trend") else "Result"
    command.__signature__ = signature(options, first=first, returns=returns)  # type: ignore[attr-defined]
    summary = spell(inspect.cleandoc(row.words), flags=False)
    described = [scores, *documented(options)]
    result = [returns, "", "Raises", "------", "RiskrankError"]
    result += ["    InputError, UsageError or NumericalError: what is wrong, what was found, what to do."]
    command.__doc__ = "\n".join(
        [summary, "", "Parameters", "----------", *described, "", "Returns", "-------", *result]
    )
    return command


def __getattr__(name: str) -> Callable[..., Result]:
    """The function of a command, made when it is first asked for."""
    if name not in BY_NAME or not BY_NAME[name].python:
        raise AttributeError(f"module 'riskrank.api' has no attribute '{name}'")
    return _door(name)


def _power(row: Command, scores: Sequence[Given], options: Mapping[str, Any], run: Run) -> Result:
    """Plan with a pilot or between distributions."""
    one = scores[0] if len(scores) == 1 else scores
    from riskrank.studies.power.distributions import named_distributions, refuse_table_options

    distributions = named_distributions(one if isinstance(one, list | tuple) else [one])
    if not distributions:
        return _run(row, [one], options, run)
    from riskrank.studies.power.study import power_between

    refuse_table_options(name for name in options if name in _READING)
    settings = _settings(row, _named(options, options_of(row.settings_type)))
    with run() as runtime:
        return result_of(power_between(distributions, settings, runtime))


power = _answered(
    BY_NAME["power"],
    _power,
    first=inspect.Parameter("scores", inspect.Parameter.VAR_POSITIONAL),
    scores='*scores : two or more distributions such as ``"normal:0.5,2"``; or path, frame, dict of '
    f"columns, several of them, or Scores\n{_AS_READ}",
)


def _gate(row: Command, scores: Sequence[Given], options: Mapping[str, Any], run: Run) -> Result:
    """Decide claims on one table, or on a new and an old one."""
    if not scores or scores[0] is None:
        both, options = _new_and_old(options)
        scores = [both]
    return _run(row, scores, options, run)


def _trend(row: Command, scores: Sequence[Given], options: Mapping[str, Any], run: Run) -> Result:
    """Compare runs, each in a table of its own."""
    options = _named(options, _of_runs())
    settings = _settings(row, options)
    reading = _checked_reading({name: value for name, value in options.items() if name in _READING})
    runs = named("riskrank.scores", "table.runs:read_runs")(
        _sources(_only(row, scores)),
        row.reading_type(**reading | dict(row.needs)),
        baseline=settings.baseline,
        anchors=settings.anchors,
    )
    with run() as runtime:
        return result_of(named("riskrank.studies", row.study)(runs, settings, runtime))


def _of_runs() -> list[Option]:
    """Options of runs, which lack those of single tables."""
    row = BY_NAME["trend"]
    return [one for one in _options(row) if one.name not in (*row.lacks, *row.refused)]


trend = _answered(
    BY_NAME["trend"],
    _trend,
    options=_of_runs(),
    scores=f"scores : list of paths or frames, each a run; or one table with a column of runs\n{_AS_READ}",
)


def _new_and_old(options: Mapping[str, Any]) -> tuple[list[Source | str], dict[str, Any]]:
    """Two tables in the place of two models: as the command line reads ``new=PATH old=PATH``."""
    given = {name: options[name] for name in ("new", "old") if options.get(name) is not None}
    wanted = ("new",) if options.get("baseline") is not None else ("new", "old")
    if tuple(given) != wanted or any(isinstance(one, list | tuple) for one in given.values()):
        raise UsageError(
            "gate needs scores",
            found=f"no table, and {listing(map(option, given)) if given else 'neither new nor old'}",
            hint='give a table of both models, gate(scores, new="NEW", old="OLD"), or two tables: '
            'gate(new="new.csv", old="old.csv")',
        )
    sources = []
    for name, one in given.items():
        source = _source(one)
        if isinstance(source, Source):
            source.model_label = name
        sources.append(source if isinstance(source, Source) else f"{name}={source}")
    # With a claim that names its models they are called new and old.
    paired = any(options.get(name) not in (None, True, ()) for name in ("better", "not_worse"))
    named = {name: None if paired else name for name in given}
    return sources, dict(options) | named


gate = _answered(
    BY_NAME["gate"],
    _gate,
    first=_SCORES.replace(default=None),
    scores=f"scores : path, frame, dict of columns, several of them, or Scores, optional\n{_AS_READ}"
    " Without them `new` and `old`\n"
    "    are tables, whose models are called so.",
)


def convert(scores: Given | Iterable[Given], /, *, from_: str | None = "auto", **options: Any) -> Result:
    """Turn exports or verdicts into scores; the text is made below, from the settings."""
    if from_ == VERDICTS:
        asked = _checked(VoteSettings, _named(options, options_of(VoteSettings)))
        from riskrank.studies.convert.study import convert_votes

        return result_of(convert_votes(_sources(scores), VoteSettings(**asked)))
    known = (one for one in options_of(ReadOptions) if one.name in EXPORT_OPTIONS)
    reading = _checked_reading({"from_": from_ or "auto", **_named(options, known)})
    paths = [source for source in _sources(scores) if isinstance(source, str)]
    if len(paths) < len(_sources(scores)):
        raise UsageError(
            "exports of harnesses are files",
            found="a frame",
            hint="name the files that the harness wrote; a frame of scores is read as it is",
        )
    from riskrank.studies.convert.study import convert_export

    return result_of(convert_export(paths, ReadOptions(**reading)))


def _to_convert() -> list[Option]:
    """Options of either kind, and what says which."""
    here = options_of(ReadOptions)
    found = {one.name: one for one in here if one.name in ("from_", *EXPORT_OPTIONS)}
    return [*found.values(), *(one for one in options_of(VoteSettings) if one.name not in found)]


convert = _dressed(
    convert,
    BY_NAME["convert"],
    _to_convert(),
    scores="scores : path, folder, pattern, ``LABEL=PATH``, or several of them\n"
    "    What a harness wrote, recognised or named by `from_`. With ``verdicts`` it is a judge's\n"
    "    verdicts on pairs, files or frames, which take `columns`, `models`, `metric_name`, `input_format`.",
)
