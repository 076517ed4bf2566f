"""Checks of pictures: their data, their bytes, and the positions of their texts."""

import itertools

import numpy as np
import pytest


def _words(figure):
    """Return each drawn text with its bounding box in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = list(figure.texts)
    for axes in figure.axes:
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                texts += [axis.label, axis.get_offset_text()]
                texts += [label for tick in axis._update_ticks() for label in (tick.label1, tick.label2)]
        texts += [*axes.texts, axes.title, axes._left_title, axes._right_title]
    return [
        (text.get_text(), text.get_window_extent(renderer).extents)
        for text in texts
        if text.get_visible() and text.get_text().strip()
    ]


@pytest.fixture
def no_pictures(monkeypatch):
    """Omit the pictures of pages, which take most of the time, in tests of the other parts."""
    from riskrank.render.page.exhibits import Drawing, Exhibitor

    monkeypatch.setattr(Exhibitor, "_draw_picture", lambda _, picture, __: Drawing("", "", picture.caption))


@pytest.fixture(scope="session")
def legible():
    """Assert that a figure is deterministic, and that no text is cut or overlaps another."""
    from riskrank.render.figures.style import ABOVE, common_style

    repeated = set()

    def check(make):
        figure = make()
        with common_style():
            figure.draw_without_rendering()
            words = _words(figure)
        # Only the first picture of each call in a test, to save time.
        if len(words) < 24 and make.__code__ not in repeated:
            repeated.add(make.__code__)
            assert figure.to_bytes("svg") == make().to_bytes("svg")
        width, height = figure.bbox.width, figure.bbox.height
        # A page shows what is below the heading only.
        cut = height - (figure.heading - ABOVE)
        headings = {text.get_text() for text in figure.texts}
        for text, (left, bottom, right, top) in words:
            assert left >= 0, text
            assert bottom >= 0, text
            assert right <= width, text
            assert top <= (height if text in headings else cut), text
        for (first, (a, b, c, d)), (second, (e, f, g, h)) in itertools.combinations(words, 2):
            separate = a >= g - 0.5 or e >= c - 0.5 or b >= h - 0.5 or f >= d - 0.5
            assert separate, f"{first!r} and {second!r} overlap"
        return [text for text, _ in words]

    return check


@pytest.fixture(scope="session")
def names():
    """Return a function that returns n names: plain, long, ambiguous when cut, non-Latin, hostile."""

    def some(count):
        odd = [
            "gpt",
            "meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo-with-tools-2025-01-31",
            "meta-llama/Meta-Llama-3.1-71B-Instruct-Turbo-with-tools-2025-01-31",
            "模型-七十亿",
            "модель №5",
            "$x^2$ & _under_ <b>",
            "_hidden",
            "نموذج",
            "a\nb\x1b[31m\u202ec",
            "🦙 llama",
            "W" * 300,
            "W" * 150 + "M" + "W" * 149,
        ]
        return (odd + [f"model {number}" for number in range(count)])[:count]

    return some


@pytest.fixture(scope="session")
def samples():
    """Return scores of several models, of which the last two are identical."""

    def some(count, size=40, seed=0):
        rng = np.random.default_rng(seed)
        scores = [rng.normal(rng.normal(0, 0.5), 1 + rng.random(), size) for _ in range(count - 1)]
        return [*scores, scores[-1].copy()]

    return some
