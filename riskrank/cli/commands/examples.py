"""The ``riskrank examples`` command, which writes the sample data."""

import os
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import TextIO

import riskrank
from riskrank.cli.interrupts import ignore_interrupts
from riskrank.cli.typer_functions import Call
from riskrank.errors import InputError, UsageError, listing
from riskrank.render.files import deferred_signals, write_all, write_error

FOLDER = "riskrank-examples"
DATA = "sample_data"

# File types to copy; a checkout also contains the scripts that generate the data.
_WRITTEN = (".parquet", ".csv", ".toml", ".md")


def run(call: Call) -> None:
    """Write the sample-data folder atomically."""
    if len(call.scores) > 1:
        raise UsageError(
            "examples needs one folder",
            found=listing(call.scores),
            hint="write one folder, or none for the default",
        )
    named = call.scores[0] if call.scores else FOLDER
    target = Path(named)
    if os.path.lexists(target):
        raise UsageError(
            f"{named} already exists",
            found="an existing path, which is not overwritten",
            hint="write the name of a new folder",
        )
    if not target.parent.is_dir():
        raise write_error(named, f"no folder {target.parent}", "create the folder first, or write elsewhere")
    source = sample_data_folder()
    text = (
        f"The sample data is in {target / DATA}; its README.md describes it. To begin:\n"
        f"  cd {named}\n"
        f"  riskrank rank {DATA}/diamonds.parquet --metrics-file {DATA}/diamonds.toml\n"
    )
    try:
        _write(source, target, text, call.context.obj.stdout)
    except OSError as error:
        raise write_error(
            named, error.strerror or str(error), "free some space, or write elsewhere"
        ) from None


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
    places = [home / DATA] if (home / "pyproject.toml").is_file() else []
    # `pip install --target` puts the data next to the package.
    places += [place / "share" / "riskrank" / DATA for place in (*installed, home)]
    for place in places:
        if (place / "diamonds.parquet").is_file():
            return place
    raise InputError(
        "the sample data was not installed",
        found=f"no {DATA} in {listing(map(str, places))}",
        hint="reinstall riskrank from a wheel, or clone its repository",
    )


def _write(source: Path, target: Path, text: str, stdout: TextIO) -> None:
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
