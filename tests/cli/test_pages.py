"""Stored HTML pages in ``tests/cli/pages``: each file has a call, and below it the page by elements.

Pictures are replaced by empty figures of the same size; ``test_stored_pictures.py`` tests their contents.
``pytest tests/cli/test_pages.py -n 0 --write-made`` rewrites the pages.
"""

import re
import shlex
from pathlib import Path

import pytest

from riskrank.render.figures.style import Plot
from riskrank.version import __version__
from tests import stored_drawings
from tests.cli.test_stored_documents import tables  # noqa: F401
from tests.cli.test_stored_pictures import even_letters  # noqa: F401

pytestmark = pytest.mark.slow

STORED = sorted(Path(__file__).with_name("pages").glob("*.txt"))
SVG = "http://www.w3.org/2000/svg"
SHEET = '<svg xmlns="{}" viewBox="0 0 {:g} {:g}"><g id="figure"><path d="M0 0"/></g></svg>'


def empty_sheet(figure, *_, **__):
    """Return the SVG that Matplotlib writes for an empty figure."""
    return SHEET.format(SVG, *(figure.get_size_inches() * 72).round(2)).encode()


@pytest.mark.usefixtures("even_letters")
@pytest.mark.parametrize("stored", STORED, ids=lambda path: path.stem)
def test_pages_match_the_stored_ones(run, tables, monkeypatch, update_stored, stored):  # noqa: F811
    monkeypatch.chdir(tables)
    monkeypatch.setattr(Plot, "to_bytes", empty_sheet)
    call = stored.read_text("utf-8").partition("\n")[0]
    page = run(*shlex.split(call.removeprefix("$ ")), "--format", "html").stdout
    page = re.sub(r"(?s)<style>.*?</style>|<script>.*?</script>|sha256-[^&']*", "", page)
    # The page's name is a hash of its content, whose last bits depend on other libraries.
    page = re.sub(r"\brr[0-9a-f]{6}\b", "rr000000", page).replace(__version__, "0")
    lines = [call, *re.sub(r">\s*<", ">\n<", page).splitlines()]
    stored_drawings.hold(stored, lines, update_stored)
