"""``riskrank examples``: the sample data, to try the commands on."""

import os
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import TextIO

import riskrank
from riskrank.cli.interrupts import settle_interrupts
from riskrank.cli.typer_functions import Call
from riskrank.errors import InputError, UsageError, listing
from riskrank.render.files import write_all
from riskrank.render.staging import write_error, deferred_signals

FOLDER = "riskrank-examples"
DATA = "sample_data"

# Of a checkout, what made the data stays at home.
_WRITTEN = (".parquet", ".csv", ".toml", ".md")


def run(call: Call) -> None:
    """Write the folder, whole or not at all."""
    if len(call.scores) > 1:
        raise UsageError("one folder at a time", found=listing(call.scores), hint="name one, or none")
    named = call.scores[0] if call.scores else FOLDER
    target = Path(named)
    if os.path.lexists(target):
        raise UsageError(
            f"{named} is there already",
            found="nothing is overwritten",
            hint="name a folder that is not there yet",
        )
    if not target.parent.is_dir():
        raise write_error(named, f"no folder {target.parent}", "create the folder first, or write elsewhere")
    source = data()
    text = (
        f"The sample data is in {target / DATA}; README.md there says what it is. To begin:\n"
        f"  cd {named}\n"
        f"  riskrank rank {DATA}/diamonds.parquet --metrics-file {DATA}/diamonds.toml\n"
    )
    try:
        _write(source, target, text, call.context.obj.stdout)
    except OSError as error:
        raise write_error(named, error.strerror or str(error), "make room, or write elsewhere") from None


def data() -> Path:
    """Where the sample data was installed, or lies in the checkout.

    Raises
    ------
    InputError
        If it is at neither place.
    """
    home = Path(riskrank.__file__).resolve().parents[1]
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    installed = [Path(sysconfig.get_path("data", scheme)) for scheme in schemes]
    places = [home / DATA] if (home / "pyproject.toml").is_file() else []
    # With `pip install --target` it lies beside the package.
    places += [place / "share" / "riskrank" / DATA for place in (*installed, home)]
    for place in places:
        if (place / "diamonds.parquet").is_file():
            return place
    raise InputError(
        "the sample data was not installed",
        found=f"no {DATA} in {listing(map(str, places))}",
        hint="install riskrank anew from a wheel, or clone its repository",
    )


def _write(source: Path, target: Path, text: str, stdout: TextIO) -> None:
    """Copy under another name first; the folder appears when it is whole and the text about it is written."""
    beside = target.resolve().parent
    with deferred_signals() as end, tempfile.TemporaryDirectory(dir=beside, prefix=".riskrank-") as name:
        whole = Path(name) / FOLDER
        for path in sorted(source.rglob("*")):
            if path.suffix in _WRITTEN:
                copy = whole / DATA / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
        write_all([(None, text.encode())], stdout)
        settle_interrupts()
        end()
        whole.rename(target)
