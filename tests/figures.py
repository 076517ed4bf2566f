"""Redraw the pictures of the README and the guide, in light and dark: ``make figures``.

Each picture is that of ``--plot``, written as in a report: text stays text, so the file is small and
searchable, and the colours are those of the page. A slow test checks that the pictures are up to date.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures"
SCHEMES = ("light", "dark")

sys.path.insert(0, str(ROOT))

_DATA = ROOT / "sample_data"
_DIAMONDS = {"scores": _DATA / "diamonds.parquet", "metrics_file": str(_DATA / "diamonds.toml")}
_CLASSIFIERS = {"scores": _DATA / "classifiers.parquet", "metrics_file": str(_DATA / "classifiers.toml")}
_SUITE = {"scores": _DATA / "suite", "wide": True, "higher": "correct"}


@dataclass(frozen=True)
class DocumentFigure:
    """Picture of the guide: its command, table, and kind of picture."""

    name: str
    command: str
    table: dict[str, Any]
    options: dict[str, Any]
    picture: str


# As the examples of their pages have it.
TABLE = (
    DocumentFigure("rank", "rank", _DIAMONDS, {"metric": "error_usd"}, "forest"),
    DocumentFigure(
        *("mrm", "mrm", _CLASSIFIERS),
        *({"level": 0.05, "models": "neural_net,lda,naive_bayes,logistic", "no_test": True}, "scatter"),
    ),
    DocumentFigure("suites", "rank", _SUITE, {"metric": "correct"}, "taskforest"),
    DocumentFigure(
        *("gate", "gate", _CLASSIFIERS),
        {
            "not_worse": "neural_net:logistic",
            "on": ["correct", "brier", "tvar@0.05:log_loss"],
            "margin": "correct=0.02",
            "resamples": 2000,
        },
        "intervals",
    ),
)


def colors(scheme: str) -> dict[str, str]:
    """Return the page's colours by name, for light or dark."""
    css = (ROOT / "riskrank/render/page/templates/page.css").read_text(encoding="utf-8")
    blocks = re.findall(r"\{([^{}]*--paper:[^{}]*)", css)
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", blocks[SCHEMES.index(scheme)]))


def render_figure(figure: DocumentFigure) -> Iterator[tuple[str, str]]:
    """Return the file names and contents of a picture."""
    import riskrank as rr
    from riskrank.render.figures.text import browser_fonts
    from riskrank.render.page.exhibits import FONTS, Styles, to_inline_svg

    arguments = dict(figure.table)
    result = getattr(rr, figure.command)(rr.read(arguments.pop("scores"), **arguments), **figure.options)
    (caption,) = [text for name, text in result.pictures.items() if name.startswith(figure.picture)][:1]
    styles = Styles()
    with browser_fonts():
        plot = result.plot(figure.picture)
        plot.panels = ()  # a file of its own is not broken up
        svg = to_inline_svg(plot, styles, identity=figure.name, alternative=caption)
    rules = f"svg{{font-family:{FONTS}}}text{{white-space:pre;stroke:none}}\n{styles.css(figure.name)}"
    rules = rules.replace(f".{figure.name} ", "")
    document = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    document = document.replace("</title>", f"</title>\n<style>{rules}</style>\n", 1)
    for scheme in SCHEMES:
        palette = colors(scheme)
        text = re.sub(r"var\(--(\w+)\)", lambda match: palette[match[1]], document)  # noqa: B023
        yield f"{figure.name}-{scheme}.svg", f"{text}\n"


def main() -> int:
    FIGURES.mkdir(exist_ok=True)
    for figure in TABLE:
        for name, text in render_figure(figure):
            (FIGURES / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
