"""Stored descriptions of pictures in ``tests/cli/drawn``: one study per file, with its picture elements.

``pytest tests/cli/test_stored_pictures.py -n 0 --write-made`` rewrites them. A new file needs only a call in
Python and the kinds of pictures to describe; a kind without a name stands for the first picture of that kind.
"""

from pathlib import Path

import pytest

import riskrank as rr
from riskrank.options.commands import COMMANDS
from riskrank.render.figures import text
from tests import stored_drawings
from tests.cli.test_stored_documents import tables  # noqa: F401

pytestmark = pytest.mark.slow

STORED = sorted(Path(__file__).with_name("drawn").glob("*.txt"))


def head(stored):
    """Return the call and the kinds of pictures."""
    call, kinds, *_ = stored.read_text("utf-8").splitlines()
    return call, kinds.split()


@pytest.fixture
def even_letters(monkeypatch):
    """Give all letters the same width, because text widths depend on the version of Matplotlib."""
    monkeypatch.setattr(text, "_RENDERERS", (stored_drawings.Ruler(),))
    text.text_width.cache_clear()
    yield
    text.text_width.cache_clear()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("even_letters")
@pytest.mark.parametrize("stored", STORED, ids=lambda path: path.stem)
def test_pictures_match_the_stored_ones(tables, monkeypatch, update_stored, stored):  # noqa: F811
    monkeypatch.chdir(tables)
    call, kinds = head(stored)
    result = eval(call, {"rr": rr})
    picture = [call, " ".join(kinds)]
    for name in result.pictures:
        if matches := {name, name.partition("@")[0]}.intersection(kinds):
            kinds = [kind for kind in kinds if kind not in matches]
            picture += [
                "",
                f"## {name}: {result.pictures[name]}",
                *stored_drawings.describe_figure(result.plot(name)),
            ]
    assert not kinds
    stored_drawings.hold(stored, picture, update_stored)


def test_every_kind_of_picture_is_looked_at():
    looked_at = {kind.partition("@")[0] for _, kinds in map(head, STORED) for kind in kinds}
    assert looked_at == {kind for row in COMMANDS for kind in row.pictures}
