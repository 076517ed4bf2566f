"""Commands that need steps of their own: ``check``, ``examples``, ``power`` and ``schema``."""

import json
import os
import shutil
import sysconfig
import tempfile
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import riskrank
from riskrank.cli.interrupts import ignore_interrupts
from riskrank.cli.options import Call
from riskrank.cli.session import Session, checked_settings
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.inference import StatisticSettings, SuiteSettings
from riskrank.options.option import options_of
from riskrank.render.files import check_outputs, deferred_signals, write_all, write_error
from riskrank.studies.portfolio.options import PortfolioSettings

FOLDER = "riskrank-examples"
DATA = "sample_data"

# File types to copy; a checkout also contains the scripts that generate the data.
_WRITTEN = (".parquet", ".csv", ".toml", ".md")

# Options that apply only to tables.
_TABLE_OPTIONS = tuple(chain(*map(options_of, (PortfolioSettings, SuiteSettings, StatisticSettings))))


def run_check(call: Call) -> None:
    """Inspect the files, write the findings, and raise the error that other commands would raise, if any."""
    from riskrank.scores.table.inspection import inspect_scores
    from riskrank.studies.check.study import check

    session = Session(call)
    document = check(inspect_scores(call.scores, call.reading, session.environment.stdin))
    path = call.values.get("save")
    session.finish(document, extra_files={path: _layout_file(path, document)} if path else {})
    if document.refusal is not None:
        raise document.refusal


def _layout_file(path: str, document: Any) -> bytes:
    """Return the configuration file with the layout, unless a file that the user wrote would be replaced."""
    from riskrank.studies.check.study import table_layout

    content = table_layout(document.inspection).to_toml(os.path.dirname(path)).encode("utf-8")  # noqa: PTH120
    first_line, _, _ = content.partition(b"\n")
    if Path(path).is_file() and not Path(path).read_bytes().startswith(first_line):
        problem = f"{path} exists, and {option('save')} would overwrite it"
        hint = f"write {option('save', 'layout.toml')}, and read it with {option('config', 'layout.toml')}"
        raise UsageError(problem, found="a file that riskrank check did not write", hint=hint)
    return content


def run_power(call: Call) -> None:
    """Run a power study for the named distributions, or for a pilot table if there are none."""
    from riskrank.studies.power.study import parse_distributions, power_between, refuse_table_options

    distributions = parse_distributions(call.scores)
    if not distributions:
        session = Session(call)
        session.finish(session.study(checked_settings(call)))
        return
    options = (*options_of(call.command.reading_type), *_TABLE_OPTIONS)
    changed = [opt.name for opt in options if call.values.get(opt.name) not in (None, opt.default)]
    sources = {name: getattr(call.context.get_parameter_source(name), "name", "") for name in changed}
    refuse_table_options(name.rstrip("_") for name in changed if sources[name] == "COMMANDLINE")
    session = Session(replace(call, scores=[]))
    session.check_memory()
    # A configuration may set options for tables, which do not apply here.
    standard = {opt.name: opt.default for opt in _TABLE_OPTIONS}
    with session.runtime() as runtime:
        document = power_between(distributions, replace(checked_settings(call), **standard), runtime)
    session.finish(document)


def run_schema(call: Call) -> None:
    """Print the schema, or write it to files."""
    from riskrank.render.schema import json_schema

    if len(call.scores) > 1:
        hint = f"write riskrank schema {call.scores[0]}"
        raise UsageError("schema needs one command", found=listing(call.scores), hint=hint)
    environment = call.context.obj
    files = call.output.output or (None,)
    configs = [environment.loaded_config] if environment.loaded_config else []
    check_outputs({"output": call.output.output}, configs)
    text = json.dumps(json_schema(call.scores[0]), indent=2, ensure_ascii=False) + "\n"
    results = [(file, text.encode("utf-8")) for file in files]
    write_all(results, environment.stdout, before_rename=ignore_interrupts)


def run_examples(call: Call) -> None:
    """Write the sample-data folder atomically."""
    if len(call.scores) > 1:
        hint = "write one folder, or none for the default"
        raise UsageError("examples needs one folder", found=listing(call.scores), hint=hint)
    named = call.scores[0] if call.scores else FOLDER
    target = Path(named)
    if os.path.lexists(target):
        detail = "an existing path, which is not overwritten"
        raise UsageError(f"{named} already exists", found=detail, hint="write the name of a new folder")
    if not target.parent.is_dir():
        raise write_error(named, f"no folder {target.parent}", "create the folder first, or write elsewhere")
    source = sample_data_folder()
    text = (
        f"The sample data is in {target / DATA}; its README.md describes it. To begin:\n"
        f"  cd {named}\n"
        f"  riskrank rank {DATA}/diamonds.parquet --metrics-file {DATA}/diamonds.toml\n"
    )
    try:
        _write_sample_data(source, target, text, call.context.obj.stdout)
    except OSError as error:
        hint = "free some space, or write elsewhere"
        raise write_error(named, error.strerror or str(error), hint) from None


def sample_data_folder() -> Path:
    """Return the folder of the installed sample data, or that of the source checkout.

    Raises
    ------
    InputError
        If neither folder exists.
    """
    home = Path(riskrank.__file__).resolve().parents[1]
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    installed = [Path(sysconfig.get_path("data", scheme)) for scheme in schemes]
    folders = [home / DATA] if (home / "pyproject.toml").is_file() else []
    # `pip install --target` puts the data next to the package.
    folders += [folder / "share" / "riskrank" / DATA for folder in (*installed, home)]
    for folder in folders:
        if (folder / "diamonds.parquet").is_file():
            return folder
    problem = "the sample data was not installed"
    hint = "reinstall riskrank from a wheel, or clone its repository"
    raise InputError(problem, found=f"no {DATA} in {listing(map(str, folders))}", hint=hint)


def _write_sample_data(source: Path, target: Path, text: str, stdout: TextIO) -> None:
    """Copy the sample data to a temporary folder, print a message, and rename the folder."""
    parent = target.resolve().parent
    with deferred_signals() as end, tempfile.TemporaryDirectory(dir=parent, prefix=".riskrank-") as name:
        staging = Path(name) / FOLDER
        for path in sorted(source.rglob("*")):
            if path.suffix in _WRITTEN:
                copy = staging / DATA / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
        write_all([(None, text.encode())], stdout)
        ignore_interrupts()
        end()
        staging.rename(target)
