import subprocess
import sys
from xml.etree import ElementTree

import matplotlib
import pytest

from riskrank.render.figures.legend import PLAIN, assign_styles, choose_styles
from riskrank.render.figures.style import (
    DASHES,
    FOCUS,
    MARKERS,
    PALETTE,
    Plot,
    common_style,
    start_sheet,
    wrap_text,
)


def example() -> Plot:
    with common_style():
        page = start_sheet("A title", "How to read it. " * 10, width=300, height=100)
        axes = page.axes(40, 30, 200, 60)
        axes.plot([0, 1, 2], [3, 1, 2])
        axes.set_xlabel("$5 & more \x01\uffff")
        return page.figure


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_same_bytes_twice_and_whatever_the_settings(kind, start):
    data = example().to_bytes(kind)
    assert data.startswith(start)
    assert kind != "svg" or ElementTree.fromstring(data) is not None
    theirs = {"font.size": 30, "axes.grid": True, "savefig.bbox": "tight", "svg.hashsalt": "x"}
    with matplotlib.rc_context(theirs):
        assert example().to_bytes(kind) == data


def test_settings_are_those_from_before():
    before = dict(matplotlib.rcParams)
    example().to_bytes("png")
    assert dict(matplotlib.rcParams) == before


def test_a_notebook_shows_it():
    figure = example()
    assert figure._repr_png_() == figure.to_bytes("png")


@pytest.mark.slow
def test_no_pyplot():
    code = (
        "import sys\nfrom riskrank.render.figures.style import *\n"
        "with common_style():\n  figure = start_sheet('a', 'b', width=100, height=100).figure\n"
        "figure.to_bytes('png'), figure.to_bytes('svg'), figure.to_bytes('pdf')\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_every_look_differs_in_colour_and_without():
    assert len(set(PALETTE)) == len(set(map(str, DASHES))) == len(set(MARKERS)) == FOCUS
    colors = [style.color for style in choose_styles(3, [2, 0])]
    assert colors == [PALETTE[1], PLAIN.color, PALETTE[0]]


def test_a_model_keeps_its_style_whoever_is_first_among_the_same_models():
    models = ["b", "c", "a"]
    assert assign_styles(models, [0, 1, 2]) == assign_styles(models, [2, 1, 0]) == {0: 1, 1: 2, 2: 0}
    crowd = [f"m{number}" for number in range(9)]
    assert assign_styles(crowd, range(9))[6] == 6
    assert assign_styles(crowd, [8, 1, 0]) == {
        8: 1,
        1: 2,
        0: 0,
    }  # two would look alike: the first keeps its own


def test_wrapping():
    assert wrap_text("one two three", 1000) == ["one two three"]
    assert wrap_text("one two three", 1) == ["one", "two", "three"]
    assert wrap_text("", 10) == []


def test_numbers_of_an_axis_have_separated_thousands():
    @common_style()
    def draw():
        page = start_sheet("t", "r", width=300, height=200)
        page.axes(40, 30, 200, 150).plot([0, 4000], [-0.00125, 0.00125])
        return page.figure

    figure = draw()
    figure.to_bytes("svg")
    (axes,) = figure.axes
    across, up = ([label.get_text() for label in axis.get_ticklabels()] for axis in (axes.xaxis, axes.yaxis))
    assert "4,000" in across
    assert "0.0010" in up
