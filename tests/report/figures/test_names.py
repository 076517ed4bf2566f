import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.report.figures.names import displayable, fitted
from riskrank.report.figures.style import characters, text_width


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="abWl-/", min_size=1, max_size=60), min_size=1, max_size=12, unique=True),
    st.sampled_from([60.0, 120.0]),
)
def test_fitted_names_are_different_and_fit(names, width):
    shown = fitted(names, width)
    assert len(set(shown)) == len(names)
    for name, text in zip(names, shown, strict=True):
        assert text_width(text) <= width
        if text_width(name) <= width:
            assert text == name


def test_a_cut_shows_what_tells_names_apart():
    shown = fitted(["x" * 80 + "1", "x" * 80 + "2", "1" + "x" * 80, "y" + "x" * 80], 100)
    assert [text[-1] for text in shown[:2]] == ["1", "2"]
    assert [text[0] for text in shown[2:]] == ["1", "y"]
    assert all("…" in text for text in shown)
    middle = fitted(["x" * 50 + "1" + "x" * 50, "x" * 50 + "2" + "x" * 50], 100)
    assert [text[-4:] for text in middle] == [" (1)", " (2)"]


@pytest.mark.parametrize("count", [2, 12, 60])
def test_all_characters_have_glyphs(names, count):
    shown = fitted(names(count), 150)
    assert len(set(shown)) == count
    assert {ord(letter) for text in shown for letter in text} <= characters()


def test_what_cannot_be_drawn_is_escaped():
    assert displayable("a\nb\x1b\u202e") == "a\\nb\\x1b\\u202e"
    assert displayable("модель é ε") == "модель é ε"
    assert displayable("\ud800") == "\\ud800"
    assert displayable("\U000e0041") == "\\U000e0041"
