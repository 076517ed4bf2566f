"""What readers of exports share: files taken one by one, rows gathered, everything left out counted."""

import hashlib
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import InputError, UsageError, counted, did_you_mean, listing, nearest, option
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.exports.interface import ANSWERED, ASKED, Export, ExportRules, LabelledPath
from riskrank.scores.files.bounded import decompressed, parse_json, parse_lines, read_bounded
from riskrank.scores.files.contents import require_file
from riskrank.scores.files.json_objects import as_text, halves, no_unicode, shown
from riskrank.scores.files.limits import Room
from riskrank.scores.files.source import InputFile

ALL = "*"
_LEFT_OUT = "values left out that are"
_LISTS = f"{_LEFT_OUT} lists"
REQUIRED = ("model", "sample", "metric", "score")


class Gathering:
    """Rows of one export while they are being read.

    Parameters
    ----------
    rules : ExportRules
    """

    def __init__(self, rules: ExportRules) -> None:
        self.rules = rules
        self.room = Room(rules.max_bytes)
        self._directions: dict[str, tuple[str, str]] = {}
        self._primary: dict[str, str] = {}
        self._bounds: dict[str, tuple[float, float]] = {}
        self._numbers: set[str] = set()
        self._graded: set[str] = set()
        self._rows: list[dict[str, str | float | None]] = []
        self._frames: list[pl.DataFrame] = []
        self._counts: Counter[str] = Counter()
        self._notes: list[str] = []
        self._inputs: dict[str, InputFile] = {}
        self._expected: dict[str, None] = {}
        self._spans: list[tuple[int, Path]] = []

    def take(self, path: Path, use: Callable[[bytes], None]) -> None:
        """Read a file, undo its compression and hand its bytes to `use`, which adds the rows.

        With `skip_bad`, a file that raises InputError leaves no row and one note.
        """
        self.attempt(path, lambda: use(self.read(path)))

    def attempt(self, path: Path, use: Callable[[], None]) -> None:
        """Do the same for a file that `use` opens itself."""
        rows, frames, height = len(self._rows), len(self._frames), self.height
        counts, notes, inputs = self._counts.copy(), len(self._notes), len(self._inputs)
        try:
            use()
        except InputError as error:
            if not self.rules.skip_bad:
                raise
            del self._rows[rows:], self._frames[frames:], self._notes[notes:]
            self._counts = counts
            for opened in list(self._inputs)[inputs:]:  # what is left out is no input
                del self._inputs[opened]
            self.note(f"left out: {error.what} ({error.found})")
        self._spans.append((len(self._rows), path))
        self._credit(path, self.height - height)

    def read(self, path: Path) -> bytes:
        """The bytes of a file, without its compression and mark, and keep its name and SHA-256."""
        raw = read_bounded(path, self.rules.max_bytes)
        self._inputs[str(path)] = InputFile(path=str(path), sha256=hashlib.sha256(raw).hexdigest(), rows=0)
        return decompressed(str(path), raw, self.room).removeprefix(b"\xef\xbb\xbf")

    def document(self, path: Path, data: bytes | None = None) -> Record:
        """The one object a JSON file holds, of which the bytes may have been read.

        Raises
        ------
        InputError
            If it holds anything else.
        """
        value = parse_json(str(path), self.read(path) if data is None else data)
        if not isinstance(value, dict):
            raise broken(f"{path}: the file is not a JSON object", shown(value))
        return Record(str(path), value, inside=": ")

    def beside(self, path: Path) -> Record:
        """The object a file holds that may be there; an empty one where it is not."""
        return self.document(path) if path.is_file() else Record(str(path), None, inside=": ")

    def forget(self, path: Path) -> None:
        """Take a file back that was read and is not used."""
        self._inputs.pop(str(path), None)

    def stamp(self, path: Path) -> None:
        """Keep the name and SHA-256 of a file that is read in places only."""
        require_file(str(path))
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._inputs[str(path)] = InputFile(path=str(path), sha256=digest, rows=0)

    def lines(self, path: Path, data: bytes, called: str = "line") -> Iterator[Record]:
        """Objects of a JSON-lines file, and what messages call them.

        Raises
        ------
        InputError
            At the first line that is no JSON object; with `skip_bad` such lines are counted instead.
        """
        bad = 0
        for number, value in parse_lines(str(path), data):
            if isinstance(value, dict):
                yield Record(f"{path}: {called} {number}", value)
                continue
            if isinstance(value, InputError) and not self.rules.skip_bad:
                raise value
            if not self.rules.skip_bad:
                raise broken(f"{path}: line {number} is not a JSON object", shown(value))
            bad += 1
        if bad:
            self.note(f"{path}: {counted(bad, 'line')} that cannot be read, left out")

    def records(self, path: Path, data: bytes, called: str = "entry") -> Iterator[Record]:
        """Objects of a JSON array, or of JSON lines, whatever the file is called.

        Raises
        ------
        InputError
            If the file is neither, or an entry is no object; with `skip_bad` such entries are counted.
        """
        if not data.lstrip().startswith(b"["):
            yield from self.lines(path, data, called)
            return
        entries = parse_json(str(path), data)
        if not entries:
            raise broken(f"{path}: the file is empty", "an array without entries")
        for number, value in enumerate(entries, start=1):
            if isinstance(value, dict):
                yield Record(f"{path}: {called} {number}", value)
            elif self.rules.skip_bad:
                self.count(f"{path}: entries that are no objects, left out")
            else:
                raise broken(f"{path}: entry {number} is not a JSON object", shown(value))

    def add(
        self,
        *,
        model: str,
        sample: str,
        metric: str,
        score: object = None,
        draw: str | None = None,
        asked: object = None,
        answered: object = None,
        counted: object = False,
        **columns: str,
    ) -> None:
        """Add one score, if it is one.

        Parameters
        ----------
        model, sample, metric : str
        score : object
            A number or boolean is a score; None and NaN are a row without one. Text, lists and objects are
            counted and left out, but lists of numbers with the rule `parts`: they are one metric a part.
        draw : str, optional
            Epoch, trial, repeat: which of several scores of the sample this is.
        asked, answered : object
            What the model was asked and what it said, as the file has it; kept of samples whose texts
            somebody wants.
        counted : bool
            Whether the reader has counted already why there is no score: this is the row without one.
        **columns : str
            Further columns: ``task``, ``split``, ...
        """
        self.expect(model)
        more: dict[str, Any] = {} if draw is None else {"draw": draw}
        more |= columns
        if sample in self.rules.texts_of and not counted:
            more |= {ASKED: as_text(asked), ANSWERED: as_text(answered)}
        for name, number in [(metric, None)] if counted else self.scores(metric, score):
            self._rows.append({"model": model, "sample": sample, "metric": name, "score": number, **more})

    def scores(self, metric: str, value: object) -> list[tuple[str, float | None]]:
        """Names and scores a logged value stands for: one, or one a part, or none; counts what is none."""
        if self.rules.parts and isinstance(value, list | tuple):
            return [found for at, part in enumerate(value) for found in self.scores(f"{metric}.{at}", part)]
        number = as_score(value)
        if isinstance(number, str):
            advice = f" ({option('parts', True)} makes each part a metric)" if number == "lists" else ""
            self.count(f"{metric}: {_LEFT_OUT} {number}, not scores{advice}")
            return []
        if number is None:
            self.count(f"{metric}: rows without a score")
        elif isinstance(value, bool):
            self.bound(metric, 0.0, 1.0)
        else:
            self._numbers.add(metric)
        return [(metric, number)]

    def add_frame(self, frame: pl.DataFrame, *, of: Path | None = None) -> None:
        """Add many rows at once, checked already; columns as in `Export.rows`.

        `of` is the file they are from, where `take` is done with it.
        """
        self._frames.append(frame)
        if of is not None:
            self._credit(of, frame.height)

    def framed(
        self,
        rows: list[dict[str, Any]],
        schema: Mapping[str, type[pl.DataType]],
        file_of: Callable[[int], str],
    ) -> pl.DataFrame:
        """Rows as a frame; names that hold half a character, which no table can, are refused or left out."""
        try:
            return pl.DataFrame(rows, schema=schema)
        except UnicodeEncodeError:
            wrong = halves(rows)
            if not self.rules.skip_bad:
                place, name = next(iter(wrong.items()))
                raise no_unicode(file_of(place), name) from None
            self.count("rows with names that are no Unicode text, left out", len(wrong))
            rows[:] = [row for place, row in enumerate(rows) if place not in wrong]
            return pl.DataFrame(rows, schema=schema)

    def _file_of(self, place: int) -> str:
        return next((str(path) for end, path in self._spans if place < end), "the export")

    def _all_frames(self) -> list[pl.DataFrame]:
        """All rows, with those that were added one by one in the last frame."""
        names = dict.fromkeys(name for row in self._rows for name in row)
        schema = {name: pl.Float64 if name == "score" else pl.String for name in names}
        one_by_one = [self.framed(self._rows, schema, self._file_of)] if self._rows else []
        return self._frames + one_by_one

    def join(self, export: Export) -> None:
        """Add all rows of an export, with its files and what bounds its metrics."""
        self.add_frame(export.rows)
        self._inputs |= {entry.path: entry for entry in export.inputs}
        for metric in export.rows["metric"].unique():
            ends = export.bounds.get(metric)
            if ends is None or self._bounds.setdefault(metric, ends) != ends:
                self._numbers.add(metric)

    def _credit(self, path: Path, rows: int) -> None:
        entry = self._inputs.get(str(path))
        if entry is not None:
            self._inputs[str(path)] = replace(entry, rows=entry.rows + rows)

    def expect(self, model: str) -> None:
        """Take note of a model that the files hold, to say so if no score of it is left."""
        self._expected[model] = None

    def count(self, what: str, times: int = 1) -> None:
        """Count something for the notes: ``count("match: samples that failed")`` is ``…: 2`` in the end."""
        if times:
            self._counts[what] += times

    def note(self, text: str) -> None:
        """Note something once."""
        if text not in self._notes:
            self._notes.append(text)

    def note_repeats(self, files: Iterable[tuple[str, str, Path]]) -> set[tuple[str, str]]:
        """Note models and tasks that several files are of: they are repeats. Returns these pairs."""
        runs: dict[tuple[str, str], list[Path]] = {}
        for model, task, path in files:
            runs.setdefault((model, task), []).append(path)
        repeated = {pair: paths for pair, paths in runs.items() if len(paths) > 1}
        for (model, task), paths in repeated.items():
            self.note(
                f"{len(paths)} runs of model '{model}' on task '{task}', from {listing(paths, 3)}: they are "
                "repeats of the same samples"
            )
        return {*repeated}

    def direct(self, metric: str, direction: str, *, of: str = "") -> None:
        """Keep what the export says about a metric's direction; two answers are none, and told.

        `of` says which run it is that says so.
        """
        kept, first = self._directions.setdefault(metric, (direction, of))
        if kept and kept != direction:
            self._directions[metric] = ("", "")
            self.note(contradiction(metric, {kept: first, direction: of}))

    def bound(self, metric: str, low: float, high: float, *, graded: bool = False) -> None:
        """Keep between which scores a metric lies by its kind; numbers among truths have none.

        Of a metric that is `graded`, numbers are what its grades are worth.
        """
        self._bounds[metric] = (low, high)
        if graded:
            self._graded.add(metric)

    def judge_by(self, task: str, metric: str) -> None:
        """Keep by which metric the harness judges a task; of two answers neither counts."""
        if self._primary.setdefault(task, metric) != metric:
            self._primary[task] = ""

    def tasks_wanted(self, there: Mapping[str, Collection[str]]) -> set[str]:
        """Tasks with a metric that is wanted, of those of each; others are noted, with what adds them."""
        wanted = wanted_metrics(self.rules.metrics, there)
        kept = {task for task, names in wanted.items() if not names or not names.isdisjoint(there[task])}
        left_out = sorted(there.keys() - kept)
        if kept and left_out:
            adds = [option("metric", f"{task}={min(there[task], key=_shortest)}") for task in left_out]
            self.note(
                f"{len(left_out)} of {len(there)} tasks left out, which have none of the metrics asked for: "
                f"{listing(left_out)}; {' '.join(adds[:3])} would add {'it' if len(adds) == 1 else 'some'}"
            )
        return kept or {*there}

    @property
    def directions(self) -> dict[str, str]:
        """Directions the export tells without contradiction."""
        return {metric: way for metric, (way, _) in self._directions.items() if way}

    @property
    def height(self) -> int:
        """Rows gathered so far."""
        return len(self._rows) + sum(frame.height for frame in self._frames)

    def export(self) -> Export:
        """Everything that was gathered.

        Raises
        ------
        InputError
            If there is no row at all.
        """
        frames = self._all_frames()
        counted = [f"{what}: {times:,}" for what, times in self._counts.items()]
        kept = {model for frame in frames for model in frame["model"].unique()}
        gone = [f"model '{model}': no score of it is left" for model in self._expected if model not in kept]
        notes = (*gone, *self._notes, *counted)
        if not self.height:
            raise InputError(
                f"{listing(self._inputs or ['the export'], 3)}: no scores in it",
                found=listing(notes, 4) if notes else "no scored samples",
                hint=f"{option('parts', True)} makes each part of a list a metric"
                if any(_LISTS in what for what in self._counts) and not self.rules.parts
                else "was the run finished and scored? name files or folders that hold scored samples",
            )
        rows = frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal")
        known = set(rows["metric"].unique())
        # Bounds are those of metrics of one kind.
        bounded = (known & self._bounds.keys()) - (self._numbers - self._graded)
        return Export(
            rows=tidy(rows),
            directions={name: way for name, way in self.directions.items() if name in known},
            primary={task: name for task, name in self._primary.items() if name in known},
            bounds={name: ends for name, ends in self._bounds.items() if name in bounded},
            notes=notes,
            inputs=tuple(self._inputs.values()),
        )


def together(exports: Sequence[Export], rules: ExportRules) -> Export:
    """Exports of several labels as one: what they say of a metric counts where none says something else."""
    gathering = Gathering(rules)
    for export in exports:
        source = listing((entry.path for entry in export.inputs), 2)
        for note in export.notes:
            gathering.note(note)
        for metric, way in export.directions.items():
            gathering.direct(metric, way, of=source)
        for task, metric in export.primary.items():
            gathering.judge_by(task, metric)
        gathering.join(export)
    board = any(export.board for export in exports)
    return replace(gathering.export(), board=board)


def contradiction(metric: str, told: Mapping[str, str]) -> str:
    """Words for runs that disagree about a metric's direction: `told` maps each to a run."""
    runs = ", ".join(f"{way} is better in {run or 'another run'}" for way, run in told.items())
    return (
        f"'{metric}': the runs disagree on its direction ({runs}); it counts as undeclared: say "
        f"{option('higher', metric)} or {option('lower', metric)}"
    )


def tidy(rows: pl.DataFrame) -> pl.DataFrame:
    """Order the columns, and drop ``draw`` where nothing repeats."""
    if "draw" in rows.columns:
        if rows.select("model", "sample", "metric").n_unique() == rows.height:
            rows = rows.drop("draw")
        else:
            rows = rows.with_columns(pl.col("draw").fill_null("1"))
    order = [*REQUIRED, *(["draw"] if "draw" in rows.columns else [])]
    return rows.select(*order, *(name for name in rows.columns if name not in order))


def as_score(value: object) -> float | str | None:
    """A number as a score, None where there is none, or words for what it is instead."""
    if value is None:
        return None
    if isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            return "numbers beyond the range of floats"
        return None if math.isnan(number) else number
    kinds: dict[type, str] = {str: "text", list: "lists", tuple: "lists", dict: "objects"}
    return kinds.get(type(value), f"of type {type(value).__name__}")


def files_of(paths: Iterable[LabelledPath], wanted: Callable[[Path], bool]) -> Iterator[Path]:
    """Files to read: those named, and of folders all wanted files below them, in sorted order, each once.

    A file that was named is read whatever it is called: the reader says what is wrong with it.
    """
    seen: set[Path] = set()
    for entry in paths:
        found = sorted(walk(entry.path, wanted)) if entry.path.is_dir() else [entry.path]
        if not found:
            raise InputError(
                f"{entry.path}: no file of this format in the folder",
                found="a folder without one",
                hint="name the folder the harness wrote into, or the files themselves",
            )
        for path in found:
            if path not in seen:
                seen.add(path)
                yield path


def walk(folder: Path, wanted: Callable[[Path], bool]) -> Iterator[Path]:
    """Wanted files below a folder; links to folders are not followed, so that none leads in circles."""
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            if path.is_file() and wanted(path):  # looking into a named pipe would wait for ever
                yield path


def model_of(path: Path, logged: str | None, rules: ExportRules, *, label: str | None = None) -> str:
    """The model of a file: by the rule for paths, else as the log says, else the label.

    Raises
    ------
    InputError
        If nothing names it.
    UsageError
        If the rule for paths does not fit the path.
    """
    if rules.model_from_path is not None:
        return _model_in(path, rules.model_from_path)
    name = (logged or label or "").strip()
    if not name:
        raise InputError(
            f"{path}: the file does not say which model it is of",
            found="no model name in it",
            hint=f"write NAME={path}, or find it in the path with {option('model_from_path')}",
        )
    return name


def _model_in(path: Path, pattern: str) -> str:
    asked, example = option("model_from_path", pattern), option("model_from_path", "runs/([^/]+)/")
    try:
        expression = re.compile(pattern)
    except re.error as error:
        hint = f"write one with a group around the model: {example}"
        raise UsageError(f"{asked} is no regular expression", found=str(error), hint=hint) from None
    named, groups = "model" in expression.groupindex, expression.groups
    if not named and groups != 1:
        hint = f"for example {example}; others may be (?:…)"
        raise UsageError(f"{asked} needs one group around the model", found=f"{groups} groups", hint=hint)
    match = expression.search(path.as_posix())
    name = match and match["model" if named else 1]
    if not name:
        hint = "the pattern is searched in the path as it was given, with folders"
        raise UsageError(f"{asked} finds no model in a path", found=str(path), hint=hint)
    return name


def choose(
    parameter: str, asked: Sequence[str], available: Iterable[str], *, what: str, where: str
) -> tuple[str, ...]:
    """Which of several filters, splits or the like to keep; never a guess.

    Parameters
    ----------
    parameter : {"filter", "split"}
        The rule that decides.
    asked : sequence of str
        What the rule says; ``*`` is all.
    available : iterable of str
        What there is, in the order of the export.
    what, where : str
        For the message: ``"filters"``, ``"task gsm8k"``.

    Raises
    ------
    UsageError
        If there are several and the rule does not pick among them.
    """
    there = tuple(dict.fromkeys(available))
    if ALL in asked:
        return there
    kept = tuple(name for name in there if name in asked)
    if kept or len(there) <= 1:
        return kept or there
    close = next((found for name in asked if (found := nearest(name, there))), None)
    raise UsageError(
        f"{where}: several {what}, and which of them counts is for you to say",
        found=listing(there, 20) + (f"; {option(parameter)} names {listing(asked)}" if asked else ""),
        hint=f"did you mean {option(parameter, close)}?"
        if close
        else f"pick one: {option(parameter, there[0])}; or keep all: {option(parameter, ALL)}",
    )


def _shortest(name: str) -> tuple[bool, str]:
    """Metrics before those of a filter, each by name."""
    return "," in name, name


def wanted_metrics(asked: Sequence[str], tasks: Iterable[str]) -> dict[str, frozenset[str]]:
    """The metrics somebody wants of each task, by name or by ``TASK=NAME``; an empty set is all of them."""
    prefixes = {task: f"{task}=" for task in tasks}
    plain = frozenset(text for text in asked if not text.startswith(tuple(prefixes.values())))
    return {
        task: frozenset(text.removeprefix(start) for text in asked if text.startswith(start)) or plain
        for task, start in prefixes.items()
    }


def check_used(parameter: str, asked: Sequence[str], available: Mapping[str, object] | Iterable[str]) -> None:
    """Refuse a rule that names what is nowhere in the export.

    Raises
    ------
    UsageError
    """
    there = tuple(dict.fromkeys(available))
    for name in asked:
        if name != ALL and name not in there:
            raise UsageError(
                f"{option(parameter, name)}: there is none of that name",
                found=f"the export holds {listing(there, 20)}",
                hint=did_you_mean(name, there, parameter=parameter, otherwise="name one of these"),
            )


def refuse_rules(rules: ExportRules, name: str, *, uses: Sequence[str] = ()) -> None:
    """Refuse rules that mean nothing for a format, instead of ignoring them; all of none is no mistake.

    Raises
    ------
    UsageError
    """
    for parameter, asked in (("filter", rules.filters), ("split", rules.splits)):
        named = [one for one in asked if one != ALL]
        if named and parameter not in uses:
            raise UsageError(
                f"{option(parameter, named[0])}: exports of {name} hold nothing to choose that way",
                found=f"the format {name}",
                hint=f"leave {option(parameter)} out",
            )
