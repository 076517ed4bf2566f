"""The page as text: complete, inert, consistent with the document, and legible."""

import html
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from markupsafe import escape

import riskrank
from riskrank.api import rank, read
from riskrank.errors import UsageError
from riskrank.render.figures import catalogue
from riskrank.render.figures.catalogue import model_colors, pictures
from riskrank.render.figures.style import FAINT, GREY, PALETTE, QUIET
from riskrank.render.figures.text import marked_models
from riskrank.render.page.page import answer_sections, chapters, glossary
from riskrank.render.screens import build_parts
from riskrank.render.view import Table, cell_text
from riskrank.studies.report.screen import REPORT
from tests.tables import of_rows

pytestmark = pytest.mark.slow  # a page holds every picture

FOLDER = Path(riskrank.__file__).parent / "render/page/templates"
VOID = {"meta", "br", "input", "img", "link", "hr", "wbr"}


class Reader(HTMLParser):
    """Parser that collects elements with attributes and cell texts, and checks that all tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open:
            self.cells[-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_structure(small):
    reader = Reader(small.to_html())
    assert reader.open == []
    identities = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    heads = [int(tag[1]) for tag, _ in reader.elements if re.fullmatch("h[1-6]", tag)]
    assert heads[0] == 1
    assert set(heads[1:]) == {2, 3}
    assert heads[1] == 2
    assert reader.all("html") == [{"lang": "en"}]
    pictures = [svg for svg in reader.all("svg") if svg.get("role") == "img"]
    assert len(pictures) == len(reader.all("figure")) > 5
    assert all("aria-hidden" in svg for svg in reader.all("svg") if svg not in pictures)
    for svg in pictures:
        assert svg["aria-labelledby"] in identities
    for link in reader.all("a"):
        assert link["href"][1:] in identities
    for _, attributes in reader.elements:
        for name, value in attributes.items():
            for used in re.findall(r"url\(#([^)]*)\)", value or ""):
                assert used in identities, f"{name}={value}"


def test_a_wrapped_panel_has_names_of_rows(small):
    (part,) = re.findall(r'<details id="mean-risk".*?</details>', small.to_html(), flags=re.DOTALL)
    first, *further = part.rpartition("<figure")[2].split('<div class="panel">')
    panels = [first, *(panel.split("</svg>")[1] for panel in further)]
    repeated = [panel.split("</svg>")[0] for panel in further]
    assert len(panels) == 3
    assert all(panel.count(">1</text>") == panel.count(">3</text>") > 0 for panel in panels)
    for name in ("left", "middle", "right"):
        # Once a row of panels.
        assert [panel.count(f">{name}</text>") for panel in panels] == [2, 0, 0]
        assert [panel.count(f">{name}</text>") for panel in repeated] == [2, 2]
    windows = [box.split() for box in re.findall(r'viewBox="([^"]*)"', part.rpartition("<figure")[2])]
    sizes = np.array(windows[:1] + windows[2::2], dtype=float)
    assert sizes[:, 0].tolist() == [0, *np.cumsum(sizes[:-1, 2])]
    assert {x for x, *_ in windows[1::2]} == {"0"}


def test_no_resources_and_no_inline_styles(small):
    text = small.to_html()
    reader = Reader(text)
    assert not re.search(r"https?://", text)
    for tag, attributes in reader.elements:
        assert "style" not in attributes, tag
        assert not any(name.startswith("on") for name in attributes), tag
        assert "src" not in attributes, tag
        if tag in ("image", "use"):
            assert attributes["href"].startswith(("#", "data:image/png;base64,"))
    policy = reader.all("meta")[1]["content"]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy


def test_the_policy_names_the_style_and_the_script(small):
    import hashlib
    from base64 import b64encode

    text = small.to_html()
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        digest = b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in Reader(text).all("meta")[1]["content"]


def test_tables_hold_the_numbers_of_the_document(small):
    """Cells contain exactly the results of the studies, in their order."""
    parts = [part for chapter in chapters(small.document) for part in chapter.parts]
    blocks = [*answer_sections(small.document), *(block for part in parts for block in part.blocks)]
    tables = [block.plain.without_empty_columns for block in blocks if isinstance(block, Table)]
    cells = [cell_text(cell) for table in tables for row in table.rows for cell in row]
    # A number and its percent sign stay on one line.
    assert Reader(small.to_html()).cells == cells
    (ranking,) = [part for part in build_parts(small.document, REPORT) if part.entry.anchor == "ranking"]
    rows = [row for row in small.rows if row.method.startswith("R-SSD@")]
    first_rows = ranking.words[0].rows
    assert [int(row[0]) for row in first_rows] == [row.rank for row in rows]
    assert [cell_text(row[1]) for row in first_rows] == [row.model for row in rows]


def test_every_part_has_its_figures(small):
    for part in build_parts(small.document, REPORT):
        (section,) = [
            page_part
            for chapter in chapters(small.document)
            for page_part in chapter.parts
            if page_part.anchor == part.entry.anchor
        ]
        kinds = [block.kind for block in section.blocks if hasattr(block, "kind")]
        assert kinds == [kind for kind in part.entry.pictures if kind in kinds]
        assert bool(kinds) == bool(part.entry.pictures)


def test_curves_come_from_the_scores(small):
    """The path of a quantile function in the page has the values of the engine's curve."""
    import numpy as np

    from riskrank.engine.portfolio.summary import summarise_curves

    text = small.to_html()
    (section,) = re.findall(r'<details id="distributions".*?</details>', text, flags=re.DOTALL)
    quantiles = section.partition("</figure>")[0]
    paths = dict(re.findall(r'<g data-model="(\d)" class="curve"><path d="([^"]*)"', quantiles))
    curves = summarise_curves(small.document.ranking.study.columns["P(IC)"].values)
    for model, path in paths.items():
        y = []
        for letter, numbers in re.findall("([MLv])([^A-Za-z]*)", path):
            y.append(round(y[-1] + float(numbers), 2) if letter == "v" else float(numbers.split()[1]))
        heights = np.concatenate([curves.quantiles[int(model)][:1], curves.quantiles[int(model)]])
        steps = -np.unique(-np.array(y))  # from the bottom up
        expected = np.unique(heights)
        assert np.corrcoef(steps, expected)[0, 1] < -0.999999
    assert sorted(paths) == ["0", "1", "2"]


def test_raw_means_of_every_metric_are_there(make, make_scores):
    """The first screen has room for six metrics only."""
    metrics = [f"q{at}" for at in range(8)]
    document = make(make_scores(["a", "b"], metrics=metrics)).document
    text = make(make_scores(["a", "b"], metrics=metrics)).to_html()
    cells = Reader(text).cells
    for mean in document.ranking.means:
        assert f"{mean.name} ↑" in text
        assert {mean.format_mean(0), mean.format_mean(1)} <= set(cells)
    assert "2 metrics more: below" in text
    assert "--explain" not in text


def test_same_bytes_twice(make, make_scores, small):
    second = make(make_scores(["left", "middle", "right"]), copa=True)
    assert second.to_html() == small.to_html()


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style>{{ 7*7 }}",
    "a\x1b[1m&amp;\u202e",
]


def test_names_are_text(make, make_scores):
    result = make(make_scores(HOSTILE, metrics=HOSTILE[:3]), title=HOSTILE[1])
    for text in (result.to_html(), result._repr_html_()):
        reader = Reader(text)
        tags = [tag for tag, _ in reader.elements]
        assert tags.count("script") == ("<!DOCTYPE" in text)
        assert "img" not in tags
        assert tags.count("style") == 1
        assert "\x1b" not in text
        assert "49" not in re.findall(r"&lt;/style&gt;(\S*)", text)
    assert {"<script>alert(1)</script>", "a\\x1b[1m&amp;\\u202e"} <= {cell.strip() for cell in reader.cells}


@pytest.mark.parametrize(
    "names",
    [["a", "b"], ["x" * 300, "x" * 300 + "y", "模" * 80], ["same", "equal", "other"]],
    ids=["two", "long", "identical"],
)
def test_names_and_ties(make, make_scores, names):
    frame = make_scores(names, metrics=["m"])
    if names[0] == "same":
        import polars as pl

        twin = frame.filter(model="same").with_columns(model=pl.lit("equal"))
        frame = pl.concat([frame.filter(pl.col("model") != "equal"), twin])
    text = make(frame).to_html()
    reader = Reader(text)
    assert reader.open == []
    assert set(names) <= set(reader.cells)


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, other: str) -> float:
    light, dark = sorted((luminance(first), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(dark):
    """WCAG AA requires 4.5 for text and 3 for graphics; grey lines are exempt, because they should recede."""
    css = (FOLDER / "page.css").read_text(encoding="utf-8")
    blocks = re.findall(r"\{([^{}]*--paper:[^{}]*)\}", css)
    colors = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", blocks[dark]))
    for ground in ("paper", "panel", "mark"):
        for ink in ("ink", "quiet", "link", "good", "mind"):
            assert contrast(colors[ink], colors[ground]) >= 4.5, (ink, ground)
    # Light yellow and sky blue differ by dash and marker, because they are faint on paper.
    for number in range(7):
        least = 2.2 if not dark and number in (3, 4, 6) else 3
        assert contrast(colors[f"c{number}"], colors["paper"]) >= least, number


@pytest.mark.parametrize(("models", "most"), [(10, 600_000), (20, 1_500_000)])
def test_sizes(make, make_scores, models, most):
    names = [f"model_{number:02d}" for number in range(models)]
    frame = make_scores(names, metrics=("acc", "f1", "cost", "time"), n=200 if models == 10 else 60)
    assert len(make(frame).to_html().encode()) < most


def bars_of(report):
    """Return row colour, both ends, and the centre of each bar in the first view."""
    answer = report.to_html().partition('<section class="answer"')[2].partition("</section>")[0]
    bar = r'<svg class="bar".*?<line x1="([\d.]+)%" x2="([\d.]+)%".*?<circle cx="([\d.]+)%"'
    rows = re.findall(r'<tr(?: class="(\w+)")? data-model.*?</tr>', answer)
    lines = [line for line in answer.splitlines() if line.startswith("<tr") and "data-model" in line]
    return [
        (color, *bar_parts)
        for color, line in zip(rows, lines, strict=True)
        for bar_parts in re.findall(bar, line)
    ]


def test_bars_match_the_intervals(small):
    """Each mean lies between the ends of its interval, and the bars of a column use its full width."""
    bars = bars_of(small)
    assert len(bars) == 3 * 2
    for _, low, high, at in bars:
        assert float(low) <= float(at) <= float(high)
    assert min(float(low) for _, low, _, _ in bars) == 0
    assert max(float(high) for _, _, high, _ in bars) == 100
    assert {color for color, *_ in bars} == {"c0", "c1", "c2"}


def test_bars_of_the_model_to_ship_are_in_colour(make, make_scores):
    clear = make_scores(["left", "right"]).with_columns(pl.col("score") + 2.0 * (pl.col("model") == "right"))
    bars = bars_of(make(clear, resamples=200))
    assert [color for color, *_ in bars].count("c0") == 2  # one model on two metrics


def test_an_outlying_model_is_an_arrow(make):
    names, rng = ["a", "b", "c", "d"], np.random.default_rng(0)
    frame = of_rows(
        (name, sample, metric, mean + 0.01 * mean * rng.normal())
        for metric, means in (("far", (281, 328, 350, 4442)), ("sizes", (1, 10, 100, 1000)))
        for name, mean in zip(names, means, strict=True)
        for sample in range(30)
    )
    answer = make(frame).to_html().partition('<section class="answer"')[2].partition("</section>")[0]
    assert answer.count("<path") == 1
    assert re.search(
        r'<svg x="100.0%" y="50%"><path [^>]*/></svg></svg><span class="w\d+">4,4[\d.]+<', answer
    )
    assert "Arrow: outside the scale" in answer
    assert len(re.findall(r"<span>[\d.]+</span><span>log</span><span>[\d,.]+</span>", answer)) == 1
    assert "log: logarithmic scale" in answer


def test_a_page_of_a_single_study(make_scores):
    result = rank(read(make_scores(["a", "b", "c"])), resamples=40, jobs=1)
    reader = Reader(result.to_html())
    assert reader.open == []
    assert len(reader.all("figure")) == 6
    fragment = result._repr_html_()
    assert "<script" not in fragment
    assert fragment.count('role="img"') == 1
    assert "<html" not in fragment


def test_without_packages_for_pages(small, monkeypatch):
    monkeypatch.setattr(catalogue, "find_spec", lambda name: None)
    with pytest.raises(UsageError) as caught:
        small.to_html()
    assert caught.value.hint == "pip install 'riskrank[report]'"
    assert small._repr_html_() == f"<pre>{html.escape(small.to_text())}</pre>"


def test_the_guide_and_every_page_explain_the_same_words(small):
    guide = (Path(__file__).parents[3] / "docs/glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\*\*(.+?)\*\*: (.+)$", guide, flags=re.MULTILINE)
    assert dict(terms) == glossary()
    text = small.to_html()
    assert all(f"<strong>{escape(word)}:</strong>" in text for word in glossary())
    assert '<a href="#glossary">' in text


def test_folded_sections_show_their_finding(small):
    """Without scripts all sections are open; a script folds them, and each summary states a result."""
    text = small.to_html()
    folds = re.findall(
        r'<details id="([\w-]+)" class="part" open>\n<summary><h3>.*?</h3>(.*?)</summary>', text
    )
    assert {"ranking", "pairs", "methods", "compared", "made", "glossary"} <= {name for name, _ in folds}
    assert len(folds) == text.count("<details id=")
    without = {name for name, summary in folds if 'class="finding"' not in summary}
    assert without <= {"distributions"}


def test_a_model_has_the_same_colour_in_all_pictures(make, make_scores):
    """No model has two colours in its curves and marks, and no two models share one."""
    clear = make_scores(["low", "high", "middle"], n=100, spread=0.1).with_columns(
        pl.col("score") + 2.0 * (pl.col("model") == "high")
    )
    document = make(clear, resamples=1000).document
    assert document.named
    looks: dict[int, set[str]] = {}
    for part in document.parts.values():
        for picture in pictures(part, document):
            if picture.kind not in ("quantiles", "tvar", "bump", "risks", "scatter"):
                continue
            for line in (line for axes in picture.draw().axes for line in axes.lines):
                models = marked_models(line.get_gid() or "")
                if len(models) == 1 and line.get_color() not in (FAINT, GREY, QUIET):
                    looks.setdefault(models[0], set()).add(line.get_color())
    assert sorted(looks) == [0, 1, 2]
    assert all(len(colors) == 1 for colors in looks.values())
    models = document.provenance.models
    assert model_colors(document) == {
        models[model]: color for model, (color,) in looks.items()
    }  # of tables, too
    assert [model_colors(document)[name] for name in ("high", "low", "middle")] == [
        *PALETTE[:3]
    ]  # whoever is first
    assert len(set.union(*looks.values())) == 3


def test_templates_are_package_data():
    import tomllib

    data = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert data["tool"]["setuptools"]["package-data"]["riskrank.render.page"] == ["templates/*"]
    assert {path.name for path in FOLDER.iterdir()} >= {"page.html", "page.css", "page.js", "answer.html"}


def test_warnings_are_folded_below_the_gravest(make_scores):
    """The summary shows the most severe warning first; without warnings it states that there are none."""
    frame = make_scores(["a", "b"], n=20)[1:]
    warned = rank(read(frame, missing="drop"), resamples=40, jobs=1)
    warnings = warned.document.provenance.warnings
    (mind,) = re.findall(r'<details id="mind".*?</details>', warned.to_html(), flags=re.DOTALL)
    line, folded = (re.sub("<.*?>", "", part).strip() for part in mind.split("</summary>"))
    assert line.startswith("Warnings and assumptions dropped 1 of 20 samples: ")
    assert line.endswith("; only 19 samples: verdicts from fewer than 30 samples are fragile")
    assert [folded.count(str(escape(warning))) for warning in warnings] == [1] * len(warnings)
    quiet = rank(read(make_scores(["a", "b"], n=40), higher="*"), weights="equal", no_test=True)
    assert not quiet.document.provenance.warnings
    assert 'Warnings and assumptions</h3> <span class="finding" dir="auto">none<' in quiet.to_html()


def test_an_assumed_direction_is_labelled(make_scores):
    frame = make_scores(["a", "b"])
    assumed = rank(read(frame), resamples=40, jobs=1).to_html()
    declared = rank(read(frame, higher="*"), resamples=40, jobs=1).to_html()
    for text in ("higher is better (assumed)", "(↑), (↓): assumed direction"):
        assert text in assumed
        assert text not in declared


def _focus(text: str) -> list[str]:
    (listed,) = re.findall(r'<ul class="models">(.*?)</ul>', text, flags=re.DOTALL)
    return re.findall(r'<li data-model="(\d+)" class="\w+" dir="auto">(.*?)</li>', listed)


def _scores(models: str, score) -> dict:
    rows = [(model, sample, score(model, sample)) for model in models for sample in range(40)]
    columns = dict(zip(("model", "sample", "score"), map(list, zip(*rows, strict=True)), strict=True))
    return columns | {"metric": ["right"] * len(rows)}


def test_a_gate_names_its_claim_and_models():
    """Models without a claim are in the file but not on the page; indices of models agree between marks."""
    table = _scores("abcd", lambda model, sample: (sample * ord(model)) % 7 / 7)
    text = riskrank.gate(table, not_worse=["d:b"], higher="right", resamples=60, jobs=1).to_html()
    assert '<h1 dir="auto">Is d not worse than b?</h1>' in text
    assert _focus(text) == [("1", "b"), ("3", "d")]
    assert set(re.findall(r'<g data-model="([\d ]+)"', text)) == {"3 1"}
    several = riskrank.gate(table, not_worse=["d:b", "a:b"], higher="right", resamples=60, jobs=1).to_html()
    assert '<h1 dir="auto">Do 2 claims hold?</h1>' in several
    assert [name for _, name in _focus(several)] == ["a", "b", "d"]


def test_binary_scores_have_no_distribution_plot():
    """Binary scores show means and differences only, because each curve would have two bars."""
    binary = _scores("abc", lambda model, sample: float((sample * ord(model)) % 7 > 2))
    partial = _scores("abc", lambda model, sample: (sample * ord(model)) % 7 / 7)
    kinds = []
    for table in (binary, partial):
        document = riskrank.report(table, higher="right", resamples=60, jobs=1).document
        parts = [part for chapter in chapters(document) for part in chapter.parts]
        blocks = [block for part in parts for block in part.blocks]
        kinds.append([block.kind for block in blocks if hasattr(block, "kind")])
        sentence = "Every score of right is 0 or 1" in " ".join(
            getattr(block, "text", "") for block in blocks
        )
        assert sentence == (table is binary)
    assert kinds == [["forest", "bump"], ["tvar", "pair", "quantiles", "scatter", "risks", "heatmap", "bump"]]
    alone = riskrank.mrm(binary, higher="right", resamples=60, jobs=1)
    assert "<figure" not in alone.to_html()


def test_numbers_on_a_page_are_typeset_consistently(small):
    """Words, tables and pictures use a minus sign instead of a hyphen, and a space before a percent sign."""
    text = re.sub(r"<(style|script)>.*?</\1>", "", small.to_html(), flags=re.DOTALL)
    words = re.findall(r">([^<]+)<", text)
    assert any("−" in word for word in words)
    assert [word for word in words if re.search(r"(?<![\w)\]−-])-\.?\d|\d%", word)] == []


def test_columns_without_head_or_content_are_left_out():
    empty = _scores("ab", lambda model, sample: (sample * ord(model)) % 7 / 7)
    text = riskrank.rank(empty, higher="right", resamples=60, jobs=1).to_html()
    heads = re.findall(r'<th scope="col"[^>]*><span>(.*?)</span>', text)
    assert heads[:2] == ["places that the tests allow", "model"]


def test_names_of_ten_thousand_letters_are_cut():
    rng = np.random.default_rng(0)
    long, metric = "n" * 9_999, "m" * 10_000
    rows = [
        {"model": model, "sample": at, "metric": metric, "score": rng.random()}
        for model in (f"{long}a", f"{long}b")
        for at in range(20)
    ]
    page = rank(read(pl.DataFrame(rows), higher="*"), resamples=100, jobs=1).to_html()
    assert not re.search(r"n{300}|m{300}", page)
    assert "10,000 letters" in page
