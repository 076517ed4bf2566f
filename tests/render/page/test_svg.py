"""SVG pictures of pages: shortened paths draw the same lines, and output is independent of Matplotlib."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from riskrank.render.page.exhibits import Styles, _shorten_path, to_inline_svg


def corners(path):
    """Return the corners of a path, without points on straight lines."""
    points, at = [], np.zeros(2)
    for letter, numbers in re.findall("([A-Za-z])([^A-Za-z]*)", path):
        coordinates = [float(number) for number in numbers.split()]
        step = {"h": [1, 0], "v": [0, 1]}.get(letter)
        at = at + np.multiply(step, coordinates[0]) if step else np.array(coordinates or points[0])
        if len(points) > 1 and letter not in "Mz":
            before, other = points[-1] - points[-2], at - points[-1]
            if 0 in np.abs(before).round(6) and np.array_equal(
                np.sign(before.round(6)), np.sign(other.round(6))
            ):
                points.pop()
        points.append(at)
    return np.round(points, 6)


@pytest.mark.parametrize("seed", range(20))
def test_steps_follow_the_lines(seed):
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.integers(-1, 2, (40, 2)) * rng.choice([0, 0.01, 10.5], (40, 2)), axis=0).round(2)
    points = points[np.any(np.diff(points, axis=0, prepend=np.nan) != 0, axis=1)]
    path = "L".join(f"{x:g} {y:g}" for x, y in points)
    shorter = _shorten_path(f"M{path}z")
    assert np.array_equal(corners(shorter), corners(f"M{path}z"))
    assert len(shorter) < len(path) + 2


def test_numbers_with_exponents_stay():
    assert _shorten_path("M0 1e-05L1 1e-05") == "M0 1e-05L1 1e-05"


# Heights of the headings, and where panels begin and end, as the figures have them.
WRITTEN = {"forest": (57.8, (26.25, 195.25, 371.25, 556.25)), "pair": (69.0, ())}


@pytest.mark.parametrize("name", WRITTEN)
def test_svg_of_matplotlib_becomes_part_of_a_page(name, update_stored):
    """The input is stored from one version of Matplotlib; ``--write-made`` rewrites it."""
    source, stored = (Path(__file__).parent / "written" / f"{name}{end}" for end in (".svg", ".txt"))
    heading, panels = WRITTEN[name]
    plot = SimpleNamespace(heading=heading, panels=panels, to_bytes=lambda *_, **__: source.read_bytes())
    styles = Styles()
    page = to_inline_svg(plot, styles, identity="i", alternative="What it shows.").replace("><", ">\n<")
    output = f"{page}\n{styles.css('root')}\n"
    if update_stored:
        stored.write_text(output, "utf-8")
    assert output == stored.read_text("utf-8")
