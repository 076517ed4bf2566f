"""HTML pages rendered from templates, as whole pages or as fragments for notebooks.

The chapters of a page contain a document's text, tables and figures in the order of a reader's questions.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

from riskrank.engine.judges import LABELS_ALPHA
from riskrank.errors import spell
from riskrank.render import WORDS, screens
from riskrank.render.escapes import escape_for_page, protect_spaces, restore_spaces
from riskrank.render.figures.catalogue import model_colors, pictures, require_pages
from riskrank.render.formats.data import to_json
from riskrank.render.mean_tables import binary_metric_lines, single_binary_metric
from riskrank.render.sections import sections
from riskrank.render.view import Block, Line, Picture, Section, Table, column_heads, renumber_pictures
from riskrank.studies.document import Document
from riskrank.studies.wording import counted, join_names, p_value_phrase
from riskrank.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@dataclass(frozen=True)
class PagePart:
    """A part of a chapter: text, tables and figures under a title, with a short finding."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    finding: str


@dataclass(frozen=True)
class Chapter:
    """A chapter of a page with its parts."""

    anchor: str
    title: str
    parts: tuple[PagePart, ...]

    @property
    def folded(self) -> bool:
        """True if all parts are collapsed until the reader opens them."""
        return self.anchor == screens.AUDIT


# Pictures of score distributions.
_SHAPES = ("quantiles", "tvar", "scatter", "risks", "heatmap", "pair", "profile")


def _case_sections(_study: Document, document: Document) -> list[Section]:
    """Return the tables of single cases."""
    tables = (section for section in sections(document) if isinstance(section, Table))
    return [table for table in tables if table.part == "cases"]


def _detail_sections(_study: Document, document: Document) -> list[Section]:
    """Return the sections that the first screen omits, as sections of a page."""
    return [replace(section, details=False) for section in sections(document) if section.details]


def _detail_titles(study: Document, document: Document) -> str:
    """Return the titles of the tables that the first screen omits."""
    tables = (section for section in _detail_sections(study, document) if isinstance(section, Table))
    return "; ".join(filter(None, (table.title for table in tables)))


# Parts of the page of a single study, after its answer.
STUDY = (
    screens.Entry(
        screens.UNDERSTAND, "figures", "Main picture", pictures=slice(1), words=binary_metric_lines
    ),
    screens.Entry(screens.UNDERSTAND, "cases", "Cases", words=_case_sections),
    screens.Entry(screens.AUDIT, "more-figures", "More pictures", pictures=slice(1, None)),
    screens.Entry(screens.AUDIT, "details", "Details", words=_detail_sections, finding=_detail_titles),
)


def answer_sections(document: Document) -> list[Section]:
    """Return the sections of the first screen, except verdict, hints and those that a chapter repeats."""
    if document.schema == "report":
        return answer_sections(document.ranking)  # type: ignore[attr-defined]  # the schema says which document it is
    lines = ("Verdict:", "Also:")
    first = screens.first_screen(sections(document))
    return [
        section
        for section in first
        if not (section.label in lines if isinstance(section, Line) else section.part)
    ]


def chapters(document: Document) -> list[Chapter]:
    """Return the chapters of a page below the answer: those of the study, then inputs and settings."""
    table = STUDY
    if document.schema == "report":
        table = import_module("riskrank.studies.report.screen").REPORT
    cache: dict[int, Sequence[Picture]] = {}
    used: set[int] = set()
    of_chapter: dict[str, list[PagePart]] = {name: [] for name in screens.CHAPTERS}
    for part in screens.build_parts(document, table):
        figures = [picture for picture in _part_pictures(part, document, cache) if id(picture) not in used]
        used |= {*map(id, figures)}
        blocks = (*figures, *part.words)
        if blocks:
            page_part = PagePart(part.entry.anchor, part.title, blocks, part.finding)
            of_chapter[part.entry.chapter].append(page_part)
    of_chapter[screens.AUDIT].insert(0, _warnings_part(document))
    terms = tuple(Line(meaning, f"{term}:") for term, meaning in glossary().items())
    summary = f"{', '.join([*glossary()][:5])} and more"
    of_chapter[screens.AUDIT] += [
        _input_part(document),
        _settings_part(document),
        PagePart("glossary", "Glossary", terms, summary),
    ]
    return [Chapter(key, screens.CHAPTERS[key], tuple(parts)) for key, parts in of_chapter.items() if parts]


def _part_pictures(
    part: screens.ChapterPart, document: Document, cache: dict[int, Sequence[Picture]]
) -> list[Picture]:
    """Return the pictures of a part: the first of each kind that its entry requests.

    The pictures number the models as the whole document does.

    Parameters
    ----------
    part : ChapterPart
        Part with the kinds of pictures that its entry requests.
    document : Document
        The whole document.
    cache : dict of int to sequence of Picture
        Pictures of every study, by the study's ``id``; extended in place.
    """
    if part.entry.pictures == ():
        return []
    if id(part.study) not in cache:
        models, all_models = part.study.provenance.models, document.provenance.models
        cache[id(part.study)] = renumber_pictures(pictures(part.study, document), models, all_models)
    available = cache[id(part.study)]
    if single_binary_metric(part.study):
        available = [picture for picture in available if picture.kind not in _SHAPES]
    return first_picture_of_each_kind(available, part.entry.pictures)


def first_picture_of_each_kind(
    available: Sequence[Picture], kinds: tuple[str, ...] | slice = slice(None)
) -> list[Picture]:
    """Return the first picture of each requested kind.

    Parameters
    ----------
    available : sequence of Picture
        Pictures from which to choose.
    kinds : tuple of str or slice
        Requested kinds, in order; a slice selects from all available kinds.
    """
    first: dict[str, Picture] = {}
    for picture in available:
        first.setdefault(picture.kind, picture)
    requested = [*first][kinds] if isinstance(kinds, slice) else kinds
    return [first[kind] for kind in requested if kind in first]


def _warnings_part(document: Document) -> PagePart:
    """Return the part with warnings and assumptions; its finding lists the most severe warnings first."""
    warnings = document.provenance.ordered_warnings
    if (judge := document.meta().get("judge")) and judge["chosen_p"] is None:
        smallest = p_value_phrase(judge["chance_p"])
        warnings.append(
            f"labels are assumed to be randomly chosen: the means of {judge['judge']} on labelled and other "
            "samples do not differ significantly (Welch's t, Holm, "
            f"level {LABELS_ALPHA:g}, smallest {smallest})"
        )
    split = [_split_warning(warning) for warning in warnings]
    finding = "; ".join(fact for fact, _ in split) or "none"
    lines = [
        Line(text, style=style)
        for both in split or [("None.", "")]
        for text, style in zip(both, ("yellow" if warnings else "", "dim"), strict=True)
        if text
    ]
    metrics = [metric for metric in document.provenance.metrics if not isinstance(metric, str)]
    undeclared = [str(metric["name"]) for metric in metrics if not metric.get("declared", True)]
    names = join_names(undeclared, len(undeclared))
    directions = f"; directions of {names} are not declared" if undeclared else ""
    lines.append(Line(f"{WORDS['assumptions']['always']}{directions}.", "Assumed:"))
    return PagePart("mind", "Warnings and assumptions", tuple(lines), finding)


def _split_warning(warning: str) -> tuple[str, str]:
    """Split a warning into its statement and its advice, which starts with an option and may be empty."""
    fact, *parts = warning.split(": ")
    plain = [*itertools.takewhile(lambda part: spell(part, flags=True) == part, parts)]
    fact = ": ".join([fact, *plain])
    return (fact, ": ".join(parts[len(plain) :])) if " " in fact else (warning, "")


def _input_part(document: Document) -> PagePart:
    """Return the part on the size of the table, how it was read, and its metrics."""
    origin = document.provenance
    rows = []
    for metric in origin.metrics:
        if isinstance(metric, str):
            rows.append((metric, f"“{metric}”", "–", "–", "–"))
            continue
        weight, transform = metric.get("weight"), metric.get("transform", "none")
        assumed = "" if metric.get("declared", True) else " (assumed)"
        scale = filter(None, (metric.get("scale"), transform if transform != "none" else ""))
        name, direction = str(metric["name"]), f"{metric['direction']} is better{assumed}"
        weight_text = "equal" if weight is None else f"{weight:g}"
        rows.append((name, f"“{name}”", direction, ", ".join(map(str, scale)) or "–", weight_text))
    heads = column_heads("metric", "in the file", "direction", "scale", right=("weight",))
    blocks: list[Block] = [
        Line(f"{origin.samples:,} samples, {counted(len(rows), 'metric')}.", "Data:"),
        *(Line(f"{how}.", "Read as:") for how in origin.reading_notes),
        Table("Metrics", heads, tuple(rows)),
    ]
    finding = f"{len(origin.models)} models, {origin.samples:,} samples; "
    finding += ", ".join(f"{row[0]} ({row[2]})" if row[2] != "–" else row[0] for row in rows)
    if judge := document.meta().get("judge"):
        direction = "lower" if judge["judge_lower"] else "higher"
        count, name = f"{judge['labelled']:,}", judge["judge"]
        finding += f"; {count} with human labels, all with {name} ({direction} is better)"
    elif not origin.scored:
        finding += "; no missing scores"
    return PagePart("compared", "Input and missing scores", tuple(blocks), finding)


def _settings_part(document: Document) -> PagePart:
    """Return the part on the input files and the settings, with all that is needed to reproduce the page."""
    origin = document.provenance
    rows = tuple((str(entry["path"]), f"{entry['rows']:,}", str(entry["sha256"])) for entry in origin.inputs)
    files = Table("Files", column_heads("file", right=("rows",)) + column_heads("SHA-256"), rows)
    items = {**origin.method, **origin.settings}.items()
    values = tuple((name.replace("_", " "), _format_value(value)) for name, value in items)
    settings = Table("Settings", column_heads("setting", "value"), values)
    description = f"riskrank {__version__}, riskrank {origin.command}"
    description += "" if origin.seed is None else f", seed {origin.seed}"
    description += "" if origin.resamples is None else f", {origin.resamples:,} bootstrap resamples"
    # The pairwise part of a report may need another number of resamples.
    pairs = getattr(document, "pairs", None)
    if pairs is not None and pairs.provenance.resamples not in (None, origin.resamples):
        description += f" ({pairs.provenance.resamples:,} for pairs)"
    description += "" if origin.config is None else f", options from {origin.config}"
    text = f"{description}. The same files, settings and version reproduce this page exactly, byte for byte."
    return PagePart("made", "Settings and files", (Line(text, "Made by:"), files, settings), description)


def _format_value(value: object) -> str:
    """Format the value of a setting."""
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_format_value(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_value, value))
    return f"{value:,}" if isinstance(value, int | float) else str(value)


_FOLDER = "templates"
# Longest name, in characters, that stays on one line.
_LINE = 28
# Characters after which a browser may break a line.
_BROKEN = re.compile(r"[-–/](?=\w)")
# Short advice at the start of a sentence, followed by its reasons.
_LEAD = re.compile(r"(?:^|(?<=\. ))([A-Z][^:;]{2,50})(?=: )")
_BLANKS = re.compile(r"([ \n]+)")
_JOINTS = re.compile(r"(?<=\w[-_./:@])(?=\w)")


def to_page(document: Document, *, flags: bool, template: str = "page.html") -> str:
    """Render a document as a self-contained HTML page.

    Parameters
    ----------
    document : Document
        Result to render.
    flags : bool
        Whether to name parameters as command-line flags instead of Python keywords.
    template : str
        ``page.html``, or ``fragment.html`` for an element with the answer and its main picture (notebooks).

    Raises
    ------
    UsageError
        If Jinja2 or Matplotlib is not installed.
    """
    require_pages()
    from markupsafe import Markup

    from riskrank.render.page.exhibits import COLORS, Exhibitor

    # Prefix of element names: two results in one notebook must not share any.
    mark = "rr" + hashlib.sha256(to_json(document).encode("utf-8")).hexdigest()[:6]
    models = list(document.provenance.models)
    css_classes = {name: COLORS[color.lower()] for name, color in model_colors(document).items()}
    exhibitor = Exhibitor(mark, models, css_classes, flags=flags)
    full_page = template == "page.html"
    main_picture: Sequence[Block] = () if full_page else first_picture_of_each_kind(pictures(document)[:1])
    answer = [*exhibitor.exhibits([*answer_sections(document), *main_picture], wide=True)]
    rendered = []
    for chapter in chapters(document) if full_page else ():
        exhibits = [[*exhibitor.exhibits(part.blocks, finding=part.finding)] for part in chapter.parts]
        findings = [spell(part.finding, flags=flags) for part in chapter.parts]
        rendered.append((chapter, [*zip(chapter.parts, findings, exhibits, strict=True)]))
    style = _read_template("page.css") + "\n" + exhibitor.styles.css(mark) + "\n"
    script = _read_template("page.js")
    page = _environment().get_template(template)
    return page.render(
        title=document.question,
        mark=mark,
        models=[
            (number, name, css_classes.get(name, "others" if css_classes else ""))
            for number, name in enumerate(models)
            if name in document.model_names
        ],
        verdict=spell(document.verdict, flags=flags),
        certainty=document.certainty,
        meaning=document.meaning,
        quotes=document.quotes,
        answer=answer,
        chapters=rendered,
        style=Markup(style),
        script=Markup(script),
        # The content-security policy allows only the page's own style sheet and script.
        policy=f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; "
        f"script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'",
    )


def _digest(text: str) -> str:
    """Return the SHA-256 hash of a text, as used in a content-security policy."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _read_template(name: str) -> str:
    """Return the text of a template file."""
    return (files("riskrank.render.page") / _FOLDER / name).read_text(encoding="utf-8")


@cache
def glossary() -> dict[str, str]:
    """Return the definitions of the glossary by term."""
    return dict(re.findall(r"^\*\*(.+?)\*\*: (.+)$", _read_template("glossary.txt"), re.MULTILINE))


@cache
def _environment() -> Environment:
    """Return the Jinja2 environment of the page templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("riskrank.render.page", _FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        # Names are untrusted, so control characters are escaped and very long words shortened.
        finalize=lambda value: escape_for_page(value) if type(value) is str else value,
    )
    environment.filters |= {"prose": _text_to_html, "leading": _emphasize_advice}
    return environment


def _emphasize_advice(verdict: str) -> Markup:
    """Convert a verdict to HTML, with the advice at the start of each sentence in bold."""
    from markupsafe import Markup

    parts = _LEAD.split(verdict)
    marked = ["<strong>{}</strong>" if number % 2 else "{}" for number in range(len(parts))]
    return Markup("".join(marked)).format(*map(_text_to_html, parts))


def _text_to_html(text: str) -> Markup:
    """Convert text to HTML without line breaks after hyphens or between a number and its unit.

    Long words may still break after their punctuation.
    """
    from markupsafe import Markup

    words = _BLANKS.split(protect_spaces(escape_for_page(text)))
    return Markup("").join(map(_word_to_html, words))


def _word_to_html(protected: str) -> Markup:
    """Convert a word with protected spaces to HTML that breaks only if the word is long."""
    from markupsafe import Markup, escape

    word = restore_spaces(protected)
    if len(word) > _LINE:
        return Markup("<wbr>").join(map(escape, _JOINTS.split(word)))
    unbroken = _BROKEN.search(word) or word != protected
    return Markup('<span class="whole">{}</span>').format(word) if unbroken else escape(word)
