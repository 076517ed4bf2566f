import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.render.figures.text import (
    available_characters,
    browser_fonts,
    escape_missing_glyphs,
    fit_names,
    text_width,
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="abWl-/", min_size=1, max_size=60), min_size=1, max_size=12, unique=True),
    st.sampled_from([60.0, 120.0]),
)
def test_fitted_names_are_different_and_fit(names, width):
    fitted = fit_names(names, width)
    assert len(set(fitted)) == len(names)
    for name, text in zip(names, fitted, strict=True):
        assert text_width(text) <= width
        if text_width(name) <= width:
            assert text == name


def test_a_shortened_name_keeps_its_distinguishing_part():
    fitted = fit_names(["x" * 80 + "1", "x" * 80 + "2", "1" + "x" * 80, "y" + "x" * 80], 100)
    assert [text[-1] for text in fitted[:2]] == ["1", "2"]
    assert [text[0] for text in fitted[2:]] == ["1", "y"]
    assert all("…" in text for text in fitted)
    middle = fit_names(["x" * 50 + "1" + "x" * 50, "x" * 50 + "2" + "x" * 50], 100)
    assert [text[-4:] for text in middle] == [" (1)", " (2)"]


@pytest.mark.parametrize("count", [2, 12, 60])
def test_all_characters_have_glyphs(names, count):
    fitted = fit_names(names(count), 150)
    assert len(set(fitted)) == count
    assert {ord(letter) for text in fitted for letter in text} <= available_characters()


def test_similar_names_are_spelled_out():
    assert fit_names(["e\u0301", "\u00e9", "a\u0301"], 100) == ["e\\u0301", "é", "a\u0301"]


def test_in_a_browser_every_character_is_itself():
    """Names keep their characters for any installed font; combining marks take no additional width."""
    names = ["模型" * 3, "한국어", "हिन्दी", "🤖", "a\u202eb", "a\x1bb"]
    with browser_fonts():
        assert fit_names(names, 100)[:4] == names[:4]
        assert fit_names(names, 100)[4:] == ["a\\u202eb", "a\\x1bb"]
        assert text_width("模型模型模型") >= 6 * 9.0
        assert text_width("🤖") > 9.0
        cut = fit_names(["模" * 40 + "1", "模" * 40 + "2"], 100)
        assert all("…" in text and text_width(text) <= 100 for text in cut)
        assert len(set(cut)) == 2


def test_characters_without_glyph_are_escaped():
    assert escape_missing_glyphs("a\nb\x1b\u202e") == "a\\nb\\x1b\\u202e"
    assert escape_missing_glyphs("модель é ε") == "модель é ε"
    assert escape_missing_glyphs("\ud800") == "\\ud800"
    assert escape_missing_glyphs("\U000e0041") == "\\U000e0041"
