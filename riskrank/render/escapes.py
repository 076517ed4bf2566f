"""What text from a file may do to its reader: nothing. One function a destination, called at its last door.

A name of a file, model or metric can hold what moves a cursor, turns the direction of the text around it,
breaks a line, or is a live link in Markdown. Formulas: :mod:`riskrank.scores.files.formulas`.

Who runs a build reads what its steps print, and obeys: ``::error::…`` at the beginning of a line, and
``##[command]``, ``##vso[…]`` or ``##teamcity[…]`` anywhere in it. GitLab's marks begin with a control
character, which is an escape anyway.
"""

import html
import re
import zlib
from collections.abc import Mapping
from itertools import pairwise

# Characters without ink, which make two names look like one, and what is no character, for our own use
# (``together``); not the joiners that scripts and emoji need.
_INVISIBLE = (
    "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f"
)
# C0 but for the line break, DEL and C1; marks of direction; line and paragraph separators; halves of
# surrogate pairs, which no encoding can write.
_MARKS = "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
UNSAFE = re.compile(f"[{_MARKS}{_INVISIBLE}]")

# The same without what JSON escapes anyway, and the line breaks between its own lines.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# Words on a page that nobody reads to their end, and what is left of them.
_ENDLESS, _HEAD, _TAIL = re.compile(r"\S{500,}"), 200, 100

# Our own symbols in words, for terminals that cannot show them; names keep theirs as \\u escapes.
_SPELLED = str.maketrans(
    {
        **{"ε": "eps", "τ": "tau", "α": "alpha", "δ": "delta", "ξ": "xi", "χ": "chi", "Δ": "Delta"},
        **{"μ": "mu", "σ": "sigma", "Γ": "Gamma", "∞": "inf", "↑": "+", "↓": "-", "±": "+-"},
        **{"–": "-", "−": "-", "…": "...", "·": ".", "“": '"', "”": '"', "²": "2", "√": "root "},
        **{"≥": ">=", "≤": "<="},
    }
)

# Marks that mean something within a line: emphasis, code, links and images, HTML, entities, formulas.
_MARKDOWN = re.compile(r"[\\|*_`<>\[&$~]")
# What GitHub makes a link of without any mark around it.
_AUTOLINK = re.compile(r"(?i)(?<=[a-z]):(?=//)|(?<=www)\.|(?<=mailto):|(?<=xmpp):")
# What a forge tells a person of, or links, after Markdown is done, so that no backslash helps: @name, an
# address of mail, #12, !12, GH-12. An invisible space parts them, as dependency bots do in their notes.
_REFERENCE = re.compile(
    r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9])|@(?=[A-Za-z0-9_-]+\.[A-Za-z0-9_-])|[#!](?=[0-9])|\b[Gg][Hh]-(?=[0-9])"
)
_INVISIBLE_SPACE = "&#8203;"
# What begins a heading, a list or a rule where it begins a paragraph.
_BLOCK = re.compile(r"^(?:([#+=-])|(\d{1,9})([.)]))")


def visible(text: str) -> str:
    r"""Write marks that would act on what is around them as escapes such as ``\x1b`` and ``\u202e``."""
    return UNSAFE.sub(lambda mark: mark[0].encode("unicode_escape").decode(), text)


def for_page(text: str) -> str:
    """Visible text whose names are no longer than a person reads; what tells two of them apart stays."""
    return _ENDLESS.sub(_cut, visible(text))


def _cut(word: re.Match[str]) -> str:
    name = word[0]
    number = zlib.crc32(name.encode("utf-8"))
    return f"{name[:_HEAD]}…[{len(name):,} letters, {number:08x}]…{name[-_TAIL:]}"


def for_terminal(text: str, encoding: str) -> str:
    r"""Text as a terminal of this encoding can show it.

    Our symbols are spelled out and other characters written as ``\u`` escapes where the encoding has no
    room for them, so that two names never look the same.
    """
    text = visible(text)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_SPELLED).encode(encoding, "backslashreplace").decode(encoding)
    return text


def for_log(text: str, encoding: str) -> str:
    """Text for standard error: as on a terminal, with characters the encoding lacks as escapes."""
    return visible(text).encode(encoding, "backslashreplace").decode(encoding)


def for_markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line: no emphasis, link, image, mention, formula or list."""
    return _BLOCK.sub(_unblocked, for_markdown_cell(text))


def for_markdown_cell(text: str) -> str:
    """The same for a cell of a table, where a number stays a number: no list can begin there."""
    text = visible(text.replace("\n", " ")).lstrip(" ")  # four blanks would begin a block of code
    cuts = [0, *(match.end() for match in _REFERENCE.finditer(text)), len(text)]
    return _INVISIBLE_SPACE.join(_unmarked(text[start:end]) for start, end in pairwise(cuts))


def _unmarked(text: str) -> str:
    text = _MARKDOWN.sub(lambda mark: "\\" + mark[0], text)
    return _AUTOLINK.sub(lambda mark: "\\" + mark[0], text)


def for_markdown_code(text: str) -> str:
    """Text for a fenced block of Markdown, on one line."""
    return visible(" ".join(text.replace("```", "'''").split()))


# Marks that LaTeX acts on, and those that the end of a table's row would take for its own.
_LATEX = {
    **{"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"},
    **{"^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{'"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}"},
    **{"[": "{[}", "*": "{*}"},
    **{mark: f"\\{mark}" for mark in "%$#&_"},
}
# Marks that two in a row make another of.
_LIGATURE = re.compile("(?<=-)(?=-)|(?<=,)(?=,)")
# Our own symbols, which the usual fonts of LaTeX lack.
_LATEX_SYMBOLS = {
    **{"ε": r"$\varepsilon$", "τ": r"$\tau$", "α": r"$\alpha$", "δ": r"$\delta$", "ξ": r"$\xi$"},
    **{"χ": r"$\chi$", "Δ": r"$\Delta$", "μ": r"$\mu$", "σ": r"$\sigma$", "Γ": r"$\Gamma$"},
    **{"∞": r"$\infty$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "±": r"$\pm$", "·": r"$\cdot$"},
    **{"–": "--", "−": "$-$", "…": r"\ldots{}", "“": "``", "”": "''", "²": "$^2$", "√": r"$\surd$"},
    **{"≥": r"$\geq$", "≤": r"$\leq$"},
}
_IN_LATEX = str.maketrans(_LATEX | _LATEX_SYMBOLS)


def for_latex(text: str) -> str:
    """Text that LaTeX sets as it is; letters beyond Latin need XeLaTeX or LuaLaTeX and their fonts."""
    parts = re.split(_LIGATURE, visible(text.replace("\n", " ")))
    return "{}".join(part.translate(_IN_LATEX) for part in parts)


def for_html(text: str) -> str:
    """Text for HTML, between tags or within a quoted attribute."""
    return html.escape(visible(text))


def for_json(document: str) -> str:
    r"""A whole JSON text in which what ``json`` leaves raw, DEL and beyond, is written as ``\u`` escapes.

    Such marks can only stand in its strings, where the escape means the same.
    """
    return _UNSAFE_IN_JSON.sub(lambda mark: f"\\u{ord(mark[0]):04x}", document)


def _unblocked(match: re.Match[str]) -> str:
    mark, number, dot = match.groups()
    return f"\\{mark}" if mark else f"{number}\\{dot}"


# What wraps words takes it for a letter; it is no character, and a text that holds it has it escaped.
JOINT = "\ufdd0"

_LABELS = "α|alpha|δ|delta|ε|eps|ξ|xi|τ|tau|p|n|k|level|order|place|rank|seed"
_UNITS = "%|×|points?|percentage points?|ms|s|[KMG]i?B|USD"
_SIGNS = r"=|<|>|≤|≥|<=|>=|≈|±|\+-|×"
_NUMERAL = r"[-−+~<>]*[.\d∞]"
_KEPT = re.compile(
    rf"(?<=\S) (?=(?:{_SIGNS}) {_NUMERAL})"  # p = 0.12, up to its sign
    rf"|(?<=[=<>≤≥≈±×]) (?={_NUMERAL})|(?<=\+-) (?={_NUMERAL})"  # and from there on
    rf"|(?<=[\d∞]) (?=(?:{_UNITS})(?!\w))"
)
_LABELLED = re.compile(rf"(?<![\w-])({_LABELS}) (?={_NUMERAL})")


def together(text: str) -> str:
    """The text with a joint for every blank between a number and what belongs to it."""
    return _LABELLED.sub(rf"\1{JOINT}", _KEPT.sub(JOINT, text))


def apart(text: str) -> str:
    """The text with its blanks again, for who reads or copies it."""
    return text.replace(JOINT, " ")


# Set by GitHub, GitLab, Azure Pipelines and TeamCity.
_VARIABLES = ("GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION")
_OFF = ("", "false", "0")

_FIRST = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_ANYWHERE = re.compile(r"#(?=#(?:vso|teamcity)?\[)", re.IGNORECASE)
# How a format writes a sign that must not stand there; data are read back as they were.
_WRITTEN = {"json": r"\u{:04x}", "jsonl": r"\u{:04x}", "html": "&#{};", "junit": "&#{};"}


def in_a_build(variables: Mapping[str, str]) -> bool:
    """Whether what is printed goes into the log of a build."""
    return any(variables.get(name, "").lower() not in _OFF for name in _VARIABLES)


def for_ci_log(text: str, kind: str = "table") -> str:
    r"""Text of a format that gives no command to who runs a build: ``\x23#[command]``."""
    written = _WRITTEN.get(kind, r"\x{:02x}")
    text = _ANYWHERE.sub(lambda _: written.format(ord("#")), text)
    return _FIRST.sub(lambda match: match[1] + written.format(ord(":")), text)
