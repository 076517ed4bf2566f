"""The report in headless Chromium: `make test-page`; skipped if there is no browser."""

import re
import zlib
from pathlib import Path

import pytest

from tests.page import chromium
from tests.page.conftest import HOSTILE, scores

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
# The width of A4 less the margins of the style sheet, in CSS pixels.
PAPER = int((210 - 30) * 96 / 25.4)
AXE = Path(__file__).resolve().parents[2] / "build/page/node_modules/axe-core/axe.min.js"

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(chromium.find_browser() is None, reason="no Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser():
    with chromium.Chromium() as opened:
        yield opened


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that writes a result as a page and opens it."""

    def page_of(result, **how):
        path = tmp_path / "report.html"
        path.write_text(result.to_html(), encoding="utf-8")
        browser.open(path, **how)

    return page_of


@pytest.fixture(scope="module", params=["usual", "hostile", "sixty", "two"])
def page(request, usual, make_report, tmp_path_factory):
    results = {
        "usual": lambda: usual,
        "hostile": lambda: make_report(scores(HOSTILE, metrics=HOSTILE[:3]), title=HOSTILE[0], copa=True),
        "sixty": lambda: make_report(
            scores([f"a model of a rather long name, {n}" for n in range(60)], n=20)
        ),
        "two": lambda: make_report(scores(["模型一" * 30, "نموذج"], metrics=["m"])),
    }
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(results[request.param]().to_html(), encoding="utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True])
def test_a_page_loads_nothing_and_logs_no_errors(browser, page, dark):
    browser.open(page, dark=dark)
    requests = [address for address in browser.requests if not address.startswith("data:image/png;base64,")]
    assert requests == [page.as_uri()]
    assert browser.complaints == []
    assert browser.run("document.images.length") == 0
    # Only the repeated row names for phones are hidden here.
    assert browser.run(
        "[...document.querySelectorAll('svg')].every("
        "s => s.matches('.again') ? !s.checkVisibility() : s.getBoundingClientRect().width > 100)"
    )


def test_the_page_without_javascript_holds_the_same(browser, page, tmp_path):
    still = tmp_path / "still.html"
    still.write_text(re.sub(r"<script>.*?</script>\n</body>", "</body>", page.read_text(), flags=re.DOTALL))
    texts = []
    for file in (still, page):
        browser.open(file)
        texts.append(browser.run("[...document.querySelectorAll('td')].map(c => c.textContent)"))
    assert texts[0] == texts[1]
    assert len(texts[0]) > 10


def _answers():
    """Return reports with different first views: shares, metrics, a suite, a failed gate, ten models."""
    import riskrank as rr

    data = SAMPLE / "diamonds.parquet"
    diamonds = rr.read(data, metrics_file=str(SAMPLE / "diamonds.toml"))
    suite = rr.read(SAMPLE / "suite", wide=True, higher="correct")
    quick = {"resamples": 200, "jobs": 1}
    yield "one", rr.report(diamonds, metric="covered", **quick)
    yield "several", rr.report(diamonds, **quick)
    yield "suite", rr.report(suite, metric="correct", **quick)
    claim = {
        "not_worse": "boosting_absolute:boosting_squared",
        "on": ["mean:error_usd", "tvar@0.05:error_usd"],
    }
    yield "gate", rr.gate(diamonds, **claim, **quick)
    names = [f"a model of a rather long name, {n}" for n in range(10)]
    yield "ten", rr.report(rr.read(scores(names, metrics=("p", "q", "r", "s")), higher="*"), **quick)


def test_the_answer_is_seen_without_scrolling(browser, show):
    """At 1280 × 800: title, verdict, certainty, figures, and all rows of raw means or claims are visible."""
    for name, result in _answers():
        show(result, width=1280, height=800)
        answer = browser.look("answer")
        assert max(answer[0]) <= 800, name
        assert answer[1], name
        assert bool(answer[2]) == (name != "gate")


@pytest.mark.parametrize("width", [390, 1280])
def test_names_never_break_inside_a_word(browser, make_report, width, show):
    """Long names wrap after a separator, and tables scroll within their box."""
    names = ["lyra-instruct-tuned", "org/some-instruct.model_v2.1-preview:latest", "boosting_squared"]
    show(make_report(scores(names, metrics=("a", "b", "c", "d"))), width=width)
    assert browser.look("brokenNames") == []
    # Wherever a sentence, a figure to quote or a head names a short one, it stands on one line, however
    # wide the page is.
    assert browser.look("brokenMentions", names[0], width) == []


@pytest.mark.parametrize("width", [1280, 400])
def test_no_horizontal_scrolling(browser, page, width):
    browser.open(page, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_a_legend_of_curves(browser, usual, show):
    """The legend of a picture that scrolls would be out of sight on a phone."""
    visible = "[...document.querySelectorAll('.key')].filter(one => one.checkVisibility()).length"
    show(usual, width=1280)
    assert browser.run(visible) == 0
    show(usual, width=390)
    assert browser.run(visible) >= 1
    assert browser.run("document.querySelector('.key').getBoundingClientRect().right") <= 390


@pytest.mark.parametrize("width", [390, 900])
def test_text_of_pictures_stays_legible_on_small_screens(browser, page, width):
    """Text has at least 11 pixels, and pictures scroll within their boxes."""
    browser.open(page, width=width)
    assert browser.look("smallWords") == []


def test_every_table_sorts(browser, page):
    browser.open(page)
    tables = browser.look("sorted")
    assert tables
    for table in tables:
        up, down, back = table["steps"]
        assert back == table["given"]
        assert sorted(up) == sorted(table["given"])
        assert [*reversed(down)] == up or len(set(up)) < len(up)
        assert table["sort"] == 0


def test_numbers_sort_as_numbers(browser, usual, show):
    show(usual)
    means = browser.look("meansSorted")
    assert means == sorted(means)
    assert len(means) == 12


def test_filter_and_focus(browser, usual, show):
    show(usual)
    assert browser.look("filtered", "MODEL 03")[0] == 1
    focused = browser.look("focused", 3)
    assert all("3" in about.split() for about in focused[0])
    assert focused[1:] == [5, "true", 0]  # tails, quantiles, both charts of ranks, parallel axes


def test_pictures_show_names_as_tables_do(browser, make_report, show):
    """The browser has the fonts; right-to-left names stay in place, and nothing is cut."""
    names = ["模型一", "نموذج", "हिन्दी", "ไทย", "🤖", "Модель-ёж-" * 6, "W" * 60]
    show(make_report(scores(names)))
    texts = browser.run("[...document.querySelectorAll('#pairs svg text')].map(one => one.textContent)")
    assert set(names[:5]) <= set(texts)
    # Focused names are bold, and must not be cut either.
    assert browser.look("cutWords") == []


@pytest.mark.parametrize("model", [0, 9, 11])
def test_focus_reaches_every_figure(browser, usual, model, show):
    """In each figure with models, the focused model is highlighted and all others are dimmed."""
    show(usual)
    figures = browser.look("strengths", model)
    assert len(figures) > 5
    for figure in figures:
        focused = [(strength, tag) for mine, strength, tag in figure if mine]
        faded = [strength for mine, strength, _ in figure if not mine]
        assert all(strength == 1 for strength, _ in focused)
        assert all(strength < 0.5 for strength in faded)
        assert len(focused) + len(faded) == len(figure)
    # Pictures of all models have marks for each model; those of a pair have two.
    complete = [figure for figure in figures if figure and not all(not mine for mine, *_ in figure)]
    assert len(complete) >= len(figures) - 2
    assert all({tag for mine, _, tag in figure if mine} & {"path", "use"} for figure in complete)


def test_figures_are_printed_completely(browser, page):
    """Each figure fits on an A4 page, and none is split over two pages."""
    height = (297 - 30) * 96 / 25.4
    browser.open(page, width=PAPER, media="print")
    boxes = browser.look("figures")
    assert boxes
    for wide, high, inside in boxes:
        assert wide <= PAPER + 2
        assert high <= height
        assert inside == "avoid"
    assert browser.printed().startswith(b"%PDF")
    # Tables of many columns have a page of their own, turned.
    browser.run("document.querySelectorAll('.turned').forEach(one => one.remove())")
    assert browser.run("document.documentElement.scrollWidth") <= PAPER + 2
    browser.open(page, width=int(height), media="print")
    assert browser.run("document.documentElement.scrollWidth") <= height + 1


def test_heads_of_tables_are_printed_on_every_page(browser, usual, show):
    show(usual)
    browser.look("inked")
    pages = [*_inks(browser.printed())]
    rows = [(page, table) for page, inks in enumerate(pages) for red, table in inks if red == 3]
    assert len(rows) > len({table for _, table in rows}), "no table goes on on another page"
    assert [(page, table) for page, table in rows if (1, table) not in pages[page]] == []


def _inks(pdf):
    """Yield the (red, blue) values of the marked colours in each drawing; each page is one drawing."""
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            drawing = zlib.decompress(stream)
        except zlib.error:
            continue
        inks = re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) rg", drawing)
        shades = ([round(float(part) * 255) for part in ink] for ink in inks)
        yield {(red, blue) for red, green, blue in shades if green == 2}


def test_a_diff_fits_two_screens_and_prints_without_folded_parts(browser, show):
    """The sources of the page are not printed, even if the reader has expanded folded parts."""
    import riskrank as rr

    data = rr.read(SAMPLE / "classifiers.parquet", metrics_file=str(SAMPLE / "classifiers.toml"))
    result = rr.diff(data, metric="correct", pair="lda:logistic")
    show(result, width=1280, height=800)
    assert browser.run("document.querySelector('#compared').getBoundingClientRect().top") < 1600
    show(result, width=PAPER, media="print")
    visible = browser.look("foldedShown")
    assert visible == [["SUMMARY"], ["SUMMARY"]]


def test_parts_fold_open_for_links_and_for_print(browser, usual, show):
    """Parts are closed until a link opens them; twelve models fit three screens; printing opens all parts."""
    assert len(usual.to_html().encode()) < 600_000
    show(usual, width=1280)
    parts = "[...document.querySelectorAll('details.part')]"
    assert browser.run("document.documentElement.scrollHeight") < 2600
    assert browser.run(f"{parts}.filter(one => one.open).length") == 0
    assert browser.look("linkOpens") is True
    closed = browser.look("closedInPrint")
    assert closed[0] == 0
    assert closed[1] == closed[2] - 1


@pytest.mark.parametrize("metrics", [("acc", "f1"), ("acc", "f1", "cost", "time")])
def test_nine_models_are_three_screens(browser, make_report, metrics, show):
    """With folded parts and all warnings about few samples, there are at most two screens of reasons."""
    result = make_report(scores([f"model {n}" for n in range(9)], metrics=metrics, n=20))
    assert len(result.document.provenance.warnings) > 1
    show(result, width=1280)
    high = "document.querySelector('#why').getBoundingClientRect().height"
    assert browser.run("document.documentElement.scrollHeight") < 2400
    assert browser.run(high) < 1600


def test_names_of_rows_are_printed_completely(browser, make_report, show):
    """Names do not wrap after a hyphen, in tables of any width."""
    names = ["lyra-instruct-tuned", "org/some-model.v2-latest", *(f"neo-{n}-chat-large" for n in range(8))]
    show(make_report(scores(names, metrics=("acc-norm", "b", "c"))), width=PAPER, media="print")
    assert browser.look("brokenWords") == []


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core: make test-page fetches it where there is npm")
@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 1280), (False, 400)])
def test_axe_finds_no_violation(browser, page, dark, width):
    browser.open(page, dark=dark, width=width)
    browser.run(AXE.read_text(encoding="utf-8") + "; 0")
    assert browser.look("violations") == []


def test_hostile_names_are_inert(browser, make_report, show):
    show(make_report(scores(HOSTILE, metrics=HOSTILE[:3]), title=HOSTILE[1]))
    assert browser.run("document.scripts.length") == 1
    assert browser.run("document.querySelectorAll('img, iframe, object, [onload], [onerror]').length") == 0
    assert browser.run("document.querySelectorAll('a[href^=\"javascript\"]').length") == 0
    assert browser.run("document.querySelector('h1').textContent") == HOSTILE[1]
    named = browser.run("[...document.querySelectorAll('.models li')].map(one => one.textContent)")
    assert named == sorted(name.replace("\x1b", "\\x1b").replace("\x07", "\\x07") for name in HOSTILE)


def test_names_stay_while_a_table_scrolls(browser, usual, show):
    """A shadow indicates hidden columns, and row names stay visible; on a phone everything is reachable."""
    show(usual, width=641)
    assert browser.look("scrolledNames") == [True, 0, "local, local, scroll, scroll"]
    show(usual, width=390)
    assert browser.look("wideTables") == []


def test_no_table_of_twelve_models_scrolls_at_1280(browser, usual, show):
    show(usual, width=1280)
    assert browser.look("wideTables") == []


def test_a_filter_without_hits_is_reported(browser, usual, show):
    show(usual)
    assert browser.look("filtered", "nobody")[1] == "No row holds “nobody”: none of 12 is shown."


def test_printed_type_is_large_enough_and_words_are_not_broken(browser, page):
    browser.open(page, width=PAPER, media="print")
    sizes = [float(size.removesuffix("px")) for size in browser.look("styles", "td, th", "fontSize")]
    assert min(sizes) >= 7 * 96 / 72 - 1e-3
    assert "anywhere" not in browser.look("styles", "td:not([dir])", "overflowWrap")
    assert browser.look("styles", ".word strong", "printColorAdjust") == ["exact"]  # white on its own ground
