"""Names from files are inert text in terminals, Markdown, HTML, JSON and spreadsheets."""

import html.parser
import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import riskrank as rr
from riskrank.render.escapes import (
    JOINT,
    escape_controls,
    escape_for_ci_log,
    escape_for_html,
    escape_for_json,
    escape_for_log,
    escape_for_markdown,
    escape_for_markdown_cell,
    escape_for_markdown_code,
    escape_for_page,
    escape_for_terminal,
    in_ci,
    protect_spaces,
    restore_spaces,
)
from riskrank.render.formats.terminal import to_terminal
from riskrank.render.view import Column, Line, Table
from tests.fuzz.oracles import obeyed

HOSTILE = (
    *map(chr, (*range(0x20), *range(0x7F, 0xA0))),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029",
)
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from([*HOSTILE, *"[]()!<>&*_`~#|:/\\.@$=+-1"])))
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def harmless(text: str, keep: str = "") -> bool:
    """Check the Unicode categories of all characters, independently of our own list."""
    marks = set(text) - set(keep)
    directions = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return not any(
        unicodedata.category(mark) in ("Cc", "Zl", "Zp", "Cs")
        or unicodedata.bidirectional(mark) in directions
        or mark in "\u061c\u200e\u200f"
        for mark in marks
    )


@pytest.mark.parametrize("mark", [mark for mark in HOSTILE if mark != "\n"])
def test_active_characters_are_escaped(mark):
    assert escape_controls(f"a{mark}b") == "a" + mark.encode("unicode_escape").decode() + "b"


@given(TEXTS)
def test_nothing_acts_at_any_destination(text):
    assert harmless(escape_for_terminal(text, "utf-8"), keep="\n")
    assert harmless(escape_for_log(text, "ascii"), keep="\n")
    assert harmless(escape_for_markdown(text))
    assert harmless(escape_for_markdown_code(text))
    assert harmless(escape_for_html(text), keep="\n")
    written = escape_for_json(json.dumps(text, ensure_ascii=False))
    assert harmless(written)
    assert json.loads(written) == text


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_plain_text_is_left_alone(text):
    assert escape_controls(text) == text
    assert escape_for_terminal(text, "utf-8") == text


def readable(text: str) -> str:
    """Remove the invisible spaces that prevent mentions and links on code hosting sites."""
    return text.replace("\u200b", "")


def _rendered(text: str) -> tuple[list[str], str]:
    """Return tags and text of an HTML fragment."""
    tags, words = [], []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append(tag)
    parser.handle_data = words.append
    parser.feed(text)
    parser.close()
    return tags, "".join(words)


@given(TEXTS)
def test_markdown_shows_a_paragraph_as_it_is(text):
    tags, text_shown = _rendered(MARKDOWN.render(escape_for_markdown(text)))
    assert tags in (["p"], [])
    assert readable(text_shown).split() == readable(escape_controls(text.replace("\n", " "))).split()


@given(TEXTS)
def test_markdown_shows_a_cell_as_it_is(text):
    page = f"| a | b |\n| --- | --- |\n| {escape_for_markdown(text)} | x |\n"
    tags, rendered = _rendered(MARKDOWN.render(page))
    assert tags == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    expected = readable(escape_controls(text.replace("\n", " "))).split()
    assert readable(rendered).split() == ["a", "b", *expected, "x"]


@pytest.mark.parametrize(
    "text",
    [
        *("[click](javascript:alert(1))", "![x](https://evil.example/x.png)", "<javascript:alert(1)>"),
        *("<img src=x onerror=alert(1)>", "[a]: javascript:alert(1)", "# heading", "1. list", "- list"),
        *("> quote", "~~~ fence", "```fence", "---", "&lt;b&gt;", "    code", "a | b"),
        "**bold** __bold__ ~~gone~~",
    ],
)
def test_tricks_of_markdown(text):
    tags, rendered = _rendered(MARKDOWN.render(f"{escape_for_markdown(text)}\n\n[a]\n"))
    assert tags == ["p", "p"]
    assert rendered.split() == [*text.split(), "[a]"]


@given(TEXTS)
def test_a_cell_of_a_table_stays_a_single_cell(text):
    page = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(f"| a | b |\n| --- | --- |\n| {escape_for_markdown_cell(text)} | 1 |")
    )
    tags, _ = _rendered(page)
    assert tags == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]


@pytest.mark.parametrize(
    "link", ["https://evil.example", "HTTP://evil.example", "www.evil.example", "ftp://x"]
)
def test_github_makes_no_link_of_an_address(link):
    """GitHub links bare URLs, unless a backslash precedes the character that identifies them."""
    written = escape_for_markdown(link)
    assert re.search(r"(?<!\\)://|www\.", written) is None
    assert _rendered(MARKDOWN.render(written))[1].strip() == link


# Mentions and references that GitHub and GitLab link in rendered Markdown.
REFERENCES = re.compile(
    r"(?:^|[^A-Za-z0-9_`])@[A-Za-z0-9][A-Za-z0-9-]*|[A-Za-z0-9._+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+"
    r"|[#!][0-9]+|\bGH-[0-9]+",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "text",
    [
        *("@org/team", "@someone", "model by @a-b, @c", "(@x)", "FSD(0.25)@P(IC)", "#12", "org/repo#3"),
        *("!7", "gh-9", "GH-10", "someone@example.org", "a.b+c@sub.example.org", "@@x", "&#8203;12"),
    ],
)
@pytest.mark.parametrize("write", [escape_for_markdown, escape_for_markdown_cell])
def test_no_mentions_and_no_links(text, write):
    assert REFERENCES.search(text)
    tags, rendered = _rendered(MARKDOWN.render(f"a {write(text)} b"))
    assert tags == ["p"]
    assert REFERENCES.search(rendered) is None
    assert readable(rendered).strip() == f"a {text} b"


@given(st.text(st.sampled_from("@#!aGgHh-1._/ (")))
def test_no_text_is_a_reference(text):
    assert REFERENCES.search(_rendered(MARKDOWN.render(escape_for_markdown(text)))[1]) is None


@pytest.mark.parametrize(
    "text", ["R-SSD@P(IC)", "pass@1", "a #b", "v1.2!", "C#", "high-9", "@", "a @ b", "1#"]
)
def test_text_without_references_is_unchanged(text):
    assert "&#8203;" not in escape_for_markdown(text)


@given(TEXTS)
def test_html_shows_text_as_it_is(text):
    tags, rendered = _rendered(f'<p title="{escape_for_html(text)}">{escape_for_html(text)}</p>')
    assert tags == ["p"]
    assert rendered == escape_controls(text)


def test_endless_names_are_shortened_and_stay_different():
    long = "n" * 10_000
    first, other = escape_for_page(f"{long}a{long} wins"), escape_for_page(f"{long}b{long} wins")
    assert first != other
    assert max(map(len, (first, other))) < 400
    assert first.endswith("n wins")
    assert "20,001 letters" in first
    assert escape_for_page("n" * 499) == "n" * 499
    assert escape_for_page("word " * 1_000) == "word " * 1_000
    assert escape_for_page("a\x1b") == "a\\x1b"


SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"


@pytest.mark.parametrize(
    "phrase",
    [
        *("90 %", "p = 0.12", "p < 1e-6", "n = 300", "4 ± 0.5", "1 ± 2 points", "α 0.05", "order 2", "10 ms"),
        *("δ = 0", "1.5 × 2", "x ≤ −3", "seed 0", "p = ∞", "3 percentage points", "1 +- .5", "latency <= 5"),
    ],
)
def test_numbers_keep_their_units(phrase):
    assert " " not in protect_spaces(phrase).replace("percentage points", "")
    assert restore_spaces(protect_spaces(f"of {phrase}, which")) == f"of {phrase}, which"
    assert protect_spaces(f"of {phrase}, which").startswith("of ")


@pytest.mark.parametrize(
    "text", ["is 3 of 4", "a = b", "step 2", "on 3 metrics", "gpt 4", "2 pointed", "lines of up 3", "x-p 3"]
)
def test_other_words_may_part(text):
    assert protect_spaces(text) == text


def test_a_name_cannot_pretend_to_be_a_joint():
    assert escape_controls(f"a{JOINT}b") == "a\\ufdd0b"


def _results():
    data = rr.read(SAMPLE / "diamonds.parquet", metrics_file=str(SAMPLE / "diamonds.toml"))
    quick = {"resamples": 60, "jobs": 1}
    yield rr.rank(data, **quick)
    yield rr.gate(data, not_worse="boosting_log:boosting_squared", margin=5, on="mean:error_usd", **quick)
    yield rr.diff(data, pair="boosting_squared:boosting_absolute", metric="error_usd")
    yield rr.copa(data)


PARTED = re.compile(
    r"[=<>≤≥±×]\n\s*[-−]?\.?\d|[\w.]\n\s*[=<>≤≥±×] [-−]?\.?\d|\d\n\s*(%|points)|\b(α|p|n)\n\s*\d"
)


@pytest.mark.slow
def test_no_page_parts_a_number_from_its_unit():
    for result in _results():
        pages = [result.to_text(width, explain=True) for width in (60, 77, 100)]
        assert [match[0] for page in pages for match in PARTED.finditer(page)] == []
        assert not any(JOINT in page or "\xa0" in page for page in pages)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_words_and_cells_wrap_around_it(encoding):
    text = "far more than that: p = 0.125 and 90 % ± 3.5 points, α 0.05, of a few. " * 5
    table = Table("", (Column("name", "left"), Column("why", "left")), (("a", text), ("b", "short")), stub=1)
    for width in range(60, 201, 3):
        words = to_terminal([Line(text), table], width=width, color=False, encoding=encoding)
        assert words.encode(encoding)
        assert not re.search(r"(p|=|[\d.]|±|\+-|α|alpha) *\n +(= 0|0\.|%|±|\+-|3\.5|points)", words), width
        assert JOINT not in words


COMMANDS = (
    "::error::x",
    "  ::add-mask::x",
    "\u00a0::x",
    "##[error]x",
    "a ##[stop-commands]x",
    "##VSO[task.x]y",
)
COMMANDS += ("##teamcity[x]", "b\n::x", "b\n \t##[x]", "###[x]")
PLAIN = ("a::b", "task::sub::x", "## [x]", "# heading", "##vso", ": :", "#[x]", "##teamcity (x)")


@pytest.mark.parametrize("kind", ["table", "json", "junit"])
@pytest.mark.parametrize("text", COMMANDS)
def test_commands_are_escaped(text, kind):
    assert obeyed(text)
    assert not obeyed(escape_for_ci_log(text, kind))
    assert len(escape_for_ci_log(text, kind)) <= len(text) + 5


@pytest.mark.parametrize("text", PLAIN)
def test_text_without_commands_is_unchanged(text):
    assert not obeyed(text)
    assert escape_for_ci_log(text) == text


def test_detection_of_ci_builds():
    assert in_ci({"GITHUB_ACTIONS": "true"})
    assert in_ci({"GITLAB_CI": "true"})
    assert in_ci({"TF_BUILD": "True"})
    assert in_ci({"TEAMCITY_VERSION": "2023.11"})
    assert not in_ci({"GITHUB_ACTIONS": "false", "TF_BUILD": ""})
    assert not in_ci({})
