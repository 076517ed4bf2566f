"""Pictures of the README and the guide: light and dark, up to date, small, and self-contained."""

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[1]
PICTURE = re.compile(
    r'<picture>\n  <source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)-dark.svg">\n'
    r'  <img alt="([^"]+)" src="([^"]+)-light.svg">\n</picture>'
)


def load_figures():
    spec = importlib.util.spec_from_file_location("figures", ROOT / "tests" / "figures.py")
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["figures"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


FIGURES = load_figures()


def words(svg: str) -> list[str]:
    return [text.strip() for text in ElementTree.fromstring(svg).itertext() if text.strip()][2:]


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES.TABLE, ids=lambda figure: figure.name)
def test_pictures_are_up_to_date(figure):
    """Words must be equal; paths may differ in a digit with another version of Matplotlib."""
    for name, text in FIGURES.render_figure(figure):
        stored = (FIGURES.FIGURES / name).read_text(encoding="utf-8")
        assert words(stored) == words(text), "run make figures"
        assert len(stored) == pytest.approx(len(text), rel=0.1)


def test_figures_have_two_colour_schemes_and_are_used():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    uses = {}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        matches = PICTURE.findall(text)
        assert len(matches) == text.count("<picture>"), page.name
        for dark, alternative, light in matches:
            assert dark == light
            assert len(alternative) > 20
            uses[(page.parent / light).resolve()] = page
    names = {FIGURES.FIGURES / figure.name for figure in FIGURES.TABLE}
    assert set(uses) == names
    files = {f"{name}-{scheme}.svg" for name in names for scheme in ("light", "dark")}
    assert {str(path) for path in FIGURES.FIGURES.iterdir()} == files


def test_colour_schemes_differ_in_colour_only():
    color = re.compile(r"#[0-9a-f]{6}")
    for figure in FIGURES.TABLE:
        light, dark = (
            (FIGURES.FIGURES / f"{figure.name}-{scheme}.svg").read_text(encoding="utf-8")
            for scheme in ("light", "dark")
        )
        assert color.sub("", light) == color.sub("", dark)
        assert light != dark
        assert "var(" not in light
        assert len(light) < 20_000
        assert not re.search(r"(?<!xmlns=\")https?://", light)
        assert not re.search(r"<script|@import|url\((?!#)", light)
