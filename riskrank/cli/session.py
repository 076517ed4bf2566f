"""What every command does around its one engine call: read, fold, and hand the result out."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskrank.cli.environment import Environment, progress_bar
from riskrank.cli.forecast import paced, reading_memory, replicates_memory, require_memory
from riskrank.cli.interrupts import settle_interrupts
from riskrank.cli.outputs import draw_plot, wanted_plots
from riskrank.cli.typer_functions import Call
from riskrank.errors import one_line, spell
from riskrank.options.commands import named
from riskrank.options.output import FORMATS

if TYPE_CHECKING:
    from riskrank.scores.table.score_table import ScoreTable
    from riskrank.studies.document import Document
    from riskrank.studies.runtime import Move, Runtime


class Session:
    """One run of a command.

    Attributes
    ----------
    call : Call
    environment : Environment
    output : OutputOptions
    formats : tuple of str
        Chosen format of each output file, or the one of stdout.
    """

    def __init__(self, call: Call, *, piped: str = "table") -> None:
        from riskrank.render.files import check_outputs, choose_formats

        environment: Environment = call.context.obj
        output = call.output
        self.call = call
        self.scores = call.scores
        allowed = (*FORMATS, *call.row.formats)
        self.environment = environment
        self.output = output
        self.formats = choose_formats(output.format, output.output, allowed=allowed)
        if self.formats == ("table",) and output.format is None and not environment.stdout.isatty():
            self.formats = (piped,)
        if not output.yes:
            smaller = "select the rows and columns that count into a smaller file"
            require_memory(reading_memory(self.scores), "reading these files", smaller)
        self.plots = wanted_plots(output.plot, environment.command)
        check_outputs(self._files(), self._named(), replaceable=self._renewed(), stdout=environment.stdout)
        if "html" in self.formats:
            from riskrank.render.page import require_pages

            require_pages()

    def _files(self) -> dict[str, list[str]]:
        """Files that are written, by the option that names them."""
        values = self.call.values
        own = {name: [values[name]] for name in ("dot", "bless") if values.get(name)}
        return {**own, "output": [*self.output.output], "plot": [plot.file for plot in self.plots]}

    def _named(self) -> list[str]:
        """Files that are read because somebody named them, in a query, too."""
        from riskrank.scores.files.paths import named_files

        values = self.call.values
        queries = " ".join(str(values.get(name) or "") for name in ("sql", "where"))
        given = [values.get("metrics_file"), values.get("price"), self.environment.read]
        given += [*(values.get("anchor") or ()), *re.findall(r"['\"]([^'\"]+)['\"]", queries)]
        return named_files(filter(None, (*self.scores, *given)))

    def _renewed(self) -> dict[str, list[str]]:
        """Files that are read, and what may replace each: a baseline blessed anew, a look."""
        from riskrank.scores.files.paths import named_files

        values = self.call.values
        looks = [file for file, kind in zip(self.output.output, self.formats, strict=False) if kind == "json"]
        by: dict[str, list[str]] = {"baseline": [str(values.get("bless"))], "continues": looks}
        given = {name: [str(values[name])] for name in by if values.get(name)}
        given |= {"baseline": named_files(given.get("baseline", ()))}
        return {file: by[name] for name, files in given.items() for file in files}

    def read(self) -> ScoreTable:
        """Read the score table; its warnings come with the result, so that an error stays three lines."""
        from riskrank.scores.table.score_table import read_scores

        table = read_scores(self.scores, self.call.reading, self.environment.stdin)
        self.require_room(table)
        return table

    def require_room(self, table: ScoreTable | None = None) -> None:
        """Refuse more resamples or simulations than there is memory for."""
        command, values = self.environment.command, self.call.values
        models, samples = (len(table.models), len(table.samples)) if table else (0, 0)
        for needed, what in () if self.output.yes else replicates_memory(command, values, models, samples):
            require_memory(needed, what, "ask for fewer")

    def runtime(self) -> AbstractContextManager[Runtime]:
        """How to run: on how many processes or whose workers, and who watches."""
        from riskrank.studies.runtime import running

        return running(self.call.run.jobs, self.call.run.executor, self.progress)

    def study(self, settings: Any) -> Document:
        """Read the table and study it."""
        study = named("riskrank.studies", self.call.row.study)
        with self.runtime() as runtime:
            return study(self.read(), settings, runtime)

    def say(self, line: str) -> None:
        """Tell something on stderr, unless it has to be quiet."""
        if not self.output.quiet:
            self.environment.say(line)

    def companion(self, text: str) -> tuple[dict[str, bytes], Path | None]:
        """A metrics file beside the first output file, if there is one and something to write; what it holds.

        A file of that name that says something else may be a person's work: it stays, and comes second.
        """
        from riskrank.render.staging import is_device

        files = [Path(file) for file in self.output.output if not is_device(Path(file))]
        if not files or not text:
            return {}, None
        path, data = files[0].with_suffix(".metrics.toml"), text.encode("utf-8")
        same = not path.exists() or (
            path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
        )
        return ({str(path): data}, None) if same else ({}, path)

    def progress(self, label: str) -> AbstractContextManager[Move | None]:
        """Show a bar on stderr if a person watches; else say what takes long."""
        stream = self.environment.stderr
        if self.output.quiet:
            return nullcontext()
        return progress_bar(label, stream) if stream.isatty() else nullcontext(paced(label, self.say))

    def finish(self, document: Document, *, beside: Mapping[str, bytes] | None = None) -> None:
        """Render the result and write it, with files beside it, all or none."""
        from riskrank.render.files import check_outputs, write_all
        from riskrank.scores.layouts.layout import READ, kind_of
        from riskrank.scores.table.missing_scores import tells_of_gone

        config = self.environment.config
        if config is not None:
            document = replace(document, provenance=replace(document.provenance, config=config))
        pictures = {plot.file: draw_plot(plot, document) for plot in self.plots}
        files = {**(beside or {}), **pictures}
        stdout = self.environment.stdout
        # Harnesses keep further files alongside the one that was named.
        renewed = {os.path.realpath(path) for path in self._renewed()}
        read = [str(entry["path"]) for entry in document.provenance.inputs]
        read = [path for path in read if os.path.realpath(path) not in renewed]
        check_outputs(self._files(), read, stdout=stdout)
        write_all(self._rendered(document), stdout, files, before_rename=settle_interrupts)
        # After the result, so that an error in writing it stays three lines.
        if not document.tells_warnings:
            for warning in document.provenance.warnings:
                tell = self.environment.say if tells_of_gone(warning) else self.say
                before = "" if kind_of(warning) == READ else "warning: "
                tell(one_line(f"{before}{spell(warning, flags=True)}"))

    def _rendered(self, document: Document) -> list[tuple[str | None, bytes]]:
        """The result for each output file, or for stdout."""
        from riskrank.render.dispatch import render
        from riskrank.render.staging import is_device

        asked, shown = self.output, not self.output.output
        width, color = (self._terminal_width(), self._wants_color()) if shown else (None, False)
        encoding = (getattr(self.environment.stdout, "encoding", None) if shown else None) or "utf-8"
        results: list[tuple[str | None, bytes]] = []
        for file, kind in zip(asked.output or (None,), self.formats, strict=True):
            page = render(document, kind, encoding=encoding, width=width, color=color, explain=asked.explain)
            logged = file is None or is_device(Path(file))
            results.append((file, self._for_log(page, kind, encoding) if logged else page))
        return results

    def _for_log(self, page: bytes, kind: str, encoding: str) -> bytes:
        """A page for standard output, by whatever name, which a build prints into its log."""
        from riskrank.render.escapes import escape_for_ci_log, in_ci

        if kind == "parquet" or not in_ci(self.environment.variables):
            return page
        encoding = encoding if kind == "table" else "utf-8"
        return escape_for_ci_log(page.decode(encoding), kind).encode(encoding)

    def _terminal_width(self) -> int | None:
        stdout = self.environment.stdout
        columns = self.environment.variables.get("COLUMNS", "")
        if columns.isdigit() and int(columns) > 0 and stdout.isatty():
            return int(columns)
        try:
            return os.get_terminal_size(stdout.fileno()).columns or None if stdout.isatty() else None
        except (OSError, ValueError):
            return None

    def _wants_color(self) -> bool:
        if self.output.color != "auto":
            return self.output.color == "always"
        variables = self.environment.variables
        plain = variables.get("NO_COLOR") or variables.get("TERM") == "dumb"
        return self.environment.stdout.isatty() and not plain


def settled(call: Call) -> Any:
    """Settings of a call; impossible ones are refused before anything is read.

    Raises
    ------
    UsageError
    """
    if call.row.refuses:
        named("riskrank.studies", call.row.refuses)(call.settings)
    return call.settings


def answer(call: Call) -> None:
    """Read, study, hand the result out: what a command does that has nothing of its own."""
    session = Session(call)
    session.finish(session.study(settled(call)))
