"""Steps of all commands: read the scores, run the study, write the results, and forecast time and memory."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from riskrank.cli.environment import Environment, progress_bar
from riskrank.cli.interrupts import ignore_interrupts
from riskrank.cli.options import Call
from riskrank.errors import NumericalError, UsageError, counted, option, single_line, spell
from riskrank.options.commands import load_object
from riskrank.options.output import FORMATS

if TYPE_CHECKING:
    from riskrank.scores.table.score_table import ScoreTable, Trial
    from riskrank.studies.document import Document
    from riskrank.studies.runtime import ProgressCallback, Runtime

# Files that a query reads: names after FROM or JOIN, and arguments of table functions such as read_csv.
_SQL_SOURCES = r"(?:\b(?:from|join)\s*|(?:read|scan)\w*\s*\(\s*\[?\s*)((?:['\"][^'\"]+['\"]\s*,?\s*)+)"


class Session:
    """One run of a command.

    Attributes
    ----------
    call : Call
        Command with its arguments and options.
    environment : Environment
        Standard streams and environment variables.
    output : OutputOptions
        Options for output files and formats.
    formats : tuple of str
        Format of each output file, or of stdout.
    """

    def __init__(self, call: Call, *, piped: str = "table") -> None:
        """Validate formats, output files and pictures; `piped` is the default format for a pipe."""
        from riskrank.render.files import check_outputs, choose_formats

        require_threads()
        environment: Environment = call.context.obj
        output = call.output
        self.call = call
        self.scores = call.scores
        allowed = (*FORMATS, *call.command.formats)
        self.environment = environment
        self.output = output
        self.formats = choose_formats(output.format, output.output, allowed=allowed)
        if self.formats == ("table",) and output.format is None and not environment.stdout.isatty():
            self.formats = (piped,)
        smaller = "write only the required rows and columns to a smaller file"
        require_memory(reading_memory(self.scores), output.max_memory, "reading these files", smaller)
        self.plots = parse_plots(output.plot, environment.command)
        outputs, inputs = self._output_files(), self._input_files()
        check_outputs(outputs, inputs, replaceable=self._replaceable_inputs(), stdout=environment.stdout)
        if "html" in self.formats:
            from riskrank.render.figures.catalogue import require_pages

            require_pages()

    def _output_files(self) -> dict[str, list[str]]:
        """Return the output files, by the option that names them."""
        values = self.call.values
        extra = {name: [values[name]] for name in ("bless", "save") if values.get(name)}
        return {**extra, "output": [*self.output.output], "plot": [file for _, file in self.plots]}

    def _input_files(self) -> list[str]:
        """Return the input files given by the user, including those in SQL queries."""
        from riskrank.scores.files.paths import candidate_files

        values = self.call.values
        queries = " ".join(str(values.get(name) or "") for name in ("sql", "where"))
        # A saved layout may be replaced by a newer one.
        config = None if values.get("save") else self.environment.loaded_config
        paths = [values.get("metrics_file"), values.get("price"), config]
        sources = " ".join(re.findall(_SQL_SOURCES, queries, re.IGNORECASE))
        paths += [*(values.get("anchor") or ()), *re.findall(r"['\"]([^'\"]+)['\"]", sources)]
        return candidate_files(filter(None, (*self.scores, *paths)))

    def _replaceable_inputs(self) -> dict[str, list[str]]:
        """Return the outputs that may replace an input, by input file.

        A new baseline may replace the old one. The JSON result of a sequential test may replace the result
        that it continues.
        """
        from riskrank.scores.files.paths import candidate_files

        values = self.call.values
        looks = [file for file, kind in zip(self.output.output, self.formats, strict=False) if kind == "json"]
        outputs: dict[str, list[str]] = {"baseline": [str(values.get("bless"))], "continues": looks}
        inputs = {name: [str(values[name])] for name in outputs if values.get(name)}
        inputs |= {"baseline": candidate_files(inputs.get("baseline", ()))}
        return {file: outputs[name] for name, files in inputs.items() for file in files}

    def read(self, trial: Trial = None) -> ScoreTable:
        """Read the score table; errors suggest only options with which the trial of a study succeeds.

        Warnings are printed after the result, so that an error message stays at three lines.
        """
        from riskrank.scores.table.score_table import read_scores

        reading = replace(self.call.reading, **self.call.settings.needs)
        table = read_scores(self.scores, reading, self.environment.stdin, trial)
        self.check_memory(table)
        return table

    def check_memory(self, table: ScoreTable | None = None) -> None:
        """Raise NumericalError if the resamples or simulations do not fit in memory."""
        command, values = self.environment.command, self.call.values
        models, samples = (len(table.models), len(table.samples)) if table else (0, 0)
        for needed, task in replicates_memory(command, values, models, samples):
            require_memory(needed, self.output.max_memory, task, "use a smaller number")

    def runtime(self) -> AbstractContextManager[Runtime]:
        """Return a context manager for the runtime: worker processes or executor, and progress."""
        from riskrank.studies.runtime import open_runtime

        return open_runtime(self.call.run.jobs, self.call.run.executor, self.progress)

    def study(self, settings: Any) -> Document:
        """Read the table and run the study of the command."""
        from riskrank.studies.runtime import try_study

        study = load_object("riskrank.studies", self.call.command.study)
        with self.runtime() as runtime:
            return study(self.read(partial(try_study, study, settings)), settings, runtime)

    def log(self, line: str) -> None:
        """Write a line to stderr, unless ``--quiet`` is set."""
        if not self.output.quiet:
            self.environment.log(line)

    def metrics_file_to_write(self, text: str) -> tuple[dict[str, bytes], Path | None]:
        """Return the metrics file, with contents `text`, to write next to the first output file.

        Returns
        -------
        files : dict of str to bytes
            Path and contents of the metrics file, or empty if there is nothing to write.
        existing : Path or None
            File with other contents, which is not replaced because it may have been edited by hand.
        """
        from riskrank.render.files import is_device

        files = [Path(file) for file in self.output.output if not is_device(Path(file))]
        if not files or not text:
            return {}, None
        path, data = files[0].with_suffix(".metrics.toml"), text.encode("utf-8")
        same = path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
        same = same or not path.exists()
        return ({str(path): data}, None) if same else ({}, path)

    def progress(self, label: str) -> AbstractContextManager[ProgressCallback | None]:
        """Return a progress bar for terminals, or else a callback that logs the duration of long runs."""
        stream = self.environment.stderr
        if self.output.quiet:
            return nullcontext()
        return progress_bar(label, stream) if stream.isatty() else nullcontext(slow_run_note(label, self.log))

    def finish(self, document: Document, *, extra_files: Mapping[str, bytes] | None = None) -> None:
        """Render the document and write it with its extra files, either all files or none."""
        from riskrank.render.files import check_outputs, write_all
        from riskrank.scores.layouts.layout import DESIGN, FIRST, IGNORED, READ, warning_kind
        from riskrank.scores.table.scores import reports_exclusion

        config = self.environment.config
        if config is not None:
            document = replace(document, provenance=replace(document.provenance, config=config))
        files = dict(extra_files or {})
        for picture, file in self.plots:
            from riskrank.render.figures.catalogue import draw

            files[file] = draw(document, picture).to_bytes(Path(file).suffix[1:].lower())
        stdout = self.environment.stdout
        # A harness's export may consist of more files than the named one.
        renewed = {os.path.realpath(path) for path in self._replaceable_inputs()}
        read = [str(entry["path"]) for entry in document.provenance.inputs]
        read = [path for path in read if os.path.realpath(path) not in renewed]
        check_outputs(self._output_files(), read, stdout=stdout)
        write_all(self._render(document), stdout, files, before_rename=ignore_interrupts)
        # Printed after the result, so that a write error keeps its three lines.
        if not document.includes_warnings:
            screen = "table" in self.formats
            for warning in document.provenance.warnings:
                if screen and warning_kind(warning) in (IGNORED, *FIRST):
                    continue
                log = self.environment.log if reports_exclusion(warning) else self.log
                before = "" if warning_kind(warning) in (READ, DESIGN) else "warning: "
                log(single_line(f"{before}{spell(warning, flags=True)}"))

    def _render(self, document: Document) -> list[tuple[str | None, bytes]]:
        """Render the document for each output file, or for stdout."""
        from riskrank.render.dispatch import render
        from riskrank.render.escapes import escape_for_ci_log, in_ci
        from riskrank.render.files import is_device

        output, to_stdout = self.output, not self.output.output
        width, color = (self._terminal_width(), self._use_color()) if to_stdout else (None, False)
        encoding = (getattr(self.environment.stdout, "encoding", None) if to_stdout else None) or "utf-8"
        results: list[tuple[str | None, bytes]] = []
        for file, kind in zip(output.output or (None,), self.formats, strict=True):
            page = render(document, kind, encoding=encoding, width=width, color=color, explain=output.explain)
            # A CI server interprets commands in its log.
            logged = in_ci(self.environment.variables) and (file is None or is_device(Path(file)))
            if logged and kind != "parquet":
                codec = encoding if kind == "table" else "utf-8"
                page = escape_for_ci_log(page.decode(codec), kind).encode(codec)
            results.append((file, page))
        return results

    def _terminal_width(self) -> int | None:
        """Return the width of the terminal in characters, or None if stdout is not a terminal."""
        stdout = self.environment.stdout
        columns = self.environment.variables.get("COLUMNS", "")
        if columns.isdigit() and int(columns) > 0 and stdout.isatty():
            return int(columns)
        try:
            return os.get_terminal_size(stdout.fileno()).columns or None if stdout.isatty() else None
        except (OSError, ValueError):
            return None

    def _use_color(self) -> bool:
        """Return True if tables are printed in colour."""
        if self.output.color != "auto":
            return self.output.color == "always"
        variables = self.environment.variables
        plain = variables.get("NO_COLOR") or variables.get("TERM") == "dumb"
        return self.environment.stdout.isatty() and not plain


def checked_settings(call: Call) -> Any:
    """Return the settings of a call, raising UsageError if they are invalid, before any file is read."""
    if call.command.settings_check:
        load_object("riskrank.studies", call.command.settings_check)(call.settings)
    return call.settings


def run_study(call: Call) -> None:
    """Run a command by the default steps: read the table, run the study, write the result."""
    session = Session(call)
    session.finish(session.study(checked_settings(call)))


# Threads that libraries start: one per processor, and some more.
_THREADS = (os.cpu_count() or 1) + 14
# Address space that libraries reserve, in bytes.
_ADDRESS_SPACE = 1_800_000_000
# Seconds after which the pace is measured, and the shortest total time worth a note.
_PACE_AFTER, _NOTE_AFTER = 2.0, 60.0

# Bytes of memory per byte of a file while it is read, measured on long tables of two million rows.
_FACTORS = {".parquet": 9.0, ".gz": 18.0, ".zst": 18.0, ".jsonl": 2.4, ".ndjson": 2.4}
_TEXT_FACTOR = 3.6

# Bytes that a resample occupies per model or sample, and bytes of other replicates.
_BYTES_PER_MODEL = {"mrm": 300, "rank": 80, "report": 80, "dominance": 100, "gate": 8, "copa": 100}
_BYTES_PER_SAMPLE = {"gsd": 8}
_BYTES = {("copa", "resample_models"): 10, ("power", "resamples"): 100, ("power", "simulations"): 80}


def slow_run_note(label: str, log: Callable[[str], None]) -> ProgressCallback:
    """Return a progress callback that logs the estimated duration of a long run, once."""
    start, first, reported = time.monotonic(), (0.0, 0, 0), False

    def update(done: int, total: int, note: str = "") -> None:
        """Log the estimate once the pace of the run is known."""
        nonlocal first, reported
        now = time.monotonic()
        if first[2] != total:  # first part, which includes process start-up, or new work
            first = (now, done, total)
        since, before, _ = first
        if reported or now - since < _PACE_AFTER or done <= before:
            return
        seconds = now - start + (total - done) * (now - since) / (done - before)
        if seconds > _NOTE_AFTER:
            reported = True
            hours, minutes = round(seconds / 3600), round(seconds / 60)
            duration = counted(hours, "hour") if seconds > 7200 else counted(minutes, "minute")
            log(f"note: {label} takes about {duration}: {done:,} of {total:,} are done")

    return update


def reading_memory(scores: Collection[str]) -> float:
    """Return the memory required to read the files, in bytes."""
    from riskrank.scores.files.paths import candidate_files

    files = [path for path in map(Path, candidate_files(scores)) if os.path.isfile(path)]  # noqa: PTH113 (any text)
    memory = 0.0
    for path in files:
        status = path.stat()
        # Sparse files occupy less than their size; they are rejected later.
        size = min(status.st_size, 512 * getattr(status, "st_blocks", status.st_size))
        memory += _FACTORS.get(path.suffix.lower(), _TEXT_FACTOR) * size
    return memory


def replicates_memory(
    command: str, values: Mapping[str, object], models: int, samples: int
) -> Iterator[tuple[float, str]]:
    """Yield the memory that resamples or simulations need, in bytes, with the option for their number."""
    resample = _BYTES_PER_MODEL.get(command, 0) * models + _BYTES_PER_SAMPLE.get(command, 0) * samples
    for (name, number), size in {(command, "resamples"): resample, **_BYTES}.items():
        count = str(values.get(number))
        if name == command and count.isdecimal():
            yield float(count) * size, option(number, count)


def machine_memory() -> float:
    """Return the memory of the machine, or of the container of this process, in bytes."""
    memory = float("inf")
    with suppress(OSError, ValueError, AttributeError):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return memory


@cache
def require_threads() -> None:
    """Raise NumericalError if too little address space or too few threads are allowed for Polars.

    Checked once, since Polars starts its threads once.
    """
    with suppress(ImportError):  # Windows
        import resource

        space, _ = resource.getrlimit(resource.RLIMIT_AS)
        if space != resource.RLIM_INFINITY and space < _ADDRESS_SPACE:
            raise NumericalError(
                f"riskrank needs {_ADDRESS_SPACE / 1e9} GB of address space, whatever the size of the files",
                found=f"{space / 1e9:.1f} GB allowed",
                hint=f"raise the limit: ulimit -v {_ADDRESS_SPACE // 1000}, or ulimit -v unlimited",
            )
    end, threads = Event(), list[Thread]()
    try:
        while len(threads) < _THREADS:
            threads.append(Thread(target=end.wait, daemon=True))
            threads[-1].start()
    except RuntimeError:
        problem = f"riskrank needs {_THREADS} threads"
        hint = "raise the limit of processes: ulimit -u, or the limit of the container (pids)"
        raise NumericalError(problem, found=f"only {len(threads) - 1} can be started", hint=hint) from None
    finally:
        end.set()


def require_memory(needed: float, allowed: float | None, task: str, hint: str) -> None:
    """Raise NumericalError if a task requires more memory than available or allowed.

    Parameters
    ----------
    needed : float
        Required memory, in bytes.
    allowed : float or None
        Allowed memory, in bytes, or None for all memory of the machine.
    task : str
        Description of the task, as the start of the error message.
    hint : str
        Remedy, as the start of the hint.

    Raises
    ------
    NumericalError
        If the memory is insufficient.
    """
    limit, scope = (machine_memory(), "on this machine") if allowed is None else (allowed, "allowed")
    if needed > limit:
        problem = f"{task} needs about {needed / 1e9:,.1f} GB of memory"
        hint = f"{hint}; {option('max_memory', 'inf')} disables this check"
        raise NumericalError(problem, found=f"{limit / 1e9:,.1f} GB {scope}", hint=hint)


# At least two letters, to exclude drive letters. A file name with a colon is written ./name:file.svg.
_PICTURE = re.compile(r"[a-z][a-z-]+(@.*)?")


def parse_plots(texts: Sequence[str] | None, command: str) -> list[tuple[str | None, str]]:
    """Parse the ``--plot`` arguments of a command.

    Returns
    -------
    list of (str or None, str)
        Name of each picture, or None for the main picture, and the file to write.

    Raises
    ------
    UsageError
        If the picture does not exist, the file suffix is unknown, or Matplotlib is not installed.
    """
    if not texts:
        return []
    from riskrank.render.figures.catalogue import check_picture_name, require_matplotlib

    require_matplotlib()
    plots = [split_plot(text) for text in texts]
    for picture, file in plots:
        check_picture_name(command, picture)
        suffix = Path(file).suffix.lower()
        if suffix not in (".svg", ".png", ".pdf"):
            problem = f"unknown format of {file or 'a picture without a file'}"
            hint = "use .svg, .png or .pdf, as in " + option("plot", "ranking.svg")
            raise UsageError(problem, found=f"suffix {suffix or 'none'}", hint=hint)
    return plots


def split_plot(text: str) -> tuple[str | None, str]:
    """Split ``PICTURE:FILE`` into the picture name, or None, and the file.

    Raises
    ------
    UsageError
        If the text starts with a colon.
    """
    picture, separator, file = text.partition(":")
    if "@" in picture:
        picture, separator, file = text.rpartition(":")  # the metric name may contain a colon
    if text.startswith(":"):
        problem = "the picture name before the colon is missing"
        hint = f"for the main picture write {option('plot', text[1:] or 'ranking.svg')}"
        raise UsageError(problem, found=option("plot", text), hint=hint)
    if separator and _PICTURE.fullmatch(picture):
        return picture, file
    return None, text
