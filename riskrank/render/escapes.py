"""Escaping of untrusted text, with one function per output destination.

Names of files, models or metrics may contain control characters, direction marks, line breaks or Markdown
links. For spreadsheet formulas, see :mod:`riskrank.scores.files.parsing`.

CI servers execute commands in build output: ``::error::…`` at the start of a line, and ``##[command]``,
``##vso[…]`` or ``##teamcity[…]`` anywhere. GitLab commands start with a control character, which is escaped
anyway.
"""

import html
import re
import zlib
from collections.abc import Mapping
from itertools import pairwise

from riskrank.render import WORDS

# Invisible characters, which make different names look equal, and noncharacters, which
# ``protect_spaces`` uses. Joiners are missing, because scripts and emoji need them.
_INVISIBLE = (
    "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f"
)
# C0 except the line feed, DEL and C1; direction marks; line and paragraph separators; lone
# surrogates, which cannot be encoded.
_MARKS = "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
UNSAFE = re.compile(f"[{_MARKS}{_INVISIBLE}]")

# The same without characters that JSON escapes anyway, and without its own line breaks.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# Words too long for a page, and the lengths of the beginning and end that remain.
_ENDLESS, _HEAD, _TAIL = re.compile(r"\S{500,}"), 200, 100

# Replacements of riskrank's symbols for terminals that lack them; names get \\u escapes instead.
_SPELLED = str.maketrans({mark: plain for mark, (plain, _) in WORDS["symbols"].items()})

# Inline syntax: emphasis, code, links and images, HTML, entities, formulas.
_MARKDOWN = re.compile(r"[\\|*_`<>\[&$~]")
# Text that GitHub converts to a link.
_AUTOLINK = re.compile(r"(?i)(?<=[a-z]):(?=//)|(?<=www)\.|(?<=mailto):|(?<=xmpp):")
# References that a forge links after Markdown, so that a backslash has no effect: @name,
# an email address, #12, !12, GH-12. An invisible space splits them, as dependency bots do.
_REFERENCE = re.compile(
    r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9])|@(?=[A-Za-z0-9_-]+\.[A-Za-z0-9_-])|[#!](?=[0-9])|\b[Gg][Hh]-(?=[0-9])"
)
_INVISIBLE_SPACE = "&#8203;"
# Mark of a heading, a list or a rule at the beginning of a paragraph, after the number of a numbered list.
_BLOCK = re.compile(r"^(\d{1,9}(?=[.)])|(?=[#+=-]))(.)")


def escape_controls(text: str) -> str:
    r"""Escape control and invisible characters, for example as ``\x1b`` or ``\u202e``."""
    return UNSAFE.sub(lambda mark: mark[0].encode("unicode_escape").decode(), text)


def escape_for_page(text: str) -> str:
    """Escape text for an HTML page, and shorten very long words.

    Shortened words include a checksum, so that different words never look the same.
    """

    def shorten(match: re.Match[str]) -> str:
        """Return the two ends of a long word, with its length and checksum between."""
        word = match[0]
        checksum = zlib.crc32(word.encode("utf-8"))
        return f"{word[:_HEAD]}…[{len(word):,} letters, {checksum:08x}]…{word[-_TAIL:]}"

    return _ENDLESS.sub(shorten, escape_controls(text))


def escape_for_terminal(text: str, encoding: str) -> str:
    r"""Escape text for a terminal with a given encoding.

    If the encoding lacks a character, riskrank's own symbols are spelled out, and other characters become
    ``\u`` escapes. So different names never look the same.
    """
    text = escape_controls(text)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_SPELLED).encode(encoding, "backslashreplace").decode(encoding)
    return text


def escape_for_log(text: str, encoding: str) -> str:
    """Escape text for standard error, including characters missing from the encoding."""
    return escape_controls(text).encode(encoding, "backslashreplace").decode(encoding)


def escape_for_markdown(text: str) -> str:
    """Escape text for a line of Markdown, to prevent emphasis, links, images, mentions and lists."""
    return _BLOCK.sub(r"\1\\\2", escape_for_markdown_cell(text))


def escape_for_markdown_cell(text: str) -> str:
    """Escape text for a Markdown table cell.

    Numbers stay unchanged, because no list can start there.
    """
    text = escape_controls(text.replace("\n", " ")).lstrip(" ")  # four spaces would start a code block
    cuts = [0, *(match.end() for match in _REFERENCE.finditer(text)), len(text)]
    parts = [_MARKDOWN.sub(r"\\\g<0>", text[start:end]) for start, end in pairwise(cuts)]
    return _INVISIBLE_SPACE.join(_AUTOLINK.sub(r"\\\g<0>", part) for part in parts)


def escape_for_markdown_code(text: str) -> str:
    """Escape text for one line of a fenced Markdown code block."""
    return escape_controls(" ".join(text.replace("```", "'''").split()))


# Pairs of characters that form a ligature.
_LIGATURE = re.compile("(?<=-)(?=-)|(?<=,)(?=,)")
_LATEX_SYMBOLS = {mark: command for mark, (_, command) in WORDS["symbols"].items()}
_IN_LATEX = str.maketrans(WORDS["latex"] | _LATEX_SYMBOLS)


def escape_for_latex(text: str) -> str:
    """Escape text for LaTeX.

    Non-Latin letters need XeLaTeX or LuaLaTeX and a suitable font.
    """
    parts = re.split(_LIGATURE, escape_controls(text.replace("\n", " ")))
    return "{}".join(part.translate(_IN_LATEX) for part in parts)


def escape_for_html(text: str) -> str:
    """Escape text for HTML content or a quoted attribute."""
    return html.escape(escape_controls(text))


def escape_for_json(document: str) -> str:
    r"""Replace DEL, C1 controls and direction marks in a JSON document with ``\u`` escapes.

    The ``json`` module writes these characters unescaped. They occur only in strings, where the escape is
    equivalent.
    """
    return _UNSAFE_IN_JSON.sub(lambda mark: f"\\u{ord(mark[0]):04x}", document)


# Placeholder for a space. Word wrapping treats this noncharacter as a letter, and text contains it only
# as an escape.
JOINT = "\ufdd0"

_LABELS = "α|alpha|δ|delta|ε|eps|ξ|xi|τ|tau|p|n|k|level|order|place|rank|seed"
_UNITS = "%|×|points?|percentage points?|ms|s|[KMG]i?B|USD"
_SIGNS = r"=|<|>|≤|≥|<=|>=|≈|±|\+-|×"
_NUMERAL = r"[-−+~<>]*[.\d∞]"
_PROTECTED = re.compile(
    rf"(?<=\S) (?=(?:{_SIGNS}) {_NUMERAL})"  # the space before the sign in p = 0.12
    rf"|(?<=[=<>≤≥≈±×]) (?={_NUMERAL})|(?<=\+-) (?={_NUMERAL})"  # the space after the sign
    rf"|(?<=[\d∞]) (?=(?:{_UNITS})(?!\w))"
)
_LABELLED = re.compile(rf"(?<![\w-])({_LABELS}) (?={_NUMERAL})")


def protect_spaces(text: str) -> str:
    """Replace spaces between a number and its unit with a placeholder, to prevent line breaks."""
    return _LABELLED.sub(rf"\1{JOINT}", _PROTECTED.sub(JOINT, text))


def restore_spaces(text: str) -> str:
    """Replace the placeholders from :func:`protect_spaces` with spaces."""
    return text.replace(JOINT, " ")


# Set by GitHub, GitLab, Azure Pipelines and TeamCity.
_VARIABLES = ("GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION")
_OFF = ("", "false", "0")

_FIRST = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_ANYWHERE = re.compile(r"#(?=#(?:vso|teamcity)?\[)", re.IGNORECASE)
# Escape of a character in each format; readers of data formats restore the character.
_CI_ESCAPES = {"json": r"\u{:04x}", "jsonl": r"\u{:04x}", "html": "&#{};", "junit": "&#{};"}


def in_ci(variables: Mapping[str, str]) -> bool:
    """Return True if the environment variables indicate a CI server."""
    return any(variables.get(name, "").lower() not in _OFF for name in _VARIABLES)


def escape_for_ci_log(text: str, output_format: str = "table") -> str:
    r"""Escape CI commands in rendered output, for example as ``\x23#[command]``.

    Parameters
    ----------
    text : str
        Text to escape.
    output_format : str
        Format of the text. JSON and HTML use their own escapes, which leave the data unchanged.
    """
    escape = _CI_ESCAPES.get(output_format, r"\x{:02x}")
    text = _ANYWHERE.sub(lambda _: escape.format(ord("#")), text)
    return _FIRST.sub(lambda match: match[1] + escape.format(ord(":")), text)
